from __future__ import annotations

import os
import ssl
import threading
from collections.abc import Iterator
from typing import Any

import pytest
import requests

from mock_platform.serving.http import ServerThread
from mock_platform.serving.http.tls import TlsMaterial
from mock_platform.settings import ConnectionSettings
from mock_platform.version import __version__
from tests.serving.http.wire import Environ, Start, Wire, hello, show
from tests.waits import PATIENCE

pytestmark = pytest.mark.live

MAX_BODY = ConnectionSettings().body_bytes
MAX_HEADERS = ConnectionSettings().head_bytes
CHUNKED = b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.fixture
def server() -> Iterator[ServerThread]:
    """A server that shows what it got; nothing may go wrong within it."""
    with ServerThread(show) as running:
        yield running
    assert running.errors == []


@pytest.fixture
def wire(server: ServerThread) -> Iterator[Wire]:
    """A connection to it."""
    with Wire(server) as connected:
        yield connected


def test_requests_share_a_connection(wire: Wire) -> None:
    """The connection stays open between requests."""
    targets = [wire.get(target).answer().json()["REQUEST_URI"] for target in ("/1", "/2", "/3")]

    assert ["/1", "/2", "/3"] == targets


def test_a_client_may_ask_for_the_end(wire: Wire) -> None:
    """`Connection: close` is honoured and confirmed."""
    answer = wire.get("/", "Connection: close").answer()

    assert answer.headers["connection"] == "close"
    assert wire.rest() == b""


def test_http_1_0_ends_with_the_answer(wire: Wire) -> None:
    """An old client that does not ask to stay gets its answer and the end."""
    answered = wire.send(b"GET /old HTTP/1.0\r\n\r\n").rest()

    assert answered.startswith(b"HTTP/1.1 200 OK\r\n")
    assert b'"REQUEST_URI": "/old"' in answered


def test_the_server_names_itself(wire: Wire) -> None:
    """The header `Server` holds the product and its version."""
    assert f"mock-platform/{__version__}" == wire.get().answer().headers["server"]


def test_the_environ_tells_who_called_and_how(server: ServerThread, wire: Wire) -> None:
    """Client, scheme, name and port of the server are those of the connection."""
    seen = wire.get("/2/posts?ids=1,2").answer().json()

    assert "127.0.0.1" == seen["REMOTE_ADDR"]
    assert "http" == seen["wsgi.url_scheme"]
    assert ("127.0.0.1", str(server.port)) == (seen["SERVER_NAME"], seen["SERVER_PORT"])
    assert "ids=1,2" == seen["QUERY_STRING"]
    assert "sandbox.test" == seen["HTTP_HOST"]


@pytest.mark.parametrize(
    ("target", "uri", "path"),
    [
        ("/12/a%2Fb", "/12/a%2Fb", "/12/a/b"), ("/12/a%2fb?x=%2F", "/12/a%2fb?x=%2F", "/12/a/b"),
        ("/caf%C3%A9", "/caf%C3%A9", "/caf\xc3\xa9"),
        ("//12/accounts", "//12/accounts", "//12/accounts"), ("///", "///", "///"),
        ("/%7Ew1/2", "/%7Ew1/2", "/~w1/2"), ("/100%", "/100%", "/100%"),
        ("http://api.test:80/2/a%20b?x=1", "/2/a%20b?x=1", "/2/a b"), ("http://api.test", "/", "/"),
    ],
)  # fmt: skip
def test_the_path_comes_raw_and_decoded(wire: Wire, target: str, uri: str, path: str) -> None:
    """REQUEST_URI is what the client wrote, PATH_INFO the same decoded."""
    seen = wire.get(target).answer().json()

    assert (uri, path) == (seen["REQUEST_URI"], seen["PATH_INFO"])


def test_the_sandbox_may_be_called_as_a_proxy(server: ServerThread) -> None:
    """A client that has the server as its HTTP proxy is answered under the host it called."""
    with requests.Session() as session:
        session.proxies = {"http": server.url}
        session.trust_env = False
        seen = session.get("http://ads-api-sandbox.platform.test/12/accounts").json()

    assert "ads-api-sandbox.platform.test" == seen["HTTP_HOST"]
    assert "/12/accounts" == seen["REQUEST_URI"]


@pytest.mark.parametrize("target", ["//[bad", "no-slash", "/a#fragment"])
def test_a_target_that_is_no_address_is_refused(wire: Wire, target: str) -> None:
    """What is not a path answers 400 before the application."""
    assert 400 == wire.get(target).answer().status


def test_a_chunked_body_is_read_whole(wire: Wire) -> None:
    """The application reads the parts as one body, and the connection serves the next request."""
    wire.send(CHUNKED + b"5\r\nhello\r\n6;x=1\r\n world\r\n0\r\nTrailer: x\r\n\r\n")

    assert 11 == wire.answer().json()["length"]
    assert "/next" == wire.get("/next").answer().json()["REQUEST_URI"]


def test_an_idle_connection_after_a_chunked_body_needs_no_thread() -> None:
    """The end of the last chunk is read from the connection, which then waits with the others."""
    with ServerThread(show, threads=1) as server, Wire(server) as first, Wire(server) as second:
        first.send(CHUNKED + b"1\r\nx\r\n0\r\n\r\n").answer()

        assert 200 == second.get().answer().status


@pytest.mark.parametrize(
    "sent",
    [
        CHUNKED + b"5\r\nGET /\r\n0\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nGET /",
    ],
    ids=["chunked", "length"],
)
def test_a_body_that_nobody_reads_is_skipped(sent: bytes) -> None:
    """It is never read as a next request, and the connection goes on behind it."""
    with ServerThread(hello) as server, Wire(server) as wire:
        wire.send(sent)

        assert b"hello" == wire.answer().body
        assert b"hello" == wire.get().answer().body


@pytest.mark.parametrize("before", [b"", b"GET /1 HTTP/1.1\r\nHost: x\r\n\r\n"], ids=["", "behind"])
def test_a_client_that_waits_to_send_is_told_to_go_on(wire: Wire, before: bytes) -> None:
    """`Expect: 100-continue` is answered before the body comes, behind what was sent before it."""
    head = b"POST /2 HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n"
    wire.send(before + head)

    assert not before or "/1" == wire.answer().json()["REQUEST_URI"]
    assert 100 == wire.answer().status
    assert 5 == wire.send(b"hello").answer().json()["length"]


def test_head_has_headers_only() -> None:
    """A HEAD is answered without the body that the application returns, and what follows fits."""
    with ServerThread(hello) as server, Wire(server) as wire:
        answer = wire.get(method="HEAD").answer(head=True)

        assert (200, "5") == (answer.status, answer.headers["content-length"])
        assert b"hello" == wire.get().answer().body


@pytest.mark.parametrize("status", ["204 No Content", "304 Not Modified"])
def test_statuses_without_a_body_have_none(status: str) -> None:
    """204 and 304 send no body, whatever the application returns, and the connection goes on."""

    def wordy(environ: Environ, start_response: Start) -> list[bytes]:
        if environ["PATH_INFO"] == "/none":
            start_response(status, [])
            return [b"not sent"]
        return hello(environ, start_response)

    with ServerThread(wordy) as server, Wire(server) as wire:
        assert int(status[:3]) == wire.get("/none").answer().status
        assert b"hello" == wire.get().answer().body


@pytest.mark.parametrize(("more", "status"), [(0, 200), (1, 413)])
def test_a_body_has_a_greatest_length(server: ServerThread, more: int, status: int) -> None:
    """32 MiB reach the application; of one byte more a client that sends it all reads 413."""
    assert MAX_BODY == 32 * 1024 * 1024
    answer = requests.post(server.url, data=bytes(MAX_BODY + more), timeout=PATIENCE)

    assert status == answer.status_code
    assert more or MAX_BODY == answer.json()["length"]


def test_a_refusal_before_the_body_was_read_is_readable(tls: TlsMaterial | None) -> None:
    """An application that answers 413 at once does not lose its answer to a reset."""

    def refusing(_environ: Environ, start_response: Start) -> list[bytes]:
        start_response("413 Content Too Large", [("Content-Length", "4")])
        return [b"much"]

    verify: Any = True if tls is None else str(tls.ca)
    with ServerThread(refusing, tls=tls) as server:
        for _ in range(5):
            answer = requests.post(
                server.url, data=bytes(6_000_000), timeout=PATIENCE, verify=verify
            )
            assert (413, "much") == (answer.status_code, answer.text)


@pytest.mark.parametrize(("spare", "status"), [(0, 200), (1, 431)])
def test_headers_have_a_limit(wire: Wire, spare: int, status: int) -> None:
    """Request line and headers together take 64 KiB; one byte more is refused."""
    assert MAX_HEADERS == 64 * 1024
    start = b"GET / HTTP/1.1\r\nHost: x\r\nX-Long: "
    padding = MAX_HEADERS - len(start) - len(b"\r\n\r\n") + spare

    assert status == wire.send(start + b"a" * padding + b"\r\n\r\n").answer().status


def test_a_client_that_leaves_is_no_fault(server: ServerThread) -> None:
    """Neither half a request nor half a body, nor a TLS greeting, disturbs the server."""
    for said in (
        b"",
        b"GE",
        b"GET / HTTP/1.1\r\nHost: x\r\n",
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nhalf",
        b"\x16\x03\x01\x02\x00\x01",
    ):
        with Wire(server) as wire:
            wire.send(said)
    with Wire(server) as wire:
        assert 200 == wire.get().answer().status


def test_a_long_answer_arrives_whole() -> None:
    """An answer of many packets, streamed without a length, comes in chunks and complete."""
    parts = [os.urandom(200_000) for _ in range(20)]

    def streaming(_environ: Environ, start_response: Start) -> Iterator[bytes]:
        start_response("200 OK", [])
        yield from parts

    with ServerThread(streaming) as server, Wire(server) as wire:
        for _ in range(2):
            answer = wire.get().answer()
            assert "chunked" == answer.headers["transfer-encoding"]
            assert b"".join(parts) == answer.body


def test_a_part_is_sent_when_it_is_there() -> None:
    """A streamed answer is not kept back until its end."""
    seen = threading.Event()

    def stepwise(_environ: Environ, start_response: Start) -> Iterator[bytes]:
        start_response("200 OK", [("Connection", "close")])
        yield b"first"
        assert seen.wait(PATIENCE)
        yield b"second"

    with ServerThread(stepwise) as server, Wire(server) as wire:
        wire.get()
        came = b""
        while b"first" not in came:
            came += wire.socket.recv(1_000)

        assert b"second" not in came
        seen.set()
        assert b"second" in wire.rest()


def test_an_answer_may_be_begun_anew() -> None:
    """With `exc_info`, status and headers replace those that were not sent yet."""

    def twice(_environ: Environ, start_response: Start) -> list[bytes]:
        start_response("200 OK", [("Content-Length", "99"), ("X-First", "1")])
        fault = ValueError("changed its mind")
        return_headers = [("Content-Length", "3")]
        start_response("503 Busy", return_headers, (ValueError, fault, None))
        return [b"sry"]

    with ServerThread(twice) as server, Wire(server) as wire:
        answer = wire.get().answer()

    assert (503, b"sry") == (answer.status, answer.body)
    assert "x-first" not in answer.headers


def test_the_write_of_pep_3333_works() -> None:
    """Parts written by the callable that `start_response` returns come before the body."""

    def writing(_environ: Environ, start_response: Start) -> list[bytes]:
        write = start_response("200 OK", [("Content-Length", "6")])
        write(b"abc")
        return [b"def"]

    with ServerThread(writing) as server, Wire(server) as wire:
        assert b"abcdef" == wire.get().answer().body


def test_a_body_longer_than_declared_is_cut_and_told(caplog: pytest.LogCaptureFixture) -> None:
    """The client gets what was declared; the fault is the application's and is kept."""

    def longer(_environ: Environ, start_response: Start) -> list[bytes]:
        start_response("200 OK", [("Content-Length", "3")])
        return [b"abcdef"]

    with ServerThread(longer) as server, Wire(server) as wire:
        assert b"abc" == wire.get().answer().body
        assert b"" == wire.rest()
    assert ["WSGI: the body is longer than its Content-Length"] == [str(f) for f in server.errors]
    assert "ValueError" in caplog.text


def test_a_body_without_a_beginning_is_a_fault(caplog: pytest.LogCaptureFixture) -> None:
    """A body before `start_response` answers 500."""
    with ServerThread(lambda _environ, _start: [b"body"]) as server, Wire(server) as wire:
        assert 500 == wire.get().answer().status
    assert [RuntimeError] == [type(fault) for fault in server.errors]
    assert "start_response" in caplog.text


def test_an_application_that_gives_up_says_nothing() -> None:
    """Without answer and body, as for a client that is gone, the connection just ends."""
    with ServerThread(lambda _environ, _start: []) as server, Wire(server) as wire:
        assert wire.get().rest() == b""
    assert server.errors == []


def test_a_body_that_fails_midway_is_cut(caplog: pytest.LogCaptureFixture) -> None:
    """What was sent stays sent, the end is missing, the body is closed and the fault kept."""

    class Body:
        closed = False

        def __iter__(self) -> Iterator[bytes]:
            yield b"begun"
            raise LookupError("midway")

        def close(self) -> None:
            Body.closed = True

    def failing(_environ: Environ, start_response: Start) -> Body:
        start_response("200 OK", [])
        return Body()

    with ServerThread(failing) as server, Wire(server) as wire:
        assert wire.get().rest().endswith(b"5\r\nbegun\r\n")
    assert Body.closed
    assert [LookupError] == [type(fault) for fault in server.errors]
    assert "midway" in caplog.text


def test_https_is_told_to_the_application(certificate: TlsMaterial) -> None:
    """Under TLS the scheme is https."""
    with ServerThread(show, tls=certificate) as server, Wire(server, certificate.ca) as wire:
        assert server.url.startswith("https://127.0.0.1:")
        assert "https" == wire.get().answer().json()["wsgi.url_scheme"]


def test_a_client_that_trusts_the_authority_gets_through(certificate: TlsMaterial) -> None:
    """With `ca.pem` requests accept the certificate, by address and by name; without, not."""
    ca = str(certificate.ca)
    with ServerThread(show, tls=certificate) as server:
        for url in (server.url, f"https://localhost:{server.port}"):
            assert 200 == requests.get(url, verify=ca, timeout=PATIENCE).status_code
        with pytest.raises(requests.exceptions.SSLError, match="CERTIFICATE_VERIFY_FAILED"):
            requests.get(server.url, timeout=PATIENCE)
    assert server.errors == []


def test_plain_http_on_a_tls_port_is_told_so(certificate: TlsMaterial) -> None:
    """A client that forgot the s of https reads what to do."""
    with ServerThread(show, tls=certificate) as server, Wire(server) as wire:
        answer = wire.get().answer()

    assert 400 == answer.status
    assert b"This port speaks HTTPS only: call it with https://\n" == answer.body


def test_tls_on_a_plain_port_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    """The client cannot be answered in its own protocol, so it is logged."""
    with ServerThread(show) as server:
        context = ssl.create_default_context()
        with Wire(server) as wire, pytest.raises((ssl.SSLError, OSError)):
            context.wrap_socket(wire.socket, server_hostname="localhost")

    assert "A client spoke TLS to a plain port: call it with http://" in caplog.text
