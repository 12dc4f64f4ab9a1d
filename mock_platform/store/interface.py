"""The values that go in and out of a store: records, orders, positions, changes, snapshots.

Records are plain dictionaries in wire form and are never mutated in place: whoever wants a change
puts a new dictionary.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

_WORD = re.compile(r"[^\W_]+")

Record = dict[str, Any]
Match = Mapping[str, Any]
"""Fields that must equal the given values, all of them."""

Position = tuple[Any, int]
"""Where an entry stands in an order: its sort key and its sequence number. Survives deletion."""


@dataclass(frozen=True, slots=True)
class Order:
    """How a page is sorted: by `field` (`None`: as inserted), folded to one case if `fold`."""

    field: str | None = None
    descending: bool = False
    fold: bool = False

    def key(self, record: Record) -> Any:
        """The sort key of a record: absent and null values first, then numbers, then texts."""
        if self.field is None:
            return ()
        value = record.get(self.field)
        if isinstance(value, str):
            return (2, value.casefold() if self.fold else value)
        if isinstance(value, int | float):
            return (1, value)
        return (0,)


INSERTION = Order()


class Term(NamedTuple):
    """A word, folded to one case, that stands whole in one of these fields."""

    fields: tuple[str, ...]
    word: str

    def stands_in(self, record: Record) -> bool:
        """Whether a record holds it."""
        text = _joined(record, self.fields)
        # Taking words apart costs ten times more than looking whether it is worth it.
        return self.word in text.casefold() and self.word in words(text)


def words(text: str) -> set[str]:
    """The words of a text: runs of letters and digits, folded to one case."""
    return {word.casefold() for word in _WORD.findall(text)}


def words_of(record: Record, fields: Sequence[str]) -> set[str]:
    """The words of these fields, as far as they hold texts."""
    return words(_joined(record, fields))


def _joined(record: Record, fields: Sequence[str]) -> str:
    return " ".join([value for field in fields if isinstance(value := record.get(field), str)])


class Change(NamedTuple):
    """One record before and after; `None` where it did not exist or no longer does."""

    table: str
    key: str
    before: Record | None
    after: Record | None

    @property
    def kind(self) -> str:
        """`created`, `changed` or `removed`."""
        if self.before is None:
            return "created"
        return "removed" if self.after is None else "changed"

    @property
    def fields(self) -> list[str]:
        """Names of the fields whose values are others than before."""
        before, after = self.before or {}, self.after or {}
        names = dict.fromkeys([*before, *after])
        return [name for name in names if before.get(name) != after.get(name)]


class Entry(NamedTuple):
    """A record on a page, with the position that a cursor can continue from."""

    position: Position
    key: str
    record: Record


class Row(NamedTuple):
    """A record with its sequence number, which fixes its place in insertion order."""

    seq: int
    record: Record


Slot = Row | None
"""What an overlay holds for a key: a row, or `None` where the base's row is removed."""

Rows = Mapping[str, Mapping[str, Row]]
"""Rows by table and key."""

Beside = Mapping[tuple[str, str], Record | None]
"""What a world keeps beside its records, by table and key; `None` for what it keeps no longer."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A saved overlay: what a world had changed when the snapshot was taken."""

    rows: Mapping[str, Mapping[str, Slot]]
    next_seq: int

    @property
    def size(self) -> int:
        """How many records differ from the fixtures."""
        return sum(len(rows) for rows in self.rows.values())


@dataclass(frozen=True, slots=True)
class SavedWorld:
    """A named point to come back to: records, clock, ids, paces."""

    records: Snapshot
    meta: dict[str, Any]
