"""What an archive has: exchanges of a request and its response, their place, and their names."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from datetime import datetime
from typing import Any, Literal
from urllib.parse import urlsplit

from msgspec import Struct, field

from mock_platform.api.served import ORIGINAL_NAMES
from mock_platform.core.original_names.translation import Pairs as NamePairs
from mock_platform.core.wire import NAMES_HEADER
from mock_platform.settings import NamesMode

Pairs = tuple[tuple[str, str], ...]


class HarPlace(Struct, frozen=True):
    """Where an entry begins in its file: number of the entry from 0, line from 1, byte from 0."""

    file: str
    entry: int
    line: int
    offset: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line} (entry {self.entry}, byte {self.offset:,})"


class HarRequest(Struct, frozen=True):
    """A request: `url` is absolute, `body` is what the client sent."""

    method: str
    url: str
    headers: Pairs
    body: bytes = b""

    @property
    def host(self) -> str:
        """The host of the address, in lower case and without a port; empty if it has none."""
        return _read_host(self.url)

    @property
    def path(self) -> str:
        """The path of the address, as it was sent."""
        return urlsplit(self.url).path or "/"

    @property
    def query(self) -> str:
        """The query of the address, as it was sent and without the question mark."""
        return urlsplit(self.url).query

    def header(self, name: str) -> str | None:
        """Return the first value of a header; `None` if it was not sent."""
        return _find(self.headers, name)


class HarResponse(Struct, frozen=True):
    """A response: `body` is decoded, whatever its header Content-Encoding says.

    Status 0 means that no response came: the client gave up, or the connection broke.
    """

    status: int
    reason: str
    headers: Pairs
    body: bytes = b""
    is_whole: bool = True
    """Whether the archive holds the whole body; some programs leave bodies out or cut them."""

    def header(self, name: str) -> str | None:
        """Return the first value of a header; `None` if it was not sent."""
        return _find(self.headers, name)

    @property
    def media_type(self) -> str:
        """The media type in lower case and without parameters; empty if it is missing."""
        return (self.header("content-type") or "").partition(";")[0].strip().lower()


class HarExchange(Struct, frozen=True):
    """A request and its response, as an archive holds them."""

    request: HarRequest
    response: HarResponse
    started: datetime | None
    """The moment of the request, with its time zone; `None` if the archive has no such moment."""
    milliseconds: float
    """How long the exchange took; 0 if the archive does not say."""
    place: HarPlace
    timings: Mapping[str, float] = field(default_factory=dict)
    """Milliseconds of each phase that the archive names: send, wait, receive, …"""
    notes: tuple[str, ...] = ()
    """What is doubtful about the entry and did not prevent reading it."""
    own: Mapping[str, Any] = field(default_factory=dict)
    """Keys of the entry that begin with an underscore: whatever the program added."""


class BadHar(ValueError):
    """A file that is no archive, damaged or hostile; the text names the file, line and fault."""

    def __init__(self, text: str, place: HarPlace) -> None:
        super().__init__(f"{place.file}:{place.line}: {text} (byte {place.offset:,})")
        self.fault = text
        self.place = place


def _find(pairs: Pairs, name: str) -> str | None:
    folded = name.lower()
    return next((value for key, value in pairs if key.lower() == folded), None)


def _read_host(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


NamesChoice = Literal["auto", "neutral", "original"]
"""What a user says about the names of a server or a recording."""
_SANDBOX = "x-mock-"
_OLDER_PATH = re.compile(
    r"^/11/|^/2/(?:usage/)?tweets\b|^/1[12]/.*/(?:promoted_|scheduled_|draft_)?tweets?\b", re.ASCII
)


def recognize_names(exchange: HarExchange, real_hosts: Collection[str] = ()) -> NamesMode:
    """Return the names of an exchange.

    A sandbox says which ones it used. Of other servers the keys and values of the answer decide,
    then the host (one of `real_hosts` is the platform itself), then the path and the query.
    """
    request, response = exchange.request, exchange.response
    names = {name.lower(): value for name, value in response.headers}
    if names.get(NAMES_HEADER.lower()) == "original":
        return "original"
    if any(name.startswith(_SANDBOX) for name in names):
        return "neutral"
    if shows_original_names(response.body):
        return "original"
    if _NEUTRAL.search(response.body):
        return "neutral"
    if request.host in real_hosts or _OLDER_PATH.search(request.path):
        return "original"
    asked = request.query.encode() + b"&" + request.body
    return "original" if _QUERY.search(asked) or shows_original_names(asked) else "neutral"


def shows_original_names(body: bytes) -> bool:
    """Whether a JSON body has a key or an enumerated value of the original names."""
    return _ORIGINAL.search(body) is not None


def _list_values(pairs: NamePairs) -> Iterator[str]:
    for values in pairs.values.values():
        yield from values.values()
    for inner in pairs.within.values():
        yield from _list_values(inner)


def _list_names(pairs: NamePairs) -> Iterator[str]:
    yield from pairs.names.values()
    for inner in pairs.within.values():
        yield from _list_names(inner)


def _join(names: Collection[str]) -> str:
    return "|".join(re.escape(name) for name in sorted(names))


_TABLES = tuple(ORIGINAL_NAMES.pairs.values())
_IN_BOTH = {"in_reply_to_status_id", "in_reply_to_status_id_str"}
"""Names of version 1.1 in both forms, although version 2 has others for them."""
_ORIGINAL_NAMES = {name for pairs in _TABLES for name in _list_names(pairs)} - _IN_BOTH
_VALUES = {each for pairs in _TABLES for each in _list_values(pairs) if each.isupper()}
_ORIGINAL = re.compile(
    rf'"(?:{_join(_ORIGINAL_NAMES)})"\s*:|[:\[,]\s*"(?:{_join(_VALUES)})"'.encode()
)
_NEUTRAL = re.compile(rf'"(?:{_join({n for p in _TABLES for n in p.names})})"\s*:'.encode())
_QUERY = re.compile(
    rf"(?:^|&)(?:{_join(_ORIGINAL_NAMES)})=|=(?:[A-Z_]+,)*(?:{_join(_VALUES)})(?:,|&|$)".encode()
)
