"""Reads and caches the folders that a world begins with: one JSON file per table.

Every complaint says file, line, column, record and field, what is wrong and what is allowed. Later
folders override earlier ones, record by record.

`{"_make": 500, …}` in place of a record makes 500 records with these fields when all files are
read; their moments count from the time of loading.

A record with `"_as": "recorded"` keeps keys that its table does not know; each causes a warning.

A field that holds a moment may count from now: `now`, `now-2h`, `now+30m` (units s, m, h, d), and
so may moments in the payload of an event. Now is when a world starts or is reset, on its own clock,
so with a frozen clock they are the same every time.
"""

from __future__ import annotations

import json
import logging
import re
import threading
from codecs import BOM_UTF8
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from msgspec import Struct

from mock_platform.core.documents.source import (
    Source,
    count_line_and_column,
    find_repeated_keys,
    hint_at_json,
)
from mock_platform.core.errors import BadFixtures, BadRecord, Complaint, did_you_mean
from mock_platform.core.jsonio import BadJson, loads
from mock_platform.core.tables.table import (
    Reference,
    Table,
    Tables,
    find_missing_references,
    find_recorded_keys,
)
from mock_platform.world.clock import machine_now, parse_relative
from mock_platform.world.ids import check_seed
from mock_platform.world.store.interface import Record
from mock_platform.world.store.memory import Base, Relative

_LOG = logging.getLogger(__name__)
MAKE, _SEED = "_make", "seed"
"""In place of a record: how many are made with its other fields, and from which seed."""
_MAX_FILE_BYTES = 256 * 1024 * 1024
_MOST_COMPARED, _MOST_KEYS = 2000, 8
"""Up to how many keys a missing one is compared with, and how many a complaint has."""


class _Source(Struct):
    """The place of a record, for complaints, and the record as it was written."""

    document: Source
    index: int
    record: Any


class _Loader:
    """Collects records, complaints and warnings from folders of fixture files."""

    def __init__(self, tables: Tables, now: datetime) -> None:
        self.tables = tables
        self.now = now
        self.relative: dict[tuple[str, str], list[Relative]] = {}
        self.records: dict[str, dict[str, Record]] = {name: {} for name in tables}
        self.sources: dict[tuple[str, str], _Source] = {}
        self.wanted: list[tuple[Table, _Source, Record]] = []
        """Objects in place of which records are made."""
        self.complaints: list[Complaint] = []
        self.warnings: list[Complaint] = []
        self.are_all_read = True
        """Whether no file was left out, so that a record that is not there is missing."""

    def read_shipped(self, folder: Path) -> None:
        """Take the files of the package: written out in full, and checked by a test, no start."""
        for path in sorted(folder.glob("*.json")):
            table = self.tables[path.stem]
            own = self.records[table.name]
            for record in _read_file(path, self.tables, table).data:
                moments, counted = self._count_moments(table, record)
                loaded = table.trust(record | counted)
                own[loaded[table.key]] = loaded
                if moments:
                    self.relative[table.name, loaded[table.key]] = moments

    def read_folder(self, folder: Path) -> None:
        if not folder.is_dir():
            missing = "" if folder.exists() else ": it does not exist"
            self._leave_out(folder, f"is no folder of fixture files{missing}")
            return
        for path in sorted(folder.iterdir()):
            if path.suffix == ".json" or is_yaml_of_records(path, self.tables):
                self.read_file(path, folder)

    def read_file(self, path: Path, folder: Path) -> None:
        """Read a file of a folder; a link must not lead out of it."""
        if path.is_symlink() and not path.resolve().is_relative_to(folder.resolve()):
            self._leave_out(path, "leads out of its folder")
            return
        if path.suffix != ".json":
            text = "is no fixture file: those are JSON, an array of records in TABLE.json"
            example = f", here {path.stem}.json" if path.stem in self.tables else ""
            self._leave_out(path, f"{text}{example}")
            return
        table = self.tables.get(path.stem)
        try:
            document = _read_file(path, self.tables, table)
        except BadJson as fault:
            self._leave_out(path, str(fault), fault.line, fault.column)
            return
        assert table is not None, "without a table there is a fault"
        for key, place in find_repeated_keys(document.text or ""):
            repeated = f"the key {key!r} is in one object twice, and only the last would count"
            self.complaints.append(Complaint(path, *place, "", repeated))
        seen: set[str] = set()
        for index, record in enumerate(document.data):
            self._read_record(table, _Source(document, index, record), record, seen)

    def _leave_out(self, path: Path, text: str, line: int = 1, column: int = 1) -> None:
        self.are_all_read = False
        self.complaints.append(Complaint(path, line, column, "", text))

    def read_dataset(self, dataset: Mapping[str, Sequence[Record]]) -> None:
        """Take records that were made, by table, in stored form; a test checks them, no start."""
        for name, records in dataset.items():
            table, own = self.tables[name], self.records[name]
            for record in records:
                key = record[table.key]
                if key in own:
                    self.relative.pop((name, key), None)
                own[key] = table.fill(record)

    def _read_record(self, table: Table, source: _Source, record: Any, seen: set[str]) -> None:
        if not isinstance(record, dict):
            self._complain(source, "", f"a record is an object, got {json.dumps(record)[:60]}")
            return
        if MAKE in record:
            self.wanted.append((table, source, record))
            return
        moments, counted = self._count_moments(table, record)
        loaded, faults = table.load(record | counted)
        for field, text in faults:
            self._complain(source, field, text, loaded)
        for field in () if faults else find_recorded_keys(table, loaded):
            text = f"warning: {table.name} does not know {field!r}, which is kept as recorded"
            self.warnings.append(_make_complaint(source, field, text))
        key = table.key_of(loaded)
        if key is None:
            return
        if key in seen:
            self._complain(source, table.key, f"{table.key} {key!r} occurs twice in this file")
            return
        seen.add(key)
        self.records[table.name][key] = loaded
        self.relative.pop((table.name, key), None)
        if moments:
            self.relative[table.name, key] = moments
        self.sources[table.name, key] = source

    def _count_moments(self, table: Table, record: Record) -> tuple[list[Relative], Record]:
        """Return what counts from now in a record, and the fields with that counted."""
        # A moment such as `now-2h` is no moment yet, and would fail the checks. So it is counted
        # from the time of loading first; each world later counts it again from its own clock.
        moments = _find_relative_moments(table, record)
        return moments, {each.field: each.form(self.now + each.since) for each in moments}

    def make_wanted(self) -> None:
        """Make the records of `_make`, those that others may refer to first."""
        from mock_platform.core.tables.known import KnownRecords  # few folders need these
        from mock_platform.core.tables.making import Maker, list_by_depth

        def get(name: str, key: str) -> Record | None:
            return self.records[name].get(key)

        order = list_by_depth(self.tables)
        for table, source, record in sorted(
            self.wanted, key=lambda each: order.index(each[0].name)
        ):
            fields = {name: value for name, value in record.items() if name not in {MAKE, _SEED}}
            try:
                seed = check_seed(record.get(_SEED))
                seed = source.index if seed is None else seed
                known = KnownRecords(
                    self.tables, get, lambda name: self.records[name].values(), self.now, seed
                )
                made = Maker(known).make(table.name, record[MAKE], fields)
            except (TypeError, ValueError) as fault:
                found = fault.faults if isinstance(fault, BadRecord) else []
                for each in found:
                    self._complain(source, MAKE if each.field == "count" else each.field, each.text)
                if not found:
                    self._complain(source, _SEED, str(fault))
                self.are_all_read = False
                continue
            for name, records in made.records.items():
                self.records[name].update(records)

    def check_references(self) -> None:
        for (name, key), source in self.sources.items():
            record = self.records[name][key]
            table = self.tables[name]
            for field, text in find_missing_references(table, record, self._exists):
                reference = next(each for each in table.references if each.field == field)
                hint = self._hint_at_key(reference, record)
                self._complain(source, field, f"{text}.{hint}", record)

    def _hint_at_key(self, reference: Reference, record: Record) -> str:
        """Return the keys that a missing one may be; of many records, none."""
        keys = [key for table in reference.tables for key in self.records.get(table, ())]
        if not 0 < len(keys) <= _MOST_COMPARED:
            return ""
        missing = next(
            key
            for key in reference.find_targets(record)
            if not any(self._exists(table, key) for table in reference.tables)
        )
        more = f", … ({len(keys)} in all)" if len(keys) > _MOST_KEYS else ""
        return f"{did_you_mean(missing, keys)} There are {', '.join(keys[:_MOST_KEYS])}{more}"

    def _exists(self, table: str, key: str) -> bool:
        return key in self.records.get(table, ())

    def _complain(
        self, source: _Source, field: str, text: str, stored: Record | None = None
    ) -> None:
        self.complaints.append(_make_complaint(source, field, text, stored))


def _make_complaint(
    source: _Source, field: str, text: str, stored: Record | None = None
) -> Complaint:
    written = _find_written_name(source.record, stored or {}, field)
    if text.startswith(f"{field} "):
        text = written + text.removeprefix(field)
    field = written
    line, column = source.document.locate((source.index, *_split_steps(field)))
    where = f"record {source.index}" + (f", field {field}" if field else "")
    return Complaint(source.document.file, line, column, "", f"{where}: {text}")


def load(
    folders: Iterable[Path],
    tables: Iterable[Table],
    now: datetime | None = None,
    dataset: Mapping[str, Sequence[Record]] | None = None,
    shipped: Path | None = None,
) -> Base:
    """Read the fixtures of these folders, the last one on top.

    Below them are those of the folder `shipped`, which are not checked, and then the records of a
    `dataset`, by table.

    Moments that count from now are checked and stored as of `now` (the machine's, if not given);
    each world computes them again from its own clock.

    Raises:
        BadFixtures: Files have faults; it holds all complaints.
    """
    folders = list(folders)
    loader = _read_folders(folders, tables, now, dataset, shipped)
    if loader.complaints:
        raise BadFixtures(loader.complaints)
    for complaint in filter(None, map(find_nothing, folders)):
        _LOG.warning("%s", complaint)
    for warning in loader.warnings:
        _LOG.warning("%s", warning)
    return Base(loader.records, loader.relative)


def find_nothing(folder: Path) -> Complaint | None:
    """Return the complaint about a folder without fixture files; `None` if it has some."""
    if not folder.is_dir() or any(path.suffix == ".json" for path in folder.iterdir()):
        return None
    within = sorted({str(path.parent.name) for path in folder.glob("*/*.json")})
    hint = f"; those in {', '.join(within)} are not read" if within else ""
    text = f"has no fixture files: those are TABLE.json, in the folder itself{hint}"
    return Complaint(folder, 1, 1, "", text)


def check(
    folders: Iterable[Path],
    tables: Iterable[Table],
    warn: Callable[[Complaint], None] = lambda _: None,
    shipped: Path | None = None,
) -> list[Complaint]:
    """Return all faults of the fixtures in these folders or single files.

    Those of the folder `shipped`, which lie below them, are not checked. `warn` is called with what
    is allowed, but may not be what the author meant.
    """
    loader = _read_folders(folders, tables, shipped=shipped)
    for warning in loader.warnings:
        warn(warning)
    return loader.complaints


def _find_relative_moments(table: Table, record: Record) -> list[Relative]:
    found = []
    for name, field in table.instants.items():
        value = record.get(name)
        since = parse_relative(value) if isinstance(value, str) else None
        if since is not None:
            found.append(Relative(name, since, field.form))
    for name, timed in table.timed_fields.items():
        write = timed.writer(record.get(name))
        if write is not None:
            found.append(Relative(name, timedelta(), write))
    return found


def _read_folders(
    folders: Iterable[Path],
    tables: Iterable[Table],
    now: datetime | None = None,
    dataset: Mapping[str, Sequence[Record]] | None = None,
    shipped: Path | None = None,
) -> _Loader:
    loader = _Loader({table.name: table for table in tables}, now or machine_now())
    if shipped is not None:
        loader.read_shipped(shipped)
    if dataset is not None:
        loader.read_dataset(dataset)
    for folder in folders:
        if folder.is_file():
            loader.read_file(folder, folder.parent)
        else:
            loader.read_folder(folder)
    if loader.wanted and loader.are_all_read:
        loader.make_wanted()
    if loader.are_all_read:
        loader.check_references()
    return loader


def _read_file(path: Path, tables: Tables, table: Table | None = None) -> Source:
    """Return a file with its records.

    Raises:
        BadJson: The file cannot be read, is too large, or is not the JSON array of a table.
    """
    try:
        if path.stat().st_size > _MAX_FILE_BYTES:
            raise BadJson(f"larger than {_MAX_FILE_BYTES:,} bytes")
        content = path.read_bytes().removeprefix(BOM_UTF8)
    except OSError as fault:
        raise BadJson(f"cannot be read: {fault.strerror or fault}") from fault
    try:
        text = content.decode()
        records = loads(content)
    except UnicodeDecodeError as fault:
        line, column = count_line_and_column(content[: fault.start].decode(), fault.start)
        raise BadJson(f"not UTF-8: {fault.reason}; save it as UTF-8", line, column) from fault
    except BadJson as fault:
        raise BadJson(f"{fault}{hint_at_json(text, fault)}", fault.line, fault.column) from fault
    if isinstance(records, dict) and (fault_text := _explain_object(records, tables, path.stem)):
        raise BadJson(fault_text)
    if table is None:
        hint = did_you_mean(path.stem, tables).replace("'?", ".json'?")
        raise BadJson(f"no table is called {path.stem!r}.{hint} Tables: {', '.join(tables)}")
    if not isinstance(records, list):
        raise BadJson(f"a fixture file is an array of records, got {json.dumps(records)[:60]}")
    return Source(path, records, text)


def _explain_object(found: Mapping[str, Any], tables: Tables, stem: str) -> str:
    """Return what is wrong with a file that is an object, if it can be of a table."""
    lists = [name for name, value in found.items() if isinstance(value, list)]
    if lists and set(found) <= set(tables) and (len(found) > 1 or stem not in tables):
        files = ", ".join(f"{name}.json" for name in found)
        return f"a fixture file has one table: write the array of each into a file: {files}"
    if stem not in tables:
        return ""
    text = "a fixture file is an array of records"
    if len(lists) == 1:
        return f"{text}, got an object; write the array of its key {lists[0]!r} alone"
    if found and all(isinstance(value, dict) for value in found.values()):
        return f"{text}, got an object of records; write them in an array, each with its key in it"
    return f"{text}, got an object; write [ before it and ] after it if it is one record"


def is_yaml_of_records(path: Path, tables: Collection[str]) -> bool:
    """Return whether a file seems to be a table in YAML, which no fixture file is."""
    if path.suffix not in {".yaml", ".yml"} or path.stem not in tables or not path.is_file():
        return False
    with path.open("rb") as opened:
        return re.match(rb"\s*(?:(?:#[^\n]*|---)\s*)*[-\[]", opened.read(1024)) is not None


def _find_written_name(record: Any, stored: Record, field: str) -> str:
    """Return the name under which a field was written: `author_id` for the stored `_user_id`."""
    if not isinstance(record, dict) or field in record or field not in stored:
        return field
    same = [name for name, value in record.items() if name not in stored and value == stored[field]]
    return same[0] if len(same) == 1 else field


def _split_steps(field: str) -> list[int | str]:
    """Split a place such as `components[0].media_key` into steps."""
    parts = field.replace("]", "").replace("[", ".").split(".")
    return [int(part) if part.isdecimal() else part for part in parts if part]


# Caches fixture folders that override a server's own, until one of their files changes.

_MAX_CACHED_SETS = 32

Signature = tuple[tuple[str, int, int], ...]


class Overlays:
    """Fixtures by the folders that they come from; those used last are kept.

    A test suite uses the same few folders many times, and checking them costs more than all the
    rest of a test's world.
    """

    def __init__(self, load: Callable[[Sequence[Path]], Base]) -> None:
        self._load = load
        self._lock = threading.Lock()
        self._kept: dict[Signature, Base] = {}

    def load(self, folders: Sequence[Path]) -> Base:
        """Return the fixtures of these folders, the last one on top.

        Raises:
            BadFixtures: Their files have faults.
        """
        # Names, times and sizes of the files are the key: a file that was changed makes another
        # one. The last use moves an entry to the end, so the first one is the one that was not used
        # for longest.
        signature = tuple(part for folder in folders for part in _list_file_versions(folder))
        with self._lock:
            base = self._kept.pop(signature, None)
            if base is None:
                base = self._load(folders)
            self._kept[signature] = base  # now the newest
            if len(self._kept) > _MAX_CACHED_SETS:
                del self._kept[next(iter(self._kept))]
            return base


def _list_file_versions(folder: Path) -> Iterator[tuple[str, int, int]]:
    yield str(folder.resolve()), 0, 0
    if folder.is_dir():
        for path in sorted(folder.glob("*.json")):
            status = path.stat()
            yield path.name, status.st_mtime_ns, status.st_size
