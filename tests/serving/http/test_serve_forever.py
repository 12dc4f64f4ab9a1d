from __future__ import annotations

import sys
import threading

import pytest

from mock_platform.serving.http import Bound, CannotBind, ServerThread, serve_forever
from mock_platform.serving.http.tls import TlsMaterial
from tests.commands import python
from tests.serving.http.wire import Connect, Wire, hello
from tests.waits import PATIENCE

pytestmark = pytest.mark.live


class Ready:
    """Takes the address when the server is ready, and asks it to stop."""

    def __init__(self) -> None:
        self.stop = threading.Event()
        self._known = threading.Event()
        self._bound: Bound | None = None

    def __call__(self, bound: Bound) -> None:
        """What `serve_forever` calls."""
        self._bound = bound
        self._known.set()

    @property
    def bound(self) -> Bound:
        """The address, as soon as it is known."""
        assert self._known.wait(PATIENCE)
        assert self._bound is not None
        return self._bound


def run(ready: Ready, tls: TlsMaterial | None = None) -> threading.Thread:
    """Serve in a thread."""
    thread = threading.Thread(
        target=serve_forever,
        args=(hello, "127.0.0.1", 0),
        kwargs={"tls": tls, "on_ready": ready, "stop": ready.stop},
    )
    thread.start()
    return thread


def test_it_serves_until_it_is_told_to_stop(tls: TlsMaterial | None, connect: Connect) -> None:
    """The address is reported once it can be called; after the stop it is closed."""
    ready = Ready()
    thread = run(ready, tls)
    try:
        scheme = "https" if tls else "http"
        assert ready.bound.url == f"{scheme}://127.0.0.1:{ready.bound.port}"
        with connect(ready.bound) as wire:
            assert b"hello" == wire.get().answer().body
    finally:
        ready.stop.set()
        thread.join(PATIENCE)

    assert not thread.is_alive()
    with pytest.raises(ConnectionRefusedError):
        Wire(ready.bound)


def test_a_port_in_use_is_told() -> None:
    """Nothing is started on a port that another server has."""
    ready = Ready()
    with ServerThread(hello) as other, pytest.raises(CannotBind, match="the port is in use"):
        serve_forever(hello, "127.0.0.1", other.port, on_ready=ready, stop=ready.stop)


def test_what_goes_wrong_at_the_start_ends_the_server() -> None:
    """If `on_ready` raises, the server is stopped and its port free."""
    seen: list[Bound] = []

    def failing(bound: Bound) -> None:
        seen.append(bound)
        raise LookupError("nobody to tell")

    with pytest.raises(LookupError):
        serve_forever(hello, "127.0.0.1", 0, on_ready=failing, stop=threading.Event())
    with pytest.raises(ConnectionRefusedError):
        Wire(seen[0])


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limit")
def test_more_connections_are_taken_than_a_shell_allows_files() -> None:
    """A server may have its connections although the soft limit of open files is lower."""
    program = """
import resource, socket
from mock_platform.serving.http import serve_forever

resource.setrlimit(resource.RLIMIT_NOFILE, (64, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
bounds = []

class Stop:
    def wait(self):
        clients = [socket.create_connection((bounds[0].host, bounds[0].port)) for _ in range(60)]
        clients[-1].sendall(b"GET / HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n")
        print(clients[-1].recv(100)[:15])

def hello(environ, start):
    start("200 OK", [("Content-Length", "0")])
    return []

serve_forever(hello, "127.0.0.1", 0, on_ready=bounds.append, stop=Stop())
"""
    assert "b'HTTP/1.1 200 OK'" == python("-c", program).stdout.strip()
