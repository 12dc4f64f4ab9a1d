"""The proxy counts tunnels as connections, and forgets them when they end."""

from __future__ import annotations

import gc
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from mock_platform.serving.http.tls import TlsMaterial
from mock_platform.serving.proxy import (
    MAX_TUNNELS,
    MAX_TUNNELS_PER_CLIENT,
    ProxyConnection,
    ProxyServer,
    Tunnels,
)
from mock_platform.settings import ConnectionSettings
from tests.waits import PATIENCE

pytestmark = pytest.mark.live


@pytest.fixture
def service() -> Iterator[socket.socket]:
    """A service that the proxy passes on to."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener


@pytest.fixture
def proxy(service: socket.socket) -> Iterator[ProxyServer]:
    """A proxy for two connections."""
    allowed = [("127.0.0.1", service.getsockname()[1])]
    limits = ConnectionSettings(connections=2)
    server = ProxyServer(_fail, TlsMaterial.generate(), (), allowed, limits)
    yield server
    server.stop()


def _fail(_environ: object, _start: object) -> Any:
    raise AssertionError("nothing is answered here")


def connect(proxy: ProxyServer, service: socket.socket) -> tuple[socket.socket, bytes]:
    """A client of the proxy, and the answer to its request for a tunnel."""
    client = socket.create_connection(("127.0.0.1", proxy.bound.port), PATIENCE)
    client.sendall(b"CONNECT 127.0.0.1:%d HTTP/1.1\r\n\r\n" % service.getsockname()[1])
    return client, client.recv(4096)


def test_tunnels_count_as_connections(proxy: ProxyServer, service: socket.socket) -> None:
    """One too many is refused, with the option that allows more."""
    with ExitStack() as held:
        for _ in range(2):
            client, answer = connect(proxy, service)
            held.enter_context(client)
            held.enter_context(service.accept()[0])
            assert answer.startswith(b"HTTP/1.1 200 ")
        client, answer = connect(proxy, service)
        client.close()
        assert answer.startswith(b"HTTP/1.1 503 ")
        assert b"--max-connections" in answer


@pytest.mark.parametrize("first", ["client", "service"])
def test_nothing_of_a_tunnel_stays(proxy: ProxyServer, service: socket.socket, first: str) -> None:
    """Whoever closes first, it is counted no more, and its objects are gone."""
    gc.freeze()  # what other tests have made is not looked at again and again
    for _ in range(5):  # more than the proxy would allow at a time
        client, answer = connect(proxy, service)
        server, _ = service.accept()
        assert answer.startswith(b"HTTP/1.1 200 ")
        ends = [client, server] if first == "client" else [server, client]
        with ends[1]:
            ends[0].close()
            assert b"" == ends[1].recv(1)
    client, answer = connect(proxy, service)
    with client, service.accept()[0]:
        assert answer.startswith(b"HTTP/1.1 200 ")
        gc.collect()
        open_ones = [each for each in gc.get_objects() if type(each) is ProxyConnection]
        assert 1 == len(open_ones)


def test_what_is_left_arrives(proxy: ProxyServer, service: socket.socket) -> None:
    """A service that sends much and closes at once is read to its end."""
    client, _ = connect(proxy, service)
    sent = b"x" * 4_000_000
    with client:
        server, _ = service.accept()

        def send() -> None:
            with server:
                server.sendall(sent)

        sender = threading.Thread(target=send)
        sender.start()
        got = 0
        while part := client.recv(65_536):
            got += len(part)
        sender.join()
    assert len(sent) == got


def test_the_tunnels_of_all_clients_are_limited() -> None:
    """One client has no more than its share, and all together no more than the proxy allows."""
    tunnels = Tunnels([("h", 443)])
    assert tunnels.allows("h", 443)
    assert not tunnels.allows("h", 22)
    for client in range(MAX_TUNNELS // MAX_TUNNELS_PER_CLIENT):
        for _ in range(MAX_TUNNELS_PER_CLIENT):
            assert tunnels.begin(str(client)) is None
        assert tunnels.begin(str(client)) is not None
    assert tunnels.begin("another") is not None
    tunnels.end("0")
    assert tunnels.begin("another") is None
