"""Between one request and the WSGI application.

What differs from cheroot's own gateway: what the application raises is kept apart from what the
network does, a body shorter than its `Content-Length` ends the connection, and request targets are
taken as RFC 9112 has them: `//12/accounts` is a path, an absolute address (from a client that uses
the sandbox as its HTTP proxy) is accepted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote_to_bytes, urlsplit

from cheroot.wsgi import Gateway_10

from mock_platform.faults import CONNECTION
from mock_platform.server.exchange import ClientConnection, Exchange

if TYPE_CHECKING:
    from mock_platform.server.cheroot_server import CherootServer

_BODILESS = frozenset({204, 304})

ExcInfo = tuple[type[BaseException], BaseException, TracebackType] | tuple[None, None, None]


class Gateway(Gateway_10):
    """Calls the application for one request and sends what it answers."""

    def __init__(self, exchange: Exchange) -> None:
        super().__init__(exchange)
        self.remaining_bytes_out: int | None = None
        self.connection: ClientConnection = exchange.conn

    def get_environ(self) -> dict[str, Any]:  # type: ignore[override]
        """The environ of PEP 3333, with what the package's documentation adds."""
        environ: dict[str, Any] = super().get_environ()  # type: ignore[no-untyped-call]
        server: CherootServer = self.req.server
        target, authority = _origin_form(self.req.uri.decode("latin-1"))
        path = target.partition("?")[0]
        environ["REQUEST_URI"] = target
        environ["PATH_INFO"] = unquote_to_bytes(path.encode("latin-1")).decode("latin-1")
        if authority:
            environ["HTTP_HOST"] = authority
        environ["SERVER_NAME"] = server.bound.host
        environ["wsgi.url_scheme"] = server.scheme
        environ[CONNECTION] = self.req.conn
        return environ

    def respond(self) -> None:
        """Call the application and send what it answers."""
        server: CherootServer = self.req.server
        self.connection.answering = True
        try:
            body = server.wsgi_app(self.env, self.start_response)
        except BaseException as fault:  # noqa: BLE001 - not even SystemExit ends the server
            self._fail(fault)
            return
        try:
            self._send(body)
        finally:
            self._close(body)

    def start_response(
        self, status: str, headers: list[tuple[str, str]], exc_info: ExcInfo | None = None
    ) -> Any:
        """Begin the answer; with `exc_info`, begin it anew if nothing was sent yet."""
        if exc_info and not self.req.sent_headers:
            self.req.outheaders = []
            self.remaining_bytes_out = None
        return super().start_response(status, headers, exc_info)

    def write(self, chunk: bytes) -> None:
        """Send a part of the body, and the headers before the first.

        Raises:
            RuntimeError: The application did not call `start_response` yet.
            ValueError: The body is longer than its `Content-Length`; the rest is not sent.
            OSError: The client is gone.
        """
        if self.connection.taken:
            return
        if not self.started_response:
            raise RuntimeError("WSGI: the body began before start_response was called")
        allowed = self.remaining_bytes_out
        whole = len(chunk)
        if allowed is not None:
            chunk = chunk[:allowed]
            self.remaining_bytes_out = allowed - len(chunk)
        if self._bodiless:
            return
        if self.req.sent_headers:
            self.req.write(chunk)
        else:
            with self.connection.wfile.corked():
                self.req.ensure_headers_sent()
                self.req.write(chunk)
        if len(chunk) < whole:
            raise ValueError("WSGI: the body is longer than its Content-Length")

    def _send(self, body: Iterable[bytes]) -> None:
        for chunk in self._chunks(body):
            try:
                self.write(chunk)
            except (ValueError, RuntimeError, TypeError) as fault:
                self._fail(fault)
                return
        if self.connection.taken or not self.started_response:
            # Without start_response the application gave up: its client is gone.
            self._leave()
            return
        if self.remaining_bytes_out and not self._bodiless:
            self.req.close_connection = True
        self.req.ensure_headers_sent()

    def _chunks(self, body: Iterable[bytes]) -> Iterator[bytes]:
        """The parts of the body, until it ends, fails or the connection is taken."""
        parts = iter(body)
        while not self.connection.taken:
            try:
                chunk = next(parts)
            except StopIteration:
                return
            except BaseException as fault:  # noqa: BLE001 - as in `respond`
                self._fail(fault)
                return
            if chunk:
                yield chunk

    def _close(self, body: Iterable[bytes]) -> None:
        close = getattr(body, "close", None)
        if close is None:
            return
        try:
            close()
        except BaseException as fault:  # noqa: BLE001 - as in `respond`
            self._fail(fault)

    def _fail(self, fault: BaseException) -> None:
        """Report what the application raised; answer 500 where nothing was answered yet."""
        server: CherootServer = self.req.server
        server.report(fault)
        if self.connection.taken or self.req.sent_headers:
            self._leave()
            return
        text = f"The application raised {type(fault).__name__}; the server's log tells more.\n"
        self.req.status = b"500 Internal Server Error"
        self.req.outheaders = [
            (b"Content-Type", b"text/plain; charset=utf-8"),
            (b"Content-Length", b"%d" % len(text.encode())),
        ]
        self.started_response, self.remaining_bytes_out = True, None
        self.write(text.encode())

    def _leave(self) -> None:
        """See to it that nothing more is written."""
        self.req.close_connection = not self.connection.held
        self.req.sent_headers = True
        self.req.chunked_write = False

    @property
    def _bodiless(self) -> bool:
        return self.req.method == b"HEAD" or int(self.req.status[:3]) in _BODILESS


def _origin_form(target: str) -> tuple[str, str]:
    """A request target as path and query, and the authority if it was an absolute address."""
    if target.startswith("/") or "://" not in target:
        return target, ""
    parts = urlsplit(target)
    path = parts.path or "/"
    return f"{path}?{parts.query}" if parts.query else path, parts.netloc
