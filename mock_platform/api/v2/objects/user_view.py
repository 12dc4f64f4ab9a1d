"""The v2 user object: a view of a stored user (named endpoints, section 7.4)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from mock_platform.api.v2.objects.older_forms import PUBLIC_COUNTS
from mock_platform.api.v2.objects.post_view import add_texts
from mock_platform.api.v2.release_history import is_in_force
from mock_platform.world.clock import parse_instant, wire_millis
from mock_platform.world.store.interface import Order, Record
from mock_platform.world.world import World

NEWEST_FIRST = Order("created_at", descending=True)


def show_user(user: Record) -> dict[str, Any]:
    """Return a user as payloads of events hold one, counts in both forms."""
    shown: dict[str, Any] = {
        "id": user["id"],
        "name": user["name"],
        "username": user["screen_name"],
        "created_at": wire_millis(parse_instant(user["created_at"])),
        "description": user["description"],
        "location": user["location"],
        "protected": user["protected"],
        "verified": user["verified"],
        "verified_type": name_verification(user),
        "profile_image_url": user["profile_image_url_https"],
        "profile_banner_url": user["profile_banner_url"],
        "public_metrics": add_texts(_count(user)),
    }
    if user["url"] is not None:
        shown["url"] = user["url"]
    return shown


def select_user(
    world: World, user: Record, fields: Iterable[str], *, viewer_id: str | None = None
) -> dict[str, Any]:
    """Return these fields of a user as a v2 object, as the user `viewer_id` sees it.

    A field that the record has no value for is left out.
    """
    shown: dict[str, Any] = {}
    for name in _USER_VALUES:
        if name in fields:
            value = _USER_VALUES[name](world, user)
            if value is not None:
                shown[name] = value
    if user["id"] != viewer_id:
        shown.pop("confirmed_email", None)
    return shown


def name_verification(user: Record) -> str:
    """Return the kind of a user's verification; a verified user without one is a business."""
    return user.get("verified_type") or ("business" if user.get("verified") else "none")


def find_newest_post(world: World, user_id: str) -> Record | None:
    """Return the post that a user made last, or `None`."""
    found = world.store.page("posts", {"_user_id": user_id}, order=NEWEST_FIRST, limit=1)
    return found[0].record if found else None


def _count(user: Record) -> dict[str, int]:
    return {name: user.get(stored) or 0 for name, stored in PUBLIC_COUNTS.items()}


def _show_affiliation(world: World, user: Record) -> dict[str, Any]:
    """Show a badge; `user_id` is a list since the release that says so, one id before."""
    badge = user.get("affiliation") or {}
    ids = badge.get("user_id")
    if not ids or is_in_force("affiliation-array", world):
        return badge
    return badge | {"user_id": ids[0]}


def _show_entities(_world: World, user: Record) -> dict[str, Any] | None:
    address = user.get("url")
    if not address:
        return None
    shown = {
        "start": 0,
        "end": len(address),
        "url": address,
        "expanded_url": address,
        "display_url": address.partition("://")[2],
    }
    return {"url": {"urls": [shown]}}


def _show_newest_post_id(world: World, user: Record) -> str | None:
    post = find_newest_post(world, user["id"])
    return None if post is None else post["id_str"]


def _read(stored: str) -> Callable[[World, Record], Any]:
    return lambda _world, user: user.get(stored)


_USER_VALUES: Mapping[str, Callable[[World, Record], Any]] = {
    "id": _read("id"),
    "name": _read("name"),
    "username": _read("screen_name"),
    "created_at": lambda _world, user: wire_millis(parse_instant(user["created_at"])),
    "description": _read("description"),
    "location": lambda _world, user: user.get("location") or None,
    "url": _read("url"),
    "entities": _show_entities,
    "protected": _read("protected"),
    "verified": _read("verified"),
    "verified_type": lambda _world, user: name_verification(user),
    "profile_image_url": _read("profile_image_url_https"),
    "profile_banner_url": _read("profile_banner_url"),
    "public_metrics": lambda _world, user: _count(user),
    "affiliation": _show_affiliation,
    "pinned_post_id": _read("pinned_post_id"),
    "most_recent_post_id": _show_newest_post_id,
    "subscription_type": _read("subscription_type"),
    "subscription": lambda _world, _user: {"subscribes_to_you": False},
    "connection_status": lambda _world, _user: [],
    "is_identity_verified": _read("is_identity_verified"),
    "parody": _read("parody"),
    "receives_your_dm": _read("receives_your_dm"),
    "verified_followers_count": _read("verified_followers_count"),
    "confirmed_email": _read("_confirmed_email"),
}
"""How the value of each field of a user is found, in the order of the object."""
