"use strict";

// Sends requests to the control plane of a server.

const http = require("node:http");
const https = require("node:https");

const { Refused, Unreachable, describeRefusal } = require("./errors.js");
const json = require("./json.js");
const { withoutMissing } = require("./values.js");

/** Seconds for which a route can be asked to wait. */
const LONGEST_WAIT_SECONDS = 60;
const TIMEOUT_MILLISECONDS = (LONGEST_WAIT_SECONDS + 30) * 1000;
const TOKEN_HEADER = "X-Mock-Control-Token";

/** The connections to one server, with its token and its certificate authority. */
class Connection {
  /** @param {{ token?: string, ca?: Buffer, explain?: () => string }} options */
  constructor({ token, ca, explain = () => "Start a server with `mock-platform serve`." } = {}) {
    this._token = token;
    this._explain = explain;
    // Connections that wait for their next request do not keep the process alive.
    this._agents = {
      "http:": new http.Agent({ keepAlive: true }),
      "https:": new https.Agent({ keepAlive: true, ca }),
    };
  }

  /**
   * Returns status and text of an answer.
   *
   * @param {string} method
   * @param {string} address
   * @param {{ text: string, type: string }} [body]
   * @returns {Promise<{ status: number, text: string, bytes: Buffer }>}
   */
  async send(method, address, body) {
    const url = new URL(address);
    for (;;) {
      try {
        return await this._sendOnce(method, url, body);
      } catch (error) {
        const fault = /** @type {NodeJS.ErrnoException & { reused?: boolean }} */ (error);
        // The server had closed a connection that waited; it has not seen the request.
        if (fault.reused && (fault.code === "ECONNRESET" || fault.code === "EPIPE")) continue;
        throw this._unreachable(address, fault);
      }
    }
  }

  close() {
    this._agents["http:"].destroy();
    this._agents["https:"].destroy();
  }

  /**
   * @param {string} method
   * @param {URL} url
   * @param {{ text: string, type: string }} [body]
   * @returns {Promise<{ status: number, text: string, bytes: Buffer }>}
   */
  _sendOnce(method, url, body) {
    /** @type {Record<string, string | number>} */
    const headers = { accept: "application/json" };
    if (this._token) headers[TOKEN_HEADER] = this._token;
    if (body !== undefined) headers["content-type"] = body.type;
    headers["content-length"] = body === undefined ? 0 : Buffer.byteLength(body.text);
    const secure = url.protocol === "https:";
    const agent = secure ? this._agents["https:"] : this._agents["http:"];
    return new Promise((resolve, reject) => {
      const options = { method, headers, agent, timeout: TIMEOUT_MILLISECONDS };
      const request = (secure ? https : http).request(url, options, (answer) => {
        /** @type {Buffer[]} */
        const chunks = [];
        answer.on("data", (chunk) => chunks.push(chunk));
        answer.on("error", reject);
        answer.on("end", () => {
          const bytes = Buffer.concat(chunks);
          resolve({ status: answer.statusCode ?? 0, text: bytes.toString("utf8"), bytes });
        });
      });
      request.on("timeout", () => request.destroy(new Error("no answer within 90 seconds")));
      request.on("error", (fault) => {
        reject(Object.assign(fault, { reused: request.reusedSocket }));
      });
      request.end(body?.text);
    });
  }

  /**
   * @param {string} address
   * @param {NodeJS.ErrnoException} fault
   */
  _unreachable(address, fault) {
    const code = fault.code ?? "";
    const untrusted = /CERT|SIGNED|SIGNATURE|ALTNAME/.test(code);
    const why = untrusted
      ? `${address} is not trusted (${code}). Name the file of its certificate authority: ` +
        "MockPlatform.connect(url, { ca: FILE }), or the variable NODE_EXTRA_CA_CERTS."
      : `no server answers at ${address} (${fault.message}). ${this._explain()}`;
    return new Unreachable(why, { cause: fault });
  }
}

/** The control plane of one world. */
class Control {
  /**
   * @param {string} url
   * @param {Connection} connection
   */
  constructor(url, connection) {
    this.url = url;
    this.connection = connection;
  }

  /**
   * Returns the answer of a route; undefined if it has no body.
   *
   * @param {string} method
   * @param {string} path
   * @param {{ body?: any, yaml?: string, query?: Record<string, any> }} [sent]
   * @returns {Promise<any>}
   */
  async ask(method, path, { body, yaml, query = {} } = {}) {
    const words = new URLSearchParams(withoutMissing(query)).toString();
    const address = `${this.url}${path}${words && `?${words}`}`;
    const { status, text } = await this.connection.send(method, address, encode(body, yaml));
    const document = tryToParse(text);
    if (status < 200 || status > 299) {
      throw describeRefusal(`${method} ${address}`, status, document);
    }
    if (text !== "" && document === undefined) {
      throw describeRefusal(`${method} ${address}`, status, undefined);
    }
    return document;
  }

  /**
   * Returns the bytes of an answer that is not JSON.
   *
   * @param {string} path
   */
  async fetch(path) {
    const address = `${this.url}${path}`;
    const { status, text, bytes } = await this.connection.send("GET", address);
    if (status === 200) return bytes;
    throw describeRefusal(`GET ${address}`, status, tryToParse(text));
  }

  /**
   * Returns the answer of a path; undefined if it is not found.
   *
   * @param {string} path
   * @returns {Promise<any>}
   */
  async find(path) {
    try {
      return await this.ask("GET", path);
    } catch (error) {
      if (error instanceof Refused && error.status === 404) return undefined;
      throw error;
    }
  }
}

/**
 * @param {any} body
 * @param {string} [yaml]
 */
function encode(body, yaml) {
  if (yaml !== undefined) return { text: yaml, type: "application/yaml" };
  if (body === undefined) return undefined;
  return { text: json.stringify(body), type: "application/json" };
}

/** @param {string} text */
function tryToParse(text) {
  try {
    return json.parse(text);
  } catch {
    return undefined;
  }
}

module.exports = { Connection, Control, LONGEST_WAIT_SECONDS };
