"""Translates a call before its operation reads it, and its reply when nothing else changes it."""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Any

from marshmallow import Schema
from msgspec.structs import replace

from mock_platform.core.assumptions import public_fact
from mock_platform.core.call import FORM, Call, Reply
from mock_platform.core.jsonio import MAX_VALUES, BadJson, dumps, loads
from mock_platform.core.operation import Dialect, Operation, dialect_of
from mock_platform.core.original_names.translation import Pairs, Reading, Spelling
from mock_platform.core.unread import REPEATED_PARAMETER, Shape, shape_of

BOTH_NAMES_ARE_TAKEN = public_fact(
    "names.original",
    "With --names original, a world with these names, or the header X-Mock-Names: original, both "
    "names are taken on input and answers have the original ones: paths, parameters, keys, "
    "enumerated values, error codes, problem fields. Texts of the sandbox follow, but for what "
    "they quote from the request. Version 11 of the advertising interface answers as version 12.",
    "original names, section 1",
)
_MOST_LEVELS = 256
_GZIP = "application/gzip"
_API_VERSION = "x-current-api-version"
_VERSION = re.compile(r"/12/")


class Translator:
    """The original names of all operations; what a translation needs to know is made once.

    Example:
        >>> names = Translator({"ads": Pairs(segments={"posts": "tweets"}), "v2": Pairs()})
        >>> names.list_paths("/12/accounts/:account_id/posts", "ads")[0]
        '/12/accounts/:account_id/tweets'
    """

    def __init__(
        self, pairs: Mapping[Dialect, Pairs], products: Mapping[str, Pairs] | None = None
    ) -> None:
        """`pairs` are those of each dialect.

        `products` are those of events and, by their ids, of operations that have others.
        """
        self.pairs = pairs
        self.products = products or {}
        self._readings: dict[str, Reading] = {}

    @cached_property
    def spellings(self) -> Mapping[Dialect, Spelling]:
        """What writes original names, by dialect."""
        return {dialect: Spelling(pairs) for dialect, pairs in self.pairs.items()}

    def find_spelling(self, operation_id: str, dialect: Dialect) -> Spelling:
        """Return what writes an operation's original names: its own, or those of its dialect."""
        own = self._of_products.get(operation_id)
        return self.spellings[dialect] if own is None else own[0]

    def find_pairs(self, operation: Operation) -> Pairs:
        """Return the pairs of an operation: its own, or those of its dialect."""
        return self.products.get(operation.id) or self.pairs[operation.dialect]

    # -- calls and events --------------------------------------------------------------------------

    def read(self, call: Call, operation: Operation) -> None:
        """Let a call with original names have neutral ones for all that comes.

        What the client sent stays in `query_string` and `body`, for its signature and the journal.
        """
        # Which names an operation knows is found out once: its schemas are walked at any depth.
        reading = self._readings.get(operation.id)
        if reading is None:
            declared = frozenset(list_declared(operation))
            reading = Reading(self.find_pairs(operation), declared)
            self._readings[operation.id] = reading
        if not reading:
            return
        call.replace_query(reading.read_pairs(call.query))
        if call.media_type == FORM:
            call.replace_form(reading.read_pairs(call.form))
        elif call.body and call.media_type.endswith("json"):
            call.neutral_body = _read_body(call, reading)

    def write(self, call: Call, reply: Reply) -> Reply:
        """Return a reply with original names; bodies that are not JSON stay as they are."""
        call.assume(BOTH_NAMES_ARE_TAKEN)
        if call.path.startswith("/11/"):
            for headers in (reply.headers, call.extra_headers):
                headers[:] = [(name, "11" if name == _API_VERSION else v) for name, v in headers]
        if not reply.body or reply.is_verbatim:
            return reply
        media_type = (reply.header("content-type") or "").partition(";")[0]
        spelling = self.find_spelling(call.operation or "", dialect_of(call.path))
        if media_type.endswith("json"):
            reply.body = _write_body(reply.body, spelling)
        elif media_type == _GZIP:  # the result of a job: the answer of another operation
            with suppress(gzip.BadGzipFile):  # a scenario's own bytes
                reply.body = gzip.compress(
                    _write_body(gzip.decompress(reply.body), spelling), mtime=0
                )
        return reply

    def write_event(self, body: Mapping[str, Any], product: str | None = None) -> Any:
        """Return the body of a delivery, or the line of a stream, with original names."""
        found = self._of_products.get(product or "")
        return (self.spellings["v2"] if found is None else found[0]).write(dict(body))

    def read_event(self, body: Mapping[str, Any], product: str | None = None) -> Any:
        """Return the body of a delivery with neutral names, whichever it has."""
        found = self._of_products.get(product or "")
        return (self._neutral_events if found is None else found[1]).write(dict(body))

    @cached_property
    def _of_products(self) -> Mapping[str, tuple[Spelling, Spelling]]:
        found = self.products.items()
        return {name: (Spelling(pairs), Spelling.to_neutral(pairs)) for name, pairs in found}

    @cached_property
    def _neutral_events(self) -> Spelling:
        return Spelling.to_neutral(self.pairs["v2"])

    def make_neutral_spelling(self, operation: Operation, mark: str = "") -> Spelling:
        """Return what reads an operation's answers that have original names.

        An original that is itself a neutral name of these answers stays; for `mark` see
        `Spelling.to_neutral`.
        """
        pairs, declared = self.find_pairs(operation), list_answered(operation)
        names = {n: o for n, o in pairs.names.items() if o not in declared or n in declared}
        return Spelling.to_neutral(replace(pairs, names=names), mark)

    # -- paths -------------------------------------------------------------------------------------

    def write_path(self, path: str, operation: Operation) -> str:
        """Return a path of an operation as the platform has it.

        Under `/2` it is one of the operation's further paths.
        """
        own, given = operation.path.split("/"), path.split("/")
        segments = self.find_pairs(operation).segments
        named = [segments.get(segment, segment) for segment in own]
        if operation.dialect == "v2" and "/".join(named) not in operation.also:
            return path
        fixed = [not segment.startswith(":") for segment in own]
        if len(own) != len(given) or any(
            f and o != g for f, o, g in zip(fixed, own, given, strict=True)
        ):
            return path  # one of the older templates
        written = zip(fixed, named, given, strict=True)
        return "/".join(new if f else sent for f, new, sent in written)

    def list_paths(self, path: str, dialect: Dialect) -> list[str]:
        """Return the further paths of an operation of the advertising interface.

        Those of version 11 are among them. Under `/2` the older paths are always served.
        """
        if dialect != "ads":
            return []
        segments = self.pairs[dialect].segments
        named = "/".join(segments.get(segment, segment) for segment in path.split("/"))
        found = dict.fromkeys([path, named])
        if path.startswith("/12/"):
            found |= dict.fromkeys([_VERSION.sub("/11/", each, count=1) for each in found])
        del found[path]
        return list(found)

    def describe(self, operation: Operation, write_path: Callable[[str], str]) -> dict[str, Any]:
        """Return the paths and the parameters of an operation whose original names differ.

        `paths` are further paths under `--names original`, `parameters` are original names by
        neutral name. What has no other name is left out.
        """
        names = self.find_pairs(operation).names
        paths = [*map(write_path, self.list_paths(operation.path, operation.dialect))]
        parameters = {
            name: names[name] for name in sorted(set(list_declared(operation))) if name in names
        }
        found = {"paths": paths, "parameters": parameters}
        return {name: value for name, value in found.items() if value}


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
    """Return the names of all parameters of an operation, at any depth of its body."""
    return _list_keys(operation.params)


def list_answered(operation: Operation) -> frozenset[str]:
    """Return the names of all declared keys of an operation's answers, at any depth."""
    return frozenset(_list_keys(operation.returns.schema))


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
