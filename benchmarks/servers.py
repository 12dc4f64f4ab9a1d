"""How fast the servers are: requests a second, latency, and what starting and stopping takes.

Run it with `python benchmarks/servers.py`. All serve the same bare Flask application, each in a
process of its own, called over keep-alive connections from this one; ratios are to cheroot as it
is shipped, without what `mock_platform.server` changes. Client and server share the machine's
cores, so the fast ones are under-reported.
"""

from __future__ import annotations

import json
import selectors
import socket
import statistics
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from cheroot.wsgi import Server
from flask import Flask

from mock_platform.server import Bound, ServerKind, ServerThread, serve_forever
from mock_platform.world.clock import UPTIME

BASE = "cheroot as shipped"
SERVERS = (BASE, "cheroot", "granian")
CONNECTIONS = (1, 8, 32)
BODY = json.dumps({"data": ["x" * 40] * 50}).encode()
REQUEST = b"GET /12/accounts HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: */*\r\n\r\n"


def bare_flask() -> Flask:
    """One route that answers 2 KB of JSON."""
    app = Flask("bare", static_folder=None)
    app.add_url_rule(
        "/12/accounts", view_func=lambda: app.response_class(BODY, mimetype="application/json")
    )
    return app


def shipped(app: Flask) -> Server:
    """Cheroot as its own documentation starts it, but for the connections that it keeps."""
    server = Server(("127.0.0.1", 0), app, numthreads=8, request_queue_size=128)
    server.keep_alive_conn_limit = 100
    return server


def serve(name: str) -> None:
    """Serve until standard input ends; tells the port on standard output."""
    stop = threading.Event()

    def wait_for_end() -> None:
        sys.stdin.read()
        stop.set()

    threading.Thread(target=wait_for_end, daemon=True).start()
    if name == BASE:
        server = shipped(bare_flask())
        server.prepare()
        threading.Thread(target=server.serve, daemon=True).start()
        print(server.bind_addr[1], flush=True)
        stop.wait()
        server.stop()
        return

    def ready(bound: Bound) -> None:
        print(bound.port, flush=True)

    kind: ServerKind = "granian" if name == "granian" else "cheroot"
    serve_forever(bare_flask(), "127.0.0.1", 0, kind=kind, on_ready=ready, stop=stop)


@contextmanager
def served(name: str) -> Iterator[int]:
    """The port of a server in a process of its own."""
    command = [sys.executable, __file__, name]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        yield int(process.stdout.readline())
        process.stdin.close()


def load(port: int, connections: int, seconds: float) -> tuple[float, float, float]:
    """Requests a second, and the median and 99th percentile of their milliseconds."""
    latencies: list[float] = []
    begun: dict[socket.socket, float] = {}
    missing: dict[socket.socket, int] = {}
    with selectors.DefaultSelector() as selector:
        for _ in range(connections):
            client = socket.create_connection(("127.0.0.1", port))
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            selector.register(client, selectors.EVENT_READ, client)
            begun[client], missing[client] = UPTIME(), 0
            client.sendall(REQUEST)
        start = UPTIME()
        while UPTIME() - start < seconds:
            for key, _ in selector.select(1):
                client = key.data
                came = client.recv(65_536)
                head, mark, body = came.partition(b"\r\n\r\n")
                if mark:
                    missing[client] = len(BODY) - len(body)
                else:
                    assert head, "the server ended a connection"
                    missing[client] -= len(came)
                if missing[client] == 0:
                    latencies.append(UPTIME() - begun[client])
                    begun[client] = UPTIME()
                    client.sendall(REQUEST)
        took = UPTIME() - start
    for client in begun:
        client.close()
    latencies.sort()
    middle, late = len(latencies) // 2, int(len(latencies) * 0.99)
    return len(latencies) / took, latencies[middle] * 1000, latencies[late] * 1000


def start_and_stop(make: Callable[[], tuple[Callable[[], int], Callable[[], None]]]) -> list[float]:
    """Milliseconds to start a server in a thread, and to stop it with ten idle connections."""
    starts, stops = [], []
    for _ in range(10):
        start, stop = make()
        begun = UPTIME()
        port = start()
        starts.append((UPTIME() - begun) * 1000)
        clients = [socket.create_connection(("127.0.0.1", port)) for _ in range(10)]
        for client in clients:
            client.sendall(REQUEST)
            client.recv(65_536)
        begun = UPTIME()
        stop()
        stops.append((UPTIME() - begun) * 1000)
        for client in clients:
            client.close()
    return [statistics.median(starts), statistics.median(stops)]


def ours() -> tuple[Callable[[], int], Callable[[], None]]:
    """How a test starts and stops a server."""
    servers: list[ServerThread] = []

    def start() -> int:
        servers.append(ServerThread(bare_flask()).start())
        return servers[0].port

    def stop() -> None:
        servers[0].stop()

    return start, stop


def theirs() -> tuple[Callable[[], int], Callable[[], None]]:
    """The same with cheroot as it is shipped."""
    server = shipped(bare_flask())

    def start() -> int:
        server.prepare()
        threading.Thread(target=server.serve, daemon=True).start()
        return int(server.bind_addr[1])

    return start, server.stop


def measure(seconds: float = 1.0) -> dict[str, float]:
    """Requests a second and milliseconds, by server and number of connections."""
    found = {}
    for name in SERVERS:
        with served(name) as port:
            load(port, 8, seconds / 4)
            for connections in CONNECTIONS:
                label = f"{name}, {connections} connections"
                rate, middle, late = load(port, connections, seconds)
                found[f"{label}: requests a second"] = rate
                found[f"{label}: median ms"] = middle
                found[f"{label}: 99th percentile ms"] = late
    for name, make in ((BASE, theirs), ("cheroot", ours)):
        begin, end = start_and_stop(make)
        found[f"{name}, in a thread: start ms"] = begin
        found[f"{name}, in a thread: stop ms"] = end
    return found


def main() -> None:
    """Print the table."""
    found = measure()
    for name, value in found.items():
        base = found.get(BASE + name[name.index(",") :])
        ratio = "" if base is None else f"x{value / base:7.3f}"
        print(f"{name:52} {value:10.2f}  {ratio}")


if __name__ == "__main__":
    if sys.argv[1:]:
        serve(sys.argv[1])
    else:
        main()
