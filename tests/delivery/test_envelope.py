from __future__ import annotations

import json
from typing import Any

import pytest

from mock_platform.delivery.envelope import (
    find_challenge_fault,
    make_activity,
    make_challenge_url,
    make_job_status,
    make_signature,
)
from tests.support_receiver import sign


def event(event_type: str = "post.create", **more: Any) -> dict[str, Any]:
    """An event record."""
    return {
        "id": "-12", "webhook_id": "1", "event_type": event_type, "payload": {"id": "7"},
        "created_at": "2026-11-20T10:00:00.000Z",
    } | more  # fmt: skip


@pytest.mark.spec("A, Events", "Event payload shapes")
def test_an_event_goes_out_in_the_public_envelope() -> None:
    """The envelope has exactly the public keys; what the record does not have is left out."""
    assert {
        "data": {
            "event_uuid": "-12",
            "filter": {"user_id": "99"},
            "event_type": "post.create",
            "payload": {"id": "7"},
        }
    } == make_activity(event(), "99")


def test_a_record_fills_the_envelope() -> None:
    """User, tag and includes of the record go out."""
    data = make_activity(event(_user_id="5", _tag="mine", _includes={"users": [1]}), "99")["data"]

    assert ["event_uuid", "filter", "event_type", "tag", "payload", "includes"] == list(data)
    assert ({"user_id": "5"}, "mine", {"users": [1]}) == (
        data["filter"],
        data["tag"],
        data["includes"],
    )


@pytest.mark.parametrize("empty", [None, "", {}])
def test_nothing_empty_goes_out(empty: Any) -> None:
    """An empty tag, direction or set of includes is left out."""
    sent = make_activity(event("dm.sent", _tag=empty, _direction=empty, _includes=empty), "99")[
        "data"
    ]

    assert {"event_uuid", "filter", "event_type", "payload"} == sent.keys()
    assert {"user_id": "99"} == sent["filter"]


@pytest.mark.spec("A, Events", "optionally by direction", "dm.received, dm.sent")
@pytest.mark.parametrize("event_type", ["dm.received", "dm.sent", "dm.read", "chat.sent"])
@pytest.mark.parametrize("direction", ["received", "sent", "both", None])
def test_direct_messages_have_the_direction_of_their_subscription(
    event_type: str, direction: str | None
) -> None:
    """The filter names a direction only where the subscription has one."""
    chosen = make_activity(event(event_type, _direction=direction), "99")["data"]["filter"]

    expected = {"user_id": "99"} | ({} if direction is None else {"direction": direction})
    assert expected == chosen


@pytest.mark.spec("A, Release history", "2026-03-18: Direction")
@pytest.mark.parametrize(
    ("created_at", "directed"),
    [("2026-03-17T23:59:59.999Z", False), ("2026-03-18T00:00:00.000Z", True)],
)
def test_the_direction_came_with_a_release(created_at: str, directed: bool) -> None:
    """Before 2026-03-18 subscriptions had no direction filter."""
    sent = make_activity(event("dm.sent", created_at=created_at, _direction="sent"), "99")

    assert directed == ("direction" in sent["data"]["filter"])


def test_an_event_of_the_app_has_an_empty_filter() -> None:
    """A user who takes access back is no user that the subscription follows."""
    assert {} == make_activity(event("oauth.revoke"), "99")["data"]["filter"]


@pytest.mark.parametrize(("state", "shown", "description"), [
    ("COMPLETE", "Complete", "Job completed successfully"),
    ("INCOMPLETE", "Incomplete", "Job failed to deliver all events, please retry your replay job"),
])  # fmt: skip
def test_a_jobs_end_is_announced_in_the_public_words(
    state: str, shown: str, description: str
) -> None:
    """State and description are those of the public documentation."""
    assert {
        "replay_job_status": {"webhook_id": "1", "job_state": shown,
                              "job_state_description": description, "job_id": "2"},
    } == make_job_status({"id": "2", "webhook_id": "1", "state": state})  # fmt: skip


SECRET = "a secret"


def test_a_signature_is_the_base64_of_the_hmac() -> None:
    """The value was computed with `openssl dgst -sha256 -hmac 'a secret' -binary | base64`."""
    assert "sha256=/yBnCml12DWm+4j7vqzwvTmYPE+swQBPn5GGBTFXt4Y=" == make_signature(
        SECRET, b'{"a":1}'
    )


def test_the_challenge_joins_the_query_that_is_there() -> None:
    """crc_token is added to an address with a query and to one without; a fragment is dropped."""
    assert "http://h/hook?crc_token=t" == make_challenge_url("http://h/hook", "t")
    assert "http://h/hook?a=b&crc_token=t" == make_challenge_url("http://h/hook?a=b#part", "t")


def test_the_right_answer_has_no_fault() -> None:
    """Any status of success will do if the token is signed with the consumer secret."""
    body = json.dumps({"response_token": sign(SECRET, b"t"), "more": 1}).encode()

    assert find_challenge_fault(SECRET, "t", 200, body) is None
    assert find_challenge_fault(SECRET, "t", 299, body) is None


@pytest.mark.parametrize(("status", "body", "text"), [
    (300, b"{}", "the challenge was answered with status 300, not 200"),
    (199, b"{}", "the challenge was answered with status 199, not 200"),
    (200, b"<html>", "the challenge's answer is not valid JSON"),
    (200, b"[]", 'the challenge\'s answer lacks "response_token", a string'),
    (200, b'{"response_token": 5}', 'the challenge\'s answer lacks "response_token"'),
    (200, b'{"response_token": "sha256=abc"}', "the challenge's response_token is wrong"),
    (200, '{"response_token": "é"}'.encode(), "the challenge's response_token is wrong"),
])  # fmt: skip
def test_a_wrong_answer_is_told_apart(status: int, body: bytes, text: str) -> None:
    """Each way to answer wrongly has its own words."""
    fault = find_challenge_fault(SECRET, "t", status, body)

    assert fault is not None
    assert fault.startswith(text)


def test_the_token_signed_with_another_secret_is_wrong() -> None:
    """Only the app's consumer secret signs."""
    body = json.dumps({"response_token": sign("another", b"t")}).encode()

    assert "consumer secret" in (find_challenge_fault(SECRET, "t", 200, body) or "")
