/// <reference lib="esnext.disposable" />

import type { Settings } from "./contract.js";
import type {
  ErrorCode,
  EventType,
  OperationId,
  OwnName,
  RuleTarget,
  ScenarioName,
  ScenarioParameters,
  TableName,
} from "./names.js";

export type {
  ErrorCode,
  EventType,
  OperationId,
  OwnName,
  RuleTarget,
  ScenarioName,
  ScenarioParameters,
  Settings,
  TableName,
};

/** A moment: a `Date`, or text in ISO 8601. */
export type Instant = Date | string;

/**
 * How answers are on the wire: as documented, or as recorded, and behind it what is in doubt, as in
 * `recorded,missing=200`.
 */
export type Wire = WireName | `${WireName},${InDoubt}=${string}`;
type WireName = "spec" | "recorded" | "recorded-2023";
type InDoubt = "rules" | "missing" | "problems" | "limit" | "unknown";

/**
 * A record of a table in stored form: wire form and underscore keys. Integers beyond
 * `Number.MAX_SAFE_INTEGER`, such as ids of posts, are `bigint`.
 */
export type StoredRecord = Record<string, any>;

/** How the requests of a session are authorized. */
export type AuthScheme = "oauth1" | "oauth2" | "bearer";

/** Which failures are listed. */
export interface FailuresOptions {
  /** Only answers with one of these statuses. */
  statuses?: number | readonly number[];
  /** Also what the network can do to any request. */
  network?: boolean;
}

/** What all records have that `make` makes. */
export interface MadeFields extends Record<string, any> {
  /** The same one makes the same records. */
  seed?: number;
}

/** For how many calls an operation fails. */
export interface FailOptions {
  /** 1 unless given; `null` for all. */
  times?: number | null;
}

/** One way in which an operation can fail; `String(failure)` is its id. */
export interface Failure {
  /** Such as `line_items.update-404-LINE_ITEM_NOT_FOUND`; the name of a scenario as well. */
  readonly id: string;
  readonly operation: string;
  /** The status of the answer; `null` if the network fails. */
  readonly status: number | null;
  /** The code in the answer, empty without one. */
  readonly code: string;
  /** Headers with which a request asks for the failure, for itself alone. */
  readonly headers: Readonly<Record<string, string>>;
}

/** One world of a running sandbox: records, clock, ids, scenarios and journal of its own. */
export interface World {
  /** The name of the world; `default` for the one without prefix. */
  readonly name: string;
  /** `{base_url}` of the specification, with the prefix of the world, if it has one. */
  readonly baseUrl: string;
  /** `{ads_base_url}` of the specification. */
  readonly adsBaseUrl: string;
  /** `{ads_sandbox_base_url}` of the specification. */
  readonly adsSandboxBaseUrl: string;
  /** The address of this world's control plane. */
  readonly controlUrl: string;
  /** The clock of the world. */
  readonly clock: Clock;
  /** The journal of the world. */
  readonly journal: Journal;
  /** The records of the world. */
  readonly state: State;
  /** The open streams of the world. */
  readonly streams: Streams;
  /** Named states to return to. */
  readonly snapshots: Snapshots;
  /** How slow states move. */
  readonly transitions: Transitions;

  /** Returns the published test credentials, in the form of `GET /_mock/credentials`. */
  credentials(): Promise<Credentials>;
  /** Issue new tokens, like the button in the developer portal; the old ones become invalid. */
  regenerateCredentials(options?: RegenerateOptions): Promise<Record<string, any>>;
  /**
   * Let something happen to a user; returns the answer of `POST /_mock/events`. Without a payload
   * a believable one is made, and the record changes with it.
   *
   * @throws {BadEvent} Fields are missing or wrong; nothing happened.
   */
  emit(eventType: EventType | OwnName, options?: EmitOptions): Promise<Record<string, any>>;
  /**
   * Let a user answer an app without the pages. For a request token, the verifier or PIN is
   * returned; for the address to which the app sends its user, of either OAuth, the address to
   * which the browser would be sent.
   *
   * @throws {CannotApprove} Nothing waits for an answer to this, or the user does not exist.
   */
  authorize(asked: string, options?: AuthorizeOptions): Promise<string>;
  /** Returns every attempted webhook delivery and every line of a stream, oldest first. */
  deliveries(): Promise<Record<string, any>[]>;
  /**
   * Returns why no deliveries came to a webhook with this address, as sentences: what happened since
   * the world began, and why each of it was not sent there.
   */
  explainDeliveries(url: string): Promise<string[]>;
  /**
   * Wait up to `seconds` of real time (default: 10); returns whether all requested deliveries were
   * made. The deliveries of all worlds of the server count.
   */
  waitForDeliveries(seconds?: number): Promise<boolean>;
  /**
   * Returns a `fetch` with the test credentials: `oauth1` signs as the test user, `oauth2` sends
   * the OAuth 2.0 token of the test user, `bearer` the bearer token of the test app.
   *
   * Its `fetch` refuses hosts other than the sandbox's, this machine and those in `passthrough`.
   *
   * @throws {MissingCredentials} The world has no credentials of this kind, or no longer.
   */
  session(auth?: AuthScheme, options?: SessionOptions): Promise<Session>;
  /**
   * Activate a scenario, with values for its parameters; an active one starts again. For a scenario
   * of yours, `name` is what `define` returned, or `"my-outage" as OwnName` if the server was
   * started with it.
   *
   * @throws {UnknownScenario} No scenario has this name.
   * @throws {BadParameters} A parameter is unknown, or its value is not allowed.
   */
  activate<Name extends ScenarioName>(
    name: Name,
    parameters?: ScenarioParameters[Name],
  ): Promise<void>;
  activate(name: OwnName, parameters?: Record<string, any>): Promise<void>;
  /**
   * Returns every documented failure of the operations whose ids match a pattern, or several,
   * separated by commas. They print as their ids, for `test.each` and the like.
   *
   * @throws {BadQuery} A pattern matches no operation, or no operation documents one of `statuses`.
   */
  failures(pattern: string, options?: FailuresOptions): Promise<Failure[]>;
  /**
   * Let an operation fail at its next call, in a way that `failures` lists. `times` is for how many
   * calls, `null` for all.
   *
   * @throws {UnknownScenario} No failure has this id.
   */
  fail(failure: Failure | string, options?: FailOptions): Promise<void>;
  /** Deactivate a scenario, or all scenarios. */
  deactivate(name?: ScenarioName | OwnName): Promise<void>;
  /**
   * Make a scenario known in this world until its reset: a document, its YAML, or the `file:` URL
   * of a file. Returns its name, for `activate`.
   *
   * @throws {BadScenario} The scenario has faults; each is reported with its place.
   */
  define(document: Record<string, any> | string | URL): Promise<OwnName>;
  /** Returns every known scenario, in the form of `GET /_mock/scenarios`. */
  scenarios(): Promise<Scenario[]>;
  /** Returns the rules with `expect: fired` of active scenarios that never acted. */
  unfiredExpectations(): Promise<UnfiredRule[]>;
  /**
   * Returns how much of the contract was exercised here; the default world counts all. `only`
   * restricts it to operations whose ids match patterns, such as `line_items.*,oauth*`.
   *
   * @throws {BadQuery} A pattern matches no operation.
   */
  coverage(only?: string): Promise<Record<string, any>>;
  /** Returns what was ignored in requests here; the default world counts all. */
  warnings(): Promise<WarningCounts>;
  /**
   * Returns what calls would have cost here since the last reset, by operation unless you say
   * otherwise. By `test`, the sums are those of all worlds, whatever was reset or dropped since.
   *
   * @throws {BadQuery} `by` is something else.
   */
  costs(by?: "operation" | "test" | "app" | "day"): Promise<Costs>;
  /**
   * Make records in one step: related, valid, with believable names, times and money. All of them
   * have these `fields`. A reference may be named without `_id`; its value is a key, a list of keys,
   * which are used in turn, or an object: the fields of a record that is made for it. `spread` is
   * how long ago the oldest was created, such as `"30d"`; the same `seed` makes the same records.
   *
   * @throws {UnknownTable} No table has this name.
   * @throws {BadRecord} The count or a field is not allowed; nothing was made.
   */
  make(table: TableName | OwnName, count?: number, fields?: MadeFields): Promise<Made>;
  /**
   * Write the world with all its requests to a file, without secrets; one that is there is replaced.
   * `MockPlatform.openCase` makes the same world of it elsewhere.
   *
   * @throws {CaseTooLarge} It would be larger than a case can be.
   */
  saveCase(path: string | URL): Promise<void>;
  /** Return the world to its start: fixtures, start-up scenarios, clock, ids, no journal. */
  reset(): Promise<void>;
  /** Remove the world with all its contents. */
  drop(): Promise<void>;
  /**
   * Remove the world at the end of its test.
   *
   * @throws {UnfiredExpectations} A rule with `expect: fired` never acted.
   */
  finish(): Promise<void>;
  /** The same as `finish`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** What `World.make` made. */
export interface Made {
  table: string;
  /** How many records of the table; those that they needed are not counted. */
  made: number;
  /** The ids of the first thousand, oldest first. */
  ids: string[];
}

/** A running sandbox; itself also its default world. */
export interface MockPlatform extends World {
  /** With https: the file of the certificate authority to trust, if clients need one. */
  readonly ca: string | undefined;

  /**
   * Returns another world; makes a missing one, from fixtures or as a copy of `source`, which
   * has its records and its clock, but none of its scenarios. A world that exists does not change:
   * what it has otherwise is a warning of the process.
   *
   * @throws {BadWorldName} The name is not allowed for a world.
   * @throws {UnknownWorld} The world `source` does not exist.
   * @throws {TooManyWorlds} The server has the maximum number of worlds.
   */
  world(name: string, options?: WorldOptions): Promise<World>;
  /**
   * Returns a world for one test. It is finished (see `World.finish`) when the test ends, if `test`
   * is the context of node:test or vitest; else call `finish` or `drop` yourself. If the test
   * failed, the last 20 requests that reached the world are printed before.
   */
  freshWorld(test?: TestContext, options?: WorldOptions): Promise<World>;
  /** Remove a world with all its contents. */
  dropWorld(name: string): Promise<void>;
  /** Returns the names of all worlds. */
  worlds(): Promise<string[]>;
  /**
   * Stop the server that `start` started. A server elsewhere keeps running: its fresh worlds are
   * removed and the connections to it are closed. Idempotent.
   */
  stop(): Promise<void>;
}

export declare const MockPlatform: {
  /**
   * Start `mock-platform serve` as a child process on a free port. The command is the option
   * `command`, else `MOCK_PLATFORM_COMMAND`, else `mock-platform` or `python -m mock_platform` from
   * the PATH. The server ends with this process, however this process ends.
   *
   * @throws {CannotStart} The command was not found, or ended before it was ready.
   */
  start(options?: StartOptions): Promise<MockPlatform>;
  /**
   * Start a server with the world that `saveCase` wrote, as it was then; `reset` returns it to its
   * start. `mock-platform open FILE --replay` says where its answers differ from the recorded ones.
   *
   * @throws {CannotStart} The file is no case, or the command was not found.
   */
  openCase(path: string | URL, options?: OpenCaseOptions): Promise<MockPlatform>;
  /**
   * Connect to a running server: the `url` of its READY line, or `MOCK_PLATFORM_URL`. The control
   * token comes from the option or from `MOCK_PLATFORM_CONTROL_TOKEN`. With `/~NAME` at the end of
   * `url` it is that world in place of the default one.
   *
   * @throws {UnknownWorld} The address names a world that does not exist.
   * @throws {Unreachable} No server answers at the address, or its certificate is not trusted.
   * @throws {Refused} The server refuses, or is not a mock_platform.
   */
  connect(url?: string, options?: ConnectOptions): Promise<MockPlatform>;
};

/** The clock of a world. Everything that is due happens before a promise is fulfilled. */
export interface Clock {
  /** Returns the current moment of the world. */
  now(): Promise<Date>;
  /** Returns whether the clock is stopped. */
  frozen(): Promise<boolean>;
  /** Stop the clock, now or at a moment; returns the moment. */
  freeze(to?: Instant): Promise<Date>;
  /**
   * Set the clock to a moment and return it; a running clock continues from there. `"now"` is the
   * time of the machine on which the sandbox runs.
   */
  travel(to: Instant | "now"): Promise<Date>;
  /**
   * Move the clock to the next thing that is due, and return what happened then: a transition, a
   * scheduled post, an expiry, the end of a rate window.
   *
   * @throws {NothingDue} Nothing is due; the clock was not moved.
   */
  advance(to: { to: "next" }): Promise<Happening[]>;
  /**
   * Move the clock by a duration (negative: back): seconds, a text such as `"1h"` or `"-7d"`, or
   * parts; returns the new moment.
   */
  advance(duration: Duration | number | string): Promise<Date>;
  /** Start the clock again at its current moment; returns the moment. */
  resume(): Promise<Date>;
}

/** Something that happened because the clock came to its moment. */
export interface Happening {
  at: Date;
  kind: "transition" | "scheduled_post" | "expiry" | "window" | "challenge" | "feed";
  /** The table of its record; a window has none. */
  table?: string;
  /** The key of its record, or the name of the window. */
  id: string;
}

/** The requests that a world received, and its answers. Iterates over all entries. */
export interface Journal extends AsyncIterable<Entry> {
  /**
   * Returns the entries that match the query, oldest first; `limit` keeps the newest ones.
   *
   * @throws {BadQuery} An operation does not exist, or no entry can have one of the values.
   */
  find(query?: PageQuery): Promise<Entry[]>;
  /** Returns how many entries match the whole query. */
  count(query?: EntryQuery): Promise<number>;
  /** Returns the entry with this `X-Mock-Request-Id`, if it is in the journal. */
  get(requestId: string): Promise<Entry | undefined>;
  /** Delete all entries of the journal. */
  clear(): Promise<void>;
}

/**
 * One request in the journal, its answer, and the reasons for it; without credentials. As text it
 * is a line for people: request, status, operation, how the answer ended, and why.
 */
export interface Entry {
  /** The id of the request, as in `X-Mock-Request-Id` of the answer. */
  readonly id: string;
  /** When the request came, on the world's clock. */
  readonly at: Date;
  /** The name of the world. */
  readonly world: string;
  /** The HTTP method of the request. */
  readonly method: string;
  /** The address of the request. */
  readonly url: string;
  /** The HTTP status of the answer. */
  readonly status: number;
  /** How the answer ended at the client; null while it is being sent. */
  readonly ended: Ended | null;
  /** Why the request was refused, or what a scenario did to it, in one sentence. */
  readonly why: string | null;
  /** How long the client waited for the end of the answer, in milliseconds of real time. */
  readonly milliseconds: number;
  /** How long the answer took to be made, in milliseconds of real time. */
  readonly handlerMilliseconds: number;
  /** The id of the operation that answered; null if no operation did. */
  readonly operation: OperationId | null;
  /** The route of a user or a scenario that answered in place of an operation. */
  readonly custom: string | null;
  /** The tool with which an agent called the operation; null if it was called directly. */
  readonly tool: string | null;
  /** Who called, and how the sandbox knew it. */
  readonly caller: Record<string, any> | null;
  /** The rule of a scenario that acted; null if no rule did. */
  readonly rule: Record<string, any> | null;
  /** The nearest rules that did not act, each with its first difference. */
  readonly nearMisses: Record<string, any>[];
  /** The records that changed. */
  readonly changes: Change[];
  /** The ids of the assumptions that the answer depends on. */
  readonly assumptions: string[];
  /** The warnings: what was ignored or is deprecated. */
  readonly warnings: string[];
  /** The explanation of a refusal, if there is one. */
  readonly diagnosis: Record<string, any> | null;
  /** What the platform would have charged; null for calls that it does not bill. */
  readonly cost: Cost | null;
  /** The traceback of an error in the sandbox itself. */
  readonly traceback: string | null;
  /** The headers of the request. */
  readonly requestHeaders: [string, string][];
  /** The body of the request, as text. */
  readonly requestBody: string;
  /** The headers of the answer. */
  readonly responseHeaders: [string, string][];
  /** The body of the answer, as text. */
  readonly responseBody: string;
  /** Returns the entry in the form of `GET /_mock/requests/ID`. */
  asJson(): Record<string, any>;
}

/** The ways in which an answer can end. */
export type How =
  | "complete"
  | "lost"
  | "reset"
  | "empty"
  | "truncated"
  | "garbage"
  | "stalled"
  | "disconnected";

/** How an answer ended at the client. */
export interface Ended {
  readonly how: How;
  /** The bytes of the body that were sent, if that is known. */
  readonly bytes?: number;
  /** The milliseconds for which a scenario held the answer back. */
  readonly lateMilliseconds?: number;
}

/** What a request changed in one record. */
export interface Change {
  /** The name of the record's table. */
  readonly table: TableName;
  /** The key of the record. */
  readonly key: string;
  /** The kind of change. */
  readonly kind: "created" | "changed" | "removed";
  /** The names of the fields whose values changed. */
  readonly fields: string[];
}

/** The open streams of a world. */
export interface Streams {
  /** Returns the open streams, oldest first, in the form of `GET /_mock/streams`. */
  list(): Promise<Record<string, any>[]>;
  /** End one stream, or `all` (the default); returns their ids. */
  disconnect(streamId?: string, options?: DisconnectOptions): Promise<string[]>;
  /** Let one stream, or `all`, send nothing for a number of real seconds; returns their ids. */
  stall(streamId: string | undefined, options: StallOptions): Promise<string[]>;
}

/** The tables of a world, as properties: `state.users`, `state.line_items` or `state.lineItems`. */
export type State = Tables & WholeState & { readonly [table: OwnName]: Table };

/** The tables that every world has. */
export type Tables = { readonly [Name in TableName as Name | CamelCase<Name>]: Table };

/** A name in camel case. */
export type CamelCase<Name extends string> = Name extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<CamelCase<Rest>>}`
  : Name;

/** All tables of one world together. */
export interface WholeState {
  /** Returns the table of this name, if it exists. */
  get(name: TableName | OwnName): Promise<Table | undefined>;
  /** Returns whether a table of this name exists. */
  has(name: string): Promise<boolean>;
  /** Returns the names of all tables. */
  keys(): Promise<TableName[]>;
  /** Returns all tables. */
  values(): Promise<Table[]>;
  /** Returns pairs of name and table. */
  items(): Promise<[TableName, Table][]>;
  /** Returns the number of tables. */
  size(): Promise<number>;
  /** Returns the whole world as one document: tables, clock, ids, progressions. */
  dump(): Promise<Record<string, any>>;
  /**
   * Replace the whole world by a document from `dump`. The journal is emptied.
   *
   * @throws {BadRecord} Records have faults; the world does not change.
   */
  load(document: Record<string, any>, options?: CheckOptions): Promise<void>;
}

/** The records of one table. Iterates over them. */
export interface Table extends AsyncIterable<StoredRecord> {
  /** The name of the table. */
  readonly name: TableName;
  /** Returns all records, in the order in which they were added. */
  all(): Promise<StoredRecord[]>;
  /** Returns the record under a key, if it exists. */
  get(key: string): Promise<StoredRecord | undefined>;
  /** Returns whether a record has this key. */
  has(key: string): Promise<boolean>;
  /** Returns the number of records. */
  size(): Promise<number>;
  /**
   * Create or replace a record; returns it as stored, with defaults.
   *
   * @throws {BadRecord} The record has faults; no record is stored.
   */
  put(record: StoredRecord, options?: PutOptions): Promise<StoredRecord>;
  /**
   * Merge changes into a record (JSON merge patch: null removes a field); returns it.
   *
   * @throws {UnknownRecord} No record has this key.
   * @throws {BadRecord} The result has faults; the record does not change.
   */
  patch(key: string, changes: StoredRecord, options?: CheckOptions): Promise<StoredRecord>;
  /** Remove a record, even if other records refer to it. */
  delete(key: string): Promise<void>;
}

/** Named states of a world. The world keeps them until its next reset. */
export interface Snapshots {
  /** Returns the names of the snapshots, oldest first. */
  list(): Promise<string[]>;
  /**
   * Save the current state under a name; replaces a snapshot of that name.
   *
   * @throws {BadSnapshotName} The name is not allowed for a snapshot.
   * @throws {TooManySnapshots} The world has the maximum number of snapshots.
   */
  save(name: string): Promise<void>;
  /**
   * Return the world to a snapshot. The journal is emptied; scenarios stay as they are.
   *
   * @throws {UnknownSnapshot} The world has no snapshot of this name.
   */
  restore(name: string): Promise<void>;
  /**
   * Delete a snapshot.
   *
   * @throws {UnknownSnapshot} The world has no snapshot of this name.
   */
  delete(name: string): Promise<void>;
}

/** How slow states move: replay jobs, media, product sets and others. */
export interface Transitions {
  /** Returns each kind by name: its progression, its states, and the records that are changing. */
  list(): Promise<Record<string, Transition>>;
  /**
   * Set the progression of a kind, also for records that are already changing.
   *
   * @throws {UnknownTransition} No kind has this name.
   * @throws {ValueError} A value is not allowed.
   */
  set(kind: string, pace: Pace): Promise<Transition>;
  /**
   * Move one record now; returns its state.
   *
   * @throws {UnknownTransition} No kind has this name, or its table no record with this id.
   * @throws {ValueError} The kind has no such state.
   */
  move(kind: string, id: string, to: string): Promise<string>;
}

/** `fetch` with the test credentials of a world. Relative addresses start at `baseUrl`. */
export interface Session {
  /** The address at which relative addresses start. */
  readonly baseUrl: string;
  /** Send a request. It can be passed on as a function, to clients that take a `fetch`. */
  fetch(address: string | URL, init?: RequestInit): Promise<Response>;
}

// -- options -------------------------------------------------------------------------------------

/** Options of `MockPlatform.openCase`. */
export interface OpenCaseOptions {
  /** The port; without it a free one. */
  port?: number;
  /** What is logged to this process's standard error; by default warnings, but no requests. */
  logLevel?: "info" | "warning" | "error" | "off";
  /** The command, or its words: `["uv", "run", "mock-platform"]`. */
  command?: string | readonly string[];
  /** More variables for the environment of the server. */
  env?: Record<string, string>;
}

/** Options of `MockPlatform.start`: the settings of `mock-platform serve`, and how it is started. */
export interface StartOptions extends Settings {
  /** Serve https; `ca` is the certificate authority to trust. */
  tls?: boolean;
  /** Keep the certificate authority in this folder. */
  tlsFolder?: string;
  /** Load fixtures and scenario files again when they change. */
  watch?: boolean;
  /** Format of the log. */
  logFormat?: "text" | "json";
  /** What is logged to this process's standard error; by default warnings, but no requests. */
  logLevel?: "info" | "warning" | "error" | "off";
  /** Number of processes that share the address; each has a part of the worlds. */
  workers?: number;
  /** Send each read to the real service at this address as well, and report how it differs. */
  shadow?: string;
  /** Send writes to the real service as well. */
  shadowWrites?: boolean;
  /** A file of credentials with which the requests to the real service are signed. */
  shadowCredentials?: string;
  /** The names with which requests are sent to the real service. */
  shadowNames?: "neutral" | "original";
  /** The command, or its words: `["uv", "run", "mock-platform"]`. */
  command?: string | readonly string[];
  /** More variables for the environment of the server. */
  env?: Record<string, string>;
}

export interface ConnectOptions {
  /** The control token of the server. */
  token?: string;
  /** The file of the certificate authority to trust. */
  ca?: string;
}

export interface WorldOptions {
  /** The world to copy. */
  source?: string;
  /** The seed of ids and tokens. */
  seed?: number;
  /** The moment at which the clock is stopped, at the start and after each reset. */
  freeze?: Instant;
  /** Keys and tokens that choose the world by themselves, without a prefix or a header. */
  ownCredentials?: boolean;
  /** With `error`, requests of which something would be ignored are refused. */
  warnings?: "ignore" | "error";
  /** With `original`, clients may use the original names of the platform. */
  names?: "neutral" | "original";
  /** Answers as documented, or as the real service was recorded where that differs. */
  wire?: Wire;
  /** The date of the contract, such as `"2026-03-01"`, whatever the clock says. */
  asOf?: Instant;
}

/** What a test runner passes to a test: `t` of node:test, or the context of vitest. */
export interface TestContext {
  after?(act: () => Promise<void>): unknown;
  onTestFinished?(act: () => Promise<void>): unknown;
  /** Whether the test has passed so far, in node:test. */
  readonly passed?: boolean;
  /** The test, in vitest. */
  readonly task?: { readonly result?: { readonly state?: string } };
}

/** One POST as it arrived at a `WebhookReceiver`; names of headers are in lower case. */
export interface ReceivedDelivery {
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: Uint8Array;
  /** Returns the body as JSON. */
  json(): any;
}

/**
 * A receiver of webhooks for tests, on a free port of the loopback address. It answers challenges
 * with the app's consumer secret, collects deliveries whose signature fits it and answers them
 * with 200, others with 403.
 */
export interface WebhookReceiver extends AsyncDisposable {
  /** The consumer secret of the app. */
  secret: string;
  readonly port: number;
  /** The address to register with POST /2/webhooks. */
  readonly url: string;
  /** The tokens of the challenges. */
  readonly challenges: string[];
  /** What has arrived, oldest first, repeated deliveries included. */
  readonly deliveries: ReceivedDelivery[];
  /** What arrived with a signature that does not fit. */
  readonly refused: ReceivedDelivery[];
  /**
   * Wait until `number` deliveries have arrived in all, at most `seconds` of real time (10); returns
   * all that have. Rejects with what arrived instead and, if it knows the world, with what happened
   * there in the meantime and why each of it did not come.
   */
  wait(number?: number, seconds?: number): Promise<ReceivedDelivery[]>;
  /**
   * Answer the next deliveries with these statuses, one each; they are collected as well.
   *
   * @throws {ValueError} One is no status of an answer.
   */
  answerNext(...statuses: number[]): void;
  /** Stop listening; deliveries after that find a closed port. */
  stop(): Promise<void>;
}

export interface WebhookReceiverOptions {
  /** The world whose webhook it is; `wait` then says why nothing came. */
  world?: Pick<World, "explainDeliveries">;
}

export declare const WebhookReceiver: {
  /** Begin to listen. */
  start(secret: string, options?: WebhookReceiverOptions): Promise<WebhookReceiver>;
};

export interface EmitOptions {
  /** The id of the user. */
  user?: string;
  payload?: Record<string, any>;
  includes?: Record<string, any>;
  direction?: string;
  /** A moment; it may also count from now, such as `now-2h`. */
  createdAt?: Instant;
}

export interface AuthorizeOptions {
  /** Id or screen name of the user; by default the first one. */
  user?: string;
  deny?: boolean;
}

export interface SessionOptions {
  /** Use the sandbox address as the base address. */
  sandbox?: boolean;
  /** Other hosts that the session may call. */
  passthrough?: readonly string[];
}

export interface RegenerateOptions {
  kind?: "oauth1" | "oauth2";
  /** Scopes of an OAuth 2.0 token; by default all. */
  scopes?: string[];
  /** Id or consumer key of an app. */
  app?: string;
  /** Id or screen name of a user. */
  user?: string;
}

export interface Duration {
  days?: number;
  hours?: number;
  minutes?: number;
  seconds?: number;
  /** `"next"` stands alone, in place of a duration. */
  to?: undefined;
}

/** A query on the journal; an entry must match all values. */
export interface EntryQuery {
  /** Id of an operation. */
  operation?: OperationId | OwnName;
  /** A status, or a class of them such as "4xx". */
  status?: number | string;
  /** HTTP method, in any case. */
  method?: string;
  /** Part of the address. */
  path?: string;
  /** Name of a scenario, or one of its rules as NAME/0. */
  rule?: string;
  /** How the answer ended at the client. */
  ended?: How;
  /** Moment on the world's clock. */
  since?: Instant;
}

export interface PageQuery extends EntryQuery {
  /** Maximum number of entries; the newest ones are kept. */
  limit?: number;
}

export interface DisconnectOptions {
  /** Type in the last line; by default `OperationalDisconnect`. */
  disconnectType?: string;
  /** Whether there is a last line with the type; by default true. */
  line?: boolean;
  /** Break the connection instead. */
  fault?: "reset" | "empty" | "truncate" | "garbage";
}

export interface StallOptions {
  /** Real seconds, up to a day. */
  seconds: number;
}

export interface CheckOptions {
  /** Store without checks, for invalid states on purpose. */
  unchecked?: boolean;
}

export interface PutOptions extends CheckOptions {
  /** The key, for a record that has none. */
  key?: string;
}

export interface Pace {
  progression?: "immediate" | "time" | "polls" | "manual";
  /** Under `time`. */
  seconds?: number;
  /** Under `polls`. */
  polls?: number;
}

// -- answers -------------------------------------------------------------------------------------

/** The addresses of a world, as the control plane returns them. */
export interface Addresses {
  name: string;
  base_url: string;
  ads_base_url: string;
  ads_sandbox_base_url: string;
  control: string;
}

/** The published test credentials; a part is null after its record was removed. */
export interface Credentials {
  app?: {
    id: string;
    consumer_key: string;
    consumer_secret: string;
    client_id: string;
    client_secret: string;
    callback_urls: string[];
  };
  user?: {
    id: string;
    screen_name: string;
    password: string;
    access_token: string | null;
    access_token_secret: string | null;
    oauth2_access_token: string | null;
  };
  bearer_token?: string;
  /** Ids of the advertising accounts of the user. */
  accounts?: string[];
  webhook_id?: string;
}

export interface Scenario {
  name: string;
  description: string;
  spec: string | null;
  parameters: Record<string, any>;
  active: boolean;
  /** The parameters of the activation. */
  given: Record<string, any>;
  state: string | null;
  /** The counts of each rule of an active scenario. */
  rules: ScenarioRule[];
}

export interface ScenarioRule {
  rule: number;
  /** What it acts on: ids of operations, or paths; `*` for all operations. */
  on: string[] | "*";
  expected: boolean;
  matched: number;
  fired: number;
  refused?: number;
  remaining: number | null;
  /** On which of its calls it acts, in words; null if on each of them. */
  acts_on?: string | null;
  /** The rule of another active scenario that acts on each of its requests before it, as NAME/0. */
  hidden_by?: string | null;
}

export interface UnfiredRule {
  scenario: string;
  rule: number;
  /** How many requests matched the rule. */
  matched: number;
  /** How many of them were refused before the rule could act. */
  refused: number;
  /** On which of its calls it acts, in words; empty if on each of them. */
  actsOn: string;
  /** The rule of another scenario that leaves it no request, as `NAME/NUMBER`; empty if none. */
  hiddenBy: string;
}

export interface WarningCounts {
  /** The number of requests with warnings. */
  requests: number;
  /** The most frequent first. */
  warnings: { code: string; operation: string | null; requests: number; example: string }[];
}

/** What one call would have cost. */
export interface Cost {
  /** US dollars, as decimal text. */
  usd: string;
  /** How many resources were charged. */
  resources: number;
  /** Why it costs that. */
  why: string;
}

/** What calls would have cost, in US dollars as decimal text; the dearest items first. */
export interface Costs {
  currency: "USD";
  usd: string;
  calls: number;
  resources: number;
  items: { key: string; calls: number; resources: number; usd: string }[];
  /** When the newest prices came into force. */
  prices_of: string | null;
  /** How many successful calls have no public price. */
  unpriced: number;
}

export interface Transition {
  progression: "immediate" | "time" | "polls" | "manual";
  seconds: number;
  polls: number;
  states: string[];
  /** Keys of the records that are changing. */
  under_way: string[];
}

/** A fault in what was sent: its place, and what is wrong. */
export interface Fault {
  field: string;
  message: string;
  /** For records: the table and the key. */
  table?: string;
  record?: string;
}

// -- errors --------------------------------------------------------------------------------------

export interface ErrorFacts {
  detail?: string;
  status?: number;
  faults?: Fault[];
  mistake?: Record<string, any>;
  cause?: unknown;
}

/**
 * Returns what `World.failures` does before a platform is at hand, for the tables of tests. The
 * server of `MOCK_PLATFORM_URL` lists them; without one, a server that is started for it.
 *
 * @throws {BadQuery} A pattern matches no operation, or no operation documents one of `statuses`.
 */
export declare function failures(pattern: string, options?: FailuresOptions): Promise<Failure[]>;

/** What went wrong, in the words of the control plane, which say what to do. */
export declare class MockPlatformError extends Error {
  constructor(message: string, facts?: ErrorFacts);
  /** The explanation of the control plane; `message`, without the address that was called. */
  readonly detail: string;
  /** The status of the control plane's answer, if it refused. */
  readonly status: number | undefined;
  /** Every fault with its place; empty if there are no places. */
  readonly faults: Fault[];
  /** The mistake in the form of the control plane: its kind, its text and its values. */
  readonly mistake: Record<string, any> | undefined;
}

/** The control plane refused a request, for another reason than those below. */
export declare class Refused extends MockPlatformError {}
/** No server answers at the address, or its certificate is not trusted. */
export declare class Unreachable extends MockPlatformError {}
/** The server was not found, or ended before it was ready. */
export declare class CannotStart extends MockPlatformError {}
/** The world has no credentials of the kind that a session needs. */
export declare class MissingCredentials extends MockPlatformError {}
/** A session was about to call a host that is not the sandbox's. */
export declare class ForeignHost extends MockPlatformError {}
/** Rules with `expect: fired` never acted. */
export declare class UnfiredExpectations extends MockPlatformError {}
/** A scenario has faults. */
export declare class BadScenario extends MockPlatformError {}
/** No world has this name, or no longer. */
export declare class UnknownWorld extends MockPlatformError {}
/** No table has this name. */
export declare class UnknownTable extends MockPlatformError {}
/** No user can allow or deny this. */
export declare class CannotApprove extends MockPlatformError {}
/** No record has this key. */
export declare class UnknownRecord extends MockPlatformError {}
/** No open stream has this id. */
export declare class UnknownStream extends MockPlatformError {}
/** Fields of an event are missing or wrong. */
export declare class BadEvent extends MockPlatformError {}
/** No scenario has this name. */
export declare class UnknownScenario extends MockPlatformError {}
/** The world has no snapshot of this name. */
export declare class UnknownSnapshot extends Refused {}
/** A snapshot cannot have this name. */
export declare class BadSnapshotName extends Refused {}
/** The world has the maximum number of snapshots. */
export declare class TooManySnapshots extends Refused {}
/** The kind of transition or its record does not exist. */
export declare class UnknownTransition extends Refused {}
/** A world cannot have this name. */
export declare class BadWorldName extends MockPlatformError {}
/** The server has the maximum number of worlds. */
export declare class TooManyWorlds extends MockPlatformError {}
/** The scenario breaks connections and the server cannot do that. */
export declare class CannotPerform extends MockPlatformError {}
/** A world cannot be saved as a case: it would be too large. */
export declare class CaseTooLarge extends MockPlatformError {}
/** Nothing is due in the world, so its clock was not moved. */
export declare class NothingDue extends MockPlatformError {}
/** The store of the server cannot be written. */
export declare class StoreUnwritable extends MockPlatformError {}
/** The engine that keeps the worlds cannot be reached. */
export declare class StoreUnreachable extends MockPlatformError {}
/** Another process owns the world. */
export declare class WorldElsewhere extends MockPlatformError {}
/** The process lost the world to another one. */
export declare class WorldLost extends MockPlatformError {}
/** A record has faults. */
export declare class BadRecord extends MockPlatformError {}
/** A parameter of a scenario is unknown, or its value is not allowed. */
export declare class BadParameters extends MockPlatformError {}
/** A query on the journal has values that no entry can have. */
export declare class BadQuery extends MockPlatformError {}
/** A value is not allowed. */
export declare class ValueError extends MockPlatformError {}
/** The result is not a possible date. */
export declare class OverflowError extends MockPlatformError {}
