"use strict";

const { MockPlatform } = require("mock-platform");

const { listAccounts } = require("./accounts.js");

jest.setTimeout(60_000); // a busy machine may need more than five seconds to start a server

let platform, world, token;
beforeAll(async () => {
  platform = await MockPlatform.start();
});
afterAll(() => platform.stop());

beforeEach(async () => {
  world = await platform.freshWorld();
  token = (await world.credentials()).bearer_token;
});
afterEach(() => world.finish());

test("accounts are listed as they are now", async () => {
  const [account] = await world.state.accounts.all();
  await world.state.accounts.patch(account.id, { name: "Renamed" });

  expect(await listAccounts(world.baseUrl, token)).toContain("Renamed");
});

test("an outage is reported after three attempts", async () => {
  await world.activate("outage");

  await expect(listAccounts(world.baseUrl, token)).rejects.toMatchObject({ status: 503 });

  expect(await world.journal.count({ operation: "accounts.list", status: 503 })).toBe(3);
});
