"""A request as a server read it, and what answers it on the spot, without a WSGI environ."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mock_platform.edge.connection import Connection, Pause

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse


@dataclass(slots=True)
class Request:
    """A request that came in whole."""

    method: str
    target: str
    """Path and query as the client wrote them, beginning with `/`."""
    authority: str
    """Host and port of the target where the client sent an absolute address, else empty."""
    version: str
    headers: list[tuple[bytes, bytes]]
    body: bytes
    keep_alive: bool


@dataclass(frozen=True, slots=True)
class Peer:
    """Who sends the requests of a connection, and where they arrive."""

    connection: Connection
    address: str
    port: str
    scheme: str
    server: str
    """Host and port on which the server listens."""


Direct = Callable[[Request, Peer, "StartResponse"], Iterable[bytes | Pause]]
"""Answers a request as a WSGI application does, but without an environ. It never blocks."""
