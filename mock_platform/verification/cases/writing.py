"""Writes a world with its requests as a case, without secrets.

A case has the state at which the journal begins, and what changed the world beside requests. So
whoever opens it can repeat all of it.
"""

from __future__ import annotations

import base64
import io
import platform as machine
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from itertools import groupby
from typing import Any

import msgspec
from msgspec import Struct

from mock_platform.core.errors import CaseTooLarge
from mock_platform.core.jsonio import dumps
from mock_platform.core.tables.table import Tables
from mock_platform.platform import Platform
from mock_platform.scenario.active import ACTIVE, DEFINED
from mock_platform.scenario.director import find_engine
from mock_platform.scenario.engine import Engine
from mock_platform.settings import Settings
from mock_platform.verification.cases.document import (
    CASE,
    CASE_SETTINGS,
    FORMAT,
    JOURNAL,
    MAX_BYTES,
    STATE,
    CaseClock,
    CaseDocument,
    CaseRule,
    CaseStep,
    JsonObject,
    Versions,
    list_published,
)
from mock_platform.verification.har.writer import (
    RecordedExchange,
    Secrets,
    make_entries,
    make_log,
)
from mock_platform.version import __version__
from mock_platform.world import redact
from mock_platform.world.clock import machine_now, wire_millis
from mock_platform.world.history import MAX_STEPS, WorldStep
from mock_platform.world.journal import JournalEntry
from mock_platform.world.store.interface import Beside, Row, SavedWorld
from mock_platform.world.world import World
from mock_platform.world.worlds import merge_rows

_KEYS_ARE_SECRET = frozenset({"tokens", "_sessions"})
_SECRET_IDS = frozenset({"id", "former_id"})
"""In the tables whose records are credentials: the fields that are one, beside those named so."""
_SHOWN = frozenset({"signature"})
"""Fields of records that are shown to others: encrypted messages are signed."""
_MAX_BODY = 16 * 1024 * 1024
_MOMENT = (1980, 1, 1, 0, 0, 0)
"""The earliest that an archive can have: the same world makes the same bytes."""


class _Taken(Struct, frozen=True):
    """A world as it was at one moment; nothing of it changes any more."""

    start: SavedWorld
    rows: Mapping[str, Mapping[str, Row]]
    steps: Sequence[WorldStep]
    entries: Sequence[JournalEntry]
    deliveries: Sequence[JsonObject]
    rules: Sequence[CaseRule]
    clock: CaseClock
    why_not: str | None


def write_case(platform: Platform, world: World) -> bytes:
    """Return a world of a platform as a case.

    Raises:
        UnknownWorld: The world was dropped.
        CaseTooLarge: The case would be larger than one can be.
    """
    taken = _take(world)
    start, hide = taken.start, _Hider()
    ordered = {
        table: sorted(rows.items(), key=lambda item: item[1].seq)
        for table, rows in taken.rows.items()
        if rows
    }
    tables = {
        table: _list_records(platform.tables, table, [(key, row.record) for key, row in found])
        for table, found in ordered.items()
    }
    steps = [_write_step(step, platform) for step in taken.steps]
    # All secrets are learned before anything is hidden: the last request may show what the first
    # record has in its text.
    for name, records in tables.items():
        hide.learn(records, name)
    published = hide.find_published(tables)
    for step in steps:
        hide.learn(step.scenarios)
        for table, key, record in step.changes:
            hide.learn({key: record} if table.startswith("_") else [record], table)
    hide.learn([list(taken.deliveries), msgspec.to_builtins(taken.rules)])
    entries = hide.write_entries([_make_exchange(each) for each in taken.entries])
    case = CaseDocument(
        format=FORMAT,
        versions=Versions(__version__, machine.python_version()),
        world=world.drawn_as,
        saved_at=wire_millis(machine_now()),
        seed=world.seed,
        clock=taken.clock,
        settings=_list_settings(platform.settings, world),
        rules=list(taken.rules),
        steps=steps,
        deliveries=list(taken.deliveries),
        places={
            table: _find_runs([row.seq for _, row in found]) for table, found in ordered.items()
        },
        next_place=start.records.next_seq,
        published=published,
        requests=len(entries),
        why_not=taken.why_not,
    )
    meta = {key: start.meta[key] for key in ("ids", "clock", "paces")}
    state = {"world": world.drawn_as, **meta, "tables": hide.clean_tables(tables)}
    comment = "All moments are on the world's clock. `_mock` has the reasons for each answer."
    return _pack(
        {
            CASE: dumps(hide.clean(msgspec.to_builtins(case)) | {"published": published}),
            STATE: dumps(state),
            JOURNAL: dumps(make_log(entries, comment)),
        }
    )


def _take(world: World) -> _Taken:
    """Return what a case needs of a world; the rest takes longer, and needs no lock."""
    with world.hold():
        engine, history, journal = find_engine(world), world.history, world.journal
        start, steps, why_not = history.start, history.steps, None
        now = world.clock.now()
        began = history.began
        if journal.dropped:
            why_not = f"the journal dropped {journal.dropped:,} older requests for space"
        elif steps is None:
            why_not = f"more than {MAX_STEPS:,} records were changed beside requests"
        if why_not is not None:
            start, steps, began = world.save(), [], now
        entries = [each for each in journal if each.turn >= history.start_turn]
        return _Taken(
            start,
            merge_rows(world.blueprint.base.rows, start.records.rows),
            list(steps or ()),
            sorted(entries, key=lambda each: each.turn),
            [dict(each) for each in world.deliveries],
            _list_rules(engine),
            CaseClock(began.isoformat(), now.isoformat(), world.clock.frozen),
            why_not,
        )


def _pack(members: Mapping[str, bytes]) -> bytes:
    size = sum(map(len, members.values()))
    if size > MAX_BYTES:
        raise CaseTooLarge(
            f"The case would have {size // 1024**2} MB, and at most {MAX_BYTES // 1024**2} are "
            "allowed. Reset the world, or empty its journal, and repeat less of the session."
        )
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as packed:
        for name, data in members.items():
            info = zipfile.ZipInfo(name, _MOMENT)
            info.external_attr = 0o600 << 16
            packed.writestr(info, data, zipfile.ZIP_DEFLATED, 9)
    return file.getvalue()


def _list_records(known: Tables, table: str, rows: Sequence[tuple[str, JsonObject]]) -> Any:
    """Return records as `GET /_mock/state` shows them: a list, or by key in own tables."""
    return [record for _, record in rows] if table in known else dict(rows)


def _find_runs(places: Sequence[int]) -> list[tuple[int, int]]:
    """Return growing places as runs: the first one, and how many follow each other."""
    runs = groupby(enumerate(places), lambda item: item[1] - item[0])
    return [(found[0][1], len(found)) for _, run in runs if (found := list(run))]


def _list_settings(settings: Settings, world: World) -> JsonObject:
    """Return the settings that decide how a world answers, where they are not the usual ones."""
    own = replace(
        settings,
        seed=world.seed,
        names=world.names,
        wire=world.wire,
        as_of=world.as_of,
        warnings="error" if world.refuses_warnings else "ignore",
    )
    usual, found = Settings(), {}
    for name in CASE_SETTINGS:
        value = getattr(own, name)
        if value != getattr(usual, name):
            found[name] = value.isoformat() if isinstance(value, date) else value
    return found


def _list_rules(engine: Engine) -> list[CaseRule]:
    """Return each scenario that is active, or was at the start, with its document."""
    listed = []
    records = engine.read_records()
    active = {name: each for (table, name), each in records.items() if table == ACTIVE and each}
    for name in dict.fromkeys([*active, *engine.start_up]):
        each = active.get(name) or {}
        rule = CaseRule(
            name,
            dict(engine.find(name).document),
            each.get("parameters", {}),
            each.get("state"),
            each.get("counts", []),
            at_start=name in engine.start_up,
            active=name in active,
        )
        listed.append(rule)
    return listed


def _write_step(step: WorldStep, platform: Platform) -> CaseStep:
    scenarios = None if step.scenarios is None else _group(step.scenarios)
    if scenarios is not None and ACTIVE in scenarios:
        defined = scenarios.setdefault(DEFINED, {})
        for name, record in scenarios[ACTIVE].items():
            known = platform.library.find(name)
            if known is not None and not record["at_start"]:  # another version has another one
                defined.setdefault(name, {"name": name, "document": dict(known.document)})
    return CaseStep(
        step.turn,
        step.drawn,
        [(each.table, each.key, each.after) for each in step.changes],
        dict(step.paces),
        scenarios,
    )


def _group(records: Beside) -> dict[str, dict[str, JsonObject]]:
    found: dict[str, dict[str, JsonObject]] = {}
    for (table, key), record in records.items():
        if record is not None:
            found.setdefault(table, {})[key] = record
    return found


def _make_exchange(entry: JournalEntry) -> RecordedExchange:
    shown = entry.summary()
    left_out = ("url", "method", "world", "cost")
    reasons = {name: value for name, value in shown.items() if name not in left_out}
    own = {"_mock": reasons, "_turn": entry.turn, "_at": entry.at.isoformat()}
    basic = _find_basic_name(entry)
    if basic is not None:
        own["_basic"] = basic
    return RecordedExchange.from_entry(entry, own)


def _find_basic_name(entry: JournalEntry) -> str | None:
    """Return who called with Basic authentication: a key, which identifies and is no secret."""
    sent = next((v for name, v in entry.request_headers if name.lower() == "authorization"), "")
    if sent[:6].lower() != "basic ":
        return None
    try:
        name, colon, _ = base64.b64decode(sent[6:].strip(), validate=True).decode().partition(":")
    except ValueError:
        return None
    return name if colon else None


class _Hider:
    """Knows the secrets of one case, and hides each wherever it is."""

    def __init__(self) -> None:
        self._secrets = Secrets()
        self._tables: set[str] = set()
        """The tables that have fields named as secrets."""

    def learn(self, value: Any, table: str = "") -> None:
        """Learn the secrets in JSON: what is named so, and what looks so within texts.

        In the tables of credentials, keys are secrets as well.
        """
        if isinstance(value, str):
            self._secrets.finder.text(value)
        elif isinstance(value, list):
            for each in value:
                self.learn(each, table)
        elif isinstance(value, dict):
            for key, each in value.items():
                is_own = table in _KEYS_ARE_SECRET
                if _is_secret(key, each) or (is_own and key in _SECRET_IDS and each):
                    self._secrets.learn(each)
                    self._tables.add(table)
                else:
                    if is_own and isinstance(each, dict):
                        self._secrets.learn(key)
                    self.learn(each, table)

    def find_published(self, tables: Iterable[str]) -> dict[str, str]:
        """Return where the package's fixtures have what was learned so far, by placeholder."""
        return {
            self._secrets.learn(value): place
            for place, value in list_published(tables)
            if self._secrets.knows(value)
        }

    def write_entries(self, exchanges: Sequence[RecordedExchange]) -> list[JsonObject]:
        """Return the entries of an archive, without any secret."""
        for each in exchanges:
            self.learn(each.own)
        entries = make_entries(exchanges, _MAX_BODY, self._secrets)
        for entry in entries:
            content = entry["response"]["content"]
            if "comment" not in content:  # whole; its size is another one without its secrets
                content["size"] = entry["response"]["bodySize"] = -1
            for name in ("_mock", "_basic"):
                if name in entry:
                    entry[name] = self.clean(entry[name])
        return entries

    def clean_tables(self, tables: JsonObject) -> JsonObject:
        """Return tables without secrets; nearly all have none, and take one look."""
        return {
            table: self.clean(rows)
            if table in self._tables or self._secrets.occur_in(dumps(rows).decode())
            else rows
            for table, rows in tables.items()
        }

    def clean(self, value: Any) -> Any:
        """Return JSON with placeholders in place of all secrets."""
        if isinstance(value, str):
            return self._secrets.hide(value)
        if isinstance(value, list | tuple):
            return [self.clean(each) for each in value]
        if not isinstance(value, dict):
            return value
        return {
            self._secrets.hide(key): self._secrets.learn(each)
            if _is_secret(key, each)
            else self.clean(each)
            for key, each in value.items()
        }


def _is_secret(name: str, value: Any) -> bool:
    """Whether a value is one; a word that names secrets, such as "password", hides nothing."""
    is_text = isinstance(value, str) and value != "" and value not in redact.SECRET_NAMES
    return is_text and name not in _SHOWN and redact.is_secret(name, value)
