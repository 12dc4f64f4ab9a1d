"""The sandbox as an ASGI application, called as a server of ASGI calls it."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, MutableMapping
from typing import Any

import httpx
import pytest

from mock_platform import MockPlatform
from mock_platform.core.call import FaultKind
from mock_platform.serving.in_process.asgi import AsgiApplication
from tests.waits import PATIENCE, in_thread, run_async

Message = dict[str, Any]
LEFT = {"type": "http.disconnect"}
WHOLE = {"type": "http.request", "body": b"", "more_body": False}


@pytest.fixture(scope="module")
def server() -> Iterator[MockPlatform]:
    """A sandbox that asks for no credentials, with small limits and quick keep-alives."""
    with MockPlatform.start(auth="off", max_body=200_000, stream_keepalive=0.01) as platform:
        yield platform


@pytest.fixture
def platform(server: MockPlatform) -> MockPlatform:
    """The sandbox as it started."""
    server.reset()
    return server


def scope(target: str = "/12/accounts", method: str = "GET", **more: Any) -> Message:
    """A request as a server of ASGI announces it."""
    path, _, query = target.partition("?")
    headers = [(b"host", b"localhost"), (b"x-more", b"a"), (b"x-more", b"b")]
    return {
        "type": "http", "method": method, "path": path, "query_string": query.encode(),
        "headers": headers,
    } | more  # fmt: skip


def call(
    application: Any, announced: Message, *received: Message, until: int = 10**6
) -> list[Message]:
    """What the application sends; after `received` the client leaves, at the latest after `until`.

    Raises:
        Exception: The application raised it.
    """

    async def run() -> list[Message]:
        sent: list[Message] = []
        messages, enough = iter(received), asyncio.Event()

        async def receive() -> Message:
            message = next(messages, None)
            if message is None:
                await enough.wait()
            return message or LEFT

        async def send(message: Message) -> None:
            sent.append(message)
            if len(sent) == until:
                enough.set()

        await asyncio.wait_for(application(announced, receive, send), PATIENCE)
        return sent

    return run_async(run())


def body(sent: Iterable[Message]) -> bytes:
    """The body of an answer."""
    return b"".join(message.get("body", b"") for message in sent)


@pytest.mark.parametrize("more", [{}, {"raw_path": b"/12/accounts", "client": ("10.1.2.3", 5)}])
def test_a_request_is_answered_as_over_a_socket(platform: MockPlatform, more: Message) -> None:
    """With lower-case headers, and an entry that shows what the client sent."""
    sent = call(platform.asgi, scope("/12/accounts?count=1", **more), WHOLE)

    start = sent[0]
    assert (200, False) == (start["status"], sent[-1]["more_body"])
    assert [name.lower() for name, _ in start["headers"]] == [name for name, _ in start["headers"]]
    assert dict(start["headers"])[b"x-mock-operation"] == b"accounts.list"
    (entry,) = platform.journal.find()
    assert entry.url == "http://localhost/12/accounts?count=1"
    assert ("X-More", "a, b") in entry.request_headers
    assert {"how": "complete"}.items() <= (entry.ended or {}).items()


def test_a_body_comes_in_parts_and_has_a_limit(platform: MockPlatform) -> None:
    """What is just inside is answered by a thread; of what is longer, no more is read."""
    part = {"type": "http.request", "body": b"x" * 100_000, "more_body": True}
    last = {"type": "http.request"}

    fits = call(platform.asgi, scope("/2/posts", "POST"), part, part, last)
    long = call(platform.asgi, scope("/2/posts", "POST"), part, part, part, until=0)

    assert 413 != fits[0]["status"]
    assert 413 == long[0]["status"]
    assert len(platform.journal.find()[0].request_body) == 200_000


def test_head_and_204_have_no_body(platform: MockPlatform) -> None:
    """A `HEAD` gets the headers alone, and so does a reset."""
    for announced in (scope(method="HEAD"), scope("/_mock/reset", "POST")):
        assert b"" == body(call(platform.asgi, announced, WHOLE))


def test_mounted_in_another_application(platform: MockPlatform) -> None:
    """The path of the mount is no part of the operation's, but of the address."""
    sent = call(platform.asgi, scope("/api/12/accounts", root_path="/api"), WHOLE)

    assert 200 == sent[0]["status"]
    assert "http://localhost/api/12/accounts" == platform.journal.find()[-1].url


def test_lifespan_and_websocket(platform: MockPlatform) -> None:
    """Start and end are acknowledged, a web socket is closed, and anything else is refused."""
    life = [{"type": "lifespan.startup"}, {"type": "lifespan.shutdown"}]

    assert [{"type": f"{each['type']}.complete"} for each in life] == call(
        platform.asgi, {"type": "lifespan"}, *life
    )
    assert ["websocket.close"] == [m["type"] for m in call(platform.asgi, {"type": "websocket"})]
    with pytest.raises(ValueError, match="not 'other'"):
        call(platform.asgi, {"type": "other"})


def test_a_stream_is_sent_piece_by_piece_until_its_client_leaves(platform: MockPlatform) -> None:
    """Each keep-alive is a message of its own; the connection is free again afterwards."""
    sent = call(platform.asgi, scope("/2/activity/stream"), WHOLE, until=4)

    assert [b"\r\n"] * 3 == [message["body"] for message in sent[1:4]]
    assert {"how": "disconnected"}.items() <= (platform.journal.find()[-1].ended or {}).items()
    assert [] == platform.streams.list()


def test_a_client_that_leaves_gets_no_answer(platform: MockPlatform) -> None:
    """Neither while it sends its request, nor while the answer is held back."""
    part = {"type": "http.request", "body": b"{", "more_body": True}
    platform.activate("slow-network", least=300, most=300)

    assert [] == call(platform.asgi, scope("/2/posts", "POST"), part, LEFT)
    assert [] == call(platform.asgi, scope(), WHOLE, LEFT)
    assert ["disconnected"] == [(e.ended or {})["how"] for e in platform.journal.find()]


@pytest.mark.parametrize(
    ("fault", "error", "text"),
    [
        ("reset", httpx.ReadError, "reset"),
        ("empty", httpx.RemoteProtocolError, "disconnected without"),
        ("truncate", httpx.RemoteProtocolError, r"received \d+ bytes, expected \d+"),
        ("garbage", httpx.RemoteProtocolError, "illegal status line"),
        ("timeout", httpx.ReadTimeout, "timed out"),
    ],
)
def test_faults_raise_what_httpx_raises(
    platform: MockPlatform, fault: FaultKind, error: type[Exception], text: str
) -> None:
    """By the transport as httpx publishes it; without httpx, the exceptions of Python."""
    platform.activate("flaky-network", fault=fault, failures=2)

    async def ask() -> None:
        transport = httpx.ASGITransport(platform.asgi)
        async with httpx.AsyncClient(transport=transport, base_url="http://api.test") as client:
            await client.get("/12/accounts")

    with pytest.raises(error, match=text):
        run_async(ask())
    with pytest.MonkeyPatch.context() as patch:
        patch.delitem(sys.modules, "httpx")
        with pytest.raises(OSError, match=text):
            call(platform.asgi, scope(), WHOLE)


@pytest.mark.parametrize("path", ["/12/accounts", "/_mock/health"])
def test_an_error_of_the_sandbox_is_raised(platform: MockPlatform, path: str) -> None:
    """As every call in this process raises it, on the loop and in a thread."""

    def fail(environ: Any, start_response: Any) -> Any:
        raise LookupError(path)

    class Broken:
        __call__ = staticmethod(fail)

        def at_once_in_process(self, request: Any) -> Callable[..., Any] | None:
            return None if path == "/_mock/health" else lambda *_: fail({}, None)

    with pytest.raises(LookupError, match=path):
        call(AsgiApplication(Broken(), 1), scope(path), WHOLE)


def test_another_kind_of_loop_is_told_what_to_do(platform: MockPlatform) -> None:
    """Waits are those of asyncio."""

    async def receive() -> Message:
        return WHOLE

    async def send(message: MutableMapping[str, Any]) -> None: ...

    called: Any = platform.asgi(scope(), receive, send)
    with pytest.raises(RuntimeError, match="With trio, call `base_url`"):
        in_thread(lambda: called.send(None))


def test_an_application_that_does_not_answer_is_an_error() -> None:
    """A body without `start_response` would have no status."""

    class Silent:
        def __call__(self, environ: Any, start_response: Any) -> list[bytes]:
            return [b"body"]

        def at_once_in_process(self, request: Any) -> None:
            return None

    with pytest.raises(RuntimeError, match="start_response"):
        call(AsgiApplication(Silent(), 1), scope(), WHOLE)


def test_what_a_thread_made_for_a_client_that_left_is_closed() -> None:
    """The thread cannot be stopped, so its answer is closed when it is there."""
    begun, go_on, closed = threading.Event(), threading.Event(), threading.Event()

    class Blocking:
        def __call__(self, environ: Any, start_response: Any) -> Iterator[bytes]:
            begun.set()
            go_on.wait(PATIENCE)
            start_response("200 OK", [])
            try:
                yield b"one"
                yield b"two"
            finally:
                closed.set()

        def at_once_in_process(self, request: Any) -> None:
            return None

    async def leave() -> None:
        never = asyncio.Event()

        async def receive() -> Message:
            if begun.is_set():
                await never.wait()
            return WHOLE

        application: Any = AsgiApplication(Blocking(), 1)
        asked = asyncio.ensure_future(application(scope(), receive, never.wait))
        await asyncio.to_thread(begun.wait, PATIENCE)
        asked.cancel()
        await asyncio.wait([asked])
        go_on.set()
        assert await asyncio.to_thread(closed.wait, PATIENCE)

    run_async(leave())
