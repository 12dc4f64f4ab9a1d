"""Line items: creation with its defaults and rules, filters of the list, batches, limits."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from werkzeug.test import TestResponse

from tests.api.ads.support import BASE, alter, drop, echo, get, ids, load, make, post, put
from tests.support import ACCOUNT, Sandbox, data_of, faults, refusal, sandbox

PATH = f"{BASE}/line_items"
BATCH = f"/12/batch/accounts/{ACCOUNT}/line_items"
BID, DAILY, TOTAL = (
    f"{name}_amount_local_micro" for name in ("bid", "daily_budget", "total_budget")
)
PLACEMENT = "INVALID_PLACEMENT_TYPE"
KEYS = {
    "id", "name", "campaign_id", "objective", "goal", "product_type", "placements",
    "entity_status", "start_time", "end_time", "bid_strategy", BID, "pay_by", TOTAL, DAILY,
    "duration_in_days", "frequency_cap", "categories", "currency", "creative_source",
    "advertiser_user_id", "advertiser_domain", "android_app_store_identifier",
    "ios_app_store_identifier", "target_cpa_local_micro", "primary_web_event_tag",
    "standard_delivery", "automatic_post_promotion", "created_at", "updated_at", "deleted",
}  # fmt: skip


def make_campaign(box: Sandbox, **params: str) -> str:
    """The id of a new campaign."""
    sent = {"name": "New", "funding_instrument_id": "lygyi"} | params
    return str(make(box, "campaigns", **sent)["id"])


def new(campaign: str, objective: str = "ENGAGEMENTS", **params: str) -> dict[str, str]:
    """Parameters of a line item."""
    usual = {"product_type": "PROMOTED_POSTS", "placements": "ALL_ON_PLATFORM"}
    return usual | {"campaign_id": campaign, "objective": objective} | params


def create(box: Sandbox, objective: str = "ENGAGEMENTS", **params: str) -> TestResponse:
    """The answer to the creation of a line item in a campaign of its own."""
    campaign = params.pop("campaign_id", None) or make_campaign(box)
    return post(box, "line_items", **new(campaign, objective, **params))


@pytest.mark.usefixtures("noon")
def test_created_as_in_the_public_sample(box: Sandbox) -> None:
    """A line item with a bid has every key, and what follows from objective and bid."""
    sent = new(make_campaign(box), **{BID: "3210000", "start_time": "2026-11-21T00:00Z"})
    response = post(box, "line_items", **sent)
    shown = data_of(response)
    native = {BID: 3210000, "placements": ["ALL_ON_PLATFORM"], "start_time": "2026-11-21T00:00:00Z"}

    assert set(shown) == KEYS
    assert echo(response) == sent | native | {"account_id": ACCOUNT}
    assert (native | {
        "entity_status": "ACTIVE", "goal": "ENGAGEMENT", "pay_by": "ENGAGEMENT",
        "bid_strategy": "MAX", "end_time": None, "name": None, "currency": "USD",
        "creative_source": "MANUAL", "categories": [], "standard_delivery": None,
        "advertiser_user_id": "2244994945", "created_at": "2026-11-20T12:00:00Z",
    }).items() <= shown.items()  # fmt: skip
    read = load(box, f"line_items/{shown['id']}")
    assert read == shown | {"funding_instrument_id": "lygyi"}


DEFAULTS = [
    ("ENGAGEMENTS", {}, "ENGAGEMENT", "ENGAGEMENT", "AUTO"),
    ("FOLLOWERS", {}, "FOLLOWERS", "FOLLOW", "AUTO"),
    ("FOLLOWERS", {BID: "1"}, "FOLLOWERS", "FOLLOW", "TARGET"),
    ("REACH", {}, "MAX_REACH", "IMPRESSION", "AUTO"),
    ("REACH", {BID: "1"}, "MAX_REACH", "LINK_CLICK", "TARGET"),
    ("VIDEO_VIEWS", {BID: "1"}, "VIDEO_VIEW", "VIEW", "MAX"),
    ("VIDEO_VIEWS", {"goal": "VIEW_6S"}, "VIEW_6S", "VIEW", "AUTO"),
    ("PREROLL_VIEWS", {"categories": "IAB8"}, "PREROLL", "VIEW", "AUTO"),
    ("WEBSITE_CLICKS", {}, "LINK_CLICKS", "IMPRESSION", "AUTO"),
    ("WEBSITE_CLICKS", {"bid_strategy": "TARGET", BID: "1"}, "LINK_CLICKS", "LINK_CLICK", "TARGET"),
    ("WEBSITE_CLICKS", {"goal": "SITE_VISITS"}, "SITE_VISITS", "IMPRESSION", "AUTO"),
    ("APP_INSTALLS", {"ios_app_store_identifier": "1"}, "APP_INSTALLS", "IMPRESSION", "AUTO"),
    ("APP_ENGAGEMENTS", {"android_app_store_identifier": "a.b"}, "APP_CLICKS", "APP_CLICK", "AUTO"),
]


@pytest.mark.parametrize(("objective", "params", "goal", "pay_by", "strategy"), DEFAULTS)
def test_defaults_by_objective(
    box: Sandbox, objective: str, params: dict[str, str], goal: str, pay_by: str, strategy: str
) -> None:
    """Goal, unit of payment and strategy follow from the objective and the bid."""
    shown = data_of(create(box, objective, **params))

    assert (shown["goal"], shown["pay_by"], shown["bid_strategy"]) == (goal, pay_by, strategy)


ACCEPTED = [
    ("APP_INSTALLS", {"ios_app_store_identifier": "1", "pay_by": "APP_CLICK"}),
    ("APP_INSTALLS", {"android_app_store_identifier": "1", "pay_by": "LINK_CLICK"}),
    ("WEBSITE_CLICKS", {"pay_by": "LINK_CLICK"}),
    ("WEBSITE_CLICKS", {"goal": "WEBSITE_CONVERSIONS", "primary_web_event_tag": "o1x2"}),
    ("ENGAGEMENTS", {"pay_by": "ENGAGEMENT"}),
    ("ENGAGEMENTS", {"name": "x" * 255, "frequency_cap": "1", "duration_in_days": "30"}),
    ("ENGAGEMENTS", {DAILY: "5", TOTAL: "5", "standard_delivery": "false"}),
    ("ENGAGEMENTS", {"entity_status": "PAUSED", "audience_expansion": "BROAD"}),
    ("ENGAGEMENTS", {"advertiser_user_id": "2244994945"}),
    ("ENGAGEMENTS", {"start_time": "2027-01-01T00:00:00Z", "end_time": "2027-01-01T00:00:01Z"}),
    ("REACH", {"placements": "PLATFORM_TIMELINE"}),
    ("ENGAGEMENTS", {"placements": "PLATFORM_TIMELINE,PLATFORM_PROFILE"}),
    ("WEBSITE_CLICKS", {"placements": "PUBLISHER_NETWORK", "advertiser_domain": "a.example",
                        "categories": "IAB8"}),
    ("PREROLL_VIEWS", {"product_type": "MEDIA", "categories": "IAB8,IAB8-5"}),
]  # fmt: skip


@pytest.mark.parametrize(("objective", "params"), ACCEPTED)
def test_what_the_rules_allow(box: Sandbox, objective: str, params: dict[str, str]) -> None:
    """Each parameter just inside its rule is stored and served as it was sent."""
    response = create(box, objective, **params)

    assert params.keys() <= data_of(response).keys()
    for name in params:
        assert data_of(response)[name] == echo(response)[name]


REFUSED = [
    ("ENGAGEMENTS", {"product_type": "BANNER"}, [("INVALID_PARAMETER", "product_type")]),
    ("CLICKS", {}, [("INVALID_PARAMETER", "objective")]),
    ("ENGAGEMENTS", {"placements": "EVERYWHERE"}, [("INVALID_PARAMETER", "placements")]),
    ("ENGAGEMENTS", {"placements": ""}, [("INVALID_PARAMETER", "placements")]),
    ("ENGAGEMENTS", {"placements": "PLATFORM_PROFILE"}, [(PLACEMENT, "placements")]),
    ("ENGAGEMENTS", {"placements": "TAP_FULL"}, [(PLACEMENT, "placements")]),
    ("ENGAGEMENTS", {"product_type": "MEDIA", "placements": "PLATFORM_TIMELINE"},
     [(PLACEMENT, "placements")]),
    ("REACH", {"placements": "PLATFORM_SEARCH"}, [(PLACEMENT, "placements")]),
    ("REACH", {"bid_strategy": "MAX", BID: "1"}, [("INVALID_PARAMETER", "bid_strategy")]),
    ("FOLLOWERS", {"bid_strategy": "MAX", BID: "1"}, [("INVALID_PARAMETER", "bid_strategy")]),
    ("ENGAGEMENTS", {"bid_strategy": "TARGET", BID: "1"}, [("INVALID_PARAMETER", "bid_strategy")]),
    ("ENGAGEMENTS", {"bid_strategy": "MAX"}, [("MISSING_PARAMETER", BID)]),
    ("WEBSITE_CLICKS", {"bid_strategy": "TARGET"}, [("MISSING_PARAMETER", BID)]),
    ("ENGAGEMENTS", {BID: "0"}, [("INVALID_PARAMETER", BID)]),
    ("ENGAGEMENTS", {"goal": "SITE_VISITS"}, [("INVALID_PARAMETER", "goal")]),
    ("WEBSITE_CLICKS", {"goal": "WEBSITE_CONVERSIONS"},
     [("MISSING_PARAMETER", "primary_web_event_tag")]),
    ("ENGAGEMENTS", {"pay_by": "IMPRESSION"}, [("INVALID_PARAMETER", "pay_by")]),
    ("WEBSITE_CLICKS", {"pay_by": "APP_CLICK"}, [("INVALID_PARAMETER", "pay_by")]),
    ("WEBSITE_CLICKS", {"pay_by": "IMPRESSION", "bid_strategy": "TARGET", BID: "1"},
     [("INVALID_PARAMETER", "pay_by")]),
    ("ENGAGEMENTS", {"entity_status": "ENDED"}, [("INVALID_PARAMETER", "entity_status")]),
    ("ENGAGEMENTS", {DAILY: "6", TOTAL: "5"}, [("INVALID_PARAMETER", DAILY)]),
    ("ENGAGEMENTS", {"name": ""}, [("INVALID_PARAMETER", "name")]),
    ("ENGAGEMENTS", {"name": "x" * 256}, [("INVALID_PARAMETER", "name")]),
    ("ENGAGEMENTS", {"duration_in_days": "2"}, [("INVALID_PARAMETER", "duration_in_days")]),
    ("WEBSITE_CLICKS", {"frequency_cap": "1"}, [("INVALID_PARAMETER", "frequency_cap")]),
    ("WEBSITE_CLICKS", {"placements": "PUBLISHER_NETWORK"},
     [("MISSING_PARAMETER", "advertiser_domain"), ("MISSING_PARAMETER", "categories")]),
    ("PREROLL_VIEWS", {"product_type": "MEDIA"}, [("MISSING_PARAMETER", "categories")]),
    ("APP_INSTALLS", {}, [("MISSING_PARAMETER", "ios_app_store_identifier")]),
    ("APP_ENGAGEMENTS", {}, [("MISSING_PARAMETER", "ios_app_store_identifier")]),
    ("ENGAGEMENTS", {"start_time": "2027-01-01T00:00:00Z", "end_time": "2027-01-01T00:00:00Z"},
     [("INVALID_TIME_WINDOW", "end_time")]),
    ("ENGAGEMENTS", {"advertiser_user_id": "3805104374"},
     [("INVALID_PARAMETER", "advertiser_user_id")]),
    *(("ENGAGEMENTS", {"campaign_id": key}, [("CAMPAIGN_NOT_FOUND", "campaign_id")])
      for key in ("nope", "9a1wd", "8xc2m")),
    ("PREROLL_VIEWS", {"product_type": "MEDIA", "categories": "IAB99"},
     [("INVALID_IAB_CATEGORY", "categories")]),
]  # fmt: skip


@pytest.mark.parametrize(("objective", "params", "expected"), REFUSED)
def test_what_the_rules_forbid(box: Sandbox, objective: str, params: Any, expected: Any) -> None:
    """Each rule refuses what is just outside, and nothing is stored."""
    before = box.world.store.count("line_items")
    response = create(box, objective, **params)
    status = 404 if "NOT_FOUND" in expected[0][0] or "IAB" in expected[0][0] else 400
    assert refusal(response) == (status, expected)
    assert box.world.store.count("line_items") == before


def test_all_violations_are_reported_at_once(box: Sandbox) -> None:
    """Broken conditions of different kinds are in one answer."""
    params = {"bid_strategy": "MAX", "placements": "PLATFORM_PROFILE", "pay_by": "APP_CLICK"}

    assert sorted(faults(create(box, "WEBSITE_CLICKS", **params))) == [
        ("INVALID_PARAMETER", "pay_by"), (PLACEMENT, "placements"), ("MISSING_PARAMETER", BID),
    ]  # fmt: skip


def test_required(box: Sandbox) -> None:
    """Four parameters are required; neither of the times is."""
    names = ("campaign_id", "objective", "product_type", "placements")

    assert faults(box.call("POST", PATH)) == [("MISSING_PARAMETER", name) for name in names]


def test_siblings_have_the_same_objective_and_product(box: Sandbox) -> None:
    """A second line item has to be like the first; after that is deleted, like no other."""
    campaign = make_campaign(box)
    first = data_of(create(box, "REACH", campaign_id=campaign))["id"]
    other = {"campaign_id": campaign, "product_type": "PROMOTED_ACCOUNT"}

    assert create(box, "REACH", campaign_id=campaign).status_code == 200
    assert faults(create(box, "ENGAGEMENTS", **other)) == [
        ("INVALID_PARAMETER", "objective"), ("INVALID_PARAMETER", "product_type"),
    ]  # fmt: skip
    for line_item in box.world.store.page("line_items", {"campaign_id": campaign}):
        drop(box, f"line_items/{line_item.key}")
    assert create(box, "ENGAGEMENTS", **other).status_code == 200
    assert box.record("line_items", first)["objective"] == "REACH"


@pytest.mark.parametrize(("total", "status"), [("9", 200), ("10", 400)])
def test_a_total_is_at_most_that_of_the_campaign(box: Sandbox, total: str, status: int) -> None:
    """Creation and update refuse more; the totals together may be more."""
    campaign = make_campaign(box, **{TOTAL: "9"})
    first = data_of(create(box, campaign_id=campaign, **{TOTAL: "9"}))["id"]
    created = create(box, campaign_id=campaign, **{TOTAL: total})
    updated = put(box, f"line_items/{first}", **{TOTAL: total})

    assert [created.status_code, updated.status_code] == [status, status]
    if status == 400:
        assert faults(created) == faults(updated) == [("INVALID_PARAMETER", TOTAL)]


@pytest.mark.parametrize("name", [DAILY, TOTAL, "standard_delivery"])
def test_budgets_of_the_campaign_exclude_those_of_line_items(box: Sandbox, name: str) -> None:
    """Under budget_optimization CAMPAIGN a line item has neither budgets nor a delivery."""
    campaign = make_campaign(box, **{"budget_optimization": "CAMPAIGN", DAILY: "100"})
    value = {"standard_delivery": "true"}.get(name, "5")

    assert create(box, campaign_id=campaign).status_code == 200
    refused = create(box, campaign_id=campaign, **{name: value})
    assert refusal(refused) == (400, [("INVALID_PARAMETER", name)])


def test_a_bid_under_auto_is_not_kept(box: Sandbox) -> None:
    """It is accepted with a warning, as in updates."""
    response = create(box, bid_strategy="AUTO", **{BID: "5"})

    assert data_of(response)[BID] is None
    assert response.headers["X-Mock-Warnings"] == "no-effect"


def test_preroll_for_an_allowlisted_application(box: Sandbox) -> None:
    """An application on the allowlist sets the advertiser of a preroll line item."""
    box.change("apps", "11827", _allowlist=["advertiser_user_id"])
    params = {"product_type": "MEDIA", "categories": "IAB8", "advertiser_user_id": "3805104374"}

    assert (
        params["advertiser_user_id"]
        == (data_of(create(box, "PREROLL_VIEWS", **params))["advertiser_user_id"])
    )


def test_an_app_targets_its_platform(box: Sandbox) -> None:
    """A store identifier adds a criterion for its system, once; so does an update that sets one."""
    made = data_of(create(box, "APP_INSTALLS", ios_app_store_identifier="1"))["id"]
    for _ in range(2):
        put(box, f"line_items/{made}", android_app_store_identifier="a.b")
    found = [e.record for e in box.world.store.page("targeting_criteria", {"line_item_id": made})]

    assert [("PLATFORM", "0", "iOS"), ("PLATFORM", "1", "Android")] == [
        (each["targeting_type"], each["targeting_value"], each["name"]) for each in found
    ]


@pytest.mark.parametrize(("query", "expected"), [
    ({"campaign_ids": "8x44h"}, ["iuj2q", "iuk8w"]),
    ({"campaign_ids": "8x44h,8x0ab,nope"}, ["iu4ce", "iuj2q", "iuk8w"]),
    ({"campaign_ids": "8x7ny", "with_deleted": "true"}, ["iumz0", "iuqf4"]),
    ({"funding_instrument_ids": "m2k8s"}, ["itttx", "iu0p9"]),
    ({"funding_instrument_ids": "lygyi", "campaign_ids": "8wku2,8x44h"}, ["iuj2q", "iuk8w"]),
    ({"funding_instrument_ids": "n1x4e"}, []),
    ({"campaign_ids": "8x44h", "line_item_ids": "iuk8w,itttx"}, ["iuk8w"]),
    ({"campaign_ids": "8wmq4,8wku2", "q": "holiday r"}, ["iu0p9"]),
    ({"campaign_ids": "8x0ab,8wku2,8wmq4,8x0m7", "sort_by": "bid_amount_local_micro-desc"},
     ["iu0p9", "iu4ce", "itttx", "iu8h1"]),
])  # fmt: skip
def test_lists(box: Sandbox, query: dict[str, str], expected: list[str]) -> None:
    """Line items by their campaigns and funding instruments, together with other filters."""
    response = get(box, "line_items", **query, with_total_count="true")

    assert ids(response) == expected
    assert response.get_json()["total_count"] == len(expected)


@pytest.mark.parametrize("order", [None, "created_at-desc", "bid_amount_local_micro-asc"])
def test_pages_of_several_campaigns(box: Sandbox, order: str | None) -> None:
    """Pages of one line item each show what one page shows, in each order."""
    for _ in range(3):
        assert create(box, campaign_id="8x3t2", objective="VIDEO_VIEWS").status_code == 200
    campaigns = {"8x3t2", "8wku2", "8x0ab"}
    query: dict[str, Any] = {"campaign_ids": ",".join(campaigns), "sort_by": order}
    whole, found, cursor = box.read(PATH, **query)["data"], [], None
    while True:
        page = box.read(PATH, **query, count="1", cursor=cursor)
        found += page["data"]
        if (cursor := page["next_cursor"]) is None:
            break

    assert found == whole
    assert {each["campaign_id"] for each in whole} == campaigns


def test_drafts(box: Sandbox) -> None:
    """A draft is listed on request only, and left by an update, not entered."""
    draft = data_of(create(box, entity_status="DRAFT"))["id"]

    assert draft not in ids(get(box, "line_items"))
    assert draft in ids(get(box, "line_items", with_draft="true"))
    put(box, f"line_items/{draft}", entity_status="PAUSED")
    assert draft in ids(get(box, "line_items"))
    back = put(box, f"line_items/{draft}", entity_status="DRAFT")
    assert faults(back) == [("INVALID_PARAMETER", "entity_status")]


@pytest.mark.parametrize(("objective", "sent"), [
    ("WEBSITE_CLICKS", {"goal": "SITE_VISITS"}), ("REACH", {"entity_status": "DRAFT"}),
])  # fmt: skip
def test_what_only_a_creation_sets_may_be_sent_back(
    box: Sandbox, objective: str, sent: dict[str, str]
) -> None:
    """An update takes the stored value, as clients save all that they loaded, and keeps it."""
    made = data_of(create(box, objective=objective, **sent))["id"]
    kept = data_of(put(box, f"line_items/{made}", name="Second", **sent))

    assert kept | sent | {"name": "Second"} == kept


def test_in_a_batch(box: Sandbox) -> None:
    """Records of a batch have their funding instrument; those of single writes do not."""
    loose = {"placements": ["PLATFORM_TIMELINE"], "standard_delivery": "true"}
    items = [
        {"operation_type": "Create", "params": new(make_campaign(box)) | loose},
        {"operation_type": "Update", "params": {"line_item_id": "itttx", "categories": ["IAB8"]}},
        {"operation_type": "Delete", "params": {"line_item_id": "iu4ce"}},
    ]
    body = box.call("POST", BATCH, json=items).get_json()
    made, changed, gone = body["data"]
    refused = box.call("POST", BATCH, json=[items[0]] * 41)

    assert [each["funding_instrument_id"] for each in body["data"]] == ["lygyi", "m2k8s", "lygyi"]
    assert made["placements"] == body["request"][0]["params"]["placements"] == loose["placements"]
    assert (changed["categories"], gone["deleted"]) == (["IAB8"], True)
    assert refusal(refused) == (400, [("INVALID_PARAMETER", "")])


def test_children_of_a_deleted_campaign(box: Sandbox) -> None:
    """They stay, are updated as before, and get no siblings."""
    drop(box, "campaigns/8wku2")

    assert alter(box, "line_items/itttx", name="Still here")["deleted"] is False
    assert create(box, "WEBSITE_CLICKS", campaign_id="8wku2").status_code == 404


def test_the_limits_are_off_by_default_and_are_settings() -> None:
    """Each limit allows as many as it says."""
    noon = datetime(2026, 11, 20, 12, tzinfo=UTC)
    box = sandbox(freeze=noon, campaign_limit=7, line_items_per_campaign=2, line_item_limit=100)
    # Of the nine campaigns, one is deleted and two have ended.
    campaign = make_campaign(box, entity_status="PAUSED")
    again = post(box, "campaigns", name="One more", funding_instrument_id="lygyi")
    made = [create(box, campaign_id=campaign) for _ in range(3)]

    assert refusal(again) == (400, [("TOO_MANY_CAMPAIGNS", None)])
    assert [200, 200] == [answer.status_code for answer in made[:2]]
    assert refusal(made[2]) == (400, [("TOO_MANY_LINE_ITEMS", None)])


def test_active_line_items_of_an_account_are_limited() -> None:
    """Paused and ended ones do not count."""
    box = sandbox(line_item_limit=6)
    box.world.clock.freeze(datetime(2026, 11, 20, 12, tzinfo=UTC))
    living = {"_account_id": ACCOUNT, "deleted": False, "entity_status": "ACTIVE"}
    active = [
        each.key
        for each in box.world.store.page("line_items", living)
        if (each.record["end_time"] or "9") > "2026-11-20T12:00:00Z"
    ]
    campaign = make_campaign(box)

    for number in range(6 - len(active)):
        assert create(box, campaign_id=campaign).status_code == 200, number
    refused = create(box, campaign_id=campaign)
    assert refusal(refused) == (400, [("TOO_MANY_LINE_ITEMS", None)])
    put(box, f"line_items/{active[0]}", entity_status="PAUSED")
    assert create(box, campaign_id=campaign).status_code == 200


@pytest.mark.parametrize("query", [
    {}, {"with_draft": "true"}, {"with_deleted": "true"}, {"campaign_ids": "8wku2,8x0ab"},
    {"campaign_ids": "8x0ab", "with_draft": "true"},
    {"campaign_ids": "8wku2,8x0ab", "with_deleted": "true", "with_draft": "true"},
    {"q": "holiday"},
])  # fmt: skip
def test_the_total_is_that_of_the_list(box: Sandbox, query: dict[str, str]) -> None:
    """Drafts and line items below a deleted campaign are counted where they are listed."""
    for campaign in ("8wku2", "8x0ab", "8x3fz"):
        draft = box.record("line_items", "itttx") | {"entity_status": "DRAFT"}
        key = f"draft-{campaign}"
        box.put("line_items", key, draft | {"id": key, "campaign_id": campaign})
    drop(box, "campaigns/8wku2")
    body = get(box, "line_items", **query, with_total_count="true").get_json()

    assert body["total_count"] == len(body["data"])
