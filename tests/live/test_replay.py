from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest
import requests

from mock_platform import MockPlatform
from tests.live.sandboxes import starting
from tests.support import HARBOR, bearer
from tests.support_receiver import Receiver, sign
from tests.support_replay import WEBHOOK, window_before
from tests.waits import PATIENCE

pytestmark = pytest.mark.live


class Client:
    """A client program: it knows the server's address, and the receiver that it runs itself."""

    def __init__(self, url: str, receiver_url: str) -> None:
        self.url = url
        self.control("PATCH", f"/state/webhooks/{WEBHOOK}", {"url": receiver_url})

    def control(self, method: str, path: str, body: Any = None) -> Any:
        """One request to the control plane."""
        answer = requests.request(method, f"{self.url}/_mock{path}", json=body, timeout=PATIENCE)
        assert answer.ok, answer.text
        return answer.json() if answer.content else None

    def replay(self, hours: float = 24) -> requests.Response:
        """Ask for a replay of the last hours."""
        now = datetime.fromisoformat(self.control("GET", "/clock")["now"])
        return requests.post(
            f"{self.url}/2/webhooks/replay", json=window_before(now, hours=hours),
            headers=bearer(), timeout=PATIENCE,
        )  # fmt: skip


platform = starting("function", delivery_backoff=0.01)
"""A server that listens, with a running clock."""


@pytest.fixture
def client(platform: MockPlatform, receiver: Receiver) -> Client:
    """A client of it."""
    return Client(platform.base_url, receiver.url)


@pytest.mark.spec("A, POST {base_url}/2/webhooks/replay", "Purpose: create")
def test_a_receiver_gets_the_events_over_http(client: Client, receiver: Receiver) -> None:
    """From request to announcement: challenge, fifteen signed events in order, the end."""
    client.control("PUT", "/transitions/replay_job", {"progression": "time", "seconds": 0.05})
    created = client.replay()
    assert 200 == created.status_code
    job_id = created.json()["job_id"]

    assert (job_id, "Complete") == tuple(
        receiver.wait_for_end()[name] for name in ("job_id", "job_state")
    )
    events = [post for post in receiver.received if post.event_id is not None]
    moments = {
        event["id"]: event["created_at"]
        for event in client.control("GET", "/state/events")["records"]
    }
    assert 15 == len(events)
    assert sorted(moments[str(e.event_id)] for e in events) == [
        moments[str(e.event_id)] for e in events
    ]
    for post in receiver.received:
        assert sign(HARBOR.secret, post.body) == post.headers["x-platform-webhooks-signature"]
        assert sign(HARBOR.secret, post.body) == post.headers["x-twitter-webhooks-signature"]
    assert 1 == len(receiver.challenges)
