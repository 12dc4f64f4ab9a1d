"""`--mock-mutate`: each green test runs again while an operation that it called fails.

The failures are those that the operations document, one at a time, for every call of the test. A
test that stays green although it was given one would not notice it in the real service either.
Everything is in this process: the same items with fresh fixtures, and sandboxes that this process
starts.
"""

from __future__ import annotations

import copy
import os
import signal
import threading
import warnings
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from functools import partial
from hashlib import blake2s
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

import pytest
from msgspec import Struct, field

from mock_platform.api.served import OPERATIONS
from mock_platform.client.testing.run_outcome import RunOutcome
from mock_platform.platform import Platform
from mock_platform.scenario.director import find_engine
from mock_platform.scenario.failures import DocumentedFailure, list_failures
from mock_platform.scenario.outcomes import Outcome, find_codes, find_match
from mock_platform.serving.restoring import WATCHER
from mock_platform.verification.mutation import MutationReport, Result, Trial
from mock_platform.world.clock import UPTIME
from mock_platform.world.journal import JournalEntry

if TYPE_CHECKING:
    from types import FrameType

_PROGRESS_SECONDS = 5.0
_LEAST_LIMIT_SECONDS = 5.0
_LIMIT_FACTOR = 20
"""A test may take so many times as long as before, and at least the limit above."""
_AGAIN_SECONDS = 0.005
_LOST_SECONDS = 1.0
"""Time for a test to end after it was stopped."""
_WHOLE = frozenset(
    {"handle", "open", "close", "start", "stop", "world", "drop_world", "reset"}
    | {"__enter__", "__exit__"}
)
"""Functions of the sandbox that no alarm may interrupt."""
_LOCKING = frozenset({"threading", "queue", "logging"})
"""Modules of Python whose functions no alarm may interrupt, but those that wait."""
_WAITING = frozenset({"wait", "join", "_wait_for_tstate_lock"})


class _Endless(BaseException):
    """A test takes too long; no `Exception`, which a client may catch to try again."""


class _Seen(Struct):
    """A test as it was without a failure."""

    item: pytest.Item
    begun: float
    seconds: float = 0.0
    green: bool = True
    met: dict[str, set[Outcome]] = field(default_factory=dict)
    """The operations that it called, each with the failures that it was answered with."""
    repeatable: bool | None = None
    """Whether it is green a second time; `None` until it was tried."""


_Planned = tuple[_Seen, DocumentedFailure]


class MutationPlugin:
    """Collects what each test calls, and runs those that were green again."""

    def __init__(
        self, config: pytest.Config, outcome: RunOutcome, budget: float | None, seed: int
    ) -> None:
        """`budget` are the seconds for all runs with failures; without one, all are done."""
        self._config = config
        self._outcome = outcome
        self._budget = budget
        self.report = outcome.mutation = MutationReport(seed)
        self._platforms: WeakSet[Platform] = WeakSet()
        self._seen: dict[str, _Seen] = {}
        self._test: _Seen | None = None
        """The test that runs for the first time."""
        self._again = False
        """Whether a test runs again."""
        self._failure: DocumentedFailure | None = None
        """The failure that is being tried."""
        self._given = False
        self._green = True
        self._limit = 0.0
        self._told = UPTIME()
        self._shown = False
        token = WATCHER.set(self._watch)
        config.add_cleanup(lambda: WATCHER.reset(token))

    # -- what tests call -------------------------------------------------------------------------

    def _watch(self, platform: Platform) -> None:
        platform.observers.append(self._observe)
        self._platforms.add(platform)
        if self._failure is not None:
            self._place(platform, self._failure)

    def _observe(self, entry: JournalEntry) -> None:
        if self._failure is not None:
            self._given |= entry.rule is not None and entry.rule["scenario"] == self._failure.id
        elif self._test is not None and entry.operation is not None:
            met = self._test.met.setdefault(entry.operation, set())
            if entry.status >= 400:
                codes = find_codes(entry.status, entry.response_body)
                met.update(Outcome(entry.status, code) for code in codes)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Any:
        """Note which test begins, or run it again."""
        if not self._again:
            self._test = self._seen[item.nodeid] = _Seen(item, UPTIME())
            return None
        with warnings.catch_warnings(record=True):  # those of the first run were told
            self._run_again(item)
        return True

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note whether a test is green."""
        seen = self._seen.get(report.nodeid)
        if seen is not None:
            seen.green &= report.passed and not hasattr(report, "wasxfail")
            if report.when == "teardown":
                seen.seconds, self._test = UPTIME() - seen.begun, None

    # -- trials ----------------------------------------------------------------------------------

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> Generator[None, object, object]:
        """Try the failures after all tests, unless the run was stopped."""
        result = yield
        if self._seen and not (session.shouldstop or session.shouldfail):
            self._try_all(session)
        return result

    def _try_all(self, session: pytest.Session) -> None:
        planned = list(self._plan())
        done, begun = 0, UPTIME()
        self._outcome.trying = self.report.begun = True
        option = self._config.option
        style, option.tbstyle = option.tbstyle, "value"  # nobody reads these tracebacks
        try:
            for seen, failure in planned:
                spent = UPTIME() - begun
                if self._budget is not None and spent >= self._budget:
                    break
                self._show(done, len(planned), spent)
                self._try(seen, failure)
                done += 1
            self._show(done, len(planned), UPTIME() - begun, last=True)
        finally:
            _tear_down(session, None)
            self.report.left_out = len(planned) - done
            option.tbstyle, self._outcome.trying = style, False

    def _plan(self) -> Iterator[_Planned]:
        """Yield what to try: the newest files of tests first, within a file in a drawn order."""
        operations = {operation.id: operation for operation in OPERATIONS}
        green = [seen for seen in self._seen.values() if seen.green and seen.met]
        self.report.tests = len(green)
        self.report.not_green = sum(bool(s.met and not s.green) for s in self._seen.values())
        ages = {path: -_read_changed(path) for path in {seen.item.path for seen in green}}
        green.sort(key=lambda seen: (ages[seen.item.path], seen.item.path))
        for _, of_file in groupby(green, key=lambda seen: seen.item.path):
            found: list[_Planned] = []
            for seen in of_file:
                for operation in sorted(seen.met.keys() & operations.keys()):
                    documented = list(list_failures(operations[operation]))
                    known = [Outcome(each.status or 0, each.code) for each in documented]
                    met = {find_match(outcome, known) for outcome in seen.met[operation]}
                    new = [
                        f for f, as_met in zip(documented, known, strict=True) if as_met not in met
                    ]
                    self.report.expected += len(documented) - len(new)
                    found += [(seen, failure) for failure in new]
            yield from sorted(found, key=self._draw)

    def _draw(self, planned: _Planned) -> bytes:
        """Return a place in an order that depends on the seed, and on nothing else of the run."""
        seen, failure = planned
        text = f"{self.report.seed} {seen.item.nodeid} {failure.id}"
        return blake2s(text.encode()).digest()

    def _try(self, seen: _Seen, failure: DocumentedFailure) -> None:
        if seen.repeatable is None:
            # A test that is red when it runs twice in one process would seem to notice everything.
            seen.repeatable = self._repeat(seen, None) == "survived"
            self.report.not_green += not seen.repeatable
            self.report.tests -= not seen.repeatable
        if seen.repeatable:
            result = self._repeat(seen, failure)
            trial = Trial(seen.item.nodeid, failure.operation, failure.id, result)
            self.report.trials.append(trial)

    def _repeat(self, seen: _Seen, failure: DocumentedFailure | None) -> Result:
        """Run a test again, with a failure or without one."""
        item = seen.item
        _tear_down(item.session, item)
        self._again, self._given, self._green = True, failure is None, True
        self._failure = failure
        self._limit = max(_LEAST_LIMIT_SECONDS, _LIMIT_FACTOR * seen.seconds)
        try:
            if failure is not None:
                for platform in list(self._platforms):
                    self._place(platform, failure)
            item.ihook.pytest_runtest_protocol(item=item, nextitem=None)
            result: Result = "survived" if self._green else "noticed"
        except _Endless:
            result = "endless"
        finally:
            self._again, self._failure = False, None
            if failure is not None:
                for platform in list(self._platforms):
                    _remove(platform, failure)
        return result if self._given else "unmet"

    def _place(self, platform: Platform, failure: DocumentedFailure) -> None:
        """Let the operation fail in all worlds of a platform, and in those to come."""
        platform.library.put(failure.as_scenario(platform.library.catalog, times=None))
        platform.start_up.active.insert(0, failure.id)
        if not platform.closing.is_set():
            for world in platform.worlds:
                find_engine(world).activate(failure.id)

    def _run_again(self, item: pytest.Item) -> None:
        hooks = item.ihook
        again: Any = item
        if hasattr(item, "_request") and not again._request:  # noqa: SLF001
            again._initrequest()  # noqa: SLF001 - as plugins do that run tests again
        steps: list[tuple[str, Callable[[], Any]]] = [
            ("setup", lambda: hooks.pytest_runtest_setup(item=item)),
            ("call", lambda: hooks.pytest_runtest_call(item=item)),
        ]
        endless = False
        for when, step in steps:
            if self._green and not endless:
                endless = self._run_step(item, when, step)
        # A copy stands in for the next test, so that only the fixtures of the function end.
        last = partial(hooks.pytest_runtest_teardown, item=item, nextitem=copy.copy(item))
        endless |= self._run_step(item, "teardown", last)
        if hasattr(item, "_request"):
            again._request, again.funcargs = False, None  # noqa: SLF001
        again._report_sections.clear()  # noqa: SLF001
        if endless:
            raise _Endless

    def _run_step(self, item: pytest.Item, when: Any, step: Callable[[], Any]) -> bool:
        """Run a part of a test; return whether it was stopped because it took too long."""
        call = pytest.CallInfo.from_call(
            partial(_run_limited, step, self._limit),
            when,
            (KeyboardInterrupt, pytest.exit.Exception),
        )
        # Other plugins prepare and clean up here as well, so the report is made although only its
        # outcome is used.
        report = item.ihook.pytest_runtest_makereport(item=item, call=call)
        self._green &= report.passed and not hasattr(report, "wasxfail")
        return call.excinfo is not None and call.excinfo.errisinstance(_Endless)

    # -- progress --------------------------------------------------------------------------------

    def _show(self, done: int, of: int, spent: float, *, last: bool = False) -> None:
        if not of or (UPTIME() - self._told < _PROGRESS_SECONDS and not last):
            return
        self._told = UPTIME()
        survived = len(self.report.select("survived"))
        text = f"mock_platform: {done:,} of {of:,} failures in {spent:.0f} s, {survived} unnoticed"
        worker = getattr(self._config, "workerinput", {}).get("workerid")
        terminal = self._config.pluginmanager.getplugin("terminalreporter")
        if worker is not None:  # a worker's terminal is nowhere, but standard error is that of all
            with suppress(OSError):
                os.write(2, f"{worker}: {text}\n".encode())
        elif terminal is not None:
            terminal.write_line(text if self._shown else f"\n{text}")
            self._shown = True


def _tear_down(session: pytest.Session, item: pytest.Item | None) -> None:
    """End all fixtures except those that a test may share with the one before."""
    with suppress(Exception):  # their faults were told after the first run
        session._setupstate.teardown_exact(item)  # noqa: SLF001 - there is no public way


def _remove(platform: Platform, failure: DocumentedFailure) -> None:
    with suppress(ValueError):
        platform.start_up.active.remove(failure.id)
    if not platform.closing.is_set():
        for world in platform.worlds:
            find_engine(world).deactivate(failure.id)


def _read_changed(path: Path) -> float:
    """Return when a file was changed; 0 if it does not exist."""
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _run_limited(step: Callable[[], Any], seconds: float) -> Any:
    """Run a part of a test, and raise `_Endless` in it after so many seconds.

    Returns what the part returns. Where the system has no alarm, or somebody else uses it, such as
    pytest-timeout, there is no limit.
    """
    if (
        not hasattr(signal, "setitimer")
        or threading.current_thread() is not threading.main_thread()
        or signal.getsignal(signal.SIGALRM) is not signal.SIG_DFL
    ):
        return step()

    def stop(_number: int, frame: FrameType | None) -> None:
        # Never outside of the part, where the exception would end the run of tests. Where it would
        # break something that lives longer than the test, the alarm comes again.
        if _is_in_part(frame) and not (_is_in_sandbox(frame) or _is_locking(frame)):
            # Where an alarm comes while Python frees an object, or where a test catches everything,
            # the exception is lost: then another one follows.
            signal.setitimer(signal.ITIMER_REAL, _LOST_SECONDS, _AGAIN_SECONDS)
            raise _Endless

    signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds, _AGAIN_SECONDS)
    try:
        return _run(step)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)


def _run(step: Callable[[], Any]) -> Any:
    return step()


def _is_in_part(frame: FrameType | None) -> bool:
    """Whether a part of a test runs, and not what is around it."""
    while frame is not None:
        if frame.f_code is _run.__code__:
            return True
        frame = frame.f_back
    return False


def _is_locking(frame: FrameType | None) -> bool:
    """Whether a function takes or returns a lock at this step.

    An exception between its taking and the `with` around it leaves the lock behind. For that of a
    pool of connections Python would wait for ever when it frees the pool, long after the test.
    """
    return (
        frame is not None
        and frame.f_globals.get("__name__") in _LOCKING
        and frame.f_code.co_name not in _WAITING
    )


def _is_in_sandbox(frame: FrameType | None) -> bool:
    """Whether a test is inside a part of the sandbox that has to end.

    An alarm can come between any two steps. An exception in the middle of a request, or while a
    world is locked or a server ends, could leave a lock behind for which the next request waits for
    ever. None of these parts takes long, unlike what waits: streams, and `wait` of a receiver.
    """
    while frame is not None:
        if frame.f_globals.get("__name__", "").startswith("mock_platform."):
            if frame.f_code.co_name in _WHOLE:
                return True
            outer = frame.f_back
            # What is written as a generator is entered and left by a module of Python.
            if outer is not None and outer.f_code.co_name in _WHOLE:
                return True
        frame = frame.f_back
    return False
