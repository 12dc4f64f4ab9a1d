"""Requests that came through the proxy: for the platform's own hosts, in one world."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING

from mock_platform.core.connection import Direct, Request
from mock_platform.world.names import DEFAULT

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

_WORLD = b"X-Mock-World"


class Intercepted:
    """A WSGI application for the proxy: refuses other hosts, and chooses the world."""

    def __init__(
        self,
        wsgi: WSGIApplication,
        hosts: Collection[str],
        world: str,
        explain: Callable[[str], str],
    ) -> None:
        """`explain` returns the text that refuses a host."""
        self._wsgi = wsgi
        self._hosts = frozenset(hosts)
        self._world = None if world == DEFAULT else world
        self._explain = explain
        self._at_once: Callable[[Request], Direct | None] | None = getattr(wsgi, "at_once", None)

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Answer a request to a known host, in the world of the proxy."""
        host = environ.get("HTTP_HOST", "")
        if not self._is_known(host):
            return self._refuse(host, start_response)
        if self._world is not None:
            environ["HTTP_X_MOCK_WORLD"] = self._world
        return self._wsgi(environ, start_response)

    def at_once(self, request: Request) -> Direct | None:
        """Returns an object that answers a request on the loop, if the application has one."""
        sent = (value for name, value in request.headers if name.lower() == b"host")
        host = request.authority or next(sent, b"").decode("latin-1")
        if not self._is_known(host):
            return lambda _request, _peer, start: self._refuse(host, start)
        if self._world is not None:
            request.headers.append((_WORLD, self._world.encode()))
        return None if self._at_once is None else self._at_once(request)

    def _is_known(self, host: str) -> bool:
        name, _, port = host.rpartition(":")
        return (name if port.isdecimal() and name else host).lower() in self._hosts

    def _refuse(self, host: str, start_response: StartResponse) -> list[bytes]:
        body = f"{self._explain(host)}\n".encode()
        headers = [
            ("Content-Type", "text/plain; charset=utf-8"),
            ("Content-Length", str(len(body))),
        ]
        start_response("403 Forbidden", headers)
        return [body]
