"""The receiver of webhooks: challenges, signatures, what it collects, and how long it waits."""

from __future__ import annotations

import json
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest

from mock_platform import MockPlatform
from mock_platform.testing import WebhookReceiver
from tests.client.testing.conftest import Run
from tests.support_receiver import sign
from tests.waits import PATIENCE

SECRET = "a secret"
BODY = json.dumps({"data": {"event_type": "post.create"}}).encode()


@pytest.fixture
def hook() -> Iterator[WebhookReceiver]:
    """A receiver."""
    with WebhookReceiver(SECRET) as found:
        yield found


def deliver(hook: WebhookReceiver, body: bytes = BODY, secret: str = SECRET) -> int:
    """Deliver a body; the status of the answer."""
    headers = {"X-Platform-Webhooks-Signature": sign(secret, body)}
    request = urllib.request.Request(hook.url, body, headers)
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            status: int = answer.status
    except urllib.error.HTTPError as fault:
        with fault:
            return fault.code
    return status


def test_challenge(hook: WebhookReceiver) -> None:
    """A challenge is answered with the secret, and remembered."""
    with urllib.request.urlopen(f"{hook.url}?crc_token=abc", timeout=PATIENCE) as answer:
        body = json.load(answer)

    assert {"response_token": sign(SECRET, b"abc")} == body
    assert ["abc"] == hook.challenges


def test_delivery(hook: WebhookReceiver) -> None:
    """A delivery is collected with its path, its headers and its body."""
    assert 200 == deliver(hook)

    (found,) = hook.wait(1)
    assert ("/webhook", BODY, "post.create") == (
        found.path,
        found.body,
        found.json["data"]["event_type"],
    )
    assert sign(SECRET, BODY) == found.headers["x-platform-webhooks-signature"]
    assert [found] == hook.deliveries


def test_another_signature(hook: WebhookReceiver) -> None:
    """A delivery that somebody else signed is refused, and kept apart."""
    assert 403 == deliver(hook, secret="another")

    assert ([], [BODY]) == (hook.deliveries, [each.body for each in hook.refused])


def test_other_statuses(hook: WebhookReceiver) -> None:
    """The next deliveries are answered as asked, and collected nevertheless."""
    hook.answer_next(500, 429)

    assert [500, 429, 200] == [deliver(hook) for _ in range(3)]
    assert 3 == len(hook.deliveries)


@pytest.mark.parametrize("wrong", ["500", [500], 99, None])
def test_what_is_no_status_is_refused(hook: WebhookReceiver, wrong: Any) -> None:
    """The test learns it at once, not from a connection that breaks."""
    with pytest.raises(ValueError, match=r"from 200 to 599, as in answer_next\(500, 429\); not "):
        hook.answer_next(500, wrong)

    assert 200 == deliver(hook)


def test_waiting(hook: WebhookReceiver) -> None:
    """Waiting ends when the last delivery arrives."""
    sender = threading.Thread(target=lambda: [deliver(hook) for _ in range(2)])
    sender.start()
    found = hook.wait(2, seconds=PATIENCE)
    sender.join()

    assert 2 == len(found)


@pytest.mark.parametrize(
    ("bodies", "shown"),
    [
        ([], "nothing"),
        ([{"data": {"event_type": "dm.sent"}}, {"data": {}}], "dm.sent, data"),
        ([{"for_user_id": "1", "follow_events": []}], "follow_events"),
        ([{"user_event": {}}, {"replay_job_status": {}}], "user_event, replay_job_status"),
        ([[], {}], "a body, a body"),
    ],
)
def test_waiting_in_vain(hook: WebhookReceiver, bodies: list[Any], shown: str) -> None:
    """The message says what arrived instead, and where to look."""
    for body in bodies:
        deliver(hook, json.dumps(body).encode())

    with pytest.raises(AssertionError) as told:
        hook.wait(3, seconds=0)

    assert (
        f"{hook.url} waited 0 seconds for 3 deliveries and received {len(bodies)}: {shown}. It "
        "was never challenged: register it with POST /2/webhooks. GET /_mock/deliveries lists "
        "every attempt."
    ) == str(told.value)


def test_waiting_with_the_wrong_secret(hook: WebhookReceiver) -> None:
    """The message mentions what was refused."""
    deliver(hook, secret="another")
    hook.challenges.append("abc")

    with pytest.raises(AssertionError, match=r"nothing\. 1 more had another signature"):
        hook.wait(seconds=0)


def test_fixture(wherever: Run) -> None:
    """A test registers the fixture's address, and what happens arrives there."""
    wherever(
        """
        def test_events(mock_platform, mock_webhook):
            session = mock_platform.session("bearer")
            made = session.post("/2/webhooks", json={"url": mock_webhook.url}).json()
            user = mock_platform.credentials["user"]["id"]
            session.post("/2/activity/subscriptions", json={
                "event_type": "profile.update.bio",
                "filter": {"user_id": user},
                "webhook_id": made["id"],
            }).raise_for_status()

            session.post("/_mock/events", json={
                "event_type": "profile.update.bio", "user_id": user})

            (delivery,) = mock_webhook.wait(1)
            assert delivery.json["data"]["filter"] == {"user_id": user}
            assert len(mock_webhook.challenges) == 1
            assert mock_webhook.refused == []
        """
    ).assert_outcomes(passed=1)


def test_each_test_has_its_own(run: Run) -> None:
    """The receiver of one test is gone in the next."""
    run(
        """
        import socket
        import pytest

        ports = []

        @pytest.mark.parametrize("turn", [1, 2])
        def test_port(mock_webhook, turn):
            for port in ports:
                with pytest.raises(ConnectionRefusedError):
                    socket.create_connection(("127.0.0.1", port), 10)
            ports.append(mock_webhook.port)
            assert mock_webhook.deliveries == []
        """
    ).assert_outcomes(passed=2)


def test_a_public_name() -> None:
    """The class is there without pytest, for a sandbox of one's own."""
    with MockPlatform.start() as platform:
        secret = platform.credentials["app"]["consumer_secret"]
        with WebhookReceiver(secret) as hook, platform.session("bearer") as session:
            answer = session.post("/2/webhooks", json={"url": hook.url})

    assert (200, 1) == (answer.status_code, len(hook.challenges))


@pytest.fixture
def platform() -> Iterator[MockPlatform]:
    """A sandbox with a server."""
    with MockPlatform.start() as found:
        yield found


@pytest.fixture
def receiver(platform: MockPlatform) -> Iterator[WebhookReceiver]:
    """A receiver that can ask the sandbox."""
    secret = platform.credentials["app"]["consumer_secret"]
    with WebhookReceiver(secret, explain=platform.explain_deliveries) as found:
        yield found


def wait_in_vain(receiver: WebhookReceiver) -> list[str]:
    """What a receiver says when nothing came, line by line."""
    with pytest.raises(AssertionError) as caught:
        receiver.wait(seconds=0)
    return str(caught.value).splitlines()


def register(platform: MockPlatform, receiver: WebhookReceiver) -> str:
    """Register the receiver; the id of the webhook."""
    session = platform.session("bearer")
    made: str = session.post("/2/webhooks", json={"url": receiver.url}).json()["id"]
    return made


def test_nothing_is_registered_and_nothing_happened(
    platform: MockPlatform, receiver: WebhookReceiver
) -> None:
    """Without a webhook and without an event, the message says both."""
    told = wait_in_vain(receiver)

    assert told[1].startswith("  No webhook has this address. Registered: ")
    assert told[2].startswith("  Nothing happened to a user in the world 'default'")


def test_nobody_subscribed(platform: MockPlatform, receiver: WebhookReceiver) -> None:
    """An event that no subscription leads to the webhook is listed with the reasons."""
    register(platform, receiver)
    user = platform.credentials["user"]["id"]
    platform.emit("profile.update.bio", user=user)

    (_, told) = wait_in_vain(receiver)

    assert told.startswith(f"  profile.update.bio of user {user} at ")
    assert " did not go to it: it went to webhook " in told
    assert "; subscription " in told


def test_another_user_is_followed(platform: MockPlatform, receiver: WebhookReceiver) -> None:
    """A subscription that differs in its user is listed with the difference."""
    webhook = register(platform, receiver)
    wanted = {
        "event_type": "profile.update.bio",
        "filter": {"user_id": "3805104374"},
        "webhook_id": webhook,
    }
    platform.session("bearer").post("/2/activity/subscriptions", json=wanted)
    platform.emit("profile.update.bio", user="2244994945")

    told = wait_in_vain(receiver)[-1]

    assert ": it follows user 3805104374, not 2244994945" in told


def test_the_webhook_is_not_valid(platform: MockPlatform, receiver: WebhookReceiver) -> None:
    """A webhook that failed a challenge is listed with what makes it valid."""
    webhook = register(platform, receiver)
    platform.state["webhooks"].patch(webhook, {"valid": False})

    told = wait_in_vain(receiver)[1]

    assert told.startswith(f"  Webhook {webhook} is not valid, so nothing is sent to it: ")
    assert f"PUT /2/webhooks/{webhook} challenges it again" in told


def test_the_challenge_failed(platform: MockPlatform) -> None:
    """A registration that was refused is listed with its answer."""
    with WebhookReceiver("another secret", explain=platform.explain_deliveries) as stranger:
        platform.session("bearer").post("/2/webhooks", json={"url": stranger.url})

        told = wait_in_vain(stranger)

    assert told[1].startswith("  No webhook has this address.")
    assert told[2].startswith("  POST /2/webhooks was answered with 400: ")


def test_an_attempt_failed(platform: MockPlatform, receiver: WebhookReceiver) -> None:
    """An attempt that the receiver refused is listed with its status."""
    webhook = register(platform, receiver)
    receiver.secret = "another one by now"
    platform.session("bearer").post(
        "/_mock/events",
        json={"event_type": "profile.update.bio", "webhook_id": webhook, "payload": {}},
    ).raise_for_status()
    assert platform.wait_for_deliveries()

    assert any("failed: answered with status 403" in line for line in wait_in_vain(receiver))


def test_an_answer_other_than_200(platform: MockPlatform, receiver: WebhookReceiver) -> None:
    """An attempt that was answered with another success is listed too, since it was none."""
    webhook = register(platform, receiver)
    receiver.answer_next(204, 204, 204, 204, 204)
    event = {"event_type": "profile.update.bio", "webhook_id": webhook, "payload": {}}
    platform.session("bearer").post("/_mock/events", json=event).raise_for_status()
    assert platform.wait_for_deliveries()

    told = platform.explain_deliveries(receiver.url)

    assert any("failed: answered with status 204, not 200" in line for line in told), told


def test_an_event_that_is_held_back(platform: MockPlatform, receiver: WebhookReceiver) -> None:
    """Without a next event, one that a scenario puts after the next one waits, and that is said."""
    webhook = register(platform, receiver)
    platform.activate("webhook-out-of-order")
    event = {"event_type": "profile.update.bio", "webhook_id": webhook, "payload": {}}
    made = platform.session("bearer").post("/_mock/events", json=event).json()
    assert platform.wait_for_deliveries()
    text = f"Event {made['id']} is held back by scenario rule webhook-out-of-order/0 until the next"

    assert wait_in_vain(receiver)[-1].strip().startswith(text)

    platform.session("bearer").post("/_mock/events", json=event).raise_for_status()
    assert platform.wait_for_deliveries()
    assert not any("held back" in line for line in platform.explain_deliveries(receiver.url))


def test_a_later_challenge_failed(platform: MockPlatform, receiver: WebhookReceiver) -> None:
    """A challenge is listed as one, and not as an attempt for an event."""
    webhook = register(platform, receiver)
    receiver.secret = "another one by now"
    platform.session("bearer").post(f"/_mock/webhooks/{webhook}/validate").raise_for_status()

    assert any(line.startswith("  A challenge failed: ") for line in wait_in_vain(receiver))


def test_after_a_reset(platform: MockPlatform, receiver: WebhookReceiver) -> None:
    """What happened before a reset is not listed."""
    platform.emit("profile.update.bio", user="2244994945")
    platform.reset()

    assert "Nothing happened to a user" in wait_in_vain(receiver)[-1]


def test_on_a_server_elsewhere(platform: MockPlatform, receiver: WebhookReceiver) -> None:
    """A server elsewhere says the same."""
    platform.emit("profile.update.bio", user="2244994945")
    with MockPlatform.connect(platform.base_url) as far:
        assert far.explain_deliveries(receiver.url) == platform.explain_deliveries(receiver.url)


def test_a_world_that_has_ended(platform: MockPlatform, receiver: WebhookReceiver) -> None:
    """A receiver that outlives its world still says what came."""
    platform.__exit__(None, None, None)

    assert "waited 0 seconds" in wait_in_vain(receiver)[0]
