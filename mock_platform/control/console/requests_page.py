"""The requests of a world: filtered, searched, page by page, and live."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from typing import Any, Self
from urllib.parse import unquote_plus, urlencode

from flask import Response, current_app
from marshmallow import ValidationError
from msgspec import Struct

from mock_platform.control.console import seen, sending
from mock_platform.control.console.answers import (
    KEY,
    Console,
    ConsolePage,
    FormState,
    ask,
    attempt,
    go,
    render,
    root_of,
)
from mock_platform.control.console.entry import ENTRY_ROUTES, explain_entry
from mock_platform.control.journal import METHODS, StatusRange, delete_requests, read_query
from mock_platform.control.refusals import as_refusal, refuse_values
from mock_platform.control.route import HTML, ControlRequest, Route
from mock_platform.core.connection import CONNECTION, Connection, Pause
from mock_platform.core.errors import shorten
from mock_platform.core.fields import Text
from mock_platform.core.jsonio import dumps
from mock_platform.core.schema import Schema
from mock_platform.world import redact
from mock_platform.world.clock import wire_millis
from mock_platform.world.endings import HOWS, describe_end, is_unusual
from mock_platform.world.journal import Journal, JournalEntry, Query

NAMES = ("text", "operation", "status", "method", "path", "rule", "ended")


class QueryOfFilter(Schema):
    """What a person typed; it is checked later, to be explained beside the field."""

    text = Text()
    operation = Text()
    status = Text()
    method = Text()
    path = Text()
    rule = Text()
    ended = Text()


class EntryFilter(Struct, frozen=True):
    """Which entries are shown."""

    query: Query
    text: str = ""
    """In lower case; part of the address, the bodies, the warnings or the reason."""

    def matches(self, entry: JournalEntry) -> bool:
        """Whether an entry is shown."""
        return self.query.matches(entry) and (not self.text or self._has_text(entry))

    def newest(self, entries: Iterable[JournalEntry], limit: int) -> list[JournalEntry]:
        """Return the first `limit` matching ones."""
        return list(islice(filter(self.matches, entries), limit))

    def _has_text(self, entry: JournalEntry) -> bool:
        wanted = self.text.encode()
        return (
            self.text in entry.url.lower()
            or wanted in entry.request_body.lower()
            or wanted in entry.response_body.lower()
            or self.text in (entry.operation or "")
            or self.text == entry.id
            or any(self.text in warning.lower() for warning in entry.warnings)
            or self.text in explain_entry(entry).lower()
        )


def read_filter(request: ControlRequest) -> EntryFilter:
    """Return the filter that was typed.

    Raises:
        ControlRefusal: 422 with every value that no entry can have, and what it may be.
    """
    sent = request.query
    values = {name: sent[name].strip() for name in NAMES if sent.get(name, "").strip()}
    text, status = values.pop("text", "").lower(), values.pop("status", "")
    query, faults = Query(), []
    exact: dict[str, Any] = {}
    try:
        exact = {"status": StatusRange().deserialize(status)} if status else {}
    except ValidationError:
        faults.append(("status", f"status: expected {StatusRange.kind}, got {status!r}"))
    try:
        query = read_query(request.platform, request.world, values | exact)
    except Exception as fault:
        refusal = as_refusal(fault)
        if refusal is None or "faults" not in refusal.extra:
            raise
        faults += [(each["field"], each["message"]) for each in refusal.extra["faults"]]
    if faults:
        raise refuse_values(422, faults, "The filter cannot be used")
    return EntryFilter(query, text)


def encode_filter(sent: Mapping[str, str], **more: str) -> str:
    """Return a filter as a query, without empty values."""
    pairs = [(name, sent[name]) for name in NAMES if sent.get(name)]
    return urlencode([*pairs, *more.items()])


# The list of requests, live: server-sent events with the rows that are new. A request costs
# nothing here: once a second each open page reads the end of the journal. What it sends is
# limited, so that a busy server does not keep browsers busy.

TICK_SECONDS = 1.0
"""Real seconds between two looks at the journal."""
MAX_ROWS = 25
"""Maximum number of rows in an event; the page says how many it leaves out."""
_MAX_READ = 2000
"""Maximum number of new entries that a filter looks at."""
_SILENT_TICKS = 15
"""After so many looks without news a comment is sent: proxies close silent connections."""
_RETRY = b"retry: 2000\n\n"


class Tail:
    """A position in a journal, and the entries after it."""

    def __init__(self, journal: Journal, position: str = "") -> None:
        """`position` is one that `position` returned; without one, the beginning."""
        self._journal = journal
        era, _, number = position.partition("-")
        # A journal that was emptied, or that of a server that was started again, has another era.
        self._era, self._position = (era, int(number)) if number.isdecimal() else (journal.era, 0)

    @property
    def is_over(self) -> bool:
        """Whether the world of the journal was dropped."""
        return self._journal.closed

    @property
    def total(self) -> str:
        """How many entries the journal has, in words."""
        return describe_total(self._journal)

    @property
    def position(self) -> str:
        """The position as text."""
        return f"{self._era}-{self._position}"

    def read_all(self) -> list[JournalEntry]:
        """Return all entries, the newest first; what comes later is new."""
        entries, self._position = self._journal.find_newer(0, sys.maxsize)
        return entries

    def read(self) -> tuple[list[JournalEntry], int, bool]:
        """Return the newest new entries, how many there are in all, and if the rest is gone."""
        journal, before = self._journal, self._position
        era = journal.era
        emptied = era != self._era
        if emptied:
            self._era, before = era, 0
        entries, self._position = journal.find_newer(before, _MAX_READ)
        return entries, max(0, self._position - before), emptied


def describe_total(journal: Journal) -> str:
    """Return how many entries a journal has, and how many it has dropped."""
    dropped = f", {journal.dropped:,} older ones dropped" if journal.dropped else ""
    return f"{len(journal):,} in the journal{dropped}"


class LiveRows:
    """The body of the events: bytes to send, and pauses in which no thread waits."""

    def __init__(
        self,
        find_journal: Callable[[], Journal],
        wanted: EntryFilter,
        show: Callable[[Iterable[JournalEntry]], str],
        after: str,
        connection: Connection | None,
    ) -> None:
        """`show` returns the rows of entries as HTML; `after` is a position, or empty."""
        self._tail = Tail(find_journal(), after)
        self._wanted = wanted
        self._show = show
        self._connection = connection
        self._begun = self._looks = False
        self._silent = 0
        self._unfinished: list[JournalEntry] = []
        """Those whose rows were sent while their answers were still being sent."""

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> bytes | Pause:
        """Return the next event, or a pause.

        Servers that know no pause send what there is and end; the browser asks again.
        """
        connection = self._connection
        if connection is None or not connection.pauses:
            if self._begun:
                raise StopIteration
            self._begun = True
            return _RETRY + (self._read() or b"")
        if not self._begun:
            self._begun = True
            return _RETRY
        if connection.is_stopping or self._tail.is_over:
            raise StopIteration
        event = self._read() if self._looks else None
        self._looks = event is None
        if event is not None:
            return event
        self._silent += 1
        if self._silent % _SILENT_TICKS == 0:
            self._looks = False
            return b": nothing new\n\n"
        return Pause(TICK_SECONDS, endless=True)

    def _read(self) -> bytes | None:
        """Return the event with what is new; `None` if nothing is."""
        entries, count, emptied = self._tail.read()
        found = [entry for entry in entries if self._wanted.matches(entry)]
        ended = [entry for entry in self._unfinished if entry.ending is not None]
        if not found and not emptied and not ended:
            return None
        new = [entry for entry in found[:MAX_ROWS] if entry.ending is None]
        self._unfinished = [entry for entry in self._unfinished if entry.ending is None] + new
        data = dumps(
            {
                "rows": self._show(found[:MAX_ROWS]),
                "again": self._show(ended),
                "shown": min(len(found), MAX_ROWS),
                "left_out": max(0, len(found) - MAX_ROWS),
                "read": count,
                "emptied": emptied,
                "total": self._tail.total,
                "position": self._tail.position,
            }
        )
        return b"id: %b\nevent: requests\ndata: %b\n\n" % (self._tail.position.encode(), data)


SHOWN = 50
"""Number of requests on a page."""
_ADDRESS = 160
_RULE = re.compile(r"\bRule \d+ of scenario (\S+)(?: acted(?=: ))?")
"""How a reason begins where a rule acted; a line has no room for all of it."""
_REASON = 200


class QueryOfPage(QueryOfFilter):
    """A filter, and where the page begins."""

    before = Text(metadata={"description": "only requests older than this one"})


class QueryOfLive(QueryOfFilter):
    """A filter, and the position in the journal that the page has reached."""

    after = Text()


def show_requests(request: ControlRequest) -> Response:
    """Return the newest requests, or those before one."""
    sent = request.query
    chosen: list[EntryFilter] = []
    refused = attempt(sent, lambda: chosen.append(read_filter(request)))
    journal = request.world.journal
    tail = Tail(journal)
    entries = tail.read_all()
    before = sent.get("before", "")
    if before:
        place = next((i for i, entry in enumerate(entries) if entry.id == before), len(entries))
        entries = entries[place + 1 :]
    found = chosen[0].newest(entries, SHOWN + 1) if chosen else []
    base_url = request.base_url
    rows = [describe_row(base_url, entry) for entry in found[:SHOWN]]
    return render(
        request,
        "requests.html",
        block="results",
        form=refused or FormState(sent),
        rows=rows,
        total=describe_total(journal),
        filtered=any(sent.get(name) for name in NAMES),
        query=encode_filter(sent),
        older=encode_filter(sent, before=found[SHOWN - 1].id) if len(found) > SHOWN else None,
        before=before,
        live=encode_filter(sent, after=tail.position) if chosen and not before else None,
        methods=METHODS,
        hows=HOWS,
        operations=[operation.id for operation in request.platform.operations],
    )


def stream_requests(request: ControlRequest) -> Response:
    """Return new requests as server-sent events, as long as somebody looks."""
    wanted = read_filter(request)
    # A browser that was cut off sends where it was.
    after = request.flask.headers.get("Last-Event-ID") or request.query.get("after", "")
    console: Console = current_app.extensions[KEY]
    template = console.templates.get_template("request_rows.html")
    # The request is over when the events begin.
    root, base_url, world = root_of(request), request.base_url, request.world

    def show(entries: Iterable[JournalEntry]) -> str:
        return template.render(
            root=root, rows=[describe_row(base_url, entry) for entry in entries], fresh=True
        )

    body = LiveRows(
        lambda: world.journal,
        wanted,
        show,
        after,
        request.flask.environ.get(CONNECTION),
    )
    headers = {"X-Accel-Buffering": "no"}
    return Response(body, content_type="text/event-stream", headers=headers)  # type: ignore[arg-type]


def ask_empty(request: ControlRequest) -> Response:
    """Ask whether the list of requests shall be emptied."""
    return ask(
        request,
        "Empty the list of requests?",
        f"All {len(request.world.journal):,} requests are forgotten. Records, clock and scenarios "
        "stay as they are. This cannot be undone.",
        "/console/requests/empty",
        button="Empty the list",
        back="/",
    )


def empty_requests(request: ControlRequest) -> Response:
    """Delete all entries of the journal."""
    delete_requests(request)
    return go(request, "/", said="The list of requests was emptied.")


def describe_row(base_url: str, entry: JournalEntry) -> dict[str, Any]:
    """Return what a row of the list shows of a request."""
    # Decoded for reading; what would not be one line stays as it was sent.
    shown = redact.address(entry.url).removeprefix(base_url)
    decoded = unquote_plus(shown)
    address = decoded if decoded.isprintable() else shown
    at = wire_millis(entry.at)
    return {
        "id": entry.id,
        "at": at,
        "time": at[11:23],
        "method": entry.method,
        "address": shorten(address, _ADDRESS),
        "operation": entry.operation or entry.custom,
        "tool": entry.tool,
        "status": entry.status,
        "ended": describe_end(entry.ended) if is_unusual(entry.ended) else "",
        "is_whole": entry.ending is not None and entry.ending.how == "complete",
        "milliseconds": f"{entry.milliseconds:.1f}",
        "why": explain_entry(entry)[:_REASON],
        "short": _RULE.sub(r"\1", explain_entry(entry))[:_REASON],
        "ruled": entry.rule is not None,
        "warned": bool(entry.warnings),
    }


PAGE = ConsolePage(
    "Requests",
    "/",
    (
        Route("GET", "/", show_requests, query=QueryOfPage, media_type=HTML),
        Route(
            "GET", "/console/live", stream_requests,
            query=QueryOfLive, media_type="text/event-stream",
        ),
        Route("GET", "/console/empty", ask_empty, media_type=HTML),
        Route("POST", "/console/requests/empty", empty_requests, media_type=HTML, form=True),
        *ENTRY_ROUTES,
        *seen.ROUTES,
        *sending.ROUTES,
    ),
    section="Watch",
)  # fmt: skip
