"""A world's records from outside: looked at, put in and taken out, validated like fixtures.

The control plane (`/_mock/state`) and the Python face (`platform.state`) are both thin skins over
this. Records come and go as copies: whoever changes one changes nothing in the world.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from mock_platform.core.jsonio import BadJson, canonical, dumps, loads
from mock_platform.records.table import (
    AS,
    RECORDED,
    Table,
    Tables,
    missing_references,
    recorded_keys,
)
from mock_platform.store.interface import Record, SavedWorld
from mock_platform.store.memory import MemoryStore
from mock_platform.world.clock import Clock
from mock_platform.world.transitions import PENDING, Kind, Pace, is_pending
from mock_platform.world.world import World

_LOG = logging.getLogger(__name__)
_ABSENT: Any = object()


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong with a record: table, key or index, field, text."""

    table: str
    record: str | int
    field: str
    text: str

    def __str__(self) -> str:
        where = f"{self.table}[{self.record}]" if self.record != "" else self.table
        return f"{where}{f', field {self.field}' if self.field else ''}: {self.text}"

    def as_json(self) -> dict[str, Any]:
        """The fault as an object."""
        return {
            "table": self.table,
            "record": self.record,
            "field": self.field,
            "message": self.text,
        }


class BadRecord(ValueError):
    """Records that cannot be stored; `faults` holds everything that is wrong with them."""

    def __init__(self, faults: list[Fault]) -> None:
        super().__init__("\n".join(str(fault) for fault in faults))
        self.faults = faults


class UnknownTable(KeyError):
    """No table has that name."""

    def __init__(self, name: str, tables: Tables) -> None:
        near = get_close_matches(name, list(tables), 1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        super().__init__(f"There is no table {name!r}.{hint} Tables: {', '.join(tables)}.")
        self.name = name

    def __str__(self) -> str:
        return str(self.args[0])  # KeyError shows its text as Python would write it


class UnknownRecord(LookupError):
    """A table holds no record under that key."""

    def __init__(self, table: str, key: str, keys: list[str]) -> None:
        near = get_close_matches(key, keys, 1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        super().__init__(f"{table} holds no record {key!r}.{hint}")
        self.table = table
        self.key = key


class TableState:
    """The records of one table in one world, in stored form: wire form and underscore keys."""

    def __init__(self, world: World, table: Table, tables: Tables) -> None:
        self._world = world
        self._table = table
        self._tables = tables

    @property
    def name(self) -> str:
        """The table's name."""
        return self._table.name

    def all(self) -> list[Record]:
        """Every record, in the order in which they came."""
        with self._world.work():
            self._settle()
            entries = self._world.store.page(self.name)
        return [_record(entry.record) for entry in entries]

    def get(self, key: str) -> Record | None:
        """The record under a key, or `None`.

        Raises:
            TypeError: The key is no text.
        """
        require_key(key)
        with self._world.work():
            self._settle()
            record = self._world.store.get(self.name, key)
        return None if record is None else _record(record)

    def put(self, record: Record, *, key: str | None = None, unchecked: bool = False) -> Record:
        """Create or replace a record; gives it as stored, defaults filled in.

        Where it leaves out when it was created and changed, that is the world's now; what replaces
        a record stays created when that was. `key` is filled in where the record does not name it.
        `unchecked` stores the record as it is, for odd states on purpose.

        Raises:
            BadRecord: It has faults, or refers to what is not there; nothing is stored.
        """
        taken = copy_with_key(self._table, record, key)
        with self._world.work():
            if not unchecked:
                taken |= self._stamps(taken)
            stored, name = self._checked(taken, unchecked=unchecked)
            self._world.store.put(self.name, name, stored)
        return _record(stored)

    def patch(self, key: str, changes: Record, *, unchecked: bool = False) -> Record:
        """Merge changes into a record (JSON merge patch: null takes a field out).

        Raises:
            UnknownRecord: There is no such record.
            BadRecord: What would come out has faults, or another key; nothing is changed.
            TypeError: The key is no text.
        """
        taken = copy_with_key(self._table, changes, require_key(key))
        with self._world.work():
            self._settle()
            before = self._world.store.get(self.name, key)
            if before is None:
                raise self._unknown(key)
            if not unchecked:
                self._refuse_new_keys(before, taken)
            merged = merge_patch(before, taken)
            stored, name = self._checked(merged, unchecked=unchecked)
            self._world.store.put(self.name, name, stored)
        return _record(stored)

    def delete(self, key: str) -> None:
        """Take a record out for good, whatever refers to it.

        Raises:
            UnknownRecord: There is no such record.
            TypeError: The key is no text.
        """
        require_key(key)
        with self._world.work():
            if self._world.store.remove(self.name, key) is None:
                raise self._unknown(key)

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and self._world.store.get(self.name, key) is not None

    def __iter__(self) -> Iterator[Record]:
        return iter(self.all())

    def __len__(self) -> int:
        with self._world.lock:
            return self._world.store.count(self.name)

    def _stamps(self, record: Record) -> Record:
        """Those of creation and change that a record leaves out."""
        now = self._world.clock.now()
        stamps = {name: form(now) for name, form in self._table.stamps.items()}
        held = self._world.store.get(self.name, self._table.key_of(record) or "")
        if held is not None and "created_at" in stamps:
            stamps["created_at"] = held.get("created_at", stamps["created_at"])
        return {name: stamp for name, stamp in stamps.items() if name not in record}

    def _refuse_new_keys(self, before: Record, changes: Record) -> None:
        """See that changes bring no unknown key to a recorded record, unless they say so again.

        Raises:
            BadRecord: They do.
        """
        if before.get(AS) != RECORDED or AS in changes:
            return
        faults = [
            Fault(self.name, self._table.key_of(before) or "", field, text)
            for field, text in self._table.part_faults(changes)
            if field not in self._table.fields and field not in before
        ]
        if faults:
            raise BadRecord(faults)

    def _checked(self, record: Record, *, unchecked: bool) -> tuple[Record, str]:
        loaded, found = load_record(self._table, record, unchecked=unchecked)
        key = self._table.key_of(loaded)
        if not found and not unchecked:
            found = missing_references(self._table, loaded, self._exists(loaded))
        if found or key is None:
            raise BadRecord([Fault(self.name, key or "", field, text) for field, text in found])
        for name in () if unchecked else recorded_keys(self._table, loaded):
            _LOG.warning("%s does not know %r, kept as recorded in %r", self.name, name, key)
        return loaded, key

    def _exists(self, record: Record) -> Any:
        store, own = self._world.store, (self.name, self._table.key_of(record))
        return lambda table, key: (table, key) == own or store.get(table, key) is not None

    def _settle(self) -> None:
        for kind in self._world.transitions.kinds.values():
            if kind.table == self.name:
                self._world.transitions.settle_all(kind.name)

    def _unknown(self, key: str) -> UnknownRecord:
        keys = [entry.key for entry in self._world.store.page(self.name, limit=1000)]
        return UnknownRecord(self.name, key, keys)


class State(Mapping[str, TableState]):
    """All tables of one world by name, and the whole of it as one JSON document."""

    def __init__(self, world: World, tables: Tables) -> None:
        self._world = world
        self._tables = tables

    def __getitem__(self, name: str) -> TableState:
        """The table of this name.

        Raises:
            UnknownTable: There is none.
        """
        table = self._tables.get(name)
        if table is None:
            raise UnknownTable(name, self._tables)
        return TableState(self._world, table, self._tables)

    def __iter__(self) -> Iterator[str]:
        return iter(self._tables)

    def __len__(self) -> int:
        return len(self._tables)

    def __contains__(self, name: object) -> bool:
        return name in self._tables

    def dump(self) -> dict[str, Any]:
        """The whole world: its tables, and what it keeps beside them.

        `clock`, `ids` (how many were drawn) and `paces` (of transitions) are such that `load` makes
        the world go on exactly from here. A table is an array of records; those whose name begins
        with an underscore are the mock's own, records by key.
        """
        with self._world.work():
            for kind in self._world.transitions.kinds:
                self._world.transitions.settle_all(kind)
            store = self._world.store
            tables: dict[str, Any] = {
                name: [entry.record for entry in store.page(name)] for name in self._tables
            }
            for name in store.tables():
                if name not in self._tables:
                    tables[name] = {entry.key: entry.record for entry in store.page(name)}
            meta = self._world.meta()
        kept = {key: meta[key] for key in ("ids", "clock", "paces")}
        return {"world": self._world.name, **kept, "tables": _copy(tables)}

    def load(self, document: Any, *, unchecked: bool = False) -> None:
        """Make the world what a document says, as `dump` gave it.

        Tables that it leaves out become empty. `ids`, `clock` and `paces` stay as they are where it
        does not give them. The journal begins anew, as after a reset.

        Raises:
            BadRecord: Records have faults, or the document has another form; nothing is changed.
                A record that the world holds already, as it is, is none: `load` takes back
                whatever `dump` gave.
        """
        with self._world.held():
            self._load(copy_of_json(document, "state"), unchecked=unchecked)

    def _load(self, document: Any, *, unchecked: bool) -> None:
        tables = _tables_of(document)
        kinds = self._world.transitions.kinds
        faults = [*_beside(document, kinds), *_internal(tables, kinds)]
        records: dict[str, dict[str, Record]] = {}
        for name, rows in tables.items():
            records[name] = self._rows(name, rows, faults, unchecked=unchecked)
        if not faults and not unchecked:
            faults = list(self._dangling(records))
        if faults:
            raise BadRecord(faults)
        store = MemoryStore(self._world.blueprint.base)
        store.adopt(records)
        meta = self._world.meta() | {
            key: document[key] for key in ("ids", "clock", "paces") if key in document
        }
        self._world.load(SavedWorld(store.snapshot(), meta))

    def _holds(self, table: Table, record: Record) -> bool:
        """Whether the world holds this very record."""
        key = table.key_of(record)
        held = None if key is None else self._world.store.get(table.name, key)
        return held == record and canonical(held) == canonical(record)

    def _rows(
        self, name: str, rows: Any, faults: list[Fault], *, unchecked: bool
    ) -> dict[str, Record]:
        table = self._tables.get(name)
        if table is None:
            if name.startswith("_") and isinstance(rows, dict):
                return rows
            faults.append(Fault(name, "", "", str(UnknownTable(name, self._tables))))
            return {}
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            faults.append(Fault(name, "", "", "a table is an array of objects"))
            return {}
        found: dict[str, Record] = {}
        for index, row in enumerate(rows):
            as_is = unchecked or self._holds(table, row)
            loaded, wrong = load_record(table, row, unchecked=as_is)
            key = table.key_of(loaded)
            if key in found:
                wrong = [*wrong, (table.key, f"{key!r} stands twice")]
            faults += [Fault(name, index, field, text) for field, text in wrong]
            if key is not None:
                found[key] = loaded
        return found

    def _dangling(self, records: dict[str, dict[str, Record]]) -> Iterator[Fault]:
        def exists(table: str, key: str) -> bool:
            return key in records.get(table, {})

        for name, rows in records.items():
            table = self._tables.get(name)
            for key, record in rows.items() if table is not None else ():
                assert table is not None
                missing = missing_references(table, record, exists)
                if missing and self._holds(table, record):
                    held = missing_references(table, record, self._present)
                    missing = [fault for fault in missing if fault not in held]
                yield from (Fault(name, key, field, text) for field, text in missing)

    def _present(self, table: str, key: str) -> bool:
        return self._world.store.get(table, key) is not None


def merge_patch(target: Any, patch: Any) -> Any:
    """RFC 7396: what `patch` makes of `target`; neither is changed."""
    if not isinstance(patch, dict):
        return patch
    merged = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = merge_patch(merged.get(key), value)
    return merged


def require_key(key: object) -> str:
    """A record's key.

    Raises:
        TypeError: It is no text. Ids are text on the wire: with a number nothing would be found.
    """
    if not isinstance(key, str):
        raise TypeError(f"a record's key is text: {str(key)!r}, not {key!r}")
    return key


def load_record(
    table: Table, record: Record, *, unchecked: bool
) -> tuple[Record, list[tuple[str, str]]]:
    """The record as it is stored, and everything that is wrong with it by itself.

    `unchecked` leaves it as it is; a key it must have all the same.
    """
    if not unchecked:
        return table.load(record)
    if table.key_of(record) is not None:
        return record, []
    return record, [(table.key, f"{table.key} must be a non-empty string: it is the key")]


def copy_with_key(table: Table, record: Any, key: str | None) -> Record:
    """A private copy of what a caller gave, under the key that it said.

    Raises:
        BadRecord: It is no JSON object, or names another key.
    """
    taken = copy_of_json(record, table.name)
    if not isinstance(taken, dict):
        raise BadRecord([Fault(table.name, key or "", "", "a record is a JSON object")])
    named = table.from_public(taken).get(table.key, _ABSENT)
    if key is not None and named is _ABSENT:
        return {table.key: key, **taken}
    if key is not None and named != key:
        text = f"{table.key} is the key and must stay {key!r}, got {named!r}"
        raise BadRecord([Fault(table.name, key, table.key, text)])
    return taken


def _tables_of(document: Any) -> dict[str, Any]:
    tables = document.get("tables") if isinstance(document, dict) else None
    if not isinstance(tables, dict):
        form = 'a state is {"tables": {NAME: [records]}}, with clock, ids and paces beside it'
        raise BadRecord([Fault("state", "", "tables", form)])
    return tables


def _beside(document: dict[str, Any], kinds: Mapping[str, Kind]) -> Iterator[Fault]:
    """What is wrong with the parts of a state that are no tables."""
    for name in document.keys() - _PARTS:
        yield Fault("state", "", name, f"{name!r} is no part of a state: {', '.join(_PARTS)}")
    ids = document.get("ids", 0)
    if not isinstance(ids, int) or isinstance(ids, bool) or ids < 0:
        yield Fault("state", "", "ids", f"a count from 0 up, got {ids!r}")
    clock = document.get("clock", {})
    try:
        _known(clock, ("offset_seconds", "frozen_at"))
        Clock().restore(clock)
    except (TypeError, ValueError, OverflowError) as raised:
        form = '{"offset_seconds": number, "frozen_at": instant or null}'
        yield Fault("state", "", "clock", f"expected {form}: {raised}")
    paces = document.get("paces", {})
    try:
        _known(paces, tuple(kinds))
        for pace in paces.values():
            _known(pace, ("progression", "seconds", "polls"))
            Pace(**pace)
    except ValueError as raised:
        form = '{KIND: {"progression", "seconds", "polls"}}'
        yield Fault("state", "", "paces", f"expected {form}: {raised}")


_PARTS = ("world", "ids", "clock", "paces", "tables")


def _known(value: Any, names: Sequence[str]) -> None:
    """See that a value is an object of these names.

    Raises:
        ValueError: It is not.
    """
    if not isinstance(value, dict):
        raise ValueError(f"got {value!r}")  # noqa: TRY004 - the client's fault, told as such
    for name in value:
        if name not in names:
            raise ValueError(f"{name!r} is none of {', '.join(names)}")


def _internal(tables: dict[str, Any], kinds: Mapping[str, Kind]) -> Iterator[Fault]:
    """What is wrong with the mock's own tables."""
    for name, rows in tables.items():
        if not name.startswith("_"):
            continue
        if not isinstance(rows, dict) or not all(isinstance(row, dict) for row in rows.values()):
            yield Fault(name, "", "", "a table of the mock's own is an object of records by key")
        elif name == PENDING:
            for key, row in rows.items():
                if not is_pending(key, row, kinds):
                    yield Fault(name, key, "", "no record under way")


def _record(value: Record) -> Record:
    copy: Record = _copy(value)
    return copy


def copy_of_json(value: Any, what: str) -> Any:
    """A copy that shares nothing with the value.

    Raises:
        BadRecord: It is not JSON.
    """
    try:
        return _copy(value)
    except (TypeError, ValueError, BadJson) as fault:
        raise BadRecord([Fault(what, "", "", f"not JSON: {fault}")]) from fault


def _copy(value: Any) -> Any:
    return loads(dumps(value))
