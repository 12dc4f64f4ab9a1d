"""The WSGI environ (PEP 3333) of a request that came over a socket."""

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote_to_bytes, urlsplit

from mock_platform.edge.connection import CONNECTION
from mock_platform.server.binding import Bound
from mock_platform.server.reader import Request
from mock_platform.version import __version__

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

    from mock_platform.edge.connection import Connection

SOFTWARE = f"mock-platform/{__version__}"
_MOST_NAMES = 1000
"""Names of headers whose keys are remembered; clients may send any number of others."""
_UNPREFIXED = frozenset({"CONTENT_TYPE", "CONTENT_LENGTH"})


class EnvironMaker:
    """Makes the environs of one server's requests."""

    def __init__(self, bound: Bound, scheme: str) -> None:
        self._shared: WSGIEnvironment = {
            "SCRIPT_NAME": "",
            "SERVER_NAME": bound.host,
            "SERVER_PORT": str(bound.port),
            "SERVER_SOFTWARE": SOFTWARE,
            "wsgi.version": (1, 0),
            "wsgi.url_scheme": scheme,
            "wsgi.errors": sys.stderr,
            "wsgi.input_terminated": True,
            "wsgi.multithread": True,
            "wsgi.multiprocess": False,
            "wsgi.run_once": False,
        }
        self._keys: dict[bytes, str] = {}

    def environ_of(
        self, request: Request, connection: Connection, address: str, port: str
    ) -> WSGIEnvironment:
        """The environ of one request; the body is there as a whole.

        Raises:
            ValueError: The request target is not an address.
        """
        target, authority = _origin_form(request.target.decode("latin-1"))
        path, _, query = target.partition("?")
        environ = self._shared.copy()
        environ["REQUEST_METHOD"] = request.method.decode("latin-1")
        environ["REQUEST_URI"] = target
        environ["PATH_INFO"] = (
            unquote_to_bytes(path.encode("latin-1")).decode("latin-1") if "%" in path else path
        )
        environ["QUERY_STRING"] = query
        environ["SERVER_PROTOCOL"] = f"HTTP/{request.version}"
        environ["REMOTE_ADDR"] = address
        environ["REMOTE_PORT"] = port
        environ["wsgi.input"] = io.BytesIO(request.body)
        environ[CONNECTION] = connection
        self._add_headers(environ, request)
        if authority:
            environ["HTTP_HOST"] = authority
        if request.body:  # also of a chunked body, whose length is known by now
            environ["CONTENT_LENGTH"] = str(len(request.body))
        return environ

    def _add_headers(self, environ: dict[str, Any], request: Request) -> None:
        keys = self._keys
        for name, value in request.headers:
            key = keys.get(name)
            if key is None:
                key = name.decode("latin-1").upper().replace("-", "_")
                if key not in _UNPREFIXED:
                    key = f"HTTP_{key}"
                if len(keys) < _MOST_NAMES:
                    keys[name] = key
            text = value.decode("latin-1")
            if key in environ:
                separator = "; " if key == "HTTP_COOKIE" else ", "
                text = f"{environ[key]}{separator}{text}"
            environ[key] = text


def _origin_form(target: str) -> tuple[str, str]:
    """A request target as path and query, and the authority if it was an absolute address.

    `//12/accounts` is a path; an absolute address comes from a client that uses the sandbox as its
    HTTP proxy (RFC 9112, 3.2).

    Raises:
        ValueError: It is neither.
    """
    if target.startswith("/"):
        if "#" in target:
            raise ValueError("a request target has no fragment")
        if target.startswith("//"):
            urlsplit(target)  # refuses brackets that are no address
        return target, ""
    if target == "*":
        return "/", ""
    parts = urlsplit(target)
    if parts.scheme not in {"http", "https"} or not parts.netloc or parts.fragment:
        raise ValueError(f"{target!r} is neither a path nor an http address")
    path = parts.path or "/"
    return f"{path}?{parts.query}" if parts.query else path, parts.netloc
