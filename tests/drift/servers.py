"""A second sandbox that differs on purpose: a wrapper that rewrites some of its answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mock_platform.app import create_app
from mock_platform.core.jsonio import dumps, loads
from mock_platform.platform import Platform
from mock_platform.server import ServerThread

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

Rewrite = Callable[[Any], Any]


@dataclass
class Differing:
    """Answers as a sandbox, but for statuses, headers and bodies of some paths."""

    inner: WSGIApplication
    bodies: Mapping[str, Rewrite] = field(default_factory=dict)
    statuses: Mapping[str, str] = field(default_factory=dict)
    more: Mapping[str, list[tuple[str, str]]] = field(default_factory=dict)
    without: Mapping[str, str] = field(default_factory=dict)
    """A header that a path's answers lack; `*` for all paths."""
    asked: list[tuple[str, str]] = field(default_factory=list)

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Answer one request; the last part of its path says what is different."""
        name = environ["PATH_INFO"].rpartition("/")[2]
        self.asked.append((environ["REQUEST_METHOD"], environ["PATH_INFO"]))
        told: list[Any] = []

        def keep(status: str, headers: list[tuple[str, str]], _exc: Any = None) -> Any:
            told[:] = [status, headers]
            return lambda _data: None

        body = b"".join(self.inner(environ, keep))
        status, headers = told
        if name in self.bodies and status.startswith("200"):
            body = dumps(self.bodies[name](loads(body)))
        dropped = {"content-length", self.without.get("*", ""), self.without.get(name, "")}
        kept = [pair for pair in headers if pair[0].lower() not in dropped]
        kept += [("Content-Length", str(len(body))), *self.more.get(name, [])]
        start_response(self.statuses.get(name, status), kept)
        return [body]


@contextmanager
def differing(**differences: Any) -> Iterator[tuple[str, Differing]]:
    """The address of a running sandbox with these differences."""
    platform = Platform()
    application = Differing(create_app(platform).wsgi_app, **differences)
    server = ServerThread(application)
    try:
        yield server.start().url, application
    finally:
        server.stop()
        platform.close()
