"""Records that are made in bulk."""

from __future__ import annotations

from typing import Any

from mock_platform.control.refusals import ControlRefusal
from mock_platform.control.route import ControlRequest, Route
from mock_platform.core.errors import BadRecord, UnknownTable
from mock_platform.core.fields import Anything, Integer, Json, ListOf, Text
from mock_platform.core.schema import Schema
from mock_platform.core.tables.making import MAX_COUNT, make_records

MAX_IDS = 1000
"""Ids of made records in one answer."""


class MakeBody(Schema):
    """What records to make."""

    table = Text(required=True, metadata={"description": "the name of a table, as in fixtures"})
    count = Anything(
        load_default=1,
        metadata={"type": "integer", "description": f"how many, from 1 to {MAX_COUNT:,}"},
    )
    fields_ = Json(
        data_key="fields",
        attribute="fields",
        load_default=dict,
        metadata={
            "description": "what all of them have; a reference may be named without _id, and have "
            "a key, a list of keys that are taken in turn, or an object, the fields of a record "
            "that is made for it; spread is how long ago the oldest was created, such as 30d"
        },
    )
    seed = Integer(
        load_default=None,
        allow_none=True,
        metadata={"description": "the same seed makes the same records of the same world"},
    )


class MakeAnswer(Schema):
    """What was made; `ids` are the first thousand, oldest first."""

    table = Text(required=True)
    made = Integer(required=True)
    ids = ListOf(Text(), required=True)


def make(request: ControlRequest) -> dict[str, Any]:
    """Make records: related, valid, with believable names, times and money. All or nothing."""
    body = request.body
    return make_answer(request, body["table"], body["count"], body["fields"], body["seed"])


def make_answer(
    request: ControlRequest, table: str, count: int, fields: dict[str, Any], seed: int | None
) -> dict[str, Any]:
    """Make records, and return what was made.

    Raises:
        ControlRefusal: 422; a field cannot be, and nothing was made.
    """
    try:
        keys = make_records(request.world, request.platform.tables, table, count, fields, seed)
    except UnknownTable as fault:
        faults = [{"table": table, "record": "", "field": "table", "message": str(fault)}]
        raise ControlRefusal(422, f"Nothing was made: {fault}", faults=faults) from fault
    except BadRecord as fault:
        faults = [each.as_json() for each in fault.faults]
        raise ControlRefusal(422, f"Nothing was made: {fault}", faults=faults) from fault
    return describe_made(table, keys)


def describe_made(table: str, keys: list[str]) -> dict[str, Any]:
    """Return the answer for records with these keys."""
    return {"table": table, "made": len(keys), "ids": keys[:MAX_IDS]}


ROUTES = (Route("PUT", "/make", make, body=MakeBody, returns=MakeAnswer),)
