from __future__ import annotations

from typing import Any

import pytest

from mock_platform.core.call import ABSENT, Call, Caller
from mock_platform.core.jsonio import dumps
from mock_platform.scenario.match import Mismatch, find_first_difference, make_checks

CALL = Call(
    method="POST", url="http://h/x", path="/x", base_url="http://h",
    headers=[("Content-Type", "application/x-www-form-urlencoded"), ("User-Agent", "sdk/1.2")],
    body=b"amount=12.5&name=n", query_string="count=10&count=20&with_deleted=true&empty=",
    path_params={"id": "abc1"}, caller=Caller("oauth1", app={"id": "11"}, user={"id": "22"}),
)  # fmt: skip
BODY = {"name": "n", "tags": ["a", {"b": 1}], "on": True, "none": None, "n": 5, "long": "x" * 257}
JSON_CALL = Call(method="POST", url="", path="/x", base_url="", headers=[], body=dumps(BODY))


def difference(when: dict[str, Any], call: Call = CALL) -> Mismatch | None:
    """The first difference, if there is one."""
    found = find_first_difference(call, make_checks(when, lambda: "paid"))
    return None if found is None else found[1]


@pytest.mark.parametrize("when", [
    {},
    {"path": {"id": "abc1"}},
    {"path": {"id": {"matches": "[a-z]+\\d"}}},
    {"query": {"count": 10}},
    {"query": {"count": {"above": 9, "below": 11}}},
    {"query": {"with_deleted": True}},
    {"query": {"empty": ""}},
    {"query": {"gone": {"exists": False}}},
    {"query": {"count": {"in": [1, 10]}}},
    {"form": {"amount": {"above": 12}}},
    {"headers": {"user-agent": {"matches": "sdk/.*"}}},
    {"headers": {"X-None": {"exists": False}}},
    {"caller": {"app": "11", "user": 22, "scheme": "oauth1"}},
    {"state": "paid"},
    {"state": {"in": ["new", "paid"]}},
    {"path": {"id": "abc1"}, "query": {"count": "10"}},
    {"json": {"name": "n"}},
    {"json": {"tags.0": "a"}},
    {"json": {"tags.1.b": 1}},
    {"json": {"tags": ["a", {"b": 1}]}},
    {"json": {"tags": {"equals": ["a", {"b": 1}]}}},
    {"json": {"on": True}},
    {"json": {"none": None}},
    {"json": {"none": {"exists": False}}},
    {"json": {"name": {"exists": True}}},
    {"json": {"n": {"in": [4, 5]}}},
    {"json": {"n": {"above": 4.5}}},
])  # fmt: skip
def test_matches(when: dict[str, Any]) -> None:
    """Every source and operator can hold; texts are compared as text, JSON by type at any depth."""
    assert difference(when, JSON_CALL if "json" in when else CALL) is None


@pytest.mark.parametrize(("when", "call", "expected"), [
    ({"path": {"id": "x"}}, CALL, 'path.id: expected "x", got "abc1"'),
    ({"path": {"other": "x"}}, CALL, 'path.other: expected "x", it was absent'),
    ({"query": {"count": {"above": 10}}}, CALL, 'query.count: expected a number above 10, '
     'got "10"'),
    ({"query": {"count": {"below": 10}}}, CALL, 'query.count: expected a number below 10, '
     'got "10"'),
    ({"query": {"empty": {"above": 0}}}, CALL, 'query.empty: expected a number above 0, got ""'),
    ({"query": {"count": {"in": [1, 2]}}}, CALL, 'query.count: expected one of [1,2], got "10"'),
    ({"query": {"count": {"exists": False}}}, CALL, 'query.count: expected nothing, got "10"'),
    ({"query": {"gone": {"exists": True}}}, CALL, "query.gone: expected a value, it was absent"),
    ({"headers": {"User-Agent": {"matches": "sdk"}}}, CALL, 'headers.User-Agent: expected a '
     'match of "sdk" (of at most 256 characters), got "sdk/1.2"'),
    ({"caller": {"scheme": "bearer"}}, CALL, 'caller.scheme: expected "bearer", got "oauth1"'),
    ({"state": "new"}, CALL, 'state: expected "new", got "paid"'),
    ({"json": {"on": 1}}, JSON_CALL, "json.on: expected 1, got true"),
    ({"json": {"n": "5"}}, JSON_CALL, 'json.n: expected "5", got 5'),
    ({"json": {"on": {"above": 0}}}, JSON_CALL, "json.on: expected a number above 0, got true"),
    ({"json": {"tags.2": 1}}, JSON_CALL, "json.tags.2: expected 1, it was absent"),
    ({"json": {"tags.x": 1}}, JSON_CALL, "json.tags.x: expected 1, it was absent"),
    ({"json": {"a": 1}}, CALL, "json.a: expected 1, it was absent"),
    ({"form": {"a": "1"}}, JSON_CALL, 'form.a: expected "1", it was absent'),
])  # fmt: skip
def test_differences(when: dict[str, Any], call: Call, expected: str) -> None:
    """A condition that does not hold says what it expected and what was there."""
    assert expected == str(difference(when, call))


def test_long_texts_match_no_pattern() -> None:
    """Patterns are tried on texts of bounded length only."""
    assert difference({"json": {"long": {"matches": "x*"}}}, JSON_CALL) is not None


def test_nearness() -> None:
    """The first difference comes with the number of conditions that hold before it."""
    found = find_first_difference(CALL, make_checks({"path": {"id": "abc1"}, "query": {"count": 9}},
                                          lambda: None))  # fmt: skip

    assert (1, Mismatch("query.count", "9", "10")) == found


def test_no_caller() -> None:
    """Before anybody is known, app and user are absent."""
    found = difference({"caller": {"app": "11"}}, JSON_CALL)

    assert found is not None
    assert ABSENT is found.got
