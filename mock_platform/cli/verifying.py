"""`run --verify`: what a run must not have, as lines for people and as JUnit XML."""

from __future__ import annotations

import threading
import traceback
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from msgspec import Struct, field

from mock_platform.core.junit import JunitCase, write_junit
from mock_platform.core.warning_counts import (
    WarningDocument,
    count_requests,
    describe_warnings,
    strip_origin,
)
from mock_platform.platform import Platform
from mock_platform.scenario.director import find_engine
from mock_platform.scenario.unfired import UnfiredRule
from mock_platform.world import redact
from mock_platform.world.journal import JournalEntry
from mock_platform.world.names import UnknownWorld

_MAX_STRAYS = 1000
_SHOWN_STRAYS = 20


class Stray(Struct):
    """Requests with one method and path that no operation answers."""

    status: int
    hint: str
    requests: int = 0


class StrayWatch:
    """Collects requests that no operation answers; to be one of a platform's observers.

    The journal cannot be used: it is limited, and clients can empty it.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._found: dict[tuple[str, str], Stray] = {}
        self._more = 0

    def observe(self, entry: JournalEntry) -> None:
        """Note the request of a journal entry, if it is a stray."""
        if entry.operation is not None or entry.custom is not None:
            return
        if entry.status not in {404, 405}:  # a page of the console, or not readable as a request
            return
        path = redact.address(strip_origin(entry.url).partition("?")[0])
        with self._lock:
            key = entry.method, path
            stray = self._found.get(key)
            if stray is None and len(self._found) >= _MAX_STRAYS:
                self._more += 1
                return
            if stray is None:
                stray = self._found[key] = Stray(entry.status, _describe_nearest(entry.diagnosis))
            stray.requests += 1

    def describe(self) -> list[str]:
        """Returns a line for each method and path."""
        with self._lock:
            lines = [
                f"{stray.requests} x {method} {path}: {stray.status}{stray.hint}"
                for (method, path), stray in self._found.items()
            ]
            more = self._more + sum(
                stray.requests for stray in [*self._found.values()][_SHOWN_STRAYS:]
            )
        lines = lines[:_SHOWN_STRAYS]
        return [*lines, f"and {more} more"] if more else lines


class RunCheck(Struct, frozen=True):
    """One check of a run: its place in the JUnit file, and what failed."""

    suite: str
    name: str
    faults: Sequence[str] = ()
    headline: str = ""
    """What stands above the faults; the checks with the same one are shown together."""
    notes: Sequence[str] = ()
    """What is not a fault, and should be known."""

    def as_case(self) -> JunitCase:
        """Returns the check as a case of its suite."""
        if not self.faults:
            return JunitCase(self.name)
        details = "\n".join(self.faults)
        return JunitCase(self.name, failure=self.headline, kind=self.suite, details=details)


class RunVerdict(Struct, frozen=True):
    """The checks of a run."""

    checks: Sequence[RunCheck] = field(default_factory=list)

    @property
    def has_failed(self) -> bool:
        """Whether a check failed."""
        return any(check.faults for check in self.checks)

    def describe(self) -> Iterator[str]:
        """Returns the lines for people: only what failed."""
        headlines = dict.fromkeys(check.headline for check in self.checks if check.faults)
        for headline in headlines:
            yield f"mock-platform: {headline}:"
            for check in self.checks:
                if check.headline == headline:
                    yield from (f"  {line}" for text in check.faults for line in text.splitlines())

    def write_junit(self, name: str = "mock-platform run") -> str:
        """Returns JUnit XML with a case for each check; `name` is that of the whole run."""
        suites: dict[str, list[JunitCase]] = {}
        for check in self.checks:
            suites.setdefault(check.suite, []).append(check.as_case())
        return write_junit(name, suites.items())


def check_rules(platform: Platform) -> list[RunCheck]:
    """Returns a check for each rule with `expect: fired`.

    For a scenario of the start it is enough that the rule acted in any world, before or after a
    reset. The rules of scenarios that clients activated are checked in the worlds in which they
    are active, but only those that never acted are listed.
    """
    pending: dict[tuple[str, int], UnfiredRule] = {}
    checks = []
    for world in platform.worlds:
        try:
            found = find_engine(world).unfired_expectations()
        except UnknownWorld:  # dropped meanwhile
            continue
        for unfired in found:
            key = unfired.scenario, unfired.rule
            if unfired.scenario in platform.start_up.active:
                before = pending.get(key)
                pending[key] = unfired if before is None else _add(before, unfired)
            else:
                name = f"{unfired.scenario}/{unfired.rule} in world {world.name}"
                checks.append(_make_rule_check(name, unfired))
    for name in platform.start_up.active:
        scenario = platform.library.find(name)
        for index, rule in enumerate(scenario.bind({}) if scenario is not None else ()):
            if rule.expected:
                key = name, index
                fired = key in platform.fired_rules
                missing = None if fired else pending.get(key, UnfiredRule(name, index, 0))
                checks.append(_make_rule_check(f"{name}/{index}", missing))
    return checks


def check_requests(watch: StrayWatch, warnings: WarningDocument) -> list[RunCheck]:
    """Returns the checks of all requests: paths that do not exist, and warnings."""
    return [
        RunCheck(
            "requests", "unknown paths", watch.describe(), "requests that no operation answers"
        ),
        RunCheck(
            "requests", "warnings", list(describe_warnings(warnings)), count_requests(warnings)
        ),
    ]


def check_faults(faults: Iterable[BaseException]) -> RunCheck:
    """Returns the check of the sandbox itself."""
    texts = ["".join(traceback.format_exception(fault)).rstrip() for fault in faults]
    return RunCheck("sandbox", "faults", texts, "the sandbox itself failed")


def check_command(command: Sequence[str], status: int) -> RunCheck:
    """Returns the check of the command's exit status."""
    faults = [f"{command[0]} ended with status {status}"] if status else []
    return RunCheck("command", "exit status", faults, "the command failed")


def _make_rule_check(name: str, unfired: UnfiredRule | None) -> RunCheck:
    faults = [] if unfired is None else [str(unfired)]
    return RunCheck("rules", name, faults, "rules that had to act and did not")


def _add(first: UnfiredRule, second: UnfiredRule) -> UnfiredRule:
    return UnfiredRule(
        first.scenario,
        first.rule,
        first.matched + second.matched,
        first.refused + second.refused,
    )


def _describe_nearest(diagnosis: dict[str, Any] | None) -> str:
    near = [] if diagnosis is None else diagnosis.get("nearest", [])
    listed = "; ".join(f"{each['method']} {each['path']}" for each in near)
    return f"; nearest: {listed}" if listed else ""
