"""A small real webhook receiver, which can also misbehave in every way that matters."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import socket
import ssl
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

from tests.support import HARBOR
from tests.waits import PATIENCE

Misbehaviour = Callable[["_Handler"], None]


@dataclass(frozen=True, slots=True)
class Received:
    """One POST as it arrived."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body, parsed."""
        return json.loads(self.body)

    @property
    def event_id(self) -> str | None:
        """The id of the event in it, if it is one."""
        data = self.json.get("data")
        return None if data is None else str(data["event_uuid"])

    @property
    def job_status(self) -> dict[str, Any] | None:
        """What it says of a job's end, if it does."""
        found: dict[str, Any] | None = self.json.get("replay_job_status")
        return found


def sign(secret: str, data: bytes) -> str:
    """The signature that a receiver computes by itself."""
    digest = hmac.new(secret.encode(), data, hashlib.sha256).digest()
    return "sha256=" + base64.b64encode(digest).decode()


class Receiver:
    """Listens on a free loopback port. Accepts everything unless `plan` differs.

    `plan` holds what to do with the next POSTs, one entry each: a status, or a misbehaviour.
    `challenge` makes the answer to a challenge of its token.
    """

    def __init__(self, secret: str = HARBOR.secret, tls: ssl.SSLContext | None = None) -> None:
        self.challenge: Callable[[str], tuple[int, bytes]] = self.right
        self.plan: deque[int | Misbehaviour] = deque()
        self.received: list[Received] = []
        self.challenges: list[str] = []
        self.stopping = threading.Event()
        self._secret = secret
        self._changed = threading.Condition()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.receiver = self
        scheme = "http"
        if tls is not None:
            scheme = "https"
            self._server.socket = tls.wrap_socket(self._server.socket, server_side=True)
        self.port: int = self._server.server_address[1]
        self.url = f"{scheme}://127.0.0.1:{self.port}/hook"
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        )

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stopping.set()
        self._server.shutdown()
        self._server.server_close()

    def right(self, token: str) -> tuple[int, bytes]:
        """The right answer to a challenge."""
        return 200, json.dumps({"response_token": sign(self._secret, token.encode())}).encode()

    def wait(self, until: Callable[[Receiver], bool], seconds: float = PATIENCE) -> None:
        """Wait until something holds of what arrived."""
        with self._changed:
            assert self._changed.wait_for(lambda: until(self), seconds), self.received

    def wait_for_end(self) -> dict[str, Any]:
        """Wait until a job's end is announced; what was said of it."""
        self.wait(lambda receiver: bool(receiver.statuses))
        return self.statuses[-1]

    @property
    def event_ids(self) -> list[str]:
        """Ids of the events that arrived, in order, repeated ones included."""
        return [post.event_id for post in list(self.received) if post.event_id is not None]

    @property
    def statuses(self) -> list[dict[str, Any]]:
        """What was announced of jobs."""
        return [post.job_status for post in list(self.received) if post.job_status is not None]

    def take(self, post: Received) -> None:
        """Note a POST."""
        with self._changed:
            self.received.append(post)
            self._changed.notify_all()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64
    receiver: Receiver

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that leaves is no error of a receiver that provoked it."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    @property
    def receiver(self) -> Receiver:
        """Whose handler this is."""
        return self.server.receiver

    def do_GET(self) -> None:
        """Answer a challenge."""
        token = parse_qs(urlsplit(self.path).query)["crc_token"][0]
        self.receiver.challenges.append(token)
        self.answer(*self.receiver.challenge(token))

    def do_POST(self) -> None:
        """Take a delivery, as planned."""
        body = self.rfile.read(int(self.headers["Content-Length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        planned = self.receiver.plan.popleft() if self.receiver.plan else 200
        self.receiver.take(Received(self.path, headers, body))
        if callable(planned):
            planned(self)
        else:
            self.answer(planned, b"")

    def answer(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        """Send a whole answer."""
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


def close(handler: _Handler) -> None:
    """End the connection without an answer."""
    handler.close_connection = True


def reset(handler: _Handler) -> None:
    """Break the connection off."""
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    handler.connection.close()
    handler.close_connection = True


def hang(handler: _Handler) -> None:
    """Never answer."""
    handler.receiver.stopping.wait(10 * PATIENCE)
    handler.close_connection = True


def truncate(handler: _Handler) -> None:
    """Promise a longer body than comes."""
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort")
    handler.close_connection = True


def garbage(handler: _Handler) -> None:
    """Answer with something that is not HTTP."""
    handler.wfile.write(b"\x00\x01 what is this\r\n\r\n")
    handler.close_connection = True


def drip(start: bytes, *, step: float = 0.02) -> Misbehaviour:
    """Send a beginning, and then one byte after the other without end."""

    def dripping(handler: _Handler) -> None:
        handler.close_connection = True
        handler.wfile.write(start)
        while not handler.receiver.stopping.wait(step):
            handler.wfile.write(b"x")

    return dripping


def redirect(location: str, status: int = 307) -> Misbehaviour:
    """Send the platform elsewhere."""
    return lambda handler: handler.answer(status, b"", {"Location": location})


def unused_port() -> int:
    """A port on which nothing listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
