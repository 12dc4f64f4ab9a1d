"""Parameters are loaded as their schemas load them, whatever was sent."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from marshmallow import EXCLUDE, Schema, ValidationError, fields, post_load

from mock_platform.core.faults import flatten
from mock_platform.core.loading import loader
from mock_platform.core.operation import Location
from mock_platform.operations import OPERATIONS
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
