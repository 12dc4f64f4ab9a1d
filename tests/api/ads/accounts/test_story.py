"""The shipped account is one business: records, history, audiences and figures agree.

The tests walk the three months of autumn in which its holiday campaign runs.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from mock_platform.api.ads.analytics.figures import CHARGE, Series, measure
from mock_platform.api.ads.analytics.ledger import CREATIVES, PARENTS, TABLE_OF
from mock_platform.api.ads.analytics.queries import NUMBERS
from mock_platform.api.ads.analytics.versions import DAY_SECONDS, read_seconds, to_seconds
from mock_platform.world.store.interface import Record
from tests.api.ads.support import load
from tests.support import ACCOUNT, Sandbox

NOW = datetime(2026, 11, 22, 8, tzinfo=UTC)
START = datetime(2026, 8, 24, 7, tzinfo=UTC)
"""Ninety days before, at midnight of the account."""
DAYS = [to_seconds(START + timedelta(days=day)) for day in range(91)]
DAILY, TOTAL = "daily_budget_amount_local_micro", "total_budget_amount_local_micro"
HOLIDAY, BRAND, CLICKS, REACH = "8wku2", "8x3fz", "itttx", "iu0p9"
CHILDREN = {
    "ACCOUNT": [("CAMPAIGN", "_account_id")],
    "FUNDING_INSTRUMENT": [("CAMPAIGN", "funding_instrument_id")],
    "CAMPAIGN": [("LINE_ITEM", "campaign_id")],
    "LINE_ITEM": [(entity, "line_item_id") for entity in CREATIVES],
}
SETTINGS = {"freeze": NOW}


def every(box: Sandbox, entity: str, **match: str) -> list[Record]:
    """The entities of the account."""
    found = box.world.store.page(TABLE_OF[entity], match)
    return [e.record for e in found if e.record.get("_account_id", ACCOUNT) == ACCOUNT]


def ask(box: Sandbox, entity: str, key: str, edges: list[int] | None = None) -> Series:
    """All metrics of an entity, on each day of the three months."""
    with box.world.work():
        return measure(box.world, entity, key, edges or DAYS, NUMBERS)


def measure_spend(box: Sandbox, entity: str, key: str) -> int:
    """What an entity has spent in its life."""
    return ask(box, entity, key, [0, DAYS[-1]]).get(CHARGE, [0])[0]


def is_used_up(box: Sandbox, campaign: Record) -> bool:
    """Whether less than a hundredth of a campaign's budget is left."""
    total = campaign[TOTAL]
    return total is not None and measure_spend(box, "CAMPAIGN", campaign["id"]) > total * 0.99


@pytest.mark.parametrize("entity", PARENTS)
def test_figures_of_three_months_add_up(box: Sandbox, entity: str) -> None:
    """On every day, for every metric, an entity has the sum of what it contains."""
    parents = [{"id": ACCOUNT}] if entity == "ACCOUNT" else every(box, entity)
    seen = 0
    for parent in parents:
        sums: Series = {}
        for kind, field in CHILDREN[entity]:
            for child in every(box, kind, **{field: parent["id"]}):
                for name, values in ask(box, kind, child["id"]).items():
                    before = sums.get(name, [0] * len(values))
                    sums[name] = [a + b for a, b in zip(before, values, strict=True)]
        assert sums == ask(box, entity, parent["id"]), parent["id"]
        seen += len(sums)
    assert seen


def test_line_items_of_a_campaign_are_alike(box: Sandbox) -> None:
    """Each shipped campaign has one objective and one product, as creations demand."""
    found: dict[str, set[tuple[str, str]]] = {}
    for entry in box.world.store.page("line_items"):
        item = entry.record
        found.setdefault(item["campaign_id"], set()).add((item["objective"], item["product_type"]))

    assert len(found) > 8
    assert {1} == {len(kinds) for kinds in found.values()}


def test_budgets_are_kept(box: Sandbox) -> None:
    """No day and no life costs more than a line item, campaign or funding instrument allows."""
    spent = 0
    for entity in ("LINE_ITEM", "CAMPAIGN"):
        for record in every(box, entity):
            charges = ask(box, entity, record["id"]).get(CHARGE, [0])
            whole = measure_spend(box, entity, record["id"])
            if record[DAILY] is not None and record[DAILY] > 0:
                # Clocks went back on 1 November, so two budgets touch a day of 24 hours from then.
                assert max(charges[:69]) <= record[DAILY], record["id"]
            if record[TOTAL] is not None:
                assert whole <= record[TOTAL], record["id"]
            assert sum(charges) <= whole
            spent += whole
    assert spent
    for funding in every(box, "FUNDING_INSTRUMENT"):
        whole = measure_spend(box, "FUNDING_INSTRUMENT", funding["id"])
        assert whole <= (funding["funded_amount_local_micro"] or whole)


def test_what_serves_has_figures_and_what_does_not_has_none(box: Sandbox) -> None:
    """Campaigns that are servable now and have money left are those that were shown yesterday."""
    yesterday = [DAYS[-2], DAYS[-1]]
    servable = {c["id"] for c in load(box, "campaigns") if c["servable"]}
    shown = {c["id"] for c in every(box, "CAMPAIGN") if ask(box, "CAMPAIGN", c["id"], yesterday)}
    used_up = {c["id"] for c in every(box, "CAMPAIGN") if is_used_up(box, c)}

    assert servable - used_up == shown
    assert HOLIDAY in shown
    assert used_up == {BRAND}


def test_the_holiday_campaign_ran_all_the_time(box: Sandbox) -> None:
    """Its line items were shown on each day since their start, but for the week of a pause."""
    starts = read_seconds(box.record("line_items", CLICKS)["start_time"])
    clicks = ask(box, "LINE_ITEM", CLICKS)["impressions"]
    reach = ask(box, "LINE_ITEM", REACH)["impressions"]
    begun = (starts - DAYS[0]) // DAY_SECONDS

    assert [day for day, count in enumerate(clicks) if count == 0] == list(range(begun))
    quiet = [day for day, count in enumerate(reach) if count == 0 and day > begun + 1]
    assert quiet == list(range(50, 56))  # 13 to 18 October


def test_pauses_of_the_history_are_in_the_figures(box: Sandbox) -> None:
    """Between a pause and the next start nothing is shown."""
    seen = 0
    for entry in box.world.store.page("account_history", {"_account_id": ACCOUNT}):
        record = entry.record
        status = record["changes"].get("entity_status")
        if status is None or status["after"] != "PAUSED":
            continue
        at = read_seconds(record["change_time"])
        day = [at, at + DAY_SECONDS]
        assert ask(box, record["entity"], record["entity_id"], day) == {}, record["_id"]
        before = [at - 40 * DAY_SECONDS, at]
        assert ask(box, record["entity"], record["entity_id"], before), record["_id"]
        seen += 1
    assert seen >= 2


@pytest.mark.parametrize("entity", ["CAMPAIGN", "LINE_ITEM", "PROMOTED_POST"])
def test_every_entity_of_the_account_has_a_history(box: Sandbox, entity: str) -> None:
    """Nothing was made, changed or deleted without an entry."""
    for record in every(box, entity):
        match = {"_account_id": ACCOUNT, "entity": entity, "entity_id": record["id"]}
        entries = [e.record for e in box.world.store.page("account_history", match)]
        assert entries[0]["change_time"] == record["created_at"], record["id"]
        assert entries[-1]["change_time"] == record["updated_at"], record["id"]
        kinds = {e["change_type"] for e in entries}
        assert ("DELETE" in kinds) is record["deleted"], record["id"]


def test_targeted_audiences_know_who_targets_them(box: Sandbox) -> None:
    """The line items that an audience names are those whose criteria name the audience."""
    aimed: dict[str, set[str]] = {}
    for entry in box.world.store.page("targeting_criteria", {"_account_id": ACCOUNT}):
        criterion = entry.record
        if criterion["targeting_type"] == "CUSTOM_AUDIENCE" and not criterion["deleted"]:
            aimed.setdefault(criterion["targeting_value"], set()).add(criterion["line_item_id"])

    assert aimed
    for key, line_items in aimed.items():
        rows = load(box, f"custom_audiences/{key}/targeted", with_active="false")
        assert line_items == {item["id"] for row in rows for item in row["line_items"]}, key
