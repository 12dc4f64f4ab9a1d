"""One open stream: which bytes its client gets, and when.

It holds the keys of the activities that wait for it; a line is made when the client can take it.
So a backfill, a recovery and what happens now are read in the same way, and a client that does
not read costs keys, not lines. Everything is done under the world's lock.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from msgspec import Struct

from mock_platform.api.v2.streams.endpoint import Line, StreamEndpoint
from mock_platform.core.assumptions import public_fact, settled
from mock_platform.core.call import FaultKind, Resume
from mock_platform.core.failures.errors import ProblemFailure
from mock_platform.core.failures.problems import Problem, problem
from mock_platform.core.jsonio import dumps
from mock_platform.settings import NamesMode
from mock_platform.world.attached import DeliveryFault
from mock_platform.world.clock import UPTIME, wire_millis
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

STREAM_WIRE = public_fact(
    "streams.wire",
    "A stream is sent in chunks, one JSON object on a line; lines and keep-alives end with CR LF. "
    "The first keep-alive comes at once, later ones after 20 real seconds of silence "
    "(--stream-keepalive).",
    "section 5.5 of the named endpoints",
    gap=True,
)
STREAM_ENDING = settled(
    "streams.ending",
    "A stream that the service ends gets a last line with an operational-disconnect problem: "
    "ForceDisconnect when its connection is deleted, its world is reset or removed, or the server "
    "stops; SlowReader when too many lines wait for its client.",
    "Events and streams",
)

KEEP_ALIVE = b"\r\n"
_ASCII = 127
DISCONNECT = "operational-disconnect"


class Ending(Struct, frozen=True):
    """How a stream ends: the last line, if any, and what its connection's record says."""

    reason: str
    """`disconnect_reason` of the connection."""
    last_line: bytes = b""
    fault: FaultKind | None = None
    """The network fault with which it ends."""


def encode_line(line: Mapping[str, Any]) -> bytes:
    """Return a line as it is sent."""
    return dumps(line) + b"\r\n"


def find_cut(data: bytes) -> int:
    """Return a place inside a character of several bytes; without one the middle of the line."""
    return next((at + 1 for at, byte in enumerate(data) if byte > _ASCII), len(data) // 2)


def make_problem_line(value: Problem, base_url: str) -> bytes:
    """Return the line that carries a problem, as a stream's last line does."""
    body = value.as_json(base_url)
    del body["status"]
    return encode_line({"errors": [body]})


def make_ending(reason: str, disconnect_type: str, base_url: str) -> Ending:
    """Return an ending with the line that document A has for it."""
    value = problem(DISCONNECT, disconnect_type=disconnect_type)
    return Ending(reason, make_problem_line(value, base_url))


_NEVER = float("inf")
_LONGEST_WAIT_SECONDS = 3600.0


class Opening(Struct, frozen=True):
    """What is known of a stream when it is opened."""

    id: str
    endpoint: StreamEndpoint
    app_id: str
    params: Mapping[str, Any]
    base_url: str
    opened_at: str
    """By the world's clock."""
    ends: bool
    """Whether it ends after the activities that it begins with (a recovery)."""
    names: NamesMode = "neutral"
    """Which names its lines have."""


class PlannedEnd(Struct, frozen=True):
    """An end after so many lines or real seconds, whichever comes first; with neither at once."""

    ending: Ending
    after_lines: int | None
    after_seconds: float | None

    @property
    def seconds(self) -> float:
        """After how many seconds it is due; never if it waits for lines alone."""
        if self.after_seconds is not None:
            return self.after_seconds
        return 0.0 if self.after_lines is None else _NEVER


class _Late(Struct, frozen=True):
    """A line that is sent later than it could be, because of a scenario."""

    line: Line
    activity: Record
    fault: DeliveryFault
    due: float = 0.0


class Stream:
    """A stream as the server sees it (`core.call.LiveBody`), and as the sandbox does."""

    def __init__(
        self,
        world: World,
        opening: Opening,
        waiting: Iterable[str],
        *,
        keepalive: float,
        backlog: int,
        on_end: Callable[[Stream, Ending], object],
        write_original: Callable[[Line], Line],
    ) -> None:
        """`waiting` are the keys of the activities that it begins with, oldest first.

        `write_original` returns a line with original names.
        """
        self._write_original = write_original
        self.opening = opening
        self.epoch = world.epoch
        """That of the world when it was opened."""
        self.lines_sent = 0
        self._recorded = 0
        self.last_keepalive: str | None = None
        """When the last keep-alive was sent, by the world's clock."""
        self._world = world
        self._overflowed = False
        self._waiting = deque(waiting)
        self._held: _Late | None = None
        """A line that is sent after the next one."""
        self._delayed: _Late | None = None
        self._planned: PlannedEnd | None = None
        self._planned_at = _NEVER
        self._lines: deque[tuple[Line, Record]] = deque()
        self._ready: deque[bytes] = deque()
        self._keepalive = keepalive
        self._backlog = backlog
        self._on_end = on_end
        self._begun = False
        self._sent_at = UPTIME()
        self._silent_until = 0.0
        self._ending: Ending | None = None
        self._resume: Resume | None = None
        self._is_client_gone: Callable[[], bool] | None = None

    # -- for the server --------------------------------------------------------------------------

    def read(self) -> bytes | None:
        """Return the next bytes to send; empty if nothing is due now, `None` at the end."""
        with self._world.lock:
            now = UPTIME()
            # Pulled, not pushed: the server asks for bytes when the client can take some. What
            # waits is a queue of keys, so a slow client costs no lines, and a line shows its
            # activity as it is when it is sent.
            if not self._ready and self._ending is None:
                self._prepare(now)
            if self._ready:
                self._begun, self._sent_at = True, now
                return self._ready.popleft()
            return b"" if self._ending is None else None

    def wait_seconds(self) -> float:
        """Return the real seconds until something is due, even if nothing happens."""
        with self._world.lock:
            now = UPTIME()
            if now < self._silent_until:
                due = self._silent_until
            else:
                due = min(self._sent_at + self._keepalive, self._planned_at)
                if self._delayed is not None:
                    due = min(due, self._delayed.due)
                elif self.lag:
                    due = now
            return min(max(0.0, due - now), _LONGEST_WAIT_SECONDS)

    def attach(self, resume: Resume, is_client_gone: Callable[[], bool]) -> None:
        """Use a client's connection from now on."""
        with self._world.lock:
            self._resume, self._is_client_gone = resume, is_client_gone

    def end_for_stop(self) -> None:
        """End because the server stops."""
        self.end(make_ending("server_stop", "ForceDisconnect", self.opening.base_url))

    def close(self, *, slow: bool = False) -> None:
        """Forget the client, which has left or does not read."""
        with self._world.lock:
            self._ready.clear()
            self.end(Ending("slow_reader" if slow else "client_disconnect"))
            self._resume = self._is_client_gone = None

    @property
    def is_silent(self) -> bool:
        """Whether it sends nothing at present because it was asked to."""
        return UPTIME() < self._silent_until

    @property
    def fault(self) -> FaultKind | None:
        """The network fault with which it ends."""
        return None if self._ending is None else self._ending.fault

    # -- for the sandbox -------------------------------------------------------------------------

    @property
    def lag(self) -> int:
        """How many activities wait for the client."""
        return len(self._waiting) + len(self._lines) + (self._delayed is not None)

    @property
    def is_open(self) -> bool:
        """Whether it has not ended."""
        return self._ending is None

    def push(self, key: str) -> None:
        """Add an activity; needs the world's lock. The caller wakes the stream after the commit."""
        if self._ending is None and not self._overflowed:
            self._waiting.append(key)
            self._overflowed = len(self._waiting) > self._backlog

    def wake(self, *, urgent: bool = False) -> None:
        """Let the server read; `urgent`: although the client does not take what was sent."""
        # Noticed at the commit and done here, outside of the transaction that pushed the activity:
        # ending a stream is no part of the request that happened to fill it.
        if self._overflowed:
            self.end(make_ending("slow_reader", "SlowReader", self.opening.base_url))
        resume = self._resume
        if resume is not None:
            resume(urgent=urgent or self._ending is not None)

    def check_client(self) -> bool:
        """Return whether the client is still there; if it is not, the stream ends."""
        gone = self._is_client_gone
        if gone is None or not gone():
            return True
        self.close()
        return False

    def plan(self, planned: PlannedEnd) -> None:
        """End after a number of lines or seconds, or go silent then."""
        with self._world.lock:
            self._planned, self._planned_at = planned, UPTIME() + planned.seconds

    def stall(self, seconds: float) -> None:
        """Send nothing for so many real seconds, not even keep-alives."""
        with self._world.lock:
            self._silent_until = UPTIME() + seconds
        self.wake()

    def end(self, ending: Ending, *, drain: bool = False) -> None:
        """End the stream, which frees its slot at once. Idempotent.

        The client can still read the last line, and with `drain` the lines that were waiting. The
        caller wakes the stream.
        """
        with self._world.lock:
            if self._ending is not None:
                return
            # Lines that were waiting are made now, without the delays of scenarios; making one may
            # itself end the stream, for instance with a problem.
            while drain and self.lag and self.is_open:
                self._take_line(_NEVER)
            if not self.is_open:  # it ended while its last lines were made
                return
            if drain and self._held is not None:
                self._put_late(self._held)
            self._held = self._delayed = None
            self._waiting.clear()
            self._lines.clear()
            self._ending = ending
            if ending.last_line:
                self._ready.append(ending.last_line)
            self._on_end(self, ending)

    # -- within ----------------------------------------------------------------------------------

    def _prepare(self, now: float) -> None:
        """Make what is due now: a line, the end of a recovery, a keep-alive, or nothing."""
        # The order is what a client sees: silence wins over everything, a planned end over further
        # lines, a line over a keep-alive. A stream that has sent nothing yet begins with a
        # keep-alive, so that its head reaches the client at once.
        if now < self._silent_until:
            return
        if self._begun and self._end_if_planned(now):
            return
        self._take_line(now)
        if self._ready:
            return
        if self.opening.ends and self.lag == 0:
            self.end(Ending("recovery_complete"), drain=True)
        elif not self._begun or now - self._sent_at >= self._keepalive:
            self.last_keepalive = wire_millis(self._world.clock.now())
            self._ready.append(KEEP_ALIVE)

    def _end_if_planned(self, now: float) -> bool:
        """End, or go silent, if the planned end is due."""
        planned = self._planned
        if planned is None:
            return False
        enough = planned.after_lines is not None and self.lines_sent >= planned.after_lines
        if not enough and now < self._planned_at:
            return False
        self._planned, self._planned_at = None, _NEVER
        if planned.ending.fault == "timeout":
            self._silent_until = _NEVER
        else:
            self.end(planned.ending)
        return True

    def _take_line(self, now: float) -> None:
        """Make the next line that waits, unless a scenario delays it; a problem ends the stream."""
        delayed = self._delayed
        if delayed is not None:
            if now >= delayed.due:
                self._delayed = None
                self._put(delayed.line, delayed.activity, delayed.fault)
            return
        opening = self.opening
        while not self._lines and self._waiting:
            activity = self._world.store.get(opening.endpoint.table, self._waiting.popleft())
            if activity is None:  # it was removed
                continue
            try:
                made = opening.endpoint.make_lines(
                    self._world, activity, opening.app_id, opening.params
                )
                self._lines.extend((line, activity) for line in made)
            except ProblemFailure as refusal:
                value = refusal.problem
                last_line = make_problem_line(value, opening.base_url)
                self.end(Ending(value.kind.name.replace("-", "_"), last_line))
        if not self._lines:
            return
        line, activity = self._lines.popleft()
        fault = self._find_fault(activity)
        if fault is not None and fault.delay and now < _NEVER:
            self._delayed = _Late(line, activity, fault, now + fault.delay)
        else:
            self._put(line, activity, fault)

    def _find_fault(self, activity: Record) -> DeliveryFault | None:
        """Return what a scenario does to a line; called once for each."""
        shown = {
            "id": activity["id"],
            "event_type": activity["event_type"],
            "endpoint": self.opening.endpoint.id,
            "app_id": self.opening.app_id,
        }
        holding = self._held is not None
        asked = (each.on_line(shown, holding=holding) for each in self._world.companions)
        return next((fault for fault in asked if fault is not None), None)

    def _encode(self, line: Line) -> bytes:
        is_neutral = self.opening.names == "neutral"
        return encode_line(line if is_neutral else self._write_original(line))

    def _put(self, line: Line, activity: Record, fault: DeliveryFault | None) -> None:
        """Let a line be sent, as a scenario changes that."""
        if fault is None:
            self._put_line(self._encode(line), line, activity)
        elif fault.drop:
            self._insert(fault)
            error = f"lost by scenario rule {fault.rule}; nothing was sent"
            self._record(line, activity, error)
            return
        elif fault.reorder and self._held is None:
            self._held = _Late(line, activity, fault)
            return
        else:
            self._put_late(_Late(line, activity, fault))
        late, self._held = self._held, None
        if late is not None:
            self._put_late(late)

    def _put_late(self, late: _Late) -> None:
        data, fault = self._encode(late.line), late.fault
        self._insert(fault)
        if fault.split:
            self._put_line(data, late.line, late.activity, cut=find_cut(data))
        else:
            self._put_line(data, late.line, late.activity)
        if fault.duplicate:
            self._put_line(data, late.line, late.activity)

    def _insert(self, fault: DeliveryFault) -> None:
        if fault.insert is not None:
            self._ready.append(fault.insert.encode() + KEEP_ALIVE)

    def _put_line(self, data: bytes, line: Line, activity: Record, *, cut: int = 0) -> None:
        self._ready.extend(piece for piece in (data[:cut], data[cut:]) if piece)
        self.lines_sent += 1
        self._record(line, activity, None)

    def _record(self, line: Line, activity: Record, error: str | None) -> None:
        self._recorded += 1
        self._world.deliveries.append(
            {
                "id": f"{self.opening.id}/{self._recorded}",
                "kind": "stream",
                "job_id": None,
                "webhook_id": None,
                "stream_id": self.opening.id,
                "event_id": activity["id"],
                "attempt": 1,
                "at": wire_millis(self._world.clock.now()),
                "url": None,
                "status": None,
                "error": error,
                "milliseconds": 0.0,
                "body": line,
            }
        )
