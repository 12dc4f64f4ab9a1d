"""Credentials that choose a world: what a change of records adds and removes."""

from __future__ import annotations

from typing import Any

import pytest

from mock_platform.core.auth.lookup import WorldCredentials
from mock_platform.world.store.interface import Change
from mock_platform.world.store.memory import Base

APP = {"id": "1", "consumer_key": "own"}


@pytest.mark.parametrize(("table", "key", "before", "after", "expected"), [
    pytest.param("tokens", "t1", None, {"id": "t1"}, [("t1", True)], id="new token"),
    pytest.param("tokens", "t1", {"id": "t1"}, None, [("t1", False)], id="deleted token"),
    pytest.param("tokens", "t1", {"a": 1}, {"a": 2}, [], id="changed token"),
    pytest.param("apps", "1", None, APP, [("own", True)], id="new app"),
    pytest.param("apps", "1", APP, APP | {"consumer_key": "other"},
                 [("own", False), ("other", True)], id="app with another key"),
    pytest.param("apps", "1", None, {"id": "1"}, [], id="app without a key"),
    pytest.param("apps", "1", None, "no record", [], id="no record"),
    pytest.param("users", "1", None, {"consumer_key": "own"}, [], id="another table"),
    pytest.param("tokens", "shared", None, {}, [], id="token of the fixtures"),
])  # fmt: skip
def test_a_change_adds_and_removes_credentials(
    table: str, key: str, before: Any, after: Any, expected: list[tuple[str, bool]]
) -> None:
    """Only keys of apps and tokens count, and only those that the fixtures do not have."""
    known = WorldCredentials(Base({"tokens": {"shared": {}}}))

    assert expected == list(known.compare(Change(table, key, before, after)))


def test_later_fixtures_are_left_out_as_well() -> None:
    """A credential of fixtures that were loaded later chooses no world."""
    known = WorldCredentials(Base({}))
    new = Change("apps", "1", None, APP)
    assert [("own", True)] == list(known.compare(new))

    known.add_base(Base({"apps": {"1": APP}}))

    assert [] == list(known.compare(new))
