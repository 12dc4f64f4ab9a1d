// A client for poll cards, such as someone might have written; it knows nothing of the sandbox.
// It signs with OAuth 1.0a, and what may safely be repeated it repeats.

import { createHmac, randomBytes } from "node:crypto";

export class PlatformError extends Error {
  constructor(status, errors) {
    super(`${status}: ${errors.map((each) => `${each.code} ${each.message}`).join("; ")}`);
    this.status = status;
    this.codes = errors.map((each) => each.code);
  }
}

export class Polls {
  #url;
  #keys;
  #attempts;

  // keys: { consumerKey, consumerSecret, token, tokenSecret }
  constructor(baseUrl, account, keys, { attempts = 3 } = {}) {
    this.#url = `${baseUrl}/12/accounts/${account}/cards/poll`;
    this.#keys = keys;
    this.#attempts = attempts;
  }

  async create(name, [first, second], minutes = 1440) {
    const url = new URL(this.#url);
    url.searchParams.set("name", name);
    url.searchParams.set("first_choice", first);
    url.searchParams.set("second_choice", second);
    url.searchParams.set("duration_in_minutes", minutes);
    return this.#send("POST", url);
  }

  async read(id) {
    for (let left = this.#attempts; ; left -= 1) {
      try {
        return await this.#send("GET", new URL(`${this.#url}/${id}`));
      } catch (error) {
        if (left === 1 || error instanceof PlatformError) throw error; // refused, not lost
      }
    }
  }

  async #send(method, url) {
    url.search = url.searchParams.toString().replaceAll("+", "%20");
    const headers = { authorization: authorization(method, url, this.#keys) };
    const answer = await fetch(url, { method, headers });
    const document = await answer.json();
    if (!answer.ok) throw new PlatformError(answer.status, document.errors);
    return document.data;
  }
}

// The Authorization header of a request whose parameters are all in its address (RFC 5849).
export function authorization(method, url, keys) {
  const own = {
    oauth_consumer_key: keys.consumerKey,
    oauth_nonce: randomBytes(16).toString("hex"),
    oauth_signature_method: "HMAC-SHA1",
    oauth_timestamp: Math.floor(Date.now() / 1000).toString(),
    oauth_token: keys.token,
    oauth_version: "1.0",
  };
  const parameters = [...Object.entries(own), ...url.searchParams]
    .map(([name, value]) => [escaped(name), escaped(value)])
    .sort(([a, x], [b, y]) => (a === b ? order(x, y) : order(a, b)))
    .map((pair) => pair.join("="))
    .join("&");
  const base = [method, url.origin + url.pathname, parameters].map(escaped).join("&");
  const key = [keys.consumerSecret, keys.tokenSecret].map(escaped).join("&");
  own.oauth_signature = createHmac("sha1", key).update(base).digest("base64");
  const told = Object.entries(own).map(([name, value]) => `${name}="${escaped(value)}"`);
  return `OAuth ${told.join(", ")}`;
}

function order(a, b) {
  return a < b ? -1 : a > b ? 1 : 0;
}

function escaped(text) {
  const rest = (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`;
  return encodeURIComponent(text).replace(/[!'()*]/g, rest);
}
