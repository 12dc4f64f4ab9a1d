"""Records and whole states from outside: what may be wrong with them, and copies of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mock_platform.core.errors import BadRecord, RecordFault
from mock_platform.core.jsonio import BadJson, dumps, loads
from mock_platform.core.tables.table import Table
from mock_platform.world.clock import Clock
from mock_platform.world.store.interface import Record
from mock_platform.world.transitions import PENDING, Pace, TransitionKind, is_pending

_ABSENT: Any = object()


def merge_patch(target: Any, patch: Any) -> Any:
    """Return `target` with a JSON merge patch (RFC 7396) applied; neither is changed."""
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
    """Return the key of a record.

    Raises:
        TypeError: It is not a string. Ids are strings on the wire: a number would find nothing.
    """
    if not isinstance(key, str):
        raise TypeError(f"a record's key is text: {str(key)!r}, not {key!r}")
    return key


def load_record(
    table: Table, record: Record, *, unchecked: bool
) -> tuple[Record, list[tuple[str, str]]]:
    """Return the record as it is stored, and its faults, references aside.

    `unchecked` leaves the record as it is, but it must have a key.
    """
    if not unchecked:
        return table.load(record)
    if table.key_of(record) is not None:
        return record, []
    return record, [(table.key, f"{table.key} must be a non-empty string: it is the key")]


def copy_with_key(table: Table, record: Any, key: str | None) -> Record:
    """Return a private copy of a caller's record, with the key that the caller named.

    Raises:
        BadRecord: It is not a JSON object, or has another key.
    """
    taken = copy_of_json(record, table.name)
    if not isinstance(taken, dict):
        raise BadRecord([RecordFault(table.name, key or "", "", "a record is a JSON object")])
    named = table.from_public(taken).get(table.key, _ABSENT)
    if key is not None and named is _ABSENT:
        return {table.key: key, **taken}
    if key is not None and named != key:
        text = f"{table.key} is the key and must stay {key!r}, got {named!r}"
        raise BadRecord([RecordFault(table.name, key, table.key, text)])
    return taken


def require_tables(document: Any) -> dict[str, Any]:
    """Return the tables of a whole state.

    Raises:
        BadRecord: It has none.
    """
    tables = document.get("tables") if isinstance(document, dict) else None
    if not isinstance(tables, dict):
        form = 'a state is {"tables": {NAME: [records]}}, with clock, ids and paces beside it'
        raise BadRecord([RecordFault("state", "", "tables", form)])
    return tables


def find_metadata_faults(
    document: dict[str, Any], kinds: Mapping[str, TransitionKind]
) -> Iterator[RecordFault]:
    """Yield the faults of a state's parts beside its tables."""
    for name in document.keys() - _PARTS:
        yield RecordFault("state", "", name, f"{name!r} is no part of a state: {', '.join(_PARTS)}")
    ids = document.get("ids", 0)
    if not isinstance(ids, int) or isinstance(ids, bool) or ids < 0:
        yield RecordFault("state", "", "ids", f"a count from 0 up, got {ids!r}")
    clock = document.get("clock", {})
    try:
        _require_known_keys(clock, ("offset_seconds", "frozen_at"))
        Clock().restore(clock)
    except (TypeError, ValueError, OverflowError) as raised:
        form = '{"offset_seconds": number, "frozen_at": instant or null}'
        yield RecordFault("state", "", "clock", f"expected {form}: {raised}")
    paces = document.get("paces", {})
    try:
        _require_known_keys(paces, tuple(kinds))
        for pace in paces.values():
            _require_known_keys(pace, ("progression", "seconds", "polls"))
            Pace(**pace)
    except ValueError as raised:
        form = '{KIND: {"progression", "seconds", "polls"}}'
        yield RecordFault("state", "", "paces", f"expected {form}: {raised}")


_PARTS = ("world", "ids", "clock", "paces", "tables")


def _require_known_keys(value: Any, names: Sequence[str]) -> None:
    """Require that a value is an object with no other keys than these names.

    Raises:
        ValueError: It is not, or has other keys.
    """
    if not isinstance(value, dict):
        raise ValueError(f"got {value!r}")  # noqa: TRY004 - the client's fault, reported as one
    for name in value:
        if name not in names:
            raise ValueError(f"{name!r} is not one of {', '.join(names)}")


def find_internal_faults(
    tables: dict[str, Any], kinds: Mapping[str, TransitionKind]
) -> Iterator[RecordFault]:
    """Yield the faults of the mock's own tables."""
    for name, rows in tables.items():
        if not name.startswith("_"):
            continue
        if not isinstance(rows, dict) or not all(isinstance(row, dict) for row in rows.values()):
            yield RecordFault(
                name, "", "", "a table of the mock's own is an object of records by key"
            )
        elif name == PENDING:
            for key, row in rows.items():
                if not is_pending(key, row, kinds):
                    yield RecordFault(name, key, "", "no record under way")


def copy_record(value: Record) -> Record:
    """Return a copy of a stored record that shares nothing with it."""
    copy: Record = _copy(value)
    return copy


def copy_of_json(value: Any, what: str) -> Any:
    """Return a copy that shares nothing with the value.

    Raises:
        BadRecord: It is not JSON.
    """
    try:
        return _copy(value)
    except (TypeError, ValueError, BadJson) as fault:
        raise BadRecord([RecordFault(what, "", "", f"not JSON: {fault}")]) from fault


def _copy(value: Any) -> Any:
    return loads(dumps(value))
