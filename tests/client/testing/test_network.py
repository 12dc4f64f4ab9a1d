from __future__ import annotations

import pytest

from tests.client.testing.conftest import Run
from tests.client.testing.reading import headings, section

REFUSED = "mock_platform: refused connections"
FORGOTTEN = """
import requests

def test_forgets_its_base_address(mock_platform):
    signs = mock_platform.session("oauth1").auth
    requests.get("https://api.example.com/12/accounts", auth=signs, timeout=10)
"""


def test_a_forgotten_base_address_is_refused(run: Run) -> None:
    """The message has the address, the test and what to do; nothing leaves the process."""
    result = run(FORGOTTEN, "--mock-block-network")

    result.assert_outcomes(failed=1)
    test = "test_it.py::test_forgets_its_base_address"
    what = "the look-up of api.example.com"
    (line,) = {line for line in result.stdout.lines if line.startswith("E  ")}
    assert f"NetworkBlocked: --mock-block-network refused {what}, in {test}. Let the " in line
    assert line.endswith("--mock-allow-host=api.example.com.")
    assert [f"{test}: {what}"] == section(result, REFUSED)


@pytest.mark.parametrize(
    ("attempt", "what"),
    [
        ("tcp().connect(('192.0.2.1', 443))", "a connection to 192.0.2.1 port 443"),
        ("tcp().connect_ex(('192.0.2.1', 443))", "a connection to 192.0.2.1 port 443"),
        ("tcp().connect(('api.example.com', 80))", "a connection to api.example.com port 80"),
        ("tcp6().connect(('2001:db8::1', 80))", "a connection to 2001:db8::1 port 80"),
        ("tcp6().connect(('::ffff:192.0.2.1', 80))", "a connection to ::ffff:192.0.2.1 port 80"),
        ("udp().sendto(b'x', ('192.0.2.1', 53))", "a connection to 192.0.2.1 port 53"),
        ("udp().sendto(b'x', 0, ('192.0.2.1', 53))", "a connection to 192.0.2.1 port 53"),
        ("udp().sendmsg([b'x'], [], 0, ('192.0.2.1', 53))", "a connection to 192.0.2.1 port 53"),
        ("socket.create_connection(('api.example.com', 80))", "the look-up of api.example.com"),
        ("socket.getaddrinfo('api.example.com', 80)", "the look-up of api.example.com"),
        ("socket.gethostbyname('api.example.com')", "the look-up of api.example.com"),
        ("socket.gethostbyname_ex('api.example.com')", "the look-up of api.example.com"),
        ("socket.gethostbyaddr('192.0.2.1')", "the look-up of 192.0.2.1"),
        ("socket.getnameinfo(('192.0.2.1', 80), 0)", "the look-up of 192.0.2.1"),
        ("thread(run, '192.0.2.1')", "a connection to 192.0.2.1 port 80"),
        ("thread(run, 'api.example.com')", "the look-up of api.example.com"),
        ("thread(socket.getaddrinfo, 'api.example.com', 80)", "the look-up of api.example.com"),
    ],
)
def test_every_way_out_is_closed(run: Run, attempt: str, what: str) -> None:
    """Addresses and names, TCP and UDP, waiting or not, in the test's thread or in another."""
    result = run(
        f"""
import asyncio, functools, socket
from concurrent.futures import ThreadPoolExecutor
import pytest
from mock_platform.client.testing.network import NetworkBlocked

def tcp():
    return socket.socket()

def tcp6():
    return socket.socket(socket.AF_INET6)

def udp():
    return socket.socket(socket.AF_INET, socket.SOCK_DGRAM)

async def opened(host):
    await asyncio.open_connection(host, 80)

def run(host):  # in a thread: a browser's loop may run in this one
    asyncio.run(opened(host))

def thread(*work):
    with ThreadPoolExecutor(1) as pool:
        pool.submit(*work).result()

@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_tries():
    with pytest.raises(NetworkBlocked):
        {attempt}
""",
        "--mock-block-network",
    )

    result.assert_outcomes(passed=1)
    assert [f"test_it.py::test_tries: {what}"] == section(result, REFUSED)


def test_this_machine_stays_open(run: Run) -> None:
    """Loopback by address and by name, unix sockets, and the sandbox itself, with a socket."""
    result = run(
        """
import asyncio, http.server, requests, socket, threading

def test_loopback(mock_platform):
    assert requests.get(mock_platform.base_url + "/12/accounts", timeout=10).status_code == 401
    url = mock_platform.base_url.replace("127.0.0.1", "localhost")
    assert requests.get(url + "/12/accounts", timeout=10).status_code == 401

def test_servers_and_pairs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with http.server.HTTPServer(("", 0), http.server.BaseHTTPRequestHandler) as server:
        with socket.create_connection(("127.0.0.1", server.server_port)):
            pass
    one, other = socket.socketpair()
    one.close(), other.close()
    with socket.socket(socket.AF_UNIX) as waiting, socket.socket(socket.AF_UNIX) as client:
        waiting.bind("s")
        waiting.listen()
        client.connect("s")

def test_a_loop():
    thread = threading.Thread(target=lambda: asyncio.run(asyncio.sleep(0)))
    thread.start()
    thread.join()
""",
        "--mock-block-network",
    )

    result.assert_outcomes(passed=3)
    assert REFUSED not in headings(result)


def test_a_host_can_be_allowed(run: Run) -> None:
    """Allowed hosts are looked up and called; others are still refused."""
    result = run(
        """
import socket
import pytest
from mock_platform.client.testing.network import NetworkBlocked

def test_allowed():
    try:
        socket.getaddrinfo("database.invalid", 5432)
    except socket.gaierror:
        pass
    with socket.socket() as client:
        client.setblocking(False)
        client.connect_ex(("192.0.2.7", 5432))
    with pytest.raises(NetworkBlocked):
        socket.gethostbyname("other.invalid")
""",
        "--mock-block-network",
        "--mock-allow-host=database.invalid",
        "--mock-allow-host=192.0.2.7",
    )

    result.assert_outcomes(passed=1)
    assert ["test_it.py::test_allowed: the look-up of other.invalid"] == section(result, REFUSED)


def test_the_block_ends_with_the_run(run: Run) -> None:
    """A run without the option after one with it, in the same process, is free."""
    run(FORGOTTEN, "--mock-block-network")
    result = run(
        """
import socket

def test_free():
    with socket.socket() as client:
        client.setblocking(False)
        client.connect_ex(("192.0.2.1", 80))
"""
    )

    result.assert_outcomes(passed=1)
    assert REFUSED not in headings(result)


@pytest.mark.live
def test_workers_are_blocked_as_well(pytester: pytest.Pytester) -> None:
    """Each worker of xdist refuses, and the controller lists what all of them refused."""
    pytester.makepyfile(test_it=FORGOTTEN)

    result = pytester.runpytest_subprocess("-n", "2", "-p", "no:randomly", "--mock-block-network")

    result.assert_outcomes(failed=1)
    expected = "test_it.py::test_forgets_its_base_address: the look-up of api.example.com"
    assert [expected] == section(result, REFUSED)
