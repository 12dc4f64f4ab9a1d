"use strict";

const { createHmac, timingSafeEqual } = require("node:crypto");
const { once } = require("node:events");
const http = require("node:http");

const { ValueError } = require("./errors.js");
const { checkOptions } = require("./values.js");

const SIGNATURE = "x-platform-webhooks-signature";

/** @implements {Face} @typedef {import("../types/index").WebhookReceiver} Face */
class WebhookReceiver {
  /**
   * @param {string} secret Of the app.
   * @param {import("../types/index").WebhookReceiverOptions} [options]
   */
  constructor(secret, { world } = {}) {
    this.secret = secret;
    this._world = world;
    /** @type {string[]} */ this.challenges = [];
    /** @type {import("../types/index").ReceivedDelivery[]} */ this.refused = [];
    /** @type {import("../types/index").ReceivedDelivery[]} */ this.deliveries = [];
    this.port = 0;
    this.url = "";
    /** @type {number[]} */ this._statuses = [];
    /** @type {Set<() => void>} Who waits for deliveries. */ this._waiting = new Set();
    this._server = http.createServer((request, response) => {
      // Who leaves in the middle, or sends no address, must not end the program of the test.
      this._answer(request, response).catch(() => response.destroy());
    });
  }

  /** @param {string} secret @param {import("../types/index").WebhookReceiverOptions} [options] */
  static async start(secret, options) {
    if (typeof secret !== "string") {
      throw new TypeError("WebhookReceiver.start(secret) needs the app's consumer secret.");
    }
    checkOptions("WebhookReceiver.start", options ?? {}, ["world"]);
    const receiver = new WebhookReceiver(secret, options);
    receiver._server.listen(0, "127.0.0.1");
    await once(receiver._server, "listening");
    receiver.port = /** @type {import("node:net").AddressInfo} */ (receiver._server.address()).port;
    receiver.url = `http://127.0.0.1:${receiver.port}/webhook`;
    return receiver;
  }

  /** @param {number} [number] @param {number} [seconds] */
  async wait(number = 1, seconds = 10) {
    const until = Date.now() + seconds * 1000;
    while (this.deliveries.length < number) {
      const left = until - Date.now();
      if (left <= 0) throw new Error(await this._explain(number, seconds));
      await new Promise((resolve) => {
        const wake = () => {
          clearTimeout(timer);
          this._waiting.delete(wake);
          resolve(undefined);
        };
        const timer = setTimeout(wake, left);
        this._waiting.add(wake);
      });
    }
    return [...this.deliveries];
  }

  /** @param {number[]} statuses */
  answerNext(...statuses) {
    for (const status of statuses) {
      if (!Number.isInteger(status) || status < 200 || status > 599) {
        const wanted = "a status is a number from 200 to 599, as in answerNext(500, 429)";
        throw new ValueError(`${wanted}; not ${JSON.stringify(status)}.`);
      }
    }
    this._statuses.push(...statuses);
  }

  async stop() {
    const closed = new Promise((resolve) => this._server.close(resolve));
    this._server.closeAllConnections();
    await closed;
  }

  async [Symbol.asyncDispose]() {
    await this.stop();
  }

  /** @param {http.IncomingMessage} request @param {http.ServerResponse} response */
  async _answer(request, response) {
    const parts = [];
    for await (const part of request) parts.push(part);
    const { pathname, searchParams } = new URL(request.url ?? "/", this.url);
    if (request.method === "GET") {
      const token = searchParams.get("crc_token") ?? "";
      this.challenges.push(token);
      response.end(JSON.stringify({ response_token: this._sign(token) }));
      return;
    }
    response.statusCode = this._take({
      path: pathname,
      headers: /** @type {Record<string, string>} */ (request.headers),
      body: Buffer.concat(parts),
    });
    response.end();
  }

  /** @param {{ path: string, headers: Record<string, string>, body: Buffer }} came */
  _take(came) {
    const expected = Buffer.from(this._sign(came.body));
    const given = Buffer.from(came.headers[SIGNATURE] ?? "");
    const fits = given.length === expected.length && timingSafeEqual(given, expected);
    const delivery = { ...came, json: () => JSON.parse(came.body.toString()) };
    (fits ? this.deliveries : this.refused).push(delivery);
    for (const wake of [...this._waiting]) wake();
    return fits ? (this._statuses.shift() ?? 200) : 403;
  }

  /** @param {string | Buffer} body */
  _sign(body) {
    return `sha256=${createHmac("sha256", this.secret).update(body).digest("base64")}`;
  }

  /** Ask the world why nothing came; one that has ended does not say it. */
  async _listReasons() {
    try {
      return (await this._world?.explainDeliveries(this.url)) ?? [];
    } catch (error) {
      return [`Why is not known: ${/** @type {Error} */ (error).message}`];
    }
  }

  /** @param {number} number @param {number} seconds */
  async _explain(number, seconds) {
    const came = this.deliveries.length;
    let text = `${this.url} waited ${seconds} seconds for ${number} deliveries and received ${came}.`;
    if (this.refused.length > 0) {
      text += ` ${this.refused.length} more had another signature; is it another app's secret?`;
    }
    if (this.challenges.length === 0) {
      text += " It was never challenged: register it with POST /2/webhooks.";
    }
    text += " GET /_mock/deliveries lists every attempt.";
    return [text, ...(await this._listReasons())].join("\n  ");
  }
}

module.exports = { WebhookReceiver };
