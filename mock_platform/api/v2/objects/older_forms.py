"""Posts, users and times in the form of the 1.1 interface, as account activity delivers them.

Made from the post object of an activity, so an event shows the post as it was at that moment.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from html import unescape
from typing import Any

from mock_platform.core.assumptions import public_fact
from mock_platform.core.fields import Anything, Flag, Integer, ListOf, Text
from mock_platform.core.schema import Schema
from mock_platform.world.clock import epoch_millis, parse_instant
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

# Users and times in the form of the 1.1 interface. The user object is that of the public facts
# (section 7): 41 keys, the same in every untrimmed post and in the events of account activity.

_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = (
    *("Jan", "Feb", "Mar", "Apr", "May", "Jun"),
    *("Jul", "Aug", "Sep", "Oct", "Nov", "Dec"),
)
POST_TIME = (
    rf"(?:{'|'.join(_DAYS)}) (?:{'|'.join(_MONTHS)}) [0-9]{{2}} [0-9]{{2}}:[0-9]{{2}}:[0-9]{{2}} "
    r"\+0000 [0-9]{4}"
)
NAME = re.compile(r"[A-Za-z0-9_]{1,15}", re.ASCII)
"""Names of users in the v2 interface."""
PUBLIC_COUNTS = {
    "followers_count": "followers_count",
    "following_count": "friends_count",
    "post_count": "statuses_count",
    "listed_count": "listed_count",
    "like_count": "favourites_count",
    "media_count": "media_count",
}
"""Counts of the v2 user object, and the keys of this one that have them."""
ASSETS = "assets.platform.example"


def read_counts(own: Record, known: Mapping[str, str], *, recorded: bool) -> Record:
    """Return the counts of a `public_metrics` as they are stored; only a recorded one keeps it.

    An unknown one has a key which tables refuse.
    """
    counts = own.get("public_metrics") if recorded else own.pop("public_metrics", None)
    if not isinstance(counts, Mapping):
        return {}
    found = {stored: counts[name] for name, stored in known.items() if name in counts}
    unknown = () if recorded else counts.keys() - known.keys()
    return found | {f"public_metrics.{name}": counts[name] for name in unknown}


def format_post_time(moment: datetime) -> str:
    """Write a moment as the 1.1 interface does: `Sat Jun 24 05:08:30 +0000 2017`."""
    day, month = _DAYS[moment.weekday()], _MONTHS[moment.month - 1]
    return f"{day} {month} {moment:%d %H:%M:%S} +0000 {moment.year:04}"


def parse_post_time(text: str) -> datetime:
    """Return the moment that `format_post_time` wrote.

    Raises:
        ValueError: The calendar has no such day or time.
    """
    _, month, day, time, _, year = text.split(" ")
    hour, minute, second = map(int, time.split(":"))
    number = _MONTHS.index(month) + 1
    return datetime(int(year), number, int(day), hour, minute, second, tzinfo=UTC)


def make_count() -> Integer:
    """Return the field of a count, which is 0 if none is given."""
    return Integer(low=0, load_default=0)


def _make_color(default: str) -> Text:
    return Text(
        pattern=r"[0-9A-Fa-f]{6}",
        pattern_text="six hex digits without # such as 1DA1F2",
        load_default=default,
    )


def _make_nullable() -> Anything:
    return Anything(load_default=None, allow_none=True)


class UserProfile(Schema):
    """What a stored user and a user object have in common."""

    screen_name = Text(required=True, pattern=r"\w{1,15}", pattern_text="1 to 15 word characters")
    name = Text(required=True)
    location = Text(load_default="")
    description = Text(load_default="")
    url = Text(load_default=None, allow_none=True)
    protected = Flag(load_default=False)
    verified = Flag(load_default=False)
    followers_count = make_count()
    friends_count = make_count()
    listed_count = make_count()
    favourites_count = make_count()
    statuses_count = make_count()
    lang = _make_nullable()
    utc_offset = _make_nullable()
    time_zone = _make_nullable()
    geo_enabled = Flag(load_default=False)
    contributors_enabled = Flag(load_default=False)
    is_translator = Flag(load_default=False)
    is_translation_enabled = Flag(load_default=False)
    translator_type = Text(load_default="none")
    default_profile = Flag(load_default=True)
    default_profile_image = Flag(load_default=False)
    profile_image_url = Text(load_default=f"http://{ASSETS}/profile_images/default_normal.png")
    profile_image_url_https = Text(
        load_default=f"https://{ASSETS}/profile_images/default_normal.png"
    )
    profile_banner_url = Text(load_default=f"https://{ASSETS}/profile_banners/default")
    profile_background_color = _make_color("F5F8FA")
    profile_background_image_url = Text(load_default=f"http://{ASSETS}/themes/theme1/bg.png")
    profile_background_image_url_https = Text(load_default=f"https://{ASSETS}/themes/theme1/bg.png")
    profile_background_tile = Flag(load_default=False)
    profile_link_color = _make_color("1DA1F2")
    profile_sidebar_border_color = _make_color("C0DEED")
    profile_sidebar_fill_color = _make_color("DDEEF6")
    profile_text_color = _make_color("333333")
    profile_use_background_image = Flag(load_default=True)
    following = _make_nullable()
    follow_request_sent = _make_nullable()
    notifications = _make_nullable()
    withheld_in_countries = ListOf(Text(), load_default=list)


_SHOWN = tuple(UserProfile().load_fields)


def make_user_object(user: Record) -> Record:
    """Return a stored user as the 1.1 interface shows one: all 41 keys, if it was checked."""
    shown = {name: user[name] for name in _SHOWN if name in user}
    if "created_at" in user:
        shown["created_at"] = format_post_time(parse_instant(user["created_at"]))
    return {"id": int(user["id"]), "id_str": user["id"], **shown}


_KEYS = (
    "id", "id_str", "text", "media_url", "media_url_https", "url", "expanded_url", "display_url",
    "name", "screen_name", "place_type", "full_name", "country_code", "country", "hashtags",
    "symbols", "user_mentions", "urls", "media", "type", "coordinates", "indices",
)  # fmt: skip
_RANKS = {name: rank for rank, name in enumerate(_KEYS)}


def order_keys(value: Any) -> Any:
    """Return JSON with keys in the order of this interface, in whichever they are stored."""
    if isinstance(value, list):
        return [order_keys(each) for each in value]
    if not isinstance(value, dict):
        return value
    names = sorted(value, key=lambda name: (_RANKS.get(name, len(_KEYS)), name))
    return {name: order_keys(value[name]) for name in names}


def make_author(world: World, user_id: str, *, trim: bool = False) -> Record:
    """Return a post's author: a user object, or only the id if `trim` or the user is gone."""
    user = None if trim else world.store.get("users", user_id)
    return {"id": int(user_id), "id_str": user_id} if user is None else make_user_object(user)


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
    long = len(unescape(text)) > LONGEST_TEXT
    shown: Record = {
        "created_at": format_post_time(moment),
        "id": int(post["id"]),
        "id_str": post["id"],
        "text": text[:CUT_TEXT] if long else text,
        "source": _as_text(post.get("source")),
        "truncated": long,
        **_make_reply(world, post),
        "user": make_author(world, post["author_id"]),
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
    return _as_text(as_map(post.get("note_post")).get("text")) or _as_text(post.get("text"))


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
        if as_map(each).get("type") == kind:
            return _as_id(each.get("id"))
    return None


def _count(post: Post) -> Record:
    metrics = as_map(post.get("public_metrics"))
    values = {ours: metrics.get(theirs) for ours, theirs in _COUNTS.items()}
    return {name: value if isinstance(value, int) else 0 for name, value in values.items()}


def _make_entities(world: World, post: Post) -> dict[str, list[Record]]:
    given = as_map(post.get("entities"))
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


def _read_moment(given: Any, default: datetime) -> datetime:
    try:
        return parse_instant(given) if isinstance(given, str) else default
    except ValueError:
        return default


def _list(given: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    found = given.get(name)
    return [each for each in found if isinstance(each, Mapping)] if isinstance(found, list) else []


def as_map(value: Any) -> Mapping[str, Any]:
    """Return a value if it is an object, else an empty one: payloads may have any form."""
    return value if isinstance(value, Mapping) else {}


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _as_id(value: Any) -> str | None:
    return value if isinstance(value, str) and value.isascii() and value.isdigit() else None
