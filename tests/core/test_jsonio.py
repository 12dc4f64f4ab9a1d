"""JSON within limits."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mock_platform.core.jsonio import BadJson, loads


def nested(levels: int, opening: str = "[", closing: str = "]") -> bytes:
    """Containers within one another."""
    return (opening * levels + closing * levels).encode()


@pytest.mark.parametrize("levels", [1, 63, 64])
def test_nesting_up_to_the_limit_is_read(levels: int) -> None:
    """Sixty-four levels are fine."""
    assert loads(nested(levels)) == json.loads(nested(levels))


@pytest.mark.parametrize("levels", [65, 200, 900, 2000])
def test_nesting_beyond_the_limit_is_refused(levels: int) -> None:
    """The sixty-fifth level is refused, however deep it goes."""
    with pytest.raises(BadJson):
        loads(nested(levels))


def test_brackets_in_texts_do_not_count() -> None:
    """Only containers nest."""
    body = json.dumps(["[" * 1000, {"{{{": "}}}]"}]).encode()

    assert loads(body) == ["[" * 1000, {"{{{": "}}}]"}]


def test_a_fault_names_its_place() -> None:
    """Malformed JSON is refused with line and column."""
    with pytest.raises(BadJson, match="line 2, column"):
        loads(b'{"a":1,\n b}')


@given(
    st.recursive(
        st.text('[]{}\\"a', max_size=4),
        lambda inner: (
            st.lists(inner, max_size=2) | st.dictionaries(st.text("[{", max_size=2), inner)
        ),
        max_leaves=8,
    ),
    st.integers(2, 6),
)
def test_the_depth_is_exact(value: object, limit: int) -> None:
    """Whatever the content, exactly what is nested deeper than the limit is refused."""

    def depth(item: object) -> int:
        if isinstance(item, dict):
            return 1 + max(map(depth, item.values()), default=0)
        return 1 + max(map(depth, item), default=0) if isinstance(item, list) else 0

    deepest = depth(value)
    try:
        loads(json.dumps(value).encode(), max_nesting=limit)
        accepted = True
    except BadJson:
        accepted = False

    assert accepted is (deepest <= limit)


@pytest.mark.parametrize("value", [
    [1] * 9,
    [[], {}] * 4,
    {"a": [1, 2], "b": {"c": "d", "e": [None, {}]}},
    ['a,b[{,\\",[', "\\", '"', "{}[],"] * 2,
    {"[,,,,,,,,,,,,": ",,,,,,,,,,\\"},
])  # fmt: skip
@pytest.mark.parametrize("written", [json.dumps, partial(json.dumps, separators=(",", ":"))])
def test_the_values_of_a_text_are_limited(value: Any, written: Callable[[Any], str]) -> None:
    """Those at any depth count, before they are read; commas and brackets in texts do not."""
    data = written(value).encode()
    count = count_values(value)

    assert loads(data, max_values=count) == value
    with pytest.raises(BadJson, match=f"more than {count - 1} values"):
        loads(data, max_values=count - 1)


def count_values(value: Any) -> int:
    """A value and all values within it."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + sum(map(count_values, inner))


def test_a_text_of_nothing_but_texts_has_too_many_values() -> None:
    """It is refused without being taken apart."""
    with pytest.raises(BadJson, match="more than 10 values"):
        loads(b"[" + b",".join([b'""'] * 100) + b"]", max_values=10)
