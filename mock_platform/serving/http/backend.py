"""What the connections of one server share: limits, environ, the application, timers, the log.

Everything here runs on the loop's thread, except for `report` and `on_loop`.
"""

from __future__ import annotations

import asyncio
import io
import logging
import math
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from email.utils import formatdate
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import unquote_to_bytes

from mock_platform.core.connection import CONNECTION, Direct, Pause, Peer, Request
from mock_platform.serving.http.answer import SOFTWARE, Answer, Pair
from mock_platform.serving.http.binding import Bound
from mock_platform.serving.http.reader import Refusal, refuse_overload
from mock_platform.serving.http.scheduling import Rounds, Workers
from mock_platform.settings import ConnectionSettings
from mock_platform.world.clock import UPTIME
from mock_platform.world.journal import JournalEntry

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment


# The WSGI environ (PEP 3333) of a request that came over a socket.

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
        """Return the environ of one request, with its whole body."""
        # PEP 3333 wants bytes as text in Latin-1: each byte is one character, whatever encoding it
        # has. What is escaped in the path is decoded to bytes first, and then written in that way.
        path, _, query = request.target.partition("?")
        environ = self._shared.copy()
        environ["wsgi.url_scheme"] = request.scheme or peer.scheme
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
            # A header that was sent several times becomes one, as the standard allows; only cookies
            # are joined by semicolons.
            if key in environ:
                separator = "; " if key == "HTTP_COOKIE" else ", "
                text = f"{environ[key]}{separator}{text}"
            environ[key] = text


_LOG = logging.getLogger(__name__)

_LOG_SECONDS = 0.1
"""Seconds between two writes of the request log."""
SWEEP_SECONDS = 0.5
"""Seconds between two checks of the deadlines of connections."""
_MAX_LINES = 100
"""Number of requests after which the log is written at once: other requests wait meanwhile."""


class RequestLog(Protocol):
    """The log of requests. Lines may be buffered until `flush`, which must be called."""

    def note(
        self,
        request: Request,
        status: str,
        headers: Sequence[Pair],
        began: float,
        ended: float,
        entry: JournalEntry | None,
    ) -> None:
        """Log an answer, with start and end by `UPTIME`; `status` is empty without an answer.

        `entry` is its entry in the journal, if it has one in this process.
        """

    def flush(self) -> None:
        """Write the buffered lines."""


class Timer(Protocol):
    """Something that is to run later."""

    def cancel(self) -> None:
        """Do not run it."""


class _Never:
    """A timer that never runs anything."""

    def cancel(self) -> None:
        """Do nothing: there is nothing to cancel."""


_NEVER = _Never()


class Journey(Protocol):
    """For which processes the requests of one connection were."""

    def leads_away(self, direct: Direct | None) -> bool:
        """Add a request by what answers it; return whether the connection should move there."""

    def move(self, descriptor: int, request: Request) -> bool:
        """Move a socket, with the request that leads away; return whether it went."""


class AnyConnection(Protocol):
    """The methods of any connection that this module calls."""

    def expire(self, now: float) -> None:
        """End the connection if it takes too long."""

    def stop(self) -> None:
        """Close now, or after the current answer."""

    def cut(self) -> None:
        """Close the connection now."""


class Client(Protocol):
    """What gets an answer."""

    def send_pieces(self, answer: Answer, pieces: list[bytes] | Pause) -> None:
        """Send the pieces that the application made."""


class Backend:
    """One application, its connections, and what they share."""

    def __init__(
        self,
        wsgi: WSGIApplication,
        bound: Bound,
        scheme: str,
        threads: int,
        limits: ConnectionSettings,
        log: RequestLog | None,
    ) -> None:
        self.limits = limits
        self.scheme = scheme
        self.listens_at = f"{bound.host}:{bound.port}"
        self.stopping = threading.Event()
        self.errors: list[BaseException] = []
        self.connections: set[AnyConnection] = set()
        self.workers = Workers(threads)
        self.rounds = Rounds(self.call_soon)
        self.follow: Callable[[int], Journey] | None = None
        """Return the trail of a new connection, which moved so often; `None`: none ever moves."""
        self.when_idle: Callable[[], object] | None = None
        """Called while the server stops, as soon as no request is being answered."""
        self._wsgi = wsgi
        self._at_once: Callable[[Request], Direct | None] | None = getattr(wsgi, "at_once", None)
        self._never_blocks: Callable[[Request], bool] | None = getattr(wsgi, "never_blocks", None)
        self._environs = EnvironMaker(bound)
        self._addresses: Counter[str] = Counter()
        self._arriving: Counter[str] = Counter()
        self._in_work: set[object] = set()
        self._running: set[Answer] = set()
        self._waiting_bytes = 0
        self._date = (0, "")
        self._log = log
        self._noted = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = 0

    def attach(self, loop: asyncio.AbstractEventLoop) -> None:
        """Use this loop; called in its thread."""
        self._loop, self._thread = loop, threading.get_ident()

    def detach(self) -> None:
        """Called when the loop has ended."""
        self._loop = None
        self.flush_log()

    # -- from any thread --------------------------------------------------------------------------

    def report(self, fault: BaseException) -> None:
        """Record and log an error in the server."""
        self.errors.append(fault)
        _LOG.error("%s while answering a request", type(fault).__name__, exc_info=fault)

    def on_loop(self, act: Callable[..., object], *arguments: Any) -> None:
        """Run something on the loop, from any thread; at once if already on the loop."""
        # On the loop's own thread a call through the loop would come a round later, and its order
        # relative to what is being done now would change.
        if threading.get_ident() == self._thread:
            act(*arguments)
            return
        self.on_loop_soon(act, *arguments)

    def on_loop_soon(self, act: Callable[..., object], *arguments: Any) -> None:
        """Run something in the loop's next round, from any thread."""
        loop = self._loop
        if loop is None or loop.is_closed():
            return
        try:
            if threading.get_ident() == self._thread:
                loop.call_soon(act, *arguments)
            else:
                loop.call_soon_threadsafe(act, *arguments)
        except RuntimeError:  # it closed just now; nothing is open any more
            _LOG.debug("The server had stopped already")

    def begin_trail(self) -> Journey | None:
        """Return the trail of a connection that was accepted here, if connections may move."""
        return None if self.follow is None else self.follow(0)

    # -- limits -----------------------------------------------------------------------------------

    def admit(self, connection: AnyConnection, address: str) -> Refusal | None:
        """Count a new connection; return why it is refused, if it is."""
        self.connections.add(connection)
        self._addresses[address] += 1
        limits = self.limits
        if len(self.connections) > limits.connections:
            return refuse_overload(
                f"This server allows {limits.connections} connections (--max-connections)."
            )
        if self._addresses[address] > limits.connections_per_address:
            return refuse_overload(
                f"This server allows {limits.connections_per_address} connections from one address "
                "(--max-connections-per-address)."
            )
        return None

    def has_space(self, address: str) -> bool:
        """Whether another connection from an address would be admitted."""
        limits = self.limits
        return (
            len(self.connections) < limits.connections
            and self._addresses[address] < limits.connections_per_address
        )

    def arrive(self, address: str) -> bool:
        """Count a client that has not said what it speaks; return whether there is space for it."""
        arriving, limits = self._arriving, self.limits
        arriving[address] += 1
        return (
            len(self.connections) + arriving.total() <= limits.connections
            and self._addresses[address] + arriving[address] <= limits.connections_per_address
        )

    def end_arrival(self, address: str) -> None:
        """Stop counting a client that said what it speaks, or has left."""
        self._arriving[address] -= 1
        if self._arriving[address] <= 0:
            del self._arriving[address]

    def forget(self, connection: AnyConnection, address: str) -> None:
        """Stop counting a connection."""
        self.connections.discard(connection)
        self._addresses[address] -= 1
        if self._addresses[address] <= 0:
            del self._addresses[address]

    def count_body(self, more: int) -> bool:
        """Count bytes of unfinished bodies; return whether there is space for them."""
        self._waiting_bytes += more
        return self._waiting_bytes <= self.limits.waiting_bytes

    # -- answers ----------------------------------------------------------------------------------

    def answer(self, request: Request, *, keep_alive: bool) -> Answer:
        """Return the answer to a request; `run` lets the application make it."""
        # Most requests are answered on the loop itself: handing one to a thread and back costs more
        # than the answer. The application says which these are. All others may block, and get a
        # worker.
        direct = None if self._at_once is None else self._at_once(request)
        if direct is None and self._never_blocks is not None and self._never_blocks(request):
            direct = self.call_wsgi
        return Answer(request, direct, UPTIME(), self.report, self.date_line, keep_alive=keep_alive)

    def run(self, answer: Answer, peer: Peer, connection: Client) -> None:
        """Run the application, on the loop or in a worker."""
        self._in_work.add(connection)
        if answer.direct is not None:
            connection.send_pieces(answer, answer.run(answer.direct, peer))
        else:
            self._work(answer, connection, partial(answer.run, self.call_wsgi, peer))

    def call_wsgi(self, request: Request, peer: Peer, start: StartResponse) -> Iterable[bytes]:
        """Answer a request as the WSGI application does."""
        return self._wsgi(self._environs.environ_of(request, peer), start)

    def step(self, answer: Answer, connection: Client) -> None:
        """Let the application make the next piece, where it was started."""
        if answer.direct is not None:
            connection.send_pieces(answer, answer.step())
        else:
            self._work(answer, connection, answer.step)

    def hold(self, connection: object) -> None:
        """Make a stop wait for this connection as if it were being answered."""
        self._in_work.add(connection)

    def finish_answer(self, connection: object) -> None:
        """Record that its answer was made, or is no longer needed."""
        self._in_work.discard(connection)
        if self.stopping.is_set():
            self.end_if_idle()

    def end_if_idle(self) -> None:
        """Let the server end if no request is being answered."""
        if not self._in_work and self.when_idle is not None:
            self.when_idle()

    def is_running(self, answer: Answer) -> bool:
        """Whether a worker is making a piece of the answer now and will pass it on."""
        return answer in self._running

    def drop(self, answer: Answer, entry: JournalEntry | None) -> None:
        """Close and log an answer whose client has left."""
        self.close(answer)
        self.note(answer, entry)

    def close(self, answer: Answer) -> None:
        """Close an answer that is no longer read, where its application runs."""
        if answer.direct is not None:
            answer.close()
        else:
            self.workers.put(answer.close)

    # -- time -------------------------------------------------------------------------------------

    def call_soon(self, act: Callable[[], object]) -> None:
        """Run something in the loop's next round."""
        assert self._loop is not None
        self._loop.call_soon(act)

    def call_later(self, seconds: float, act: Callable[[], object]) -> Timer:
        """Run something after real seconds; at once if the server stops.

        With `math.inf` nothing is run: something else ends the wait, also while the server stops.
        """
        if seconds == math.inf:
            return _NEVER
        return self.call_later_in_any_case(0 if self.stopping.is_set() else seconds, act)

    def call_later_in_any_case(
        self, seconds: float, act: Callable[[], object]
    ) -> asyncio.TimerHandle:
        """Run something after real seconds, also while the server stops."""
        assert self._loop is not None
        return self._loop.call_later(seconds, act)

    async def sweep(self) -> None:
        """Check the deadlines of all connections, again and again."""
        while True:
            await asyncio.sleep(SWEEP_SECONDS)
            now = UPTIME()
            for connection in list(self.connections):
                connection.expire(now)

    def date_line(self) -> str:
        """Return the header `Date`, made once a second."""
        # Two requests in one second have the same date, and formatting it takes longer than finding
        # that out.
        second = int(UPTIME())
        if self._date[0] != second:
            self._date = (second, f"Date: {formatdate(usegmt=True)}\r\n")
        return self._date[1]

    # -- the log ----------------------------------------------------------------------------------

    def note(self, answer: Answer, entry: JournalEntry | None) -> None:
        """Log an answer that is complete, or was dropped."""
        if self._log is None:
            return
        request, status, headers = answer.request, answer.status, answer.headers
        self._log.note(request, status, headers, answer.began, UPTIME(), entry)
        self._noted += 1
        if self._noted == 1 and self._loop is not None:
            self._loop.call_later(_LOG_SECONDS, self.flush_log)
        elif self._noted >= _MAX_LINES:
            self.flush_log()

    def flush_log(self) -> None:
        """Write the lines of the recorded requests."""
        self._noted = 0
        if self._log is not None:
            self._log.flush()

    def note_refusal(self, refusal: Refusal, address: str) -> None:
        """Log that a request was refused before any application got it."""
        _LOG.info("%d to %s: %s", refusal.status, address, refusal.text)

    # -- details ----------------------------------------------------------------------------------

    def _work(
        self, answer: Answer, connection: Client, make: Callable[[], list[bytes] | Pause]
    ) -> None:
        self._running.add(answer)

        def job() -> None:
            self.on_loop(self._hand_in, answer, connection, make())

        self.workers.put(job)

    def _hand_in(self, answer: Answer, connection: Client, pieces: list[bytes] | Pause) -> None:
        self._running.discard(answer)
        connection.send_pieces(answer, pieces)
