// Calls each method of the vendor's SDK once with made-up arguments, and prints the answers as JSON:
//   node xdk.cjs   {"CLIENT.METHOD": [{method, path, status, operation}, …], …}
"use strict";

const get = (name) => process.env[`MOCK_PLATFORM_${name}`];
const told = {};
let current;

const real = globalThis.fetch;
globalThis.fetch = async (url, options = {}) => {
  const ended = new AbortController();
  const answer = await real(url, { ...options, signal: ended.signal });
  told[current].push({
    method: options.method ?? "GET",
    path: new URL(url).pathname,
    status: answer.status,
    operation: answer.headers.get("x-mock-operation"),
  });
  ended.abort(); // what it answers, and how long a stream is, does not matter here
  throw new Error("asked");
};

// The SDK keeps the function that it finds when it is loaded.
const { Client } = require("@xdevplatform/xdk");
const client = new Client({
  bearerToken: get("BEARER_TOKEN"),
  accessToken: get("OAUTH2_ACCESS_TOKEN"),
});

/** What a method requires: a list, a body or an id, by its name in the source. */
function makeUp(method) {
  const [, names] = /^[^(]*\(([^)]*)\)/.exec(method.toString());
  return names.split(",").map((each) => each.trim()).filter(Boolean).map((name) => {
    if (name.includes("=")) return undefined;
    if (/^(body|options)$/.test(name)) return {};
    return /(ids|keys|names|usernames|fields)$/i.test(name) ? ["1"] : "1";
  });
}

(async () => {
  for (const [name, part] of Object.entries(client)) {
    const type = part && Object.getPrototypeOf(part);
    if (!type || !/.Client$/.test(type.constructor.name) || name === "httpClient") continue;
    for (const own of Object.getOwnPropertyNames(type)) {
      if (own === "constructor" || own.startsWith("_")) continue;
      current = `${name}.${own}`;
      told[current] = [];
      try {
        await part[own](...makeUp(type[own]));
      } catch (error) {
        if (told[current].length === 0) told[current] = String(error);
      }
    }
  }
  process.stdout.write(JSON.stringify(told), () => process.exit());
})();
