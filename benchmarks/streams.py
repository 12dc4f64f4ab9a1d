"""What open streams cost: requests beside them, memory, and one event for all of them.

Run it with `python benchmarks/streams.py`. The server has a process of its own; it needs `wrk` on
the path and 5,000 descriptors (`ulimit -n`). Keep-alives come every 20 seconds, as by default.
"""

from __future__ import annotations

import json
import resource
import selectors
import shutil
import socket
import statistics
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, Self
from urllib.request import Request, urlopen

from connections import ACCOUNT, resident
from servers import Server, load, running

from mock_platform.world.clock import UPTIME

STREAMS = 2_000
ROUNDS, SECONDS, CONNECTIONS = 5, 4, 64
WANTED = 0.9
EVENT = {"event_type": "profile.update.bio", "user_id": "2244994945", "payload": {"after": "x"}}


class Readers:
    """Clients that read everything and count the lines."""

    def __init__(self) -> None:
        self.lines = 0
        self.bytes = 0
        self._selector = selectors.DefaultSelector()
        self._ended = threading.Event()
        self._arrived = threading.Condition()
        self._thread = threading.Thread(target=self._read)

    def add(self, client: socket.socket) -> None:
        """Read what a client gets."""
        client.settimeout(0)
        self._selector.register(client, selectors.EVENT_READ)

    def wait(self, lines: int) -> None:
        """Wait until so many lines came."""
        with self._arrived:
            assert self._arrived.wait_for(lambda: self.lines >= lines, 60), self.lines

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()
        self._selector.close()

    def _read(self) -> None:
        while not self._ended.is_set():
            for key, _ in self._selector.select(0.1):
                client: Any = key.fileobj
                data = client.recv(65_536)
                self.bytes += len(data)
                found = data.count(b'"event_uuid"')
                if found:
                    with self._arrived:
                        self.lines += found
                        self._arrived.notify_all()


@contextmanager
def streaming(server: Server, port: int) -> Iterator[Readers]:
    """That many open streams, each of which has its first bytes."""
    head = (
        f"GET /2/activity/stream HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        f"Authorization: Bearer {server.token}\r\n\r\n"
    ).encode()
    readers = Readers()
    with ExitStack() as clients:
        for _ in range(STREAMS):
            client = clients.enter_context(socket.create_connection(("127.0.0.1", port), 30))
            client.sendall(head)
            first = client.recv(4096)
            assert b" 200 " in first.split(b"\r\n")[0], first
            readers.add(client)
        with readers:
            yield readers


def call(server: Server, path: str, body: object | None = None) -> Any:
    """An answer of the control plane."""
    data = None if body is None else json.dumps(body).encode()
    request = Request(f"{server.url}{path}", data, {"Content-Type": "application/json"})
    with urlopen(request, timeout=60) as answer:
        return json.load(answer)


def measure() -> None:
    """Print requests beside streams as a multiple of those without, and what streams cost."""
    command = [sys.executable, "-m", "mock_platform", "serve", "--port", "0",
               "--stream-connections", str(STREAMS), "--log-level", "off"]  # fmt: skip
    with running(command) as (line, pid):
        ready = json.loads(line.partition(" ")[2])
        server = Server("serve", ready["url"], "", pid)
        token = call(server, "/_mock/credentials")["bearer_token"]
        server = server._replace(token=token)
        port = int(ready["url"].rpartition(":")[2])
        load(server, ACCOUNT, CONNECTIONS, 2, None)
        alone, beside, memory, spread = [], [], [], []
        for _ in range(ROUNDS):
            alone.append(load(server, ACCOUNT, CONNECTIONS, SECONDS, None))
            before = resident(pid)
            with streaming(server, port) as readers:
                memory.append((resident(pid) - before) / STREAMS / 1024)
                beside.append(load(server, ACCOUNT, CONNECTIONS, SECONDS, None))
                assert len(call(server, "/_mock/streams")["streams"]) == STREAMS
                start = UPTIME()
                call(server, "/_mock/events", EVENT)
                readers.wait(STREAMS)
                spread.append(UPTIME() - start)
            while call(server, "/_mock/streams")["streams"]:
                threading.Event().wait(0.05)
    rate, effort = (
        statistics.median(getattr(one, name) for one in beside)
        / statistics.median(getattr(one, name) for one in alone)
        for name in ("rate", "effort")
    )
    print(
        f"{STREAMS} open streams: requests x{rate:.2f} as fast as without (wanted: {WANTED}), "
        f"x{effort:.2f} in processor time; {max(memory):.1f} KiB a stream; one event at all of "
        f"them after {statistics.median(spread) * 1000:.0f} ms",
        flush=True,
    )


def main() -> None:
    """Measure, if this machine can."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if shutil.which("wrk") is None:
        print("left out: requests beside streams (apt-get install wrk)")
    elif most < 2 * STREAMS + 1000:
        print(f"left out: requests beside streams (ulimit -n is {most})")
    else:
        measure()


if __name__ == "__main__":
    main()
