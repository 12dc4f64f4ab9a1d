"""An application whose worlds live in several processes: decides which requests take the hop."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Protocol

from mock_platform.core.connection import Direct, Request
from mock_platform.serving.cluster import Place, Placement

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment


HandOver = Callable[[str, Place | None], Direct]
"""Returns what lets the process at a place answer a request for a world."""


class Application(Protocol):
    """What the edge is for a server, and who knows which world a request is for."""

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Answer a WSGI request."""

    def at_once(self, request: Request) -> Direct | None:
        """Returns what answers on the loop."""

    def never_blocks(self, request: Request) -> bool:
        """Whether the WSGI application answers without blocking."""

    def name_world(self, request: Request) -> str | None:
        """Returns the name of the world that must answer; `None` if any process can."""


class PlacedApplication:
    """Answers the requests of this process's worlds, and hands the others over."""

    def __init__(self, application: Application, placement: Placement, hand_over: HandOver) -> None:
        self._application = application
        self._find = placement.find
        self._here = placement.here
        self._hand_over = hand_over
        self.never_blocks = application.never_blocks

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Answer a WSGI request here."""
        return self._application(environ, start_response)

    def at_once(self, request: Request) -> Direct | None:
        """Returns what answers on the loop: this process, or another one; `None` for a thread."""
        world = self._application.name_world(request)
        if world is not None:
            place = self._find(world)
            if place != self._here:
                return self._hand_over(world, place)
        return self._application.at_once(request)
