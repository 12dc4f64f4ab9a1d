"""The five requests of each test and what is asserted of their answers, the same for every peer.

A card is created, read, listed, renamed and deleted. Where answers are written beforehand, they are
those that the sandbox returns.
"""

from __future__ import annotations

from typing import Any

import requests

ACCOUNT = "18ce54d4x5t"
CARDS = f"/12/accounts/{ACCOUNT}/cards"
WISHED = {
    "name": "Spring sale",
    "components": [
        {"type": "MEDIA", "media_key": "3_1712850617439550001"},
        {
            "type": "DETAILS",
            "title": "Half price",
            "destination": {"type": "WEBSITE", "url": "https://shop.example.com/"},
        },
    ],
}
RENAMED = {"name": "Summer sale"}

# -- answers written beforehand ------------------------------------------------------------------

CARD_ID = "1712860000001000099"
_CARD = {
    **WISHED,
    "id": CARD_ID,
    "card_uri": f"card://{CARD_ID}",
    "card_type": "IMAGE_WEBSITE",
    "created_at": "2026-11-20T10:00:00Z",
    "updated_at": "2026-11-20T10:00:00Z",
    "deleted": False,
}
ONE = f"{CARDS}/{CARD_ID}"


def _answer(data: Any, **more: Any) -> dict[str, Any]:
    return {"request": {"params": {"account_id": ACCOUNT}}, "data": data} | more


ANSWERS: tuple[tuple[str, str, Any, dict[str, Any]], ...] = (
    ("POST", CARDS, WISHED, _answer(_CARD)),
    ("GET", ONE, None, _answer(_CARD)),
    ("GET", CARDS, None, _answer([_CARD], next_cursor=None)),
    ("PUT", ONE, RENAMED, _answer(_CARD | RENAMED)),
    ("DELETE", ONE, None, _answer(_CARD | RENAMED | {"deleted": True})),
)
"""Method, path, body and answer of each request."""


def five_requests(session: requests.Session, origin: str) -> None:
    """Create, read, list, rename and delete a card."""
    cards = origin + CARDS

    created = session.post(cards, json=WISHED)
    assert created.status_code == 200
    card = created.json()["data"]
    assert card["components"] == WISHED["components"]

    read = session.get(f"{cards}/{card['id']}")
    assert read.status_code == 200
    assert read.json()["data"] == card

    listed = session.get(cards, params={"card_ids": card["id"]})
    assert listed.status_code == 200
    assert [each["id"] for each in listed.json()["data"]] == [card["id"]]

    renamed = session.put(f"{cards}/{card['id']}", json=RENAMED)
    assert renamed.status_code == 200
    assert renamed.json()["data"]["name"] == "Summer sale"

    deleted = session.delete(f"{cards}/{card['id']}")
    assert deleted.status_code == 200
    assert deleted.json()["data"]["deleted"] is True
