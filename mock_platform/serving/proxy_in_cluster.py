"""A proxy on the loop of a server: so its requests can take the hop to another process.

`ProxyServer` has a loop of its own, which is simpler. The hop belongs to one loop, so each worker
of `serve --workers N` runs its proxy beside its server; the system shares the connections out.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from functools import partial
from typing import Any

from msgspec import Struct

from mock_platform.serving.http.backend import Backend
from mock_platform.serving.http.binding import Bound, share
from mock_platform.serving.http.loop_server import Acceptor, LoopCompanion, open_connection
from mock_platform.serving.http.tls import TlsMaterial
from mock_platform.serving.proxy import THREADS, ProxyConnection, Tunnels
from mock_platform.settings import ConnectionSettings


class SharedProxy(Struct, frozen=True):
    """The address and the certificates of a proxy that several processes run."""

    reserved: socket.socket
    bound: Bound
    tls: TlsMaterial
    hosts: tuple[str, ...]
    """Answered by the application."""
    allowed: tuple[tuple[str, int], ...]
    """Hosts and ports that are passed on to."""

    @property
    def url(self) -> str:
        """The address that clients use as their proxy."""
        return self.bound.url


class ProxyBeside:
    """A companion of a server that runs a proxy, and the server's other companion."""

    def __init__(
        self, shared: SharedProxy, wsgi: Any, limits: ConnectionSettings, other: LoopCompanion
    ) -> None:
        """`wsgi` answers what comes through the proxy."""
        self._shared = shared
        self._other = other
        self._listener = share(shared.reserved)
        self._context = shared.tls.server_context(http2=limits.http2)
        self._backend = Backend(wsgi, shared.bound, "http", THREADS, limits, None)
        self._tunnels = Tunnels(shared.allowed)
        self._acceptor: Acceptor | None = None
        self._sweep: asyncio.Task[None] | None = None

    async def open(self, backend: Backend) -> None:
        """Open the other companion, then accept connections."""
        await self._other.open(backend)
        loop = asyncio.get_running_loop()
        self._backend.attach(loop)
        self._acceptor = Acceptor(self._listener, partial(open_connection, self._enter))
        self._sweep = loop.create_task(self._backend.sweep())

    def hurry(self) -> None:
        """Accept no more connections; each ends after its current answer."""
        self._backend.rounds.run()
        self._backend.stopping.set()
        if self._acceptor is not None:
            self._acceptor.close()
        self._other.hurry()
        for connection in list(self._backend.connections):
            connection.stop()

    def drain(self, release: Callable[[], object]) -> None:
        """Let the other companion drain when no request through the proxy is being answered."""

        def end() -> None:
            self._backend.when_idle = None
            self._other.drain(release)

        self._backend.when_idle = end
        self._backend.end_if_idle()

    def close(self) -> None:
        """End all connections, and the other companion."""
        if self._sweep is not None:
            self._sweep.cancel()
        self._listener.close()
        for connection in list(self._backend.connections):
            connection.cut()
        self._other.close()
        self._backend.workers.dismiss(0)
        self._backend.detach()

    # -- details ----------------------------------------------------------------------------------

    def _enter(self) -> asyncio.Protocol:
        shared = self._shared
        hosts = frozenset(shared.hosts)
        return ProxyConnection(self._backend, self._context, hosts, self._tunnels)
