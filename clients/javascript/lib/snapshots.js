"use strict";

class Snapshots {
  /** @param {import("./control.js").Control} control */
  constructor(control) {
    this._control = control;
  }

  /** @returns {Promise<string[]>} */
  async list() {
    return (await this._control.ask("GET", "/snapshots")).snapshots;
  }

  /** @param {string} name */
  async save(name) {
    await this._control.ask("PUT", pathOf(name));
  }

  /** @param {string} name */
  async restore(name) {
    await this._control.ask("POST", `${pathOf(name)}/restore`);
  }

  /** @param {string} name */
  async delete(name) {
    await this._control.ask("DELETE", pathOf(name));
  }
}

/** @param {string} name */
function pathOf(name) {
  return `/snapshots/${encodeURIComponent(name)}`;
}

module.exports = { Snapshots };
