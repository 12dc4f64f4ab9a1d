"""What happens to Spaces: they are made, start and end, each with its activity.

No operation does that: `POST /_mock/events` and the transition `space` call these functions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mock_platform.api.v2.activity.activities import FanOut, record_activity
from mock_platform.api.v2.objects.users import NEWEST_FIRST, show_user
from mock_platform.api.v2.spaces.records import ENDED, LIVE, SCHEDULED, SPACE_TABLE, SPACES
from mock_platform.core.assumptions import expectation
from mock_platform.world.clock import wire_millis
from mock_platform.world.store.interface import Record
from mock_platform.world.transitions import Pace, TransitionKind
from mock_platform.world.world import World

SPACE_STATES = expectation(
    "spaces.states",
    "A scheduled Space waits until it is started by hand: by the transition space, or by an event "
    "spaces.start of its creator. The creator is the only user of spaces.start and spaces.end. A "
    "canceled Space is one that no longer exists.",
)


def add_space(world: World, creator: Record, title: str) -> Record:
    """Store a Space of a user that has not started, and return it."""
    now = wire_millis(world.clock.now())
    space, _ = SPACE_TABLE.load(
        {
            "id": world.ids.alphanumeric(13),
            "state": SCHEDULED,
            "title": title,
            "creator_id": creator["id"],
            "host_ids": [creator["id"]],
            "speaker_ids": [creator["id"]],
            "created_at": now,
            "updated_at": now,
        }
    )
    world.store.put(SPACES, space["id"], space)
    return space


def find_space(world: World, creator: Record, state: str) -> Record | None:
    """Return the newest Space of a user in a state, or `None`."""
    match = {"creator_id": creator["id"], "state": state}
    return world.store.first(SPACES, match, order=NEWEST_FIRST)


def start_space(world: World, space: Record, *, created_at: str | None = None) -> list[FanOut]:
    """Let a scheduled Space begin, and return the activities; none if it is not scheduled.

    Called within `world.work()`.
    """
    if space["state"] != SCHEDULED:
        return []
    return _change(world, space, LIVE, "started_at", "spaces.start", created_at)


def end_space(world: World, space: Record, *, created_at: str | None = None) -> list[FanOut]:
    """Let a Space end, and return the activities; none if it has ended already."""
    if space["state"] == ENDED:
        return []
    return _change(world, space, ENDED, "ended_at", "spaces.end", created_at)


def _change(
    world: World, space: Record, state: str, field: str, name: str, created_at: str | None
) -> list[FanOut]:
    moment = created_at or wire_millis(world.clock.now())
    changed = space | {"state": state, field: moment, "updated_at": moment}
    world.store.put(SPACES, space["id"], changed)
    creator = world.store.get("users", space["creator_id"])
    if creator is None:
        return []
    payload = {
        "user": {"data": show_user(world, creator)},
        "broadcast_id": space["id"],
        "event_type": name.replace(".", "_"),
    }
    activity = record_activity(
        world, name, user_id=creator["id"], payload=payload, created_at=created_at
    )
    return [activity]


def _act(world: World, space: Mapping[str, Any], to: str) -> str:
    """Let a Space begin or end, as the transition says."""
    (start_space if to == LIVE else end_space)(world, dict(space))
    return to


SPACE = TransitionKind(
    "space",
    SPACES,
    "state",
    first=SCHEDULED,
    ends=(LIVE, ENDED),
    pace=Pace("manual", seconds=0.0),
    act=_act,
    since="scheduled_start",
)
KINDS = (SPACE,)
