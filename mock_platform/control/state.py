"""A world's records from outside, in stored form."""

from __future__ import annotations

from typing import Any

from marshmallow import Schema, fields

from mock_platform.control.refusal import Refusal
from mock_platform.control.route import ControlRequest, object_of
from mock_platform.core.fields import Flag, Integer, ListOf
from mock_platform.world.store import Record


class Unchecked(Schema):
    """Whether to store what is given although it is not valid."""

    unchecked = Flag(
        load_default=False,
        metadata={"description": "store as given, for odd states on purpose"},
    )


class TableAnswer(Schema):
    """The records of a table."""

    records = ListOf(fields.Dict(), required=True)
    total = Integer(required=True)


def get_state(request: ControlRequest) -> dict[str, Any]:
    """The whole world as one document."""
    return request.state.dump()


def put_state(request: ControlRequest) -> dict[str, Any]:
    """Make the world what a document says; gives the outcome."""
    state = request.state
    state.load(request.body, unchecked=request.query["unchecked"])
    return state.dump()


def get_table(request: ControlRequest) -> dict[str, Any]:
    """The records of one table."""
    records = request.state[request.args["table"]].all()
    return {"records": records, "total": len(records)}


def get_record(request: ControlRequest) -> Record:
    """One record."""
    table, key = request.state[request.args["table"]], request.args["key"]
    record = table.get(key)
    if record is None:
        raise Refusal(
            404,
            f"{table.name} holds no record {key!r}. GET /_mock/state/{table.name} lists them; PUT "
            "creates one.",
        )
    return record


def put_record(request: ControlRequest) -> Record:
    """Create or replace a record; gives it as stored, defaults filled in."""
    table = request.state[request.args["table"]]
    return table.put(
        object_of(request.body, "A record"),
        key=request.args["key"],
        unchecked=request.query["unchecked"],
    )


def patch_record(request: ControlRequest) -> Record:
    """Merge changes into a record: JSON merge patch, in which null takes a field out."""
    table = request.state[request.args["table"]]
    return table.patch(
        request.args["key"],
        object_of(request.body, "A record"),
        unchecked=request.query["unchecked"],
    )


def delete_record(request: ControlRequest) -> None:
    """Take a record out, whatever refers to it."""
    request.state[request.args["table"]].delete(request.args["key"])
