"""Usage: how many posts an app and its project have read.

Document A names the cap ("Limits"); the endpoint is a public fact (named endpoints, 7.6).
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any

from mock_platform.api.v2.conventions import OLDER_NAMES, declare_named
from mock_platform.api.v2.usage.counting import (
    CAP,
    COUNTED,
    RESET_DAY,
    count_days,
    count_month,
    get_cap,
    get_project_id,
    list_last_days,
)
from mock_platform.api.v2.webhooks.validation import get_app, list_apps_of_owner
from mock_platform.core.assumptions import expectation, public_fact
from mock_platform.core.auth.authenticate import BEARER
from mock_platform.core.call import Call
from mock_platform.core.envelope import Flat
from mock_platform.core.fields import Choice, CommaList, Instant, Integer, ListOf, Nested, Text
from mock_platform.core.schema import Schema
from mock_platform.core.tables.table import Reference, Table
from mock_platform.world.world import World

SHAPES = public_fact(
    "usage.shapes",
    "The endpoint of usage has its public shape; the spec names nothing but the cap.",
    "section 7.6 of the named endpoints",
    gap=True,
)
FIELDS = expectation(
    "usage.fields",
    "Without usage.fields the answer has project_id, project_cap, project_usage and "
    "cap_reset_day; with it, what was asked for. Each of the last days is listed, today last, "
    "also those without usage.",
)
_USUAL = ("cap_reset_day", "project_cap", "project_id", "project_usage")
_DAILY = ("daily_client_app_usage", "daily_project_usage")


class UsageRecord(Schema):
    """How many posts an app has read on the day of `date`."""

    _id = Text(required=True)
    app_id = Text(required=True)
    date = Instant(millis=True, required=True)
    posts = Integer(low=0, required=True)


class UsageQuery(Schema):
    """The days and the fields to return."""

    days = Integer(low=1, high=90, load_default=7)
    usage_fields = CommaList(Choice((*_USUAL, *_DAILY)), data_key="usage.fields")


class _Day(Schema):
    date = Instant(millis=True, required=True)
    usage = Integer(required=True)


class _ProjectDays(Schema):
    project_id = Integer(required=True)
    usage = ListOf(Nested(_Day), required=True)


class _AppDays(Schema):
    client_app_id = Text(required=True)
    usage = ListOf(Nested(_Day), required=True)
    usage_result_count = Integer(required=True)


class _Usage(Schema):
    cap_reset_day = Integer()
    project_cap = Integer()
    project_id = Text()
    project_usage = Integer()
    daily_project_usage = Nested(_ProjectDays)
    daily_client_app_usage = ListOf(Nested(_AppDays))


class UsageAnswer(Schema):
    """The usage of the project to which the caller's app belongs."""

    data = Nested(_Usage, required=True)


def get(call: Call, world: World) -> dict[str, Any]:
    """Return what the caller's project has read in this month and on the last days."""
    app = get_app(call)
    project = get_project_id(app)
    wanted = call.params.get("usage_fields", _USUAL)
    shown: dict[str, Any] = {
        "cap_reset_day": RESET_DAY,
        "project_cap": get_cap(app),
        "project_id": project,
        "project_usage": count_month(world, app),
    }
    if {*wanted} & {*_DAILY}:
        days = list_last_days(world.clock.now(), call.params["days"])
        read = {each: count_days(world, each) for each in list_apps_of_owner(world, app)}
        total = {day: sum(counts.get(day, 0) for counts in read.values()) for day in days}
        shown["daily_project_usage"] = {
            "project_id": int(project),
            "usage": _show_days(days, total),
        }
        shown["daily_client_app_usage"] = [
            {
                "client_app_id": each,
                "usage": _show_days(days, counts),
                "usage_result_count": len(days),
            }
            for each, counts in read.items()
        ]
    return {"data": {name: value for name, value in shown.items() if name in wanted}}


def _show_days(days: list[date], counts: Mapping[date, int]) -> list[dict[str, Any]]:
    return [{"date": f"{day}T00:00:00.000Z", "usage": counts.get(day, 0)} for day in days]


TABLES = (Table("usage", UsageRecord, key="_id", references=(Reference("app_id", "apps"),)),)
OPERATIONS = (
    declare_named(
        "usage.get",
        "GET",
        "/2/usage/posts",
        get,
        also=("/2/usage/tweets",),
        summary="Read how many posts a project has read",
        spec="Limits",
        params=UsageQuery,
        since=None,
        returns=Flat(UsageAnswer),
        auth=BEARER,
        limit=50,
        assumptions=(SHAPES, FIELDS, COUNTED, CAP, OLDER_NAMES),
    ),
)
