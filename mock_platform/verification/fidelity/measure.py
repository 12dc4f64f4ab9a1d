"""The figures: what is served of the public interface, and how many points of its answers match.

Each difference has a class. What is `explained` is a difference that a later version made (V), that
the specification wants (S), or that only what was published of a fact makes (F). The others are
promised and different (P), not promised (NP), or a recorded record that is not served as recorded
(L). A difference that no rule of `differences.json` knows is P.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct, convert, field

from mock_platform.api.served import OPERATIONS
from mock_platform.core import installed
from mock_platform.core.call import ABSENT
from mock_platform.core.jsonio import loads
from mock_platform.verification.compare.answers import ComparedAnswer
from mock_platform.verification.fidelity.facts import (
    Fact,
    find_family,
    find_shape,
    is_like,
    list_shapes,
    read_surface,
)
from mock_platform.verification.fidelity.instrument import Instrument
from mock_platform.verification.fidelity.points import (
    ABSENT_TEXT,
    Point,
    ValueForms,
    compare,
    compare_forms,
    has_form,
    list_leaves,
)
from mock_platform.verification.fidelity.sandbox import FactSandbox, Sent

CLASSES: Mapping[str, str] = {
    "P": "promised and different",
    "NP": "not promised",
    "L": "a recorded record is not served as recorded",
    "V": "a later version changed it",
    "S": "the specification says otherwise",
    "F": "what was published of the answer does not show it",
}
EXPLAINED = frozenset("VSF")
_STATUS = "(status)"
_NOT_FOUND = 404
_CUT = 3
"""Items of a list that was cut for publication."""


class DifferenceRule(Struct, frozen=True):
    """What class differences have at the places that a pattern is like."""

    operation: str
    where: str
    kind: str = field(name="class")
    reason: str
    source: str = ""
    expected: str = "*"
    got: str = "*"
    of: str = "*"
    """The kind of facts: `recorded`, `fixture` or `live, reported`."""

    def covers(self, fact: Fact, point: Point) -> bool:
        """Whether a difference of a fact is one of these."""
        return (
            is_like(point.where, self.where)
            and is_like(fact.operation, self.operation)
            and is_like(fact.kind, self.of)
            and is_like(point.expected, self.expected)
            and is_like(point.got, self.got)
        )


class NamedDifference(Struct):
    """Equal differences of an operation, with their class."""

    operation: str
    where: str
    kind: str
    reason: str
    expected: str
    got: str
    count: int = 0

    def as_json(self) -> dict[str, Any]:
        """Return the difference as JSON data."""
        return {
            "operation": self.operation,
            "where": self.where,
            "class": self.kind,
            "expected": self.expected,
            "got": self.got,
            "count": self.count,
            "reason": self.reason,
        }


class FamilyFigures(Struct):
    """The three figures of one subject."""

    family: str
    public: int = 0
    served: int = 0
    promised: int = 0
    promised_served: int = 0
    compared: int = 0
    match: int = 0
    explained: int = 0

    def as_json(self) -> dict[str, Any]:
        """Return the figures as JSON data."""
        return {
            "surface": {"public": self.public, "served": self.served},
            "promised": {"public": self.promised, "served": self.promised_served},
            "points": {
                "compared": self.compared, "match": self.match, "explained": self.explained,
            },
        }  # fmt: skip

    def add(self, other: FamilyFigures) -> None:
        """Add the figures of another subject."""
        for name in self.__struct_fields__[1:]:
            setattr(self, name, getattr(self, name) + getattr(other, name))


class Measurement(Struct):
    """Everything that was measured."""

    families: list[FamilyFigures]
    differences: list[NamedDifference]
    facts: int = 0
    sources: int = 0
    operations: int = 0
    """Those about which there are facts."""
    missing: list[str] = field(default_factory=list)
    """Public operations that are not served."""
    notes: list[str] = field(default_factory=list)

    @property
    def total(self) -> FamilyFigures:
        """The figures of all subjects."""
        total = FamilyFigures("all")
        for each in self.families:
            total.add(each)
        return total

    def count_class(self, kind: str) -> int:
        """Return how many points differ with a class."""
        return sum(each.count for each in self.differences if each.kind == kind)

    def as_json(self) -> dict[str, Any]:
        """Return the measurement as JSON data."""
        return {
            "facts": self.facts,
            "sources": self.sources,
            "operations": self.operations,
            **self.total.as_json(),
            "classes": {kind: self.count_class(kind) for kind in CLASSES},
            "families": [{"family": each.family, **each.as_json()} for each in self.families],
            "missing": self.missing,
            "differences": [each.as_json() for each in self.differences],
            "notes": self.notes,
        }


def read_rules() -> list[DifferenceRule]:
    """Return the rules of the project, in their order: the first one counts."""
    read = loads((installed.folder("fidelity") / "differences.json").read_bytes())
    return convert(read, list[DifferenceRule])


class Measure:
    """Compares one fact after the other, and counts."""

    def __init__(self, instrument: Instrument, rules: Sequence[DifferenceRule]) -> None:
        self._instrument = instrument
        self._rules = rules
        self._served = list_shapes(OPERATIONS)
        self._families: dict[str, FamilyFigures] = {}
        self._differences: dict[tuple[str, str, str, str], NamedDifference] = {}
        self._sources: set[str] = set()
        self._operations: set[str] = set()
        self._facts = 0
        self._notes: list[str] = []

    def add(self, fact: Fact, sent: Sent, *, by_form: bool = False) -> None:
        """Compare the answer to a fact's request with the real one."""
        self._facts += 1
        self._sources.add(fact.source.partition("@")[0])
        self._operations.add(fact.operation)
        if sent.answer is None:
            self.note(f"{fact.operation}: {'; '.join(sent.notes[-1:])}")
        found = list(_list_points(fact, sent.answer, self._instrument, by_form=by_form))
        family = self._find_family(fact.family)
        status = next((self._find_rule(fact, x) for x in found if x.where == _STATUS), None)
        for point in found:
            family.compared += 1
            if point.matches:
                family.match += 1
                continue
            rule = self._find_rule(fact, point) or (status if point.where != _STATUS else None)
            kind, reason = self._guess(fact, point) if rule is None else (rule.kind, rule.reason)
            family.explained += kind in EXPLAINED
            key = (fact.operation, point.where, kind, reason)
            kept = self._differences.setdefault(
                key,
                NamedDifference(
                    fact.operation, point.where, kind, reason, point.expected, point.got
                ),
            )
            kept.count += 1

    def note(self, text: str) -> None:
        """Keep a note about what was not compared."""
        self._notes.append(text)

    def finish(self) -> Measurement:
        """Return the figures of all facts that were added, with those of the surface."""
        missing = self._add_surface()
        order = list(CLASSES)
        return Measurement(
            sorted(self._families.values(), key=lambda each: each.family),
            sorted(
                self._differences.values(),
                key=lambda x: (order.index(x.kind), -x.count, x.operation, x.where),
            ),
            self._facts,
            len(self._sources),
            len(self._operations),
            missing,
            self._notes,
        )

    def _add_surface(self) -> list[str]:
        missing = []
        for each in read_surface():
            figures = self._find_family(find_family(each.operation))
            is_served = find_shape(*each.operation.split(" ", 1)) in self._served
            figures.public += 1
            figures.served += is_served
            figures.promised += each.promised
            figures.promised_served += each.promised and is_served
            if not is_served:
                missing.append(each.operation)
        return missing

    def _guess(self, fact: Fact, point: Point) -> tuple[str, str]:
        """Return class and reason of a difference that no rule knows."""
        method, path = fact.operation.split(" ", 1)
        if method not in {"ERROR", "STREAM"} and find_shape(method, path) not in self._served:
            if fact.exchange.response.status == _NOT_FOUND:
                return "V", "an unknown path had a page in 2021, and has an empty answer in 2026"
            return "NP", "the operation is not served"
        is_success = fact.exchange.request.method == "GET" and fact.exchange.response.status == 200
        is_header = point.where in self._instrument.headers
        if (
            is_success
            and point.expected != ABSENT_TEXT
            and not is_header
            and point.where != _STATUS
        ):
            return "L", "a recorded value is not served as recorded"
        return "P", "no rule knows it"

    def _find_family(self, name: str) -> FamilyFigures:
        return self._families.setdefault(name, FamilyFigures(name))

    def _find_rule(self, fact: Fact, point: Point) -> DifferenceRule | None:
        if point.matches:
            return None
        return next((x for x in self._rules if x.covers(fact, point)), None)


def measure(
    facts: Iterable[Fact],
    ask: Callable[[Fact], tuple[Fact, Sent | str]],
    *,
    by_form: bool = False,
) -> Measurement:
    """Return the figures of facts; `ask` returns each with the answer, or why there was no use."""
    found = Measure(Instrument.read(), read_rules())
    for each in facts:
        fact, sent = ask(each)
        if isinstance(sent, str):
            found.note(f"{fact.operation}: {sent}")
        else:
            found.add(fact, sent, by_form=by_form)
    return found.finish()


def measure_sandbox(facts: Iterable[Fact]) -> Measurement:
    """Return the figures of the sandbox for these facts."""
    logging.disable(logging.WARNING)  # of records: what they hold is what is compared
    try:
        return measure(facts, FactSandbox(Instrument.read()).ask)
    finally:
        logging.disable(logging.NOTSET)


def _list_points(
    fact: Fact, answer: ComparedAnswer | None, instrument: Instrument, *, by_form: bool
) -> Iterator[Point]:
    response = fact.exchange.response
    if answer is None:
        yield Point(_STATUS, str(response.status), "no answer", matches=False)
        for where, value in list_leaves(fact.body, ""):
            yield Point(where, str(value)[:80], "no answer", matches=False)
        return
    same = response.status == answer.status
    yield Point(_STATUS, str(response.status), str(answer.status), matches=same)
    for name, way in instrument.headers.items():
        expected = response.header(name)
        if expected is None:
            continue
        got = answer.headers.get(name)
        matches = got == expected or (
            got is not None and (way == "form" or by_form) and has_form(expected, got)
        )
        yield Point(name, expected[:80], "absent" if got is None else got[:80], matches)
    body: Any = answer.json
    if body is ABSENT:
        body = answer.body.decode("utf-8", "replace")
    if by_form:
        yield from compare_forms(fact.body, body)
        return
    cut = _CUT if fact.is_edited else None
    yield from compare(fact.body, body, ValueForms(instrument.list_live(fact.operation), cut))
