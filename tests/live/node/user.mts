// A user in TypeScript: the first half is right, and each line of the second half is a mistake.

import { BadRecord, MockPlatform, type Entry, type OwnName, type World } from "mock-platform";
import type { ErrorCode, EventType, OperationId, ScenarioName, TableName } from "mock-platform";

const platform: MockPlatform = await MockPlatform.start({ freeze: new Date(0), seed: 7 });
await using world: World = await platform.freshWorld(undefined, { source: "default" });
const { bearer_token: token } = await world.credentials();
const entries: Entry[] = await world.journal.find({ status: 404, limit: 1 });
const moment: Date = await world.clock.advance({ hours: 25 });
const own: string | undefined = (await world.state.users.get("1"))?.name;
const later: unknown = await world.state["added_later" as OwnName].all();
for (const table of await world.state.keys()) await world.state[table].size();
await world.state.lineItems.all();
await world.activate("usage-capped", { period: "Daily", on: "accounts.list" });
await world.activate("outage", { on: "GET /2/shops/:id" as OwnName });
await world.activate(await world.define({ name: "my-outage", rules: [] }), { anything: 1 });
await world.deactivate("my-outage" as OwnName);
await world.emit("post.create");
await world.journal.count({ operation: entries[0].operation ?? "accounts.list" });
const names: [ScenarioName, TableName, OperationId, EventType, ErrorCode, ErrorCode] = [
  "outage", "line_items", "line_items.delete", "dm.received", "NOT_FOUND", 89,
];
const { fetch } = await world.session("oauth1", { sandbox: true });
const answer: Response = await fetch("/12/accounts", { method: "POST" });
try {
  await world.state.load({});
} catch (error) {
  if (error instanceof BadRecord) console.log(error.faults[0].field, error.status);
}
console.log(token, entries, moment, own, later, answer, names);

// @ts-expect-error a setting that does not exist
await MockPlatform.start({ stric: true });
// @ts-expect-error a value that is not allowed
await MockPlatform.start({ auth: "none" });
// @ts-expect-error an option that does not exist
await world.clock.advance({ hour: 1 });
// @ts-expect-error a filter that does not exist
await world.journal.find({ stats: 404 });
// @ts-expect-error a scheme that does not exist
await world.session("basic");
// @ts-expect-error a promise, not its value
const now: Date = world.clock.now();
// @ts-expect-error a scenario that does not exist
await world.activate("usage-caped");
// @ts-expect-error a parameter that this scenario does not have
await world.activate("usage-capped", { perod: "Daily" });
// @ts-expect-error a scenario without parameters
await world.activate("account-suspended", { period: "Daily" });
// @ts-expect-error a value that is not allowed
await world.activate("usage-capped", { period: "daily" });
// @ts-expect-error an operation that does not exist
await world.activate("usage-capped", { on: "accounts.lst" });
// @ts-expect-error a table that does not exist
await world.state.lineItms.all();
// @ts-expect-error a table that does not exist
await world.state["line_itms"].all();
// @ts-expect-error a table that does not exist
await world.state.get("line_itms");
// @ts-expect-error an operation that does not exist
await world.journal.find({ operation: "line_items.delet" });
// @ts-expect-error an event type that does not exist
await world.emit("post.crate");
