"""Warnings so far: of all worlds together, or of the world in the address."""

from __future__ import annotations

from marshmallow import Schema, fields

from mock_platform.control.route import ControlRequest
from mock_platform.core.fields import Integer, Text
from mock_platform.core.warning_counts import WarningDocument


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
    return recorder.document(request.find_counted_world(recorder.worlds()))


def delete_warnings(request: ControlRequest) -> None:
    """Set the counts of warnings to zero."""
    recorder = request.services.warnings
    recorder.clear(request.find_counted_world(recorder.worlds()))
