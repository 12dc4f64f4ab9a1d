// passport-twitter: signs a user in to the end. Prints where the user is sent, reads the verifier
// that the user brings back, and prints who signed in.
"use strict";

const readline = require("node:readline");
const { Strategy } = require("passport-twitter");

const get = (name) => process.env[`MOCK_PLATFORM_${name}`];
const strategy = new Strategy({
  consumerKey: get("CONSUMER_KEY"),
  consumerSecret: get("CONSUMER_SECRET"),
  callbackURL: "http://127.0.0.1:8090/callback",
}, (_token, _secret, profile, done) => done(null, profile));

const session = {};
strategy.error = (fault) => { throw fault; };
strategy.fail = (challenge) => { throw new Error(JSON.stringify(challenge)); };
strategy.success = (profile) => console.log(JSON.stringify({ user: profile.id }));
strategy.redirect = (address) => {
  console.log(JSON.stringify({ address }));
  readline.createInterface({ input: process.stdin }).once("line", (verifier) => {
    const token = new URL(address).searchParams.get("oauth_token");
    strategy.authenticate({ query: { oauth_token: token, oauth_verifier: verifier }, session }, {});
  });
};
strategy.authenticate({ query: {}, session }, {});
