// Follows a filtered stream with the node client twitter-api-v2, led to the sandbox by a plugin:
//   node stream.cjs '{"base_url":…,"world":…,"bearer":…}'
// Prints one JSON object a line for what happens, until its standard input ends. The world is chosen
// by a header, because the client sends JSON only to paths that begin with /2/.
"use strict";

const { ETwitterStreamEvent, TwitterApi } = require("twitter-api-v2");

const asked = JSON.parse(process.argv[2]);
const HOST = "https://api.x.com/";

function lead({ params }) {
  params.url = params.url.replace(HOST, `${asked.base_url}/`);
  params.headers = { ...params.headers, "X-Mock-World": asked.world };
}

function print(value) {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

async function main() {
  const plugin = { onBeforeRequestConfig: lead, onBeforeStreamRequestConfig: lead };
  const client = new TwitterApi(asked.bearer, { plugins: [plugin] }).v2;
  const add = [{ value: "coffee", tag: "drinks" }, { value: "coffee" }, { value: "--b" }];
  const added = await client.updateStreamRules({ add });
  print({ rules: added.data.map((rule) => rule.value), refused: added.errors.length });

  const stream = await client.searchStream({ autoConnect: false });
  stream.on(ETwitterStreamEvent.Connected, () => print({ event: "connected" }));
  stream.on(ETwitterStreamEvent.Reconnected, () => print({ event: "reconnected" }));
  stream.on(ETwitterStreamEvent.Data, ({ data, matching_rules: rules }) => {
    print({ text: data.text, tags: rules.map((rule) => rule.tag) });
  });
  process.stdin.on("end", () => stream.destroy()).resume();
  await stream.connect({ autoReconnect: true });
}

main();
