import { MockPlatform } from "mock-platform";
import { afterAll, beforeAll, expect, test as base, vi } from "vitest";
import type { World } from "mock-platform";

import { listAccounts } from "./accounts.js";

// A busy machine may need more than ten seconds to start a server.
vi.setConfig({ hookTimeout: 60_000, testTimeout: 60_000 });

let platform: MockPlatform;
beforeAll(async () => {
  platform = await MockPlatform.start();
});
afterAll(() => platform.stop());

// Each test that asks for `world` has its own, and `token` is the bearer token of its app.
const test = base.extend<{ world: World; token: string }>({
  world: async ({}, use) => {
    const world = await platform.freshWorld();
    await use(world);
    await world.finish();
  },
  token: async ({ world }, use) => use((await world.credentials()).bearer_token!),
});

test("accounts are listed as they are now", async ({ world, token }) => {
  const [account] = await world.state.accounts.all();
  await world.state.accounts.patch(account.id, { name: "Renamed" });

  expect(await listAccounts(world.baseUrl, token)).toContain("Renamed");
});

test("an outage is reported after three attempts", async ({ world, token }) => {
  await world.activate("outage");

  await expect(listAccounts(world.baseUrl, token)).rejects.toMatchObject({ status: 503 });

  expect(await world.journal.count({ operation: "accounts.list", status: 503 })).toBe(3);
});

base("a world can also be made in the test", async (context) => {
  const world = await platform.freshWorld(context); // gone when the test ends
  const { fetch } = await world.session("oauth1");

  expect((await fetch("/12/accounts?nmae=x")).status).toBe(200);

  const [entry] = await world.journal.find();
  expect(entry.warnings).toEqual([expect.stringContaining("'nmae'")]);
});
