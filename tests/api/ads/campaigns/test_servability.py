"""Whether campaigns serve and funding instruments fund, each reason by itself and in order."""

from __future__ import annotations

from typing import Any

import pytest

from mock_platform.api.ads.campaigns.servability import (
    complete_campaign,
    complete_funding_instrument,
    is_line_item_servable,
)
from tests.support import ACCOUNT, Sandbox

pytestmark = pytest.mark.usefixtures("noon")
NOON, LATER = "2026-11-20T12:00:00Z", "2026-11-20T12:00:01Z"
CAMPAIGN, CHILDREN = "8wku2", ("itttx", "iu0p9")
REASONS = "reasons_not_servable"


@pytest.fixture(autouse=True)
def _two_line_items(box: Sandbox) -> None:
    """The campaign has a second line item."""
    box.change("line_items", CHILDREN[1], campaign_id=CAMPAIGN)


def campaign(box: Sandbox) -> tuple[str, Any, list[str]]:
    """The three computed fields of the campaign that serves."""
    found = complete_campaign(box.world, box.record("campaigns", CAMPAIGN))
    return found["effective_status"], found["servable"], found[REASONS]


def test_a_campaign_that_serves(box: Sandbox) -> None:
    """It is active, funded, within its times, and has something to show."""
    assert campaign(box) == ("RUNNING", True, [])


@pytest.mark.parametrize(("table", "keys", "change", "status", "reason"), [
    ("campaigns", [CAMPAIGN], {"entity_status": "PAUSED"}, "PAUSED", "PAUSED_BY_ADVERTISER"),
    ("campaigns", [CAMPAIGN], {"entity_status": "DRAFT"}, "PAUSED", "PAUSED_BY_ADVERTISER"),
    ("campaigns", [CAMPAIGN], {"deleted": True}, "UNKNOWN", "DELETED"),
    ("line_items", CHILDREN, {"deleted": True}, "UNKNOWN", "INCOMPLETE"),
    ("line_items", CHILDREN, {"end_time": NOON}, "UNKNOWN", "EXPIRED"),
    ("line_items", CHILDREN, {"start_time": LATER}, "UNKNOWN", "STARTS_IN_FUTURE"),
    ("funding_instruments", ["m2k8s"], {"deleted": True}, "UNKNOWN", "FUNDING_PROBLEM"),
    ("funding_instruments", ["m2k8s"], {"end_time": NOON}, "UNKNOWN", "FUNDING_PROBLEM"),
    *(("accounts", [ACCOUNT], {"approval_status": status}, "UNKNOWN", f"ACCOUNT_{status}")
      for status in ("UNDER_REVIEW", "REJECTED")),
])  # fmt: skip
def test_each_reason(
    box: Sandbox, table: str, keys: list[str], change: dict[str, Any], status: str, reason: str
) -> None:
    """Each condition by itself is the only reason."""
    for key in keys:
        box.change(table, key, **change)

    assert campaign(box) == (status, False, [reason])


@pytest.mark.parametrize(
    "change", [{"end_time": LATER}, {"end_time": None}, {"start_time": NOON}, {"start_time": None}]
)
def test_just_inside_the_times(box: Sandbox, change: dict[str, Any]) -> None:
    """A line item serves from its start on, and until just before its end."""
    for key in CHILDREN:
        box.change("line_items", key, **change)

    assert campaign(box)[1] is True


def test_one_line_item_within_its_times_is_enough(box: Sandbox) -> None:
    """A campaign ended when all of its line items did, and starts with the first."""
    box.change("line_items", "itttx", end_time=NOON)
    assert campaign(box)[1] is True

    box.change("line_items", "iu0p9", start_time=LATER)
    assert campaign(box)[1] is True


def test_without_creatives(box: Sandbox) -> None:
    """Line items without anything to show leave a campaign incomplete."""
    for key in ("1efwlo", "1efx0t"):
        box.change("promoted_posts", key, deleted=True)
    assert campaign(box)[1] is True  # the other line item has one

    for key in ("1efx5k", "1efx7n"):
        box.change("promoted_posts", key, deleted=True)
    assert campaign(box) == ("UNKNOWN", False, ["INCOMPLETE"])


def test_the_only_creative_belongs_to_the_last_of_many(box: Sandbox) -> None:
    """All line items are looked through."""
    for key in ("1efwlo", "1efx0t", "1efx5k", "1efx7n"):
        box.change("promoted_posts", key, deleted=True)
    for number in range(120):
        copy = box.record("line_items", "itttx") | {"id": f"l{number}"}
        box.put("line_items", copy["id"], copy)
    post = box.record("promoted_posts", "1efwlo") | {"line_item_id": "l119", "deleted": False}
    box.put("promoted_posts", "p", post | {"id": "p"})

    assert campaign(box)[1] is True


def test_reasons_have_an_order(box: Sandbox) -> None:
    """Several reasons come in the order of the public samples."""
    box.change("campaigns", CAMPAIGN, entity_status="PAUSED")
    box.change("funding_instruments", "m2k8s", end_time=NOON)
    for key in CHILDREN:
        box.change("line_items", key, end_time=NOON)
    assert campaign(box)[2] == ["EXPIRED", "PAUSED_BY_ADVERTISER", "FUNDING_PROBLEM"]

    for key in CHILDREN:
        box.change("line_items", key, deleted=True)
    box.change("funding_instruments", "m2k8s", end_time=LATER)
    assert campaign(box) == ("UNKNOWN", False, ["PAUSED_BY_ADVERTISER", "INCOMPLETE"])


@pytest.mark.parametrize(("stored", "expected"), [
    ({"servable": False}, ("UNKNOWN", False, [])),
    ({"servable": None}, ("UNKNOWN", None, [])),
    ({"effective_status": "ACTIVE"}, ("ACTIVE", True, [])),
    ({REASONS: ["BUDGET_EXHAUSTED"]}, ("UNKNOWN", False, ["BUDGET_EXHAUSTED"])),
])  # fmt: skip
def test_stored_values_win(box: Sandbox, stored: Any, expected: tuple[str, Any, Any]) -> None:
    """A test can have states that do not follow from anything."""
    box.change("campaigns", CAMPAIGN, **stored)

    assert campaign(box) == expected


@pytest.mark.parametrize(("change", "reasons"), [
    ({}, []),
    ({"deleted": True}, ["DELETED"]),
    ({"end_time": NOON}, ["EXPIRED"]),
    ({"end_time": LATER}, []),
    ({"start_time": LATER, "end_time": None}, ["STARTS_IN_FUTURE"]),
    ({"start_time": NOON}, []),
    ({"entity_status": "PAUSED"}, ["PAUSED"]),
    ({"reasons_not_able_to_fund": ["CREDIT_CARD_REJECTED"]}, ["CREDIT_CARD_REJECTED"]),
])  # fmt: skip
def test_reasons_of_funding_instruments(box: Sandbox, change: Any, reasons: list[str]) -> None:
    """An instrument funds unless there is a reason."""
    box.change("funding_instruments", "m2k8s", **change)
    shown = complete_funding_instrument(box.world, box.record("funding_instruments", "m2k8s"))

    assert shown["reasons_not_able_to_fund"] == reasons
    assert shown["able_to_fund"] is not bool(reasons)


@pytest.mark.parametrize(("kind", "remaining"), [
    ("CREDIT_LINE", 7), ("AGENCY_CREDIT_LINE", 7), ("CREDIT_CARD", None), ("PARTNER_MANAGED", None),
])  # fmt: skip
def test_credit_that_remains(box: Sandbox, kind: str, remaining: int | None) -> None:
    """Credit lines show what remains of their limit."""
    box.change("funding_instruments", "m2k8s", type=kind, credit_limit_local_micro=7)
    shown = complete_funding_instrument(box.world, box.record("funding_instruments", "m2k8s"))

    assert shown["credit_remaining_local_micro"] == remaining


@pytest.mark.parametrize(("table", "key", "change", "expected"), [
    ("line_items", "itttx", {}, True),
    ("line_items", "itttx", {"entity_status": "PAUSED"}, False),
    ("line_items", "itttx", {"deleted": True}, False),
    ("line_items", "itttx", {"start_time": LATER}, False),
    ("line_items", "itttx", {"end_time": NOON}, False),
    ("campaigns", CAMPAIGN, {"entity_status": "PAUSED"}, False),
    ("campaigns", CAMPAIGN, {"servable": False}, False),
    ("campaigns", CAMPAIGN, {"servable": None}, False),
])  # fmt: skip
def test_line_items(box: Sandbox, table: str, key: str, change: Any, expected: bool) -> None:
    """A line item serves if it may, and while its campaign does."""
    box.change(table, key, **change)
    line_item, parent = box.record("line_items", "itttx"), box.record("campaigns", CAMPAIGN)

    assert is_line_item_servable(box.world, line_item, parent) is expected
