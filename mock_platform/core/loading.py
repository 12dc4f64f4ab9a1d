"""Loads parameters as their schema does, at a cost that depends only on those that were sent.

For each load, marshmallow goes through every field of a schema and takes a microsecond for one that
was not sent. Here such a field costs one look into a dict. What was sent is read by the same fields
and checked by the same validators. If anything is wrong, the schema itself loads and reports it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from marshmallow import Schema, ValidationError, missing
from marshmallow.decorators import POST_LOAD, PRE_LOAD, VALIDATES, VALIDATES_SCHEMA

Loader = Callable[[Any], Any]


def loader(schema: Schema) -> Loader:
    """Returns a function like `schema.load` (results, exceptions) that ignores unknown names."""
    hooks = schema._hooks  # noqa: SLF001 - marshmallow shows them nowhere else
    if schema.many or any(hooks[kind] for kind in (PRE_LOAD, POST_LOAD, VALIDATES)):
        return schema.load
    fields = [
        (field.data_key or attribute, field.attribute or attribute, field, field.load_default)
        for attribute, field in schema.load_fields.items()
    ]
    if any(callable(default) for *_, default in fields):
        return schema.load
    validators = [
        (getattr(schema, name), more["pass_original"]) for name, _, more in hooks[VALIDATES_SCHEMA]
    ]
    required = [name for name, _, field, _ in fields if field.required]
    context = {"partial": schema.partial, "many": False, "unknown": schema.unknown}

    def load_sent(sent: Mapping[str, Any]) -> dict[str, Any]:
        loaded = {}
        for name, attribute, field, default in fields:
            if name in sent:
                loaded[attribute] = field.deserialize(sent[name], name, sent)
            elif default is not missing:
                loaded[attribute] = default
        for validate, pass_original in validators:
            if pass_original:
                validate(loaded, sent, **context)
            else:
                validate(loaded, **context)
        return loaded

    def load(sent: Any) -> Any:
        if not isinstance(sent, dict) or any(name not in sent for name in required):
            return schema.load(sent)
        try:
            return load_sent(sent)
        except ValidationError:
            return schema.load(sent)

    return load
