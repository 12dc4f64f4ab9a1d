"""Pairs of name and value, as in queries, forms and headers: in order, and perhaps repeated."""

from __future__ import annotations

import re
from functools import lru_cache
from urllib.parse import parse_qsl, unquote, unquote_to_bytes

Pairs = list[tuple[str, str]]
_LONG = 65_536
"""Characters from which on a text is decoded in pieces, between which other threads run."""
_ASCII = re.compile(r"([\x00-\x7f]+)")
MAX_PAIRS = 10_000
"""Maximum number of parameters in a form."""


_MAX_SHARED = 1000


@lru_cache(_MAX_SHARED)
def share_pair(name: str, value: str) -> tuple[str, str]:
    """Return a pair that all who ask for it share.

    The journal keeps the headers of thousands of answers, and the garbage collector looks at each.
    """
    return name, value


class SharedHeaders:
    """Headers that many answers have, with their lines as HTTP/1.1 writes them.

    None of them is one that a server looks for: `Connection`, `Content-Length`, `Date`, `Server`.
    """

    __slots__ = ("lines", "pairs")

    def __init__(self, pairs: Pairs) -> None:
        self.pairs = pairs
        self.lines = "".join([f"{name}: {value}\r\n" for name, value in pairs])


class Headers(Pairs):
    """The headers of one answer, which begin with shared ones, and have the length of its body.

    It is a list that everyone may read and change: a server compares before it writes the lines
    that are ready. What is passed to a WSGI server must be a plain list.
    """

    __slots__ = ("shared",)
    shared: SharedHeaders


def decode_pairs(text: str) -> Pairs:
    """Return `a=1&b=2` as pairs; empty values stay, invalid bytes are replaced."""
    if "%" in text or "+" in text:
        if len(text) > _LONG:
            parts = [part.partition("=") for part in text.split("&") if part]
            return [(_decode_long(name), _decode_long(value)) for name, _, value in parts]
        return parse_qsl(text, keep_blank_values=True, errors="replace")
    # Nothing is encoded, as in most queries and forms: this is five times as fast, and the same.
    parts = [part.partition("=") for part in text.split("&") if part]
    return [(name, value) for name, _, value in parts]


def first_values(pairs: Pairs) -> tuple[dict[str, str], list[str]]:
    """Return each name with its first value, and the names that occur more than once."""
    values: dict[str, str] = {}
    repeated: dict[str, None] = {}
    for name, value in pairs:
        if name in values:
            repeated[name] = None
        else:
            values[name] = value
    return values, list(repeated)


def _decode_long(text: str) -> str:
    """Return what `parse_qsl` makes of a name or value."""
    text = text.replace("+", " ")
    if len(text) <= _LONG or "%" not in text:
        return unquote(text, errors="replace")
    # Decoding holds the interpreter, and a name or value may have megabytes. So it is decoded in
    # pieces, with other threads in between; what is not ASCII is not encoded and stays as it is.
    parts = _ASCII.split(text)
    parts[1::2] = map(_decode_long_ascii, parts[1::2])
    return "".join(parts)


def _decode_long_ascii(text: str) -> str:
    decoded, start = bytearray(), 0
    while start < len(text):
        end = start + _LONG
        # An encoding has three characters. If a piece would end inside of one, it ends before it.
        broken = text.rfind("%", end - 2, end)  # an encoding of which a part comes later
        end = broken if broken > start else end
        decoded += unquote_to_bytes(text[start:end])
        start = end
    return decoded.decode("utf-8", "replace")
