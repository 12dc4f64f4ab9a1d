"""Checks that the parameters which `when` names exist: those of the operations, or of the path."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from msgspec import Struct

from mock_platform.core.hints import did_you_mean
from mock_platform.core.operation import Location
from mock_platform.scenario import custom
from mock_platform.scenario.catalog import Catalog, Served
from mock_platform.scenario.forms import Path, Report, parse_reference

_PLACES: Mapping[Location, tuple[str, ...]] = {
    Location.QUERY: ("query", "form"),
    Location.JSON: ("json",),
    Location.UPLOAD: ("query", "form", "json"),
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
_MAX_LISTED = 24


def find_served(on: Any, catalog: Catalog) -> list[Served] | None:
    """Return the operations that `on` names; `None` if it does not name operations alone."""
    if on is None or on == "*":
        return [catalog[id_] for id_ in catalog.ids]
    named = on if isinstance(on, list) else [on]
    if any(not isinstance(each, str) or each not in catalog.ids for each in named):
        return None
    return [catalog[id_] for id_ in named]


def check_names(rule: Mapping[str, Any], at: Path, catalog: Catalog, report: Report) -> None:
    """Report path parameters that do not exist, and misspelt names in the query and in forms."""
    when, on = rule.get("when", {}), rule.get("on")
    if parse_reference(on) is not None or not isinstance(when, dict):
        return
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
            near = other is None and bool(get_close_matches(name, known, 1))
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
        if custom.is_path(each):
            routes = custom.list_routes(each)
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
    listed = ", ".join(known[:_MAX_LISTED]) or "none"
    more = f", … ({len(known)} in all)" if len(known) > _MAX_LISTED else ""
    return f"{subject} {has} {word} {name!r}.{hint} Known: {listed}{more}."
