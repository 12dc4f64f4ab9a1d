"""Accepts the connections of a listening socket: all that wait, in one round of the loop."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Callable, Coroutine

_LOG = logging.getLogger(__name__)
_BACKLOG = 2048
"""Number of connections that the system keeps waiting."""
_RETRY_SECONDS = 0.5
"""Seconds until it tries again when the system has no more descriptors."""


class Acceptor:
    """Accepts connections until it is closed, and begins to serve each in a task of its own.

    A server of uvloop accepts one connection in a round of the loop, and answers the requests of
    all others in the same round. Of 512 clients that came together, the last one waited for many
    seconds.
    """

    def __init__(
        self,
        listener: socket.socket,
        begin: Callable[[socket.socket], Coroutine[object, object, None]],
    ) -> None:
        """`begin` gets the socket of each client, which it owns unless it is cancelled.

        Called on the thread of the loop. The acceptor closes `listener`.
        """
        self._loop = asyncio.get_running_loop()
        self._listener = listener
        self._begin = begin
        self._retry: asyncio.TimerHandle | None = None
        # The loop itself has only weak references to tasks.
        self._beginning: dict[asyncio.Task[None], socket.socket] = {}
        listener.listen(_BACKLOG)
        listener.settimeout(0)
        self._loop.add_reader(listener, self._accept)

    def close(self) -> None:
        """Accept no more, and drop the clients whose connection is not ready. Idempotent."""
        if self._listener.fileno() < 0:
            return
        self._loop.remove_reader(self._listener)
        self._listener.close()
        if self._retry is not None:
            self._retry.cancel()
        for task in self._beginning:
            task.cancel()

    # -- details ----------------------------------------------------------------------------------

    def _accept(self) -> None:
        # All that wait are accepted at once, up to as many as the system can hold, so that the loop
        # comes back to the others even under a flood.
        for _ in range(_BACKLOG):
            try:
                client, _ = self._listener.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as fault:
                # Mostly there are no file descriptors left. The listening socket stays readable, so
                # without a pause the loop would do nothing but try again.
                _LOG.warning("A connection could not be accepted: %s", fault)
                self._loop.remove_reader(self._listener)
                self._retry = self._loop.call_later(_RETRY_SECONDS, self._resume)
                return
            client.settimeout(0)
            task = self._loop.create_task(self._begin(client))
            self._beginning[task] = client
            task.add_done_callback(self._end)

    def _end(self, task: asyncio.Task[None]) -> None:
        client = self._beginning.pop(task)
        if task.cancelled():
            client.close()

    def _resume(self) -> None:
        self._loop.add_reader(self._listener, self._accept)
        self._accept()


async def open_connection(make: Callable[[], asyncio.Protocol], client: socket.socket) -> None:
    """Serve a client without TLS with the protocol that `make` returns."""
    loop = asyncio.get_running_loop()
    try:
        await loop.connect_accepted_socket(make, client)
    except OSError:
        client.close()
