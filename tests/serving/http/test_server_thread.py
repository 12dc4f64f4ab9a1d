from __future__ import annotations

import gc
import subprocess
import sys
import threading
import weakref
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

import pytest

from mock_platform.core.connection import CONNECTION
from mock_platform.serving.http import CannotBind, ServerThread, backend
from mock_platform.serving.http.tls import TlsMaterial
from mock_platform.settings import ConnectionSettings
from mock_platform.world.clock import UPTIME
from tests.serving.http.wire import Connect, Environ, Start, Wire, hello, reply, show
from tests.waits import PATIENCE

LONG = 10 * PATIENCE

pytestmark = pytest.mark.live


class Gate:
    """An application whose answers on `/wait` come when the test lets them."""

    def __init__(self) -> None:
        self.entered = threading.Semaphore(0)
        self.open = threading.Event()
        self.stopping = threading.Event()

    def __call__(self, environ: Environ, start_response: Start) -> list[bytes]:
        """Answer, if need be when the gate is open."""
        if environ["PATH_INFO"] == "/wait":
            self.stopping = environ[CONNECTION].stopping
            self.entered.release()
            assert self.open.wait(PATIENCE)
        return hello(environ, start_response)

    def wait_until_entered(self, times: int = 1) -> None:
        """Return when so many requests wait."""
        for _ in range(times):
            assert self.entered.acquire(timeout=PATIENCE)


@pytest.fixture
def gate() -> Iterator[Gate]:
    """A gate that is open at the end of the test, whatever happened."""
    made = Gate()
    yield made
    made.open.set()


@pytest.fixture
def others() -> frozenset[threading.Thread]:
    """Threads that ran before the test: other tests of this process have servers as well."""
    return frozenset(threading.enumerate())


def own_threads(others: frozenset[threading.Thread]) -> list[str]:
    """The names of the servers' threads that the test has started and that still run."""
    started = set(threading.enumerate()) - others
    return [thread.name for thread in started if thread.name.startswith("mock-platform-")]


def test_it_answers_as_soon_as_it_was_started() -> None:
    """The constructor binds, `start` answers, and host, port and address say where."""
    server = ServerThread(hello)
    try:
        assert server.url == f"http://127.0.0.1:{server.port}"
        assert server.start() is server
        with Wire(server) as wire:
            assert wire.get().answer().body == b"hello"
    finally:
        server.stop()


def test_a_client_that_came_before_the_start_is_answered() -> None:
    """Between construction and start, connections and requests are queued."""
    server = ServerThread(hello)
    with Wire(server) as wire:
        wire.get()
        with server:
            assert wire.answer().body == b"hello"


def test_a_port_in_use_is_told_by_the_constructor() -> None:
    """Nothing has to be started to learn that the port is in use."""
    with ServerThread(hello) as server, pytest.raises(CannotBind):
        ServerThread(hello, port=server.port)


@pytest.fixture
def rare_ticks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever looks at intervals looks so rarely that to wait for it shows."""
    monkeypatch.setattr(backend, "SWEEP_SECONDS", LONG)


@pytest.mark.usefixtures("rare_ticks")
def test_it_starts_at_once() -> None:
    """Starting waits for no interval at which something is looked at."""
    begun = UPTIME()

    with ServerThread(hello) as server, Wire(server) as wire:
        assert wire.get().answer().status == 200

    assert UPTIME() - begun < PATIENCE


@pytest.mark.usefixtures("rare_ticks")
def test_it_stops_at_once_with_open_connections(
    others: frozenset[threading.Thread], tls: TlsMaterial | None, connect: Connect
) -> None:
    """Neither idle connections nor silent ones nor ones never answered delay the stop."""
    with ExitStack() as clients, ServerThread(never_on_hold, tls=tls) as server:
        wires = [clients.enter_context(connect(server)) for _ in range(6)]
        for wire in wires[:4]:
            assert wire.get().answer().status == 200
        wires[0].get("/hold")
        begun = UPTIME()
        server.stop(grace=LONG)

        assert UPTIME() - begun < PATIENCE
    assert not own_threads(others)


def never_on_hold(environ: Environ, start_response: Start) -> list[bytes]:
    """Never answers on `/hold`."""
    if environ["PATH_INFO"] == "/hold":
        environ[CONNECTION].hold()
    return hello(environ, start_response)


def test_stopping_again_is_harmless() -> None:
    """Two stops are one; a stopped server does not start again."""
    server = ServerThread(hello).start()
    server.stop()
    server.stop()

    with pytest.raises(RuntimeError):
        server.start()


def test_a_server_that_was_never_started_gives_its_port_back() -> None:
    """Stopping without starting closes the socket."""
    server = ServerThread(hello)
    server.stop()

    with ServerThread(hello, port=server.port) as again:
        assert again.port == server.port


def test_a_request_in_flight_is_finished(gate: Gate) -> None:
    """Stopping waits for the answer, which says that the connection ends."""
    with Wire(server := ServerThread(gate).start()) as wire:
        wire.get("/wait")
        gate.wait_until_entered()
        stopping = threading.Thread(target=server.stop)
        stopping.start()
        assert gate.stopping.wait(PATIENCE)
        gate.open.set()
        answer = wire.answer()
        stopping.join(PATIENCE)

    assert (200, b"hello") == (answer.status, answer.body)
    assert answer.headers["connection"] == "close"
    assert not stopping.is_alive()


def test_a_request_that_takes_too_long_is_cut(gate: Gate, caplog: pytest.LogCaptureFixture) -> None:
    """After the grace the connection ends without an answer, and stopping returns."""
    with Wire(server := ServerThread(gate).start()) as wire:
        wire.get("/wait")
        gate.wait_until_entered()
        begun = UPTIME()
        server.stop(grace=0.1)
        took = UPTIME() - begun

        assert wire.rest() == b""
    assert took >= 0.1
    assert "Requests still running after 0.1 seconds were cut" in caplog.text


@pytest.mark.parametrize("said", [b"GET / HT", b"GET / HTTP/1.1\r\nHost: x\r\n"])
def test_half_a_request_does_not_delay_the_stop(said: bytes) -> None:
    """A request that did not come in whole is not in flight: its connection ends at once."""
    with Wire(server := ServerThread(hello).start()) as wire:
        assert wire.get().answer().status == 200
        wire.send(said)
        # An answered request of another client: the half one was taken up before it.
        with Wire(server) as other:
            assert other.get().answer().status == 200
        begun = UPTIME()
        server.stop(grace=LONG)

        assert UPTIME() - begun < PATIENCE
        assert wire.rest() == b""
    assert server.errors == []


def test_requests_that_no_thread_came_round_to_are_cut(gate: Gate) -> None:
    """A request that waits behind one that takes too long ends with it, unanswered."""
    with (
        Wire(server := ServerThread(gate, threads=1).start()) as stuck,
        Wire(server) as behind,
        Wire(server) as again,
        Wire(server) as later,
    ):
        stuck.get("/wait")
        gate.wait_until_entered()
        behind.get()
        again.get()
        # The loop refuses this by itself: it has read what came before. A stop resets a connection
        # of which it has not read everything.
        later.send(b"no request\r\n\r\n")
        assert later.answer().status == 400
        server.stop(grace=0.1)

        assert [b"", b"", b""] == [stuck.rest(), behind.rest(), again.rest()]


def test_whoever_delays_an_answer_learns_of_the_stop() -> None:
    """`stopping` is set when the server begins to stop, so that delays end early."""
    waiting = threading.Event()
    woken: list[bool] = []

    def delayed(environ: Environ, start_response: Start) -> list[bytes]:
        waiting.set()
        woken.append(environ[CONNECTION].stopping.wait(PATIENCE))
        return hello(environ, start_response)

    with Wire(server := ServerThread(delayed).start()) as wire:
        wire.get()
        assert waiting.wait(PATIENCE)
        server.stop()

        assert wire.answer().body == b"hello"
    assert [True] == woken


def test_slow_answers_do_not_hold_up_others(gate: Gate) -> None:
    """While some requests wait, others are answered: threads are started when needed."""
    with ExitStack() as clients, ServerThread(gate, threads=4) as server:
        for _ in range(3):
            clients.enter_context(Wire(server)).get("/wait")
        gate.wait_until_entered(3)
        quick = clients.enter_context(Wire(server))

        assert quick.get("/quick").answer().body == b"hello"
        gate.open.set()


def test_more_requests_than_threads_wait_their_turn(
    gate: Gate, others: frozenset[threading.Thread]
) -> None:
    """`threads` is the most that is worked on at once; the rest is answered afterwards."""
    with ExitStack() as clients, ServerThread(gate, threads=2) as server:
        wires = [clients.enter_context(Wire(server)).get("/wait") for _ in range(3)]
        gate.wait_until_entered(2)
        workers = [name for name in own_threads(others) if "worker" in name]

        assert 2 == len(workers)
        assert not gate.entered.acquire(timeout=0.05)
        gate.open.set()
        assert [b"hello"] * 3 == [wire.answer().body for wire in wires]


def test_one_client_needs_one_thread(others: frozenset[threading.Thread]) -> None:
    """Requests one after the other start no second thread."""
    with ServerThread(hello) as server, Wire(server) as wire:
        for _ in range(50):
            wire.get().answer()

        assert 1 == len([name for name in own_threads(others) if "worker" in name])


def test_a_client_that_says_nothing_occupies_nobody(
    tls: TlsMaterial | None, connect: Connect
) -> None:
    """Silent connections, as browsers open them in advance, leave the only worker free."""
    with (
        ServerThread(hello, tls=tls, threads=1) as server,
        Wire(server),
        connect(server),
        connect(server) as wire,
    ):
        assert wire.get().answer().body == b"hello"


def test_many_clients_at_once() -> None:
    """Thirty-two clients with twenty requests each get their own answers, all of them."""

    def client(number: int) -> bool:
        with Wire(server) as wire:
            targets = [f"/{number}/{step}?x={number}" for step in range(20)]
            answers = [wire.get(target).answer().json() for target in targets]
        return targets == [answer["REQUEST_URI"] for answer in answers]

    with ServerThread(show) as server, ThreadPoolExecutor(32) as pool:
        assert all(pool.map(client, range(32)))
        assert server.errors == []


@pytest.mark.parametrize("kind", [LookupError, SystemExit, KeyboardInterrupt])
def test_what_the_application_raises_is_kept(
    kind: type[BaseException], caplog: pytest.LogCaptureFixture
) -> None:
    """It answers 500, is logged and found under `errors`; even what ends a process does no more."""

    def failing(environ: Environ, start_response: Start) -> list[bytes]:
        if environ["PATH_INFO"] == "/fail":
            raise kind("no such thing")
        return hello(environ, start_response)

    with ServerThread(failing, threads=1) as server, Wire(server) as wire:
        failed = wire.get("/fail").answer()

        told = f"The application raised {kind.__name__}; see the server's log.\n"
        assert (500, told.encode()) == (failed.status, failed.body)
        assert wire.get("/").answer().body == b"hello"
    assert [kind] == [type(fault) for fault in server.errors]
    assert f"{kind.__name__}: no such thing" in caplog.text


def test_a_stopped_server_lets_go_of_its_application() -> None:
    """Nothing global holds a server: its application can be collected after the stop."""

    class App:
        def __call__(self, environ: Environ, start_response: Start) -> list[bytes]:
            return hello(environ, start_response)

    app = App()
    seen = weakref.ref(app)
    with ServerThread(app) as server, Wire(server) as wire:
        wire.get().answer()
    del app, server, wire
    gc.collect()

    assert seen() is None


def test_a_process_ends_though_nobody_stopped_its_server() -> None:
    """The threads are daemons: a script that forgets to stop the server still ends."""
    script = (
        "import urllib.request\n"
        "from mock_platform.serving.http import ServerThread\n"
        "from tests.serving.http.wire import hello\n"
        "server = ServerThread(hello).start()\n"
        "print(urllib.request.urlopen(server.url).read().decode())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=PATIENCE, check=True
    )

    assert "hello\n" == done.stdout


def test_idle_connections_are_closed_after_a_while() -> None:
    """A connection whose next request does not come in time is ended in good order."""
    limits = ConnectionSettings(idle_seconds=0.05)
    with ServerThread(hello, limits=limits) as server, Wire(server) as wire:
        assert wire.get().answer().status == 200
        assert wire.rest() == b""


def test_several_servers_stand_side_by_side() -> None:
    """Each has its own port and application, and stops alone."""

    def named(name: bytes) -> Any:
        return lambda _environ, start_response: reply(start_response, name)

    with ServerThread(named(b"one")) as one, ServerThread(named(b"two")) as two:
        with Wire(one) as wire:
            assert wire.get().answer().body == b"one"
        one.stop()
        with Wire(two) as wire:
            assert wire.get().answer().body == b"two"
