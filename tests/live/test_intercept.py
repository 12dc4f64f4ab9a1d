"""Unmodified programs under the platform's real host names: each client as it is published."""

from __future__ import annotations

import json
import os
import socket
import ssl
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import requests

from mock_platform import MockPlatform, WorldFace
from mock_platform.core.auth.tester_access import environment
from mock_platform.serving import proxy as tunnels
from tests.commands import finished
from tests.conftest import Tool
from tests.live.processes import quick
from tests.live.sandboxes import starting
from tests.support_receiver import unused_port
from tests.waits import PATIENCE

pytestmark = pytest.mark.live

PROGRAMS = Path(__file__).parent / "programs"
RUNNERS: Mapping[str, tuple[str, ...]] = {
    ".cjs": ("node",), ".mjs": ("node",), ".java": ("java",), ".sh": ("bash",),
}  # fmt: skip
IGNORED = {
    "with_python_twitter.py": {
        "parameter 'tweet_mode' is not one of this operation and was ignored"
    }
}
"""What clients send that no operation reads."""


platform = starting(names="original")
"""A sandbox whose worlds have original names."""


@pytest.fixture
def world(platform: MockPlatform, request: pytest.FixtureRequest) -> Iterator[WorldFace]:
    """A world that programs reach under the real host names."""
    name = f"w{abs(hash(request.node.name))}"
    made = platform.world(name)
    with made.intercept():
        yield made
    platform.drop_world(name)


@pytest.mark.parametrize("program", sorted(p.name for p in PROGRAMS.glob("*[Ww]ith*")))
def test_program(world: WorldFace, program: str, tool: Tool, node_modules: Path) -> None:
    """It ends well, and every request of it was answered in the world, without a warning."""
    runner = RUNNERS.get(Path(program).suffix)
    command = [sys.executable] if runner is None else [tool(*runner)]
    more = {**environment(world.credentials), "NODE_PATH": str(node_modules)}

    ran = finished([*command, str(PROGRAMS / program)], env={**os.environ, **more})

    assert ran.returncode == 0, ran.stderr
    assert len(world.journal) > 0
    warnings = [warning for entry in world.journal for warning in entry.warnings]
    assert set() == set(warnings) - IGNORED.get(program, set())


def test_signing_in_with_passport(world: WorldFace, tool: Tool, node_modules: Path) -> None:
    """passport-twitter leads the user to the platform's page, and learns who has signed in."""
    variables = {**os.environ, **environment(world.credentials), "NODE_PATH": str(node_modules)}
    command = [tool("node"), str(PROGRAMS / "sign_in_with_passport.cjs")]
    with subprocess.Popen(
        command, env=variables, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        address = json.loads(process.stdout.readline())["address"]
        page = requests.get(address, timeout=PATIENCE)
        token = parse_qs(urlsplit(address).query)["oauth_token"][0]
        told, _ = process.communicate(f"{world.authorize(token)}\n", PATIENCE)

    assert address.startswith("https://api.twitter.com/oauth/authenticate?")
    assert 200 == page.status_code
    assert {"user": world.credentials["user"]["id"]} == json.loads(told)


def test_other_hosts_are_refused(world: WorldFace) -> None:
    """Nothing is sent to them, over https and http; the refusal names the remedy."""
    with pytest.raises(requests.exceptions.ProxyError, match=r"--allow-host example\.com"):
        requests.get("https://example.com/", timeout=PATIENCE)

    plain = requests.get("http://example.com/", timeout=PATIENCE)

    assert 403 == plain.status_code
    assert "no host of the platform" in plain.text
    assert "Allow it with --allow-host example.com. Then https to it is passed on" in plain.text
    assert 0 == len(world.journal)


def test_a_host_that_was_allowed(platform: MockPlatform) -> None:
    """Bytes are passed on to it unread, in both directions."""
    listener = socket.create_server(("127.0.0.1", 0))
    host, port = "127.0.0.1", listener.getsockname()[1]
    with (
        listener,
        platform.intercept(allow_hosts=[f"{host}:{port}"]) as variables,
        socket.create_connection(_address(variables), PATIENCE) as client,
    ):
        head = f"CONNECT {host}:{port} HTTP/1.1\r\nHost: x\r\n\r\n".encode()
        client.sendall(head + b"at once")
        server, _ = listener.accept()
        with server:
            assert b"at once" == server.recv(100)
            assert client.recv(100).startswith(b"HTTP/1.1 200 ")
            client.sendall(b"ping")
            assert b"ping" == server.recv(100)
            server.sendall(b"pong")
            assert b"pong" == client.recv(100)
        assert b"" == client.recv(100)


def ask_proxy(platform: MockPlatform, sent: bytes, allowed: Sequence[str] = ()) -> str:
    """What a proxy that allows these hosts answers to bytes."""
    with (
        platform.intercept(allow_hosts=allowed) as variables,
        socket.create_connection(_address(variables), PATIENCE) as client,
    ):
        client.sendall(sent)
        client.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: client.recv(4096), b"")).decode()


@pytest.mark.parametrize(
    ("allowed", "target", "told"),
    [
        ("example.test", "CONNECT example.test:22", ["Allow it with --allow-host example.test:22"]),
        ("a.test:22", "CONNECT a.test:443", ["Allow it with --allow-host a.test"]),
        ("::1", "CONNECT [::1]:22", ["Allow it with --allow-host [::1]:22"]),
        ("Backend.example", "GET http://backend.example:81/", [
            "was allowed with --allow-host, but only for https", "Call it with https://",
            "add backend.example to NO_PROXY"]),
        ("x.test", "CONNECT nowhere", []),
        ("x.test", "CONNECT ", []),
        ("x.test", "CONNECT [::1", []),
        ("x.test", "CONNECT api.x.com.evil.example:443", []),
    ],
)  # fmt: skip
def test_where_the_proxy_does_not_lead(
    platform: MockPlatform, allowed: str, target: str, told: list[str]
) -> None:
    """A name alone allows 80 and 443 to https; the refusal names what allows the rest."""
    sent = f"{target} HTTP/1.1\r\nHost: backend.example:81\r\nConnection: close\r\n\r\n"

    answer = ask_proxy(platform, sent.encode(), [allowed])

    assert answer.startswith("HTTP/1.1 403 ")
    assert [] == [text for text in told if text not in answer]


def test_https_asked_of_the_proxy_itself(platform: MockPlatform) -> None:
    """A client without tunnels, as needle for node: the addresses in the answer are https."""
    token = platform.credentials["bearer_token"]
    answer = ask_proxy(
        platform,
        b"GET https://api.x.com/2/users/1 HTTP/1.1\r\nHost: api.x.com\r\n"
        + f"Authorization: Bearer {token}\r\nConnection: close\r\n\r\n".encode(),
    )

    assert '"type":"https://api.x.com/2/problems/resource-not-found"' in answer


def test_a_host_that_cannot_be_reached(platform: MockPlatform) -> None:
    """An allowed host without a server is a bad gateway, with the reason."""
    host = f"127.0.0.1:{unused_port()}"

    answer = ask_proxy(platform, f"CONNECT {host} HTTP/1.1\r\n\r\n".encode(), [host])

    assert answer.startswith("HTTP/1.1 502 Bad Gateway")


def _address(variables: Mapping[str, str]) -> tuple[str, int]:
    host, port = variables["HTTPS_PROXY"].removeprefix("http://").split(":")
    return host, int(port)


def test_a_handshake_that_does_not_wait(platform: MockPlatform) -> None:
    """Its first bytes may come with the request for the tunnel."""
    with (
        platform.intercept() as variables,
        socket.create_connection(_address(variables), PATIENCE) as client,
    ):
        sent, got = ssl.MemoryBIO(), ssl.MemoryBIO()
        context = ssl.create_default_context(cafile=variables["REQUESTS_CA_BUNDLE"])
        tls = context.wrap_bio(got, sent, server_hostname="api.x.com")
        with pytest.raises(ssl.SSLWantReadError):
            tls.do_handshake()
        client.sendall(b"CONNECT api.x.com:443 HTTP/1.1\r\n\r\n" + sent.read())
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += client.recv(1)
        assert head.startswith(b"HTTP/1.1 200 ")

        def finish(act: Callable[[], Any]) -> Any:
            while True:
                try:
                    return act()
                except ssl.SSLWantReadError:
                    client.sendall(sent.read())
                    got.write(client.recv(65_536))

        finish(tls.do_handshake)
        tls.write(b"GET /2/users/1 HTTP/1.1\r\nHost: api.x.com\r\n\r\n")
        client.sendall(sent.read())
        assert finish(lambda: tls.read(100)).startswith(b"HTTP/1.1 401 ")


@pytest.mark.parametrize("text", ["", "https://a.test", "a.test:0", "a.test:70000", "a.test:x"])
def test_what_is_no_allowed_host(platform: MockPlatform, text: str) -> None:
    """It is refused when the proxy is made, with what to write."""
    with pytest.raises(ValueError, match="is no host"), platform.intercept(allow_hosts=[text]):
        pass


def open_tunnel(variables: Mapping[str, str], port: int) -> tuple[socket.socket, bytes]:
    """A connection to the proxy, and what it answers to the request for a tunnel."""
    client = socket.create_connection(_address(variables), PATIENCE)
    client.sendall(f"CONNECT 127.0.0.1:{port} HTTP/1.1\r\n\r\n".encode())
    return client, client.recv(4096)


def test_tunnels_are_counted(platform: MockPlatform, monkeypatch: pytest.MonkeyPatch) -> None:
    """A client has so many outward connections at a time; one that ended makes space."""
    monkeypatch.setattr(tunnels, "MAX_TUNNELS_PER_CLIENT", 3)
    with socket.create_server(("127.0.0.1", 0)) as listener, ExitStack() as held:
        port = listener.getsockname()[1]
        variables = held.enter_context(platform.intercept(allow_hosts=[f"127.0.0.1:{port}"]))
        opened = [open_tunnel(variables, port) for _ in range(3)]
        servers = [held.enter_context(listener.accept()[0]) for _ in opened]
        for client, answer in opened:
            held.enter_context(client)
            assert answer.startswith(b"HTTP/1.1 200 ")
        client, answer = open_tunnel(variables, port)
        client.close()
        assert answer.startswith(b"HTTP/1.1 503 ")
        assert b"3 tunnels of one client" in answer
        servers[0].close()
        assert b"" == opened[0][0].recv(1)  # the proxy has ended it
        client, answer = open_tunnel(variables, port)
        held.enter_context(client)
        assert answer.startswith(b"HTTP/1.1 200 ")


def test_handshake_without_trust(platform: MockPlatform) -> None:
    """A client that does not trust the authority ends the handshake; the next one is answered."""
    with platform.intercept() as variables:
        trusting = ssl.create_default_context(cafile=variables["MOCK_PLATFORM_CA"])
        for context in (ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT), trusting):
            with ExitStack() as held:
                client = held.enter_context(socket.create_connection(_address(variables), PATIENCE))
                client.sendall(b"CONNECT api.x.com:443 HTTP/1.1\r\n\r\n")
                assert client.recv(4096).startswith(b"HTTP/1.1 200 ")
                if context is not trusting:
                    held.enter_context(pytest.raises(ssl.SSLCertVerificationError))
                secure = context.wrap_socket(client, server_hostname="api.x.com")
                secure.sendall(b"GET /2/openapi.json HTTP/1.0\r\nHost: api.x.com\r\n\r\n")
                assert secure.recv(4096).startswith(b"HTTP/1.1 200 ")
                secure.close()


def test_the_control_plane_is_out_of_reach(world: WorldFace) -> None:
    """Under a real host name it is refused like any foreign host."""
    assert 403 == requests.get("https://api.x.com/_mock/requests", timeout=PATIENCE).status_code


def test_further_hosts(platform: MockPlatform, tmp_path: Path) -> None:
    """Hosts of a list or a file are answered like the platform's own, with a certificate."""
    with platform.intercept(hosts=["Api.Gateway.example"]):
        answer = requests.get("https://api.gateway.example/2/openapi.json", timeout=PATIENCE)
    file = tmp_path / "hosts.txt"
    file.write_text("# ours\n\ngateway.example # the one in front\n")
    run = quick("run", "--intercept", "--intercept-hosts", file)
    ran = finished([*run, "--", "curl", "-sSf", "https://gateway.example/2/openapi.json"])

    assert 200 == answer.status_code
    assert (0, "3.1.0") == (ran.returncode, json.loads(ran.stdout)["openapi"]), ran.stderr


def test_names_that_are_no_hosts(platform: MockPlatform, tmp_path: Path) -> None:
    """An address instead of a name is refused, in a file with its line and column."""
    file = tmp_path / "hosts.txt"
    file.write_text("good.example\n  https://gateway.example/2\n")
    base = quick("hosts", "--intercept-hosts")

    refused = finished([*base, str(file)])

    assert 2 == refused.returncode
    assert "hosts.txt:2:3:" in refused.stderr
    with (
        pytest.raises(ValueError, match=r"'https://x\.example' is not the name of a host"),
        platform.intercept(hosts=["https://x.example"]),
    ):
        pass
    file.write_text("good.example\n")
    assert "127.0.0.1 good.example\n" in finished([*base, str(file)]).stdout


def test_nothing_reaches_a_real_host() -> None:
    """A program under the proxy looks no name up and connects to this machine alone.

    The program sees each attempt of Python itself, and lets none go out. Without the proxy it sees
    one, so it would see it here.
    """
    program = str(PROGRAMS / "see_what_goes_out.py")

    ran = finished([sys.executable, program])

    assert (0, {"answered": 200, "proxied": [], "direct": ["api.x.com"]}) == (
        ran.returncode, json.loads(ran.stdout or "null"),
    ), ran.stderr  # fmt: skip


def test_the_environment_is_as_before(platform: MockPlatform) -> None:
    """After the block the variables have their old values."""
    before = dict(os.environ)

    with platform.intercept() as variables:
        assert variables.items() <= os.environ.items()

    assert before == dict(os.environ)


def test_run_and_serve(tmp_path: Path) -> None:
    """`run --intercept` leads its command to the proxy; `--allow-host` alone is refused."""
    run = quick("run")
    program = [sys.executable, str(PROGRAMS / "with_requests.py")]

    ran = finished([*run, "--intercept", "--", *program])
    refused = finished([*run, "--allow-host", "example.com", "--", *program])

    assert ran.returncode == 0, ran.stderr
    assert 2 == refused.returncode
    assert "--allow-host needs --intercept" in refused.stderr
