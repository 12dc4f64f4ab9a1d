"""Contract coverage so far: of all worlds together, or of the world in the address."""

from __future__ import annotations

from typing import Any

from flask import Response
from marshmallow import Schema

from mock_platform.control.route import ControlRequest
from mock_platform.core.fields import Choice
from mock_platform.coverage import FORMATS, document, render
from mock_platform.coverage.pages import MEDIA_TYPES

_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; form-action 'none'; frame-ancestors 'none'; "
    "base-uri 'none'"
)


class QueryOfCoverage(Schema):
    """The format of the answer."""

    format = Choice(FORMATS, metadata={"description": "json unless given"})


def get_coverage(request: ControlRequest) -> Any:
    """What clients have exercised of the contract so far."""
    platform = request.platform
    recorder = request.services.coverage
    world = request.find_counted_world(recorder.worlds())
    found = document(platform.operations, platform.settings, recorder, world)
    form = request.query.get("format", "json")
    if form == "json":
        return found
    return Response(
        render(found, form),
        content_type=MEDIA_TYPES[form],
        headers={"Content-Security-Policy": _POLICY},
    )


def delete_coverage(request: ControlRequest) -> None:
    """Set the coverage counts to zero."""
    recorder = request.services.coverage
    recorder.clear(request.find_counted_world(recorder.worlds()))
