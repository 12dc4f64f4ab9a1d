"""A receiver of webhooks for tests: answers challenges, checks signatures, collects bodies."""

from __future__ import annotations

import hmac
import ssl
import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar, Self
from urllib.parse import parse_qs, urlsplit

from mock_platform.core.jsonio import dumps, loads
from mock_platform.delivery.envelope import SIGNATURE_HEADERS, make_signature

_LOOK_SECONDS = 0.01
"""How often the thread looks whether it has to end."""


@dataclass(frozen=True, slots=True)
class ReceivedDelivery:
    """One POST as it arrived.

    Example:
        >>> from mock_platform.testing import ReceivedDelivery
        >>> ReceivedDelivery("/webhook", {}, b'{"for_user_id":"12"}').json
        {'for_user_id': '12'}
    """

    path: str
    """The path of the request, with its query."""
    headers: dict[str, str]
    """The headers; names are in lower case."""
    body: bytes
    """The body as it arrived."""

    @property
    def json(self) -> Any:
        """The body as JSON.

        Raises:
            ValueError: It is not JSON.
        """
        return loads(self.body)


class WebhookHandler(BaseHTTPRequestHandler):
    """Answers the requests of one connection to a receiver."""

    protocol_version = "HTTP/1.1"
    server: _Server

    def do_GET(self) -> None:
        """Answer a challenge, which is the only GET that the platform sends."""
        receiver = self.server.receiver
        token = parse_qs(urlsplit(self.path).query).get("crc_token", [""])[0]
        receiver.challenges.append(token)
        self.answer(*receiver.answer_challenge(token))

    def do_POST(self) -> None:
        """Read a delivery and answer it."""
        body = self.rfile.read(int(self.headers["Content-Length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.reply_to(ReceivedDelivery(self.path, headers, body))

    def reply_to(self, delivery: ReceivedDelivery) -> None:
        """Hand a delivery to the receiver, and answer with the status that it returns."""
        self.answer(self.server.receiver.take(delivery), b"")

    def answer(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        """Send a whole answer."""
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Write nothing to standard error."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64
    receiver: WebhookReceiver

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore a client that leaves."""


class WebhookReceiver:
    """Listens on a free port of the loopback address. Use it in a `with`.

    Challenges are answered with the app's consumer `secret`. Deliveries whose signature fits it are
    collected and answered with 200, others with 403.

    Example:
        >>> import requests
        >>> from mock_platform.testing import WebhookReceiver
        >>> with WebhookReceiver("consumer secret") as receiver:
        ...     answer = requests.get(receiver.url, params={"crc_token": "abc"}, timeout=10)
        ...     print(receiver.challenges, list(answer.json()))
        ['abc'] ['response_token']
    """

    handler_class: ClassVar[type[WebhookHandler]] = WebhookHandler
    """What answers its requests."""

    def __init__(
        self,
        secret: str,
        *,
        tls: ssl.SSLContext | None = None,
        explain: Callable[[str], Sequence[str]] | None = None,
    ) -> None:
        """`explain` returns why nothing came to an address, as `explain_deliveries` of a world."""
        self.secret = secret
        self._ask_why = explain
        self.challenges: list[str] = []
        """The tokens of the challenges."""
        self.refused: list[ReceivedDelivery] = []
        """What arrived with a signature that does not fit."""
        self._deliveries: list[ReceivedDelivery] = []
        self._statuses: deque[int] = deque()
        self._changed = threading.Condition()
        self._server = _Server(("127.0.0.1", 0), self.handler_class)
        self._server.receiver = self
        if tls is not None:
            self._server.socket = tls.wrap_socket(self._server.socket, server_side=True)
        self.port: int = self._server.server_address[1]
        self.url = f"{'http' if tls is None else 'https'}://127.0.0.1:{self.port}/webhook"
        self._thread = threading.Thread(
            target=self._server.serve_forever,
            kwargs={"poll_interval": _LOOK_SECONDS},
            name="mock-platform-webhook-receiver",
            daemon=True,
        )

    @property
    def deliveries(self) -> list[ReceivedDelivery]:
        """What has arrived, oldest first, repeated deliveries included."""
        with self._changed:
            return list(self._deliveries)

    def wait(self, number: int = 1, seconds: float = 10.0) -> list[ReceivedDelivery]:
        """Wait until this number of deliveries has arrived in all; return all that have.

        Raises:
            AssertionError: They have not arrived within this number of real seconds.
        """
        with self._changed:
            if self._changed.wait_for(lambda: len(self._deliveries) >= number, seconds):
                return list(self._deliveries)
            text = self._explain(number, seconds)
        raise AssertionError("\n".join([text, *map("  {}".format, self._list_reasons())]))

    def answer_next(self, *statuses: int) -> None:
        """Answer the next deliveries with these statuses, one each; they are collected as well.

        Raises:
            ValueError: One is no status of an answer.
        """
        for status in statuses:
            if not isinstance(status, int) or not 200 <= status <= 599:
                text = "a status is a number from 200 to 599, as in answer_next(500, 429); not "
                raise ValueError(f"{text}{status!r}")
        self._statuses.extend(statuses)

    def answer_challenge(self, token: str) -> tuple[int, bytes]:
        """Return status and body of the answer to a challenge."""
        return 200, dumps({"response_token": make_signature(self.secret, token.encode())})

    def take(self, delivery: ReceivedDelivery) -> int:
        """Collect a delivery, and return the status to answer with."""
        # The signature is compared in constant time and before anything else: tests that collect
        # deliveries would otherwise pass with a sender that signs wrongly.
        expected = make_signature(self.secret, delivery.body)
        given = delivery.headers.get(SIGNATURE_HEADERS[0], "")
        fits = hmac.compare_digest(expected.encode(), given.encode())
        with self._changed:
            (self._deliveries if fits else self.refused).append(delivery)
            self._changed.notify_all()
        if not fits:
            return 403
        return self._statuses.popleft() if self._statuses else 200

    def __enter__(self) -> Self:
        """Begin to listen; returns the receiver itself."""
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop listening; deliveries after that find a closed port."""
        self._server.shutdown()
        self._server.server_close()

    def _list_reasons(self) -> Sequence[str]:
        """Ask the world why nothing came; one that has ended does not say it."""
        try:
            return [] if self._ask_why is None else self._ask_why(self.url)
        except (LookupError, OSError, RuntimeError, ValueError) as fault:
            return [f"Why is not known: {fault}"]

    def _explain(self, number: int, seconds: float) -> str:
        """Say what has arrived instead of so many deliveries."""
        came = ", ".join(_name(each) for each in self._deliveries) or "nothing"
        text = (
            f"{self.url} waited {seconds:g} seconds for {number} deliveries and received "
            f"{len(self._deliveries)}: {came}."
        )
        if self.refused:
            text += f" {len(self.refused)} more had another signature; is it another app's secret?"
        if not self.challenges:
            text += " It was never challenged: register it with POST /2/webhooks."
        return f"{text} GET /_mock/deliveries lists every attempt."


def _name(delivery: ReceivedDelivery) -> str:
    """Return what a delivery is: its event type, or the key under which its event is."""
    body = delivery.json
    data = body.get("data") if isinstance(body, dict) else None
    if isinstance(data, dict):
        return str(data.get("event_type", "data"))
    keys = list(body) if isinstance(body, dict) else []
    return next((key for key in keys if key.endswith(("_events", "_event", "_status"))), "a body")
