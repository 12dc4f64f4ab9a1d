"use strict";

const errors = require("./errors.js");
const { MockPlatform, failures } = require("./platform.js");

const { MISTAKES: _mistakes, describeRefusal: _describe, ...classes } = errors;

/** @type {typeof import("../types/index")} */
const face = { MockPlatform, failures, ...classes };

module.exports = face;
