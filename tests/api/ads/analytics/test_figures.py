"""Figures of ads: sums, the past, and budgets."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest

from mock_platform.api.ads.analytics.figures import CHARGE, Series, measure
from mock_platform.api.ads.analytics.queries import METRIC_GROUPS
from mock_platform.api.ads.analytics.versions import BY_HOUR, to_seconds
from mock_platform.world.clock import wire_seconds
from tests.support import ACCOUNT, Sandbox, sandbox

NOW = datetime(2026, 11, 20, 8, tzinfo=UTC)
"""Midnight in Los Angeles, where the account is."""
DAY = timedelta(days=1)
FUNDING, CAMPAIGN, ITEM, POST = "test-funding", "test-campaign", "test-item", "test-post"
NAMES = [name for group in ("ENGAGEMENT", "BILLING", "VIDEO") for name in METRIC_GROUPS[group]]
MILLION = 1_000_000


@pytest.fixture
def shop(box: Sandbox) -> Sandbox:
    """A sandbox with one campaign of its own, eighteen days old (no clock changed since)."""
    box.world.clock.freeze(NOW)
    created = {"created_at": wire_seconds(NOW - 18 * DAY), "updated_at": wire_seconds(NOW - DAY)}
    own: dict[str, Any] = {**created, "deleted": False, "_account_id": ACCOUNT}
    for table, key, like in (
        ("funding_instruments", FUNDING, "lygyi"),
        ("campaigns", CAMPAIGN, "8wku2"),
        ("line_items", ITEM, "itttx"),
        ("promoted_posts", POST, "1efwlo"),
    ):
        box.put(table, key, box.record(table, like) | own | {"id": key})
    box.change("campaigns", CAMPAIGN, funding_instrument_id=FUNDING, start_time=None,
               end_time=None, total_budget_amount_local_micro=None)  # fmt: skip
    box.change("line_items", ITEM, campaign_id=CAMPAIGN, start_time=None, end_time=None)
    box.change("line_items", ITEM, daily_budget_amount_local_micro=None,
               total_budget_amount_local_micro=None)  # fmt: skip
    box.change("promoted_posts", POST, line_item_id=ITEM)
    return box


def add(box: Sandbox, table: str, key: str, like: str, **fields: Any) -> None:
    """One more record, like another one."""
    box.put(table, key, box.record(table, like) | {"id": key} | fields)


def edges(start: datetime, end: datetime, hours: int = 24) -> list[int]:
    """The ends of buckets of so many hours."""
    return list(range(to_seconds(start), to_seconds(end) + 1, hours * 3600))


def figures(box: Sandbox, entity: str, key: str, ends: list[int]) -> Series:
    """All metrics of an entity."""
    with box.world.work():
        return measure(box.world, entity, key, ends, NAMES)


def charges(box: Sandbox, entity: str, key: str, days: int = 18) -> list[int]:
    """What an entity spent on each of the last days."""
    ends = edges(NOW - days * DAY, NOW)
    return figures(box, entity, key, ends).get(CHARGE, [0] * days)


def note(box: Sandbox, entity: str, key: str, at: datetime, **changes: tuple[Any, Any]) -> None:
    """Change a record, as the account's history says."""
    table = {"CAMPAIGN": "campaigns", "LINE_ITEM": "line_items"}[entity]
    box.change(table, key, **{name: after for name, (_, after) in changes.items()})
    entry = {
        "change_by": {"user_id": "2244994945", "platform": "API_OTHER"},
        "changes": {n: {"before": b, "after": a} for n, (b, a) in changes.items()},
        "change_time": wire_seconds(at), "change_type": "UPDATE", "entity": entity,
        "entity_id": key, "entity_data": {}, "_id": f"note-{entity}-{key}-{at}",
        "_account_id": ACCOUNT,
    }  # fmt: skip
    box.put("account_history", f"note-{entity}-{key}-{at}", entry)


class TestSums:
    """Parts add up to what they are parts of."""

    def test_hours_add_up_to_days_and_days_to_the_whole(self, shop: Sandbox) -> None:
        """Every metric, exactly."""
        start, end = NOW - 5 * DAY, NOW
        hourly = figures(shop, "LINE_ITEM", ITEM, edges(start, end, 1))
        daily = figures(shop, "LINE_ITEM", ITEM, edges(start, end))
        whole = figures(shop, "LINE_ITEM", ITEM, edges(start, end, 5 * 24))

        assert {"impressions", "url_clicks", "likes", CHARGE} <= {*hourly} == {*daily} == {*whole}
        for name, values in hourly.items():
            days = [sum(values[n : n + 24]) for n in range(0, len(values), 24)]
            assert days == daily[name]
            assert [sum(days)] == whole[name]

    def test_children_add_up_to_their_parents(self, shop: Sandbox) -> None:
        """Posts to line item, line items to campaign, campaigns to funding and account."""
        add(shop, "promoted_posts", "second-post", POST)
        add(shop, "line_items", "second-item", ITEM, objective="VIDEO_VIEWS", goal="VIDEO_VIEW",
            pay_by="VIEW", placements=["ALL_ON_PLATFORM", "PUBLISHER_NETWORK"])  # fmt: skip
        add(shop, "promoted_posts", "third-post", POST, line_item_id="second-item")
        ends = edges(NOW - 3 * DAY, NOW, 1)

        def find(entity: str, *keys: str) -> Series:
            found: Series = {}
            for key in keys:
                for name, values in figures(shop, entity, key, ends).items():
                    before = found.get(name, [0] * len(values))
                    found[name] = [a + b for a, b in zip(before, values, strict=True)]
            return found

        campaign = find("CAMPAIGN", CAMPAIGN)
        campaigns = [e.key for e in shop.world.store.page("campaigns", {"_account_id": ACCOUNT})]
        assert campaign["video_total_views"]
        assert find("PROMOTED_POST", POST, "second-post") == find("LINE_ITEM", ITEM)
        assert find("LINE_ITEM", ITEM, "second-item") == campaign
        assert find("FUNDING_INSTRUMENT", FUNDING) == campaign
        assert find("ACCOUNT", ACCOUNT) == find("CAMPAIGN", *campaigns)

    def test_placements_add_up(self, shop: Sandbox) -> None:
        """What is shown in the network and on the platform is all that is shown."""
        shop.change("line_items", ITEM, placements=["ALL_ON_PLATFORM", "PUBLISHER_NETWORK"])
        ends = edges(NOW - 2 * DAY, NOW)

        def count(placement: str | None) -> list[int]:
            with shop.world.work():
                found = measure(shop.world, "LINE_ITEM", ITEM, ends, ["impressions"], placement)
            return found["impressions"]

        on_platform, network = count("ALL_ON_PLATFORM"), count("PUBLISHER_NETWORK")
        assert [a + b for a, b in zip(on_platform, network, strict=True)] == count(None)
        assert on_platform > network

    def test_a_part_never_exceeds_its_whole(self, shop: Sandbox) -> None:
        """In no hour are there more clicks than engagements, or engagements than impressions."""
        found = figures(shop, "LINE_ITEM", ITEM, edges(NOW - 7 * DAY, NOW, 1))
        order = ("impressions", "engagements", "clicks", "url_clicks")

        for whole, part in pairwise(order):
            assert all(a >= b for a, b in zip(found[whole], found[part], strict=True))
        kinds = ("clicks", "likes", "reposts", "replies", "follows")
        both = [sum(counts) for counts in zip(*(found[name] for name in kinds), strict=True)]
        assert all(a >= b for a, b in zip(found["engagements"], both, strict=True))

    def test_hours_are_as_busy_as_those_of_the_insights(self, shop: Sandbox) -> None:
        """The busiest and the quietest hours are those of the shared rhythm."""
        found = figures(shop, "LINE_ITEM", ITEM, edges(NOW - 7 * DAY, NOW, 1))["impressions"]
        by_hour = [sum(found[n::24]) for n in range(24)]
        rhythm = [*BY_HOUR[NOW.hour :], *BY_HOUR[: NOW.hour]]
        share = [count / volume for count, volume in zip(by_hour, rhythm, strict=True)]
        assert max(share) / min(share) < 2

    def test_the_seed_decides(self) -> None:
        """Two worlds with the same seed agree, another seed leads to other figures."""
        boxes = [sandbox(seed=seed) for seed in (1, 1, 2)]
        ends = edges(NOW - 2 * DAY, NOW)
        for box in boxes:
            box.world.clock.freeze(NOW)
        first, same, other = (figures(box, "LINE_ITEM", "itttx", ends) for box in boxes)

        assert first == same
        assert first["impressions"] != other["impressions"]


class TestPast:
    """Nothing is shown where nothing could be, and the past stays as it was."""

    def test_nothing_before_the_creation_and_after_now(self, shop: Sandbox) -> None:
        """The hours of the line item's life have figures, no others."""
        shop.change("line_items", ITEM, created_at=wire_seconds(NOW - 2 * DAY))
        ends = edges(NOW - 4 * DAY, NOW + DAY)
        impressions = figures(shop, "LINE_ITEM", ITEM, ends)["impressions"]
        assert [count > 0 for count in impressions] == [False, False, True, True, False]

    def test_the_running_hour_counts_as_far_as_it_is(self, shop: Sandbox) -> None:
        """Figures of an hour grow until it is over."""
        ends = edges(NOW, NOW + timedelta(hours=1), 1)
        seen = []
        for minutes in (0, 20, 40, 60, 90):
            shop.world.clock.freeze(NOW + timedelta(minutes=minutes))
            seen.append(sum(figures(shop, "LINE_ITEM", ITEM, ends).get("impressions", [0])))

        assert seen[0] == 0
        assert seen == sorted(seen)
        assert seen[1] < seen[2] < seen[3] == seen[4]

    @pytest.mark.parametrize(("table", "key", "fields"), [
        ("line_items", ITEM, {"entity_status": "PAUSED"}),
        ("line_items", ITEM, {"entity_status": "DRAFT"}),
        ("campaigns", CAMPAIGN, {"entity_status": "PAUSED"}),
        ("campaigns", CAMPAIGN, {"servable": False}),
        ("promoted_posts", POST, {"approval_status": "UNDER_REVIEW"}),
        ("promoted_posts", POST, {"line_item_id": "iu0p9"}),
        ("funding_instruments", FUNDING, {"end_time": wire_seconds(NOW - 10 * DAY)}),
        ("funding_instruments", FUNDING, {"able_to_fund": False}),
        ("accounts", ACCOUNT, {"approval_status": "REJECTED"}),
        ("line_items", ITEM, {"start_time": wire_seconds(NOW + DAY)}),
        ("line_items", ITEM, {"end_time": wire_seconds(NOW - 7 * DAY)}),
        ("campaigns", CAMPAIGN, {"total_budget_amount_local_micro": 0}),
    ])  # fmt: skip
    def test_nothing_while_it_cannot_serve(
        self, shop: Sandbox, table: str, key: str, fields: dict[str, Any]
    ) -> None:
        """Whatever of what the ad depends on prevents it; a budget of nothing does."""
        shop.change(table, key, **fields)

        assert figures(shop, "LINE_ITEM", ITEM, edges(NOW - 7 * DAY, NOW)) == {}

    def test_a_pause_ends_the_figures_and_does_not_change_those_before(self, shop: Sandbox) -> None:
        """The day before the pause stays as it was."""
        before = charges(shop, "LINE_ITEM", ITEM)
        note(shop, "LINE_ITEM", ITEM, NOW - 2 * DAY, entity_status=("ACTIVE", "PAUSED"))

        assert charges(shop, "LINE_ITEM", ITEM) == [*before[:-2], 0, 0]

    def test_a_deleted_line_item_keeps_its_past(self, shop: Sandbox) -> None:
        """It was deleted when it was updated last, if the history says nothing."""
        before = charges(shop, "LINE_ITEM", ITEM)
        shop.change("line_items", ITEM, deleted=True)

        assert charges(shop, "LINE_ITEM", ITEM) == [*before[:-1], 0]

    def test_another_budget_does_not_change_the_past(self, shop: Sandbox) -> None:
        """From the change on there is more, before it as much as there was."""
        shop.change("line_items", ITEM, daily_budget_amount_local_micro=20 * MILLION)
        before = charges(shop, "LINE_ITEM", ITEM)
        change = (20 * MILLION, 200 * MILLION)
        at = NOW - 3 * DAY
        note(shop, "LINE_ITEM", ITEM, at, daily_budget_amount_local_micro=change)
        after = charges(shop, "LINE_ITEM", ITEM)
        assert after[:-3] == before[:-3]
        assert all(new > 4 * old for new, old in zip(after[-3:], before[-3:], strict=True))


class TestBudgets:
    """No budget is overspent, and one that is used up ends the figures."""

    @pytest.fixture
    def shop(self, shop: Sandbox) -> Sandbox:
        """Four posts would spend more than forty millions on a day."""
        for number in range(3):
            add(shop, "promoted_posts", f"more-{number}", POST)
        shop.change("line_items", ITEM, daily_budget_amount_local_micro=40 * MILLION)
        return shop

    @pytest.mark.parametrize("table", ["line_items", "campaigns"])
    def test_daily_budgets(self, shop: Sandbox, table: str) -> None:
        """The posts are shown until the budget is gone."""
        shop.change("line_items", ITEM, daily_budget_amount_local_micro=None)
        key = {"line_items": ITEM, "campaigns": CAMPAIGN}[table]
        shop.change(table, key, daily_budget_amount_local_micro=40 * MILLION)
        spent = charges(shop, "CAMPAIGN", CAMPAIGN)
        hours = figures(shop, "CAMPAIGN", CAMPAIGN, edges(NOW - DAY, NOW, 1))[CHARGE]

        assert max(spent) <= 40 * MILLION
        assert min(spent[1:]) > 39 * MILLION
        assert hours[0] > 0 == hours[-1]

    def test_a_day_begins_at_midnight_of_the_account(self, shop: Sandbox) -> None:
        """Where it is another day, another budget of a day is used."""
        shop.change("accounts", ACCOUNT, timezone="Europe/Berlin")
        hours = figures(shop, "LINE_ITEM", ITEM, edges(NOW - DAY, NOW, 1))[CHARGE]
        berlin = 15  # 23:00 UTC

        assert hours[berlin - 1] == 0 < hours[berlin]

    @pytest.mark.parametrize(("table", "key", "name", "more"), [
        ("line_items", ITEM, "total_budget_amount_local_micro", {}),
        ("campaigns", CAMPAIGN, "total_budget_amount_local_micro", {}),
        ("funding_instruments", FUNDING, "credit_limit_local_micro", {}),
        ("funding_instruments", FUNDING, "funded_amount_local_micro", {"type": "INSERTION_ORDER"}),
    ])  # fmt: skip
    def test_total_budgets(
        self, shop: Sandbox, table: str, key: str, name: str, more: dict[str, str]
    ) -> None:
        """The whole life of a campaign costs no more, and ends when it is spent."""
        shop.change(table, key, **{name: 90 * MILLION}, **more)
        spent = charges(shop, "CAMPAIGN", CAMPAIGN)

        assert 89 * MILLION < sum(spent) <= 90 * MILLION
        assert spent[5:] == [0] * 13
        assert figures(shop, "CAMPAIGN", CAMPAIGN, edges(NOW - 12 * DAY, NOW)) == {}

    def test_a_campaign_whose_records_are_incomplete(self, shop: Sandbox) -> None:
        """A line item without its campaign, or without its funding instrument, has no figures."""
        for table, key in (("funding_instruments", FUNDING), ("campaigns", CAMPAIGN)):
            with shop.world.work():
                shop.world.store.remove(table, key)
            assert figures(shop, "LINE_ITEM", ITEM, edges(NOW - DAY, NOW)) == {}


@pytest.mark.parametrize("strategy", ["AUTO", "MAX"])
@pytest.mark.parametrize(("objective", "pay_by", "goal", "unit"), [
    ("REACH", "IMPRESSION", "MAX_REACH", "impressions"),
    ("FOLLOWERS", "FOLLOW", "FOLLOWERS", "follows"),
    ("WEBSITE_CLICKS", "LINK_CLICK", "LINK_CLICKS", "url_clicks"),
    ("APP_ENGAGEMENTS", "APP_CLICK", "APP_CLICKS", "app_clicks"),
    ("ENGAGEMENTS", "ENGAGEMENT", "ENGAGEMENT", "engagements"),
    ("VIDEO_VIEWS", "VIEW", "VIEW_6S", "video_6s_views"),
    ("PREROLL_VIEWS", "VIEW", "PREROLL", "video_total_views"),
])  # fmt: skip
def test_what_is_paid_for(
    shop: Sandbox, objective: str, pay_by: str, goal: str, unit: str, strategy: str
) -> None:
    """The billed engagements are those of the goal; no unit costs more than the bid."""
    bid = None if strategy == "AUTO" else 3 * MILLION
    shop.change("line_items", ITEM, objective=objective, pay_by=pay_by, goal=goal,
                bid_strategy=strategy, bid_amount_local_micro=bid)  # fmt: skip
    found = figures(shop, "LINE_ITEM", ITEM, edges(NOW - 7 * DAY, NOW))
    units = 1000 if unit == "impressions" else 1

    assert found["billed_engagements"] == found[unit]
    assert sum(found[CHARGE]) > 20 * MILLION
    for charge, count in zip(found[CHARGE], found[unit], strict=True):
        assert bid is None or charge <= bid * count / units
