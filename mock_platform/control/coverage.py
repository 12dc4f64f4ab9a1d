"""Contract coverage so far: of all worlds together, or of the world in the address."""

from __future__ import annotations

from typing import Any

from mock_platform.api.operation_patterns import BadPatterns
from mock_platform.control.questions import CLEAR_COVERAGE, COVERAGE, ask_counts
from mock_platform.control.route import ControlRequest, Route
from mock_platform.core.errors import BadQuery
from mock_platform.core.fields import Choice, Text
from mock_platform.core.schema import Schema
from mock_platform.platform import Platform
from mock_platform.verification.coverage.document import document, merge
from mock_platform.verification.coverage.gate import CoverageScope
from mock_platform.verification.coverage.pages import FORMATS, MEDIA_TYPES, render

_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; form-action 'none'; frame-ancestors 'none'; "
    "base-uri 'none'"
)


class QueryOfCoverage(Schema):
    """The format and the scope of the answer."""

    format = Choice(FORMATS, metadata={"description": "json unless given"})
    patterns = Text(
        data_key="only",
        metadata={
            "description": "comma-separated patterns of operations, such as line_items.*,oauth*"
        },
    )


def get_coverage(request: ControlRequest) -> Any:
    """Return what clients have exercised of the contract so far."""
    platform = request.platform
    recorder = request.services.coverage
    scope = read_scope(platform, request.query.get("patterns"))
    world, others = ask_counts(request, COVERAGE, recorder.worlds())
    found = document(platform.operations, platform.settings, recorder, world)
    for other in others:
        found = merge(found, other)
    found = scope.restrict(found)
    form = request.query.get("format", "json")
    if form == "json":
        return found
    from flask import Response  # `MockPlatform` uses `read_scope` without Flask

    return Response(
        render(found, form),
        content_type=MEDIA_TYPES[form],
        headers={"Content-Security-Policy": _POLICY},
    )


def read_scope(platform: Platform, only: str | None) -> CoverageScope:
    """Return the scope of these patterns; everything without any.

    Raises:
        BadQuery: A pattern matches no operation.
    """
    if only is None:
        return CoverageScope()
    try:
        return CoverageScope.read(only, [operation.id for operation in platform.operations])
    except BadPatterns as fault:
        raise BadQuery([("only", f"only: {fault}")]) from fault


def delete_coverage(request: ControlRequest) -> None:
    """Set the coverage counts to zero."""
    recorder = request.services.coverage
    world, _ = ask_counts(request, COVERAGE, recorder.worlds(), only_named=True)
    recorder.clear(world)
    request.platform.peers.ask_all(CLEAR_COVERAGE, world)


ROUTES = (
    Route(
        "GET",
        "/coverage",
        get_coverage,
        query=QueryOfCoverage,
        also=("text/plain", "application/xml", "text/html"),
    ),
    Route("DELETE", "/coverage", delete_coverage, status=204),
)
