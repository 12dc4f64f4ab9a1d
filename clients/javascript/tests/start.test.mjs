// Servers that are started, found and left.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { connect as open } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";

import * as face from "mock-platform";

const { CannotStart, MockPlatform, Refused, Unreachable, ValueError } = face;

let platform;
before(async () => {
  platform = await MockPlatform.start({ controlToken: "known", markers: false, maxWorlds: 2 });
});
after(() => platform.stop());

// A program that starts a server and prints its address; what comes next is in `then`.
async function parent(then) {
  const script = `
    import { MockPlatform } from "mock-platform";
    const platform = await MockPlatform.start();
    console.log(platform.baseUrl);
    ${then}`;
  const options = { stdio: ["pipe", "pipe", "inherit"], cwd: import.meta.dirname };
  const child = spawn(process.execPath, ["--input-type=module", "-e", script], options);
  const [url] = await once(createInterface({ input: child.stdout }), "line");
  const socket = open(new URL(url).port, "127.0.0.1");
  await once(socket, "connect");
  socket.on("error", () => {}).resume();
  return { child, url, gone: once(socket, "close") };
}

test("both kinds of modules have the same classes", () => {
  const required = createRequire(import.meta.url)("mock-platform");

  assert.deepEqual(Object.keys(required).sort(), Object.keys(face).sort());
  for (const name of Object.keys(face)) assert.equal(required[name], face[name]);
});

test("settings reach the server, and its token this process", async () => {
  const { fetch } = await platform.session("bearer");
  const answer = await fetch("/12/accounts");

  assert.equal(answer.headers.get("x-mock-operation"), null);
  await assert.rejects(MockPlatform.connect(platform.baseUrl), (error) => {
    assert.ok(error instanceof Refused);
    assert.match(error.message, /MOCK_PLATFORM_CONTROL_TOKEN/);
    assert.ok(!error.detail.includes(platform.baseUrl));
    return error.status === 401;
  });
});

test("a connection leaves the server as it was", async () => {
  const other = await MockPlatform.connect(`${platform.baseUrl}/`, { token: "known" });
  await other.freshWorld();
  await assert.rejects(other.world("third"), face.TooManyWorlds);

  await other.stop();
  await other.stop();

  assert.deepEqual(await platform.worlds(), ["default"]);
});

test("the address of a world connects to that world", async () => {
  const world = await platform.freshWorld();
  const other = await MockPlatform.connect(`${world.controlUrl}/`, { token: "known" });

  assert.equal(other.name, world.name);
  await assert.rejects(MockPlatform.connect(`${platform.baseUrl}/~nope`, { token: "known" }), {
    constructor: face.UnknownWorld, message: /has no world 'nope'. It has: default/,
  });
  await other.stop();
  await platform.dropWorld(world.name);
});

test("a server of two processes sends what it answers to another one as well", async () => {
  const shadow = platform.baseUrl;
  const server = await MockPlatform.start({ workers: 2, shadow, shadowWrites: false });
  try {
    const answer = await fetch(`${server.controlUrl}/shadow`);

    const { upstream, writes } = await answer.json();
    assert.deepEqual({ upstream, writes }, { upstream: shadow, writes: false });
    const { worlds } = await (await fetch(`${server.controlUrl}/worlds`)).json();
    assert.equal(worlds[0].process, "1");
  } finally {
    await server.stop();
  }
});

test("the address may come from the environment", async () => {
  process.env.MOCK_PLATFORM_URL = platform.baseUrl;
  process.env.MOCK_PLATFORM_CONTROL_TOKEN = "known";
  try {
    const other = await MockPlatform.connect();
    assert.equal(other.baseUrl, platform.baseUrl);
    await other[Symbol.asyncDispose]();
  } finally {
    delete process.env.MOCK_PLATFORM_URL;
    delete process.env.MOCK_PLATFORM_CONTROL_TOKEN;
  }
  await assert.rejects(MockPlatform.connect(), { constructor: ValueError, message: /mock-platform run/ });
});

test("what is no sandbox is refused", async () => {
  const other = createServer((_, answer) => answer.end("<html>")).listen(0, "127.0.0.1");
  await once(other, "listening");
  const found = MockPlatform.connect(`http://127.0.0.1:${other.address().port}`);

  await assert.rejects(found, { constructor: Refused, message: /READY/ });
  other.close();
  await assert.rejects(MockPlatform.connect("http://127.0.0.1:1"), {
    constructor: Unreachable, message: /Start a server with `mock-platform serve`/,
  });
  await assert.rejects(MockPlatform.connect("127.0.0.1:8080"), ValueError);
});

test("a server over https is trusted by its authority", async () => {
  const secure = await MockPlatform.start({ tls: true });
  try {
    assert.match(secure.baseUrl, /^https:/);
    assert.deepEqual(await secure.worlds(), ["default"]);
    const other = await MockPlatform.connect(secure.baseUrl, { ca: secure.ca });
    await other.stop();
    await assert.rejects(MockPlatform.connect(secure.baseUrl), {
      constructor: Unreachable, message: /is not trusted .*NODE_EXTRA_CA_CERTS/,
    });
  } finally {
    await secure.stop();
  }
});

test("a server that cannot start says why", async () => {
  const fails = async (options, ...patterns) => {
    await assert.rejects(MockPlatform.start(options), (error) => {
      assert.ok(error instanceof CannotStart, error);
      for (const pattern of patterns) assert.match(error.message, pattern);
      return true;
    });
  };
  await fails({ fixtures: ["/nowhere"] }, /status 4/, /\/nowhere.*is no folder of fixture files/);
  await fails({ command: "no-such-command" }, /ENOENT/, /pip install mock-platform/);
  await fails({ command: [process.execPath, "-e", "0"] }, /ended with status 0/);
  const env = { PATH: "", MOCK_PLATFORM_COMMAND: "" };
  await fails({ env }, /Neither mock-platform nor python is on the PATH/);
  await assert.rejects(MockPlatform.start({ stric: true }), { message: /Did you mean 'strict'/ });
  await assert.rejects(MockPlatform.start({ prot: 0 }), { message: /Did you mean 'port'/ });
});

test("a server that has ended is reported as ended", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "mock-platform-"));
  const store = `tinydb:${path.join(folder, "state.json")}`;
  const kept = await MockPlatform.start({ store });
  await kept.state.users.delete("3805104374");
  await kept.stop();
  await kept.stop();

  await assert.rejects(kept.worlds(), { message: /The server that was started has ended \(0\)/ });
  const again = await MockPlatform.start({ store });
  assert.equal(await again.state.users.has("3805104374"), false);
  await again.stop();
  await rm(folder, { recursive: true });
});

test("a killed parent leaves no server behind", async () => {
  const { child, url, gone } = await parent("setInterval(() => {}, 1000);");

  child.kill("SIGKILL");
  await gone;

  await assert.rejects(fetch(url), TypeError);
});

test("a parent that forgets to stop ends, and leaves no server behind", async () => {
  const { child, url, gone } = await parent("process.stdin.once('data', () => process.stdin.destroy());");

  child.stdin.write("end\n");
  const [status] = await once(child, "exit");
  await gone;

  assert.equal(status, 0);
  await assert.rejects(fetch(url), TypeError);
});
