"""The shipped events are as rich as public payloads, and agree with each other and the users."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from mock_platform.world.store.interface import Record
from mock_platform.world.world import World
from tests.support import sandbox

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
USER = {
    "id", "name", "username", "created_at", "description", "protected", "verified", "verified_type",
    "is_identity_verified", "profile_image_url", "profile_banner_url", "url", "affiliation",
    "public_metrics", "entities", "location",
}  # fmt: skip
INCLUDED_USER = USER | {"pinned_post_id", "most_recent_post_id", "profile_geo_enrichment"}
USER_METRICS = {
    "followers_count", "following_count", "post_count", "listed_count", "like_count", "media_count",
}  # fmt: skip
POST = {
    "id", "text", "author_id", "created_at", "conversation_id", "lang", "possibly_sensitive",
    "paid_partnership", "reply_settings", "display_text_range", "edit_history_post_ids",
    "public_metrics", "edit_controls",
}  # fmt: skip
POST_METRICS = {
    "repost_count", "reply_count", "like_count", "quote_count", "bookmark_count",
    "impression_count",
}  # fmt: skip


@pytest.fixture(scope="module")
def world() -> World:
    """The world that the shipped fixtures make."""
    return sandbox(freeze=NOW).platform.worlds.default


@pytest.fixture(scope="module")
def events(world: World) -> list[Record]:
    """The shipped events, the oldest first."""
    found = [entry.record for entry in world.store.page("events")]
    return sorted(found, key=lambda event: str(event["created_at"]))


def objects(value: Any) -> Iterator[dict[str, Any]]:
    """Every object within a value."""
    if isinstance(value, dict):
        yield value
    for inner in value.values() if isinstance(value, dict) else value:
        if isinstance(inner, dict | list):
            yield from objects(inner)


def contents(event: Record) -> Iterator[dict[str, Any]]:
    """Every object of an event's payload and includes."""
    yield from objects(event["payload"])
    yield from objects(event["_includes"] or {})


def users_of(event: Record) -> list[dict[str, Any]]:
    """The users that an event shows."""
    return [found for found in contents(event) if "username" in found and "public_metrics" in found]


def posts_of(event: Record) -> list[dict[str, Any]]:
    """The posts that an event shows."""
    return [found for found in contents(event) if "conversation_id" in found]


def millis(text: str) -> int:
    """An instant as milliseconds since 1970."""
    return round(datetime.fromisoformat(text).timestamp() * 1000)


def test_every_whole_number_has_its_twin(events: list[Record]) -> None:
    """Each key with a whole number has its text under the key with _str, and no other."""
    seen = 0
    for event in events:
        for found in contents(event):
            numbers = {k: v for k, v in found.items() if type(v) is int}
            twins = {f"{name}_str": str(number) for name, number in numbers.items()}
            assert twins == {name: text for name, text in found.items() if name.endswith("_str")}
            seen += len(twins)
    assert seen > 0


def test_users_are_whole(events: list[Record]) -> None:
    """Each user has every key of the public payloads; those in includes have three more."""
    shown = [(event, user) for event in events for user in users_of(event)]
    for event, user in shown:
        included = list(objects(event["_includes"] or {}))
        bare = event["event_type"] == "post.delete"
        expected = INCLUDED_USER if user in included and not bare else USER
        assert expected == user.keys(), event["id"]
        assert USER_METRICS == {n for n in user["public_metrics"] if not n.endswith("_str")}
    assert {"2244994945", "3805104374"} == {user["id"] for _, user in shown}


def test_posts_are_whole(events: list[Record]) -> None:
    """Each post has every key of the public payloads, and its entities where it has some."""
    shown = [post for event in events for post in posts_of(event)]
    for post in shown:
        refers = "https://" in post["text"] or "@" in post["text"]
        assert (POST | {"entities"} if refers else POST) == post.keys()
        assert POST_METRICS == {n for n in post["public_metrics"] if not n.endswith("_str")}
        assert [0, len(post["text"])] == post["display_text_range"]
        for places in post.get("entities", {}).values():
            for place in places:
                span = post["text"][place["start"] : place["end"]]
                assert span in {place.get("url"), f"@{place.get('username')}"}
    assert shown


def test_what_an_event_includes(events: list[Record]) -> None:
    """Posts made come with post and author, deleted ones with the author, likes with both."""
    for event in events:
        included = event["_includes"]
        match event["event_type"]:
            case "post.create":
                assert [event["payload"]] == included["posts"]
                assert [event["payload"]["author_id"]] == [u["id"] for u in included["users"]]
            case "post.delete":
                assert {"id", "author_id"} == event["payload"].keys()
                assert event["payload"]["author_id"] == included["users"][0]["data"]["id"]
            case "like.create":
                assert event["payload"]["liked_post_id"] == included["posts"][0]["id"]
                assert included["users"]
            case _:
                assert included is None


def test_moments_are_those_of_the_story(events: list[Record]) -> None:
    """Posts, likes and messages happened when their event says, in the form of their key."""
    for event in events:
        at = event["created_at"]
        for found in contents(event):
            for name in {"created_timestamp", "timestamp_ms"} & found.keys():
                assert str(millis(at)) == found[name]
        if event["event_type"] in {"post.create", "like.create"}:
            assert at == event["payload"]["created_at"]
        for post in posts_of(event):
            editable = millis(post["edit_controls"]["editable_until"])
            assert 3_600_000 == editable - millis(post["created_at"])


def test_spaces_name_their_event(events: list[Record]) -> None:
    """The payload of a Space says spaces_start or spaces_end, not the event's dotted name."""
    found = [e["payload"]["event_type"] for e in events if e["event_type"].startswith("spaces.")]
    assert ["spaces_start", "spaces_end"] == found


def test_messages_have_their_keys(events: list[Record]) -> None:
    """Messages, read marks and typing come under their keys, with both users."""
    found = {e["event_type"]: e["payload"] for e in events if e["event_type"].startswith("dm.")}

    assert {
        "dm.received": {"direct_message_events", "users"},
        "dm.sent": {"direct_message_events", "users"},
        "dm.read": {"direct_message_mark_read_events", "users"},
        "dm.indicate_typing": {"direct_message_indicate_typing_events", "users"},
    } == {name: set(payload) for name, payload in found.items()}
    for payload in found.values():
        assert {"2244994945", "3805104374"} == payload["users"].keys()
        assert all(key == user["data"]["id"] for key, user in payload["users"].items())


FOLLOWED = {
    "profile.update.bio": "description",
    "profile.update.verified": "verified_type",
    "profile.update.screenname": "username",
}


def test_profiles_follow_their_updates(world: World, events: list[Record]) -> None:
    """Users look as the last update left them, and at the end as the stored users do."""
    now: dict[str, Any] = {}
    for event in events:
        field = FOLLOWED.get(event["event_type"])
        if field is not None:
            assert event["payload"]["before"] == now.get(field, event["payload"]["before"])
            now[field] = event["payload"]["after"]
        for user in users_of(event):
            if user["id"] == "2244994945":
                assert now.items() <= {name: user[name] for name in now}.items()
    stored = world.store.get("users", "2244994945") or {}
    assert {
        "description": stored["description"],
        "verified_type": "business",
        "username": stored["screen_name"],
    } == now


STORED = {
    "name": "name", "location": "location", "url": "url",
    "profile_image_url_https": "profile_image_url", "profile_banner_url": "profile_banner_url",
}  # fmt: skip
COUNTED = {
    "followers_count": "followers_count", "friends_count": "following_count",
    "statuses_count": "post_count", "listed_count": "listed_count",
    "favourites_count": "like_count",
}  # fmt: skip
"""How payloads call the fields and counts that are stored."""


def test_users_agree_with_the_stored_ones(world: World, events: list[Record]) -> None:
    """What no update changes is what the table of users holds."""
    for event in events:
        for user in users_of(event):
            stored = world.store.get("users", user["id"]) or {}
            assert stored["created_at"].replace("Z", ".000Z") == user["created_at"]
            for shown, names in ((user, STORED), (user["public_metrics"], COUNTED)):
                assert {n: stored[n] for n in names} == {n: shown[names[n]] for n in names}


def test_only_posts_that_exist_are_deleted_or_liked(events: list[Record]) -> None:
    """A post is made before it is liked or deleted, and not liked afterwards."""
    alive: set[str] = set()
    gone: set[str] = set()
    for event in events:
        payload = event["payload"]
        match event["event_type"]:
            case "post.create":
                alive.add(payload["id"])
            case "post.delete":
                assert payload["id"] in alive | gone
                alive.discard(payload["id"])
                gone.add(payload["id"])
            case "like.create":
                assert payload["liked_post_id"] in alive
    assert gone
