"""Reads YAML 1.2 and JSON into data, with the place of each value and within fixed bounds.

Of YAML only what JSON also has is accepted: no aliases, tags, second document or duplicate keys.
The events of the parser are read one by one, so that a hostile file is refused where it first
exceeds a bound, not after it was expanded.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

from mock_platform.core.jsonio import BadJson, loads
from mock_platform.core.tables.fixtures import find_repeated_keys
from mock_platform.core.tables.fixtures import locate as json_place
from mock_platform.scenario.forms import Path, quote

if TYPE_CHECKING:
    from ruamel.yaml.events import Event, ScalarEvent

MAX_BYTES = 1024 * 1024
MAX_DEPTH = 32
MAX_VALUES = 20_000

_MAX_INTEGER_DIGITS = 20
_OPENS = re.compile(r"while (?:scanning a quoted|parsing a flow)", re.ASCII)
_INTEGER = re.compile(r"[-+]?[0-9]{1,18}", re.ASCII)
_FLOAT = re.compile(
    r"(?=[^eE]*[.eE])[-+]?(?:\.[0-9]{1,40}|[0-9]{1,40}(?:\.[0-9]{0,40})?)(?:[eE][-+]?[0-9]{1,3})?",
    re.ASCII,
)
_HINTS = {
    "character '\\t'": " (indent with spaces)",
    "expected alphabetic": ' (write "*" with quotation marks)',
    "mapping values": " (indent it like the keys above; a text with a colon needs quotation marks)",
}
"""What to do about a fault, by a part of the parser's words."""
_WORDS: dict[str, Any] = {
    "": None, "~": None, "null": None, "Null": None, "NULL": None,
    "true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False,
}  # fmt: skip


class Malformed(Exception):
    """The text cannot be read; `line` and `column` count from 1."""

    def __init__(self, text: str, line: int = 1, column: int = 1) -> None:
        super().__init__(text)
        self.text = text
        self.line = line
        self.column = column


class Source(Struct):
    """A document as it was written: its data, and the place of each part."""

    file: FilePath
    data: Any
    text: str | None = None
    places: dict[Path, tuple[int, int]] = field(default_factory=dict)

    def locate(self, at: Path) -> tuple[int, int]:
        """Return line and column, from 1, of the value at a path, or of what is around it."""
        if self.text is not None:
            return json_place(self.text, at)
        for length in range(len(at), -1, -1):
            if at[:length] in self.places:
                return self.places[at[:length]]
        return 1, 1


def read(file: FilePath, content: bytes) -> Source:
    """Read a document: JSON if the file's suffix is .json, else YAML.

    Raises:
        Malformed: It is neither, or exceeds a bound.
    """
    if len(content) > MAX_BYTES:
        raise Malformed(f"larger than {MAX_BYTES:,} bytes, which is the most for a scenario")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise Malformed("not UTF-8 text", line) from error
    if file.suffix == ".json":
        return _read_json(file, text)
    return _read_yaml(file, text)


def _read_json(file: FilePath, text: str) -> Source:
    try:
        loads(text.encode(), max_nesting=MAX_DEPTH)
        data = json.loads(text, object_pairs_hook=_make_object, parse_int=_parse_integer)
    except _Duplicate as error:
        _, place = next(find_repeated_keys(text))
        raise Malformed(f"key {quote(error.key)} occurs twice in one object", *place) from error
    except json.JSONDecodeError as error:
        raise Malformed(f"not valid JSON: {error.msg}", error.lineno, error.colno) from error
    except BadJson as error:
        raise Malformed(str(error), error.line, error.column) from error
    count = count_values(data)
    if count > MAX_VALUES:
        raise Malformed(f"holds more than {MAX_VALUES:,} values")
    return Source(file, data, text)


def _parse_integer(digits: str) -> int | float:
    """Return an integer of 64 bits; a larger one as a float, as other readers do."""
    if len(digits) <= _MAX_INTEGER_DIGITS and -(2**63) <= (number := int(digits)) < 2**63:
        return number
    return float(digits)


class _Duplicate(ValueError):
    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.key = key


def _make_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise _Duplicate(key)
        found[key] = value
    return found


def count_values(data: Any) -> int:
    """Return how many values some data hold, itself included; count no further than the bound."""
    count, stack = 0, [data]
    while stack and count <= MAX_VALUES:
        item = stack.pop()
        count += 1
        if isinstance(item, dict):
            stack.extend(item.values())
        elif isinstance(item, list):
            stack.extend(item)
    return count


def _read_yaml(file: FilePath, text: str) -> Source:
    from ruamel.yaml import YAML  # 40 ms that servers without scenarios of their own do not pay
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    try:
        return _Builder(file, YAML(typ="safe", pure=True).parse(text)).build()
    except MarkedYAMLError as error:
        mark, opened = error.problem_mark or error.context_mark, error.context_mark
        words = error.problem or error.context
        # A quotation mark or bracket that is never closed is noticed lines later, often at the end
        # of the file; who has to repair it needs the place where it opens.
        if opened is not None and mark.line > opened.line and _OPENS.match(error.context or ""):
            words = f"what opens here is not closed; line {mark.line + 1}: {words}"
            mark = opened
        line, column = (1, 1) if mark is None else (mark.line + 1, mark.column + 1)
        hint = next((hint for part, hint in _HINTS.items() if part in (words or "")), "")
        raise Malformed(f"not valid YAML: {words}{hint}", line, column) from error
    except (YAMLError, ValueError, RecursionError) as error:
        words = " ".join(str(error).split())[:200]
        raise Malformed(f"not valid YAML: {words}") from error


class _Builder:
    """Builds data from a parser's events."""

    def __init__(self, file: FilePath, events: Iterator[Event]) -> None:
        self._file = file
        self._events = events
        self._places: dict[Path, tuple[int, int]] = {}
        self._count = 0

    def build(self) -> Source:
        from ruamel.yaml.events import DocumentEndEvent, DocumentStartEvent, StreamEndEvent

        data: Any = None
        documents = 0
        for event in self._events:
            if isinstance(event, StreamEndEvent):
                break
            if isinstance(event, DocumentStartEvent):
                documents += 1
                if documents > 1:
                    raise _make_malformed(event, "a second document; a file holds one scenario")
                if event.tags:
                    raise _make_malformed(event, "tags are not allowed")
                data = self._read_value(next(self._events), ())
            elif not isinstance(event, DocumentEndEvent) and documents:
                raise _make_malformed(event, "more than one value")
        if not documents:
            raise Malformed("the file is empty; a scenario has at least a name and rules")
        return Source(self._file, data, None, self._places)

    def _read_value(self, event: Event, at: Path) -> Any:
        from ruamel.yaml.events import (
            AliasEvent,
            MappingStartEvent,
            ScalarEvent,
            SequenceStartEvent,
        )

        self._places.setdefault(at, _locate(event))
        self._count += 1
        if self._count > MAX_VALUES:
            raise _make_malformed(event, f"more than {MAX_VALUES:,} values")
        if isinstance(event, AliasEvent):
            raise _make_malformed(event, "aliases (*name) are not allowed; write the value out")
        assert isinstance(event, ScalarEvent | SequenceStartEvent | MappingStartEvent)
        if event.anchor is not None:
            raise _make_malformed(event, "anchors (&name) are not allowed; write the value out")
        if event.tag is not None and event.tag != "!":
            raise _make_malformed(event, f"tags are not allowed, got {str(event.tag)[:60]}")
        if isinstance(event, ScalarEvent):
            return _read_scalar(event)
        if len(at) >= MAX_DEPTH:
            raise _make_malformed(event, f"nested more than {MAX_DEPTH} levels deep")
        if isinstance(event, SequenceStartEvent):
            return self._read_sequence(at)
        assert isinstance(event, MappingStartEvent)
        return self._read_mapping(at)

    def _read_sequence(self, at: Path) -> list[Any]:
        from ruamel.yaml.events import SequenceEndEvent

        found: list[Any] = []
        while not isinstance(event := next(self._events), SequenceEndEvent):
            found.append(self._read_value(event, (*at, len(found))))
        return found

    def _read_mapping(self, at: Path) -> dict[str, Any]:
        from ruamel.yaml.events import MappingEndEvent, ScalarEvent

        found: dict[str, Any] = {}
        while not isinstance(event := next(self._events), MappingEndEvent):
            if not isinstance(event, ScalarEvent) or event.anchor is not None or event.tag:
                raise _make_malformed(event, "a key must be plain text")
            key: str = event.value
            if key in found:
                raise _make_malformed(event, f"key {quote(key)} occurs twice in one object")
            self._places[*at, key] = _locate(event)
            found[key] = self._read_value(next(self._events), (*at, key))
        return found


def _locate(event: Event) -> tuple[int, int]:
    mark = event.start_mark
    return (1, 1) if mark is None else (mark.line + 1, mark.column + 1)


def _make_malformed(event: Event, text: str) -> Malformed:
    return Malformed(text, *_locate(event))


def _read_scalar(event: ScalarEvent) -> Any:
    text: str = event.value
    if not event.implicit[0]:  # quoted, or a block
        return text
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text):
        return int(text)
    if _FLOAT.fullmatch(text) and math.isfinite(number := float(text)):
        return number
    return text
