// Loaded into node programs by `mock-platform run --intercept`: node itself does not look at
// HTTPS_PROXY. Requests of the module https and of fetch to other machines than this one go through
// the proxy. Connections of any other library to the platform's hosts lead to it as if it were them.
"use strict";

const fs = require("node:fs");
const http = require("node:http");
const https = require("node:https");
const net = require("node:net");
const tls = require("node:tls");

const proxy = process.env.MOCK_PLATFORM_PROXY && new URL(process.env.MOCK_PLATFORM_PROXY);
const OWN = new Set(["localhost", "127.0.0.1", "::1", "[::1]"]);

const HOSTS = new Set((process.env.MOCK_PLATFORM_HOSTS || "").split(","));
const past = process.env.MOCK_PLATFORM_PAST;

// net passes an array of its own making, whose first part are the options, or what its caller gave.
function lead(given) {
  const inner = Array.isArray(given[0]) ? given[0] : given;
  const [first, second] = inner;
  const options = typeof first === "object" && first !== null
    ? { ...first } : { port: first, host: typeof second === "string" ? second : undefined };
  const { host, port } = options;
  if (!host || !port || OWN.has(host) || options.path) return;
  if (past) fs.appendFileSync(past, `${host}:${port}\n`);
  if (!HOSTS.has(String(host).toLowerCase()) || ![80, 443].includes(Number(port))) return;
  Object.assign(options, { host: proxy.hostname, port: Number(proxy.port), lookup: undefined });
  if (typeof first === "object") inner[0] = options;
  else inner.splice(0, typeof second === "string" ? 2 : 1, options);
}

function openTunnel(host, port, done) {
  const asked = http.request({
    host: proxy.hostname, port: proxy.port, method: "CONNECT", path: `${host}:${port}`,
    headers: { Host: `${host}:${port}` }, agent: new http.Agent(),
  });
  asked.once("connect", (answer, socket) => {
    if (answer.statusCode === 200) return done(null, socket);
    socket.destroy();
    return done(new Error(`Tunnel refused: ${answer.statusCode} ${answer.statusMessage}`));
  });
  asked.once("error", done);
  asked.end();
}

function connect(options, done) {
  const host = options.host || options.hostname || options.servername;
  openTunnel(host, options.port || 443, (fault, socket) => {
    if (fault) return done(fault);
    const secure = tls.connect({ ...options, socket, servername: options.servername || host });
    secure.once("error", done);
    return secure.once("secureConnect", () => {
      secure.removeListener("error", done);
      done(null, secure);
    });
  });
}

class ProxyAgent extends https.Agent {
  createConnection(options, done) {
    if (OWN.has(options.host)) return super.createConnection(options, done);
    connect(options, done);
    return undefined;
  }
}

if (proxy) {
  const { connect: open } = net.Socket.prototype;
  net.Socket.prototype.connect = function connectHere(...given) {
    lead(given);
    return open.apply(this, given);
  };
  https.globalAgent = new ProxyAgent({ keepAlive: true });
  const dispatcher = Symbol.for("undici.globalDispatcher.1");
  const plain = globalThis.fetch;
  if (plain) {
    plain("data:,").catch(() => {}); // lets node load its fetch, and so its default dispatcher
    const usual = globalThis[dispatcher];
    if (usual) {
      const Agent = usual.constructor;
      globalThis[dispatcher] = new Agent({
        connect(options, done) {
          const { hostname, port, protocol, servername } = options;
          if (OWN.has(hostname) || protocol !== "https:") {
            const socket = protocol === "https:"
              ? tls.connect({ host: hostname, port: port || 443, servername: servername || hostname })
              : net.connect({ host: hostname.replace(/^\[|\]$/g, ""), port: port || 80 });
            socket.once("error", (fault) => done(fault, null));
            socket.once(protocol === "https:" ? "secureConnect" : "connect", () => done(null, socket));
            return;
          }
          connect({ host: hostname, port: port || 443, servername: servername || hostname,
            ALPNProtocols: ["http/1.1"] }, (fault, socket) => done(fault || null, socket || null));
        },
      });
    }
  }
}
