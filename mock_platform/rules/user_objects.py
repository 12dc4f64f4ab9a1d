"""Users and times in the form of the 1.1 interface.

The user object is that of the public facts (section 7): 41 keys, the same in every untrimmed post
and in the events of account activity.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime

from mock_platform.core.fields import Anything, Flag, Integer, ListOf, Text
from mock_platform.core.schema import Schema
from mock_platform.store.interface import Record
from mock_platform.world.clock import parse_instant

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
_ASSETS = "assets.platform.example"


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


def _make_count() -> Integer:
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
    followers_count = _make_count()
    friends_count = _make_count()
    listed_count = _make_count()
    favourites_count = _make_count()
    statuses_count = _make_count()
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
    profile_image_url = Text(load_default=f"http://{_ASSETS}/profile_images/default_normal.png")
    profile_image_url_https = Text(
        load_default=f"https://{_ASSETS}/profile_images/default_normal.png"
    )
    profile_banner_url = Text(load_default=f"https://{_ASSETS}/profile_banners/default")
    profile_background_color = _make_color("F5F8FA")
    profile_background_image_url = Text(load_default=f"http://{_ASSETS}/themes/theme1/bg.png")
    profile_background_image_url_https = Text(
        load_default=f"https://{_ASSETS}/themes/theme1/bg.png"
    )
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
