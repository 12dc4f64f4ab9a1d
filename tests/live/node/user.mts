// A user in TypeScript: the first half is right, and each line of the second half is a mistake.

import { BadRecord, MockPlatform, type Entry, type World } from "mock-platform";

const platform: MockPlatform = await MockPlatform.start({ freeze: new Date(0), seed: 7 });
await using world: World = await platform.freshWorld(undefined, { source: "default" });
const { bearer_token: token } = await world.credentials();
const entries: Entry[] = await world.journal.find({ status: 404, limit: 1 });
const moment: Date = await world.clock.advance({ hours: 25 });
const own: string | undefined = (await world.state.users.get("1"))?.name;
const later: unknown = await world.state["added_later"].all();
const { fetch } = await world.session("oauth1", { sandbox: true });
const answer: Response = await fetch("/12/accounts", { method: "POST" });
try {
  await world.state.load({});
} catch (error) {
  if (error instanceof BadRecord) console.log(error.faults[0].field, error.status);
}
console.log(token, entries, moment, own, later, answer);

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
