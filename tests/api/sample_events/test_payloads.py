"""Payloads that are made up: what they say is true afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from mock_platform.api.sample_events.happenings import CannotHappen, make_payload
from tests.support_replay import Desk

USER = "2244994945"


@pytest.fixture
def desk() -> Iterator[Desk]:
    """A sandbox."""
    with Desk() as found:
        yield found


def make(desk: Desk, event_type: str) -> dict[str, Any]:
    """Make up what happened to the well-known user."""
    with desk.world.work():
        return make_payload(desk.world, event_type, desk.record("users", USER))


def test_reading(desk: Desk) -> None:
    """Somebody has read the user's newest message to them."""
    (event,) = make(desk, "dm.read")["direct_message_mark_read_events"]

    assert USER == event["target"]["recipient_id"] != event["sender_id"]
    assert "1990181773551677440" == event["last_read_event_id"]


def test_typing(desk: Desk) -> None:
    """Somebody types to the user."""
    payload = make(desk, "dm.indicate_typing")
    (event,) = payload["direct_message_indicate_typing_events"]

    assert {event["sender_id"], USER} == set(payload["users"])


@pytest.mark.parametrize(("event_type", "sends"), [("chat.sent", True), ("chat.received", False)])
def test_chats(desk: Desk, event_type: str, sends: bool) -> None:
    """A chat has an encrypted event and its sender."""
    payload = make(desk, event_type)

    assert sends == (payload["sender_id"] == USER)
    assert 64 == len(payload["encoded_event"])


def test_revocation(desk: Desk) -> None:
    """The app has no active token of the user afterwards, and the next revocation has none."""
    payload = make(desk, "oauth.revoke")

    match = {"user_id": USER, "state": "active"}
    assert (USER, "11827") == (payload["user_id"], payload["app_id"])
    assert 0 == desk.world.store.count("tokens", match)
    with pytest.raises(CannotHappen, match=f"no app has a token of user {USER}"):
        make(desk, "oauth.revoke")


def test_affiliation(desk: Desk) -> None:
    """A user gets the badge of an organization, and the next event takes it away again."""
    got = make(desk, "profile.update.affiliate")
    badge = desk.record("users", USER)["affiliation"]
    lost = make(desk, "profile.update.affiliate")

    assert ("", badge["description"]) == (got["before"], got["after"])
    organization = desk.record("users", badge["user_id"][0])
    assert (badge["description"], USER) != (organization["name"], organization["id"])
    assert {"before": got["after"], "after": ""} == lost
    assert {} == desk.record("users", USER)["affiliation"]


@pytest.mark.parametrize("event_type", ["broadcast.start"])
def test_no_sample(desk: Desk, event_type: str) -> None:
    """For other types the payload is needed."""
    with pytest.raises(CannotHappen, match=f"^payload is required for {event_type}"):
        make(desk, event_type)
