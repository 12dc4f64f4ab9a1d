"""The WSGI environ (PEP 3333) of a request that came over a socket."""

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote_to_bytes

from mock_platform.edge.connection import CONNECTION
from mock_platform.edge.request import Peer, Request
from mock_platform.server.answer import SOFTWARE
from mock_platform.server.binding import Bound

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

_MAX_NAMES = 1000
"""Maximum number of header names whose keys are cached; clients may send any number of others."""
_UNPREFIXED = frozenset({"CONTENT_TYPE", "CONTENT_LENGTH"})


class EnvironMaker:
    """Makes the WSGI environs of one server's requests."""

    def __init__(self, bound: Bound) -> None:
        self._shared: WSGIEnvironment = {
            "SCRIPT_NAME": "",
            "SERVER_NAME": bound.host,
            "SERVER_PORT": str(bound.port),
            "SERVER_SOFTWARE": SOFTWARE,
            "wsgi.version": (1, 0),
            "wsgi.errors": sys.stderr,
            "wsgi.input_terminated": True,
            "wsgi.multithread": True,
            "wsgi.multiprocess": False,
            "wsgi.run_once": False,
        }
        self._keys: dict[bytes, str] = {}

    def environ_of(self, request: Request, peer: Peer) -> WSGIEnvironment:
        """Returns the environ of one request, with its whole body."""
        path, _, query = request.target.partition("?")
        environ = self._shared.copy()
        environ["wsgi.url_scheme"] = peer.scheme
        environ["REQUEST_METHOD"] = request.method
        environ["REQUEST_URI"] = request.target
        environ["PATH_INFO"] = (
            unquote_to_bytes(path.encode("latin-1")).decode("latin-1") if "%" in path else path
        )
        environ["QUERY_STRING"] = query
        environ["SERVER_PROTOCOL"] = f"HTTP/{request.version}"
        environ["REMOTE_ADDR"] = peer.address
        environ["REMOTE_PORT"] = peer.port
        environ["wsgi.input"] = io.BytesIO(request.body)
        environ[CONNECTION] = peer.connection
        self._add_headers(environ, request)
        if request.authority:
            environ["HTTP_HOST"] = request.authority
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
                if len(keys) < _MAX_NAMES:
                    keys[name] = key
            text = value.decode("latin-1")
            if key in environ:
                separator = "; " if key == "HTTP_COOKIE" else ", "
                text = f"{environ[key]}{separator}{text}"
            environ[key] = text
