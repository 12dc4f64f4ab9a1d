"""The verdict on one test's world: what must fail the test, and its report."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable
from typing import Any, Protocol

from mock_platform.client.interface import WorldFace
from mock_platform.client.testing import report

Entry = dict[str, Any]
Section = tuple[str, str]


class Entries(Protocol):
    """Returns the journal of a world as JSON."""

    def __call__(self, *, failed: bool = False) -> list[Entry]:
        """Returns its entries; with `failed`, those with an error of the sandbox are enough."""


class Verdict:
    """Checks one test's world."""

    def __init__(
        self,
        world: WorldFace,
        entries: Entries,
        scenarios: Callable[[], list[dict[str, Any]]],
        faults: Callable[[], Iterable[BaseException]],
        end: Callable[[], None] = lambda: None,
    ) -> None:
        """`faults` returns the errors outside of requests, once.

        `entries` and `scenarios` are also called after the world has ended. `end` is called before
        that, to save what would be lost.
        """
        self._end = end
        self._world = world
        self._scenarios = scenarios
        self._entries = entries
        self._faults = faults
        self._reported: set[str] = set()

    def end(self) -> None:
        """Save what the report shows, because the world ends now and a fixture may fail later.

        Raises:
            Unreachable: The server no longer answers.
        """
        self._end()

    def problems(self, *, late: bool = False) -> list[str]:
        """Returns the reasons for which a passed test must fail; each only once.

        `late`, after the test's end, ignores rules: they were checked before.

        Raises:
            Unreachable: The server no longer answers.
        """
        found = []
        broken = self._drop_known(self._find_errors())
        if broken:
            told = "\n\n".join(broken)
            found.append(f"mock_platform: the sandbox itself failed, not the test:\n{told}")
        silent = (
            []
            if late
            else self._drop_known(str(each) for each in self._world.unfired_expectations())
        )
        if silent:
            found.append("mock_platform: " + "\n".join(silent))
        return found

    def sections(self, *, whole: bool = False) -> list[Section]:
        """Returns what a failing test shows: headings and texts, without empty ones."""
        entries = self._entries()
        found = [
            ("mock_platform journal", report.journal(entries, whole=whole)),
            ("mock_platform rules that never acted", report.silent_rules(self._scenarios())),
            ("mock_platform nearest misses", report.nearest_misses(entries)),
            (
                "mock_platform faults of the sandbox",
                "\n\n".join(self._drop_known(self._find_errors())),
            ),
        ]
        return [(title, text) for title, text in found if text]

    def _find_errors(self) -> list[str]:
        seen = report.tracebacks(self._entries(failed=True))
        # The journal already shows errors in requests.
        others = []
        for fault in self._faults():
            last = traceback.format_exception_only(fault)[-1].rstrip()
            if not any(text.endswith(last) for text in seen):
                others.append("".join(traceback.format_exception(fault)).rstrip())
        return seen + others

    def _drop_known(self, texts: Iterable[str]) -> list[str]:
        fresh = [text for text in dict.fromkeys(texts) if text not in self._reported]
        self._reported.update(fresh)
        return fresh
