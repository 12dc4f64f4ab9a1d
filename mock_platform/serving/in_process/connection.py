"""Connections of urllib3 that call a WSGI application of this process instead of using a socket.

Everything above the connection belongs to urllib3: pools, retries, timeouts, and the exceptions for
a broken connection. Below it are the application, called as a server would call it, and the
standard library's reader, which reads the answer's body as it reads one from a socket.
"""

from __future__ import annotations

import errno
import io
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from email.utils import format_datetime
from functools import lru_cache, partial
from http import client
from threading import Event
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from urllib3 import HTTPConnectionPool, HTTPHeaderDict, HTTPResponse

from mock_platform.core.connection import CONNECTION, Direct, Peer, Request
from mock_platform.serving.in_process.environ import USUAL_PORTS, environ_of, fill, read_request
from mock_platform.version import __version__
from mock_platform.world.clock import machine_now
from mock_platform.world.journal import JournalEntry

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer
    from _typeshed.wsgi import StartResponse, WSGIApplication

_CHUNK = 64 * 1024
_CONNECTIONS = 10
_NO_BODY = frozenset({204, 304})
SERVER = f"mock-platform/{__version__}"


class ApplicationFault(Exception):
    """An exception of the application, hidden from code that would treat it as a network error."""

    def __init__(self, fault: Exception) -> None:
        super().__init__(fault)
        self.fault = fault


class Pools:
    """The pools of one application, which answers for every requested address."""

    def __init__(self, application: WSGIApplication) -> None:
        self._application = application
        self._pools: dict[str, Pool] = {}

    def find_pool(self, url: str) -> Pool:
        """Return the pool for an address."""
        parts = urlsplit(url)
        origin = f"{parts.scheme}://{parts.netloc}"
        found = self._pools.get(origin)
        if found is None:
            port = parts.port or USUAL_PORTS.get(parts.scheme, 80)
            found = Pool(self._application, parts.scheme, parts.hostname or "", port)
            self._pools[origin] = found
        return found


class Pool(HTTPConnectionPool):
    """A pool of connections to one address."""

    def __init__(self, application: WSGIApplication, scheme: str, host: str, port: int) -> None:
        super().__init__(host, port, maxsize=_CONNECTIONS)
        self.scheme = scheme
        self.ConnectionCls: Any = partial(_Connection, application, scheme)

    def __str__(self) -> str:
        """Return the name of such a pool in urllib3's messages."""
        kind = "HTTPSConnectionPool" if self.scheme == "https" else "HTTPConnectionPool"
        return f"{kind}(host={self.host!r}, port={self.port!r})"


class _Connection:
    """The methods of a connection that a pool calls."""

    proxy = None
    proxy_config = None
    proxy_is_verified = None
    is_verified = True
    is_closed = False
    is_connected = True
    has_connected_to_proxy = False

    def __init__(
        self,
        application: WSGIApplication,
        scheme: str,
        *,
        host: str,
        port: int,
        timeout: float | None,
        **_: Any,
    ) -> None:
        self.host = host
        self.port = port
        self.timeout = timeout
        self._application = application
        self._scheme = scheme
        self._at_once: Callable[[Request], Direct | None] | None = getattr(
            application, "at_once_in_process", None
        )
        self._sent: tuple[str, str, Mapping[Any, Any], Any] = ("", "", {}, None)
        self._asked: dict[str, Any] = {}

    def request(
        self,
        method: str,
        url: str,
        body: Any = None,
        headers: Mapping[str, Any] | None = None,
        *,
        chunked: bool = False,
        **asked: Any,
    ) -> None:
        """Keep a request; nothing is sent yet."""
        self._sent = method, url, headers or {}, body
        self._asked = {"request_method": method, "request_url": url, **asked}

    def getresponse(self) -> HTTPResponse:
        """Call the application and return its answer.

        Raises:
            ApplicationFault: The application raised an exception.
            OSError: A scenario broke the connection, or the answer takes longer than the timeout.
            HTTPException: A scenario answered with something that is not HTTP.
        """
        # The application gets a connection on which it can pause, break off or write raw bytes, as
        # on a socket. If it took the connection for itself, what it wrote is parsed as HTTP, by the
        # same reader that would read it from a socket; so a scenario that sends nonsense raises
        # what a real client would see.
        line = CallerConnection(self.timeout)
        method = self._asked["request_method"]
        answer = _Answer(self._run(line), line, method)
        read: client.HTTPResponse
        if line.is_taken:
            answer.close()
            read = client.HTTPResponse(_Socket(io.BytesIO(line.take_sent_bytes())), method=method)  # type: ignore[arg-type]
            read.begin()
            headers = HTTPHeaderDict(read.headers.items())
        else:
            read = _Read(answer, method)
            headers = answer.headers
        return HTTPResponse(
            body=read,
            headers=headers,
            status=read.status,
            reason=read.reason,
            version=read.version,
            version_string="HTTP/1.1",
            original_response=read,
            **self._asked,
        )

    def _run(self, line: CallerConnection) -> Callable[[StartResponse], Iterable[Any]]:
        """Return a function that answers the request, if possible without a WSGI environ."""
        origin = self._scheme, self.host, self.port
        request = None if self._at_once is None else read_request(origin, *self._sent)
        if request is not None:
            assert self._at_once is not None
            direct = self._at_once(request)
            if direct is not None:
                server = f"{self.host}:{self.port}"
                peer = Peer(line, "127.0.0.1", str(self.port), self._scheme, server)
                return partial(direct, request, peer)
        environ = environ_of(origin, *self._sent)
        environ[CONNECTION] = line
        return partial(self._application, environ)

    def close(self) -> None:
        """Do nothing: an answer closes itself."""


class CallerConnection:
    """The connection for the application: what the application does to it happens to the caller."""

    pauses = False
    """Waits happen in the caller's thread, and end when the caller would stop waiting."""

    def __init__(self, timeout: float | None) -> None:
        self.is_taken = False
        self.entry: JournalEntry | None = None
        self.skipped = 0.0
        self.broken: OSError | None = None
        self._raw = b""
        self._timeout = timeout
        self._silent = 0.0

    def wait(self, seconds: float, closing: Event) -> None:
        """Wait in real time; a wait that is longer than the caller's timeout ends it at once.

        Raises:
            TimeoutError: The caller would have stopped waiting.
        """
        if self._timeout is not None and self._silent + seconds >= self._timeout:
            self.hold()
            self.take_sent_bytes()
        self._silent += seconds
        closing.wait(seconds)

    is_stopping = is_slow = is_stream = False
    """A session is read by its caller, so it is neither stopped nor slow."""

    def is_gone(self) -> bool:
        """An answer that is no longer read is closed, so this is never true."""
        return False

    def resume(self, *, urgent: bool) -> None:
        """Do nothing: bodies contain no pauses."""

    def wait_for(self, ready: Event, seconds: float) -> None:
        """Wait for an event in real time, no longer than the caller would.

        Raises:
            TimeoutError: The caller would have given up.
        """
        left = None if self._timeout is None else self._timeout - self._silent
        if left is None or seconds < left:
            if not ready.wait(seconds):
                self._silent += seconds
        elif not ready.wait(left):
            self._silent += left
            self.hold()
            self.take_sent_bytes()

    def restart_timeout(self) -> None:
        """A part of the answer arrived, so the caller's timeout starts again."""
        self._silent = 0.0

    def reset(self) -> None:
        """Raise "connection reset by peer" to the caller."""
        self._break(ConnectionResetError(errno.ECONNRESET, os.strerror(errno.ECONNRESET)))

    def hold(self) -> None:
        """End at once, whatever the timeout: without one the caller would wait for ever."""
        self.skipped += 0.0 if self._timeout is None else max(0.0, self._timeout - self._silent)
        self._break(TimeoutError("timed out"))

    def close(self) -> None:
        """End the connection: no more bytes come."""
        self.is_taken = True

    def send_raw(self, data: bytes) -> None:
        """Send bytes that need not be HTTP."""
        self.is_taken = True
        self._raw += data

    def take_sent_bytes(self) -> bytes:
        """Return the bytes that were sent in place of an answer.

        Raises:
            OSError: The connection broke.
        """
        if self.broken is not None:
            raise self.broken
        return self._raw

    def _break(self, fault: OSError) -> None:
        self.is_taken = True
        self.broken = self.broken or fault


class _Answer(io.RawIOBase):
    """A WSGI application's answer to one request; its body is read on demand.

    An answer of unknown length is sent in chunks, as by a server.
    """

    def __init__(
        self,
        run: Callable[[StartResponse], Iterable[Any]],
        line: CallerConnection,
        method: str,
    ) -> None:
        super().__init__()
        self.status = 0
        self.reason = ""
        self.headers = HTTPHeaderDict()
        self.bodiless = self._to_head = method == "HEAD"
        """Whether the client gets no body, whatever the application returns."""
        self.chunked = False
        """Whether the body is sent in chunks, because its length is unknown."""
        self._line = line
        self._written: list[bytes] = []
        self._parts: Iterable[bytes] = ()
        try:
            self._parts = run(self._start)
            self._said = self._iterate_body(iter(self._parts))
            # A server sends the head of an answer together with the first bytes of its body.
            self._rest = next(self._said, b"")
            if self.bodiless:
                for _ in self._said:
                    pass
        except Exception as fault:
            self.close()
            if fault is line.broken:
                raise
            raise ApplicationFault(fault) from None
        if not self.status and not line.is_taken:
            self.close()
            unstarted = "the WSGI application ended without calling start_response"
            raise ApplicationFault(AssertionError(unstarted))

    def file(self) -> io.BufferedIOBase:
        """Return the body as a file; in memory if the application returned it whole."""
        if self.bodiless:
            self.close()
            return io.BytesIO()
        if isinstance(self._parts, list):
            return io.BytesIO(b"".join([self._rest, *self._said]))
        return io.BufferedReader(self, _CHUNK)

    def readable(self) -> bool:
        """Always true: it can be read."""
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        """Read the next bytes into a buffer; return 0 at the end."""
        self._rest = self._rest or next(self._said, b"")
        self._rest, size = fill(buffer, self._rest)
        return size

    def close(self) -> None:
        """Close the application's answer."""
        if not self.closed:
            super().close()
            finish = getattr(self._parts, "close", None)
            if finish is not None:
                finish()

    def _start(
        self, status: str, headers: list[tuple[str, str]], exc_info: Any = None, /
    ) -> Callable[[bytes], object]:
        code, _, self.reason = status.partition(" ")
        self.status = int(code)
        self.headers = HTTPHeaderDict()
        for name, value in headers:
            self.headers.add(name, value.lstrip(" \t"))
        self.bodiless = self._to_head or self.status in _NO_BODY
        self.chunked = not self.bodiless and "Content-Length" not in self.headers
        return self._written.append

    def _iterate_body(self, parts: Iterator[bytes]) -> Iterator[bytes]:
        """Yield the body as it is sent, without empty pieces."""
        while True:
            if not self._written:
                part = next(parts, None)
                if part is not None:
                    self._written.append(part)  # behind what was written on the way to it
                elif not self._written:
                    break
            said = self._written.pop(0)
            if said and not self.bodiless:
                self._line.restart_timeout()
                yield b"%x\r\n%b\r\n" % (len(said), said) if self.chunked else said
        if self._line.is_taken:  # it broke on the way
            yield self._line.take_sent_bytes()
        elif self.chunked:
            yield b"0\r\n\r\n"


class _Read(client.HTTPResponse):
    """The standard library's response, for an answer whose head needs no parsing."""

    def __init__(self, answer: _Answer, method: str) -> None:
        super().__init__(_Socket(answer.file()), method=method)  # type: ignore[arg-type]
        headers = answer.headers
        length = headers.get("Content-Length", "")
        if answer.chunked:
            headers["Transfer-Encoding"] = "chunked"
        headers.setdefault("Date", format_date(machine_now().replace(microsecond=0)))
        headers.setdefault("Server", SERVER)
        # The attributes below are those that begin() sets.
        self.version = 11
        self.status, self.reason = answer.status, answer.reason
        self.headers = self.msg = headers  # type: ignore[assignment]
        self.chunked, self.chunk_left = answer.chunked, None
        self.length = int(length) if length.isdecimal() else None
        if answer.bodiless:
            self.length = 0
        self.will_close = False


@lru_cache(maxsize=1)
def format_date(at: datetime) -> str:
    """Return the header `Date` of all answers of one second."""
    return format_datetime(at, usegmt=True)


class _Socket:
    """The part of a socket that the standard library's response uses."""

    def __init__(self, file: io.BufferedIOBase) -> None:
        self._file = file

    def makefile(self, _mode: str) -> io.BufferedIOBase:
        """Return the file to read from."""
        return self._file
