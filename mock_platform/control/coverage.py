"""Contract coverage so far: of all worlds together, or of the world in the address."""

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
    """The format of the answer."""

    format = Choice(FORMATS, metadata={"description": "json unless given"})


def get_coverage(request: ControlRequest) -> Any:
    """What clients have exercised of the contract so far."""
    platform = request.platform
    found = document(
        platform.operations, platform.settings, request.services.coverage, _find_world(request)
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
    """Set the coverage counts to zero."""
    request.services.coverage.clear(_find_world(request))


def _find_world(request: ControlRequest) -> str | None:
    """Returns the world in the request; a removed world still has its counts.

    Raises:
        UnknownWorld: The world does not exist and has no counts.
    """
    name = request.flask.environ.get(WORLD) or request.flask.headers.get("X-Mock-World")
    if name is None or name in request.services.coverage.worlds():
        return name
    return request.world.name
