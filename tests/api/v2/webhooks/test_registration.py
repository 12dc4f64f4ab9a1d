"""Webhooks are registered, listed, challenged again and deleted, as an app's client would do it."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import Any

import pytest
from werkzeug.test import TestResponse

from mock_platform.delivery.events import add_event
from tests.api.oauth.app_client import AppClient, messages
from tests.support import HARBOR, NORTHBIKE
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

    def ids(self) -> list[str]:
        """The ids of the app's webhooks, in the order in which they are listed."""
        return [record["id"] for record in self.call("GET").get_json()["data"]]


def test_none(client: Client) -> None:
    """An app without webhooks gets an empty list."""
    answer = client.call("GET")

    assert 200 == answer.status_code
    assert {"data": [], "meta": {"result_count": 0}} == answer.get_json()


def test_register(client: Client, receiver: Receiver) -> None:
    """An address that answers its challenge is registered; the answer is the flat record."""
    answer = client.register(receiver.url)

    assert 200 == answer.status_code
    record = answer.get_json()
    assert {
        "created_at": "2026-11-20T12:00:30.000Z",
        "id": record["id"],
        "url": receiver.url,
        "valid": True,
    } == record
    assert 1 == len(receiver.challenges)
    assert {"data": [record], "meta": {"result_count": 1}} == client.call("GET").get_json()
    assert "webhooks.shapes" in answer.headers["X-Mock-Assumptions"].split(",")


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


def test_register_as_a_user(client: Client, receiver: Receiver) -> None:
    """A user's signature is accepted as well; the webhook belongs to the app."""
    assert 200 == client.register(receiver.url, keys=HARBOR).status_code
    assert 1 == len(client.ids())


def test_fields(client: Client) -> None:
    """Known fields may be asked for, unknown ones are refused."""
    assert 200 == client.call("GET", f"{PATH}?webhook_config.fields=id,url").status_code
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
    assert 200 == len(longest)

    assert 200 == client.register(longest).status_code
    assert 1 == len(messages(client.register(longest + "a")))
    assert 1 == len(messages(client.register("")))


def test_missing_address(client: Client) -> None:
    """Without an address nothing is registered."""
    assert ["$.url: is missing but it is required"] == messages(client.call("POST", json={}))


@pytest.mark.parametrize(
    ("url", "part"),
    [
        ("http://hooks.example.com/", "https"),
        ("https://hooks.example.com:8443/", "port"),
        ("https://127.0.0.1/", "publicly"),
        ("https://localhost/", "publicly"),
        ("https://10.0.0.1/", "publicly"),
        ("https://internal/", "publicly"),
    ],
)
def test_strict_address(url: str, part: str) -> None:
    """The rules of the real service for addresses are known, and checked under --strict."""
    from mock_platform.api.v2.webhooks.validation import find_address_faults
    from mock_platform.settings import Settings

    with Desk() as desk:
        found = list(find_address_faults({"url": url}, None, desk.world, Settings(strict=True)))  # type: ignore[arg-type]
        loose = list(find_address_faults({"url": url}, None, desk.world, Settings()))  # type: ignore[arg-type]

    assert [] == loose
    assert part in found[0][1]


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
        client = Client(desk)
        for webhook in client.ids():
            assert 200 == client.call("DELETE", f"{PATH}/{webhook}").status_code

        for number in range(limit):
            assert 200 == client.register(f"{receiver.url}/{number}").status_code
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
    """A webhook that passes its challenge is valid again."""
    webhook = client.register(receiver.url).get_json()["id"]
    desk.lead_to(receiver.url, webhook, valid=False)

    answer = client.call("PUT", f"{PATH}/{webhook}")

    assert 200 == answer.status_code
    assert {"data": {"attempted": True, "valid": True}} == answer.get_json()
    assert desk.record("webhooks", webhook)["valid"]


def test_validate_a_wrong_answer(client: Client, desk: Desk, receiver: Receiver) -> None:
    """A webhook that answers wrongly is refused and invalid at once."""
    webhook = client.register(receiver.url).get_json()["id"]
    receiver.challenge = lambda _: (200, b"{}")

    (message,) = messages(client.call("PUT", f"{PATH}/{webhook}"))

    assert message.startswith("CrcValidationFailed: ")
    assert not desk.record("webhooks", webhook)["valid"]


@pytest.mark.parametrize("method", ["PUT", "DELETE"])
@pytest.mark.parametrize("webhook", ["1", "not-a-number"])
def test_unknown_webhook(client: Client, method: str, webhook: str) -> None:
    """A webhook that the app does not have is named in the refusal."""
    assert [f"WebhookIdInvalid: the app has no webhook {webhook}"] == messages(
        client.call(method, f"{PATH}/{webhook}")
    )


@pytest.mark.parametrize("method", ["PUT", "DELETE"])
def test_foreign_webhook(client: Client, desk: Desk, receiver: Receiver, method: str) -> None:
    """Another app's webhook looks as if it did not exist."""
    answer = client.register(receiver.url)
    path = f"{PATH}/{answer.get_json()['id']}"

    foreign = client.call(method, path, keys=NORTHBIKE)

    assert messages(foreign)[0].startswith("WebhookIdInvalid: ")
    assert 1 == desk.world.store.count("webhooks")


def test_delete(client: Client, desk: Desk, receiver: Receiver) -> None:
    """A deleted webhook is gone with its events and jobs, and a second delete finds nothing."""
    webhook = client.register(receiver.url).get_json()["id"]
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
        return str(client.register(receiver.url).get_json()["id"])

    def test_a_day_is_enough(self, desk: Desk, receiver: Receiver, webhook: str) -> None:
        """Within 24 hours there is no further challenge; after that there is one."""
        desk.world.clock.advance(timedelta(hours=23, minutes=59).total_seconds())
        desk.wait()
        assert 1 == len(receiver.challenges)

        desk.world.clock.advance(timedelta(minutes=1).total_seconds())
        desk.wait()
        assert 2 == len(receiver.challenges)
        assert desk.record("webhooks", webhook)["valid"]

    def test_a_wrong_answer(self, desk: Desk, receiver: Receiver, webhook: str) -> None:
        """A wrong answer makes it invalid at once, and it is left alone from then on."""
        receiver.challenge = lambda _: (200, b"{}")
        desk.world.clock.advance(timedelta(hours=24).total_seconds())
        desk.wait()
        assert not desk.record("webhooks", webhook)["valid"]

        desk.world.clock.advance(timedelta(hours=24).total_seconds())
        desk.wait()
        assert 2 == len(receiver.challenges)

    def test_a_receiver_that_fails(self, desk: Desk, receiver: Receiver, webhook: str) -> None:
        """A receiver that fails is asked every 30 minutes, and invalid after 28 hours."""
        receiver.challenge = lambda _: (503, b"")
        for _ in range(7):
            desk.world.clock.advance(timedelta(hours=4).total_seconds())
            desk.wait()
        validity = desk.record("webhooks", webhook)["valid"]

        assert (False, 3) == (validity, len(receiver.challenges))

    @pytest.mark.parametrize(("hours", "valid"), [(27.9, True), (28, False), (29, False)])
    def test_a_dead_receiver(self, desk: Desk, webhook: str, hours: float, valid: bool) -> None:
        """One without a receiver is valid until 28 hours after the last pass."""
        record = desk.record("webhooks", webhook)
        desk.lead_to(
            f"http://127.0.0.1:{unused_port()}/",
            webhook,
            _passed_at=record["_passed_at"],
        )
        desk.world.clock.advance(timedelta(hours=hours).total_seconds())
        desk.wait()

        assert valid == desk.record("webhooks", webhook)["valid"]

    def test_every_half_hour(self, desk: Desk, receiver: Receiver, webhook: str) -> None:
        """Two challenges of a receiver that fails are half an hour apart."""
        receiver.challenge = lambda _: (503, b"")
        counts = []
        for minutes in (24 * 60, 29, 1):
            desk.world.clock.advance(timedelta(minutes=minutes).total_seconds())
            desk.wait()
            counts.append(len(receiver.challenges) - 1)

        assert [1, 1, 2] == counts

    def test_fixtures_are_left_alone(self) -> None:
        """A webhook of the fixtures, which never passed a challenge, stays as it is."""
        with Desk() as desk:
            desk.world.clock.advance(timedelta(hours=100).total_seconds())
            desk.wait()

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
        payload = {"id": "7", "in_reply_to_post_id": "6"}
        given = {
            "webhook_id": made.get("data", made)["id"],
            "event_type": "post.create",
            "payload": payload,
        }
        add_event(desk.world, given)
        desk.wait()

        assert key in receiver.received[0].json["data"]["payload"]
