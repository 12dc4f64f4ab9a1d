"""Binds the address to listen on; if that is not possible, the error says what to do."""

from __future__ import annotations

import errno
import os
import socket
import sys

from msgspec import Struct

_WILDCARDS = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - names them, binds nothing
_BACKLOG = 512
_LAST_PORT = 65_535
_SHARES_PORT = sys.platform == "linux"
"""Whether the system shares connections out among the sockets of one port."""


class Bound(Struct, frozen=True):
    """The address of a server; `url` is for clients on this machine."""

    host: str
    port: int
    url: str


class CannotBind(Exception):
    """The server cannot listen on the address. The text says why and what to do."""

    def __init__(self, host: str, port: int, reason: str) -> None:
        super().__init__(f"Cannot listen on {_authority(host, port)}: {reason}")
        self.host = host
        self.port = port
        self.reason = reason


def bind(
    host: str, port: int, scheme: str = "http", *, listens: bool = True
) -> tuple[socket.socket, Bound]:
    """Return a listening socket; from then on the system queues connections.

    Without `listens` it is only bound.

    `port` 0 chooses a free port. `host` is a name or an address; `0.0.0.0` and `::` mean all
    interfaces.

    Raises:
        CannotBind: The port is in use or not allowed, or this machine does not have the address.
    """
    if not 0 <= port <= _LAST_PORT:
        raise CannotBind(
            host, port, f"a port is a number from 0 (choose a free one) to {_LAST_PORT}."
        )
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, kind, protocol, _, address = found[0]
        listener = socket.socket(family, kind, protocol)
    except OSError as fault:
        raise CannotBind(host, port, _reason(fault, host, port)) from fault
    try:
        _prepare(listener, host)
        listener.bind(address)
        if listens:
            listener.listen(_BACKLOG)
    except OSError as fault:
        listener.close()
        raise CannotBind(host, port, _reason(fault, host, port)) from fault
    listener.settimeout(0)
    taken = listener.getsockname()[1]
    reachable = _WILDCARDS.get(host, host)
    return listener, Bound(host, taken, f"{scheme}://{_authority(reachable, taken)}")


def reserve(host: str, port: int, scheme: str = "http") -> tuple[socket.socket, Bound]:
    """Return a socket that several processes listen on, each with `share`.

    On Linux it only keeps the address; elsewhere all processes accept from it.

    Raises:
        CannotBind: The port is in use or not allowed, or this machine does not have the address.
    """
    # Another server must find the port in use, so it is shared only after it was bound.
    listener, bound = bind(host, port, scheme, listens=not _SHARES_PORT)
    if _SHARES_PORT:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    return listener, bound


def share(reserved: socket.socket) -> socket.socket:
    """Return the socket on which this process listens, at an address that `reserve` returned.

    On Linux the system shares connections out evenly among the sockets of the processes.
    """
    if not _SHARES_PORT:
        return reserved
    listener = socket.socket(reserved.family, reserved.type, reserved.proto)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    _prepare(listener, "::" if reserved.getsockname()[0] == "::" else "")
    listener.bind(reserved.getsockname())
    listener.listen(_BACKLOG)
    listener.settimeout(0)
    return listener


def _prepare(listener: socket.socket, host: str) -> None:
    # On Windows this option would let two servers share a port.
    if os.name != "nt":
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if listener.family == socket.AF_INET6 and host == "::":
        listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)


def _reason(fault: OSError, host: str, port: int) -> str:
    if isinstance(fault, socket.gaierror):
        return (
            f"the name {host!r} is not an address of this machine. "
            "Use 127.0.0.1 (this machine only) or 0.0.0.0 (every interface)."
        )
    number = fault.errno
    if number == errno.EADDRINUSE:
        other = min(port + 1, _LAST_PORT)
        return (
            "the port is in use, perhaps by another mock-platform. Stop that server, "
            f"choose another port, for instance {other}, or 0 to choose a free one."
        )
    if number == errno.EACCES:
        return "the system does not allow this port. Choose one from 1024 up, or 0."
    if number == errno.EADDRNOTAVAIL:
        return (
            "this machine has no such address. "
            "Use 127.0.0.1 (this machine only) or 0.0.0.0 (every interface)."
        )
    return f"{fault}."


def _authority(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
