"""`record`: what a client and a server say to each other is passed on unchanged, and recorded."""

from __future__ import annotations

import gzip
import os
import socket
import ssl
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import requests
from click.testing import CliRunner, Result

from mock_platform.cli.main import group
from mock_platform.client.intercepting import open_proxy
from mock_platform.core.platform_hosts import PLATFORM_HOSTS, Interception
from mock_platform.delivery.upstream import BadUpstream, Upstream
from mock_platform.serving.http import ServerThread
from mock_platform.serving.http.tls import TlsMaterial
from mock_platform.settings import ConnectionSettings
from mock_platform.verification.har.exchange import HarExchange
from mock_platform.verification.har.reader import read_har
from mock_platform.verification.har.writer import RecordedExchange
from mock_platform.verification.recording import Forwarder
from tests.support import BEARER, Sandbox, signed

pytestmark = pytest.mark.live

CLIENT = """
import os, sys, urllib.error, urllib.request

base = os.environ["MOCK_PLATFORM_URL"]
open_ = urllib.request.build_opener(urllib.request.ProxyHandler({})).open
for path in sys.argv[2:]:
    request = urllib.request.Request(base + path, headers={"Authorization": sys.argv[1]})
    try:
        open_(request, timeout=120).close()
    except urllib.error.HTTPError as answer:
        answer.close()
sys.exit(7)
"""
ACCOUNTS = "/12/accounts?count=2"
Record = Callable[..., tuple[Result, list[HarExchange]]]


class Odd(BaseHTTPRequestHandler):
    """A server with answers that the sandbox never sends."""

    def do_GET(self) -> None:
        """Answer as the path says."""
        if self.path == "/closed":
            self.close_connection = True
            return
        body = gzip.compress(b'{"a":1}') if self.path == "/gzip" else b"abc"
        self.send_response(302 if self.path == "/moved" else 200)
        self.send_header("Set-Cookie", "a=1")
        self.send_header("Set-Cookie", "b=2")
        if self.path == "/moved":
            self.send_header("Location", "http://127.0.0.1:1/elsewhere")
        if self.path == "/gzip":
            self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body) + (self.path == "/short")))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Log no requests of the test."""


@pytest.fixture(scope="module")
def odd() -> Iterator[str]:
    """The address of the odd server."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Odd) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def service() -> Iterator[str]:
    """The address of a second sandbox, in place of the real service."""
    with ServerThread(Sandbox().app, threads=4) as server:
        yield server.url


@pytest.fixture
def session() -> Iterator[requests.Session]:
    """A client that uses nothing of the environment."""
    with requests.Session() as session:
        session.trust_env = False
        yield session


@pytest.fixture
def record(tmp_path: Path) -> Record:
    """Runs `record` with a client that asks for some paths; what it said, and what it recorded."""

    def start(
        *options: str, paths: tuple[str, ...] = (ACCOUNTS,), authorization: str = f"Bearer {BEARER}"
    ) -> tuple[Result, list[HarExchange]]:
        out = tmp_path / "traffic.har"
        words = ["record", *options, "--out", str(out), "--", sys.executable, "-S", "-c", CLIENT]
        result = CliRunner().invoke(group, [*words, authorization, *paths])
        return result, list(read_har(out)) if out.exists() else []

    return start


def test_a_run_is_recorded(record: Record, service: str, tmp_path: Path) -> None:
    """The file holds what was asked and answered, without the token, and belongs to its owner."""
    result, found = record("--upstream", service, paths=(ACCOUNTS, "/12/accounts/nope"))

    assert 7 == result.exit_code, result.output
    assert "2 exchanges recorded in" in result.output
    assert [f"{service}{ACCOUNTS}", f"{service}/12/accounts/nope"] == [e.request.url for e in found]
    assert [200, 403] == [each.response.status for each in found]
    assert b'"next_cursor"' in found[0].response.body
    assert {"Bearer [redacted-1]"} == {each.request.header("authorization") for each in found}
    file = tmp_path / "traffic.har"
    assert BEARER not in file.read_text()
    assert 0o600 == file.stat().st_mode & 0o777

    again, _ = record("--upstream", service)

    assert 2 == again.exit_code
    assert "exists already. Name another file, or replace it with --force." in again.output


def test_an_untrusted_certificate_is_said(record: Record, tmp_path: Path) -> None:
    """The terminal says why a server is not trusted, once for each cause, and what helps."""
    material = TlsMaterial.generate(directory=tmp_path)
    with ServerThread(Sandbox().app, tls=material) as real:
        result, found = record("--upstream", real.url, paths=(ACCOUNTS, "/2/users/me"))
        trusted, _ = record("--upstream", real.url, "--ca", str(material.ca), "--force")

    assert [0, 0] == [each.response.status for each in found]
    assert (
        f"Without an answer, 2 times: the certificate of {real.url} is not trusted: the authority "
        "that signed it is unknown on this machine; name the file of the authority that signed it "
        "with --ca FILE." in result.output
    )
    assert "Without an answer" not in trusted.output


@pytest.mark.parametrize(("options", "text"), [
    ((), "Give one of --upstream URL and --intercept."),
    (("--intercept", "--upstream", "http://127.0.0.1:1"), "Give one of --upstream URL"),
    (("--upstream", "ftp://h"), "'ftp://h' is no base address: give one such as https://"),
    (("--upstream", "http://api.example.com"), "goes there over https only"),
    (("--upstream", "https://u:p@api.example.com"), "has no user, query or fragment"),
    (("--intercept", "--keep-host"), "--keep-host needs --upstream"),
    (("--upstream", "https://h", "--allow-host", "x"), "--allow-host needs --intercept."),
])  # fmt: skip
def test_refused_options(record: Record, options: tuple[str, ...], text: str) -> None:
    """What cannot be meant is refused before anything starts, and no file is made."""
    result, found = record(*options)

    assert (2, []) == (result.exit_code, found)
    assert text.replace("goes", "go") in result.output.replace("\n", " ")


def forward(
    upstream: Upstream, *, keep_host: bool = False
) -> tuple[ServerThread, list[RecordedExchange]]:
    """A server that forwards, and what it records."""
    found: list[RecordedExchange] = []
    return ServerThread(Forwarder(upstream, found.append, keep_host=keep_host)), found


def test_the_session_of_a_console_stays_here(service: str, session: requests.Session) -> None:
    """Browsers send the cookies of a host to all its ports: those of a console stay out."""
    server, found = forward(Upstream(service))
    with server:
        session.get(
            f"{server.url}{ACCOUNTS}",
            headers={"Cookie": "a=1; mock_platform_console_8080=x", "X-Mock-Control-Token": "x"},
        )

    (exchange,) = found
    sent = dict(exchange.request_headers)
    assert "a=1" == sent["Cookie"]
    assert "X-Mock-Control-Token" not in sent


def test_answers_are_passed_on_as_they_are(odd: str, session: requests.Session) -> None:
    """Repeated headers, encodings and redirects reach the client; the body is recorded decoded."""
    server, found = forward(Upstream(odd))
    with server:
        packed = session.get(f"{server.url}/gzip", stream=True)
        raw = packed.raw.read(decode_content=False)
        moved = session.get(f"{server.url}/moved", allow_redirects=False)

    assert (b'{"a":1}', "gzip") == (gzip.decompress(raw), packed.headers["Content-Encoding"])
    assert (302, "http://127.0.0.1:1/elsewhere") == (moved.status_code, moved.headers["Location"])
    assert b'{"a":1}' == found[0].response_body
    assert ["a=1", "b=2"] == [v for name, v in found[1].response_headers if name == "Set-Cookie"]


def test_no_answer(odd: str, session: requests.Session) -> None:
    """A server that closes, or is missing, is a 502 with the reason, and recorded as no answer."""
    for address, path in ((odd, "/closed"), ("http://127.0.0.1:1", "/x")):
        server, found = forward(Upstream(address))
        with server:
            answer = session.get(server.url + path)

        assert 502 == answer.status_code
        assert answer.text.startswith("mock-platform record: ")
        assert 0 == found[0].status
        assert found[0].own["_error"] in answer.text


def test_an_answer_that_breaks_off(odd: str, session: requests.Session) -> None:
    """What came before the end is recorded, and the client sees the break as well."""
    server, found = forward(Upstream(odd))
    with server, pytest.raises(requests.RequestException):
        session.get(f"{server.url}/short")

    assert b"abc" == found[0].response_body
    assert "broke off after 3 bytes" in found[0].own["_error"]


def test_signatures_of_the_address(service: str, session: requests.Session) -> None:
    """With the host of the client, a signature of OAuth 1.0a is still right; without it, wrong."""
    statuses = []
    for keep_host in (True, False):
        server, _ = forward(Upstream(service), keep_host=keep_host)
        with server:
            url = f"{server.url}/12/accounts"
            statuses.append(session.get(url, headers=signed("GET", url)).status_code)

    assert [200, 401] == statuses


def test_the_real_hosts(session: requests.Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """Through the proxy, requests to the true hosts reach them over TLS, signatures included."""
    material = TlsMaterial.generate(PLATFORM_HOSTS)
    with ServerThread(Sandbox().app, tls=material) as real:
        upstream = Upstream(hosts=PLATFORM_HOSTS, ca=material.ca)
        found: list[RecordedExchange] = []
        proxy = open_proxy(
            Forwarder(upstream, found.append), "default", ConnectionSettings(), Interception()
        )

        def connect(host: str, port: int) -> socket.socket:
            assert ("ads-api.x.com", 443) == (host, port)
            return socket.create_connection(("127.0.0.1", real.port))

        monkeypatch.setattr(upstream, "open_socket", connect)
        session.proxies, session.verify = {"https": proxy.url}, str(proxy.tls.ca)
        url = "https://ads-api.x.com/12/accounts"
        try:
            answer = session.get(url, headers=signed("GET", url))
        finally:
            proxy.stop()

    assert 200 == answer.status_code, answer.text
    assert [(url, 200)] == [(each.url, each.status) for each in found]


def test_addresses_are_checked_when_connecting(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that leads to another machine, or to this one, is not connected to."""

    def resolve(address: str) -> None:
        found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 443))]
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)

    for upstream, host, address, text in (
        (Upstream(hosts=PLATFORM_HOSTS), "api.x.com", "127.0.0.1", "no public address"),
        (Upstream(hosts=PLATFORM_HOSTS), "api.x.com", "10.0.0.1", "no public address"),
        (Upstream("http://localhost:1"), "localhost", "10.0.0.1", "over https only"),
        (Upstream("https://h"), "h", "169.254.169.254", "where no server is"),
    ):
        resolve(address)
        with pytest.raises(OSError, match=text):
            upstream.open_socket(host, 443)
    with pytest.raises(BadUpstream, match=r"example\.com is no host of the platform"):
        Upstream(hosts=PLATFORM_HOSTS).find_address("example.com", "/")


def test_no_proxy_of_the_environment(
    odd: str, session: requests.Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Proxies that the environment names see nothing of the requests."""
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setitem(os.environ, name, "http://127.0.0.1:1")
    server, _ = forward(Upstream(odd))
    with server:
        assert "abc" == session.get(f"{server.url}/x").text
    assert ssl.CERT_REQUIRED == Upstream("https://h")._get_tls().verify_mode
