// Calls of the node client twitter-api-v2, led to the sandbox by a plugin of the client's own kind:
//   node ads.cjs '{"base_url":…,"key":…,"steps":[…]}'   prints an array of results as JSON.
// A step is {client, method, path, sent?, options?, times?}, or {step: "link" | "login" | "bearer"}.
"use strict";

const { ApiResponseError, TwitterApi } = require("twitter-api-v2");

const asked = JSON.parse(process.argv[2]);
const HOSTS = {
  "https://api.x.com/": `${asked.base_url}/`,
  "https://ads-api.x.com/": `${asked.base_url}/`,
  "https://ads-api-sandbox.twitter.com/": `${asked.base_url}/sandbox/`,
};

function led(url) {
  const host = Object.keys(HOSTS).find((known) => url.startsWith(known));
  return host === undefined ? url : HOSTS[host] + url.slice(host.length);
}

const plugin = {
  onBeforeRequestConfig({ params }) {
    // The client reads the answers of the OAuth steps as forms because of the host it asked.
    if (params.url.startsWith("https://api.x.com/oauth/")) params.forceParseMode = "url";
    params.url = led(params.url);
  },
};

function made(tokens) {
  return new TwitterApi(tokens, { plugins: [plugin] });
}

const app = { appKey: asked.key, appSecret: asked.secret };
const user = made({ ...app, accessToken: asked.token, accessSecret: asked.token_secret });
const clients = {
  ads: user.ads,
  sandbox: user.ads.sandbox,
  v1: user.v1,
  v2: made(asked.bearer).v2,
  person: user.v2,
  stranger: made({ ...app, appSecret: "wrong", accessToken: asked.token,
    accessSecret: asked.token_secret }).ads,
};

const logins = {
  async link({ callback, mode }) {
    const link = await made(app).generateAuthLink(callback, { linkMode: mode });
    return { ...link, url: led(link.url) };
  },
  async login({ token, secret, verifier }) {
    const found = await made({ ...app, accessToken: token, accessSecret: secret }).login(verifier);
    const accounts = await found.client.ads.get("accounts");
    return { screenName: found.screenName, userId: found.userId, accounts: accounts.data };
  },
  async bearer() {
    const client = await made(app).appLogin();
    return client.getActiveTokens();
  },
};

async function called({ client, method, path, sent, options, times = 1 }) {
  const through = clients[client];
  let response;
  for (let done = 0; done < times; done += 1) {
    response = await through[method](path, sent, { fullResponse: true, ...options });
  }
  const { data, rateLimit } = response;
  return { data, rateLimit };
}

function failure(client, path, error) {
  if (!(error instanceof ApiResponseError)) throw error;
  return {
    code: error.code,
    message: error.message,
    data: error.data,
    rateLimit: error.rateLimit,
    rateLimitError: error.rateLimitError,
    isAuthError: error.isAuthError,
    named: (error.errors ?? []).filter((each) => error.hasErrorCode(each.code)).length,
    hit: client && clients[client].hasHitRateLimit(led(clients[client]._prefix + path)),
  };
}

(async () => {
  const results = [];
  for (const step of asked.steps) {
    try {
      results.push(await (step.step ? logins[step.step](step) : called(step)));
    } catch (error) {
      results.push({ error: failure(step.client, step.path, error) });
    }
  }
  process.stdout.write(JSON.stringify(results));
})();
