"""The journal of a world: what was asked, what was answered, and why."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flask import Response
from marshmallow import Schema

from mock_platform.control.har import archive
from mock_platform.control.refusal import BadQuery, Refusal, did_you_mean
from mock_platform.control.route import ControlRequest
from mock_platform.core.fields import Instant, Integer, ListOf, Nested, Text
from mock_platform.core.jsonio import dumps
from mock_platform.platform import Platform
from mock_platform.world.clock import parse_instant
from mock_platform.world.journal import JournalEntry, Query
from mock_platform.world.world import World

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")


class QueryOfRequests(Schema):
    """Which entries to find; all that are given must fit."""

    operation = Text(metadata={"description": "id of an operation"})
    status = Integer(low=100, high=599)
    method = Text(
        metadata={
            "description": "in any case",
            "enum": [spelling for name in METHODS for spelling in (name, name.lower())],
        }
    )
    path = Text(metadata={"description": "a part of the address"})
    rule = Text(metadata={"description": "the scenario whose rule acted, or NAME/0 for one rule"})
    since = Instant(
        as_sent=True,
        metadata={"description": "at this moment of the world's clock or later"},
    )


class QueryOfList(QueryOfRequests):
    """Which entries to list, and how many."""

    limit = Integer(low=0, metadata={"description": "the newest so many of those that fit"})


class ListAnswer(Schema):
    """Entries, oldest first, and how many older ones were given up for room."""

    requests = ListOf(Nested(Schema.from_dict({}, name="Entry")), required=True)
    dropped = Integer(required=True)


class CountAnswer(Schema):
    """How many entries fit."""

    count = Integer(required=True)


def list_requests(request: ControlRequest) -> dict[str, Any]:
    """Entries that fit, oldest first."""
    journal = request.world.journal
    query = read_query(request.platform, request.query)
    found = journal.find(query, request.query.get("limit"))
    return {"requests": [entry.as_json() for entry in found], "dropped": journal.dropped}


def archive_requests(request: ControlRequest) -> Response:
    """Entries that fit as an HTTP archive, which a browser's developer tools open."""
    world = request.world
    query = read_query(request.platform, request.query)
    found = world.journal.find(query, request.query.get("limit"))
    return Response(
        dumps(archive(found, world.journal.dropped)),
        content_type="application/json",
        headers={"Content-Disposition": f'attachment; filename="{world.name}.har"'},
    )


def count_requests(request: ControlRequest) -> dict[str, int]:
    """How many entries fit."""
    return {"count": request.world.journal.count(read_query(request.platform, request.query))}


def get_request(request: ControlRequest) -> dict[str, Any]:
    """One entry."""
    return find_entry(request.platform, request.world, request.args["key"]).as_json()


def delete_requests(request: ControlRequest) -> None:
    """Empty the journal."""
    request.world.journal.clear()


def find_entry(platform: Platform, world: World, entry_id: str) -> JournalEntry:
    """The entry with this id, as `X-Mock-Request-Id` told it.

    Raises:
        Refusal: 404; it is another world's, it was dropped, or there never was one.
    """
    entry = world.journal.get(entry_id)
    if entry is not None:
        return entry
    for other in platform.worlds:
        if other.journal.get(entry_id) is not None:
            raise Refusal(
                404,
                f"The journal of world {world.name!r} has no entry {entry_id!r}, that of world "
                f"{other.name!r} does: GET /~{other.name}/_mock/requests/{entry_id}.",
            )
    raise Refusal(
        404,
        f"The journal of world {world.name!r} has no entry {entry_id!r}. It keeps the newest "
        f"entries ({world.journal.dropped} older ones were dropped) until it is emptied or the "
        "world is reset; GET /_mock/requests lists them.",
    )


def read_query(platform: Platform, sent: Mapping[str, Any]) -> Query:
    """What to find, of a query that its schema has checked.

    Raises:
        BadQuery: No operation or method is called so: "none of these came" would hold whatever
            came.
    """
    faults: list[tuple[str, str]] = []
    operation, method, since = sent.get("operation"), sent.get("method"), sent.get("since")
    if operation is not None:
        known = [entry.id for entry in platform.operations]
        if operation not in known:
            text = f"no operation has the id {operation!r}.{did_you_mean(operation, known)}"
            faults.append(("operation", f"{text} GET /_mock/operations lists them"))
    if method is not None and method.upper() not in METHODS:
        faults.append(("method", f"method is one of {', '.join(METHODS)}, got {method!r}"))
    if faults:
        raise BadQuery(faults)
    return Query(
        operation=operation,
        status=sent.get("status"),
        method=method,
        path=sent.get("path"),
        rule=sent.get("rule"),
        since=None if since is None else parse_instant(since),
    )
