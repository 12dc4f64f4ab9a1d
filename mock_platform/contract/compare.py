"""Compares two contracts: first their operations, then what belongs to the whole contract."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from mock_platform.contract.operations import OperationComparison
from mock_platform.contract.reading import Contract, DescribedOperation
from mock_platform.contract.rules import LEVELS, WHOLE, ContractChange


def compare_contracts(old: Contract, new: Contract) -> list[ContractChange]:
    """Returns the changes by operation, the gravest first; those of the whole contract come last.

    What a plain OpenAPI file does not say is not compared.
    """
    found = list(_compare_operations(old, new))
    if old.extra and new.extra:
        found += _compare_whole(old.extra, new.extra)
    return sorted(
        dict.fromkeys(found),
        key=_rank,
    )


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
