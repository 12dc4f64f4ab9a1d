"""What can be targeted: locations, interests, devices and more, as tables and as look-ups.

The paths are those of the lookups, `/12/targeting_criteria/KIND`; all rows are in one table.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from typing import Any

from marshmallow import fields

from mock_platform.api.ads.conventions import Data, Many, ads
from mock_platform.api.ads.filters import FieldSearch, SearchText
from mock_platform.api.ads.lists import NEXT_CURSOR, PageOf, list_parameters, paginate
from mock_platform.api.ads.targeting.criteria import LANGUAGE, LANGUAGE_TEXT
from mock_platform.core.assumptions import expectation, public_fact
from mock_platform.core.call import Call
from mock_platform.core.fields import (
    Choice,
    CommaList,
    Flag,
    Instant,
    Integer,
    Json,
    ListOf,
    Long,
    Nested,
    Text,
)
from mock_platform.core.operation import Example, Handler, Limit, Operation, Origin
from mock_platform.core.schema import Schema
from mock_platform.core.tables.table import Table
from mock_platform.world.clock import parse_instant
from mock_platform.world.store.interface import Record, remove_internal_keys
from mock_platform.world.world import World

# What targeting criteria may name: the values that the lookups list (adjacent operations).

KINDS_OF_OPTIONS = (
    "app_store_categories", "conversations", "devices", "events", "interests", "languages",
    "locations", "network_operators", "platform_versions", "platforms", "tv_markets", "tv_shows",
)  # fmt: skip
LOCATION_TYPES = ("COUNTRIES", "REGIONS", "METROS", "CITIES", "POSTAL_CODES")


class ShowLocale(Schema):
    """A language and a country in which a TV show is broadcast."""

    language = Text(required=True)
    country = Text(required=True)


class TargetingOptionRecord(Schema):
    """One row of a lookup. Which of the optional fields it has depends on `_kind`."""

    name = Text(required=True)
    targeting_type = Text()
    targeting_value = Text()
    country_code = Text(allow_none=True)
    location_type = Choice(LOCATION_TYPES)
    os_type = Text()
    manufacturer = Text()
    number = Text()
    conversation_type = Text()
    event_type = Text()
    start_time = Instant()
    end_time = Instant()
    is_global = Flag()
    genre = Text()
    locale = Text()
    locales = ListOf(Nested(ShowLocale))
    _id = Text(required=True)
    _kind = Choice(KINDS_OF_OPTIONS, required=True)
    _localized_names = Json()
    """Names by language code."""


TARGETING_OPTIONS = Table("targeting_options", TargetingOptionRecord, key="_id")
TABLES = (TARGETING_OPTIONS,)


TARGETING_OPTIONS_ALL = public_fact(
    "targeting-options.all",
    "The values that can be targeted are looked up as documented publicly; devices, platforms, "
    "their versions, app store categories and TV markets without pages.",
    "adjacent operations, section 6",
    gap=True,
)
TARGETING_OPTIONS_FEW = expectation(
    "targeting-options.few",
    "The sandbox lists a few values of each kind, all in the table targeting_options. q finds the "
    "names that contain it, in any case. Events are those that have not ended.",
)
TARGETING_OPTIONS_LIMITS = public_fact(
    "targeting-options.limits",
    "Under --limits public, lookups are limited to 400 together in 15 minutes, tv_markets and "
    "tv_shows to 2,000 each.",
    "section 2, advertising windows",
)
EVENT_TYPES = (
    "CONFERENCE",
    "HOLIDAY",
    "MUSIC_AND_ENTERTAINMENT",
    "OTHER",
    "POLITICS",
    "RECURRING",
    "SPORTS",
)
CONVERSATION_TYPES = (
    "ACTORS", "ATHLETES", "BOOK_GENRES", "BOOKS", "BRAND_CATEGORIES", "BRANDS", "CELEBRITIES",
    "COACHES", "DIGITAL_CREATORS", "ENTERTAINMENT_BRANDS", "ENTERTAINMENT_PERSONALITIES",
    "FICTIONAL_CHARACTERS", "JOURNALISTS", "LIFESTYLES", "MOVIE_GENRES", "MOVIES", "MUSIC_GENRES",
    "MUSICIANS", "NEWS_STORIES", "NEWS", "PERSONS", "PLACES", "PODCASTS", "POLITICAL_AFFILIATIONS",
    "POLITICIANS", "PRODUCTS", "RADIO_STATIONS", "SPORTS_LEAGUES", "SPORTS_PERSONALITIES",
    "SPORTS_TEAMS", "SPORTS", "TRENDS", "TV_SHOWS", "VIDEO_GAME_PLATFORMS", "VIDEO_GAME_PUBLISHERS",
    "VIDEO_GAMES",
)  # fmt: skip
_BREAKDOWNS = (
    "gender_breakdown_percentage",
    "device_breakdown_percentage",
    "country_breakdown_percentage",
)


class TargetingEvent(Schema):
    """An event that can be targeted."""

    name = Text(required=True)
    targeting_value = Text(required=True)
    event_type = Choice(EVENT_TYPES, required=True)
    start_time = Instant(required=True)
    end_time = Instant(required=True)
    country_code = Text(required=True, allow_none=True)
    is_global = fields.Boolean(required=True)
    reach = Json(required=True)
    top_users = ListOf(Text(), required=True)
    top_posts = ListOf(Text(), required=True)
    top_hashtags = ListOf(Text(), required=True)
    gender_breakdown_percentage = Json(required=True)
    device_breakdown_percentage = Json(required=True)
    country_breakdown_percentage = Json(required=True)


class TvShow(Schema):
    """A TV show that can be targeted, and where it is broadcast."""

    name = Text(required=True)
    targeting_value = Long(required=True)
    genre = Text(required=True)
    locales = fields.List(fields.Nested(ShowLocale), required=True)


_LIMIT = Limit("targeting lookups", 400, 900, source="public", category="ads-targeting")
_TV_LIMIT = Limit("TV lookups", 2000, 900, source="public")
"""The limits of lookups: those of TV have their own, each for itself."""
Test = Callable[[Record], bool]
_BY_NAME = FieldSearch("part")
_CODE = r"[A-Z]{2}"
_CODE_TEXT = "an ISO 3166-1 alpha-2 code such as US"


def _make_query() -> Text:
    return SearchText(_BY_NAME, min_length=1)


def _make_country(default: str | None = None) -> Text:
    given = {} if default is None else {"load_default": default}
    return Text(pattern=_CODE, pattern_text=_CODE_TEXT, **given)  # type: ignore[arg-type]


def _page(kind: str, equal: Sequence[str], call: Call, world: World) -> PageOf:
    """Return one page of the rows of a kind."""
    return paginate(call, world, TARGETING_OPTIONS.name, _match(kind, equal, call), where=_q(call))


def _match(kind: str, equal: Sequence[str], call: Call) -> dict[str, Any]:
    sent = {name: call.params[name] for name in equal if name in call.params}
    return {"_kind": kind, **sent}


def _q(call: Call) -> Test | None:
    """Return a test for names that contain `q`."""
    return _BY_NAME.make_test(call.params["q"]) if "q" in call.params else None


def _all(kind: str, equal: Sequence[str], call: Call, world: World) -> list[Record]:
    """Return all rows of a kind, or the first `count`."""
    match = _match(kind, equal, call)
    limit = call.params.get("count")
    found = world.store.page(TARGETING_OPTIONS.name, match, where=_q(call), limit=limit)
    language = call.params.get("lang")
    return [_show(entry.record, language) for entry in found]


def _show(row: Record, language: str | None) -> Record:
    name = (row.get("_localized_names") or {}).get(language)
    shown = remove_internal_keys(row)
    return shown if name is None else shown | {"localized_name": name}


def list_events(call: Call, world: World) -> PageOf:
    """Return one page of the events that have not ended."""
    begin, end = call.params.get("start_time"), call.params.get("end_time")
    since = world.clock.now() if begin is None else parse_instant(begin)
    until = None if end is None else parse_instant(end)
    types, countries = call.params["event_types"], call.params.get("country_codes")

    def is_wanted(row: Record) -> bool:
        if row["event_type"] not in types:
            return False
        here = countries is None or row["is_global"] or row["country_code"] in countries
        return here and _is_during(row, since, until)

    page = paginate(call, world, TARGETING_OPTIONS.name, {"_kind": "events"}, where=is_wanted)
    return PageOf([_show_event(row) for row in page.records], page.next_cursor)


def _is_during(row: Record, since: datetime, until: datetime | None) -> bool:
    if parse_instant(row["end_time"]) <= since:
        return False
    return until is None or parse_instant(row["start_time"]) < until


def _show_event(row: Record) -> Record:
    shown = {name: value for name, value in row.items() if name != "targeting_type"}
    tops: Record = {name: [] for name in ("top_users", "top_posts", "top_hashtags")}
    parts: Record = {name: {} for name in _BREAKDOWNS}
    return {"reach": {"total_reach": None}, **shown, **tops, **parts}


def list_shows(call: Call, world: World) -> PageOf:
    """Return one page of the TV shows of a market; the locale is echoed in its parts."""
    language, _, country = call.params["locale"].partition("-")
    call.echo["locale"] = {"countryCode": country, "languageCode": language}
    wanted, test = {"language": language, "country": country}, _q(call)

    def is_wanted(row: Record) -> bool:
        return wanted in row["locales"] and (test is None or test(row))

    page = paginate(call, world, TARGETING_OPTIONS.name, {"_kind": "tv_shows"}, where=is_wanted)
    shown = [
        {name: value for name, value in row.items() if name != "targeting_type"}
        | {"targeting_value": int(row["targeting_value"])}
        for row in page.records
    ]
    return PageOf(shown, page.next_cursor)


# -- declarations -------------------------------------------------------------------------------


def _declare(
    kind: str,
    summary: str,
    handler: Handler,
    parameters: dict[str, fields.Field[Any]],
    *,
    paged: bool,
    schema: type[Schema] = TargetingOptionRecord,
    count: int = 200,
    most: int = 1000,
    query: dict[str, str] | None = None,
) -> Operation:
    title = f"{kind.title().replace('_', '')}Lookup"
    listed = {"count": count, "most": most, "with_deleted": False, "with_total_count": False}
    declared = (
        list_parameters(title, parameters, **listed)  # type: ignore[arg-type]
        if paged
        else type(title, (Schema,), dict(parameters))
    )
    return ads(
        f"targeting_options.{kind}",
        "GET",
        f"/12/targeting_criteria/{kind}",
        handler,
        summary=summary,
        spec="not shown",
        returns=Many(schema) if paged else Data(schema, many=True),
        params=declared,
        limits=(_TV_LIMIT if kind.startswith("tv_") else _LIMIT,),
        public_limits=False,
        origin=Origin.ADJACENT,
        assumptions=(
            TARGETING_OPTIONS_ALL,
            TARGETING_OPTIONS_FEW,
            TARGETING_OPTIONS_LIMITS,
            *((NEXT_CURSOR,) if paged else ()),
        ),
        example=Example(query=query),
    )


def _declare_pages(
    kind: str, summary: str, parameters: dict[str, fields.Field[Any]], *equal: str
) -> Operation:
    return _declare(kind, summary, partial(_page, kind, equal), parameters, paged=True)


def _declare_all(
    kind: str, summary: str, parameters: dict[str, fields.Field[Any]], *equal: str
) -> Operation:
    return _declare(kind, summary, partial(_all, kind, equal), parameters, paged=False)


def _make_count() -> Integer:
    return Integer(low=1, high=1000, load_default=200)


OPERATIONS: tuple[Operation, ...] = (
    _declare_pages(
        "locations",
        "Look up locations to target",
        {
            "q": _make_query(),
            "country_code": _make_country(),
            "location_type": Choice(LOCATION_TYPES),
        },
        "country_code",
        "location_type",
    ),
    _declare_pages("interests", "Look up interests to target", {"q": _make_query()}),
    _declare_pages("languages", "Look up languages to target", {"q": _make_query()}),
    _declare_pages(
        "network_operators",
        "Look up network operators to target",
        {"q": _make_query(), "country_code": _make_country("US")},
        "country_code",
    ),
    _declare_pages(
        "conversations",
        "Look up conversations to target",
        {"conversation_type": Choice(CONVERSATION_TYPES)},
        "conversation_type",
    ),
    _declare(
        "events",
        "Look up events to target",
        list_events,
        {
            "event_types": CommaList(Choice(EVENT_TYPES), required=True),
            "country_codes": CommaList(_make_country()),
            "start_time": Instant(),
            "end_time": Instant(),
        },
        paged=True,
        schema=TargetingEvent,
        query={"event_types": "SPORTS"},
    ),
    _declare(
        "tv_shows",
        "Look up TV shows to target",
        list_shows,
        {
            "locale": Text(
                required=True, pattern=r"[a-z]{2}-[A-Z]{2}", pattern_text="a locale such as en-US"
            ),
            "q": _make_query(),
        },
        paged=True,
        schema=TvShow,
        count=50,
        most=50,
        query={"locale": "en-US"},
    ),
    _declare_all(
        "platforms",
        "Look up platforms to target",
        {
            "q": _make_query(),
            "count": _make_count(),
            "lang": Text(pattern=LANGUAGE, pattern_text=LANGUAGE_TEXT),
        },
    ),
    _declare_all(
        "platform_versions", "Look up versions of platforms to target", {"q": _make_query()}
    ),
    _declare_all(
        "devices", "Look up devices to target", {"q": _make_query(), "count": _make_count()}
    ),
    _declare_all(
        "app_store_categories",
        "Look up categories of app stores to target",
        {"q": _make_query(), "os_type": Choice(("ANDROID", "IOS"))},
        "os_type",
    ),
    _declare_all("tv_markets", "Look up the markets of TV shows", {}),
)
