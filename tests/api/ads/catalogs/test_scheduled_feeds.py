"""Scheduled feeds: create, list, read, change, delete, and the products that they bring."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

import pytest

from mock_platform.api.ads.catalogs.scheduled_feeds import find_next_read, read_products
from mock_platform.world.clock import wire_seconds
from tests.refusals import Refusal, refusals
from tests.support import NORTHBIKE, Sandbox, body_of, faults, refusal, sandbox
from tests.waits import PATIENCE

CATALOG = "1547080787865939968"
PATH = f"/12/product_catalogs/{CATALOG}/scheduled_feeds"
FIRST = "1547082000000000001"
NOW = datetime(2026, 11, 22, 12, 0, tzinfo=UTC)
SENT = {
    "feed_url": "http://127.0.0.1:9/products.csv", "feed_format": "CSV", "frequency": "DAILY",
    "start_time": "13:00", "time_zone": "UTC",
}  # fmt: skip
COLUMNS = "id,title,description,availability,condition,price,link,image_link,brand,inventory"
ROW = (
    "{0},Pier blend,For the filter,in stock,new,{1} USD,https://shop.example.com/{0},"
    "https://shop.example.com/{0}.jpg,Harbor,7"
)


class Shop(BaseHTTPRequestHandler):
    """A shop on this machine that offers a file of products."""

    text: ClassVar[str] = ""
    status: ClassVar[int] = 200
    asked: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        """Send the file."""
        type(self).asked.append(self.path)
        body = self.text.encode()
        self.send_response(self.status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Print nothing."""


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The address of the shop's file."""
    found = ThreadingHTTPServer(("127.0.0.1", 0), Shop)
    thread = threading.Thread(target=found.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{found.server_port}/products.csv"
    found.shutdown()
    thread.join()
    found.server_close()


@pytest.fixture
def shop(server: str) -> str:
    """The same, as it is at first."""
    Shop.text = "\n".join([COLUMNS, ROW.format("HR-900", "12.00"), ROW.format("HR-100", "15.00")])
    Shop.status = 200
    Shop.asked.clear()
    return server


@pytest.fixture
def box() -> Iterator[Sandbox]:
    """A sandbox of its own without a feed, whose clock is stopped."""
    found = sandbox(freeze=NOW)
    assert 200 == found.call("DELETE", f"{PATH}/{FIRST}").status_code
    yield found
    found.platform.close()


def ask(box: Sandbox, method: str, path: str = PATH, **query: str) -> dict[str, Any]:
    """The body of a successful call."""
    found: dict[str, Any] = body_of(box.ask(method, path, **query))
    return found


def make_feed(box: Sandbox, **sent: str) -> str:
    """The id of a new feed."""
    return str(ask(box, "POST", **SENT | sent)["data"]["id"])


def pass_time(box: Sandbox, **by: float) -> None:
    """Move the clock as users do, and wait for what is due."""
    box.advance(**by)
    assert box.platform.deliverer.wait_until_idle(PATIENCE)


def products(box: Sandbox) -> dict[str, dict[str, Any]]:
    """The products of the catalog by the merchant's ids."""
    found = box.world.store.page("products", {"_catalog_id": CATALOG})
    return {entry.record["id"]: entry.record for entry in found}


def test_the_feed_of_the_fixtures() -> None:
    """Ten keys with milliseconds, and a page without a next one; the own key is echoed as id."""
    box = sandbox()
    listed, one = ask(box, "GET"), ask(box, "GET", f"{PATH}/{FIRST}")

    assert {
        "start_time", "product_catalog_id", "feed_url", "feed_format", "id", "created_at",
        "updated_at", "frequency", "repeat", "time_zone",
    } == set(one["data"])  # fmt: skip
    assert [one["data"]] == listed["data"]
    assert listed["next_cursor"] is None
    assert "2026-02-03T10:15:20.114Z" == one["data"]["created_at"]
    assert {"params": {"product_catalog_id": CATALOG, "id": FIRST}} == one["request"]


def test_created_changed_and_deleted(box: Sandbox) -> None:
    """What is sent changes; the delete returns the feed, which is gone for good."""
    created = ask(box, "POST", **SENT)
    path = f"{PATH}/{created['data']['id']}"
    changed = ask(box, "PUT", path, frequency="WEEKLY", repeat="SATURDAY")["data"]
    daily = ask(box, "PUT", path, frequency="DAILY", repeat="")["data"]
    deleted = ask(box, "DELETE", path)["data"]

    assert {**SENT, "product_catalog_id": CATALOG} == created["request"]["params"]
    assert created["data"]["repeat"] is None
    assert ("WEEKLY", "SATURDAY") == (changed["frequency"], changed["repeat"])
    assert ("DAILY", None) == (daily["frequency"], daily["repeat"])
    assert daily == deleted
    assert (404, [("NOT_FOUND", "scheduled_feed_id")]) == refusal(box.call("GET", path))
    assert [] == ask(box, "GET")["data"]


def test_one_feed_per_user(box: Sandbox) -> None:
    """A second one is refused."""
    make_feed(box)

    assert (400, [("INVALID_PARAMETER", "")]) == refusal(box.ask("POST", PATH, **SENT))


create = partial(Refusal, f"POST {PATH}")
MISSING, INVALID = "MISSING_PARAMETER", "INVALID_PARAMETER"
REFUSED = [
    *(create(f"{name} is required", 400, [(MISSING, name)],
             query={other: SENT[other] for other in SENT if other != name}) for name in SENT),
    *(create(f"{name} is no {value}", 400, [(INVALID, name)], query=SENT | {name: value})
      for name, value in (("feed_url", "products.csv"), ("feed_format", "JSON"),
                          ("frequency", "MONTHLY"), ("start_time", "24:00"),
                          ("start_time", "9:30"), ("time_zone", "Pacific"),
                          ("time_zone", "../etc"), ("repeat", "SATURDAY"))),
    *(create(f"{frequency} needs a repeat", 400, [(MISSING, "repeat")],
             query=SENT | {"frequency": frequency}) for frequency in ("WEEKLY", "HOURLY")),
    *(create(f"{repeat} is not for {frequency}", 400, [(INVALID, "repeat")],
             query=SENT | {"frequency": frequency, "repeat": repeat})
      for frequency, repeat in (("WEEKLY", "saturday"), ("WEEKLY", "4"), ("HOURLY", "5"))),
    Refusal(f"GET {PATH}", "feeds need early access", 403,
            [("UNAUTHORIZED_CLIENT_APPLICATION", None)], keys=NORTHBIKE),
    Refusal("GET /12/product_catalogs/5/scheduled_feeds", "a catalog is the user's", 404,
            [("NOT_FOUND", "product_catalog_id")]),
]  # fmt: skip


@refusals(REFUSED)
def test_what_is_refused(box: Sandbox, row: Refusal) -> None:
    """All but repeat are required; a repeat has to fit the frequency."""
    row.check(box)


def test_hours_between_reads(box: Sandbox) -> None:
    """The documented numbers are accepted."""
    path = f"{PATH}/{make_feed(box, frequency='HOURLY', repeat='1')}"
    for repeat in ("1", "2", "3", "4", "6", "8", "12"):
        assert repeat == ask(box, "PUT", path, repeat=repeat)["data"]["repeat"]


def test_a_change_is_checked_as_a_whole(box: Sandbox) -> None:
    """A feed that would become weekly or hourly needs its repeat; that of before is no such."""
    path = f"{PATH}/{make_feed(box)}"
    weekly = box.ask("PUT", path, frequency="WEEKLY")
    ask(box, "PUT", path, frequency="WEEKLY", repeat="MONDAY")
    hourly = box.ask("PUT", path, frequency="HOURLY")

    assert [("MISSING_PARAMETER", "repeat")] == faults(weekly) == faults(hourly)


def test_another_frequency_begins_without_a_repeat(box: Sandbox) -> None:
    """A weekly feed becomes daily by its frequency alone."""
    path = f"{PATH}/{make_feed(box, frequency='WEEKLY', repeat='MONDAY')}"
    daily = ask(box, "PUT", path, frequency="DAILY")["data"]

    assert ("DAILY", None) == (daily["frequency"], daily["repeat"])


# -- reading -----------------------------------------------------------------------------------


def test_products_are_created_and_updated(box: Sandbox, shop: str) -> None:
    """At the feed's moment, once for all moments that have passed, and again at the next one."""
    feed, before = make_feed(box, feed_url=shop), products(box)
    pass_time(box, minutes=59)
    early = list(Shop.asked)
    pass_time(box, days=3)
    after, result = products(box), box.record("scheduled_feeds", feed)["_last_read"]
    pass_time(box, days=1)
    new, old = after["HR-900"], before["HR-100"]

    assert [] == early
    assert ["/products.csv", "/products.csv"] == Shop.asked
    assert "HR-900" not in before
    assert ("12.00 USD", 7) == (new["price"], new["inventory"])
    assert "15.00 USD" == after["HR-100"]["price"] != old["price"]
    assert old["product_key"] == after["HR-100"]["product_key"]
    assert {"CREATE_SUCCESS": 1, "UPDATE_SUCCESS": 1} == result["products"]
    assert (200, None, []) == (result["status"], result["fault"], result["errors"])
    assert {"NO_CHANGE": 2} == box.record("scheduled_feeds", feed)["_last_read"]["products"]


def test_rows_that_are_no_products(box: Sandbox, shop: str) -> None:
    """They are reported with their ids; the others are stored."""
    Shop.text += "\n" + ROW.format("HR-901", "free")
    feed = make_feed(box, feed_url=shop)
    pass_time(box, hours=2)
    result = box.record("scheduled_feeds", feed)["_last_read"]

    assert {"CREATE_SUCCESS": 1, "UPDATE_SUCCESS": 1, "ERROR": 1} == result["products"]
    assert ["HR-901"] == [each["id"] for each in result["errors"]]


@pytest.mark.parametrize(("status", "text", "fault"), [
    (404, "", "answered 404"), (200, "sku\nA", "names no column id"),
])  # fmt: skip
def test_files_that_are_not_there_or_no_feed(
    box: Sandbox, shop: str, status: int, text: str, fault: str
) -> None:
    """The record says why nothing was stored; the next moment is tried again."""
    Shop.status, Shop.text = status, text
    feed, before = make_feed(box, feed_url=shop), products(box)
    pass_time(box, hours=2)
    result = box.record("scheduled_feeds", feed)["_last_read"]
    pass_time(box, days=1)

    assert fault in result["fault"]
    assert before == products(box)
    assert 2 == len(Shop.asked)


def test_addresses_beyond_this_machine(box: Sandbox) -> None:
    """They are not read unless they are allowed, as with webhooks."""
    feed = make_feed(box, feed_url="http://192.0.2.1/products.csv")
    pass_time(box, hours=2)
    result = box.record("scheduled_feeds", feed)["_last_read"]

    assert result["status"] is None
    assert "--delivery-allow-host" in result["fault"]


def test_a_feed_that_is_gone_is_not_read(box: Sandbox, shop: str) -> None:
    """Neither after its delete, nor after that of its catalog."""
    ask(box, "DELETE", f"{PATH}/{make_feed(box, feed_url=shop)}")
    second = make_feed(box, feed_url=shop)
    ask(box, "DELETE", f"/12/product_catalogs/{CATALOG}")
    pass_time(box, days=2)

    assert [] == Shop.asked
    assert box.world.store.get("scheduled_feeds", second) is None


def test_a_kept_feed_is_watched(shop: str) -> None:
    """A feed that is there when the server starts is read in time, if it is on this machine."""
    box = sandbox(freeze=NOW)
    daily = {"feed_url": shop, "frequency": "DAILY", "repeat": None}
    box.change("scheduled_feeds", FIRST, _read_until="2026-11-22T12:00:00.000Z", **daily)
    saved = box.world.save()
    other = sandbox(freeze=NOW)
    other.world.load(saved)
    pass_time(other, days=2)

    assert 1 == len(Shop.asked)
    for each in (box, other):
        each.platform.close()


# -- moments and files --------------------------------------------------------------------------

PACIFIC = "America/Los_Angeles"


@pytest.mark.parametrize(("frequency", "repeat", "time", "zone", "after", "expected"), [
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
])  # fmt: skip
def test_the_next_moment(
    frequency: str, repeat: str | None, time: str, zone: str, after: str, expected: str
) -> None:
    """The first moment later than the one up to which the feed was read, in its time zone."""
    feed = {"frequency": frequency, "repeat": repeat, "start_time": time, "time_zone": zone}
    found = find_next_read(feed | {"_read_until": after})

    assert found is not None
    assert expected == wire_seconds(found)


RSS = """<?xml version="1.0"?>
<rss xmlns:g="http://base.google.com/ns/1.0" version="2.0"><channel><title>Shop</title>
<item><g:id>A</g:id><title>One</title><g:inventory>5</g:inventory><g:brand/></item>
<item><g:id>B</g:id></item></channel></rss>"""
PRODUCTS: list[dict[str, Any]] = [{"id": "A", "title": "One", "inventory": 5}, {"id": "B"}]


@pytest.mark.parametrize(("form", "text"), [
    ("CSV", "id,title,inventory,brand\nA,One,5,\nB,,,\n"),
    ("CSV", "\ufeffid,title,inventory\r\nA,One,5\r\nB,,\r\n"),
    ("TSV", "id\ttitle\tinventory\nA\tOne\t5\nB\t\t\n"),
    ("XML", RSS),
])  # fmt: skip
def test_products_of_each_format(form: str, text: str) -> None:
    """What a row leaves empty is left out; only the number of pieces is a number."""
    assert PRODUCTS == read_products(text.encode(), form)


def test_quoted_cells_and_cells_beyond_the_columns() -> None:
    """A cell may contain the delimiter; those without a column are left out."""
    text = 'id,title\nA,"One, two"\nB,Two,extra\n'

    assert [{"id": "A", "title": "One, two"}, {"id": "B", "title": "Two"}] == read_products(
        text.encode(), "CSV"
    )


@pytest.mark.parametrize(("form", "content", "why"), [
    ("CSV", b"\xff\xfe", "not UTF-8"),
    ("CSV", b"sku,title\nA,One\n", "names no column id"),
    ("CSV", b"", "names no column id"),
    ("CSV", b'id,title\nA,"One\n', "after line 1"),
    ("XML", b"<rss>", "not XML"),
    ("XML", b'<!DOCTYPE a [<!ENTITY b "c">]><rss/>', "no document type"),
])  # fmt: skip
def test_files_that_cannot_be_read(form: str, content: bytes, why: str) -> None:
    """The reason is said in words."""
    with pytest.raises(ValueError, match=why):
        read_products(content, form)
