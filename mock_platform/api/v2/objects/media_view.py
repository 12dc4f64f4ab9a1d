"""The v2 object of media, wherever they are shown: with posts, messages and articles, and alone.

What it has are public facts (named endpoints, section 7.2). A field without a value is left out.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mock_platform.api.v2.objects.figures import PRIVATE_METRICS, find_video_metrics
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

_BIT_RATES = {"animated_gif": 0, "video": 2_176_000}
_TYPES = {"IMAGE": "photo", "GIF": "animated_gif", "VIDEO": "video"}


def find_any_media(world: World, key: str) -> Record | None:
    """Return media by its key, in a library or only uploaded; `None` if unknown or deleted."""
    found = world.store.get("media_library", key) or world.store.get("media", key)
    return None if found is None or found.get("deleted") else found


def may_use(world: World, user_id: str, media: Record) -> bool:
    """Return whether a user uploaded media, may use them as well, or has an account with them."""
    if user_id in {media.get("_user_id"), *media.get("_additional_owners", ())}:
        return True
    account = world.store.get("accounts", media["_account_id"] or "")
    return account is not None and user_id in account.get("_users", ())


def show_media(
    world: World, media: Record, fields: Iterable[str], *, private: bool = False
) -> dict[str, Any]:
    """Return these fields of media, uploaded or in a library; `private` with all metrics."""
    kind = _TYPES[media["media_type"]]
    values: dict[str, Any] = {
        "media_key": media["media_key"],
        "type": kind,
        "url": media["media_url"] if kind == "photo" else None,
        "width": media.get("_width"),
        "height": media.get("_height"),
        "duration_ms": media.get("duration") if kind == "video" else None,
        "preview_image_url": media.get("_preview_url") or media.get("poster_media_url"),
        "alt_text": (media.get("_metadata") or {}).get("alt_text", {}).get("text"),
        "variants": None,
        "public_metrics": {"view_count": media.get("_view_count") or 0}
        if kind == "video"
        else None,
    }
    if private and kind == "video":
        values |= find_video_metrics(world, media)
    if kind != "photo":
        played = {"bit_rate": _BIT_RATES[kind], "content_type": "video/mp4"}
        values["variants"] = [{**played, "url": media["media_url"]}]
    recorded = media.get("_recorded") or {}
    if recorded:  # what it was shown without
        values |= {"variants": None, "public_metrics": None}
    for name in recorded:
        if private or name not in PRIVATE_METRICS:
            values[name] = recorded[name]
    return {name: values[name] for name in values if name in fields and values[name] is not None}
