"""The address of an engine, as the setting `store` names it."""

from __future__ import annotations

import re
from urllib.parse import SplitResult, parse_qsl, quote, unquote, urlencode, urlsplit

from msgspec import Struct

from mock_platform.world.store.errors import StoreError

DEFAULT_PREFIX = "mock-platform:"
_SCHEMES = ("redis", "rediss", "unix")
_KNOWN = (
    "prefix",
    "timeout",
    "db",
    "username",
    "password",
    "ssl_ca_certs",
    "ssl_certfile",
    "ssl_keyfile",
)
_TIMEOUT = 1.0
"""Seconds. A healthy engine answers in a thousandth of that, unless its disk is very busy."""
_TIMEOUTS = (0.05, 60.0)
_PREFIX = re.compile(r"[\x21-\x7e]{1,100}")
FORM = "redis://HOST:PORT/N, rediss://HOST:PORT/N or unix:///PATH?db=N"


class BadAddress(StoreError, ValueError):
    """The address of an engine has a fault; the text says which. It has no secrets."""


class EngineAddress(Struct, frozen=True):
    """Where an engine is. `url` may contain a password, so only `shown` is for messages."""

    url: str
    """For the client library, without our own parameters."""
    shown: str
    prefix: str
    """Begins the name of every key."""
    timeout: float = _TIMEOUT
    """How many seconds the engine may take for a command."""

    def __repr__(self) -> str:
        """Return the form without secrets."""
        return f"EngineAddress({self.shown!r}, prefix={self.prefix!r})"


def parse_address(text: str) -> EngineAddress:
    """Return the address that a URL names.

    Raises:
        BadAddress: It has another form, or a parameter that is not known.
    """
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:  # its text may have a part of the password
        raise BadAddress(
            "The store's address cannot be read: the port is no number, or the password has a "
            f"character that has to be encoded (%23 for #, %2F for /). The form is {FORM}."
        ) from None
    shown = _redact(parts)
    if parts.scheme not in _SCHEMES:
        raise BadAddress(f"{shown!r} is no address of an engine: {FORM}.")
    _check(not parts.fragment, shown, "there is a # in it, which is %23 in a password")
    query = dict(parse_qsl(parts.query, keep_blank_values=True))
    for name in query:
        if name not in _KNOWN:
            raise BadAddress(f"{shown}: {name!r} is not one of {', '.join(_KNOWN)}.")
    if parts.scheme == "unix":
        _check(parts.path not in {"", "/"}, shown, "the path of the socket is missing")
    else:
        _check(parts.hostname, shown, "the host is missing")
        _check(port != 0, shown, "the port is from 1 to 65535")
        number = parts.path.strip("/")
        _check(not number or _is_number(number), shown, f"{number!r} is no number of a database")
        _check(not (number and "db" in query), shown, "the number of the database is there twice")
    _check("db" not in query or _is_number(query["db"]), shown, "db is no number of a database")
    prefix = query.pop("prefix", DEFAULT_PREFIX)
    if _PREFIX.fullmatch(prefix) is None:
        how = "1 to 100 printable ASCII characters without spaces"
        raise BadAddress(f"{shown}: the prefix of keys has {how}.")
    timeout = _read_timeout(query.pop("timeout", str(_TIMEOUT)), shown)
    return EngineAddress(_join(parts, parts.netloc, urlencode(query)), shown, prefix, timeout)


def _read_timeout(text: str, shown: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    least, most = _TIMEOUTS
    if not least <= seconds <= most:
        raise BadAddress(f"{shown}: timeout is a number of seconds from {least:g} to {most:g}.")
    return seconds


def _redact(parts: SplitResult) -> str:
    """Return a URL with `***` in place of its passwords."""
    host = parts.netloc.rpartition("@")[2]
    if parts.password is not None:
        name = quote(unquote(parts.username or ""), safe="")
        host = f"{name}:***@{host}"
    elif parts.username is not None:
        host = f"{parts.username}@{host}"
    pairs = parse_qsl(parts.query, keep_blank_values=True)
    hidden = [(name, "***" if name == "password" else value) for name, value in pairs]
    return _join(parts, host, urlencode(hidden, safe="*:/"))


def _join(parts: SplitResult, netloc: str, query: str) -> str:
    return f"{parts.scheme}://{netloc}{parts.path}" + (f"?{query}" if query else "")


def _check(holds: object, shown: str, fault: str) -> None:
    if not holds:
        raise BadAddress(f"{shown}: {fault}. The form is {FORM}.")


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and int(text) < 1_000_000
