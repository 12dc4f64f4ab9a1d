// node's own fetch, with an OAuth 2.0 user token; another host is refused.
import assert from "node:assert";

const headers = { Authorization: `Bearer ${process.env.MOCK_PLATFORM_OAUTH2_ACCESS_TOKEN}` };
const answer = await fetch("https://api.x.com/2/users/me", { headers });
assert.equal((await answer.json()).data.id, process.env.MOCK_PLATFORM_USER_ID);
await assert.rejects(fetch("https://example.com/"), (fault) => /--allow-host/.test(fault.cause));
