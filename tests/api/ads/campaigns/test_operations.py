"""Campaigns: list, read, create, update, delete."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from tests.api.ads.support import drop, echo, get, ids, load, make, post, put
from tests.refusals import Refusal, refusals
from tests.support import ACCOUNT, Sandbox, data_of

PATH = f"/12/accounts/{ACCOUNT}/campaigns"

NEW = {"name": "Autumn roast", "funding_instrument_id": "lygyi"}
DAILY, TOTAL = "daily_budget_amount_local_micro", "total_budget_amount_local_micro"
KEYS = {
    "id", "name", "funding_instrument_id", "budget_optimization", "entity_status",
    "effective_status", "servable", "reasons_not_servable", DAILY, TOTAL, "currency",
    "standard_delivery", "frequency_cap", "duration_in_days", "purchase_order_number", "created_at",
    "updated_at", "deleted",
}  # fmt: skip


def create(box: Sandbox, **params: str) -> Any:
    """A new campaign."""
    return make(box, "campaigns", **NEW | params)


def listed(box: Sandbox, **query: str) -> list[str]:
    """The ids in a list."""
    return ids(get(box, "campaigns", **query))


LIVING = ["8wku2", "8wmq4", "8x0ab", "8x0m7", "8x3fz", "8x3t2", "8x44h", "8x7ny"]


@pytest.mark.parametrize(("query", "expected"), [
    ({}, LIVING),
    ({"with_deleted": "true"}, [*LIVING, "8xc2m"]),
    ({"campaign_ids": "8x3fz,9a1wd,8wku2"}, ["8wku2", "8x3fz"]),
    ({"funding_instrument_ids": "m2k8s"}, ["8wku2", "8wmq4"]),
    ({"q": "bRAND"}, ["8x3fz"]),
    ({"sort_by": "name-desc", "count": "1"}, ["8x0ab"]),
    ({"sort_by": "total_budget_amount_local_micro-desc", "count": "2"}, ["8wku2", "8wmq4"]),
])  # fmt: skip
def test_lists(box: Sandbox, query: dict[str, str], expected: list[str]) -> None:
    """Filters, search and orders; deleted ones on request."""
    assert listed(box, **query) == expected


@pytest.mark.usefixtures("noon")
def test_created(box: Sandbox) -> None:
    """A campaign needs a name and a funding instrument; the answer has all keys of version 12."""
    order = {"purchase_order_number": "P" * 50}
    params = NEW | order | {"entity_status": "PAUSED", DAILY: 140000000}
    response = post(box, "campaigns", **params)
    shown = data_of(response)

    assert set(shown) == KEYS
    assert echo(response) == {**params, "account_id": ACCOUNT}
    assert shown["reasons_not_servable"] == ["PAUSED_BY_ADVERTISER", "INCOMPLETE"]
    assert {
        **params, "effective_status": "UNKNOWN", "servable": False, TOTAL: None,
        "budget_optimization": "LINE_ITEM", "created_at": "2026-11-20T12:00:00Z",
        "updated_at": "2026-11-20T12:00:00Z",
    }.items() <= shown.items()  # fmt: skip
    assert load(box, f"campaigns/{shown['id']}") == shown


def test_the_currency_is_that_of_the_funding_instrument(box: Sandbox) -> None:
    """A campaign that is paid in euros has budgets in euros."""
    box.change("funding_instruments", "lygyi", currency="EUR")

    assert create(box)["currency"] == "EUR"


create_ = partial(Refusal, f"POST {PATH}")
change = partial(Refusal, f"PUT {PATH}/8wku2")
NO_FUNDING = ("INVALID_FUNDING_INSTRUMENT", "funding_instrument_id")
REFUSED = [
    *(create_(holds, 400, [("INVALID_PARAMETER", name)], query=NEW | params)
      for holds, name, params in (
          ("an empty name", "name", {"name": ""}), ("a long name", "name", {"name": "x" * 256}),
          ("a long order number", "purchase_order_number", {"purchase_order_number": "x" * 51}),
          ("a day for nothing", DAILY, {DAILY: "0"}), ("a fraction", TOTAL, {TOTAL: "5.5"}),
          ("a day above its total", DAILY, {DAILY: "2", TOTAL: "1"}),
          ("an unknown status", "entity_status", {"entity_status": "ENDED"}),
          ("an unknown budget", "budget_optimization", {"budget_optimization": "NONE"}))),
    create_("a budget of the campaign without an amount", 400, [("MISSING_PARAMETER", DAILY)],
            query=NEW | {"budget_optimization": "CAMPAIGN"}),
    *(create_(f"{holds} funding instrument", 400, [NO_FUNDING],
              query=NEW | {"funding_instrument_id": key})
      for holds, key in (("a foreign", "n1x4e"), ("an unknown", "nope"))),
    create_("a deleted funding instrument", 400, [NO_FUNDING], query=NEW,
            given={("funding_instruments", "lygyi"): {"deleted": True}}),
    change("a day above the total", 400, [("INVALID_PARAMETER", DAILY)],
           query={DAILY: "40000000001"}),
    change("a draft again", 400, [("INVALID_PARAMETER", "entity_status")],
           query={"entity_status": "DRAFT"}),
    change("no name", 400, [("INVALID_PARAMETER", "name")], query={"name": ""}),
    change("a budget of the campaign beside those of line items", 400,
           [("INVALID_PARAMETER", "budget_optimization")],
           query={"budget_optimization": "CAMPAIGN", DAILY: "1"}),
]  # fmt: skip


@refusals(REFUSED)
def test_what_is_refused(box: Sandbox, row: Refusal) -> None:
    """Rules hold for the campaign as it would become; a foreign instrument is unknown."""
    row.check(box)


@pytest.mark.parametrize("params", [
    {"name": "x" * 255}, {DAILY: "1", TOTAL: "1"}, {"budget_optimization": "CAMPAIGN", DAILY: "1"},
])  # fmt: skip
def test_just_inside(box: Sandbox, params: dict[str, str]) -> None:
    """What is as long, as large or as complete as the rules want."""
    assert create(box, **params)


def test_updated(box: Sandbox) -> None:
    """What is sent replaces what was stored, empty values unset, all else stays."""
    before = load(box, "campaigns/8wku2")
    changes = {"name": "Late roast", TOTAL: "", "purchase_order_number": "", DAILY: "7"}
    response = put(box, "campaigns/8wku2", **changes)
    shown = data_of(response)
    after = {"name": "Late roast", TOTAL: None, "purchase_order_number": None, DAILY: 7}

    assert before | after | {"updated_at": shown["updated_at"]} == shown
    assert shown["updated_at"] > shown["created_at"]
    assert echo(response)[TOTAL] is None
    assert load(box, "campaigns/8wku2") == shown


def test_what_a_client_that_saves_everything_sends(box: Sandbox) -> None:
    """Unchangeable parameters are ignored with a warning."""
    sent = {"funding_instrument_id": "lygyi", "duration_in_days": "7", "standard_delivery": "true"}
    response = put(box, "campaigns/8wku2", **sent, name="Same")
    shown = data_of(response)

    assert response.headers["X-Mock-Warnings"] == "no-effect,unknown-parameter"
    assert (shown["funding_instrument_id"], shown["standard_delivery"]) == ("m2k8s", None)


def test_what_is_null_may_be_sent_back_empty(box: Sandbox) -> None:
    """An empty value unsets, so it changes nothing of what is not set."""
    before = load(box, "campaigns/8x0m7")
    nothing = {name: "" for name, value in before.items() if value is None}
    after = data_of(put(box, "campaigns/8x0m7", **nothing))

    assert {DAILY, TOTAL, "standard_delivery", "purchase_order_number"} <= nothing.keys()
    assert after == before | {"updated_at": after["updated_at"]}


def test_drafts(box: Sandbox) -> None:
    """A draft is listed on request only, read by its id, kept if sent back, left by an update."""
    draft = create(box, entity_status="DRAFT")["id"]

    assert draft not in listed(box)
    assert draft in listed(box, with_draft="true")
    assert load(box, f"campaigns/{draft}")["effective_status"] == "UNKNOWN"
    data_of(put(box, f"campaigns/{draft}", entity_status="DRAFT", name="Still a draft"))
    assert draft not in listed(box)
    put(box, f"campaigns/{draft}", entity_status="ACTIVE")
    assert draft in listed(box)


@pytest.mark.usefixtures("noon")
def test_deleted(box: Sandbox) -> None:
    """The answer has servable null; later reads say why it does not serve; line items stay."""
    gone = drop(box, "campaigns/8wku2")
    later = load(box, "campaigns/8wku2", with_deleted="true")

    assert (gone["deleted"], gone["servable"], gone["reasons_not_servable"]) == (True, None, [])
    assert gone["effective_status"] == "RUNNING"
    assert (later["servable"], later["reasons_not_servable"]) == (False, ["DELETED"])
    assert box.record("line_items", "itttx")["deleted"] is False


@pytest.mark.usefixtures("noon")
def test_history_of_a_campaign(box: Sandbox) -> None:
    """Creation, change and deletion are recorded, with the fields that the document shows."""
    made = create(box)["id"]
    for _ in range(2):
        put(box, f"campaigns/{made}", entity_status="PAUSED")
    drop(box, f"campaigns/{made}")
    window = {"start_time": "2026-11-20T12:00:00Z", "end_time": "2026-11-20T13:00:00Z"}
    entries = load(box, "account_history", entity_type="CAMPAIGN", entity_id=made, **window)

    assert [(entry["change_type"], entry["changes"]) for entry in entries] == [
        ("CREATE", {}),
        ("UPDATE", {"entity_status": {"before": "ACTIVE", "after": "PAUSED"}}),
        ("DELETE", {"deleted": {"before": False, "after": True}}),
    ]
    assert list(entries[0]["entity_data"]) == [
        "name", "start_time", "end_time", DAILY, TOTAL, "entity_status", "standard_delivery",
        "frequency_cap", "duration_in_days", "purchase_order_number", "created_at", "updated_at",
        "deleted",
    ]  # fmt: skip


@pytest.mark.parametrize(("table", "key"), [("campaigns", "8wmq4"), ("line_items", "iu0p9")])
def test_started(box: Sandbox, table: str, key: str) -> None:
    """What is paused is started by its own path, and is in the history; nothing unknown is."""
    box.change(table, key, entity_status="PAUSED")
    answer = put(box, f"{table}/{key}/activate")

    assert data_of(answer)["entity_status"] == box.record(table, key)["entity_status"] == "ACTIVE"
    assert "entity_status" not in echo(answer)
    assert put(box, f"{table}/{key}x/activate").status_code == 404
