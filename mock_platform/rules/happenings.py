"""Lets something believable happen to a user: a post, a like, a follow, a message.

`POST /_mock/events` asks for it. The records change with it, so that what an event says is also
what the interface answers afterwards.
"""

from __future__ import annotations

from collections.abc import Mapping

from mock_platform.rules.activities import FanOut
from mock_platform.rules.release_history import canonicalize_name
from mock_platform.rules.sample_messages import MESSAGE_HAPPENINGS
from mock_platform.rules.sample_posts import POST_HAPPENINGS
from mock_platform.rules.sample_users import USER_HAPPENINGS, CannotHappen, Happening
from mock_platform.store.interface import Record
from mock_platform.world.world import World

_HAPPENINGS: Mapping[str, Happening] = {
    **POST_HAPPENINGS,
    **USER_HAPPENINGS,
    **MESSAGE_HAPPENINGS,
}


def is_happening(event_type: str) -> bool:
    """Return whether events of a type are about records that change with them."""
    return canonicalize_name(event_type) in _HAPPENINGS


def happen(
    world: World, event_type: str, user: Record, *, created_at: str, direction: str | None
) -> FanOut:
    """Let something happen to a user, and return the activity of that user.

    Called within `world.work()`.

    Raises:
        CannotHappen: It cannot happen.
    """
    name = canonicalize_name(event_type)
    if user["protected"] and name in POST_HAPPENINGS:
        text = f"user {user['id']} is protected: what happens to posts of such users is no event"
        raise CannotHappen(text)
    found = _HAPPENINGS[name](world, user, created_at, direction)
    for fan_out in found:
        activity = fan_out.activity
        if (activity["event_type"], activity["user_id"]) != (name, user["id"]):
            continue
        if direction in {None, activity["direction"]}:
            return fan_out
    raise CannotHappen("the other users of the world are protected: what they do is no event")
