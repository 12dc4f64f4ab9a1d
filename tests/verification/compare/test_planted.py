"""A sandbox patched in twenty ways: all are found, and nothing that is not there."""

from __future__ import annotations

from typing import Any

import pytest
from werkzeug import Request, Response

from mock_platform.core.operation import Origin
from mock_platform.verification.compare.findings import make_report
from mock_platform.verification.compare.plan import list_reads, list_unasked
from tests.verification.compare.servers import (
    Comparison,
    Differing,
    Patch,
    asking,
    each,
    on,
    set_header,
)

pytestmark = pytest.mark.live


def status(asked: Request, response: Response) -> None:
    """Another status."""
    if asked.path.endswith("/placements") and response.status_code == 200:
        response.status_code = 203


def no_rate_header(asked: Request, response: Response) -> None:
    """No rate limit."""
    for name in ("limit", "remaining", "reset"):
        response.headers.pop(f"x-rate-limit-{name}", None)


def drop_last(body: Any) -> None:
    """Pages have one record less than was asked for."""
    del body["data"][-1:]


def repeat_last(body: Any) -> None:
    """The second page begins with the last record of the first one."""
    body["data"][:0] = body["data"][-1:]


def unsort(body: Any) -> None:
    """The records are ordered by their ids."""
    body["data"].sort(key=lambda record: record["id"])


def add_another(body: Any) -> None:
    """A record that was not asked for is listed as well."""
    body["data"].append({**body["data"][0], "id": "zz1"})


def recode(body: Any) -> None:
    """Another error code."""
    for error in body["errors"]:
        error["code"] = "BAD_" + str(error["code"])


def reword(body: Any) -> None:
    """Another message."""
    for error in body["errors"]:
        error["message"] += "!"


def keep_cursor(body: Any) -> None:
    """A page with all records that names a next one."""
    if "total_count" in body:
        body["next_cursor"] = body["next_cursor"] or "abc"


def set_all(**fields: Any) -> Any:
    """Sets fields of each record."""
    return each(lambda record: record.update(fields))


def millis(record: dict[str, Any]) -> None:
    """Moments with milliseconds."""
    for name in ("created_at", "updated_at"):
        record[name] = record[name].replace("Z", ".000Z")


Row = tuple[str, Patch, str, str]
VERSION, LIMIT = "x-current-api-version", "x-rate-limit-limit"
LINE_ITEMS: list[Row] = [
    ("missing key", on("/line_items", each(lambda r: r.pop("name"))), "missing", "data[].name"),
    ("extra key", on("/line_items", set_all(title="x")), "extra", "data[].title"),
    ("type", on("/line_items", set_all(deleted="no")), "type", "data[].deleted"),
    ("enum", on("/line_items", set_all(entity_status="RUNNING")), "enum", "data[].entity_status"),
    ("order", on("/line_items", lambda b: b["data"].reverse()), "order", "data[]"),
    ("error code", on("*", recode, 400), "code", "errors[].code"),
    ("error body", on("*", lambda b: b.update(ok=False), 400), "extra", "ok"),
    ("message", on("*", reword, 403), "wording", "errors[].message"),
    ("rate header", set_header("*", LIMIT, "15"), "rate", LIMIT),
    ("no rate header", no_rate_header, "rate", "x-rate-limit-remaining"),
    ("page size", asking("count", drop_last), "paging", "data[]"),
    ("pages", asking("cursor", repeat_last), "paging", "data[]"),
    ("sort_by", asking("sort_by", unsort), "order", "data[].created_at"),
    ("filter", asking("line_item_ids", add_another), "filter", "data[].id"),
    ("next_cursor", on("/line_items", lambda b: b.update(next_cursor="")), "empty", "next_cursor"),
    ("one of two faults", on("/line_items", lambda b: b.update(errors=b["errors"][:1]), 400),
     "value", "errors[]"),
]  # fmt: skip
CAMPAIGNS: list[Row] = [
    ("error code of an unknown id", on("/campaigns/zzzzzz", recode, 404), "code", "errors[].code"),
    ("missing header", set_header("/campaigns", VERSION, None), "header", VERSION),
    ("id", on("/campaigns", each(lambda r: r.update(id="C_" + r["id"]))), "format", "data[].id"),
    ("moment", on("/campaigns", each(millis)), "format", "data[].created_at"),
    ("echo of values", on("/campaigns", lambda b: b["request"]["params"].update(count=3)),
     "value", "request.params.count"),
    ("cursor of the last page", on("/campaigns", keep_cursor), "paging", "next_cursor"),
    ("echo", on("/campaigns", lambda b: b.update(request={"params": {}})), "missing",
     "request.params.account_id"),
]  # fmt: skip
PLACEMENTS: list[Row] = [
    ("status", status, "status", "status"),
    ("media type", set_header("/placements", "Content-Type", "text/plain"), "media type",
     "content-type"),
    ("charset", set_header("/placements", "Content-Type", "application/json; charset=latin-1"),
     "media type", "charset"),
]  # fmt: skip
PLANTED = {"line_items.list": LINE_ITEMS, "campaigns.*": CAMPAIGNS, "placements.*": PLACEMENTS}
"""Differences by the operations in which they are looked for."""


@pytest.mark.parametrize(
    ("only", "patch", "kind", "where"),
    [pytest.param(only, *row, id=name) for only in PLANTED for name, *row in PLANTED[only]],
)
def test_planted(
    comparison: Comparison, second: Differing, only: str, patch: Patch, kind: str, where: str
) -> None:
    """Each planted difference is found where it is."""
    second.patches.append(patch)

    report = make_report(comparison.run(second, only), "x", comparison.platform.assumptions())

    found = [(each.kind, place) for each in report.findings for place in each.places]
    assert (kind, where) in found, found


def test_equal(comparison: Comparison, second: Differing) -> None:
    """Two equal sandboxes differ in nothing, and every operation that reads is asked."""
    drift = comparison.run_over_http(second.url, kinds=("plain", "pages", "methods"))

    assert [] == make_report(drift, second.url, {}).findings
    operations = comparison.platform.operations
    asked = {x.operation for x in drift.checked if "plain" in {each.probe for each in x.probes}}
    # The id of one is in a field of messages that has to be asked for, those of others are in none,
    # or only those of records of the caller are answered.
    left_out = {"dm_conversations.list", "scheduled_broadcasts.get"}
    left_out |= {"spaces.buyers", "analytics.posts", "older.statuses.reposts"}
    left_out |= {"older.statuses.reposters.ids", "older.geo.id"}
    left_out |= {"older.geo.reverse_geocode", "older.trends.closest"}  # which need a position
    assert {each.id for each in list_reads(operations)} - left_out == asked
    assert asked > {
        each.id
        for each in operations
        if each.origin is Origin.DOCUMENT_B and each.method == "GET" and not each.sandbox_only
    }
    endless = {each.operation for each in list_unasked(operations)}
    assert left_out | endless == {each.operation for each in drift.skipped}
    assert {"GET", "PATCH"} == {method for method, _ in second.asked}
