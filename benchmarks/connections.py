"""What many connections cost: slow clients, idle ones, answers that last, and a stop with all open.

Run it with `python benchmarks/connections.py`. The servers have processes of their own. It needs
`wrk` on the path for the requests beside idle connections, and 13,000 descriptors (`ulimit -n`).
"""

from __future__ import annotations

import json
import resource
import selectors
import shutil
import signal
import socket
import ssl
import statistics
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from servers import Server, load, running

from mock_platform.api.oauth.tester_access import credentials
from mock_platform.core.connection import Direct, Pause, Peer, Request
from mock_platform.platform import Platform
from mock_platform.serving.app import create_app
from mock_platform.serving.flask.application import PlatformApplication
from mock_platform.serving.http import ServerThread
from mock_platform.world.clock import UPTIME

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

HALF_HEADS, HALF_BODIES, HALF_HANDSHAKES, IDLE, NEVER_READING = 1000, 1000, 300, 1000, 60
DEADLINE = 15
"""Seconds after which the server gives up any of them, as it is started here."""
MANY_IDLE, LINES = 10_000, 2_000
ROUNDS, SECONDS = 3, 4
OPEN_AT_STOP = 1000
ACCOUNT = "/12/accounts/18ce54d4x5t"
HALF_HEAD = b"GET /_mock/health HTTP/1.1\r\nHost: x\r\n"
NO_BODY = b"POST /oauth2/token HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n"
LARGE = b"GET /_mock/docs/assets/swagger-ui-bundle.js HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
HEALTH = b"GET /_mock/health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
Address = tuple[str, int]


class Lines:
    """The platform, and `/lines`: an answer that has one more line each second, for ever."""

    def __init__(self, application: PlatformApplication) -> None:
        self._application = application

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Answer one request of the platform."""
        return self._application(environ, start_response)

    def at_once(self, request: Request) -> Direct | None:
        """What answers a request on the loop."""
        return self._lines if request.target == "/lines" else self._application.at_once(request)

    def _lines(
        self, request: Request, peer: Peer, start_response: StartResponse
    ) -> Iterator[bytes | Pause]:
        start_response("200 OK", [("Content-Type", "text/plain")])
        while True:
            yield b"a line of some length, as an event of a stream has it\n"
            yield Pause(1.0)


def serve_lines() -> None:
    """Serve the platform and `/lines` until the process is ended."""
    platform = Platform()
    token = credentials(platform.worlds.default)["bearer_token"]
    with ServerThread(Lines(create_app(platform))) as server:
        ready = {"url": server.url, "port": server.port, "token": token}
        print(json.dumps(ready), flush=True)
        signal.sigwait({signal.SIGTERM, signal.SIGINT})


def resident(pid: int) -> int:
    """Bytes of memory that a process has at present."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmRSS:"))


def descriptors(pid: int) -> int:
    """How many descriptors a process has open."""
    return sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir())


def connected(
    address: Address, said: bytes, context: ssl.SSLContext | None = None
) -> socket.socket:
    """A client that says so much and nothing more."""
    client = socket.socket()
    client.settimeout(60)
    if said is LARGE:  # so that the answer does not fit into what the system keeps for the client
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    client.connect(address)
    if context is not None:
        client = context.wrap_socket(client, server_hostname="localhost")
    if said:
        client.sendall(said)
    return client


class Health:
    """Asks for `/_mock/health` again and again, in a thread, on a new connection each time."""

    def __init__(self, address: Address, context: ssl.SSLContext | None) -> None:
        self.taken: list[float] = []
        self._address, self._context = address, context
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._ask, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _ask(self) -> None:
        while not self._ended.wait(0.05):
            start = UPTIME()
            with connected(self._address, HEALTH, self._context) as client:
                answer = client.recv(65_536)
            if not answer.startswith(b"HTTP/1.1 200 OK"):
                raise RuntimeError(f"instead of its health the server answers {answer[:200]!r}")
            self.taken.append(UPTIME() - start)


def slow_clients(*, tls: bool) -> None:
    """Every kind of slow client together, and what somebody else meets beside them."""
    options = ["--idle-timeout", str(DEADLINE), "--write-timeout", str(DEADLINE)]
    command = [sys.executable, "-m", "mock_platform", "serve", "--port", "0", *options]
    with running([*command, *(["--tls"] if tls else [])]) as (line, pid), ExitStack() as clients:
        ready = json.loads(line.removeprefix("READY "))
        address = ("127.0.0.1", int(ready["url"].rpartition(":")[2]))
        context = ssl.create_default_context(cafile=ready["ca"]) if tls else None
        connected(address, HEALTH, context).recv(65_536)  # what the first request loads is loaded
        memory, open_before = resident(pid), descriptors(pid)
        kinds: list[tuple[int, bytes, ssl.SSLContext | None]] = [
            (HALF_HEADS, HALF_HEAD, context),
            (HALF_BODIES, NO_BODY, context),
            (HALF_HANDSHAKES, b"\x16\x03\x01" if tls else b"G", None),
            (IDLE, b"", context),
            (NEVER_READING, LARGE, context),
        ]
        with Health(address, context) as health:
            for count, said, how in kinds:
                for _ in range(count):
                    clients.enter_context(connected(address, said, how))
            threading.Event().wait(1)  # the last ones are accepted by then
            most = descriptors(pid) - open_before
            grown, began = resident(pid) - memory, UPTIME()
            while descriptors(pid) > open_before + 1:  # the one that asks
                threading.Event().wait(0.1)
                if UPTIME() - began > 4 * DEADLINE:
                    break
            gone, left = UPTIME() - began, descriptors(pid) - open_before
        print(
            f"{sum(count for count, _, _ in kinds)} slow clients, {'https' if tls else 'http'}: "
            f"health median {statistics.median(health.taken) * 1000:.1f} ms, "
            f"longest {max(health.taken) * 1000:.0f} ms of {len(health.taken)}; "
            f"{grown / 2**20:.0f} MiB with {most} open; "
            f"all but {max(0, left)} gone after {gone:.0f} s",
            flush=True,
        )


@contextmanager
def listening(address: Address) -> Iterator[Callable[[], int]]:
    """Clients that read lines, and idle ones beside them; how many lines came so far."""
    found = selectors.DefaultSelector()
    came, ended = [0], threading.Event()
    with ExitStack() as clients:
        for _ in range(LINES):
            client = clients.enter_context(
                connected(address, b"GET /lines HTTP/1.1\r\nHost: x\r\n\r\n")
            )
            found.register(client, selectors.EVENT_READ)

        def read() -> None:
            while not ended.is_set():
                for key, _ in found.select(0.2):
                    came[0] += key.fileobj.recv(65_536).count(b"\n\r\n")  # type: ignore[union-attr]

        reader = threading.Thread(target=read, daemon=True)
        reader.start()
        for _ in range(MANY_IDLE):
            clients.enter_context(connected(address, b""))
        try:
            yield lambda: came[0]
        finally:
            ended.set()
            reader.join()


def requests_beside_idle() -> None:
    """How fast requests are beside idle connections and answers that last, against without."""
    if shutil.which("wrk") is None:
        print("left out: requests beside idle connections (apt-get install wrk)")
        return
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if most < MANY_IDLE + LINES + 1000:
        print(f"left out: requests beside idle connections (ulimit -n is {most})")
        return
    with running([sys.executable, str(Path(__file__).resolve()), "lines"]) as (line, pid):
        ready = json.loads(line)
        address = ("127.0.0.1", ready["port"])
        server = Server("with /lines", ready["url"], ready["token"], pid)
        load(server, ACCOUNT, 64, 2, None)
        alone, beside, lines, memory = [], [], [], 0
        for _ in range(ROUNDS):
            alone.append(load(server, ACCOUNT, 64, SECONDS, None))
            before = resident(pid)
            with listening(address) as came:
                memory = max(memory, resident(pid) - before)
                seen, start = came(), UPTIME()
                beside.append(load(server, ACCOUNT, 64, SECONDS, None))
                lines.append((came() - seen) / (UPTIME() - start))
            while descriptors(pid) > 1000:
                threading.Event().wait(0.1)
    ratio = statistics.median(one.rate for one in beside) / statistics.median(
        one.rate for one in alone
    )
    effort = statistics.median(one.effort for one in beside) / statistics.median(
        one.effort for one in alone
    )
    print(
        f"{MANY_IDLE} idle connections and {LINES} answers of a line a second: requests "
        f"x{ratio:.2f} as fast as without (x{effort:.2f} in processor time, the lines' "
        f"included); {statistics.median(lines):.0f} lines a second; "
        f"{memory / (MANY_IDLE + LINES) / 1024:.1f} KiB a connection",
        flush=True,
    )


def stop() -> None:
    """How long a stop takes with connections open, each of which was answered once."""
    taken = []
    for _ in range(5):
        server = ServerThread(create_app(Platform())).start()
        with ExitStack() as clients:
            for _ in range(OPEN_AT_STOP):
                client = clients.enter_context(connected((server.host, server.port), HEALTH))
                client.recv(65_536)
            start = UPTIME()
            server.stop()
            taken.append(UPTIME() - start)
    print(
        f"stop with {OPEN_AT_STOP} connections open: median {statistics.median(taken) * 1000:.1f} "
        f"ms, longest {max(taken) * 1000:.1f} ms",
        flush=True,
    )


def main(chosen: Iterable[str]) -> None:
    """Print a line for each measurement."""
    parts: dict[str, Callable[[], Any]] = {
        "stop": stop,
        "slow": lambda: slow_clients(tls=False),
        "slow-tls": lambda: slow_clients(tls=True),
        "idle": requests_beside_idle,
    }
    for name in list(chosen) or parts:
        parts[name]()


if __name__ == "__main__":
    if sys.argv[1:] == ["lines"]:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGINT})
        serve_lines()
    else:
        main(sys.argv[1:])
