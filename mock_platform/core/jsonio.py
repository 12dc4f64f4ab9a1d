"""JSON: reading within limits, writing in the interface's form. All other modules use this one."""

from __future__ import annotations

import json
import re
from typing import Any

import orjson


class BadJson(ValueError):
    """The text is not JSON, or nested too deeply; `line` and `column` start at 1."""

    def __init__(self, text: str, line: int = 1, column: int = 1) -> None:
        super().__init__(text)
        self.line = line
        self.column = column


MAX_VALUES = 250_000
"""Maximum number of values in a JSON body: the largest documented bodies have fewer."""


def loads(data: bytes, *, max_nesting: int = 64, max_values: int | None = None) -> Any:
    """Return the value of a JSON text.

    Raises:
        BadJson: It is malformed, nested deeper than `max_nesting` levels, or has more than
            `max_values` values at any depth.

    Example:
        >>> loads(b'{"ids":["1","2"]}')
        {'ids': ['1', '2']}
        >>> loads(b"[[[]]]", max_nesting=2)
        Traceback (most recent call last):
        mock_platform.core.jsonio.BadJson: nested more than 2 levels deep
    """
    if max_values is not None and _count_values(data, max_values) > max_values:
        raise BadJson(f"JSON with more than {max_values:,} values")
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError as fault:
        text = f"not valid JSON: {fault.msg} at line {fault.lineno}, column {fault.colno}"
        raise BadJson(text, fault.lineno, fault.colno) from fault
    # The parser itself has a limit far beyond what is allowed here. A cheap check of the brackets
    # alone lets almost everything pass; only what it cannot decide is measured on the value.
    if not _shallow(data, max_nesting) and _depth(value) > max_nesting:
        raise BadJson(f"nested more than {max_nesting} levels deep")
    return value


def list_repeated_keys(text: bytes, value: Any) -> list[str]:
    """Return the keys that an object in a JSON text has more than once; `value` was read of it.

    Example:
        >>> text = b'{"name":"a","more":{"name":"b"},"name":"c"}'
        >>> list_repeated_keys(text, loads(text))
        ['name']
    """
    # A reader keeps the last one and says nothing. Each key is followed by a colon, so texts with
    # as many of these as the value has keys repeat none: nearly all texts. Strings may have some
    # as well, so the others are read once more.
    if text.translate(None, b" \t\r\n").count(b'":') == _count_keys(value):
        return []
    repeated: dict[str, None] = {}

    def look(pairs: list[tuple[str, Any]]) -> None:
        names = set()
        for name, _ in pairs:
            if name in names:
                repeated[name] = None
            names.add(name)

    # Numbers stay texts, because the reader of the standard library refuses those that are long.
    json.loads(text, object_pairs_hook=look, parse_int=str, parse_float=str)
    return list(repeated)


def _count_keys(value: Any) -> int:
    if type(value) is not dict and type(value) is not list:
        return 0
    found, items = (len(value), value.values()) if type(value) is dict else (0, value)
    for each in items:
        if type(each) is dict or type(each) is list:  # a call for each text would take long
            found += _count_keys(each)
    return found


def dumps(value: Any) -> bytes:
    r"""Return JSON without spaces, in UTF-8.

    Example:
        >>> dumps({"text": "Grüße", "at": None})
        b'{"text":"Gr\xc3\xbc\xc3\x9fe","at":null}'
    """
    return orjson.dumps(value)


def canonical(value: Any) -> bytes:
    """Return JSON with sorted keys, for comparisons: for `==`, 1 and true are equal.

    Example:
        >>> canonical({"b": 1, "a": True})
        b'{"a":true,"b":1}'
    """
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def pretty(value: Any) -> str:
    """Return indented JSON for people."""
    return orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()


def printable(text: str) -> str:
    r"""Return JSON such that nothing in its strings controls the terminal on which it is shown.

    Example:
        >>> printable(pretty({"name": "\x9b2J"}))
        '{\n  "name": "\\u009b2J"\n}'
    """
    return _UNPRINTABLE.sub(lambda found: json.dumps(found[0])[1:-1], text)


# What JSON may have as it is: delete, the second set of control characters, and those that turn the
# direction of writing or end a line.
_UNPRINTABLE = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")


def _count_values(data: bytes, most: int) -> int:
    """Return the number of values in a text, before it is read; precisely only beyond `most`.

    All work that follows depends on this number, and a value may take a hundred times more space
    in memory than in the text.
    """
    # A value takes at least one byte, so a short text needs no count. Counting commas and brackets
    # is an upper bound, because strings may contain some; only if the bound is too high are strings
    # looked at.
    if len(data) <= most:
        return 0
    found = _count_signs(data)
    if found <= most:
        return found
    plain = data.replace(b"\\\\", b"").replace(b'\\"', b"") if b"\\" in data else data
    if plain.count(b'"') > 4 * most:  # each value has two strings at most: its name and itself
        return most + 1
    return _count_signs(b"".join(plain.split(b'"')[::2]))  # what is outside of the strings


def _count_signs(data: bytes) -> int:
    containers = data.count(b"[") + data.count(b"{")
    return 1 + data.count(b",") + containers - data.count(b"[]") - data.count(b"{}")


_NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))


def _shallow(data: bytes, levels: int) -> bool:
    """Whether the text is certainly not nested deeper; a fast check, also for large bodies."""
    brackets = data.translate(None, _NOT_BRACKETS)
    for _ in range(levels // 2):  # each round takes at least one level away, at most two
        if not brackets:
            return True
        brackets = brackets.replace(b"{}", b"").replace(b"[]", b"")
    return not brackets


def _depth(value: Any) -> int:
    deepest, stack = 0, [(value, 1)]
    while stack:
        item, depth = stack.pop()
        if isinstance(item, dict | list):
            deepest = max(deepest, depth)
            children = item.values() if isinstance(item, dict) else item
            stack.extend((child, depth + 1) for child in children)
    return deepest
