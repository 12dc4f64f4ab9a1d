"""Writes the findings of a drift check, for people and for programs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mock_platform.drift.check import Drift
from mock_platform.drift.compare import Difference, DifferenceKind

_WORDS: Mapping[DifferenceKind, str] = {
    "missing": "missing, declared as {expected}",
    "extra": "not declared, got {got}",
    "type": "declared as {expected}, got {got}",
    "enum": "got {got}, declared are {expected}",
    "format": "declared as {expected}, got {got}",
    "status": "declared is {expected}, got {got}",
    "header": "declared is {expected}, got {got}",
}


def as_json(drift: Drift, base_url: str) -> dict[str, Any]:
    """Return the findings as JSON data."""
    return {
        "base_url": base_url,
        "drift": drift.differs,
        "operations": [
            {
                "operation": each.operation,
                "path": each.path,
                "status": each.status,
                "differences": [difference.as_json() for difference in each.differences],
            }
            for each in drift.checked
        ],
        "skipped": [{"operation": each.operation, "reason": each.reason} for each in drift.skipped],
    }


def render_text(drift: Drift, base_url: str) -> str:
    """Return the findings as lines: operations that differ, and those not checked."""
    lines = []
    for each in drift.checked:
        if each.differences:
            lines.append(f"{each.operation}  GET {each.path}")
            lines += [f"  {_format_line(difference)}" for difference in each.differences]
    differing = sum(bool(each.differences) for each in drift.checked)
    lines += [f"not checked: {each.operation} ({each.reason})" for each in drift.skipped]
    lines.append(
        f"{base_url}: {len(drift.checked)} operations checked, {differing} differ, "
        f"{len(drift.skipped)} not checked."
    )
    return "\n".join(lines)


def _format_line(difference: Difference) -> str:
    words = _WORDS[difference.kind].format(expected=difference.expected, got=difference.got)
    return f"{difference.kind} {difference.where}: {words}"
