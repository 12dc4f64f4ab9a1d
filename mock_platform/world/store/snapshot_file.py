"""The snapshot of a durable store: a real TinyDB file, replaced as a whole or not at all.

Anyone can open it with `TinyDB(path)`, and change it while no server has it open. The tables of the
default world have their own names, those of other worlds `~WORLD/TABLE`; documents are records
exactly as the interface serves them. A document's number is one more than its place in insertion
order. The key of a record is one of its fields; `_worlds` contains this field for each table, and
the exceptions. A saved point of a world has its own entry there, with the name WORLD@LABEL.
`_archive` has one document: the version of this format, the number of the last change in it, and a
checksum of the whole file (with its own digits counted as zeros).

A file with a correct checksum contains what was written. A file with a wrong checksum is damaged,
unless its form shows that another program wrote it later: files written here have no space between
two tokens, those written by TinyDB have one after each comma and colon. No damage to single bits or
bytes turns one form into the other.
"""

from __future__ import annotations

import json
import logging
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any
from zlib import crc32

import orjson
from tinydb.storages import Storage

from mock_platform.world.store.archive import POINT
from mock_platform.world.store.errors import StoreDamaged, StoreError, StoreForeign
from mock_platform.world.store.files import StoreLock, create_private, sync_folder
from mock_platform.world.store.interface import Record, Row, Slot
from mock_platform.world.store.stored_worlds import Contents, StoredState

Tables = dict[str, dict[str, Any]]
"""The data that TinyDB passes to a storage: documents by table and number."""

DEFAULT_WORLD = "default"
FORMAT = 1
_ARCHIVE, _WORLDS = "_archive", "_worlds"
_NUMBER = re.compile(r"0|[1-9][0-9]{0,17}")
_MEND = "Put back a copy of the file, or move it away to start from scratch."
_NO_CHECKSUM = "00000000"
_SEAL = re.compile(
    rb'\{"_archive":\{"1":\{"format":[0-9]+,"seq":[0-9]+,"checksum":"([0-9a-f]{8})"\}\}'
)
"""The first bytes of a file that was written here."""
_INDENT = re.compile(r"[\[{]\n( *)")
_HEAD_MEMBERS = frozenset({"format", "seq", "checksum"})

_LOG = logging.getLogger(__name__)


class AtomicStorage(Storage):
    """A TinyDB storage that keeps the old file until the new one is completely on disk.

    With a `guard`, its lock moves from each file to the one that replaces it.
    """

    def __init__(self, path: str | Path, guard: StoreLock | None = None) -> None:
        self._path = Path(path)
        self._guard = guard
        self.sealed = False
        """Whether the file had a correct checksum when it was last read or written."""

    def read(self) -> Tables | None:
        """Return all tables; `None` if the file does not exist or is empty.

        Raises:
            StoreDamaged: The checksum of the file is wrong.
            JSONDecodeError: The file is not JSON.
        """
        try:
            content = self._path.read_bytes()
        except FileNotFoundError:
            return None
        tables: Tables | None = orjson.loads(content) if content.strip() else None
        self.sealed = self._check(content, tables)
        return tables

    def write(self, data: Tables) -> None:
        """Replace the file.

        Raises:
            OSError: It could not be written; the old file is unchanged.
        """
        # The usual way to replace a file as a whole: written beside it, brought to the disk, and
        # then renamed over it, which the system does in one step. The folder is brought to the disk
        # last, since the new name is in it. Whoever opens the file at any moment finds the old
        # content or the new one.
        content = seal(orjson.dumps(data))
        fresh = self._path.with_name(f"{self._path.name}.tmp")
        successor: int | None = None
        try:
            with create_private(fresh) as file:
                # The new file has the permissions of the old one, which the user may have changed.
                if self._path.exists():
                    os.fchmod(file.fileno(), self._path.stat().st_mode & 0o7777)
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
                if self._guard is not None:
                    successor = self._guard.hold(file.fileno())
            fresh.replace(self._path)
        except BaseException:
            if self._guard is not None and successor is not None:
                self._guard.drop(successor)
            fresh.unlink(missing_ok=True)
            raise
        if self._guard is not None and successor is not None:
            self._guard.keep(successor)
        self.sealed = True
        sync_folder(self._path.parent)

    def _check(self, content: bytes, tables: Any) -> bool:
        """Whether the file has a correct checksum; `False` if another program wrote it."""
        found = _SEAL.match(content)
        # Three cases. The checksum is right. Or the file never had one, because an older version or
        # a person wrote it. Or it has one that is wrong: then its form says whether another program
        # has rewritten it on purpose, or bytes of it have changed.
        if found is not None and found[1] == _checksum(content):
            return True
        if not _has_checksum(tables):
            return False
        if not _was_rewritten(content):
            raise StoreDamaged(
                self._path,
                "the checksum of the file is wrong: something in it is not what was written",
                "Put back a copy of the file and of its log from the same time. If you changed it "
                "on purpose with something other than TinyDB, remove 'checksum' from the table "
                f"{_ARCHIVE!r}; or move the file away to start from scratch.",
            )
        _LOG.warning(
            "%s was changed by another program since a server wrote it; it is taken as it is, and "
            "gets a new checksum",
            self._path,
        )
        return False


def seal(content: bytes) -> bytes:
    """Return a snapshot's JSON with its checksum filled in; other JSON unchanged."""
    found = _SEAL.match(content)
    if found is None:
        return content
    return content[: found.start(1)] + _checksum(content) + content[found.end(1) :]


def _checksum(content: bytes) -> bytes:
    """Return the checksum of a snapshot, with zeros in place of the checksum."""
    found = _SEAL.match(content)
    assert found is not None
    # The checksum covers the whole file with itself counted as zeros, so that it can be inside of
    # it.
    before = crc32(_NO_CHECKSUM.encode(), crc32(content[: found.start(1)]))
    return b"%08x" % crc32(memoryview(content)[found.end(1) :], before)


def _has_checksum(tables: Any) -> bool:
    """Whether a file must have a checksum: it is from mock_platform with checksums.

    A name that was changed by damage still counts as present.
    """
    if not _is_ours(tables):
        return False
    archive = tables.get(_ARCHIVE)
    head = archive.get("1") if isinstance(archive, dict) else None
    return not isinstance(head, dict) or head.keys() != _HEAD_MEMBERS - {"checksum"}


def _is_ours(tables: Any) -> bool:
    """Whether a file has one of our own two tables; damage may have changed the other's name."""
    if not isinstance(tables, dict):
        return False
    return isinstance(tables.get(_ARCHIVE), dict) or _WORLDS in tables


def _was_rewritten(content: bytes) -> bool:
    """Whether this is JSON in the form of TinyDB and common tools, not of mock_platform."""
    try:
        # The text is written again in the forms that such programs use. If one of them results in
        # exactly these bytes, a program wrote it; damage to single bytes would almost never do
        # that.
        text = content.decode().rstrip("\n")
        value = json.loads(text)
    except ValueError:
        return False
    indented = _INDENT.match(text)
    indent = None if indented is None else len(indented[1])
    return any(
        text == json.dumps(value, indent=indent, ensure_ascii=ascii_only)
        for ascii_only in (True, False)
    )


def encode(contents: Contents) -> Tables:
    """Return the tables of a snapshot with these contents."""
    entries: dict[str, Any] = {}
    tables: Tables = {
        _ARCHIVE: {"1": {"format": FORMAT, "seq": contents.seq, "checksum": _NO_CHECKSUM}},
        _WORLDS: entries,
    }
    for number, (name, state) in enumerate(contents.states(), 1):
        keys = {}
        for table, rows in state.list_rows().items():
            tables[_file_name(name, table)] = {
                str(row.seq + 1): row.record for row in rows.values()
            }
            keys[table] = _where_keys_stand(rows)
        entries[str(number)] = {
            "name": name,
            "seq": state.seq,
            "next_place": state.next_place,
            "keys": keys,
            "meta": state.meta,
        }
    return tables


def decode(path: Path, tables: Any) -> Contents:
    """Return the contents of a snapshot.

    Raises:
        StoreForeign: The file is not from mock_platform.
        StoreDamaged: The file is from mock_platform, but something is missing.
        StoreError: A newer version of mock_platform wrote it.
    """
    if not _is_ours(tables):
        raise StoreForeign(
            f"{path} was not written by this program (it has no table {_ARCHIVE!r}), so it is not "
            "changed. Name a file that does not exist yet, or one that mock_platform wrote."
        )
    try:
        head = tables[_ARCHIVE]["1"]
        if head["format"] != FORMAT:
            raise StoreError(
                f"{path} has format {head['format']}; this version reads format {FORMAT}. Open it "
                "with the version that wrote it."
            )
        states = {}
        keys_of: dict[str, tuple[StoredState, str, dict[str, Any]]] = {}
        for entry in tables[_WORLDS].values():
            name = entry["name"]
            states[name] = StoredState(
                entry["seq"], entry["next_place"], orjson.dumps(entry["meta"])
            )
            for table, keys in entry["keys"].items():
                keys_of[_file_name(name, table)] = (states[name], table, keys)
        seq = int(head["seq"])
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise StoreDamaged(
            path, f"table {_ARCHIVE!r} or {_WORLDS!r} is incomplete ({error!r})", _MEND
        ) from error
    for name, documents in tables.items():
        if name in {_ARCHIVE, _WORLDS} or not documents:
            continue
        state, table, keys = keys_of.get(name) or _find_unlisted(path, name, states)
        state.rows[table] = _rows(path, name, documents, keys)
        last = max(row.seq for row in state.rows[table].values() if row is not None)
        state.next_place = max(state.next_place, last + 1)
    return _contents(seq, states)


def _contents(seq: int, states: Mapping[str, StoredState]) -> Contents:
    """Return worlds with their points. A point without its world was left by an older version."""
    contents = Contents(seq)
    for name in sorted(states, key=lambda name: POINT in name):  # worlds before their points
        with suppress(LookupError):
            contents.put(name, states[name])
    return contents


def _file_name(world: str, table: str) -> str:
    """Return the name of a table in the file."""
    plain = world == DEFAULT_WORLD and table not in {_ARCHIVE, _WORLDS} and table[:1] != "~"
    return table if plain else f"~{world}/{table}"


def _where_keys_stand(rows: dict[str, Row]) -> dict[str, Any]:
    """Return the field that is usually the key, and the keys of all other records."""
    # TinyDB numbers its documents and knows no keys. In nearly all tables the key of a record is
    # one of its fields, so only the name of that field is stored, with the few keys that are
    # elsewhere.
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


def _find_unlisted(
    path: Path, name: str, states: Mapping[str, StoredState]
) -> tuple[StoredState, str, dict[str, Any]]:
    """Return the world and name of a table that was added by hand; its records have an `id`."""
    owner, table = name[1:].split("/", 1) if name[:1] == "~" and "/" in name else ("default", name)
    state = states.get(owner)
    if state is None:
        raise StoreDamaged(
            path, f"table {name!r} belongs to world {owner!r}, which {_WORLDS!r} does not list",
            "Remove the table, or put back a copy of the file.",
        )  # fmt: skip
    return state, table, {"field": "id"}


def _rows(path: Path, name: str, documents: Any, keys: dict[str, Any]) -> dict[str, Slot]:
    """Return the rows of one table by key."""
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
                "Fix the document (any TinyDB can), or put back a copy of the file.",
            )
        found[key] = Row(int(number) - 1, record)
    return found
