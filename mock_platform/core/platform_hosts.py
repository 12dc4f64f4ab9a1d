"""The hosts that the proxy answers for: the platform's own, and those of a user's file."""

from __future__ import annotations

import re
from ipaddress import ip_address
from pathlib import Path

from msgspec import Struct

_NAMES = ("x.com", "twitter.com")
_PREFIXES = ("", "api.", "upload.", "publish.", "ads-api.", "ads-api-sandbox.")
PLATFORM_HOSTS = tuple(f"{prefix}{name}" for name in _NAMES for prefix in _PREFIXES)
"""Consent pages, the v2 interface and OAuth, uploads, advertising, its sandbox (reference, original
names, section 7)."""

_HOST = re.compile(
    r"(?=.{1,253}$)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*"
)


DEFAULT_PORTS = (80, 443)
"""Ports of a host that is allowed without one."""
_LAST_PORT = 65_535


class BadHosts(ValueError):
    """A file of host names has a line that is not a name."""


class Interception(Struct, frozen=True):
    """What a proxy does: the hosts that it answers for beside the platform's, and passes on to."""

    hosts: tuple[str, ...] = ()
    allow_hosts: tuple[str, ...] = ()


def is_ip_address(text: str) -> bool:
    """Whether a text is an IP address, not a name."""
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


def check_host(name: str) -> str:
    """Return the name of a host in lower case.

    Raises:
        ValueError: It is not the name of a host.
    """
    host = name.strip().lower()
    if not _HOST.fullmatch(host):
        raise ValueError(
            f"{name!r} is not the name of a host: write the name alone, such as api.example.com, "
            "without scheme, port and path"
        )
    return host


def read_allowed(text: str) -> tuple[tuple[str, int], ...]:
    """Return the hosts and ports that `HOST` or `HOST:PORT` allows.

    Raises:
        ValueError: It is neither.
    """
    host, colon, port = text.strip().lower().rpartition(":")
    if not colon or text.strip().endswith("]") or (":" in host and not host.endswith("]")):
        host, port = text.strip().lower(), ""
    elif not (port.isascii() and port.isdecimal() and 0 < int(port) <= _LAST_PORT):
        host = ""
    host = host.strip("[]")
    if not host or re.search(r"[\s/@?#\[\]]", host):
        raise ValueError(
            f"{text!r} is no host: write its name alone for the ports 80 and 443, such as "
            "example.com, or with another port, such as example.com:8443"
        )
    return tuple((host, each) for each in ((int(port),) if port else DEFAULT_PORTS))


def read_hosts(file: Path) -> tuple[str, ...]:
    """Return the names in a file: one in a line, `#` begins a comment.

    Raises:
        BadHosts: A line is not a name, with its place, or the file cannot be read as text.
    """
    found = []
    try:
        lines = file.read_text("utf-8-sig").splitlines()
    except OSError as fault:
        raise BadHosts(f"{file} cannot be read: {fault.strerror}") from fault
    except UnicodeDecodeError as fault:
        raise BadHosts(f"{file} cannot be read: it is not UTF-8 text") from fault
    for number, line in enumerate(lines, 1):
        name = line.partition("#")[0]
        if not name.strip():
            continue
        try:
            found.append(check_host(name))
        except ValueError as fault:
            column = len(name) - len(name.lstrip()) + 1
            raise BadHosts(f"{file}:{number}:{column}: {fault}") from fault
    return tuple(dict.fromkeys(found))
