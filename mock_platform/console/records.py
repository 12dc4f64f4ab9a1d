"""The records of a world: its tables, their records page by page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from flask import Response

from mock_platform.console.answers import render
from mock_platform.console.page import ConsolePage
from mock_platform.console.record import PATH, RECORD_ROUTES
from mock_platform.control.route import HTML, ControlRequest, Route
from mock_platform.core.fields import Integer, Text
from mock_platform.core.jsonio import dumps
from mock_platform.core.schema import Schema
from mock_platform.records.table import Table
from mock_platform.store.interface import Record

PAGE_SIZE = 50
_MAX_CELL_CHARACTERS = 90
_MAX_COLUMNS = 4
_TELLING = (
    "name", "title", "text", "screen_name", "username", "url", "value", "event_type",
    "entity_status", "status", "state", "created_at",
)  # fmt: skip
"""Fields that say most about a record, where a table has them."""


class RecordSearch(Schema):
    """Which records of a table are shown."""

    q = Text(load_default="", metadata={"description": "a text in the record, its key included"})
    skip = Integer(low=0, high=10**9, load_default=0)


class TableSearch(Schema):
    """Which tables are shown."""

    q = Text(load_default="", metadata={"description": "a part of the table's name"})


def show_tables(request: ControlRequest) -> Response:
    """All tables with the numbers of their records."""
    wanted = request.query["q"].strip().lower()
    with request.world.work():
        store = request.world.store
        counts = [(name, store.count(name)) for name in request.platform.tables]
    return render(
        request,
        "tables.html",
        block="content",
        tables=[(name, count) for name, count in counts if wanted in name.lower()],
        number=len(counts),
        total=sum(count for _, count in counts),
        query=request.query,
    )


def show_table(request: ControlRequest) -> Response:
    """The records of a table, page by page."""
    state = request.state[request.args["table"]]
    table = request.platform.tables[state.name]
    text, skip = request.query["q"].strip(), request.query["skip"]
    found = state.find(text, skip=skip, limit=PAGE_SIZE)
    columns = _choose_columns(table, found.records)

    def address(start: int) -> str:
        return f"?{urlencode({'q': text, 'skip': start})}"

    return render(
        request,
        "table.html",
        block="content",
        table=table,
        found=found,
        columns=columns,
        rows=[
            (str(record.get(table.key, "")), [_shorten(record.get(name)) for name in columns])
            for record in found.records
        ],
        first=skip + 1,
        last=skip + len(found.records),
        newer=address(skip + PAGE_SIZE) if skip + PAGE_SIZE < found.found else None,
        older=address(max(0, skip - PAGE_SIZE)) if skip else None,
        query=request.query,
    )


# -- within ------------------------------------------------------------------------------------


def _choose_columns(table: Table, records: Sequence[Record]) -> list[str]:
    """Returns the fields that a list shows beside the key: telling ones with short values."""
    fields = [name for name in (*_TELLING, *table.fields) if name in table.fields]
    shown = [
        name
        for name in dict.fromkeys(fields)
        if name != table.key
        and not name.startswith("_")
        and any(isinstance(record.get(name), str | int | float) for record in records)
    ]
    return shown[:_MAX_COLUMNS]


def _shorten(value: Any) -> str:
    if value is None:
        return ""
    text = value if isinstance(value, str) else dumps(value).decode()
    return text if len(text) <= _MAX_CELL_CHARACTERS else f"{text[:_MAX_CELL_CHARACTERS]}…"


PAGE = ConsolePage(
    "Records",
    PATH,
    (
        Route("GET", PATH, show_tables, query=TableSearch, media_type=HTML),
        Route("GET", f"{PATH}/<table>", show_table, query=RecordSearch, media_type=HTML),
        *RECORD_ROUTES,
    ),
)
