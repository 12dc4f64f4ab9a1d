"""Checks of a scenario document beyond its form: parameters, names, defaults, conflicts."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from mock_platform.core.documents.forms import (
    FaultReport,
    is_reference,
    list_nearest,
    parse_reference,
)
from mock_platform.core.documents.source import Path, format_path, quote
from mock_platform.core.errors import did_you_mean, find_nearest
from mock_platform.core.operation import Location
from mock_platform.scenario import deliveries
from mock_platform.scenario.catalog import (
    Catalog,
    Served,
    check_routes,
    is_collection,
    is_path,
    list_routes,
)
from mock_platform.scenario.deliveries import WITHOUT_REQUEST
from mock_platform.scenario.effects import KINDS
from mock_platform.scenario.effects.effect import EffectKind
from mock_platform.scenario.pattern import check_patterns
from mock_platform.scenario.references import find_reference_at, find_references, substitute
from mock_platform.scenario.schema import BEFORE_AUTH, make_forms

# Checks that the parameters which `when` names exist: those of the operations, or of the path.

_PLACES: Mapping[Location, tuple[str, ...]] = {
    Location.QUERY: ("query", "form"),
    Location.JSON: ("json",),
    Location.UPLOAD: ("query", "form", "json"),
    Location.TEXT: (),
    Location.FORM: ("form",),
    Location.OAUTH: ("query", "form"),
}
_WORDS = {
    "path": "path parameter",
    "query": "query parameter",
    "form": "form parameter",
    "json": "JSON parameter",
}
_PLACE_WORDS = {"query": "the query", "form": "a form", "json": "its JSON body"}


def find_served(on: Any, catalog: Catalog) -> list[Served] | None:
    """Return the operations that `on` names; `None` if it does not name operations alone."""
    if on is None or on == "*":
        return [catalog[id_] for id_ in catalog.ids]
    named = on if isinstance(on, list) else [on]
    if any(not isinstance(each, str) or each not in catalog.ids for each in named):
        return None
    return [catalog[id_] for id_ in named]


def check_names(rule: Mapping[str, Any], at: Path, catalog: Catalog, report: FaultReport) -> None:
    """Report path parameters that do not exist, and misspelt names in the query and in forms."""
    when, on = rule.get("when", {}), rule.get("on")
    if parse_reference(on) is not None or not isinstance(when, dict):
        return
    # Path parameters are certain: one that the path does not have can never match. Names in the
    # query are not, as clients may send anything; only those that look like a misspelling are
    # reported.
    known = _list_path_names(on, catalog)
    for name in when.get("path", {}):
        if known is not None and name not in known:
            subject = _describe_subject(on)
            report((*at, "when", "path", name), _describe_unknown(subject, "path", name, known))
    for fault in find_unread_names(rule, catalog):
        if fault.misspelt:
            report((*at, *fault.at), fault.text)


class UnreadName(Struct, frozen=True):
    """A condition on a parameter that the operations of its rule do not read there."""

    at: Path
    text: str
    misspelt: bool
    """Whether it is nearly the name of one that they read."""


def find_unread_names(
    rule: Mapping[str, Any], catalog: Catalog, sources: Sequence[str] = ("query", "form")
) -> list[UnreadName]:
    """Return the conditions on parameters that no operation of a rule reads in that place."""
    when, on = rule.get("when", {}), rule.get("on")
    served = find_served(on, catalog)
    if served is None or any(each.operation is None for each in served):
        return []  # nothing is known of them
    found = []
    for source in sources:
        for name in when.get(source, {}):
            top = name.partition(".")[0] if source == "json" else name
            if top.startswith("oauth_") or any(top in list_names(e, source) for e in served):
                continue  # parameters of signatures may be anywhere
            known = list(dict.fromkeys(n for each in served for n in list_names(each, source)))
            other = next(
                (o for o in _PLACE_WORDS if any(top in list_names(e, o) for e in served)), None
            )
            if other is not None:
                text = f"{_describe_subject(on)} has {name!r} in {_PLACE_WORDS[other]}; "
                text += f"write `{other}: {{{name}: …}}`"
            else:
                text = _describe_unknown(_describe_subject(on), source, name, known)
            near = other is None and find_nearest(name, known) is not None
            found.append(UnreadName(("when", source, name), text, near))
    return found


def list_names(served: Served, source: str) -> list[str]:
    """Return the names of an operation's parameters in the query, a form or a JSON body."""
    operation = served.operation
    if operation is None or operation.params is None:
        return []
    fields = operation.params().load_fields.items()
    names = [field.data_key or name for name, field in fields]
    if source == "query" and operation.in_query:
        return list(operation.in_query)
    if source not in _PLACES[operation.location]:
        return []
    return [name for name in names if name not in operation.in_query]


def _list_path_names(on: Any, catalog: Catalog) -> list[str] | None:
    served = find_served(on, catalog)
    if served is not None:
        found: Iterable[str] = (n for each in served for n in re.findall(r":([a-z_]+)", each.path))
        return list(dict.fromkeys(found))
    names: list[str] = []
    for each in on if isinstance(on, list) else [on]:
        if is_path(each):
            routes = list_routes(each)
            names += [n for route in routes for n in re.findall(r":([a-z_]+)", route.path)]
        elif each in catalog.ids:
            names += re.findall(r":([a-z_]+)", catalog[each].path)
        else:
            return None
    return list(dict.fromkeys(names))


def _describe_subject(on: Any) -> str:
    if on is None or on == "*":
        return "no operation"
    if isinstance(on, list):
        return "none of these operations" if len(on) > 1 else str(on[0])
    return str(on)


def _describe_unknown(subject: str, source: str, name: str, known: Sequence[str]) -> str:
    word = _WORDS[source]
    has = "has a" if subject.startswith("no") else "has no"
    hint = did_you_mean(name, known)
    return f"{subject} {has} {word} {name!r}.{hint} Known: {list_nearest(known, name) or 'none'}."


def check_references(document: Mapping[str, Any], catalog: Catalog, report: FaultReport) -> None:
    """Report what the form cannot: parameters that are not declared, effects in conflict."""
    parameters = document.get("parameters") or {}
    for name, default in parameters.items():
        for text in find_parameter_names(default):
            report(("parameters", name), text)
    for index, rule in enumerate(document["rules"]):
        for at, name in find_references(rule, ("rules", index)):
            if name not in parameters:
                declared = ", ".join(parameters) or "none"
                hint = did_you_mean(f"${name}", [f"${each}" for each in parameters])
                report(at, f"${name} is no parameter of this scenario; declared: {declared}.{hint} "
                           f"For the text itself write $${name}.")  # fmt: skip
        _check_rule(rule, ("rules", index), catalog, report)


def find_parameter_names(value: Any) -> list[str]:
    """Return violations of a parameter's value that names parameters itself."""
    named = find_references(value, ())
    return [f"expected a value of its own, got the parameter ${name}" for _, name in named]


def check_defaults(document: Mapping[str, Any], catalog: Catalog, report: FaultReport) -> None:
    """Report rules that are invalid with the defaults; parameters without one are left open."""
    parameters = document.get("parameters") or {}
    defaults = {name: value for name, value in parameters.items() if value is not None}
    for index, rule in enumerate(document["rules"]):
        for at, text in find_violations(substitute(defaults, rule), catalog):
            place = format_path(("rules", index, *at))
            named = find_reference_at(rule, at)
            if named in defaults:
                report(("parameters", named), f"{text} (the default, in {place})")
            else:
                report(("rules", index, *at), f"{text} (with the defaults of the parameters)")


def find_violations(rule: Mapping[str, Any], catalog: Catalog) -> list[tuple[Path, str]]:
    """Return the violations of a rule whose parameters are put in: (place in the rule, text)."""
    report = FaultReport(is_reference)
    make_forms(catalog.ids).rule.check(rule, (), report)
    if not report.faults:
        _check_rule(rule, (), catalog, report)
    return report.faults


def _check_rule(rule: Mapping[str, Any], at: Path, catalog: Catalog, report: FaultReport) -> None:
    check_patterns(rule.get("when", {}), (*at, "when"), report)
    check_routes(rule.get("on"), (*at, "on"), catalog, report)
    check_names(rule, at, catalog, report)
    call = rule.get("call")
    if isinstance(call, dict) and _find_last_call(call) < _find_first_call(call):
        report((*at, "call", "to"), f"to must not be before from, got {quote(call)}")
    effects = as_list(rule["then"])
    if is_without_request(rule.get("on")):
        inside = isinstance(rule["then"], list)
        places = [(*at, "then", i) if inside else (*at, "then") for i in range(len(effects))]
        deliveries.report_conflicts(effects, places, report)
        return
    inside = isinstance(rule["then"], list)

    def place(index: int, keyword: str) -> Path:
        return (*at, "then", index, keyword) if inside else (*at, "then", keyword)

    # Effects have roles: at most one answers, and some cannot be combined. They are walked through
    # in the order in which they are written, so that the second of two in conflict is the one that
    # is reported.
    seen: dict[str, str] = {}
    for index, effect in enumerate(effects):
        keyword = next(name for name in KINDS if name in effect)
        kind = KINDS[keyword]
        role = "answer" if kind.answers else keyword
        if role in seen and role in {"answer", "fault", "rate_limit"}:
            text = f"{keyword} and {seen[role]} cannot act on one request; make two rules of them"
            report(place(index, keyword), text)
        seen[role] = keyword
        if kind.changes_answer:
            seen["true answer"] = keyword
        _check_subject(kind, rule.get("on"), place(index, keyword), report)
        if kind.cross_check is not None:
            kind.cross_check(effect, place(index, keyword), report)
    replaced = seen.get("answer")
    if replaced is not None and replaced != "items" and "true answer" in seen:
        index = next(i for i, effect in enumerate(effects) if seen["true answer"] in effect)
        text = f"patch acts on the true answer, which {replaced} replaces; drop one of them"
        report(place(index, "patch"), text)
    if rule.get("stage") == BEFORE_AUTH and "caller" in rule.get("when", {}):
        text = "the caller is not known before authentication; leave the stage out"
        report((*at, "when", "caller"), text)


def _check_subject(kind: EffectKind, on: Any, at: Path, report: FaultReport) -> None:
    """Report an effect that cannot act on what `on` names."""
    if parse_reference(on) is not None:
        return
    listed = as_list(on)
    if kind.acts_on == "operation" and any(map(is_path, listed)):
        text = f"{kind.keyword} needs an operation; a path that no operation serves has none"
        report(at, text)
    elif kind.acts_on == "collection" and not all(map(is_collection, listed)):
        text = (
            f"{kind.keyword} needs a path without a method that no operation serves, such as "
            f'`on: "/2/shops"`; got {quote(on)}'
        )
        report(at, text)


def is_without_request(on: Any) -> bool:
    """Return whether a rule acts on deliveries or lines, not on requests."""
    return isinstance(on, str) and on in WITHOUT_REQUEST


def _find_first_call(call: Mapping[str, Any]) -> float:
    """Return the first matching call on which a rule acts, as far as it is known before binding."""
    first = call.get("from", 1)
    return first if isinstance(first, int) else 1


def _find_last_call(call: Mapping[str, Any]) -> float:
    last = call.get("to")
    return last if isinstance(last, int) else math.inf


def as_list(value: Any) -> list[Any]:
    """Return a list as it is, and any other value as a list of one."""
    return value if isinstance(value, list) else [value]
