"""The tables of Spaces, of their topics and of who bought a ticket, and what clients see of them.

The shapes are public facts (all of v2, section 12).
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from mock_platform.api.v2.objects.object_types import SPACE_OBJECT, TOPIC_OBJECT
from mock_platform.api.v2.objects.relations import End, Relation
from mock_platform.core.fields import Choice, Flag, Instant, Integer, ListOf, Text
from mock_platform.core.schema import Schema
from mock_platform.core.tables.table import Reference, Shown, Table
from mock_platform.world.store.interface import Record

SPACES, TOPICS = "spaces", "space_topics"
SCHEDULED, LIVE, ENDED = "scheduled", "live", "ended"
SPACE_ID = r"[a-zA-Z0-9]{1,13}"
FIELDS = tuple(SPACE_OBJECT.keys)
"""The values of `space.fields`, in the order of the object."""
USER_EXPANSIONS = ("creator_id", "host_ids", "invited_user_ids", "speaker_ids")
EXPANSIONS = (*USER_EXPANSIONS, "topic_ids")
TOPIC_FIELDS = tuple(TOPIC_OBJECT.keys)
_FOR_CREATORS = frozenset({"invited_user_ids", "subscriber_count"})
_USUAL = frozenset(SPACE_OBJECT.always)
_USUAL_OF_TOPICS = frozenset(TOPIC_OBJECT.always)


class SpaceRecord(Schema):
    """A live conversation: scheduled, then live, then ended."""

    id = Text(required=True, pattern=SPACE_ID, pattern_text="1 to 13 letters and digits")
    state = Choice((SCHEDULED, LIVE, ENDED), required=True)
    title = Text(load_default=None, allow_none=True)
    creator_id = Text(required=True)
    host_ids = ListOf(Text(), load_default=list)
    speaker_ids = ListOf(Text(), load_default=list)
    invited_user_ids = ListOf(Text(), load_default=list)
    topic_ids = ListOf(Text(), load_default=list)
    is_ticketed = Flag(load_default=False)
    lang = Text(load_default="en")
    participant_count = Integer(low=0, load_default=0)
    subscriber_count = Integer(low=0, load_default=0)
    created_at = Instant(millis=True, required=True)
    updated_at = Instant(millis=True, required=True)
    scheduled_start = Instant(millis=True, load_default=None, allow_none=True)
    started_at = Instant(millis=True, load_default=None, allow_none=True)
    ended_at = Instant(millis=True, load_default=None, allow_none=True)


class SpaceTopicRecord(Schema):
    """What Spaces are about."""

    id = Text(required=True, min_length=1)
    name = Text(required=True, min_length=1)
    description = Text(load_default=None, allow_none=True)


def show_space(space: Record, asked: Collection[str], viewer_id: str | None) -> dict[str, Any]:
    """Return a Space with the fields that were asked for, as a user sees it, or a stranger."""
    wanted = _USUAL.union(asked)
    if space["creator_id"] != viewer_id:
        wanted -= _FOR_CREATORS
    if space["state"] != LIVE:
        wanted -= {"participant_count"}
    return {
        name: space[name] for name in FIELDS if name in wanted and space[name] not in (None, [])
    }


def show_topic(topic: Record, asked: Collection[str]) -> dict[str, Any]:
    """Return a topic with the fields that were asked for."""
    wanted = _USUAL_OF_TOPICS.union(asked)
    return {name: topic[name] for name in TOPIC_FIELDS if name in wanted and topic[name]}


SPACE_BUYERS = Relation(
    "space_buyers",
    "A user bought a ticket for a Space.",
    End("space_id", SPACES),
    End("user_id", "users"),
)
SPACE_TABLE = Table(
    SPACES,
    SpaceRecord,
    references=(
        *(Reference(name, "users") for name in USER_EXPANSIONS),
        Reference("topic_ids", TOPICS),
    ),
    shown=Shown(
        ("state", "creator_id", "created_at", "updated_at"),
        "space.fields",
        ("spaces.list", "spaces.get", "spaces.list_by_creators", "spaces.search"),
    ),
)
TABLES = (
    SPACE_TABLE,
    Table(TOPICS, SpaceTopicRecord, shown=Shown(("name",), "topic.fields")),
    SPACE_BUYERS.table,
)
