"""Every mistake that the interface reports: the same exception here and elsewhere."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from mock_platform import MockPlatform
from mock_platform.client.interface import PlatformFace, WorldFace
from mock_platform.core.auth.tester_access import CannotApprove
from mock_platform.core.errors import (
    BadEvent,
    BadFixtures,
    BadParameters,
    BadQuery,
    BadRecord,
    BadScenario,
    BadSnapshotName,
    CannotPerform,
    MissingCredentials,
    NoSuchAttribute,
    TooManySnapshots,
    UnknownRecord,
    UnknownScenario,
    UnknownSnapshot,
    UnknownStream,
    UnknownTable,
    UnknownTransition,
)
from mock_platform.core.snapshots import MAX_SNAPSHOTS
from mock_platform.world.names import BadWorldName, TooManyWorlds, UnknownWorld
from tests.support import find_inner

USER = "2244994945"
NAIVE = datetime(2026, 3, 1, 12)  # noqa: DTZ001 - the mistake
EMPTY = Path(__file__).parent
"""A folder without fixture files."""
RULE = {"on": "accounts.list", "then": {"error": "OVER_CAPACITY"}}

Mistake = Callable[[Any], object]


def _too_many(platform: PlatformFace) -> None:
    platform.world("w2")
    platform.world("w3")


def _without_tokens(world: WorldFace, scheme: Any) -> None:
    for token in world.state["tokens"]:
        world.state["tokens"].delete(token["id"])
    world.session(scheme)


def _define_active(world: WorldFace) -> None:
    world.activate("usage-capped", period="Daily")
    world.define({"name": "usage-capped", "rules": [RULE]})


def _save_too_many(world: WorldFace) -> None:
    for number in range(MAX_SNAPSHOTS + 1):
        world.snapshots.save(f"s{number}")


def _return_to_another(world: WorldFace) -> None:
    world.snapshots.save("before")
    world.snapshots.restore("befor")


IN_PLATFORM: dict[str, tuple[type[Exception], Mistake]] = {
    "a name that no world can have": (BadWorldName, lambda p: p.world("w 1")),
    "a name that is a path": (BadWorldName, lambda p: p.world("../health")),
    "an empty name": (BadWorldName, lambda p: p.world("")),
    "a copy of nothing": (UnknownWorld, lambda p: p.world("w2", source="nowhere")),
    "more worlds than may be": (TooManyWorlds, _too_many),
    "a start that is no moment": (ValueError, lambda p: p.world("w2", freeze="noon")),
    "a start without offset": (ValueError, lambda p: p.world("w2", freeze=NAIVE)),
    "a start out of bounds": (ValueError, lambda p: p.world("w2", freeze="9500-01-01")),
    "a start of another type": (TypeError, lambda p: p.world("w2", freeze=5)),
    "a seed of another type": (TypeError, lambda p: p.world("w2", seed="5")),
    "a seed beyond all bounds": (ValueError, lambda p: p.world("w2", seed=2**63)),
    "dropping what is not there": (UnknownWorld, lambda p: p.drop_world("nowhere")),
    "dropping what cannot be": (UnknownWorld, lambda p: p.drop_world("../state/users/1")),
    "dropping the default world": (ValueError, lambda p: p.drop_world("default")),
}
IN_WORLD: dict[str, tuple[type[Exception], Mistake]] = {
    "opening an address": (ValueError, lambda w: w.session(passthrough=["http://example.com"])),
    "opening a port": (ValueError, lambda w: w.session(passthrough=["example.com:80"])),
    "opening hosts as text": (TypeError, lambda w: w.session(passthrough="example.com")),
    "freezing at no moment": (ValueError, lambda w: w.clock.freeze("noon")),
    "freezing without offset": (ValueError, lambda w: w.clock.freeze(NAIVE)),
    "freezing out of bounds": (ValueError, lambda w: w.clock.freeze("1901-01-01")),
    "freezing at a number": (TypeError, lambda w: w.clock.freeze(5)),
    "travelling to no moment": (ValueError, lambda w: w.clock.travel("2026-W01-1")),
    "travelling out of bounds": (ValueError, lambda w: w.clock.travel("9500-01-01")),
    "advancing to no date": (OverflowError, lambda w: w.clock.advance(days=3_000_000)),
    "advancing by too much": (OverflowError, lambda w: w.clock.advance(days=1e20)),
    "advancing out of bounds": (ValueError, lambda w: w.clock.advance(days=-300_000)),
    "advancing by no number": (ValueError, lambda w: w.clock.advance(hours=float("nan"))),
    "advancing by no duration": (ValueError, lambda w: w.clock.advance("soon")),
    "advancing twice": (TypeError, lambda w: w.clock.advance("1h", hours=1)),
    "advancing to next and on": (TypeError, lambda w: w.clock.advance("1h", to="next")),
    "advancing to a moment": (ValueError, lambda w: w.clock.advance(to="now")),
    "advancing by text": (TypeError, lambda w: w.clock.advance(hours="1")),
    "finding an unknown operation": (BadQuery, lambda w: w.journal.find(operation="account.list")),
    "finding an unknown method": (BadQuery, lambda w: w.journal.find(method="FETCH")),
    "finding an impossible status": (BadQuery, lambda w: w.journal.find(status=9)),
    "finding a status that is text": (BadQuery, lambda w: w.journal.find(status="ok")),
    "finding less than nothing": (BadQuery, lambda w: w.journal.find(limit=-1)),
    "finding since no moment": (ValueError, lambda w: w.journal.find(since="noon")),
    "finding by an unknown name": (TypeError, lambda w: w.journal.find(methd="GET")),
    "finding an unknown scenario": (BadQuery, lambda w: w.journal.find(rule="answer-loss")),
    "counting a rule that is not there": (BadQuery, lambda w: w.journal.count(rule="outage/9")),
    "counting an unknown operation": (BadQuery, lambda w: w.journal.count(operation="x")),
    "counting with a limit": (TypeError, lambda w: w.journal.count(limit=1)),
    "an unknown table": (UnknownTable, lambda w: w.state["acounts"]),
    "a key that is a number": (TypeError, lambda w: w.state["users"].get(2244994945)),
    "a post of nobody": (
        BadRecord,
        lambda w: w.state["posts"].put({"id": "5", "text": "x", "author_id": "nobody"}),
    ),
    "an unknown field": (BadRecord, lambda w: w.state["users"].put({"id": "9", "nme": "N"})),
    "a record without a key": (BadRecord, lambda w: w.state["users"].put({"name": "N"})),
    "an unchecked one without": (
        BadRecord,
        lambda w: w.state["products"].put({"id": "1"}, unchecked=True),
    ),
    "two keys": (BadRecord, lambda w: w.state["users"].put({"id": "8"}, key="9")),
    "no object": (BadRecord, lambda w: w.state["users"].put([1])),
    "no JSON": (BadRecord, lambda w: w.state["users"].put({"id": "9", "name": {1}})),
    "a reference to nothing": (
        BadRecord,
        lambda w: w.state["webhooks"].patch(w.credentials["webhook_id"], {"_app_id": "0"}),
    ),
    "a patch of nothing": (UnknownRecord, lambda w: w.state["users"].patch("224499494", {})),
    "a patch of no key": (UnknownRecord, lambda w: w.state["users"].patch("", {"id": ""})),
    "a patch with faults": (BadRecord, lambda w: w.state["users"].patch(USER, {"name": 5})),
    "deleting nothing": (UnknownRecord, lambda w: w.state["users"].delete("224499494")),
    "deleting no key": (UnknownRecord, lambda w: w.state["users"].delete("")),
    "deleting a number": (TypeError, lambda w: w.state["users"].delete(1)),
    "a state without tables": (BadRecord, lambda w: w.state.load({})),
    "a state that is none": (BadRecord, lambda w: w.state.load(None)),
    "a state with faults": (
        BadRecord,
        lambda w: w.state.load({"tables": {"users": [{}], "x": []}, "clock": 5}),
    ),
    "making in an unknown table": (UnknownTable, lambda w: w.make("user")),
    "making none": (BadRecord, lambda w: w.make("users", 0)),
    "making a number that is text": (BadRecord, lambda w: w.make("users", "5")),
    "making too many": (BadRecord, lambda w: w.make("users", 100_001)),
    "making with an unknown field": (BadRecord, lambda w: w.make("users", 2, nme="N")),
    "making with a value that cannot be": (BadRecord, lambda w: w.make("users", 2, name=5)),
    "making with no JSON": (TypeError, lambda w: w.make("users", name={1})),
    "making from no seed": (TypeError, lambda w: w.make("users", seed="5")),
    "making from too large a seed": (ValueError, lambda w: w.make("users", seed=2**63)),
    "an event of no type": (BadEvent, lambda w: w.emit("ProfileBoiUpdate", user=USER)),
    "an event of an unknown user": (BadEvent, lambda w: w.emit("ProfileBioUpdate", user="5")),
    "an event of the future": (
        BadEvent,
        lambda w: w.emit("ProfileBioUpdate", user=USER, created_at="8000-01-01T00:00:00Z"),
    ),
    "allowing nothing": (CannotApprove, lambda w: w.authorize("none")),
    "allowing an address": (CannotApprove, lambda w: w.authorize("http://a.example/?x=1")),
    "allowing as nobody": (CannotApprove, lambda w: w.authorize("none", user="nobody")),
    "a table as an attribute": (NoSuchAttribute, lambda w: w.state.lineitems),
    "no duration": (TypeError, lambda w: w.clock.advance()),
    "an event whose payload is a text": (BadEvent, lambda w: w.emit("post.create", payload="x")),
    "an event of a misspelt user": (BadEvent, lambda w: w.emit("post.create", user="northbike")),
    "a scenario file that is not there": (BadScenario, lambda w: w.define("no.yaml")),
    "fixtures of an empty folder": (BadFixtures, lambda w: w.use_fixtures(EMPTY)),
    "an attribute of other tools": (AttributeError, lambda w: w.requests),
    "a misspelt attribute": (AttributeError, lambda w: w.jornal),
    "ending no stream": (UnknownStream, lambda w: w.streams.disconnect("x")),
    "ending no stream with a query": (UnknownStream, lambda w: w.streams.disconnect("x?y")),
    "an unknown way to end": (ValueError, lambda w: w.streams.disconnect(disconnect_type="Bye")),
    "an unknown fault": (ValueError, lambda w: w.streams.disconnect(fault="flood")),
    "silencing no stream": (UnknownStream, lambda w: w.streams.stall("x", seconds=1)),
    "silence before now": (ValueError, lambda w: w.streams.stall(seconds=-1)),
    "silence for more than a day": (ValueError, lambda w: w.streams.stall(seconds=86401)),
    "a snapshot of no name": (BadSnapshotName, lambda w: w.snapshots.save("")),
    "a snapshot whose name is a path": (BadSnapshotName, lambda w: w.snapshots.save("../reset")),
    "a snapshot named by a number": (TypeError, lambda w: w.snapshots.save(1)),
    "more snapshots than may be": (TooManySnapshots, _save_too_many),
    "returning to a misspelt snapshot": (UnknownSnapshot, _return_to_another),
    "returning to what cannot be": (UnknownSnapshot, lambda w: w.snapshots.restore("a/../b")),
    "returning to a number": (TypeError, lambda w: w.snapshots.restore(1)),
    "deleting no snapshot": (UnknownSnapshot, lambda w: w.snapshots.delete("none")),
    "a pace of no kind": (UnknownTransition, lambda w: w.transitions.set("replay_jb")),
    "a pace of what cannot be a kind": (UnknownTransition, lambda w: w.transitions.set("a/b?c")),
    "a pace of a number": (TypeError, lambda w: w.transitions.set(1)),
    "an unknown progression": (ValueError, lambda w: w.transitions.set("space", progression="x")),
    "seconds that are a text": (ValueError, lambda w: w.transitions.set("space", seconds="2m")),
    "seconds below none": (ValueError, lambda w: w.transitions.set("space", seconds=-1)),
    "too many seconds": (ValueError, lambda w: w.transitions.set("space", seconds=10**9 + 1)),
    "polls that are no number": (ValueError, lambda w: w.transitions.set("space", polls="1")),
    "too many polls": (ValueError, lambda w: w.transitions.set("space", polls=10**6 + 1)),
    "moving of no kind": (UnknownTransition, lambda w: w.transitions.move("spce", "1", "live")),
    "moving to no state": (ValueError, lambda w: w.transitions.move("space", "1", "alive")),
    "moving to a number": (TypeError, lambda w: w.transitions.move("space", "1", 1)),
    "moving no record": (UnknownTransition, lambda w: w.transitions.move("space", "1/2", "live")),
    "moving no id": (UnknownTransition, lambda w: w.transitions.move("space", "", "live")),
    "moving a path": (UnknownTransition, lambda w: w.transitions.move("space", "..", "live")),
    "moving what is a number": (TypeError, lambda w: w.transitions.move("space", 1, "live")),
    "a third kind of session": (ValueError, lambda w: w.session("basic")),
    "no token to sign with": (MissingCredentials, lambda w: _without_tokens(w, "oauth1")),
    "no token of OAuth 2.0": (MissingCredentials, lambda w: _without_tokens(w, "oauth2")),
    "no token to send": (MissingCredentials, lambda w: _without_tokens(w, "bearer")),
    "activating what is not there": (UnknownScenario, lambda w: w.activate("usage-caped")),
    "activating what cannot be": (UnknownScenario, lambda w: w.activate("../reset?")),
    "an unknown parameter": (BadParameters, lambda w: w.activate("usage-capped", perod="Daily")),
    "a value that does not fit": (BadParameters, lambda w: w.activate("rate-limited", limit="x")),
    "a value that is no JSON": (TypeError, lambda w: w.activate("rate-limited", on={1})),
    "deactivating what is not there": (UnknownScenario, lambda w: w.deactivate("usage-caped")),
    "YAML that cannot be read": (BadScenario, lambda w: w.define("name: [")),
    "YAML with faults": (BadScenario, lambda w: w.define("name: down\nrules:\n  - on: acounts\n")),
    "a document without a name": (BadScenario, lambda w: w.define({"rules": [RULE]})),
    "a document of no operation": (
        BadScenario,
        lambda w: w.define({"name": "x", "rules": [RULE | {"on": "x.y"}]}),
    ),
    "a document that is no object": (BadScenario, lambda w: w.define([1])),
    "a file that is not there": (Exception, lambda w: w.define(Path("nowhere.yaml"))),
    "a new version that does not fit": (BadParameters, _define_active),
    "fixtures that are not there": (BadFixtures, lambda w: w.use_fixtures("nowhere")),
}
GONE: dict[str, Mistake] = {
    "clock": lambda w: w.clock.now(), "journal": lambda w: w.journal.find(),
    "state": lambda w: w.state["users"].all(), "dump": lambda w: w.state.dump(),
    "credentials": lambda w: w.credentials, "deliveries": lambda w: w.deliveries,
    "streams": lambda w: w.streams.list(), "emit": lambda w: w.emit("ProfileBioUpdate", user=USER),
    "make": lambda w: w.make("users"), "session": lambda w: w.session("oauth1"),
    "activate": lambda w: w.activate("outage"), "deactivate": lambda w: w.deactivate(),
    "define": lambda w: w.define({"name": "x", "rules": [RULE]}),
    "scenarios": lambda w: w.scenarios, "unfired": lambda w: w.unfired_expectations(),
    "reset": lambda w: w.reset(), "snapshots": lambda w: w.snapshots.list(),
    "save": lambda w: w.snapshots.save("s"), "restore": lambda w: w.snapshots.restore("s"),
    "transitions": lambda w: w.transitions.list(), "pace": lambda w: w.transitions.set("space"),
    "move": lambda w: w.transitions.move("space", "1", "live"),
}  # fmt: skip


def _raised(act: Mistake, on: object) -> Exception:
    with pytest.raises(Exception) as raised:  # noqa: PT011 - which one is compared
        act(on)
    return raised.value


def _same(kind: type[Exception], here: Exception, elsewhere: Exception) -> None:
    if kind is not Exception:
        assert kind is type(here), here
    assert (type(here), str(here), vars(here)) == (
        type(elsewhere), str(elsewhere), vars(elsewhere),
    )  # fmt: skip


@pytest.mark.parametrize("mistake", IN_PLATFORM)
def test_mistakes_with_a_platform(local: PlatformFace, remote: PlatformFace, mistake: str) -> None:
    """Class, text and attributes of the exception are the same on both."""
    kind, act = IN_PLATFORM[mistake]
    found = []
    for platform in (local, remote):
        platform.world("w1")
        found.append(_raised(act, platform))
        for name in platform.worlds[1:]:
            platform.drop_world(name)

    _same(kind, *found)


@pytest.mark.parametrize("mistake", IN_WORLD)
def test_mistakes_with_a_world(local: PlatformFace, remote: PlatformFace, mistake: str) -> None:
    """Class, text and attributes of the exception are the same on both."""
    kind, act = IN_WORLD[mistake]
    found = []
    for platform in (local, remote):
        found.append(_raised(act, platform.world("w")))
        platform.drop_world("w")

    _same(kind, *found)


def test_a_server_that_cannot_break_connections() -> None:
    """A scenario that needs it is refused on both."""
    with MockPlatform.start() as local, MockPlatform.connect(local.base_url) as remote:
        find_inner(local).disable_connections()
        found = [_raised(lambda p: p.activate("answer-lost"), each) for each in (local, remote)]

    _same(CannotPerform, *found)


@pytest.mark.parametrize("asked", GONE)
def test_a_world_that_is_gone(platform: PlatformFace, asked: str) -> None:
    """Whatever is asked of it, it does not exist; one made later under its name answers."""
    world = platform.world("w")
    platform.drop_world("w")

    assert UnknownWorld is type(_raised(GONE[asked], world))
    platform.world("w")
    if asked != "journal":
        world.reset()
    platform.drop_world("w")


def test_parts_of_a_world_that_is_gone(platform: PlatformFace) -> None:
    """What was taken of it before does not exist either."""
    world = platform.world("w")
    parts = world.snapshots, world.transitions
    platform.drop_world("w")

    assert [UnknownWorld] * 2 == [type(_raised(lambda part: part.list(), each)) for each in parts]


def test_an_existing_world_warns_of_what_it_has_otherwise() -> None:
    """Here and on a server elsewhere, with the same text; it does not change."""
    with MockPlatform.start() as local, MockPlatform.connect(local.base_url) as remote:
        local.world("w1", seed=5)
        for platform in (local, remote):
            platform.world("w1", seed=5)
            with pytest.warns(UserWarning, match="'w1' exists .*: seed is 5, not 6. Drop it first"):
                platform.world("w1", seed=6)


def test_a_mistake_names_what_was_meant(remote: PlatformFace) -> None:
    """Whether it is a table, a user, or where fixture files belong."""
    world = remote.world("w")
    told: dict[str, Callable[[], object]] = {
        # By `getattr`, because mypy would refuse the attribute that does not exist.
        "Did you mean state['line_items']?": lambda: getattr(world.state, "lineitems"),  # noqa: B009
        "Did you mean 'northbike_co'?": lambda: world.emit("post.create", user="northbike"),
        "Did you mean 'before'?": lambda: _return_to_another(world),
        "Did you mean 'replay_job'?": lambda: world.transitions.set("replay_jb"),
        "those are TABLE.json, in the folder itself": lambda: world.use_fixtures(EMPTY),
    }
    for text, act in told.items():
        with pytest.raises(Exception, match=re.escape(text)):
            act()
    remote.drop_world("w")


@pytest.mark.parametrize(
    ("event_type", "user"), [("profile.update.boi", None), ("post.create", "northbike")]
)
def test_a_payload_is_not_asked_for_beside_another_mistake(
    remote: PlatformFace, event_type: Any, user: str | None
) -> None:
    """Without that mistake one would be made up."""
    with pytest.raises(BadEvent) as told:
        remote.emit(event_type, user=user)

    assert ["user_id" if user else "event_type"] == [field for field, _ in told.value.faults]


def test_a_scenario_file_may_be_named_by_a_text(platform: PlatformFace, tmp_path: Path) -> None:
    """Anything else that is a text is YAML."""
    file = tmp_path / "calm.yaml"
    file.write_text("name: calm\nrules: [{on: accounts.list, then: {delay: 0}}]")

    assert "calm" == platform.define(str(file)) == platform.define(file.read_text())
