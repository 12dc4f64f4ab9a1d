"""The compliance streams of posts, users and likes, and the stream of labels.

Their lines are the events of `causes`; the shapes are public facts (all of v2, section 16).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import partial
from typing import Any

from msgspec import Struct

from mock_platform.api.v2.compliance.causes import COMPLIANCE_CAUSES
from mock_platform.api.v2.conventions import (
    ENTERPRISE_ONLY,
    Rates,
    declare_public,
    make_schema,
    require_enterprise,
)
from mock_platform.api.v2.objects.object_types import PARTIAL_ERROR, ObjectType
from mock_platform.api.v2.streams.endpoint import (
    STREAM_PARTITIONS,
    Line,
    StreamEndpoint,
    WindowQuery,
    find_window_faults,
    make_partition_field,
)
from mock_platform.api.v2.streams.open_streams import COMPLIANCE_EVENTS, OPENING, open_stream
from mock_platform.api.v2.streams.stream import STREAM_ENDING, STREAM_WIRE, Stream
from mock_platform.core.assumptions import expectation, public_fact
from mock_platform.core.auth.authenticate import BEARER
from mock_platform.core.call import Call
from mock_platform.core.envelope import Lines
from mock_platform.core.operation import Operation
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

COMPLIANCE_SHAPES = public_fact(
    "compliance.streams",
    "The compliance and label streams take app tokens alone; each line has what happened as the "
    "one key of data.",
    "all of v2, section 16",
    gap=True,
)
COMPLIANCE_CONNECTIONS = expectation(
    "compliance.connections",
    "An app may have 2 connections to each of these streams, in each partition, and 50 connects in "
    "15 minutes.",
)
_CONNECTIONS = 2


class PartitionedQuery(WindowQuery):
    """What a compliance stream begins with, and which part of it a client wants."""

    partition = make_partition_field(4)


def _describe(name: str, subject: Mapping[str, Any], /, **more: Any) -> ObjectType:
    """Return what a line says of a subject; `more` is what it may say beside this."""
    always = ("event_at", *subject)
    return ObjectType(name, {**subject, "event_at": datetime, **more}, always=always)


_POST = {"post": {"id": str, "author_id": str}}
_USER = {"user": {"id": str}}
_OF_POST = _describe("ComplianceOfPost", _POST, quote_post_id=str)
_OF_USER = _describe("ComplianceOfUser", _USER)
_COUNTRIES = {"withheld_in_countries": [str]}


class Feed(Struct, frozen=True):
    """One of the streams, with what the data of its lines have: one of these keys."""

    stream: str
    id: str
    path: str
    summary: str
    kinds: Mapping[str, Any]
    partitions: int = 0


STREAMS = (
    Feed(
        "posts", "posts_compliance_stream", "/2/posts/compliance/stream", "posts",
        {
            **dict.fromkeys(("delete", "drop", "undrop"), _OF_POST),
            "withheld": _describe("WithheldPost", _POST, quote_post_id=str, **_COUNTRIES),
            "post_edit": _describe(
                "EditedPost", {"post": {"id": str}}, initial_post_id=str, edit_post_ids=[str]
            ),
        },
        4,
    ),
    Feed(
        "users", "users_compliance_stream", "/2/users/compliance/stream", "users",
        {
            **{
                f"user_{done}": _OF_USER
                for kind in ("protect", "suspend", "delete")
                for done in (kind, f"un{kind}")
            },
            "user_withheld": _describe("WithheldUser", _USER, **_COUNTRIES),
            "scrub_geo": _describe("ScrubbedUser", _USER, up_to_post_id=str),
            "user_profile_modification": _describe(
                "ModifiedUser", _USER, profile_field=str, new_value=str
            ),
        },
        4,
    ),
    Feed(
        "likes", "likes_compliance_stream", "/2/likes/compliance/stream", "likes",
        {"delete": _describe("EndedLike", {"favorite": {"id": str, "user_id": str}})},
    ),
    Feed(
        "label", "post_label_stream", "/2/posts/label/stream", "labels of posts",
        {
            "public_post_notice": _describe(
                "PostNotice", _POST,
                **dict.fromkeys(
                    (
                        "event_type", "application", "details", "label_title",
                        "extended_details_url",
                    ),
                    str,
                ),
            ),
            "public_post_unviewable": _describe("UnviewablePost", _POST, application=str),
        },
    ),
)  # fmt: skip


def _make_lines(
    _world: World, event: Record, _app_id: str, _params: Mapping[str, Any]
) -> Iterator[Line]:
    yield {"data": {event["event_type"]: event["content"]}}


def _find_number(event: Record) -> int:
    return int(event["subject_id"])


def open_(endpoint: StreamEndpoint, call: Call, world: World) -> Stream:
    """Open one of the streams."""
    return open_stream(call, world, endpoint)


def _declare(feed: Feed) -> Operation:
    endpoint = StreamEndpoint(
        feed.id,
        connections=_CONNECTIONS,
        concerns=lambda event, _app_id: event["stream"] == feed.stream,
        make_lines=_make_lines,
        table=COMPLIANCE_EVENTS,
        find_number=_find_number if feed.partitions else None,
        partitions=feed.partitions,
    )
    name = feed.id.title().replace("_", "")
    line = make_schema(
        f"{name}Line",
        data=ObjectType(f"{name}Data", feed.kinds).one(),
        # As its last line, a stream says why it ended.
        errors=PARTIAL_ERROR.several(),
    )
    return declare_public(
        f"{feed.id}.open",
        f"GET {feed.path}",
        partial(open_, endpoint),
        f"Stream what becomes of {feed.summary}",
        params=PartitionedQuery if feed.partitions else WindowQuery,
        rules=find_window_faults,
        tier_gate=require_enterprise,
        returns=Lines(line),
        auth=BEARER,
        limit=Rates(app=50),
        errors=("invalid-request", "streaming-connection"),
        assumptions=(
            COMPLIANCE_SHAPES,
            STREAM_WIRE,
            COMPLIANCE_CAUSES,
            COMPLIANCE_CONNECTIONS,
            *((STREAM_PARTITIONS,) if feed.partitions else ()),
        ),
        may_assume=(*OPENING, STREAM_ENDING, ENTERPRISE_ONLY),
    )


OPERATIONS = tuple(map(_declare, STREAMS))
