"""Webhooks are registered, listed, challenged again and deleted, as an app's client would do it."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from werkzeug.test import TestResponse

from mock_platform.api.v2.webhooks.validation import find_address_faults
from mock_platform.delivery.events import add_event
from mock_platform.settings import Settings
from tests.api.oauth.app_client import AppClient, messages
from tests.support import HARBOR, NORTHBIKE, body_of
from tests.support_receiver import Receiver, unused_port
from tests.support_replay import WEBHOOK, Desk

PATH = "/2/webhooks"
EMPTY = ("events", "replay_jobs", "webhooks")


class Client(AppClient):
    """Calls the webhook endpoints of one sandbox as one app."""

    path = PATH

    def register(self, url: str, **more: Any) -> TestResponse:
        """Ask to register an address."""
        return self.call("POST", json={"url": url}, **more)

    def create(self, url: str, **more: Any) -> str:
        """Register an address, which must be accepted; the id of the webhook."""
        return str(body_of(self.register(url, **more))["id"])

    def ids(self) -> list[str]:
        """The ids of the app's webhooks, in the order in which they are listed."""
        return [record["id"] for record in self.read()["data"]]


def test_register(client: Client, receiver: Receiver) -> None:
    """An address that answers its challenge is registered; the answer is the flat record."""
    assert {"data": [], "meta": {"result_count": 0}} == client.read()
    answer = client.register(receiver.url)

    record = body_of(answer)
    moment = "2026-11-20T12:00:30.000Z"
    assert {
        "created_at": moment, "id": record["id"], "url": receiver.url, "valid": True
    } == record  # fmt: skip
    assert 1 == len(receiver.challenges)
    assert {"data": [record], "meta": {"result_count": 1}} == client.read()
    assert "webhooks.shapes" in answer.headers["X-Mock-Assumptions"].split(",")


def test_register_as_a_user(client: Client, receiver: Receiver) -> None:
    """A user's signature is accepted as well; the webhook belongs to the app."""
    assert [client.create(receiver.url, keys=HARBOR)] == client.ids()


@pytest.mark.parametrize(
    "settings",
    [{"webhook_envelope": "data"}, {"wire": "recorded"},
     {"wire": "recorded", "webhook_envelope": "data"}],
)  # fmt: skip
def test_register_with_envelope(settings: dict[str, Any], receiver: Receiver) -> None:
    """With --webhook-envelope data, and on the recorded wire, the record is under data."""
    with Desk(**settings) as desk:
        body = Client(desk).register(receiver.url).get_json()
        assert {"data"} == set(body)
        assert receiver.url == body["data"]["url"]


def test_fields(client: Client) -> None:
    """Known fields may be asked for, unknown ones are refused."""
    client.read(f"{PATH}?webhook_config.fields=id,url")
    assert 1 == len(messages(client.call("GET", f"{PATH}?webhook_config.fields=id,secret")))


@pytest.mark.parametrize(
    ("status", "body"),
    [(200, b"{}"), (200, b'{"response_token":"sha256=x"}'), (302, b""), (404, b""), (500, b"")],
)
def test_failed_challenge(client: Client, receiver: Receiver, status: int, body: bytes) -> None:
    """An address that fails its challenge is refused, and nothing is stored."""
    receiver.challenge = lambda _: (status, body)
    (message,) = messages(client.register(receiver.url))
    assert message.startswith("CrcValidationFailed: URL returned bad response during CRC")
    assert [] == client.ids()


def test_nobody_listens(client: Client) -> None:
    """An address at which nothing listens fails its challenge."""
    (message,) = messages(client.register(f"http://127.0.0.1:{unused_port()}/"))
    assert message.startswith("CrcValidationFailed: ")
    assert "nothing listens" in message


@pytest.mark.parametrize(
    "url",
    ["ftp://127.0.0.1/", "http://", "127.0.0.1:80", "http://127.0.0.1:0/", "http://[::1/",
     "http://127.0.0.1/a b", "http://user@127.0.0.1/", "http://127.0.0.1/#part", "http://h\u00f6st/"],
)  # fmt: skip
def test_address(client: Client, url: str) -> None:
    """What is no http address is refused before any challenge."""
    (message,) = messages(client.register(url))
    assert message.startswith("UrlValidationFailed: ")


def test_length_of_an_address(client: Client, receiver: Receiver) -> None:
    """An address has 1 to 200 characters."""
    longest = receiver.url + "?" + "a" * (199 - len(receiver.url))

    client.create(longest)
    assert 200 == len(longest)
    assert 1 == len(messages(client.register(longest + "a")))
    assert 1 == len(messages(client.register("")))
    assert ["$.url: is missing but it is required"] == messages(client.call("POST", json={}))


@pytest.mark.parametrize(
    ("url", "part"),
    [("http://hooks.example.com/", "https"), ("https://hooks.example.com:8443/", "port"),
     ("https://127.0.0.1/", "publicly"), ("https://localhost/", "publicly"),
     ("https://10.0.0.1/", "publicly"), ("https://internal/", "publicly")],
)  # fmt: skip
def test_strict_address(url: str, part: str) -> None:
    """The rules of the real service for addresses are known, and checked under --strict."""
    call: Any = None  # the address alone decides
    with Desk() as desk:
        loose, strict = (
            list(find_address_faults({"url": url}, call, desk.world, Settings(strict=strict)))
            for strict in (False, True)
        )

    assert [] == loose
    assert part in strict[0][1]


def test_strict_refuses(receiver: Receiver) -> None:
    """Under --strict the endpoints answer 501, as everything whose shape the spec does not show."""
    with Desk(strict=True) as desk:
        assert 501 == Client(desk).register(receiver.url).status_code


def test_duplicate(client: Client, receiver: Receiver) -> None:
    """An app registers an address once."""
    client.register(receiver.url)
    (message,) = messages(client.register(receiver.url))
    assert message.startswith("DuplicateUrlFailed: ")
    assert 1 == len(receiver.challenges)


@pytest.mark.parametrize("limit", [1, 3])
def test_limit(receiver: Receiver, limit: int) -> None:
    """A developer account has as many webhooks as --webhook-limit says, and no more."""
    with Desk(webhook_limit=limit) as desk:
        desk.clear("webhooks")
        client = Client(desk)
        for number in range(limit):
            client.create(f"{receiver.url}/{number}")
        (message,) = messages(client.register(f"{receiver.url}/more"))

    assert message.startswith("WebhookLimitExceeded: ")


def test_two_at_once(client: Client, desk: Desk, receiver: Receiver) -> None:
    """Of two requests for one address that are challenged at once, one wins."""
    both = threading.Barrier(2)
    right = receiver.right

    def meet(token: str) -> tuple[int, bytes]:
        both.wait(30)
        return right(token)

    receiver.challenge = meet
    answers: list[int] = []
    threads = [
        threading.Thread(target=lambda: answers.append(client.register(receiver.url).status_code))
        for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [200, 400] == sorted(answers)
    assert 1 == desk.world.store.count("webhooks")


def test_the_world_is_not_locked_meanwhile(client: Client, desk: Desk, receiver: Receiver) -> None:
    """A receiver may call the sandbox while it is challenged."""
    right = receiver.right
    seen: list[int] = []

    def ask(token: str) -> tuple[int, bytes]:
        seen.append(client.call("GET").status_code)
        return right(token)

    receiver.challenge = ask

    assert 200 == client.register(receiver.url).status_code
    assert [200] == seen


def test_validate(client: Client, desk: Desk, receiver: Receiver) -> None:
    """A webhook that passes its challenge is valid again, and one that fails invalid at once."""
    webhook = client.create(receiver.url)
    desk.lead_to(receiver.url, webhook, valid=False)
    answer = client.call("PUT", f"{PATH}/{webhook}")

    assert {"data": {"attempted": True, "valid": True}} == body_of(answer)
    assert desk.record("webhooks", webhook)["valid"]
    receiver.challenge = lambda _: (200, b"{}")
    (message,) = messages(client.call("PUT", f"{PATH}/{webhook}"))
    assert message.startswith("CrcValidationFailed: ")
    assert not desk.record("webhooks", webhook)["valid"]


@pytest.mark.parametrize("method", ["PUT", "DELETE"])
def test_unknown_webhook(client: Client, method: str) -> None:
    """What is no number is a webhook that the app does not have, and named in the refusal."""
    assert ["WebhookIdInvalid: the app has no webhook not-a-number"] == messages(
        client.call(method, f"{PATH}/not-a-number")
    )


@pytest.mark.parametrize("method", ["PUT", "DELETE"])
def test_foreign_webhook(client: Client, receiver: Receiver, method: str) -> None:
    """Another app's webhook looks as if it did not exist."""
    path = f"{PATH}/{client.create(receiver.url)}"
    (message,) = messages(client.call(method, path, keys=NORTHBIKE))
    assert message.startswith("WebhookIdInvalid: ")
    assert 1 == len(client.ids())


def test_delete(client: Client, desk: Desk, receiver: Receiver) -> None:
    """A deleted webhook is gone with its events and jobs, and a second delete finds nothing."""
    webhook = client.create(receiver.url)
    desk.put_event("5", "2026-11-20T11:00:00.000Z", webhook_id=webhook)

    answer = client.call("DELETE", f"{PATH}/{webhook}")

    assert {"data": {"deleted": True}} == answer.get_json()
    assert [0, 0, 0] == [
        desk.world.store.count(table) for table in ("webhooks", "events", "replay_jobs")
    ]
    assert messages(client.call("DELETE", f"{PATH}/{webhook}"))[0].startswith("WebhookIdInvalid")


class TestValidityOverTime:
    """A webhook that was registered is challenged again as the world's clock goes on."""

    @pytest.fixture
    def webhook(self, client: Client, receiver: Receiver) -> str:
        """A registered webhook."""
        return client.create(receiver.url)

    def advance(self, desk: Desk, **by: float) -> None:
        """Let the clock go on, and wait for what that causes."""
        desk.advance(**by)
        desk.wait()

    def test_a_day_is_enough(self, desk: Desk, receiver: Receiver, webhook: str) -> None:
        """Within 24 hours there is no further challenge; after that there is one."""
        self.advance(desk, hours=23, minutes=59)
        assert 1 == len(receiver.challenges)
        self.advance(desk, minutes=1)
        assert 2 == len(receiver.challenges)
        assert desk.record("webhooks", webhook)["valid"]

    def test_a_wrong_answer(self, desk: Desk, receiver: Receiver, webhook: str) -> None:
        """A wrong answer makes it invalid at once, and it is left alone from then on."""
        receiver.challenge = lambda _: (200, b"{}")
        self.advance(desk, hours=24)
        assert not desk.record("webhooks", webhook)["valid"]
        self.advance(desk, hours=24)
        assert 2 == len(receiver.challenges)

    def test_a_receiver_that_fails(self, desk: Desk, receiver: Receiver, webhook: str) -> None:
        """A receiver that fails is asked every 30 minutes, and invalid after 28 hours."""
        receiver.challenge = lambda _: (503, b"")
        for _ in range(7):
            self.advance(desk, hours=4)
        assert (False, 3) == (desk.record("webhooks", webhook)["valid"], len(receiver.challenges))

    @pytest.mark.parametrize(("hours", "valid"), [(27.9, True), (28, False), (29, False)])
    def test_a_dead_receiver(self, desk: Desk, webhook: str, hours: float, valid: bool) -> None:
        """One without a receiver is valid until 28 hours after the last pass."""
        passed = desk.record("webhooks", webhook)["_passed_at"]
        desk.lead_to(f"http://127.0.0.1:{unused_port()}/", webhook, _passed_at=passed)
        self.advance(desk, hours=hours)
        assert valid == desk.record("webhooks", webhook)["valid"]

    def test_every_half_hour(self, desk: Desk, receiver: Receiver, webhook: str) -> None:
        """Two challenges of a receiver that fails are half an hour apart."""
        receiver.challenge = lambda _: (503, b"")
        counts = []
        for minutes in (24 * 60, 29, 1):
            self.advance(desk, minutes=minutes)
            counts.append(len(receiver.challenges) - 1)

        assert [1, 1, 2] == counts

    def test_fixtures_are_left_alone(self) -> None:
        """A webhook of the fixtures, which never passed a challenge, stays as it is."""
        with Desk() as desk:
            self.advance(desk, hours=100)
            assert desk.record("webhooks", WEBHOOK)["valid"]
            assert [] == desk.deliveries()


@pytest.mark.parametrize(
    ("host", "world", "key"),
    [("api.x.com", None, "in_reply_to_tweet_id"), ("localhost", None, "in_reply_to_post_id"),
     ("api.x.com", "neutral", "in_reply_to_post_id")],
)  # fmt: skip
def test_deliveries_have_the_names_of_who_registered(
    receiver: Receiver, host: str, world: Any, key: str
) -> None:
    """Who registers at the platform's own host gets original names, unless the world has others."""
    with Desk(names=world) as desk:
        made = Client(desk).register(receiver.url, base_url=f"https://{host}").get_json()
        given = {"webhook_id": made.get("data", made)["id"], "event_type": "post.create"}
        add_event(desk.world, given | {"payload": {"id": "7", "in_reply_to_post_id": "6"}})
        desk.wait()

        assert key in receiver.received[0].json["data"]["payload"]
