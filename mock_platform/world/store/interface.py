"""The values of a store: records, orders, positions, changes, snapshots, and its scopes.

Records are plain dictionaries in wire form and are never mutated in place: whoever wants a change
puts a new dictionary.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from types import TracebackType
from typing import Any, Generic, NamedTuple, TypeVar

from msgspec import Struct

_WORD = re.compile(r"[^\W_]+")

Record = dict[str, Any]
"""In wire form; keys that begin with `_` are of the mock's own, and never served."""
Match = Mapping[str, Any]
"""Fields that must equal the given values, all of them."""

Position = tuple[Any, int]
"""The place of an entry in an order: its sort key and its sequence number. Stays valid after
deletions.
"""


def remove_internal_keys(record: Record) -> Record:
    """Return a record without the mock's own keys."""
    return {key: value for key, value in record.items() if key[0] != "_"}


class Order(Struct, frozen=True):
    """How a page is sorted: by `field` (`None`: in insertion order), ignoring case if `fold`."""

    field: str | None = None
    descending: bool = False
    fold: bool = False

    def key(self, record: Record) -> Any:
        """Return the sort key of a record: absent and null first, then numbers, then texts."""
        if self.field is None:
            return ()
        value = record.get(self.field)
        # The first part of the key is the kind of value. Python cannot compare a number with a
        # text, and records from outside may have either in one field; so values are only compared
        # within a kind.
        if isinstance(value, str):
            return (2, value.casefold() if self.fold else value)
        if isinstance(value, int | float):
            return (1, value)
        return (0,)


INSERTION = Order()


class Term(NamedTuple):
    """A word in lower case that one of these fields contains as a whole word.

    A field may be a path into objects and lists: `entities.user_mentions.id_str`. With `letters`
    the word is only the beginning of one, and has so many.
    """

    fields: tuple[str, ...]
    word: str
    letters: int | None = None

    def stands_in(self, record: Record) -> bool:
        """Whether a record contains it."""
        text = _join_fields(record, self.fields)
        # Splitting a text into words costs ten times more than a first check.
        if self.word not in text.casefold():
            return False
        return any(word[: self.letters] == self.word for word in words(text))


class Within(NamedTuple):
    """A field that has one of several values.

    Where many records have such a value, a collection that is no sequence is asked for the values
    of records and not for its own, which may take long to list.
    """

    field: str
    values: Collection[Any]


def words(text: str) -> set[str]:
    """Return the words of a text: runs of letters and digits, in lower case."""
    return {word.casefold() for word in _WORD.findall(text)}


def words_of(record: Record, fields: Sequence[str]) -> set[str]:
    """Return the words of these fields, if they contain texts."""
    return words(_join_fields(record, fields))


def _join_fields(record: Record, fields: Sequence[str]) -> str:
    return " ".join([text for field in fields for text in _read_texts(record, field)])


def _read_texts(value: Any, path: str) -> list[str]:
    """Return the texts at a path such as `entities.user_mentions.id_str`, through lists."""
    # Nearly all paths are one name, and their value is a text: that is the fast way out.
    name, _, rest = path.partition(".")
    if isinstance(value, list):
        return [text for each in value for text in _read_texts(each, path)]
    found = value.get(name) if isinstance(value, dict) else None
    if rest:
        return _read_texts(found, rest)
    texts = found if isinstance(found, list) else [found]
    return [text for text in texts if isinstance(text, str)]


class Change(Struct, frozen=True, gc=False):
    """One record before and after; `None` if it did not exist, or no longer does."""

    table: str
    key: str
    before: Record | None
    after: Record | None

    @property
    def kind(self) -> str:
        """The kind of change: `created`, `changed` or `removed`."""
        if self.before is None:
            return "created"
        return "removed" if self.after is None else "changed"

    @property
    def fields(self) -> list[str]:
        """The names of the fields whose values changed."""
        before, after = self.before or {}, self.after or {}
        # A dictionary in place of a set keeps the order of the fields, so that the journal is the
        # same in each run.
        names = dict.fromkeys([*before, *after])
        return [name for name in names if before.get(name) != after.get(name)]


class Entry(Struct, frozen=True, gc=False):
    """A record on a page, with the position from which a cursor can continue."""

    position: Position
    key: str
    record: Record


class Row(Struct, frozen=True, gc=False):
    """A record with its sequence number, which is its place in insertion order."""

    seq: int
    record: Record


Slot = Row | None
"""The value of an overlay for a key: a row, or `None` if the base's row is removed."""

Rows = Mapping[str, Mapping[str, Row]]
"""Rows by table and key."""

Beside = Mapping[tuple[str, str], Record | None]
"""The data of a world beside its records, by table and key; `None` for a removed one."""


class Snapshot(Struct, frozen=True):
    """A saved overlay: what a world had changed when the snapshot was taken."""

    rows: Mapping[str, Mapping[str, Slot]]
    next_seq: int

    @property
    def size(self) -> int:
        """Return how many records differ from the fixtures."""
        return sum(len(rows) for rows in self.rows.values())


class SavedWorld(Struct, frozen=True):
    """A saved state of a world: records, clock, ids, progressions."""

    records: Snapshot
    meta: dict[str, Any]


# A context manager made of two functions, for blocks that every request enters. A generator
# with `contextlib.contextmanager` does the same in three times the time.

T_co = TypeVar("T_co", covariant=True)


class Scope(Generic[T_co]):
    """Calls `begin` at the start of a block, and `end` with the block's exception at its end.

    It has no state of its own, so one object serves all blocks, nested ones too.
    """

    __slots__ = ("_begin", "_end")

    def __init__(
        self, begin: Callable[[], T_co], end: Callable[[BaseException | None], object]
    ) -> None:
        # What a generator would keep in its frame (the lock, the marks to return to) is kept by the
        # owner of the two functions, on a stack if blocks can be nested. That is why `__enter__`
        # has nothing to create, and one object serves all blocks. Exceptions are never swallowed
        # here: `end` learns of them and may raise another one, for instance if the commit could not
        # be written.
        self._begin = begin
        self._end = end

    def __enter__(self) -> T_co:
        return self._begin()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._end(fault)


def make_closed_scope(refuse: Callable[[], T_co]) -> Scope[T_co]:
    """Return the scope of blocks that cannot be entered any more: `refuse` raises."""
    # A world that was dropped is freed at once only if nothing in it refers back to it. The usual
    # scope has two bound methods of the world; this one has none, and refuses whoever still holds
    # the world.
    return Scope(refuse, _ignore)


def _ignore(_: BaseException | None) -> None:
    """Nothing began, so nothing ends."""
