"""The v2 objects of posts and of their media, polls and places: views of stored records.

Named endpoints, section 7.2. A field that a record has no value for is left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

from mock_platform.api.v2.objects.post_text import Links, find_links, show_entities, write_post
from mock_platform.api.v2.objects.relations import BOOKMARKS, LIKES, count_at_least
from mock_platform.api.v2.release_history import is_in_force
from mock_platform.world.clock import parse_instant, wire_millis
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

EDITABLE = timedelta(hours=1)
MAX_EDITS = 5

_REPLY_SETTINGS = {
    "EVERYONE": "everyone",
    "FOLLOWING": "following",
    "MENTIONED_USERS": "mentionedUsers",
}
COUNTS = {
    "repost_count": "repost_count",
    "reply_count": "_reply_count",
    "like_count": "favorite_count",
    "quote_count": "_quote_count",
    "bookmark_count": "_bookmark_count",
    "impression_count": "_impression_count",
}
"""The counts of a post in `public_metrics`, with the names under which they are stored."""
_TAG = re.compile(r"<[^>]*>")


_OF_TEXT = frozenset({"text", "entities", "note_post", "display_text_range"})


def show_post(
    world: World, post: Record, fields: Iterable[str], links: Links | None = None
) -> dict[str, Any]:
    """Return these fields of a post as a v2 object, with short links if there are any."""
    shown: dict[str, Any] = {}
    chosen = frozenset(fields)
    if not _OF_TEXT.isdisjoint(chosen):
        post = write_post(world, post, links)
    for name, find_value in _choose_values(chosen):
        value = find_value(world, post)
        if value is not None:
            shown[name] = value
    return shown


@lru_cache(maxsize=256)
def _choose_values(fields: frozenset[str]) -> list[tuple[str, Callable[[World, Record], Any]]]:
    """Return how these fields are found: a page asks for the same ones with each post."""
    return [(name, find_value) for name, find_value in _POST_VALUES.items() if name in fields]


def show_whole_post(world: World, post: Record, *, is_new: bool = False) -> dict[str, Any]:
    """Return a post as payloads of events hold one, each number also as text under NAME_str.

    Likes and reposts of a post are counted, unless it `is_new`.
    """
    fields = _NEW_FIELDS if is_new else PAYLOAD_FIELDS
    shown = show_post(world, post, fields, find_links(world))
    if is_new:
        shown["public_metrics"] = _read_counts(post)
    for name in ("public_metrics", "edit_controls"):
        shown[name] = add_texts(shown[name])
    reply = post.get("in_reply_to_status_id_str")
    return shown if reply is None else shown | {"in_reply_to_post_id": reply}


def add_texts(counts: Mapping[str, Any]) -> dict[str, Any]:
    """Return counts with each number also as text, as in payloads of events."""
    shown: dict[str, Any] = {}
    for name, value in counts.items():
        shown[name] = value
        if isinstance(value, int) and not isinstance(value, bool):
            shown[f"{name}_str"] = str(value)
    return shown


def find_references(post: Record) -> dict[str, str]:
    """Return the ids of the posts that a post refers to, by the type of reference."""
    found = {
        "reposted": post.get("_reposted_post_id"),
        "quoted": post.get("_quoted_post_id"),
        "replied_to": post.get("in_reply_to_status_id_str"),
    }
    shown = {kind: target for kind, target in found.items() if target}
    recorded = [each.get("type") for each in post.get("referenced_posts") or ()]
    return {kind: shown[kind] for kind in dict.fromkeys([*recorded, *shown]) if kind in shown}


def list_versions(post: Record) -> list[str]:
    """Return the ids of all versions of a post, oldest first."""
    return post.get("_edit_history") or [post["id_str"]]


def is_latest(post: Record) -> bool:
    """Return whether a post is its latest version, which alone is in lists."""
    versions = post.get("_edit_history")
    return not versions or versions[-1] == post["id_str"]


def find_conversation(post: Record) -> str:
    """Return the id of the post that the conversation of a post began with."""
    found: str | None = post.get("_conversation_id") or post.get("in_reply_to_status_id_str")
    return found or post["id_str"]


def find_editable_until(world: World, post: Record) -> datetime:
    """Return when the first version of a post can no longer be edited."""
    first = world.store.get("posts", list_versions(post)[0]) or post
    return parse_instant(first["created_at"]) + EDITABLE


def is_edit_eligible(post: Record) -> bool:
    """Return whether a post may be edited at all: no poll, reply to others, repost, community."""
    replies_to = post.get("in_reply_to_user_id_str")
    return (
        not post.get("_poll")
        and not post.get("_reposted_post_id")
        and not post.get("_community_id")
        and replies_to in {None, post["_user_id"]}
    )


def show_poll(world: World, post: Record, fields: Iterable[str]) -> dict[str, Any]:
    """Return these fields of the poll of a post as a v2 object."""
    poll = post["_poll"]
    end = parse_instant(post["created_at"]) + timedelta(minutes=poll["duration_minutes"])
    values = {
        "id": poll["id"],
        "options": poll["options"],
        "duration_minutes": poll["duration_minutes"],
        "end_datetime": wire_millis(end),
        "voting_status": "open" if world.clock.now() < end else "closed",
    }
    return {name: value for name, value in values.items() if name in fields}


def show_place(place: Mapping[str, Any], fields: Iterable[str]) -> dict[str, Any]:
    """Return these fields of the place of a post as a v2 object; its name is its id if unknown."""
    known = place.get("full_name") or place.get("name") or place["id"]
    values = {
        "id": place["id"],
        "full_name": known,
        "name": place.get("name"),
        "country": place.get("country"),
        "country_code": place.get("country_code"),
        "place_type": place.get("place_type"),
        "contained_within": [
            one.get("id") if isinstance(one, Mapping) else one
            for one in place.get("contained_within") or ()
        ]
        or None,
        "geo": place.get("geo") or _find_box(place.get("bounding_box")),
    }
    return {name: values[name] for name in values if name in fields and values[name] is not None}


def _find_box(polygon: Any) -> dict[str, Any] | None:
    """Return the box around a place of the 1.1 interface, in the v2 form."""
    if not isinstance(polygon, Mapping) or not polygon.get("coordinates"):
        return None
    lengths, widths = zip(*polygon["coordinates"][0], strict=True)
    box = [min(lengths), min(widths), max(lengths), max(widths)]
    return {"type": "Feature", "bbox": box, "properties": {}}


def _show_references(_world: World, post: Record) -> list[dict[str, str]] | None:
    found = find_references(post)
    return [{"type": kind, "id": target} for kind, target in found.items()] or None


def _show_attachments(_world: World, post: Record) -> dict[str, list[str]] | None:
    if "attachments" in post:  # as recorded
        return dict(post["attachments"])
    found = {
        "media_keys": post.get("_media_keys") or [],
        "media_source_post_id": post.get("_media_source_post_ids") or [],
    }
    if post.get("_poll"):
        found["poll_ids"] = [post["_poll"]["id"]]
    return {name: values for name, values in found.items() if values} or None


def _show_edit_controls(world: World, post: Record) -> dict[str, Any]:
    made = len(list_versions(post)) - 1
    if "edit_controls" in post:  # as recorded
        return dict(post["edit_controls"])
    return {
        "edits_remaining": max(0, MAX_EDITS - made),
        "is_edit_eligible": is_edit_eligible(post),
        "editable_until": wire_millis(find_editable_until(world, post)),
    }


def _show_geo(_world: World, post: Record) -> dict[str, Any] | None:
    place, point = post.get("place") or {}, post.get("coordinates")
    found = {"place_id": place.get("id"), "coordinates": point}
    shown = {name: value for name, value in found.items() if value is not None}
    return shown or ({} if post.get("geo") == {} else None)


def _show_media_details(_world: World, post: Record) -> list[dict[str, Any]] | None:
    if post.get("media_metadata") is not None:  # as recorded
        return list(post["media_metadata"])
    details = post.get("_media_details") or {}
    shown = {name: details[name] for name in ("title", "description") if name in details}
    keys = post.get("_media_keys") or () if shown else ()
    return [{"media_key": key, **shown} for key in keys] or None


def _show_article(world: World, post: Record) -> dict[str, Any] | None:
    article = world.store.get("articles", post.get("_article_id") or "")
    return None if article is None else {"title": article["title"]}


def name_reply_setting(post: Record) -> str:
    """Return who may reply to a post."""
    own: str | None = post.get("_reply_settings")
    return own or _REPLY_SETTINGS[post.get("conversation_settings") or "EVERYONE"]


def _show_paid_partnership(world: World, post: Record) -> bool | None:
    known = is_in_force("paid-partnership", world)
    return bool(post.get("_paid_partnership")) if known else None


def _read_counts(post: Record) -> dict[str, int]:
    known = post.get("public_metrics", COUNTS)  # of a recorded post those that it was shown with
    return {name: post.get(stored) or 0 for name, stored in COUNTS.items() if name in known}


def _show_counts(world: World, post: Record) -> dict[str, int]:
    """Return the counts of a post: all versions have those of the newest one.

    A repost has the number of reposts of its original, beside its own replies and quotes.
    """
    if "public_metrics" not in post and not is_latest(post):
        post = world.store.get("posts", list_versions(post)[-1]) or post
    counts = _read_counts(post)
    original = world.store.get("posts", post.get("_reposted_post_id") or "")
    if original is not None and "public_metrics" not in post:
        return counts | {"repost_count": _show_counts(world, original)["repost_count"]}
    related = {
        "like_count": LIKES.count_sources(world, post["id_str"]),
        "bookmark_count": BOOKMARKS.count_sources(world, post["id_str"]),
        "repost_count": world.store.count("posts", {"_reposted_post_id": post["id_str"]}),
    }
    return counts | {
        name: count_at_least(counts[name], n) for name, n in related.items() if name in counts
    }


def _read(stored: str) -> Callable[[World, Record], Any]:
    """Return what reads a field that is shown as it is stored; empty texts and lists are not."""

    def find(_world: World, post: Record) -> Any:
        value = post.get(stored)
        return value if value or value not in ("", []) else None

    return find


def _show_withheld(_world: World, post: Record) -> dict[str, Any] | None:
    codes = post.get("_withheld_in_countries")
    if "withheld" in post:  # as recorded
        return dict(post["withheld"])
    return {"copyright": False, "country_codes": codes, "scope": "post"} if codes else None


_RECORDED = (
    *("matched_media_notes", "note_request_suggestions"),
    *("suggested_source_links", "suggested_source_links_with_counts"),
)
"""Fields that only posts have that were recorded with them."""
KEPT_AS_RECORDED = (
    *_RECORDED,
    "media_metadata",
    *("attachments", "edit_controls", "note_post", "public_metrics", "text", "withheld"),
    "referenced_posts",
)
"""The keys of a recorded post that are shown as they are, in place of what its record says."""

_POST_VALUES: Mapping[str, Callable[[World, Record], Any]] = {
    "id": _read("id_str"),
    "text": lambda _world, post: post.get("text") or post["full_text"],
    "edit_history_post_ids": lambda _world, post: list_versions(post),
    "author_id": _read("_user_id"),
    "created_at": lambda _world, post: f"{post['created_at'][:19]}.000Z",  # of a whole second
    "conversation_id": lambda _world, post: find_conversation(post),
    "in_reply_to_user_id": _read("in_reply_to_user_id_str"),
    "referenced_posts": _show_references,
    "lang": _read("lang"),
    "display_text_range": _read("display_text_range"),
    "entities": lambda _world, post: show_entities(post.get("entities")),
    "note_post": _read("note_post"),
    "attachments": _show_attachments,
    "geo": _show_geo,
    "public_metrics": _show_counts,
    "edit_controls": _show_edit_controls,
    "reply_settings": lambda _world, post: name_reply_setting(post),
    "possibly_sensitive": lambda _world, post: bool(post.get("_possibly_sensitive")),
    "paid_partnership": _show_paid_partnership,
    "community_id": _read("_community_id"),
    "card_uri": _read("card_uri"),
    "context_annotations": _read("_context_annotations"),
    "media_metadata": _show_media_details,
    "article": _show_article,
    "article_title": lambda world, post: (_show_article(world, post) or {}).get("title"),
    "scopes": _read("scopes"),
    "withheld": _show_withheld,
    **{name: _read(name) for name in _RECORDED},
    "source": lambda _world, post: _TAG.sub("", post.get("source") or "") or None,
}
"""How the value of each field of a post is found, in the order of the object."""

PAYLOAD_FIELDS = frozenset(_POST_VALUES) - {
    *("scopes", "source", "card_uri", "context_annotations", "article_title", "media_metadata"),
    *_RECORDED,
}
"""The fields of posts in payloads of events."""
_NEW_FIELDS = PAYLOAD_FIELDS - {"public_metrics"}


CARD_URI = r"card://[0-9]{1,19}"
