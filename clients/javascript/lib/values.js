"use strict";

// Values that users pass: moments and objects with options.

const { ValueError } = require("./errors.js");

const DAY = /^\d{4}-\d\d-\d\d$/;

/**
 * Returns a moment as text in ISO 8601; the server checks the rest of it.
 *
 * @param {Date | string} value
 * @returns {string}
 */
function formatMoment(value) {
  if (typeof value === "string") {
    if (!/^\d{4}-\d\d-\d\d/.test(value)) {
      throw new ValueError(`'${value}' is not a moment in ISO 8601, such as 2026-03-01T12:00:00Z.`);
    }
    return DAY.test(value) ? `${value}T00:00:00Z` : value;
  }
  if (Object.prototype.toString.call(value) !== "[object Date]") {
    throw new TypeError(`A moment is a Date or text in ISO 8601, not ${JSON.stringify(value)}.`);
  }
  if (Number.isNaN(value.getTime())) throw new ValueError("This Date is not a moment (NaN).");
  return value.toISOString();
}

/**
 * Refuses options that do not exist: JavaScript itself would ignore them.
 *
 * @param {string} method
 * @param {object} options
 * @param {readonly string[]} known
 */
function checkOptions(method, options, known) {
  for (const name of Object.keys(options)) {
    if (!known.includes(name)) {
      throw new TypeError(`${method} has no option '${name}'.${didYouMean(name, known)} ` +
        `Options: ${known.join(", ")}.`);
    }
  }
}

/**
 * @param {string} name
 * @param {readonly string[]} known
 * @returns {string} A question with the nearest known name, or nothing.
 */
function didYouMean(name, known) {
  const near = known
    .map((each) => ({ each, steps: distance(name.toLowerCase(), each.toLowerCase()) }))
    .filter(({ each, steps }) => steps <= Math.max(1, Math.floor(each.length / 3)))
    .sort((a, b) => a.steps - b.steps)[0];
  return near === undefined ? "" : ` Did you mean '${near.each}'?`;
}

/**
 * @param {string} one
 * @param {string} other
 * @returns {number} The number of letters to insert, delete or replace, or of neighbours to swap.
 */
function distance(one, other) {
  /** @type {number[]} */
  let before = [];
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let i = 1; i <= one.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= other.length; j += 1) {
      const replaced = row[j - 1] + (one[i - 1] === other[j - 1] ? 0 : 1);
      const isSwap = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      const swapped = isSwap ? before[j - 2] + 1 : Infinity;
      next.push(Math.min(next[j - 1] + 1, row[j] + 1, replaced, swapped));
    }
    [before, row] = [row, next];
  }
  return row[other.length];
}

/**
 * Returns the values without those that are undefined or null.
 *
 * @param {Record<string, any>} values
 * @returns {Record<string, any>}
 */
function withoutMissing(values) {
  return Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== undefined && value !== null),
  );
}

/**
 * @param {string} name A name in camel case.
 * @param {string} between What joins its words.
 * @returns {string}
 */
function splitWords(name, between) {
  return name.replace(/[A-Z]/g, (letter) => between + letter.toLowerCase());
}

module.exports = { checkOptions, didYouMean, formatMoment, splitWords, withoutMissing };
