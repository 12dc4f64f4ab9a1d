"""The server that steers the sandbox for agents."""

from __future__ import annotations

from typing import Any

import pytest

from mock_platform.control.agent_tools import TOOLS
from mock_platform.core.mcp import find_world
from tests.control.support import call
from tests.support import ACCOUNT, USER_TOKEN, Sandbox, sandbox
from tests.support_agents import STEERING, read, send, steer, use

ME = "2244994945"


def listed(box: Sandbox) -> list[dict[str, Any]]:
    """The tools as an agent finds them."""
    found: list[dict[str, Any]] = read(send(box, "tools/list", path=STEERING, token=None))["tools"]
    return found


def test_the_tools_are_the_promised_ones(box: Sandbox) -> None:
    """Twelve, each with a sentence and the world it acts on; answers are short."""
    tools = listed(box)

    assert [
        "create_world", "reset_world", "find_operations", "describe_operation", "set_failure",
        "clear_failures", "move_clock", "list_requests", "explain_request", "read_records",
        "write_records", "emit_event",
    ] == [tool["name"] for tool in tools]  # fmt: skip
    assert all("world" in tool["inputSchema"]["properties"] for tool in tools)
    assert all(len(tool["description"]) > 20 for tool in tools)
    assert all(
        "description" in each
        for tool in tools
        for each in tool["inputSchema"]["properties"].values()
    )


def test_a_world_of_its_own(box: Sandbox) -> None:
    """It is made once, used by name, and nothing happens in another one."""
    made = steer(box, "create_world", world="shop", freeze="2026-03-01T00:00:00Z")
    again = steer(box, "create_world", world="shop")
    steer(box, "write_records", world="shop", table="users", records=[{"id": ME, "name": "N"}])
    clock = steer(box, "move_clock", world="shop", by="1d")

    assert "World shop is ready. Base address: http://localhost/~shop" in made[1]
    assert "existed already" in again[1]
    assert (False, True) == (clock[0], "2026-03-02T00:00:00.000Z, stopped" in clock[1])
    assert "N" != box.record("users", ME)["name"]
    steer(box, "reset_world", world="shop")
    assert "2026-03-01" in steer(box, "move_clock", world="shop")[1]
    assert (
        "Happened: expiry compliance_jobs" in steer(box, "move_clock", world="shop", to="next")[1]
    )


def test_the_address_of_a_world(box: Sandbox) -> None:
    """There the tools act on it alone."""
    steer(box, "create_world", world="shop")
    own = "/~shop/_mock/mcp"

    assert "World shop is at its start" in steer(box, "reset_world", own)[1]
    assert "World shop is at its start" in steer(box, "reset_world", own, world="shop")[1]
    for refused in (
        steer(box, "reset_world", own, world="default"),
        steer(box, "create_world", own, world="other"),
    ):
        assert (True, True) == (refused[0], "acts on world 'shop' alone" in refused[1])
    assert ["default", "shop"] == [world.name for world in box.platform.worlds]


def test_operations_are_found_and_read(box: Sandbox) -> None:
    """By words, the plainest first; read by id, by the name of a tool, or by a path."""
    found = steer(box, "find_operations", operation="delete post")[1]
    pages = {
        steer(box, "describe_operation", operation=name)[1]
        for name in ("public_posts.create", "createPosts", "POST /2/posts")
    }

    assert found.startswith("public_posts.delete: DELETE /2/posts/:id: Delete a post\n")
    (page,) = pages
    assert "- 401 89: scenario token-invalidated" in page
    assert "Tool of the platform's own server: createPosts" in page
    assert "import requests" not in page
    assert (
        "activate_campaign" in steer(box, "describe_operation", operation="campaigns.activate")[1]
    )


def test_what_has_no_effect_is_told(box: Sandbox) -> None:
    """A failure that another one leaves no request, and what a world has otherwise."""
    steer(box, "set_failure", failure="slow-network", parameters={"least": 0, "most": 0})
    _, hidden = steer(box, "set_failure", failure="outage")
    steer(box, "create_world", world="w1", seed=1)
    _, again = steer(box, "create_world", world="w1", seed=2)

    assert "Rule 0 cannot act: slow-network/0 acts on each of its requests first.\n" in hidden
    assert "The world 'w1' exists and does not change: seed is 1, not 2." in again


def test_a_failure_is_switched_on_and_explained(box: Sandbox) -> None:
    """The request that it refused is explained, with what would help."""
    on = steer(
        box, "set_failure", failure="rate-limited", parameters={"on": "users.me", "limit": 0}
    )
    use(box, "getUsersMe")
    listing, explained = steer(box, "list_requests")[1], steer(box, "explain_request")[1]
    off = steer(box, "clear_failures")
    use(box, "getUsersMe")

    number = listing.partition(" ")[0]
    assert "rate-limited is on in world default" in on[1]
    assert f"{number} 429 GET http://localhost/2/users/me users.me [tool getUsersMe]: " in listing
    assert "So far: 1 call would have cost $0.000" in listing
    assert "Failure that acted: rate-limited" in explained
    assert "Caller: OAuth 2.0 token of the user (app 11827, user 2244994945)" in explained
    assert explained == steer(box, "explain_request", request_id=number)[1]
    assert "(were on: rate-limited)" in off[1]
    assert "users.me [tool getUsersMe]\n" in steer(box, "list_requests", status=200)[1]
    assert USER_TOKEN not in explained


def test_a_documented_failure_is_set_by_its_id(box: Sandbox) -> None:
    """As the description of the operation says; it acts once unless `times` says otherwise."""
    name = "users.me-403-unsupported-authentication"
    on = steer(box, "set_failure", failure=name)[1]

    assert "as users.me-STATUS-CODE" in steer(box, "describe_operation", operation="users.me")[1]
    assert f"{name} is on" in on
    assert [True, False] == [use(box, "getUsersMe")[0] for _ in range(2)]


def test_words_for_a_failure_list_some(box: Sandbox) -> None:
    """Nothing is switched on, and the names are those to try."""
    refused, text = steer(box, "set_failure", failure="rate limit")

    assert (True, True) == (refused, "rate-limited: Too many requests" in text)
    assert not call(box, "GET", "/scenarios/rate-limited").get_json()["active"]


def test_records_are_written_all_or_none(box: Sandbox) -> None:
    """Some are changed, made and removed; a fault in one leaves all as they were."""
    new = {"id": "77", "name": "Story", "category": "News", "summary": "S", "hook": "H"}
    bad = steer(
        box, "write_records", table="users",
        records=[{"id": ME, "name": "N"}, {"id": ME, "nam": "x"}],
    )  # fmt: skip
    name = box.record("users", ME)["name"]
    made = steer(box, "write_records", table="news", records=[new])
    shown = steer(box, "read_records", table="news", records=["77", "78"])[1]
    gone = steer(box, "write_records", table="news", records=[{"id": "77", "_remove": True}])

    assert (True, True) == (bad[0], "Did you mean 'name'?" in bad[1])
    assert "N" != name
    assert (False, "news: 77 made.") == (made[0], made[1].partition("\n")[0])
    assert '"name":"Story"' in shown
    assert "news has no record 78" in shown
    assert "news: 77 removed." in gone[1]
    assert "users (142)" in steer(box, "read_records")[1]
    assert "2 of 142 records of users." in steer(box, "read_records", table="users", limit=2)[1]


def test_records_are_made_in_bulk(box: Sandbox) -> None:
    """As in a fixture file, with their ids; with a fault beside them none is made."""
    before = len(box.world.store.page("posts"))
    made = steer(box, "write_records", table="posts", records=[{"_make": 3, "user": ME}])
    bad = steer(
        box, "write_records", table="posts", records=[{"_make": 2, "user": ME}, {"_make": 0}]
    )

    assert made[1].startswith("posts: 3 made (")
    assert bad[0]
    assert before + 3 == len(box.world.store.page("posts"))


def test_an_event_says_who_got_it(box: Sandbox) -> None:
    """Webhooks and streams, or why none."""
    sent = steer(box, "emit_event", event_type="profile.update.bio", user="harbor_roasters")[1]
    unsent = steer(box, "emit_event", event_type="profile.update.bio", user="northbike_co")[1]

    assert "Sent to webhook 1146654567674912769." in sent
    assert "Sent to nobody." in unsent
    assert "Not sent: " in unsent


@pytest.mark.parametrize(
    ("tool", "arguments", "told"),
    [
        ("reset_world", {"world": "shopp"}, "There is no world 'shopp'"),
        ("reset_world", {"wurld": "a"}, "\"wurld\" is unknown here. Did you mean 'world'?"),
        ("create_world", {}, "world"),
        ("create_world", {"world": "no/such"}, "is not a name for a world"),
        ("create_world", {"world": "a", "from": "b"}, "There is no world 'b'"),
        ("create_world", {"world": "a", "freeze": "soon"}, "freeze"),
        ("find_operations", {"operation": ""}, "No operation has any of the words"),
        ("describe_operation", {"operation": "createPost"}, "Did you mean 'public_posts.create'?"),
        ("describe_operation", {"operation": "GET /nope"}, "There is no operation"),
        ("set_failure", {"failure": "zzz"}, "zzz"),
        ("set_failure", {"failure": "usage-capped", "parameters": {"x": 1}}, "is no parameter"),
        ("set_failure", {"failure": "usage-capped", "parameters": 5}, "parameters"),
        ("clear_failures", {"failure": "zzz"}, "zzz"),
        ("move_clock", {"to": "now", "by": "1h"}, "not both"),
        ("move_clock", {"to": "soon"}, "Expected time, now or next"),
        ("move_clock", {"by": "long"}, "seconds"),
        ("move_clock", {"by": "9999999d"}, "the clock would be outside the years"),
        ("list_requests", {"operation": "users.mee"}, "Did you mean 'users.me'?"),
        ("list_requests", {"limit": 0}, "limit"),
        ("explain_request", {}, "World default had no request yet."),
        ("explain_request", {"request_id": "r0"}, "has no entry 'r0'"),
        ("read_records", {"table": "userz"}, "Did you mean 'users'?"),
        ("write_records", {"table": "users"}, "records"),
        ("write_records", {"table": "news", "records": [{"_remove": True}]}, "None"),
        ("emit_event", {"event_type": "profile.update.bi"}, "Did you mean 'profile.update.bio'?"),
        ("emit_event", {"event_type": "profile.update.bio", "user": "no"}, "no"),
    ],
)
def test_refusals_say_what_to_do(
    box: Sandbox, tool: str, arguments: dict[str, Any], told: str
) -> None:
    """Each is a result that an agent can read, and nothing changes."""
    refused, text = steer(box, tool, **arguments)

    assert told in text
    assert refused or tool == "find_operations"
    assert ["default"] == [world.name for world in box.platform.worlds]


def test_every_tool_takes_a_token_where_the_control_plane_does() -> None:
    """It is guarded like all other routes."""
    box = sandbox(control_token="secret")

    assert 401 == send(box, "ping", path=STEERING, token=None).status_code
    assert 200 == send(box, "ping", path=STEERING, token="secret").status_code
    foreign = {"Origin": "http://evil.example", "X-Mock-Control-Token": "secret"}
    assert 403 == send(box, "ping", path=STEERING, token=None, headers=foreign).status_code


@pytest.mark.parametrize(
    ("body", "world"),
    [
        (b'{"params": {"arguments": {"world": "w1"}}}', "w1"),
        (b'{"params": {"arguments": {"world": 5}}}', None),
        (b'{"params": []}', None),
        (b"[]", None),
        (b"{", None),
    ],
)
def test_the_world_of_a_message(body: bytes, world: str | None) -> None:
    """Where worlds live in several processes, it says which one answers."""
    assert world == find_world(body)


def test_no_tool_is_forgotten(box: Sandbox) -> None:
    """Each one answers with arguments that fit."""
    arguments: dict[str, dict[str, Any]] = {
        "create_world": {"world": "w1"},
        "find_operations": {"operation": "post"},
        "describe_operation": {"operation": "users.me"},
        "set_failure": {"failure": "outage"},
        "explain_request": {},
        "write_records": {"table": "accounts", "records": [{"id": ACCOUNT, "name": "N"}]},
        "emit_event": {"event_type": "profile.update.bio"},
    }
    for name in TOOLS:
        use(box, "getUsersMe")
        refused, text = steer(box, name, **arguments.get(name, {}))
        assert not refused, text
        assert len(text) < 6000
        assert "Next: " in text
