"""What a run must not have: for people, as one page, and as JUnit XML."""

from __future__ import annotations

import threading
import traceback
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from itertools import islice
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from mock_platform.api.served import OPERATIONS
from mock_platform.core.junit import JunitCase, write_junit
from mock_platform.core.warning_counts import (
    WarningDocument,
    count_requests,
    describe_warnings,
    strip_origin,
)
from mock_platform.platform import Platform
from mock_platform.scenario.director import find_engine
from mock_platform.scenario.outline import UnfiredRule
from mock_platform.verification.costs.document import CostsDocument, describe_costs
from mock_platform.world import redact
from mock_platform.world.clock import format_date
from mock_platform.world.journal import JournalEntry
from mock_platform.world.names import UnknownWorld

_MAX_STRAYS = 1000
_SHOWN_STRAYS = 20


class DriftOptions(Struct, frozen=True):
    """How another server is compared with this sandbox."""

    against: str
    """Its address."""
    only: str
    """Patterns of the operations that are compared, separated by commas; all if empty."""
    skip: tuple[str, ...]
    """Kinds of requests, and patterns of operations, that are not sent to it."""
    methods: bool
    """Whether it gets requests with a method that no operation has."""
    credentials_file: Path | None
    ca: Path | None
    accepted: Path | None
    """The differences of that server that are accepted."""
    yes: bool


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
        """Return a line for each method and path."""
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
        """Return the check as a case of its suite."""
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
        """Return the lines for people: only what failed."""
        headlines = dict.fromkeys(check.headline for check in self.checks if check.faults)
        for headline in headlines:
            yield f"mock-platform: {headline}:"
            for check in self.checks:
                if check.headline == headline:
                    yield from (f"  {line}" for text in check.faults for line in text.splitlines())

    def write_junit(self, name: str, properties: Mapping[str, str]) -> str:
        """Return JUnit XML with a case for each check; `name` is that of the whole run."""
        suites: dict[str, list[JunitCase]] = {}
        for check in self.checks:
            suites.setdefault(check.suite, []).append(check.as_case())
        return write_junit(name, suites.items(), properties)


def check_rules(platform: Platform) -> list[RunCheck]:
    """Return a check for each rule with `expect: fired`.

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
    """Return the checks of all requests: paths that do not exist, and warnings."""
    return [
        RunCheck(
            "requests", "unknown paths", watch.describe(), "requests that no operation answers"
        ),
        RunCheck(
            "requests", "warnings", list(describe_warnings(warnings)), count_requests(warnings)
        ),
    ]


def check_costs(costs: CostsDocument, most: Decimal) -> RunCheck:
    """Return the check that all calls together would have cost at most so many US dollars."""
    faults = []
    if Decimal(costs["usd"]) > most:
        faults = [
            f"{row['usd']} for {row['calls']} x {row['key']}"
            for row in costs["items"][:MAX_LINES]
            if Decimal(row["usd"])
        ]
    headline = f"{describe_costs(costs)}, more than --max-cost {most}"
    notes = [] if faults else [describe_costs(costs)]
    return RunCheck("costs", "at most", faults, headline, notes)


def check_faults(faults: Iterable[BaseException]) -> RunCheck:
    """Return the check of the sandbox itself."""
    texts = ["".join(traceback.format_exception(fault)).rstrip() for fault in faults]
    return RunCheck("sandbox", "faults", texts, "the sandbox itself failed")


def check_command(command: Sequence[str], status: int) -> RunCheck:
    """Return the check of the command's exit status."""
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
        first.acts_on or second.acts_on,
        first.hidden_by or second.hidden_by,
    )


def _describe_nearest(diagnosis: dict[str, Any] | None) -> str:
    near = [] if diagnosis is None else diagnosis.get("nearest", [])
    listed = "; ".join(f"{each['method']} {each['path']}" for each in near)
    return f"; nearest: {listed}" if listed else ""


# `run --page`: the page with all parts of a run.

MAX_LINES = 12
"""Lines of a part on the page; the JUnit file has all of them."""

_PARTS: Mapping[str, tuple[str, str]] = {
    "command": (
        "the command ended with status 0",
        "Run the command by itself, beside `mock-platform serve`; its output is above.",
    ),
    "rules": (
        "every rule with `expect: fired` acted",
        "Let the command make a request that the rule is for, or remove `expect: fired`. "
        "`mock-platform requests` of a running server shows for each request why a rule did not "
        "act.",
    ),
    "requests": (
        "every request reached an operation, and nothing that was sent was ignored",
        "Correct the paths and parameters in the client. `mock-platform operations` lists what "
        "there is; GET /_mock/warnings of a running server has an example of each warning.",
    ),
    "sandbox": (
        "the sandbox had no fault of its own",
        "This is a fault of mock_platform. Please report it with the text above.",
    ),
    "coverage": (
        "the coverage is what it must be",
        "Exercise the lost outcomes again. If they are lost on purpose, write a new baseline: "
        "--coverage=FILE.baseline without --coverage-baseline.",
    ),
    "costs": (
        "the calls would have cost what they may",
        "Read fewer resources (max_results, fields of fewer users), or raise --max-cost. "
        "`mock-platform requests --format json` of a running server has the cost of each call.",
    ),
    "contract": (
        "the contract breaks nothing that the kept one promised",
        "Adapt the client to the changes, then keep the new contract: mock-platform contract "
        "--out FILE.",
    ),
    "drift": (
        "the other server is as this sandbox declares, but for accepted differences",
        "Look at the report of `mock-platform diff`. Report a wrong sandbox; accept what is known "
        "with --accepted FILE, --accept ID and --reason TEXT of `diff`.",
    ),
}
"""By suite: what holds if it passes, and what to do if it does not."""
_SWITCHES: Mapping[str, str] = {
    "coverage": "--coverage-fail-under, --coverage-baseline",
    "costs": "--max-cost USD",
    "contract": "--contract FILE",
    "drift": "--against URL",
}
"""Parts that are skipped unless an option asks for them."""


class GatePage(Struct, frozen=True):
    """The checks of all parts of a run."""

    name: str
    """The command, for the headline."""
    checks: Sequence[RunCheck]

    def list_failed(self) -> list[str]:
        """Return the parts that failed, in the order of the page."""
        return [part for part in _PARTS if any(c.faults for c in self._list_checks(part))]

    def render_text(self) -> str:
        """Return the page for a terminal."""
        lines = [f"{self.name}: {self._conclude()}", ""]
        for part, (holds, remedy) in _PARTS.items():
            checks = self._list_checks(part)
            if not checks:
                lines.append(f"  skipped  {part:<9} {self._explain_skip(part)}")
            elif part not in self.list_failed():
                lines.append(f"  ok       {part:<9} {holds}")
                lines += [f"             {line}" for line in self._list_notes(part)]
            else:
                lines.append(f"  FAILED   {part:<9} {self._headline(part)}")
                lines += [f"             {line}" for line in self._list_faults(part)]
                lines.append(f"           what to do: {remedy}")
        return "\n".join(lines) + "\n"

    def render_markdown(self) -> str:
        """Return the page for a pull request or the summary of a job."""
        lines = [f"## {self.name}: {self._conclude()}", "", "| part | |", "|---|---|"]
        for part, (holds, _) in _PARTS.items():
            checks = self._list_checks(part)
            state = "failed" if part in self.list_failed() else "ok" if checks else "skipped"
            said = holds if state == "ok" else self._explain_skip(part)
            said = self._headline(part) if state == "failed" else said
            lines.append(f"| {part}: **{state}** | {_escape(said)} |")
        for part in self.list_failed():
            lines += ["", f"### {part}", "", "```text", *self._list_faults(part), "```", ""]
            lines.append(_PARTS[part][1])
        passed = [part for part in _PARTS if part not in self.list_failed()]
        notes = [f"- {part}: {_escape(x)}" for part in passed for x in self._list_notes(part)]
        lines += ["", *notes] if notes else []
        return "\n".join(lines) + "\n"

    def _list_checks(self, part: str) -> list[RunCheck]:
        return [check for check in self.checks if check.suite == part]

    def _list_notes(self, part: str) -> list[str]:
        return [note for check in self._list_checks(part) for note in check.notes]

    def _conclude(self) -> str:
        return f"failed ({', '.join(self.list_failed())})" if self.list_failed() else "passed"

    def _headline(self, part: str) -> str:
        return "; ".join(dict.fromkeys(c.headline for c in self._list_checks(part) if c.faults))

    def _explain_skip(self, part: str) -> str:
        return f"not asked for: {_SWITCHES.get(part, 'no rule has to act')}"

    def _list_faults(self, part: str) -> Iterator[str]:
        faults = [
            line for c in self._list_checks(part) for text in c.faults for line in text.splitlines()
        ]
        yield from islice(faults, MAX_LINES)
        if len(faults) > MAX_LINES:
            yield f"and {len(faults) - MAX_LINES} more lines, which --junit FILE has"


# `verify --as-of A,B,C`: one run for each date of the contract, and one table of them.


class DateWatch:
    """Counts requests, and those for operations that do not exist at a date; an observer."""

    def __init__(self, date: datetime) -> None:
        self.date = format_date(date)
        self.requests = 0
        self.absent: Counter[str] = Counter()
        self._missing = {each.id for each in OPERATIONS if not each.exists_at(date)}
        self._lock = threading.Lock()

    def observe(self, entry: JournalEntry) -> None:
        """Count the request of a journal entry."""
        with self._lock:
            self.requests += 1
            if entry.operation in self._missing:
                self.absent[entry.operation] += 1


class DatedRun(Struct, frozen=True):
    """A run with the contract of a date."""

    watch: DateWatch
    verdict: RunVerdict

    def list_checks(self) -> Iterator[RunCheck]:
        """Return its checks in a suite of their own."""
        for each in self.verdict.checks:
            suite = f"as of {self.watch.date}"
            yield RunCheck(suite, f"{each.suite}: {each.name}", each.faults, each.headline)

    def make_row(self) -> tuple[str, str, str, str]:
        """Return the cells of its row."""
        failed = dict.fromkeys(check.suite for check in self.verdict.checks if check.faults)
        result = f"failed ({', '.join(failed)})" if failed else "passed"
        absent = (f"{count} x {name}" for name, count in sorted(self.watch.absent.items()))
        return self.watch.date, result, str(self.watch.requests), ", ".join(absent) or "-"


_TITLES = ("as of", "result", "requests", "called, and not there at that date")


def render_runs(runs: Sequence[DatedRun], *, markdown: bool = False) -> Iterator[str]:
    """Yield the table of the runs, then what failed at each date."""
    rows = [run.make_row() for run in runs]
    if markdown:
        for row in (_TITLES, ("---",) * len(_TITLES), *rows):
            yield f"| {' | '.join(map(_escape, row))} |"
    else:
        widths = [max(map(len, column)) for column in zip(_TITLES, *rows, strict=True)]
        for row in (_TITLES, *rows):
            cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
            yield "  ".join(cells).rstrip()
    fences = (["```text"], ["```"]) if markdown else ([], [])
    for run in runs:
        lines = [line.removeprefix("mock-platform: ") for line in run.verdict.describe()]
        if lines:
            more = ["…"] if len(lines) > MAX_LINES else []
            yield from ("", f"as of {run.watch.date}:", *fences[0])
            yield from (*lines[:MAX_LINES], *more, *fences[1])


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")
