"""Loads parameters as their schema does, at a cost that depends only on those that were sent.

For each load, marshmallow goes through every field of a schema and takes a microsecond for one that
was not sent. Here such a field costs one look into a dict, and what was sent goes straight to the
same field and the same validators. If anything is wrong, the schema itself loads and reports it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from marshmallow import Schema, ValidationError, missing
from marshmallow.decorators import POST_LOAD, PRE_LOAD, VALIDATES, VALIDATES_SCHEMA
from marshmallow.fields import Field

Loader = Callable[[Any], Any]
_Reader = Callable[[Any, str, Mapping[str, Any]], Any]
"""Returns the value of a field that was sent with a name, among other values."""


def loader(schema: Schema) -> Loader:
    """Returns a function like `schema.load` (results, exceptions) that ignores unknown names."""
    hooks = schema._hooks  # noqa: SLF001 - marshmallow shows them nowhere else
    if schema.many or any(hooks[kind] for kind in (PRE_LOAD, POST_LOAD, VALIDATES)):
        return schema.load
    fields = [
        (
            field.data_key or attribute,
            field.attribute or attribute,
            _make_reader(field),
            field.load_default,
        )
        for attribute, field in schema.load_fields.items()
    ]
    if any(callable(default) for *_, default in fields):
        return schema.load
    validators = [
        (getattr(schema, name), more["pass_original"]) for name, _, more in hooks[VALIDATES_SCHEMA]
    ]
    required = frozenset(f.data_key or name for name, f in schema.load_fields.items() if f.required)
    context = {"partial": schema.partial, "many": False, "unknown": schema.unknown}

    def load_sent(sent: Mapping[str, Any]) -> dict[str, Any]:
        loaded = {}
        for name, attribute, read, default in fields:
            if name in sent:
                loaded[attribute] = read(sent[name], name, sent)
            elif default is not missing:
                loaded[attribute] = default
        for validate, pass_original in validators:
            if pass_original:
                validate(loaded, sent, **context)
            else:
                validate(loaded, **context)
        return loaded

    def load(sent: Any) -> Any:
        if not isinstance(sent, dict) or not required <= sent.keys():
            return schema.load(sent)
        try:
            return load_sent(sent)
        except ValidationError:
            return schema.load(sent)

    return load


def _make_reader(field: Field[Any]) -> _Reader:
    """Returns a function like `field.deserialize` for values that were sent.

    It raises a `ValidationError` for the same values, but perhaps with other messages.
    """
    kind = type(field)
    if kind.deserialize is not Field.deserialize or kind._validate is not Field._validate:  # noqa: SLF001
        return field.deserialize
    read_value, validators = field._deserialize, tuple(field.validators)  # noqa: SLF001

    def read(value: Any, name: str, sent: Mapping[str, Any]) -> Any:
        if value is None or value is missing:
            return field.deserialize(value, name, sent)
        found = read_value(value, name, sent)
        for validate in validators:
            validate(found)
        return found

    return read
