"""Budgets that are used up as time passes, and what campaigns and instruments say about it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from tests.support import ACCOUNT, Sandbox, refusal

pytestmark = pytest.mark.usefixtures("noon")
BASE = f"/12/accounts/{ACCOUNT}"
TOTAL = "total_budget_amount_local_micro"
POST = "1712850617439551489"


def call(box: Sandbox, method: str, path: str, **params: str) -> Any:
    """The data of an answer."""
    response = box.call(method, path, query_string=params)
    assert response.status_code == 200, response.text
    return response.get_json()["data"]


def make_ad(box: Sandbox, funding: str, **budget: str) -> str:
    """The id of a campaign that serves from now on."""
    sent = {"name": "Short", "funding_instrument_id": funding} | budget
    campaign = call(box, "POST", f"{BASE}/campaigns", **sent)["id"]
    line_item = call(
        box,
        "POST",
        f"{BASE}/line_items",
        campaign_id=campaign,
        objective="ENGAGEMENTS",
        product_type="PROMOTED_POSTS",
        placements="ALL_ON_PLATFORM",
    )["id"]
    call(box, "POST", f"{BASE}/promoted_posts", line_item_id=line_item, post_ids=POST)
    return str(campaign)


def make_instrument(box: Sandbox, kind: str, **amounts: str) -> str:
    """The id of a new funding instrument."""
    sent = {"currency": "USD", "start_time": "2026-11-01T00:00:00Z", "type": kind} | amounts
    return str(call(box, "POST", f"/sandbox{BASE}/funding_instruments", **sent)["id"])


def reasons(box: Sandbox, campaign: str) -> list[str]:
    """Why a campaign does not serve."""
    shown = call(box, "GET", f"{BASE}/campaigns/{campaign}")
    assert shown["servable"] is not bool(shown["reasons_not_servable"])
    found: list[str] = shown["reasons_not_servable"]
    return found


def test_a_total_budget_is_used_up(box: Sandbox) -> None:
    """A campaign serves until it has spent its total, and again when that is raised."""
    campaign = make_ad(box, "lygyi", **{TOTAL: "30000000"})
    path = f"{BASE}/campaigns/{campaign}"

    assert reasons(box, campaign) == []
    box.world.clock.advance(timedelta(days=5).total_seconds())
    assert reasons(box, campaign) == []
    box.world.clock.advance(timedelta(days=95).total_seconds())
    assert reasons(box, campaign) == ["BUDGET_EXHAUSTED"]
    listed = call(box, "GET", f"{BASE}/campaigns", campaign_ids=campaign)
    assert listed[0]["effective_status"] == "UNKNOWN"

    raised = call(box, "PUT", path, **{TOTAL: "60000000"})
    assert (raised["servable"], raised["effective_status"]) == (True, "RUNNING")


def test_a_total_cannot_be_less_than_what_was_spent(box: Sandbox) -> None:
    """A lower total is refused if more was spent, and accepted if not."""
    campaign = make_ad(box, "lygyi", **{TOTAL: "30000000"})
    path = f"{BASE}/campaigns/{campaign}"
    box.world.clock.advance(timedelta(days=10).total_seconds())

    refused = box.call("PUT", path, query_string={TOTAL: "1"})

    assert refusal(refused) == (400, [("SPEND_EXCEEDS_BUDGET", TOTAL)])
    assert call(box, "PUT", path, **{TOTAL: "29000000"})[TOTAL] == 29000000


def test_credit_is_used_up(box: Sandbox) -> None:
    """What remains of a credit line falls to nothing; then it funds no more."""
    funding = make_instrument(box, "CREDIT_LINE", credit_limit_local_micro="40000000")
    campaign = make_ad(box, funding)
    path = f"{BASE}/funding_instruments/{funding}"

    remaining = []
    for days in (0, 0.25, 100):
        box.world.clock.advance(timedelta(days=days).total_seconds())
        remaining.append(call(box, "GET", path)["credit_remaining_local_micro"])

    assert remaining[0] == 40000000
    assert remaining[0] > remaining[1] > remaining[2] >= 0
    assert remaining[2] < 400000
    assert call(box, "GET", path)["reasons_not_able_to_fund"] == ["BUDGET_EXHAUSTED"]
    assert reasons(box, campaign) == ["FUNDING_PROBLEM"]


def test_an_amount_that_very_many_line_items_share(box: Sandbox) -> None:
    """Nobody waits until the spending of more than fifty line items is added up."""
    campaign = make_ad(box, "lygyi", **{TOTAL: "30000000"})
    (first,) = box.world.store.page("line_items", {"campaign_id": campaign})
    for number in range(50):
        copy = first.record | {"id": f"copy{number}", "deleted": number > 48}
        box.put("line_items", copy["id"], copy)
    box.world.clock.advance(timedelta(days=100).total_seconds())

    assert reasons(box, campaign) == []
    with box.world.work():
        box.world.store.remove("line_items", "copy0")
    assert reasons(box, campaign) == ["BUDGET_EXHAUSTED"]


def test_without_limits_nothing_is_used_up(box: Sandbox) -> None:
    """A campaign without a total, paid by a card without a limit, serves on."""
    campaign = make_ad(box, make_instrument(box, "CREDIT_CARD"))
    box.world.clock.advance(timedelta(days=300).total_seconds())

    assert reasons(box, campaign) == []


def test_a_day_that_is_used_up_is_no_reason(box: Sandbox) -> None:
    """A daily budget stops ads, but the campaign goes on."""
    campaign = make_ad(box, "lygyi", daily_budget_amount_local_micro="1000000")
    for _ in range(4):
        box.world.clock.advance(timedelta(hours=7).total_seconds())

        assert reasons(box, campaign) == []
