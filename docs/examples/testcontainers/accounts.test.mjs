import assert from "node:assert/strict";
import { after, test } from "node:test";

import { startContainer } from "./container.mjs";

const platform = await startContainer();
after(() => platform.stop());

test("a rate limit ends with its window", async (t) => {
  const world = await platform.freshWorld(t);
  await world.activate("rate-limited", { on: "accounts.list", limit: 1, window: 900 });
  const { fetch } = await world.session("oauth1");
  assert.equal((await fetch("/12/accounts")).status, 200);
  assert.equal((await fetch("/12/accounts")).status, 429);

  await world.clock.advance({ minutes: 15 });

  assert.equal((await fetch("/12/accounts")).status, 200);
});
