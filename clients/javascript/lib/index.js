"use strict";

const errors = require("./errors.js");
const { MockPlatform } = require("./platform.js");
const { WebhookReceiver } = require("./receiver.js");

const { MISTAKES: _mistakes, describeRefusal: _describe, ...classes } = errors;

/** @type {typeof import("../types/index")} */
const face = { MockPlatform, WebhookReceiver, ...classes };

module.exports = face;
