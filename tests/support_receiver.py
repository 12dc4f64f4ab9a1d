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
from typing import Any, ClassVar

from mock_platform.client.testing.webhook_receiver import (
    ReceivedDelivery,
    WebhookHandler,
    WebhookReceiver,
)
from tests.support import HARBOR
from tests.waits import PATIENCE

Misbehaviour = Callable[["_Handler"], None]


class Received(ReceivedDelivery):
    """One POST as it arrived."""

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


class _Handler(WebhookHandler):
    """A handler that does what is planned."""

    @property
    def receiver(self) -> Receiver:
        """Whose handler this is."""
        found = self.server.receiver
        assert isinstance(found, Receiver)
        return found

    def reply_to(self, delivery: ReceivedDelivery) -> None:
        """Answer a delivery as planned."""
        planned = self.receiver.plan.popleft() if self.receiver.plan else 200
        self.receiver.note(Received(delivery.path, delivery.headers, delivery.body))
        if callable(planned):
            planned(self)
        else:
            self.answer(planned, b"")


class Receiver(WebhookReceiver):
    """The product's receiver, but it takes everything that is not planned otherwise, signed or not.

    `plan` holds what to do with the next POSTs, one entry each: a status, or a misbehaviour.
    `challenge` makes the answer to a challenge of its token.
    """

    handler_class: ClassVar[type[WebhookHandler]] = _Handler

    def __init__(self, secret: str = HARBOR.secret, tls: ssl.SSLContext | None = None) -> None:
        super().__init__(secret, tls=tls)
        self.challenge: Callable[[str], tuple[int, bytes]] = self.right
        self.plan: deque[int | Misbehaviour] = deque()
        self.received: list[Received] = []
        self.stopping = threading.Event()
        self._noted = threading.Condition()

    def __exit__(self, *details: object) -> None:
        self.stopping.set()
        super().__exit__(*details)

    def answer_challenge(self, token: str) -> tuple[int, bytes]:
        """Answer as the test wants it."""
        return self.challenge(token)

    def right(self, token: str) -> tuple[int, bytes]:
        """The right answer to a challenge."""
        return 200, json.dumps({"response_token": sign(self.secret, token.encode())}).encode()

    def wait_until(self, until: Callable[[Receiver], bool], seconds: float = PATIENCE) -> None:
        """Wait until something holds of what arrived."""
        with self._noted:
            assert self._noted.wait_for(lambda: until(self), seconds), self.received

    def wait_for_end(self) -> dict[str, Any]:
        """Wait until a job's end is announced; what was said of it."""
        self.wait_until(lambda receiver: bool(receiver.statuses))
        return self.statuses[-1]

    @property
    def event_ids(self) -> list[str]:
        """Ids of the events that arrived, in order, repeated ones included."""
        return [post.event_id for post in list(self.received) if post.event_id is not None]

    @property
    def statuses(self) -> list[dict[str, Any]]:
        """What was announced of jobs."""
        return [post.job_status for post in list(self.received) if post.job_status is not None]

    def note(self, post: Received) -> None:
        """Note a POST."""
        with self._noted:
            self.received.append(post)
            self._noted.notify_all()


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
