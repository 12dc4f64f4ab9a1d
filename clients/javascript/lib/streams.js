"use strict";

const { checkOptions } = require("./values.js");

class Streams {
  /** @param {import("./control.js").Control} control */
  constructor(control) {
    this._control = control;
  }

  /** @returns {Promise<Record<string, any>[]>} */
  async list() {
    return (await this._control.ask("GET", "/streams")).streams;
  }

  /**
   * @param {string} [streamId]
   * @param {import("../types/index").DisconnectOptions} [options]
   */
  async disconnect(streamId = "all", options = {}) {
    checkOptions("streams.disconnect", options, ["disconnectType", "line", "fault"]);
    const { disconnectType: type = "OperationalDisconnect", line = true, fault } = options;
    return this._act(streamId, "disconnect", { disconnect_type: type, line, fault });
  }

  /**
   * @param {string | undefined} streamId
   * @param {{ seconds: number }} options
   */
  async stall(streamId = "all", options) {
    checkOptions("streams.stall", options, ["seconds"]);
    return this._act(streamId, "stall", { seconds: options.seconds });
  }

  /**
   * @param {string} streamId
   * @param {string} verb
   * @param {object} body
   * @returns {Promise<string[]>}
   */
  async _act(streamId, verb, body) {
    const path = `/streams/${encodeURIComponent(streamId)}/${verb}`;
    return (await this._control.ask("POST", path, { body })).streams;
  }
}

module.exports = { Streams };
