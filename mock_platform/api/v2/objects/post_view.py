"""The v2 objects of posts and of their media, polls and places: views of stored records.

What the text of a post refers to and how long it is, which the view shows, is here as well.

Named endpoints, section 7.2. A field that a record has no value for is left out.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

from mock_platform.api.v2.objects.relations import BOOKMARKS, LIKES, count_at_least
from mock_platform.api.v2.release_history import is_in_force
from mock_platform.core.assumptions import expectation, public_fact
from mock_platform.world.clock import parse_instant, wire_millis
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

LONG_TEXT = expectation(
    "posts.long-text",
    "The text of a post over the usual length is shown cut to 280 characters that end in an "
    "ellipsis; note_post has it whole, and searches and rules match the whole text.",
)
USUAL_LENGTH = 280
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


def show_post(world: World, post: Record, fields: Iterable[str]) -> dict[str, Any]:
    """Return these fields of a post as a v2 object."""
    shown: dict[str, Any] = {}
    for name in _POST_VALUES:
        if name in fields:
            value = _POST_VALUES[name](world, post)
            if value is not None:
                shown[name] = value
    return shown


def show_whole_post(world: World, post: Record) -> dict[str, Any]:
    """Return a post as payloads of events hold one, each number also as text under NAME_str."""
    shown = show_post(world, post, PAYLOAD_FIELDS)
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
    return {kind: target for kind, target in found.items() if target}


def list_versions(post: Record) -> list[str]:
    """Return the ids of all versions of a post, oldest first."""
    return post.get("_edit_history") or [post["id_str"]]


def find_conversation(post: Record) -> str:
    """Return the id of the post that the conversation of a post began with."""
    found: str | None = post.get("_conversation_id") or post.get("in_reply_to_status_id_str")
    return found or post["id_str"]


def is_long(text: str) -> bool:
    """Return whether a text is over the usual length."""
    # No character counts as more than two.
    return 2 * len(text) > USUAL_LENGTH and weigh_text(text) > USUAL_LENGTH


def show_entities(entities: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return the entities of a text in the v2 form, or `None`."""
    entities = entities or {}
    found = {
        "hashtags": [_place(one) | {"tag": one.get("text")} for one in _list(entities, "hashtags")],
        "cashtags": [_place(one) | {"tag": one.get("text")} for one in _list(entities, "symbols")],
        "mentions": [_show_mention(one) for one in _list(entities, "user_mentions")],
        "urls": [_show_address(one) for one in _list(entities, "urls")],
    }
    return {name: values for name, values in found.items() if values} or None


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
        "contained_within": place.get("contained_within"),
        "geo": place.get("geo") or place.get("bounding_box"),
    }
    return {name: values[name] for name in values if name in fields and values[name] is not None}


def _show_text(_world: World, post: Record) -> str:
    text: str = post["full_text"]
    if not is_long(text):
        return text
    return f"{cut_text(text, USUAL_LENGTH - 1)}\u2026"


def _show_note(_world: World, post: Record) -> dict[str, Any] | None:
    if not is_long(post["full_text"]):
        return None
    entities = show_entities(post.get("entities"))
    return {"text": post["full_text"], **({} if entities is None else {"entities": entities})}


def _show_references(_world: World, post: Record) -> list[dict[str, str]] | None:
    found = find_references(post)
    return [{"type": kind, "id": target} for kind, target in found.items()] or None


def _show_attachments(_world: World, post: Record) -> dict[str, list[str]] | None:
    found = {"media_keys": post.get("_media_keys") or []}
    if post.get("_poll"):
        found["poll_ids"] = [post["_poll"]["id"]]
    return {name: values for name, values in found.items() if values} or None


def _show_edit_controls(world: World, post: Record) -> dict[str, Any]:
    made = len(list_versions(post)) - 1
    return {
        "edits_remaining": max(0, MAX_EDITS - made),
        "is_edit_eligible": is_edit_eligible(post),
        "editable_until": wire_millis(find_editable_until(world, post)),
    }


def _show_geo(_world: World, post: Record) -> dict[str, Any] | None:
    place, point = post.get("place") or {}, post.get("coordinates")
    found = {"place_id": place.get("id"), "coordinates": point}
    return {name: value for name, value in found.items() if value is not None} or None


def _show_media_details(_world: World, post: Record) -> list[dict[str, Any]] | None:
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


def _show_counts(world: World, post: Record) -> dict[str, int]:
    counts = {name: post.get(stored) or 0 for name, stored in COUNTS.items()}
    related = {
        "like_count": LIKES.count_sources(world, post["id_str"]),
        "bookmark_count": BOOKMARKS.count_sources(world, post["id_str"]),
        "repost_count": world.store.count("posts", {"_reposted_post_id": post["id_str"]}),
    }
    return counts | {name: count_at_least(counts[name], n) for name, n in related.items()}


def _read(stored: str) -> Callable[[World, Record], Any]:
    """Return what reads a field that is shown as it is stored; empty texts and lists are not."""
    return lambda _world, post: post.get(stored) if post.get(stored) not in ("", []) else None


def _place(entity: Mapping[str, Any]) -> dict[str, int]:
    start, end = entity.get("indices") or (0, 0)
    return {"start": start, "end": end}


def _list(entities: Mapping[str, Any], name: str) -> Iterable[Mapping[str, Any]]:
    return entities.get(name) or ()


def _show_withheld(_world: World, post: Record) -> dict[str, Any] | None:
    codes = post.get("_withheld_in_countries")
    return {"copyright": False, "country_codes": codes, "scope": "post"} if codes else None


def _show_mention(mention: Mapping[str, Any]) -> dict[str, Any]:
    shown = _place(mention) | {"username": mention.get("screen_name")}
    return shown | {"id": mention["id_str"]} if "id_str" in mention else shown


def _show_address(address: Mapping[str, Any]) -> dict[str, Any]:
    return _place(address) | {name: value for name, value in address.items() if name != "indices"}


_POST_VALUES: Mapping[str, Callable[[World, Record], Any]] = {
    "id": _read("id_str"),
    "text": _show_text,
    "edit_history_post_ids": lambda _world, post: list_versions(post),
    "author_id": _read("_user_id"),
    "created_at": _read("created_at"),
    "conversation_id": lambda _world, post: find_conversation(post),
    "in_reply_to_user_id": _read("in_reply_to_user_id_str"),
    "referenced_posts": _show_references,
    "lang": _read("lang"),
    "display_text_range": _read("display_text_range"),
    "entities": lambda _world, post: show_entities(post.get("entities")),
    "note_post": _show_note,
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
    "source": lambda _world, post: _TAG.sub("", post.get("source") or "") or None,
}
"""How the value of each field of a post is found, in the order of the object."""

PAYLOAD_FIELDS = frozenset(_POST_VALUES) - {
    *("scopes", "source", "card_uri", "context_annotations", "article_title", "media_metadata"),
}
"""The fields of posts in payloads of events."""


CARD_URI = r"card://[0-9]{1,19}"

TEXT_WEIGHT = public_fact(
    "posts.weighted-length",
    "The length of a text is weighted: an address counts as 23 characters, a character of Chinese, "
    "Japanese or Korean and each emoji as 2, others as 1.",
    "section 7.1 of the named endpoints, text",
)
ADDRESS_WEIGHT = 23
_URL = re.compile(r"https?://[^\s<>\"]*[^\s<>\".,;:!?')\]]")
_HASHTAG = re.compile(r"(?<![\w#&/])#(\w*[^\W\d_]\w*)")
_SYMBOL = re.compile(r"(?<![\w$])\$([A-Za-z]{1,6})\b")
_MENTION = re.compile(r"(?<![\w@/])@([A-Za-z0-9_]{1,15})")
_LIGHT = "\u0000-\u10ff\u2000-\u200d\u2010-\u201f\u2032-\u2037"
"""The ranges of characters that count as one; all others count as two."""
_ALL_LIGHT = re.compile(f"[{_LIGHT}]+")
_EMOJI = re.compile(
    "[\U0001f1e6-\U0001f1ff]{2}"
    "|[\u203c-\u3299\U0001f000-\U0001faff]"
    "(?:[\ufe0f\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f])*"
    "(?:\u200d[\u2640-\u27ff\U0001f000-\U0001faff][\ufe0f\U0001f3fb-\U0001f3ff]*)*"
)
"""A flag, or an emoji with the parts that are joined to it: together they count as two."""


def find_entities(world: World, text: str) -> dict[str, Any]:
    """Return what a text refers to, each with its place in characters, in the 1.1 form.

    Only users who exist are mentioned.
    """
    urls = list(_URL.finditer(text))
    # Text inside an address is not a hashtag or mention.
    rest = _URL.sub(lambda found: " " * len(found.group()), text)
    mentions = []
    for found in _MENTION.finditer(rest):
        user = find_user(world, found[1])
        if user is not None:
            mentions.append(
                {
                    "screen_name": user["screen_name"],
                    "name": user["name"],
                    "id": int(user["id"]),
                    "id_str": user["id"],
                    "indices": list(found.span()),
                }
            )
    return {
        "hashtags": _find_tags(_HASHTAG, rest),
        "symbols": _find_tags(_SYMBOL, rest),
        "user_mentions": mentions,
        "urls": [show_address(found.group()) | {"indices": list(found.span())} for found in urls],
    }


def show_address(address: str) -> dict[str, str]:
    """Return an address as entities show it: short, whole, and without its scheme."""
    displayed = address.partition("://")[2]
    return {"url": address, "expanded_url": address, "display_url": displayed}


def make_source(app: Mapping[str, Any] | None) -> str:
    """Return the link to the app that made a post, as the 1.1 interface shows it."""
    app = app or {}
    return f'<a href="{app.get("url") or ""}" rel="nofollow">{app.get("name", "")}</a>'


def find_user(world: World, name: str) -> dict[str, Any] | None:
    """Return the user with a screen name, in any case, or `None`."""
    folded = name.casefold()
    for user in world.store.prefix("users", {}, "screen_name", name):
        if user["screen_name"].casefold() == folded:
            return user
        break
    return None


def weigh_text(text: str) -> int:
    """Return the weighted length of a text (`posts.weighted-length`)."""
    rest, addresses = _URL.subn("", unicodedata.normalize("NFC", text))
    rest, emoji = (rest, 0) if rest.isascii() else _EMOJI.subn("", rest)
    return ADDRESS_WEIGHT * addresses + 2 * emoji + _weigh_characters(rest)


def cut_text(text: str, weight: int) -> str:
    """Return the beginning of a text whose characters together have at most this weight."""
    if text[:weight].isascii():
        return text[:weight]  # each counts as one
    for end, character in enumerate(text):
        weight -= _weigh_characters(character)
        if weight < 0:
            return text[:end]
    return text


def _weigh_characters(text: str) -> int:
    return len(text) if text.isascii() else len(text) + len(_ALL_LIGHT.sub("", text))


def _find_tags(pattern: re.Pattern[str], text: str) -> list[dict[str, Any]]:
    return [{"text": tag[1], "indices": list(tag.span())} for tag in pattern.finditer(text)]
