"""The test client of the Flask application."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flask.testing import FlaskClient

if TYPE_CHECKING:
    from werkzeug.test import TestResponse


class PlatformClient(FlaskClient):
    """Flask's test client; relative addresses start at its base address if it has one."""

    def __init__(self, *args: Any, base_url: str = "", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.base_url = base_url.rstrip("/")

    def open(self, *args: Any, **kwargs: Any) -> TestResponse:
        """Send a request; `/2/…` is joined to the base address."""
        if args and isinstance(args[0], str) and args[0].startswith("/"):
            args = (self.base_url + args[0], *args[1:])
        return super().open(*args, **kwargs)
