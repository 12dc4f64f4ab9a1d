"""Reads the parameters of an upload: a multipart form, a form, or JSON with base64."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from marshmallow import Schema

from mock_platform.core.call import FORM, MULTIPART, Call
from mock_platform.core.failures.errors import BadBody, UnsupportedMediaType
from mock_platform.core.fields import Content
from mock_platform.core.jsonio import MAX_VALUES, BadJson, loads
from mock_platform.core.multipart import read_parts
from mock_platform.core.unread import Finding, find_repeated_parameters, find_unknown_parameters


def make_upload_reader(
    schema: Schema | None, max_nesting: int
) -> Callable[[Call], tuple[Any, list[Finding]]]:
    """Return what reads parameters in a body of any form and in the query."""
    declared = {} if schema is None else dict(schema.load_fields)
    known = frozenset(field.data_key or attr for attr, field in declared.items())
    contents = frozenset(name for name in known if isinstance(declared.get(name), Content))

    def read(call: Call) -> tuple[Any, list[Finding]]:
        sent: dict[str, Any] = {}
        repeated: list[str] = []
        body = _read_body(call, contents, max_nesting)
        for name, value in [*body, *call.query]:
            if name not in sent:
                sent[name] = value
            elif sent[name] != value:
                repeated.append(name)
        unread = list(find_repeated_parameters(repeated))
        others = [(name, str(value)) for name, value in sent.items() if name not in known]
        return sent, [*unread, *find_unknown_parameters(others, known, call.path_params)]

    return read


def _read_body(call: Call, contents: frozenset[str], max_nesting: int) -> list[tuple[str, Any]]:
    """Returns the parameters of a body; those in `contents` stay bytes in a multipart form."""
    if not call.body:
        return []
    if call.media_type == FORM:
        return list(call.form)
    if call.media_type == MULTIPART:
        parts = read_parts(call.body, call.header("content-type") or "")
        return [
            (name, value if name in contents else value.decode("utf-8", "replace"))
            for name, value in parts
        ]
    if call.media_type != "application/json":
        raise UnsupportedMediaType(call.media_type, f"application/json or {MULTIPART}")
    try:
        value = loads(call.json_body, max_nesting=max_nesting, max_values=MAX_VALUES)
    except BadJson as fault:
        raise BadBody(f"The body is {fault}.") from fault
    if not isinstance(value, dict):
        raise BadBody("The body must be an object.")
    return list(value.items())
