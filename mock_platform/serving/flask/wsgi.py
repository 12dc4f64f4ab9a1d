"""Between a request and the platform: a request becomes a call, and a reply a response.

Requests go straight to the platform; if a hook or handler in Flask needs them, they go through
Flask. Everything under `/_mock` goes to the control plane, a separate Flask application without the
hooks and routes of users.

A server that reads requests itself may call `at_once` for an object that answers without an
environ; both ways answer alike.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from io import BytesIO
from threading import get_ident
from typing import TYPE_CHECKING, cast
from urllib.parse import quote, unquote

from mock_platform.control.plane import AGENTS, ANYWHERE, HEALTH, ControlPlane
from mock_platform.control.route import ORIGIN, WORLD
from mock_platform.core.address import (
    SANDBOX,
    is_control,
    place_in_control,
    readable_host,
    split_surface,
    split_world,
)
from mock_platform.core.auth.lookup import credential_hints
from mock_platform.core.call import Call
from mock_platform.core.connection import CONNECTION, Direct, Pause, Peer, Request
from mock_platform.core.failures.errors import Failure, TooLarge
from mock_platform.core.pairs import Headers, Pairs
from mock_platform.platform import Answerer, Platform
from mock_platform.serving.flask.sending import send
from mock_platform.world.names import DEFAULT
from mock_platform.world.store.errors import StoreError

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

    from mock_platform.serving.flask.application import PlatformApplication


# The headers of a request in the form of a call: the same pairs as from a WSGI environ.

_MAX_SHARED = 1000
"""Maximum number of headers that requests share."""
_MAX_SHARED_LENGTH = 128
"""Characters of a header that is shared: long ones are cookies and signatures, new each time."""
_MAX_NAMES = 1000
"""Maximum number of names whose spelling is cached; clients may send any number of others."""


class HeaderNames:
    """Reads headers, and caches how the names that clients send are spelled in a call."""

    def __init__(self) -> None:
        self._known: dict[bytes, str] = {}
        self._shared: dict[tuple[str, str], tuple[str, str]] = {}

    def read(self, request: Request) -> tuple[Pairs, str]:
        """Return the headers (those of the body last, repeated ones joined), and the host."""
        known = self._known
        # The result has to equal what Flask makes of a WSGI environ, since a request takes either
        # way and its journal entry must be the same: spelling of names, joined repetitions, type
        # and length last.
        found: dict[str, str] = {}
        for name, value in request.headers:
            spelled = known.get(name) or self._spell(name)
            text = value.decode("latin-1")
            if spelled in found:
                separator = "; " if spelled == "Cookie" else ", "
                text = f"{found[spelled]}{separator}{text}"
            found[spelled] = text
        if request.authority:
            found["Host"] = request.authority
        host = found.get("Host", "")
        body = request.body
        if body or "Content-Length" in found or "Content-Type" in found:
            kind = found.pop("Content-Type", "")
            length = found.pop("Content-Length", "")
            if kind:
                found["Content-Type"] = kind
            if body:  # also of a chunked body, whose length is known by now
                length = str(len(body))
            if length:
                found["Content-Length"] = length
        return self._share(found), host

    def find(self, request: Request, name: str) -> str | None:
        """Return one header as `read` returns it; `name` is spelled as there."""
        known, found = self._known, None
        for sent, value in request.headers:
            if (known.get(sent) or self._spell(sent)) == name:
                text = value.decode("latin-1")
                found = text if found is None else f"{found}, {text}"
        return found

    def _share(self, found: dict[str, str]) -> Pairs:
        """Return headers as pairs; requests with equal ones share them, also in the journal.

        A client sends nearly the same headers with each request, and what the journal shares is
        not made, kept and freed for each.
        """
        shared = self._shared
        if len(shared) > _MAX_SHARED:  # nonces and the like: begin again with what comes now
            shared.clear()
        return [
            shared.setdefault(pair, pair) if len(pair[1]) <= _MAX_SHARED_LENGTH else pair
            for pair in found.items()
        ]

    def _spell(self, name: bytes) -> str:
        spelled = name.decode("latin-1").upper().replace("_", "-").title()
        if len(self._known) < _MAX_NAMES:
            self._known[name] = spelled
        return spelled


_WORLD_PATH = "/_mock/worlds/"
_WORLD_HEADER = "X-Mock-World"
_MOST_ON_LOOP = 65_536
"""Bytes of a body that is answered on the loop: a few milliseconds, in the worst case."""
_SAFE = "/:@!$&'()*+,;=~-._"


class Edge:
    """Removes the prefixes from the path, and calls platform or control plane."""

    def __init__(self, platform: Platform, control: ControlPlane) -> None:
        self.control = control
        self.application: PlatformApplication | None = None
        """The Flask application, once there is one: its hooks and routes take part from then on."""
        self.platform = platform
        self._max_body = platform.settings.max_body
        self._names = HeaderNames()
        self._large: set[int] = set()
        """The threads that answer a request with a large body now."""

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Answer one WSGI request."""
        raw = _raw_path(environ)
        mount = environ.get("SCRIPT_NAME", "")
        if mount.startswith("/~") or mount == SANDBOX:
            # An in-process client has one of our base addresses and treats its path as the mount
            # point.
            raw = mount + raw
            environ["SCRIPT_NAME"] = ""
        world, path = split_world(raw)
        if is_control(path):
            environ[ORIGIN] = _origin(environ)
            prefix = raw[: len(raw) - len(path)]
            environ["SCRIPT_NAME"] = environ.get("SCRIPT_NAME", "") + prefix
            environ["PATH_INFO"] = unquote(place_in_control(path), "latin-1")
            environ[WORLD] = world
            return self.control(environ, start_response)
        return self._answer(environ, start_response, raw, world, path)

    def at_once(self, request: Request) -> Direct | None:
        """Return an object that answers a request on the loop; `None`: call the WSGI application.

        Operations do not block, except those that challenge an address. The control plane may
        (`/_mock/deliveries?wait=…`), and so may what people add to Flask. Large bodies take long,
        and other requests to their world wait for them.
        """
        application = self.application
        if application is not None and (application.adds_routes or application.listens):
            return None
        # While a worker answers a large request it may hold the lock of a world. A request on the
        # loop would wait for that lock and stop the loop, and with it all clients; so for that time
        # all requests take workers.
        if len(request.body) > _MOST_ON_LOOP or self._large:
            return None
        target = request.target
        path = split_world(target.partition("?")[0])[1]
        if is_control(path) or self.platform.may_block(request.method, path):
            return None
        return self._answer_directly

    def opens_stream(self, request: Request) -> bool:
        """Whether a request asks for a stream, of which an app may have only so many."""
        path = split_world(request.target.partition("?")[0])[1]
        return self.platform.opens_stream(request.method, path)

    def never_blocks(self, request: Request) -> bool:
        """Whether the WSGI application answers a request without blocking.

        Other requests to the control plane may occupy all workers; whoever asks for the server's
        health then needs an answer all the same.
        """
        return request.target == HEALTH and self.control.is_loaded

    def name_world(self, request: Request) -> str | None:
        """Return the name of the world that must answer; `None` if any process can.

        It is that of the path, of the header or of the credentials, else the default one.
        """
        raw, _, query = request.target.partition("?")
        world, path = split_world(raw)
        # In the order of how explicit it is. The credentials come last, because finding their world
        # may need the archive; if no credentials name worlds, which is usual, nothing of the
        # request is read for it.
        control = is_control(path)
        if control and path in ANYWHERE:
            return None
        if control and path.startswith(_WORLD_PATH):  # it makes or removes that one
            return unquote(path.removeprefix(_WORLD_PATH))
        if world is None:
            world = self._names.find(request, _WORLD_HEADER)
        if world is None and path == AGENTS:  # the arguments of its tools name one
            from mock_platform.core.mcp import find_world

            world = find_world(request.body)
        if world is not None:
            return world
        owners = self.platform.worlds.owners
        if control or owners.is_empty():
            return DEFAULT
        headers, _ = self._names.read(request)
        call, _ = _call(
            request.method, "http://localhost", raw, query, None, path, headers, request.body, ""
        )
        hints = filter(self.platform.may_choose, credential_hints(call))
        named = map(owners.find, hints)
        try:
            return next(filter(None, named), DEFAULT)
        except StoreError:  # every process would refuse the request for the same reason
            return None

    def _answer_directly(
        self, request: Request, peer: Peer, start_response: StartResponse
    ) -> Iterable[bytes | Pause]:
        """Answer one request for which no hook or route of Flask is needed."""
        raw, _, query = request.target.partition("?")
        world, path = split_world(raw)
        headers, host = self._names.read(request)
        origin = f"{request.scheme or peer.scheme}://{readable_host(host or peer.server)}"
        body, refused = request.body, None
        if len(body) > self._max_body:
            body, refused = b"", TooLarge(self._max_body)
        call, _ = _call(
            request.method, origin, raw, query, world, path, headers, body, peer.address
        )
        reply = self.platform.handle(call, refused)
        return send(reply, call.method, peer.connection, self.platform.closing, start_response)

    def _answer(
        self,
        environ: WSGIEnvironment,
        start_response: StartResponse,
        raw: str,
        world: str | None,
        path: str,
    ) -> Iterable[bytes]:
        # Whoever calls a WSGI application has werkzeug; our own server calls `at_once`, without it.
        from werkzeug.exceptions import ClientDisconnected, RequestEntityTooLarge
        from werkzeug.wsgi import get_input_stream

        refused: Failure | None = None
        try:
            # One byte more than allowed: a chunked body has no length at its start.
            body = get_input_stream(environ, max_content_length=self._max_body + 1).read()
            if len(body) > self._max_body:
                body, refused = b"", TooLarge(self._max_body)
        except RequestEntityTooLarge:
            body, refused = b"", TooLarge(self._max_body)
        except ClientDisconnected:
            return []
        call, prefix = _call(
            environ["REQUEST_METHOD"].upper(),
            _origin(environ),
            raw,
            environ.get("QUERY_STRING", ""),
            world,
            path,
            _headers(environ),
            body,
            environ.get("REMOTE_ADDR", ""),
        )
        way = self._way(environ, call, prefix)
        if len(body) <= _MOST_ON_LOOP:
            reply = self.platform.handle(call, refused, way)
        else:
            self._large.add(thread := get_ident())
            try:
                reply = self.platform.handle(call, refused, way)
            finally:
                self._large.discard(thread)
        connection, closing = environ.get(CONNECTION), self.platform.closing
        if type(reply.headers) is Headers:  # else the journal would not see what is appended
            reply.headers = list(reply.headers)  # servers may insist on no other type
        pieces = send(reply, environ["REQUEST_METHOD"], connection, closing, start_response)
        # It contains pauses only if the server accepts them.
        return cast("Iterable[bytes]", pieces)

    def _way(self, environ: WSGIEnvironment, call: Call, prefix: str) -> Answerer | None:
        """Return the path through Flask, if it is needed; `None`: straight to the platform.

        `prefix` is that of the sandbox, if it was used.
        """
        application = self.application
        if application is None:
            return None
        listens = application.listens
        if not listens and not application.adds_routes:
            return None
        operation = self.platform.where(call.method, call.path, call.surface)
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


def _call(
    method: str,
    origin: str,
    raw: str,
    query: str,
    world: str | None,
    path: str,
    headers: Pairs,
    body: bytes,
    address: str,
) -> tuple[Call, str]:
    """Return a request as a call, and the prefix of the sandbox if it was used.

    `raw` is the path as the client wrote it, `path` the part of it after a world's prefix.
    """
    host = origin.partition("://")[2]
    surface, prefix, path = split_surface(path, host)
    call = Call(
        method=method,
        url=f"{origin}{raw}?{query}" if query else f"{origin}{raw}",
        path=path,
        base_url=origin if world is None else f"{origin}/~{world}",
        headers=headers,
        body=body,
        query_string=query,
        surface=surface,
        world_prefix=world,
        remote_address=address,
    )
    return call, prefix


def _raw_path(environ: WSGIEnvironment) -> str:
    """Return the path as the client wrote it, from REQUEST_URI or RAW_URI if they are set."""
    uri: str = environ.get("REQUEST_URI") or environ.get("RAW_URI") or ""
    if uri.startswith("/"):
        path = uri.partition("?")[0]
        script: str = environ.get("SCRIPT_NAME", "")
        return path[len(script) :] if script and path.startswith(script) else path
    decoded: str = environ.get("PATH_INFO", "")
    return quote(decoded.encode("latin-1"), safe=_SAFE)


def _origin(environ: WSGIEnvironment) -> str:
    """Return the address that the client called, up to the path within the sandbox."""
    host: str = environ.get("HTTP_HOST") or f"{environ['SERVER_NAME']}:{environ['SERVER_PORT']}"
    return f"{environ['wsgi.url_scheme']}://{readable_host(host)}{environ.get('SCRIPT_NAME', '')}"


def _headers(environ: WSGIEnvironment) -> Pairs:
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
        """Return an object that answers a request on the loop, if the application has one."""
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
