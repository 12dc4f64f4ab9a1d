"""Points: the single values of an answer, each by its place, with what the real service has there.

Values that no two answers share (tokens, ids of what was made, times of the moment) are compared by
their form.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct

from mock_platform.verification.compare.answers import key_of
from mock_platform.verification.compare.compare import (
    describe_id,
    describe_moment,
    find_kind,
    is_covered,
    is_moment,
    show,
)
from mock_platform.verification.fidelity.facts import is_like

_PLACEHOLDER = "TOKEN"
MISSING = object()
"""In place of a value that one of two answers does not have."""
ABSENT_TEXT = "absent"


class Point(Struct, frozen=True):
    """One value of an answer: its place, and what each side has there."""

    where: str
    """The place, such as `data[].name`."""
    expected: str
    got: str
    matches: bool


class ValueForms(Struct, frozen=True):
    """The places where the form is compared, and not the value."""

    live: Sequence[str] = ()
    """Patterns of places."""
    cut: int | None = None
    """The length of lists that were cut: what is behind it is no difference."""

    def covers(self, where: str) -> bool:
        """Whether a place is among them."""
        return any(is_like(where, each) for each in self.live)


def compare(expected: Any, got: Any, forms: ValueForms, where: str = "") -> Iterator[Point]:
    """Yield the points of two bodies.

    Example:
        >>> [(p.where, p.matches) for p in compare({"a": [1, 2]}, {"a": [1, 3]}, ValueForms())]
        [('a[]', True), ('a[]', False)]
    """
    if isinstance(expected, dict) and isinstance(got, dict):
        for name in dict.fromkeys([*expected, *got]):
            place = f"{where}.{name}" if where else str(name)
            yield from compare(expected.get(name, MISSING), got.get(name, MISSING), forms, place)
    elif isinstance(expected, list) and isinstance(got, list):
        yield from _compare_lists(expected, got, forms, f"{where}[]")
    elif expected is MISSING or got is MISSING or not _is_leaf(expected) or not _is_leaf(got):
        for place, value in list_leaves(expected, where):
            shown = ABSENT_TEXT if got is MISSING else _describe(got)
            yield Point(place, _show(value), shown, matches=False)
        if expected is MISSING:
            for place, value in list_leaves(got, where):
                yield Point(place, ABSENT_TEXT, _show(value), matches=False)
    else:
        matches = type(expected) is type(got) and expected == got
        if not matches and forms.covers(where):
            matches = has_form(expected, got)
        yield Point(where or "(body)", _show(expected), _show(got), matches)


_OF_RECORDS = frozenset({"data", "includes", "errors"})


def compare_forms(expected: Any, got: Any) -> Iterator[Point]:
    """Yield the points of two bodies with other records: a place each, and its forms.

    Example:
        >>> [(p.where, p.matches) for p in compare_forms({"a": ["x1"]}, {"a": ["y", "z3"]})]
        [('a[]', True)]
    """
    if isinstance(expected, dict) and isinstance(got, dict):  # what only one has is of its records
        alone = (expected.keys() ^ got.keys()) & _OF_RECORDS
        expected, got = (
            {n: x for n, x in each.items() if n not in alone} for each in (expected, got)
        )
    here, there = _group_leaves(expected), _group_leaves(got)
    for where in dict.fromkeys([*here, *there]):
        one, other = here.get(where, []), there.get(where, [])
        matches = any(has_form(x, y) for x in one for y in other)
        yield Point(where, _show_first(one), _show_first(other), matches)


def _group_leaves(value: Any) -> dict[str, list[Any]]:
    """Return the values by their places."""
    found: dict[str, list[Any]] = {}
    for where, each in list_leaves(value, ""):
        found.setdefault(where, []).append(each)
    return found


def _show_first(values: list[Any]) -> str:
    return _show(values[0]) if values else ABSENT_TEXT


def list_leaves(value: Any, where: str) -> Iterator[tuple[str, Any]]:
    """Yield the single values of a value, each with its place; an empty object or list is one."""
    if value is MISSING:
        return
    if isinstance(value, dict) and value:
        for name, each in value.items():
            yield from list_leaves(each, f"{where}.{name}" if where else str(name))
    elif isinstance(value, list) and value:
        for each in value:
            yield from list_leaves(each, f"{where}[]")
    else:
        yield where or "(body)", value


def has_form(expected: Any, got: Any) -> bool:
    """Whether two values have the same form: kind, characters, and about the same length."""
    if find_kind(expected) != find_kind(got):
        return {find_kind(expected), find_kind(got)} == {"integer", "number"}
    if not isinstance(expected, str) or expected == _PLACEHOLDER:
        return True
    if is_moment(expected) or is_moment(got):
        return describe_moment(expected) == describe_moment(got)
    form = describe_id(expected)
    if form in {"text", "no text"} or form.endswith("address"):
        return form == describe_id(got) or not form.endswith("address") or "://" in got
    short, long = sorted((len(expected), len(got)))
    is_long = long > 2 * short and form != "digits"
    return is_covered(describe_id(got), {form: expected}) and not is_long


def _compare_lists(
    expected: list[Any], got: list[Any], forms: ValueForms, where: str
) -> Iterator[Point]:
    # Records are paired by their keys, so that one that is missing does not shift all others; that
    # they come in the same order is a point of its own.
    if expected and got and all(_is_record(each) for each in (*expected, *got)):
        others = {_find_key(each): each for each in got}
        keys = [_find_key(each) for each in expected]
        shared = [key for key in keys if key in others]
        if shared or not forms.covers(f"{where}.id"):
            yield from _compare_records(
                dict(zip(keys, expected, strict=True)), others, forms, where
            )
            return
        # What was made has other ids on each side; of rules the value tells which is which.
        if all("value" in each for each in (*expected, *got)):
            expected, got = (
                sorted(x, key=lambda each: str(each["value"])) for x in (expected, got)
            )
    if not expected and not got:
        yield Point(where, "[]", "[]", matches=True)
    longest = len(expected) if len(expected) == forms.cut else max(len(expected), len(got))
    for position in range(longest):
        one, other = (
            each[position] if position < len(each) else MISSING for each in (expected, got)
        )
        yield from compare(one, other, forms, where)


def _compare_records(
    expected: dict[str, Any], got: dict[str, Any], forms: ValueForms, where: str
) -> Iterator[Point]:
    """Yield the points of records by their keys, and whether they come in the same order."""
    for key, each in expected.items():
        yield from compare(each, got.get(key, MISSING), forms, where)
    for key, each in got.items():
        if key not in expected and len(expected) != forms.cut:
            yield from compare(MISSING, each, forms, where)
    here, there = [k for k in expected if k in got], [k for k in got if k in expected]
    if len(here) > 1:
        yield Point(f"{where} (order)", ", ".join(here), ", ".join(there), matches=here == there)


_KEYS = ("id", "id_str", "media_key", "key", "entity_id", "targeting_value")


def _is_record(value: Any) -> bool:
    """Whether an item of a list has a key: a record, or an error about a value."""
    return isinstance(value, dict) and (
        any(isinstance(value.get(name), str | int) for name in _KEYS) or "detail" in value
    )


def _find_key(value: dict[str, Any]) -> str:
    if "detail" in value:
        return f"{value.get('parameter')} {value.get('value')}"
    return next((str(value[name]) for name in _KEYS if name in value), key_of(value))


def _is_leaf(value: Any) -> bool:
    return not isinstance(value, dict | list) or not value


def _describe(value: Any) -> str:
    return _show(value) if _is_leaf(value) else f"an {find_kind(value)}"


def _show(value: Any) -> str:
    return show("null" if value is None else value, 80)
