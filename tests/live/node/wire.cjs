// Reads limits, pages and errors with twitter-api-v2 under the platform's real host names:
//   node wire.cjs SANDBOX   prints what the client made of them, as JSON.
// SANDBOX is the address at which the clock is moved where a program would wait.
"use strict";

const { TwitterApi } = require("twitter-api-v2");

const get = (name) => process.env[`MOCK_PLATFORM_${name}`];
const control = `${process.argv[2]}/_mock/clock`;
const app = new TwitterApi(get("BEARER_TOKEN")).v2;
const user = new TwitterApi({
  appKey: get("CONSUMER_KEY"),
  appSecret: get("CONSUMER_SECRET"),
  accessToken: get("ACCESS_TOKEN"),
  accessSecret: get("ACCESS_TOKEN_SECRET"),
}).v2;
const ME = get("USER_ID");
const shown = ({ limit, remaining }) => ({ limit, remaining });

/** Waits until a reset, by the clock of the world. */
async function waitUntil(reset) {
  const { now } = await (await fetch(control)).json();
  const seconds = reset - Date.parse(now) / 1000;
  const body = JSON.stringify({ action: "advance", seconds });
  await fetch(control, { method: "PUT", headers: { "Content-Type": "application/json" }, body });
  return seconds;
}

(async () => {
  const told = {};
  try {
    for (let count = 0; count < 16; count += 1) await user.userBlockingUsers(ME);
  } catch (fault) {
    const { rateLimit } = fault;
    told.limited = { window: shown(rateLimit), typed: fault.rateLimitError };
    told.limited.wait = await waitUntil(rateLimit.reset);
  }
  told.again = (await user.userBlockingUsers(ME)).errors.length;

  told.pages = 1;
  let page = await app.followers(ME, { max_results: 50, asPaginator: true });
  while (!page.done) {
    page = await page.next();
    told.pages += 1;
  }

  const liked = await user.post(
    `users/${ME}/likes`, { tweet_id: "1789900000000000006" }, { fullResponse: true },
  );
  told.day = shown(liked.rateLimit.userDay);

  const missing = await app.user("99").catch((fault) => fault);
  told.missing = [missing.code, missing.data.detail];

  process.stdout.write(JSON.stringify(told));
})();
