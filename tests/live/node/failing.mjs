// A test that fails after a request, and one that passes; RUNNER is the module of their runner.

import { test } from "RUNNER";

import { MockPlatform } from "mock-platform";

const platform = await MockPlatform.start();

test("fails", async (t) => {
  const world = await platform.freshWorld(t);
  await world.activate("rate-limited", { on: "accounts.list", limit: 0, window: 60 });
  await world.activate("usage-capped");
  await fetch(`${world.baseUrl}/12/accounts`);
  throw new Error("as it should");
});

test("passes", async (t) => {
  await platform.freshWorld(t);
  if (t.after) t.after(() => platform.stop());
  else t.onTestFinished(() => platform.stop());
});
