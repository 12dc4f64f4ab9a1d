"""The form of ids and moments: what values at one place have in common, without their content.

Another server has other records, so their values say nothing; the form in which it writes them is
part of the contract.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII)
_MOMENT = re.compile(
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d.*|[A-Z][a-z]{2} [A-Z][a-z]{2} \d\d? \d\d:\d\d:\d\d .*"
    r"|[A-Z][a-z]{2}, \d\d? [A-Z][a-z]{2} \d{4} .*",
    re.ASCII | re.DOTALL,
)
_ID_NAMES = ("_id", "_ids", "_key", "_id_str", "_uri")
_FEW_DIGITS = 12
"""An id with fewer digits may be one of base 36 that happens to have no letter."""
_MAX_SHAPE_CHARACTERS = 60

# Each form with the wider ones that hold its texts as well.
_WIDER: Mapping[str, tuple[str, ...]] = {
    "digits": ("lower-case letters and digits", "letters and digits", "URL-safe characters"),
    "lower-case letters and digits": ("letters and digits", "URL-safe characters"),
    "letters and digits": ("URL-safe characters",),
    "URL-safe characters": (),
    "UUID": (),
    "address": (),
    "text": (),
    "no text": (),
}
_PATTERNS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("UUID", _UUID),
    ("digits", re.compile(r"[0-9]+", re.ASCII)),
    ("lower-case letters and digits", re.compile(r"[0-9a-z]+", re.ASCII)),
    ("letters and digits", re.compile(r"[0-9A-Za-z]+", re.ASCII)),
    ("URL-safe characters", re.compile(r"[0-9A-Za-z_.~-]+", re.ASCII)),
    ("address", re.compile(r"[a-z][a-z0-9+.-]*://\S+", re.ASCII)),
)

Formats = dict[str, dict[str, str]]
"""By place, each form that was seen there with an example."""


def find_formats(value: Any) -> Formats:
    """Return the forms of all ids and moments in a JSON value, by their place."""
    found: Formats = {}
    for where, form, example in _walk(value, "", ""):
        found.setdefault(where, {}).setdefault(form, example)
    return found


def is_covered(form: str, known: Mapping[str, str]) -> bool:
    """Return whether a text of this form could be at a place where the `known` forms are."""
    if form in known:
        return True
    for each, example in known.items():
        if each in _WIDER.get(form, ()):
            return True
        # A short number may be an id of base 36 by chance.
        if each == "digits" and len(example) < _FEW_DIGITS and form.startswith("lower-case"):
            return True
    return False


def describe_id(text: str) -> str:
    """Return the form of an id in words."""
    if not text:
        return "no text"
    scheme, separator, rest = text.partition("://")
    if separator and scheme.isalpha() and not rest.startswith("/"):
        return f"{scheme.lower()}:// address"
    return next((name for name, pattern in _PATTERNS if pattern.fullmatch(text)), "text")


def describe_moment(text: str) -> str:
    """Return the form of a moment: 9 for a digit, a or A for a letter."""
    shape = re.sub(r"\b[A-Z][a-z]{2}\b", "Aaa", text[:_MAX_SHAPE_CHARACTERS])  # Tue, Nov
    shape = re.sub(r"[0-9]", "9", shape)
    shape = re.sub(r"[a-z]", "a", shape)
    return re.sub(r"[A-SU-Y]", "A", shape)


def is_moment(text: str) -> bool:
    """Return whether a text looks like a moment in one of the usual forms."""
    return _MOMENT.fullmatch(text) is not None


def is_id_name(name: str) -> bool:
    """Return whether a field of this name holds an id."""
    return name == "id" or name.endswith(_ID_NAMES)


def _walk(value: Any, where: str, name: str) -> Iterator[tuple[str, str, str]]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _walk(item, f"{where}.{key}" if where else key, key)
    elif isinstance(value, list):
        for item in value:
            yield from _walk(item, f"{where}[]", name)
    elif isinstance(value, str) and is_moment(value):
        yield where, describe_moment(value), value
    elif isinstance(value, str) and is_id_name(name):
        yield where, describe_id(value), value
