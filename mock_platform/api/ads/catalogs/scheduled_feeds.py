"""Scheduled feeds: files of products that are read again and again (document B names them).

The operations, the moments at which a file is due, and what is in it.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from mock_platform.api.ads.cards.records import WebAddress
from mock_platform.api.ads.catalogs.records import BASE, find_catalog
from mock_platform.api.ads.conventions import Many, One, ads, early_access, fail, not_found
from mock_platform.api.ads.lists import NEXT_CURSOR, PageOf
from mock_platform.core.assumptions import expectation, public_fact
from mock_platform.core.call import Call
from mock_platform.core.failures.errors import AdsError, AdsFailure
from mock_platform.core.faults import MISSING, Fault, invalid
from mock_platform.core.fields import Choice, Instant, Json, Text
from mock_platform.core.operation import Echo, Example, Operation, Origin
from mock_platform.core.schema import Schema
from mock_platform.core.tables.table import Reference, Table
from mock_platform.settings import Settings
from mock_platform.world.clock import parse_instant, wire_millis
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

TABLE = "scheduled_feeds"
CSV, TSV, XML = FORMATS = ("CSV", "TSV", "XML")
HOURLY, DAILY, WEEKLY = FREQUENCIES = ("HOURLY", "DAILY", "WEEKLY")
WEEKDAYS = ("MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY", "SUNDAY")
HOURS = ("1", "2", "3", "4", "6", "8", "12")
MOST_BYTES = 5_000_000
"""How much of a file is read."""

FEEDS_SERVED = public_fact(
    "scheduled-feeds.all",
    "A user has one feed. repeat is a weekday for WEEKLY, 1, 2, 3, 4, 6, 8 or 12 for HOURLY, and "
    "null for DAILY; another frequency begins without one. Timestamps have milliseconds; the "
    "delete is permanent and returns the feed. The feed's key is echoed as id.",
    "section 7, scheduled feeds; adjacent operations, section 8.6",
    gap=True,
)
FEEDS_READ = expectation(
    "scheduled-feeds.reading",
    "When the world's clock passes a feed's moment, the file is read, once for all moments that "
    "have passed, and its products are created and updated as by a request. Only addresses of "
    "this machine are read, and hosts that --delivery-allow-host names. _last_read of the record "
    "says what came of it.",
)
HOURLY_FROM = expectation(
    "scheduled-feeds.hourly",
    "An HOURLY feed is read at start_time and every repeat hours until the end of the day.",
)


class TimeZoneName(Text):
    """The name of a time zone that the time zone database has."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        text = super()._deserialize(value, attr, data, **kwargs)
        try:
            ZoneInfo(text)
        except (ValueError, OSError, ZoneInfoNotFoundError) as fault:
            what = "an IANA time zone such as America/Los_Angeles"
            raise invalid(what, text, "invalid time zone") from fault
        return text


def _make_time(*, required: bool = False) -> Text:
    pattern, text = r"(?:[01][0-9]|2[0-3]):[0-5][0-9]", "a time of day such as 09:30"
    return Text(pattern=pattern, pattern_text=text, required=required)


class ScheduledFeedRecord(Schema):
    """A feed. `_read_until` is the moment up to which it is read, `_last_read` the last result."""

    start_time = _make_time(required=True)
    product_catalog_id = Text(required=True)
    feed_url = WebAddress(required=True)
    feed_format = Choice(FORMATS, required=True)
    id = Text(required=True, pattern=r"[0-9]{1,19}", pattern_text="1 to 19 digits")
    created_at = Instant(millis=True, required=True)
    updated_at = Instant(millis=True, required=True)
    frequency = Choice(FREQUENCIES, required=True)
    repeat = Text(load_default=None, allow_none=True)
    time_zone = TimeZoneName(required=True)
    _read_until = Instant(millis=True, load_default=None, allow_none=True)
    _last_read = Json(load_default=None, allow_none=True)


class FeedCreate(Schema):
    """Parameters of the creation of a feed."""

    feed_url = WebAddress(required=True)
    feed_format = Choice(FORMATS, required=True)
    frequency = Choice(FREQUENCIES, required=True)
    repeat = Text()
    start_time = _make_time(required=True)
    time_zone = TimeZoneName(required=True)


class FeedUpdate(Schema):
    """Parameters of the update; an empty repeat removes it."""

    feed_url = WebAddress()
    feed_format = Choice(FORMATS)
    frequency = Choice(FREQUENCIES)
    repeat = Text(allow_none=True)
    start_time = _make_time()
    time_zone = TimeZoneName()


def find_schedule_faults(feed: Mapping[str, Any]) -> Iterator[tuple[str, Fault]]:
    """Yield what is wrong with a feed's `repeat` under its frequency."""
    frequency, repeat = feed.get("frequency"), feed.get("repeat")
    if frequency not in FREQUENCIES:
        return
    if frequency == DAILY:
        if repeat is not None:
            yield "repeat", Fault(f"repeat is not used with {DAILY}")
        return
    values = WEEKDAYS if frequency == WEEKLY else HOURS
    if repeat is None:
        yield "repeat", Fault('"repeat" is a required parameter', MISSING)
    elif repeat not in values:
        listed = ", ".join(values)
        yield "repeat", Fault(f'Expected a value in {listed}, got "{repeat}" for repeat')


def list_(call: Call, world: World) -> PageOf:
    """Return the feeds of a catalog: at most one."""
    match = {"product_catalog_id": find_catalog(call, world)["id"]}
    return PageOf([entry.record for entry in world.store.page(TABLE, match)])


def get(call: Call, world: World) -> Record:
    """Return the feed in the path."""
    catalog, key = find_catalog(call, world), call.path_params["scheduled_feed_id"]
    record = world.store.get(TABLE, key)
    if record is None or record["product_catalog_id"] != catalog["id"]:
        raise not_found("NOT_FOUND", "scheduled feed", "scheduled_feed_id", key)
    return record


def create(call: Call, world: World) -> Record:
    """Schedule a file of products for a catalog."""
    catalog = find_catalog(call, world)
    if world.store.count(TABLE, {"product_catalog_id": catalog["id"]}):
        raise fail("INVALID_PARAMETER", "This user has a feed already; there is one per user")
    sent, now = call.params, wire_millis(world.clock.now())
    record = {
        "start_time": sent["start_time"],
        "product_catalog_id": catalog["id"],
        "feed_url": sent["feed_url"],
        "feed_format": sent["feed_format"],
        "id": world.ids.snowflake(),
        "created_at": now,
        "updated_at": now,
        "frequency": sent["frequency"],
        "repeat": sent.get("repeat"),
        "time_zone": sent["time_zone"],
        "_read_until": now,
        "_last_read": None,
    }
    world.store.put(TABLE, record["id"], record)
    return record


def update(call: Call, world: World) -> Record:
    """Change a feed; what has passed of the old schedule is not read any more."""
    before = get(call, world)
    if not call.params:
        return before
    now = wire_millis(world.clock.now())
    after = before | call.params | {"updated_at": now, "_read_until": now}
    if after["frequency"] != before["frequency"] and "repeat" not in call.params:
        after["repeat"] = None  # of the frequency before
    faults = list(find_schedule_faults(after))
    if faults:
        raise AdsFailure(*(AdsError.from_fault(name, fault) for name, fault in faults))
    world.store.put(TABLE, after["id"], after)
    return after


def delete(call: Call, world: World) -> Record:
    """Delete a feed permanently; its products stay."""
    record = get(call, world)
    world.store.remove(TABLE, record["id"])
    return record


def _check(
    params: Mapping[str, Any], _call: Call, _world: World, _settings: Settings
) -> Iterator[tuple[str, Fault]]:
    yield from find_schedule_faults(params)


def _complete(record: Record) -> Record:
    """Read a stored feed from its last change on."""
    until = record.get("_read_until") or record["updated_at"]
    return record | {"_read_until": until}


def _check_record(record: Record) -> Iterator[tuple[str, str]]:
    for name, fault in find_schedule_faults(record):
        yield name, str(fault)


# -- the files ----------------------------------------------------------------------------------


def find_next_read(feed: Record) -> datetime | None:
    """Return the first moment of a feed after the one up to which it has been read."""
    after = parse_instant(feed["_read_until"])
    zone = ZoneInfo(feed["time_zone"])
    hour, minute = map(int, feed["start_time"].split(":"))
    day = after.astimezone(zone).date() - timedelta(days=1)
    for _ in range(10):  # a week, and the days at both ends
        for moment in _list_moments(feed, day.year, day.month, day.day, hour, minute, zone):
            if moment > after:
                return moment.astimezone(UTC)
        day += timedelta(days=1)
    return None


def _list_moments(
    feed: Record, year: int, month: int, day: int, hour: int, minute: int, zone: ZoneInfo
) -> list[datetime]:
    """Return the moments of one day."""
    first = datetime(year, month, day, hour, minute, tzinfo=zone)
    if feed["frequency"] == WEEKLY:
        return [first] if WEEKDAYS[first.weekday()] == feed["repeat"] else []
    if feed["frequency"] == DAILY:
        return [first]
    hours = range(hour, 24, int(feed["repeat"]))
    return [first.replace(hour=each) for each in hours]


def read_products(content: bytes, form: str) -> list[dict[str, Any]]:
    """Return the products in a file; what a row leaves empty is left out.

    Raises:
        ValueError: The file is not of this format.
    """
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        raise ValueError(f"the file is not UTF-8: {fault}") from fault
    rows = _read_items(text) if form == XML else _read_rows(text, "\t" if form == TSV else ",")
    return [_read_types(row) for row in rows]


def _read_rows(text: str, delimiter: str) -> list[dict[str, str]]:
    reader = csv.DictReader(io.StringIO(text), delimiter=delimiter, strict=True)
    try:
        rows = list(reader)
    except csv.Error as fault:
        raise ValueError(f"after line {reader.line_num}: {fault}") from fault
    if "id" not in (reader.fieldnames or ()):
        raise ValueError("the first line names no column id")
    return [{name: value for name, value in row.items() if name and value} for row in rows]


def _read_items(text: str) -> list[dict[str, str]]:
    """Return the items of a feed in RSS 2.0, whose tags may have a namespace."""
    # Loaded here: hardly a server reads such a file, and each would wait for it at its start.
    from xml.etree import ElementTree as ET

    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise ValueError("a feed has no document type and no entities")
    try:
        root = ET.fromstring(text)  # noqa: S314 - it has no entities that could grow
    except ET.ParseError as fault:
        raise ValueError(f"the file is not XML: {fault}") from fault
    return [
        {child.tag.rpartition("}")[2]: child.text for child in item if child.text}
        for item in root.iter("item")
    ]


def _read_types(row: Mapping[str, str]) -> dict[str, Any]:
    """Return a product with its number as such; everything else is text."""
    stock = row.get("inventory", "")
    return {**row, **({"inventory": int(stock)} if stock.isascii() and stock.isdigit() else {})}


TABLES = (
    Table(
        TABLE,
        ScheduledFeedRecord,
        references=(Reference("product_catalog_id", "product_catalogs"),),
        complete=_complete,
        check=_check_record,
        due=("feed", find_next_read),
    ),
)
_PATH = f"{BASE}/:product_catalog_id/scheduled_feeds"
_ONE = f"{_PATH}/:scheduled_feed_id"
_declare = partial(
    ads,
    spec="Endpoints not shown",
    gates=(early_access,),
    origin=Origin.NAMED,
    errors=("NOT_FOUND",),
    statuses=(404,),
    assumptions=(FEEDS_SERVED, FEEDS_READ, HOURLY_FROM),
)
_declare_one = partial(
    _declare, returns=One(ScheduledFeedRecord), echo=Echo(names={"scheduled_feed_id": "id"})
)

OPERATIONS: tuple[Operation, ...] = (
    _declare(
        "scheduled_feeds.list",
        "GET",
        _PATH,
        list_,
        summary="List the feed of a catalog",
        returns=Many(ScheduledFeedRecord),
        assumptions=(NEXT_CURSOR, FEEDS_SERVED, FEEDS_READ, HOURLY_FROM),
    ),
    _declare_one("scheduled_feeds.get", "GET", _ONE, get, summary="Read one scheduled feed"),
    _declare(
        "scheduled_feeds.create",
        "POST",
        _PATH,
        create,
        summary="Schedule a file of products",
        returns=One(ScheduledFeedRecord),
        params=FeedCreate,
        rules=_check,
        example=Example(
            query={
                "feed_url": "http://127.0.0.1:8099/products.csv",
                "feed_format": "CSV",
                "frequency": "DAILY",
                "start_time": "04:30",
                "time_zone": "America/Los_Angeles",
            },
            is_refused=True,
        ),
    ),
    _declare_one(
        "scheduled_feeds.update",
        "PUT",
        _ONE,
        update,
        summary="Change a scheduled feed",
        params=FeedUpdate,
    ),
    _declare_one(
        "scheduled_feeds.delete",
        "DELETE",
        _ONE,
        delete,
        summary="Delete a scheduled feed permanently",
    ),
)
