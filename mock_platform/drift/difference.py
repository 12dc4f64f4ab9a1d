"""One difference between two answers, and how texts of another server are shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

DifferenceKind = Literal[
    "status", "media type", "header", "rate", "type", "missing", "extra", "enum", "format",
    "empty", "order", "paging", "filter", "code", "wording", "value",
]  # fmt: skip
KINDS: tuple[DifferenceKind, ...] = get_args(DifferenceKind)
MAX_SHOWN_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class Difference:
    """One way in which an answer differs. `where` is a place such as `data[].name`.

    `expected` is the side of the sandbox, `got` the other one; both describe a form where single
    values say nothing, and `example` is then a value that was seen.
    """

    kind: DifferenceKind
    where: str
    expected: str
    got: str
    example: str = field(default="", compare=False)
    original: Mapping[str, str] = field(default_factory=dict, compare=False)
    """`where`, `expected` and `got` with original names, where these are others."""

    def as_json(self) -> dict[str, Any]:
        """Return the difference as JSON data."""
        found = {
            "kind": self.kind,
            "where": self.where,
            "expected": self.expected,
            "got": self.got,
        }
        more = {"example": self.example} if self.example else {}
        return found | more | ({"original": dict(self.original)} if self.original else {})


def shorten(value: Any, most: int = MAX_SHOWN_CHARACTERS) -> str:
    """Return a value as a short text."""
    text = value if isinstance(value, str) else str(value)
    return text if len(text) <= most else f"{text[:most]}…"


def escape(text: str) -> str:
    r"""Return a text without control characters: they are written as `\x1b`.

    Whatever another server sent must not control the terminal, or look like a line of the report.
    """
    if text.isprintable():
        return text
    return "".join(
        each if each.isprintable() else each.encode("unicode_escape").decode() for each in text
    )
