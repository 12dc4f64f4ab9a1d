"""Between WSGI and the platform: an environment becomes a call, a reply becomes a response.

Requests go straight to the platform; where somebody listens in Flask they take the way through it.
Everything under `/_mock` goes to the control plane, a Flask application of its own, which neither
hooks nor routes of users concern.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from io import BytesIO
from ipaddress import ip_address
from typing import TYPE_CHECKING, cast
from urllib.parse import quote, unquote

from werkzeug.exceptions import ClientDisconnected, RequestEntityTooLarge
from werkzeug.wsgi import get_input_stream

from mock_platform.control.route import ORIGIN, WORLD
from mock_platform.core.call import Call, Reply, Surface
from mock_platform.core.failures.errors import Failure, TooLarge
from mock_platform.core.failures.statuses import phrase
from mock_platform.edge.application import SANDBOX, PlatformApplication
from mock_platform.edge.sending import send
from mock_platform.platform import Answerer, Platform

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

_SANDBOX_HOST = "ads-api-sandbox."
_SAFE = "/:@!$&'()*+,;=~-._"
_PLAIN_HOST = re.compile(r"[A-Za-z0-9._~%!$&'()*+,;=:-]*", re.ASCII)
"""A name or an IPv4 address with or without a port (RFC 3986, reg-name)."""
_BRACKETED = re.compile(r"\[([0-9A-Fa-f:.]+)\](?::[0-9]*)?", re.ASCII)


class Edge:
    """Takes world prefix and sandbox prefix off the path, and passes on to platform or control."""

    def __init__(
        self, platform: Platform, application: PlatformApplication, control: WSGIApplication
    ) -> None:
        self._platform = platform
        self._application = application
        self._control = control
        self._max_body = platform.settings.max_body

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Answer one request."""
        raw = _raw_path(environ)
        mount = environ.get("SCRIPT_NAME", "")
        if mount.startswith("/~") or mount == "/sandbox":
            # A client in-process was given one of our base addresses and took its path for the
            # place where the application is mounted.
            raw = mount + raw
            environ["SCRIPT_NAME"] = ""
        world, path = _split_world(raw)
        if path == "/_mock" or path.startswith("/_mock/"):
            environ[ORIGIN] = _origin(environ)
            prefix = raw[: len(raw) - len(path)]
            environ["SCRIPT_NAME"] = environ.get("SCRIPT_NAME", "") + prefix
            environ["PATH_INFO"] = unquote(path, "latin-1")
            environ[WORLD] = world
            return self._control(environ, start_response)
        return self._answer(environ, start_response, raw, world, path)

    def runs_at_once(self, environ: WSGIEnvironment) -> bool:
        """Whether a request waits for nothing, so that the server may answer it where it reads it.

        Operations never block. The control plane may (`/_mock/deliveries?wait=…`), and so may what
        people add to Flask.
        """
        path = environ["PATH_INFO"]
        if path.startswith("/~"):
            path = "/" + path[2:].partition("/")[2]
        if path.startswith("/_mock"):
            return False
        return not (self._application.adds_routes or any(self._application.listening))

    def _answer(
        self,
        environ: WSGIEnvironment,
        start_response: StartResponse,
        raw: str,
        world: str | None,
        path: str,
    ) -> Iterable[bytes]:
        origin = _origin(environ)
        surface: Surface = "plain"
        prefix = ""
        if path == SANDBOX or path.startswith(f"{SANDBOX}/"):
            surface, prefix, path = "sandbox", SANDBOX, path[len(SANDBOX) :] or "/"
        elif _host(environ).startswith(_SANDBOX_HOST):
            surface = "sandbox"
        query = environ.get("QUERY_STRING", "")
        refused: Failure | None = None
        try:
            # One byte more than may be there: a chunked body says its length only at its end.
            body = get_input_stream(environ, max_content_length=self._max_body + 1).read()
            if len(body) > self._max_body:
                body, refused = b"", TooLarge(self._max_body)
        except RequestEntityTooLarge:
            body, refused = b"", TooLarge(self._max_body)
        except ClientDisconnected:
            return []
        call = Call(
            method=environ["REQUEST_METHOD"].upper(),
            url=f"{origin}{raw}?{query}" if query else f"{origin}{raw}",
            path=path,
            base_url=origin if world is None else f"{origin}/~{world}",
            headers=_headers(environ),
            body=body,
            query_string=query,
            surface=surface,
            world_prefix=world,
            remote_address=environ.get("REMOTE_ADDR", ""),
        )
        reply = self._platform.handle(call, refused, self._way(environ, call, prefix))
        if reply.parts is not None:
            start_response(_status(reply), reply.headers)
            return reply.parts if call.method != "HEAD" else _close(reply.parts)
        if reply.header("content-length") is None and reply.status not in {204, 304}:
            reply.headers.append(("Content-Length", str(len(reply.body))))
        status = _status(reply)
        if reply.sending is not None:
            closing = self._platform.closing
            pieces = send(reply, reply.sending, status, environ, start_response, closing)
            # Pauses are among them only where the server said that it takes them.
            return cast("Iterable[bytes]", pieces)
        start_response(status, reply.headers)
        return [reply.body]

    def _way(self, environ: WSGIEnvironment, call: Call, prefix: str) -> Answerer | None:
        """The way through Flask, if somebody listens there; `None`: straight to the platform.

        `prefix` is that of the sandbox, where it was used.
        """
        application = self._application
        listens = any(application.listening)
        if not listens and not application.adds_routes:
            return None
        operation = self._platform.where(call.method, call.path, call.surface)
        if operation is not None and not listens:
            return None
        world = "" if call.world_prefix is None else f"/~{call.world_prefix}"
        if operation is None:
            script, path = world, prefix + call.path
        elif operation.sandbox_only:
            script, path = world, SANDBOX + call.path
        else:  # its rule is that of the plain address
            script, path = world + prefix, call.path
        changed = {
            "SCRIPT_NAME": environ.get("SCRIPT_NAME", "") + script,
            "PATH_INFO": unquote(path, "latin-1"),
            "wsgi.input": BytesIO(call.body),
            "wsgi.input_terminated": True,
        }
        return application.through_flask(environ | changed, operation)


def _close(parts: Iterator[bytes]) -> Iterable[bytes]:
    """Nothing of a body."""
    close = getattr(parts, "close", None)
    if close is not None:
        close()
    return []


def _status(reply: Reply) -> str:
    return f"{reply.status} {reply.reason or phrase(reply.status) or 'Status'}"


def _raw_path(environ: WSGIEnvironment) -> str:
    """The path as the client wrote it; servers that keep it put it into REQUEST_URI or RAW_URI."""
    uri: str = environ.get("REQUEST_URI") or environ.get("RAW_URI") or ""
    if uri.startswith("/"):
        path = uri.partition("?")[0]
        script: str = environ.get("SCRIPT_NAME", "")
        return path[len(script) :] if script and path.startswith(script) else path
    decoded: str = environ.get("PATH_INFO", "")
    return quote(decoded.encode("latin-1"), safe=_SAFE)


def _split_world(path: str) -> tuple[str | None, str]:
    if not path.startswith(("/~", "/%7E", "/%7e")):
        return None, path
    name, slash, rest = path[2 if path[1] == "~" else 4 :].partition("/")
    return name, slash + rest if slash else "/"


def _origin(environ: WSGIEnvironment) -> str:
    """The address that the client called, up to the path that is ours."""
    return f"{environ['wsgi.url_scheme']}://{_host(environ)}{environ.get('SCRIPT_NAME', '')}"


def _host(environ: WSGIEnvironment) -> str:
    """The host and port that the client called, such that an address made of them can be read."""
    host: str = environ.get("HTTP_HOST") or f"{environ['SERVER_NAME']}:{environ['SERVER_PORT']}"
    return (
        host if _PLAIN_HOST.fullmatch(host) or _is_bracketed(host) else quote(host, ":", "latin-1")
    )


def _is_bracketed(host: str) -> bool:
    """Whether this is an IPv6 address in brackets, with or without a port."""
    found = _BRACKETED.fullmatch(host)
    try:
        return found is not None and ip_address(found[1]) is not None
    except ValueError:
        return False


def _headers(environ: WSGIEnvironment) -> list[tuple[str, str]]:
    headers = [
        (key[5:].replace("_", "-").title(), value)
        for key, value in environ.items()
        if key.startswith("HTTP_")
    ]
    if environ.get("CONTENT_TYPE"):
        headers.append(("Content-Type", environ["CONTENT_TYPE"]))
    if environ.get("CONTENT_LENGTH"):
        headers.append(("Content-Length", environ["CONTENT_LENGTH"]))
    return headers
