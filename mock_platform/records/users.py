"""Users: who logs in and posts, as stored and as the 1.1 interface shows them.

The user object is that of the public facts (section 7): 41 keys, the same in every untrimmed post.
A record holds them in wire form, except `id`, which is text here, and `created_at`, which has the
form of the other tables.
"""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import UTC, datetime

from marshmallow import Schema

from mock_platform.core.fields import Anything, Flag, Instant, Integer, ListOf, Long, Text
from mock_platform.records.table import Table
from mock_platform.store.interface import Record
from mock_platform.world.clock import parse_instant, wire_seconds

_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = (
    *("Jan", "Feb", "Mar", "Apr", "May", "Jun"),
    *("Jul", "Aug", "Sep", "Oct", "Nov", "Dec"),
)
POST_TIME = (
    rf"(?:{'|'.join(_DAYS)}) (?:{'|'.join(_MONTHS)}) [0-9]{{2}} [0-9]{{2}}:[0-9]{{2}}:[0-9]{{2}} "
    r"\+0000 [0-9]{4}"
)
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


class UserRecord(UserProfile):
    """A user who can log in and grant apps access."""

    id = Text(required=True, pattern=r"[0-9]{1,19}", pattern_text="1 to 19 digits")
    _password = Text(load_default="password")
    created_at = Instant(as_sent=True, load_default="2020-01-01T00:00:00Z")


class UserObject(UserProfile):
    """A user as the 1.1 interface shows one; if trimmed, only with id and id_str."""

    id = Long(required=True)
    id_str = Text(required=True)
    screen_name = Text()
    name = Text()
    created_at = Text()


_SHOWN = tuple(UserProfile().load_fields)


def make_user_object(user: Record) -> Record:
    """Return a stored user as the 1.1 interface shows one: all 41 keys, if it was checked."""
    shown = {name: user[name] for name in _SHOWN if name in user}
    if "created_at" in user:
        shown["created_at"] = format_post_time(parse_instant(user["created_at"]))
    return {"id": int(user["id"]), "id_str": user["id"], **shown}


def _to_stored_form(record: Record) -> Record:
    """Convert a user object into a record: id as text, time in the form of the other tables."""
    own = dict(record)
    if isinstance(own.get("id"), int) and not isinstance(own["id"], bool):
        own["id"] = str(own["id"])
    if "id_str" in own and own.setdefault("id", own["id_str"]) == own["id_str"]:
        del own["id_str"]
    created = own.get("created_at")
    if isinstance(created, str) and re.fullmatch(POST_TIME, created):
        with suppress(ValueError):  # a day that does not exist, which the field refuses
            own["created_at"] = wire_seconds(parse_post_time(created))
    return own


USERS = Table("users", UserRecord, from_public=_to_stored_form)
