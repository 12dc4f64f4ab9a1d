"""Changes of a user's profile, each with its activity."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mock_platform.api.v2.activity.activities import record_activity
from mock_platform.api.v2.objects.older_forms import ASSETS
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

FIELDS_BY_EVENT: Mapping[str, str] = {
    "profile.update.bio": "description",
    "profile.update.screenname": "screen_name",
    "profile.update.geo": "location",
    "profile.update.url": "url",
    "profile.update.profile_picture": "profile_image_url_https",
    "profile.update.banner_picture": "profile_banner_url",
}
"""The field of a user that each event is about."""


def make_picture_address(world: World) -> str:
    """Return the address of a new profile picture."""
    return f"https://{ASSETS}/profile_images/{world.ids.digits(8)}.png"


def make_banner_address(world: World) -> str:
    """Return the address of a new banner."""
    return f"https://{ASSETS}/profile_banners/{world.ids.digits(8)}"


def change_profile(world: World, user: Record, changes: Mapping[str, Any]) -> Record:
    """Change fields of a user, and return the user; what has an event is an activity of the user.

    Called within `world.work()`.
    """
    changed = user | dict(changes)
    world.store.put("users", user["id"], changed)
    for event_type, field in FIELDS_BY_EVENT.items():
        before, after = user.get(field) or "", changed.get(field) or ""
        if before != after:
            payload = {"before": before, "after": after}
            record_activity(world, event_type, user_id=user["id"], payload=payload)
    return changed
