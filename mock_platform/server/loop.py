"""Who waits and who works: idle connections wait in one thread, requests are worked on in others.

cheroot ships both halves; these replace them because a sandbox is started and stopped for every
test run and called by browsers and debuggers: stopping must not wait for a poll interval or for a
stuck handler, and a client that connects and says nothing (or nothing yet of its TLS handshake)
must occupy neither the accepting thread nor a worker.
"""

from __future__ import annotations

import logging
import os
import selectors
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Protocol

from mock_platform.world.clock import UPTIME

log = logging.getLogger(__name__)

_TICK = 1.0
"""Seconds between looks for connections that have been idle too long."""
_ACCEPTS = 64
"""How many connections are accepted before those already open have their turn."""
_CRAMPED = 0.05
"""Seconds to wait when the system has no more file descriptors."""
# A select() begun on Windows does not learn of sockets registered later.
_PATIENCE = 0.05 if os.name == "nt" else _TICK


class Working(Protocol):
    """A connection as the lobby and the workers see it."""

    last_used: float
    held: bool
    answering: bool
    """Whether the request in work has reached the application."""

    def fileno(self) -> int:
        """The descriptor of its socket."""

    def has_data(self) -> bool:
        """Whether bytes of a next request were already read from the socket."""

    def close(self) -> None:
        """End it."""

    def communicate(self) -> bool:
        """Answer one request; whether the connection stays open."""

    def hush(self) -> None:
        """Take nothing more from the client; half a request ends, what came in whole is answered.

        Called from another thread, or before the request is read.
        """

    def abort(self) -> None:
        """Wake whoever reads from or writes to it, from another thread."""


class Lobby:
    """Accepts connections and keeps those between two requests, all in the thread that runs it."""

    def __init__(
        self,
        listener: socket.socket,
        greet: Callable[[socket.socket, str, int], Working],
        hand_over: Callable[[Working], None],
        idle_seconds: float,
    ) -> None:
        self._listener = listener
        self._greet = greet
        self._hand_over = hand_over
        self._idle_seconds = idle_seconds
        self._selector = selectors.DefaultSelector()
        self._lock = threading.Lock()
        self._waiting: dict[int, Working] = {}
        self._closing = threading.Event()
        self._alarm, self._bell = socket.socketpair()
        self._selector.register(listener, selectors.EVENT_READ)
        self._selector.register(self._alarm, selectors.EVENT_READ)

    def __len__(self) -> int:
        """How many connections wait."""
        return len(self._waiting)

    def run(self) -> None:
        """Accept and wait until stopped; then close the listener and every waiting connection."""
        looked = UPTIME()
        try:
            while not self._closing.is_set():
                for key, _ in self._selector.select(_PATIENCE):
                    if key.fileobj is self._listener:
                        self._accept()
                    elif key.fileobj is not self._alarm:
                        self._call_up(key.fd)
                if UPTIME() - looked >= _TICK:
                    looked = UPTIME()
                    self._expire(looked - self._idle_seconds)
        finally:
            self._close()

    def stop(self) -> None:
        """Have `run` return soon. Again is harmless."""
        self._closing.set()
        with suppress(OSError):
            self._bell.send(b"!")

    def put(self, connection: Working) -> None:
        """Wait for the connection's next request."""
        connection.last_used = UPTIME()
        if not connection.held and connection.has_data():
            self._hand_over(connection)
            return
        with self._lock:
            if not self._closing.is_set():
                number = connection.fileno()
                if self._waiting.pop(number, None) is not None:
                    # Somebody closed that one while it waited, and its number was given anew.
                    self._selector.unregister(number)
                self._waiting[number] = connection
                self._selector.register(number, selectors.EVENT_READ)
                return
        connection.close()

    def _accept(self) -> None:
        for _ in range(_ACCEPTS):
            try:
                client, address = self._listener.accept()
            except BlockingIOError:
                return
            except OSError as fault:
                # The client left again, or the system is out of descriptors: then looking at once
                # again would only spin.
                log.warning("A connection could not be accepted: %s", fault)
                self._closing.wait(_CRAMPED)
                return
            self.put(self._greet(client, str(address[0]), int(address[1])))

    def _call_up(self, number: int) -> None:
        connection = self._forget(number)
        if connection is not None:
            self._hand_over(connection)

    def _expire(self, threshold: float) -> None:
        idle = [n for n, c in list(self._waiting.items()) if c.last_used < threshold and not c.held]
        for number in idle:
            connection = self._forget(number)
            if connection is not None:
                connection.close()

    def _forget(self, number: int) -> Working | None:
        with self._lock:
            connection = self._waiting.pop(number, None)
            if connection is not None:
                self._selector.unregister(number)
            return connection

    def _close(self) -> None:
        self._closing.set()
        self._listener.close()
        with self._lock:
            waiting = list(self._waiting.values())
            self._waiting.clear()
            self._selector.close()
        for connection in waiting:
            connection.close()
        self._alarm.close()
        self._bell.close()


class Workers:
    """Threads that answer requests: started when needed, at most `limit`, kept until the end.

    They are daemons, so that a server nobody stopped does not keep its process alive.
    """

    def __init__(
        self,
        limit: int,
        put_back: Callable[[Working], None],
        report: Callable[[BaseException], None],
    ) -> None:
        self._limit = limit
        self._put_back = put_back
        self._report = report
        self._queue: SimpleQueue[Working | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []
        self._outstanding = 0
        self._busy: dict[threading.Thread, Working] = {}
        self._closed = False

    def put(self, connection: Working) -> None:
        """Have a thread answer the connection's next request."""
        with self._lock:
            if not self._closed:
                self._outstanding += 1
                if self._outstanding > len(self._threads) < self._limit:
                    self._hire()
                self._queue.put(connection)
                return
        connection.close()

    def stop(self, grace: float) -> bool:
        """Finish what was put, waiting at most `grace` seconds; whether all was finished.

        After that the connections still at work are cut and their threads left to themselves; those
        whose request did not come in whole are cut at once.
        """
        with self._lock:
            self._closed = True
            threads = [t for t in self._threads if t is not threading.current_thread()]
            for _ in threads:
                self._queue.put(None)
            for busy in self._busy.values():
                if not busy.answering:
                    busy.hush()
        deadline = UPTIME() + grace
        for thread in threads:
            thread.join(max(0.0, deadline - UPTIME()))
        stuck = [thread for thread in threads if thread.is_alive()]
        for thread in stuck:
            connection = self._busy.get(thread)
            if connection is not None:
                connection.abort()
        self._turn_away()
        for _ in stuck:
            self._queue.put(None)
        return not stuck

    def _hire(self) -> None:
        name = f"mock-platform-worker-{len(self._threads) + 1}"
        thread = threading.Thread(target=self._work, name=name, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _turn_away(self) -> None:
        """Close connections that no thread came round to."""
        while True:
            try:
                connection = self._queue.get_nowait()
            except Empty:
                return
            if connection is not None:
                connection.close()

    def _work(self) -> None:
        this = threading.current_thread()
        while True:
            connection = self._queue.get()
            if connection is None:
                return
            with self._lock:
                connection.answering = False  # of its last request it may say otherwise
                self._busy[this] = connection
                if self._closed:
                    connection.hush()
            keep = self._answer(connection)
            # Free before the connection may call up its next request, which else would seem to
            # need another thread.
            with self._lock:
                del self._busy[this]
                self._outstanding -= 1
            if keep:
                self._release(connection)

    def _release(self, connection: Working) -> None:
        try:
            self._put_back(connection)
        except BaseException as fault:  # noqa: BLE001 - a worker outlives whatever happens
            self._report(fault)
            connection.close()

    def _answer(self, connection: Working) -> bool:
        try:
            if connection.communicate():
                return True
        except BaseException as fault:  # noqa: BLE001 - a worker outlives whatever happens
            self._report(fault)
        connection.close()
        return False
