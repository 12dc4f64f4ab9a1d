"""Reads YAML 1.2, JSON and TOML into data, with the place of each value and within fixed bounds.

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

from mock_platform.core.errors import Complaint, shorten
from mock_platform.core.jsonio import BadJson, dumps, loads

if TYPE_CHECKING:
    from ruamel.yaml.events import Event, ScalarEvent

Path = tuple[str | int, ...]
"""The place of a value in a document: keys and positions, from the outside to the inside."""

MAX_BYTES = 1024 * 1024
MAX_DEPTH = 32
MAX_VALUES = 20_000
_MAX_QUOTED_CHARACTERS = 80


def quote(value: Any) -> str:
    """Write a value as messages quote it: JSON, shortened if long."""
    try:
        text = dumps(value).decode()
    except TypeError:  # callers in Python can pass values that JSON does not have
        text = repr(value)
    return shorten(text, _MAX_QUOTED_CHARACTERS)


def format_path(at: Path) -> str:
    """Return a place as complaints name it: `rules[0].then.error`."""
    text = ""
    for step in at:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text


class DocumentKind(Struct, frozen=True):
    """What a file has: its name in complaints, and the bounds of the file."""

    name: str
    least: str = ""
    """What the smallest one has, where an empty file is a fault."""
    most_bytes: int = MAX_BYTES
    most_values: int = MAX_VALUES


SCENARIO = DocumentKind("scenario", "at least a name and rules")

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

    def complain(self, file: FilePath) -> Complaint:
        """Return a complaint about the file."""
        return Complaint(file, self.line, self.column, "", self.text)


class Source(Struct):
    """A document as it was written: its data, and the place of each part."""

    file: FilePath
    data: Any
    text: str | None = None
    """The text of JSON, in which places are looked up when they are needed."""
    places: dict[Path, tuple[int, int]] = field(default_factory=dict)
    """Line and column of each part of another document."""
    _items: dict[Path, dict[int | str, tuple[int, int]]] = field(default_factory=dict)
    """Where the parts of the containers begin that were looked at, and where their values do."""

    def locate(self, at: Path) -> tuple[int, int]:
        """Return line and column, from 1, of the value at a path, or of what is around it."""
        if self.text is not None:
            return self._locate_json(self.text, at)
        for length in range(len(at), -1, -1):
            if at[:length] in self.places:
                return self.places[at[:length]]
        return 1, 1

    def complain(self, at: Path, text: str) -> Complaint:
        """Return a complaint about the value at a path."""
        return Complaint(self.file, *self.locate(at), format_path(at), text)

    def _locate_json(self, text: str, at: Path) -> tuple[int, int]:
        # The parser forgets where a value was. Only when there is a complaint is the text walked
        # again, along the path to the value, so that files without faults pay nothing for it. What
        # was found is kept, because a file may have as many faults as it has records.
        shown = position = _skip_space(text, 0)
        for length, step in enumerate(at):
            items = self._items.get(at[:length])
            if items is None:
                items = self._items[at[:length]] = dict(_list_items(text, position))
            if step not in items:
                break
            shown, position = items[step]
        return count_line_and_column(text, shown)


def read_file(file: FilePath, kind: DocumentKind) -> Source:
    """Read a document in a file.

    Raises:
        Malformed: It cannot be read, is not in its format, or exceeds a bound.
    """
    try:
        return read(file, file.read_bytes(), kind)
    except OSError as error:
        raise Malformed(f"cannot be read: {error.strerror or error}") from error


def read(file: FilePath, content: bytes, kind: DocumentKind = SCENARIO) -> Source:
    """Read a document: JSON or TOML if the file's suffix is .json or .toml, else YAML.

    Raises:
        Malformed: It is not in its format, or exceeds a bound.
    """
    if len(content) > kind.most_bytes:
        most = f"{kind.most_bytes:,} bytes, which is the most for a {kind.name}"
        raise Malformed(f"larger than {most}")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise Malformed("not UTF-8 text", line) from error
    if file.suffix == ".json":
        return _read_json(file, text, kind)
    return _read_toml(file, text) if file.suffix == ".toml" else _read_yaml(file, text, kind)


def _read_json(file: FilePath, text: str, kind: DocumentKind) -> Source:
    try:
        loads(text.encode(), max_nesting=MAX_DEPTH)
        data = json.loads(text, object_pairs_hook=_make_object, parse_int=_parse_integer)
    except _Duplicate as error:
        _, place = next(find_repeated_keys(text))
        raise Malformed(f"key {quote(error.key)} occurs twice in one object", *place) from error
    except json.JSONDecodeError as error:
        raise Malformed(f"not valid JSON: {error.msg}", error.lineno, error.colno) from error
    except BadJson as error:
        raise Malformed(f"{error}{hint_at_json(text, error)}", error.line, error.column) from error
    if count_values(data, kind.most_values) > kind.most_values:
        raise Malformed(f"holds more than {kind.most_values:,} values")
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


def count_values(data: Any, most: int = MAX_VALUES) -> int:
    """Return how many values some data hold, itself included; count no further than `most`."""
    count, stack = 0, [data]
    while stack and count <= most:
        item = stack.pop()
        count += 1
        if isinstance(item, dict):
            stack.extend(item.values())
        elif isinstance(item, list):
            stack.extend(item)
    return count


def _read_yaml(file: FilePath, text: str, kind: DocumentKind) -> Source:
    from ruamel.yaml import YAML  # 40 ms that servers without scenarios of their own do not pay
    from ruamel.yaml.error import YAMLError

    try:
        return _Builder(file, kind, YAML(typ="safe", pure=True).parse(text)).build()
    except (YAMLError, ValueError, RecursionError) as error:
        raise explain_yaml(error) from error


def explain_yaml(error: Exception) -> Malformed:
    """Return what an exception of the YAML parser says, with its place and what to do about it."""
    from ruamel.yaml.error import MarkedYAMLError

    if not isinstance(error, MarkedYAMLError):
        return Malformed(f"not valid YAML: {' '.join(str(error).split())[:200]}")
    mark, opened = error.problem_mark or error.context_mark, error.context_mark
    words = error.problem or error.context
    # A quotation mark or bracket that is never closed is noticed lines later, often at the end of
    # the file; who has to repair it needs the place where it opens.
    if opened is not None and mark.line > opened.line and _OPENS.match(error.context or ""):
        words = f"what opens here is not closed; line {mark.line + 1}: {words}"
        mark = opened
    line, column = (1, 1) if mark is None else (mark.line + 1, mark.column + 1)
    hint = next((hint for part, hint in _HINTS.items() if part in (words or "")), "")
    return Malformed(f"not valid YAML: {words}{hint}", line, column)


class _Builder:
    """Builds data from a parser's events."""

    def __init__(self, file: FilePath, kind: DocumentKind, events: Iterator[Event]) -> None:
        self._file = file
        self._kind = kind
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
                    text = f"a second document; a file holds one {self._kind.name}"
                    raise _make_malformed(event, text)
                if event.tags:
                    raise _make_malformed(event, "tags are not allowed")
                data = self._read_value(next(self._events), ())
            elif not isinstance(event, DocumentEndEvent) and documents:
                raise _make_malformed(event, "more than one value")
        if not documents and self._kind.least:
            raise Malformed(f"the file is empty; a {self._kind.name} has {self._kind.least}")
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
        if self._count > self._kind.most_values:
            raise _make_malformed(event, f"more than {self._kind.most_values:,} values")
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


# Places in JSON text, and hints for text that is not valid JSON.

_decoder = json.JSONDecoder()
_SPACE = " \t\r\n"


def _list_items(text: str, position: int) -> Iterator[tuple[int | str, tuple[int, int]]]:
    """Yield the items of a container: where each begins, and where its value does.

    The last of equal keys comes first, so that a dictionary of them keeps the place of the first.
    """
    opening = text[position : position + 1]
    found: list[tuple[int | str, tuple[int, int]]] = []
    position = _skip_space(text, position + 1)
    while opening in {"[", "{"} and position < len(text) and text[position] not in "]}":
        start = position
        key: str | int = len(found)
        if opening == "{":
            key, position = _decoder.raw_decode(text, position)
            position = _skip_space(text, _skip_space(text, position) + 1)
        found.append((key, (start, position)))
        _, position = _decoder.raw_decode(text, position)
        position = _skip_space(text, position)
        if text[position : position + 1] == ",":
            position = _skip_space(text, position + 1)
    return reversed(found)


def _skip_space(text: str, position: int) -> int:
    while position < len(text) and text[position] in _SPACE:
        position += 1
    return position


def count_line_and_column(text: str, position: int) -> tuple[int, int]:
    """Return line and column, from 1, of a position."""
    line = text.count("\n", 0, position) + 1
    return line, position - (text.rfind("\n", 0, position) + 1) + 1


_JSON_HINTS = {
    "'": "texts are between double quotes",
    "#": "JSON has no comments",
    "/": "JSON has no comments",
    "-": "this looks like YAML; this file is JSON",
    "N": "JSON has no NaN; write null",
    "T": "JSON has true, false and null",
    "F": "JSON has true, false and null",
}


def hint_at_json(text: str, fault: BadJson) -> str:
    """Return a hint for text that is not valid JSON, if the character at the fault suggests one."""
    lines = text.splitlines()
    line = lines[fault.line - 1] if len(lines) >= fault.line else ""
    at = line[fault.column - 1 : fault.column]
    if "control character" in str(fault):
        return " (a text ends on its line: a quote is missing, or write \\n and \\t in it)"
    hint = _JSON_HINTS.get(at) or (_JSON_HINTS.get(line[:1]) if fault.line == 1 else None)
    return f" ({hint})" if hint else ""


def find_repeated_keys(text: str) -> Iterator[tuple[str, tuple[int, int]]]:
    """Yield each key of valid JSON that its object has already, with line and column, from 1."""
    found: list[str] = []

    def note(pairs: list[tuple[str, Any]]) -> None:
        if len({key for key, _ in pairs}) < len(pairs):
            found.append("")

    json.loads(text, object_pairs_hook=note)
    if not found:
        return
    seen: list[set[str]] = []
    for match in _TOKEN.finditer(text):
        token = match[0]
        if token in "{[":
            seen.append(set())
        elif token in "}]":
            seen.pop()
        elif match[1] is not None:
            key = json.loads(match[1])
            if key in seen[-1]:
                yield key, count_line_and_column(text, match.start())
            seen[-1].add(key)


_TOKEN = re.compile(r'("(?:[^"\\]|\\.)*")(?=\s*:)|"(?:[^"\\]|\\.)*"|[{}\[\]]')


# Places in TOML text, which is read line by line for them.

_TOML_PLACE = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")
_TOML_LINE = re.compile(r"(\s*)(?:\[+([\w.-]+)\]|[\"']?([\w.-]+)[\"']?\s*=)")


def _read_toml(file: FilePath, text: str) -> Source:
    import tomllib  # most servers start without such a file

    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        said = str(error)
        place = _TOML_PLACE.search(said)
        end = max(len(text.splitlines()), 1)
        line, column = (int(place[1]), int(place[2])) if place and place[1] else (end, 1)
        words = said if place is None else said[: place.start()]
        hint = "; each line is KEY = VALUE below a table such as [serve]" if "'='" in said else ""
        raise Malformed(f"{words}{hint}.", line, column) from error
    places: dict[Path, tuple[int, int]] = {}
    around: tuple[str, ...] = ()
    for number, written in enumerate(text.splitlines(), 1):
        found = _TOML_LINE.match(written)
        if found is None:
            continue
        if found[2]:
            around = steps = tuple(found[2].split("."))
        else:
            steps = (*around, *found[3].split("."))
        for length in range(1, len(steps) + 1):
            places.setdefault(steps[:length], (number, len(found[1]) + 1))
    return Source(file, data, None, places)
