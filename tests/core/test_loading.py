"""Parameters are loaded as their schemas load them, whatever was sent."""

from __future__ import annotations

import json
from typing import Any

import marshmallow
import pytest
from hypothesis import given
from hypothesis import strategies as st
from marshmallow import (
    EXCLUDE,
    INCLUDE,
    Schema,
    ValidationError,
    fields,
    post_load,
    pre_load,
    validates_schema,
)

from mock_platform.api.served import OPERATIONS, TABLES
from mock_platform.core import installed
from mock_platform.core.faults import flatten
from mock_platform.core.fields import Integer, ListOf, Nested, Text
from mock_platform.core.operation import Location
from mock_platform.core.schema import loader
from tests.generated import examples

SCHEMAS = {op.id: op.params for op in OPERATIONS if op.params is not None}
IN_JSON = {op.id for op in OPERATIONS if op.location is Location.JSON}
VALUES = st.one_of(
    st.sampled_from(
        [None, "", "1", "9", "true", "0", "abc", "a,b", "a,a", "created_at-desc", "ACTIVE", 5, True]
    ),
    st.sampled_from(["2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z", {}, [], [{"id": "1"}]]),
)


def outcome(load: Any, sent: Any) -> Any:
    """What was loaded, the order of its names included, or everything that was refused."""
    try:
        loaded = load(sent)
    except ValidationError as fault:
        return "refused", list(flatten(fault.messages)), repr(fault.valid_data)
    return "loaded", repr(loaded)


@examples(200)
@given(st.data())
def test_same_as_the_schema(data: st.DataObject) -> None:
    """Every operation's loader returns and refuses what its schema does."""
    operation = data.draw(st.sampled_from(sorted(SCHEMAS)))
    values = VALUES if operation in IN_JSON else VALUES.filter(lambda value: isinstance(value, str))
    schema = SCHEMAS[operation](unknown=EXCLUDE)
    names = [field.data_key or name for name, field in schema.load_fields.items()]
    sent = data.draw(st.dictionaries(st.sampled_from([*names, "unknown"]), values, max_size=6))

    assert outcome(schema.load, sent) == outcome(loader(schema), sent)


def test_nothing_sent() -> None:
    """Without parameters, each operation has its defaults, or misses what it needs."""
    for params in SCHEMAS.values():
        schema = params(unknown=EXCLUDE)

        assert outcome(schema.load, {}) == outcome(loader(schema), {})


def test_what_is_no_object() -> None:
    """A list where an object is expected is refused as the schema refuses it."""
    schema = SCHEMAS["cards.create"](unknown=EXCLUDE)

    assert outcome(schema.load, []) == outcome(loader(schema), [])
    assert "refused" == outcome(loader(schema), [])[0]


def test_defaults_that_are_made_for_each_load() -> None:
    """Two loads do not share what a schema makes for each."""

    class Listed(Schema):
        names = fields.List(fields.String(), load_default=list)

    load = loader(Listed())

    assert {"names": []} == load({})
    assert load({})["names"] is not load({})["names"]


def test_hooks_that_make_something_else() -> None:
    """A schema that makes something of what it loaded does so here too."""

    class Counted(Schema):
        name = fields.String()

        @post_load
        def count(self, data: dict[str, Any], **_: Any) -> int:
            return len(data)

    assert 1 == loader(Counted())({"name": "x"})


class _Inner(Schema):
    """What is inside another object."""

    key = Text(required=True)
    number = Integer(low=1)
    marks = ListOf(Text(), load_default=list)

    @validates_schema
    def check(self, data: dict[str, Any], **more: Any) -> None:
        """Refuse one value, to show that this is called."""
        assert more["many"] is False
        assert not more["partial"]
        if data["key"] == "forbidden":
            raise ValidationError({"key": ["forbidden"]})


class _Hooked(Schema):
    """An object that is changed before it is loaded."""

    key = Text(required=True)

    @pre_load
    def rename(self, data: Any, **_: Any) -> Any:
        """Accept another name of the key."""
        if isinstance(data, dict) and "old" in data:
            return {"key": data["old"]}
        return data


class _Outer(Schema):
    strict = Nested(_Inner)
    open = Nested(_Inner, unknown=EXCLUDE)
    kept = Nested(_Inner, unknown=INCLUDE)
    many = Nested(_Inner, many=True)
    some = ListOf(Nested(_Inner), least=1, most=2)
    deep = ListOf(ListOf(Nested(_Inner), allow_none=True))
    hooked = Nested(_Hooked)
    nullable = Nested(_Inner, allow_none=True)


_OBJECTS: st.SearchStrategy[Any] = st.one_of(
    st.fixed_dictionaries(
        {"key": st.sampled_from(["a", "forbidden", 1, None])},
        optional={
            "number": st.sampled_from([0, 1, "1", None]),
            "marks": st.sampled_from([[], ["x"], [1], "x", None]),
            "unknown": st.just(1),
        },
    ),
    st.fixed_dictionaries({"old": st.just("b")}),
    st.sampled_from([None, {}, [], "text", 5]),
)
_INSIDE = st.one_of(_OBJECTS, st.lists(_OBJECTS, max_size=3), st.lists(st.lists(_OBJECTS)))


@examples(500)
@given(st.dictionaries(st.sampled_from([*_Outer().fields, "unknown"]), _INSIDE, max_size=4))
def test_objects_inside_objects(sent: dict[str, Any]) -> None:
    """At any depth the same is loaded and refused, with the same complaints."""
    schema = _Outer(unknown=EXCLUDE)

    assert outcome(schema.load, sent) == outcome(loader(schema), sent)


@pytest.mark.parametrize("name", ["strict", "open", "some", "deep", "nullable"])
def test_objects_inside_are_loaded_without_the_schema(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is right never comes to marshmallow's own way, which is slower."""
    inner = {"key": "a", "number": 1}
    sent = {name: {"some": [inner], "deep": [[inner], None]}.get(name, inner)}
    schema = _Outer(unknown=EXCLUDE)
    expected, load = schema.load(sent), loader(schema)
    monkeypatch.setattr(marshmallow.Schema, "_do_load", None)

    assert load(sent) == expected


def test_every_fixture() -> None:
    """All records of the packaged fixtures load as their schemas load them."""
    for table in TABLES:
        schema, path = (
            table.schema(unknown=EXCLUDE),
            installed.folder("fixtures") / f"{table.name}.json",
        )
        for record in json.loads(path.read_text()) if path.exists() else ():
            assert outcome(schema.load, record) == outcome(loader(schema), record)
