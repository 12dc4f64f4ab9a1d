import assert from "node:assert/strict";
import { after, test } from "node:test";

import { MockPlatform } from "mock-platform";

import { listAccounts } from "./accounts.mjs";

const platform = await MockPlatform.start();
after(() => platform.stop());

const BUSY = {
  name: "busy-twice",
  rules: [{ on: "accounts.list", times: 2, then: { respond: { status: 503 } }, expect: "fired" }],
};

async function setUp(t) {
  const world = await platform.freshWorld(t); // gone when the test ends
  const { bearer_token: token } = await world.credentials();
  return { world, token };
}

test("accounts are listed as they are now", async (t) => {
  const { world, token } = await setUp(t);
  const [account] = await world.state.accounts.all();
  await world.state.accounts.patch(account.id, { name: "Renamed" });

  assert.ok((await listAccounts(world.baseUrl, token)).includes("Renamed"));
});

test("a busy service is asked again", async (t) => {
  const { world, token } = await setUp(t);
  await world.activate(await world.define(BUSY));

  assert.ok((await listAccounts(world.baseUrl, token)).length > 0);

  const entries = await world.journal.find({ operation: "accounts.list" });
  assert.deepEqual(entries.map((entry) => entry.status), [503, 503, 200]);
});

test("a rate limit ends with its window", async (t) => {
  const { world, token } = await setUp(t);
  await world.activate("rate-limited", { on: "accounts.list", limit: 1, window: 900 });
  await listAccounts(world.baseUrl, token);
  await assert.rejects(listAccounts(world.baseUrl, token), { status: 429 });

  await world.clock.advance({ minutes: 15 });

  assert.ok((await listAccounts(world.baseUrl, token)).length > 0);
});
