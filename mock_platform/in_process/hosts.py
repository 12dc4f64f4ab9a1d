"""Which hosts a session may call: that of the sandbox, this machine, and those that were named.

A client that forgets its base address would send a signed request to the real service. Such a
request is refused before it leaves the process.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable
from urllib.parse import urlsplit

from mock_platform.settings import is_loopback

_NAME = re.compile(r"[a-z0-9._-]+")


class ForeignHost(RuntimeError):
    """A session was about to call a host that is not the sandbox's.

    It is no exception of requests on purpose: clients catch those and try again.
    """


class AllowedHosts:
    """The hosts that a session may call over the network."""

    def __init__(self, base_url: str, passthrough: Iterable[str] = ()) -> None:
        if isinstance(passthrough, str):
            raise TypeError(f"passthrough is a list of hosts: passthrough=[{passthrough!r}]")
        self._base_url = base_url
        self._own = (urlsplit(base_url).hostname or "").lower()
        self._opened = frozenset(_read_host(host) for host in passthrough)

    def check(self, method: str | None, url: str, *, remedies: Iterable[str] = ()) -> None:
        """Check the address of a request; `remedies` are ways that this kind of session has.

        Raises:
            ForeignHost: The session must not call this host.
        """
        parts = urlsplit(url)
        host = (parts.hostname or "").lower()
        if host in self._opened or host == self._own or is_loopback(host):
            return
        listed = "; ".join(
            [
                f"let your client call {self._base_url} (the base address of the sandbox)",
                *(text.format(origin=f"{parts.scheme}://{host}") for text in remedies),
                f"or, if {host} really is to be called, use session(passthrough=[{host!r}])",
            ]
        )
        raise ForeignHost(
            f"{method} {parts.scheme}://{host}{parts.path} was not sent: this session belongs to a "
            f"sandbox and calls no other host. What to do: {listed}."
        )


def _read_host(host: str) -> str:
    """Returns the name of a host in small letters.

    Raises:
        ValueError: It is an address, or has a port.
    """
    name = host.lower().strip("[]")
    if _NAME.fullmatch(name) or _is_address(name):
        return name
    raise ValueError(f"passthrough takes names of hosts such as 'api.example.com', not {host!r}")


def _is_address(name: str) -> bool:
    try:
        return ipaddress.ip_address(name) is not None
    except ValueError:
        return False
