"""The file of accepted differences: what is known to differ, why, since when and until when.

A YAML file for people: comments and order stay when an entry is added. An entry names a finding by
its id, or describes it by patterns.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from msgspec import Struct

from mock_platform.verification.compare.compare import KINDS
from mock_platform.verification.compare.findings import DriftFinding, Report

MAX_BYTES = 4 * 1024 * 1024
_TOP = "accepted"
_PATTERNS = ("where", "expected", "got")
_KEYS = ("id", "kind", *_PATTERNS, "operations", "reason", "accepted", "expires")
_HEAD = """\
# Differences between the sandbox and the real service that are known and accepted.
# An entry names a finding by its id, or by kind, where, expected, got and operations, in which *
# stands for any text. reason and accepted (a date) are required; expires (a date) is optional.
accepted: []
"""


class BadAcceptedFile(ValueError):
    """A file of accepted differences that cannot be used; the text begins with its place."""


class AcceptedEntry(Struct, frozen=True):
    """One accepted difference, or a pattern of several."""

    place: str
    """File and line."""
    id: str | None
    kind: str | None
    patterns: Mapping[str, str]
    operations: tuple[str, ...]
    reason: str
    accepted: date
    expires: date | None

    def matches(self, finding: DriftFinding) -> bool:
        """Return whether the entry accepts a finding."""
        if self.id is not None and finding.id != self.id:
            return False
        if self.kind is not None and finding.kind != self.kind:
            return False
        texts = {"where": finding.where, "expected": finding.expected, "got": finding.got}
        if not all(fnmatchcase(texts[name], wanted) for name, wanted in self.patterns.items()):
            return False
        return not self.operations or all(
            any(fnmatchcase(operation, each) for each in self.operations)
            for operation in finding.operations
        )

    def describe(self) -> str:
        """Return the reason with its dates."""
        until = "" if self.expires is None else f", until {self.expires}"
        return f"{self.reason}; since {self.accepted}{until}"


def read_accepted(file: Path) -> list[AcceptedEntry]:
    """Return the entries of a file.

    Raises:
        BadAcceptedFile: The file cannot be read, or an entry has faults.
    """
    document = _load(file)
    if document is None:
        return []
    if not isinstance(document, dict) or not isinstance(document.get(_TOP), list):
        raise BadAcceptedFile(f"{file}:1:1: needs a list under `{_TOP}:`")
    unknown = [key for key in document if key != _TOP]
    if unknown:
        raise BadAcceptedFile(f"{file}:1:1: {_explain_unknown(str(unknown[0]), (_TOP,))}")
    rows = document[_TOP]
    return [_read_entry(file, rows, position) for position in range(len(rows))]


def apply_accepted(
    report: Report, entries: Sequence[AcceptedEntry], today: date, *, complete: bool = True
) -> None:
    """Mark the findings that entries accept, and name entries without a finding.

    `complete` says whether everything was compared; otherwise nothing is said about entries that
    were not needed.
    """
    for entry in entries:
        found = [each for each in report.findings if entry.matches(each)]
        if entry.expires is not None and entry.expires < today:
            what = "" if found else ", and it was not found"
            report.stale.append(f"{entry.place} expired on {entry.expires}{what}")
            continue
        for finding in found:
            if finding.accepted is None:
                finding.accepted = entry.describe()
        if not found and complete:
            report.stale.append(f"{entry.place} was not found; the entry can go ({entry.reason})")


def write_accepted(
    file: Path,
    findings: Sequence[DriftFinding],
    reason: str,
    today: date,
    expires: date | None = None,
) -> None:
    """Add an entry for each finding to a file, which is made if it does not exist.

    Raises:
        BadAcceptedFile: The file cannot be read or written.
    """
    from ruamel.yaml import YAML
    from ruamel.yaml.comments import CommentedMap

    engine = YAML()
    engine.width = 100
    text = _read(file) if file.exists() else _HEAD
    document = engine.load(text)
    if document is None:
        document = engine.load(_HEAD)
    rows = document[_TOP]
    rows.fa.set_block_style()
    for finding in findings:
        row = CommentedMap(
            id=finding.id,
            kind=finding.kind,
            where=finding.where,
            expected=finding.expected,
            got=finding.got,
            reason=reason,
            accepted=today,
        )
        if expires is not None:
            row["expires"] = expires
        rows.append(row)
    stream = io.StringIO()
    engine.dump(document, stream)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(stream.getvalue(), "utf-8")
    except OSError as fault:
        raise BadAcceptedFile(f"{file} cannot be written: {fault.strerror}") from fault


def choose(report: Report, ids: Sequence[str]) -> list[DriftFinding]:
    """Return the findings with these ids, or all that are not accepted for `all`.

    Raises:
        ValueError: There is no finding with an id.
    """
    if "all" in ids:
        return report.list_open()
    by_id = {each.id: each for each in report.findings}
    for wanted in ids:
        if wanted not in by_id:
            near = get_close_matches(wanted, by_id, 1)
            hint = f" Did you mean {near[0]}?" if near else ""
            raise ValueError(f"No difference with the id {wanted} was found.{hint}")
    return [by_id[wanted] for wanted in ids if by_id[wanted].accepted is None]


def _load(file: Path) -> Any:
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    text = _read(file)
    try:
        return YAML().load(text)
    except MarkedYAMLError as fault:
        mark = fault.problem_mark
        place = "1:1" if mark is None else f"{mark.line + 1}:{mark.column + 1}"
        raise BadAcceptedFile(f"{file}:{place}: not YAML: {fault.problem}") from fault
    except (YAMLError, ValueError, RecursionError) as fault:
        raise BadAcceptedFile(f"{file}:1:1: not YAML: {fault}") from fault


def _read(file: Path) -> str:
    try:
        if file.stat().st_size > MAX_BYTES:
            raise BadAcceptedFile(f"{file} is larger than {MAX_BYTES // 1024**2} MiB")
        return file.read_text("utf-8")
    except OSError as fault:
        raise BadAcceptedFile(f"{file} cannot be read: {fault.strerror}") from fault
    except UnicodeDecodeError as fault:
        raise BadAcceptedFile(f"{file} is not UTF-8: {fault.reason}") from fault


def _read_entry(file: Path, rows: Any, position: int) -> AcceptedEntry:
    row = rows[position]
    line, column = rows.lc.item(position)
    place = f"{file}:{line + 1}"
    if not isinstance(row, dict):
        raise BadAcceptedFile(f"{place}:{column + 1}: an entry has keys: {', '.join(_KEYS)}")
    for fault, key in _list_faults(row):
        at = _find_place(row, key) or (line, column)
        raise BadAcceptedFile(f"{file}:{at[0] + 1}:{at[1] + 1}: {fault}")
    operations = row.get("operations", ())
    return AcceptedEntry(
        place,
        row.get("id"),
        row.get("kind"),
        # The id says it all; what stands beside it is for people.
        {name: str(row[name]) for name in _PATTERNS if name in row and "id" not in row},
        (operations,) if isinstance(operations, str) else tuple(operations),
        str(row["reason"]).strip(),
        _as_date(row["accepted"]),
        _as_date(row["expires"]) if row.get("expires") is not None else None,
    )


def _list_faults(row: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for key in row:
        if key not in _KEYS:
            yield _explain_unknown(str(key), _KEYS), key
    for key in ("reason", "accepted"):
        if not row.get(key):
            yield f"{key} is missing: say {'why' if key == 'reason' else 'since when'}", key
    if not any(key in row for key in ("id", "kind", *_PATTERNS)):
        yield "an entry without id, kind, where, expected and got accepts everything", "reason"
    if "kind" in row and row["kind"] not in KINDS:
        yield f"kind {row['kind']!r} is none of {', '.join(KINDS)}", "kind"
    for key in ("accepted", "expires"):
        if row.get(key) is not None and not isinstance(row[key], date | datetime):
            yield f"{key} must be a date such as 2026-05-31, got {row[key]!r}", key
    operations = row.get("operations", ())
    if not isinstance(operations, str | list | tuple):
        yield "operations must be a pattern or a list of patterns", "operations"
    if "id" in row and not isinstance(row["id"], str):
        yield f"id must be a text in quotes, got {row['id']!r}", "id"


def _find_place(row: Any, key: str) -> tuple[int, int] | None:
    """Return line and column of a key, from 0."""
    found: tuple[int, int] | None = row.lc.key(key) if key in row else None
    return found


def _as_date(value: date | datetime) -> date:
    return value.date() if isinstance(value, datetime) else value


def _explain_unknown(key: str, allowed: Sequence[str]) -> str:
    near = get_close_matches(key, allowed, 1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    return f"unknown key {key!r}, allowed are {', '.join(allowed)}{hint}"
