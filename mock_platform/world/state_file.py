"""The snapshot of a durable store: a real TinyDB file, replaced as a whole or not at all.

Anyone can open it with `TinyDB(path)`, and change it while no server has it open. The tables of the
default world stand under their own names, those of another world as `~WORLD/TABLE`; documents are
records exactly as the interface serves them. A document's number is one more than its place in
insertion order. The key of a record is one of its fields; `_worlds` says which for each table, and
names the exceptions. `_archive` holds one document: the version of this format and the number of
the last change contained.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import orjson
from tinydb.storages import Storage

from mock_platform.world.changelog import sync_folder
from mock_platform.world.store import Record, Row, Slot
from mock_platform.world.store_errors import StoreDamaged, StoreError, StoreForeign
from mock_platform.world.stored import StoredWorld

Tables = dict[str, dict[str, Any]]
"""What TinyDB hands to a storage: documents by table and number."""

DEFAULT_WORLD = "default"
FORMAT = 1
_ARCHIVE, _WORLDS = "_archive", "_worlds"
_NUMBER = re.compile(r"0|[1-9][0-9]{0,17}")
_MEND = "Put back a copy of the file, or move it away to start anew."


class AtomicStorage(Storage):
    """A TinyDB storage that leaves the old file whole until the new one is safely on disk."""

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)

    def read(self) -> Tables | None:
        """All tables; `None` if there is no file or nothing in it."""
        try:
            content = self._path.read_bytes()
        except FileNotFoundError:
            return None
        tables: Tables | None = orjson.loads(content) if content.strip() else None
        return tables

    def write(self, data: Tables) -> None:
        """Replace the file.

        Raises:
            OSError: It could not be written; the old file stands untouched.
        """
        content = orjson.dumps(data)
        fresh = self._path.with_name(f"{self._path.name}.tmp")
        try:
            with fresh.open("wb") as file:
                if self._path.exists():
                    os.fchmod(file.fileno(), self._path.stat().st_mode & 0o7777)
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            fresh.replace(self._path)
        except BaseException:
            fresh.unlink(missing_ok=True)
            raise
        sync_folder(self._path.parent)


def encode(worlds: Iterable[StoredWorld], seq: int) -> Tables:
    """The tables of a snapshot that holds everything up to change number `seq`."""
    entries: dict[str, Any] = {}
    tables: Tables = {
        _ARCHIVE: {"1": {"format": FORMAT, "seq": seq}},
        _WORLDS: entries,
    }
    for number, world in enumerate(worlds, 1):
        keys = {}
        for table, rows in world.whole().items():
            tables[_file_name(world.name, table)] = {
                str(row.seq + 1): row.record for row in rows.values()
            }
            keys[table] = _where_keys_stand(rows)
        entries[str(number)] = {
            "name": world.name,
            "seq": world.seq,
            "next_place": world.next_place,
            "keys": keys,
            "meta": world.meta,
        }
    return tables


def decode(path: Path, tables: Any) -> tuple[int, dict[str, StoredWorld]]:
    """The number of the last change contained, and all worlds by name.

    Raises:
        StoreForeign: The file is not one of ours.
        StoreDamaged: It is, but does not say all that it should.
        StoreError: A newer version of this program wrote it.
    """
    if not isinstance(tables, dict) or not isinstance(tables.get(_ARCHIVE), dict):
        raise StoreForeign(
            f"{path} was not written by this program (it has no table {_ARCHIVE!r}), so it is left "
            "as it is. Name a file that does not exist yet, or one that this program wrote."
        )
    try:
        head = tables[_ARCHIVE]["1"]
        if head["format"] != FORMAT:
            raise StoreError(
                f"{path} has format {head['format']}; this version reads format {FORMAT}. Open it "
                "with the version that wrote it."
            )
        worlds = {}
        keys_of: dict[str, tuple[StoredWorld, str, dict[str, Any]]] = {}
        for entry in tables[_WORLDS].values():
            world = StoredWorld(
                entry["name"], entry["seq"], entry["next_place"], orjson.dumps(entry["meta"])
            )
            worlds[world.name] = world
            for table, keys in entry["keys"].items():
                keys_of[_file_name(world.name, table)] = (world, table, keys)
        seq = int(head["seq"])
    except (KeyError, TypeError, ValueError, AttributeError) as fault:
        raise StoreDamaged(
            path, f"table {_ARCHIVE!r} or {_WORLDS!r} is incomplete ({fault!r})", _MEND
        ) from fault
    for name, documents in tables.items():
        if name in {_ARCHIVE, _WORLDS} or not documents:
            continue
        world, table, keys = keys_of.get(name) or _unlisted(path, name, worlds)
        world.rows[table] = _rows(path, name, documents, keys)
        last = max(row.seq for row in world.rows[table].values() if row is not None)
        world.next_place = max(world.next_place, last + 1)
    return seq, worlds


def _file_name(world: str, table: str) -> str:
    """What a table is called in the file."""
    plain = world == DEFAULT_WORLD and table not in {_ARCHIVE, _WORLDS} and table[:1] != "~"
    return table if plain else f"~{world}/{table}"


def _where_keys_stand(rows: dict[str, Row]) -> dict[str, Any]:
    """The field that equals the key in most records, and the keys of all others by document."""
    fields = next(
        (named for key, row in rows.items() if (named := _fields_equal(row.record, key))), []
    )
    options = []
    for name in [*fields, None]:
        exceptions = {
            str(row.seq + 1): key
            for key, row in rows.items()
            if name is None or row.record.get(name) != key
        }
        if not exceptions:
            return {"field": name}
        options.append((len(exceptions), {"field": name, "exceptions": exceptions}))
    return min(options, key=lambda option: option[0])[1]


def _fields_equal(record: Record, key: str) -> list[str]:
    return [name for name, value in record.items() if value == key]


def _unlisted(
    path: Path, name: str, worlds: dict[str, StoredWorld]
) -> tuple[StoredWorld, str, dict[str, Any]]:
    """Whose table this is that someone added by hand: records with an `id`, in a known world."""
    owner, table = name[1:].split("/", 1) if name[:1] == "~" and "/" in name else ("default", name)
    world = worlds.get(owner)
    if world is None:
        raise StoreDamaged(
            path, f"table {name!r} belongs to world {owner!r}, which {_WORLDS!r} does not list",
            "Remove the table, or put back a copy of the file.",
        )  # fmt: skip
    return world, table, {"field": "id"}


def _rows(path: Path, name: str, documents: Any, keys: dict[str, Any]) -> dict[str, Slot]:
    """The rows of one table by key."""
    wanted, exceptions = keys.get("field"), keys.get("exceptions", {})
    found: dict[str, Slot] = {}
    if not isinstance(documents, dict) or not all(_NUMBER.fullmatch(n) for n in documents):
        raise StoreDamaged(path, f"table {name!r} has documents without a number", _MEND)
    for number, record in documents.items():
        key = exceptions.get(number)
        if key is None and isinstance(record, dict):
            key = record.get(wanted)
        if not isinstance(key, str) or key in found or not isinstance(record, dict):
            raise StoreDamaged(
                path,
                f"table {name!r}, document {number} needs a text in field {wanted or 'id'!r} that "
                "no other document has, because that is its key",
                "Mend the document (any TinyDB can), or put back a copy of the file.",
            )
        found[key] = Row(int(number) - 1, record)
    return found
