"""Profiles of the older interface: what the caller says of themselves, pictures and settings."""

from __future__ import annotations

from functools import partial
from zoneinfo import ZoneInfo

from mock_platform.api.older import conventions as older
from mock_platform.api.older.conventions import Switch, add_fields, declare, require
from mock_platform.api.older.media import Picture
from mock_platform.api.older.objects import OlderUser, show_user
from mock_platform.api.older.places import show_trend_place
from mock_platform.api.v2 import conventions as v2
from mock_platform.api.v2.media.operations import PIXEL
from mock_platform.api.v2.media.uploads import read_image
from mock_platform.api.v2.users.profile import (
    change_profile,
    make_banner_address,
    make_picture_address,
)
from mock_platform.core.assumptions import expectation, public_fact
from mock_platform.core.call import Call
from mock_platform.core.failures.errors import NumericFailure
from mock_platform.core.fields import Choice, Flag, Integer, Json, Text
from mock_platform.core.operation import Location
from mock_platform.core.schema import Schema
from mock_platform.core.tables.table import Reference, Table
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

FIXED_SETTINGS = expectation(
    "older.settings",
    "account/settings has the published keys; name, language and protection are those of the "
    "user, who may set language, time zone, hours of sleep and place of trends. All else is the "
    "same for everybody, and a time zone that nobody knows has no offset.",
)
PROFILE_CHANGES = public_fact(
    "older.profiles",
    "A name has up to 50 characters, a place 30, a description 160, an address 100; an empty one "
    "removes it. A picture is an image of up to 700 kilobytes, a banner of up to 5 megabytes, as "
    "a file or in base64.",
    "developer pages of version 1.1, account",
)
PROFILE_REFUSALS = expectation(
    "older.profile-refusals",
    "What is no image is refused with 400 and code 44, one that is too large with 422 and code 44; "
    "the text says what is wrong. A user without a banner has no sizes of one (404). Pictures get "
    "new addresses at which nothing is served.",
)
INTERFACE_LANGUAGES = public_fact(
    "older.languages",
    "help/languages lists the languages of the interface, which are the same for everybody.",
    "recorded answers of 2019, help/languages",
)
_MOST_PICTURE, _MOST_BANNER = 700 * 1024, 5 * 1024 * 1024
_BANNERS = {
    "ipad": (626, 313), "ipad_retina": (1252, 626), "web": (520, 260), "web_retina": (1040, 520),
    "mobile": (320, 160), "mobile_retina": (640, 320), "300x100": (300, 100),
    "600x200": (600, 200), "1500x500": (1500, 500), "1080x360": (1080, 360),
}  # fmt: skip
"""The widths and heights in which a banner is shown."""
_LANGUAGES = (
    "fr French|français", "en English|English", "ar Arabic|العربية", "ja Japanese|日本語",
    "es Spanish|español", "de German|Deutsch", "it Italian|italiano", "id Indonesian|Indonesia",
    "pt Portuguese|português", "ko Korean|한국어", "tr Turkish|Türkçe", "ru Russian|русский",
    "nl Dutch|Nederlands", "fil Filipino|Filipino", "msa Malay|Melayu",
    "zh-tw Traditional Chinese|繁體中文", "zh-cn Simplified Chinese|简体中文", "hi Hindi|हिन्दी",
    "no Norwegian|norsk", "sv Swedish|svenska", "fi Finnish|suomi", "da Danish|dansk",
    "pl Polish|polski", "hu Hungarian|magyar", "fa Persian|فارسی", "he Hebrew|עברית",
    "ur Urdu|اردو|beta", "th Thai|ไทย", "uk Ukrainian|українська", "ca Catalan|català",
    "ga Irish|Gaeilge|beta", "el Greek|Ελληνικά", "eu Basque|euskara|beta", "cs Czech|čeština",
    "gl Galician|galego|beta", "ro Romanian|română", "hr Croatian|hrvatski",
    "en-gb British English|British English", "vi Vietnamese|Tiếng Việt", "bn Bangla|বাংলা",
    "bg Bulgarian|български", "sr Serbian|српски", "sk Slovak|slovenčina", "gu Gujarati|ગુજરાતી",
    "mr Marathi|मराठी", "ta Tamil|தமிழ்", "kn Kannada|ಕನ್ನಡ",
)  # fmt: skip
"""Code, name, and name in the language itself; some are not finished."""
_Hour = partial(Text, pattern="(?:[01][0-9]|2[0-3])", pattern_text="an hour from 00 to 23")
_ALLOWED = ("allow_contributor_request", "allow_dms_from", "allow_dm_groups_from")
_OFF = ("discoverable_by_email", "discoverable_by_mobile_phone", "use_cookie_personalization")
AccountSettings = v2.make_schema(
    "OlderSettings",
    time_zone=Json(),
    sleep_time=Json(),
    **require(Text, "screen_name", "language", "translator_type", *_ALLOWED),
    **require(Flag, "protected", "geo_enabled", "always_use_https", *_OFF),
)
_Language = v2.make_schema(
    "OlderLanguage",
    debug=Flag(required=True),
    **require(Text, "code", "name", "local_name", "status"),
)
BannerSizes = v2.make_schema("OlderBannerSizes", sizes=Json(required=True))


class OlderProfile(older.FormQuery):
    """What to change of a profile."""

    may_be_empty = frozenset({"url", "location", "description"})
    name = Text(min_length=1, max_length=50)
    url = Text(max_length=100)
    location = Text(max_length=30)
    description = Text(max_length=160)
    profile_link_color = Text(
        pattern="[0-9A-Fa-f]{3}|[0-9A-Fa-f]{6}", pattern_text="three or six hexadecimal digits"
    )


class OlderPicture(older.FormQuery):
    """A new profile picture."""

    image = Picture(required=True)


class OlderBanner(older.OlderParameters):
    """A new banner, and which part of the image it is."""

    banner = Picture(required=True)
    width = Integer(low=1)
    height = Integer(low=1)
    offset_left = Integer(low=0)
    offset_top = Integer(low=0)


class OlderSettingsRecord(Schema):
    """What a user chose among the settings of version 1.1."""

    user_id = Text(required=True)
    time_zone = Text(min_length=1)
    sleep_time_enabled = Flag()
    start_sleep_time = _Hour()
    end_sleep_time = _Hour()
    trend_location_woeid = Text()


_TABLE = "older_settings"
TABLES = (
    Table(_TABLE, OlderSettingsRecord, key="user_id", references=(Reference("user_id", "users"),)),
)


def show_settings(call: Call, world: World) -> Record:
    """Return the settings of the caller."""
    user = v2.get_user(call)
    user = world.store.get("users", user["id"]) or user  # it may just have been changed
    chosen, names = world.store.get(_TABLE, user["id"]) or {}, ("start_time", "end_time")
    hours = {name: chosen.get(name.replace("_", "_sleep_")) for name in names}
    zone, woeid = chosen.get("time_zone"), chosen.get("trend_location_woeid", "")
    place = world.store.get("trend_places", woeid)
    return {
        **{name: user[name] for name in ("screen_name", "protected", "geo_enabled")},
        "language": user.get("lang") or "en",
        "time_zone": _show_zone(world, zone),
        "sleep_time": {"enabled": chosen.get("sleep_time_enabled", False), **hours},
        **({} if place is None else {"trend_location": [show_trend_place(place)]}),
        "always_use_https": True,
        **dict.fromkeys(_OFF, False),
        "allow_contributor_request": "none",
        "allow_dms_from": "following" if user.get("receives_your_dm") is False else "all",
        "allow_dm_groups_from": "following",
        "translator_type": user["translator_type"],
    }


def _show_zone(world: World, name: str | None) -> Record:
    if name is None:
        return {"name": "UTC", "tzinfo_name": "Etc/UTC", "utc_offset": 0}
    try:
        offset = world.clock.now().astimezone(ZoneInfo(name)).utcoffset()
    except (LookupError, ValueError, OSError):  # such as the names of another vendor
        offset = None
    seconds = 0 if offset is None else int(offset.total_seconds())
    return {"name": name, "tzinfo_name": name, "utc_offset": seconds}


def change_settings(call: Call, world: World) -> Record:
    """Change settings of the caller, and return all of them."""
    sent, user = dict(call.params), v2.get_user(call)
    if "lang" in sent:
        world.store.put("users", user["id"], user | {"lang": sent.pop("lang")})
    if "trend_location_woeid" in sent:
        sent["trend_location_woeid"] = str(sent["trend_location_woeid"])
    kept = world.store.get(_TABLE, user["id"]) or {"user_id": user["id"]}
    world.store.put(_TABLE, user["id"], kept | sent)
    return show_settings(call, world)


def update(call: Call, world: World) -> Record:
    """Change what the caller says of themselves, and return the caller."""
    names = ("name", "url", "location", "description", "profile_link_color")
    changes = {name: call.params[name] for name in names if name in call.params}
    if "url" in changes:
        changes["url"] = changes["url"] or None
    return _show_changed(call, world, changes)


def _show_changed(call: Call, world: World, changes: Record) -> Record:
    return show_user(call, world, change_profile(world, v2.get_user(call), changes))


def update_picture(call: Call, world: World) -> Record:
    """Change the profile picture of the caller, and return the caller."""
    _check_image("image", call.params["image"], _MOST_PICTURE)
    address = make_picture_address(world)
    shown = {"profile_image_url_https": address, "profile_image_url": f"http{address[5:]}"}
    return _show_changed(call, world, shown | {"default_profile_image": False})


def update_banner(call: Call, world: World) -> None:
    """Change the banner of the caller."""
    _check_image("banner", call.params["banner"], _MOST_BANNER)
    change_profile(world, v2.get_user(call), {"profile_banner_url": make_banner_address(world)})


def _check_image(name: str, content: bytes, most: int) -> None:
    if read_image(content) is None:
        raise NumericFailure(44, f"{name} must be an image: JPEG, PNG, GIF or WebP")
    if len(content) > most:
        text = f"{name} must have at most {most} bytes, got {len(content)}"
        raise NumericFailure(44, text, status=422)


def remove_banner(call: Call, world: World) -> None:
    """Remove the banner of the caller."""
    change_profile(world, v2.get_user(call), {"profile_banner_url": ""})


def list_banner_sizes(call: Call, world: World) -> Record:
    """Return the addresses of a user's banner in all sizes.

    Raises:
        NumericFailure: The user has none (34).
    """
    address = older.find_named_user(call, world)["profile_banner_url"]
    if not address:
        raise NumericFailure(34)
    sizes = {
        name: {"w": width, "h": height, "url": f"{address}/{name}"}
        for name, (width, height) in _BANNERS.items()
    }
    return {"sizes": sizes}


def list_languages(_call: Call, _world: World) -> list[Record]:
    """Return the languages of the interface."""
    return list(map(_show_language, _LANGUAGES))


def _show_language(text: str) -> Record:
    named, local, *beta = text.split("|")
    code, _, name = named.partition(" ")
    status = "beta" if beta else "production"
    return {"code": code, "name": name, "local_name": local, "status": status, "debug": False}


_own = partial(declare, facts=(PROFILE_CHANGES, PROFILE_REFUSALS), returns=OlderUser)
_picture = partial(_own, location=Location.UPLOAD, errors="44")
_OwnSettings = add_fields(
    lang=Choice(tuple(text.partition(" ")[0] for text in _LANGUAGES)),
    time_zone=Text(min_length=1),
    sleep_time_enabled=Switch(),
    start_sleep_time=_Hour(),
    end_sleep_time=_Hour(),
    trend_location_woeid=Integer(),
)
OPERATIONS = (
    declare("GET account/settings", show_settings, "Read the settings of the caller",
            AccountSettings, None, rates=(None, 15), facts=(FIXED_SETTINGS,)),
    declare("POST account/settings", change_settings, "Change settings of the caller",
            AccountSettings, _OwnSettings, id_="account.settings.update", facts=(FIXED_SETTINGS,),
            query={"lang": "de"}),
    _own("POST account/update_profile", update, "Change the profile of the caller",
         params=OlderProfile,
         query={"location": "Rotterdam"}),
    _picture("POST account/update_profile_image", update_picture,
             "Change the profile picture of the caller", params=OlderPicture,
             json={"image": PIXEL}),
    _picture("POST account/update_profile_banner", update_banner, "Change the caller's banner",
             returns=older.Empty(older.NoContent, status=201), params=OlderBanner,
             json={"banner": PIXEL}),
    _own("POST account/remove_profile_banner", remove_banner, "Remove the caller's banner",
         returns=older.Empty(older.NoContent), params=None),
    declare("GET users/profile_banner", list_banner_sizes, "List the sizes of a user's banner",
            BannerSizes, older.OneUserQuery, rates=(180, 180), errors="25 34 50 63",
            facts=(PROFILE_REFUSALS,), query={"screen_name": "northbike_co"}),
    declare("GET help/languages", list_languages, "List the languages of the interface",
            older.Listing(_Language), add_fields(), rates=(15, 15), facts=(INTERFACE_LANGUAGES,)),
)  # fmt: skip
