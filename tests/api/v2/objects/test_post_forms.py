"""Posts are stored alike, whichever interface's object a fixture or a client puts."""

from __future__ import annotations

from typing import Any

from mock_platform.api.v2.objects.answers import POST_FIELDS
from mock_platform.api.v2.objects.post_view import show_post
from mock_platform.api.v2.objects.posts import POSTS, make_post_object, read_entities
from mock_platform.world.store.interface import Record
from tests.support import sandbox

V2: dict[str, Any] = {
    "id": "1712850617439559999",
    "text": "@northbike_co #ColdBrew $HRBR https://a.example/b",
    "author_id": "2244994945",
    "created_at": "2026-11-20T10:00:00.000Z",
    "conversation_id": "1712850617439551492",
    "in_reply_to_user_id": "3805104374",
    "referenced_posts": [
        {"type": "quoted", "id": "1712850617439551489"},
        {"type": "replied_to", "id": "1712850617439551492"},
    ],
    "lang": "pt",
    "display_text_range": [0, 48],
    "edit_history_post_ids": ["1712850617439559999"],
    "attachments": {"media_keys": ["3_1712850617439550001"]},
    "geo": {"place_id": "5a110d312052166f"},
    "public_metrics": {
        "repost_count": 1, "reply_count": 2, "like_count": 3, "quote_count": 4,
        "bookmark_count": 5, "impression_count": 6,
    },
    "reply_settings": "mentionedUsers",
    "possibly_sensitive": True,
    "paid_partnership": True,
    "community_id": "1493446837214187523",
    "entities": {
        "hashtags": [{"start": 14, "end": 23, "tag": "ColdBrew"}],
        "cashtags": [{"start": 24, "end": 29, "tag": "HRBR"}],
        "mentions": [{"start": 0, "end": 13, "username": "northbike_co", "id": "3805104374"}],
        "urls": [{"start": 30, "end": 48, "url": "https://a.example/b"}],
    },
}  # fmt: skip
"""A v2 object with everything that a post keeps."""


def load(record: Record) -> Record:
    """A post as stored; it must have no faults."""
    found, faults = POSTS.load(record)
    assert [] == faults
    return found


def test_a_v2_object_is_stored_and_shown_as_it_was() -> None:
    """Every field comes back; what follows from others is computed."""
    world = sandbox().platform.worlds.default
    shown = show_post(world, load(V2), POST_FIELDS)

    derived = {name: shown.pop(name) for name in ("edit_controls", "scopes")}
    assert V2 == shown
    assert {"followers": True} == derived["scopes"]
    assert "2026-11-20T11:00:00.000Z" == derived["edit_controls"]["editable_until"]


def test_a_long_v2_object_is_stored_with_its_whole_text() -> None:
    """Of a cut text and a note, the note is kept."""
    note = {"text": "a" * 300}
    record = load(V2 | {"text": "a" * 279 + "\u2026", "note_post": note})
    assert note["text"] == record["full_text"]


def test_a_1_1_object_is_stored_and_shown_as_it_was() -> None:
    """The time and the author come back in their own form; no key of v2 is shown."""
    world = sandbox().platform.worlds.default
    stored = world.store.get("posts", "1712850617439551489")
    assert stored is not None

    shown = make_post_object(world, stored)

    assert "Mon Mar 02 08:00:00 +0000 2026" == shown["created_at"]
    assert "2026-03-02T08:00:00.000Z" == stored["created_at"]
    assert "harbor_roasters" == shown["user"]["screen_name"]
    assert [] == [name for name in shown if name.startswith("_")]
    assert stored == load(shown | {name: v for name, v in stored.items() if name.startswith("_")})


def test_a_version_is_part_of_its_history() -> None:
    """A history that does not name the post itself is refused."""
    _, faults = POSTS.load(V2 | {"edit_history_post_ids": ["1"]})
    assert ["_edit_history"] == [name for name, _ in faults]


def test_a_post_is_of_a_whole_second() -> None:
    """What clients parse as `.000Z` is shown so, whatever part of the second it was made in."""
    world = sandbox().platform.worlds.default
    stored = load(V2 | {"created_at": "2026-11-20T10:00:00.250Z"})
    assert "2026-11-20T10:00:00.000Z" == show_post(world, stored, ("created_at",))["created_at"]


def test_entities_in_either_form() -> None:
    """Those of version 1.1 stay as they are, those of v2 get their form."""
    older = {"user_mentions": [{"screen_name": "northbike_co", "indices": [0, 13]}]}
    newer = {"mentions": [{"username": "northbike_co", "start": 0, "end": 13}]}

    assert older == read_entities(older)
    assert older["user_mentions"] == read_entities(newer)["user_mentions"]
