"""Shows the changes between two contracts: as text, JSON or markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, Literal

from msgspec import Struct

from mock_platform.contract.rules import LEVELS, RULES, ContractChange, Level
from mock_platform.core.jsonio import pretty

Format = Literal["text", "json", "markdown"]
_HARMFUL: Mapping[str, tuple[Level, ...]] = {
    "breaking": ("breaking",),
    "dangerous": ("breaking", "dangerous"),
    "any": LEVELS,
}
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


class Comparison(Struct, frozen=True):
    """The changes between two documents, with their names."""

    old: str
    new: str
    changes: Sequence[ContractChange]

    def count(self) -> dict[Level, int]:
        """Returns how many changes each level has."""
        return {level: sum(each.level == level for each in self.changes) for level in LEVELS}

    def fails(self, at: str) -> bool:
        """Whether there is a change of this level (`breaking`, `dangerous`, `any`) or above."""
        return any(each.level in _HARMFUL[at] for each in self.changes)

    def as_json(self) -> dict[str, Any]:
        """Returns everything as JSON data."""
        return {
            "old": self.old,
            "new": self.new,
            "counts": self.count(),
            "changes": [each.as_json() for each in self.changes],
        }


def render(comparison: Comparison, form: Format) -> str:
    """Returns the changes in a form, with an end of line."""
    if form == "json":
        return pretty(comparison.as_json()) + "\n"
    lines = _list_markdown(comparison) if form == "markdown" else _list_text(comparison)
    return "".join(f"{line}\n" for line in lines)


def _list_text(comparison: Comparison) -> Iterator[str]:
    for title, changes in _group(comparison.changes):
        yield title
        for each in changes:
            place = f"{_clean(each.place)}: " if each.place else ""
            yield f"  {each.level:<9}  {place}{RULES[each.rule].meaning}{_show_sides(each)}"
        yield ""
    yield f"{comparison.old} -> {comparison.new}: {_summarize(comparison)}"


def _list_markdown(comparison: Comparison) -> Iterator[str]:
    yield f"# {_escape(comparison.old)} → {_escape(comparison.new)}"
    yield ""
    yield f"{_summarize(comparison)}."
    for title, changes in _group(comparison.changes):
        yield ""
        yield f"## {_escape(title)}"
        yield ""
        yield "| level | where | what | old | new |"
        yield "|---|---|---|---|---|"
        for each in changes:
            cells = (each.level, each.place, RULES[each.rule].meaning, each.old, each.new)
            yield f"| {' | '.join(_escape(cell) for cell in cells)} |"


def _group(changes: Sequence[ContractChange]) -> Iterable[tuple[str, list[ContractChange]]]:
    for operation, group in groupby(changes, key=lambda each: each.operation):
        yield _clean(operation) or "the whole contract", list(group)


def _summarize(comparison: Comparison) -> str:
    if not comparison.changes:
        return "no changes"
    counts = comparison.count()
    return ", ".join(f"{counts[level]} {level}" for level in LEVELS)


def _show_sides(change: ContractChange) -> str:
    old, new = _clean(change.old), _clean(change.new)
    if old and new:
        return f": {old} -> {new}"
    return f": {old or new}" if old or new else ""


def _clean(text: str) -> str:
    """Returns a text of a document without control characters, which could act on a terminal."""
    return _CONTROL.sub("\ufffd", text)


def _escape(text: str) -> str:
    cleaned = _clean(text).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")
    return cleaned.replace("`", "\\`").replace("*", "\\*").replace("[", "\\[")
