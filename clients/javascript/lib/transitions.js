"use strict";

const { checkOptions } = require("./values.js");

class Transitions {
  /** @param {import("./control.js").Control} control */
  constructor(control) {
    this._control = control;
  }

  /** @returns {Promise<Record<string, import("../types/index").Transition>>} */
  async list() {
    return this._control.ask("GET", "/transitions");
  }

  /**
   * @param {string} kind
   * @param {import("../types/index").Pace} pace
   * @returns {Promise<import("../types/index").Transition>}
   */
  async set(kind, pace) {
    checkOptions("transitions.set", pace, ["progression", "seconds", "polls"]);
    return this._control.ask("PUT", `/transitions/${encodeURIComponent(kind)}`, { body: pace });
  }

  /**
   * @param {string} kind
   * @param {string} id
   * @param {string} to
   * @returns {Promise<string>}
   */
  async move(kind, id, to) {
    const path = `/transitions/${encodeURIComponent(kind)}/${encodeURIComponent(id)}`;
    return (await this._control.ask("POST", path, { body: { to } })).state;
  }
}

module.exports = { Transitions };
