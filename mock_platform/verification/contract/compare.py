"""Compares two contracts operation by operation, then what belongs to the whole."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from msgspec.json import encode

from mock_platform.core.operation import Operation
from mock_platform.verification.contract.document import (
    Contract,
    DescribedOperation,
    find_component,
)
from mock_platform.verification.contract.rules import LEVELS, WHOLE, ContractChange
from mock_platform.verification.contract.schemas import Contrast, Direction, SchemaComparison

# Compares one operation of two contracts: credentials, parameters, bodies, answers, failures.


class OperationComparison:
    """Compares the operations of two documents, with what they share."""

    def __init__(self, old: Contract, new: Contract) -> None:
        self._old = old.components
        self._new = new.components
        # As JSON, because 1 and true are equal in Python. Most operations of most pairs are equal.
        self._share_components = encode(old.components) == encode(new.components)
        self._schemas = SchemaComparison(
            old.components.get("schemas", {}),
            new.components.get("schemas", {}),
            serves_defaults=bool(old.extra and new.extra),
        )

    def compare(self, old: DescribedOperation, new: DescribedOperation) -> Iterator[Contrast]:
        """Yield the differences between the two descriptions of one operation."""
        if self._share_components and encode(old) == encode(new):
            return
        if old.method != new.method or old.key != new.key:
            yield Contrast(
                "operation-moved", "", f"{old.method} {old.path}", f"{new.method} {new.path}"
            )
        if bool(old.entry.get("deprecated")) != bool(new.entry.get("deprecated")):
            deprecated = bool(new.entry.get("deprecated"))
            yield Contrast("operation-deprecated" if deprecated else "operation-restored", "")
        yield from _compare_security(old, new)
        yield from self._compare_parameters(old, new)
        yield from self._compare_bodies(old.entry, new.entry)
        yield from self._compare_answers(old.entry, new.entry)
        if old.more and new.more:
            yield from _compare_more(old.more, new.more)

    def _compare_parameters(
        self, old: DescribedOperation, new: DescribedOperation
    ) -> Iterator[Contrast]:
        before = {_key(each, old): each for each in old.parameters}
        after = {_key(each, new): each for each in new.parameters}
        for key in sorted({*before, *after}):
            one, other = before.get(key), after.get(key)
            place = f"{key[0]} parameter {(other or one or {})['name']}"
            if one is None or other is None:
                if one is not None:
                    yield Contrast("parameter-removed", place, "a parameter")
                elif other is not None:
                    added = "required-parameter-added" if _is_needed(other) else "parameter-added"
                    yield Contrast(added, place, "", "a parameter")
                continue
            yield from (
                each._replace(place=f"{place}: {each.place}" if each.place else place)
                for each in self._compare_parameter(one, other)
            )

    def _compare_parameter(
        self, old: Mapping[str, Any], new: Mapping[str, Any]
    ) -> Iterator[Contrast]:
        if _is_needed(old) != _is_needed(new):
            needed = _is_needed(new)
            words = ("optional", "required") if needed else ("required", "optional")
            yield Contrast("parameter-required" if needed else "parameter-optional", "", *words)
        if bool(old.get("allowEmptyValue")) != bool(new.get("allowEmptyValue")):
            empty = bool(new.get("allowEmptyValue"))
            yield Contrast("empty-parameter-accepted" if empty else "empty-parameter-refused", "")
        before, after = _read_schema(old), _read_schema(new)
        if "array" in {before.get("type"), after.get("type")} and _form(old) != _form(new):
            shown = [
                f"{style}, explode {str(each).lower()}" for style, each in map(_form, (old, new))
            ]
            yield Contrast("parameter-form-changed", "", *shown)
        for each in self._schemas.compare(before, after, "sent"):
            changed = each.rule == "sent-default-changed"
            yield each._replace(rule="parameter-default-changed") if changed else each

    def _compare_bodies(self, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Contrast]:
        before = find_component(self._old, old.get("requestBody") or {})
        after = find_component(self._new, new.get("requestBody") or {})
        needed, demanded = bool(before.get("required")), bool(after.get("required"))
        if not before and not after:
            return
        if not after:
            yield Contrast("body-removed", "body", "a body")
            return
        if not before:
            yield Contrast(
                "required-body-added" if demanded else "body-added", "body", "", "a body"
            )
            return
        if needed != demanded:
            yield Contrast("body-required" if demanded else "body-optional", "body")
        yield from self._compare_content(before, after, "sent", "body", "request-media-type")

    def _compare_answers(
        self, old: Mapping[str, Any], new: Mapping[str, Any]
    ) -> Iterator[Contrast]:
        before = {str(key): value for key, value in (old.get("responses") or {}).items()}
        after = {str(key): value for key, value in (new.get("responses") or {}).items()}
        for status in sorted({*before, *after}):
            place = f"answer {status}"
            succeeds = status[:1] in "123"
            if status not in after:
                yield Contrast("success-removed" if succeeds else "failure-removed", place, status)
            elif status not in before:
                yield Contrast("success-added" if succeeds else "failure-added", place, "", status)
            else:
                one = find_component(self._old, before[status])
                other = find_component(self._new, after[status])
                headers = _lower(one.get("headers", {})), _lower(other.get("headers", {}))
                for name in sorted(headers[0] ^ headers[1]):
                    gone = name in headers[0]
                    rule = "answer-header-removed" if gone else "answer-header-added"
                    yield Contrast(rule, f"{place}: header {name}")
                yield from self._compare_content(one, other, "answered", place, "answer-media-type")

    def _compare_content(
        self,
        old: Mapping[str, Any],
        new: Mapping[str, Any],
        direction: Direction,
        place: str,
        rule: str,
    ) -> Iterator[Contrast]:
        before, after = old.get("content") or {}, new.get("content") or {}
        for kind in sorted({*before, *after}):
            if kind not in after:
                yield Contrast(f"{rule}-removed", place, kind)
            elif kind not in before:
                yield Contrast(f"{rule}-added", place, "", kind)
            else:
                one, other = before[kind].get("schema") or {}, after[kind].get("schema") or {}
                # One media type is the rule; with several, each is told by itself.
                where = place if len(before) == 1 else f"{place} ({kind})"
                for each in self._schemas.compare(one, other, direction):
                    yield each._replace(place=f"{where}: {each.place}" if each.place else where)


def _key(parameter: Mapping[str, Any], of: DescribedOperation) -> tuple[str, str]:
    """Return what a parameter is known by: its name, or its position if it is in the path."""
    name = str(parameter["name"])
    if parameter["in"] == "path":
        before = of.path.partition(f"{{{name}}}")[0]
        return "path", str(before.count("{"))
    return str(parameter["in"]), name.lower() if parameter["in"] == "header" else name


def _is_needed(parameter: Mapping[str, Any]) -> bool:
    return bool(parameter.get("required")) or parameter["in"] == "path"


def _read_schema(parameter: Mapping[str, Any]) -> Mapping[str, Any]:
    if "schema" in parameter:
        found: Mapping[str, Any] = parameter["schema"]
        return found
    return next((each.get("schema", {}) for each in parameter.get("content", {}).values()), {})


def _form(parameter: Mapping[str, Any]) -> tuple[str, bool]:
    usual = "form" if parameter["in"] in {"query", "cookie"} else "simple"
    style = str(parameter.get("style", usual))
    return style, bool(parameter.get("explode", style == "form"))


def _lower(headers: Mapping[str, Any]) -> set[str]:
    return {name.lower() for name in headers}


def _compare_security(old: DescribedOperation, new: DescribedOperation) -> Iterator[Contrast]:
    before = {name: set(scopes) for each in old.security for name, scopes in each.items()}
    after = {name: set(scopes) for each in new.security for name, scopes in each.items()}
    open_before = not before or {} in old.security
    open_after = not after or {} in new.security
    if open_before != open_after:
        yield Contrast("authentication-dropped" if open_after else "authentication-required", "")
    if before and after:
        for name in sorted({*before} - {*after}):
            yield Contrast("authentication-removed", "", name)
    if before and after:
        for name in sorted({*after} - {*before}):
            yield Contrast("authentication-added", "", "", name)
    for name in sorted({*before} & {*after}):
        for scope in sorted(after[name] - before[name]):
            yield Contrast("scope-required", name, "", scope)
        for scope in sorted(before[name] - after[name]):
            yield Contrast("scope-dropped", name, scope)


def _compare_more(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Contrast]:
    """Yield the differences in what only the contract says: dates, failures, limits, sizes."""
    before: str = old.get("since") or ""
    after: str = new.get("since") or ""
    if before != after:
        yield Contrast(
            "operation-dated-later" if after > before else "operation-dated-earlier",
            "",
            before or "always",
            after or "always",
        )
    yield from _compare_failures(old.get("failures", ()), new.get("failures", ()))
    yield from _compare_limits(old.get("limits", {}), new.get("limits", {}))
    one, other = old.get("max_body_bytes"), new.get("max_body_bytes")
    if one is not None and other is not None and one != other:
        lower = other < one
        shown = [f"{size} bytes" for size in (one, other)]
        yield Contrast("body-size-lowered" if lower else "body-size-raised", "body", *shown)


def _compare_failures(old: Any, new: Any) -> Iterator[Contrast]:
    before = {(each["code"], each["status"]) for each in old}
    after = {(each["code"], each["status"]) for each in new}
    gone, come = before - after, after - before
    for code, status in sorted(come):
        # The same code with one other status is not a new failure.
        # A code that disappears with one status and appears with another has moved; saying so is
        # more useful than a removal and an addition. With several statuses it would be a guess.
        others = [each for each in sorted(gone) if each[0] == code and code]
        if len(others) == 1 and sum(each[0] == code for each in come) == 1:
            gone -= set(others)
            was = str(others[0][1])
            yield Contrast("failure-status-changed", f"failure {code}", was, str(status))
        else:
            yield Contrast(
                "failure-added", f"failure {code}".strip(), "", f"{status} {code}".strip()
            )
    for code, status in sorted(gone):
        yield Contrast("failure-removed", f"failure {code}".strip(), f"{status} {code}".strip())


def _compare_limits(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Contrast]:
    for name in sorted({*old, *new}):
        one, other = old.get(name), new.get(name)
        place = f"limit {name}"
        if other is None:
            yield Contrast("limit-removed", place, _show_limit(one))
        elif one is None:
            yield Contrast("limit-added", place, "", _show_limit(other))
        else:
            shown = _show_limit(one), _show_limit(other)
            # Rates are compared crosswise, without division: 300 in 900 seconds is the same rate as
            # 100 in 300, but allows more at once, which the second comparison sees.
            before, after = one["count"] * other["seconds"], other["count"] * one["seconds"]
            if before != after or one["count"] != other["count"]:
                lower = after < before or other["count"] < one["count"]
                yield Contrast("limit-lowered" if lower else "limit-raised", place, *shown)
            rest = {*one, *other} - {"count", "seconds"}
            if any(one.get(key) != other.get(key) for key in rest):
                words = [
                    ", ".join(
                        f"{key} {each.get(key)}"
                        for key in sorted(rest)
                        if one.get(key) != other.get(key)
                    )
                    for each in (one, other)
                ]
                yield Contrast("limit-counted-otherwise", place, *words)


def _show_limit(limit: Any) -> str:
    return f"{limit['count']} in {limit['seconds']} s per {limit['per']}"


def compare_contracts(old: Contract, new: Contract) -> list[ContractChange]:
    """Return the changes by operation, the gravest first; those of the whole contract come last.

    What a plain OpenAPI file does not say is not compared.
    """
    found = list(_compare_operations(old, new))
    if old.extra and new.extra:
        found += _compare_whole(old.extra, new.extra)
    return sorted(
        dict.fromkeys(found),
        key=_rank,
    )


# What changes between two dates of the release history.

_REVERSED: Mapping[str, str] = {
    "operation-added": "operation-removed",
    "operation-deprecated": "operation-restored",
    "authentication-added": "authentication-removed",
    "sent-key-added": "sent-key-removed",
    "sent-value-accepted": "sent-value-refused",
    "failure-added": "failure-removed",
    "answer-value-added": "answer-value-removed",
    "answer-key-added": "answer-key-removed",
}
_BACK = {**_REVERSED, **{new: old for old, new in _REVERSED.items()}}
"""What a change is from the newer contract to the older one; others are the same change."""
_EXISTENCE = ("operation-added", "operation-removed")


def compare_dates(
    operations: Iterable[Operation], old: datetime, new: datetime
) -> list[ContractChange]:
    """Return what the release history changes of operations from one moment to another.

    The second one may be before the first. Of an operation that exists at one of them alone, only
    that is a change.
    """
    found = []
    for operation in operations:
        exists = [operation.exists_at(moment) for moment in (old, new)]
        for each in operation.history:
            if not min(old, new) < each.at <= max(old, new) or not any(exists):
                continue
            if exists[0] is not exists[1] and each.rule not in _EXISTENCE:
                continue
            sides = (each.old, each.new) if old < new else (each.new, each.old)
            rule = each.rule if old < new else _BACK.get(each.rule, each.rule)
            found.append(ContractChange(rule, operation.id, each.place, *sides))
    return sorted(found, key=_rank)


def _rank(change: ContractChange) -> tuple[bool, str, int, str, str]:
    level = LEVELS.index(change.level)
    return change.operation == WHOLE, change.operation, level, change.place, change.rule


def _compare_operations(old: Contract, new: Contract) -> Iterator[ContractChange]:
    comparison = OperationComparison(old, new)
    before = {each.key: each for each in old.operations}
    after = {each.key: each for each in new.operations}
    gone = {each.id: each for key, each in before.items() if key not in after}
    come = {each.id: each for key, each in after.items() if key not in before}
    pairs = [(each, after[key]) for key, each in before.items() if key in after]
    # The same id at another path is one operation that moved.
    moved = gone.keys() & come.keys()
    pairs += [(gone[id_], come[id_]) for id_ in sorted(moved)]
    for each in gone.values():
        if each.id not in moved:
            yield ContractChange("operation-removed", each.id, "", _label(each))
    for each in come.values():
        if each.id not in moved:
            yield ContractChange("operation-added", each.id, "", "", _label(each))
    for one, other in pairs:
        for found in comparison.compare(one, other):
            yield ContractChange(found.rule, other.id, found.place, found.old, found.new)


def _compare_whole(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[ContractChange]:
    for kind in ("advertising", "numeric", "problems"):
        yield from _compare_tables(
            f"{kind} failure",
            old.get("failures", {}).get(kind, {}),
            new.get("failures", {}).get(kind, {}),
            "failure",
            _choose_failure_rule,
        )
    yield from _compare_tables(
        "assumption",
        old.get("assumptions", {}),
        new.get("assumptions", {}),
        "assumption",
        lambda _old, _new: "assumption-changed",
    )
    yield from _compare_tables(
        "release",
        old.get("releases", {}),
        new.get("releases", {}),
        "release",
        lambda one, other: "release-moved" if one["effective"] != other["effective"] else None,
    )


def _compare_tables(
    kind: str,
    old: Mapping[str, Any],
    new: Mapping[str, Any],
    rule: str,
    choose: Callable[[Any, Any], str | None],
) -> Iterator[ContractChange]:
    for name in sorted({*old, *new}):
        place = f"{kind} {name}"
        if name not in new:
            yield ContractChange(f"{rule}-removed", WHOLE, place, _show_entry(old[name]))
        elif name not in old:
            yield ContractChange(f"{rule}-added", WHOLE, place, "", _show_entry(new[name]))
        elif old[name] != new[name]:
            changed = choose(old[name], new[name])
            if changed is not None:
                yield ContractChange(
                    changed, WHOLE, place, _show_entry(old[name]), _show_entry(new[name])
                )


def _choose_failure_rule(old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    same = old.get("status") == new.get("status")
    return "failure-text-changed" if same else "failure-status-changed"


def _show_entry(entry: Mapping[str, Any]) -> str:
    return ", ".join(str(value) for value in entry.values() if value not in {"", False})


def _label(operation: DescribedOperation) -> str:
    return f"{operation.method} {operation.path}"
