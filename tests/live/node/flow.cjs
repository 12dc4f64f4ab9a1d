// The three-legged flow with node-oauth, one step at a time:
//   node flow.cjs '{"step":"begin", …}'   prints the result, or {"error": …}, as JSON.
"use strict";

const { OAuth, OAuth2 } = require("oauth");

const asked = JSON.parse(process.argv[2]);
const oauth = new OAuth(
  `${asked.base_url}/oauth/request_token`,
  `${asked.base_url}/oauth/access_token`,
  asked.key,
  asked.secret,
  "1.0A",
  asked.callback,
  "HMAC-SHA1",
);

const steps = {
  begin(done) {
    oauth.getOAuthRequestToken((error, token, secret, more) =>
      done(error, { token, secret, confirmed: more && more.oauth_callback_confirmed }));
  },
  exchange(done) {
    oauth.getOAuthAccessToken(asked.token, asked.token_secret, asked.verifier,
      (error, token, secret, more) => done(error, { token, secret, ...more }));
  },
  invalidate(done) {
    oauth.post(`${asked.base_url}/1.1/oauth/invalidate_token.json`, asked.token, asked.token_secret,
      "", "application/x-www-form-urlencoded", (error, body) => done(error, body && JSON.parse(body)));
  },
  bearer(done) {
    const basic = Buffer.from(`${asked.key}:${asked.secret}`).toString("base64");
    const client = new OAuth2(asked.key, asked.secret, `${asked.base_url}/`, null, "oauth2/token",
      { Authorization: `Basic ${basic}` });
    client.getOAuthAccessToken("", { grant_type: "client_credentials" },
      (error, token, _refresh, more) => done(error, { token, type: more && more.token_type }));
  },
};

steps[asked.step]((error, found) => {
  const failed = error && { error: { status: error.statusCode, body: error.data } };
  process.stdout.write(JSON.stringify(failed || found));
});
