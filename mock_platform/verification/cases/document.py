"""The file of a case: its three members, and how they are read without trusting them.

`case.json` has versions, seed, clock, settings and rules, `state.json` the records at the start,
`journal.har` the requests. What is a secret has a placeholder, `[redacted-1]`.
"""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar, get_type_hints

import msgspec
from msgspec import Struct, field

from mock_platform.api.served import KINDS
from mock_platform.core.errors import BadCase
from mock_platform.core.installed import folder
from mock_platform.core.jsonio import BadJson, dumps, loads
from mock_platform.core.tables.checking import find_metadata_faults
from mock_platform.core.tables.table import Table, Tables
from mock_platform.settings import Settings
from mock_platform.verification.har.exchange import BadHar, HarExchange
from mock_platform.verification.har.reader import read_har
from mock_platform.version import __version__
from mock_platform.world.clock import machine_now, parse_instant
from mock_platform.world.ids import check_seed
from mock_platform.world.names import BadWorldName, check_name
from mock_platform.world.store.interface import Row, SavedWorld, Snapshot
from mock_platform.world.store.memory import Base
from mock_platform.world.transitions import Pace

FORMAT = 1
"""The version of the format; a larger number is of a later package."""
CASE, STATE, JOURNAL = "case.json", "state.json", "journal.har"
MEMBERS = (CASE, STATE, JOURNAL)
MAX_BYTES = 128 * 1024 * 1024
"""Bytes of all members together, unpacked."""
_MAX_NESTING = 100
_MAX_PLACE = 2**53

SERVER_SETTINGS = frozenset({
    "host", "port", "fixtures", "default_fixtures", "dataset", "scenarios", "store", "durability",
    "lease", "advertise", "rest_after", "prices", "control_token", "public_hosts", "max_worlds",
    "journal_entries", "journal_bytes", "journal_total_bytes", "delivery", "connection",
})  # fmt: skip
"""Settings of one machine, which a case leaves out: files, addresses, sizes, the control token."""
CASE_SETTINGS = tuple(f.name for f in fields(Settings) if f.name not in SERVER_SETTINGS)

JsonObject = dict[str, Any]


class Versions(Struct, frozen=True):
    """By what a case was written."""

    mock_platform: str
    python: str


class CaseClock(Struct, frozen=True):
    """The world's clock: at the start, and when the case was saved."""

    start: str
    now: str
    frozen: bool


class CaseRule(Struct, frozen=True):
    """A scenario that was active when the case was saved, or that is from the start of each world.

    It has what is needed to activate it anywhere.
    """

    name: str
    document: JsonObject
    parameters: JsonObject = field(default_factory=dict)
    state: str | None = None
    counts: list[list[int]] = field(default_factory=list)
    """For each rule how often it matched, acted, and lost to a refusal."""
    at_start: bool = False
    """Whether the server's start activated it."""
    active: bool = True


class CaseStep(Struct, frozen=True):
    """What changed the world beside requests, after the request of a number."""

    turn: int
    drawn: int
    changes: list[tuple[str, str, JsonObject | None]] = field(default_factory=list)
    """Table, key, and the record; `None` if it was removed."""
    paces: dict[str, Pace] = field(default_factory=dict)
    scenarios: dict[str, dict[str, JsonObject]] | None = None


class CaseDocument(Struct, frozen=True):
    """What `case.json` has: all but records and requests."""

    format: int
    versions: Versions
    world: str
    saved_at: str
    seed: int
    clock: CaseClock
    settings: JsonObject
    rules: list[CaseRule]
    steps: list[CaseStep]
    deliveries: list[JsonObject]
    places: dict[str, list[tuple[int, int]]]
    """By table, the places of its records in the order of all: runs, as first place and length."""
    next_place: int
    published: dict[str, str]
    """Where the package has what a placeholder hides: `apps/11827/consumer_secret`."""
    requests: int
    why_not: str | None = None
    """Why the requests cannot be replayed; the state is then that of the end."""


class SavedCase:
    """A case that was read and checked. Its requests are read from the file when asked for."""

    def __init__(self, path: Path, document: CaseDocument, state: JsonObject, hidden: Hidden):
        self.path = path
        self.document = document
        self.state = state
        self.hidden = hidden

    @contextmanager
    def open_settings(self) -> Iterator[Settings]:
        """Yield the settings with which its world answers alike.

        The scenarios of the start are in files, which are there within the block alone.
        """
        with TemporaryDirectory() as made:
            files = []
            for number, rule in enumerate(each for each in self.document.rules if each.at_start):
                file = Path(made) / f"{number}.json"
                file.write_bytes(dumps(self.hidden.show(rule.document)))
                files.append(str(file))
            own = _convert(self.path, self.document)
            yield replace(own, seed=self.document.seed, scenarios=tuple(files))

    def make_start(self, base: Base) -> SavedWorld:
        """Return its start; a clock that runs goes on from the moment that it had."""
        meta = {key: self.state[key] for key in ("ids", "clock", "paces")}
        if meta["clock"].get("frozen_at") is None:
            offset = parse_instant(self.document.clock.start) - machine_now()
            meta["clock"] = {"offset_seconds": offset.total_seconds(), "frozen_at": None}
        meta |= {"seed": self.document.seed, "drawn_as": self.document.world}
        return SavedWorld(Snapshot({}, base.next_seq), meta)

    @property
    def is_of_another_version(self) -> bool:
        """Whether another version of the package wrote it, which may answer otherwise."""
        return self.document.versions.mock_platform != __version__

    def read_exchanges(self) -> Iterator[HarExchange]:
        """Yield the requests with the recorded answers, in their order.

        Raises:
            BadCase: The journal in the file is damaged or hostile.
        """
        try:
            yield from read_har(self.path)
        except BadHar as fault:
            text = f"line {fault.place.line}: {fault.fault} (byte {fault.place.offset:,})"
            raise BadCase(f"{self.path}: {JOURNAL}: {text}") from fault

    def make_base(self, tables: Tables) -> Base:
        """Return its records as fixtures, each in its own place.

        Tables that this version does not have are left out.

        Raises:
            BadCase: A table or a record has another form.
        """
        base = Base()
        base.next_seq = self.document.next_place
        for name, rows in self.state["tables"].items():
            at = f"{self.path}: {STATE}: tables.{name:.60}"
            # Nearly no table has a placeholder, and to look for one in its text is quick.
            shown = self.hidden.show(rows) if _BEGINNING in dumps(rows) else rows
            if name.startswith("_") and isinstance(shown, dict):
                found = list(shown.items())
            elif name in tables and isinstance(shown, list):
                found = [(_find_key(at, tables[name], row), row) for row in shown]
            elif not self.is_of_another_version:
                raise BadCase(f"{at}: is no table, or not a list of records.")
            else:
                continue
            base.rows[name] = self._place(at, name, found)
        return base

    def _place(self, at: str, table: str, found: list[tuple[str, Any]]) -> dict[str, Row]:
        """Return records by their keys, each with its place in the order of all."""
        runs = self.document.places.get(table, [])
        # The places are written as runs: where the first of them is, and how many follow it. They
        # decide the order of lists and what their cursors mean, so a file whose places do not fit
        # is refused; a replay would answer with other pages.
        if any(length < 1 for _, length in runs) or sum(n for _, n in runs) != len(found):
            raise BadCase(f"{at}: {CASE} has places for another number than {len(found)} records.")
        places = (first + step for first, length in runs for step in range(length))
        rows: dict[str, Row] = {}
        for (key, record), place in zip(found, places, strict=True):
            if not isinstance(record, dict) or key in rows:
                raise BadCase(f"{at}: {key!r:.60} is no object, or there twice.")
            if not 0 <= place < self.document.next_place:
                raise BadCase(f"{at}: {place} is no place before {self.document.next_place}.")
            rows[key] = Row(place, record)
        return rows


_BEGINNING = b"[redacted-"
_PLACEHOLDER = re.compile(r"\[redacted-([0-9]{1,9})\]", re.ASCII)


class Hidden:
    """What is behind the placeholders, as far as it is known; the rest gets made-up values.

    A published credential is known, because every installation has it. Others are learned from the
    answers of a replay, which issues the same tokens again.
    """

    def __init__(self, published: Mapping[str, str]) -> None:
        self._known = {
            name: found for name, at in published.items() if (found := find_published(at))
        }

    def show(self, value: Any, spell: Callable[[str], str] = str) -> Any:
        """Return JSON or a text with values, spelled so, in place of all placeholders."""
        if isinstance(value, str):
            return _PLACEHOLDER.sub(lambda found: spell(self.find(found[0])), value)
        if isinstance(value, dict):
            return {self.show(key): self.show(each) for key, each in value.items()}
        return [self.show(each) for each in value] if isinstance(value, list | tuple) else value

    def find(self, placeholder: str) -> str:
        """Return the value of a placeholder; a made-up one if it is not known."""
        number = placeholder.strip("[]").rpartition("-")[2]
        return self._known.setdefault(placeholder, f"replaced{number}".ljust(40, "0"))

    def knows(self, placeholder: str) -> bool:
        """Whether a placeholder has a value already."""
        return placeholder in self._known

    def learn(self, placeholder: str, value: str) -> None:
        """Keep the value of a placeholder."""
        self._known[placeholder] = value


def find_published(place: str) -> str | None:
    """Return the value at a place of the package's fixtures, such as `tokens/0/secret`."""
    table = place.partition("/")[0]
    return next((value for at, value in list_published([table]) if at == place), None)


def list_published(tables: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield the texts in the package's fixtures of these tables, each after its place."""
    for table in tables:
        file = folder("fixtures") / f"{table}.json"
        if re.fullmatch("[a-z_]+", table, re.ASCII) is not None and file.exists():
            yield from _list_texts(table, loads(file.read_bytes()))


def _list_texts(place: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, dict | list):
        for name, each in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _list_texts(f"{place}/{name}", each)


def read_case(path: Path | str) -> SavedCase:
    """Return the case in a file, checked as far as it can be without its requests.

    Raises:
        BadCase: It is no case, is damaged or hostile, or of a later package.
        OSError: The file cannot be read.
    """
    path = Path(path)
    members = _read_members(path)
    _check_format(path, members[CASE])
    document = _decode(path, CASE, members[CASE], CaseDocument)
    state = _decode(path, STATE, members[STATE], _StateDocument)
    _check(path, document, state)
    hidden = Hidden(document.published)
    return SavedCase(path, document, msgspec.structs.asdict(state), hidden)


class _StateDocument(Struct, frozen=True):
    world: str
    ids: int
    clock: JsonObject
    paces: JsonObject
    tables: dict[str, Any]


def _read_members(path: Path) -> dict[str, bytes]:
    """Return the members of the archive that are JSON; the size of the journal is checked too."""
    try:
        with zipfile.ZipFile(path) as packed:
            listed = packed.infolist()
            _check_members(path, listed)
            found = {}
            left = MAX_BYTES
            for name in MEMBERS:
                found[name] = _unpack(path, packed, name, left)
                left -= len(found[name])
            return found
    except zipfile.BadZipFile as fault:
        text = f"no zip archive, or a damaged one: {fault}. `mock-platform case FILE` writes one"
        raise BadCase(f"{path}: {text}.") from fault


def _check_members(path: Path, listed: list[zipfile.ZipInfo]) -> None:
    names = [each.filename for each in listed]
    for name in names:
        if name not in MEMBERS or names.count(name) > 1:
            what = "is in it twice" if name in MEMBERS else "is no member of a case"
            raise BadCase(f"{path}: {name!r:.100} {what}; members: {', '.join(MEMBERS)}.")
    for name in MEMBERS:
        if name not in names:
            raise BadCase(f"{path}: {name} is missing, so this is no case.")
    for each in listed:
        if each.flag_bits & 1:
            raise BadCase(f"{path}: {each.filename} is encrypted; a case is not.")
        if each.compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
            raise BadCase(f"{path}: {each.filename} is packed in a way that cases do not use.")
    if sum(each.file_size for each in listed) > MAX_BYTES:
        raise _make_too_large(path)


def _unpack(path: Path, packed: zipfile.ZipFile, name: str, left: int) -> bytes:
    """Return a member, whatever size the archive claims that it has."""
    try:
        with packed.open(name) as member:
            # One byte more than is allowed: the sizes that the archive states may be lies.
            data = member.read(left + 1)
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError) as fault:
        raise BadCase(f"{path}: {name} is damaged: {fault}.") from fault
    if len(data) > left:
        raise _make_too_large(path)
    return data


def _make_too_large(path: Path) -> BadCase:
    return BadCase(f"{path}: unpacks to more than {MAX_BYTES // 1024**2} MB, the most of a case.")


def _check_format(path: Path, data: bytes) -> None:
    try:
        found = loads(data, max_nesting=_MAX_NESTING)
    except BadJson as fault:
        raise BadCase(f"{path}: {CASE}: {fault}.") from fault
    number = found.get("format") if isinstance(found, dict) else None
    if type(number) is int and number > FORMAT:
        by = found.get("versions", {})
        raise BadCase(
            f"{path}: {CASE}: format {number} is of a later mock_platform ({by!r:.100}); this one "
            f"reads {FORMAT}. Install that version to open it."
        )
    if number != FORMAT or isinstance(number, bool):
        raise BadCase(f"{path}: {CASE}: format must be {FORMAT}, not {number!r:.60}.")


T = TypeVar("T")


def _decode(path: Path, name: str, data: bytes, kind: type[T]) -> T:
    try:
        loads(data, max_nesting=_MAX_NESTING)
        return msgspec.json.decode(data, type=kind)
    except (BadJson, msgspec.MsgspecError, RecursionError) as fault:
        raise BadCase(f"{path}: {name}: {fault}.") from fault


def _check(path: Path, document: CaseDocument, state: _StateDocument) -> None:
    """Refuse values that no world can have."""

    def refuse(at: str, check: Callable[[], object]) -> None:
        try:
            check()
        except (BadWorldName, TypeError, ValueError, OverflowError) as fault:
            raise BadCase(f"{path}: {at}: {fault}.") from fault

    refuse(f"{CASE}: world", lambda: check_name(document.world))
    refuse(f"{CASE}: seed", lambda: check_seed(document.seed))
    refuse(f"{CASE}: clock.now", lambda: parse_instant(document.clock.now))
    refuse(f"{CASE}: clock.start", lambda: parse_instant(document.clock.start))
    refuse(f"{CASE}: saved_at", lambda: parse_instant(document.saved_at))
    whole = msgspec.structs.asdict(state)
    for fault in find_metadata_faults(whole, {each.name: each for each in KINDS}):
        raise BadCase(f"{path}: {STATE}: {fault}.")
    refuse(f"{CASE}: next_place", lambda: _check_count(document.next_place))
    for number, step in enumerate(document.steps):
        refuse(f"{CASE}: steps[{number}].drawn", partial(_check_count, step.drawn))
    for number, rule in enumerate(document.rules):
        if _names_file(rule.document):
            text = "its collection names a file; a case has the records themselves"
            raise BadCase(f"{path}: {CASE}: rules[{number}]: {text}.")
    _convert(path, document)


def _names_file(value: Any) -> bool:
    """Whether a scenario would read a file of this machine."""
    if isinstance(value, list):
        return any(map(_names_file, value))
    if not isinstance(value, dict):
        return False
    found = value.get("collection")
    is_file = isinstance(found, str) or (isinstance(found, dict) and "file" in found)
    return is_file or any(map(_names_file, value.values()))


def _check_count(number: int) -> None:
    if not 0 <= number < _MAX_PLACE:
        raise ValueError(f"must be a count from 0 up, not {number}")


def _convert(path: Path, document: CaseDocument) -> Settings:
    hints = get_type_hints(Settings)
    given = {}
    for name, value in document.settings.items():
        if name not in CASE_SETTINGS:
            if name not in hints and document.versions.mock_platform != __version__:
                continue  # what another version has
            raise BadCase(f"{path}: {CASE}: settings.{name:.60} is no setting of a case.")
        try:
            given[name] = msgspec.convert(value, hints[name])
        except msgspec.ValidationError as fault:
            raise BadCase(f"{path}: {CASE}: settings.{name}: {fault}.") from fault
    return Settings(**given)


def _find_key(at: str, table: Table, row: Any) -> str:
    key = table.key_of(row) if isinstance(row, dict) else None
    if key is None:
        raise BadCase(f"{at}: a record must be an object with {table.key}, not {row!r:.60}.")
    return key
