"""The control plane as a WSGI application, which is ready before its routes are.

Most test suites never call it, and its routes take longer to load and compile than all operations
together. So they wait for the first request. What the plane counts, it counts from the start.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from mock_platform.control.guard import Sessions
from mock_platform.control.metrics import Metrics
from mock_platform.core.warning_counts import WarningRecorder
from mock_platform.platform import Platform
from mock_platform.verification.costs.recorder import CostRecorder
from mock_platform.verification.coverage.outcomes import Recorder

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

    from mock_platform.control.routes import Extension


HEALTH = "/_mock/health"
"""The path of the server's health, whose answer needs no lock and no world."""
READY = f"{HEALTH}/ready"
AGENTS = "/_mock/mcp"
"""The path of the server that steers the sandbox for agents."""
ANYWHERE = frozenset({HEALTH, READY})
"""The paths of what each process answers for itself."""


class ControlPlane:
    """Answers everything under `/_mock`, for one platform."""

    def __init__(self, platform: Platform, extend: Extension | None = None) -> None:
        """`extend` adds routes; it is called when the plane's own are ready."""
        self.platform = platform
        self._extend = extend
        self._metrics = Metrics(platform)
        self.coverage = Recorder()
        """How much of the contract clients have exercised."""
        self.warnings = WarningRecorder()
        """What was ignored in requests, and how often."""
        self.costs = CostRecorder(platform)
        """What calls would have cost."""
        self._sessions = Sessions(lambda: platform.peers)
        platform.observers.append(self.coverage.observe)
        platform.warning_observers.append(self.warnings.observe)

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Answer one WSGI request."""
        return self._wsgi(environ, start_response)

    def list_questions(self) -> Mapping[str, Callable[[Any], Any]]:
        """Return what other processes of the server may ask, by the names of the questions."""
        from mock_platform.control.questions import list_questions

        return list_questions(
            self.platform,
            self._metrics,
            self.coverage,
            self.warnings,
            self.costs,
            self._sessions,
        )

    @property
    def is_loaded(self) -> bool:
        """Whether the routes are ready, so that a request does not wait for them."""
        return "_wsgi" in vars(self)

    @cached_property
    def _wsgi(self) -> WSGIApplication:
        # Two first requests at the same time may make two; both work on the same counts.
        from mock_platform.control.routes import create_control

        return create_control(
            self.platform,
            self._metrics,
            self.coverage,
            self.warnings,
            self.costs,
            self._sessions,
            self._extend,
        ).wsgi_app
