"""`import_har`: reads an archive, writes a folder, and proves that it answers as recorded."""

from __future__ import annotations

import dataclasses
import gc
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from itertools import chain
from pathlib import Path
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from mock_platform.api.oauth.tester_access import credentials
from mock_platform.api.served import OPERATIONS
from mock_platform.core.address import is_control
from mock_platform.core.documents.source import MAX_BYTES, MAX_VALUES
from mock_platform.core.jsonio import canonical, pretty
from mock_platform.core.platform_hosts import PLATFORM_HOSTS
from mock_platform.platform import Platform, load_base
from mock_platform.scenario.writing import write_document
from mock_platform.settings import NamesMode, Settings
from mock_platform.verification.har.exchange import NamesChoice, recognize_names
from mock_platform.verification.har.reader import read_har, show_progress
from mock_platform.verification.importing.ids import IdTranslation, list_owned, make_fresh
from mock_platform.verification.importing.persons import PersonTranslation, RemainsOfPersons
from mock_platform.verification.importing.recorded import (
    KeptCalls,
    Player,
    RecordedCall,
    is_delivery,
    is_same,
    make_recorded,
    read_event,
)
from mock_platform.verification.importing.records import Note, RecordCollection, write_records
from mock_platform.verification.importing.result import (
    ImportReport,
    remove_leftovers,
    replace_folder,
)
from mock_platform.verification.importing.rules import (
    CannotAnswer,
    RequestGroup,
    Rule,
    find_target,
    identify_answer,
    identify_request,
    make_answer,
    make_exact_rules,
    make_failure,
)
from mock_platform.verification.reports import count_noun
from mock_platform.world.store.interface import Record
from mock_platform.world.store.memory import Base

_LOCAL = frozenset({"localhost", "127.0.0.1", "::1"})
_ROUNDS = 4
_PROGRESS = 1000
"""Requests between two lines that say how far a round is."""
_MAX_FILE_BYTES = MAX_BYTES // 2
"""Bytes of the rules in one file; indented, they take more."""
_MAX_RULES = 200
SCENARIOS = "scenarios"
IdChoice = Literal["keep", "map"]
AS_RECORDED = "as-recorded"


class FolderInUse(ValueError):
    """The folder has files already, which may not be replaced."""


class ImportOptions(Struct, frozen=True):
    """What is imported: `hosts` are those of the service beside the platform's and this machine."""

    hosts: tuple[str, ...] = ()
    names: NamesChoice = "auto"
    """Those of the service; `auto` finds out what the recording has."""
    overwrite: bool = False
    ids: IdChoice = "keep"
    """Whether records keep their ids, or get fresh ones of the sandbox's form."""
    anonymise: bool = False
    """Whether what says something about persons becomes made up."""


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
        RemainsOfPersons: With `anonymise`, something of a person would be left.
        OSError: A file cannot be read or written.
    """
    options = options or ImportOptions()
    remove_leftovers(folder, progress)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())) and not options.overwrite:
        raise FolderInUse(
            f"{folder} is not empty. Name another folder, or replace it with --force."
        )
    with replace_folder(folder) as made:
        report = _Import(file, made, options, progress).run()
    report.folder = folder
    return report


class _Import:
    """One import, step by step. Requests are on the disk; of each, a few bytes are in memory."""

    def __init__(
        self, file: Path, folder: Path, options: ImportOptions, progress: Callable[[str], object]
    ) -> None:
        self._file = file
        self._folder = folder
        self._options = options
        self._progress = progress
        self._open = ExitStack()
        self._calls = self._make_kept()
        self._deliveries = self._make_kept()
        self._persons = PersonTranslation() if options.anonymise else None
        self._collection = RecordCollection(rewrite=self._rewrite_default)
        self._notes: list[Note] = []
        self._record_notes: list[Note] = []
        self._foreign: Counter[str] = Counter()
        self._names: NamesMode = "neutral"
        self._base: tuple[Settings, Base] | None = None
        """The fixtures of the latest sandbox, which most have in common with the one before."""
        self._sent: dict[str, list[str]] = {}
        """The parameters that were ever sent in the query, sorted, by their target."""
        self.report = ImportReport(folder)

    def run(self) -> ImportReport:
        """Read the archive, and write the folder."""
        with self._open:
            self._read()
            if self._persons is not None:
                self._anonymise(self._persons)
            noted = len(self._notes)
            self._collect()
            if self._options.ids == "map":
                del self._notes[noted:]  # they come again
                self._map_ids()
            self._write_records()
            (self._folder / SCENARIOS).mkdir()
            self._write_failures()
            self._write_exact_rules()
        if self._persons is not None and (left := self._persons.find_remains(self._folder)):
            raise RemainsOfPersons(left)
        self._report_notes()
        return self.report

    def _anonymise(self, persons: PersonTranslation) -> None:
        """Write the exchanges again without what says something about persons."""
        for each in chain(self._calls, self._deliveries):
            persons.learn(each.exchange)
        persons.prepare()

        def rewrite(each: RecordedCall) -> RecordedCall:
            return make_recorded(persons.rewrite(each.exchange))

        self._calls = self._keep_again(self._calls, rewrite)
        self._deliveries = self._keep_again(self._deliveries, rewrite)
        self._notes = [
            (label and replace(label, path=persons.rewrite_url(label.path)), text)
            for label, text in self._notes
        ]
        self._collection = RecordCollection(rewrite=self._rewrite_default)
        self.report.replaced = len(persons.found)

    def _rewrite_default(self, record: Record) -> Record:
        """Return a record of the default fixtures; if persons are replaced, without theirs."""
        if self._persons is None:
            return record
        rewritten: Record = self._persons.rewrite_value(record)
        return rewritten

    def _make_kept(self) -> KeptCalls:
        kept = KeptCalls(self._folder)
        self._open.callback(kept.close)
        return kept

    def _keep_again(
        self, kept: KeptCalls, change: Callable[[RecordedCall], RecordedCall]
    ) -> KeptCalls:
        """Return what `change` makes of each request, in place of what was kept."""
        again = self._make_kept()
        for each in kept:
            again.append(change(each))
        kept.close()
        return again

    def _read(self) -> None:
        # Each exchange goes to one of four heaps: deliveries to webhooks of the app, requests to
        # other hosts (counted, so that a forgotten --host is noticed), what cannot be played again,
        # and the rest, which is what the import is about.
        known = {*PLATFORM_HOSTS, *_LOCAL, *self._options.hosts}
        found: Counter[NamesMode] = Counter()
        for exchange in show_progress(read_har(self._file), self._progress):
            self.report.exchanges += 1
            recorded = make_recorded(replace(exchange, timings={}, own={}))
            if is_delivery(exchange) and exchange.request.host not in PLATFORM_HOSTS:
                self._deliveries.append(recorded)
            elif exchange.request.host not in known or not exchange.request.url.startswith("http"):
                self._foreign[exchange.request.host or exchange.request.url[:40]] += 1
            elif is_control(recorded.path):
                self._note(recorded, "the control plane is no part of the interface")
            elif exchange.response.status == 0:
                self._note(recorded, "no response came")
            else:
                self._calls.append(recorded)
                found[recognize_names(exchange, PLATFORM_HOSTS)] += 1
                moments = [each for each in (self.report.started, exchange.started) if each]
                self.report.started = min(moments, default=None)
        if self._options.names != "auto":
            self._names = self._options.names
        elif found["original"]:
            self._names = "original"
        self.report.names = self._names

    def _note(self, recorded: RecordedCall, text: str) -> None:
        self._notes.append((recorded.label, text))

    def _add_delivery(self, recorded: RecordedCall) -> None:
        webhook = next(iter(self._collection.read_defaults("webhooks")))
        number = recorded.exchange.place.entry + 1
        event = read_event(recorded.exchange, webhook, number)
        fault = event if isinstance(event, str) else self._collection.add_event(event)
        if fault is not None:
            self._note(recorded, fault)

    def _collect(self) -> None:
        """Find out which operations were called, and collect the records of their answers."""
        self.report.with_secrets = 0
        found: dict[str, set[str]] = {}
        with self._start(Settings(limits="off", names=self._names)) as player:
            operations = {each.id: each for each in player.platform.operations}

            def collect(recorded: RecordedCall) -> RecordedCall:
                player.send(recorded)
                operation = operations.get(recorded.operation or "")
                if operation is not None and recorded.is_success:
                    self._collection.add_answer(recorded, operation, self._names)
                sent = [name for name, _ in recorded.query]
                if sent:
                    found.setdefault(find_target(recorded), set()).update(sent)
                self.report.with_secrets += recorded.has_secrets
                return recorded

            self._calls = self._keep_again(self._calls, collect)
        self._sent = {target: sorted(names) for target, names in found.items()}
        for recorded in self._deliveries:
            self._add_delivery(recorded)

    def _map_ids(self) -> None:
        """Write the exchanges again with fresh ids, and collect their records from scratch."""
        # Ids can only be exchanged when all are known, so the records are collected twice: once to
        # find the ids, and once more from the exchanges with fresh ones.
        first = self._collection
        owned = list_owned(first.tables)
        known = [place for place in first.list_keys() if place[0] in owned]
        examples = {name: next(iter(first.read_defaults(name)), "") for name, _ in known}
        translation = IdTranslation(make_fresh(known, examples))
        paths = {each.id: (each.path, *each.also) for each in OPERATIONS}

        def rewrite(each: RecordedCall) -> RecordedCall:
            way = each.find_ids(paths.get(each.operation or "", ()))
            return make_recorded(translation.rewrite(each.exchange, way))

        self._calls = self._keep_again(self._calls, rewrite)
        self._deliveries = self._keep_again(
            self._deliveries, lambda each: make_recorded(translation.rewrite(each.exchange))
        )
        self.report.ids = translation.fresh
        self._collection = RecordCollection(rewrite=self._rewrite_default)
        self._collect()

    def _write_records(self) -> None:
        for name, records in self._collection.finish().items():
            write_records(self._folder / f"{name}.json", records)
            self.report.records[name] = len(records)
        self._record_notes = self._collection.notes
        self._collection = RecordCollection()  # the records are in the folder now

    def _write_failures(self) -> None:
        found: dict[str, Rule] = {}
        for recorded in self._calls:
            if recorded.exchange.response.status < 400:
                continue
            try:
                name, rule = make_failure(recorded)
            except CannotAnswer as fault:
                self._note(recorded, f"no scenario for the failure: {fault}")
                continue
            found.setdefault(f"fails-{name}", rule)
        for name, rule in found.items():
            on = rule["on"]
            self._write_scenario(name, f"{on} fails as it did in the recording.", [rule])
            self.report.failures.append(name)

    def _write_exact_rules(self) -> None:
        """Write rules for what the records alone do not answer, until nothing more changes."""
        # A loop that ends when nothing changes any more. The folder is played like a real one, each
        # request that is not answered as recorded gets a rule, and the folder is played again with
        # these: a rule may change what later requests find. A request that is wrong a second time
        # gets a rule that acts before authentication; if it is wrong a third time, no rule helps.
        # After a few rounds what is still wrong is reported.
        wrong: dict[int, bool] = {}
        files: list[Path] = []
        groups: list[RequestGroup] = []
        for number in range(_ROUNDS):
            found = self._play(files, number + 1)
            if all(wrong.get(position) for position in found):
                break  # the rules would be the same
            groups = groups or self._group()
            for position in found:
                wrong[position] = position in wrong
            for file in files:
                file.unlink()
            self.report.rules = 0
            files = list(self._write_rules(self._make_rules(groups, wrong)))
            if number == _ROUNDS - 1:
                found = self._play(files, number + 2)
        self.report.answered = len(self._calls) - len(found)
        self.report.scenarios = [f"{SCENARIOS}/{file.name}" for file in files]
        for position, status in found.items():
            recorded = self._calls[position]
            self._note(recorded, f"not answered as recorded: {_explain(recorded, status)}")

    def _group(self) -> list[RequestGroup]:
        """Return which requests are equal."""
        groups: dict[bytes, RequestGroup] = {}
        for position, recorded in enumerate(self._calls):
            key = identify_request(recorded, self._find_names(recorded))
            groups.setdefault(key, RequestGroup()).add(position, identify_answer(recorded))
        return list(groups.values())

    def _find_names(self, recorded: RecordedCall) -> list[str]:
        return self._sent.get(find_target(recorded), [])

    def _make_rules(
        self, groups: Iterable[RequestGroup], wrong: Mapping[int, bool]
    ) -> Iterator[Rule]:
        for group in groups:
            if chosen := group.choose(wrong):
                names = self._find_names(self._calls[group.positions[0]])
                for rule in make_exact_rules(group, chosen, names, self._calls.__getitem__):
                    self.report.rules += 1
                    yield rule

    def _write_rules(self, rules: Iterable[Rule]) -> Iterator[Path]:
        """Write rules as scenarios that are small enough to be read again."""
        chunk: list[Rule] = []
        size = values = number = 0
        for rule in chain(rules, [None]):
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

    def _play(self, scenarios: list[Path], number: int) -> dict[int, int]:
        """Return the status of each request that is not answered as recorded, by position."""
        settings = Settings(
            default_fixtures=False,
            fixtures=(self._folder,),
            scenarios=tuple(str(file) for file in scenarios),
            limits="off",
            names=self._names,
            freeze=self.report.started,
        )
        total = f"{len(self._calls):,} recorded requests"
        self._progress(f"Round {number}: {total} …")
        wrong: dict[int, int] = {}
        with self._start(settings) as player:
            for position, recorded in enumerate(self._calls):
                if position and position % _PROGRESS == 0:
                    self._progress(f"Round {number}: {position:,} of {total} …")
                reply = player.send(recorded)
                if not is_same(recorded, reply):
                    wrong[position] = reply.status
        return wrong

    @contextmanager
    def _start(self, settings: Settings) -> Iterator[Player]:
        """Start a sandbox without a journal, which is not read here."""
        if len(self._calls) > _PROGRESS:
            gc.collect()  # the one before, which refers to itself and may have grown large
        fixtures = dataclasses.replace(settings, scenarios=())
        if self._base is None or self._base[0] != fixtures:
            self._base = (fixtures, load_base(settings))
        _, base = self._base
        platform = Platform(dataclasses.replace(settings, journal_entries=1), base=base)
        try:
            platform.disable_connections()
            yield Player(platform, credentials(platform.worlds.default), self._names)
        finally:
            platform.close()

    def _report_notes(self) -> None:
        for label, text in [*self._notes, *self._record_notes]:
            self.report.notes.append(text if label is None else f"{label}: {text}")
        for host, count in self._foreign.most_common():
            self.report.notes.append(
                f"{count_noun(count, 'request')} to {host}: no host of the platform; "
                f"take it as one with --host {host}"
            )


def _explain(recorded: RecordedCall, status: int) -> str:
    """Return why a request is not answered as recorded, but with this status."""
    try:
        make_answer(recorded)
    except CannotAnswer as fault:
        return str(fault)
    expected = recorded.exchange.response.status
    if status != expected:
        return f"the sandbox answers {status}, not {expected}"
    return "the body differs"
