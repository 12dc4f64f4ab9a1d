"""The field types: what they accept, what they refuse, and how they say so."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from marshmallow import Schema, ValidationError

from mock_platform.core.faults import INVALID, MISSING, flatten
from mock_platform.core.fields import (
    Choice,
    CommaList,
    Flag,
    Instant,
    Integer,
    ListOf,
    Long,
    Nested,
    Text,
)


class Inner(Schema):
    """A nested object."""

    media_key = Text(required=True)


class Sample(Schema):
    """One field of each kind."""

    name = Text(max_length=5, min_length=2)
    code = Text(pattern=r"[0-9]{1,3}", pattern_text="1 to 3 digits")
    count = Integer(low=1, high=10)
    amount = Long(low=1)
    flag = Flag()
    kind = Choice(("GIF", "IMAGE"))
    when = Instant()
    ids = CommaList(Text(min_length=1), most=3)
    items = ListOf(Nested(Inner), least=1, most=2)


class Required(Schema):
    """A field that must be there."""

    name = Text(required=True)
    other = Text()


def faults(schema: type[Schema], sent: Any) -> list[tuple[str, str, str]]:
    """Parameter, code and text of everything that is wrong."""
    with pytest.raises(ValidationError) as caught:
        schema().load(sent)
    return [(name, text.code, str(text)) for name, text in flatten(caught.value.messages)]


@pytest.mark.parametrize(("name", "sent", "loaded"), [
    ("name", "ab", "ab"),
    ("name", "abcde", "abcde"),
    ("code", "0", "0"),
    ("code", "999", "999"),
    ("count", "1", 1),
    ("count", "10", 10),
    ("count", 7, 7),
    ("amount", "9223372036854775807", 9223372036854775807),
    ("flag", "true", True),
    ("flag", "True", True),
    ("flag", "FALSE", False),
    ("flag", True, True),
    ("kind", "GIF", "GIF"),
    ("when", "2026-11-20T10:00:00Z", "2026-11-20T10:00:00Z"),
    ("when", "2026-11-20T10:00Z", "2026-11-20T10:00:00Z"),
    ("when", "2026-11-20", "2026-11-20T00:00:00Z"),
    ("when", "2026-11-20T12:30:00+02:30", "2026-11-20T10:00:00Z"),
    ("ids", "a,b,c", ["a", "b", "c"]),
    ("ids", "a, b", ["a", "b"]),
    ("items", [{"media_key": "3_1"}], [{"media_key": "3_1"}]),
])  # fmt: skip
def test_a_value_within_its_bounds_is_taken(name: str, sent: object, loaded: object) -> None:
    """Values just inside the bounds, and the spellings that real clients send, are accepted."""
    assert Sample().load({name: sent}) == {name: loaded}


@pytest.mark.parametrize(("name", "sent", "text"), [
    ("name", "a", "A minimum of 2 characters must be provided for name"),
    ("name", "abcdef", "A maximum of 5 characters may be provided for name"),
    ("name", 5, "Expected String, got 5 for name"),
    ("code", "1000", 'Expected 1 to 3 digits, got "1000" for code'),
    ("code", "1\n", 'Expected 1 to 3 digits, got "1\\n" for code'),
    ("count", "0", "count must be between 1 and 10, got 0"),
    ("count", "11", "count must be between 1 and 10, got 11"),
    ("count", "١", 'Expected Integer, got "١" for count'),
    ("count", "1_0", 'Expected Integer, got "1_0" for count'),
    ("count", " 5 ", 'Expected Integer, got " 5 " for count'),
    ("count", "+5", 'Expected Integer, got "+5" for count'),
    ("count", "5.0", 'Expected Integer, got "5.0" for count'),
    ("count", True, "Expected Integer, got true for count"),
    ("amount", "0", "amount must be at least 1, got 0"),
    ("amount", "9223372036854775808", 'Expected Long, got "9223372036854775808" for amount'),
    ("flag", "yes", 'Expected Boolean, got "yes" for flag'),
    ("flag", "1", 'Expected Boolean, got "1" for flag'),
    ("flag", None, "Expected Boolean, got null for flag"),
    ("kind", "gif", 'Expected a value in GIF, IMAGE, got "gif" for kind'),
    ("when", "", 'Expected time, got "" for when'),
    ("when", "2026-W01-1", 'Expected time, got "2026-W01-1" for when'),
    ("when", "20261120T100000Z", 'Expected time, got "20261120T100000Z" for when'),
    ("when", "2026-02-30T00:00:00Z", 'Expected time, got "2026-02-30T00:00:00Z" for when'),
    ("when", 5, "Expected time, got 5 for when"),
    ("ids", "a,b,c,d", "A maximum of 3 items may be provided for ids"),
    ("ids", "a,,b", "A minimum of 1 characters must be provided for ids"),
    ("items", [], "A minimum of 1 items must be provided for items"),
    ("items", {}, "Expected Array, got {} for items"),
])  # fmt: skip
def test_a_value_outside_its_bounds_is_refused(name: str, sent: object, text: str) -> None:
    """Values just outside are refused in the grammar of the public sample."""
    assert faults(Sample, {name: sent}) == [(name, INVALID, text)]


@pytest.mark.parametrize(
    ("schema", "sent", "place"),
    [(Required, {}, "name"), (Sample, {"items": [{"media_key": "3_1"}, {}]}, "items[1].media_key")],
)
def test_an_absent_required_value_is_missing(schema: type[Schema], sent: Any, place: str) -> None:
    """It has the code for missing parameters, and at any depth the way to it."""
    assert faults(schema, sent) == [(place, MISSING, f'"{place}" is a required parameter')]


@given(st.text(max_size=30))
def test_integers_take_ascii_digits_only(text: str) -> None:
    """Whatever is sent as an integer is either plain ASCII digits or refused."""
    try:
        loaded = Sample().load({"amount": text})["amount"]
    except ValidationError:
        return

    assert text.lstrip("-").isascii()
    assert str(loaded) == (text.lstrip("0") or "0")


@pytest.mark.parametrize(
    ("value", "number"),
    [(7.0, 7), (1e1, 10), (1.0, 1), (-0.0, None), (11.0, None), (7.5, None), (1e300, None)],
)
def test_a_json_number_without_a_fraction_is_whole(value: float, number: int | None) -> None:
    """`7.0` is an integer, as JSON Schema says, within the same bounds; `7.5` is not."""
    schema = Schema.from_dict({"count": Integer(low=1, high=10)})()

    if number is None:
        with pytest.raises(ValidationError):
            schema.load({"count": value})
    else:
        found = schema.load({"count": value})["count"]
        assert (number, int) == (found, type(found))


@pytest.mark.parametrize("text", ["7.0", "7e0", "7."])
def test_a_text_with_a_dot_is_no_whole_number(text: str) -> None:
    """In the query an integer has digits only."""
    with pytest.raises(ValidationError):
        Schema.from_dict({"count": Integer()})().load({"count": text})
