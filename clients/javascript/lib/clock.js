"use strict";

const { ValueError } = require("./errors.js");
const { checkOptions, formatMoment, withoutMissing } = require("./values.js");

const UNITS = { days: 86_400, hours: 3600, minutes: 60, seconds: 1 };

/** @implements {Face} @typedef {import("../types/index").Clock} Face */
class Clock {
  /** @param {import("./control.js").Control} control */
  constructor(control) {
    this._control = control;
  }

  async now() {
    return readMoment(await this._control.ask("GET", "/clock"));
  }

  async frozen() {
    return /** @type {boolean} */ ((await this._control.ask("GET", "/clock")).frozen);
  }

  /** @param {Date | string} [to] */
  async freeze(to) {
    return this._put({ action: "freeze", to: to === undefined ? to : formatMoment(to) });
  }

  /** @param {Date | string} to */
  async travel(to) {
    return this._put({ action: "travel", to: to === "now" ? to : formatMoment(to) });
  }

  /** @param {any} duration A duration, or `{ to: "next" }`. */
  async advance(duration) {
    if (duration?.to !== undefined) {
      checkOptions("clock.advance", duration, ["to"]);
      const body = { action: "advance", to: duration.to };
      const { happened } = await this._control.ask("PUT", "/clock", { body });
      return happened.map((/** @type {{ at: string }} */ each) => ({
        ...each,
        at: new Date(each.at),
      }));
    }
    if (typeof duration === "number" || typeof duration === "string") {
      if (typeof duration === "number" && !Number.isFinite(duration)) {
        throw new ValueError(`clock.advance: seconds must be a finite number, not ${duration}.`);
      }
      return this._put({ action: "advance", seconds: duration });
    }
    checkOptions("clock.advance", duration ?? {}, Object.keys(UNITS));
    if (Object.keys(withoutMissing(duration ?? {})).length === 0) {
      throw new ValueError('clock.advance needs a duration, such as "1h" or { hours: 1 }.');
    }
    let seconds = 0;
    for (const [unit, count] of Object.entries(withoutMissing(duration))) {
      if (typeof count !== "number" || !Number.isFinite(count)) {
        throw new ValueError(`clock.advance: ${unit} must be a finite number, not ${count}.`);
      }
      seconds += count * UNITS[/** @type {keyof typeof UNITS} */ (unit)];
    }
    return this._put({ action: "advance", seconds });
  }

  async resume() {
    return this._put({ action: "resume" });
  }

  /** @param {object} body */
  async _put(body) {
    return readMoment(await this._control.ask("PUT", "/clock", { body }));
  }
}

/** @param {{ now: string }} answer */
function readMoment({ now }) {
  return new Date(now);
}

module.exports = { Clock };
