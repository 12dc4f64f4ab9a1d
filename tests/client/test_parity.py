"""Every method of the interface, on a sandbox in this process and on one elsewhere."""

from __future__ import annotations

import inspect
import json
import os
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlencode

import pytest

import mock_platform
from mock_platform import MockPlatform
from mock_platform.api.served import TABLES
from mock_platform.client import interface
from mock_platform.client.interface import PlatformFace, WorldFace
from mock_platform.client.local import LocalClock, LocalJournal, LocalStreams, LocalWorld
from mock_platform.client.local_platform import LocalPlatform
from mock_platform.client.remote.journal import RemoteEntry, RemoteJournal
from mock_platform.client.remote.state import RemoteState, RemoteTable
from mock_platform.client.remote.world import RemoteClock, RemotePlatform, RemoteWorld
from mock_platform.client.remote.world_parts import (
    RemoteSnapshots,
    RemoteStreams,
    RemoteTransitions,
)
from mock_platform.client.world_parts import (
    ClockFace,
    EntryFace,
    JournalFace,
    SnapshotsFace,
    StateFace,
    StreamsFace,
    TableFace,
    TransitionsFace,
)
from mock_platform.core.errors import BadQuery, NothingDue, NotInProcess
from mock_platform.core.snapshots import Snapshots
from mock_platform.core.tables.state import State as LocalState
from mock_platform.core.tables.state import TableState
from mock_platform.core.transitions import WorldTransitions
from mock_platform.world.journal import JournalEntry
from tests.client.conftest import NOON

# mypy checks each implementation against its Protocol here.
_PLATFORMS: tuple[type[PlatformFace], ...] = (MockPlatform, LocalPlatform, RemotePlatform)
_WORLDS: tuple[type[WorldFace], ...] = (LocalWorld, RemoteWorld)
_CLOCKS: tuple[type[ClockFace], ...] = (LocalClock, RemoteClock)
_JOURNALS: tuple[type[JournalFace], ...] = (LocalJournal, RemoteJournal)
_STREAMS: tuple[type[StreamsFace], ...] = (LocalStreams, RemoteStreams)
_SNAPSHOTS: tuple[type[SnapshotsFace], ...] = (Snapshots, RemoteSnapshots)
_TRANSITIONS: tuple[type[TransitionsFace], ...] = (WorldTransitions, RemoteTransitions)
_STATES: tuple[type[StateFace], ...] = (LocalState, RemoteState)
_TABLES: tuple[type[TableFace], ...] = (TableState, RemoteTable)
_ENTRIES: tuple[type[EntryFace], ...] = (JournalEntry, RemoteEntry)

USER = "2244994945"
OTHER = "3805104374"
DOWN = """
name: down
description: "Nothing works."
rules:
  - on: accounts.list
    then: {respond: {status: 503}}
    expect: fired
"""


_OF_ONE_KIND = {"start", "connect", "open", "open_case", "control", "close_sessions"}


@pytest.mark.parametrize(
    ("face", "kinds", "more"),
    [
        (PlatformFace, _PLATFORMS, _OF_ONE_KIND),
        (WorldFace, _WORLDS, {"close_sessions"}),
        (ClockFace, _CLOCKS, set()),
        (JournalFace, _JOURNALS, set()),
        (StreamsFace, _STREAMS, set()),
        (SnapshotsFace, _SNAPSHOTS, set()),
        (TransitionsFace, _TRANSITIONS, set()),
        (StateFace, _STATES, set()),
        (TableFace, _TABLES, {"find", "find_referring"}),  # for the console
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
@pytest.mark.claim("runs every method and every mistake on both")
def test_nothing_is_on_one_side_alone(face: type, kinds: tuple[type, ...], more: set[str]) -> None:
    """Each kind has what the interface declares, with its parameters, and nothing besides."""
    for kind in kinds:
        assert _public(face) == _public(kind) - more
        for name in _public(face):
            promised = inspect.getattr_static(face, name)
            made = inspect.getattr_static(kind, name)
            assert made is not promised or name in _ALIKE or kind is MockPlatform, (kind, name)
            assert isinstance(promised, property) == isinstance(made, property), (kind, name)
            if inspect.isfunction(promised) and kind.__module__ in _OURS:
                expected = [p.replace(annotation="") for p in _parameters(promised)]
                assert expected == [p.replace(annotation="") for p in _parameters(made)], name


_ALIKE = {"name", "base_url", "ads_base_url", "ads_sandbox_base_url", "control_url"}
_ALIKE |= {"activate", "advance", "app", "async_client", "emit", "fail", "make", "session"}
_ALIKE |= {"test_client", "world"}
"""What the interface itself does, from what both kinds have."""
_OURS = {
    kind.__module__
    for kinds in (_PLATFORMS, _WORLDS, _CLOCKS, _JOURNALS, _SNAPSHOTS, _TRANSITIONS)
    for kind in kinds
}


def _public(kind: type) -> set[str]:
    return {name for name in dir(kind) if not name.startswith("_")}


def _parameters(function: object) -> list[inspect.Parameter]:
    assert callable(function)
    return list(inspect.signature(function).parameters.values())


def test_the_type_of_the_fixture_is_the_face() -> None:
    """`WorldFace`, under which people know it, is what both kinds complete."""
    assert interface.WorldFace is mock_platform.WorldFace


# -- platform ------------------------------------------------------------------------------------


def test_worlds_are_made_listed_and_dropped(platform: PlatformFace) -> None:
    """A world is made once; asking again returns what is there; dropping takes it away."""
    made = platform.world("w1", seed=7, freeze="2026-01-01T00:00:00Z")
    made.state["users"].delete(OTHER)

    assert ["default", "w1"] == platform.worlds
    assert OTHER not in platform.world("w1").state["users"]
    assert (True, NOON) == (OTHER in platform.state["users"], platform.clock.now())
    assert datetime(2026, 1, 1, tzinfo=UTC) == platform.world("w1").clock.now()
    platform.drop_world("w1")
    assert ["default"] == platform.worlds
    assert OTHER in platform.world("w1").state["users"]
    platform.drop_world("w1")


def test_a_world_can_have_its_own_credentials(platform: PlatformFace) -> None:
    """They choose the world by themselves: a request without a prefix is in its journal."""
    own, before = platform.world("w1", own_credentials=True), len(platform.journal)
    bearer = {"Authorization": f"Bearer {own.credentials['bearer_token']}"}

    assert platform.session().get("/2/webhooks", headers=bearer).ok

    assert (1, before) == (len(own.journal), len(platform.journal))
    platform.drop_world("w1")


def test_programs_are_led_to_a_world(platform: PlatformFace) -> None:
    """In this process the real host names lead to it; a server elsewhere says what to do."""
    world = platform.world("w1")
    if isinstance(platform, RemotePlatform):
        with pytest.raises(NotInProcess, match="serve --intercept"):
            world.intercept()
    else:
        with world.intercept() as variables:
            assert variables["HTTPS_PROXY"] == os.environ["HTTPS_PROXY"]
    platform.drop_world("w1")


def test_a_world_can_have_original_names(platform: PlatformFace) -> None:
    """Its clients use and get them; another value is refused."""
    world = platform.world("w1", names="original")
    answer = world.session("bearer").get("/11/accounts")

    assert "11" == answer.headers["x-current-api-version"]
    assert "original" == answer.headers["X-Mock-Names"]
    with pytest.raises(ValueError, match="names is 'neutral' or 'original'"):
        platform.world("w2", names=cast("Any", "old"))
    platform.drop_world("w1")


def test_a_world_has_a_wire_of_its_own(platform: PlatformFace) -> None:
    """What is in doubt is chosen by itself; what does not exist is refused with its like."""
    world = platform.world("w1", wire="recorded,missing=200,rules=200")
    with world.session("bearer") as session:
        missing = session.get("/2/users/99")
        made = session.post("/2/posts/search/stream/rules", json={"add": [{"value": "espresso"}]})

    assert (200, 200) == (missing.status_code, made.status_code)
    assert "recorded,missing=200,rules=200" == made.headers["X-Mock-Wire"]
    with pytest.raises(ValueError, match=r"no 'mising', .* Did you mean 'missing'"):
        platform.world("w2", wire="recorded,mising=200")
    platform.drop_world("w1")


@pytest.mark.parametrize(
    "as_of", ["2025-11-18", date(2025, 11, 18), datetime(2025, 11, 18, tzinfo=UTC)]
)
def test_a_world_has_the_contract_of_a_date(platform: PlatformFace, as_of: date | str) -> None:
    """Text, a date or a moment is taken; other worlds keep the contract of the clock."""
    worlds = [platform.world("old", as_of=as_of), platform]
    path = "/2/news/search?query=coffee"

    statuses = [world.session(auth="bearer").get(path).status_code for world in worlds]
    platform.drop_world("old")
    assert [404, 200] == statuses
    for wrong in ("soon", 7, datetime(2026, 3, 1)):  # noqa: DTZ001 - that is what is refused
        with pytest.raises(ValueError, match=r"as_of: .*; a date is 2026-03-01"):
            platform.world("old", as_of=cast("Any", wrong))
    assert "old" not in platform.worlds


def test_a_world_can_be_a_copy(platform: PlatformFace) -> None:
    """With `source` it begins with that world's records."""
    platform.world("w1").state["users"].delete(OTHER)

    assert OTHER not in platform.world("w2", source="w1").state["users"]
    platform.drop_world("w1")
    platform.drop_world("w2")


def test_a_platform_is_the_face_of_its_default_world(platform: PlatformFace) -> None:
    """What is asked of it is asked of `default`."""
    assert "default" == platform.name
    assert platform.base_url.startswith("http://127.0.0.1:")
    assert platform.base_url == platform.ads_base_url
    assert f"{platform.base_url}/sandbox" == platform.ads_sandbox_base_url
    assert f"{platform.base_url}/_mock" == platform.control_url
    assert platform.ca is None
    assert NOON == platform.clock.now()


# -- world ---------------------------------------------------------------------------------------


def test_addresses(platform: PlatformFace, world: WorldFace) -> None:
    """They have the world's prefix."""
    assert f"{platform.base_url}/~{world.name}" == world.base_url == world.ads_base_url
    assert f"{world.base_url}/sandbox" == world.ads_sandbox_base_url
    assert f"{world.base_url}/_mock" == world.control_url


def test_sessions_call_the_world(world: WorldFace) -> None:
    """They sign as asked, and begin at the address asked for."""
    with world.session() as none, world.session("bearer") as bearer:
        statuses = [each.get("/12/accounts").status_code for each in (none, bearer)]
    with world.session("oauth1") as plain, world.session("oauth1", sandbox=True) as sandbox:
        statuses += [each.post("/12/accounts").status_code for each in (plain, sandbox)]

    assert [401, 200, 405, 200] == statuses
    assert 4 == len(world.journal)


def test_credentials_are_those_of_the_world(world: WorldFace) -> None:
    """One app, one user, and what hangs on them."""
    found = world.credentials

    assert ["app", "user", "bearer_token", "accounts", "webhook_id"] == list(found)
    assert USER == found["user"]["id"]


def test_scenarios_are_switched(world: WorldFace) -> None:
    """Activated by name with parameters, seen among the scenarios, switched off by name or all."""

    def active() -> list[str]:
        return [each["name"] for each in world.scenarios if each["active"]]

    world.activate("usage-capped", period="Daily")
    world.activate("outage")
    assert ["outage", "usage-capped"] == active()
    world.deactivate("outage")
    assert ["usage-capped"] == active()
    world.deactivate()
    assert [] == active()


@pytest.mark.parametrize("form", ["yaml", "file", "document"])
def test_scenarios_are_defined(world: WorldFace, tmp_path: Path, form: str) -> None:
    """As YAML, as a file, as a document; an expectation that no request met is reported."""
    file = tmp_path / "down.yaml"
    file.write_text(DOWN)
    respond = {"on": "accounts.list", "then": {"respond": {"status": 503}}, "expect": "fired"}
    document = {"name": "down", "description": "Nothing works.", "rules": [respond]}
    forms = {"yaml": DOWN, "file": file, "document": document}

    name = world.define(forms[form])  # type: ignore[arg-type]
    world.activate(name)
    (unfired,) = world.unfired_expectations()
    status = world.session("bearer").get("/12/accounts").status_code

    assert ("down", "down", 0, 0) == (name, unfired.scenario, unfired.rule, unfired.matched)
    assert (503, []) == (status, world.unfired_expectations())


def test_fixtures_are_laid_over_those_of_the_server(world: WorldFace, tmp_path: Path) -> None:
    """The world begins with them, and a reset returns to them."""
    record = '[{"id": "9", "screen_name": "nine", "name": "Nine"}]'
    (tmp_path / "users.json").write_text(record)
    world.use_fixtures(tmp_path)
    world.state["users"].delete("9")

    world.reset()

    assert "9" in world.state["users"]
    assert USER in world.state["users"]


def test_a_reset_returns_to_the_start(world: WorldFace) -> None:
    """Records, clock, scenarios and journal are as they were."""
    world.state["users"].delete(OTHER)
    world.clock.advance(days=40)
    world.activate("outage")
    world.session("bearer").get("/12/accounts")

    world.reset()

    assert OTHER in world.state["users"]
    assert (NOON, 0) == (world.clock.now(), len(world.journal))
    assert not any(each["active"] for each in world.scenarios)


def test_coverage_has_a_scope(world: WorldFace) -> None:
    """The operations of some patterns alone; a pattern without operation is a mistake."""
    found = world.coverage(only="line_items.list,accounts.*")

    families = {row["id"].partition(".")[0] for row in found["operations"]}
    assert {"line_items", "accounts"} == families
    assert ["line_items.list", "accounts.*"] == found["only"]
    with pytest.raises(BadQuery, match=r"did you mean 'line_items\.\*'"):
        world.coverage(only="line_item.*")
    assert len(world.coverage(only="")["operations"]) == len(world.coverage()["operations"])


def test_costs_are_those_of_the_world(world: WorldFace) -> None:
    """By operation, app, day and test; an entry has its own. Another kind is a mistake."""
    world.session("oauth1").get("/2/users/me")

    found = {by: world.costs(by) for by in ("operation", "app", "day", "test")}
    world.reset()

    assert {"0.010"} == {each["usd"] for each in found.values()}
    keys = [found[by]["items"][0]["key"] for by in ("operation", "day", "test")]
    assert ["users.me", "2026-03-01", world.name] == keys
    assert ("0.000", "0.010") == (world.costs()["usd"], world.costs("test")["usd"])
    world.session("oauth1").get("/2/users/me")
    (entry,) = world.journal.find()
    assert entry.cost == {"usd": "0.010", "resources": 1, "why": "1 x User: Read at 0.010"}
    with pytest.raises(BadQuery, match="operation, test, app, day"):
        world.costs("apps")  # type: ignore[arg-type]


def test_warnings_count_what_was_ignored(world: WorldFace) -> None:
    """The codes of this world with the first example; nothing at the start."""
    account = world.credentials["accounts"][0]
    before = world.warnings()
    world.session("oauth1").get(f"/12/accounts/{account}?zz=1")

    (row,) = world.warnings()["warnings"]

    assert {"requests": 0, "warnings": []} == before
    found = row["code"], row["operation"], row["requests"]
    assert ("unknown-parameter", "accounts.get", 1) == found
    assert f"{world.base_url}/12/accounts/{account}?zz=1" == row["example"]["url"]


def test_a_world_may_refuse_warnings(platform: PlatformFace) -> None:
    """`warnings="error"` holds for this world alone; another value is a mistake on both sides."""
    world = platform.world("careful", warnings="error")
    try:
        statuses = [
            each.session("oauth1").get("/12/accounts?zz=1").status_code
            for each in (world, platform)
        ]
    finally:
        platform.drop_world("careful")

    assert [400, 200] == statuses
    with pytest.raises(ValueError, match="'ignore' or 'error', not 'fatal'"):
        platform.world("other", warnings="fatal")  # type: ignore[arg-type]
    assert "other" not in platform.worlds


def test_coverage_counts_what_was_exercised(world: WorldFace) -> None:
    """The document of the world alone."""
    world.session("bearer").get("/12/accounts")

    called = [each["id"] for each in world.coverage()["operations"] if each["requests"]]

    assert ["accounts.list"] == called


def test_deliveries_are_listed_and_waited_for(world: WorldFace) -> None:
    """Waiting takes any time, longer and shorter than a request may last; without time it asks.

    The long wait comes first: a server that has just begun may still look through the world.
    """
    assert world.wait_for_deliveries(seconds=3600)
    assert world.wait_for_deliveries(seconds=0.5)
    assert world.wait_for_deliveries(seconds=-1)
    assert [] == world.deliveries


def test_a_user_allows_and_denies(world: WorldFace) -> None:
    """A request token gets its verifier, an address the redirect; so does a denial."""
    app = world.credentials["app"]
    callback = app["callback_urls"][0]
    token = {
        "id": "asked", "kind": "request", "state": "pending", "secret": "s", "app_id": app["id"],
        "callback": callback, "created_at": world.clock.now().isoformat(),
    }  # fmt: skip
    world.state["tokens"].put(token)
    query = {
        "response_type": "code", "client_id": app["client_id"], "redirect_uri": callback,
        "scope": "post.read", "code_challenge": "x",
    }  # fmt: skip
    address = f"{world.base_url}/2/oauth2/authorize?{urlencode(query)}"
    verifier = world.authorize("asked", user=OTHER)
    redirect = world.authorize(address)
    denied = world.authorize(address, deny=True)

    asked = world.state["tokens"].get("asked")
    assert asked is not None
    assert verifier == asked["verifier"]
    code = redirect.removeprefix(f"{callback}?code=")
    issued = world.state["tokens"].get(code)
    assert issued is not None
    assert USER == issued["user_id"]
    assert denied.startswith(f"{callback}?error=access_denied&")


def test_streams_are_listed_silenced_and_ended(world: WorldFace) -> None:
    """A stream is listed, gets what happens, and ends on request."""
    world.clock.travel("2026-07-01T12:00:00Z")
    with world.session("bearer") as session:
        answer = session.get("/2/activity/stream", stream=True)
        lines = (line for line in answer.iter_lines() if line)
        (stream,) = world.streams.list()
        event = world.emit("profile.update.bio", user="2244994945", payload={"after": "Tea."})
        line = json.loads(next(lines))

        assert ("activity_stream", 0) == (stream["endpoint"], stream["lines"])
        assert {"kind": "stream", "id": stream["id"], "endpoint": "activity_stream"} in (
            event["outlets"]
        )
        assert event["activity"]["event_uuid"] == line["data"]["event_uuid"]
        assert [line] == [each["body"] for each in world.deliveries if each["kind"] == "stream"]
        assert [stream["id"]] == world.streams.stall(seconds=0)
        assert [stream["id"]] == world.streams.disconnect(stream["id"])
        assert ["OperationalDisconnect"] == [
            json.loads(rest)["errors"][0]["disconnect_type"] for rest in lines
        ]
        assert [] == world.streams.list()


def test_a_world_returns_to_its_snapshots(world: WorldFace) -> None:
    """A snapshot is listed, replaced, returned to and deleted by its name."""
    world.state["users"].delete(OTHER)
    taken = [world.snapshots.save(name) for name in ("one", "two", "one")]
    world.state["users"].delete(USER)
    world.clock.advance(hours=1)

    world.snapshots.restore("one")

    assert ["one", "two", "one"] == [each["name"] for each in taken]
    assert ["2026-03-01T12:00:00.000Z"] * 3 == [each["at"] for each in taken]
    assert all(each["changed_records"] > 0 for each in taken)
    assert (True, False) == (USER in world.state["users"], OTHER in world.state["users"])
    assert (NOON, ["one", "two"]) == (world.clock.now(), world.snapshots.list())
    world.snapshots.delete("one")
    assert ["two"] == world.snapshots.list()


def test_slow_states_move_as_they_are_told(world: WorldFace) -> None:
    """What is not named stays as it was; a pace holds for records under way, a move for one."""
    before = world.transitions.list()["do_not_reach_list"]

    manual = world.transitions.set("do_not_reach_list", progression="manual")
    (key,) = manual["under_way"]
    reached = world.transitions.move("do_not_reach_list", key, "PROCESSED")
    again = world.transitions.move("do_not_reach_list", key, "PROCESSING")
    slow = world.transitions.set("do_not_reach_list", progression="time", seconds=60, polls=3)
    world.clock.advance(59)
    waiting = world.transitions.list()["do_not_reach_list"]
    world.clock.advance(1)

    assert before | {"progression": "manual"} == manual
    assert ("PROCESSED", "PROCESSING") == (reached, again)
    assert manual | {"progression": "time", "seconds": 60, "polls": 3} == slow == waiting
    assert slow | {"under_way": []} == world.transitions.list()["do_not_reach_list"]


def test_records_are_made(world: WorldFace) -> None:
    """The answer has the ids, oldest first; the records are there, spread over the time."""
    made = world.make("users", 3, location="Lima", spread=timedelta(days=2), seed=7)

    users = [world.state["users"].get(key) or {} for key in made["ids"]]
    assert ("users", 3) == (made["table"], made["made"])
    assert ["Lima"] * 3 == [user["location"] for user in users]
    assert sorted(each["created_at"] for each in users) == [each["created_at"] for each in users]
    assert "2026-02-27T12" <= users[0]["created_at"] < users[2]["created_at"] <= "2026-03-01T12"


# -- clock ---------------------------------------------------------------------------------------


def test_the_clock_obeys(world: WorldFace) -> None:
    """Freeze, travel, advance and resume do what they say, and return the new moment."""
    clock = world.clock

    assert (NOON, True) == (clock.now(), clock.frozen)
    moved = clock.advance(days=1, hours=2, minutes=3, seconds=4.5)
    assert NOON + timedelta(days=1, hours=2, minutes=3, seconds=4.5) == moved
    assert NOON == clock.travel(NOON)
    assert NOON + timedelta(hours=1) == clock.advance("1h")
    assert NOON == clock.advance(-3600) == clock.advance(timedelta())
    assert NOON < clock.travel("now")
    clock.travel(NOON)
    assert datetime(2027, 1, 1, tzinfo=UTC) == clock.freeze("2027-01-01") == clock.now()
    assert clock.resume() >= datetime(2027, 1, 1, tzinfo=UTC)
    assert not clock.frozen
    assert clock.freeze() == clock.now()
    clock.travel("2099-01-01")
    feed = clock.advance(to="next")
    at = datetime(2099, 1, 4, 12, 30, tzinfo=UTC)
    assert [(at, "feed", "scheduled_feeds")] == [each[:3] for each in feed]
    assert clock.now() == at
    with pytest.raises(NothingDue, match="Nothing is due in the world"):
        clock.advance(to="next")
    noon = datetime(2026, 3, 1, 13, tzinfo=timezone(timedelta(hours=1)))
    assert (True, NOON) == (clock.frozen, clock.freeze(noon))


# -- journal -------------------------------------------------------------------------------------


def test_the_journal_is_searched(world: WorldFace) -> None:
    """Entries are found by what they were, counted, read and cleared."""
    world.activate("answer-lost", on="cards_poll.create")
    with world.session("oauth1") as session:
        last = session.get("/12/accounts")
        session.get("/12/nowhere")
        session.delete(f"/12/accounts/{world.credentials['accounts'][0]}/line_items/x")
    journal = world.journal

    assert ["accounts.list", None, "line_items.delete"] == [e.operation for e in journal]
    assert 3 == len(journal) == journal.count() == len(journal.find())
    assert [404, 404] == [entry.status for entry in journal.find(status=404)]
    assert [404] == [entry.status for entry in journal.find(method="delete", limit=1)]
    assert [None, "line_items.delete"] == [entry.operation for entry in journal.find(limit=2)]
    assert ["/12/nowhere"] == [e.url[-11:] for e in journal.find(path="nowhere")]
    assert (1, 0) == (journal.count(operation="accounts.list"), journal.count(rule="answer-lost"))
    assert (3, 3) == (journal.count(since=NOON), journal.count(since="2026-03-01T12:00:00Z"))
    assert 0 == journal.count(since=NOON + timedelta(microseconds=1))
    assert 3 == journal.count(operation=None, path="")
    found = journal.get(last.headers["X-Mock-Request-Id"])
    assert found is not None
    assert "accounts.list" == found.operation
    assert None is journal.get("r0") is journal.get("count") is journal.get("")
    journal.clear()
    assert [] == list(journal)


def test_an_entry_tells_the_same(world: WorldFace) -> None:
    """What happened, who called, what changed, what was sent and answered."""
    with world.session("oauth1", sandbox=True) as session:
        answer = session.post("/12/accounts", headers={"X-Own": "1"})

    (entry,) = world.journal

    assert (world.name, "POST", 200) == (entry.world, entry.method, entry.status)
    assert (NOON, "accounts.create") == (entry.at, entry.operation)
    assert entry.caller is not None
    assert "oauth1" == entry.caller["scheme"]
    account = answer.json()["data"]["id"]
    (change,) = [each for each in entry.changes if each.table == "accounts"]
    assert (account, "created", True) == (change.key, change.kind, "name" in change.fields)
    assert (answer.content, b"") == (entry.response_body, entry.request_body)
    assert ("X-Own", "1") in entry.request_headers
    assert ("Content-Type", answer.headers["Content-Type"]) in entry.response_headers
    assert entry.milliseconds == entry.handler_milliseconds > 0
    assert ({"how": "complete", "bytes": len(answer.content)}, None) == (entry.ended, entry.why)
    assert 1 == world.journal.count(ended="complete")
    assert ([], [], None, None, None) == (
        list(entry.warnings), entry.near_misses, entry.rule, entry.diagnosis, entry.traceback,
    )  # fmt: skip
    assert entry.assumptions == answer.headers["X-Mock-Assumptions"].split(",")
    assert entry.id == entry.as_json()["id"]


# -- state ---------------------------------------------------------------------------------------


def test_state_is_a_mapping(world: WorldFace) -> None:
    """Names of tables, and tables by name."""
    state = world.state

    assert [table.name for table in TABLES] == list(state) == list(state.keys())
    assert len(TABLES) == len(state)
    assert ("accounts" in state, "acounts" in state) == (True, False)
    assert [table.name for table in state.values()] == list(state)
    assert [(name, table.name) for name, table in state.items()] == [(n, n) for n in state]
    accounts = state.get("accounts")
    assert accounts is not None
    assert ("accounts", None) == (accounts.name, state.get("acounts"))  # type: ignore[arg-type]


def test_records_are_read_and_changed(world: WorldFace) -> None:
    """All, one, put, patch, delete; iteration, length and membership."""
    users = world.state["users"]

    stored = users.put({"id": "9", "screen_name": "nine", "name": "Nine"})
    assert "9" == stored["id"]
    assert {**stored, "name": "New"} == users.patch("9", {"name": "New"}) == users.get("9")
    assert ["9"] == [each["id"] for each in users if each["name"] == "New"]
    assert list(users) == users.all()
    assert (len(users.all()), True, False) == (len(users), "9" in users, 9 in users)
    users.delete("9")
    assert (None, False) == (users.get("9"), "9" in users)
    assert None is users.get("") is users.get("a/b?c#d")


def test_a_record_is_put_under_its_own_key(world: WorldFace) -> None:
    """The field that a table's key is in, or the key passed next to the record."""
    named = world.state["users"].put({"name": "A"}, key="a/b c%2F", unchecked=True)
    odd = world.state["products"].put({"product_key": "p1", "odd": None}, unchecked=True)

    assert ("a/b c%2F", "p1") == (named["id"], odd["product_key"])
    assert named == world.state["users"].get("a/b c%2F")
    assert {"product_key": "p1", "odd": None} == world.state["products"].get("p1")


def test_a_whole_world_comes_out_and_goes_in(world: WorldFace) -> None:
    """What `dump` returned, `load` takes back."""
    before = world.state.dump()
    world.state["users"].delete(OTHER)

    world.state.load(before)

    assert before == world.state.dump()
    assert OTHER in world.state["users"]


def test_a_case_of_either_kind(world: WorldFace, tmp_path: Path) -> None:
    """The same bytes are written by both, but for the moment, to a file of its owner alone."""
    answer = world.session(auth="oauth1").post("/2/posts", json={"text": "Hi"})
    path = world.save_case(tmp_path / "deep" / "case.zip")
    path.chmod(0o644)

    assert path == world.save_case(str(path))
    assert 0o600 == path.stat().st_mode & 0o777
    with MockPlatform.open_case(path) as again:
        assert [answer.content] == [entry.response_body for entry in again.journal]
        assert [] == again.differences
        sessions = [each.session(auth="oauth1") for each in (world, again)]
        made = [each.post("/2/posts", json={"text": "Next"}).json() for each in sessions]
        assert made[0]["data"]["id"] == made[1]["data"]["id"]
        again.reset()
        assert 0 == len(again.journal)
        assert [*again.state["posts"]] == [*again.world("new").state["posts"]]


def test_a_collection_in_a_file(world: WorldFace, tmp_path: Path) -> None:
    """The file with a collection's records is read where the scenario is."""
    (tmp_path / "lists.json").write_text('[{"id": "1", "name": "Roasters"}]')
    (tmp_path / "mine.yaml").write_text(
        "name: mine\nrules: [{on: /2/shops, then: {collection: lists.json}}]\n"
    )
    world.activate(world.define(tmp_path / "mine.yaml"))

    answer = world.session(auth=None).get("/2/shops/1")

    assert {"data": {"id": "1", "name": "Roasters"}} == answer.json()
    (entry,) = world.journal.find(path="/2/shops")
    assert (None, "GET /2/shops/:id") == (entry.operation, entry.custom)


def test_a_post_in_the_form_of_the_interface_is_stored(world: WorldFace) -> None:
    """Its key follows from its id, so it needs none of its own."""
    stored = world.state["posts"].put({"id": "5", "text": "Tea", "author_id": "2244994945"})

    assert ("Tea", "5") == (stored["full_text"], stored["post_id"])
