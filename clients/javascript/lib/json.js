"use strict";

// JSON whose large integers stay exact: ids of posts have up to 19 digits, a number of JavaScript
// has 15. They are BigInt here. (JSON.parse passes the text of a number on only from node 21.)

const MARK = "\u0000integer:";
const WRITTEN_MARK = JSON.stringify(MARK).slice(1, -1);
const STRING_OR_LARGE = /"(?:[^"\\]|\\.)*"|-?\d{16,}(?![\d.eE])/g;
const MARKED = new RegExp(`"${WRITTEN_MARK.replace(/\\/g, "\\\\")}(-?\\d+)"`, "g");

/**
 * @param {string} text
 * @returns {any}
 */
function parse(text) {
  const marked = text.replace(STRING_OR_LARGE, (found) =>
    found.startsWith('"') || Number.isSafeInteger(Number(found))
      ? found
      : `"${WRITTEN_MARK}${found}"`,
  );
  if (marked === text) return JSON.parse(text);
  return JSON.parse(marked, (_, value) =>
    typeof value === "string" && value.startsWith(MARK) ? BigInt(value.slice(MARK.length)) : value,
  );
}

/**
 * @param {any} value
 * @returns {string}
 */
function stringify(value) {
  const text = JSON.stringify(value, (_, each) =>
    typeof each === "bigint" ? `${MARK}${each}` : each,
  );
  return text.replace(MARKED, "$1");
}

module.exports = { parse, stringify };
