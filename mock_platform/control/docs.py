"""Interactive documentation: Swagger UI for the whole description, without external files."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

from flask import Blueprint, Response, render_template, send_from_directory
from werkzeug.exceptions import NotFound

from mock_platform.control.route import ControlRequest
from mock_platform.control.trying import (
    MADE,
    PARTS,
    SIGNED,
    arrange,
    list_authorizations,
    list_steps,
    list_streams,
)
from mock_platform.core.fields import Choice
from mock_platform.core.schema import Schema
from mock_platform.world.ids import unguessable

ASSETS = "/_mock/docs/assets"
_SUFFIXES = (".css", ".js", ".png")


class QueryOfDocs(Schema):
    """Which part is shown."""

    part = Choice(PARTS, metadata={"description": "platform unless another one is named"})


def assets() -> Blueprint:
    """Returns the files of Swagger UI, to be registered under `ASSETS`, without its pages."""
    folder = str(files("flask_swagger_ui") / "dist")
    blueprint = Blueprint("swagger_ui", __name__)

    @blueprint.get("/<name>")
    def show(name: str) -> Response:
        if not name.endswith(_SUFFIXES):
            raise NotFound
        return send_from_directory(folder, name)

    return blueprint


def docs(request: ControlRequest) -> Response:
    """The page with the description of the world's address; it has the test tokens filled in."""
    part = request.query.get("part", PARTS[0])
    nonce = unguessable(24)
    page = render_template(
        "docs.html",
        root=request.base_url,
        nonce=nonce,
        assets=f"{request.base_url}{ASSETS}",
        description=f"{request.base_url}/_mock/docs/openapi.json?part={part}",
        authorizations=list_authorizations(request.platform, request.world),
        signed=SIGNED,
        made=MADE,
        steps=list_steps(request.platform, request.world),
        streams=list_streams(request.platform),
        part=part,
    )
    return Response(
        page,
        headers={
            "Content-Security-Policy": (
                f"default-src 'none'; script-src 'self' 'nonce-{nonce}'; connect-src 'self'; "
                "style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; "
                "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
            )
        },
    )


def describe_for_trying(request: ControlRequest) -> dict[str, Any]:
    """One part of the description, with examples from the records that work at once."""
    document = request.services.description.at(request.base_url)
    part = request.query.get("part", PARTS[0])
    return arrange(document, request.platform, request.world, request.base_url, part)
