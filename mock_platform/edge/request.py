"""A request as a server read it, and objects that answer it without an environ."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from msgspec import Struct

from mock_platform.edge.connection import Connection, Pause

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse


class Request(Struct):
    """A request that arrived completely."""

    method: str
    target: str
    """Path and query as the client wrote them, starting with `/`."""
    authority: str
    """Host and port in the target if the client sent an absolute address, else empty."""
    version: str
    headers: list[tuple[bytes, bytes]]
    body: bytes
    keep_alive: bool


class Peer(Struct, frozen=True):
    """The two ends of a connection: the client and the server."""

    connection: Connection
    address: str
    port: str
    scheme: str
    server: str
    """Host and port on which the server listens."""


Direct = Callable[[Request, Peer, "StartResponse"], Iterable[bytes | Pause]]
"""Answers a request like a WSGI application, but without an environ. It never blocks."""
