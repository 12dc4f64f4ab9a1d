"""Posts of activities in the form of the 1.1 interface, as account activity delivers them.

Made from the post object of an activity, so an event shows the post as it was at that moment.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from mock_platform.core.assumptions import public_fact
from mock_platform.rules.user_objects import format_post_time, make_user_object
from mock_platform.store.interface import Record
from mock_platform.world.clock import epoch_millis, parse_instant
from mock_platform.world.world import World

Post = Mapping[str, Any]
LONG_TEXT = public_fact(
    "account-activity.long-text",
    "A text of more than 280 characters is cut to 140 in account activity: truncated is true, and "
    "extended_post has full_text with display_text_range and entities.",
    "section 4.2 of the named endpoints",
)
LONGEST_TEXT = 280
CUT_TEXT = 140
_COUNTS = {
    "repost_count": "repost_count",
    "reply_count": "reply_count",
    "quote_count": "quote_count",
    "favorite_count": "like_count",
}


def make_post_object(
    world: World, post: Post, known: Sequence[Post], happened: datetime, *, nested: bool = False
) -> Record:
    """Return a post object of the v2 interface in the 1.1 form.

    `known` holds the posts to which it may refer; a `nested` one shows none of them. `id` and
    `author_id` must be digits; what else is missing gets its neutral value.
    """
    text = _find_text(post)
    moment = _read_moment(post.get("created_at"), happened)
    entities = _make_entities(world, post)
    long = len(text) > LONGEST_TEXT
    shown: Record = {
        "created_at": format_post_time(moment),
        "id": int(post["id"]),
        "id_str": post["id"],
        "text": text[:CUT_TEXT] if long else text,
        "source": _as_text(post.get("source")),
        "truncated": long,
        **_make_reply(world, post),
        "user": _show_author(world, post["author_id"]),
        "geo": None,
        "coordinates": None,
        "place": None,
        "contributors": None,
        "is_quote_status": False,
        **_count(post),
        "entities": _cut_entities(entities) if long else entities,
        "favorited": False,
        "reposted": False,
        "filter_level": "low",
        "lang": _as_text(post.get("lang")) or "en",
        "timestamp_ms": epoch_millis(moment),
    }
    if post.get("possibly_sensitive") is not None:
        shown["possibly_sensitive"] = bool(post["possibly_sensitive"])
    if long:
        shown["display_text_range"] = [0, CUT_TEXT]
        shown["extended_post"] = {
            "full_text": text,
            "display_text_range": [0, len(text)],
            "entities": entities,
        }
    return shown | _make_references(world, post, [] if nested else known, happened)


def _find_text(post: Post) -> str:
    """Return the whole text; a long one is under `note_post`."""
    return _as_text(_as_map(post.get("note_post")).get("text")) or _as_text(post.get("text"))


def _make_reply(world: World, post: Post) -> Record:
    status = _find_referenced(post, "replied_to")
    user_id = _as_id(post.get("in_reply_to_user_id"))
    user = None if user_id is None else world.store.get("users", user_id)
    return {
        "in_reply_to_status_id": None if status is None else int(status),
        "in_reply_to_status_id_str": status,
        "in_reply_to_user_id": None if user_id is None else int(user_id),
        "in_reply_to_user_id_str": user_id,
        "in_reply_to_screen_name": None if user is None else user["screen_name"],
    }


def _make_references(world: World, post: Post, known: Sequence[Post], happened: datetime) -> Record:
    """Return what a post shows of the post that it quotes or reposts."""
    by_id = {each.get("id"): each for each in known}
    shown: Record = {}
    quoted, reposted = (_find_referenced(post, kind) for kind in ("quoted", "reposted"))
    if quoted is not None:
        shown |= {
            "is_quote_status": True,
            "quoted_status_id": int(quoted),
            "quoted_status_id_str": quoted,
        }
    for key, id_ in (("quoted_status", quoted), ("reposted_status", reposted)):
        other = by_id.get(id_) if id_ is not None else None
        if other is not None and _as_id(other.get("author_id")) is not None:
            shown[key] = make_post_object(world, other, (), happened, nested=True)
    return shown


def _find_referenced(post: Post, kind: str) -> str | None:
    references = post.get("referenced_posts")
    for each in references if isinstance(references, list) else ():
        if _as_map(each).get("type") == kind:
            return _as_id(each.get("id"))
    return None


def _count(post: Post) -> Record:
    metrics = _as_map(post.get("public_metrics"))
    values = {ours: metrics.get(theirs) for ours, theirs in _COUNTS.items()}
    return {name: value if isinstance(value, int) else 0 for name, value in values.items()}


def _make_entities(world: World, post: Post) -> dict[str, list[Record]]:
    given = _as_map(post.get("entities"))
    return {
        "hashtags": [_place(each, text=each.get("tag")) for each in _list(given, "hashtags")],
        "symbols": [_place(each, text=each.get("tag")) for each in _list(given, "cashtags")],
        "user_mentions": [_make_mention(world, each) for each in _list(given, "mentions")],
        "urls": [
            _place(
                each, **{name: each.get(name) for name in ("url", "expanded_url", "display_url")}
            )
            for each in _list(given, "urls")
        ],
    }


def _make_mention(world: World, given: Mapping[str, Any]) -> Record:
    id_ = _as_id(given.get("id"))
    user = None if id_ is None else world.store.get("users", id_)
    name = given.get("username")
    return _place(
        given,
        screen_name=name,
        name=name if user is None else user["name"],
        id=None if id_ is None else int(id_),
        id_str=id_,
    )


def _place(given: Mapping[str, Any], **more: Any) -> Record:
    return {**more, "indices": [given.get("start", 0), given.get("end", 0)]}


def _cut_entities(entities: Mapping[str, list[Record]]) -> dict[str, list[Record]]:
    """Keep what refers to the text that remains."""
    return {
        name: [each for each in found if each["indices"][1] <= CUT_TEXT]
        for name, found in entities.items()
    }


def _show_author(world: World, user_id: str) -> Record:
    user = world.store.get("users", user_id)
    return {"id": int(user_id), "id_str": user_id} if user is None else make_user_object(user)


def _read_moment(given: Any, default: datetime) -> datetime:
    try:
        return parse_instant(given) if isinstance(given, str) else default
    except ValueError:
        return default


def _list(given: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    found = given.get(name)
    return [each for each in found if isinstance(each, Mapping)] if isinstance(found, list) else []


def _as_map(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _as_id(value: Any) -> str | None:
    return value if isinstance(value, str) and value.isascii() and value.isdigit() else None
