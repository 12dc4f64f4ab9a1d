"""The journal of a world: its requests, the answers, and the reasons."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from mock_platform.api.guesses import hint_at_operation
from mock_platform.control.questions import ENTRY, find_world_of_entry
from mock_platform.control.refusals import ControlRefusal
from mock_platform.control.route import ControlRequest, Route
from mock_platform.core.documents.forms import describe_choice
from mock_platform.core.errors import BadQuery, UnknownScenario
from mock_platform.core.fields import Choice, Instant, Integer, ListOf, Nested, Text
from mock_platform.core.jsonio import dumps
from mock_platform.core.reasons import PREFER
from mock_platform.core.schema import Schema
from mock_platform.platform import Platform
from mock_platform.scenario.director import find_engine
from mock_platform.world.clock import parse_instant
from mock_platform.world.endings import COMPLETE, HOWS
from mock_platform.world.journal import JournalEntry, Query
from mock_platform.world.world import World

if TYPE_CHECKING:
    from flask import Response

_CLASS = re.compile(r"([1-5])xx", re.ASCII | re.IGNORECASE)
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")


class StatusRange(Integer):
    """A status such as 404, or a class of them such as 4xx.

    Example:
        >>> StatusRange().deserialize("4xx"), StatusRange().deserialize(404)
        (range(400, 500), range(404, 405))
    """

    kind = "a status such as 404 or a class such as 4xx"

    @staticmethod
    def json_schema() -> dict[str, Any]:
        """The description of either."""
        return {
            "oneOf": [
                {"type": "integer", "minimum": 100, "maximum": 599},
                {"type": "string", "pattern": "^[1-5]xx$"},
            ]
        }

    def _deserialize(  # type: ignore[override]
        self, value: Any, attr: str | None, data: Any, **kwargs: Any
    ) -> range:
        found = _CLASS.fullmatch(value) if isinstance(value, str) else None
        if found is not None:
            first = int(found[1]) * 100
            return range(first, first + 100)
        status = super()._deserialize(value, attr, data, **kwargs)
        if not 100 <= status <= 599:
            raise self._unreadable(value)
        return range(status, status + 1)


class QueryOfRequests(Schema):
    """A query for entries; an entry must match all values."""

    operation = Text(metadata={"description": "id of an operation"})
    status = StatusRange()
    method = Text(
        metadata={
            "description": "in any case",
            "enum": [spelling for name in METHODS for spelling in (name, name.lower())],
        }
    )
    path = Text(metadata={"description": "part of the address"})
    rule = Text(metadata={"description": "the scenario whose rule acted, or NAME/0 for one rule"})
    ended = Choice(HOWS, metadata={"description": "how the answer ended"})
    since = Instant(
        as_sent=True,
        metadata={"description": "at this moment of the world's clock or later"},
    )


class QueryOfList(QueryOfRequests):
    """A query for entries, with a limit."""

    limit = Integer(
        low=0, metadata={"description": "maximum number of entries; the newest ones are kept"}
    )


class ListAnswer(Schema):
    """Entries, oldest first, and how many older ones were dropped for space."""

    requests = ListOf(Nested(Schema.from_dict({}, name="Entry")), required=True)
    dropped = Integer(required=True)


class CountAnswer(Schema):
    """How many entries match."""

    count = Integer(required=True)


def list_requests(request: ControlRequest) -> dict[str, Any]:
    """Return the matching entries, oldest first."""
    journal = request.world.journal
    query = read_query(request.platform, request.world, request.query)
    found = journal.find(query, request.query.get("limit"))
    return {"requests": [entry.as_json() for entry in found], "dropped": journal.dropped}


def archive_requests(request: ControlRequest) -> Response:
    """Return the matching entries as an HTTP archive, for a browser's developer tools."""
    # `MockPlatform` uses the queries above without Flask.
    from flask import Response

    world = request.world
    query = read_query(request.platform, request.world, request.query)
    found = world.journal.find(query, request.query.get("limit"))
    return Response(
        dumps(archive(found, world.journal.dropped)),
        content_type="application/json",
        headers={"Content-Disposition": f'attachment; filename="{world.name}.har"'},
    )


def count_requests(request: ControlRequest) -> dict[str, int]:
    """How many entries match."""
    return {
        "count": request.world.journal.count(
            read_query(request.platform, request.world, request.query)
        )
    }


def get_request(request: ControlRequest) -> dict[str, Any]:
    """One entry of the journal."""
    return find_entry(request.platform, request.world, request.args["key"]).as_json()


def delete_requests(request: ControlRequest) -> None:
    """Delete all entries of the journal."""
    request.world.clear_journal()


def find_entry(platform: Platform, world: World, entry_id: str) -> JournalEntry:
    """Return the entry with this id, which the client got in `X-Mock-Request-Id`.

    Raises:
        Refusal: 404; it belongs to another world, was dropped, or never existed.
    """
    entry = world.journal.get(entry_id)
    if entry is not None:
        return entry
    found = [find_world_of_entry(platform, entry_id)]
    found += platform.peers.ask_all(ENTRY, entry_id).values()
    for other in filter(None, found):
        raise ControlRefusal(
            404,
            f"The journal of world {world.name!r} has no entry {entry_id!r}; the "
            f"entry is in world {other!r}: GET /~{other}/_mock/requests/{entry_id}.",
        )
    raise ControlRefusal(
        404,
        f"The journal of world {world.name!r} has no entry {entry_id!r}. It keeps the newest "
        f"entries ({world.journal.dropped} older ones were dropped) until it is emptied or the "
        "world is reset; GET /_mock/requests lists them.",
    )


def read_query(platform: Platform, world: World, sent: Mapping[str, Any]) -> Query:
    """Return the search for a query that its schema has checked.

    Raises:
        BadQuery: An operation, a method or a scenario does not exist; a check for "no such request"
            would always pass.
    """
    faults: list[tuple[str, str]] = []
    operation, method, since = sent.get("operation"), sent.get("method"), sent.get("since")
    ended, rule = sent.get("ended"), sent.get("rule")
    if operation is not None:
        known = [entry.id for entry in platform.operations]
        if operation not in known:
            text = f"no operation has the id {operation!r}.{hint_at_operation(operation, known)}"
            faults.append(("operation", f"{text} GET /_mock/operations lists all operations"))
    if method is not None and method.upper() not in METHODS:
        faults.append(("method", f"method: {describe_choice(method.upper(), METHODS)}"))
    if ended is not None and ended not in HOWS:
        faults.append(("ended", f"ended: {describe_choice(ended, HOWS)}"))
    if rule is not None:
        faults += [("rule", fault) for fault in _find_rule_faults(world, rule)]
    if faults:
        raise BadQuery(faults)
    return Query(
        operation=operation,
        status=sent.get("status"),
        method=method,
        path=sent.get("path"),
        rule=rule,
        ended=ended,
        since=None if since is None else parse_instant(since),
    )


def _find_rule_faults(world: World, rule: str) -> Iterator[str]:
    """Yield what is wrong with the name of a scenario, or of one of its rules as NAME/0."""
    name, slash, number = rule.partition("/")
    if name == PREFER:
        return
    wrong = ""
    try:
        rules = find_engine(world).find(name).document["rules"]
    except UnknownScenario as fault:
        wrong = str(fault)
    else:
        if slash and number not in map(str, range(len(rules))):
            there = ", ".join(f"{name}/{each}" for each in range(len(rules)))
            wrong = f"scenario {name!r} has no rule {number!r}; its rules are {there}"
    # A scenario that was deleted or replaced meanwhile may have acted.
    if wrong and not world.journal.count(Query(rule=rule)):
        yield wrong


# The archive, which the developer tools of browsers can open. Most commands need no writer of it.

_FRAME = frozenset({"request", "response", "url", "method", "at", "milliseconds"})
_UNANSWERED = frozenset({"lost", "reset", "empty", "garbage", "stalled", "disconnected"})
"""The endings of answers of which the client may have got nothing."""


def archive(entries: Sequence[JournalEntry], dropped: int) -> dict[str, Any]:
    """Return entries of a journal as an archive (HAR 1.2), in the same order.

    Credentials are redacted as in the journal. Data for which the format has no field is in `_mock`
    of each entry: operation, rule, assumptions and the other reasons for the answer.

    A response is what the client got of it: its beginning, or with status 0 nothing.
    """
    from mock_platform.verification.har.writer import (
        MAX_BODY_BYTES,
        RecordedExchange,
        make_entry,
        make_log,
    )

    def make(entry: JournalEntry) -> dict[str, Any]:
        reasons = {key: value for key, value in entry.summary().items() if key not in _FRAME}
        ending = entry.ending or COMPLETE
        unanswered = ending.how in _UNANSWERED and ending.bytes == 0
        exchange = replace(
            RecordedExchange.from_entry(entry, {"_mock": reasons}),
            response_body=entry.response_body[: ending.bytes],
        )
        if unanswered:
            exchange = replace(exchange, status=0, reason=None, response_headers=())
        return make_entry(exchange, MAX_BODY_BYTES)

    comment = "All moments are on the world's clock."
    if dropped:
        comment += f" The journal dropped {dropped} older entries for space."
    return make_log((make(entry) for entry in entries), comment)


ROUTES = (
    Route("GET", "/requests", list_requests, query=QueryOfList, returns=ListAnswer),
    Route("GET", "/requests/count", count_requests, query=QueryOfRequests, returns=CountAnswer),
    Route("GET", "/requests.har", archive_requests, query=QueryOfList),
    Route("GET", "/requests/<key>", get_request),
    Route("DELETE", "/requests", delete_requests, status=204),
)
