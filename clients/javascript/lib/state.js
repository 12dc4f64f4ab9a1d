"use strict";

const { KEYS } = require("./contract.js");
const { BadRecord, Refused } = require("./errors.js");
const { checkOptions } = require("./values.js");

/** @typedef {Record<string, any>} Stored */

/** @implements {Face} @typedef {import("../types/index").Table} Face */
class Table {
  /**
   * @param {import("./control.js").Control} control
   * @param {string} name
   */
  constructor(control, name) {
    this._control = control;
    this.name = /** @type {import("../types/index").TableName} */ (name);
  }

  /** @returns {Promise<Stored[]>} */
  async all() {
    return (await this._control.ask("GET", this._path())).records;
  }

  /**
   * @param {string} key
   * @returns {Promise<Stored | undefined>}
   */
  async get(key) {
    return key === "" ? undefined : this._control.find(this._path(key));
  }

  /** @param {string} key */
  async has(key) {
    return (await this.get(key)) !== undefined;
  }

  async size() {
    return (await this.all()).length;
  }

  /**
   * @param {Stored} record
   * @param {import("../types/index").PutOptions} [options]
   * @returns {Promise<Stored>}
   */
  async put(record, options = {}) {
    checkOptions("table.put", options, ["key", "unchecked"]);
    const field = KEYS[this.name] ?? "id";
    // A post in the form of version 2 has its key in `id`; what is no key of it the server refuses.
    const key = options.key ?? record[field] ?? record.id;
    if (typeof key !== "string" || key === "") {
      const message = `a record of ${this.name} needs text here, or put(record, { key })`;
      const faults = [{ table: this.name, record: "", field, message }];
      throw new BadRecord(`${this.name}: ${field}: ${message}.`, { faults });
    }
    const own = options.key === undefined ? record : { [field]: key, ...record };
    const sent = { body: own, query: uncheckedQuery(options) };
    return this._control.ask("PUT", this._path(key), sent);
  }

  /**
   * @param {string} key
   * @param {Stored} changes
   * @param {import("../types/index").CheckOptions} [options]
   * @returns {Promise<Stored>}
   */
  async patch(key, changes, options = {}) {
    checkOptions("table.patch", options, ["unchecked"]);
    const sent = { body: changes, query: uncheckedQuery(options) };
    return this._control.ask("PATCH", this._path(key), sent);
  }

  /** @param {string} key */
  async delete(key) {
    await this._control.ask("DELETE", this._path(key));
  }

  async *[Symbol.asyncIterator]() {
    yield* await this.all();
  }

  /** @param {string} [key] */
  _path(key) {
    if (key === undefined) return `/state/${encodeURIComponent(this.name)}`;
    if (key === "" || key === "." || key === "..") {
      throw new Refused(
        `A record with the key '${key}' has no address. Read it with all() and change it with ` +
          "state.load().",
      );
    }
    return `/state/${encodeURIComponent(this.name)}/${encodeURIComponent(key)}`;
  }
}

class State {
  /** @param {import("./control.js").Control} control */
  constructor(control) {
    this._control = control;
  }

  /**
   * Returns the state of a world; its tables are properties.
   *
   * @param {import("./control.js").Control} control
   * @returns {import("../types/index").State}
   */
  static open(control) {
    const state = new State(control);
    const open = new Proxy(state, {
      get(target, name) {
        if (typeof name === "string" && isTable(name)) return new Table(control, name);
        // In JavaScript people write `state.lineItems`.
        const plain = typeof name === "string" ? name.replace(/[A-Z]/g, "_$&").toLowerCase() : "";
        if (plain in KEYS && !(name in target)) return new Table(control, plain);
        return Reflect.get(target, name);
      },
    });
    return /** @type {import("../types/index").State} */ (/** @type {unknown} */ (open));
  }

  /** @param {string} name */
  async get(name) {
    return (await this.has(name)) ? new Table(this._control, name) : undefined;
  }

  /** @param {string} name */
  async has(name) {
    return (await this.keys()).includes(name);
  }

  /** @returns {Promise<any[]>} */
  async keys() {
    return Object.keys((await this.dump()).tables);
  }

  async values() {
    return (await this.keys()).map((name) => new Table(this._control, name));
  }

  async items() {
    return (await this.values()).map((table) => /** @type {[any, Table]} */ ([table.name, table]));
  }

  async size() {
    return (await this.keys()).length;
  }

  /** @returns {Promise<Stored>} */
  async dump() {
    return this._control.ask("GET", "/state");
  }

  /**
   * @param {Stored} document
   * @param {import("../types/index").CheckOptions} [options]
   */
  async load(document, options = {}) {
    checkOptions("state.load", options, ["unchecked"]);
    await this._control.ask("PUT", "/state", { body: document, query: uncheckedQuery(options) });
  }
}

/** Whether a property is a table: what asks for a promise, prints or compares is none.
 * @param {string} name */
function isTable(name) {
  return /^[a-z][a-z0-9]*(_[a-z0-9]+)*$/.test(name) && name !== "then" && !(name in State.prototype);
}

/** @param {{ unchecked?: boolean }} options */
function uncheckedQuery({ unchecked = false }) {
  return unchecked ? { unchecked: "true" } : {};
}

module.exports = { State };
