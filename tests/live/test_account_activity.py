"""A webhook is registered over a socket; its receiver gets what happens to two users, signed."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest
import requests

from tests.live_servers import LiveServer
from tests.support import BEARER, HARBOR, USER_TOKEN, bearer
from tests.support_receiver import Receiver, sign
from tests.waits import PATIENCE

pytestmark = pytest.mark.live

USER = "2244994945"
OTHER = "3805104374"
OTHER_TOKEN = "northbikes-token-for-the-desk"
SCOPES = ["dm.read", "dm.write", "post.read", "post.write", "users.read"]


class Client:
    """Calls a world over the network; every answer must be a success."""

    def __init__(self, base_url: str) -> None:
        self.base_url = base_url
        self.session = requests.Session()

    def call(self, method: str, path: str, token: str, **more: Any) -> Any:
        """Send a request with a token; the parsed answer."""
        answer = self.session.request(
            method, f"{self.base_url}{path}", headers=bearer(token), timeout=PATIENCE, **more
        )
        assert answer.ok, answer.text
        return answer.json()


@pytest.fixture
def client(live_server: LiveServer) -> Iterator[Client]:
    """A client of a fresh world in which the second user has a token of the same app."""
    found = Client(live_server.world().base_url)
    token = {
        "id": OTHER_TOKEN, "kind": "oauth2", "app_id": "11827", "user_id": OTHER,
        "scopes": SCOPES, "authorization_id": "7",
    }  # fmt: skip
    found.call("PUT", f"/_mock/state/tokens/{OTHER_TOKEN}", BEARER, json=token)
    yield found
    found.session.close()


def test_two_users(client: Client, receiver: Receiver) -> None:
    """A post, a follow and a message: each subscribed user who takes part has a delivery."""
    webhook = client.call("POST", "/2/webhooks", BEARER, json={"url": receiver.url})["id"]
    for token in (USER_TOKEN, OTHER_TOKEN):
        path = f"/2/account_activity/webhooks/{webhook}/subscriptions/all"
        assert {"data": {"subscribed": True}} == client.call("POST", path, token)

    text = {"text": "Fresh this morning."}
    post = client.call("POST", "/2/posts", USER_TOKEN, json=text)["data"]["id"]
    follow = {"event_type": "follow.follow", "user_id": USER}
    client.call("POST", "/_mock/events", BEARER, json=follow)
    path = f"/2/dm_conversations/with/{OTHER}/messages"
    message = client.call("POST", path, USER_TOKEN, json=text)["data"]["dm_event_id"]
    receiver.wait_until(lambda found: len(found.received) >= 5)

    bodies = [each.json for each in receiver.received]
    assert [
        (USER, "post_create_events"), (USER, "follow_events"), (OTHER, "follow_events"),
        (USER, "direct_message_events"), (OTHER, "direct_message_events"),
    ] == [(body["for_user_id"], list(body)[1]) for body in bodies]  # fmt: skip
    assert post == bodies[0]["post_create_events"][0]["id_str"]
    assert [message] * 2 == [body["direct_message_events"][0]["id"] for body in bodies[3:]]
    assert all(
        sign(HARBOR.secret, each.body) == each.headers["x-platform-webhooks-signature"]
        for each in receiver.received
    )


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
