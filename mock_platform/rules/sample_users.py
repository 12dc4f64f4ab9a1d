"""Who takes part in what happens on command, and what one user does to another."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from mock_platform.rules.activities import FanOut, record_activity
from mock_platform.rules.public_users import show_user
from mock_platform.store.interface import Record
from mock_platform.world.world import World

Happening = Callable[[World, Record, str, str | None], list[FanOut]]
"""Lets something happen to a user at a moment, in a direction if one is given; the activities."""


class CannotHappen(ValueError):
    """What was asked for cannot happen; the text says why, and what to do."""


def find_other_user(world: World, user: Record) -> Record:
    """Return the first other user of a world, one who is not protected if there is one.

    Raises:
        CannotHappen: The world has no other user.
    """
    others = [e.record for e in world.store.page("users", limit=100) if e.key != user["id"]]
    if not others:
        raise CannotHappen("payload is required: the world has no other user")
    return next((one for one in others if not one["protected"]), others[0])


def _make_follow(event_type: str, step: int) -> Happening:
    """Return what lets a user follow another, or no longer; `step` is added to their counts."""

    def happen(world: World, user: Record, created_at: str, direction: str | None) -> list[FanOut]:
        other = find_other_user(world, user)
        source, target = (other, user) if direction == "received" else (user, other)
        source = source | {"friends_count": max(0, source["friends_count"] + step)}
        target = target | {"followers_count": max(0, target["followers_count"] + step)}
        for one in (source, target):
            world.store.put("users", one["id"], one)
        payload = {"source": {"data": show_user(source)}, "target": {"data": show_user(target)}}
        return [
            record_activity(
                world,
                event_type,
                user_id=one["id"],
                payload=payload,
                direction=way,
                created_at=created_at,
            )
            for one, way in ((source, "sent"), (target, "received"))
        ]

    return happen


USER_HAPPENINGS: Mapping[str, Happening] = {
    "follow.follow": _make_follow("follow.follow", 1),
    "follow.unfollow": _make_follow("follow.unfollow", -1),
}
