"""Responses, called by a client that signs as it does in production; no one checks it."""

from __future__ import annotations

import requests
import responses
from requests_oauthlib import OAuth1
from story import ANSWERS, five_requests

ORIGIN = "http://127.0.0.1:8080"


@responses.activate
def test_card(number: int) -> None:
    """A card's life."""
    for method, path, _, answer in ANSWERS:
        responses.add(method, ORIGIN + path, json=answer)
    with requests.Session() as session:
        session.auth = OAuth1("k3y", "s3cr3t", "t0k3n", "t0k3n-s3cr3t")
        five_requests(session, ORIGIN)
