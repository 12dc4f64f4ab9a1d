"""The shipped creatives hold together, and each rule on their records refuses what breaks it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from mock_platform.api.ads.cards.interactive_records import POLL_CARDS, VIDEO_CONVERSATION_CARDS
from mock_platform.api.ads.cards.records import CARDS, derive_card_type, find_used_media
from mock_platform.api.v2.media.records import MEDIA, MEDIA_LIBRARY
from mock_platform.api.v2.objects.older_forms import format_post_time, make_author
from mock_platform.api.v2.objects.posts import POSTS
from mock_platform.core.tables.table import Table
from mock_platform.platform import load_base
from mock_platform.settings import Settings
from mock_platform.world.blueprint import Blueprint
from mock_platform.world.clock import parse_instant
from mock_platform.world.store.interface import Record
from mock_platform.world.store.memory import MemoryStore
from mock_platform.world.world import World

TABLES = (MEDIA, MEDIA_LIBRARY, CARDS, POLL_CARDS, VIDEO_CONVERSATION_CARDS, POSTS)


@pytest.fixture(scope="module")
def store() -> MemoryStore:
    """The shipped fixtures."""
    return MemoryStore(load_base(Settings()))


def records(store: MemoryStore, table: str) -> Iterator[Record]:
    """Every record of a table."""
    return (entry.record for entry in store.page(table))


def media_of(store: MemoryStore, key: str) -> Record:
    """What the fixtures hold under a media key."""
    found = store.get("media_library", key) or store.get("media", key)
    assert found is not None, key
    return found


def test_cards_hold_known_media(store: MemoryStore) -> None:
    """Every card uses media of its own account, and has the type that follows from them."""
    for card in records(store, "cards"):
        if card["_legacy"]:
            continue
        used = {key: media_of(store, key) for _, key in find_used_media(card)}
        videos = {key for key, media in used.items() if media["media_type"] == "VIDEO"}

        assert {card["_account_id"]} == {media["_account_id"] for media in used.values()}
        assert derive_card_type(card, videos) == card["card_type"]


@pytest.mark.parametrize("table", ["poll_cards", "video_conversation_cards"])
def test_other_cards_hold_known_media(store: MemoryStore, table: str) -> None:
    """Media of poll and conversation cards are in the library of the same account."""
    for card in records(store, table):
        for name in ("media_key", "_media_key", "_unlocked_image_media_key"):
            if card.get(name):
                assert card["_account_id"] == media_of(store, card[name])["_account_id"]


def test_posts_hold_known_media_and_cards(store: MemoryStore) -> None:
    """Posts refer to what there is; the library knows which of its media were posted."""
    posted = set()
    for post in records(store, "posts"):
        posted |= set(post["_media_keys"])
        for key in post["_media_keys"]:
            assert post["_account_id"] in {None, media_of(store, key)["_account_id"]}
        if "card_uri" in post:
            assert store.page("cards", {"card_uri": post["card_uri"]}, limit=1)

    library = records(store, "media_library")
    of_library = {key for key in posted if store.get("media_library", key)}
    assert of_library == {media["media_key"] for media in library if media["posted"]}


def test_promoted_posts_exist(store: MemoryStore) -> None:
    """Every promoted post is a post."""
    for promoted in records(store, "promoted_posts"):
        assert store.get("posts", promoted["post_id"]), promoted


def test_amplify_videos_are_account_media(store: MemoryStore) -> None:
    """Every AMPLIFY_VIDEO of a library is an account media asset of the same account."""
    assets = {(a["video_id"], a["_account_id"]) for a in records(store, "account_media")}
    amplify = {
        (media["media_key"], media["_account_id"])
        for media in records(store, "media_library")
        if media["media_category"] == "AMPLIFY_VIDEO"
    }

    assert amplify <= assets


def test_uploads_are_not_in_a_library(store: MemoryStore) -> None:
    """What is in `media` is not in a library."""
    assert not [m for m in records(store, "media") if store.get("media_library", m["media_key"])]


def sample(table: Table, store: MemoryStore, **which: Any) -> Record:
    """A copy of a record of the fixtures."""
    found = store.page(table.name, which, limit=1)[0].record
    return dict(found)


BREAKS: list[tuple[Table, dict[str, Any], dict[str, Any], str]] = [
    (MEDIA, {"media_type": "GIF"}, {"media_type": "IMAGE"}, "media_type"),
    (MEDIA, {}, {"media_key": "image-3"}, "media_key"),
    (MEDIA, {}, {"aspect_ratio": "wide"}, "aspect_ratio"),
    (MEDIA, {}, {"aspect_ratio": "0:9"}, "aspect_ratio"),
    (MEDIA, {}, {"_width": 0}, "_width"),
    (MEDIA_LIBRARY, {"media_type": "IMAGE"}, {"duration": 5}, "duration"),
    (MEDIA_LIBRARY, {"media_type": "IMAGE"}, {"title": None}, "title"),
    (MEDIA_LIBRARY, {}, {"media_status": "DONE"}, "media_status"),
    (MEDIA_LIBRARY, {}, {"name": "x" * 101}, "name"),
    (CARDS, {}, {"card_uri": "card://5"}, "card_uri"),
    (CARDS, {}, {"card_type": "WEBSITE"}, "card_type"),
    (CARDS, {}, {"_legacy": True}, "components"),
    (CARDS, {"_legacy": True}, {"card_type": "IMAGE_APPS"}, "card_type"),
    (CARDS, {}, {"website_url": "https://harbor.example"}, "website_url"),
    (CARDS, {"_legacy": True}, {"_legacy": False}, "components"),
    (CARDS, {}, {"components": []}, "components"),
    (CARDS, {}, {"slides": []}, "components"),
    (POLL_CARDS, {}, {"deleted": True}, "deleted"),
    (POLL_CARDS, {}, {"card_uri": "card:5"}, "card_uri"),
    (POLL_CARDS, {}, {"fourth_choice": "d"}, "fourth_choice"),
    (POLL_CARDS, {}, {"duration_in_minutes": 5}, "duration_in_minutes"),
    (VIDEO_CONVERSATION_CARDS, {}, {"card_uri": "card://57i77"}, "card_uri"),
    (VIDEO_CONVERSATION_CARDS, {}, {"third_cta": "#a"}, "third_cta_post"),
    (VIDEO_CONVERSATION_CARDS, {}, {"first_cta": "#" + "a" * 21}, "first_cta"),
    (POSTS, {}, {"post_id": "5"}, "post_id"),
    (POSTS, {}, {"created_at": "Sun Feb 30 08:00:00 +0000 2026"}, "created_at"),
    (POSTS, {}, {"post_type": "DRAFT"}, "post_type"),
]


@pytest.mark.parametrize(("table", "which", "changes", "field"), BREAKS)
def test_rules_of_records(
    store: MemoryStore, table: Table, which: dict[str, Any], changes: dict[str, Any], field: str
) -> None:
    """A record as shipped is fine; the change makes it refused at the named field."""
    record = sample(table, store, **which)

    assert [] == table.load(record)[1]
    assert field in [name for name, _ in table.load(record | changes)[1]]


def test_conversation_card_without_title_or_second(store: MemoryStore) -> None:
    """A stored conversation card has a title or a second call to action."""
    record = sample(VIDEO_CONVERSATION_CARDS, store)
    del record["title"]

    assert ["title"] == [name for name, _ in VIDEO_CONVERSATION_CARDS.load(record)[1]]


def test_unknown_field_of_a_component(store: MemoryStore) -> None:
    """A misspelt field deep inside a fixture card is found."""
    record = sample(CARDS, store, card_type="IMAGE_WEBSITE")
    media, details = record["components"]
    destination = details["destination"] | {"address": "https://example.com"}
    broken = record | {"components": [media, details | {"destination": destination}]}

    assert ["components[1].destination.address"] == [name for name, _ in CARDS.load(broken)[1]]


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_records_are_stored_as_they_are_written(store: MemoryStore, table: Table) -> None:
    """Loading a stored record again changes nothing."""
    for record in records(store, table.name):
        assert (record, []) == table.load(record)


def test_post_time() -> None:
    """Times of posts are written as the 1.1 interface writes them."""
    for moment, expected in (
        ("2017-06-24T05:08:30Z", "Sat Jun 24 05:08:30 +0000 2017"),
        ("2026-01-01T00:00:00Z", "Thu Jan 01 00:00:00 +0000 2026"),
        ("2026-12-31T23:59:59Z", "Thu Dec 31 23:59:59 +0000 2026"),
    ):
        assert expected == format_post_time(parse_instant(moment))


def test_author_who_is_gone() -> None:
    """A post whose author was removed still shows the id."""
    world = World("w", Blueprint(load_base(Settings())))

    assert {"id": 5, "id_str": "5"} == make_author(world, "5")
