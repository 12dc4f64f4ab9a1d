"""Records and whole states from outside: what may be wrong with them, and copies of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from mock_platform.core.documents.forms import (
    ANY_NUMBER,
    AnyForm,
    FaultReport,
    FieldsForm,
    NumberForm,
    ReadableForm,
    WholeForm,
    WordForm,
)
from mock_platform.core.documents.source import format_path
from mock_platform.core.errors import BadRecord, RecordFault
from mock_platform.core.jsonio import BadJson, dumps, loads
from mock_platform.core.tables.table import Table
from mock_platform.world.clock import read_state
from mock_platform.world.store.interface import Record
from mock_platform.world.transitions import PENDING, PROGRESSIONS, TransitionKind, is_pending

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


_PACE = FieldsForm({
    "progression": WordForm(PROGRESSIONS),
    "seconds": NumberForm(0, ANY_NUMBER),
    "polls": WholeForm(1),
})  # fmt: skip
_CLOCK = ReadableForm(
    read_state, "what the clock of a world was: seconds, or an instant with UTC", is_explained=True
)


def find_metadata_faults(
    document: dict[str, Any], kinds: Mapping[str, TransitionKind]
) -> Iterator[RecordFault]:
    """Yield the faults of a state's parts beside its tables."""
    report = FaultReport()
    FieldsForm({
        "world": AnyForm(),
        "ids": WholeForm(0, 2**53),
        "clock": FieldsForm({"offset_seconds": AnyForm(), "frozen_at": AnyForm()}),
        "paces": FieldsForm(dict.fromkeys(kinds, _PACE)),
        "tables": AnyForm(),
    }).check(document, (), report)  # fmt: skip
    if isinstance(document.get("clock"), dict):
        _CLOCK.check(document["clock"], ("clock",), report)
    for at, text in report.faults:
        yield RecordFault("state", "", format_path(at), text)


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
