"""PUT /_mock/make: records in bulk; what it refuses is with all refusals."""

from __future__ import annotations

from typing import Any

from mock_platform.control.making import MAX_IDS
from tests.control.support import call
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
