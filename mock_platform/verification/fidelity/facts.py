"""Facts: requests with what the real service answered, and where each of them was published.

A folder has them as files with one fact each (`*.json`), as files with one fact a line (`*.jsonl`),
or as HTTP archives (`*.har`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from msgspec import Struct

from mock_platform.core import installed
from mock_platform.core.address import split_surface, split_world
from mock_platform.core.documents.forms import (
    AnyForm,
    EntriesForm,
    FaultReport,
    FieldsForm,
    Form,
    TypedForm,
    WholeForm,
    WordForm,
)
from mock_platform.core.documents.source import Source
from mock_platform.core.errors import BadDocument, Complaint
from mock_platform.core.jsonio import BadJson, dumps, loads
from mock_platform.core.operation import Operation
from mock_platform.core.platform_hosts import PLATFORM_HOSTS
from mock_platform.settings import NamesMode
from mock_platform.verification.har.exchange import (
    HarExchange,
    HarPlace,
    HarRequest,
    HarResponse,
    recognize_names,
)
from mock_platform.verification.har.reader import read_har
from mock_platform.world.clock import machine_now, parse_instant

HERE = "http://localhost"
"""The address in place of `{base_url}`."""
MAX_NESTING = 64
MAX_FILE_BYTES = 16 * 1024 * 1024
_ARCHIVES = (".har", ".zhar", ".har.gz", ".zip")
_BASES = re.compile(r"\{(?:base_url|ads_base_url|ads_sandbox_base_url)\}")
_TIMES = ("created_at", "updated_at", "end")
_PARAMETER = re.compile(r"/:[a-z_]+", re.ASCII)
_EPOCH = 1288834974657
"""Milliseconds of the moment from which ids with a time count."""


_OPTIONAL_TEXT = TypedForm(text=WordForm(most=MAX_FILE_BYTES), null=True, what="text")
_HEADERS = TypedForm(
    object=EntriesForm(WordForm(most=MAX_FILE_BYTES), least=0, most=1000),
    null=True,
    what="an object of headers",
)
_REQUEST: Mapping[str, Form] = {
    "method": WordForm(),
    "path": WordForm(),
    "query": TypedForm(
        object=EntriesForm(AnyForm(), least=0, most=1000), null=True, what="an object"
    ),
    "headers": _HEADERS,
}
_RESPONSE: Mapping[str, Form] = {
    "status": WholeForm(0, 999),
    "headers": _HEADERS,
    "text": _OPTIONAL_TEXT,
}
_FORM = FieldsForm(
    {
        "operation": WordForm(),
        "request": FieldsForm(_REQUEST, required=("path",), is_open=True),
        "response": FieldsForm(_RESPONSE, required=("status",), is_open=True),
    },
    is_open=True,
)


class BadFacts(BadDocument):
    """Files that are no facts."""


class Fact(Struct, frozen=True):
    """One request with the real answer, and where it was published."""

    operation: str
    """Method and path, such as `GET /2/users/:id`."""
    source: str
    kind: str
    exchange: HarExchange
    names: NamesMode = "neutral"
    by_user: bool = False
    """Whether a user signed, and not the app alone."""
    is_edited: bool = False
    """Whether texts were replaced and lists cut, as in everything that is published as a fact."""

    @property
    def family(self) -> str:
        """The subject of the operation."""
        return find_family(self.operation)

    @property
    def body(self) -> Any:
        """The real answer as JSON, or its text."""
        return read_body(self.exchange.response.body)


def find_family(operation: str) -> str:
    """Return the subject of an operation: `users`, or `ads cards`.

    Example:
        >>> find_family("GET /12/accounts/:account_id/cards/all"), find_family("GET /2/users/me")
        ('ads cards', 'users')
    """
    method, _, path = operation.partition(" ")
    if method == "ERROR":
        return "refusals"
    _, version, *parts = path.split("/")
    if version == "2":
        return parts[0]
    if version == "1.1":
        return "sign-in" if parts[0] == "oauth" else "older interface"
    if version not in {"12", "11", "5"}:
        return "sign-in"
    named = [
        part for part in parts if not part.startswith(":") and part not in {"batch", "accounts"}
    ]
    return f"ads {named[0] if named else 'accounts'}"


def read_body(body: bytes) -> Any:
    """Return a body as JSON, or as text."""
    try:
        return loads(body, max_nesting=MAX_NESTING)
    except BadJson:
        return body.decode("utf-8", "replace")


def find_moment(fact: Fact) -> datetime:
    """Return the moment of a fact: its header, or shortly after the newest time in the answer."""
    if fact.exchange.started is not None:
        return fact.exchange.started
    sent = fact.exchange.response.header("date")
    if sent:
        return parsedate_to_datetime(sent.replace("UTC", "GMT")).astimezone(UTC)
    body = fact.body
    shown = body.get("data") if isinstance(body, dict) else None
    is_recent = "/search/" in fact.operation  # which finds nothing older
    for part, names in (*(((shown, _TIMES), (shown, ())) * is_recent), (body, _TIMES), (body, ())):
        times = [each for each in _list_times(part, names) if each <= machine_now()]
        if times:
            return max(times) + timedelta(minutes=1)
    return datetime(2026, 10, 1, tzinfo=UTC)


def read_snowflake(key: str) -> datetime | None:
    """Return the moment in an id; `None` in one that has none."""
    if not key.isdecimal() or not 15 <= len(key) <= 19:
        return None
    return datetime.fromtimestamp(((int(key) >> 22) + _EPOCH) / 1000, UTC)


def _list_times(value: Any, names: Sequence[str]) -> Iterator[datetime]:
    """Yield the times under these names in a value; those in ids if there are no names."""
    if isinstance(value, list):
        for each in value:
            yield from _list_times(each, names)
    if not isinstance(value, dict):
        return
    for each in (value[name] for name in names if isinstance(value.get(name), str)):
        with suppress(ValueError):
            yield parse_instant(each)
    made = None if names else read_snowflake(str(value.get("id")))
    if made is not None:
        yield made
    for each in value.values():
        yield from _list_times(each, names)


# Reading.


def read_packaged() -> list[Fact]:
    """Return the facts of the project itself."""
    return read_facts(installed.folder("fidelity"))


def read_facts(folder: Path) -> list[Fact]:
    """Return the facts of a folder or of one file.

    Raises:
        BadFacts: A file is no fact, or none is there.
        BadHar: An archive is damaged.
        OSError: A file cannot be read.
    """
    files = [folder] if folder.is_file() else sorted(folder.iterdir())
    facts = [fact for file in files for fact in _read_file(file)]
    if not facts:
        text = (
            "has no facts. They are .json files with `operation`, `request` and `response`, "
            ".jsonl files with one of these a line, or .har files."
        )
        raise BadFacts.make(folder, text)
    return facts


def _read_file(file: Path) -> Iterator[Fact]:
    if file.name.endswith(_ARCHIVES):
        for exchange in read_har(file):
            if exchange.response.status and exchange.response.is_whole:
                yield _from_exchange(exchange)
        return
    if file.suffix not in {".json", ".jsonl"}:
        return
    data = file.read_bytes()
    if len(data) > MAX_FILE_BYTES:
        text = f"larger than {MAX_FILE_BYTES:,} bytes, which is the most for a file of facts"
        raise BadFacts.make(file, text)
    lines = data.splitlines() if file.suffix == ".jsonl" else [data]
    for number, line in enumerate(lines, 1):
        try:
            read = loads(line, max_nesting=MAX_NESTING)
        except BadJson as fault:
            place = (number + fault.line - 1, fault.column)
            raise BadFacts([Complaint(file, *place, "", str(fault))]) from fault
        if isinstance(read, dict) and {"operation", "request", "response"} <= read.keys():
            report = FaultReport()
            _FORM.check(read, (), report)
            if report.faults:
                # JSON cannot have raw line breaks in texts, so the lines before change no column.
                source = Source(file, read, "\n" * (number - 1) + line.decode())
                raise BadFacts(report.list_complaints(source))
            yield _from_document(read, HarPlace(str(file), 0, number, 0))


def _from_document(read: Mapping[str, Any], place: HarPlace) -> Fact:
    sent, got = read["request"], read["response"]
    method, path = sent.get("method", "GET"), sent["path"]
    query = urlencode(list((sent.get("query") or {}).items()), quote_via=quote)
    headers = dict(sent.get("headers") or {})
    body = b""
    if sent.get("json") is not None:
        body = dumps(sent["json"])
        headers["Content-Type"] = "application/json"
    if got.get("text") is not None:
        answer = got["text"].encode()
    else:
        answer = b"" if got.get("json") is None else dumps(got["json"])
    answer = _BASES.sub(HERE, answer.decode()).encode()
    exchange = HarExchange(
        HarRequest(
            method, f"{HERE}{path}{'?' if query else ''}{query}", tuple(headers.items()), body
        ),
        HarResponse(got["status"], "", tuple((got.get("headers") or {}).items()), answer),
        None,
        0.0,
        place,
    )
    by_user = "USER" in str(headers.get("Authorization", ""))
    return Fact(
        read["operation"],
        str(read.get("source", "")),
        str(read.get("kind", "")),
        exchange,
        recognize_names(exchange),
        by_user,
        is_edited=True,
    )


def _from_exchange(exchange: HarExchange) -> Fact:
    _, path = split_world(exchange.request.path)
    _, _, path = split_surface(path, exchange.request.host)
    sent = (exchange.request.header("authorization") or "").lower()
    return Fact(
        f"{exchange.request.method} {path}",
        exchange.place.file,
        "recorded",
        exchange,
        recognize_names(exchange, PLATFORM_HOSTS),
        sent.startswith("oauth"),
    )


# The public operations, and those that are promised.


class PublicOperation(Struct, frozen=True):
    """An operation of the public interface."""

    operation: str
    promised: bool
    """Whether the specification names it."""


def read_surface() -> list[PublicOperation]:
    """Return the operations of the public interface."""
    listed = loads((installed.folder("fidelity") / "surface.json").read_bytes())
    return [
        PublicOperation(operation, promised)
        for promised, operations in ((True, listed["promised"]), (False, listed["others"]))
        for operation in operations
    ]


def find_shape(method: str, path: str) -> str:
    """Return method and path without the names of the path's parameters."""
    parts = (":" if part.startswith(":") else part for part in path.split("/"))
    return f"{method} {'/'.join(parts)}"


def list_shapes(operations: Iterable[Operation]) -> frozenset[str]:
    """Return the shapes of what is served, under each of its paths."""
    return frozenset(
        find_shape(each.method, path) for each in operations for path in (each.path, *each.also)
    )


@lru_cache(4096)
def is_like(text: str, pattern: str) -> bool:
    """Whether a text is like a pattern, in which `*` is any text and brackets are themselves.

    The names of parameters in paths make no difference.

    Example:
        >>> is_like("GET /2/users/:id/muting", "GET /2/users/:user_id/*")
        True
    """
    text, pattern = (_PARAMETER.sub("/:", each) for each in (text, pattern))
    return fnmatchcase(text, pattern.replace("[", "[[]"))
