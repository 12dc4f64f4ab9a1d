"""The WSGI application of a sandbox in this process, and how errors of handlers reach its callers.

Flask takes as long to load as half of all operations, and only additions need it: routes, hooks,
replaced views. So it waits until somebody asks for the application, or loads Flask. Before that,
requests are answered below it.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from functools import partial
from typing import TYPE_CHECKING, Any

from mock_platform.core.connection import Direct, Request
from mock_platform.serving.app import add_flask

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

    from mock_platform.control.plane import ControlPlane
    from mock_platform.serving.flask.application import PlatformApplication
    from mock_platform.serving.flask.wsgi import Edge

_OVER_SOCKET = "mock_platform.over_socket"
"""Key of the WSGI environ: the request came over a socket."""


class LateApplication:
    """Answers as the Flask application of an edge does, also before there is one."""

    def __init__(self, edge: Edge, wrapped: RaisingApplication) -> None:
        """`wrapped` is the edge as the application must call it."""
        self._edge = edge
        self._wrapped = wrapped
        self._lock = threading.Lock()

    @property
    def control(self) -> ControlPlane:
        """The control plane of the sandbox."""
        return self._edge.control

    @property
    def flask(self) -> PlatformApplication:
        """The Flask application, made when it is first read."""
        with self._lock:
            return self._edge.application or add_flask(self._edge, self._wrapped)

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Answer one WSGI request."""
        return self._current(environ, start_response)

    def at_once(self, request: Request) -> Direct | None:
        """Return an object that answers a request on the loop; `None`: call this."""
        return self._current.at_once(request)

    def at_once_in_process(self, request: Request) -> Direct | None:
        """Return the same as `at_once`, raising what handlers raise."""
        return self._current.at_once_in_process(request)

    def never_blocks(self, request: Request) -> bool:
        """Whether the WSGI application answers a request without blocking."""
        return self._current.never_blocks(request)

    @property
    def _current(self) -> PlatformApplication | RaisingApplication:
        made = self._edge.application
        if made is not None:
            return made
        # Who has loaded Flask may have connected to its signals, which the application must send.
        is_loaded = sys.modules.get("flask") is not None  # `None` is put there to forbid the import
        return self.flask if is_loaded else self._wrapped


class RaisingApplication:
    """An edge that raises the errors of its handlers to in-process callers."""

    def __init__(
        self, edge: Edge, catching: Callable[[], AbstractContextManager[list[BaseException]]]
    ) -> None:
        self._edge = edge
        self._catch = catching
        self.at_once = edge.at_once
        """For the server: requests over a socket raise nothing."""
        self.never_blocks = edge.never_blocks

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Answer one WSGI request."""
        if _OVER_SOCKET in environ:
            return self._edge(environ, start_response)
        return self._raise_errors_of(partial(self._edge, environ, start_response))

    def at_once_in_process(self, request: Request) -> Direct | None:
        """Return the same as `at_once`, raising what handlers raise."""
        direct = self.at_once(request)
        if direct is None:
            return None
        return lambda *args: self._raise_errors_of(partial(direct, *args))

    def _raise_errors_of(self, answer: Callable[[], Iterable[Any]]) -> Iterable[Any]:
        with self._catch() as caught:
            body = answer()
        if caught:
            close = getattr(body, "close", None)
            if close is not None:
                close()
            raise caught[0]
        return body


class SocketApplication:
    """The application for the server, including later wrappers of its `wsgi_app`."""

    def __init__(self, application: LateApplication) -> None:
        self._application = application
        self.at_once = application.at_once
        self.never_blocks = application.never_blocks

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Answer one WSGI request."""
        environ[_OVER_SOCKET] = True
        return self._application(environ, start_response)
