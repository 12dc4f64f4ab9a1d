"""A sandbox for test suites with the standard library's unittest."""

from __future__ import annotations

import sys
import unittest
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import wraps
from inspect import get_annotations, iscoroutinefunction
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from mock_platform.client.arguments import read_as_of
from mock_platform.client.interface import WorldFace
from mock_platform.client.platform import MockPlatform
from mock_platform.client.testing import report
from mock_platform.client.testing.report import Verdict
from mock_platform.client.testing.servers import LocalServers, WorldRequest, find_meant
from mock_platform.serving.in_process.session import BasedSession
from mock_platform.settings import NamesMode
from mock_platform.verification.costs.document import describe_costs, merge_costs

if TYPE_CHECKING:
    from datetime import date

    from mock_platform.client.testing.webhook_receiver import WebhookReceiver
    from mock_platform.names import OwnName, ScenarioName
    from mock_platform.world.clock import Instant


class PlatformMixin:
    """Makes a fresh world for each test of a `TestCase`; put it before `TestCase` in the bases.

    A rule with `expect: fired` that never acted fails its test, and so does an error of the sandbox
    itself. The message of a failing test includes its journal. Requests that come after the end of
    their test are refused, and a warning at the end of the class lists them. `setUp` and
    `setUpClass` of subclasses must call those of their base first.

    Example:
        >>> import unittest
        >>> from mock_platform.testing import PlatformMixin
        >>> class ClockTest(PlatformMixin, unittest.TestCase):
        ...     mock_clock = "2026-11-20T10:00:00Z"
        ...
        ...     def test_clock(self):
        ...         self.assertTrue(self.mock_platform.clock.frozen)
        >>> suite = unittest.defaultTestLoader.loadTestsFromTestCase(ClockTest)
        >>> suite.run(unittest.TestResult())
        <unittest.result.TestResult run=1 errors=0 failures=0>
    """

    mock_scenarios: ClassVar[Mapping[ScenarioName | OwnName, dict[str, Any]]] = {}
    """Scenarios that are active in each test, with their parameters; a file is an `OwnName`."""
    mock_fixtures: ClassVar[Sequence[str | Path] | str | Path] = ()
    """Folders added to the default fixtures, or one of them; the last one wins."""
    mock_clock: ClassVar[str | None] = None
    """The moment at which the clock is stopped, ISO 8601."""
    mock_strict: ClassVar[bool] = False
    """Whether the server refuses what the specification does not show."""

    mock_warnings: ClassVar[Literal["ignore", "error"]] = "ignore"
    """Whether requests of which something is ignored are answered, or refused with 400."""
    mock_names: ClassVar[NamesMode | None] = None
    """Which names clients use and get; `None`: neutral."""
    mock_wire: ClassVar[str | None] = None
    """How answers are on the wire, such as `recorded`; `None`: as the specification shows."""
    mock_as_of: ClassVar[Instant | date | None] = None
    """The date of the contract, ISO 8601; `None`: the world's clock decides."""

    mock_costs: ClassVar[bool] = False
    """Whether a line at the end of the class says what its calls would have cost."""

    mock_platform_server: ClassVar[MockPlatform]
    """The server of the class's tests."""
    mock_platform: WorldFace
    """The world of the test."""
    mock_platform_session: BasedSession
    """A session that is answered in-process and adds no credentials."""
    _servers: ClassVar[LocalServers]
    _verdict: Verdict
    _receiver: WebhookReceiver | None

    def __init_subclass__(cls, **given: Any) -> None:
        """Warn of a misspelt attribute, which would have no effect."""
        super().__init_subclass__(**given)
        known = {name for name in dir(PlatformMixin) if name.startswith("mock_")}
        known |= {name for name in get_annotations(PlatformMixin) if name.startswith("mock_")}
        for name in vars(cls):
            if name.startswith("mock_") and name not in known:
                meant = find_meant(name, known)
                if meant is not None:
                    text = f"{cls.__name__}.{name} is not read. Did you mean {meant!r}?"
                    warnings.warn(f"mock_platform: {text}", stacklevel=2)

    def __init__(self, methodName: str = "runTest", *args: Any) -> None:  # noqa: N803 - unittest's
        super().__init__(methodName, *args)  # type: ignore[call-arg]
        # The test method is wrapped when the test is made, not by a hook: only inside the call is
        # it known whether the test itself failed, and only there can a fault of the world become
        # the failure of this test.
        test = getattr(self, methodName, None)
        if test is not None:
            setattr(self, methodName, self._wrap_test(test))

    @property
    def mock_webhook(self) -> WebhookReceiver:
        """A receiver of webhooks for this test; it listens from its first use on."""
        if self._receiver is None:
            from mock_platform.client.testing.webhook_receiver import WebhookReceiver

            secret = self.mock_platform.credentials["app"]["consumer_secret"]
            receiver = WebhookReceiver(secret, explain=self.mock_platform.explain_deliveries)
            self._receiver = self.enterContext(receiver)  # type: ignore[attr-defined]
        return self._receiver

    @classmethod
    def setUpClass(cls) -> None:
        """Start the server of the class."""
        super().setUpClass()  # type: ignore[misc]
        cls._servers = LocalServers(cls.mock_warnings)
        cls.mock_platform_server = cls._servers.main
        cls.addClassCleanup(cls._stop_servers)  # type: ignore[attr-defined]

    def setUp(self) -> None:
        """Make the world of the test."""
        super().setUp()  # type: ignore[misc]
        scenarios: Any = self.mock_scenarios
        fixtures = self.mock_fixtures
        if not isinstance(scenarios, Mapping):
            wanted = "names with their parameters, as in {'outage': {}}"
            raise TypeError(f"{type(self).__name__}.mock_scenarios are {wanted}, not {scenarios!r}")
        folders = [fixtures] if isinstance(fixtures, str | Path) else fixtures
        request = WorldRequest(
            tuple(scenarios.items()),
            tuple(Path(folder) for folder in folders),
            self.mock_clock,
            self.mock_strict,
            self.mock_names,
            self.mock_wire,
            read_as_of(self.mock_as_of),
        )
        test: str = self.id()  # type: ignore[attr-defined]
        self.mock_platform, self._verdict = self._servers.open(request, test)
        self.mock_platform_session = self.mock_platform.session()
        self._receiver = None
        self.addCleanup(self._servers.close, self.mock_platform)  # type: ignore[attr-defined]

    @classmethod
    def _stop_servers(cls) -> None:
        strays = cls._servers.strays()
        if cls.mock_costs:
            costs = describe_costs(merge_costs(cls._servers.costs()))
            print(f"{cls.__name__}: {costs}", file=sys.stderr)
        cls._servers.stop()
        if strays:
            told = "\n".join(report.strays(strays))
            warnings.warn(f"mock_platform: requests after their test's end:\n{told}", stacklevel=1)

    def _wrap_test(self, test: Callable[..., Any]) -> Callable[..., Any]:
        if iscoroutinefunction(test):

            @wraps(test)
            async def run_async(*args: Any, **kwargs: Any) -> Any:
                with self._check_world():
                    return await test(*args, **kwargs)

            return run_async

        @wraps(test)
        def run(*args: Any, **kwargs: Any) -> Any:
            with self._check_world():
                return test(*args, **kwargs)

        return run

    @contextmanager
    def _check_world(self) -> Iterator[None]:
        try:
            yield
        except unittest.SkipTest:
            raise
        except Exception as fault:
            self._add_report(fault)
            raise
        problems = self._verdict.problems()
        if problems:
            failure = AssertionError("\n\n".join(problems))
            self._add_report(failure)
            raise failure

    def _add_report(self, fault: BaseException) -> None:
        for title, text in self._verdict.sections():
            fault.add_note(f"{title}:\n{text}")


class PlatformTestCase(PlatformMixin, unittest.TestCase):
    """A test case with a sandbox; see `PlatformMixin`.

    Example:
        >>> import unittest
        >>> from mock_platform.testing import PlatformTestCase
        >>> class AccountsTest(PlatformTestCase):
        ...     def test_list(self):
        ...         answer = self.mock_platform.session(auth="bearer").get("/12/accounts")
        ...         self.assertEqual(200, answer.status_code)
        >>> suite = unittest.defaultTestLoader.loadTestsFromTestCase(AccountsTest)
        >>> suite.run(unittest.TestResult())
        <unittest.result.TestResult run=1 errors=0 failures=0>
    """
