"""What a comparison found, operation by operation, and equal differences put together.

A reviewer reads the findings, and what they say about assumptions.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Any, Literal

from msgspec import Struct, field

from mock_platform.core.assumptions import Assumption
from mock_platform.core.operation import Operation
from mock_platform.settings import NamesMode
from mock_platform.verification.compare.compare import Difference, DifferenceKind
from mock_platform.verification.compare.plan import PROBE_KINDS, SkippedOperation

_MAX_EQUAL = 500
"""Probes of an operation that are kept although nothing differs: archives have very many."""


class AskedProbe(Struct, frozen=True):
    """A probe that was sent to both servers, and how the answers differ."""

    probe: str
    target: str
    """Method, path and query as the other server got them."""
    status: int
    differences: tuple[Difference, ...]
    assumptions: tuple[str, ...]
    """The ids of those on which the sandbox's answer rests."""


class CheckedOperation(Struct):
    """An operation that was asked, with its probes."""

    operation: str
    probes: list[AskedProbe] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """What could not be compared, and why."""
    equal: int = 0
    """Further probes, whose answers are equal and rest on the same assumptions as others."""
    left_out: list[tuple[str, str]] = field(default_factory=list)
    """The probes that were not asked or not compared, each with the reason."""
    _rests_on: set[tuple[str, ...]] = field(default_factory=set)

    def add(self, asked: AskedProbe) -> None:
        """Keep a probe, or only count it if it says nothing that others do not."""
        is_known = not asked.differences and asked.assumptions in self._rests_on
        if is_known and len(self.probes) >= _MAX_EQUAL:
            self.equal += 1
            return
        self._rests_on.add(asked.assumptions)
        self.probes.append(asked)

    def leave_out(self, probe: str, reason: str) -> None:
        """Note that a probe was not compared."""
        self.left_out.append((probe, reason))

    @property
    def differs(self) -> bool:
        """Whether an answer differs."""
        return any(each.differences for each in self.probes)


class Drift(Struct, frozen=True):
    """The result of a comparison."""

    checked: tuple[CheckedOperation, ...]
    skipped: tuple[SkippedOperation, ...]
    notes: tuple[str, ...] = ()

    @property
    def differs(self) -> bool:
        """Whether any answer differs."""
        return any(each.differs for each in self.checked)

    @property
    def requests(self) -> int:
        """How many requests were compared."""
        return sum(len(each.probes) + each.equal for each in self.checked)


class DriftScope(Struct, frozen=True):
    """What is compared: which operations, which kinds of probes, and whether values count."""

    only: tuple[str, ...] = ()
    """Patterns of operation ids; empty for all."""
    skip: tuple[str, ...] = ()
    """Patterns of operation ids that are not asked at all, not even for their values."""
    kinds: Collection[str] = PROBE_KINDS
    same_data: bool = False
    """Whether both servers have the same records, so that values are compared as well."""
    names: NamesMode = "neutral"
    """The names of the other server."""
    given: Mapping[str, str] = field(default_factory=dict)
    """Values of parameters for the other server, which its lists do not show."""

    def covers(self, operation: Operation) -> bool:
        """Return whether an operation is compared."""
        return not self.only or any(fnmatchcase(operation.id, each) for each in self.only)

    def skips(self, operation: Operation) -> bool:
        """Return whether an operation must not be asked."""
        return any(fnmatchcase(operation.id, each) for each in self.skip)


Verdict = Literal["refuted", "in doubt", "confirmed"]
_MAX_PLACES = 200
_MAX_FINDINGS = 2000
_ID_CHARACTERS = 10
_OR = " or "
_WORD = re.compile(r"[a-z0-9_]{3,}", re.ASCII)
_COMMON = frozenset({"data", "request", "params", "meta", "body", "status", "header", "errors"})


class Occurrence(Struct, frozen=True):
    """One answer in which a finding was seen."""

    operation: str
    probe: str
    target: str
    where: str
    example: str

    def as_json(self) -> dict[str, str]:
        """Return the occurrence as JSON data."""
        found = {
            "operation": self.operation,
            "probe": self.probe,
            "request": self.target,
            "where": self.where,
        }
        return found | ({"example": self.example} if self.example else {})


class DriftFinding(Struct):
    """A difference, everywhere it was seen."""

    kind: DifferenceKind
    where: str
    """The place; of a form that differs at many places, `*`."""
    expected: str
    got: str
    count: int = 0
    occurrences: list[Occurrence] = field(default_factory=list)
    """The first ones; `count` is their number."""
    operations: dict[str, None] = field(default_factory=dict)
    assumptions: dict[str, Verdict] = field(default_factory=dict)
    """The assumptions that rest on it, by id."""
    accepted: str | None = None
    """Why it is accepted; `None` if it is not."""
    original: dict[str, str] = field(default_factory=dict)
    """`where`, `expected` and `got` with original names, where these are others."""

    @property
    def id(self) -> str:
        """A short name that stays the same as long as the difference does."""
        text = "\n".join(_list_lasting(self.kind, self.where, self.expected, self.got))
        digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
        return digest[:_ID_CHARACTERS]

    @property
    def places(self) -> list[str]:
        """The places where it was seen."""
        return list(dict.fromkeys(each.where for each in self.occurrences))

    def as_json(self) -> dict[str, Any]:
        """Return the finding as JSON data."""
        return {
            "id": self.id,
            "kind": self.kind,
            "where": self.where,
            "expected": self.expected,
            "got": self.got,
            "original": self.original,
            "count": self.count,
            "operations": list(self.operations),
            "places": self.places,
            "assumptions": [{"id": key, "verdict": each} for key, each in self.assumptions.items()],
            "accepted": self.accepted,
            "occurrences": [each.as_json() for each in self.occurrences],
        }


class Report(Struct):
    """Everything that a comparison found, ready to be written in any form."""

    subject: str
    """The address or the file that was compared."""
    findings: list[DriftFinding]
    checked: tuple[CheckedOperation, ...]
    skipped: tuple[SkippedOperation, ...]
    requests: int
    assumptions: dict[str, Verdict] = field(default_factory=dict)
    """What the answers say about each assumption that one of them depends on."""
    texts: Mapping[str, Assumption] = field(default_factory=dict)
    stale: list[str] = field(default_factory=list)
    """Accepted differences that were not found, or are accepted no longer."""
    notes: list[str] = field(default_factory=list)

    def list_open(self) -> list[DriftFinding]:
        """Return the findings that are not accepted."""
        return [each for each in self.findings if each.accepted is None]

    def list_accepted(self) -> list[DriftFinding]:
        """Return the findings that are accepted."""
        return [each for each in self.findings if each.accepted is not None]

    @property
    def differs(self) -> bool:
        """Whether a difference is not accepted."""
        return bool(self.list_open())

    def list_assumptions(self, verdict: Verdict) -> list[str]:
        """Return the ids of the assumptions with this verdict."""
        return [key for key, each in self.assumptions.items() if each == verdict]


class Collector:
    """Puts equal differences together, one answer after the other."""

    def __init__(self, register: Mapping[str, Assumption]) -> None:
        self._register = register
        self._findings: dict[tuple[str, ...], DriftFinding] = {}
        self.verdicts: dict[str, Verdict] = {}
        """What the answers say about each assumption, by id."""
        self.dropped = 0
        """Differences for which there was no room."""

    def add(self, operation: str, asked: AskedProbe) -> list[DriftFinding]:
        """Count the differences of an answer, and return their findings."""
        found = []
        for key in asked.assumptions:
            # An assumption is confirmed by each answer that depends on it and does not differ. A
            # difference that names what it is about refutes it for good; any other difference only
            # makes it doubtful.
            self.verdicts.setdefault(key, "confirmed")
        for difference in asked.differences:
            finding = self._find(difference)
            if finding is None:
                self.dropped += 1
                continue
            _count(finding, operation, asked, difference)
            found.append(finding)
            for key, verdict in _judge(asked, difference, self._register):
                if finding.assumptions.get(key) != "refuted":
                    finding.assumptions[key] = verdict
                if self.verdicts[key] != "refuted":
                    self.verdicts[key] = verdict
        return found

    def list_findings(self) -> list[DriftFinding]:
        """Return the findings, those in most operations first."""
        for finding in self._findings.values():
            # Where an assumption is about the place itself, the others say nothing.
            if "refuted" in finding.assumptions.values():
                for key in [k for k, each in finding.assumptions.items() if each != "refuted"]:
                    del finding.assumptions[key]
        return sorted(self._findings.values(), key=lambda x: (-len(x.operations), x.where))

    def _find(self, each: Difference) -> DriftFinding | None:
        where = "*" if each.kind == "format" else each.where
        key = _list_lasting(each.kind, where, each.expected, each.got)
        found = self._findings.get(key)
        if found is None and len(self._findings) < _MAX_FINDINGS:
            found = DriftFinding(each.kind, where, each.expected, each.got)
            self._findings[key] = found
        return found


def make_report(drift: Drift, subject: str, register: Mapping[str, Assumption]) -> Report:
    """Return the findings of a comparison; `register` holds all assumptions by id."""
    collector = Collector(register)
    for checked in drift.checked:
        for asked in checked.probes:
            collector.add(checked.operation, asked)
    report = Report(
        subject,
        collector.list_findings(),
        drift.checked,
        drift.skipped,
        drift.requests,
        dict(sorted(collector.verdicts.items())),
        register,
    )
    report.notes += drift.notes
    if collector.dropped:
        report.notes.append(f"{collector.dropped:,} more differences are not listed")
    return report


def _list_lasting(
    kind: DifferenceKind, where: str, expected: str, got: str
) -> tuple[str, str, str, str]:
    """Return what is the same wherever and whenever a difference is seen.

    The types of a key that one server lacks are left out: each answer shows some of them.
    """
    if kind in {"missing", "extra"}:
        return kind, where, "", ""
    return kind, where, expected, got


def _add_types(known: str, seen: str) -> str:
    """Return the types that are known of a key, with those that another answer shows."""
    return _OR.join(dict.fromkeys([*known.split(_OR), *seen.split(_OR)]))


def _count(finding: DriftFinding, operation: str, asked: AskedProbe, each: Difference) -> None:
    finding.count += 1
    if each.kind == "missing":
        finding.expected = _add_types(finding.expected, each.expected)
    elif each.kind == "extra":
        finding.got = _add_types(finding.got, each.got)
    finding.operations[operation] = None
    for name, text in each.original.items():
        if name != "where" or finding.where != "*":
            finding.original.setdefault(name, text)
    if len(finding.occurrences) < _MAX_PLACES:
        seen = Occurrence(operation, asked.probe, asked.target, each.where, each.example)
        finding.occurrences.append(seen)


def _judge(
    asked: AskedProbe, difference: Difference, register: Mapping[str, Assumption]
) -> Iterable[tuple[str, Verdict]]:
    """Return what a difference says about each assumption of the sandbox's answer.

    One that names the place, the header, the code or the parameter is refuted; of the others it is
    only known that an answer which depends on them differs.
    """
    names = _list_names(difference, asked)
    for key in asked.assumptions:
        assumption = register.get(key)
        words = set() if assumption is None else set(_WORD.findall(assumption.text.lower()))
        # Ids are words with hyphens: ads.next-cursor-null is about next_cursor.
        words |= set(_WORD.findall(key.rpartition(".")[2].replace("-", "_")))
        if difference.kind == "media type" and names.isdisjoint(words):
            continue  # how a body is announced says nothing about what is in it
        yield key, "in doubt" if names.isdisjoint(words) else "refuted"


def _list_names(difference: Difference, asked: AskedProbe) -> set[str]:
    place = difference.where.replace("[]", "").replace("(body)", "").lower()
    # Which assumption a difference is about is found by words: the names at its place against the
    # words of the assumption. Short and common words would match anything and are left out.
    names = {place.rpartition(".")[2].replace("-", "_")}
    if difference.kind in {"order", "filter", "paging", "status", "code", "wording"}:
        names.add(asked.probe.partition("=")[0])
    if difference.kind == "order":
        names.add("sort_by")
    if difference.kind in {"status", "code"}:
        names |= set(_WORD.findall(f"{difference.expected} {difference.got}".lower()))
    return {name for name in names if len(name) > 2 and name not in _COMMON}
