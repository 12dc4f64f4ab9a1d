// Ten stories at the platform's real addresses; prints as JSON what each saw:
//   node agents.cjs [official|ai]   {"STORY": …}
// "official" is the SDK of the protocol, "ai" the client of another vendor, with code of its own.
// CONTROL is the control plane of the world.
"use strict";

const { Client } = require("@modelcontextprotocol/sdk/client/index.js");
const { StreamableHTTPClientTransport } = require("@modelcontextprotocol/sdk/client/streamableHttp.js");
const { UnauthorizedError } = require("@modelcontextprotocol/sdk/client/auth.js");

const get = (name) => process.env[`MOCK_PLATFORM_${name}`];
const V2 = new URL("https://api.x.com/mcp");
const ADS = new URL("https://ads-api.x.com/mcp");
const CALLBACK = "http://127.0.0.1:8090/callback";

/** Steers the world. */
async function control(method, path, body) {
  const headers = { "Content-Type": "application/json" };
  const answer = await fetch(`${process.env.CONTROL}${path}`, { method, headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(await answer.text());
  return answer.status === 204 ? null : answer.json();
}

/** The app's side of OAuth: registered by hand, its user allows whatever is asked for. */
class Provider {
  redirectUrl = CALLBACK;
  clientMetadata = { redirect_uris: [CALLBACK], token_endpoint_auth_method: "client_secret_basic" };
  signIns = 0;

  clientInformation() {
    const issuer = ADS.origin; // "ai" gives secrets only to a server that the app names
    return { client_id: get("CLIENT_ID"), client_secret: get("CLIENT_SECRET"), issuer };
  }

  tokens() {
    return this.saved;
  }

  saveTokens(tokens) {
    this.saved = tokens;
  }

  authorizationServerInformation() {
    return this.server;
  }

  saveAuthorizationServerInformation(server) {
    this.server = server;
  }

  saveCodeVerifier(verifier) {
    this.verifier = verifier;
  }

  codeVerifier() {
    return this.verifier;
  }

  async redirectToAuthorization(address) {
    this.signIns += 1;
    const answer = await control("POST", "/oauth/approve", { url: String(address) });
    this.code = new URL(answer.redirect).searchParams.get("code");
  }
}

/** How each client connects (it gets headers or a provider), and how a sign-in ends. */
const CLIENTS = {
  official: {
    async connect(address, { headers, authProvider }) {
      const client = new Client({ name: "stories", version: "1.0.0" });
      await client.connect(new StreamableHTTPClientTransport(address, { requestInit: { headers }, authProvider }));
      return {
        name: client.getServerVersion().name,
        tools: (await client.listTools()).tools,
        call: (name, given) => client.callTool({ name, arguments: given }),
        close: () => client.close(),
      };
    },
    signIn: (address, authProvider) =>
      new StreamableHTTPClientTransport(address, { authProvider }).finishAuth(authProvider.code),
  },
  ai: {
    async connect(address, { headers, authProvider }) {
      const { createMCPClient } = require("@ai-sdk/mcp");
      const transport = { type: "http", url: String(address), headers, authProvider };
      const client = await createMCPClient({ transport });
      const tools = await client.tools();
      return {
        name: client.serverInfo.name,
        tools: Object.keys(tools),
        call: (name, given) => tools[name].execute(given, { toolCallId: "1", messages: [] }),
        close: () => client.close(),
      };
    },
    signIn: (address, authProvider) =>
      require("@ai-sdk/mcp").auth(authProvider, { serverUrl: address, authorizationCode: authProvider.code }),
  },
};
const CLIENT = CLIENTS[process.argv[2] ?? "official"];

/** Connects, calls `story` with a function that calls tools, and disconnects. */
async function talk(address, options, story) {
  const client = await CLIENT.connect(address, options);
  const call = async (name, given = {}) => {
    const result = await client.call(name, given);
    return { refused: result.isError ?? false, ...JSON.parse(result.content[0].text) };
  };
  try {
    return await story(call, client);
  } finally {
    await client.close();
  }
}

const withToken = (token) => ({ headers: { Authorization: `Bearer ${token}` } });
const asUser = withToken(get("OAUTH2_ACCESS_TOKEN"));

const stories = {
  search: () => talk(V2, asUser, async (call, client) => {
    const found = await call("searchPostsRecent", { query: "coffee" });
    const read = await call("getPostsById", { id: found.data[0].id, "tweet.fields": ["author_id"] });
    return [client.name, client.tools.length, "author_id" in read.data];
  }),
  post: () => talk(V2, asUser, async (call) => {
    const made = await call("createPosts", { text: "From node" });
    const gone = await call("deletePosts", { id: made.data.id });
    return [made.data.text, gone.data.deleted];
  }),
  bookmark: () => talk(V2, asUser, async (call) => {
    const me = await call("getUsersMe");
    const made = await call("createPosts", { text: "Keep this" });
    await call("createUsersBookmark", { id: me.data.id, tweet_id: made.data.id });
    const kept = await call("getUsersBookmarks", { id: me.data.id });
    return kept.data[0].id === made.data.id;
  }),
  campaign: () => talk(ADS, asUser, async (call, client) => {
    const mine = { account_id: get("ACCOUNT_ID") };
    const funds = await call("list_funding_instruments", mine);
    const paid = { funding_instrument_id: funds.data[0].id };
    const campaign = await call("create_campaign", { ...mine, ...paid, name: "Spring", entity_status: "ACTIVE" });
    const key = { ...mine, campaign_id: campaign.data.id };
    const started = await call("activate_campaign", key);
    return [client.tools.length, campaign.data.entity_status, started.data.entity_status];
  }),
  statistics: () => talk(ADS, asUser, async (call) => {
    const mine = { account_id: get("ACCOUNT_ID") };
    const items = await call("list_line_items", mine);
    const figures = await call("get_account_stats", {
      ...mine,
      entity: "LINE_ITEM",
      entity_ids: [items.data[0].id],
      start_time: "2026-01-01T00:00:00Z",
      end_time: "2026-01-02T00:00:00Z",
      granularity: "TOTAL",
      metric_groups: ["ENGAGEMENT"],
      placement: "ALL_ON_TWITTER",
    });
    return "retweets" in figures.data[0].id_data[0].metrics;
  }),
  async signIn() {
    const provider = new Provider();
    const options = { authProvider: provider };
    try {
      await talk(ADS, options, () => null);
    } catch (fault) {
      if (fault.name !== "UnauthorizedError" && !(fault instanceof UnauthorizedError)) throw fault;
    }
    await CLIENT.signIn(ADS, provider);
    const seen = await talk(ADS, options, async (call) => {
      const before = (await call("list_ads_accounts")).data.length;
      const first = provider.saved;
      await control("PUT", "/clock", { action: "advance", seconds: "2h" });
      const after = (await call("list_ads_accounts")).data.length;
      return [before === after, first.refresh_token !== provider.saved.refresh_token];
    });
    return [...seen, provider.signIns];
  },
  async limit() {
    await control("POST", "/scenarios/rate-limited/activate", { parameters: { on: "users.me", limit: 1, window: 900 } });
    return talk(V2, asUser, async (call) => {
      const told = [await call("getUsersMe"), await call("getUsersMe")];
      await control("PUT", "/clock", { action: "advance", seconds: "16m" });
      return [...told, await call("getUsersMe")].map((each) => each.refused);
    });
  },
  async lost() {
    const then = { fault: "reset", stage: "after_commit" };
    const rules = [{ on: "public_posts.create", call: 1, then }];
    await control("PUT", "/scenarios/lost", { description: "Lost.", rules });
    await control("POST", "/scenarios/lost/activate", {});
    return talk(V2, asUser, async (call) => {
      try {
        await call("createPosts", { text: "Lost?" });
        return "answered";
      } catch {
        return (await call("createPosts", { text: "Again" })).data.text;
      }
    });
  },
  async expired() {
    const bad = withToken("not-a-token");
    try {
      return await talk(V2, bad, () => "connected");
    } catch (fault) {
      return fault.code ?? fault.statusCode ?? fault.name;
    }
  },
  // The last one: the new token ends the one from before.
  async scope() {
    const asked = { kind: "oauth2", scopes: ["ads.read", "tweet.read", "users.read"] };
    const made = await control("POST", "/credentials/regenerate", asked);
    const limited = withToken(made.access_token);
    const mine = { account_id: get("ACCOUNT_ID"), campaign_id: "8wku2" };
    const ads = await talk(ADS, limited, (call) => call("activate_campaign", mine));
    const v2 = await talk(V2, limited, (call) => call("createPosts", { text: "no" }));
    return [ads.refused, ads.errors[0].code, v2.refused, v2.title];
  },
};

(async () => {
  const told = {};
  for (const [name, story] of Object.entries(stories)) {
    try {
      told[name] = await story();
    } catch (fault) {
      told[name] = String(fault.stack ?? fault);
    }
  }
  console.log(JSON.stringify(told));
})();
