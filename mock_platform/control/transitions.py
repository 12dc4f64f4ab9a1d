"""Transitions of a world: read their state, set their progression, move one record."""

from __future__ import annotations

from typing import Any

from mock_platform.control.clock import Duration
from mock_platform.control.refusals import ControlRefusal, refuse_values
from mock_platform.control.route import ControlRequest, Route
from mock_platform.core.description.schemas import Converter
from mock_platform.core.errors import did_you_mean
from mock_platform.core.fields import Choice, Integer, Text
from mock_platform.core.schema import Schema
from mock_platform.core.validators import Between
from mock_platform.platform import Platform
from mock_platform.world.transitions import PROGRESSIONS, TransitionKind
from mock_platform.world.world import World


class PaceBody(Schema):
    """The progression of a kind; absent values do not change."""

    progression = Choice(PROGRESSIONS)
    seconds = Duration(validate=[Between(0, 10**9)], metadata={"description": "under `time`"})
    polls = Integer(low=1, high=10**6, metadata={"description": "under `polls`"})


class MoveBody(Schema):
    """The state to which a record is moved."""

    to = Text(required=True)


def move_form(platform: Platform, _converter: Converter) -> dict[str, Any]:
    """Return the description of `MoveBody`: the states of the kinds."""
    kinds = platform.worlds.blueprint.kinds
    states = dict.fromkeys(state for kind in kinds for state in kind.states)
    return {
        "type": "object",
        "properties": {"to": {"type": "string", "enum": [*states]}},
        "required": ["to"],
        "additionalProperties": False,
    }


class MoveAnswer(Schema):
    """The current state of a record."""

    kind = Text(required=True)
    id = Text(required=True)
    state = Text(required=True)


def list_transitions(request: ControlRequest) -> dict[str, Any]:
    """Each kind by name: its progression, its states, and the records that are changing."""
    return _describe_transitions(request.world)


def put_transition(request: ControlRequest) -> dict[str, Any]:
    """Set the progression of a kind, also for records that are already changing."""
    world = request.world
    kind = require_kind(world, request.args["kind"])
    with world.work():
        world.transitions.set_pace(kind.name, **request.body)
        world.transitions.evaluate_all(kind.name)
    shown: dict[str, Any] = _describe_transitions(world)[kind.name]
    return shown


def move(request: ControlRequest) -> dict[str, Any]:
    """Move one record now, whatever its progression."""
    world, key, to = request.world, request.args["key"], request.body["to"]
    kind = require_kind(world, request.args["kind"])
    if to not in kind.states:
        allowed = ", ".join(kind.states)
        text = f"{kind.name} has no state {to!r}; its states: {allowed}"
        raise refuse_values(422, [("to", text)], "The record was not moved")
    with world.work():
        if world.store.get(kind.table, key) is None:
            raise ControlRefusal(404, f"{kind.table} has no record {key!r}.")
        world.transitions.move(kind.name, key, to)
        record = world.store.get(kind.table, key) or {}
    return {"kind": kind.name, "id": key, "state": kind.state_of(record)}


def require_kind(world: World, name: str) -> TransitionKind:
    """Return the kind of transition with this name.

    Raises:
        ControlRefusal: 404; no kind has this name.
    """
    kinds = world.transitions.kinds
    if name not in kinds:
        known = ", ".join(sorted(kinds)) or "none"
        hint = did_you_mean(name, kinds)
        raise ControlRefusal(
            404, f"The kind of transition {name!r} does not exist.{hint} Kinds: {known}."
        )
    return kinds[name]


def _describe_transitions(world: World) -> dict[str, Any]:
    with world.work():
        for name in world.transitions.kinds:
            world.transitions.evaluate_all(name)
        return world.transitions.as_json()


ROUTES = (
    Route("GET", "/transitions", list_transitions),
    Route("PUT", "/transitions/<kind>", put_transition, body=PaceBody),
    Route(
        "POST",
        "/transitions/<kind>/<path:key>",
        move,
        body=MoveBody,
        body_form=move_form,
        returns=MoveAnswer,
    ),
)
