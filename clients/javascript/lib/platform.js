"use strict";

const { randomBytes } = require("node:crypto");
const { readFile } = require("node:fs/promises");
const { fileURLToPath } = require("node:url");

const { Child } = require("./child.js");
const { Connection, Control } = require("./control.js");
const { BadWorldName, UnknownWorld, ValueError } = require("./errors.js");
const { checkOptions, formatMoment, withoutMissing } = require("./values.js");
const { World } = require("./world.js");

const DEFAULT = "default";
const WORLD_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const SHOWN_ENTRIES = 20;
const WORLD_OPTIONS = [
  "source", "seed", "freeze", "ownCredentials", "warnings", "names", "wire", "asOf",
];

class MockPlatform extends World {
  /**
   * @param {import("../types/index").Addresses} addresses
   * @param {Connection} connection
   * @param {{ child?: Child, ca?: string }} owned
   */
  constructor(addresses, connection, { child, ca }) {
    super(addresses, connection, addresses.control);
    this._connection = connection;
    this._child = child;
    this._made = 0;
    /** @type {Map<string, World>} Fresh worlds that exist. */
    this._fresh = new Map();
    this.ca = ca;
  }

  /**
   * @param {import("../types/index").StartOptions} [options]
   * @returns {Promise<MockPlatform>}
   */
  static async start(options = {}) {
    return MockPlatform._own(await Child.start(options), options);
  }

  /**
   * @param {string | URL} path
   * @param {import("../types/index").OpenCaseOptions} [options]
   * @returns {Promise<MockPlatform>}
   */
  static async openCase(path, options = {}) {
    checkOptions("MockPlatform.openCase", options, ["command", "env", "port", "logLevel"]);
    const file = path instanceof URL ? fileURLToPath(path) : path;
    return MockPlatform._own(await Child.start(options, ["open", file]), options);
  }

  /**
   * @param {Child} child
   * @param {import("../types/index").StartOptions} options
   */
  static async _own(child, options) {
    const { url, ca, control_token: made } = child.ready;
    try {
      const token = made ?? options.controlToken ?? options.env?.MOCK_PLATFORM_SERVE_CONTROL_TOKEN;
      return await open(url, token, ca, child);
    } catch (error) {
      await child.stop();
      throw error;
    }
  }

  /**
   * @param {string} [url]
   * @param {{ token?: string, ca?: string }} [options]
   * @returns {Promise<MockPlatform>}
   */
  static async connect(url = process.env.MOCK_PLATFORM_URL, options = {}) {
    checkOptions("MockPlatform.connect", options, ["token", "ca"]);
    if (url === undefined || !/^https?:\/\//.test(url)) {
      throw new ValueError(
        `${url} is not an address such as http://127.0.0.1:8080, the url of a READY line. Without ` +
          "an argument, connect() reads MOCK_PLATFORM_URL, which `mock-platform run -- CMD` sets.",
      );
    }
    const token = options.token ?? process.env.MOCK_PLATFORM_CONTROL_TOKEN;
    return open(url, token, options.ca ?? process.env.NODE_EXTRA_CA_CERTS);
  }

  /**
   * @param {string} name
   * @param {import("../types/index").WorldOptions} [options]
   */
  async world(name, options = {}) {
    checkOptions("world", options, WORLD_OPTIONS);
    if (!WORLD_NAME.test(name)) throw badName(name);
    const { source, freeze, ownCredentials, asOf, ...same } = options;
    const [at, as_of] = [freeze, asOf].map((each) => each && formatMoment(each));
    const sent = { from: source, freeze: at, as_of, own_credentials: ownCredentials, ...same };
    const body = withoutMissing(sent);
    const made = await this._control.ask("PUT", `/worlds/${name}`, { body });
    for (const text of made.warnings ?? []) process.emitWarning(`mock_platform: ${text}`);
    return new World(made, this._connection, this.controlUrl);
  }

  /**
   * @param {import("../types/index").TestContext} [test]
   * @param {import("../types/index").WorldOptions} [options]
   */
  async freshWorld(test, options = {}) {
    const end = test === undefined ? undefined : (test.after ?? test.onTestFinished);
    if (test !== undefined && end === undefined) {
      throw new TypeError(
        "freshWorld(test) needs the context of a test, which has after (node:test) or " +
          "onTestFinished (vitest). Without one, call freshWorld() and drop() the world.",
      );
    }
    this._made += 1;
    const name = `test-${process.pid}-${randomBytes(4).toString("hex")}-${this._made}`;
    const world = await this.world(name, options);
    this._fresh.set(name, world);
    const forget = world.drop.bind(world);
    world.drop = async () => {
      this._fresh.delete(name);
      await forget();
    };
    end?.call(test, async () => {
      if (hasFailed(test)) await describe(world);
      await world.finish();
    });
    return world;
  }

  /** @param {string} name */
  async dropWorld(name) {
    if (!WORLD_NAME.test(name)) throw new UnknownWorld(`There is no world '${name}'.`);
    await this._control.ask("DELETE", `/worlds/${name}`);
  }

  /** @returns {Promise<string[]>} */
  async worlds() {
    const { worlds } = await this._control.ask("GET", "/worlds");
    return worlds.map((/** @type {{ name: string }} */ world) => world.name);
  }

  async stop() {
    try {
      if (this._child === undefined) await this._dropFreshWorlds();
    } finally {
      this._connection.close();
      await this._child?.stop();
    }
  }

  async [Symbol.asyncDispose]() {
    await this.stop();
  }

  async _dropFreshWorlds() {
    await Promise.all([...this._fresh.values()].map((world) => world.drop()));
  }
}

/**
 * The server of `MOCK_PLATFORM_URL` lists them; without one, a server that is started for it.
 *
 * @param {string} pattern
 * @param {import("../types/index").FailuresOptions} [options]
 */
async function failures(pattern, options) {
  const running = process.env.MOCK_PLATFORM_URL !== undefined;
  const platform = await (running ? MockPlatform.connect() : MockPlatform.start());
  try {
    return await platform.failures(pattern, options);
  } finally {
    await platform.stop();
  }
}

/**
 * @param {string} url
 * @param {string} [token]
 * @param {string} [ca] A file.
 * @param {Child} [child]
 */
async function open(url, token, ca, child) {
  const secure = url.startsWith("https:");
  const authority = secure && ca ? await readFile(ca) : undefined;
  const explain = child === undefined ? undefined : () => child.explain();
  const connection = new Connection({ token, ca: authority, explain });
  try {
    const [address, name = DEFAULT] = url.replace(/\/+$/, "").replace(/\/_mock$/, "").split("/~");
    const { worlds } = await new Control(`${address}/_mock`, connection).ask("GET", "/worlds");
    const own = worlds.find((/** @type {{ name: string }} */ world) => world.name === name);
    if (own === undefined) {
      const names = worlds.map((/** @type {{ name: string }} */ world) => world.name).join(", ");
      throw new UnknownWorld(`${address} has no world '${name}'. It has: ${names}.`);
    }
    return new MockPlatform(own, connection, { child, ca: secure ? ca : undefined });
  } catch (error) {
    connection.close();
    throw error;
  }
}

/**
 * Whether a test has failed, as far as its runner says it: node:test from 20.12 on, and vitest.
 *
 * @param {import("../types/index").TestContext} [test]
 */
function hasFailed(test) {
  return test?.passed === false || test?.task?.result?.state === "fail";
}

/**
 * Show what reached the world of a failed test, since the world is gone when people read of it.
 *
 * @param {World} world
 */
async function describe(world) {
  const entries = await world.journal.find({ limit: SHOWN_ENTRIES });
  const lines = entries.length > 0 ? entries : ["none reached this world"];
  const shown = [`The last requests to ${world.name} (mock_platform):`, ...lines];
  const silent = await world._describeSilentRules(entries);
  if (silent.length > 0) shown.push("", "Rules that never acted:", ...silent);
  console.error(shown.map((line, index) => (index && line ? `  ${line}` : line)).join("\n"));
}

/** @param {string} name */
function badName(name) {
  return new BadWorldName(
    `'${name}' is not a name for a world: 1 to 64 letters, digits, dots, underscores and ` +
      "hyphens, the first a letter or digit.",
  );
}

module.exports = { MockPlatform, failures };
