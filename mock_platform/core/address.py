"""The parts of an address: the host that a client called, the prefix of a world, the sandbox."""

from __future__ import annotations

import re
from functools import lru_cache
from ipaddress import ip_address
from urllib.parse import quote

from mock_platform.core.call import Surface

SANDBOX = "/sandbox"
CONTROL = "/_mock"
LIST = "/llms.txt"
"""Where coding agents look for what there is to read; the platform has no such path."""
AGENT_PATHS = ("/mcp", "/ads/mcp", f"{SANDBOX}/mcp")
"""Where agents send messages to the platform's servers; the second is for addresses without a host
that tells the two apart."""
ICON = "/favicon.ico"
"""What browsers ask for beside any page that names no icon, such as JSON of the control plane."""
_IN_CONTROL = f"{CONTROL}/"
_OF_CONTROL = frozenset({CONTROL, LIST, ICON})
_IN_SANDBOX = f"{SANDBOX}/"
_SANDBOX_HOST = "ads-api-sandbox."
_PLAIN_HOST = re.compile(r"[A-Za-z0-9._~%!$&'()*+,;=:-]*", re.ASCII)
"""A name or an IPv4 address with or without a port (RFC 3986, reg-name)."""
_MAX_HOSTS = 100
"""Maximum number of hosts whose form is cached: a server has few, and clients may send others."""
_BRACKETED = re.compile(r"\[([0-9A-Fa-f:.]+)\](?::[0-9]*)?", re.ASCII)


def split_world(path: str) -> tuple[str | None, str]:
    """Return the world in the prefix of a path, if any, and the path after the prefix."""
    if not path.startswith(("/~", "/%7E", "/%7e")):
        return None, path
    name, slash, rest = path[2 if path[1] == "~" else 4 :].partition("/")
    return name, slash + rest if slash else "/"


def split_surface(path: str, host: str) -> tuple[Surface, str, str]:
    """Return the interface of a path and a host, its prefix, and the path after it."""
    if path == SANDBOX or path.startswith(_IN_SANDBOX):
        return "sandbox", SANDBOX, path[len(SANDBOX) :] or "/"
    return ("sandbox" if host.startswith(_SANDBOX_HOST) else "plain"), "", path


def is_control(path: str) -> bool:
    """Whether the control plane answers a path (without a world's prefix)."""
    return path.startswith(_IN_CONTROL) or path in _OF_CONTROL


def place_in_control(path: str) -> str:
    """Return the path by which the control plane knows one of its paths."""
    return CONTROL + path if path in {LIST, ICON} else path


@lru_cache(_MAX_HOSTS)
def readable_host(host: str) -> str:
    """Return host and port as the client sent them, such that an address with them is valid."""
    return (
        host if _PLAIN_HOST.fullmatch(host) or _is_bracketed(host) else quote(host, ":", "latin-1")
    )


def _is_bracketed(host: str) -> bool:
    """Whether this is an IPv6 address in brackets, with or without a port."""
    found = _BRACKETED.fullmatch(host)
    try:
        return found is not None and ip_address(found[1]) is not None
    except ValueError:
        return False


def may_be_of_agent(path: str) -> bool:
    """Whether the servers for agents may answer at a path: messages, or how to sign in."""
    return path in AGENT_PATHS or "/.well-known/" in path
