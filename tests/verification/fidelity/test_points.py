"""Points: values by their places, and by their form where no two answers share them."""

from __future__ import annotations

from typing import Any

import pytest

from mock_platform.verification.fidelity.points import ValueForms, compare, has_form

LIVE = ValueForms(("*token", "data[].id"))


@pytest.mark.parametrize(("expected", "got", "differing"), [
    ({"a": 1}, {"a": 1}, []),
    ({"a": 1}, {"a": True}, [("a", "1", "True")]),
    ({"a": {"b": 1, "c": 2}}, {}, [("a.b", "1", "absent"), ("a.c", "2", "absent")]),
    ({}, {"a": []}, [("a", "absent", "[]")]),
    ({"a": None}, {"a": {"b": 1}}, [("a", "null", "an object")]),
    ([1, 2], [1], [("[]", "2", "absent")]),
    ([{"id": "1"}, {"id": "2"}], [{"id": "2"}, {"id": "1"}], [("[] (order)", "1, 2", "2, 1")]),
    ([{"id": "1"}], [{"id": "1"}, {"id": "3"}], [("[].id", "absent", "3")]),
    ({"next_token": "abc123"}, {"next_token": "xyz789"}, []),
    ({"next_token": "abc123"}, {"next_token": "x.y"}, [("next_token", "abc123", "x.y")]),
    ({"data": [{"id": "12", "value": "b"}, {"id": "13", "value": "a"}]},
     {"data": [{"id": "98", "value": "a"}, {"id": "99", "value": "b"}]}, []),
])  # fmt: skip
def test_points(expected: Any, got: Any, differing: list[tuple[str, str, str]]) -> None:
    """Values are compared by their places, records by their keys, live values by their form."""
    found = [(p.where, p.expected, p.got) for p in compare(expected, got, LIVE) if not p.matches]

    assert differing == found


def test_cut_lists() -> None:
    """What is behind the end of a list that was cut is no difference; before it, it is."""
    forms = ValueForms(cut=3)

    assert [] == [p for p in compare([1, 2, 3], [1, 2, 3, 4], forms) if not p.matches]
    assert 1 == len([p for p in compare([1, 2], [1, 2, 3], forms) if not p.matches])


@pytest.mark.parametrize(("expected", "got", "same"), [
    ("2026-01-01T00:00:00.000Z", "2020-05-05T10:10:10.123Z", True),
    ("2026-01-01T00:00:00.000Z", "2020-05-05T10:10:10Z", False),
    ("1234567890", "9876543210123", True),
    ("abc123", "abc123abc123", True),
    ("abc123", "abc123abc123a", False),
    ("abc123", "ABC-123", False),
    ("https://a.example/b", "http://c.example", True),
    ("https://a.example/b", "text", False),
    ("TOKEN", "any-thing.at_all", True),
    (1, 2.5, True),
    (1, "1", False),
])  # fmt: skip
def test_forms(expected: Any, got: Any, same: bool) -> None:
    """Moments, digits, tokens and addresses have the forms of their kinds."""
    assert same is has_form(expected, got)
