"""Contract coverage so far: of all worlds together, or of the one that the address names."""

from __future__ import annotations

from typing import Any

from flask import Response
from marshmallow import Schema

from mock_platform.control.route import WORLD, ControlRequest
from mock_platform.core.fields import Choice
from mock_platform.coverage import FORMATS, document, render
from mock_platform.coverage.pages import MEDIA_TYPES

_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; form-action 'none'; frame-ancestors 'none'; "
    "base-uri 'none'"
)


class QueryOfCoverage(Schema):
    """In which form."""

    format = Choice(FORMATS, metadata={"description": "json unless given"})


def get_coverage(request: ControlRequest) -> Any:
    """What clients have met of the contract so far."""
    platform = request.platform
    found = document(
        platform.operations, platform.settings, request.services.coverage, _world(request)
    )
    form = request.query.get("format", "json")
    if form == "json":
        return found
    return Response(
        render(found, form),
        content_type=MEDIA_TYPES[form],
        headers={"Content-Security-Policy": _POLICY},
    )


def delete_coverage(request: ControlRequest) -> None:
    """Begin to count anew."""
    request.services.coverage.clear(_world(request))


def _world(request: ControlRequest) -> str | None:
    """The world that the request names; one that was met but is gone still has its counts.

    Raises:
        UnknownWorld: It names one that neither exists nor was met.
    """
    name = request.flask.environ.get(WORLD) or request.flask.headers.get("X-Mock-World")
    if name is None or name in request.services.coverage.worlds():
        return name
    return request.world.name
