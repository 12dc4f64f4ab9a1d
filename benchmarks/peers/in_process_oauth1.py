"""The sandbox within the process: a world for each test, oauth1 credentials checked."""

from __future__ import annotations

from story import five_requests

from mock_platform import WorldFace


def test_card(mock_platform: WorldFace, number: int) -> None:
    """A card's life."""
    with mock_platform.session("oauth1") as session:
        five_requests(session, mock_platform.base_url)
