import assert from "node:assert/strict";
import { test } from "node:test";

import { PlatformError, Polls } from "./polls.js";
import { freshWorld } from "./sandbox.js";

const CHOICES = ["Light & sweet", "Dark (strong!)"];

async function started(t) {
  const world = await freshWorld(t);
  return { world, polls: new Polls(world.baseUrl, world.account, world.keys) };
}

test("a poll card is created and read again", async (t) => {
  const { world, polls } = await started(t);

  const made = await polls.create("Röst + Mahl", CHOICES);

  assert.deepEqual(await polls.read(made.id), made);
  const stored = (await world.records("poll_cards")).find((card) => card.id === made.id);
  assert.equal(stored.second_choice, "Dark (strong!)");
});

test("a refusal is told with its code, and not repeated", async (t) => {
  const { world, polls } = await started(t);

  await assert.rejects(polls.create("Roast", CHOICES, 1), (error) => {
    assert.ok(error instanceof PlatformError);
    assert.deepEqual([error.status, error.codes], [400, ["INVALID_PARAMETER"]]);
    return true;
  });

  assert.equal((await world.requests({ operation: "cards_poll.create" })).length, 1);
});

test("a read survives two broken connections", async (t) => {
  const { world, polls } = await started(t);
  const made = await polls.create("Roast", CHOICES);
  await world.activate("flaky-network", { on: "cards_poll.get", failures: 2 });

  assert.deepEqual(await polls.read(made.id), made);

  const asked = await world.requests({ operation: "cards_poll.get" });
  assert.deepEqual(asked.map((entry) => entry.rule !== null), [true, true, false]);
});

test("a creation whose answer is lost is not repeated", async (t) => {
  const { world, polls } = await started(t);
  const before = (await world.records("poll_cards")).length;
  await world.activate("answer-lost");

  await assert.rejects(polls.create("Roast", CHOICES), TypeError); // fetch failed

  assert.equal((await world.records("poll_cards")).length, before + 1);
});

test("a rate limit ends with its window", async (t) => {
  const { world, polls } = await started(t);
  await world.activate("rate-limited", { on: "cards_poll.create", limit: 1, window: 900 });
  await polls.create("Roast", CHOICES);
  await assert.rejects(polls.create("Roast", CHOICES), { status: 429 });

  await world.advance(900);

  assert.ok((await polls.create("Roast", CHOICES)).id);
});

test("the journal explains a refused signature", async (t) => {
  const { world } = await started(t);
  const keys = { ...world.keys, consumerSecret: "wrong" };

  await assert.rejects(new Polls(world.baseUrl, world.account, keys).read("x"), { status: 401 });

  const [refused] = await world.requests({ status: 401 });
  assert.match(refused.diagnosis.explanation, /secret/);
});
