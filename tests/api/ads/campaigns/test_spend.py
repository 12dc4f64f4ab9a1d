"""Budgets that are used up as time passes, and what campaigns and instruments say about it."""

from __future__ import annotations

import pytest

from tests.api.ads.support import BASE, alter, load, make, put
from tests.support import Sandbox, data_of, refusal

pytestmark = pytest.mark.usefixtures("noon")
DAY = 86_400
TOTAL = "total_budget_amount_local_micro"
POST = "1712850617439551489"


def make_ad(box: Sandbox, funding: str, **budget: str) -> str:
    """The path of a campaign that serves from now on."""
    campaign = make(box, "campaigns", name="Short", funding_instrument_id=funding, **budget)["id"]
    line_item = make(box, "line_items", campaign_id=campaign, objective="ENGAGEMENTS",
                     product_type="PROMOTED_POSTS", placements="ALL_ON_PLATFORM")  # fmt: skip
    make(box, "promoted_posts", line_item_id=line_item["id"], post_ids=POST)
    return f"campaigns/{campaign}"


def make_instrument(box: Sandbox, kind: str, **amounts: str) -> str:
    """The id of a new funding instrument."""
    sent = {"currency": "USD", "start_time": "2026-11-01T00:00:00Z", "type": kind} | amounts
    return str(data_of(box.ask("POST", f"/sandbox{BASE}/funding_instruments", **sent))["id"])


def reasons(box: Sandbox, campaign: str) -> list[str]:
    """Why a campaign does not serve."""
    shown = load(box, campaign)
    assert shown["servable"] is not bool(shown["reasons_not_servable"])
    found: list[str] = shown["reasons_not_servable"]
    return found


def test_a_total_budget_is_used_up(box: Sandbox) -> None:
    """A campaign serves until it has spent its total, and again when that is raised."""
    campaign = make_ad(box, "lygyi", **{TOTAL: "30000000"})

    for days, found in ((0, []), (5, []), (95, ["BUDGET_EXHAUSTED"])):
        box.world.clock.advance(days * DAY)
        assert reasons(box, campaign) == found
    (listed,) = load(box, "campaigns", campaign_ids=campaign.rpartition("/")[2])
    assert listed["effective_status"] == "UNKNOWN"
    raised = alter(box, campaign, **{TOTAL: "60000000"})
    assert (raised["servable"], raised["effective_status"]) == (True, "RUNNING")


def test_a_total_cannot_be_less_than_what_was_spent(box: Sandbox) -> None:
    """A lower total is refused if more was spent, and accepted if not."""
    campaign = make_ad(box, "lygyi", **{TOTAL: "30000000"})
    box.world.clock.advance(10 * DAY)
    refused = put(box, campaign, **{TOTAL: "1"})
    assert refusal(refused) == (400, [("SPEND_EXCEEDS_BUDGET", TOTAL)])
    assert alter(box, campaign, **{TOTAL: "29000000"})[TOTAL] == 29000000


def test_credit_is_used_up(box: Sandbox) -> None:
    """What remains of a credit line falls to nothing; then it funds no more."""
    funding = make_instrument(box, "CREDIT_LINE", credit_limit_local_micro="40000000")
    campaign, shown = make_ad(box, funding), []
    for days in (0, 0.25, 100):
        box.world.clock.advance(days * DAY)
        shown.append(load(box, f"funding_instruments/{funding}"))
    first, second, third = (each["credit_remaining_local_micro"] for each in shown)

    assert 40000000 == first > second > third >= 0
    assert third < 400000
    assert shown[-1]["reasons_not_able_to_fund"] == ["BUDGET_EXHAUSTED"]
    assert reasons(box, campaign) == ["FUNDING_PROBLEM"]


def test_an_amount_that_very_many_line_items_share(box: Sandbox) -> None:
    """Nobody waits until the spending of more than fifty line items is added up."""
    campaign = make_ad(box, "lygyi", **{TOTAL: "30000000"})
    (first,) = box.world.store.page("line_items", {"campaign_id": campaign.rpartition("/")[2]})
    for number in range(50):
        copy = first.record | {"id": f"copy{number}", "deleted": number > 48}
        box.put("line_items", copy["id"], copy)
    box.world.clock.advance(100 * DAY)

    assert reasons(box, campaign) == []
    with box.world.work():
        box.world.store.remove("line_items", "copy0")
    assert reasons(box, campaign) == ["BUDGET_EXHAUSTED"]


def test_without_limits_nothing_is_used_up(box: Sandbox) -> None:
    """A campaign without a total, paid by a card without a limit, serves on."""
    campaign = make_ad(box, make_instrument(box, "CREDIT_CARD"))
    box.world.clock.advance(300 * DAY)

    assert reasons(box, campaign) == []


def test_a_day_that_is_used_up_is_no_reason(box: Sandbox) -> None:
    """A daily budget stops ads, but the campaign goes on."""
    campaign = make_ad(box, "lygyi", daily_budget_amount_local_micro="1000000")
    for _ in range(4):
        box.world.clock.advance(7 * 3600)
        assert reasons(box, campaign) == []
