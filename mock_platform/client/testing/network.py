"""`--mock-block-network`: nothing in this process connects beyond this machine during a run.

A suite whose client forgot the sandbox's address would otherwise call the real service. Python
reports what sockets are about to do (audit events), whoever uses them; raising there ends it. What
works without Python's sockets, such as another process or uvloop, is not seen.
"""

from __future__ import annotations

import ipaddress
import os
import socket
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import pytest

from mock_platform.settings import is_loopback

OPTION = "--mock-block-network"
_NO_TEST = "no test"
_OUTPUT = "mock_platform_network"


class NetworkBlocked(RuntimeError):
    """A connection or look-up beyond this machine was refused.

    It is no `OSError` on purpose: clients catch those and try again.
    """


class Attempt(NamedTuple):
    """Something that was refused."""

    test: str
    what: str


class NetworkBlock:
    """Refuses connections and look-ups beyond this machine until it is lifted.

    `allow` are more hosts: names, which are looked up now, or addresses.
    """

    def __init__(self, allow: Iterable[str] = ()) -> None:
        self.attempts: Counter[Attempt] = Counter()
        """What was refused; a test may have caught the exception."""
        # Servers of the standard library look up the name of the machine when they start.
        self._names = {socket.gethostname().lower()}
        self._addresses: set[str] = set()
        for host in allow:
            self._names.add(host.lower())
            self._addresses |= _look_up(host)
        self._active = True
        sys.addaudithook(self._on_event)
        self._replaced = _check_before(self._check_address)

    def lift(self) -> None:
        """Refuse nothing more. An audit hook cannot be removed, so it stays without effect."""
        self._active = False
        for name, method in self._replaced.items():
            setattr(socket.socket, name, method)

    def _on_event(self, event: str, args: tuple[Any, ...]) -> None:
        if not event.startswith("socket.") or not self._active:
            return
        if event in _CONNECTING:
            self._check_address(args[0], args[1])
        elif event in _LOOKING_UP:
            host = args[0][0] if event == "socket.getnameinfo" else args[0]
            self._check(host, f"the look-up of {_read(host)}")

    def _check_address(self, used: socket.socket, address: Any) -> None:
        if self._active and isinstance(address, tuple) and used.family in _INTERNET:
            host, port = address[:2]
            self._check(host, f"a connection to {_read(host)} port {port}")

    def _check(self, host: Any, what: str) -> None:
        """Refuse a host that is neither this machine nor allowed.

        Raises:
            NetworkBlocked: It is somewhere else.
        """
        name = _read(host).lower().partition("%")[0]
        if name in self._names or name in self._addresses or _is_here(name):
            return
        test = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" (")[0] or _NO_TEST
        self.attempts[Attempt(test, what)] += 1
        raise NetworkBlocked(
            f"{OPTION} refused {what}, in {test}. Let the code under test call the sandbox "
            "(mock_platform.base_url, or WsgiAdapter(mock_platform.wsgi) for the host), or allow "
            f"the host: --mock-allow-host={name}."
        )


class NetworkPlugin:
    """Blocks the network from the start of a run to its end, also in workers of xdist."""

    def __init__(self, allow: Iterable[str]) -> None:
        self._block = NetworkBlock(allow)

    def pytest_unconfigure(self) -> None:
        """Refuse nothing more after the run."""
        self._block.lift()

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Send what a worker refused to its controller."""
        output = getattr(session.config, "workeroutput", None)
        if output is not None:
            output[_OUTPUT] = [[*attempt, n] for attempt, n in self._block.attempts.items()]

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Receive what a worker refused; a crashed worker has nothing."""
        for test, what, times in getattr(node, "workeroutput", {}).get(_OUTPUT, ()):
            self._block.attempts[Attempt(test, what)] += times

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """List what was refused: code under test may have caught the exceptions."""
        if self._block.attempts:
            terminalreporter.section("mock_platform: refused connections")
            for (test, what), times in self._block.attempts.items():
                more = f" ({times} times)" if times > 1 else ""
                terminalreporter.line(f"{test}: {what}{more}")


_INTERNET = frozenset({socket.AF_INET, socket.AF_INET6})
_CONNECTING = frozenset({"socket.connect", "socket.sendto", "socket.sendmsg"})
_LOOKING_UP = frozenset(
    {"socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr", "socket.getnameinfo"}
)
_ADDRESS_LAST = ("connect", "connect_ex", "sendto")


def _check_before(check: Callable[[socket.socket, Any], None]) -> Mapping[str, Any]:
    """Check addresses before sockets look up the names in them, which no event reports.

    Returns the methods that were replaced.
    """

    def wrap(method: Callable[..., Any]) -> Callable[..., Any]:
        def call(self: socket.socket, *args: Any) -> Any:
            if args:
                check(self, args[-1])
            return method(self, *args)

        return call

    replaced = {name: getattr(socket.socket, name) for name in _ADDRESS_LAST}
    for name, method in replaced.items():
        setattr(socket.socket, name, wrap(method))
    return replaced


def _read(host: Any) -> str:
    return host.decode("latin-1") if isinstance(host, bytes | bytearray) else str(host or "")


def _is_here(host: str) -> bool:
    """Whether a name or address is this machine's own loopback, or no host at all."""
    if not host or is_loopback(host):
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    found = address if mapped is None else mapped
    return bool(found.is_loopback or found.is_unspecified)


def _look_up(host: str) -> set[str]:
    """Return the addresses of a host; none if its name is unknown, as its users will see."""
    try:
        return {str(entry[4][0]) for entry in socket.getaddrinfo(host, None)}
    except OSError:
        return set()
