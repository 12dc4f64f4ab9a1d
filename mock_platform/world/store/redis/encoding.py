"""The values of an engine: states and changes of worlds as JSON with a checksum.

Whole states are compressed: an engine has them in memory, and most of their text repeats itself.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any
from weakref import WeakKeyDictionary

import orjson

from mock_platform.world.store.archive import Meta, Slots, WholeWorld
from mock_platform.world.store.errors import StoreDamaged, StoreError, StoreOutdated
from mock_platform.world.store.interface import Row, Rows
from mock_platform.world.store.memory import Base
from mock_platform.world.store.sealing import open_line, seal_line
from mock_platform.world.store.stored_worlds import StoredState

STRICT = orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_PASSTHROUGH_DATACLASS
FORMAT = b"mock_platform 1"
"""The value of the key `format`: who wrote the keys, and in which version of their form."""
OUTDATED_REMEDY = (
    "It is not damaged: serve with the version of mock_platform that wrote it, or remove the "
    "world: DELETE /_mock/worlds/NAME."
)
"""What to do about a world in the form of another version."""
REMEDY = "Put back a copy of the engine's data, or remove the world: DELETE /_mock/worlds/NAME."
"""What to do about a damaged world."""
_NEWLINE = 1
_FAST = 1
"""The level of compression: a higher one takes longer and gains little."""


class Fixtures:
    """The fixtures of worlds by their hash, so that worlds that share them keep them once."""

    def __init__(self) -> None:
        self._hashes: WeakKeyDictionary[Base, str] = WeakKeyDictionary()
        self.by_hash: dict[str, Rows] = {}
        """Those that were read or written by this process."""

    def hash_of(self, base: Base) -> str:
        """Return the hash of fixtures; empty without any."""
        found = self._hashes.get(base)
        if found is None:
            body = encode_fixtures(base.rows)
            found = sha256(body).hexdigest()[:32] if any(base.rows.values()) else ""
            self._hashes[base] = found
            self.by_hash[found] = base.rows
        return found


def encode_fixtures(rows: Rows) -> bytes:
    """Return fixtures as they are kept."""
    tables = {
        table: [(key, row.seq, row.record) for key, row in found.items()]
        for table, found in rows.items()
    }
    return _seal({"tables": tables})


def decode_fixtures(place: str, body: bytes) -> Rows:
    """Return fixtures.

    Raises:
        StoreDamaged: This is not what was written.
    """
    tables = _open(place, "the fixtures of worlds", body)["tables"]
    return {
        table: {key: Row(seq, record) for key, seq, record in rows}
        for table, rows in tables.items()
    }


def encode_whole(whole: WholeWorld, base: str, seq: int) -> tuple[bytes, StoredState]:
    """Return a state of a world as it is kept, and as a value. `base` is the fixtures' hash."""
    rows = {table: dict(slots) for table, slots in whole.snapshot.rows.items()}
    meta = orjson.dumps(whole.meta, option=STRICT)
    state = StoredState(seq, whole.snapshot.next_seq, meta, whole.base.rows, rows)
    return encode_state(state, base), state


def encode_state(state: StoredState, base: str) -> bytes:
    """Return a state of a world as it is kept."""
    sealed = _seal(
        {
            "seq": state.seq,
            "base": base,
            "next_place": state.next_place,
            "meta": orjson.Fragment(state.meta_json),
            "rows": {
                table: [_row(key, slot) for key, slot in slots.items()]
                for table, slots in state.rows.items()
            },
        }
    )
    return zlib.compress(sealed, _FAST)


def open_state(place: str, what: str, body: bytes) -> dict[str, Any]:
    """Return what `decode_state` reads; its `base` is the hash of the fixtures, empty without any.

    Raises:
        StoreDamaged: This is not what was written.
        StoreOutdated: An older version wrote it.
    """
    try:
        sealed = zlib.decompress(body)
    except zlib.error as error:
        if open_line(body) is not None:
            raise report_other_form(place, what, "it is not compressed") from error
        raise report_damage(place, what, "it cannot be decompressed") from error
    return {"base": ""} | _open(place, what, sealed)


def decode_state(
    place: str, what: str, found: Mapping[str, Any], fixtures: Mapping[str, Rows]
) -> StoredState:
    """Return a state of a world that was opened.

    Raises:
        StoreOutdated: Another version wrote it: it is whole, and has another form.
    """
    try:
        base = fixtures[found["base"]] if found["base"] else {}
        state = StoredState(
            found["seq"], found["next_place"], orjson.dumps(found["meta"]), base=base
        )
        state.rows = {
            table: {row[0]: Row(row[1], row[2]) if len(row) > 1 else None for row in rows}
            for table, rows in found["rows"].items()
        }
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise report_other_form(place, what, _describe(error)) from error
    return state


def encode_commit(slots: Slots, changed: Mapping[str, bytes], removed: Sequence[str]) -> bytes:
    """Return a commit as it is kept, with what changed and what was removed beside the records.

    Raises:
        TypeError: A value has no JSON form.
    """
    changes = [(table, *_row(key, slot)) for (table, key), slot in slots.items()]
    meta = {name: orjson.Fragment(body) for name, body in changed.items()}
    return _seal({"changes": changes, "meta": meta} | ({"removed": removed} if removed else {}))


def take_commits(
    place: str, what: str, commits: Sequence[tuple[int, bytes]], state: StoredState
) -> None:
    """Add commits, with their numbers, to the state before them.

    Raises:
        StoreDamaged: This is not what was written.
        StoreOutdated: Another version wrote it: it is whole, and has another form.
    """
    lines = []
    for number, body in commits:
        line = open_line(body)
        if line is None:
            raise report_damage(place, f"change {number} of {what}", "its checksum is wrong")
        lines.append(line)
    number, meta = state.seq, state.meta
    try:
        # All at once, because thousands of commits may be there.
        decoded = orjson.loads(b"[%b]" % b",".join(lines))
        for (at, _), found in zip(commits, decoded, strict=True):
            number = at
            state.take(
                {
                    (change[0], change[1]): Row(change[2], change[3]) if len(change) > 2 else None
                    for change in found["changes"]
                }
            )
            meta.update(found["meta"])
            for name in found.get("removed", ()):
                del meta[name]
        state.meta_json, state.seq = orjson.dumps(meta), number
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise report_other_form(place, f"change {number} of {what}", _describe(error)) from error


def encode_meta(meta: Meta) -> dict[str, bytes]:
    """Return the data of a world beside its records, each value as JSON.

    Raises:
        TypeError: A value has no JSON form.
    """
    return {name: orjson.dumps(value, option=STRICT) for name, value in meta.items()}


def join_meta(parts: Mapping[str, bytes]) -> bytes:
    """Return the data beside the records as one JSON object."""
    return orjson.dumps({name: orjson.Fragment(body) for name, body in parts.items()})


def check_format(place: str, prefix: str, found: bytes | None) -> None:
    """Check that the keys with the prefix are ours, and in a form that this version reads.

    Raises:
        StoreError: They are not; the text says what to do.
    """
    if found in {None, FORMAT}:
        return
    name, _, version = (found or b"").partition(b" ")
    if name == FORMAT.partition(b" ")[0] and version.isdigit():
        raise StoreError(
            f"{place}: another version of mock_platform keeps worlds under {prefix}* there, in "
            f"form {int(version)}; this one reads form 1. Serve with that version, or name another "
            "prefix with ?prefix=NAME:."
        )
    raise StoreError(
        f"{place}: the key {prefix}format is not from mock_platform. Nothing was changed. Name "
        "another prefix with ?prefix=NAME:, or another number of a database."
    )


def _row(key: str, slot: Row | None) -> Sequence[Any]:
    return (key,) if slot is None else (key, slot.seq, slot.record)


def _seal(value: dict[str, Any]) -> bytes:
    return seal_line(orjson.dumps(value, option=STRICT))[:-_NEWLINE]


def _open(place: str, what: str, body: bytes) -> dict[str, Any]:
    line = open_line(body)
    if line is None:
        raise report_damage(place, what, "its checksum is wrong")
    found: dict[str, Any] = orjson.loads(line)
    return found


def report_damage(place: str, what: str, fault: str) -> StoreDamaged:
    """Return the error of a value that is not what was written."""
    return StoreDamaged(place, f"{what} is damaged: {fault}", REMEDY)


def report_other_form(place: str, what: str, difference: str) -> StoreOutdated:
    """Return the error of a value that is as it was written, by another version."""
    return StoreOutdated(
        f"{place}: {what} is in the form of an older version of mock_platform ({difference}). "
        f"Nothing was changed. {OUTDATED_REMEDY}"
    )


def _describe(fault: Exception) -> str:
    missing = isinstance(fault, KeyError)
    return f"it has no {fault}" if missing else f"a value has another form: {fault}"
