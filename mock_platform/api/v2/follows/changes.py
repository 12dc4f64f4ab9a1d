"""What follows change: the relation, requests to protected users, and the activities.

Operations, `POST /_mock/events` and the control plane follow and unfollow here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mock_platform.api.v2.activity.activities import FanOut, record_activity
from mock_platform.api.v2.objects.relations import FOLLOW_REQUESTS, FOLLOWS
from mock_platform.api.v2.objects.users import show_user
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World


def follow(
    world: World, source: Record, target: Record, *, created_at: str | None = None
) -> list[FanOut]:
    """Let one user follow another, and return the activities; none if it is nothing new.

    A request to follow is over then. Called within `world.work()`.
    """
    FOLLOW_REQUESTS.remove(world, source["id"], target["id"])
    if not FOLLOWS.add(world, source["id"], target["id"]):
        return []
    return _record_both(world, "follow.follow", source, target, created_at)


def unfollow(
    world: World, source: Record, target: Record, *, created_at: str | None = None
) -> list[FanOut]:
    """End a follow, or the request for one, and return the activities; none without a follow."""
    FOLLOW_REQUESTS.remove(world, source["id"], target["id"])
    if not FOLLOWS.remove(world, source["id"], target["id"]):
        return []
    return _record_both(world, "follow.unfollow", source, target, created_at)


def _record_both(
    world: World, name: str, source: Record, target: Record, created_at: str | None
) -> list[FanOut]:
    """Record an activity of both users: sent by one, received by the other."""
    payload: Mapping[str, Any] = {
        "source": {"data": show_user(world, _read(world, source))},
        "target": {"data": show_user(world, _read(world, target))},
    }
    return [
        record_activity(
            world,
            name,
            user_id=user["id"],
            payload=payload,
            direction=direction,
            created_at=created_at,
        )
        for user, direction in ((source, "sent"), (target, "received"))
    ]


def _read(world: World, user: Record) -> Record:
    """Return a user with the counts that the change has made."""
    return world.store.get("users", user["id"]) or user
