"""The records of a world: its tables, their records page by page."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from flask import Response
from msgspec import Struct
from msgspec.structs import replace

from mock_platform.control.console.answers import (
    ConsolePage,
    FormState,
    answer_form,
    go,
    read_json,
    render,
    show_moment,
    to_number,
)
from mock_platform.control.console.pickers import AREAS, TELLING, name_record
from mock_platform.control.making import MakeBody, make_answer
from mock_platform.control.refusals import ControlRefusal, refuse_values
from mock_platform.control.route import HTML, ControlRequest, Route, load_body
from mock_platform.control.state import Storing, delete_record, get_record, put_record
from mock_platform.core.errors import shorten
from mock_platform.core.fields import Integer, Text
from mock_platform.core.jsonio import BadJson, canonical, dumps, loads, pretty
from mock_platform.core.schema import Schema
from mock_platform.core.tables.table import RECORDED, Table
from mock_platform.world.store.interface import Record

# One record of a world: opened, changed as JSON, created, deleted.

PATH = "/console/records"
_NOT_STORED = "The record was not stored"
_NOT_MADE = "Nothing was made"


class RecordQuery(Schema):
    """Which record is shown. The key is no part of the path, where browsers resolve `..`."""

    key = Text(required=True)


class RecordLink(Struct, frozen=True):
    """Where a reference leads: `text` names the target, `address` is its page below `/_mock`."""

    field: str
    text: str
    address: str
    exists: bool = True


def address_of(table: str, key: str) -> str:
    """Return the page of a record, below `/_mock`."""
    return f"{PATH}/{table}/record?{urlencode({'key': key})}"


def show_record(request: ControlRequest, form: FormState | None = None) -> Response:
    """Return a record as JSON to be changed, with the records to which it and which to it refer."""
    table, key = _table(request), request.query["key"]
    record = get_record(_at(request, key))
    return render(
        request,
        "record.html",
        block="content",
        form=form,
        table=table,
        key=key,
        called=name_record(key, record),
        text=pretty(record),
        seen=_digest(record),
        links=_list_links(request, table, record),
        referring=_list_referring(request, table, key),
        field_names=table.fields,
    )


def save(request: ControlRequest) -> Response:
    """Replace a record, as `PUT /_mock/state/TABLE/KEY` does."""

    def store(values: Mapping[str, str]) -> Response:
        table, key = request.args["table"], request.query["key"]
        record = _read(request, values)
        with request.world.work():  # nothing changes between the comparison and the replacement
            if values.get("seen") != _digest(get_record(_at(request, key))):
                raise ControlRefusal(
                    409,
                    f"{_NOT_STORED}: it changed since this page showed it. Copy what you wrote, "
                    "open the record again, and change what it is now.",
                )
            _put(request, key, record, values)
        return go(request, address_of(table, key), f"{table}/{key} was saved.")

    return answer_form(request, store, _show_again)


def _show_again(request: ControlRequest, form: FormState) -> Response:
    """Return a refused record; one that is gone meanwhile can be created from what was written."""
    is_there = request.query["key"] in request.state[_table(request).name]
    return show_record(request, form) if is_there else show_new(request, form)


def show_new(request: ControlRequest, form: FormState | None = None) -> Response:
    """Return a form for a new record."""
    table = _table(request)
    return render(
        request,
        "new_record.html",
        block="content",
        form=form,
        table=table,
        text=pretty({table.key: ""}),
        field_names=table.fields,
    )


def add(request: ControlRequest) -> Response:
    """Create a record whose key is not taken."""

    def create(values: Mapping[str, str]) -> Response:
        table, record = _table(request), _read(request, values)
        key = table.key_of(record) if isinstance(record, dict) else None
        if key is None:
            text = f"record: {table.key} is the key of {table.name}; write a text of your own there"
            raise refuse_values(422, [("record", text)], _NOT_STORED)
        with request.world.work():
            if key in request.state[table.name]:
                text = f"record: {table.name} has a record {key!r} already; open it to change it"
                raise refuse_values(409, [("record", text)], _NOT_STORED)
            _put(request, key, record, values)
        return go(request, address_of(table.name, key), f"{table.name}/{key} was created.")

    return answer_form(request, create, show_new)


def ask_delete(request: ControlRequest) -> Response:
    """Ask whether a record shall be deleted."""
    table, key = _table(request), request.query["key"]
    get_record(_at(request, key))
    return render(
        request,
        "confirm_record.html",
        block="content",
        table=table,
        key=key,
        address=address_of(table.name, key),
        referring=_list_referring(request, table, key),
    )


def remove_record(request: ControlRequest) -> Response:
    """Delete a record, even if others refer to it."""
    table, key = request.args["table"], request.query["key"]
    delete_record(_at(request, key))
    return go(request, f"{PATH}/{table}", f"{table}/{key} was deleted.")


# -- within ------------------------------------------------------------------------------------


def _table(request: ControlRequest) -> Table:
    return request.platform.tables[request.state[request.args["table"]].name]


def _at(request: ControlRequest, key: str) -> ControlRequest:
    return replace(request, args={"table": request.args["table"], "key": key})


def _put(request: ControlRequest, key: str, record: Any, values: Mapping[str, str]) -> None:
    query = Storing().load(
        {"unchecked": "unchecked" in values} | ({"as": RECORDED} if "recorded" in values else {})
    )
    put_record(replace(_at(request, key), query=query, body=record))


def _read(request: ControlRequest, values: Mapping[str, str]) -> Any:
    try:
        text = values.get("record", "").encode()
        return loads(text, max_nesting=request.platform.settings.max_nesting)
    except BadJson as fault:
        place = f"record: line {fault.line}, column {fault.column}: {fault}"
        raise refuse_values(422, [("record", place)], _NOT_STORED) from fault


def _digest(record: Record) -> str:
    return hashlib.sha256(canonical(record)).hexdigest()[:32]


def _list_links(request: ControlRequest, table: Table, record: Record) -> list[RecordLink]:
    """Return the records that a record refers to, as its table declares."""
    store, links = request.world.store, []
    with request.world.lock:
        for reference in table.references:
            for key in reference.find_targets(record):
                held = [name for name in reference.tables if store.get(name, key) is not None]
                name = (held or [reference.table])[0]
                address = address_of(name, key)
                links.append(RecordLink(reference.field, f"{name}/{key}", address, bool(held)))
    return links


def _list_referring(request: ControlRequest, table: Table, key: str) -> list[RecordLink]:
    """Return what refers to a record: one record, or the search for several of a table."""
    links = []
    for each in request.state[table.name].find_referring(key):
        if len(each.keys) == 1:
            text, address = f"{each.table}/{each.keys[0]}", address_of(each.table, each.keys[0])
        else:
            text = f"{len(each.keys)} records of {each.table}"
            address = f"{PATH}/{each.table}?{urlencode({'q': key})}"
        links.append(RecordLink(each.field, text, address))
    return links


RECORD_ROUTES = (
    Route("GET", f"{PATH}/<table>/new", show_new, media_type=HTML),
    Route("POST", f"{PATH}/<table>/new", add, media_type=HTML, form=True),
    Route("GET", f"{PATH}/<table>/record", show_record, query=RecordQuery, media_type=HTML),
    Route("POST", f"{PATH}/<table>/record", save, query=RecordQuery, media_type=HTML, form=True),
    Route("GET", f"{PATH}/<table>/delete", ask_delete, query=RecordQuery, media_type=HTML),
    Route(
        "POST", f"{PATH}/<table>/delete", remove_record,
        query=RecordQuery, media_type=HTML, form=True,
    ),
)  # fmt: skip


PAGE_SIZE = 50
_MAX_CELL_CHARACTERS = 90
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z")
_MAX_COLUMNS = 4


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
        counts = [(name, store.count(name)) for name in sorted(request.platform.tables)]
    return render(
        request,
        "tables.html",
        block="content",
        groups=[
            (title, own)
            for area, title in AREAS.items()
            if (
                own := [
                    (name, count)
                    for name, count in counts
                    if wanted in name.lower() and _find_area(request, name) == area
                ]
            )
        ],
        number=len(counts),
        total=sum(count for _, count in counts),
        query=request.query,
    )


def show_table(request: ControlRequest, form: FormState | None = None) -> Response:
    """Return the records of a table, page by page."""
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
        form=form,
        table=table,
        found=found,
        is_key=text in state,
        columns=columns,
        rows=[
            (
                str(record.get(table.key, "")),
                [_show(record.get(name)) for name in columns],
                bool(record.get("deleted")),
            )
            for record in found.records
        ],
        first=skip + 1,
        last=skip + len(found.records),
        newer=address(skip + PAGE_SIZE) if skip + PAGE_SIZE < found.found else None,
        older=address(max(0, skip - PAGE_SIZE)) if skip else None,
        query=request.query,
    )


# -- within ------------------------------------------------------------------------------------


def make_some(request: ControlRequest) -> Response:
    """Make records of a table, and show them."""

    def make(values: Mapping[str, str]) -> Response:
        name = request.state[request.args["table"]].name
        sent = {"table": name, **read_json(values, "fields", _NOT_MADE)}
        for each in ("count", "seed"):
            if values.get(each, "").strip():
                sent[each] = to_number(values[each])
        made = make_answer(request, **load_body(MakeBody(), sent))
        last = max(0, len(request.state[name]) - 1) // PAGE_SIZE * PAGE_SIZE
        text = f"{made['made']:,} {name} were made."
        return go(request, f"{PATH}/{name}?{urlencode({'skip': last})}", text)

    return answer_form(request, make, show_table)


def _choose_columns(table: Table, records: Sequence[Record]) -> list[str]:
    """Return the fields that a list shows beside the key: telling ones with short values."""
    fields = [name for name in (*TELLING, *table.fields) if name in table.fields]
    shown = [
        name
        for name in dict.fromkeys(fields)
        if name != table.key
        and not name.startswith("_")
        and any(isinstance(record.get(name), str | int | float) for record in records)
    ]
    return shown[:_MAX_COLUMNS]


def _find_area(request: ControlRequest, name: str) -> str:
    parts = request.platform.tables[name].schema.__module__.split(".")
    return next((area for area in AREAS if area in parts), "oauth")


def _show(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str) and _MOMENT.fullmatch(value):
        return show_moment(value)
    text = value if isinstance(value, str) else dumps(value).decode()
    return shorten(text, _MAX_CELL_CHARACTERS)


PAGE = ConsolePage(
    "Records",
    PATH,
    (
        Route("GET", PATH, show_tables, query=TableSearch, media_type=HTML),
        Route("GET", f"{PATH}/<table>", show_table, query=RecordSearch, media_type=HTML),
        Route("POST", f"{PATH}/<table>", make_some, query=RecordSearch, media_type=HTML, form=True),
        *RECORD_ROUTES,
    ),
    section="Data",
)
