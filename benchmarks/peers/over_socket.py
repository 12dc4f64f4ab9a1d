"""The sandbox behind a socket, as any client reaches it: a world for each test, bearer token."""

from __future__ import annotations

import requests
from story import five_requests

from mock_platform import WorldFace


def test_card(mock_platform: WorldFace, number: int) -> None:
    """A card's life."""
    with requests.Session() as session:
        session.headers["Authorization"] = f"Bearer {mock_platform.credentials['bearer_token']}"
        five_requests(session, mock_platform.base_url)
