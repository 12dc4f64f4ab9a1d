"""Reads streams in tests, piece by piece, as they come."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from werkzeug.test import TestResponse

from tests.api.oauth.app_client import AppClient
from tests.support_replay import Desk

USER = "2244994945"
OTHER_USER = "3805104374"
KEEP_ALIVE = b"\r\n"


class Lines:
    """The lines of a stream that was answered in this process."""

    def __init__(self, answer: TestResponse) -> None:
        assert answer.status_code == 200, answer.get_data(as_text=True)
        self.answer = answer
        self.pieces: Iterator[bytes] = answer.iter_encoded()

    def next_piece(self) -> bytes:
        """The next piece as it is sent."""
        return next(self.pieces)

    def next(self) -> dict[str, Any]:
        """The next line that is no keep-alive."""
        piece = next(piece for piece in self.pieces if piece != KEEP_ALIVE)
        assert piece.endswith(b"\r\n")
        found: dict[str, Any] = json.loads(piece)
        return found

    def rest(self) -> list[dict[str, Any]]:
        """All further lines of a stream that ends."""
        return [json.loads(piece) for piece in self.pieces if piece != KEEP_ALIVE]

    def close(self) -> None:
        """Leave, as a client does."""
        self.answer.close()


class StreamClient(AppClient):
    """Opens activity streams of the well-known app, and lets things happen."""

    path = "/2/activity/stream"

    def open(self, query: str = "", *, path: str | None = None) -> Lines:
        """Open a stream."""
        return Lines(self.call("GET", f"{path or self.path}{query}"))

    def subscribe(self, **body: Any) -> str:
        """Subscribe the app; the id of the subscription."""
        wanted = {"event_type": "profile.update.bio", "filter": {"user_id": USER}} | body
        answer = self.call("POST", "/2/activity/subscriptions", json=wanted)
        assert answer.status_code == 200, answer.get_data(as_text=True)
        return str(answer.get_json()["data"]["subscription"]["subscription_id"])

    def emit(self, **event: Any) -> dict[str, Any]:
        """Let something happen to the well-known user; what became of it."""
        body = {"event_type": "profile.update.bio", "user_id": USER, "payload": {}} | event
        answer = self.desk.client.post("/_mock/events", json=body)
        assert answer.status_code == 201, answer.get_data(as_text=True)
        found: dict[str, Any] = answer.get_json()
        return found

    def connections(self) -> list[dict[str, Any]]:
        """The records of connections that this world made, oldest first."""
        with self.desk.world.lock:
            page = self.desk.world.store.page("connections")
        return [entry.record for entry in page if entry.record["client_ip"] == "127.0.0.1"]


def clear_subscriptions(desk: Desk) -> None:
    """Remove the subscriptions of the fixtures."""
    desk.clear("activity_subscriptions")
