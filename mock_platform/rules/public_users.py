"""The v2 user object: a view of a stored user (named endpoints, section 7.4)."""

from __future__ import annotations

from typing import Any

from mock_platform.store.interface import Record
from mock_platform.world.clock import parse_instant, wire_millis

_COUNTS = {
    "followers_count": "followers_count",
    "following_count": "friends_count",
    "post_count": "statuses_count",
    "listed_count": "listed_count",
    "like_count": "favourites_count",
}


def show_user(user: Record) -> dict[str, Any]:
    """Return a user as payloads of events hold one, counts in both forms."""
    counts: dict[str, Any] = {}
    for name, stored in _COUNTS.items():
        value = user.get(stored) or 0
        counts |= {name: value, f"{name}_str": str(value)}
    shown: dict[str, Any] = {
        "id": user["id"],
        "name": user["name"],
        "username": user["screen_name"],
        "created_at": wire_millis(parse_instant(user["created_at"])),
        "description": user["description"],
        "location": user["location"],
        "protected": user["protected"],
        "verified": user["verified"],
        "profile_image_url": user["profile_image_url_https"],
        "profile_banner_url": user["profile_banner_url"],
        "public_metrics": counts,
    }
    if user["url"] is not None:
        shown["url"] = user["url"]
    return shown
