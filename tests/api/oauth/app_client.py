"""A client of one app for the v2 interface: its bearer token, or a user's signature."""

from __future__ import annotations

from typing import Any, ClassVar

from werkzeug.test import TestResponse

from tests.support import BEARER, Keys, body_of, signed
from tests.support_replay import Desk


class AppClient:
    """Calls the endpoints of one sandbox as the well-known app; `path` is the usual address."""

    path: ClassVar[str]

    def __init__(self, desk: Desk) -> None:
        self.desk = desk

    def call(
        self, method: str, path: str | None = None, *, keys: Keys | None = None, **more: Any
    ) -> TestResponse:
        """Send a request: with the bearer token, or signed."""
        path = path or self.path
        headers = {"Authorization": f"Bearer {BEARER}"}
        if keys is not None:
            headers = signed(method, f"http://localhost{path}", keys)
        return self.desk.client.open(path, method=method, headers=headers, **more)

    def read(self, path: str | None = None, status: int = 200) -> Any:
        """The body of the answer to a GET of the app, which must have this status."""
        return body_of(self.call("GET", path), status)


def messages(answer: TestResponse) -> list[str]:
    """The messages of an invalid-request problem."""
    assert (400, "application/problem+json") == (answer.status_code, answer.content_type)
    body = answer.get_json()
    assert "http://localhost/2/problems/invalid-request" == body["type"]
    return [error["message"] for error in body["errors"]]
