"""Scheduled feeds: when a file of products is due, and what is in it."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from mock_platform.core.assumptions import expectation, public_fact
from mock_platform.core.faults import MISSING, Fault
from mock_platform.world.clock import parse_instant
from mock_platform.world.store.interface import Record

TABLE = "scheduled_feeds"
CSV, TSV, XML = FORMATS = ("CSV", "TSV", "XML")
HOURLY, DAILY, WEEKLY = FREQUENCIES = ("HOURLY", "DAILY", "WEEKLY")
WEEKDAYS = ("MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY", "SUNDAY")
HOURS = ("1", "2", "3", "4", "6", "8", "12")
MOST_BYTES = 5_000_000
"""How much of a file is read."""

FEEDS = public_fact(
    "scheduled-feeds.all",
    "A user has one feed. repeat is a weekday for WEEKLY, 1, 2, 3, 4, 6, 8 or 12 for HOURLY, and "
    "null for DAILY. Timestamps have milliseconds; the delete is permanent and returns the feed. "
    "The feed's key is echoed as id.",
    "section 7, scheduled feeds; adjacent operations, section 8.6",
    gap=True,
)
READING = expectation(
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
