"""What one user does to another: the relation, its counts, and the activities.

Operations, `POST /_mock/events` and the control plane follow, mute and block here, within
`world.work()`. Each function returns the activities: none if nothing changes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Protocol

from mock_platform.api.v2.activity.activities import FanOut, record_activity
from mock_platform.api.v2.objects.relations import (
    BLOCKS,
    FOLLOW_REQUESTS,
    FOLLOWS,
    HIDDEN_REPOSTS,
    MUTES,
)
from mock_platform.api.v2.objects.users import show_user
from mock_platform.world.store.interface import Change, Record
from mock_platform.world.world import World


class RelationChange(Protocol):
    """Changes what one user is to another: `follow` and the others below."""

    def __call__(
        self, world: World, source: Record, target: Record, *, created_at: str | None = None
    ) -> list[FanOut]:
        """Change it at a moment, that of the world's clock if none is given."""


def _make_change(
    name: str, change: Callable[[World, str, str], bool], *, to_both: bool = False
) -> RelationChange:
    """Return what changes a relation and records the activity, if anything changed.

    The activity is of the user who acts; `to_both`: it is sent by one, and received by the other.
    """

    def apply(
        world: World, source: Record, target: Record, *, created_at: str | None = None
    ) -> list[FanOut]:
        if not change(world, source["id"], target["id"]):
            return []
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

    return apply


def _read(world: World, user: Record) -> Record:
    """Return a user with the counts that the change has made."""
    return world.store.get("users", user["id"]) or user


def _begin_follow(world: World, source: str, target: str) -> bool:
    FOLLOW_REQUESTS.remove(world, source, target)  # it is over then
    return FOLLOWS.add(world, source, target)


def _end_follow(world: World, source: str, target: str) -> bool:
    FOLLOW_REQUESTS.remove(world, source, target)  # which is no activity
    HIDDEN_REPOSTS.remove(world, source, target)
    return FOLLOWS.remove(world, source, target)


def _begin_block(world: World, source: str, target: str) -> bool:
    """Begin a block: follows and requests between the two end, without activities."""
    if not BLOCKS.add(world, source, target):
        return False
    for relation in (FOLLOWS, FOLLOW_REQUESTS, HIDDEN_REPOSTS):
        relation.remove(world, source, target)
        relation.remove(world, target, source)
    return True


follow = _make_change("follow.follow", _begin_follow, to_both=True)
unfollow = _make_change("follow.unfollow", _end_follow, to_both=True)
mute = _make_change("mute.mute", MUTES.add)
unmute = _make_change("mute.unmute", MUTES.remove)
block = _make_change("block.block", _begin_block)
unblock = _make_change("block.unblock", BLOCKS.remove)
"""The follows that a block ended do not come back."""


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
    world.store.consequences.append((("users",), partial(_accept_of_public, world)))


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
