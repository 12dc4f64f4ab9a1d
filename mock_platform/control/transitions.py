"""How slow states move in a world: read, paced, moved by hand."""

from __future__ import annotations

from typing import Any

from marshmallow import Schema

from mock_platform.control.refusal import Refusal, did_you_mean, faulty
from mock_platform.control.route import ControlRequest
from mock_platform.core.description.schemas import Converter
from mock_platform.core.fields import Between, Choice, Integer, Number, Text
from mock_platform.platform import Platform
from mock_platform.world.transitions import PROGRESSIONS, Kind
from mock_platform.world.world import World


class PaceBody(Schema):
    """How fast a kind moves; what is absent stays as it is."""

    progression = Choice(PROGRESSIONS)
    seconds = Number(validate=[Between(0, 10**9)], metadata={"description": "under `time`"})
    polls = Integer(low=1, high=10**6, metadata={"description": "under `polls`"})


class MoveBody(Schema):
    """Where to move a record."""

    to = Text(required=True)


def move_form(platform: Platform, _converter: Converter) -> dict[str, Any]:
    """What the description says of `MoveBody`: the states that the kinds have."""
    kinds = platform.worlds.default.transitions.kinds.values()
    states = dict.fromkeys(state for kind in kinds for state in kind.states)
    return {
        "type": "object",
        "properties": {"to": {"type": "string", "enum": [*states]}},
        "required": ["to"],
        "additionalProperties": False,
    }


class MoveAnswer(Schema):
    """Where a record stands now."""

    kind = Text(required=True)
    id = Text(required=True)
    state = Text(required=True)


def list_transitions(request: ControlRequest) -> dict[str, Any]:
    """Each kind by name: its pace, its states, and what is under way."""
    return _shown(request.world)


def put_transition(request: ControlRequest) -> dict[str, Any]:
    """Set how fast a kind moves, for records under way as well."""
    world = request.world
    kind = _kind(world, request.args["kind"])
    with world.work():
        world.transitions.set_pace(kind.name, **request.body)
        world.transitions.settle_all(kind.name)
    shown: dict[str, Any] = _shown(world)[kind.name]
    return shown


def move(request: ControlRequest) -> dict[str, Any]:
    """Move one record now, whatever its pace."""
    world, key, to = request.world, request.args["key"], request.body["to"]
    kind = _kind(world, request.args["kind"])
    if to not in kind.states:
        allowed = ", ".join(kind.states)
        text = f"{kind.name} has no state {to!r}; its states: {allowed}"
        raise faulty(422, [("to", text)], "The record was not moved")
    with world.work():
        if world.store.get(kind.table, key) is None:
            raise Refusal(404, f"{kind.table} holds no record {key!r}.")
        world.transitions.move(kind.name, key, to)
        record = world.store.get(kind.table, key) or {}
    return {"kind": kind.name, "id": key, "state": kind.state_of(record)}


def _kind(world: World, name: str) -> Kind:
    kinds = world.transitions.kinds
    if name not in kinds:
        known = ", ".join(sorted(kinds)) or "none"
        hint = did_you_mean(name, kinds)
        raise Refusal(404, f"There is no kind of transition {name!r}.{hint} Kinds: {known}.")
    return kinds[name]


def _shown(world: World) -> dict[str, Any]:
    with world.work():
        for name in world.transitions.kinds:
            world.transitions.settle_all(name)
        return world.transitions.as_json()
