"use strict";

const { checkOptions, formatMoment } = require("./values.js");

const FILTERS = ["operation", "status", "method", "path", "rule", "ended", "since"];

/** @implements {Face} @typedef {import("../types/index").Entry} Face */
class Entry {
  /** @param {any} document An entry in the form of the control plane. */
  constructor(document) {
    const { request, response } = document;
    /** @type {string} */ this.id = document.id;
    this.at = new Date(document.at);
    /** @type {string} */ this.world = document.world;
    /** @type {string} */ this.method = document.method;
    /** @type {string} */ this.url = document.url;
    /** @type {number} */ this.status = document.status;
    /** @type {import("../types/index").Ended | null} */
    this.ended = readEnded(document.ended);
    /** @type {string | null} */ this.why = document.why;
    /** @type {number} */ this.milliseconds = document.milliseconds;
    /** @type {number} */ this.handlerMilliseconds = document.handler_milliseconds;
    /** @type {import("../types/index").OperationId | null} */ this.operation = document.operation;
    /** @type {string | null} */ this.custom = document.custom ?? null;
    /** @type {string | null} */ this.tool = document.tool ?? null;
    /** @type {Record<string, any> | null} */ this.caller = document.caller;
    /** @type {Record<string, any> | null} */ this.rule = document.rule;
    /** @type {Record<string, any>[]} */ this.nearMisses = document.near_misses;
    /** @type {import("../types/index").Change[]} */
    this.changes = document.changes.map(readChange);
    /** @type {string[]} */ this.assumptions = document.assumptions;
    /** @type {string[]} */ this.warnings = document.warnings;
    /** @type {Record<string, any> | null} */ this.diagnosis = document.diagnosis;
    /** @type {import("../types/index").Cost | null} */ this.cost = document.cost;
    /** @type {string | null} */ this.traceback = document.traceback ?? null;
    /** @type {[string, string][]} */ this.requestHeaders = request.headers;
    /** @type {string} */ this.requestBody = request.body.text;
    /** @type {[string, string][]} */ this.responseHeaders = response.headers;
    /** @type {string} */ this.responseBody = response.body.text;
    Object.defineProperty(this, "_document", { value: document });
  }

  /** @returns {Record<string, any>} */
  asJson() {
    return /** @type {any} */ (this)._document;
  }

  toString() {
    const { method, url, status, operation, custom, why } = this;
    const text = `${method} ${stripOrigin(url)} -> ${status} ${operation ?? custom ?? "no operation"}`;
    return `${text}${describeEnd(this.ended)}${why === null ? "" : `: ${why}`}`;
  }
}

class Journal {
  /** @param {import("./control.js").Control} control */
  constructor(control) {
    this._control = control;
  }

  /** @param {import("../types/index").PageQuery} [query] */
  async find(query = {}) {
    const sent = serialize("journal.find", query, [...FILTERS, "limit"]);
    const { requests } = await this._control.ask("GET", "/requests", { query: sent });
    return requests.map((/** @type {any} */ document) => new Entry(document));
  }

  /** @param {import("../types/index").EntryQuery} [query] */
  async count(query = {}) {
    const sent = serialize("journal.count", query, FILTERS);
    return (await this._control.ask("GET", "/requests/count", { query: sent })).count;
  }

  /** @param {string} requestId */
  async get(requestId) {
    if (!/^r\d+$/.test(requestId)) return undefined; // it would be the address of something else
    const found = await this._control.find(`/requests/${requestId}`);
    return found === undefined ? undefined : new Entry(found);
  }

  async clear() {
    await this._control.ask("DELETE", "/requests");
  }

  async *[Symbol.asyncIterator]() {
    yield* await this.find();
  }
}

/** @param {any} ended */
function readEnded(ended) {
  if (ended === null) return null;
  const { how, bytes, late_milliseconds: lateMilliseconds } = ended;
  return { how, bytes, lateMilliseconds };
}

/** @param {import("../types/index").Ended | null} ended Nothing is said of a usual end. */
function describeEnd(ended) {
  if (ended === null) return ", still being sent";
  const { how, bytes, lateMilliseconds } = ended;
  const late = lateMilliseconds === undefined ? "" : `, ${Math.round(lateMilliseconds)} ms late`;
  if (how === "complete") return late;
  return `, ${how}${bytes === undefined ? "" : ` after ${bytes} bytes`}${late}`;
}

/** @param {any} change */
function readChange(change) {
  return { table: change.table, key: change.id, kind: change.change, fields: change.fields };
}

/**
 * @param {string} method
 * @param {Record<string, any>} query
 * @param {readonly string[]} known
 */
function serialize(method, query, known) {
  checkOptions(method, query, known);
  const since = query.since === undefined ? undefined : formatMoment(query.since);
  return { ...query, since };
}

/**
 * Returns an address without the server and the world.
 *
 * @param {string} url
 */
function stripOrigin(url) {
  return url.replace(/^\w+:\/\/[^/]+(\/~[^/]+)?/, "");
}

module.exports = { Journal, stripOrigin };
