"""The store of worlds: tables in memory, with indexes that are built on demand.

It has two layers. The *base* contains the fixtures; it never changes, and all worlds of a process
share it with its indexes. The *overlay* contains what this world changed. So a fresh world costs
nothing, a reset drops the overlay, and a copy of a world copies only its changes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from heapq import merge
from itertools import islice, takewhile
from typing import Any, cast

import orjson
from msgspec import Struct

from mock_platform.world.store.index import By, Group, Index, choose_index, make_hashable
from mock_platform.world.store.interface import (
    INSERTION,
    Change,
    Entry,
    Match,
    Order,
    Position,
    Record,
    Row,
    Rows,
    Scope,
    Slot,
    Snapshot,
    Term,
    Within,
)

_FEW_VALUES, _NEAR = 100, 1000
"""Up to so many values are looked up one by one; so many entries are looked at first."""


class Relative(Struct, frozen=True):
    """A moment relative to the start of each world: `form` writes it into `field`."""

    field: str
    since: timedelta
    form: Callable[[datetime], Any]


class Base:
    """The fixtures: rows that never change, with indexes that all worlds share.

    `relative` names the moments that are relative to each world's own start, by table and key.
    """

    def __init__(
        self,
        tables: Mapping[str, Mapping[str, Record]] | None = None,
        relative: Mapping[tuple[str, str], Sequence[Relative]] | None = None,
    ) -> None:
        self.relative = relative or {}
        self.rows: dict[str, dict[str, Row]] = {}
        self.indexes: dict[tuple[str, By], Index] = {}
        # Sequence numbers run through all tables of the fixtures, and the overlay continues them.
        # So one number orders records of any table, and a record that a world adds always comes
        # after the fixtures.
        seq = 0
        for table, records in (tables or {}).items():
            rows = self.rows[table] = {}
            for key, record in records.items():
                rows[key] = Row(seq, record)
                seq += 1
        self.next_seq = seq
        self._latest: tuple[datetime, Rows] | None = None

    def make_relative_rows(self, now: datetime) -> Rows:
        """Return the rows whose moments count from now, as far as they differ from the fixtures.

        They take longer than the rest of a world's start, so those of the last call are kept.
        """
        latest = self._latest
        if latest is not None and latest[0] == now:
            return latest[1]
        rows: dict[str, dict[str, Row]] = {}
        for (table, key), moments in self.relative.items():
            row = self.rows[table][key]
            # Only records that really differ get into the overlay: each slot there costs each world
            # a little, and a stopped clock at the moment of the fixtures needs none at all.
            counted = {moment.field: moment.form(now + moment.since) for moment in moments}
            if not counted.items() <= row.record.items():
                rows.setdefault(table, {})[key] = Row(row.seq, row.record | counted)
        self._latest = now, rows
        return rows

    def difference(self, rows: Rows) -> dict[str, dict[str, Slot]]:
        """Return the overlay with which exactly these rows are visible."""
        found: dict[str, dict[str, Slot]] = {}
        for table in dict.fromkeys([*self.rows, *rows]):
            wanted, own = rows.get(table, {}), self.rows.get(table, {})
            slots: dict[str, Slot] = dict.fromkeys([key for key in own if key not in wanted])
            for key, row in wanted.items():
                base = own.get(key)
                if base is None or base.seq != row.seq or not _identical(base.record, row.record):
                    slots[key] = row
            if slots:
                found[table] = slots
        return found

    def index(self, table: str, by: By) -> Index:
        """Return the index for this grouping and order; built at its first use."""
        index = self.indexes.get((table, by))
        if index is None:
            index = Index(by, self.rows.get(table, {}))
            self.indexes[table, by] = index  # a second builder at the same time builds the same
        return index


class MemoryStore:
    """Records in memory: a shared base with an overlay of one world's changes.

    It has no locks of its own: every use is under the lock of its world.
    """

    def __init__(self, base: Base | None = None, snapshot: Snapshot | None = None) -> None:
        self._base = base or Base()
        self._rows: dict[str, dict[str, Slot]] = {}
        self._next_seq = self._base.next_seq
        self._indexes: dict[str, dict[By, Index]] = {}
        self._undo: list[tuple[str, str, Slot, bool]] | None = None
        self._changes: list[Change] = []
        self._edits = 0
        self._versions: dict[str, int] = {}
        self._edited: dict[str, dict[str, int]] = {}
        """By table, the changed keys with the number of their last edit, in the order of those.

        Only of tables that `list_changed` was called for: the others cost a write nothing.
        """
        self._listed_since: dict[str, int] = {}
        """By table, the version from which on its changes are listed."""
        self._restored = 0
        self._nesting = 0
        """Number of open transactions, each inside the one before it."""
        self._first_seq = self._next_seq
        self.consequences: list[tuple[Collection[str], Callable[[Sequence[Change]], object]]] = []
        """Tables, and what is called with the changes of a transaction that changed one of them.

        That is at its end, and what the function puts is a part of the transaction.
        """
        self._transaction = Scope(self._begin, self._end)
        if snapshot is not None:
            self.restore(snapshot)

    # -- reads -----------------------------------------------------------------------------------

    def get(self, table: str, key: str) -> Record | None:
        """Return the record under this key, or `None`."""
        # As `_row` does, without a call: nothing is asked as often as this.
        rows = self._rows.get(table)
        if rows is not None and key in rows:
            row = rows[key]
        else:
            base = self._base.rows.get(table)
            row = None if base is None else base.get(key)
        return None if row is None else row.record

    def page(
        self,
        table: str,
        match: Match | None = None,
        *,
        term: Term | None = None,
        order: Order = INSERTION,
        after: Position | None = None,
        limit: int | None = None,
        where: Callable[[Record], bool] | None = None,
        within: Within | None = None,
        until: Position | None = None,
        depth: int | None = None,
    ) -> list[Entry]:
        """Return at most `limit` matching entries in order, after the position `after`.

        `within` restricts a field to several values; each costs one look into an index. Entries
        from the position `until` on are not looked at, nor are more than `depth`, whatever `where`
        says of them.
        """
        # Each layer has an index of its own. Both are walked in the same order and merged, so a
        # page costs about its own length, however many records there are. Entries of the base whose
        # key is in the overlay are passed over: they were changed or removed, and what they are now
        # is in the overlay's index, perhaps in another group. A removed record is a slot without a
        # row, so it is in no index.
        changed, own = self._rows.get(table, {}), self._base.rows.get(table, {})
        if not (changed or own):
            return []
        if within is not None and limit is not None and len(within.values) > _FEW_VALUES:
            how: dict[str, Any] = {"term": term, "order": order, "after": after, "until": until}
            found_near = self._page_near(table, match, within, limit, where, depth, how)
            if found_near is not None:
                return found_near
        down = order.descending
        walks: list[Iterator[tuple[Any, int, str]]] = []
        for each in _expand(match or {}, within):
            base, overlay, group = self._find(table, *choose_index(each, order, term))
            if group in base.groups:
                walk = base.walk(group, after, until=until, descending=down)
                if changed:
                    walk = (entry for entry in walk if entry[2] not in changed)
                walks.append(walk)
            if overlay is not None and group in overlay.groups:
                walks.append(overlay.walk(group, after, until=until, descending=down))
        entries = walks[0] if len(walks) == 1 else merge(*walks, reverse=down)
        if depth is not None:
            entries = islice(entries, depth)
        found: list[Entry] = []
        for sort_key, seq, key in entries:
            if len(found) == limit:
                break
            record = (changed.get(key) or own[key]).record
            if where is None or where(record):
                found.append(Entry((sort_key, seq), key, record))
        return found

    def first(
        self, table: str, match: Match | None = None, *, order: Order = INSERTION
    ) -> Record | None:
        """Return the first matching record in order, or `None`."""
        found = self.page(table, match, order=order, limit=1)
        return found[0].record if found else None

    def _page_near(
        self,
        table: str,
        match: Match | None,
        within: Within,
        limit: int,
        where: Callable[[Record], bool] | None,
        depth: int | None,
        how: Mapping[str, Any],
    ) -> list[Entry] | None:
        """Return a page if it ends among the first entries with any value, else `None`."""
        # A look into an index for each of many values takes long. Most often the first entries of
        # all have enough with one of the values.
        values, looked, matching = within.values, 0, 0
        allowed = frozenset(values) if isinstance(values, Sequence) else values

        def is_kept(record: Record) -> bool:
            nonlocal looked, matching
            looked += 1
            if make_hashable(record.get(within.field)) not in allowed:
                return False
            matching += 1
            return (depth is None or matching <= depth) and (where is None or where(record))

        found = self.page(table, match, limit=limit, where=is_kept, depth=_NEAR, **how)
        return found if len(found) == limit or looked < _NEAR else None

    def scan(self, table: str, where: Callable[[Record], bool]) -> list[str]:
        """Return the keys of the matching records in insertion order.

        It looks at each record of the table, without an index: at the start of a world, making one
        would take longer than all else.
        """
        own, changed = self._base.rows.get(table, {}), self._rows.get(table, {})
        rows = {**own, **changed}.items() if changed else own.items()
        found = [(row.seq, key) for key, row in rows if row is not None and where(row.record)]
        return [key for _, key in sorted(found)]

    def pick(
        self,
        table: str,
        keys: Iterable[str],
        match: Match | None = None,
        *,
        order: Order = INSERTION,
        after: Position | None = None,
        limit: int | None = None,
        where: Callable[[Record], bool] | None = None,
    ) -> list[Entry]:
        """Like `page`, but only among these keys; its cost depends on them, not on the table."""
        wanted = (match or {}).items()
        entries = []
        for key in dict.fromkeys(keys):
            row = self._row(table, key)
            if row is None or any(row.record.get(field) != value for field, value in wanted):
                continue
            if where is None or where(row.record):
                entries.append(Entry((order.key(row.record), row.seq), key, row.record))
        entries.sort(key=lambda entry: entry.position, reverse=order.descending)
        if after is not None and order.descending:
            entries = [entry for entry in entries if entry.position < after]
        elif after is not None:
            entries = [entry for entry in entries if entry.position > after]
        return entries if limit is None else entries[:limit]

    def prefix(
        self, table: str, match: Match, field: str, text: str, *, limit: int | None = None
    ) -> list[Record]:
        """Return the matching records whose `field` starts with `text`, ignoring case, sorted."""
        base, overlay, group = self._find(table, *choose_index(match, Order(field, fold=True)))
        folded = text.casefold()
        found = base.begins(group, folded)
        if overlay is not None:
            changed = self._rows[table]
            unchanged = (entry for entry in found if entry[2] not in changed)
            found = merge(unchanged, overlay.begins(group, folded))
        return [cast("Row", self._row(table, key)).record for _, _, key in islice(found, limit)]

    def count(
        self,
        table: str,
        match: Match | None = None,
        term: Term | None = None,
        within: Within | None = None,
    ) -> int:
        """Return how many records match, and contain a word."""
        total = 0
        for each in _expand(match or {}, within):
            base, overlay, group = self._find(table, *choose_index(each, INSERTION, term))
            # The size of the base's group, plus what the overlay has in it, minus what the overlay
            # hides of it. The last number is kept by the index itself (`mask`), so counting costs
            # no walk.
            total += len(base.groups.get(group, ()))
            if overlay is not None:
                total += len(overlay.groups.get(group, ())) - overlay.masked[group]
        return total

    def tables(self) -> list[str]:
        """Return the names of the tables with at least one record."""
        names = dict.fromkeys([*self._base.rows, *self._rows])
        return [name for name in names if self.count(name)]

    def version(self, table: str) -> int:
        """Return a number that is another one after each change of a table."""
        return self._versions.get(table, self._restored)

    def list_changed(self, table: str, since: int) -> list[str] | None:
        """Return the keys that changed since the table had that version; `None`: all may have."""
        # Versions are numbers of edits. The first question about a table begins its list, and a
        # restore ends it. What changed before that is not in the list, so whoever knows an older
        # version has to look at everything. Otherwise the newest edits are at the end, and only
        # those after `since` are read.
        edited = self._edited.get(table)
        if edited is None:
            edited = self._edited[table] = {}
            self._listed_since[table] = self.version(table)
        if since < self._listed_since[table]:
            return None
        return [key for key, _ in takewhile(lambda item: item[1] > since, reversed(edited.items()))]

    # -- writes ----------------------------------------------------------------------------------

    def put(self, table: str, key: str, record: Record) -> None:
        """Create or replace a record; a replaced one keeps its place in insertion order."""
        old = self._row(table, key)
        if old is None:
            seq = self._next_seq
            self._next_seq += 1
        else:
            seq = old.seq
        self._change(table, key, old, Row(seq, record))

    def remove(self, table: str, key: str) -> Record | None:
        """Remove a record and return it; return `None` if it does not exist."""
        old = self._row(table, key)
        if old is None:
            return None
        self._change(table, key, old, None)
        return old.record

    def transaction(self) -> Scope[list[Change]]:
        """Return a block with the growing list of changes; an exception undoes all of them."""
        return self._transaction

    @contextmanager
    def attempt(self) -> Iterator[None]:
        """Undo the changes of this block if it raises, although the outer transaction continues."""
        assert self._undo is not None, "an attempt is part of a transaction"
        # An attempt is a part of the one list of the transaction: it remembers how long the list
        # was, and undoes only what came after. It must not be a transaction of its own, because its
        # changes are written to the archive with the others, in one commit.
        undo, changes = len(self._undo), len(self._changes)
        next_seq = self._next_seq
        try:
            yield
        except BaseException:
            for table, key, slot, present in reversed(self._undo[undo:]):
                self._set(table, key, slot, present=present)
            del self._undo[undo:]
            del self._changes[changes:]
            self._next_seq = next_seq
            raise

    def snapshot(self) -> Snapshot:
        """Return the current state as a value that later changes do not affect."""
        written = {table: dict(self._rows[table]) for table in self._versions}
        return Snapshot(self._rows | written, self._next_seq)

    def restore(self, snapshot: Snapshot, *, base: Base | None = None) -> None:
        """Return to a state from `snapshot`, with another `base` if given.

        Raises:
            RuntimeError: A transaction is open; it could not be undone any more.
        """
        self._check_no_transaction()
        self._base = base or self._base
        # The rows of a table are copied when one of them is written.
        self._rows = cast("dict[str, dict[str, Slot]]", dict(snapshot.rows))
        self._next_seq = snapshot.next_seq
        # The overlay's indexes are dropped, not updated: they are made again at the next search,
        # over the few records that differ. Those of the base stay, unless the base itself is
        # another one.
        self._indexes = {}
        self._edits += 1
        self._restored, self._versions, self._edited = self._edits, {}, {}

    def clear(self) -> None:
        """Return to the fixtures, at a cost that depends only on the changes."""
        self.restore(Snapshot({}, self._base.next_seq))

    def adopt(self, tables: Mapping[str, Mapping[str, Record]]) -> None:
        """Replace all records by these, in this order; the overlay has only differences."""
        seq = self._base.next_seq
        rows: dict[str, dict[str, Row]] = {}
        for table, records in tables.items():
            own, last = self._base.rows.get(table, {}), -1
            placed = rows[table] = {}
            for key, record in records.items():
                # A record keeps the place of its fixture as long as the order of the document
                # allows that: then it is equal to the fixture in everything, and needs no slot in
                # the overlay. If the document has another order, the records from there on get new
                # places at the end.
                base = own.get(key)
                if base is not None and base.seq > last:  # it may stand where the fixture stands
                    last = base.seq
                else:
                    last, seq = seq, seq + 1
                placed[key] = Row(last, record)
        self.restore(Snapshot(self._base.difference(rows), seq))

    # -- details ---------------------------------------------------------------------------------

    def _check_no_transaction(self) -> None:
        if self._undo is not None:
            raise RuntimeError("a store cannot go back to a snapshot inside a transaction")

    def _begin(self) -> list[Change]:
        self._nesting += 1
        if self._nesting == 1:
            self._undo, self._changes = [], []
            self._first_seq = self._next_seq
        return self._changes

    def _end(self, fault: BaseException | None) -> None:
        if self._nesting > 1:  # inside another: its outcome decides for both
            self._nesting -= 1
            return
        try:
            if fault is not None:
                self._roll_back()
                return
            try:
                if self._changes:  # most requests have none
                    for tables, add_consequences in self.consequences:
                        if any(change.table in tables for change in self._changes):
                            add_consequences(tuple(self._changes))
                self._record_commit(self._changes)
            except BaseException:
                self._roll_back()
                raise
        finally:
            self._nesting, self._undo = 0, None

    @contextmanager
    def skip_consequences(self) -> Iterator[None]:
        """Add nothing to transactions in this block: what follows is among the changes already."""
        consequences, self.consequences = self.consequences, []
        try:
            yield
        finally:
            self.consequences = consequences

    def _roll_back(self) -> None:
        # From the last change to the first, so that a key that was changed twice ends as it was
        # before both. Sequence numbers are set back too: after a failure the next record is
        # numbered as if nothing had been tried, so a run with failures has the same cursors as one
        # without.
        for table, key, slot, present in reversed(self._undo or ()):
            self._set(table, key, slot, present=present)
        self._next_seq = self._first_seq
        self._changes.clear()

    def _record_commit(self, changes: list[Change]) -> None:
        """Called at the end of a transaction; if it raises, the transaction is undone."""

    def _row(self, table: str, key: str) -> Row | None:
        # Three cases in two steps: a row of the overlay, `None` in the overlay (a fixture that was
        # removed), or no slot at all, which lets the fixture show through.
        rows = self._rows.get(table)
        if rows is not None and key in rows:
            return rows[key]
        base = self._base.rows.get(table)
        return None if base is None else base.get(key)

    def _change(self, table: str, key: str, old: Row | None, new: Row | None) -> None:
        if self._undo is not None:
            # The undo list keeps the slot itself, and whether there was one: "no slot" and "a slot
            # without a row" look the same to a reader, but only the second one hides a fixture.
            rows = self._rows.get(table, {})
            self._undo.append((table, key, rows.get(key), key in rows))
            before = None if old is None else old.record
            after = None if new is None else new.record
            self._changes.append(Change(table, key, before, after))
        # A removed record of the base keeps a slot without a row; else the base's row would show.
        in_base = key in self._base.rows.get(table, {})
        self._set(table, key, new, present=new is not None or in_base)

    def _set(self, table: str, key: str, slot: Slot, *, present: bool) -> None:
        """Set the overlay's value for a key to `slot` (remove it if not `present`)."""
        self._edits += 1
        if table not in self._versions:  # the first write since a state was restored
            self._rows[table] = dict(self._rows.get(table, ()))
        self._versions[table] = self._edits
        edited = self._edited.get(table)
        if edited is not None:
            edited.pop(key, None)  # the last edit goes to the end
            edited[key] = self._edits
        rows = self._rows[table]
        old, was_present = rows.get(key), key in rows
        base_row = self._base.rows.get(table, {}).get(key)
        # The indexes of the overlay also count the base's rows that it hides, so that a total needs
        # no look at each row. `present` may change while the row does not, and the other way round,
        # so both are compared with what was there before.
        for index in self._indexes.get(table, {}).values():
            if old is not None:
                index.discard(key, old)
            if slot is not None:
                index.add(key, slot)
            if base_row is not None and present != was_present:
                index.mask(base_row.record, 1 if present else -1)
        if present:
            rows[key] = slot
        else:
            rows.pop(key, None)

    def _find(self, table: str, by: By, group: Group) -> tuple[Index, Index | None, Group]:
        # Indexes are made for the searches that really happen, at the first of each kind. The
        # base's is shared by all worlds; a world needs one of its own only for a table in which it
        # changed something, and most requests meet tables that nobody changed.
        base = self._base.index(table, by)
        rows = self._rows.get(table)
        if not rows:
            return base, None, group
        indexes = self._indexes.setdefault(table, {})
        overlay = indexes.get(by)
        if overlay is None:
            overlay = indexes[by] = Index(by, rows)
            base_rows = self._base.rows.get(table, {})
            for key in rows:
                if key in base_rows:
                    overlay.mask(base_rows[key].record)
        return base, overlay, group


def _expand(match: Match, within: Within | None) -> Sequence[Match]:
    """Return one search for each value that `within` allows."""
    if within is None:
        return (match,)
    return [{**match, within.field: value} for value in dict.fromkeys(within.values)]


def _identical(one: Record, other: Record) -> bool:
    """Whether two records are equal as JSON; for `==`, 1, 1.0 and true would be equal."""
    if one is other or one != other:
        return one is other
    try:
        return orjson.dumps(one) == orjson.dumps(other)  # a tenth of the time of the other way
    except TypeError:  # an integer of more than 64 bits, half a surrogate pair
        return repr(one) == repr(other)
