"""Sockets with one deadline for everything that is sent and read until then."""

from __future__ import annotations

import socket
import ssl
from typing import Any

from mock_platform.world.clock import UPTIME


class _DeadlineSocket:
    """A socket with one deadline for all its reads and writes, however many they are.

    Without a deadline it is like any other.
    """

    deadline: float | None = None
    """In seconds of `UPTIME`."""

    def settimeout(self, value: float | None) -> None:
        """Set the time left until the deadline as timeout; `value` without a deadline."""
        if self.deadline is not None:
            value = self.deadline - UPTIME()
            if value <= 0:
                raise TimeoutError("timed out")
        super().settimeout(value)  # type: ignore[misc]

    def recv_into(self, *args: Any, **kwargs: Any) -> int:
        """Read within the time left until the deadline."""
        self._limit()
        return super().recv_into(*args, **kwargs)  # type: ignore[misc,no-any-return]

    def send(self, *args: Any, **kwargs: Any) -> int:
        """Write within the time left until the deadline."""
        self._limit()
        return super().send(*args, **kwargs)  # type: ignore[misc,no-any-return]

    def sendall(self, *args: Any, **kwargs: Any) -> None:
        """Write everything within the time left until the deadline."""
        self._limit()
        super().sendall(*args, **kwargs)  # type: ignore[misc]

    def _limit(self) -> None:
        if self.deadline is not None:
            self.settimeout(None)


class PlainDeadlineSocket(_DeadlineSocket, socket.socket):
    """A socket of the system with a deadline."""


class TLSDeadlineSocket(_DeadlineSocket, ssl.SSLSocket):
    """A socket that speaks TLS, with a deadline; it knows nothing of that of the one below."""


def set_deadline(sock: object, deadline: float | None) -> None:
    """Set the deadline of a socket of this module, in seconds of `UPTIME`."""
    if isinstance(sock, _DeadlineSocket):
        sock.deadline = deadline
