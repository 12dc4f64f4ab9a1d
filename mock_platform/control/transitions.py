"""Transitions of a world: read their state, set their progression, move one record."""

from __future__ import annotations

from typing import Any

from mock_platform.control.clock import Duration
from mock_platform.control.refusals import refuse_values
from mock_platform.control.route import ControlRequest, Route
from mock_platform.core.description.schemas import Converter
from mock_platform.core.fields import Choice, Integer, Text
from mock_platform.core.schema import Schema
from mock_platform.core.transitions import MAX_POLLS, MAX_SECONDS, WorldTransitions
from mock_platform.core.validators import Between
from mock_platform.platform import Platform
from mock_platform.world.transitions import PROGRESSIONS


class PaceBody(Schema):
    """The progression of a kind; absent values do not change."""

    progression = Choice(PROGRESSIONS)
    seconds = Duration(validate=[Between(0, MAX_SECONDS)], metadata={"description": "under `time`"})
    polls = Integer(low=1, high=MAX_POLLS, metadata={"description": "under `polls`"})


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
    return WorldTransitions(request.world).list()


def put_transition(request: ControlRequest) -> dict[str, Any]:
    """Set the progression of a kind, also for records that are already changing."""
    return WorldTransitions(request.world).set(request.args["kind"], **request.body)


def move(request: ControlRequest) -> dict[str, Any]:
    """Move one record now, whatever its progression."""
    kind, key = request.args["kind"], request.args["key"]
    try:
        state = WorldTransitions(request.world).move(kind, key, request.body["to"])
    except ValueError as fault:
        raise refuse_values(422, [("to", str(fault))], "The record was not moved") from fault
    return {"kind": kind, "id": key, "state": state}


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
