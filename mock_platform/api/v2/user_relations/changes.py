"""What one user does to another: the relation, its counts, and the activities.

Operations, `POST /_mock/events` and the control plane follow, mute and block here, within
`world.work()`. Each function returns the activities: none if nothing changes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Protocol

from mock_platform.api.v2.activity.activities import FanOut, record_activity
from mock_platform.api.v2.objects.relations import BLOCKS, FOLLOW_REQUESTS, FOLLOWS, MUTES
from mock_platform.api.v2.objects.users import show_user
from mock_platform.world.store.interface import Change, Record
from mock_platform.world.world import World


class RelationChange(Protocol):
    """Changes what one user is to another: `follow` and the others below."""

    def __call__(
        self, world: World, source: Record, target: Record, *, created_at: str | None = None
    ) -> list[FanOut]:
        """Change it at a moment, that of the world's clock if none is given."""


def follow(
    world: World, source: Record, target: Record, *, created_at: str | None = None
) -> list[FanOut]:
    """Let one user follow another; a request to follow is over then."""
    FOLLOW_REQUESTS.remove(world, source["id"], target["id"])
    if not FOLLOWS.add(world, source["id"], target["id"]):
        return []
    return _record(world, "follow.follow", source, target, created_at, to_both=True)


def unfollow(
    world: World, source: Record, target: Record, *, created_at: str | None = None
) -> list[FanOut]:
    """End a follow, or the request for one, which is no activity."""
    FOLLOW_REQUESTS.remove(world, source["id"], target["id"])
    if not FOLLOWS.remove(world, source["id"], target["id"]):
        return []
    return _record(world, "follow.unfollow", source, target, created_at, to_both=True)


def accept_request(
    world: World, source: Record, target: Record, *, created_at: str | None = None
) -> list[FanOut]:
    """Let a protected user accept the request of another to follow; without one, do nothing."""
    if FOLLOW_REQUESTS.find(world, source["id"], target["id"]) is None:
        return []
    return follow(world, source, target, created_at=created_at)


def deny_request(
    world: World, source: Record, target: Record, *, created_at: str | None = None
) -> list[FanOut]:
    """Let a protected user deny the request of another to follow, which is no activity."""
    FOLLOW_REQUESTS.remove(world, source["id"], target["id"])
    return []


def accept_when_public(world: World) -> None:
    """Let users whose posts become public accept all requests, whatever changes them."""
    world.store.before_commit.append(partial(_accept_of_public, world))


def _accept_of_public(world: World, changes: Sequence[Change]) -> None:
    for change in changes:
        before, after = change.before, change.after
        if change.table != "users" or before is None or after is None:
            continue
        if before.get("protected") and not after.get("protected"):
            for user_id in FOLLOW_REQUESTS.list_sources(world, after["id"]):
                asking = world.store.get("users", user_id)
                if asking is not None:
                    follow(world, asking, after)


def mute(
    world: World, source: Record, target: Record, *, created_at: str | None = None
) -> list[FanOut]:
    """Let one user mute another, who gets no activity."""
    if not MUTES.add(world, source["id"], target["id"]):
        return []
    return _record(world, "mute.mute", source, target, created_at)


def unmute(
    world: World, source: Record, target: Record, *, created_at: str | None = None
) -> list[FanOut]:
    """End a mute, of which only the user who muted gets an activity."""
    if not MUTES.remove(world, source["id"], target["id"]):
        return []
    return _record(world, "mute.unmute", source, target, created_at)


def block(
    world: World, source: Record, target: Record, *, created_at: str | None = None
) -> list[FanOut]:
    """Let one user block another: follows and requests between the two end, without activities."""
    if not BLOCKS.add(world, source["id"], target["id"]):
        return []
    for relation in (FOLLOWS, FOLLOW_REQUESTS):
        relation.remove(world, source["id"], target["id"])
        relation.remove(world, target["id"], source["id"])
    return _record(world, "block.block", source, target, created_at)


def unblock(
    world: World, source: Record, target: Record, *, created_at: str | None = None
) -> list[FanOut]:
    """End a block; the follows that it ended do not come back."""
    if not BLOCKS.remove(world, source["id"], target["id"]):
        return []
    return _record(world, "block.unblock", source, target, created_at)


def _record(
    world: World,
    name: str,
    source: Record,
    target: Record,
    created_at: str | None,
    *,
    to_both: bool = False,
) -> list[FanOut]:
    """Record an activity of the user who acts; `to_both`: sent by one, received by the other."""
    payload: Mapping[str, Any] = {
        "source": {"data": show_user(world, _read(world, source))},
        "target": {"data": show_user(world, _read(world, target))},
    }
    heard = [(source, "sent"), (target, "received")] if to_both else [(source, None)]
    return [
        record_activity(
            world,
            name,
            user_id=user["id"],
            payload=payload,
            direction=direction,
            created_at=created_at,
        )
        for user, direction in heard
    ]


def _read(world: World, user: Record) -> Record:
    """Return a user with the counts that the change has made."""
    return world.store.get("users", user["id"]) or user
