"""Which names an exchange has: the neutral ones of the sandbox, or the platform's original ones."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Literal

from mock_platform.api.served import ORIGINAL_NAMES
from mock_platform.core.original_names.exchange import HEADER
from mock_platform.core.original_names.translation import Pairs
from mock_platform.settings import NamesMode
from mock_platform.verification.har.exchange import HarExchange

NamesChoice = Literal["auto", "neutral", "original"]
"""What a user says about the names of a server or a recording."""
_SANDBOX = "x-mock-"
_OLDER_PATH = re.compile(
    r"^/11/|^/2/(?:usage/)?tweets\b|^/1[12]/.*/(?:promoted_|scheduled_|draft_)?tweets?\b", re.ASCII
)


def recognize_names(exchange: HarExchange, real_hosts: Collection[str] = ()) -> NamesMode:
    """Returns the names of an exchange.

    A sandbox says which ones it used. Of other servers the keys and values of the answer decide,
    then the host (one of `real_hosts` is the platform itself), then the path and the query.
    """
    request, response = exchange.request, exchange.response
    names = {name.lower(): value for name, value in response.headers}
    if names.get(HEADER.lower()) == "original":
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


def _list_values(pairs: Pairs) -> Iterator[str]:
    for values in pairs.values.values():
        yield from values.values()
    for inner in pairs.within.values():
        yield from _list_values(inner)


def _list_names(pairs: Pairs) -> Iterator[str]:
    yield from pairs.names.values()
    for inner in pairs.within.values():
        yield from _list_names(inner)


def _join(names: Collection[str]) -> str:
    return "|".join(re.escape(name) for name in sorted(names))


_TABLES = tuple(ORIGINAL_NAMES.pairs.values())
_ORIGINAL_NAMES = {name for pairs in _TABLES for name in _list_names(pairs)}
_VALUES = {each for pairs in _TABLES for each in _list_values(pairs) if each.isupper()}
_ORIGINAL = re.compile(
    rf'"(?:{_join(_ORIGINAL_NAMES)})"\s*:|[:\[,]\s*"(?:{_join(_VALUES)})"'.encode()
)
_NEUTRAL = re.compile(rf'"(?:{_join({n for p in _TABLES for n in p.names})})"\s*:'.encode())
_QUERY = re.compile(
    rf"(?:^|&)(?:{_join(_ORIGINAL_NAMES)})=|=(?:[A-Z_]+,)*(?:{_join(_VALUES)})(?:,|&|$)".encode()
)
