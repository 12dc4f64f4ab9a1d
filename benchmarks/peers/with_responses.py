"""Responses: requests itself is patched, and what each address answers is registered."""

from __future__ import annotations

import requests
import responses
from story import ANSWERS, five_requests

ORIGIN = "http://127.0.0.1:8080"


@responses.activate
def test_card(number: int) -> None:
    """A card's life."""
    for method, path, _, answer in ANSWERS:
        responses.add(method, ORIGIN + path, json=answer)
    with requests.Session() as session:
        session.headers["Authorization"] = "Bearer t0k3n"
        five_requests(session, ORIGIN)
