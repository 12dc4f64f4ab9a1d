"""Large bodies over a socket: other clients are answered meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from mock_platform.core.connection import Request
from mock_platform.platform import Platform
from mock_platform.serving.app import make_edge
from mock_platform.serving.http import ServerThread
from mock_platform.settings import Settings
from mock_platform.world.journal import JournalEntry
from tests.serving.http.wire import Wire
from tests.support import USER_TOKEN, make_platform

pytestmark = pytest.mark.live
LARGE = b'{"text":"' + b"a" * 100_000 + b'"}'


@pytest.fixture
def platform() -> Iterator[Platform]:
    """What the server serves."""
    made = make_platform(Settings())
    yield made
    made.close()


@pytest.fixture
def server(platform: Platform) -> Iterator[ServerThread]:
    """A server that has answered one request to its control plane, which loads that."""
    with ServerThread(make_edge(platform)) as running:
        with Wire(running) as wire:
            wire.get("/_mock/health", "Host: localhost").answer()
        yield running


def request(method: str, path: str, body: bytes = b"") -> bytes:
    """A request of the well-known user."""
    return (
        f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {USER_TOKEN}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    ).encode() + body


def test_nobody_waits_while_a_large_body_is_answered(
    platform: Platform, server: ServerThread
) -> None:
    """Neither who asks for the server's health nor who calls an operation of the same world."""
    begun, others_are_answered = threading.Event(), threading.Event()
    in_time: list[bool] = []

    def answer_slowly(entry: JournalEntry) -> None:
        if len(entry.request_body) == len(LARGE):
            begun.set()
            in_time.append(others_are_answered.wait(60))

    platform.observers.append(answer_slowly)
    with Wire(server) as large, Wire(server) as other:
        large.send(request("POST", "/2/posts", LARGE))
        assert begun.wait(60)
        health = other.send(request("GET", "/_mock/health")).answer()
        user = other.send(request("GET", "/2/users/me")).answer()
        others_are_answered.set()
        refused = large.answer()

    assert [True] == in_time
    assert (200, 200, 403) == (health.status, user.status, refused.status)


def test_who_waits_for_the_world_of_a_large_body_does_not_hold_up_the_loop(
    platform: Platform, server: ServerThread
) -> None:
    """Its lock is held while the body is read; health is answered, and then the other request."""
    begun, health_is_answered = threading.Event(), threading.Event()
    in_time: list[bool] = []
    world = platform.worlds.default
    find = world.store.get

    def find_slowly(table: str, key: str) -> object:
        if threading.current_thread().name.endswith("worker-1") and not begun.is_set():
            begun.set()
            in_time.append(health_is_answered.wait(60))
        return find(table, key)

    with pytest.MonkeyPatch.context() as patch, Wire(server) as large, Wire(server) as waiting:
        patch.setattr(world.store, "get", find_slowly)
        large.send(request("POST", "/2/posts", LARGE))
        assert begun.wait(60)
        waiting.send(request("GET", "/2/users/me"))
        with Wire(server) as other:
            health = other.send(request("GET", "/_mock/health")).answer()
        health_is_answered.set()
        answers = [large.answer().status, waiting.answer().status]

    assert [True] == in_time
    assert (200, [403, 200]) == (health.status, answers)


def test_a_small_body_is_answered_on_the_loop(platform: Platform) -> None:
    """As long as no large one is being answered."""
    edge = make_edge(platform)

    def asked(body: bytes) -> bool:
        return edge.at_once(Request("POST", "/2/posts", "", "1.1", [], body, True)) is not None

    assert [True, True, False] == [asked(b""), asked(bytes(65_536)), asked(bytes(65_537))]
