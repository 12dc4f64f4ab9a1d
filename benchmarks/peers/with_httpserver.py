"""pytest-httpserver: expectations of method, path and body, answered over a socket."""

from __future__ import annotations

from typing import Any

import requests
from pytest_httpserver import HTTPServer
from story import ANSWERS, five_requests


def test_card(httpserver: HTTPServer, number: int) -> None:
    """A card's life."""
    for method, path, body, answer in ANSWERS:
        expected: dict[str, Any] = {} if body is None else {"json": body}
        httpserver.expect_request(path, method, **expected).respond_with_json(answer)
    with requests.Session() as session:
        session.headers["Authorization"] = "Bearer t0k3n"
        five_requests(session, httpserver.url_for("").rstrip("/"))
    httpserver.check()
