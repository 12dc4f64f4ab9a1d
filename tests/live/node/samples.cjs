// Does what the platform's published samples do, in their form but not their code, with fetch:
//   node samples.cjs SANDBOX   prints what came of it, as JSON.
// SANDBOX is the address at which the clock is moved where a program would sleep.
"use strict";

const control = `${process.argv[2]}/_mock/clock`;
const token = process.env.MOCK_PLATFORM_BEARER_TOKEN;
const ME = process.env.MOCK_PLATFORM_USER_ID;
const host = "https://api.x.com/2";
const rulesURL = `${host}/tweets/search/stream/rules`;
const headers = { "User-Agent": "v2SampleJS", authorization: `Bearer ${token}` };
const told = { slept: [] };

/** Sleeps until a reset, by the clock of the world. */
async function sleepUntil(reset) {
  const { now } = await (await fetch(control)).json();
  const seconds = reset - Date.parse(now) / 1000 + 1;
  told.slept.push(seconds);
  const body = JSON.stringify({ action: "advance", seconds });
  const type = { "Content-Type": "application/json" };
  await fetch(control, { method: "PUT", headers: type, body });
}

/** The JSON of an address; waits for the reset of a used-up limit. */
async function getRequest(url, params = {}) {
  const res = await fetch(`${url}?${new URLSearchParams(params)}`, { headers });
  if (res.status === 429) {
    await sleepUntil(Number(res.headers.get("x-rate-limit-reset")));
    return getRequest(url, params);
  }
  if (res.status !== 200) throw new Error(`${res.status}: ${(await res.json()).detail}`);
  return res.json();
}

/** The data of all pages. */
async function getAll(url, params) {
  const found = [];
  let nextToken;
  do {
    const page = await getRequest(url, nextToken ? { ...params, pagination_token: nextToken } : params);
    found.push(page.data);
    nextToken = page.meta.next_token;
  } while (nextToken);
  return found;
}

/** Replaces the rules of the filtered stream; stops unless they are created. */
async function setRules(rules) {
  const found = (await getRequest(rulesURL)).data;
  const post = (body) => fetch(rulesURL, {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  if (found) await post({ delete: { ids: found.map(({ id }) => id) } });
  const res = await post({ add: rules });
  if (res.status !== 201) throw new Error(await res.text());
  return res.json();
}

(async () => {
  told.rules = (await setRules([{ value: "espresso", tag: "coffee" }])).meta.summary.created;
  const pages = await getAll(`${host}/users/${ME}/followers`, { max_results: 50 });
  told.followers = [pages.length, new Set(pages.flat().map(({ id }) => id)).size];
  for (let count = 0; count < 76; count += 1) await getRequest(`${host}/trends/by/woeid/1`);
  told.missing = await getRequest(`${host}/users/99`).catch((fault) => fault.message);
  process.stdout.write(JSON.stringify(told));
})().catch((fault) => {
  console.error(fault);
  process.exit(1);
});
