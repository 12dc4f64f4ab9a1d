"""Usage: how many posts an app has read, and the monthly cap of its project.

Operations that return posts (look-ups, searches), streams and deliveries of post events call
`count_posts` with the ids of what they are about to send. The shapes are public facts (named
endpoints, section 7.6); document A names the cap.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zlib import crc32

from mock_platform.api.v2.conventions import OLDER_NAMES, declare_named, get_app, wrap_data
from mock_platform.api.v2.webhooks.validation import list_apps_of_owner
from mock_platform.core.assumptions import expectation, public_fact
from mock_platform.core.auth.authenticate import BEARER
from mock_platform.core.call import Call
from mock_platform.core.failures.errors import ProblemFailure
from mock_platform.core.failures.problems import Problem, problem
from mock_platform.core.fields import Choice, CommaList, Instant, Integer, ListOf, Nested, Text
from mock_platform.core.schema import Schema
from mock_platform.core.tables.table import Reference, Table
from mock_platform.world.clock import parse_instant, wire_millis
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

PROJECT_CAP = 500_000
"""Posts that all apps of a project may read in a month (document A, "Limits")."""
COUNTED_ONCE = public_fact(
    "usage.counted",
    "A post counts once for an app on a day (UTC), whatever the number of reads: in look-ups, "
    "searches, streams and deliveries.",
    "section 7.6 of the named endpoints",
)
MONTHLY_CAP = expectation(
    "usage.cap",
    "All apps of one owner are a project. Its cap is 500,000 posts in a calendar month (UTC), or "
    "`_post_cap` of the app that reads. A read that begins below the cap is answered in full; "
    "from then on reads of posts answer 429 usage-capped until the month ends.",
)
COUNTED_EVENTS = expectation(
    "usage.post-events",
    "A post that an activity subscription delivers is a read of its app. Beyond the cap, post "
    "events are not sent to webhooks, and an activity stream ends at the next one with "
    "usage-capped as its last line.",
)
USAGE_SHAPES = public_fact(
    "usage.shapes",
    "The endpoint of usage has its public shape; the spec names nothing but the cap.",
    "section 7.6 of the named endpoints",
    gap=True,
)
USAGE_FIELDS = expectation(
    "usage.fields",
    "Without usage.fields the answer has project_id, project_cap, project_usage and "
    "cap_reset_day; with it, what was asked for. Each of the last days is listed, today last, "
    "also those without usage.",
)
USAGE_IN_TEXTS = public_fact(
    "usage.texts",
    "With --wire recorded the numbers of usage are texts, but for cap_reset_day and "
    "usage_result_count, and an app that has read nothing on these days has no usage.",
    "wire, no. 8",
)
RESET_DAY = 1
_READ = "_posts_read"
"""Which posts an app has read on a day; not shown, and removed with the first read of another."""


def count_posts(world: World, app: Record, post_ids: Iterable[str]) -> None:
    """Count posts that an app is about to receive; call it within the transaction of the read.

    Raises:
        ProblemFailure: The project's cap was reached before this read (usage-capped, 429).
    """
    reached = find_reached_cap(world, app)
    if reached is not None:
        raise ProblemFailure(reached, MONTHLY_CAP)
    now = world.clock.now()
    today = f"{now:%Y-%m-%d}"
    new, store, read = 0, world.store, {"app_id": app["id"], "date": today}
    for post_id in post_ids:
        key = f"{app['id']}:{today}:{post_id}"
        if store.get(_READ, key) is None:
            store.put(_READ, key, read)
            new += 1
    if new == 0:
        return
    key = f"{app['id']}:{today}"
    row = world.store.get("usage", key)
    if row is None:
        _forget_other_days(world, app, today)
        midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
        row = {"_id": key, "app_id": app["id"], "date": wire_millis(midnight), "posts": 0}
    world.store.put("usage", key, row | {"posts": row["posts"] + new})


def count_post_event(world: World, app_id: str, activity: Record) -> None:
    """Count the post of an event that an app is about to receive, if it is about a new post.

    Raises:
        ProblemFailure: The project's cap was reached before (usage-capped, 429).
    """
    name, post_id = activity["event_type"], activity["payload"].get("id")
    app = world.store.get("apps", app_id)
    if name.startswith("post.") and name.endswith(".create") and app and isinstance(post_id, str):
        count_posts(world, app, [post_id])


def find_reached_cap(world: World, app: Record) -> Problem | None:
    """Return the problem that refuses reads of posts; `None` while the project may read some.

    A stream that is open when the cap is reached ends with it as its last line.
    """
    if count_month(world, app) < get_cap(app):
        return None
    return problem(
        "usage-capped",
        period="Monthly",
        scope="Product",
        account_id=int(get_project_id(app)),
        product_name="standard-basic",
    )


def get_cap(app: Record) -> int:
    """Return how many posts the project of an app may read in a month."""
    cap: int | None = app.get("_post_cap")
    return PROJECT_CAP if cap is None else cap


def get_project_id(app: Record) -> str:
    """Return the id of an app's project: a number of 32 bits that follows from its owner."""
    return str(crc32((app.get("_owner_user_id") or app["id"]).encode()) & 0x7FFFFFFF)


def count_month(world: World, app: Record) -> int:
    """Return how many posts the project of an app has read in this month."""
    # Each read of a post counts the month, so the moments are compared as they are written.
    now = world.clock.now()
    first = wire_millis(now.replace(day=RESET_DAY, hour=0, minute=0, second=0, microsecond=0))
    return sum(
        entry.record["posts"]
        for each in list_apps_of_owner(world, app)
        for entry in world.store.page("usage", {"app_id": each})
        if first <= entry.record["date"]
    )


def count_days(world: World, app_id: str) -> dict[date, int]:
    """Return how many posts an app has read on each day on which it read any."""
    days: defaultdict[date, int] = defaultdict(int)
    for entry in world.store.page("usage", {"app_id": app_id}):
        days[_find_day(parse_instant(entry.record["date"]))] += entry.record["posts"]
    return days


def list_last_days(now: datetime, number: int) -> list[date]:
    """Return so many days, oldest first, of which the last one is today."""
    return [_find_day(now) - timedelta(days=ago) for ago in reversed(range(number))]


def _find_day(moment: datetime) -> date:
    return moment.astimezone(UTC).date()


def _forget_other_days(world: World, app: Record, today: str) -> None:
    """Remove what an app has read on earlier days, which no longer matters."""
    # Once a day this looks at all of them: an index would cost each read of a post some time.
    id_ = app["id"]
    for key in world.store.scan(_READ, lambda row: row["app_id"] == id_ and row["date"] != today):
        world.store.remove(_READ, key)


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


_TEXT = {"x-mock-recorded": {"type": "string"}}


class _Day(Schema):
    date = Instant(millis=True, required=True)
    usage = Integer(required=True, metadata=_TEXT)


class _ProjectDays(Schema):
    project_id = Integer(required=True, metadata=_TEXT)
    usage = ListOf(Nested(_Day), required=True)


class _AppDays(Schema):
    client_app_id = Text(required=True)
    usage = ListOf(Nested(_Day), required=True)
    usage_result_count = Integer(required=True)


UsageAnswer = wrap_data(
    "UsageAnswer",
    cap_reset_day=Integer(),
    project_cap=Integer(metadata=_TEXT),
    project_id=Text(),
    project_usage=Integer(metadata=_TEXT),
    daily_project_usage=Nested(_ProjectDays),
    daily_client_app_usage=ListOf(Nested(_AppDays)),
)


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
    data = {name: value for name, value in shown.items() if name in wanted}
    if call.wire == "recorded":
        call.assume(USAGE_IN_TEXTS)
        data = _write_numbers(data)
    return {"data": data}


def _show_days(days: list[date], counts: Mapping[date, int]) -> list[dict[str, Any]]:
    return [{"date": f"{day}T00:00:00.000Z", "usage": counts.get(day, 0)} for day in days]


def _write_numbers(value: Any, name: str = "") -> Any:
    """Return an answer with numbers as texts, but for two, and an app's `usage` if it has any."""
    if isinstance(value, list):
        return [_write_numbers(each) for each in value]
    if isinstance(value, dict):
        unused = "client_app_id" in value and not any(day["usage"] for day in value["usage"])
        return {
            key: _write_numbers(inner, key)
            for key, inner in value.items()
            if not (unused and key == "usage")
        }
    is_number = isinstance(value, int) and name not in {"cap_reset_day", "usage_result_count"}
    return str(value) if is_number else value


TABLES = (Table("usage", UsageRecord, key="_id", references=(Reference("app_id", "apps"),)),)
OPERATIONS = (
    declare_named(
        "usage.get",
        "GET /2/usage/posts",
        get,
        "Read how many posts a project has read",
        spec="Limits",
        params=UsageQuery,
        returns=UsageAnswer,
        auth=BEARER,
        limit=50,
        assumptions=(USAGE_SHAPES, USAGE_FIELDS, COUNTED_ONCE, MONTHLY_CAP, OLDER_NAMES),
        may_assume=(USAGE_IN_TEXTS,),
    ),
)
