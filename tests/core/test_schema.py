"""Schemas have the hooks that marshmallow finds, although their classes are made faster."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import marshmallow
import pytest
from marshmallow import ValidationError, post_load, validates_schema
from marshmallow.schema import SchemaMeta

from mock_platform.api.served import OPERATIONS
from mock_platform.core.fields import Text
from mock_platform.core.schema import Schema


class _Checked(Schema):
    first = Text()

    @validates_schema
    def check(self, data: dict[str, Any], **_: Any) -> None:
        """Refuse everything."""
        raise ValidationError("refused")


class _MoreFields(_Checked):
    second = Text()


class _Replaced(_MoreFields):
    def check(self, data: dict[str, Any], **_: Any) -> None:
        """Not marked as a hook: it replaces the one of the base."""


class _SwitchedOff(_MoreFields):
    check = None  # type: ignore[assignment]  # no type checker allows it; marshmallow does


class _Added(_Replaced):
    @post_load
    def mark(self, data: dict[str, Any], **_: Any) -> dict[str, Any]:
        """Add a mark."""
        return {**data, "marked": True}


class _Named(Schema):
    name = Text()


class _Both(_MoreFields, _Named):
    third = Text()


def _list_all(base: type[marshmallow.Schema]) -> Iterator[type[marshmallow.Schema]]:
    for each in base.__subclasses__():
        yield each
        yield from _list_all(each)


def _find_hooks(schema: Any) -> dict[str, list[Any]]:
    return SchemaMeta.resolve_hooks(schema)


def _used(hooks: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """Without the empty lists that reading has put there."""
    return {tag: found for tag, found in hooks.items() if found}


def test_all_schemas_have_the_hooks_that_marshmallow_finds() -> None:
    """The short way to the hooks finds the same as the long one."""
    assert OPERATIONS
    schemas = list(_list_all(Schema))

    wrong = [each for each in schemas if _used(each._hooks) != _used(_find_hooks(each))]

    assert len(schemas) > 400
    assert wrong == []


@pytest.mark.parametrize("schema", [_Checked, _MoreFields, _Both])
def test_hooks_are_inherited(schema: type[Schema]) -> None:
    """A hook acts in classes that add only fields, and in those with two bases."""
    with pytest.raises(ValidationError, match="refused"):
        schema().load({"first": "a"})


@pytest.mark.parametrize("schema", [_Replaced, _SwitchedOff])
def test_hooks_can_be_replaced(schema: type[Schema]) -> None:
    """An attribute with the name of a hook takes its place."""
    assert schema().load({"second": "b"}) == {"second": "b"}


def test_hooks_can_be_added() -> None:
    """A class may add hooks to those of its base."""
    assert _Added().load({"second": "b"}) == {"second": "b", "marked": True}


def test_fields_of_a_class_are_those_that_the_library_finds() -> None:
    """A class has its base's fields first, in the library's order, and its own in their place."""

    class Base(Schema):
        one, two = Text(), Text()

    class Own(Base):
        three, one = Text(), Text(required=True)

    assert ["one", "two", "three"] == list(Own().fields)
    assert Own().fields["one"].required
    assert not Base().fields["one"].required
    assert not hasattr(Own, "three")
