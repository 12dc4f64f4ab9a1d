"""Translates a call before its operation reads it, and its reply when nothing else changes it."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from marshmallow import Schema
from msgspec.structs import replace

from mock_platform.core.assumptions import public_fact
from mock_platform.core.call import FORM, Call, Reply
from mock_platform.core.jsonio import MAX_VALUES, BadJson, dumps, loads
from mock_platform.core.operation import Dialect, Operation, dialect_of
from mock_platform.core.original_names.pairs import ACCOUNT_ACTIVITY, PAIRS, list_original_paths
from mock_platform.core.original_names.translation import Reading, Spelling
from mock_platform.core.unread import REPEATED_PARAMETER, Shape, shape_of
from mock_platform.settings import NAMES, NamesMode

ORIGINAL_NAMES = public_fact(
    "names.original",
    "With --names original, a world with these names, or the header X-Mock-Names: original, both "
    "names are taken on input and answers have the original ones: paths, parameters, keys, "
    "enumerated values, error codes, problem fields. Texts of the sandbox follow, but for what "
    "they quote from the request. Version 11 of the advertising interface answers as version 12.",
    "original names, section 1",
)
HEADER = "X-Mock-Names"
UNKNOWN_NAMES = "unknown-names"
_SPELLINGS: Mapping[Dialect, Spelling] = {name: Spelling(p) for name, p in PAIRS.items()}
_ACCOUNT_ACTIVITY = Spelling(ACCOUNT_ACTIVITY)
_NEUTRAL_EVENTS = {
    "account_activity": Spelling.to_neutral(ACCOUNT_ACTIVITY),
    None: Spelling.to_neutral(PAIRS["v2"]),
}
_MOST_LEVELS = 256
_GZIP = "application/gzip"
_VERSION = "x-current-api-version"


def choose_names(call: Call, names: NamesMode) -> NamesMode:
    """Returns the names of a call: those of its header, else those of its world."""
    asked = call.header(HEADER)
    for known in NAMES:
        if asked == known:
            return known
    if asked is not None:
        known_ones = ", ".join(NAMES)
        call.warn(f"{HEADER} is one of {known_ones}; {asked!r} was ignored", UNKNOWN_NAMES)
    return names


class Translator:
    """Translates the calls of a platform's operations; what it needs to know is made once."""

    def __init__(self) -> None:
        self._readings: dict[str, Reading] = {}

    def read(self, call: Call, operation: Operation) -> None:
        """Let a call with original names have neutral ones for all that comes.

        What the client sent stays in `query_string` and `body`, for its signature and the journal.
        """
        # Which names an operation knows is found out once: its schemas are walked at any depth.
        reading = self._readings.get(operation.id)
        if reading is None:
            declared = frozenset(list_declared(operation))
            reading = Reading(PAIRS[operation.dialect], declared)
            self._readings[operation.id] = reading
        if not reading:
            return
        call.replace_query(reading.read_pairs(call.query))
        if call.media_type == FORM:
            call.replace_form(reading.read_pairs(call.form))
        elif call.body and call.media_type.endswith("json"):
            call.neutral_body = _read_body(call, reading)

    def write(self, call: Call, reply: Reply) -> Reply:
        """Returns a reply with original names; bodies that are not JSON stay as they are."""
        call.assume(ORIGINAL_NAMES)
        if call.path.startswith("/11/"):
            for headers in (reply.headers, call.extra_headers):
                headers[:] = [(name, "11" if name == _VERSION else v) for name, v in headers]
        if not reply.body or reply.is_verbatim:
            return reply
        media_type = (reply.header("content-type") or "").partition(";")[0]
        spelling = _SPELLINGS[dialect_of(call.path)]
        if media_type.endswith("json"):
            reply.body = _write_body(reply.body, spelling)
        elif media_type == _GZIP:  # the result of a job: the answer of another operation
            with suppress(gzip.BadGzipFile):  # a scenario's own bytes
                reply.body = gzip.compress(
                    _write_body(gzip.decompress(reply.body), spelling), mtime=0
                )
        return reply


def write_event(body: Mapping[str, Any], product: str | None = None) -> Any:
    """Returns the body of a delivery, or the line of a stream, with original names."""
    spelling = _ACCOUNT_ACTIVITY if product == "account_activity" else _SPELLINGS["v2"]
    return spelling.write(dict(body))


def read_event(body: Mapping[str, Any]) -> Any:
    """Returns the body of a delivery with neutral names, whichever it has."""
    product = "account_activity" if is_account_activity(body) else None
    return _NEUTRAL_EVENTS[product].write(dict(body))


def is_account_activity(body: Mapping[str, Any]) -> bool:
    """Whether a body is that of the account activity product, under either names."""
    return "for_user_id" in body or "user_event" in body


def _write_body(body: bytes, spelling: Spelling) -> bytes:
    try:
        return dumps(spelling.write(loads(body, max_nesting=_MOST_LEVELS)))
    except BadJson:  # a scenario's own text
        return body


def _read_body(call: Call, reading: Reading) -> bytes:
    try:
        value = loads(call.body, max_nesting=_MOST_LEVELS, max_values=MAX_VALUES)
    except BadJson:  # refused where the operation reads it
        return call.body

    def warn(neutral: str, sent: str) -> None:
        text = f"key {sent!r} repeats {neutral!r} under its other name; the first one counts"
        call.warn(text, REPEATED_PARAMETER)

    return dumps(reading.read(value, warn))


def list_declared(operation: Operation) -> Iterator[str]:
    """Returns the names of all parameters of an operation, at any depth of its body."""
    return _list_keys(operation.params)


def list_answered(operation: Operation) -> frozenset[str]:
    """Returns the names of all declared keys of an operation's answers, at any depth."""
    return frozenset(_list_keys(operation.returns.schema))


def make_neutral_spelling(operation: Operation, mark: str = "") -> Spelling:
    """Returns what reads an operation's answers that have original names.

    An original that is itself a neutral name of these answers stays; for `mark` see
    `Spelling.to_neutral`.
    """
    pairs, declared = PAIRS[operation.dialect], list_answered(operation)
    names = {n: o for n, o in pairs.names.items() if o not in declared or n in declared}
    return Spelling.to_neutral(replace(pairs, names=names), mark)


def _list_keys(schema: type[Schema] | None) -> Iterator[str]:
    if schema is None:
        return
    shapes: Sequence[Shape] = [shape_of(schema())]
    while shapes:
        following: list[Shape] = []
        for shape in shapes:
            yield from shape.keys
            following += [inner for inner in shape.keys.values() if inner is not None]
        shapes = following


# The original names of an operation, for its description.


def describe_original_names(
    operation: Operation, write_path: Callable[[str], str]
) -> dict[str, Any]:
    """Returns the paths and the parameters of an operation whose original names differ.

    `paths` are further paths under `--names original`, `parameters` are original names by neutral
    name. What has no other name is left out.
    """
    names = PAIRS[operation.dialect].names
    paths = [*map(write_path, list_original_paths(operation.path, operation.dialect))]
    parameters = {
        name: names[name] for name in sorted(set(list_declared(operation))) if name in names
    }
    found = {"paths": paths, "parameters": parameters}
    return {name: value for name, value in found.items() if value}
