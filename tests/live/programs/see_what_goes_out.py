"""Calls a real host with the proxy and without, and prints which other machines were tried.

Sandbox, proxy and client are one process, so that one hook sees all of them. The hook stops every
attempt before anything is sent.
"""

import json
import sys
from contextlib import suppress
from ipaddress import ip_address
from typing import Any

import requests

from mock_platform import MockPlatform

seen: list[str] = []


def is_here(host: Any) -> bool:
    """Whether a name or an address is this machine's."""
    text = host.decode() if isinstance(host, bytes) else str(host)
    if text in {"localhost", "None", ""}:
        return True
    try:
        return ip_address(text).is_loopback
    except ValueError:
        return False


def watch(event: str, arguments: tuple[Any, ...]) -> None:
    """Note and stop whatever leads away from this machine."""
    host: Any = None
    if event in {"socket.getaddrinfo", "socket.gethostbyname"}:
        host = arguments[0]
    elif event in {"socket.connect", "socket.sendto", "socket.sendmsg"}:
        address = arguments[1]
        host = address[0] if isinstance(address, tuple) else None
    if host is not None and not is_here(host):
        seen.append(host if isinstance(host, str) else str(host))
        raise OSError(f"{event} {host} was stopped")


sys.modules["uvloop"] = None  # type: ignore[assignment]  # its sockets are not seen by the hook
sys.addaudithook(watch)
ADDRESS = "https://api.x.com/2/openapi.json"

with MockPlatform.start() as platform:
    with platform.intercept():
        answered = requests.get(ADDRESS, timeout=120).status_code
    proxied = list(seen)
    with requests.Session() as session:
        session.trust_env = False
        with suppress(requests.ConnectionError):
            session.get(ADDRESS, timeout=120)

print(json.dumps({"answered": answered, "proxied": proxied, "direct": seen}))
