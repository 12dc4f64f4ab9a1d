"""What happens on command changes the records, and is an activity for each user in it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from mock_platform.api.sample_events.happenings import CannotHappen, happen, is_happening
from mock_platform.api.v2.activity.activities import FanOut
from mock_platform.world.store.interface import Record
from tests.support_replay import Desk

USER = "2244994945"
MOMENT = "2026-11-20T11:00:00.000Z"


@pytest.fixture
def desk() -> Iterator[Desk]:
    """A sandbox."""
    with Desk() as found:
        yield found


def let(desk: Desk, event_type: str, direction: str | None = None) -> FanOut:
    """Let something happen to the well-known user."""
    with desk.world.work():
        user = desk.record("users", USER)
        return happen(desk.world, event_type, user, created_at=MOMENT, direction=direction)


def newest(desk: Desk, number: int) -> list[Record]:
    """The newest activities."""
    return [entry.record for entry in desk.world.store.page("activities")][-number:]


@pytest.mark.parametrize(
    ("event_type", "expected"),
    [
        ("post.create", True),
        ("like.create", True),
        ("follow.unfollow", True),
        ("dm.sent", True),
        ("dm.read", False),
        ("profile.update.bio", False),
    ],
)
def test_which(event_type: str, expected: bool) -> None:
    """Posts, likes, follows and messages are records of the world."""
    assert expected == is_happening(event_type)


@pytest.mark.parametrize(("event_type", "sends"), [("dm.sent", True), ("dm.received", False)])
def test_messages(desk: Desk, event_type: str, sends: bool) -> None:
    """A message is in the conversation afterwards, and both users hear of it."""
    activity = let(desk, event_type).activity

    (event,) = activity["payload"]["direct_message_events"]
    stored = desk.record("direct_messages", event["id"])
    assert (event_type, USER, MOMENT) == (
        activity["event_type"],
        activity["user_id"],
        stored["created_at"],
    )
    assert sends == (stored["sender_id"] == USER)
    assert sends == (event["message_create"]["target"]["recipient_id"] != USER)
    assert ["dm.sent", "dm.received"] == [each["event_type"] for each in newest(desk, 2)]


@pytest.mark.parametrize(
    ("event_type", "direction", "counted", "step"),
    [
        ("follow.follow", None, "friends_count", 1),
        ("follow.follow", "sent", "friends_count", 1),
        ("follow.follow", "received", "followers_count", 1),
        ("follow.unfollow", None, "friends_count", -1),
    ],
)
def test_follows(
    desk: Desk, event_type: str, direction: str | None, counted: str, step: int
) -> None:
    """A follow counts for both users, and both hear of it."""
    before = desk.record("users", USER)[counted]
    activity = let(desk, event_type, direction).activity

    assert before + step == desk.record("users", USER)[counted]
    assert (USER, direction or "sent") == (activity["user_id"], activity["direction"])
    assert ["sent", "received"] == [each["direction"] for each in newest(desk, 2)]
    role = "target" if direction == "received" else "source"
    assert USER == activity["payload"][role]["data"]["id"]


@pytest.mark.parametrize("event_type", ["dm.sent", "follow.follow"])
def test_without_another_user(desk: Desk, event_type: str) -> None:
    """It takes two."""
    with desk.world.work():
        for entry in desk.world.store.page("users"):
            if entry.key != USER:
                desk.world.store.remove("users", entry.key)

    with pytest.raises(CannotHappen, match="the world has no other user"):
        let(desk, event_type)


def test_a_protected_user(desk: Desk) -> None:
    """Posts of protected users are no events, but their messages are."""
    with desk.world.work():
        desk.world.store.put("users", USER, desk.record("users", USER) | {"protected": True})

    with pytest.raises(CannotHappen, match="is protected"):
        let(desk, "post.create")
    assert "dm.sent" == let(desk, "dm.sent").activity["event_type"]
