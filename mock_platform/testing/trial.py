"""One test with its world: what must fail it, and what it is told when it fails."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable
from typing import Any, Protocol

from mock_platform.client.interface import World
from mock_platform.testing import story

Entry = dict[str, Any]
Section = tuple[str, str]


class Entries(Protocol):
    """Gives the journal of a world as JSON."""

    def __call__(self, *, failed: bool = False) -> list[Entry]:
        """Its entries; with `failed`, those in which the sandbox itself failed are enough."""


class Trial:
    """Judges one test's world."""

    def __init__(
        self,
        world: World,
        entries: Entries,
        faults: Callable[[], Iterable[BaseException]],
        end: Callable[[], None] = lambda: None,
    ) -> None:
        """`faults` gives what failed outside of requests, once.

        `end` is called before the world ends, to keep the entries where they would go with it.
        """
        self._end = end
        self._world = world
        self._scenarios: list[dict[str, Any]] | None = None
        self._entries = entries
        self._faults = faults
        self._told: set[str] = set()

    def end(self) -> None:
        """Keep what is shown of the world, which ends now: a fixture may fail after that.

        Raises:
            Unreachable: The server is gone.
        """
        self._end()
        self._scenarios = self._world.scenarios

    def problems(self, *, late: bool = False) -> list[str]:
        """What must fail the test although it passed; each only once.

        `late`, after the test's end, leaves out rules: they have been judged.

        Raises:
            Unreachable: The server is gone.
        """
        found = []
        broken = self._new(self._broken())
        if broken:
            told = "\n\n".join(broken)
            found.append(f"mock_platform: the sandbox itself failed, not the test:\n{told}")
        silent = [] if late else self._new(str(each) for each in self._world.unfired_expectations())
        if silent:
            found.append("mock_platform: " + "\n".join(silent))
        return found

    def sections(self, *, whole: bool = False) -> list[Section]:
        """What a failing test shows: headings and texts, those that have something to say."""
        entries = self._entries()
        scenarios = self._world.scenarios if self._scenarios is None else self._scenarios
        found = [
            ("mock_platform journal", story.journal(entries, whole=whole)),
            ("mock_platform rules that never acted", story.silent_rules(scenarios)),
            ("mock_platform nearest misses", story.nearest_misses(entries)),
            ("mock_platform faults of the sandbox", "\n\n".join(self._new(self._broken()))),
        ]
        return [(title, text) for title, text in found if text]

    def _broken(self) -> list[str]:
        met = story.tracebacks(self._entries(failed=True))
        # What a request met is in the journal already.
        others = []
        for fault in self._faults():
            last = traceback.format_exception_only(fault)[-1].rstrip()
            if not any(text.endswith(last) for text in met):
                others.append("".join(traceback.format_exception(fault)).rstrip())
        return met + others

    def _new(self, texts: Iterable[str]) -> list[str]:
        fresh = [text for text in dict.fromkeys(texts) if text not in self._told]
        self._told.update(fresh)
        return fresh
