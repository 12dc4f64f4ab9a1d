"use strict";

const { chmod, readFile, writeFile } = require("node:fs/promises");

const { Clock } = require("./clock.js");
const { Control, LONGEST_WAIT_SECONDS } = require("./control.js");
const { BadScenario, UnfiredExpectations, UnknownScenario, ValueError } = require("./errors.js");
const { Journal, stripOrigin } = require("./journal.js");
const { Session, chooseSignature } = require("./session.js");
const { Snapshots } = require("./snapshots.js");
const { State } = require("./state.js");
const { Streams } = require("./streams.js");
const { Transitions } = require("./transitions.js");
const { checkOptions, formatMoment, withoutMissing } = require("./values.js");

const FAILURE_ID = /^[a-z0-9_]{1,50}(?:\.[a-z0-9_]{1,50}){1,4}-[A-Za-z0-9._-]{1,100}$/;
const SCENARIO_NAME = /^[a-z0-9][a-z0-9._-]{0,99}$/;

class World {
  /**
   * @param {import("../types/index").Addresses} addresses The answer of `PUT /_mock/worlds/NAME`.
   * @param {import("./control.js").Connection} connection
   * @param {string} root The control plane of the server.
   */
  constructor(addresses, connection, root) {
    const control = new Control(addresses.control, connection);
    this._control = control;
    this._root = new Control(root, connection);
    this.name = addresses.name;
    this.baseUrl = addresses.base_url;
    this.adsBaseUrl = addresses.ads_base_url;
    this.adsSandboxBaseUrl = addresses.ads_sandbox_base_url;
    this.controlUrl = addresses.control;
    this.clock = new Clock(control);
    this.journal = new Journal(control);
    this.state = State.open(control);
    this.streams = new Streams(control);
    this.snapshots = new Snapshots(control);
    this.transitions = new Transitions(control);
  }

  /** @returns {Promise<import("../types/index").Credentials>} */
  async credentials() {
    return this._control.ask("GET", "/credentials");
  }

  /**
   * @param {import("../types/index").RegenerateOptions} [options]
   * @returns {Promise<Record<string, any>>}
   */
  async regenerateCredentials(options = {}) {
    checkOptions("regenerateCredentials", options, ["kind", "scopes", "app", "user"]);
    return this._control.ask("POST", "/credentials/regenerate", { body: options });
  }

  /**
   * @param {string} eventType
   * @param {import("../types/index").EmitOptions} [options]
   * @returns {Promise<Record<string, any>>}
   */
  async emit(eventType, options = {}) {
    checkOptions("emit", options, ["user", "payload", "includes", "direction", "createdAt"]);
    const { user, createdAt, ...rest } = options;
    const at = typeof createdAt === "string" ? createdAt : createdAt && formatMoment(createdAt);
    const body = { event_type: eventType, user_id: user, created_at: at, ...rest };
    return this._control.ask("POST", "/events", { body: withoutMissing(body) });
  }

  /**
   * @param {string} asked
   * @param {import("../types/index").AuthorizeOptions} [options]
   * @returns {Promise<string>}
   */
  async authorize(asked, options = {}) {
    checkOptions("authorize", options, ["user", "deny"]);
    const { user, deny = false } = options;
    const isAddress = asked.includes("?") || asked.includes("://");
    const body = withoutMissing({ [isAddress ? "url" : "oauth_token"]: asked, deny, user });
    const answer = await this._control.ask("POST", "/oauth/approve", { body });
    return answer[deny || isAddress ? "redirect" : "verifier"] ?? "";
  }

  /** @returns {Promise<Record<string, any>[]>} */
  async deliveries() {
    return (await this._control.ask("GET", "/deliveries")).deliveries;
  }

  /** @param {string} url @returns {Promise<string[]>} */
  async explainDeliveries(url) {
    return (await this._control.ask("GET", "/deliveries/why_not", { query: { url } })).why_not;
  }

  /** @param {number} [seconds] */
  async waitForDeliveries(seconds = 10) {
    const end = performance.now() + seconds * 1000;
    for (;;) {
      const left = (end - performance.now()) / 1000;
      const wait = Math.min(Math.max(0, Math.ceil(left)), LONGEST_WAIT_SECONDS);
      const { idle } = await this._control.ask("GET", "/deliveries", { query: { wait, limit: 0 } });
      if (idle) return true;
      if (left <= LONGEST_WAIT_SECONDS) return false;
    }
  }

  /**
   * @param {import("../types/index").AuthScheme} [auth]
   * @param {import("../types/index").SessionOptions} [options]
   */
  async session(auth, options = {}) {
    checkOptions("session", options, ["sandbox", "passthrough"]);
    const found = auth === undefined ? {} : await this.credentials();
    const sign = chooseSignature(this.name, found, auth);
    const base = options.sandbox ? this.adsSandboxBaseUrl : this.baseUrl;
    return new Session(base, sign, options.passthrough);
  }

  /**
   * @param {string} name
   * @param {Record<string, any>} [parameters]
   */
  async activate(name, parameters = {}) {
    const path = `${await this._scenarioPath(name)}/activate`;
    await this._control.ask("POST", path, { body: { parameters } });
  }

  /**
   * @param {string} pattern
   * @param {import("../types/index").FailuresOptions} [options]
   * @returns {Promise<import("../types/index").Failure[]>}
   */
  async failures(pattern, options = {}) {
    checkOptions("failures", options, ["statuses", "network"]);
    const { statuses, network } = options;
    const listed = statuses === undefined ? undefined : [statuses].flat().join(",");
    const query = { operations: pattern, statuses: listed, network };
    const { failures } = await this._control.ask("GET", "/failures", { query });
    return failures.map((/** @type {import("../types/index").Failure} */ each) =>
      Object.defineProperty(each, "toString", { value: () => each.id }),
    );
  }

  /**
   * @param {import("../types/index").Failure | string} failure
   * @param {import("../types/index").FailOptions} [options]
   */
  async fail(failure, options = {}) {
    checkOptions("fail", options, ["times"]);
    const id = String(failure);
    if (!FAILURE_ID.test(id)) {
      const wanted = "such as line_items.update-404-LINE_ITEM_NOT_FOUND. failures() lists them";
      throw new ValueError(`'${id}' is no failure ${wanted}; activate() is for scenarios.`);
    }
    await this.activate(id, { times: 1, ...options });
  }

  /** @param {string} [name] */
  async deactivate(name) {
    const path = name === undefined ? "/scenarios" : await this._scenarioPath(name);
    await this._control.ask("POST", `${path}/deactivate`);
  }

  /**
   * @param {Record<string, any> | string | URL} document
   * @returns {Promise<import("../types/index").OwnName>}
   */
  async define(document) {
    const text = document instanceof URL ? await readFile(document, "utf8") : document;
    const name = typeof text === "string" ? findName(text) : text.name;
    if (typeof name !== "string" || !SCENARIO_NAME.test(name)) {
      const message = `a scenario needs a name of small letters, digits, dots, underscores and hyphens: ${name}`;
      throw new BadScenario(`name: ${message}.`, { faults: [{ field: "name", message }] });
    }
    const sent = typeof text === "string" ? { yaml: text } : { body: text };
    try {
      await this._control.ask("PUT", `/scenarios/${name}`, sent);
    } catch (error) {
      if (!(error instanceof ValueError)) throw error;
      const { detail, status, faults } = error;
      throw new BadScenario(detail, { status, faults, cause: error });
    }
    return /** @type {import("../types/index").OwnName} */ (name);
  }

  /** @returns {Promise<import("../types/index").Scenario[]>} */
  async scenarios() {
    return (await this._control.ask("GET", "/scenarios")).scenarios;
  }

  async unfiredExpectations() {
    const active = (await this.scenarios()).filter((scenario) => scenario.active);
    return active.flatMap(({ name, rules }) =>
      rules
        .filter((rule) => rule.expected && rule.fired === 0)
        .map(({ rule, matched, refused = 0, acts_on, hidden_by }) => ({
          scenario: name,
          rule,
          matched,
          refused,
          actsOn: acts_on ?? "",
          hiddenBy: hidden_by ?? "",
        })),
    );
  }

  /**
   * @param {string} [only]
   * @returns {Promise<Record<string, any>>}
   */
  async coverage(only) {
    return this._control.ask("GET", "/coverage", { query: { only } });
  }

  /** @returns {Promise<import("../types/index").WarningCounts>} */
  async warnings() {
    return this._control.ask("GET", "/warnings");
  }

  /**
   * @param {"operation" | "test" | "app" | "day"} [by]
   * @returns {Promise<import("../types/index").Costs>}
   */
  async costs(by) {
    return this._control.ask("GET", "/costs", { query: { by } });
  }

  /**
   * @param {string} table
   * @param {number} [count]
   * @param {Record<string, any>} [fields]
   * @returns {Promise<import("../types/index").Made>}
   */
  async make(table, count = 1, fields = {}) {
    const { seed, ...rest } = fields;
    const body = withoutMissing({ table, count, fields: rest, seed });
    return this._control.ask("PUT", "/make", { body });
  }

  /**
   * @param {string | URL} path
   */
  async saveCase(path) {
    await writeFile(path, await this._control.fetch("/case"), { mode: 0o600 });
    await chmod(path, 0o600); // one that was there may be open to others
  }

  async reset() {
    await this._control.ask("POST", "/reset");
  }

  async drop() {
    await this._root.ask("DELETE", `/worlds/${this.name}`);
  }

  /**
   * Return the rules of active scenarios that never acted, and why they did not act on requests.
   *
   * @param {import("../types/index").Entry[]} entries The requests that are shown, oldest first.
   */
  async _describeSilentRules(entries) {
    const active = (await this.scenarios()).filter((scenario) => scenario.active);
    const silent = active.flatMap(({ name, rules }) =>
      rules.filter(({ fired }) => fired === 0).map((rule) => ({ name, ...rule })),
    );
    return silent.flatMap(({ name, rule, on, matched, refused = 0 }) => [
      `${name}/${rule}: never acted; ${matched} ${matched === 1 ? "call" : "calls"} matched it, on ` +
        (on === "*" ? "every operation" : on.join(", ")) +
        describeRefusals(refused),
      ...entries.flatMap((entry) =>
        entry.nearMisses
          .filter((miss) => miss.scenario === name && miss.rule === rule)
          .map((miss) => `  not on ${entry.method} ${stripOrigin(entry.url)}: ${miss.difference}`),
      ),
    ]);
  }

  /** Drop the world of a test, and fail if a rule that had to act did not. */
  async finish() {
    const unfired = await this.unfiredExpectations();
    const entries = unfired.length > 0 ? await this.journal.find({ limit: 20 }) : [];
    const silent = unfired.length > 0 ? await this._describeSilentRules(entries) : [];
    await this.drop();
    if (unfired.length > 0) {
      const lines = unfired.map(
        (each) =>
          `rule ${each.rule} of ${each.scenario} (${each.matched} requests matched what it is for` +
          `${each.actsOn ? `, and it acts on ${each.actsOn}` : ""}` +
          `${each.hiddenBy ? `; rule ${each.hiddenBy} acts on all of its requests before it` : ""})`,
      );
      const shown = ["The last requests:", ...(entries.length > 0 ? entries : ["none"])].join("\n  ");
      const why = ["Rules that never acted:", ...silent].join("\n  ");
      throw new UnfiredExpectations(
        `Rules with 'expect: fired' never acted: ${lines.join("; ")}. ${why}\n${shown}`,
      );
    }
  }

  async [Symbol.asyncDispose]() {
    await this.finish();
  }

  /** @param {string} name */
  async _scenarioPath(name) {
    if (!SCENARIO_NAME.test(name) && !FAILURE_ID.test(name)) { // it could be the address of something else
      const known = (await this.scenarios()).map((scenario) => scenario.name);
      throw new UnknownScenario(`There is no scenario '${name}'. Scenarios: ${known.join(", ")}.`);
    }
    return `/scenarios/${name}`;
  }
}

/** @param {number} refused How many requests were refused before a rule could act on them. */
function describeRefusals(refused) {
  if (refused === 0) return "";
  const were = refused === 1 ? "request was" : "requests were";
  return (
    `; ${refused} ${were} refused before it could act: without \`stage: before_auth\` a rule acts ` +
    "only on requests that nothing else refuses"
  );
}

/**
 * Returns the name of a scenario in YAML or JSON; the server checks the rest.
 *
 * @param {string} text
 */
function findName(text) {
  return /^\s*\{/.test(text)
    ? /"name"\s*:\s*"([^"]*)"/.exec(text)?.[1]
    : /^name:\s*["']?([^\s"'#]+)/m.exec(text)?.[1];
}

module.exports = { World };
