"""The tunnels of a proxy to other hosts: to which, and how many at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

MAX_TUNNELS = 512
"""Tunnels of a proxy at a time: each is a connection to a host outside."""
MAX_TUNNELS_PER_CLIENT = 128
"""Tunnels of the clients at one address at a time; a browser has some dozens."""


class Tunnels:
    """The open tunnels of one proxy. Used on its loop alone."""

    def __init__(self, allowed: Collection[tuple[str, int]]) -> None:
        """`allowed` are the hosts and ports to which tunnels may lead."""
        self._allowed = frozenset(allowed)
        self._open: Counter[str] = Counter()

    @property
    def count(self) -> int:
        """How many are open, or being opened."""
        return self._open.total()

    def allows(self, host: str, port: int) -> bool:
        """Whether a tunnel may lead there."""
        return (host, port) in self._allowed

    def begin(self, client: str) -> str | None:
        """Count a tunnel of a client; returns why it is refused instead, if it is."""
        if self.count >= MAX_TUNNELS or self._open[client] >= MAX_TUNNELS_PER_CLIENT:
            return (
                f"This proxy allows {MAX_TUNNELS_PER_CLIENT} tunnels of one client at a time, and "
                f"{MAX_TUNNELS} in all. Close some, then try again."
            )
        self._open[client] += 1
        return None

    def end(self, client: str) -> None:
        """Stop counting a tunnel."""
        self._open[client] -= 1
        if self._open[client] <= 0:
            del self._open[client]
