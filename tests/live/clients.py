"""What published clients are given: their keys, and the way to the sandbox."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from requests import PreparedRequest, Response
from requests.adapters import HTTPAdapter

REAL = "https://api.twitter.com"
"""Where clients send what they send."""


def four_keys(credentials: Mapping[str, Any]) -> tuple[str, str, str, str]:
    """The keys of the app and of the user, in the order in which clients take them."""
    app, user = credentials["app"], credentials["user"]
    own = user["access_token"], user["access_token_secret"]
    return app["consumer_key"], app["consumer_secret"], *own


class Redirect(HTTPAdapter):
    """Sends what is meant for the platform to the sandbox."""

    def __init__(self, base_url: str) -> None:
        self._base_url = base_url
        super().__init__()

    def send(self, request: PreparedRequest, *args: Any, **more: Any) -> Response:
        """Send a request to the same path at the sandbox."""
        assert request.url is not None
        request.url = self._base_url + request.url.removeprefix(REAL)
        return super().send(request, *args, **more)


def fill(made: Any, **fields: object) -> Any:
    """Set fields of something of a client; returns it."""
    for name, value in fields.items():
        setattr(made, name, value)
    return made
