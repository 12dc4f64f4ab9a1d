// A world of the sandbox for one test. Run the tests as: mock-platform run -- npm test

const server = process.env.MOCK_PLATFORM_URL;
if (server === undefined) throw new Error("Run me as: mock-platform run -- npm test");

let made = 0;

// A fresh world, gone when the test has ended: freshWorld(t).
export async function freshWorld(test) {
  const name = `node-${process.pid}-${(made += 1)}`; // test files run in processes of their own
  const told = await ask("PUT", `${server}/_mock/worlds/${name}`);
  test.after(() => ask("DELETE", `${server}/_mock/worlds/${name}`));
  return new World(told);
}

class World {
  constructor({ base_url: baseUrl, control, credentials }) {
    this.baseUrl = baseUrl;
    this.control = control;
    this.account = credentials.accounts[0];
    this.keys = {
      consumerKey: credentials.app.consumer_key,
      consumerSecret: credentials.app.consumer_secret,
      token: credentials.user.access_token,
      tokenSecret: credentials.user.access_token_secret,
    };
  }

  // Switch a scenario on: `mock-platform scenarios` lists them.
  activate(name, parameters = {}) {
    return ask("POST", `${this.control}/scenarios/${name}/activate`, { parameters });
  }

  // What was asked and answered, oldest first: requests({ operation: "cards_poll.create" }).
  async requests(query = {}) {
    const found = await ask("GET", `${this.control}/requests?${new URLSearchParams(query)}`);
    return found.requests;
  }

  // The records of a table.
  async records(table) {
    return (await ask("GET", `${this.control}/state/${table}`)).records;
  }

  // Let the world's time pass.
  advance(seconds) {
    return ask("PUT", `${this.control}/clock`, { action: "advance", seconds });
  }
}

async function ask(method, url, body) {
  const sent = { method };
  if (body !== undefined) {
    sent.headers = { "content-type": "application/json" };
    sent.body = JSON.stringify(body);
  }
  const answer = await fetch(url, sent);
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${url}: ${answer.status}: ${text}`);
  return text === "" ? undefined : JSON.parse(text);
}
