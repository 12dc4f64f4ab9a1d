"""Limits how fast the control token can be guessed: wrong ones are counted for each address.

The first wrong tokens cost nothing, since people mistype. After them each wrong one makes its
address wait, twice as long as the one before. While an address waits, a right token is refused as
well: otherwise a guess would cost nothing. Sessions of the console are not affected. Each process
of a server counts for itself.
"""

from __future__ import annotations

import ipaddress
import math
import threading
from collections import OrderedDict
from collections.abc import Callable

from mock_platform.control.refusals import ControlRefusal
from mock_platform.world.clock import UPTIME

FREE = 10
"""Wrong tokens of an address that cost nothing."""
MAX_WAIT_SECONDS = 60.0
FORGOTTEN_SECONDS = 15 * 60.0
"""Real seconds without a wrong token after which the count of an address starts at zero."""
_MAX_ADDRESSES = 10_000
"""The address that was wrong longest ago makes room for another one."""
_NETWORK_BITS = 64
"""What one customer has of IPv6, so it counts as one address."""


class Guesses:
    """The wrong tokens of each address; may be used by several threads."""

    def __init__(self, uptime: Callable[[], float] = UPTIME) -> None:
        """`uptime` returns real seconds."""
        self._uptime = uptime
        self._lock = threading.Lock()
        self._wrong: OrderedDict[str, tuple[int, float]] = OrderedDict()

    def check(self, address: str) -> None:
        """Check that an address may try a token now.

        Raises:
            ControlRefusal: 429, with the seconds to wait in `Retry-After`.
        """
        with self._lock:
            count, last = self._wrong.get(_group(address), (0, 0.0))
            seconds = last + _wait_after(count) - self._uptime()
        if seconds > 0:
            wait = str(math.ceil(seconds))
            raise ControlRefusal(
                429,
                f"Too many wrong control tokens came from {address}. Wait {wait} seconds, then "
                "send the token that the server was started with (--control-token).",
                headers=[("Retry-After", wait)],
            )

    def record_wrong(self, address: str) -> None:
        """Count a wrong token."""
        group, now = _group(address), self._uptime()
        with self._lock:
            count, last = self._wrong.pop(group, (0, now))
            begins = now - last > FORGOTTEN_SECONDS
            self._wrong[group] = (1 if begins else count + 1, now)
            if len(self._wrong) > _MAX_ADDRESSES:
                self._wrong.popitem(last=False)

    def forget(self, address: str) -> None:
        """Forget the wrong tokens of an address that sent the right one."""
        if self._wrong:  # most servers never see a wrong one
            with self._lock:
                self._wrong.pop(_group(address), None)


def _wait_after(count: int) -> float:
    """Returns the seconds that an address waits after so many wrong tokens."""
    excess = count - FREE
    return 0.0 if excess < 0 else min(MAX_WAIT_SECONDS, 2.0 ** min(excess, 10))


def _group(address: str) -> str:
    """Returns what is counted as one: an IPv4 address, a network of IPv6."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address
    if found.version == 4:
        return address
    return str(ipaddress.ip_network((address.partition("%")[0], _NETWORK_BITS), strict=False))
