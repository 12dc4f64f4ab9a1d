"""Reads and writes a world's records from outside, validated like fixtures.

The control plane (`/_mock/state`) and the Python face (`platform.state`) are both thin layers over
this. Records go in and out as copies: changing a copy changes nothing in the world.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any, NoReturn, cast

from msgspec import Struct

from mock_platform.core.errors import (
    MAX_FAULTS,
    BadRecord,
    NoSuchAttribute,
    RecordFault,
    UnknownRecord,
    UnknownTable,
)
from mock_platform.core.jsonio import canonical, dumps
from mock_platform.core.tables.checking import (
    copy_of_json,
    copy_record,
    copy_with_key,
    find_internal_faults,
    find_metadata_faults,
    load_record,
    merge_patch,
    require_key,
    require_tables,
)
from mock_platform.core.tables.table import (
    AS,
    RECORDED,
    Table,
    Tables,
    find_missing_references,
    find_recorded_keys,
)
from mock_platform.world.store.interface import Record, SavedWorld
from mock_platform.world.store.memory import MemoryStore
from mock_platform.world.world import World

if TYPE_CHECKING:
    from mock_platform.names import OwnName, TableName

_LOG = logging.getLogger(__name__)


MAX_SEARCHED = 20_000
"""Records of one table that a search looks at."""


class FoundRecords(Struct, frozen=True):
    """A page of records."""

    records: list[Record]
    found: int
    """How many records were found, on all pages."""
    total: int
    """How many records the table has."""
    whole: bool
    """Whether all of them were searched."""


class Referring(Struct, frozen=True):
    """Records of a table that refer to a record in the same field."""

    table: str
    field: str
    keys: list[str]


class TableState:
    """The records of one table in one world, in stored form: wire form and underscore keys."""

    def __init__(self, world: World, table: Table, tables: Tables) -> None:
        self._world = world
        self._table = table
        self._tables = tables

    @property
    def name(self) -> TableName:
        """The table's name, as in fixture files."""
        return cast("TableName", self._table.name)

    def all(self) -> list[Record]:
        """Return every record, in the order of creation."""
        with self._world.work():
            self._settle()
            entries = self._world.store.page(self.name)
        return [copy_record(entry.record) for entry in entries]

    def find(self, text: str = "", *, skip: int = 0, limit: int = 50) -> FoundRecords:
        """Return a page of the records whose JSON contains a text, ignoring case; newest last.

        The records are searched without the world's lock, and no more than `MAX_SEARCHED` of them.
        """
        with self._world.work():
            self._settle()
            entries = self._world.store.page(self.name)
        total, searched = len(entries), entries
        if text:
            wanted = text.casefold()
            searched = [
                entry
                for entry in islice(entries, MAX_SEARCHED)
                if wanted in dumps(entry.record).decode().casefold()
            ]
        return FoundRecords(
            records=[copy_record(entry.record) for entry in searched[skip : skip + limit]],
            found=len(searched),
            total=total,
            whole=not text or total <= MAX_SEARCHED,
        )

    def find_referring(self, key: str) -> list[Referring]:
        """Return which records of which tables refer to a key, by table and field.

        Of each table no more than `MAX_SEARCHED` records are looked at, without the world's lock.
        """
        found: dict[tuple[str, str], list[str]] = {}
        for table in self._tables.values():
            references = [each for each in table.references if self.name in each.tables]
            if not references:
                continue
            with self._world.lock:
                entries = self._world.store.page(table.name, limit=MAX_SEARCHED)
            for entry in entries:
                for reference in references:
                    if key in reference.find_targets(entry.record):
                        found.setdefault((table.name, reference.field), []).append(entry.key)
        return [Referring(name, field, keys) for (name, field), keys in found.items()]

    def get(self, key: str) -> Record | None:
        """Return the record with a key, or `None`.

        Raises:
            TypeError: The key is not a string.
        """
        require_key(key)
        with self._world.work():
            self._settle()
            record = self._world.store.get(self.name, key)
        return None if record is None else copy_record(record)

    def put(self, record: Record, *, key: str | None = None, unchecked: bool = False) -> Record:
        """Create or replace a record; return it as stored, with defaults filled in.

        Times of creation and change that it leaves out are the world's current time; a record that
        replaces another one keeps its time of creation. `key` is filled in where the record does
        not name it. `unchecked` stores the record as it is, for odd states on purpose.

        Raises:
            BadRecord: It has faults, or refers to missing records; nothing is stored.
        """
        # Copied on the way in and on the way out: the store shares records between worlds and never
        # copies, so a dictionary that a test still holds must not be one of them.
        taken = copy_with_key(self._table, record, key)
        with self._world.work():
            if not unchecked:
                taken |= self._make_stamps(taken)
            stored, name = self._check_record(taken, unchecked=unchecked)
            self._world.store.put(self.name, name, stored)
        return copy_record(stored)

    def patch(self, key: str, changes: Record, *, unchecked: bool = False) -> Record:
        """Merge changes into a record (JSON merge patch: null removes a field); return the result.

        Raises:
            UnknownRecord: No record has this key.
            BadRecord: The result would have faults, or another key; nothing is changed.
            TypeError: The key is not a string.
        """
        taken = copy_with_key(self._table, changes, require_key(key))
        with self._world.work():
            self._settle()
            before = self._world.store.get(self.name, key)
            if before is None:
                raise self._make_unknown_record(key)
            if not unchecked:
                self._refuse_new_keys(before, taken)
            merged = merge_patch(before, taken)
            stored, name = self._check_record(merged, unchecked=unchecked)
            self._world.store.put(self.name, name, stored)
        return copy_record(stored)

    def delete(self, key: str) -> None:
        """Delete a record permanently, even if others refer to it.

        The relations that lead to it or from it end, such as follows, likes and memberships, and
        the counts of their other ends fall. Whatever else refers to it stays as it is.

        Raises:
            UnknownRecord: No record has this key.
            TypeError: The key is not a string.
        """
        require_key(key)
        with self._world.work():
            if self._world.store.get(self.name, key) is None:
                raise self._make_unknown_record(key)
            for table in self._tables.values():
                if table.unlink is not None:
                    table.unlink(self._world, self.name, key)
            self._world.store.remove(self.name, key)

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and self._world.store.get(self.name, key) is not None

    def __iter__(self) -> Iterator[Record]:
        return iter(self.all())

    def __len__(self) -> int:
        with self._world.lock:
            return self._world.store.count(self.name)

    def _make_stamps(self, record: Record) -> Record:
        """Return the times of creation and change that a record leaves out."""
        now = self._world.clock.now()
        stamps = {name: form(now) for name, form in self._table.stamps.items()}
        held = self._world.store.get(self.name, self._table.key_of(record) or "")
        if held is not None and "created_at" in stamps:
            stamps["created_at"] = held.get("created_at", stamps["created_at"])
        return {name: stamp for name, stamp in stamps.items() if name not in record}

    def _refuse_new_keys(self, before: Record, changes: Record) -> None:
        """Refuse changes that add unknown keys to a recorded record, unless they set `_as` again.

        Raises:
            BadRecord: They add unknown keys.
        """
        # A recorded record may have keys that its table does not know, which came from elsewhere. A
        # patch may change those, but a new unknown key in it is more likely a slip.
        if before.get(AS) != RECORDED or AS in changes:
            return
        faults = [
            RecordFault(self.name, self._table.key_of(before) or "", field, text)
            for field, text in islice(self._table.find_part_faults(changes), MAX_FAULTS)
            if field not in self._table.fields and field not in before
        ]
        if faults:
            raise BadRecord(faults)

    def _check_record(self, record: Record, *, unchecked: bool) -> tuple[Record, str]:
        loaded, found = load_record(self._table, record, unchecked=unchecked)
        key = self._table.key_of(loaded)
        if not found and not unchecked:
            found = find_missing_references(self._table, loaded, self._exists(loaded))
        if found or key is None:
            raise BadRecord(
                [RecordFault(self.name, key or "", field, text) for field, text in found]
            )
        for name in () if unchecked else find_recorded_keys(self._table, loaded):
            _LOG.warning("%s does not know %r, kept as recorded in %r", self.name, name, key)
        return loaded, key

    def _exists(self, record: Record) -> Any:
        store, own = self._world.store, (self.name, self._table.key_of(record))
        return lambda table, key: (table, key) == own or store.get(table, key) is not None

    def _settle(self) -> None:
        for kind in self._world.transitions.kinds.values():
            if kind.table == self.name:
                self._world.transitions.evaluate_all(kind.name)

    def _make_unknown_record(self, key: str) -> UnknownRecord:
        keys = [entry.key for entry in self._world.store.page(self.name, limit=1000)]
        return UnknownRecord(self.name, key, keys)


def read_world(world: World, tables: Tables) -> dict[str, Any]:
    """Return what `State.dump` does, for whoever changes nothing: its records are those stored."""
    with world.work():
        for kind in world.transitions.kinds:
            world.transitions.evaluate_all(kind)
        store = world.store
        # Running transitions and the like are tables of the store as well. They are part of the
        # document, under names with an underscore, so that a world that is loaded goes on exactly
        # where it was.
        found: dict[str, Any] = {
            name: [entry.record for entry in store.page(name)] for name in tables
        }
        for name in store.tables():
            if name not in tables:
                found[name] = {entry.key: entry.record for entry in store.page(name)}
        meta = world.meta()
    kept = {key: meta[key] for key in ("ids", "clock", "paces")}
    return {"world": world.name, **kept, "tables": found}


class State(Mapping["TableName | OwnName", TableState]):
    """All tables of one world by name, and the whole world as one JSON document."""

    def __init__(self, world: World, tables: Tables) -> None:
        self._world = world
        self._tables = tables

    def __getitem__(self, name: str) -> TableState:
        """Return the table with this name.

        Raises:
            UnknownTable: No table has this name.
        """
        table = self._tables.get(name)
        if table is None:
            raise UnknownTable(name, self._tables)
        return TableState(self._world, table, self._tables)

    def __iter__(self) -> Iterator[TableName]:
        return iter(cast("Iterable[TableName]", self._tables))

    if not TYPE_CHECKING:  # type checkers still report an attribute that does not exist

        def __getattr__(self, name: str) -> NoReturn:
            raise NoSuchAttribute(name, self.__dict__.get("_tables", ()))

    def __len__(self) -> int:
        return len(self._tables)

    def __contains__(self, name: object) -> bool:
        return name in self._tables

    def dump(self) -> dict[str, Any]:
        """Return the whole world: its tables, clock, ids and paces.

        With `clock`, `ids` (how many were drawn) and `paces` (of transitions), `load` makes a world
        continue exactly from here. A table is an array of records; those whose name begins
        with an underscore are the mock's own, records by key.
        """
        document = read_world(self._world, self._tables)
        return {**document, "tables": copy_of_json(document["tables"], "state")}

    def load(self, document: Any, *, unchecked: bool = False) -> None:
        """Replace the whole world by a document that `dump` returned.

        Tables that it leaves out become empty. `ids`, `clock` and `paces` stay as they are where it
        leaves them out. The journal starts empty, as after a reset.

        Raises:
            BadRecord: Records have faults, or the document has another form; nothing is changed.
                Records that the world already holds unchanged are not faults: `load` accepts
                everything that `dump` returned.
        """
        with self._world.hold():
            self._load(copy_of_json(document, "state"), unchecked=unchecked)

    def _load(self, document: Any, *, unchecked: bool) -> None:
        tables = require_tables(document)
        kinds = self._world.transitions.kinds
        faults = [*find_metadata_faults(document, kinds), *find_internal_faults(tables, kinds)]
        records: dict[str, dict[str, Record]] = {}
        for name, rows in tables.items():
            records[name] = self._read_rows(name, rows, faults, unchecked=unchecked)
            if len(faults) >= MAX_FAULTS:
                break
        if not faults and not unchecked:
            faults = list(islice(self._find_dangling_references(records), MAX_FAULTS))
        if faults:
            raise BadRecord(faults)
        # The records are laid over the fixtures in a store of their own, and the world then returns
        # to that state as to a snapshot: one step, one commit, and nothing has changed if any
        # record has a fault.
        store = MemoryStore(self._world.blueprint.base)
        store.adopt(records)
        meta = self._world.meta() | {
            key: document[key] for key in ("ids", "clock", "paces") if key in document
        }
        self._world.load(SavedWorld(store.snapshot(), meta))

    def _holds_already(self, table: Table, record: Record) -> bool:
        """Return whether the world already holds exactly this record."""
        key = table.key_of(record)
        held = None if key is None else self._world.store.get(table.name, key)
        return held == record and canonical(held) == canonical(record)

    def _read_rows(
        self, name: str, rows: Any, faults: list[RecordFault], *, unchecked: bool
    ) -> dict[str, Record]:
        table = self._tables.get(name)
        if table is None:
            if name.startswith("_") and isinstance(rows, dict):
                return rows
            faults.append(RecordFault(name, "", "", str(UnknownTable(name, self._tables))))
            return {}
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            faults.append(RecordFault(name, "", "", "a table is an array of objects"))
            return {}
        found: dict[str, Record] = {}
        for index, row in enumerate(rows):
            # A world may hold records that were stored unchecked, on purpose. Its own dump must
            # load again, so what it holds already in exactly this form is no fault.
            as_is = unchecked or self._holds_already(table, row)
            loaded, wrong = load_record(table, row, unchecked=as_is)
            key = table.key_of(loaded)
            if key in found:
                wrong = [*wrong, (table.key, f"{key!r} occurs twice")]
            faults += [RecordFault(name, index, field, text) for field, text in wrong]
            if len(faults) >= MAX_FAULTS:
                break
            if key is not None:
                found[key] = loaded
        return found

    def _find_dangling_references(
        self, records: dict[str, dict[str, Record]]
    ) -> Iterator[RecordFault]:
        def exists(table: str, key: str) -> bool:
            return key in records.get(table, {})

        for name, rows in records.items():
            table = self._tables.get(name)
            for key, record in rows.items() if table is not None else ():
                assert table is not None
                missing = find_missing_references(table, record, exists)
                if missing and self._holds_already(table, record):
                    held = find_missing_references(table, record, self._is_stored)
                    missing = [fault for fault in missing if fault not in held]
                yield from (RecordFault(name, key, field, text) for field, text in missing)

    def _is_stored(self, table: str, key: str) -> bool:
        return self._world.store.get(table, key) is not None
