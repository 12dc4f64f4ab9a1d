// Made by `make docs` from the settings and tables in Python; do not edit.

import type { Instant, Wire } from "./index.js";

/** The settings of a sandbox, by their names in Python; see docs/command-line.md. */
export interface Settings {
  /** Address to listen on. On any address except loopback the control plane needs a token. */
  host?: string;
  /** Port to listen on; 0 chooses a free one. */
  port?: number;
  /** Another name under which clients reach this server, such as the name of a container. */
  publicHosts?: readonly string[];
  /** Folder of fixture files, added to the default ones and to those named before. */
  fixtures?: readonly string[];
  /** With false: start without the default fixtures. */
  defaultFixtures?: boolean;
  /**
   * How much the default fixtures have: a small business, also its followers with their posts and
   * lists, or thousands of them.
   */
  dataset?: "small" | "social" | "large";
  /**
   * Name or file of a scenario that is active from the start and after each reset, or a folder
   * whose scenarios become known.
   */
  scenarios?: readonly string[];
  /** Where worlds are kept: in memory, in a TinyDB file, or on a Redis server. */
  store?: string;
  /**
   * What the store's file contains after a crash: the last snapshot, every write unless the machine
   * fails (log), every write (fsync).
   */
  durability?: "snapshot" | "log" | "fsync";
  /**
   * Time after which another process takes over the worlds of one that is gone; for a store that
   * processes share.
   */
  lease?: number | string;
  /**
   * Address at which the processes of other machines reach this one, to hand over requests for
   * worlds of a store that processes share.
   */
  advertise?: string;
  /** Time without a request after which a world of a store that processes share is put to rest. */
  restAfter?: number | string;
  /** Seed for ids and tokens: the same seed draws the same ones. */
  seed?: number;
  /** Stop the clocks of the worlds at this moment. */
  freeze?: Instant;
  /** Whether credentials are checked; off accepts any. */
  auth?: "strict" | "off";
  /** Credentials of the advertising interface: OAuth 1.0a and bearer tokens, or only OAuth 1.0a. */
  adsAuth?: "any" | "oauth1";
  /**
   * Answer a request of which something is ignored, such as an unknown parameter, or refuse it with
   * 400.
   */
  warnings?: "ignore" | "error";
  /** Refuse with 501 what the specification does not show. */
  strict?: boolean;
  /**
   * Names of the answers: neutral, or the original ones of the platform; with original both are
   * taken.
   */
  names?: "neutral" | "original";
  /**
   * Answers as documented (spec), or as the real service was recorded where that differs: now, or
   * until 2023. What is in doubt can be chosen behind it: recorded,missing=200.
   */
  wire?: Wire;
  /**
   * Answer with the endpoints, fields, names of events and refusals that the release history had at
   * this date, whatever the clock says.
   */
  asOf?: Instant;
  /** With false: leave the X-Mock-… headers out of the answers. */
  markers?: boolean;
  /**
   * Rate limits to enforce: those of the specification, also those that only the public interface
   * names, or none.
   */
  limits?: "spec" | "public" | "off";
  /** File of prices on top of the public ones, for what calls would have cost. */
  prices?: string;
  /** Whether apps of a lower _tier are refused what the platform keeps for enterprises. */
  tiers?: "off" | "on";
  /** Form of a single card in the data of an answer: the object, or an array with it. */
  cardEnvelope?: "object" | "array";
  /**
   * Whether endpoints, fields and types of events exist from their dates in the release history on,
   * by the world's clock, or always.
   */
  releases?: "clock" | "all";
  /** Form of the webhook that POST /2/webhooks answers with: the flat record, or under data. */
  webhookEnvelope?: "flat" | "data";
  /** How many webhooks the apps of one owner may have. */
  webhookLimit?: number;
  /** How many activity subscriptions an app may have. */
  subscriptionLimit?: number;
  /** How many campaigns an ad account may have that have not ended. */
  campaignLimit?: number;
  /** How many active line items an ad account may have. */
  lineItemLimit?: number;
  /** How many line items a campaign may have. */
  lineItemsPerCampaign?: number;
  /** Silence after which a stream sends a keep-alive, in real time; 0 for none. */
  streamKeepalive?: number | string;
  /** Connections of one app to each stream. */
  streamConnections?: number;
  /** Whether streams of samples carry everything, or 1 % and 10 %. */
  streamSamples?: "all" | "public";
  /**
   * How many activities may wait for a stream whose client reads too slowly; with more it is
   * disconnected.
   */
  streamBacklog?: number;
  /** Issue a new access token at each sign-in and invalidate the old one of this user and app. */
  freshTokens?: boolean;
  /** Refuse replay windows that are younger than the retired path allowed (31 and 10 minutes). */
  replayMinimumAge?: boolean;
  /** Refuse the OAuth steps over plain http. */
  requireHttps?: boolean;
  /** How far an OAuth timestamp may differ from the machine's clock, in both directions. */
  oauthTolerance?: number | string;
  /** Requests to each OAuth endpoint per app in 15 minutes. */
  oauthLimit?: number;
  /** Bearer token requests per app and --bearer-window; further requests get code 99. */
  bearerThreshold?: number;
  /** Length of the window of --bearer-threshold. */
  bearerWindow?: number | string;
  /**
   * Token that users of the control plane must send; if one is needed and not set, the server makes
   * and prints one.
   */
  controlToken?: string;
  /** Maximum size of a request body, up to 32M. */
  maxBody?: number | string;
  /** Maximum nesting of a JSON body. */
  maxNesting?: number;
  /** Maximum number of worlds. */
  maxWorlds?: number;
  /** Maximum number of requests in each world's journal. */
  journalEntries?: number;
  /** Maximum size of each world's journal. */
  journalBytes?: number | string;
  /**
   * Maximum size of all journals together; beyond it the largest journal drops its oldest requests.
   */
  journalTotalBytes?: number | string;
  /** How long to wait for the answer of a webhook receiver. */
  deliveryTimeout?: number | string;
  /** Maximum number of attempts to deliver an event. */
  deliveryAttempts?: number;
  /** Wait before the second attempt; it doubles for each further one. */
  deliveryBackoff?: number | string;
  /** Another host, beside loopback, that may receive webhook deliveries; '*' allows any. */
  deliveryAllowHosts?: readonly string[];
  /** Maximum number of deliveries at the same time. */
  deliveryWorkers?: number;
  /** Maximum number of connections; further ones get 503. */
  connections?: number;
  /** Maximum number of connections from one address. */
  connectionsPerAddress?: number;
  /** Time limit for the headers of a request, and for a TLS handshake. */
  headSeconds?: number | string;
  /** Time limit for the body of a request. */
  bodySeconds?: number | string;
  /** Bytes a second that a body must send on average, after the time of --head-timeout. */
  bodyBytesPerSecond?: number | string;
  /** How long a connection may wait for its next request. */
  idleSeconds?: number | string;
  /**
   * Speak HTTP/2 as well, with clients that ask for it in the TLS handshake, or begin with it on a
   * port without TLS.
   */
  http2?: boolean;
  /** How long a client may read nothing of its answer. */
  writeSeconds?: number | string;
}
