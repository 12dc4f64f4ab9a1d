"""Checks of a scenario document beyond its form: parameters, defaults, effects in conflict."""

from __future__ import annotations

import math
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from mock_platform.scenario import custom, deliveries
from mock_platform.scenario.catalog import Catalog
from mock_platform.scenario.deliveries import WITHOUT_REQUEST
from mock_platform.scenario.effects import KINDS
from mock_platform.scenario.effects.effect import EffectKind
from mock_platform.scenario.forms import Path, Report, parse_reference, quote
from mock_platform.scenario.names import check_names
from mock_platform.scenario.parameters import find_reference_at, find_references, substitute
from mock_platform.scenario.pattern import check_patterns
from mock_platform.scenario.schema import BEFORE_AUTH, make_forms


def check_references(document: Mapping[str, Any], catalog: Catalog, report: Report) -> None:
    """Report what the form cannot: parameters that are not declared, effects in conflict."""
    parameters = document.get("parameters") or {}
    for name, default in parameters.items():
        for text in find_parameter_names(default):
            report(("parameters", name), text)
    for index, rule in enumerate(document["rules"]):
        for at, name in find_references(rule, ("rules", index)):
            if name not in parameters:
                declared = ", ".join(parameters) or "none"
                near = get_close_matches(name, list(parameters), 1)
                hint = f" Did you mean ${near[0]}?" if near else ""
                report(at, f"${name} is no parameter of this scenario; declared: {declared}.{hint} "
                           f"For the text itself write $${name}.")  # fmt: skip
        _check_rule(rule, ("rules", index), catalog, report)


def find_parameter_names(value: Any) -> list[str]:
    """Return faults of a parameter's value that names parameters itself."""
    named = find_references(value, ())
    return [f"expected a value of its own, got the parameter ${name}" for _, name in named]


def check_defaults(document: Mapping[str, Any], catalog: Catalog, report: Report) -> None:
    """Report rules that are invalid with the defaults; parameters without one are left open."""
    parameters = document.get("parameters") or {}
    defaults = {name: value for name, value in parameters.items() if value is not None}
    for index, rule in enumerate(document["rules"]):
        for at, text in find_faults(substitute(defaults, rule), catalog):
            place = format_path(("rules", index, *at))
            named = find_reference_at(rule, at)
            if named in defaults:
                report(("parameters", named), f"{text} (the default, in {place})")
            else:
                report(("rules", index, *at), f"{text} (with the defaults of the parameters)")


def find_faults(rule: Mapping[str, Any], catalog: Catalog) -> list[tuple[Path, str]]:
    """Return the faults of a rule whose parameters are put in: (place in the rule, text)."""
    found: list[tuple[Path, str]] = []

    def report(at: Path, text: str) -> None:
        found.append((at, text))

    make_forms(catalog.ids).rule.check(rule, (), report)
    if not found:
        _check_rule(rule, (), catalog, report)
    return found


def _check_rule(rule: Mapping[str, Any], at: Path, catalog: Catalog, report: Report) -> None:
    check_patterns(rule.get("when", {}), (*at, "when"), report)
    custom.check_routes(rule.get("on"), (*at, "on"), catalog, report)
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


def _check_subject(kind: EffectKind, on: Any, at: Path, report: Report) -> None:
    """Report an effect that cannot act on what `on` names."""
    if parse_reference(on) is not None:
        return
    listed = as_list(on)
    if kind.acts_on == "operation" and any(map(custom.is_path, listed)):
        text = f"{kind.keyword} needs an operation; a path that no operation serves has none"
        report(at, text)
    elif kind.acts_on == "collection" and not all(map(custom.is_collection, listed)):
        text = (
            f"{kind.keyword} needs a path without a method that no operation serves, such as "
            f'`on: "/2/lists"`; got {quote(on)}'
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


def format_path(at: Path) -> str:
    """Return a place as complaints name it: `rules[0].then.error`."""
    text = ""
    for step in at:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text
