from __future__ import annotations

import socket

import pytest

from mock_platform.serving.http import CannotBind
from mock_platform.serving.http.binding import bind
from tests.waits import PATIENCE

pytestmark = pytest.mark.live


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_port_0_takes_a_free_port(host: str) -> None:
    """The system chooses it; clients of this machine are queued from then on, on a wildcard too."""
    listener, bound = bind(host, 0)
    with listener, socket.create_connection(("127.0.0.1", bound.port), timeout=PATIENCE):
        assert bound.port == listener.getsockname()[1]
        assert bound.url == f"http://127.0.0.1:{bound.port}"
        assert bound.host == host


def test_a_port_in_use_is_told_with_what_to_do() -> None:
    """The text names the address, the reason and three ways out."""
    holder, bound = bind("127.0.0.1", 0)
    with holder, pytest.raises(CannotBind) as caught:
        bind("127.0.0.1", bound.port)

    assert str(caught.value) == (
        f"Cannot listen on 127.0.0.1:{bound.port}: the port is in use, perhaps by another "
        f"mock-platform. Stop that server, choose another port, for instance {bound.port + 1}, "
        "or 0 to choose a free one."
    )
    assert (caught.value.host, caught.value.port) == ("127.0.0.1", bound.port)
    assert caught.value.reason.startswith("the port is in use")


def test_an_address_of_another_machine_is_refused() -> None:
    """An address that this machine does not have names the two that always work."""
    with pytest.raises(CannotBind) as caught:
        bind("203.0.113.7", 0)

    assert str(caught.value) == (
        "Cannot listen on 203.0.113.7:0: this machine has no such address. "
        "Use 127.0.0.1 (this machine only) or 0.0.0.0 (every interface)."
    )


@pytest.mark.parametrize("host", ["", "nowhere.invalid"])
def test_a_name_that_leads_nowhere_is_refused(host: str) -> None:
    """A name without an address, the empty one included, is refused."""
    with pytest.raises(CannotBind) as caught:
        bind(host, 0)

    assert caught.value.reason == (
        f"the name {host!r} is not an address of this machine. "
        "Use 127.0.0.1 (this machine only) or 0.0.0.0 (every interface)."
    )


@pytest.mark.parametrize("port", [-1, 65_536])
def test_a_number_that_is_no_port_is_refused(port: int) -> None:
    """Ports end at 65535 and begin at 0."""
    with pytest.raises(CannotBind, match=r"a port is a number from 0 .* to 65535\.$"):
        bind("127.0.0.1", port)


def test_the_last_port_can_be_had() -> None:
    """65535 is a port."""
    listener, bound = bind("127.0.0.1", 65_535)
    listener.close()

    assert bound.port == 65_535


def test_an_ipv6_address_stands_in_brackets() -> None:
    """`::1` becomes `[::1]` in the address, where the machine has IPv6."""
    try:
        listener, bound = bind("::1", 0, "https")
    except CannotBind as fault:
        assert "[::1]:0" in str(fault)  # noqa: PT017 - a machine without IPv6 says so
        return
    listener.close()

    assert bound.url == f"https://[::1]:{bound.port}"


def test_a_port_can_be_had_again_at_once() -> None:
    """A server that was just stopped, with connections, does not block its port."""
    listener, bound = bind("127.0.0.1", 0)
    listener.settimeout(PATIENCE)
    with socket.create_connection((bound.host, bound.port), timeout=PATIENCE):
        accepted, _ = listener.accept()
        accepted.close()
        listener.close()
        again, _ = bind("127.0.0.1", bound.port)
        again.close()
