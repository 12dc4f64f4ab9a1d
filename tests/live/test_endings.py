"""How answers ended, as their clients met it: over a socket, over HTTP/2, and in this process."""

from __future__ import annotations

import socket
from collections.abc import Callable
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
import requests

from mock_platform import MockPlatform
from mock_platform.core.call import FaultKind
from mock_platform.names import OwnName
from mock_platform.settings import ConnectionSettings
from mock_platform.world.clock import UPTIME
from tests.live.sandboxes import starting
from tests.waits import PATIENCE

pytestmark = pytest.mark.live


server = starting(auth="off", connection=ConnectionSettings(http2=True))
"""A server that asks for no credentials, and speaks both versions of HTTP."""


@pytest.fixture
def platform(server: MockPlatform) -> MockPlatform:
    """The server as it started."""
    server.reset()
    return server


SOON = 0.2
"""The timeout in seconds of clients that are to time out; the others wait longer."""
Call = Callable[[MockPlatform, str, float], None]


def over_socket(platform: MockPlatform, path: str, seconds: float) -> None:
    """Call with a client of HTTP/1.1."""
    with suppress(requests.RequestException):
        requests.get(platform.base_url + path, timeout=seconds)


def over_http2(platform: MockPlatform, path: str, seconds: float) -> None:
    """Call with a client of HTTP/2."""
    with (
        httpx.Client(http1=False, http2=True, timeout=seconds) as client,
        suppress(httpx.HTTPError),
    ):
        client.get(platform.base_url + path)


def in_process(platform: MockPlatform, path: str, seconds: float) -> None:
    """Call without a socket."""
    with suppress(requests.RequestException):
        platform.session().get(path, timeout=seconds)


def last_end(platform: MockPlatform) -> dict[str, Any]:
    """How the last answer ended, as soon as the server knows it."""
    until = UPTIME() + PATIENCE
    while True:  # on a busy machine a client may give up before its request is noted
        for entry in platform.journal.find()[-1:]:
            if entry.ended is not None:
                found: dict[str, Any] = entry.ended
                return found
        assert UPTIME() < until
        requests.get(f"{platform.base_url}/_mock/health", timeout=PATIENCE)


@pytest.mark.parametrize("call", [over_socket, over_http2, in_process])
@pytest.mark.parametrize("fault", ["reset", "empty", "garbage", "timeout", "truncate"])
def test_faults(platform: MockPlatform, fault: FaultKind, call: Call) -> None:
    """A fault is what the journal says; over HTTP/2, whose streams are reset, that."""
    platform.activate("flaky-network", fault=fault, failures=1)

    call(platform, "/12/accounts", SOON if fault == "timeout" else PATIENCE)

    how: Any = {"timeout": "stalled", "truncate": "truncated"}.get(fault, fault)
    if call is over_http2 and fault in {"empty", "garbage"}:
        how = "reset"
    ended = last_end(platform)
    assert how == ended["how"]
    assert (how == "truncated") == (ended["bytes"] > 0)
    assert 1 == platform.journal.count(ended=how)
    call(platform, "/12/accounts", PATIENCE)
    assert "complete" == last_end(platform)["how"]


def test_a_stream_that_is_closed(platform: MockPlatform) -> None:
    """A stream that is closed after a part of it is cut, not empty."""
    rule = {"on": "activity_stream.open", "then": {"disconnect": {"fault": "empty"}}}
    platform.define({"name": "closed", "rules": [rule]})
    platform.activate(OwnName("closed"))
    bearer = {"Authorization": f"Bearer {platform.credentials['bearer_token']}"}

    with suppress(requests.RequestException):
        url = f"{platform.base_url}/2/activity/stream"
        requests.get(url, headers=bearer, timeout=PATIENCE)

    assert {"how": "truncated", "bytes": 2} == last_end(platform)


def test_an_answer_lost_after_the_commit(platform: MockPlatform) -> None:
    """Nothing was sent, and the request was executed."""
    platform.activate("answer-lost", on="accounts.list", fault="empty")

    over_socket(platform, "/12/accounts", PATIENCE)

    assert {"how": "lost", "bytes": 0} == last_end(platform)


@pytest.mark.parametrize("call", [over_socket, over_http2, in_process])
def test_a_client_that_gives_up(platform: MockPlatform, call: Call) -> None:
    """It left before the answer came, and that is how it ended; the wait was shorter."""
    platform.activate("slow-network", least=0.7, most=0.7)

    call(platform, "/12/accounts", SOON)

    ended = last_end(platform)
    assert ("disconnected", 0) == (ended["how"], ended["bytes"])
    entry = platform.journal.find()[-1]
    assert entry.milliseconds > entry.handler_milliseconds + 100


def test_a_client_that_only_ended_its_side(platform: MockPlatform) -> None:
    """It has nothing more to send, reads its answer, and is not taken for one that left."""
    platform.activate("slow-network", least=0.1, most=0.1)
    host = urlsplit(platform.base_url)
    with socket.create_connection((host.hostname, host.port), PATIENCE) as wire:
        wire.sendall(b"GET /12/accounts HTTP/1.1\r\nHost: x\r\n\r\n")
        wire.shutdown(socket.SHUT_WR)
        received = b""
        while part := wire.recv(65_536):
            received += part

    assert received.startswith(b"HTTP/1.1 200 OK")
    assert "complete" == last_end(platform)["how"]


@pytest.mark.parametrize("call", [over_socket, in_process])
def test_a_stalled_stream(platform: MockPlatform, call: Call) -> None:
    """The sandbox stopped to send, and its client waited until it gave up."""
    document = {
        "name": "silent",
        "rules": [
            {
                "on": "filtered_stream.open",
                "then": {"disconnect": {"after_lines": 0, "fault": "timeout"}},
            }
        ],
    }
    platform.activate(platform.define(document))

    call(platform, "/2/posts/search/stream", SOON)

    assert {"how": "stalled", "bytes": 2} == last_end(platform)


def test_a_stream_that_its_client_leaves(platform: MockPlatform) -> None:
    """One that was left did not end in order; one that the sandbox ends does."""
    with requests.get(
        f"{platform.base_url}/2/posts/search/stream", stream=True, timeout=PATIENCE
    ) as answer:
        assert platform.journal.find()[-1].ended is None
        platform.streams.disconnect()
        answer.raw.read()
    first = last_end(platform)
    over_socket(platform, "/2/posts/search/stream", SOON)

    assert ("complete", "disconnected") == (first["how"], last_end(platform)["how"])
