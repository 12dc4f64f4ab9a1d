"""What happens on command is believable, and true afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from mock_platform.api.sample_events import (
    CannotHappen,
    happen,
    is_happening,
    make_payload,
)
from mock_platform.api.v2.activity.activities import FanOut
from mock_platform.api.v2.objects.relations import (
    BLOCKS,
    FOLLOW_REQUESTS,
    FOLLOWS,
    MUTES,
    Relation,
)
from mock_platform.world.store.interface import Record
from tests.support import BEARER, Sandbox, body_of, sandbox
from tests.support_replay import Desk

USER = "2244994945"
MOMENT = "2026-11-20T11:00:00.000Z"


@pytest.fixture
def desk() -> Iterator[Desk]:
    """A sandbox with three users."""
    with Desk(dataset="small") as found:
        yield found


def let(desk: Desk, event_type: str, direction: str | None = None) -> FanOut:
    """Let something happen to the well-known user."""
    with desk.world.work():
        user = desk.record("users", USER)
        return happen(desk.world, event_type, user, created_at=MOMENT, direction=direction)


def newest(desk: Desk, number: int) -> list[Record]:
    """The newest activities."""
    return [entry.record for entry in desk.world.store.page("activities")][-number:]


@pytest.mark.parametrize(("event_type", "expected"), [
    ("post.create", True), ("like.create", True), ("follow.unfollow", True), ("dm.sent", True),
    ("dm.read", False), ("profile.update.bio", False),
])  # fmt: skip
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
        activity["event_type"], activity["user_id"], stored["created_at"],
    )  # fmt: skip
    assert sends == (stored["sender_id"] == USER)
    assert sends == (event["message_create"]["target"]["recipient_id"] != USER)
    assert ["dm.sent", "dm.received"] == [each["event_type"] for each in newest(desk, 2)]


@pytest.mark.parametrize(("event_type", "direction", "counted", "step"), [
    ("follow.follow", None, "friends_count", 1),
    ("follow.follow", "sent", "friends_count", 1),
    ("follow.follow", "received", "followers_count", 1),
    ("follow.unfollow", None, "friends_count", -1),
])  # fmt: skip
def test_follows(
    desk: Desk, event_type: str, direction: str | None, counted: str, step: int
) -> None:
    """A follow counts for both users, and both hear of it."""
    desk.clear("follows")
    before = desk.record("users", USER)[counted]
    activity = let(desk, event_type, direction).activity

    assert before + step == desk.record("users", USER)[counted]
    assert (USER, direction or "sent") == (activity["user_id"], activity["direction"])
    assert ["sent", "received"] == [each["direction"] for each in newest(desk, 2)]
    role = "target" if direction == "received" else "source"
    assert USER == activity["payload"][role]["data"]["id"]


@pytest.mark.parametrize(
    ("name", "relation"),
    [("follow.{}follow", FOLLOWS), ("mute.{}mute", MUTES), ("block.{}block", BLOCKS)],
)
def test_relations(desk: Desk, name: str, relation: Relation) -> None:
    """What one user does to another is so afterwards, however often it happens."""
    desk.clear("follows")
    began, *_ = [let(desk, name.format("")).activity for _ in range(3)]
    assert {OTHER, INES} == set(relation.list_targets(desk.world, USER))
    ended = [let(desk, name.format("un")).activity for _ in range(3)]

    assert [] == relation.list_targets(desk.world, USER)
    assert name.format("") == began["event_type"]
    assert [name.format("un")] * 3 == [each["event_type"] for each in ended]
    assert [USER, OTHER] == [
        began["payload"][role]["data"]["id"] for role in ("source", "target")
    ]  # fmt: skip


def test_a_received_follow_accepts_a_request(desk: Desk) -> None:
    """Who has asked to follow a protected user follows then; a block refuses follows."""
    desk.clear("follows")
    desk.remove("users", INES)
    desk.change("users", USER, protected=True)
    with desk.world.work():
        FOLLOW_REQUESTS.add(desk.world, OTHER, USER)
    let(desk, "follow.follow", "received")
    assert FOLLOWS.find(desk.world, OTHER, USER) is not None
    assert FOLLOW_REQUESTS.find(desk.world, OTHER, USER) is None

    let(desk, "block.block")
    assert FOLLOWS.find(desk.world, OTHER, USER) is None
    with pytest.raises(CannotHappen, match="blocks the other"):
        let(desk, "follow.follow")


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
    desk.change("users", USER, protected=True)

    with pytest.raises(CannotHappen, match="is protected"):
        let(desk, "post.create")
    assert "dm.sent" == let(desk, "dm.sent").activity["event_type"]


def make(desk: Desk, event_type: str) -> dict[str, Any]:
    """Make up what happened to the well-known user."""
    with desk.world.work():
        return make_payload(desk.world, event_type, desk.record("users", USER))


def test_reading_and_typing(desk: Desk) -> None:
    """Somebody has read the user's newest message to them, or types to the user."""
    (read,) = make(desk, "dm.read")["direct_message_mark_read_events"]
    payload = make(desk, "dm.indicate_typing")
    (typed,) = payload["direct_message_indicate_typing_events"]

    assert USER == read["target"]["recipient_id"] != read["sender_id"]
    assert "1990181773551677440" == read["last_read_event_id"]
    assert {typed["sender_id"], USER} == set(payload["users"])


@pytest.mark.parametrize(("event_type", "sends"), [("chat.sent", True), ("chat.received", False)])
def test_encrypted_messages(desk: Desk, event_type: str, sends: bool) -> None:
    """An encrypted message is in the conversation afterwards, if there is one; both hear of it."""
    activity = let(desk, event_type).activity
    stored = desk.record("chat_events", activity["payload"]["id"])
    with desk.world.work():
        desk.world.store.remove("chat_conversations", stored["conversation_id"])
    alone = let(desk, event_type).activity

    assert (event_type, USER, MOMENT) == (
        activity["event_type"], activity["user_id"], stored["created_at"]
    )  # fmt: skip
    assert sends == (stored["sender_id"] == USER) == (alone["payload"]["sender_id"] == USER)
    assert desk.world.store.get("chat_events", alone["payload"]["id"]) is None


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


def test_no_sample(desk: Desk) -> None:
    """For other types the payload is needed."""
    with pytest.raises(CannotHappen, match=r"^payload is required for broadcast.pause"):
        make(desk, "broadcast.pause")


NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
SETTINGS = {"freeze": NOW}
OWN, OTHER, INES = "2244994945", "3805104374", "2790441185"


def emit(box: Sandbox, event_type: str, status: int = 201, **more: Any) -> Any:
    """Let something happen to the well-known user, unless given otherwise."""
    body = {"event_type": event_type, "user_id": OWN} | more
    return body_of(box.client.post("/_mock/events", json=body), status)


def add_user(box: Sandbox) -> str:
    """Add a user without posts; the id."""
    body_of(box.client.put("/_mock/state/users/7", json={"screen_name": "ada", "name": "Ada"}))
    return "7"


def activities(box: Sandbox) -> list[tuple[str, str]]:
    """The type and the user of everything that happened."""
    found = [entry.record for entry in box.world.store.page("activities")]
    return [(each["event_type"], each["user_id"]) for each in found]


def test_a_post_is_made(box: Sandbox) -> None:
    """post.create makes a post that can be read, at the moment that was asked for."""
    activity = emit(box, "post.create", created_at="now-2h")["activity"]
    post_id = activity["payload"]["id"]
    fields: dict[str, Any] = {"post.fields": "created_at,author_id"}
    shown = box.read(f"/2/posts/{post_id}", keys=BEARER, **fields)["data"]

    assert activity["payload"]["text"] == shown["text"]
    assert (OWN, "2026-11-22T10:00:00.000Z") == (shown["author_id"], shown["created_at"])
    assert post_id == activity["event_uuid"]


def test_each_repost_is_of_another_post(box: Sandbox) -> None:
    """Nobody reposts a post twice, however often somebody is to repost."""
    activities = [emit(box, "post.repost.create")["activity"] for _ in range(3)]
    originals = {each["payload"]["referenced_posts"][0]["id"] for each in activities}

    assert 3 == len(originals)


def test_a_post_is_deleted(box: Sandbox) -> None:
    """post.delete deletes the newest post; a user without posts has none to delete."""
    made = emit(box, "post.create")["activity"]["payload"]["id"]
    deleted = emit(box, "post.delete")["activity"]["payload"]

    assert {"id": made, "author_id": OWN} == deleted
    assert box.read(f"/2/posts/{made}", keys=BEARER, status=404)
    refused = emit(box, "post.delete", 422, user_id=add_user(box))
    assert "has no post that could be deleted" in str(refused)


@pytest.mark.parametrize(("kind", "reference", "count"), [
    ("reply", "replied_to", "reply_count"), ("quote", "quoted", "quote_count"),
    ("repost", "reposted", "repost_count"),
])  # fmt: skip
def test_others_answer(box: Sandbox, kind: str, reference: str, count: str) -> None:
    """Another user replies to, quotes or reposts the newest post, which is counted there."""
    original = emit(box, "post.create")["activity"]["payload"]["id"]
    payload = emit(box, f"post.{kind}.create")["activity"]["payload"]
    fields: dict[str, Any] = {"post.fields": "public_metrics"}
    shown = box.read(f"/2/posts/{original}", keys=BEARER, **fields)["data"]

    assert {"type": reference, "id": original} in payload["referenced_posts"]
    assert OWN != payload["author_id"]
    assert 1 == shown["public_metrics"][count]
    latest = [("post.create", payload["author_id"]), (f"post.{kind}.create", OWN)]
    assert latest == activities(box)[-2:]


def test_others_mention(box: Sandbox) -> None:
    """Another user names the user in a post, or quotes one, which is made first for a new user."""
    mention = emit(box, "post.mention.create")["activity"]["payload"]
    quote = emit(box, "post.quote.create", user_id=add_user(box))["activity"]["payload"]
    (reference,) = quote["referenced_posts"]

    assert [OWN] == [each["id"] for each in mention["entities"]["mentions"]]
    assert "7" == box.record("posts", reference["id"])["_user_id"]


@pytest.mark.parametrize(("direction", "liker"), [(None, OWN), ("sent", OWN), ("received", None)])
def test_a_like(box: Sandbox, direction: str | None, liker: str | None) -> None:
    """The user likes, or with the direction received is liked; both counts change."""
    more: dict[str, Any] = {} if direction is None else {"direction": direction}
    activity = emit(box, "like.create", **more)["activity"]
    payload, includes = activity["payload"], activity["includes"]

    assert OWN == activity["user_id"]
    assert direction or "sent" == activity["direction"]
    assert (payload["liked_post_author_id"] == OWN) is (liker is None)
    assert payload["liked_post_id"] == includes["posts"][0]["id"]
    assert liker in {None, includes["users"][0]["id"]}
    assert (32, "1795348800000") == (len(payload["id"]), payload["timestamp_ms"])
    before = sandbox(freeze=NOW).record("posts", payload["liked_post_id"])["favorite_count"]
    assert before + 1 == box.record("posts", payload["liked_post_id"])["favorite_count"]


def test_a_payload_is_a_post_as_well(box: Sandbox) -> None:
    """What the payload of a post.create says can be read, and deleted by a payload."""
    payload = {"id": "77", "text": "From a test", "author_id": OTHER}
    emit(box, "post.create", user_id=OTHER, payload=payload)

    assert "From a test" == box.read("/2/posts/77", keys=BEARER)["data"]["text"]
    emit(box, "post.delete", user_id=OTHER, payload={"id": "77", "author_id": OTHER})
    assert box.read("/2/posts/77", keys=BEARER, status=404)


def test_a_payload_that_is_no_post(box: Sandbox) -> None:
    """It is delivered as it is, and a warning says why it cannot be read."""
    answer = emit(box, "post.create", payload={"id": "77", "mood": "good"})

    assert {"id": "77", "mood": "good"} == answer["activity"]["payload"]
    assert any("not stored as a post" in text for text in answer["warnings"])
    assert box.read("/2/posts/77", keys=BEARER, status=404)


def test_protected_users(box: Sandbox) -> None:
    """What happens to their posts is no event, and the answer says so."""
    box.change("users", OWN, protected=True)
    refused = emit(box, "post.create", 422)

    assert "is protected" in str(refused)
    assert [] == activities(box)


@pytest.mark.parametrize("named", [
    {}, {"user_id": "harbor_roasters"}, {"user_id": "@Harbor_Roasters"},
])  # fmt: skip
def test_a_user_by_default_or_by_name(box: Sandbox, named: dict[str, str]) -> None:
    """Without a user it happens to the first one; a screen name is as good as an id."""
    answer = box.client.post("/_mock/events", json={"event_type": "post.create", **named})

    assert answer.get_json()["activity"]["user_id"] == OWN


def test_a_user_is_needed(box: Sandbox) -> None:
    """A user that is null, or that does not exist, is refused."""
    nobody = box.client.post("/_mock/events", json={"event_type": "post.create", "user_id": None})
    unknown = box.client.post("/_mock/events", json={"event_type": "post.create", "user_id": "no"})

    assert (422, 422) == (nobody.status_code, unknown.status_code)
    assert "user_id is required for post.create" in nobody.text
    assert "no user has the id or screen name 'no'" in unknown.text
