"""A user's consent without a browser: the login pages as one request."""

from __future__ import annotations

from typing import Any

from mock_platform.consent.approval import approve
from mock_platform.control.refusal import ControlRefusal
from mock_platform.control.route import ControlRequest
from mock_platform.core.fields import Flag, Text
from mock_platform.core.schema import Schema


class ApproveBody(Schema):
    """What the app asks for, as a request token or as the address of the page, and the user."""

    oauth_token = Text(metadata={"description": "a request token of OAuth 1.0a"})
    url = Text(
        metadata={
            "description": "the address to which the app sends its user: oauth/authorize, "
            "oauth/authenticate, or oauth2/authorize with its parameters"
        }
    )
    user = Text(metadata={"description": "id or screen name of a user; default: the first one"})
    deny = Flag(load_default=False, metadata={"description": "true: the user denies"})


class ApproveAnswer(Schema):
    """What the browser would carry back to the app."""

    redirect = Text(required=True, allow_none=True)
    verifier = Text(required=True, allow_none=True)
    code = Text(required=True, allow_none=True)


def approve_request(request: ControlRequest) -> dict[str, Any]:
    """Let a user allow or deny an app, without the pages."""
    body = request.body
    asked = [body[name] for name in ("oauth_token", "url") if name in body]
    if len(asked) != 1:
        text = (
            "Send either oauth_token, a request token of OAuth 1.0a, or url, the address to which "
            "the app sends its user."
        )
        raise ControlRefusal(422, text)
    world = request.world
    with world.work():
        found = approve(world, asked[0], user=body.get("user"), deny=body["deny"])
    return found.as_json()
