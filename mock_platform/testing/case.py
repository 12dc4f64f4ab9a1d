"""A sandbox for suites of the standard library's unittest."""

from __future__ import annotations

import unittest
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from inspect import iscoroutinefunction
from pathlib import Path
from typing import Any, ClassVar

from mock_platform.client.interface import World
from mock_platform.client.platform import MockPlatform
from mock_platform.in_process.session import BasedSession
from mock_platform.testing import story
from mock_platform.testing.servers import OwnServers
from mock_platform.testing.trial import Trial
from mock_platform.testing.wish import Wish


class PlatformMixin:
    """Gives each test of a `TestCase` a fresh world; put it before `TestCase` among the bases.

    A rule with `expect: fired` that never acted fails its test, and so does a fault of the sandbox
    itself. A failing test is told its journal. Requests that come after their test's end are
    refused, and a warning at the end of the class tells of them. `setUp` and `setUpClass` of
    subclasses call those of their base first.
    """

    mock_scenarios: ClassVar[dict[str, dict[str, Any]]] = {}
    """Scenarios that are active in each test, with their parameters."""
    mock_fixtures: ClassVar[tuple[str | Path, ...]] = ()
    """Folders laid over the shipped fixtures, the last one on top."""
    mock_clock: ClassVar[str | None] = None
    """Where the clock stands still, ISO 8601."""
    mock_strict: ClassVar[bool] = False
    """Whether the server refuses what the specification does not show."""

    mock_platform_server: ClassVar[MockPlatform]
    """The server of the class's tests."""
    mock_platform: World
    """The world of the test."""
    mock_platform_session: BasedSession
    """A session answered in-process; it sends no credentials by itself."""
    _servers: ClassVar[OwnServers]
    _trial: Trial

    def __init__(self, methodName: str = "runTest", *args: Any) -> None:  # noqa: N803 - unittest's
        super().__init__(methodName, *args)  # type: ignore[call-arg]
        test = getattr(self, methodName, None)
        if test is not None:
            setattr(self, methodName, self._judged(test))

    @classmethod
    def setUpClass(cls) -> None:
        """Start the server."""
        super().setUpClass()  # type: ignore[misc]
        cls._servers = OwnServers()
        cls.mock_platform_server = cls._servers.main
        cls.addClassCleanup(cls._end)  # type: ignore[attr-defined]

    def setUp(self) -> None:
        """Make the test's world."""
        super().setUp()  # type: ignore[misc]
        wish = Wish(
            tuple(self.mock_scenarios.items()),
            tuple(Path(folder) for folder in self.mock_fixtures),
            self.mock_clock,
            self.mock_strict,
        )
        test: str = self.id()  # type: ignore[attr-defined]
        self.mock_platform, self._trial = self._servers.open(wish, test)
        self.mock_platform_session = self.mock_platform.session()
        self.addCleanup(self._servers.close, self.mock_platform)  # type: ignore[attr-defined]

    @classmethod
    def _end(cls) -> None:
        strays = cls._servers.strays()
        cls._servers.stop()
        if strays:
            told = "\n".join(story.strays(strays))
            warnings.warn(f"mock_platform: requests after their test's end:\n{told}", stacklevel=1)

    def _judged(self, test: Callable[..., Any]) -> Callable[..., Any]:
        if iscoroutinefunction(test):

            @wraps(test)
            async def judged_later(*args: Any, **kwargs: Any) -> Any:
                with self._judging():
                    return await test(*args, **kwargs)

            return judged_later

        @wraps(test)
        def judged(*args: Any, **kwargs: Any) -> Any:
            with self._judging():
                return test(*args, **kwargs)

        return judged

    @contextmanager
    def _judging(self) -> Iterator[None]:
        try:
            yield
        except unittest.SkipTest:
            raise
        except Exception as fault:
            self._tell(fault)
            raise
        problems = self._trial.problems()
        if problems:
            failure = AssertionError("\n\n".join(problems))
            self._tell(failure)
            raise failure

    def _tell(self, fault: BaseException) -> None:
        for title, text in self._trial.sections():
            fault.add_note(f"{title}:\n{text}")


class PlatformTestCase(PlatformMixin, unittest.TestCase):
    """A test case with a sandbox; see `PlatformMixin`."""
