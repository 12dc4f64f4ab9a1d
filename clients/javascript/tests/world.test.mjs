// Every method of a world, against a real server that all tests of this file share.

import assert from "node:assert/strict";
import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, test } from "node:test";
import { pathToFileURL } from "node:url";

import {
  BadEvent, BadParameters, BadQuery, BadRecord, BadScenario, BadSnapshotName, BadWorldName, CannotApprove,
  CannotStart, ForeignHost, MissingCredentials, MockPlatform, NothingDue, OverflowError, Refused,
  UnfiredExpectations, UnknownRecord, UnknownScenario, UnknownSnapshot, UnknownStream, UnknownTable,
  UnknownTransition, UnknownWorld, ValueError, failures,
} from "mock-platform";

const NOON = new Date("2026-03-01T12:00:00Z");
const USER = "2244994945";
const OTHER = "3805104374";
const DOWN = `name: down
description: Nothing works.
rules:
  - {on: accounts.list, then: {respond: {status: 503}}, expect: fired}
`;

const platform = await MockPlatform.start({ freeze: NOON });
after(() => platform.stop());

async function statusOf(world, auth, address, init) {
  const { fetch } = await world.session(auth);
  const answer = await fetch(address, init);
  await answer.text();
  return answer.status;
}

test("a platform is the face of its default world", async () => {
  assert.equal(platform.name, "default");
  assert.equal(platform.controlUrl, `${platform.baseUrl}/_mock`);
  assert.equal(platform.adsSandboxBaseUrl, `${platform.baseUrl}/sandbox`);
  assert.equal(platform.ca, undefined);
  assert.equal((await platform.credentials()).user.id, USER);
});

test("documented failures are listed, and given to the next call", async () => {
  const world = await platform.world("failing");
  const [gone] = await world.failures("line_items.list", { statuses: [403], network: true });
  const own = await failures("line_items.list", { statuses: 403 });

  assert.equal(`${gone}`, "line_items.list-403-ACCOUNT_NOT_FOUND");
  assert.deepEqual(own.map(String).slice(0, 1), [gone.id]);
  const address = "/12/accounts/18ce54d4x5t/line_items";
  assert.equal(await statusOf(world, "oauth1", address, { headers: gone.headers }), 403);
  assert.equal(await statusOf(world, "oauth1", address), 200);
  await world.fail(gone);
  assert.equal(await statusOf(world, "oauth1", address), 403);
  assert.equal(await statusOf(world, "oauth1", address), 200);
  await assert.rejects(world.fail("line_items.list-403-NO_SUCH"), UnknownScenario);
  await assert.rejects(world.failures("line_item.list"), BadQuery);
  await assert.rejects(world.failures("line_items.list", { statuses: 418 }), BadQuery);
});

test("worlds are made, copied, listed and dropped", async () => {
  const made = await platform.world("w1", { seed: 7, freeze: "2026-01-01T00:00:00Z" });
  await made.state.users.delete(OTHER);
  const copy = await platform.world("w2", { source: "w1" });

  assert.deepEqual((await platform.worlds()).filter((name) => name.startsWith("w")), ["w1", "w2"]);
  assert.equal(made.baseUrl, `${platform.baseUrl}/~w1`);
  assert.deepEqual(await made.clock.now(), new Date("2026-01-01T00:00:00Z"));
  assert.equal(await copy.state.users.has(OTHER), false);
  await copy.drop();
  await platform.dropWorld("w1");
  await assert.rejects(made.clock.now(), UnknownWorld);
  await assert.rejects(platform.dropWorld("w1"), UnknownWorld);
  await assert.rejects(platform.dropWorld("../health"), UnknownWorld);
  await assert.rejects(platform.world("../health"), BadWorldName);
  await assert.rejects(platform.world("w3", { source: "nowhere" }), UnknownWorld);
  await assert.rejects(platform.world("w3", { freeze: "noon" }), ValueError);
  await assert.rejects(platform.world("w3", { asOf: "noon" }), ValueError);
  const old = await platform.world("w4", { asOf: "2025-11-18" });
  assert.equal(await statusOf(old, "bearer", "/2/news/search?query=coffee"), 404);
  await old.drop();
  await assert.rejects(platform.world("w3", { names: "true" }), ValueError);
  await assert.rejects(platform.world("w3", { wire: "recorded,mising=200" }), ValueError);
  const recorded = await platform.world("w5", { wire: "recorded,missing=200" });
  assert.equal(await statusOf(recorded, "bearer", "/2/users/99"), 200);
  await recorded.drop();
  await assert.rejects(platform.dropWorld("default"), ValueError);
});

test("a fresh world ends with its test", async (t) => {
  const ends = [];
  const world = await platform.freshWorld({ after: (act) => ends.push(act) });
  const other = await platform.freshWorld(t, { freeze: "2027-01-01T00:00:00Z" });

  assert.deepEqual(await other.clock.now(), new Date("2027-01-01T00:00:00Z"));
  assert.ok((await platform.worlds()).includes(world.name));
  await ends[0]();
  assert.ok(!(await platform.worlds()).includes(world.name));
  await assert.rejects(platform.freshWorld({}), { name: "TypeError", message: /onTestFinished/ });
});

test("a rule that had to act fails the test at its end", async () => {
  const world = await platform.freshWorld();
  await world.activate(await world.define(DOWN));

  const expected = [{ scenario: "down", rule: 0, matched: 0, refused: 0, actsOn: "", hiddenBy: "" }];
  assert.deepEqual(await world.unfiredExpectations(), expected);
  const message = /rule 0 of down[^]*\n  down\/0: never acted; 0 calls matched[^]*requests:\n  none$/;
  await assert.rejects(world.finish(), { constructor: UnfiredExpectations, message });
  assert.ok(!(await platform.worlds()).includes(world.name));
});

test("a rule on everything that had to act fails the test as well", async () => {
  const world = await platform.freshWorld();
  await world.activate("outage");
  const rules = [{ on: "*", expect: "fired", then: { delay: 0 } }];
  await world.activate(await world.define({ name: "slow", rules }));

  const message = /rule outage\/0 acts on all of its requests before it[^]*slow\/0: never acted; 0 calls matched it, on every operation/;
  await assert.rejects(world.finish(), { constructor: UnfiredExpectations, message });
});

test("scenarios are defined and switched", async (t) => {
  const world = await platform.freshWorld(t);
  const active = async () =>
    (await world.scenarios()).filter((each) => each.active).map((each) => each.name);
  const rules = [{ on: "accounts.list", then: { respond: { status: 503 } } }];
  const folder = await mkdtemp(path.join(tmpdir(), "mock-platform-"));
  t.after(() => rm(folder, { recursive: true }));
  const file = path.join(folder, "filed.yaml");
  await writeFile(file, DOWN.replace("down", "filed"));

  assert.equal(await world.define(DOWN), "down");
  assert.equal(await world.define({ name: "up", rules }), "up");
  assert.equal(await world.define(JSON.stringify({ name: "text", rules })), "text");
  assert.equal(await world.define(pathToFileURL(file)), "filed");
  await world.activate("down");
  await world.activate("usage-capped", { period: "Daily" });
  assert.deepEqual(await active(), ["down", "usage-capped"]);
  assert.equal(await statusOf(world, "bearer", "/12/accounts"), 503);
  const unfired = await world.unfiredExpectations();
  assert.deepEqual(unfired.map((each) => each.scenario), ["usage-capped"]);
  await world.deactivate("down");
  assert.deepEqual(await active(), ["usage-capped"]);
  await world.deactivate();
  assert.deepEqual(await active(), []);
});

test("faults of scenarios are reported with their places", async (t) => {
  const world = await platform.freshWorld(t);
  const misspelt = DOWN.replace("accounts.list", "account.list");

  await assert.rejects(world.define(misspelt), (error) => {
    assert.ok(error instanceof BadScenario);
    assert.match(error.message, /^The scenario cannot be used: .*Did you mean 'accounts.list'/);
    assert.deepEqual(error.faults.map((fault) => fault.field), ["rules[0].on"]);
    return true;
  });
  await assert.rejects(world.define({ rules: [] }), BadScenario);
  await assert.rejects(world.activate("outige"), { constructor: UnknownScenario, message: /outage/ });
  await assert.rejects(world.activate("../reset"), UnknownScenario);
  await assert.rejects(world.activate("usage-capped", { periode: 1 }), (error) => {
    assert.ok(error instanceof BadParameters);
    assert.equal(error.faults.length, 1);
    return true;
  });
});

test("the clock obeys", async (t) => {
  const { clock } = await platform.freshWorld(t);

  assert.deepEqual([await clock.now(), await clock.frozen()], [NOON, true]);
  const moved = await clock.advance({ days: 1, hours: 2, minutes: 3, seconds: 4.5 });
  assert.equal(moved - NOON, ((26 * 60 + 3) * 60 + 4.5) * 1000);
  assert.deepEqual(await clock.travel(NOON), NOON);
  assert.deepEqual(await clock.freeze("2027-01-01"), new Date("2027-01-01"));
  assert.ok((await clock.resume()) >= new Date("2027-01-01"));
  assert.equal(await clock.frozen(), false);
  assert.deepEqual(await clock.freeze(), await clock.now());
  await clock.freeze("2099-01-01");
  const [feed] = await clock.advance({ to: "next" });
  assert.deepEqual([feed.at, feed.kind], [new Date("2099-01-04T12:30:00Z"), "feed"]);
  await assert.rejects(clock.advance({ to: "next" }), NothingDue);
  await assert.rejects(clock.travel("noon"), ValueError);
  await assert.rejects(clock.travel("2026-13-01T00:00:00Z"), ValueError);
  await assert.rejects(clock.travel("9500-01-01"), ValueError);
  await assert.rejects(clock.travel(new Date("noon")), ValueError);
  await assert.rejects(clock.travel(5), TypeError);
  const noon = new Date("2026-03-01T12:00:00Z");
  await clock.freeze(noon);
  assert.deepEqual(await clock.advance("1h"), new Date("2026-03-01T13:00:00Z"));
  assert.deepEqual(await clock.advance(-3600), noon);
  assert.ok((await clock.travel("now")) > noon);
  await assert.rejects(clock.advance("soon"), ValueError);
  await assert.rejects(clock.advance(), { constructor: ValueError, message: /needs a duration/ });
  await assert.rejects(clock.advance({}), ValueError);
  await assert.rejects(clock.advance(NaN), ValueError);
  await assert.rejects(clock.advance({ hours: NaN }), ValueError);
  await assert.rejects(clock.advance({ days: 3e6 }), OverflowError);
  await assert.rejects(clock.advance({ hour: 1 }), { message: /Did you mean 'hours'/ });
});

test("the journal is searched", async (t) => {
  const { journal, ...world } = await platform.freshWorld(t);
  const session = await platform.world(world.name).then((same) => same.session("oauth1"));
  const first = await session.fetch("/12/accounts?nmae=x", { headers: { "x-own": "1" } });
  const text = await first.text();
  await (await session.fetch("/12/nowhere")).text();

  const entries = [];
  for await (const entry of journal) entries.push(entry);
  assert.deepEqual(entries.map((each) => each.operation), ["accounts.list", null]);
  const [entry] = await journal.find({ operation: "accounts.list" });
  assert.deepEqual(
    [entry.world, entry.method, entry.status, entry.at, entry.caller.scheme],
    [world.name, "GET", 200, NOON, "oauth1"],
  );
  assert.match(entry.url, /\/12\/accounts\?nmae=x$/);
  assert.deepEqual(entry.warnings.map((warning) => warning.includes("'nmae'")), [true]);
  assert.ok(entry.milliseconds > 0);
  assert.equal(entry.handlerMilliseconds, entry.milliseconds);
  assert.deepEqual([entry.ended.how, entry.ended.bytes], ["complete", text.length]);
  assert.equal(entry.why, null);
  assert.deepEqual([entry.rule, entry.traceback, entry.diagnosis], [null, null, null]);
  assert.deepEqual([entry.requestBody, entry.responseBody], ["", text]);
  assert.ok(entry.requestHeaders.some(([, value]) => value === "1"));
  assert.ok(entry.responseHeaders.some(([name]) => name === "X-Mock-Request-Id"));
  assert.ok(entry.assumptions.length > 0);
  assert.deepEqual([entry.changes, entry.nearMisses], [[], []]);
  assert.equal(entry.asJson().id, entry.id);
  assert.equal((await journal.get(entry.id)).operation, "accounts.list");
  const [refused] = await journal.find({ status: 404, ended: "complete" });
  assert.equal(refused.why, "No operation has the path /12/nowhere.");
  const line = "GET /12/nowhere -> 404 no operation: No operation has the path /12/nowhere.";
  assert.equal(String(refused), line);
  assert.equal(await journal.get("r0"), undefined);
  assert.equal(await journal.get("count"), undefined);
  assert.equal(await journal.count(), 2);
  assert.equal(await journal.count({ status: 404, method: "get", path: "nowhere" }), 1);
  assert.equal((await journal.find({ since: NOON, limit: 1 }))[0].operation, null);
  assert.equal(await journal.count({ since: new Date(NOON.getTime() + 1) }), 0);
  await assert.rejects(journal.find({ operation: "account.list" }), BadQuery);
  await assert.rejects(journal.count({ limit: 1 }), { message: /has no option 'limit'/ });
  await journal.clear();
  assert.equal(await journal.count(), 0);
});

test("records are read and changed", async (t) => {
  const { state } = await platform.freshWorld(t);
  const { users } = state;

  const stored = await users.put({ id: "9", screen_name: "nine", name: "Nine" });
  assert.deepEqual(await users.patch("9", { name: "New" }), { ...stored, name: "New" });
  assert.equal((await users.get("9")).name, "New");
  const found = [];
  for await (const user of users) found.push(user);
  assert.deepEqual(found, await users.all());
  assert.equal(await users.size(), found.length);
  await users.delete("9");
  assert.deepEqual([await users.get("9"), await users.has("9")], [undefined, false]);
  assert.deepEqual([await users.get(""), await users.get("a/b?c#d")], [undefined, undefined]);
  const named = await users.put({ name: "A" }, { key: "a/b c%2F", unchecked: true });
  assert.deepEqual(await users.get("a/b c%2F"), named);
  const odd = await state.products.put({ product_key: "p1", odd: null }, { unchecked: true });
  assert.deepEqual(await state.products.get("p1"), odd);
});

test("faults of records are reported with their places", async (t) => {
  const { state } = await platform.freshWorld(t);

  await assert.rejects(state.users.put({ id: "9", name: "Nine" }), (error) => {
    assert.ok(error instanceof BadRecord);
    assert.equal(error.status, 422);
    const { table, record, field } = error.faults[0];
    assert.deepEqual([table, record, field], ["users", "9", "screen_name"]);
    return true;
  });
  await assert.rejects(state.users.put({ name: "Nine" }), BadRecord);
  await assert.rejects(state.users.patch("0", {}), UnknownRecord);
  await assert.rejects(state.users.delete("0"), UnknownRecord);
  await assert.rejects(state.users.delete(".."), Refused);
  assert.ok((await state.lineItems.size()) > 0);
  assert.equal(state.lineItemz, undefined);
  await assert.rejects(state.userz.all(), { constructor: UnknownTable, message: /'users'/ });
  await assert.rejects(state.users.put({}, { uncheked: true }), { message: /'unchecked'/ });
});

test("a whole world comes out and goes in", async (t) => {
  const { state } = await platform.freshWorld(t);
  const before = await state.dump();
  await state.users.delete(OTHER);

  await state.load(before);

  assert.deepEqual(await state.dump(), before);
  const names = await state.keys();
  assert.ok(names.includes("users"));
  assert.deepEqual((await state.items()).map(([name, table]) => [name, table.name]),
    names.map((name) => [name, name]));
  assert.deepEqual((await state.values()).map((table) => table.name), names);
  assert.equal(await state.size(), names.length);
  assert.equal((await state.get("users")).name, "users");
  assert.deepEqual([await state.get("userz"), await state.has("userz")], [undefined, false]);
  await assert.rejects(state.load({ tables: 5 }), BadRecord);
});

test("long ids stay exact", async (t) => {
  const { state } = await platform.freshWorld(t);
  const [{ id, id_str: key }] = await state.posts.all();

  assert.equal(typeof id, "bigint");
  assert.equal(String(id), key);
  const patched = await state.posts.patch(key, { id, _note: `"${id}" 12345678901234567890 \\` }, { unchecked: true });
  assert.deepEqual([patched.id, patched._note], [id, `"${id}" 12345678901234567890 \\`]);
});

test("sessions sign as asked and stay within the sandbox", async (t) => {
  const world = await platform.freshWorld(t);
  const form = new URLSearchParams({ name: "Tea & cake (50%)", "a b": "*" });
  const account = (await world.credentials()).accounts[0];

  assert.equal(await statusOf(world, undefined, "/12/accounts"), 401);
  assert.equal(await statusOf(world, "bearer", "/12/accounts"), 200);
  assert.equal(await statusOf(world, "oauth1", "12/accounts?x=a%20b+c&x='*!"), 200);
  assert.equal(await statusOf(world, "oauth2", `/2/users/${USER}`), 200);
  assert.equal(await statusOf(world, "oauth1", `${world.baseUrl}/12/accounts`), 200);
  const method = "POST";
  assert.equal(await statusOf(world, "oauth1", `/12/accounts/${account}/x`, { method, body: form }), 404);
  const sandbox = await world.session("oauth1", { sandbox: true });
  assert.equal(sandbox.baseUrl, world.adsSandboxBaseUrl);
  const made = await sandbox.fetch("/12/accounts", { method, body: form });
  assert.equal(made.status, 200, await made.text());
  const own = { headers: { authorization: "Bearer wrong" } };
  assert.equal(await statusOf(world, "bearer", "/12/accounts", own), 401);
  const elsewhere = sandbox.fetch("https://api.example.com/12/accounts");
  await assert.rejects(elsewhere, { constructor: ForeignHost, message: /passthrough: \["api/ });
  const opened = await world.session("bearer", { passthrough: ["no-such-host.invalid"] });
  await assert.rejects(opened.fetch("https://no-such-host.invalid/"), { message: "fetch failed" });
  await assert.rejects(world.session("bearer", { passthrough: "a b" }), ValueError);
  await assert.rejects(world.session("basic"), ValueError);
  for (const { id } of await world.state.tokens.all()) await world.state.tokens.delete(id);
  await assert.rejects(world.session("oauth1"), MissingCredentials);
});

test("a user allows and denies, and gets new tokens", async (t) => {
  const world = await platform.freshWorld(t);
  const { app, user } = await world.credentials();
  const callback = app.callback_urls[0];
  const query = new URLSearchParams({
    response_type: "code", client_id: app.client_id, redirect_uri: callback, scope: "post.read",
    code_challenge: "x",
  });
  const address = `${world.baseUrl}/2/oauth2/authorize?${query}`;
  await world.state.tokens.put({
    id: "asked", kind: "request", state: "pending", secret: "s", app_id: app.id, callback,
    created_at: NOON.toISOString(),
  });

  const verifier = await world.authorize("asked", { user: OTHER });
  assert.equal((await world.state.tokens.get("asked")).verifier, verifier);
  assert.ok((await world.authorize(address)).startsWith(`${callback}?code=`));
  const denied = await world.authorize(address, { deny: true });
  assert.ok(denied.startsWith(`${callback}?error=access_denied&`));
  await assert.rejects(world.authorize("unknown"), CannotApprove);
  const issued = await world.regenerateCredentials({ kind: "oauth1" });
  assert.deepEqual(issued.invalidated, [user.access_token]);
  assert.equal((await world.credentials()).user.access_token, issued.access_token);
});

test("streams are listed, silenced and ended", async (t) => {
  const world = await platform.freshWorld(t, { freeze: "2026-07-01T12:00:00Z" });
  const { fetch } = await world.session("bearer");
  const answer = await fetch("/2/activity/stream");
  const [stream] = await world.streams.list();

  assert.equal(stream.endpoint, "activity_stream");
  const event = await world.emit("profile.update.bio", { user: USER, payload: { after: "Tea." } });
  assert.ok(event.outlets.some((outlet) => outlet.id === stream.id));
  assert.deepEqual(await world.streams.stall("all", { seconds: 0 }), [stream.id]);
  assert.deepEqual(await world.streams.disconnect(stream.id), [stream.id]);
  const lines = (await answer.text()).split("\r\n").filter(Boolean).map((line) => JSON.parse(line));
  assert.equal(lines[0].data.event_uuid, event.activity.event_uuid);
  assert.equal(lines[1].errors[0].disconnect_type, "OperationalDisconnect");
  const sent = (await world.deliveries()).filter((each) => each.kind === "stream");
  assert.deepEqual(sent.map((each) => each.body), [lines[0]]);
  assert.equal(await world.waitForDeliveries(60), true);
  assert.deepEqual(await world.streams.list(), []);
  await assert.rejects(world.streams.disconnect("s0"), UnknownStream);
  await assert.rejects(world.streams.stall("all", { seconds: -1 }), ValueError);
  await assert.rejects(world.emit("profile.update.boi"), BadEvent);
  await assert.rejects(world.emit("x", { userId: USER }), { message: /has no option 'userId'/ });
});

test("slow states move as they are told, and snapshots return", async (t) => {
  const world = await platform.freshWorld(t);
  const { transitions, snapshots } = world;

  const set = await transitions.set("do_not_reach_list", { progression: "manual" });
  assert.deepEqual((await transitions.list()).do_not_reach_list, set);
  assert.equal(set.progression, "manual");
  await snapshots.save("before");
  const [id] = set.under_way;
  assert.equal(await transitions.move("do_not_reach_list", id, "PROCESSED"), "PROCESSED");
  assert.deepEqual((await transitions.list()).do_not_reach_list.under_way, []);
  assert.deepEqual(await snapshots.list(), ["before"]);
  await snapshots.restore("before");
  assert.deepEqual((await transitions.list()).do_not_reach_list.under_way, [id]);
  await snapshots.delete("before");
  await assert.rejects(snapshots.restore("before"), { constructor: UnknownSnapshot, status: 404 });
  await assert.rejects(snapshots.restore("before"), Refused);
  await assert.rejects(snapshots.save("-"), { constructor: BadSnapshotName, status: 400 });
  await assert.rejects(transitions.move("do_not_reach_list", id, "X"), ValueError);
  await assert.rejects(transitions.move("do_not_reach_list", "1", "PROCESSED"), UnknownTransition);
  await assert.rejects(transitions.set("lists", {}), { constructor: UnknownTransition, message: /Kinds: / });
});

test("coverage counts and a reset returns to the start", async (t) => {
  const world = await platform.freshWorld(t);
  assert.equal(await statusOf(world, "bearer", "/12/accounts"), 200);
  await world.state.users.delete(OTHER);
  const { operations } = await world.coverage();
  const some = await world.coverage("accounts.*");
  assert.ok(some.operations.length > 0);
  assert.ok(some.operations.every((each) => each.id.startsWith("accounts.")));
  await assert.rejects(world.coverage("acounts.*"), BadQuery);

  await world.reset();

  assert.deepEqual(operations.filter((each) => each.requests).map((each) => each.id), ["accounts.list"]);
  assert.equal(await world.state.users.has(OTHER), true);
  assert.equal(await world.journal.count(), 0);
});

test("what was ignored is counted, or refused on request", async (t) => {
  const world = await platform.freshWorld(t);
  const strict = await platform.freshWorld(t, { warnings: "error", ownCredentials: true });
  const { bearer_token: token } = await strict.credentials();
  const headers = { authorization: `Bearer ${token}` };

  assert.equal(await statusOf(world, "bearer", "/12/accounts?nmae=x"), 200);
  const refused = await fetch(`${platform.baseUrl}/12/accounts?nmae=x`, { headers });
  assert.equal(refused.status, 400, await refused.text());
  assert.equal(await strict.journal.count({ status: 400 }), 1);
  const { requests, warnings } = await world.warnings();
  assert.deepEqual([requests, warnings.length], [1, 1]);
  assert.equal(warnings[0].code, "unknown-parameter");
});

test("costs are those of the world, of each call and of all tests", async (t) => {
  const world = await platform.freshWorld(t);
  assert.equal(await statusOf(world, "oauth1", "/2/users/me"), 200);

  const costs = await world.costs();
  assert.deepEqual([costs.usd, costs.calls, costs.items[0].key], ["0.010", 1, "users.me"]);
  assert.equal((await world.costs("test")).items[0].key, world.name);
  const [entry] = await world.journal.find();
  assert.equal(entry.cost.why, "1 x User: Read at 0.010");
  await assert.rejects(world.costs("apps"), /operation, test, app, day/);
});

test("records are made, or a refusal says why not", async (t) => {
  const world = await platform.freshWorld(t);

  const made = await world.make("users", 3, { location: "Lima", seed: 7 });
  assert.deepEqual([made.table, made.made, made.ids.length], ["users", 3, 3]);
  assert.equal((await world.state.users.get(made.ids[0])).location, "Lima");
  assert.equal((await world.make("line_items")).made, 1);
  await assert.rejects(world.make("user"), UnknownTable);
  await assert.rejects(world.make("users", 0), BadRecord);
  await assert.rejects(world.make("users", 2, { nme: "x" }), /Did you mean 'name'/);
});

test("a world ends with its block", async () => {
  const world = await platform.freshWorld();
  await world[Symbol.asyncDispose]();

  await assert.rejects(world.journal.count(), UnknownWorld);
});

test("many requests at once share connections", async (t) => {
  const { clock } = await platform.freshWorld(t);
  const moments = await Promise.all(Array.from({ length: 50 }, () => clock.now()));

  assert.ok(moments.every((moment) => moment.getTime() === NOON.getTime()));
});

test("a world is a file, and the file the same world", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "case-"));
  const file = path.join(folder, "case.zip");
  const world = await platform.world("case", { freeze: NOON });
  const { fetch } = await world.session("oauth1");
  const body = JSON.stringify({ text: "Hi" });
  const headers = { "content-type": "application/json" };
  const made = await (await fetch("/2/posts", { method: "POST", body, headers })).text();
  await world.saveCase(file);
  const again = await MockPlatform.openCase(pathToFileURL(file));
  const [entry] = await again.journal.find();

  assert.equal((await stat(file)).mode & 0o777, 0o600);
  assert.equal(entry.responseBody, made);
  assert.deepEqual(await again.clock.now(), NOON);
  await again.stop();
  await assert.rejects(MockPlatform.openCase(path.join(folder, "gone.zip")), CannotStart);
  await assert.rejects(MockPlatform.openCase(file, { seed: 1 }), TypeError);
  await rm(folder, { recursive: true });
});

test("a post in the form of the interface is stored under its id", async (t) => {
  const world = await platform.freshWorld(t);

  const stored = await world.state.posts.put({ id: "5", text: "Tea", author_id: USER });

  assert.deepEqual([stored.full_text, stored.post_id], ["Tea", "5"]);
  const nobody = { id: "6", text: "x", author_id: "nobody" };
  await assert.rejects(world.state.posts.put(nobody), /refers to 'nobody', which is not in users/);
});
