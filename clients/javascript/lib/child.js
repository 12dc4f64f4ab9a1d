"use strict";

// The server as a child process. It stops when its standard input ends, so it never outlives this
// process, however this process ends.

const { spawn } = require("node:child_process");
const { accessSync, constants, existsSync } = require("node:fs");
const path = require("node:path");
const readline = require("node:readline");

const { OPTIONS } = require("./contract.js");
const { CannotStart, MockPlatformError } = require("./errors.js");
const { checkOptions, splitWords } = require("./values.js");

const COMMAND = "MOCK_PLATFORM_COMMAND";
const START_MILLISECONDS = 60_000;
const STOP_MILLISECONDS = 20_000;
const KEPT_LINES = 50;
/** A line of the log for a request: failures on command are no news for this process. */
const REQUEST = /^\S+ (\d{3}|---) [A-Z]+ /;
const INSTALL =
  "Install it with `pip install mock-platform`, or from a clone with `pip install PATH`, or name the " +
  "command in the option `command` or " +
  `the variable ${COMMAND}, such as '/project/.venv/bin/mock-platform'.`;

/** What `serve` has besides settings. */
const SERVING = [
  "tls", "tlsFolder", "watch", "logFormat", "logLevel",
  "workers", "shadow", "shadowWrites", "shadowCredentials", "shadowNames",
];

/**
 * Returns the arguments of `serve` for some settings.
 *
 * @param {Record<string, any>} settings
 * @returns {string[]}
 */
function describeSettings(settings) {
  const words = [];
  for (const [name, value] of Object.entries(settings)) {
    if (value === undefined || value === null) continue;
    const option = OPTIONS[name] ?? splitWords(name, "-");
    if (typeof value === "boolean") {
      words.push(value ? `--${option}` : `--no-${option}`);
      continue;
    }
    for (const each of Array.isArray(value) ? value : [value]) {
      words.push(`--${option}`, each instanceof Date ? each.toISOString() : String(each));
    }
  }
  return words;
}

/**
 * Returns the command line that starts `mock-platform`.
 *
 * @param {string | readonly string[] | undefined} command
 * @param {NodeJS.ProcessEnv} env
 * @returns {string[]}
 */
function findCommand(command, env) {
  if (Array.isArray(command)) return [...command];
  const named = /** @type {string | undefined} */ (command) ?? env[COMMAND];
  if (named) return existsSync(named) ? [named] : named.trim().split(/\s+/);
  if (isOnPath("mock-platform", env)) return ["mock-platform"];
  const python = ["python3", "python"].find((name) => isOnPath(name, env));
  if (python !== undefined) return [python, "-m", "mock_platform"];
  throw new CannotStart(`Neither mock-platform nor python is on the PATH. ${INSTALL}`);
}

/**
 * @param {string} name
 * @param {NodeJS.ProcessEnv} env
 */
function isOnPath(name, env) {
  const folders = (env.PATH ?? env.Path ?? "").split(path.delimiter).filter(Boolean);
  const files = process.platform === "win32" ? [`${name}.exe`] : [name];
  return folders.some((folder) => files.some((file) => isExecutable(path.join(folder, file))));
}

/** @param {string} file */
function isExecutable(file) {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** A running `mock-platform serve`. */
class Child {
  /**
   * @param {import("node:child_process").ChildProcessWithoutNullStreams} child
   * @param {string} shown The command line.
   * @param {boolean} logsRequests Whether the log of requests is passed on.
   */
  constructor(child, shown, logsRequests) {
    this._child = child;
    this._shown = shown;
    /** @type {string[]} The last lines of standard error. */
    this._log = [];
    /** @type {any} What the READY line says. */
    this.ready = undefined;
    /** @type {Promise<number | null>} The exit status; null after a signal. */
    this.ended = new Promise((resolve) => child.once("close", resolve));
    child.stdin.on("error", () => {}); // it has ended before us
    readline.createInterface({ input: child.stderr }).on("line", (line) => {
      this._log = [...this._log, line].slice(-KEPT_LINES);
      if (this.ready === undefined || (!logsRequests && REQUEST.test(line))) return;
      process.stderr.write(`mock-platform: ${line}\n`);
    });
  }

  /**
   * Starts the server; returns when it is ready.
   *
   * @param {import("../types/index").StartOptions} options
   * @param {readonly string[]} verb What it is told to do.
   */
  static async start(options, verb = ["serve"]) {
    checkOptions("MockPlatform.start", options, [
      ...Object.keys(OPTIONS), ...SERVING, "command", "env",
    ]);
    const { command, env: more, port = 0, logLevel, ...settings } = options;
    const env = { ...process.env, ...more };
    const [program, ...before] = findCommand(command, env);
    const chosen = describeSettings({ port, logLevel: logLevel ?? "warning", ...settings });
    const words = [...before, ...verb, "--stop-with-stdin", ...chosen];
    const shown = [program, ...words].join(" ");
    const started = spawn(program, words, { env, stdio: "pipe", windowsHide: true });
    const child = new Child(started, shown, logLevel !== undefined);
    try {
      child.ready = await child._readReadyLine();
    } catch (error) {
      child._child.kill("SIGKILL");
      throw error;
    }
    child._release();
    return child;
  }

  /** What has become of the server, for a request without an answer. */
  explain() {
    const { exitCode, signalCode } = this._child;
    if (exitCode === null && signalCode === null) return "The server that was started still runs.";
    return `The server that was started has ended (${exitCode ?? signalCode}).${this._quote()}`;
  }

  /** Stops the server; idempotent. */
  async stop() {
    this._child.ref();
    this._child.stdin.end(); // stops it on each system
    this._child.kill("SIGTERM");
    const late = setTimeout(() => this._child.kill("SIGKILL"), STOP_MILLISECONDS);
    const status = await this.ended;
    clearTimeout(late);
    if (status !== null && status !== 0) {
      throw new MockPlatformError(`The server ended with status ${status}.${this._quote()}`);
    }
  }

  /** @returns {Promise<any>} */
  async _readReadyLine() {
    const lines = readline.createInterface({ input: this._child.stdout });
    /** @type {NodeJS.Timeout | undefined} */
    let late;
    try {
      return await new Promise((resolve, reject) => {
        this._child.once("error", (fault) => {
          reject(new CannotStart(`${this._shown}: ${fault.message}. ${INSTALL}`, { cause: fault }));
        });
        lines.on("line", (line) => {
          if (line.startsWith("READY ")) resolve(JSON.parse(line.slice("READY ".length)));
        });
        this.ended.then((status) => {
          const missing = this._log.some((line) => line.includes("No module named mock_platform"));
          const hint = missing ? ` ${INSTALL}` : "";
          const why = `${this._shown} ended with status ${status}.${this._quote()}${hint}`;
          reject(new CannotStart(why));
        });
        late = setTimeout(() => {
          const why = `${this._shown} was not ready after ${START_MILLISECONDS / 1000} seconds.`;
          reject(new CannotStart(`${why}${this._quote()}`));
        }, START_MILLISECONDS);
      });
    } finally {
      clearTimeout(late);
      lines.close();
    }
  }

  /** Lets this process end without a stop: the end of the pipe stops the server. */
  _release() {
    this._child.stdout.resume();
    this._child.unref();
    for (const pipe of [this._child.stdin, this._child.stdout, this._child.stderr]) {
      /** @type {import("node:net").Socket} */ (/** @type {unknown} */ (pipe)).unref();
    }
  }

  _quote() {
    return this._log.length === 0 ? "" : `\n  ${this._log.join("\n  ")}\n`;
  }
}

module.exports = { Child };
