from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import requests

from mock_platform.faults import CONNECTION
from mock_platform.server import ServerUnavailable
from mock_platform.server.binding import Bound, bind
from mock_platform.server.granian_server import GranianServer
from mock_platform.tls import TlsMaterial
from mock_platform.version import __version__
from tests.server.wire import Application, Environ, Start, Wire, hello, reply, show
from tests.waits import PATIENCE

pytestmark = pytest.mark.live


@contextmanager
def serving(
    application: Application, tls: TlsMaterial | None = None, threads: int = 2
) -> Iterator[tuple[GranianServer, Bound]]:
    """A running granian and where it listens."""
    listener, bound = bind("127.0.0.1", 0, "http" if tls is None else "https")
    server = GranianServer(application, listener, tls, threads)
    server.start()
    try:
        yield server, bound
    finally:
        server.stop()


def test_it_answers_in_this_process() -> None:
    """The application runs here, where the state is, and finds no connection to break."""

    def looking(environ: Environ, start_response: Start) -> list[bytes]:
        assert CONNECTION not in environ
        return reply(start_response, str(os.getpid()).encode())

    with serving(looking) as (server, bound), Wire(bound) as wire:
        answer = wire.get().answer()

    assert str(os.getpid()).encode() == answer.body
    assert f"mock-platform/{__version__}" == answer.headers["server"]
    assert server.errors == []


@pytest.mark.parametrize(
    ("target", "uri", "path"),
    [
        ("/12/accounts?x=%2F", "/12/accounts?x=%2F", "/12/accounts"),
        ("/a%20b", "/a%20b", "/a b"),
        ("/caf%C3%A9", "/caf%C3%A9", "/caf\xc3\xa9"),
        ("//12//accounts", "//12//accounts", "//12//accounts"),
        ("/~w1/a:b@c!$&'()*+,;=-._", "/~w1/a:b@c!$&'()*+,;=-._", "/~w1/a:b@c!$&'()*+,;=-._"),
        ("/a%2Fb/%7Ec", "/a/b/~c", "/a/b/~c"),
    ],
)
def test_the_path_is_rebuilt(target: str, uri: str, path: str) -> None:
    """REQUEST_URI is what the client wrote, but for escapes that are needless or hide a slash."""
    with serving(show) as (_, bound), Wire(bound) as wire:
        seen = wire.get(target).answer().json()

    assert (uri, path) == (seen["REQUEST_URI"], seen["PATH_INFO"])


def test_the_environ_tells_who_called_and_how() -> None:
    """Client, scheme, name and port are those of the connection."""
    with serving(show) as (_, bound), Wire(bound) as wire:
        seen = wire.get("/", "X-Some: thing").answer().json()

    assert "127.0.0.1" == seen["REMOTE_ADDR"]
    assert "http" == seen["wsgi.url_scheme"]
    assert str(bound.port) == seen["SERVER_PORT"]
    assert "thing" == seen["HTTP_X_SOME"]
    assert "" == seen["SCRIPT_NAME"]


def test_bodies_arrive_whole() -> None:
    """With a length, and in chunks, and after an Expect."""
    with serving(show) as (_, bound), requests.Session() as session:
        assert 70_000 == session.post(bound.url, data=bytes(70_000)).json()["length"]
        assert 5 == session.post(bound.url, data=iter([b"abc", b"de"])).json()["length"]
        with Wire(bound) as wire:
            wire.get("/", "Expect: 100-continue", "Content-Length: 2", method="POST")
            assert 100 == wire.answer().status
            assert 2 == wire.send(b"ok").answer().json()["length"]


def test_a_body_beyond_the_limit_is_refused() -> None:
    """More than 32 MiB by its declared length answer 413, whatever comes of them."""
    with serving(show) as (_, bound), Wire(bound) as wire:
        wire.get("/", f"Content-Length: {32 * 1024 * 1024 + 1}", method="POST")
        assert 413 == wire.answer().status


def test_a_body_at_the_limit_is_taken() -> None:
    """32 MiB reach the application."""
    with serving(show) as (_, bound):
        answer = requests.post(bound.url, data=bytes(32 * 1024 * 1024), timeout=PATIENCE)

    assert 32 * 1024 * 1024 == answer.json()["length"]


def test_head_has_headers_only() -> None:
    """A HEAD is answered with the length of the body it would have had."""
    with serving(hello) as (_, bound), Wire(bound) as wire:
        answer = wire.get(method="HEAD").answer(head=True)
        assert "5" == answer.headers["content-length"]
        assert b"hello" == wire.get().answer().body


def test_streams_and_written_parts() -> None:
    """A generator is streamed, one with a length is whole, written parts come first."""
    closed = threading.Event()

    class Parts:
        def __iter__(self) -> Iterator[bytes]:
            return iter([b"", b"one", b"two"])

        def close(self) -> None:
            closed.set()

    def application(environ: Environ, start_response: Start) -> Any:
        headers = [] if environ["PATH_INFO"] == "/free" else [("Content-Length", "6")]
        write = start_response("200 OK", headers)
        if environ["PATH_INFO"] == "/write":
            write(b"one")
            return [b"two"]
        return Parts()

    with serving(application) as (server, bound), Wire(bound) as wire:
        for target in ("/free", "/length", "/write"):
            assert b"onetwo" == wire.get(target).answer().body
    assert closed.wait(PATIENCE)
    assert server.errors == []


def test_a_truncated_answer_is_a_fault(caplog: pytest.LogCaptureFixture) -> None:
    """What this server cannot do is told, not silently done otherwise."""

    def truncated(_environ: Environ, start_response: Start) -> list[bytes]:
        start_response("200 OK", [("Content-Length", "10")])
        return [b"short"]

    with serving(truncated) as (server, bound), Wire(bound) as wire:
        assert 500 == wire.get().answer().status
    assert [
        "The body has 5 bytes, its Content-Length says 10. Truncated answers need --server cheroot."
    ] == [str(fault) for fault in server.errors]
    assert "Truncated answers" in caplog.text


@pytest.mark.parametrize("kind", [LookupError, SystemExit])
def test_what_the_application_raises_is_kept(
    kind: type[BaseException], caplog: pytest.LogCaptureFixture
) -> None:
    """A fault answers 500, is logged and found under `errors`; the server goes on."""

    def failing(environ: Environ, start_response: Start) -> list[bytes]:
        if environ["PATH_INFO"] == "/fail":
            raise kind("no such thing")
        return hello(environ, start_response)

    with serving(failing) as (server, bound), Wire(bound) as wire:
        answer = wire.get("/fail").answer()
        assert 500 == answer.status
        assert kind.__name__.encode() in answer.body
        assert b"hello" == wire.get().answer().body
    assert [kind] == [type(fault) for fault in server.errors]
    assert "no such thing" in caplog.text


def test_many_clients_at_once() -> None:
    """Thirty-two clients with twenty requests each get their own answers, all of them."""
    with serving(show) as (server, bound), ThreadPoolExecutor(32) as pool:

        def client(number: int) -> bool:
            with Wire(bound) as wire:
                targets = [f"/{number}/{step}?x={number}" for step in range(20)]
                answers = [wire.get(target).answer().json() for target in targets]
            return targets == [answer["REQUEST_URI"] for answer in answers]

        assert all(pool.map(client, range(32)))
    assert server.errors == []


def test_a_request_in_flight_is_finished() -> None:
    """Stopping waits for the answer; idle connections do not delay it."""
    entered, go_on = threading.Event(), threading.Event()

    def waiting(environ: Environ, start_response: Start) -> list[bytes]:
        entered.set()
        assert go_on.wait(PATIENCE)
        return hello(environ, start_response)

    with serving(waiting) as (server, bound), Wire(bound), Wire(bound) as wire:
        wire.get()
        assert entered.wait(PATIENCE)
        stopping = threading.Thread(target=server.stop)
        stopping.start()
        go_on.set()

        assert b"hello" == wire.answer().body
        stopping.join(PATIENCE)
        assert not stopping.is_alive()


def test_https() -> None:
    """The certificate is one that a client of the authority accepts; the scheme is https."""
    material = TlsMaterial.generate()
    with serving(show, material) as (_, bound):
        answer = requests.get(bound.url, verify=str(material.ca), timeout=PATIENCE)

    assert "https" == answer.json()["wsgi.url_scheme"]
    assert bound.url.startswith("https://")


def unavailable(break_it: Callable[[], None]) -> str:
    """What is said where granian cannot be used; the listening socket is given back."""
    break_it()
    listener, bound = bind("127.0.0.1", 0)
    with pytest.raises(ServerUnavailable) as caught:
        GranianServer(hello, listener, None, 1)
    again, _ = bind("127.0.0.1", bound.port)
    again.close()
    return str(caught.value)


def test_a_missing_granian_is_told_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the extra the text names the extra."""
    told = unavailable(lambda: monkeypatch.setitem(sys.modules, "granian._granian", None))

    assert told == (
        "The server granian is not installed. Install it with "
        "pip install 'mock-platform[fast]', or use --server cheroot."
    )


def test_another_granian_is_told_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """A version whose worker is made otherwise is refused, not met with a traceback."""

    def worker(*_: object, **__: object) -> None:
        raise TypeError("unexpected keyword argument 'ipc'")

    told = unavailable(lambda: monkeypatch.setattr("granian._granian.WSGIWorker", worker))

    assert told.startswith("The installed granian is not of version 2.8, which this works with")
    assert "unexpected keyword argument 'ipc'" in told


def test_the_certificate_is_read_at_the_start(tmp_path: Path) -> None:
    """A folder with an authority serves granian as it serves cheroot."""
    material = TlsMaterial.generate(["sandbox.test"], tmp_path)
    with serving(hello, material) as (_, bound), Wire(bound, material.ca) as wire:
        assert b"hello" == wire.get().answer().body
