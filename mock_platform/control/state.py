"""A world's records for users: read and written in stored form."""

from __future__ import annotations

from typing import Any

from flask import Response
from marshmallow import fields

from mock_platform.control.refusals import ControlRefusal
from mock_platform.control.route import ControlRequest, Route, object_of
from mock_platform.core.description.schemas import Converter
from mock_platform.core.fields import Choice, Flag, Integer, ListOf
from mock_platform.core.jsonio import dumps
from mock_platform.core.schema import Schema
from mock_platform.core.tables.state import read_world
from mock_platform.core.tables.table import AS, RECORDED, Tables, find_recorded_keys
from mock_platform.platform import Platform
from mock_platform.world.store.interface import Record

KEPT = "recorded-keys"
"""The code of the warning that a record keeps keys which its table does not have."""


class Storing(Schema):
    """How strictly to check the records."""

    unchecked = Flag(
        load_default=False,
        metadata={"description": "store without checks, for invalid states on purpose"},
    )
    as_ = Choice(
        (RECORDED,),
        data_key="as",
        load_default=None,
        metadata={
            "description": "a record of another server: keys that its table does not have are kept "
            "and served, with a warning"
        },
    )


class TableAnswer(Schema):
    """The records of a table."""

    records = ListOf(fields.Dict(), required=True)
    total = Integer(required=True)


def world_form(platform: Platform, _converter: Converter) -> dict[str, Any]:
    """Return the description of a whole world, as `GET /_mock/state` returns it."""
    rows = {"type": "array", "items": {"type": "object"}}
    tables = {
        "type": "object",
        "description": "records by table; tables that are left out become empty",
        "properties": dict.fromkeys(platform.tables, rows),
        "patternProperties": {"^_": {"type": "object", "description": "the sandbox's own"}},
        "additionalProperties": False,
    }
    parts = {
        "world": {"description": "the world's name; ignored"},
        "ids": {"type": "integer", "minimum": 0},
        "clock": {"type": "object"},
        "paces": {"type": "object"},
        "tables": tables,
    }
    return {
        "type": "object",
        "properties": parts,
        "required": ["tables"],
        "additionalProperties": False,
    }


def record_form(_platform: Platform, _converter: Converter) -> dict[str, Any]:
    """Return the description of a record: the fields are those of its table."""
    return {
        "type": "object",
        "description": "A record in stored form, as GET of the same address returns it; for PATCH, "
        "the changes. A refusal names every field that is wrong or missing, and the "
        "fields of the table.",
    }


def get_state(request: ControlRequest) -> dict[str, Any]:
    """Return the whole world as one document."""
    return read_world(request.world, request.platform.tables)


def put_state(request: ControlRequest) -> dict[str, Any]:
    """Replace the whole world by a document; return the new state."""
    state, document = request.state, request.body
    if request.query["as_"] is not None:
        _mark_recorded(document, request.platform.tables)
    state.load(document, unchecked=request.query["unchecked"])
    return read_world(request.world, request.platform.tables)


def get_table(request: ControlRequest) -> dict[str, Any]:
    """Return the records of one table in a world."""
    records = request.state[request.args["table"]].all()
    return {"records": records, "total": len(records)}


def get_record(request: ControlRequest) -> Record:
    """One record of a table."""
    table, key = request.state[request.args["table"]], request.args["key"]
    record = table.get(key)
    if record is None:
        raise ControlRefusal(
            404,
            f"{table.name} has no record {key!r}. GET /_mock/state/{table.name} lists "
            "the records; PUT creates one.",
        )
    return record


def put_record(request: ControlRequest) -> Record | Response:
    """Create or replace a record; return it as stored, with defaults."""
    table = request.state[request.args["table"]]
    record, unchecked = _read_record(request), request.query["unchecked"]
    return _answer_with_record(
        request, table.put(record, key=request.args["key"], unchecked=unchecked)
    )


def patch_record(request: ControlRequest) -> Record | Response:
    """Merge changes into a record (JSON merge patch: null removes a field)."""
    table = request.state[request.args["table"]]
    changes, unchecked = _read_record(request), request.query["unchecked"]
    return _answer_with_record(
        request, table.patch(request.args["key"], changes, unchecked=unchecked)
    )


def delete_record(request: ControlRequest) -> None:
    """Remove a record, even if other records refer to it."""
    request.state[request.args["table"]].delete(request.args["key"])


def _read_record(request: ControlRequest) -> Record:
    """Return the record in the body, marked as recorded if the query asks for that."""
    record = object_of(request.body, "A record")
    return record if request.query["as_"] is None else record | {AS: request.query["as_"]}


def _answer_with_record(request: ControlRequest, record: Record) -> Record | Response:
    """Return the answer with a stored record; warns of keys that its table does not have."""
    kept = find_recorded_keys(request.platform.tables[request.args["table"]], record)
    if not kept:
        return record
    response = Response(dumps(record), content_type="application/json")
    response.headers["X-Mock-Warnings"] = KEPT
    return response


def _mark_recorded(document: Any, tables: Tables) -> None:
    """Mark the records of a whole world that have keys which their table does not have."""
    found = document.get("tables") if isinstance(document, dict) else None
    for name, rows in found.items() if isinstance(found, dict) else ():
        for row in rows if name in tables and isinstance(rows, list) else ():
            if isinstance(row, dict) and tables[name].find_unknown_keys(row):
                row[AS] = RECORDED


ROUTES = (
    Route("GET", "/state", get_state),
    Route(
        "PUT", "/state", put_state, query=Storing, body=None, body_form=world_form, whole_world=True
    ),
    Route("GET", "/state/<table>", get_table, returns=TableAnswer),
    Route("GET", "/state/<table>/<path:key>", get_record),
    Route(
        "PUT",
        "/state/<table>/<path:key>",
        put_record,
        query=Storing,
        body=None,
        body_form=record_form,
    ),
    Route(
        "PATCH",
        "/state/<table>/<path:key>",
        patch_record,
        query=Storing,
        body=None,
        body_form=record_form,
    ),
    Route("DELETE", "/state/<table>/<path:key>", delete_record, status=204),
)
