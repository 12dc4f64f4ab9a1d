// twitter-api-v2 for node: versions 1.1 and 2, and the advertising interface.
"use strict";

const assert = require("node:assert");
const { TwitterApi } = require("twitter-api-v2");

const get = (name) => process.env[`MOCK_PLATFORM_${name}`];
const client = new TwitterApi({
  appKey: get("CONSUMER_KEY"),
  appSecret: get("CONSUMER_SECRET"),
  accessToken: get("ACCESS_TOKEN"),
  accessSecret: get("ACCESS_TOKEN_SECRET"),
});

async function main() {
  assert.equal((await client.v1.verifyCredentials()).id_str, get("USER_ID"));
  const { data: made } = await client.v2.tweet("Fresh from the roaster");
  const { data: found } = await client.v2.singleTweet(made.id, {
    "tweet.fields": ["public_metrics"],
  });
  assert.equal(found.public_metrics.retweet_count, 0);
  assert.deepEqual(found.edit_history_tweet_ids, [made.id]);
  const { data: accounts } = await client.ads.get("accounts");
  assert.ok(accounts.length > 0);
}

main();
