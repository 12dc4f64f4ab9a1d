"use strict";

const errors = require("./errors.js");
const { MockPlatform, failures } = require("./platform.js");
const { WebhookReceiver } = require("./receiver.js");

const { MISTAKES: _mistakes, describeRefusal: _describe, ...classes } = errors;

/** @type {typeof import("../types/index")} */
const face = { MockPlatform, WebhookReceiver, failures, ...classes };

module.exports = face;
