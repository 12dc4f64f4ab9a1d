"""PUT /_mock/make: records in bulk, or a refusal that names the field."""

from __future__ import annotations

from typing import Any

import pytest

from mock_platform.control.making import MAX_IDS
from tests.control.support import call, detail, fields, look
from tests.support import Sandbox


def make(box: Sandbox, **body: Any) -> Any:
    """The answer to a request for records."""
    return call(box, "PUT", "/make", json=body)


def test_the_answer_has_ids(box: Sandbox) -> None:
    """It says how many were made, and has the ids of the first thousand."""
    one = make(box, table="users").get_json()
    many = make(box, table="users", count=MAX_IDS + 1).get_json()

    assert {"table": "users", "made": 1, "ids": one["ids"]} == one
    assert (MAX_IDS + 1, MAX_IDS) == (many["made"], len(many["ids"]))
    assert box.world.store.get("users", one["ids"][0]) is not None


@pytest.mark.parametrize(
    ("body", "field", "text"),
    [
        ({"table": "user"}, "table", "Did you mean 'users'?"),
        ({"table": "users", "count": 0}, "count", "a whole number from 1 to 100,000, got 0"),
        ({"table": "users", "count": 100_001}, "count", "got 100001; for more, call again"),
        ({"table": "users", "count": "5"}, "count", "got '5'"),
        ({"table": "users", "count": True}, "count", "got True"),
        ({"table": "users", "seed": "x"}, "seed", "for seed"),
        ({"table": "users", "fields": [1]}, "fields", "for fields"),
        ({"table": "users", "sed": 1}, "sed", "Did you mean 'seed'?"),
        ({}, "table", "table"),
    ],
)
def test_a_refusal_names_the_field(
    box: Sandbox, body: dict[str, Any], field: str, text: str
) -> None:
    """What cannot be is refused with its field and the remedy, and nothing is made."""
    box.world.clock.freeze()
    before = look(box)

    refused = make(box, **body)

    assert text in detail(refused, 422)
    assert [field] == fields(refused)
    assert before == look(box)
