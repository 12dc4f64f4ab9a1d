"""Indexes of a table: its entries in groups, sorted by one order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import takewhile
from typing import Any, NamedTuple, cast

from sortedcontainers import SortedList

from mock_platform.world.store.interface import (
    Match,
    Order,
    Position,
    Record,
    Row,
    Slot,
    Term,
    words_of,
)

Group = tuple[Any, ...]
"""What the entries of a group share: values of fields, and a word in word searches."""


class By(NamedTuple):
    """The grouping and the order of an index; descending orders are read backwards."""

    fields: tuple[str, ...]
    searched: tuple[str, ...] = ()
    sort: str | None = None
    fold: bool = False
    letters: int | None = None
    """How many letters of a word count; `None`: all."""


def choose_index(match: Match, order: Order, term: Term | None = None) -> tuple[By, Group]:
    """Return the index that answers a search, and its groups."""
    # Every count and every page begins here, and nearly all values are texts.
    group = tuple([v if type(v) is str else make_hashable(v) for v in match.values()])
    if term is None:
        return _make_by(tuple(match), (), order.field, order.fold), group
    by = _make_by(tuple(match), term.fields, order.field, order.fold, term.letters)
    return by, (*group, term.word)


_make_by = lru_cache(maxsize=1024)(By)
"""There are as many as kinds of searches; only filters of the control plane make up new ones."""


class Index:
    """The entries of one table: each in one group, or in one for each searched word."""

    __slots__ = ("by", "groups", "masked", "order")

    def __init__(self, by: By, rows: Mapping[str, Slot]) -> None:
        self.by = by
        self.order = Order(by.sort, fold=by.fold)
        self.groups: dict[Group, SortedList] = {}
        self.masked: Counter[Group] = Counter()
        # Groups are sorted once, when they are complete. Adding the entries one by one would sort
        # them as often as there are entries.
        gathered: dict[Group, list[tuple[Any, int, str]]] = {}
        for key, row in rows.items():
            if row is not None:
                entry = (self.order.key(row.record), row.seq, key)
                for group in self.groups_of(row.record):
                    gathered.setdefault(group, []).append(entry)
        self.groups = {group: SortedList(entries) for group, entries in gathered.items()}

    def groups_of(self, record: Record) -> list[Group]:
        """Return the groups of a record."""
        group = tuple([make_hashable(record.get(field)) for field in self.by.fields])
        if not self.by.searched:
            return [group]
        found = words_of(record, self.by.searched)
        if self.by.letters is not None:
            found = {word[: self.by.letters] for word in found}
        return [(*group, word) for word in found]

    def add(self, key: str, row: Row) -> None:
        """Add a row to its groups."""
        entry = (self.order.key(row.record), row.seq, key)
        for group in self.groups_of(row.record):
            entries = self.groups.get(group)
            if entries is None:
                entries = self.groups[group] = SortedList()
            entries.add(entry)

    def discard(self, key: str, row: Row) -> None:
        """Remove a row from its groups."""
        entry = (self.order.key(row.record), row.seq, key)
        for group in self.groups_of(row.record):
            entries = self.groups[group]
            entries.remove(entry)
            if not entries:
                del self.groups[group]

    def mask(self, record: Record, by: int = 1) -> None:
        """Count a record of the base that is hidden now, or with -1 visible again."""
        for group in self.groups_of(record):
            self.masked[group] += by

    def walk(
        self,
        group: Group,
        after: Position | None,
        *,
        descending: bool,
        until: Position | None = None,
    ) -> Iterator[tuple[Any, int, str]]:
        """Yield the entries of a group after one position and before another.

        An entry is its sort key, its sequence number and its key.
        """
        entries = self.groups.get(group)
        if entries is None:
            return iter(())
        if after is None and until is None:
            found = reversed(entries) if descending else iter(entries)
        else:
            # A position is (sort key, number) and an entry is (sort key, number, key). A tuple that
            # is longer comes after its beginning, so everything below the position excludes the
            # entry itself. Upwards the next number is the first that comes after, since no two
            # entries have the same one.
            low, high = (until, after) if descending else (after, until)
            first = None if low is None else (low[0], low[1] + 1)
            found = entries.irange(first, high, reverse=descending)
        return cast("Iterator[tuple[Any, int, str]]", found)

    def begins(self, group: Group, text: str) -> Iterator[tuple[Any, int, str]]:
        """Yield the entries of a group whose sort key is a text with this prefix."""
        entries = self.groups.get(group)
        if entries is None:
            return iter(())
        behind = entries.irange(minimum=((2, text),))  # texts are the last kind, so no others
        return takewhile(lambda entry: entry[0][1].startswith(text), behind)


def make_hashable(value: Any) -> Any:
    """Return a hashable key for a list or an object; every other value is its own key."""
    return (type(value), repr(value)) if isinstance(value, list | dict) else value
