"""Scenario documents: read from YAML or JSON with the files they name, checked with places, bound.

Loading checks everything that does not depend on parameters; activating puts their values in and
checks the result again, so an active rule is always valid.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path as FilePath
from typing import Any

from msgspec import Struct, field

from mock_platform.core.documents.forms import (
    FaultReport,
    is_duration,
    is_number,
    is_reference,
    parse_reference,
    read_instant,
)
from mock_platform.core.documents.source import (
    MAX_VALUES,
    SCENARIO,
    Malformed,
    Path,
    Source,
    count_values,
    format_path,
    quote,
    read,
    read_file,
)
from mock_platform.core.errors import MAX_FAULTS, BadParameters, BadScenario, did_you_mean
from mock_platform.scenario import deliveries
from mock_platform.scenario.catalog import Catalog, CustomRoute, list_paths, list_routes
from mock_platform.scenario.checking import (
    as_list,
    check_defaults,
    check_references,
    find_parameter_names,
    find_violations,
    is_without_request,
)
from mock_platform.scenario.effects import KINDS
from mock_platform.scenario.effects.collection import find_item_violations
from mock_platform.scenario.effects.effect import Effect
from mock_platform.scenario.outline import SUFFIXES
from mock_platform.scenario.references import find_reference_at, find_references, substitute
from mock_platform.scenario.schema import BEFORE_AUTH, EVERYTHING, make_forms
from mock_platform.world.attached import DeliveryFault

# Reads the files that collections of a scenario name, from the folder of the scenario. The
# records take the place of the file's name in the document, so whatever keeps, sends or binds a
# document needs no file.


class _Unusable(ValueError):
    """A file with records that cannot be used."""


def insert_records(
    document: Mapping[str, Any], file: FilePath | None, report: FaultReport
) -> list[FilePath]:
    """Replace the names of files in a document by their records; return the files that were read.

    `file` is the file of the scenario; without one, no file can be named.
    """
    files = []
    for at, effect in list(_find_collections(document)):
        given = effect["collection"]
        named = given.get("file") if isinstance(given, dict) else given
        if not isinstance(named, str):
            continue
        rest = given if isinstance(given, dict) else {}
        place = (*at, "collection", "file") if rest else (*at, "collection")
        try:
            path, records = _read_records(named, file, rest.get("id", "id"))
        except _Unusable as error:
            report(place, str(error))
            continue
        files.append(path)
        kept = {name: value for name, value in rest.items() if name != "file"}
        effect["collection"] = {"items": _escape(records), **kept}
    if files and count_values(document) > MAX_VALUES:
        report(("rules",), f"holds, with its files, more than {MAX_VALUES:,} values")
    return files


def _find_collections(document: Mapping[str, Any]) -> Iterator[tuple[Path, dict[str, Any]]]:
    for index, rule in enumerate(document["rules"]):
        then = rule["then"]
        if isinstance(then, list):
            places: list[tuple[Path, Any]] = [
                (("rules", index, "then", number), each) for number, each in enumerate(then)
            ]
        else:
            places = [(("rules", index, "then"), then)]
        yield from ((at, effect) for at, effect in places if "collection" in effect)


def _read_records(named: str, file: FilePath | None, id_: str) -> tuple[FilePath, list[Any]]:
    """Return the path of a named file, and its records.

    Raises:
        _Unusable: They cannot be used; the text says why.
    """
    if file is None:
        raise _Unusable("only a scenario in a file can name one; write the records here, as a list")
    if "\0" in named:
        raise _Unusable(f"the name of a file has no NUL character, got {named!r}")
    path = file.parent / named
    if not path.resolve().is_relative_to(file.parent.resolve()):
        raise _Unusable(f"{named} is outside of the scenario's folder, {file.parent}")
    if path.suffix != ".json":
        raise _Unusable(f"expected a JSON file (.json), got {named}")
    try:
        source = read_file(path, SCENARIO)
    except Malformed as error:
        raise _Unusable(str(error.complain(path))) from error
    records = source.data
    if not isinstance(records, list):
        raise _Unusable(str(source.complain((), "expected an array of objects")))
    violations = find_item_violations(records, id_)
    if violations:
        index, text = violations[0]
        more = f" ({len(violations)} faults)" if len(violations) > 1 else ""
        raise _Unusable(str(source.complain((index,), f"{text}{more}")))
    return path, records


def _escape(value: Any) -> Any:
    """Return data as a scenario writes it: a text that looks like a parameter gets one more `$`."""
    if isinstance(value, dict):
        return {key: _escape(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_escape(item) for item in value]
    escaped = isinstance(value, str) and (value.startswith("$$") or parse_reference(value))
    return f"${value}" if escaped else value


class Rule(Struct, frozen=True):
    """One rule, its parameters bound: when it acts, and what it does."""

    on: tuple[str, ...]
    when: Mapping[str, Any]
    first: int
    last: int | None
    every: int
    times: int | None
    until: datetime | None
    """The end of the rule on the world's clock."""
    after: datetime | None
    before: datetime | None
    probability: float | None
    effects: tuple[Effect, ...]
    expected: bool
    before_auth: bool
    delivery_fault: DeliveryFault | None = None
    """The fault of a delivery, where the rule acts on deliveries."""
    next_state: str | None = None
    """The state that a delivery moves the scenario to."""
    everywhere: bool = False
    """Whether `on` was written as "*"."""
    routes: tuple[CustomRoute, ...] = ()
    """The routes of paths that no operation serves."""

    @property
    def is_by_number(self) -> bool:
        """Whether only conditions and the number of a call to its one operation or path decide."""
        limits = (self.times, self.until, self.after, self.before, self.probability)
        return (
            all(limit is None for limit in limits)
            and self.every == 1
            and len(self.on) == 1
            and len(self.routes) <= 1
            and not self.everywhere
        )


class Scenario(Struct, frozen=True):
    r"""A valid document; `bind` turns it into rules.

    Example:
        >>> listed = {"id": "lists.get", "method": "GET", "path": "/2/lists/:id"}
        >>> catalog = Catalog.read([{**listed, "sandbox_only": False}])
        >>> scenario = loads(
        ...     "name: gone\n"
        ...     "description: The list is gone.\n"
        ...     "spec: A, Problem object\n"
        ...     "parameters: {status: 410}\n"
        ...     "rules:\n"
        ...     "  - {on: lists.get, then: {problem: 'about:blank', status: $status}}\n",
        ...     catalog,
        ... )
        >>> (rule,) = scenario.bind({"status": 404})
        >>> rule.on, rule.first, len(rule.effects)
        (('lists.get',), 1, 1)
    """

    name: str
    description: str
    spec: str
    parameters: Mapping[str, Any]
    document: Mapping[str, Any]
    catalog: Catalog
    """The operations that exist."""
    file: FilePath | None = None
    files: tuple[FilePath, ...] = ()
    """Files with the records of its collections."""
    needs_connection: bool = field(default=False)
    """Whether the server must be able to break connections."""

    @property
    def card(self) -> Mapping[str, Any]:
        """The parameters with which the console switches it on."""
        found: Mapping[str, Any] = self.document.get("card") or {}
        return found

    def bind(self, parameters: Mapping[str, Any]) -> tuple[Rule, ...]:
        """Return the rules with these values, and the defaults of the others; null means any.

        Raises:
            BadParameters: One is unknown, or a value does not fit where the scenario uses it.
        """
        values = self._merge_values(parameters)
        rules = [substitute(values, rule) for rule in self.document["rules"]]
        violations: list[tuple[str, str]] = []
        for index, (raw, rule) in enumerate(zip(self.document["rules"], rules, strict=True)):
            for at, text in find_violations(rule, self.catalog):
                named = find_reference_at(raw, at)
                place = "" if named else f"{format_path(('rules', index, *at))}: "
                without = "" if named else _say_what_is_left_out(raw, values)
                violations.append((named, place + text + without))
        if violations:
            raise BadParameters(self.name, violations)
        return tuple(_bind_rule(rule, self.catalog) for rule in rules)

    def _names_operations(self, parameter: str) -> bool:
        """Return whether rules are `on` a parameter: an operation, or a list of them."""
        return any(rule.get("on") == f"${parameter}" for rule in self.document["rules"])

    def _merge_values(self, given: Mapping[str, Any]) -> dict[str, Any]:
        violations: list[tuple[str, str]] = []
        for name, value in given.items():
            if len(violations) >= MAX_FAULTS:
                break
            if name not in self.parameters:
                known = ", ".join(self.parameters) or "none"
                hint = did_you_mean(name, self.parameters)
                violations.append((name, f"is no parameter; its parameters: {known}.{hint}"))
                continue
            default = self.parameters[name]
            violations += [(name, text) for text in find_parameter_names(value)]
            takes_both = isinstance(value, str | list) and self._names_operations(name)
            if not (
                value is None or default is None or takes_both or _is_of_one_type(value, default)
            ):
                text = (
                    f"expected {_describe_type(default)} like {quote(default)}, got {quote(value)}"
                )
                violations.append((name, text))
        if violations:
            raise BadParameters(self.name, violations)
        return {**self.parameters, **given}


# -- loading -------------------------------------------------------------------------------------


def load(file: FilePath, catalog: Catalog) -> Scenario:
    """Load the scenario of a file.

    Raises:
        BadScenario: The file has violations, or cannot be read.
    """
    return build_scenario(read_source(file), catalog, file)


def read_source(file: FilePath) -> Source:
    """Read a file as data with places, which need not be a scenario.

    Raises:
        BadScenario: It is neither YAML nor JSON, or cannot be read.
    """
    if file.suffix not in SUFFIXES:
        text = f"scenario files end in {', '.join(SUFFIXES)}"
        raise BadScenario.make(file, text)
    try:
        return read_file(file, SCENARIO)
    except Malformed as error:
        raise BadScenario([error.complain(file)]) from error


def read_text(content: bytes, file: FilePath) -> Source:
    """Read a text as data with places; the suffix of `file` decides between YAML and JSON.

    Raises:
        BadScenario: It is neither.
    """
    try:
        return read(file, content)
    except Malformed as error:
        raise BadScenario([error.complain(file)]) from error


def loads(text: str | bytes, catalog: Catalog, name: str = "scenario.yaml") -> Scenario:
    """Load a scenario from a text; `name` decides between YAML and JSON, and is in complaints.

    Raises:
        BadScenario: The text has violations.
    """
    content = text.encode() if isinstance(text, str) else text
    return build_scenario(read_text(content, FilePath(name)), catalog)


def build_scenario(source: Source, catalog: Catalog, file: FilePath | None = None) -> Scenario:
    """Check a document and return its scenario.

    Raises:
        BadScenario: It has violations.
    """
    report = FaultReport(is_reference)
    document = source.data
    make_forms(catalog.ids).document.check(document, (), report)
    files: list[FilePath] = []
    if not report.faults:
        files = insert_records(document, file, report)
    if not report.faults:
        check_references(document, catalog, report)
    if not report.faults:
        check_defaults(document, catalog, report)
    if report.faults:
        raise BadScenario(report.list_complaints(source))
    scenario = Scenario(
        name=document["name"],
        description=document.get("description", ""),
        spec=document.get("spec", ""),
        parameters=document.get("parameters") or {},
        document=document,
        catalog=catalog,
        file=file,
        files=tuple(files),
        needs_connection=any(
            True
            for rule in document["rules"]
            for effect in as_list(rule["then"])
            for keyword in effect
            if keyword in KINDS and KINDS[keyword].needs_connection
        ),
    )
    if scenario.card:
        try:
            scenario.bind(scenario.card)
        except BadParameters as error:
            for name, text in error.faults:
                report(("card", name) if name else ("card",), text)
            raise BadScenario(report.list_complaints(source)) from error
    return scenario


# -- binding -------------------------------------------------------------------------------------


def _bind_rule(rule: Mapping[str, Any], catalog: Catalog) -> Rule:
    on = rule.get("on", EVERYTHING)
    named = catalog.ids if on == EVERYTHING else tuple(dict.fromkeys(as_list(on)))
    call = rule.get("call", {})
    first, last, every = 1, None, 1
    if isinstance(call, int):
        first = last = call
    else:
        first, last, every = call.get("from", 1), call.get("to"), call.get("every", 1)
    effects, made = as_list(rule["then"]), []
    clock = rule.get("when", {}).get("clock", {})
    delivery = is_without_request(on)
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
        until=read_instant(rule.get("until")),
        after=read_instant(clock.get("after")),
        before=read_instant(clock.get("before")),
        probability=rule.get("probability"),
        effects=tuple(made),
        expected=rule.get("expect") == "fired",
        before_auth=rule.get("stage") == BEFORE_AUTH,
        delivery_fault=deliveries.make_fault(effects) if delivery else None,
        next_state=deliveries.find_next_state(effects) if delivery else None,
        everywhere=on == EVERYTHING,
        routes=tuple(route for path in list_paths(on) for route in list_routes(path)),
    )


def _say_what_is_left_out(rule: Any, values: Mapping[str, Any]) -> str:
    """Return which parameters of a rule are any, so that what they stand for is left out."""
    named = dict.fromkeys(name for _, name in find_references(rule, ()) if values[name] is None)
    return f"; give a value for {', '.join(named)}" if named else ""


def _is_of_one_type(value: Any, default: Any) -> bool:
    """Return whether two values are of one type; a duration may be a number or have units."""
    if _describe_type(value) == _describe_type(default):
        return True
    number, text = (default, value) if isinstance(value, str) else (value, default)
    return is_number(number) and isinstance(text, str) and is_duration(text)


def _describe_type(value: Any) -> str:
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, int | float):
        return "a number"
    if isinstance(value, str):
        return "text"
    return "a list" if isinstance(value, list) else "an object"
