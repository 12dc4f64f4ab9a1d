"""Warnings about scenarios that are valid, but hardly what their author meant.

Only what is written as a value is judged: what a parameter decides may be meant for another value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from marshmallow.fields import String

from mock_platform.api.v2.release_history import EVENT_NAMES, find_event_name
from mock_platform.core.documents.forms import describe_allowed, is_number
from mock_platform.core.documents.source import Path
from mock_platform.core.envelope import Lines
from mock_platform.core.errors import did_you_mean
from mock_platform.core.failures.codes import ADS_STATUS
from mock_platform.core.operation import Operation, dialect_of
from mock_platform.scenario.active import make_ordinal
from mock_platform.scenario.catalog import Catalog, is_path, list_routes
from mock_platform.scenario.checking import (
    as_list,
    find_served,
    find_unread_names,
    is_without_request,
)
from mock_platform.scenario.document import Scenario
from mock_platform.scenario.effects import KINDS
from mock_platform.scenario.effects.items import takes_items
from mock_platform.scenario.references import find_references
from mock_platform.scenario.schema import BEFORE_AUTH, EVERYTHING
from mock_platform.world.clock import parse_instant

OddPlace = tuple[Path, str]
"""The place in the document, and what is odd there."""
_NEVER = "the rule can never act"
_WITHOUT_EFFECT = "has no effect"
_NO_ERRORS = "clients of the advertising interface expect an `errors` array; use `error: CODE`"
_ADD_UP = frozenset({"delay", "patch", "set"})
"""Effects that act together with another one of their kind."""
_LIMITS = ("call", "times", "probability", "until")
_WITHOUT_BODY = (204, 205, 304)
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_BODILESS_METHODS = frozenset({"GET", "HEAD", "DELETE"})
_CREDENTIALS = ("bearer", "oauth1", "oauth2")


def find_warnings(scenario: Scenario) -> list[OddPlace]:
    """Return what is odd in a scenario, in the order of its rules."""
    document, catalog = scenario.document, scenario.catalog
    rules = document["rules"]
    found: list[OddPlace] = [*_find_unused_parameters(document)]
    states = {state for rule in rules for state in _list_states_set(rule)}
    checks: tuple[Callable[[Mapping[str, Any], Catalog], Iterator[OddPlace]], ...] = (
        _check_counts,
        _check_clock,
        _check_conditions,
        _check_names,
        _check_json_types,
        _check_callers,
        _check_events,
        _check_answers,
        _check_lost,
        _check_subjects,
        _check_own_paths,
    )
    for index, rule in enumerate(rules):
        inside = [each for check in checks for each in check(rule, catalog)]
        inside += _check_states(rule, states)
        inside += _check_shadow(index, rules)
        found += [(("rules", index, *at), text) for at, text in inside]
    return found


def _find_unused_parameters(document: Mapping[str, Any]) -> Iterator[OddPlace]:
    named = {name for _, name in find_references(document["rules"], ())}
    for name in document.get("parameters") or {}:
        if name not in named:
            yield ("parameters", name), f"no rule uses the parameter; write ${name} where it counts"


# -- when a rule acts ----------------------------------------------------------------------------


def _check_counts(rule: Mapping[str, Any], _: Catalog) -> Iterator[OddPlace]:
    if rule.get("probability") == 0:
        yield ("probability",), f"{_NEVER} with a probability of 0"
    call: Any = rule.get("call")
    times = rule.get("times")
    most = _count_calls(call)
    if most is None:
        return
    if most == 0:
        first, every = call.get("from", 1), call["every"]
        text = f"{_NEVER}: from {first} to {call['to']} there is no {make_ordinal(every)} call"
        yield ("call",), text
    elif isinstance(times, int) and times > most:
        how_often = "once" if most == 1 else f"{most} times"
        yield ("times",), f"has no effect: with this `call` the rule acts at most {how_often}"


def _count_calls(call: Any) -> int | None:
    """Return on how many calls a rule acts at most; `None` if unlimited or not known."""
    if isinstance(call, int):
        return 1
    if not isinstance(call, dict) or "to" not in call:
        return None
    first, last, every = call.get("from", 1), call["to"], call.get("every", 1)
    if not all(isinstance(each, int) for each in (first, last, every)):
        return None
    return int((last - first + 1) // every)


def _check_clock(rule: Mapping[str, Any], _: Catalog) -> Iterator[OddPlace]:
    clock = rule.get("when", {}).get("clock", {})
    after, before, until = clock.get("after"), clock.get("before"), rule.get("until")
    if _is_before(before, after):
        yield ("when", "clock"), f"{_NEVER}: `before` is not later than `after`"
    elif _is_before(until, after):
        yield ("until",), f"{_NEVER}: it ends at or before the `after` of its clock"


def _is_before(end: Any, start: Any) -> bool:
    """Return whether two moments, both of them written, leave no time between them."""
    written = [text for text in (end, start) if isinstance(text, str) and text[0] != "$"]
    return len(written) == 2 and parse_instant(end) <= parse_instant(start)


def _check_conditions(rule: Mapping[str, Any], _: Catalog) -> Iterator[OddPlace]:
    for source, conditions in rule.get("when", {}).items():
        if source in {"clock", "state"} or not isinstance(conditions, dict):
            continue
        for name, condition in conditions.items():
            text = _find_contradiction(condition) if isinstance(condition, dict) else ""
            if source != "json" and _is_null(condition):
                text = "nothing there is null; write `exists: false` for what is not sent"
            if source == "headers" and condition != {"exists": False} and not _is_header(name):
                text = f"no header can have the name {name!r}"
            if text:
                yield ("when", source, name), f"{_NEVER}: {text}"


def _is_header(name: str) -> bool:
    return _HEADER_NAME.fullmatch(name) is not None


def _is_null(condition: Any) -> bool:
    """Return whether a condition wants null, which only a JSON body can have."""
    if isinstance(condition, dict):
        return "equals" in condition and condition["equals"] is None
    return condition is None


def _find_contradiction(condition: Mapping[str, Any]) -> str:
    above: Any = condition.get("above")
    below: Any = condition.get("below")
    if is_number(above) and is_number(below) and above >= below:
        return f"no number is above {above:g} and below {below:g}"
    if condition.get("exists") is False and len(condition) > 1:
        return "what does not exist fulfils no other condition"
    listed, equal = condition.get("in"), condition.get("equals")
    if isinstance(listed, list) and "equals" in condition and equal not in listed:
        return "`equals` is not one of `in`"
    return ""


def _check_names(rule: Mapping[str, Any], catalog: Catalog) -> Iterator[OddPlace]:
    for unread in find_unread_names(rule, catalog, ("query", "form", "json")):
        if not unread.misspelt or unread.at[1] == "json":
            yield unread.at, f"the operation does not read this: {unread.text}"
    served = find_served(rule.get("on"), catalog)
    if served and all(each.method in _BODILESS_METHODS for each in served):
        for source in ("json", "form"):
            if source in rule.get("when", {}):
                methods = " and ".join(sorted({each.method for each in served}))
                yield ("when", source), f"{methods} requests have no body; use `query`"


def _check_json_types(rule: Mapping[str, Any], catalog: Catalog) -> Iterator[OddPlace]:
    """Find numbers where the operations take texts, as for ids: a text is never equal to one."""
    conditions = rule.get("when", {}).get("json")
    if not conditions:  # which is nearly always so; the schemas of all operations take a while
        return
    served = find_served(rule.get("on"), catalog) or []
    operations = [each.operation for each in served if each.operation is not None]
    if len(operations) < len(served):
        return
    schemas = [operation.params() for operation in operations if operation.params is not None]
    known = [
        (field.data_key or attr, field)
        for schema in schemas
        for attr, field in schema.load_fields.items()
    ]
    for name, condition in conditions.items():
        wanted = condition.get("equals") if isinstance(condition, dict) else condition
        fields = [field for key, field in known if key == name]
        if is_number(wanted) and fields and all(isinstance(each, String) for each in fields):
            yield ("when", "json", name), f'{_NEVER}: {name} is a text; write "{wanted}"'


def _check_callers(rule: Mapping[str, Any], catalog: Catalog) -> Iterator[OddPlace]:
    scheme = rule.get("when", {}).get("caller", {}).get("scheme")
    served = find_served(rule.get("on"), catalog)
    if scheme not in _CREDENTIALS or not served:
        return
    known = [each.operation for each in served if each.operation is not None]
    if len(known) == len(served) and not any(scheme in op.auth.schemes for op in known):
        accepted = ", ".join(dict.fromkeys(s for op in known for s in op.auth.schemes)) or "nothing"
        yield ("when", "caller", "scheme"), f"{_NEVER}: {accepted} is what authenticates there"


def _check_events(rule: Mapping[str, Any], catalog: Catalog) -> Iterator[OddPlace]:
    """Find misspelt types of events, which may be of any name, and streams that do not exist."""
    event = rule.get("when", {}).get("event", {})
    types, streams = [each.name for each in EVENT_NAMES], _list_streams(catalog)
    for wanted in _list_texts(event.get("event_type")):
        near = did_you_mean(wanted, types)
        if find_event_name(wanted) is None and near:
            yield ("when", "event", "event_type"), f"no type of events is {wanted!r}.{near}"
    for wanted in _list_texts(event.get("endpoint")):
        if streams and wanted not in streams:
            text = f"{_NEVER}: no stream is {wanted!r}.{describe_allowed(streams, wanted)}"
            yield ("when", "event", "endpoint"), text


def _list_texts(condition: Any) -> list[str]:
    """Return the texts that a condition allows, as far as they are written."""
    if isinstance(condition, dict):
        condition = condition.get("equals", condition.get("in"))
    return [each for each in as_list(condition) if isinstance(each, str) and each[:1] != "$"]


def _list_streams(catalog: Catalog) -> list[str]:
    """Return the names of the streams; empty if the operations are those of another server."""
    known = (catalog[id_].operation for id_ in catalog.ids)
    return [op.id.removesuffix(".open") for op in known if op is not None and _opens_stream(op)]


def _opens_stream(operation: Operation) -> bool:
    return isinstance(operation.returns, Lines)


def _list_states_set(rule: Mapping[str, Any]) -> list[Any]:
    return [effect["set_state"] for effect in as_list(rule["then"]) if "set_state" in effect]


def _check_states(rule: Mapping[str, Any], states: set[Any]) -> Iterator[OddPlace]:
    wanted = rule.get("when", {}).get("state")
    if isinstance(wanted, dict):
        wanted = wanted.get("equals", wanted.get("in"))
    named = [each for each in as_list(wanted) if isinstance(each, str)]
    open_ended = [each for each in (*named, *states) if str(each).startswith("$")]
    if named and not open_ended and not states & set(named):
        listed = ", ".join(sorted(map(str, states))) or "none"
        yield ("when", "state"), f"{_NEVER}: no rule has `set_state: {named[0]}`; states: {listed}"


# -- rules that hide others ----------------------------------------------------------------------


def _check_shadow(index: int, rules: list[Mapping[str, Any]]) -> Iterator[OddPlace]:
    rule = rules[index]
    for other, earlier in enumerate(rules):
        if other != index and _hides(earlier, rule, first=other < index):
            yield (), f"{_NEVER}: rule {other} acts on each of its requests before it"
            return


def _hides(one: Mapping[str, Any], other: Mapping[str, Any], *, first: bool) -> bool:
    """Return whether a rule acts whenever the other one could; `first`: it is listed before it."""
    on, effects = one.get("on"), as_list(one["then"])
    if any(limit in one for limit in _LIMITS) or not _covers(on, other.get("on")):
        return False
    if is_without_request(on) and any("reorder" in each for each in effects):
        return False  # it does not act while another event is held back
    comes_first = first
    own_path = _is_everything(on) and any(map(is_path, as_list(other.get("on"))))
    if own_path or one.get("stage") != other.get("stage"):
        # The rules of different stages all act, until one answers.
        answers = any(KINDS[name].answers for each in effects for name in each if name in KINDS)
        comes_first = answers and (own_path or one.get("stage") == BEFORE_AUTH)
    return comes_first and _list_conditions(one) <= _list_conditions(other)


def _is_everything(on: Any) -> bool:
    return on is None or on == EVERYTHING


def _covers(one: Any, other: Any) -> bool:
    if _is_everything(one):
        return not is_without_request(other)
    return other is not None and set(as_list(other)) <= set(as_list(one))


def _list_conditions(rule: Mapping[str, Any]) -> set[tuple[str, ...]]:
    found: set[tuple[str, ...]] = set()
    for source, conditions in rule.get("when", {}).items():
        if not isinstance(conditions, dict):
            found.add((source, repr(conditions)))
            continue
        for name, condition in conditions.items():
            parts = condition if isinstance(condition, dict) else {"equals": condition}
            found |= {(source, name, how, repr(wanted)) for how, wanted in parts.items()}
    return found


# -- what a rule does ----------------------------------------------------------------------------


def _check_answers(rule: Mapping[str, Any], catalog: Catalog) -> Iterator[OddPlace]:
    if is_without_request(rule.get("on")):
        return
    dialects = _list_dialects(rule.get("on"), catalog)
    for index, effect in enumerate(as_list(rule["then"])):
        at: Path = ("then", index) if isinstance(rule["then"], list) else ("then",)
        if "problem" in effect and "ads" in dialects:
            text = (
                "clients of the advertising interface expect an `errors` array; use `error: CODE`"
            )
            yield (*at, "problem"), text
        error = effect.get("error")
        code = error.get("code") if isinstance(error, dict) else error
        if code in ADS_STATUS and dialects == {"v2"}:
            text = "named codes are those of the advertising interface; the answer shows only its "
            text += "status and message. Use `problem`"
            yield (*at, "error"), text
        if "respond" in effect:
            yield from _check_respond(effect["respond"], (*at, "respond"), dialects)


def _check_respond(given: Any, at: Path, dialects: set[str]) -> Iterator[OddPlace]:
    status, body = given.get("status", 200), given.get("json")
    has_body = "json" in given or "text" in given
    if status in _WITHOUT_BODY and has_body:
        yield at, f"an answer with status {status} has no body; leave it out"
    elif status not in _WITHOUT_BODY and not has_body:
        yield at, "the body is empty; add json or text"
    elif (
        isinstance(status, int)
        and status >= 400
        and dialects == {"ads"}
        and isinstance(body, dict)
        and "errors" not in body
    ):
        yield (*at, "json"), _NO_ERRORS


def _list_dialects(on: Any, catalog: Catalog) -> set[str]:
    """Return the interfaces that `on` names; empty if it names everything, or a parameter."""
    found: set[str] = set()
    for each in as_list(on):
        if is_path(each):
            found |= {dialect_of(route.path) for route in list_routes(each)}
        elif each in catalog.ids:
            found.add(catalog[each].dialect)
    return found


def _check_own_paths(rule: Mapping[str, Any], _: Catalog) -> Iterator[OddPlace]:
    """Find rules on paths that no operation serves, and that nothing answers."""
    effects = as_list(rule["then"])
    answers = any(_answers(name) or name == "fault" for each in effects for name in each)
    if all(map(is_path, as_list(rule.get("on")))) and not answers:
        yield ("then",), "clients get 404, because no effect answers; add `respond`"


def _check_lost(rule: Mapping[str, Any], _: Catalog) -> Iterator[OddPlace]:
    """Find effects of which another one in the same rule leaves nothing."""
    seen: set[str] = set()
    effects = as_list(rule["then"])
    answer = next((name for each in effects for name in each if _answers(name)), None)
    for index, effect in enumerate(effects):
        keyword = next((name for name in KINDS if name in effect), next(iter(effect)))
        at = ("then", index, keyword)
        if keyword in seen and keyword not in _ADD_UP:
            yield at, f"only one {keyword} of a rule acts; make two rules of them"
        if keyword == "disconnect" and answer is not None:
            yield at, f"{_WITHOUT_EFFECT}: {answer} replaces the stream"
        if keyword == "split" and {"drop": True} in effects:
            yield at, f"{_WITHOUT_EFFECT}: drop loses the line"
        seen.add(keyword)


def _answers(keyword: str) -> bool:
    return keyword in KINDS and KINDS[keyword].answers


def _check_subjects(rule: Mapping[str, Any], catalog: Catalog) -> Iterator[OddPlace]:
    """Find effects for which the operations of a rule have nothing to act on."""
    served = find_served(rule.get("on"), catalog) or []
    operations = [each.operation for each in served if each.operation is not None]
    if not operations or len(operations) < len(served):
        return
    streams = [_opens_stream(operation) for operation in operations]
    for index, effect in enumerate(as_list(rule["then"])):
        at: Path = ("then", index) if isinstance(rule["then"], list) else ("then",)
        delay, error = effect.get("delay"), effect.get("error")
        if "disconnect" in effect:
            if not any(streams):
                yield (*at, "disconnect"), f"{_WITHOUT_EFFECT}: none of the operations is a stream"
            yield from _check_disconnect(effect["disconnect"], (*at, "disconnect"))
        if "patch" in effect and all(streams):
            yield (*at, "patch"), f"{_WITHOUT_EFFECT}: a stream has lines; use `on: lines`"
        if isinstance(delay, dict) and "slow_body" in delay and all(streams):
            text = f"{_WITHOUT_EFFECT}: a stream has lines; delay them with `on: lines`"
            yield (*at, "delay", "slow_body"), text
        if "items" in effect and not any(map(takes_items, operations)):
            yield (*at, "items"), f"{_WITHOUT_EFFECT}: none of the operations takes a batch"
        if isinstance(error, dict) and "parameter" in error:
            named = isinstance(error["code"], str)
            if not (named and any(operation.dialect == "ads" for operation in operations)):
                text = "only a named code of the advertising interface names a parameter"
                yield (*at, "error", "parameter"), f"{_WITHOUT_EFFECT}: {text}"


def _check_disconnect(given: Mapping[str, Any], at: Path) -> Iterator[OddPlace]:
    fault, line = given.get("fault"), given.get("line")
    if fault == "timeout":
        for name in ("line", "type"):
            if given.get(name):
                text = f"{_WITHOUT_EFFECT}: with the fault timeout the stream does not end"
                yield (*at, name), text
    elif "type" in given and (
        line is False
        or isinstance(line, dict)
        or (line is None and fault not in {None, "truncate"})
    ):
        yield (*at, "type"), f"{_WITHOUT_EFFECT}: the last line has no type of the sandbox"
