"""Scheduled feeds: their moments, and the files that they read."""

from __future__ import annotations

from typing import Any

import pytest

from mock_platform.api.ads.catalogs.scheduled_feeds import find_next_read, read_products
from mock_platform.world.clock import wire_seconds

PACIFIC = "America/Los_Angeles"


@pytest.mark.parametrize(
    ("frequency", "repeat", "time", "zone", "after", "expected"),
    [
        ("DAILY", None, "09:30", "UTC", "2026-11-22T09:29:59Z", "2026-11-22T09:30:00Z"),
        ("DAILY", None, "09:30", "UTC", "2026-11-22T09:30:00Z", "2026-11-23T09:30:00Z"),
        ("DAILY", None, "20:00", PACIFIC, "2026-11-22T03:00:00Z", "2026-11-22T04:00:00Z"),
        ("DAILY", None, "09:30", PACIFIC, "2026-10-31T17:00:00Z", "2026-11-01T17:30:00Z"),
        ("DAILY", None, "00:30", "Asia/Tokyo", "2026-11-22T16:00:00Z", "2026-11-23T15:30:00Z"),
        ("WEEKLY", "SUNDAY", "04:00", "UTC", "2026-11-22T04:00:00Z", "2026-11-29T04:00:00Z"),
        ("WEEKLY", "MONDAY", "04:00", "UTC", "2026-11-22T04:00:00Z", "2026-11-23T04:00:00Z"),
        ("WEEKLY", "SUNDAY", "20:00", PACIFIC, "2026-11-22T04:00:00Z", "2026-11-23T04:00:00Z"),
        ("HOURLY", "1", "22:15", "UTC", "2026-11-22T22:15:00Z", "2026-11-22T23:15:00Z"),
        ("HOURLY", "1", "22:15", "UTC", "2026-11-22T23:15:00Z", "2026-11-23T22:15:00Z"),
        ("HOURLY", "12", "03:00", "UTC", "2026-11-22T03:00:00Z", "2026-11-22T15:00:00Z"),
        ("HOURLY", "8", "00:00", "UTC", "2026-11-22T16:00:00Z", "2026-11-23T00:00:00Z"),
    ],
)
def test_the_next_moment(
    frequency: str, repeat: str | None, time: str, zone: str, after: str, expected: str
) -> None:
    """The first moment later than the one up to which the feed was read, in its time zone."""
    feed = {
        "frequency": frequency,
        "repeat": repeat,
        "start_time": time,
        "time_zone": zone,
        "_read_until": after,
    }
    found = find_next_read(feed)

    assert found is not None
    assert expected == wire_seconds(found)


RSS = """<?xml version="1.0"?>
<rss xmlns:g="http://base.google.com/ns/1.0" version="2.0"><channel><title>Shop</title>
<item><g:id>A</g:id><title>One</title><g:inventory>5</g:inventory><g:brand/></item>
<item><g:id>B</g:id></item></channel></rss>"""
PRODUCTS: list[dict[str, Any]] = [{"id": "A", "title": "One", "inventory": 5}, {"id": "B"}]


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("CSV", "id,title,inventory,brand\nA,One,5,\nB,,,\n"),
        ("CSV", "\ufeffid,title,inventory\r\nA,One,5\r\nB,,\r\n"),
        ("TSV", "id\ttitle\tinventory\nA\tOne\t5\nB\t\t\n"),
        ("XML", RSS),
    ],
)
def test_products_of_each_format(form: str, text: str) -> None:
    """What a row leaves empty is left out; only the number of pieces is a number."""
    assert PRODUCTS == read_products(text.encode(), form)


def test_quoted_cells_and_cells_beyond_the_columns() -> None:
    """A cell may contain the delimiter; those without a column are left out."""
    text = 'id,title\nA,"One, two"\nB,Two,extra\n'

    assert [{"id": "A", "title": "One, two"}, {"id": "B", "title": "Two"}] == read_products(
        text.encode(), "CSV"
    )


@pytest.mark.parametrize(
    ("form", "content", "why"),
    [
        ("CSV", b"\xff\xfe", "not UTF-8"),
        ("CSV", b"sku,title\nA,One\n", "names no column id"),
        ("CSV", b"", "names no column id"),
        ("CSV", b'id,title\nA,"One\n', "after line 1"),
        ("XML", b"<rss>", "not XML"),
        ("XML", b'<!DOCTYPE a [<!ENTITY b "c">]><rss/>', "no document type"),
    ],
)
def test_files_that_cannot_be_read(form: str, content: bytes, why: str) -> None:
    """The reason is said in words."""
    with pytest.raises(ValueError, match=why):
        read_products(content, form)
