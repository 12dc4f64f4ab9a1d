"""Warnings so far: of all worlds together, or of the world in the address."""

from __future__ import annotations

from marshmallow import fields

from mock_platform.control.questions import CLEAR_WARNINGS, WARNINGS
from mock_platform.control.route import ControlRequest
from mock_platform.core.fields import Integer, Text
from mock_platform.core.schema import Schema
from mock_platform.core.warning_counts import WarningDocument, merge_warnings


class ExampleOfWarning(Schema):
    """The first request with a warning."""

    id = Text(required=True)
    world = Text(required=True)
    method = Text(required=True)
    url = Text(required=True)
    text = Text(required=True, metadata={"description": "what was ignored"})


class CountOfWarning(Schema):
    """How many requests to an operation had a warning."""

    code = Text(required=True, metadata={"description": "a code of X-Mock-Warnings"})
    operation = Text(required=True, allow_none=True)
    requests = Integer(required=True)
    example = fields.Nested(ExampleOfWarning, required=True)


class WarningsAnswer(Schema):
    """The warnings of all requests, the most frequent first."""

    requests = Integer(
        required=True, metadata={"description": "how many requests had at least one warning"}
    )
    warnings = fields.List(fields.Nested(CountOfWarning), required=True)


def list_warnings(request: ControlRequest) -> WarningDocument:
    """What was ignored in requests so far: codes, operations, counts, examples."""
    recorder = request.services.warnings
    others = request.platform.peers.ask_all(WARNINGS, request.named_world).values()
    world = request.find_counted_world(
        {*recorder.worlds(), *(each for other in others for each in other["worlds"])}
    )
    own = recorder.document(world)
    return merge_warnings([own, *(other["document"] for other in others)]) if others else own


def delete_warnings(request: ControlRequest) -> None:
    """Set the counts of warnings to zero."""
    recorder, peers = request.services.warnings, request.platform.peers
    name = request.named_world
    others = peers.ask_all(WARNINGS, name).values() if name is not None else ()
    world = request.find_counted_world(
        {*recorder.worlds(), *(each for other in others for each in other["worlds"])}
    )
    recorder.clear(world)
    peers.ask_all(CLEAR_WARNINGS, world)
