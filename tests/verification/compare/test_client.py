from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from mock_platform.delivery.upstream import BadBaseUrl, check_base_url
from mock_platform.verification.compare import client as client_module
from mock_platform.verification.compare.client import (
    HttpClient,
    ProbeRequest,
    ServerUnreachable,
    SigningCredentials,
)

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
BEARER = SigningCredentials(bearer_token="b")


@contextmanager
def serving(talk: Callable[[socket.socket, int], object]) -> Iterator[str]:
    """A server that lets `talk` have each connection, in a thread, with its number."""
    listener = socket.create_server(("127.0.0.1", 0))
    threads = []

    def accept() -> None:
        number = 0
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return  # the listener is closed
            thread = threading.Thread(target=run, args=(connection, number))
            threads.append(thread)
            thread.start()
            number += 1

    def run(connection: socket.socket, number: int) -> None:
        with connection:
            try:
                talk(connection, number)
            except OSError:
                return  # the client has gone

    accepting = threading.Thread(target=accept)
    accepting.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        for thread in [accepting, *threads]:
            thread.join()


@pytest.mark.parametrize(("url", "base"), [
    ("https://api.example.com", "https://api.example.com"),
    ("https://api.example.com/", "https://api.example.com"),
    ("http://127.0.0.1:8080/~w1", "http://127.0.0.1:8080/~w1"),
    ("http://localhost", "http://localhost"),
])  # fmt: skip
def test_good_base_urls(url: str, base: str) -> None:
    """An address of this machine, or any by https, with a path or not."""
    assert base == check_base_url(url)


@pytest.mark.parametrize(("url", "text"), [
    ("api.example.com", "is no base address"),
    ("ftp://127.0.0.1", "is no base address"),
    ("https://", "is no base address"),
    ("https://h:99999", "is no address"),
    ("https://user:pw@h", "no user, query or fragment"),
    ("https://h/?a=1", "no user, query or fragment"),
    ("http://api.example.com", "over https only"),
])  # fmt: skip
def test_bad_base_urls(url: str, text: str) -> None:
    """Whatever else is refused, plain http to another machine above all."""
    with pytest.raises(BadBaseUrl, match=text):
        check_base_url(url)


def test_credentials() -> None:
    """Four values sign for a user, a bearer token for an app; less signs nothing."""
    names = ("CONSUMER_KEY", "CONSUMER_SECRET", "ACCESS_TOKEN", "ACCESS_TOKEN_SECRET")
    four = {f"MOCK_PLATFORM_{name}": name.lower() for name in names}
    three = {name: value for name, value in four.items() if "ACCESS_TOKEN_SECRET" not in name}

    assert SigningCredentials.from_variables(four).has_user_context
    assert not SigningCredentials.from_variables(three).is_usable
    bearer = SigningCredentials.from_variables({**three, "MOCK_PLATFORM_BEARER_TOKEN": "b"})
    assert (False, True) == (bearer.has_user_context, bearer.is_usable)


def test_a_kept_connection_that_was_closed() -> None:
    """A request on a connection that the server has closed is sent again on a new one, once."""

    def talk(connection: socket.socket, number: int) -> None:
        connection.recv(65536)
        if number < 2:
            connection.sendall(ANSWER)

    with serving(talk) as url:
        client = HttpClient(url, BEARER)
        answers = [client.start(ProbeRequest("/a"))() for _ in range(2)]
        with pytest.raises(ServerUnreachable, match="closed the connection without an answer"):
            client.start(ProbeRequest("/a"))()
        client.close()

    assert [200, 200] == [each.status for each in answers]


def test_requests_on_their_way_at_once() -> None:
    """A request does not wait for the answer to the one before it."""
    all_came = threading.Barrier(3)

    def talk(connection: socket.socket, number: int) -> None:
        connection.recv(65536)
        all_came.wait()
        connection.sendall(ANSWER)
        connection.recv(1)

    with serving(talk) as url:
        client = HttpClient(url, BEARER)
        waits = [client.start(ProbeRequest("/a")) for _ in range(3)]
        answers = [wait() for wait in waits]
        client.close()

    assert [b"{}"] * 3 == [each.body for each in answers]


@pytest.mark.parametrize("start", [b"", ANSWER[:20], ANSWER[:-1]], ids=["", "head", "body"])
def test_a_server_that_hangs(monkeypatch: pytest.MonkeyPatch, start: bytes) -> None:
    """The time for an answer ends, also if the server sends a byte now and then."""
    monkeypatch.setattr(client_module, "REQUEST_TIMEOUT_SECONDS", 0.2)
    over = threading.Event()

    def talk(connection: socket.socket, number: int) -> None:
        connection.sendall(start)
        while not over.wait(0.02):
            connection.sendall(b"x" if start == ANSWER[:20] else b"")

    with serving(talk) as url:
        client = HttpClient(url, BEARER)
        with pytest.raises(ServerUnreachable, match="no complete answer within"):
            client.start(ProbeRequest("/a"))()
        over.set()
        client.close()


def test_no_proxy_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Requests go to the server that the user named, whatever proxy the environment names."""
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")

    with serving(lambda connection, _: connection.sendall(ANSWER)) as url:
        client = HttpClient(url, BEARER)
        assert 200 == client.start(ProbeRequest("/a"))().status
        client.close()
