"""Answers of the advertising interface that name the kind of their data: analytics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from marshmallow import Schema
from msgspec import Struct

from mock_platform.core.ads import JSON_TYPE, JsonObject
from mock_platform.core.call import Call, Reply
from mock_platform.core.description.schemas import REQUEST_ECHO
from mock_platform.core.jsonio import dumps


class Typed(Struct, frozen=True):
    """Rows under `data`, with `data_type` and what the handler adds to it before them."""

    schema: type[Schema]
    data_type: str
    counts: tuple[str, ...] = ()
    """The names of the numbers between `data_type` and `data`."""
    status: int = 200
    media_type: str = "application/json"

    def describe_body(self, data: JsonObject) -> JsonObject:
        """Returns the JSON Schema of the body: its kind, numbers, rows and the request."""
        required = {
            "data_type": {"const": self.data_type},
            **{name: {"type": "integer", "minimum": 0} for name in self.counts},
            "data": {"type": "array", "items": data},
            "request": REQUEST_ECHO,
        }
        return {
            "type": "object",
            "properties": required,
            "required": list(required),
            "additionalProperties": False,
        }

    def make_body(self, call: Call, result: Mapping[str, Any]) -> JsonObject:
        """Returns the body for `data` and the numbers of a result."""
        return {"data_type": self.data_type, **result, "request": {"params": call.echo}}

    def reply(self, call: Call, result: Mapping[str, Any]) -> Reply:
        """Returns the reply for `data` and the numbers of a result."""
        return Reply(self.status, dumps(self.make_body(call, result)), [JSON_TYPE])
