"""Pairs of name and value: what a query or a form contains."""

from __future__ import annotations

from urllib.parse import parse_qsl

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mock_platform.core.pairs import decode_pairs, first_values


@pytest.mark.parametrize(("text", "expected"), [
    ("", []),
    ("a=1&b=2", [("a", "1"), ("b", "2")]),
    ("a&b=", [("a", ""), ("b", "")]),
    ("a=b=c&&=d", [("a", "b=c"), ("", "d")]),
    ("a%20b=c+d", [("a b", "c d")]),
    ("a=%FF", [("a", "\ufffd")]),
])  # fmt: skip
def test_texts_are_read_as_pairs(text: str, expected: list[tuple[str, str]]) -> None:
    """In order, with empty names and values, decoded; bytes that are no text are replaced."""
    assert expected == decode_pairs(text)


@given(st.text(alphabet="ab=&;%+2é\ufffd 0", max_size=30))
def test_pairs_are_those_of_the_standard_library(text: str) -> None:
    """Also where nothing is encoded, which is read without it."""
    assert parse_qsl(text, keep_blank_values=True, errors="replace") == decode_pairs(text)


@pytest.mark.parametrize("piece", ["%C3%A9%e2%82%ac", "a%4", "é%FF", "%", "+%2B", "x=1&%41="])
@pytest.mark.parametrize("before", ["", "a", "ab"])
def test_long_texts_are_read_like_short_ones(piece: str, before: str) -> None:
    """They are decoded in pieces, none of which ends within an encoded byte."""
    text = before + piece * (200_000 // len(piece))

    assert parse_qsl(text, keep_blank_values=True, errors="replace") == decode_pairs(text)


def test_the_first_value_of_a_name_counts() -> None:
    """Names that occur again are listed once."""
    pairs = [("a", "1"), ("b", "2"), ("a", "3"), ("a", "4")]

    assert ({"a": "1", "b": "2"}, ["a"]) == first_values(pairs)
