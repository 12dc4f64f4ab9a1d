"""Searches that a user saved, of the older interface; the v2 interface has none."""

from __future__ import annotations

from functools import partial

from mock_platform.api.older import conventions as older
from mock_platform.api.older.conventions import add_fields, declare, require
from mock_platform.api.v2 import conventions as v2
from mock_platform.api.v2.objects import post_view
from mock_platform.api.v2.objects.older_forms import format_post_time
from mock_platform.core.assumptions import public_fact
from mock_platform.core.call import Call
from mock_platform.core.failures.errors import NumericFailure
from mock_platform.core.fields import Instant, Json, Long, Text
from mock_platform.core.schema import Schema
from mock_platform.core.tables.table import Reference, Table
from mock_platform.world.clock import parse_instant, wire_millis
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

SAVED_SEARCHES = public_fact(
    "older.saved-searches",
    "A user has up to 25 saved searches, each of up to 100 characters; one more is refused with "
    "code 172. A query that is saved already is not saved twice.",
    "developer pages of version 1.1, saved_searches",
)
_TABLE = "saved_searches"
_MOST = 25


class SavedSearchRecord(Schema):
    """A query that a user saved."""

    id = v2.make_id_field(required=True)
    query = Text(required=True, min_length=1, max_length=100)
    created_at = Instant(millis=True, required=True)
    _user_id = Text(required=True)


TABLES = (Table(_TABLE, SavedSearchRecord, references=(Reference("_user_id", "users"),)),)
SavedSearch = v2.make_schema(
    "OlderSavedSearch",
    id=Long(required=True),
    position=Json(allow_none=True),
    **require(Text, "id_str", "name", "query", "created_at"),
)


def create(call: Call, world: World) -> Record:
    """Save a query of the caller, unless it is saved already.

    Raises:
        NumericFailure: The caller has as many as there may be (172).
    """
    own, query = v2.get_user_id(call), call.params["query"]
    found = world.store.first(_TABLE, {"_user_id": own, "query": query})
    if found is None:
        if world.store.count(_TABLE, {"_user_id": own}) >= _MOST:
            raise NumericFailure(172)
        now = world.clock.now()
        id_ = world.ids.snowflake(now)
        found = {"id": id_, "query": query, "created_at": wire_millis(now), "_user_id": own}
        world.store.put(_TABLE, id_, found)
    return _show(found)


def list_all(call: Call, world: World) -> list[Record]:
    """Return the saved searches of the caller, the oldest first."""
    own = world.store.page(_TABLE, {"_user_id": v2.get_user_id(call)})
    return [_show(entry.record) for entry in own]


def show(call: Call, world: World) -> Record:
    """Return a saved search of the caller."""
    return _show(_require(call, world))


def destroy(call: Call, world: World) -> Record:
    """Delete a saved search of the caller, and return it."""
    found = _require(call, world)
    world.store.remove(_TABLE, found["id"])
    return _show(found)


def _require(call: Call, world: World) -> Record:
    return older.require_own(call, world, _TABLE, call.path_params["id"])


def _show(search: Record) -> Record:
    return {
        **post_view.add_texts({"id": int(search["id"])}),
        "name": search["query"],
        "query": search["query"],
        "position": None,
        "created_at": format_post_time(parse_instant(search["created_at"])),
    }


_declare = partial(declare, returns=SavedSearch, facts=(SAVED_SEARCHES,))
_named = partial(_declare, params=add_fields(), path={"id": "1866020000000000001"}, errors="34")
OPERATIONS = (
    _declare("GET saved_searches/list", list_all, "List the saved searches of the caller",
             returns=older.Listing(SavedSearch), params=add_fields(), rates=(None, 15)),
    _named("GET saved_searches/show/:id", show, "Read a saved search", rates=(None, 15)),
    _declare("POST saved_searches/create", create, "Save a search", errors="172",
             params=add_fields(query=Text(required=True, min_length=1, max_length=100)),
             query={"query": "harbor coffee"}),
    _named("POST saved_searches/destroy/:id", destroy, "Delete a saved search"),
)  # fmt: skip
