"""Reads what an inner pytest run printed."""

from __future__ import annotations

import re

import pytest

_RULE = re.compile(r"[-=_]{3,} (.+) [-=_]{3,}|[-=_]{10,}")


def section(result: pytest.RunResult, title: str) -> list[str]:
    """The lines under a heading, up to the next one; a heading that is not there fails."""
    found: list[str] | None = None
    for line in result.stdout.lines:
        heading = _RULE.fullmatch(line)
        if heading is None:
            if found is not None:
                found.append(line)
        elif found is not None:
            break
        elif heading[1] == title:
            found = []
    assert found is not None, f"no heading {title!r} in\n{result.stdout}"
    while found and not found[-1]:
        found.pop()
    return found


def headings(result: pytest.RunResult) -> list[str]:
    """All headings, in order."""
    found = [_RULE.fullmatch(line) for line in result.stdout.lines]
    return [match[1] for match in found if match is not None and match[1]]
