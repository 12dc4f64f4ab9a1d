"use strict";

// `fetch` with the test credentials of a world.

const { createHmac, randomBytes } = require("node:crypto");

const { ForeignHost, MissingCredentials, ValueError } = require("./errors.js");

const LOOPBACK = /^(localhost|.+\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/** @typedef {(method: string, url: URL, form: URLSearchParams) => string | undefined} Sign */

class Session {
  /**
   * @param {string} baseUrl
   * @param {Sign} sign Returns the Authorization header of a request.
   * @param {readonly string[]} passthrough Other hosts that may be called.
   */
  constructor(baseUrl, sign, passthrough = []) {
    if (!Array.isArray(passthrough) || passthrough.some((host) => !/^[\w.-]+$/.test(host))) {
      const host = JSON.stringify(passthrough);
      throw new ValueError(`passthrough is a list of hosts such as ["api.example.com"], not ${host}.`);
    }
    this.baseUrl = baseUrl;
    this._hosts = [new URL(baseUrl).hostname, ...passthrough.map((host) => host.toLowerCase())];
    this._sign = sign;
    this.fetch = this.fetch.bind(this); // for clients that take a function
  }

  /**
   * @param {string | URL} address
   * @param {RequestInit} [init]
   */
  async fetch(address, init = {}) {
    const url = this._resolve(String(address));
    const headers = new Headers(init.headers);
    if (!headers.has("authorization")) {
      const value = this._sign((init.method ?? "GET").toUpperCase(), url, readForm(init, headers));
      if (value !== undefined) headers.set("authorization", value);
    }
    return fetch(url, { ...init, headers });
  }

  /** @param {string} address */
  _resolve(address) {
    if (!/^[a-z][a-z0-9+.-]*:/i.test(address)) {
      return new URL(`${this.baseUrl}/${address.replace(/^\//, "")}`);
    }
    const url = new URL(address);
    if (!this._hosts.includes(url.hostname) && !LOOPBACK.test(url.hostname)) {
      throw new ForeignHost(
        `This session calls the sandbox at ${this.baseUrl} only, not ${url.hostname}: its requests ` +
          "must not reach another server. Pass the path alone, or, if that host really is to be " +
          `called, use session(auth, { passthrough: ["${url.hostname}"] }).`,
      );
    }
    return url;
  }
}

/**
 * Returns how requests are signed with the credentials of a world.
 *
 * @param {string} world
 * @param {import("../types/index").Credentials} found
 * @param {import("../types/index").AuthScheme | undefined} scheme
 * @returns {Sign}
 */
function chooseSignature(world, found, scheme) {
  const { app, user, bearer_token: bearer } = found;
  switch (scheme) {
    case undefined:
      return () => undefined;
    case "oauth1": {
      if (!app || !user?.access_token) {
        throw explainMissing(world, "an app, a user and an access token");
      }
      const [key, token] = [app.consumer_key, user.access_token];
      const secrets = [app.consumer_secret, user.access_token_secret ?? ""];
      return (method, url, form) => signOAuth1(method, url, form, key, token, secrets);
    }
    case "oauth2":
      if (!user?.oauth2_access_token) throw explainMissing(world, "an OAuth 2.0 access token");
      return () => `Bearer ${user.oauth2_access_token}`;
    case "bearer":
      if (!bearer) throw explainMissing(world, "a bearer token");
      return () => `Bearer ${bearer}`;
    default:
      throw new ValueError(
        `session: auth must be 'oauth1', 'oauth2', 'bearer' or undefined, not '${scheme}'.`,
      );
  }
}

/**
 * Returns the Authorization header of RFC 5849 with HMAC-SHA1.
 *
 * @param {string} method
 * @param {URL} url
 * @param {URLSearchParams} form
 * @param {string} key
 * @param {string} token
 * @param {string[]} secrets
 */
function signOAuth1(method, url, form, key, token, secrets) {
  /** @type {Record<string, string>} */
  const own = {
    oauth_consumer_key: key,
    oauth_nonce: randomBytes(16).toString("hex"),
    oauth_signature_method: "HMAC-SHA1",
    oauth_timestamp: Math.floor(Date.now() / 1000).toString(),
    oauth_token: token,
    oauth_version: "1.0",
  };
  const parameters = [...Object.entries(own), ...url.searchParams, ...form]
    .map(([name, value]) => [escape(name), escape(value)])
    .sort(([a, x], [b, y]) => (a === b ? compare(x, y) : compare(a, b)))
    .map((pair) => pair.join("="))
    .join("&");
  const base = [method, url.origin + url.pathname, parameters].map(escape).join("&");
  const secret = secrets.map(escape).join("&");
  own.oauth_signature = createHmac("sha1", secret).update(base).digest("base64");
  const words = Object.entries(own).map(([name, value]) => `${name}="${escape(value)}"`);
  return `OAuth ${words.join(", ")}`;
}

/**
 * Returns the parameters of a form, which are signed too.
 *
 * @param {RequestInit} init
 * @param {Headers} headers
 */
function readForm(init, headers) {
  const { body } = init;
  if (body instanceof URLSearchParams) return body;
  const type = headers.get("content-type") ?? "";
  const isForm = type.startsWith("application/x-www-form-urlencoded");
  return new URLSearchParams(isForm && typeof body === "string" ? body : "");
}

/**
 * @param {string} world
 * @param {string} what
 */
function explainMissing(world, what) {
  return new MissingCredentials(
    `World '${world}' does not have ${what} of its first app and user. Add them to its state, ` +
      "reset the world, or sign with other credentials.",
  );
}

/**
 * @param {string} a
 * @param {string} b
 */
function compare(a, b) {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** @param {string} text */
function escape(text) {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

module.exports = { Session, chooseSignature };
