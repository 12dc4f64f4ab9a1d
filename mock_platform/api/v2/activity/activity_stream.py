"""The activity stream: an app's events as they happen, one JSON object on a line.

Document A names the endpoint in "Events"; its form is a public fact (named endpoints, 3.2, 5.5).
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from mock_platform.api.v2.activity.activities import (
    FAN_OUT,
    STREAM,
    ActivityFilter,
    is_for_app,
    make_lines,
)
from mock_platform.api.v2.conventions import declare_named, wrap_data
from mock_platform.api.v2.objects.object_types import INCLUDES
from mock_platform.api.v2.release_history import date_names
from mock_platform.api.v2.streams.endpoint import StreamEndpoint, WindowQuery, find_window_faults
from mock_platform.api.v2.streams.open_streams import OPENING, open_stream
from mock_platform.api.v2.streams.stream import STREAM_ENDING, STREAM_WIRE, Stream
from mock_platform.api.v2.usage.counting import COUNTED_EVENTS, count_post_event
from mock_platform.core.assumptions import public_fact
from mock_platform.core.auth.authenticate import BEARER
from mock_platform.core.call import Call
from mock_platform.core.envelope import Lines
from mock_platform.core.fields import Json, Nested, Text
from mock_platform.world.names import UnknownWorld
from mock_platform.world.store.errors import StoreError
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

STREAM_SHAPE = public_fact(
    "activity.stream",
    "GET /2/activity/stream takes app tokens alone, allows 2 connections, and sends the activities "
    "that match the app's subscriptions in the form that webhooks get, one line for each "
    "subscription that matched when it happened.",
    "section 3.2 of the named endpoints",
    gap=True,
)


def _count_and_make_lines(
    world: World, activity: Record, app_id: str, _params: Mapping[str, Any]
) -> list[dict[str, Any]]:
    if activity["event_type"].startswith("post."):  # others need no transaction
        with suppress(UnknownWorld, StoreError), world.work():
            count_post_event(world, app_id, activity)
    return make_lines(activity, app_id)


ACTIVITY_STREAM = StreamEndpoint(
    STREAM, connections=2, concerns=is_for_app, make_lines=_count_and_make_lines
)
ActivityLine = wrap_data(
    "ActivityLine",
    "_Event",
    event_uuid=Text(required=True),
    filter=Nested(ActivityFilter, required=True),
    event_type=Text(required=True),
    tag=Text(),
    payload=Json(required=True),
    includes=INCLUDES.one(),
)


def open_(call: Call, world: World) -> Stream:
    """Open a stream of the activities that the app has subscribed to."""
    return open_stream(call, world, ACTIVITY_STREAM)


OPERATIONS = (
    declare_named(
        "activity_stream.open",
        "GET /2/activity/stream",
        open_,
        "Stream the activities that an app has subscribed to",
        spec="Events",
        params=WindowQuery,
        rules=find_window_faults,
        returns=Lines(ActivityLine),
        auth=BEARER,
        limit=450,
        errors=("invalid-request", "streaming-connection"),
        assumptions=(STREAM_SHAPE, STREAM_WIRE, FAN_OUT),
        may_assume=(*OPENING, STREAM_ENDING, COUNTED_EVENTS),
        dated=date_names("answer-value-added", "answer 200: data.event_type"),
    ),
)
