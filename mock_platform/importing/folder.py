"""`import_har`: reads an archive, writes a folder, and proves that it answers as recorded."""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from mock_platform.control.known_credentials import credentials
from mock_platform.core.jsonio import canonical, pretty
from mock_platform.edge.address import is_control
from mock_platform.edge.hosts import PLATFORM_HOSTS
from mock_platform.har import HarExchange, NamesChoice, read_har, recognize_names
from mock_platform.importing.deliveries import is_delivery, read_event
from mock_platform.importing.ids import IdTranslation, list_owned, make_fresh
from mock_platform.importing.records import Note, RecordCollection
from mock_platform.importing.replaying import Player, RecordedCall, is_same, make_recorded
from mock_platform.importing.rules import (
    CannotAnswer,
    Rule,
    find_target,
    make_answer,
    make_conditions,
    make_exact_rules,
    make_failure,
)
from mock_platform.operations import OPERATIONS
from mock_platform.platform import Platform
from mock_platform.scenario.source import MAX_BYTES, MAX_VALUES
from mock_platform.scenario.writing import write_document
from mock_platform.settings import NamesMode, Settings

_LOCAL = frozenset({"localhost", "127.0.0.1", "::1"})
_ROUNDS = 4
_MAX_FILE_BYTES = MAX_BYTES // 2
"""Bytes of the rules in one file; indented, they take more."""
_MAX_RULES = 200
SCENARIOS = "scenarios"
IdChoice = Literal["keep", "map"]
AS_RECORDED = "as-recorded"


class FolderInUse(ValueError):
    """The folder has files already, which may not be replaced."""


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """What is imported: `hosts` are those of the service beside the platform's and this machine."""

    hosts: tuple[str, ...] = ()
    names: NamesChoice = "auto"
    """Those of the service; `auto` finds out what the recording has."""
    overwrite: bool = False
    ids: IdChoice = "keep"
    """Whether records keep their ids, or get fresh ones of the sandbox's form."""


@dataclass(slots=True)
class ImportReport:
    """What became of an archive. `notes` says what did not become anything, or not all, and why."""

    folder: Path
    exchanges: int = 0
    records: dict[str, int] = field(default_factory=dict)
    rules: int = 0
    failures: list[str] = field(default_factory=list)
    answered: int = 0
    """Requests that a sandbox with the folder answers as recorded."""
    with_secrets: int = 0
    """Those of them whose secrets the sandbox makes itself."""
    started: datetime | None = None
    names: NamesMode = "neutral"
    """The names that the recorded service used."""
    ids: dict[str, str] = field(default_factory=dict)
    """The new id for each old one, if ids were mapped."""
    scenarios: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def command(self) -> str:
        """The command that serves the folder."""
        scenarios = "".join(f" --scenario {self.folder / name}" for name in self.scenarios)
        freeze = f" --freeze {self.started:%Y-%m-%dT%H:%M:%SZ}" if self.started else ""
        names = " --names original" if self.names == "original" else ""
        words = f"--no-default-fixtures --fixtures {self.folder}"
        return f"mock-platform serve {words}{scenarios}{freeze}{names}"


def import_har(
    file: Path,
    folder: Path,
    options: ImportOptions | None = None,
    progress: Callable[[str], object] = lambda _: None,
) -> ImportReport:
    """Write what an archive shows as a folder of fixtures and scenarios.

    The folder appears when all of it is written.

    Raises:
        BadHar: The file is no archive, or damaged.
        FolderInUse: The folder is not empty.
        OSError: A file cannot be read or written.
    """
    options = options or ImportOptions()
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())) and not options.overwrite:
        raise FolderInUse(
            f"{folder} is not empty. Name another folder, or replace it with --force."
        )
    folder.parent.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        report = _Import(file, made, options, progress).run()
        made.chmod(0o700)
        if folder.exists():
            shutil.rmtree(folder) if folder.is_dir() else folder.unlink()
        made.rename(folder)
    except BaseException:
        shutil.rmtree(made, ignore_errors=True)
        raise
    report.folder = folder
    return report


class _Import:
    """One import, step by step."""

    def __init__(
        self, file: Path, folder: Path, options: ImportOptions, progress: Callable[[str], object]
    ) -> None:
        self._file = file
        self._folder = folder
        self._options = options
        self._progress = progress
        self._calls: list[RecordedCall] = []
        self._deliveries: list[tuple[HarExchange, int]] = []
        self._collection = RecordCollection()
        self._notes: list[Note] = []
        self._foreign: Counter[str] = Counter()
        self._names: NamesMode = "neutral"
        self.report = ImportReport(folder)

    def run(self) -> ImportReport:
        """Read the archive, and write the folder."""
        self._read()
        self._choose_names()
        if self._calls:
            moments = [c.exchange.started for c in self._calls if c.exchange.started is not None]
            self.report.started = min(moments, default=None)
        noted = len(self._notes)
        self._collect()
        if self._options.ids == "map":
            del self._notes[noted:]  # they come again
            self._map_ids()
        for name, records in self._collection.finish().items():
            (self._folder / f"{name}.json").write_text(pretty(records) + "\n", "utf-8")
            self.report.records[name] = len(records)
        (self._folder / SCENARIOS).mkdir()
        self._write_failures()
        self._write_exact_rules()
        self._report_notes()
        return self.report

    def _read(self) -> None:
        known = {*PLATFORM_HOSTS, *_LOCAL, *self._options.hosts}
        for exchange in read_har(self._file):
            self.report.exchanges += 1
            if self.report.exchanges % 1000 == 0:
                self._progress(f"{self.report.exchanges:,} exchanges read …")
            recorded = make_recorded(exchange)
            if is_delivery(exchange) and exchange.request.host not in PLATFORM_HOSTS:
                self._deliveries.append((exchange, self.report.exchanges))
            elif exchange.request.host not in known or not exchange.request.url.startswith("http"):
                self._foreign[exchange.request.host or exchange.request.url[:40]] += 1
            elif is_control(recorded.path):
                self._notes.append((recorded, "the control plane is no part of the interface"))
            elif exchange.response.status == 0:
                self._notes.append((recorded, "no response came"))
            else:
                self._calls.append(recorded)

    def _choose_names(self) -> None:
        if self._options.names != "auto":
            self._names = self.report.names = self._options.names
            return
        found = Counter(recognize_names(each.exchange, PLATFORM_HOSTS) for each in self._calls)
        if found["original"]:
            self._names = self.report.names = "original"

    def _add_delivery(self, exchange: HarExchange, number: int) -> None:
        webhook = next(iter(self._collection.read_defaults("webhooks")))
        event = read_event(exchange, webhook, number)
        fault = event if isinstance(event, str) else self._collection.add_event(event)
        if fault is not None:
            self._notes.append((make_recorded(exchange), fault))

    def _collect(self) -> None:
        """Find out which operations were called, and collect the records of their answers."""
        player = self._start(Settings(limits="off", names=self._names))
        operations = {each.id: each for each in player.platform.operations}
        for recorded in self._calls:
            player.send(recorded)
            operation = operations.get(recorded.operation or "")
            if operation is not None and recorded.is_success:
                self._collection.add_answer(recorded, operation, self._names)
        player.platform.close()
        for exchange, number in self._deliveries:
            self._add_delivery(exchange, number)

    def _map_ids(self) -> None:
        """Write the exchanges again with fresh ids, and collect their records from scratch."""
        first = self._collection
        owned = list_owned(first.tables)
        known = [place for place in first.list_keys() if place[0] in owned]
        examples = {name: next(iter(first.read_defaults(name)), "") for name, _ in known}
        translation = IdTranslation(make_fresh(known, examples))
        paths = {each.id: (each.path, *each.also) for each in OPERATIONS}
        ways = [each.find_ids(paths.get(each.operation or "", ())) for each in self._calls]
        self._calls = [
            make_recorded(translation.rewrite(each.exchange, way))
            for each, way in zip(self._calls, ways, strict=True)
        ]
        self._deliveries = [(translation.rewrite(each), at) for each, at in self._deliveries]
        self.report.ids = translation.fresh
        self._collection = RecordCollection()
        self._collect()

    def _write_failures(self) -> None:
        found: dict[str, Rule] = {}
        for recorded in self._calls:
            if recorded.exchange.response.status < 400:
                continue
            try:
                name, rule = make_failure(recorded)
            except CannotAnswer as fault:
                self._notes.append((recorded, f"no scenario for the failure: {fault}"))
                continue
            found.setdefault(f"fails-{name}", rule)
        for name, rule in found.items():
            on = rule["on"]
            self._write_scenario(name, f"{on} fails as it did in the recording.", [rule])
            self.report.failures.append(name)

    def _write_exact_rules(self) -> None:
        """Write rules for what the records alone do not answer, until nothing more changes."""
        wrong: dict[int, bool] = {}
        files: list[Path] = []
        for number in range(_ROUNDS):
            self._progress(f"Round {number + 1}: {len(self._calls):,} recorded requests …")
            found = self._play(files)
            if not found:
                break
            for position in found:
                wrong[position] = position in wrong
            for file in files:
                file.unlink()
            rules = self._make_rules(wrong)
            files = list(self._write_rules(rules))
            self.report.rules = len(rules)
            if number == _ROUNDS - 1:
                found = self._play(files)
        self.report.answered = len(self._calls) - len(found)
        self.report.scenarios = [f"{SCENARIOS}/{file.name}" for file in files]
        for position in found:
            recorded = self._calls[position]
            reason = self._explain(recorded)
            self._notes.append((recorded, f"not answered as recorded: {reason}"))

    def _make_rules(self, wrong: dict[int, bool]) -> list[Rule]:
        names: dict[str, set[str]] = {}
        for recorded in self._calls:
            names.setdefault(recorded.operation or "", set()).update(n for n, _ in recorded.query)
        groups: dict[bytes, list[int]] = {}
        for position, recorded in enumerate(self._calls):
            known = names.get(recorded.operation or "", set())
            same = [find_target(recorded), make_conditions(recorded, known)]
            groups.setdefault(canonical(same), []).append(position)
        rules: list[Rule] = []
        for positions in groups.values():
            chosen = {
                place: wrong[position]
                for place, position in enumerate(positions)
                if position in wrong
            }
            if chosen:
                calls = [self._calls[position] for position in positions]
                rules += make_exact_rules(calls, chosen, names)
        return rules

    def _write_rules(self, rules: list[Rule]) -> Iterator[Path]:
        """Write rules as scenarios that are small enough to be read again."""
        chunk: list[Rule] = []
        size = values = number = 0
        for rule in [*rules, None]:
            written = b"" if rule is None else canonical(rule)
            more, items = len(written), written.count(b",") + written.count(b":")
            is_full = size + more > _MAX_FILE_BYTES or values + items > MAX_VALUES // 2
            if chunk and (rule is None or is_full or len(chunk) >= _MAX_RULES):
                number += 1
                name = AS_RECORDED if number == 1 else f"{AS_RECORDED}-{number}"
                yield self._write_scenario(name, "Answers that the records do not give.", chunk)
                chunk, size, values = [], 0, 0
            if rule is not None:
                chunk.append(rule)
                size += more
                values += items

    def _write_scenario(self, name: str, description: str, rules: list[Rule]) -> Path:
        document = {"name": name, "description": description, "rules": rules}
        if name.startswith(AS_RECORDED):  # for programs: YAML would take ten times as long
            text, suffix = f"{pretty(document)}\n", ".json"
        else:
            text, suffix = write_document(document)
        path = self._folder / SCENARIOS / f"{name}{suffix}"
        path.write_text(text, "utf-8")
        return path

    def _play(self, scenarios: list[Path]) -> list[int]:
        """Returns the positions of the requests that are not answered as recorded."""
        settings = Settings(
            default_fixtures=False,
            fixtures=(self._folder,),
            scenarios=tuple(str(file) for file in scenarios),
            limits="off",
            names=self._names,
            freeze=self.report.started,
        )
        player = self._start(settings)
        wrong = [
            position
            for position, recorded in enumerate(self._calls)
            if not is_same(recorded, player.send(recorded))
        ]
        player.platform.close()
        return wrong

    def _start(self, settings: Settings) -> Player:
        platform = Platform(settings)
        platform.disable_connections()
        return Player(platform, credentials(platform), self._names)

    def _explain(self, recorded: RecordedCall) -> str:
        try:
            make_answer(recorded)
        except CannotAnswer as fault:
            return str(fault)
        reply = recorded.reply
        status = "nothing" if reply is None else reply.status
        expected = recorded.exchange.response.status
        if status != expected:
            return f"the sandbox answers {status}, not {expected}"
        return "the body differs"

    def _report_notes(self) -> None:
        self.report.with_secrets = sum(1 for each in self._calls if each.has_secrets)
        for recorded, text in [*self._notes, *self._collection.notes]:
            if recorded is None:
                self.report.notes.append(text)
                continue
            sent = recorded.exchange.request
            place = recorded.exchange.place
            self.report.notes.append(
                f"entry {place.entry} (line {place.line}), {sent.method} {recorded.path}: {text}"
            )
        for host, count in self._foreign.most_common():
            self.report.notes.append(
                f"{count:,} request{'' if count == 1 else 's'} to {host}: no host of the platform; "
                f"take it as one with --host {host}"
            )


def describe(report: ImportReport) -> Iterator[str]:
    """Yields the lines that say what was made, and what was not."""
    made = ", ".join(f"{name} {count}" for name, count in sorted(report.records.items()))
    yield f"{report.exchanges:,} exchanges read from the archive."
    if report.names == "original":
        yield "The recording has original names; the records have neutral ones."
    yield f"Records: {made or 'no'}."
    if report.ids:
        yield f"Ids that were replaced by fresh ones: {len(report.ids):,}."
    yield f"Rules for exactly the recorded requests: {report.rules:,}."
    yield f"Scenarios with a failure: {len(report.failures):,}."
    yield f"Requests that the folder answers as recorded: {report.answered:,}."
    if report.with_secrets:
        yield f"In {report.with_secrets:,} of the answers, secrets are the sandbox's own."
    yield f"Serve it: {report.command}"
    if report.notes:
        yield f"Not everything became part of the folder ({len(report.notes):,}):"
        yield from (f"  {note}" for note in report.notes)


def report_as_json(report: ImportReport) -> dict[str, Any]:
    """Returns the report for programs."""
    return {
        "folder": str(report.folder),
        "exchanges": report.exchanges,
        "names": report.names,
        "records": report.records,
        "ids": report.ids,
        "rules": report.rules,
        "failures": report.failures,
        "answered": report.answered,
        "with_secrets": report.with_secrets,
        "serve": report.command,
        "notes": report.notes,
    }
