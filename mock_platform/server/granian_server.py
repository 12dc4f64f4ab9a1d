"""The fast server: granian's WSGI worker in a thread of this process.

granian's own command starts worker processes. The sandbox keeps its state in memory, so there must
be exactly one, and it must be this one: the worker is started here, on a socket that is bound
already. What it cannot do is reach the client's connection: network faults need cheroot.

Its `REQUEST_URI` is rebuilt from the decoded path. It equals what the client sent unless the client
wrote an escape that it need not have written, or an encoded slash.
"""

from __future__ import annotations

import logging
import socket
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from itertools import chain
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from mock_platform.server.cheroot_server import MAX_BODY
from mock_platform.tls import TlsMaterial
from mock_platform.version import __version__

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication

log = logging.getLogger(__name__)

_BACKLOG = 512
_TEXT = ("Content-Type", "text/plain; charset=utf-8")
_SERVER = f"mock-platform/{__version__}"
_UNESCAPED = "/:@!$&'()*+,;=~-._"
"""What a path may hold unescaped (RFC 3986, pchar), besides letters and digits."""

Headers = list[tuple[str, str]]


class ServerUnavailable(Exception):
    """The server asked for is not installed, or of a version that is not known."""


class GranianServer:
    """Serves one WSGI application on a listening socket that it takes over."""

    def __init__(
        self,
        wsgi: WSGIApplication,
        listener: socket.socket,
        tls: TlsMaterial | None,
        threads: int,
    ) -> None:
        self.errors: list[BaseException] = []
        self._wsgi = wsgi
        self._ended = threading.Event()
        try:
            self._native: Any = import_module("granian._granian")
            self._futures: Any = import_module("granian._futures")
            self._signal = self._native.WorkerSignal()
            self._signal.add_cb(self._ended.set)
            self._worker = self._make_worker(listener, tls, threads)
        except ImportError as fault:
            listener.close()
            raise ServerUnavailable(
                "The server granian is not installed. Install it with "
                "pip install 'mock-platform[fast]', or use --server cheroot."
            ) from fault
        except (TypeError, AttributeError) as fault:
            listener.close()
            raise ServerUnavailable(
                f"The installed granian is not of version 2.8, which this works with ({fault}). "
                "Install it with pip install 'mock-platform[fast]', or use --server cheroot."
            ) from fault
        self._thread = threading.Thread(target=self._run, name="mock-platform-server", daemon=True)

    def start(self) -> None:
        """Begin to answer, in threads of its own."""
        self._thread.start()

    def stop(self, grace: float = 5.0) -> None:
        """Accept no more and finish the requests in flight, waiting at most `grace` seconds."""
        self._signal.set()
        self._thread.join(grace)
        if self._thread.is_alive():
            log.warning("Requests still in work after %g seconds were left", grace)

    def _make_worker(self, listener: socket.socket, tls: TlsMaterial | None, threads: int) -> Any:
        holder = self._native.SocketHolder(listener.fileno(), False, _BACKLOG)  # noqa: FBT003
        pem = None if tls is None else str(tls.certificate)
        worker = self._native.WSGIWorker(
            worker_id=1,
            sock=(None, holder),
            ipc=None,
            py_threads=threads,
            backpressure=1024,
            http_mode="auto",
            ssl_enabled=tls is not None,
            ssl_cert=pem,
            ssl_key=pem,
            ssl_protocol_min="tls1.2",
            metrics=(None, None),
        )
        # From here on the descriptor is granian's, which closes it.
        listener.detach()
        return worker

    def _run(self) -> None:
        import asyncio  # 9 ms that cheroot does not need

        loop = asyncio.new_event_loop()
        try:
            # granian's public embedding is for asynchronous applications only.
            schedule = self._futures._new_cbscheduler  # noqa: SLF001
            scheduler = schedule(loop, self._answer, impl_asyncio=True)
            self._worker.serve_mtr(scheduler, loop, self._signal)
            self._ended.wait()
        except Exception as fault:  # noqa: BLE001 - told to whoever asks for errors
            self._report(fault)
        finally:
            loop.close()

    def _answer(self, protocol: Any, scope: dict[str, Any]) -> None:
        """Answer one request: granian's callback."""
        answer = _Answer()
        try:
            if int(scope.get("CONTENT_LENGTH") or 0) > MAX_BODY:
                text = f"The body exceeds {MAX_BODY} bytes.\n".encode()
                protocol.response_bytes(413, [_TEXT, ("Server", _SERVER)], text)
                return
            body = self._wsgi(_environ(scope), answer)
            parts = filter(None, iter(body))
            first = b"".join(answer.written) or next(parts, b"")
            whole = isinstance(body, list | tuple) or answer.length == len(first)
            if not whole:
                stream = _Stream(chain([first], parts), body, self._report)
                protocol.response_iter(answer.status, answer.headers, stream)
                return
            data = b"".join(chain([first], parts))
            _close(body)
            self._check(scope, answer, data)
            protocol.response_bytes(answer.status, answer.headers, data)
        except BaseException as fault:  # noqa: BLE001 - not even SystemExit ends the server
            self._report(fault)
            told = f"The application raised {type(fault).__name__}; the server's log tells more.\n"
            protocol.response_bytes(500, [_TEXT, ("Server", _SERVER)], told.encode())

    @staticmethod
    def _check(scope: dict[str, Any], answer: _Answer, body: bytes) -> None:
        bodiless = scope["REQUEST_METHOD"] == "HEAD" or answer.status in {204, 304}
        if not bodiless and answer.length not in {None, len(body)}:
            raise ValueError(
                f"The body has {len(body)} bytes, its Content-Length says {answer.length}. "
                "Truncated answers need --server cheroot."
            )

    def _report(self, fault: BaseException) -> None:
        self.errors.append(fault)
        log.error("%s while answering a request", type(fault).__name__, exc_info=fault)


class _Answer:
    """What the application says of its answer: the `start_response` of PEP 3333."""

    def __init__(self) -> None:
        self.status = 0
        self.headers: Headers = []
        self.written: list[bytes] = []

    def __call__(
        self, status: str, headers: Headers, _exc_info: object = None
    ) -> Callable[[bytes], None]:
        self.status = int(status[:3])
        self.headers = [*headers, ("Server", _SERVER)]
        return self.written.append

    @property
    def length(self) -> int | None:
        """The declared length of the body."""
        for name, value in self.headers:
            if name.lower() == "content-length":
                return int(value)
        return None


class _Stream:
    """A body that is sent as it comes into being; granian calls `__next__` and `close`."""

    def __init__(
        self,
        parts: Iterator[bytes],
        body: Iterable[bytes],
        report: Callable[[BaseException], None],
    ) -> None:
        self._parts = parts
        self._body = body
        self._report = report

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        try:
            return next(self._parts)
        except StopIteration:
            raise
        except BaseException as fault:
            self._report(fault)
            raise

    def close(self) -> None:
        """Tell the application that no more is needed."""
        _close(self._body)


def _close(body: Iterable[bytes]) -> None:
    close = getattr(body, "close", None)
    if close is not None:
        close()


def _environ(scope: dict[str, Any]) -> dict[str, Any]:
    """The environ of PEP 3333, with what the package's documentation adds."""
    path = quote(scope["PATH_INFO"].encode("latin-1"), safe=_UNESCAPED)
    query = scope["QUERY_STRING"]
    return {
        "SCRIPT_NAME": "",
        "SERVER_SOFTWARE": _SERVER,
        "REQUEST_URI": f"{path}?{query}" if query else path,
        "wsgi.errors": sys.stderr,
        "wsgi.input_terminated": True,
        "wsgi.multiprocess": False,
        "wsgi.multithread": True,
        "wsgi.run_once": False,
        "wsgi.version": (1, 0),
        **scope,
    }
