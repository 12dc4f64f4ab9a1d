"""The list of a world's requests: filtered, searched, page by page, and live."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from flask import Response, current_app

from mock_platform.console.answers import KEY, Console, go, render, root_of
from mock_platform.console.filters import (
    NAMES,
    EntryFilter,
    QueryOfFilter,
    encode_filter,
    read_filter,
)
from mock_platform.console.forms import FormState, attempt
from mock_platform.console.live import LiveRows, Tail
from mock_platform.console.reasons import explain_entry
from mock_platform.control.journal import METHODS, delete_requests
from mock_platform.control.route import HTML, ControlRequest, Route
from mock_platform.core.fields import Text
from mock_platform.edge.connection import CONNECTION
from mock_platform.world import redact
from mock_platform.world.clock import wire_millis
from mock_platform.world.journal import JournalEntry

SHOWN = 50
"""Number of requests on a page."""
_ADDRESS = 160
_REASON = 200


class QueryOfPage(QueryOfFilter):
    """A filter, and where the page begins."""

    before = Text(metadata={"description": "only requests older than this one"})


class QueryOfLive(QueryOfFilter):
    """A filter, and the position in the journal that the page has reached."""

    after = Text()


def show_requests(request: ControlRequest) -> Response:
    """The newest requests, or those before one."""
    sent = request.query
    chosen: list[EntryFilter] = []
    refused = attempt(sent, lambda: chosen.append(read_filter(request.platform, sent)))
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
        total=len(journal),
        dropped=journal.dropped,
        filtered=any(sent.get(name) for name in NAMES),
        query=encode_filter(sent),
        older=encode_filter(sent, before=found[SHOWN - 1].id) if len(found) > SHOWN else None,
        before=before,
        live=encode_filter(sent, after=tail.position) if chosen and not before else None,
        methods=METHODS,
        operations=[operation.id for operation in request.platform.operations],
    )


def stream_requests(request: ControlRequest) -> Response:
    """New requests as server-sent events, as long as somebody looks."""
    wanted = read_filter(request.platform, request.query)
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


def empty_requests(request: ControlRequest) -> Response:
    """Delete all entries of the journal."""
    delete_requests(request)
    return go(request, "/", said="The list of requests was emptied.")


def describe_row(base_url: str, entry: JournalEntry) -> dict[str, Any]:
    """Returns what a row of the list shows of a request."""
    address = redact.address(entry.url).removeprefix(base_url)
    at = wire_millis(entry.at)
    return {
        "id": entry.id,
        "at": at,
        "time": at[11:23],
        "method": entry.method,
        "address": address if len(address) <= _ADDRESS else f"{address[:_ADDRESS]}…",
        "operation": entry.operation or entry.custom,
        "status": entry.status,
        "milliseconds": f"{entry.milliseconds:.1f}",
        "why": explain_entry(entry)[:_REASON],
        "ruled": entry.rule is not None,
        "warned": bool(entry.warnings),
    }


ROUTES = (
    Route("GET", "/", show_requests, query=QueryOfPage, media_type=HTML),
    Route(
        "GET",
        "/console/live",
        stream_requests,
        query=QueryOfLive,
        media_type="text/event-stream",
    ),
    Route("POST", "/console/requests/empty", empty_requests, media_type=HTML, form=True),
)
