"""Trends of places, which have the ids of a geographical index (WOEID), and trends of users.

Facts: all of v2, section 13.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from mock_platform.api.v2.conventions import (
    ANY_USER,
    Rates,
    declare_public,
    get_user_id,
    require_record,
    start_on,
)
from mock_platform.api.v2.objects.answers import PARTIAL_ERRORS, make_names_field
from mock_platform.api.v2.pages import show_list
from mock_platform.api.v2.prices import TRENDS
from mock_platform.core.assumptions import expectation, public_fact
from mock_platform.core.auth.authenticate import Auth
from mock_platform.core.call import Call
from mock_platform.core.fields import Integer, ListOf, Nested, Number, Text
from mock_platform.core.operation import Example
from mock_platform.core.schema import Schema
from mock_platform.core.tables.table import Reference, Table
from mock_platform.settings import Settings
from mock_platform.world.world import World

TREND_SHAPES = public_fact(
    "trends.shapes",
    "Trends of a place are found by its WOEID, those of a user by the caller, in their public "
    "shapes and in the order of their rank. Those of places always have name and count, a number; "
    "those of users have what was asked for, or all, and as the count a text such as 123K posts.",
    "all of v2, section 13",
    gap=True,
)
TREND_RECORDS = expectation(
    "trends.records",
    "Trends are those of the tables trend_places and personal_trends; they do not follow from "
    "posts. A place that is not there answers 404. A user who is not there has no trends; no "
    "subscription is needed.",
)
TREND_FIELDS = ("post_count", "trend_name")
PERSONAL_FIELDS = ("category", "post_count", "trend_name", "trending_since")
_LARGEST_WOEID = 2**31


class Trend(Schema):
    """What many post about in a place."""

    trend_name = Text(required=True, min_length=1)
    post_count = Integer(low=0)


class PersonalTrend(Schema):
    """What a user may want to know that others post about; an answer has what was asked for."""

    category = Text()
    post_count = Text()
    trend_name = Text(min_length=1)
    trending_since = Text()


class StoredPersonalTrend(PersonalTrend):
    """The same as it is stored, always with its name."""

    trend_name = Text(required=True, min_length=1)


class TrendPlaceRecord(Schema):
    """A place with its trends, as ranked."""

    woeid = Text(required=True, pattern=r"-?[0-9]{1,10}", pattern_text="the WOEID of a place")
    name = Text(required=True)
    trends = ListOf(Nested(Trend), load_default=list)
    _coordinates = ListOf(Number(), least=2, most=2)
    """Longitude and latitude."""


class PersonalTrendsRecord(Schema):
    """The trends of a user, as ranked."""

    user_id = Text(required=True)
    trends = ListOf(Nested(StoredPersonalTrend), load_default=list)


class PlaceTrendsQuery(Schema):
    """How many trends to return, and what of them."""

    max_trends = Integer(low=1, high=50, load_default=20)
    trend_fields = make_names_field(TREND_FIELDS, data_key="trend.fields")


class PersonalTrendsQuery(Schema):
    """What to return of trends."""

    fields_ = make_names_field(PERSONAL_FIELDS, data_key="personalized_trend.fields")


class PlaceTrendsAnswer(Schema):
    """The trends of a place."""

    data = ListOf(Nested(Trend))


class PersonalTrendsAnswer(Schema):
    """The trends of a user."""

    data = ListOf(Nested(PersonalTrend))


def _find_faults(
    _params: Mapping[str, Any], call: Call, _world: World, _settings: Settings
) -> Iterator[tuple[str, str]]:
    """Find what is wrong with the WOEID in the path, which is a number of 32 bits."""
    value = call.path_params["woeid"]
    digits = value.removeprefix("-")
    is_number = digits.isascii() and digits.isdecimal() and len(digits) <= 10
    if not is_number or not -_LARGEST_WOEID <= int(value) < _LARGEST_WOEID:
        yield "woeid", f"The `woeid` query parameter value [{value}] is not valid"


def list_of_place(call: Call, world: World) -> dict[str, Any]:
    """Return the trends of the place in the path, as many as were asked for."""
    place = require_record(
        call,
        world,
        "trend_places",
        "place",
        PARTIAL_ERRORS,
        TREND_RECORDS,
        parameter="woeid",
        find=lambda woeid: world.store.get("trend_places", str(int(woeid))),
    )
    return show_list(place["trends"][: call.params["max_trends"]])


def list_of_user(call: Call, world: World) -> dict[str, Any]:
    """Return the trends of the caller."""
    found = world.store.get("personal_trends", get_user_id(call)) or {"trends": []}
    wanted = call.params.get("fields_") or PERSONAL_FIELDS
    return show_list(
        [{name: each[name] for name in each if name in wanted} for each in found["trends"]]
    )


TABLES = (
    Table("trend_places", TrendPlaceRecord, key="woeid"),
    Table(
        "personal_trends",
        PersonalTrendsRecord,
        key="user_id",
        references=(Reference("user_id", "users"),),
    ),
)
OPERATIONS = (
    declare_public(
        "place_trends.list",
        "GET /2/trends/by/woeid/:woeid",
        list_of_place,
        "List the trends of a place",
        params=PlaceTrendsQuery,
        rules=_find_faults,
        returns=PlaceTrendsAnswer,
        auth=Auth(("bearer", "oauth2")),
        limit=Rates(app=75),
        errors=("invalid-request", "resource-not-found"),
        assumptions=(TREND_SHAPES, TREND_RECORDS),
        may_assume=(PARTIAL_ERRORS,),
        example=Example(path={"woeid": "1"}),
        price=TRENDS,
    ),
    declare_public(
        "personalized_trends.list",
        "GET /2/users/personalized_trends",
        list_of_user,
        "List the trends of the caller",
        params=PersonalTrendsQuery,
        returns=PersonalTrendsAnswer,
        auth=Auth(ANY_USER, scopes=("post.read", "users.read")),
        since=start_on("2025-01-08"),
        limit=Rates(app=200, user=10, app_daily=200, user_daily=100),
        assumptions=(TREND_SHAPES, TREND_RECORDS),
        price=TRENDS,
    ),
)
