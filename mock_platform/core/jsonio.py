"""The one door to JSON: reading within limits, writing as the interface writes."""

from __future__ import annotations

from typing import Any

import orjson


class BadJson(ValueError):
    """The text is no JSON, or nested too deeply."""


def loads(data: bytes, *, max_nesting: int = 64) -> Any:
    """Parse JSON.

    Raises:
        BadJson: It is malformed or nested beyond `max_nesting` levels.
    """
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError as fault:
        raise BadJson(
            f"not valid JSON: {fault.msg} at line {fault.lineno}, column {fault.colno}"
        ) from fault
    # Counting brackets is cheap and enough to rule deep nesting out for nearly every body.
    if data.count(b"[") + data.count(b"{") > max_nesting and _depth(value) > max_nesting:
        raise BadJson(f"nested more than {max_nesting} levels deep")
    return value


def dumps(value: Any) -> bytes:
    """JSON without spaces, UTF-8."""
    return orjson.dumps(value)


def pretty(value: Any) -> str:
    """JSON for people."""
    return orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()


def _depth(value: Any) -> int:
    deepest, stack = 0, [(value, 1)]
    while stack:
        item, depth = stack.pop()
        deepest = max(deepest, depth)
        if isinstance(item, dict):
            stack.extend((child, depth + 1) for child in item.values())
        elif isinstance(item, list):
            stack.extend((child, depth + 1) for child in item)
    return deepest
