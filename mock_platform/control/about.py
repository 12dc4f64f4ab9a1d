"""Describes the server: health, credentials, operations, assumptions, OpenAPI."""

from __future__ import annotations

from typing import Any

from flask import Response
from marshmallow import fields

from mock_platform.api.oauth.tester_access import credentials
from mock_platform.api.served import SPEC_SENTENCES
from mock_platform.control.questions import CLEAR_WARNINGS, WARNINGS, ask_counts
from mock_platform.control.refusals import ControlRefusal
from mock_platform.control.route import ControlRequest, Route
from mock_platform.core.assumptions import find_sentence
from mock_platform.core.fields import Integer, Text
from mock_platform.core.installed import MissingExtra
from mock_platform.core.schema import Schema
from mock_platform.core.warning_counts import WarningDocument, merge_warnings
from mock_platform.core.wire import NAMES_HEADER, WIRE_HEADER
from mock_platform.core.wire_choice import read_wire
from mock_platform.platform import Platform
from mock_platform.settings import DOCUMENTED, NAMES, WireChoice
from mock_platform.version import __version__
from mock_platform.world.clock import UPTIME


def health(request: ControlRequest) -> dict[str, Any]:
    """The server's status, its version, and for how many seconds it has been running."""
    return {
        "status": "ok",
        "version": __version__,
        "uptime_seconds": round(UPTIME() - request.platform.started, 3),
    }


def ready(request: ControlRequest) -> dict[str, Any]:
    """Whether the server can answer now: 200, or 503 with the reason, for orchestrators."""
    platform = request.platform
    trouble = platform.peers.find_trouble() or platform.worlds.find_trouble()
    if trouble is None and platform.closing.is_set():
        trouble = "The server stops."
    if trouble is not None:
        raise ControlRefusal(503, f"Not ready: {trouble}", headers=[("Retry-After", "1")])
    return {
        "status": "ready",
        "processes": platform.peers.count,
        "warnings": list(platform.worlds.list_warnings()),
    }


def show_credentials(request: ControlRequest) -> dict[str, Any]:
    """Return the published test credentials of the world."""
    return credentials(request.world)


def list_operations(request: ControlRequest) -> dict[str, Any]:
    """Return the table of operations."""
    return operations(request.platform)


def list_assumptions(request: ControlRequest) -> dict[str, Any]:
    """All recorded assumptions of the sandbox."""
    return assumptions(request.platform)


def metrics(request: ControlRequest) -> Response:
    """Metrics in the text form of Prometheus."""
    try:
        text, media_type = request.services.metrics.exposition()
    except MissingExtra as fault:
        raise ControlRefusal(501, str(fault)) from fault
    return Response(text, content_type=media_type)


def describe(request: ControlRequest) -> dict[str, Any]:
    """Return the OpenAPI description of all that is served, in names and wire of the world."""
    asked = request.flask.headers.get(NAMES_HEADER, request.world.names)
    names = next((each for each in NAMES if each == asked), NAMES[0])
    return request.services.description.at(request.base_url, names, _find_wire(request))


def _find_wire(request: ControlRequest) -> WireChoice:
    """Return the wire that a header asks for, else the world's own."""
    own = request.world.wire or DOCUMENTED.name
    try:
        return read_wire(request.flask.headers.get(WIRE_HEADER, own))
    except ValueError:
        return read_wire(own)


def operations(platform: Platform) -> dict[str, Any]:
    """Return every operation that a platform serves."""
    return {"operations": [operation.as_json() for operation in platform.operations]}


def assumptions(platform: Platform) -> dict[str, Any]:
    """Return every recorded assumption, with the operations that depend on it."""
    depending: dict[str, list[str]] = {}
    for operation in platform.operations:
        for assumption in dict.fromkeys(operation.all_assumptions):
            depending.setdefault(assumption.id, []).append(operation.id)
    return {
        "assumptions": [
            assumption.as_json()
            | {
                "completes": find_sentence(SPEC_SENTENCES, assumption.id),
                "operations": depending.get(assumption.id, []),
            }
            for assumption in platform.assumptions().values()
        ]
    }


# Warnings so far: of all worlds together, or of the world in the address.


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
    """Return what was ignored in requests so far: codes, operations, counts, examples."""
    recorder = request.services.warnings
    world, others = ask_counts(request, WARNINGS, recorder.worlds())
    own = recorder.document(world)
    return merge_warnings([own, *others]) if others else own


def delete_warnings(request: ControlRequest) -> None:
    """Set the counts of warnings to zero."""
    recorder = request.services.warnings
    world, _ = ask_counts(request, WARNINGS, recorder.worlds(), only_named=True)
    recorder.clear(world)
    request.platform.peers.ask_all(CLEAR_WARNINGS, world)


ROUTES = (
    Route("GET", "/health", health),
    Route("GET", "/health/ready", ready),
    Route("GET", "/credentials", show_credentials),
    Route("GET", "/operations", list_operations),
    Route("GET", "/assumptions", list_assumptions),
    Route("GET", "/warnings", list_warnings, returns=WarningsAnswer),
    Route("DELETE", "/warnings", delete_warnings, status=204),
    Route("GET", "/metrics", metrics, media_type="text/plain"),
    Route("GET", "/openapi.json", describe),
)
