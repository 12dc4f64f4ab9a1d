"""Believable payloads for activities that somebody asks for without saying more.

What happened is also true afterwards: a changed bio is changed in the user's record.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from mock_platform.api.oauth.consent.tokens import end_access, make_revocation
from mock_platform.api.sample_events.happenings import (
    CannotHappen,
    find_other_user,
    make_chat_payload,
    make_message_payload,
)
from mock_platform.api.v2.news.stories import add_story, show_news_event
from mock_platform.api.v2.objects.user_view import name_verification, show_user
from mock_platform.api.v2.release_history import canonicalize_name
from mock_platform.world.store.interface import Record
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
_ORGANIZATIONS = frozenset({"business", "government"})


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
    make = next((make for prefix, make in _MAKERS.items() if name.startswith(prefix)), None)
    if make is None:
        raise NoSample(f"payload is required for {event_type}: none can be made up for this type")
    return make(world, user, name)


def _update(world: World, user: Record, name: str) -> Payload:
    """Change a field of a user's profile."""
    if name not in _CHANGES:
        raise NoSample(f"payload is required for {name}: none can be made up for this type")
    field, change = _CHANGES[name]
    before, after = user[field], change(user[field], world)
    world.store.put("users", user["id"], user | {field: after})
    return {"before": before, "after": after}


def _verify(world: World, user: Record, _name: str) -> Payload:
    """Give a user the badge, or take it away."""
    changed = {name: value for name, value in user.items() if name != "verified_type"}
    changed["verified"] = not user["verified"]
    world.store.put("users", user["id"], changed)
    return {"before": name_verification(user), "after": name_verification(changed)}


def _affiliate(world: World, user: Record, _name: str) -> Payload:
    """Give a user the badge of an organization, or take it away."""
    before = user.get("affiliation") or {}
    after: Record = {}
    if not before:
        other = _find_organization(world, user)
        after = {
            "badge_url": other["profile_image_url_https"] or "",
            "description": other["name"],
            "user_id": [other["id"]],
        }
        if other["url"]:
            after["url"] = other["url"]
    world.store.put("users", user["id"], user | {"affiliation": after})
    return {"before": before.get("description", ""), "after": after.get("description", "")}


def _hold_space(world: World, user: Record, name: str) -> Payload:
    return {
        "user": {"data": show_user(user)},
        "broadcast_id": world.ids.alphanumeric(13),
        "event_type": name.replace(".", "_"),
    }


def _act_on_user(world: World, user: Record, _name: str) -> Payload:
    other = _find_other_user(world, user)
    return {"source": {"data": show_user(user)}, "target": {"data": show_user(other)}}


def _message(world: World, user: Record, name: str) -> Payload:
    return make_message_payload(world, name, user, _find_other_user(world, user))


def _chat(world: World, user: Record, name: str) -> Payload:
    return make_chat_payload(world, name, user, _find_other_user(world, user))


def _revoke(world: World, user: Record, _name: str) -> Payload:
    """Let a user take back the access of an app, with all its tokens."""
    match = {"user_id": user["id"], "state": "active"}
    found = world.store.page("tokens", match, limit=1)
    if not found:
        raise NoSample(f"payload is required: no app has a token of user {user['id']}")
    app_id = found[0].record["app_id"]
    end_access(world, app_id, user["id"])
    return make_revocation(world, app_id, user["id"])


def _find_organization(world: World, user: Record) -> Record:
    """Return the first other user who is an organization, or else any other."""
    found = world.store.page(
        "users",
        where=lambda one: one["id"] != user["id"] and name_verification(one) in _ORGANIZATIONS,
        limit=1,
    )
    return found[0].record if found else _find_other_user(world, user)


def _find_other_user(world: World, user: Record) -> Record:
    try:
        return find_other_user(world, user)
    except CannotHappen as fault:
        raise NoSample(str(fault)) from fault


_MAKERS: Mapping[str, Callable[[World, Record, str], Payload]] = {
    "profile.update.verified": _verify,
    "profile.update.affiliate": _affiliate,
    "profile.update.": _update,
    "spaces.": _hold_space,
    "follow.": _act_on_user,
    "mute.": _act_on_user,
    "block.": _act_on_user,
    "dm.": _message,
    "chat.": _chat,
    "oauth.revoke": _revoke,
}
"""What makes up a payload, by the beginning of the event's name; the first that fits."""
