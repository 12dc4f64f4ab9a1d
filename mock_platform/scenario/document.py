"""Scenario documents: read from YAML or JSON, complained about by place, bound to parameters.

Loading checks everything that does not depend on parameters; activating puts their values in and
checks the result again, so a rule that is armed is always sound.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path as FilePath
from typing import Any

from mock_platform.scenario import deliveries, match
from mock_platform.scenario.deliveries import DELIVERIES
from mock_platform.scenario.effects import KINDS
from mock_platform.scenario.effects.effect import Effect
from mock_platform.scenario.schema import BEFORE_AUTH, EVERYTHING, forms
from mock_platform.scenario.shapes import Path, Report, reference, shown
from mock_platform.scenario.source import Malformed, Source, read
from mock_platform.world.mishaps import Mishap

SUFFIXES = (".yaml", ".yml", ".json")
_ANY: Any = object()


@dataclass(frozen=True, slots=True)
class Complaint:
    """One fault of a document: file, place from 1, the field, what is wrong and what is allowed."""

    file: FilePath
    line: int
    column: int
    field: str
    text: str

    def __str__(self) -> str:
        where = f"{self.field}: " if self.field else ""
        return f"{self.file}:{self.line}:{self.column}: {where}{self.text}"


class BadScenario(ValueError):
    """A document with faults; `complaints` holds all of them."""

    def __init__(self, complaints: Sequence[Complaint]) -> None:
        super().__init__("\n".join(str(complaint) for complaint in complaints))
        self.complaints = list(complaints)


class BadParameters(ValueError):
    """Values that a scenario cannot be activated with; `faults` are (parameter, text)."""

    def __init__(self, name: str, faults: Sequence[tuple[str, str]]) -> None:
        told = "; ".join(f"{parameter}: {text}" if parameter else text
                         for parameter, text in faults)  # fmt: skip
        super().__init__(f"The scenario {name!r} cannot be activated so: {told}")
        self.faults = list(faults)


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule, its parameters bound: when it acts, and what it does."""

    on: tuple[str, ...]
    when: Mapping[str, Any]
    first: int
    last: int | None
    every: int
    times: int | None
    probability: float | None
    effects: tuple[Effect, ...]
    expected: bool
    before_auth: bool
    mishap: Mishap | None = None
    """What befalls a delivery, where the rule acts on deliveries."""
    next_state: str | None = None
    """The state that a delivery moves the scenario to."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """A sound document. `bind` makes rules of it."""

    name: str
    description: str
    spec: str
    parameters: Mapping[str, Any]
    document: Mapping[str, Any]
    operations: tuple[str, ...]
    """Ids of all operations that there are."""
    file: FilePath | None = None
    needs_connection: bool = field(default=False)
    """Whether the server must be able to break connections."""

    def bind(self, parameters: Mapping[str, Any]) -> tuple[Rule, ...]:
        """The rules with these values, and the defaults where none is given; null is any.

        Raises:
            BadParameters: One is unknown, or a value does not fit where the scenario uses it.
        """
        values = self._values(parameters)
        bound = [_bound(rule, values) for rule in self.document["rules"]]
        faults: list[tuple[str, str]] = []
        for index, rule in enumerate(bound):
            self._check(rule, index, faults)
        if faults:
            raise BadParameters(self.name, faults)
        return tuple(_rule(rule, self.operations) for rule in bound)

    def _values(self, given: Mapping[str, Any]) -> dict[str, Any]:
        faults = []
        for name, value in given.items():
            if name not in self.parameters:
                known = ", ".join(self.parameters) or "none"
                near = get_close_matches(name, list(self.parameters), 1)
                hint = f" Did you mean {near[0]!r}?" if near else ""
                faults.append((name, f"is no parameter; its parameters: {known}.{hint}"))
                continue
            default = self.parameters[name]
            if value is not None and default is not None and _kind(value) != _kind(default):
                text = f"expected {_kind(default)} like {shown(default)}, got {shown(value)}"
                faults.append((name, text))
        if faults:
            raise BadParameters(self.name, faults)
        return {**self.parameters, **given}

    def _check(self, rule: dict[str, Any], index: int, faults: list[tuple[str, str]]) -> None:
        raw = self.document["rules"][index]

        def report(at: Path, text: str) -> None:
            named = _reference_at(raw, at)
            place = "" if named else f"{_dotted(('rules', index, *at))}: "
            faults.append((named, place + text))

        forms(self.operations).rule.check(rule, (), report)
        if not faults:
            _cross_check_rule(rule, (), report)


# -- loading -------------------------------------------------------------------------------------


def load(file: FilePath, operations: Sequence[str]) -> Scenario:
    """The scenario of a file.

    Raises:
        BadScenario: The file has faults, or cannot be read.
    """
    if file.suffix not in SUFFIXES:
        text = f"scenario files end in {', '.join(SUFFIXES)}"
        raise BadScenario([Complaint(file, 1, 1, "", text)])
    try:
        content = file.read_bytes()
        source = read(file, content)
    except OSError as fault:
        reason = fault.strerror or str(fault)
        raise BadScenario([Complaint(file, 1, 1, "", f"cannot be read: {reason}")]) from fault
    except Malformed as fault:
        raise BadScenario([Complaint(file, fault.line, fault.column, "", fault.text)]) from fault
    return scenario(source, operations, file)


def loads(text: str | bytes, operations: Sequence[str], name: str = "scenario.yaml") -> Scenario:
    """The scenario of a text; `name` tells YAML from JSON, and stands in complaints.

    Raises:
        BadScenario: The text has faults.
    """
    file = FilePath(name)
    content = text.encode() if isinstance(text, str) else text
    try:
        source = read(file, content)
    except Malformed as fault:
        raise BadScenario([Complaint(file, fault.line, fault.column, "", fault.text)]) from fault
    return scenario(source, operations)


def scenario(source: Source, operations: Sequence[str], file: FilePath | None = None) -> Scenario:
    """The scenario of a document that was read.

    Raises:
        BadScenario: It has faults.
    """
    known = tuple(operations)
    complaints: list[Complaint] = []

    def report(at: Path, text: str) -> None:
        complaints.append(Complaint(source.file, *source.place(at), _dotted(at), text))

    document = source.data
    forms(known).document.check(document, (), report)
    if not complaints:
        _cross_check(document, report)
    if complaints:
        raise BadScenario(sorted(complaints, key=lambda fault: (fault.line, fault.column)))
    return Scenario(
        name=document["name"],
        description=document.get("description", ""),
        spec=document.get("spec", ""),
        parameters=document.get("parameters") or {},
        document=document,
        operations=known,
        file=file,
        needs_connection=any(
            True
            for rule in document["rules"]
            for effect in _listed(rule["then"])
            for keyword in effect
            if keyword in KINDS and KINDS[keyword].needs_connection
        ),
    )


def _cross_check(document: Mapping[str, Any], report: Report) -> None:
    """What the form alone cannot tell: parameters that are not declared, effects at odds."""
    parameters = document.get("parameters") or {}
    for index, rule in enumerate(document["rules"]):
        for at, name in _references(rule, ("rules", index)):
            if name not in parameters:
                declared = ", ".join(parameters) or "none"
                near = get_close_matches(name, list(parameters), 1)
                hint = f" Did you mean ${near[0]}?" if near else ""
                report(at, f"${name} is no parameter of this scenario; declared: {declared}.{hint} "
                           f"For the text itself write $${name}.")  # fmt: skip
        _cross_check_rule(rule, ("rules", index), report)


def _cross_check_rule(rule: Mapping[str, Any], at: Path, report: Report) -> None:
    match.cross_check(rule.get("when", {}), (*at, "when"), report)
    call = rule.get("call")
    if isinstance(call, dict) and _last(call) < _first(call):
        report((*at, "call", "to"), f"to must not be before from, got {shown(call)}")
    effects = _listed(rule["then"])
    if rule.get("on") == DELIVERIES:
        inside = isinstance(rule["then"], list)
        places = [(*at, "then", i) if inside else (*at, "then") for i in range(len(effects))]
        deliveries.cross_check(effects, places, report)
        return
    inside = isinstance(rule["then"], list)

    def place(index: int, keyword: str) -> Path:
        return (*at, "then", index, keyword) if inside else (*at, "then", keyword)

    seen: dict[str, str] = {}
    for index, effect in enumerate(effects):
        keyword = next(name for name in KINDS if name in effect)
        kind = KINDS[keyword]
        role = "answer" if kind.answers else keyword
        if role in seen and role in {"answer", "fault"}:
            text = f"{keyword} and {seen[role]} cannot act on one request; make two rules of them"
            report(place(index, keyword), text)
        seen[role] = keyword
        if kind.changes_answer:
            seen["true answer"] = keyword
    replaced = seen.get("answer")
    if replaced is not None and replaced not in {"rate_limit", "items"} and "true answer" in seen:
        index = next(i for i, effect in enumerate(effects) if seen["true answer"] in effect)
        text = f"patch acts on the true answer, which {replaced} replaces; drop one of them"
        report(place(index, "patch"), text)
    if rule.get("stage") == BEFORE_AUTH and "caller" in rule.get("when", {}):
        text = "the caller is not known before authentication; leave the stage out"
        report((*at, "when", "caller"), text)


def _first(call: Mapping[str, Any]) -> float:
    """From which matching call a rule acts, as far as that is known yet."""
    first = call.get("from", 1)
    return first if isinstance(first, int) else 1


def _last(call: Mapping[str, Any]) -> float:
    last = call.get("to")
    return last if isinstance(last, int) else math.inf


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _references(value: Any, at: Path) -> list[tuple[Path, str]]:
    """Every parameter that a value names, with its place."""
    name = reference(value)
    if name is not None:
        return [(at, name)]
    found: list[tuple[Path, str]] = []
    if isinstance(value, dict):
        for key, item in value.items():
            tail = reference(key.partition("/")[2])
            if tail is not None:
                found.append(((*at, key), tail))
            found += _references(item, (*at, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            found += _references(item, (*at, index))
    return found


def _reference_at(raw: Any, at: Path) -> str:
    """The parameter that stands at a place of the unbound rule, or around it; empty if none."""
    for step in at:
        named = reference(raw)
        if named is not None:
            return named
        try:
            raw = raw[step]
        except (KeyError, IndexError, TypeError):
            break
    return reference(raw) or ""


def _dotted(at: Path) -> str:
    text = ""
    for step in at:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text


# -- binding -------------------------------------------------------------------------------------


def _bound(value: Any, values: Mapping[str, Any]) -> Any:
    """A value with its parameters put in; what is any (null) is left out."""
    name = reference(value)
    if name is not None:
        return _ANY if values[name] is None else values[name]
    if isinstance(value, str):
        return value[1:] if value.startswith("$$") else value
    if isinstance(value, dict):
        found = {}
        for key, item in value.items():
            bound = _bound(item, values)
            if bound is not _ANY:
                found[_bound_key(key, values)] = bound
        # A condition or an object of which nothing is left restricts nothing.
        return _ANY if value and not found else found
    if isinstance(value, list):
        return [bound for item in value if (bound := _bound(item, values)) is not _ANY]
    return value


def _bound_key(key: str, values: Mapping[str, Any]) -> str:
    """`TABLE/$name` with the parameter put in."""
    table, slash, tail = key.partition("/")
    name = reference(tail)
    if name is None:
        return key
    return f"{table}{slash}{'' if values[name] is None else values[name]}"


def _rule(rule: Mapping[str, Any], operations: tuple[str, ...]) -> Rule:
    on = rule.get("on", EVERYTHING)
    named = operations if on == EVERYTHING else tuple(dict.fromkeys(_listed(on)))
    call = rule.get("call", {})
    first, last, every = 1, None, 1
    if isinstance(call, int):
        first = last = call
    else:
        first, last, every = call.get("from", 1), call.get("to"), call.get("every", 1)
    effects, made = _listed(rule["then"]), []
    delivery = on == DELIVERIES
    for effect in () if delivery else effects:
        keyword = next(name for name in KINDS if name in effect)
        made.append(KINDS[keyword].make(effect))
    return Rule(
        on=named,
        when=rule.get("when", {}),
        first=first,
        last=last,
        every=every,
        times=rule.get("times"),
        probability=rule.get("probability"),
        effects=tuple(made),
        expected=rule.get("expect") == "fired",
        before_auth=rule.get("stage") == BEFORE_AUTH,
        mishap=deliveries.mishap(effects) if delivery else None,
        next_state=deliveries.next_state(effects) if delivery else None,
    )


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, int | float):
        return "a number"
    if isinstance(value, str):
        return "text"
    return "a list" if isinstance(value, list) else "an object"
