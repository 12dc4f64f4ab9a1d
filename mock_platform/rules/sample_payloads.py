"""Believable payloads for activities that somebody asks for without saying more.

What happened is also true afterwards: a changed bio is changed in the user's record.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from mock_platform.rules.news import add_story, show_news_event
from mock_platform.rules.public_users import name_verification, show_user
from mock_platform.rules.release_history import canonicalize_name
from mock_platform.rules.sample_posts import NoSuchPost, find_other_user
from mock_platform.store.interface import Record
from mock_platform.world.world import World

Payload = dict[str, Any]
_CHANGES: Mapping[str, tuple[str, Callable[[Any, World], Any]]] = {
    "profile.update.bio": ("description", lambda old, world: f"{old} ({world.ids.digits(4)})"),
    "profile.update.screenname": ("screen_name", lambda _, world: f"user_{world.ids.digits(8)}"),
    "profile.update.geo": ("location", lambda old, _: "Berlin" if old != "Berlin" else "Lisbon"),
    "profile.update.url": ("url", lambda _, world: f"https://site-{world.ids.digits(6)}.example"),
    "profile.update.profile_picture": (
        "profile_image_url_https",
        lambda _, world: (
            f"https://assets.platform.example/profile_images/{world.ids.digits(8)}.png"
        ),
    ),
    "profile.update.banner_picture": (
        "profile_banner_url",
        lambda _, world: f"https://assets.platform.example/profile_banners/{world.ids.digits(8)}",
    ),
}
"""The field of a user that an update changes, and what it becomes."""
_BETWEEN_USERS = ("follow.", "mute.", "block.")


class NoSample(ValueError):
    """No payload can be made up for a type of event; the text says what to do."""


def make_payload(world: World, event_type: str, user: Record | None) -> Payload:
    """Make up what happened to a user, change the records accordingly, and return the payload.

    News happen without a user; other payloads are empty without one.

    Raises:
        NoSample: Events of this type need a payload.
    """
    name = canonicalize_name(event_type)
    if name == "news.new":
        return show_news_event(add_story(world))
    if user is None:
        return {}
    if name in _CHANGES:
        field, change = _CHANGES[name]
        before, after = user[field], change(user[field], world)
        world.store.put("users", user["id"], user | {field: after})
        return {"before": before, "after": after}
    if name == "profile.update.verified":
        changed = {name: value for name, value in user.items() if name != "verified_type"}
        changed["verified"] = not user["verified"]
        world.store.put("users", user["id"], changed)
        return {"before": name_verification(user), "after": name_verification(changed)}
    if name in {"spaces.start", "spaces.end"}:
        return {
            "user": {"data": show_user(user)},
            "broadcast_id": world.ids.alphanumeric(13),
            "event_type": name.replace(".", "_"),
        }
    if name.startswith(_BETWEEN_USERS):
        try:
            other = find_other_user(world, user)
        except NoSuchPost as fault:
            raise NoSample(str(fault)) from fault
        return {"source": {"data": show_user(user)}, "target": {"data": show_user(other)}}
    raise NoSample(f"payload is required for {event_type}: none can be made up for this type")
