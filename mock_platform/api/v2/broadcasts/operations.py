"""Broadcasts of the calling user, and what all operations of broadcasts have in common."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

from mock_platform.api.v2.broadcasts.changes import advance_due
from mock_platform.api.v2.broadcasts.records import BROADCAST_FIELDS, BROADCASTS, show_broadcast
from mock_platform.api.v2.conventions import (
    ANY_USER,
    check_path,
    declare_public,
    find_nothing,
    get_user_id,
    require_record,
    start_on,
    wrap_data,
)
from mock_platform.api.v2.objects.answers import make_names_field
from mock_platform.api.v2.objects.object_types import PARTIAL_ERROR
from mock_platform.api.v2.pages import PageMeta, show_list, take_page
from mock_platform.core.assumptions import expectation, public_fact
from mock_platform.core.auth.authenticate import Auth
from mock_platform.core.call import Call
from mock_platform.core.fields import CommaList, Flag, Integer, ListOf, Nested, Text
from mock_platform.core.schema import Schema
from mock_platform.world.store.interface import Order, Record
from mock_platform.world.world import World

BROADCAST_SHAPES = public_fact(
    "broadcasts.shapes",
    "Broadcasts, their schedule and their chat have the shapes of the public description. Moments "
    "and counters are texts of milliseconds and digits. A broadcast is Scheduled, Running or "
    "Ended; it begins and ends with its schedule, one with manual_publish begins by hand.",
    "all of v2, section 18",
    gap=True,
)
WHOSE_BROADCASTS = expectation(
    "broadcasts.whose",
    "A user reads and manages the own broadcasts; those of others answer as if they were missing, "
    "404 with the resource_type space. Only the chat of a running broadcast takes messages of "
    "everybody who may see its owner's posts.",
)
BROADCAST_DEFAULTS = expectation(
    "broadcasts.fields",
    "Without field lists a broadcast has id, state and title, a message id and text. Broadcasts "
    "are listed newest first, scheduled ones by their beginning, 100 a page. With ids the page "
    "has no meaning. The schedule has meta as all lists have.",
)
Find = Callable[[Call, World, str], Record | None]
_NEWEST_FIRST = Order(descending=True)
_DEFAULTS = ("id", "state", "title")
BROADCAST_ID = r"[a-zA-Z0-9]{1,13}"


class BroadcastPath(Schema):
    """The broadcast in the path."""

    id = Text(pattern=BROADCAST_ID)


class BroadcastQuery(Schema):
    """What to show of a broadcast."""

    broadcast_fields = make_names_field(BROADCAST_FIELDS, data_key="broadcast.fields")


class BroadcastsQuery(BroadcastQuery):
    """The broadcasts to read, or the page of the list."""

    ids = CommaList(Text(pattern=BROADCAST_ID, pattern_text="an id of a broadcast"), most=100)
    max_results = Integer(low=1, high=100, load_default=100)
    pagination_token = Text(min_length=1)


_FLAGS, _NUMBERS = ("available_for_replay", "is_high_latency"), ("height", "width", "chat_option")
Broadcast = Schema.from_dict(
    {
        name: Flag() if name in _FLAGS else Integer() if name in _NUMBERS else Text()
        for name in BROADCAST_FIELDS
    },
    name="Broadcast",
)


class BroadcastAnswer(Schema):
    """A broadcast with the selected fields."""

    data = Nested(Broadcast, required=True)


class BroadcastList(Schema):
    """Broadcasts with the selected fields, and which of those asked for are not there."""

    data = ListOf(Nested(Broadcast))
    errors = PARTIAL_ERROR.several()
    meta = Nested(PageMeta, required=True)


DeletedAnswer = wrap_data("DeletedBroadcastAnswer", deleted=Flag(required=True))


def find_own(call: Call, world: World, id_: str) -> Record | None:
    """Return the caller's broadcast with an id, or `None`."""
    record = world.store.get(BROADCASTS, id_)
    return record if record is not None and record["_user_id"] == get_user_id(call) else None


def require_own(call: Call, world: World, find: Find = find_own, *, read: bool = False) -> Record:
    """Return the broadcast in the path as it is now; the default is any of the caller's.

    `read` says that the state is read, which counts in worlds where it changes by reads.

    Raises:
        ProblemFailure: The caller does not have it (404).
    """
    advance_due(world, get_user_id(call), read=call.path_params["id"] if read else None)
    return require_record(
        call,
        world,
        BROADCASTS,
        "broadcast",
        WHOSE_BROADCASTS,
        find=partial(find, call, world),
        resource_type="space",
    )


def list_(call: Call, world: World) -> dict[str, Any]:
    """Return the broadcasts of the caller that are asked for, or a page of all."""
    user_id, ids = get_user_id(call), call.params.get("ids")
    fields = call.params.get("broadcast_fields") or ()
    advance_due(world, user_id)
    if ids is None:
        page = take_page(call, world, BROADCASTS, {"_user_id": user_id}, order=_NEWEST_FIRST)
        shown = [_show(record, fields) for record in page.records]
        return show_list(shown, meta=page.meta())
    found = {id_: find_own(call, world, id_) for id_ in ids}
    shown = [_show(record, fields) for record in found.values() if record is not None]
    missing = [
        find_nothing("broadcast", "ids", id_, resource_type="space").as_item(call.base_url)
        for id_, record in found.items()
        if record is None
    ]
    if missing:
        call.assume(WHOSE_BROADCASTS)
    errors = {"errors": missing} if missing else {}
    return show_list(shown, **errors, meta={"result_count": len(shown)})


def _show(record: Record, fields: Any) -> Record:
    return show_broadcast(record, {*_DEFAULTS, *fields})


def get(call: Call, world: World) -> dict[str, Any]:
    """Return a broadcast of the caller."""
    record = require_own(call, world, read=True)
    return {"data": _show(record, call.params.get("broadcast_fields") or ())}


declare = partial(
    declare_public,
    auth=Auth(ANY_USER, scopes=("broadcast.read",)),
    since=start_on("2026-08-07"),
    errors=("invalid-request", "resource-not-found"),
    assumptions=(BROADCAST_SHAPES,),
    may_assume=(WHOSE_BROADCASTS,),
)
check_ids = partial(check_path, id=re.compile(BROADCAST_ID, re.ASCII))
"""Returns the rule for the ids in a path with a broadcast; further ones have a pattern each."""
declare_one = partial(declare, path_form=BroadcastPath, rules=check_ids())
WRITER = Auth(ANY_USER, scopes=("broadcast.read", "broadcast.write"))
OPERATIONS = (
    declare(
        "broadcasts.list",
        "GET /2/broadcasts",
        list_,
        "List the caller's broadcasts",
        params=BroadcastsQuery,
        returns=BroadcastList,
        errors=("invalid-request",),
        assumptions=(BROADCAST_SHAPES, BROADCAST_DEFAULTS),
    ),
    declare_one(
        "broadcasts.get",
        "GET /2/broadcasts/:id",
        get,
        "Read a broadcast",
        params=BroadcastQuery,
        returns=BroadcastAnswer,
        assumptions=(BROADCAST_SHAPES, BROADCAST_DEFAULTS),
    ),
)
