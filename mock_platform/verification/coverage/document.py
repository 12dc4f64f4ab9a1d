"""The coverage as one JSON document: what was covered, what was not, and the percentages.

Documents of several servers or processes are merged by adding their counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mock_platform.core.failures.problems import PROBLEM_TYPES
from mock_platform.core.operation import Operation
from mock_platform.scenario.outcomes import (
    Outcome,
    find_match,
    list_documented,
    list_parameters,
)
from mock_platform.settings import Settings
from mock_platform.verification.coverage.outcomes import (
    Recorder,
    Tally,
    list_outcomes,
)

CoverageDocument = dict[str, Any]
JsonObject = dict[str, Any]
VERSION = 1


def document(
    operations: Sequence[Operation],
    settings: Settings,
    recorder: Recorder,
    world: str | None = None,
) -> CoverageDocument:
    """Return the coverage of these operations in one world, or in all worlds together."""
    tallies = recorder.tallies(world)
    rows = [_make_row(op, settings, tallies.get(op.id, Tally())) for op in operations]
    unmatched = tallies.get("", Tally())
    counts: dict[str, int] = {}
    for tally in tallies.values():
        for outcome, count in list_outcomes(tally).items():
            counts[outcome.code] = counts.get(outcome.code, 0) + count
    worlds = recorder.worlds()
    found = {
        "version": VERSION,
        "worlds": [
            {"name": name, "requests": count}
            for name, count in sorted(worlds.items())
            if world is None or name == world
        ],
        "operations": rows,
        "problem_types": [
            {"slug": kind.slug, "status": kind.status, "count": counts.get(kind.slug, 0)}
            for kind in PROBLEM_TYPES.values()
        ],
        "unmatched": [
            {"status": outcome.status, "code": outcome.code, "count": count}
            for outcome, count in sorted(list_outcomes(unmatched).items())
        ],
    }
    return add_totals(found)


def merge(first: CoverageDocument, second: CoverageDocument) -> CoverageDocument:
    """Merge two documents, as if one server had counted both; neither is changed.

    Entries that only one of them has are kept.

    Raises:
        ValueError: One of them is not a coverage document of this version.
    """
    for each in (first, second):
        if each.get("version") != VERSION:
            raise ValueError(
                f"this is no coverage document of version {VERSION}; got version "
                f"{each.get('version')!r}. Make both with the same mock_platform."
            )
    return add_totals(
        {
            "version": VERSION,
            "worlds": _merge_rows(first["worlds"], second["worlds"], ("name",)),
            "operations": _merge_operations(first["operations"], second["operations"]),
            "problem_types": _merge_rows(
                first["problem_types"], second["problem_types"], ("slug",)
            ),
            "unmatched": _merge_rows(first["unmatched"], second["unmatched"], ("status", "code")),
        }
    )


def add_totals(found: CoverageDocument) -> CoverageDocument:
    """Return the document with what follows from its counts: totals, `percent`, `never_seen`.

    `percent` is that of documented outcomes and parameters together.
    """
    rows = found["operations"]
    outcomes = [o for row in rows for o in row["outcomes"] if o["documented"]]
    sent = [parameter for row in rows for parameter in row["parameters"]]
    types = found["problem_types"]
    totals = {
        "operations": _make_total(row["requests"] > 0 for row in rows),
        "outcomes": _make_total(outcome["count"] > 0 for outcome in outcomes),
        "parameters": _make_total(parameter["accepted"] > 0 for parameter in sent),
        "problem_types": _make_total(kind["count"] > 0 for kind in types),
    }
    covered = totals["outcomes"]["covered"] + totals["parameters"]["covered"]
    percent = _compute_percent(covered, len(outcomes) + len(sent))
    never = [
        {"operation": row["id"], "status": o["status"], "code": o["code"]}
        for row in rows
        for o in row["outcomes"]
        if o["documented"] and not o["count"] and o["status"] >= 400
    ]
    head = {"version": found["version"], "percent": percent, "totals": totals}
    return head | found | {"percent": percent, "totals": totals, "never_seen": never}


def _make_row(operation: Operation, settings: Settings, tally: Tally) -> JsonObject:
    known = list_documented(operation, settings)
    counts = dict.fromkeys(known, 0)
    others: dict[Outcome, int] = {}
    for outcome, count in list_outcomes(tally).items():
        meant = find_match(outcome, known)
        if meant is None:
            others[outcome] = count
        else:
            counts[meant] += count
    prefix = "/sandbox" if operation.sandbox_only else ""
    return {
        "id": operation.id,
        "method": operation.method,
        "path": prefix + operation.path,
        "summary": operation.summary,
        "spec": operation.spec,
        "requests": tally.requests,
        "outcomes": [
            {"status": outcome.status, "code": outcome.code, "documented": shown, "count": count}
            for shown, group in ((True, counts), (False, dict(sorted(others.items()))))
            for outcome, count in group.items()
        ],
        "parameters": [
            {
                "name": name,
                "required": required,
                "accepted": tally.accepted.get(name, 0),
                "refused": tally.refused.get(name, 0),
            }
            for name, required in list_parameters(operation)
        ],
    }


def _merge_operations(
    first: Sequence[JsonObject], second: Sequence[JsonObject]
) -> list[JsonObject]:
    rows = {row["id"]: row for row in first}
    for row in second:
        known = rows.get(row["id"])
        if known is None:
            rows[row["id"]] = row
            continue
        rows[row["id"]] = known | {
            "requests": known["requests"] + row["requests"],
            "outcomes": _merge_rows(known["outcomes"], row["outcomes"], ("status", "code")),
            "parameters": _merge_rows(known["parameters"], row["parameters"], ("name",)),
        }
    return list(rows.values())


_COUNTS = frozenset({"count", "requests", "accepted", "refused"})


def _merge_rows(
    first: Sequence[JsonObject], second: Sequence[JsonObject], keys: tuple[str, ...]
) -> list[JsonObject]:
    """Return the rows of both; rows with the same keys become one, with their counts added."""
    rows: dict[tuple[Any, ...], JsonObject] = {}
    for row in (*first, *second):
        key = tuple(row[name] for name in keys)
        rows[key] = _add_counts(rows[key], row) if key in rows else row
    return list(rows.values())


def _add_counts(first: Mapping[str, Any], second: Mapping[str, Any]) -> JsonObject:
    return {
        name: value + second[name] if name in _COUNTS else value for name, value in first.items()
    }


def _make_total(covered: Iterable[bool]) -> JsonObject:
    flags = list(covered)
    return {
        "covered": sum(flags),
        "of": len(flags),
        "percent": _compute_percent(sum(flags), len(flags)),
    }


def _compute_percent(part: int, whole: int) -> float:
    """Return a percentage with one decimal, rounded down: only the whole is 100."""
    return int(part * 1000 / whole) / 10 if whole else 100.0
