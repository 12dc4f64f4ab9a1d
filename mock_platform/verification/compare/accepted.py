"""The file of accepted differences: what is known to differ, why, since when and until when.

A YAML file for people: comments and order stay when an entry is added. An entry names a finding by
its id, or describes it by patterns.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from datetime import date
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from msgspec import Struct

from mock_platform.core.documents.forms import (
    ANY_NUMBER,
    DAY,
    FaultReport,
    FieldsForm,
    FlagForm,
    JsonSchema,
    ListForm,
    NumberForm,
    TypedForm,
    WordForm,
    load_document,
)
from mock_platform.core.documents.source import DocumentKind
from mock_platform.core.documents.source import Path as Place
from mock_platform.core.errors import BadDocument, did_you_mean
from mock_platform.verification.compare.compare import KINDS
from mock_platform.verification.compare.findings import DriftFinding, Report

MAX_BYTES = 4 * 1024 * 1024
_TOP = "accepted"
_PATTERNS = ("where", "expected", "got")
_KIND = DocumentKind("file of accepted differences", "", MAX_BYTES, MAX_BYTES)
_SCALAR = TypedForm(
    text=WordForm(),
    number=NumberForm(-ANY_NUMBER, ANY_NUMBER),
    flag=FlagForm(),
    what="a text",
)
_ENTRY = FieldsForm(
    {
        "id": WordForm(),
        "kind": WordForm(tuple(KINDS)),
        **dict.fromkeys(_PATTERNS, _SCALAR),
        "operations": TypedForm(
            text=WordForm(),
            items=ListForm(WordForm(), least=0),
            what="a pattern or a list of patterns",
        ),
        "reason": WordForm(least=1),
        "accepted": DAY,
        "expires": TypedForm(text=DAY, null=True, what=DAY.meaning),
    },
    required=("reason", "accepted"),
)


class _EntryForm(Struct, frozen=True):
    """An entry, which names or describes what it accepts."""

    def schema(self) -> JsonSchema:
        """Return the schema of the fields."""
        return _ENTRY.schema()

    def check(self, value: Any, at: Place, report: FaultReport) -> None:
        """Report faults of the fields, and an entry that would accept everything."""
        _ENTRY.check(value, at, report)
        if isinstance(value, dict) and value.keys().isdisjoint(("id", "kind", *_PATTERNS)):
            text = "an entry without id, kind, where, expected and got accepts everything"
            report((*at, "reason"), text)


_DOCUMENT = FieldsForm({_TOP: ListForm(_EntryForm(), least=0, most=MAX_BYTES)}, required=(_TOP,))
_HEAD = """\
# Differences between the sandbox and the real service that are known and accepted.
# An entry names a finding by its id, or by kind, where, expected, got and operations, in which *
# stands for any text. reason and accepted (a date) are required; expires (a date) is optional.
accepted: []
"""

_FILE = TypedForm(object=_DOCUMENT, null=True, what=f"a list under `{_TOP}:`")


class BadAcceptedFile(BadDocument):
    """A file of accepted differences that cannot be used."""


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
    source = load_document(file, _KIND, _FILE, BadAcceptedFile)
    rows = [] if source.data is None else source.data[_TOP]
    return [
        _read_entry(f"{file}:{source.locate((_TOP, number))[0]}", row)
        for number, row in enumerate(rows)
    ]


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
    document = engine.load(file.read_text("utf-8") if file.exists() else _HEAD)
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
        raise BadAcceptedFile.make(file, f"cannot be written: {fault.strerror}") from fault


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
            hint = did_you_mean(wanted, by_id)
            raise ValueError(f"No difference with the id {wanted} was found.{hint}")
    return [by_id[wanted] for wanted in ids if by_id[wanted].accepted is None]


def _read_entry(place: str, row: Mapping[str, Any]) -> AcceptedEntry:
    operations, expires = row.get("operations", ()), row.get("expires")
    return AcceptedEntry(
        place,
        row.get("id"),
        row.get("kind"),
        # The id says it all; what stands beside it is for people.
        {name: str(row[name]) for name in _PATTERNS if name in row and "id" not in row},
        (operations,) if isinstance(operations, str) else tuple(operations),
        row["reason"].strip(),
        date.fromisoformat(row["accepted"]),
        None if expires is None else date.fromisoformat(expires),
    )
