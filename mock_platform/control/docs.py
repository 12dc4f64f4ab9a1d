"""Interactive documentation: Swagger UI for the whole description, without external files."""

from __future__ import annotations

from flask import Blueprint, Response, render_template

from mock_platform.control.route import ControlRequest
from mock_platform.world.ids import unguessable

ASSETS = "/_mock/docs/assets"


def assets() -> Blueprint:
    """Returns the files of Swagger UI, to be registered under `ASSETS`."""
    from flask_swagger_ui import get_swaggerui_blueprint

    # The blueprint also serves its own page; relative addresses work on both.
    blueprint: Blueprint = get_swaggerui_blueprint(
        ".", "../../openapi.json", {"validatorUrl": None, "oauth2RedirectUrl": ""}
    )
    return blueprint


def docs(request: ControlRequest) -> Response:
    """The page with the description of the world's address."""
    nonce = unguessable(24)
    page = render_template(
        "docs.html",
        root=request.base_url,
        nonce=nonce,
        assets=f"{request.base_url}{ASSETS}",
        description=f"{request.base_url}/_mock/openapi.json",
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
