"""A webhook is registered over a socket, with a receiver that calls the sandbox back."""

from __future__ import annotations

import threading

import pytest
import requests

from tests.live_servers import LiveServer
from tests.support import bearer
from tests.support_receiver import Receiver
from tests.waits import PATIENCE


@pytest.mark.live
def test_a_slow_challenge_holds_nobody_up(live_server: LiveServer, receiver: Receiver) -> None:
    """While a receiver is challenged, the server answers everybody else, the receiver included."""
    url, right = live_server.url, receiver.right
    headers = bearer()
    asked, go_on = threading.Event(), threading.Event()

    def answer(token: str) -> tuple[int, bytes]:
        asked.set()
        assert go_on.wait(PATIENCE)
        return right(token)

    receiver.challenge = answer
    statuses: list[int] = []

    def register() -> None:
        body = {"url": receiver.url}
        found = requests.post(f"{url}/2/webhooks", json=body, headers=headers, timeout=PATIENCE)
        statuses.append(found.status_code)

    thread = threading.Thread(target=register)
    thread.start()
    assert asked.wait(PATIENCE)
    others = [
        requests.get(f"{url}{path}", headers=headers, timeout=PATIENCE).status_code
        for path in ("/2/webhooks", "/12/accounts", "/_mock/health")
    ]
    go_on.set()
    thread.join()

    assert ([200, 200, 200], [200]) == (others, statuses)
