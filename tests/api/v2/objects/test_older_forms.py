"""Posts of activities in the 1.1 form: replies, quotes, entities, long texts."""

from __future__ import annotations

from typing import Any

import pytest

from mock_platform.api.v2.objects.older_forms import make_post_object, make_user_object
from tests.support_replay import NOW, Desk

USER = "2244994945"
OTHER = "3805104374"
POST = {"id": "77", "text": "New roast.", "author_id": OTHER}


def make(desk: Desk, *known: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Make the object of a post."""
    return make_post_object(desk.world, POST | more, known, NOW)


def test_a_plain_post(desk: Desk) -> None:
    """What the post does not say is neutral; its time is that of the event."""
    shown = make(desk)

    assert make_user_object(desk.record("users", OTHER)) == shown.pop("user")
    replied = ("status_id", "status_id_str", "user_id", "user_id_str", "screen_name")
    assert shown == {
        "created_at": "Fri Nov 20 12:00:30 +0000 2026", "timestamp_ms": "1795176030000",
        "id": 77, "id_str": "77", "text": "New roast.", "source": "", "lang": "en",
        **dict.fromkeys(f"in_reply_to_{name}" for name in replied),
        **dict.fromkeys(("geo", "coordinates", "place", "contributors")),
        **dict.fromkeys(("truncated", "is_quote_status", "favorited", "reposted"), False),
        **dict.fromkeys(("repost_count", "reply_count", "quote_count", "favorite_count"), 0),
        "entities": {"hashtags": [], "symbols": [], "user_mentions": [], "urls": []},
        "filter_level": "low",
    }  # fmt: skip


def test_what_the_post_says(desk: Desk) -> None:
    """Time, counts, language and the warning of the post are kept."""
    metrics = {"repost_count": 1, "reply_count": 2, "quote_count": 3, "like_count": 4}
    said = {"lang": "de", "possibly_sensitive": True}
    shown = make(desk, created_at="2026-11-20T11:00:00.000Z", public_metrics=metrics, **said)

    assert shown.items() >= said.items() | {
        "created_at": "Fri Nov 20 11:00:00 +0000 2026", "repost_count": 1, "reply_count": 2,
        "quote_count": 3, "favorite_count": 4,
    }.items()  # fmt: skip


def test_reply(desk: Desk) -> None:
    """A reply names post and author in numbers and texts."""
    references = [{"type": "replied_to", "id": "70"}]
    shown = make(desk, referenced_posts=references, in_reply_to_user_id=USER)

    assert (70, "70", int(USER), USER, "harbor_roasters") == tuple(
        shown[f"in_reply_to_{name}"]
        for name in ("status_id", "status_id_str", "user_id", "user_id_str", "screen_name")
    )


def test_quote(desk: Desk) -> None:
    """A quoting post shows the quoted one, which shows none."""
    quoted = {
        "id": "70", "text": "First.", "author_id": USER,
        "referenced_posts": [{"type": "quoted", "id": "77"}],
    }  # fmt: skip
    shown = make(desk, quoted, POST, referenced_posts=[{"type": "quoted", "id": "70"}])

    named = {"is_quote_status": True, "quoted_status_id": 70, "quoted_status_id_str": "70"}
    assert named.items() <= shown.items()
    inner = shown["quoted_status"]
    assert ("First.", True) == (inner["text"], inner["is_quote_status"])
    assert "quoted_status" not in inner


def test_repost(desk: Desk) -> None:
    """A repost shows the other post, if it is known."""
    reposted = {"id": "70", "text": "First.", "author_id": USER}
    references = [{"type": "reposted", "id": "70"}]
    assert "First." == make(desk, reposted, referenced_posts=references)["reposted_status"]["text"]
    assert "reposted_status" not in make(desk, referenced_posts=references)


def test_entities(desk: Desk) -> None:
    """Entities have their places as a pair."""
    shown = make(
        desk,
        entities={
            "hashtags": [{"start": 0, "end": 4, "tag": "one"}],
            "cashtags": [{"start": 5, "end": 9, "tag": "TWO"}],
            "mentions": [{"start": 10, "end": 26, "username": "harbor_roasters", "id": USER}],
            "urls": [{"start": 27, "end": 50, "url": "https://a.example"}],
        },
    )["entities"]

    user = {"screen_name": "harbor_roasters", "name": "Harbor Roasters"}
    url = {"url": "https://a.example", "expanded_url": None, "display_url": None}
    assert {
        "hashtags": [{"text": "one", "indices": [0, 4]}],
        "symbols": [{"text": "TWO", "indices": [5, 9]}],
        "user_mentions": [user | {"id": int(USER), "id_str": USER, "indices": [10, 26]}],
        "urls": [url | {"indices": [27, 50]}],
    } == shown


@pytest.mark.parametrize(("length", "long"), [(280, False), (281, True)])
def test_long_text(desk: Desk, length: int, long: bool) -> None:
    """Over 280 characters the text is cut to 140, and the whole is in extended_post."""
    text = "x" * length
    tags = [{"start": 130, "end": 140, "tag": "a"}, {"start": 141, "end": 150, "tag": "b"}]
    shown = make(desk, text=text, entities={"hashtags": tags})

    assert long == shown["truncated"]
    if not long:
        assert text == shown["text"]
        assert "extended_post" not in shown
        return
    assert (text[:140], [0, 140]) == (shown["text"], shown["display_text_range"])
    assert ["a"] == [tag["text"] for tag in shown["entities"]["hashtags"]]
    whole = shown["extended_post"]
    assert (text, [0, 281]) == (whole["full_text"], whole["display_text_range"])
    assert ["a", "b"] == [tag["text"] for tag in whole["entities"]["hashtags"]]


def test_long_text_of_a_note(desk: Desk) -> None:
    """The whole text of a long post is under note_post."""
    shown = make(desk, text="x" * 280, note_post={"text": "x" * 300})
    assert 300 == len(shown["extended_post"]["full_text"])


def test_an_unknown_author(desk: Desk) -> None:
    """Of an author who is not in the world there is the id."""
    assert {"id": 5, "id_str": "5"} == make(desk, author_id="5")["user"]


def test_odd_values(desk: Desk) -> None:
    """A payload that somebody made up fails nothing."""
    odd: Any = {"created_at": "soon", "entities": 5, "public_metrics": [], "lang": 7}
    shown = make(desk, referenced_posts="x", **odd)
    expected = {"created_at": "Fri Nov 20 12:00:30 +0000 2026", "lang": "en", "reply_count": 0}
    assert expected.items() <= shown.items()
