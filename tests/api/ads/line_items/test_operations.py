"""Line items: every rule of the update table of document B, just inside and just outside."""

from __future__ import annotations

from typing import Any

import pytest
from werkzeug.test import TestResponse

from mock_platform.core.tables.state import State
from tests.api.ads import support
from tests.api.ads.support import drop, echo, get, ids, load, without
from tests.refusals import Refusal, refusals
from tests.support import ACCOUNT, Sandbox, data_of, faults, refusal

PATH = f"/12/accounts/{ACCOUNT}/line_items"
CLICKS, REACH, INSTALLS, ENGAGE_APP = "itttx", "iu0p9", "iu4ce", "iu8h1"
PREROLL, VIDEO, FOLLOWERS, ENGAGEMENTS = "iuc5v", "iufm7", "iuj2q", "iumz0"
OWNER, BID, DAILY, TOTAL = "2244994945", *(
    f"{name}_amount_local_micro" for name in ("bid", "daily_budget", "total_budget")
)  # fmt: skip


def put(box: Sandbox, line_item: str, **params: Any) -> TestResponse:
    """One update."""
    return support.put(box, f"line_items/{line_item}", **params)


def alter(box: Sandbox, line_item: str, **params: Any) -> Any:
    """What a line item is after an update."""
    return data_of(put(box, line_item, **params))


TAKEN = [
    # every parameter of the table
    (CLICKS, {"advertiser_domain": "shop.example.com"}),
    (INSTALLS, {"android_app_store_identifier": "com.example.app"}),
    (INSTALLS, {"ios_app_store_identifier": "42"}),
    (CLICKS, {"audience_expansion": "BROAD"}),
    (CLICKS, {"audience_expansion": "DEFINED"}),
    (CLICKS, {"audience_expansion": "EXPANDED"}),
    (CLICKS, {BID: "1"}),
    (CLICKS, {"entity_status": "PAUSED"}),
    (ENGAGE_APP, {"entity_status": "ACTIVE"}),
    (CLICKS, {"name": "Renamed"}),
    (CLICKS, {"start_time": "2026-10-01T00:00:00Z"}),
    (CLICKS, {"end_time": "2027-02-01T00:00:00Z"}),
    (CLICKS, {TOTAL: "150000000"}),
    (CLICKS, {DAILY: "12000000000"}),
    # goals are not restricted by objective
    *((CLICKS, {"goal": goal}) for goal in (
        "APP_CLICKS", "APP_INSTALLS", "APP_PURCHASES", "ENGAGEMENT", "FOLLOWERS", "LINK_CLICKS",
        "MAX_REACH", "PREROLL", "PREROLL_STARTS", "REACH_WITH_ENGAGEMENT", "VIDEO_VIEW",
        "VIEW_3S_100PCT", "VIEW_6S", "VIEW_15S", "WEBSITE_CONVERSIONS")),
    # bid strategies
    (CLICKS, {"bid_strategy": "MAX", BID: "5500000"}),
    (REACH, {"bid_strategy": "TARGET", BID: "1"}),
    (FOLLOWERS, {"bid_strategy": "AUTO"}),
    # frequency caps
    *((line_item, {"frequency_cap": "1", "duration_in_days": days})
      for line_item in (REACH, ENGAGEMENTS, VIDEO, PREROLL) for days in ("1", "7", "30")),
    # pay_by is changeable for app installs, and may be sent unchanged where it is one of three
    (INSTALLS, {"pay_by": "LINK_CLICK"}),
    (INSTALLS, {"pay_by": "IMPRESSION"}),
    (CLICKS, {"pay_by": "IMPRESSION"}),
    # categories
    (PREROLL, {"categories": "IAB8"}),
    (ENGAGE_APP, {"categories": "IAB8", "advertiser_domain": "example.com"}),
]  # fmt: skip


@pytest.mark.spec("B, Line item", "Monetary amounts", case="5500000")
@pytest.mark.spec("B, Line items", "PUT /12/accounts/:account_id/line_items/:line_item_id")
@pytest.mark.spec("B, Line items", "bid_amount_local_micro")
@pytest.mark.spec("B, Line items", "advertiser_domain", case="shop.example.com")
@pytest.mark.spec("B, Line items", "android_app_store_identifier", case="com.example.app")
@pytest.mark.spec("B, Line items", "audience_expansion", case="EXPANDED")
@pytest.mark.spec("B, Line items", "categories: IAB", case="IAB8")
@pytest.mark.spec("B, Line items", "duration_in_days", case="duration_in_days")
@pytest.mark.spec("B, Line items", "entity_status: ACTIVE", case="PAUSED")
@pytest.mark.spec("B, Line items", "start_time, end_time", case="start_time")
@pytest.mark.spec("B, Line items", "frequency_cap: REACH", case="frequency_cap")
@pytest.mark.spec("B, Line items", "goal: APP_CLICKS", case="WEBSITE_CONVERSIONS")
@pytest.mark.spec("B, Line items", "name: string", case="Renamed")
@pytest.mark.spec("B, Line items", "pay_by: APP_CLICK", case="LINK_CLICK")
@pytest.mark.spec("B, Line items", "total_budget_amount_local_micro", case="150000000")
@pytest.mark.spec("B, Line items", "daily_budget_amount_local_micro: at", case="12000000000")
@pytest.mark.spec("B, States and transitions", "Line item, entity_status", case="entity_status")
@pytest.mark.parametrize(("line_item", "params"), TAKEN)
def test_what_the_table_allows_is_taken(
    box: Sandbox, line_item: str, params: dict[str, str]
) -> None:
    """Each parameter within its rule is stored, echoed natively and served afterwards."""
    before = box.record("line_items", line_item)
    response = put(box, line_item, **params)
    data, shown = data_of(response), echo(response)

    for name, value in params.items():
        sent = value.split(",") if name == "categories" else value
        native = int(value) if value.isdecimal() and name in before and name != _ID else sent
        assert data[name] == shown[name] == native
    assert shown["line_item_id"] == line_item
    assert data["updated_at"] > before["updated_at"]
    funding = box.record("campaigns", before["campaign_id"])["funding_instrument_id"]
    assert load(box, f"line_items/{line_item}") == data | {"funding_instrument_id": funding}


_ID = "ios_app_store_identifier"


def refuse(
    holds: str, line_item: str, params: dict[str, str], errors: Any = None, **more: Any
) -> Refusal:
    """An update that is refused; by default because of the one parameter that it has."""
    found = errors or [("INVALID_PARAMETER", name) for name in params]
    status = more.pop("status", 400)
    return Refusal(f"PUT {PATH}/{line_item}", holds, status, found, query=params, **more)


REFUSED = [
    refuse("advertiser_domain has no protocol", CLICKS,
           {"advertiser_domain": "https://example.com"},
           spec={"B, Line items": ["advertiser_domain"]}),
    refuse("advertiser_domain is required for PUBLISHER_NETWORK", ENGAGE_APP,
           {"advertiser_domain": ""}, [("MISSING_PARAMETER", "advertiser_domain")],
           spec={"B, Line items": ["advertiser_domain"]}),
    refuse("categories are required for PUBLISHER_NETWORK", ENGAGE_APP, {"categories": ""},
           [("MISSING_PARAMETER", "categories")], spec={"B, Line items": ["categories: IAB"]}),
    refuse("app installs need an app", INSTALLS, {"ios_app_store_identifier": ""},
           [("MISSING_PARAMETER", "ios_app_store_identifier")],
           spec={"B, Line items": ["android_app_store_identifier"]}),
    refuse("app engagements need an app", ENGAGE_APP, {"android_app_store_identifier": ""},
           [("MISSING_PARAMETER", "android_app_store_identifier")],
           spec={"B, Line items": ["android_app_store_identifier"]}),
    refuse("audience_expansion is one of three", CLICKS, {"audience_expansion": "WIDE"},
           spec={"B, Line items": ["audience_expansion"]}),
    refuse("bid amount is above zero", CLICKS, {BID: "0"},
           spec={"B, Line items": ["bid_amount_local_micro"]}),
    refuse("bid amount is not negative", CLICKS, {BID: "-1"}),
    refuse("bid amount is required with MAX", VIDEO, {"bid_strategy": "MAX"},
           [("MISSING_PARAMETER", BID)], spec={"B, Line items": ["bid_amount_local_micro"]}),
    refuse("bid amount is required with TARGET", REACH, {"bid_strategy": "TARGET", BID: ""},
           [("MISSING_PARAMETER", BID)], spec={"B, Line items": ["bid_amount_local_micro"]}),
    refuse("bid amount cannot be unset under MAX", CLICKS, {BID: ""}, [("MISSING_PARAMETER", BID)]),
    refuse("MAX is not for REACH", REACH, {"bid_strategy": "MAX"},
           spec={"B, Line items": ["bid_strategy: MAX"]}),
    refuse("MAX is not for FOLLOWERS", FOLLOWERS, {"bid_strategy": "MAX", BID: "1"},
           [("INVALID_PARAMETER", "bid_strategy")], spec={"B, Line items": ["bid_strategy: MAX"]}),
    refuse("TARGET is for REACH or WEBSITE_CLICKS", INSTALLS, {"bid_strategy": "TARGET"},
           spec={"B, Line items": ["bid_strategy: TARGET"]}),
    refuse("IMPRESSION does not go with TARGET", CLICKS,
           {"bid_strategy": "TARGET", "pay_by": "IMPRESSION"}, [("INVALID_PARAMETER", "pay_by")],
           spec={"B, Line items": ["pay_by: not supported"]}),
    refuse("bid_strategy is one of three", CLICKS, {"bid_strategy": "BEST"}),
    refuse("duration is 1, 7 or 30", REACH, {"duration_in_days": "2"},
           spec={"B, Line items": ["duration_in_days"]}),
    refuse("duration is 1, 7 or 30, not 31", REACH, {"duration_in_days": "31"},
           spec={"B, Line items": ["duration_in_days"]}),
    refuse("entity_status is one of two", CLICKS, {"entity_status": "DRAFT"},
           spec={"B, Line items": ["entity_status: ACTIVE"]}),
    refuse("times are ISO 8601", CLICKS, {"start_time": "tomorrow"},
           spec={"B, Line items": ["start_time, end_time"]}),
    refuse("the end lies behind the start", CLICKS, {"end_time": "2026-09-05T07:00:00Z"},
           [("INVALID_TIME_WINDOW", "end_time")]),
    *(refuse(f"frequency_cap is not for {name}", line_item, {"frequency_cap": "1"},
             [("INVALID_PARAMETER", "frequency_cap")],
             spec={"B, Line items": ["frequency_cap: REACH"]})
      for name, line_item in (("WEBSITE_CLICKS", CLICKS), ("APP_INSTALLS", INSTALLS),
                              ("APP_ENGAGEMENTS", ENGAGE_APP), ("FOLLOWERS", FOLLOWERS))),
    refuse("frequency_cap is above zero", REACH, {"frequency_cap": "0"}),
    refuse("goal is one of the table", CLICKS, {"goal": "SALES"},
           spec={"B, Line items": ["goal: APP_CLICKS"]}),
    refuse("pay_by is changeable only for APP_INSTALLS", CLICKS, {"pay_by": "LINK_CLICK"},
           spec={"B, Line items": ["pay_by: APP_CLICK"]}),
    refuse("pay_by is one of three", INSTALLS, {"pay_by": "ENGAGEMENT"},
           spec={"B, Line items": ["pay_by: APP_CLICK"]}),
    refuse("daily budget is at most the total", CLICKS, {DAILY: "12000000001"},
           spec={"B, Line items": ["daily_budget_amount_local_micro: at"]}),
    refuse("total is at least the daily budget", CLICKS, {TOTAL: "149999999"},
           spec={"B, Line items": ["daily_budget_amount_local_micro: at"]}),
    refuse("daily budget needs LINE_ITEM optimization", INSTALLS, {DAILY: "1000000"},
           spec={"B, Line items": ["daily_budget_amount_local_micro: only"]}),
    refuse("budgets are above zero", CLICKS, {DAILY: "0", TOTAL: "0"},
           [("INVALID_PARAMETER", TOTAL), ("INVALID_PARAMETER", DAILY)],
           spec={"B, Line items": ["total_budget_amount_local_micro"]}),
    refuse("PREROLL_VIEWS needs a business category", PREROLL, {"categories": ""},
           [("MISSING_PARAMETER", "categories")],
           spec={"B, Advertiser business category": ["Applies only to"]}),
    refuse("an IAB category may be that of no business category", PREROLL, {"categories": "IAB1"},
           [("INVALID_PARAMETER", "categories")],
           spec={"B, Advertiser business category": ["Applies only to"]}),
    refuse("a domain has no protocol, told in one sentence", CLICKS,
           {"advertiser_domain": "https://x.example"},
           messages=["Expected a domain without protocol such as example.com, "
                     'got "https://x.example" for advertiser_domain']),
    refuse("all violations are told at once", INSTALLS,
           {"frequency_cap": "3", "bid_strategy": "TARGET", DAILY: "5"},
           [("INVALID_PARAMETER", "bid_strategy"), ("INVALID_PARAMETER", "frequency_cap"),
            ("INVALID_PARAMETER", DAILY)]),
    refuse("each unknown category is named", PREROLL, {"categories": "IAB99,nonsense"},
           [("INVALID_IAB_CATEGORY", "categories")] * 2, status=404,
           spec={"B, Line items": ["categories: IAB"]}),
    refuse("an id of the user's other account", "iv3k8", {"name": "N"},
           [("LINE_ITEM_NOT_FOUND", "line_item_id")], status=404),
]  # fmt: skip


@refusals(REFUSED)
def test_what_the_table_forbids_is_refused(box: Sandbox, row: Refusal) -> None:
    """Each rule refuses what is just outside, names the parameter and keeps the record."""
    row.check(box)


@pytest.mark.spec("B, Line items", "categories: IAB")
def test_each_listed_iab_category_is_taken(box: Sandbox) -> None:
    """What GET /12/iab_categories lists is a category of a line item in the PUBLISHER_NETWORK."""
    listed = [each["id"] for each in box.read("/12/iab_categories", count=1000)["data"]]

    assert len(listed) > 50
    assert alter(box, ENGAGE_APP, categories=",".join(listed))["categories"] == listed


@pytest.mark.spec("B, Line items", "bid_strategy: AUTO")
def test_auto_does_not_keep_an_amount(box: Sandbox) -> None:
    """AUTO ignores the bid amount: it is accepted and not kept, also one from before."""
    response = put(box, CLICKS, bid_strategy="AUTO", **{BID: "5500000"})
    data = response.get_json()["data"]
    assert (data["bid_strategy"], data[BID]) == ("AUTO", None)
    assert "line-items.auto-drops-amount" in response.headers["X-Mock-Assumptions"]


@pytest.mark.spec("B, Line items", "bid_strategy: TARGET")
@pytest.mark.parametrize("sent", [{}, {"pay_by": "LINK_CLICK"}])
@pytest.mark.parametrize("line_item", [CLICKS, REACH])
def test_pay_by_follows_the_bid_strategy(box: Sandbox, line_item: str, sent: Any) -> None:
    """TARGET pays by link click, sent or not; without TARGET the goal decides again."""
    first = alter(box, line_item, bid_strategy="TARGET", **{BID: "900000"}, **sent)
    second = alter(box, line_item, bid_strategy="AUTO")

    assert ("TARGET", "LINK_CLICK") == (first["bid_strategy"], first["pay_by"])
    assert ("AUTO", "IMPRESSION") == (second["bid_strategy"], second["pay_by"])


@pytest.mark.parametrize(("line_item", "stored", "sent", "pay_by"), [
    pytest.param(CLICKS, ("TARGET", "IMPRESSION"), {"bid_strategy": "TARGET"}, "LINK_CLICK",
                 id="a stored IMPRESSION does not refuse TARGET"),
    pytest.param(INSTALLS, ("TARGET", "APP_CLICK"), {"bid_strategy": "AUTO"}, "APP_CLICK",
                 id="leaving TARGET does not undo the choice for app installs"),
    pytest.param(CLICKS, ("AUTO", "LINK_CLICK"), {"bid_strategy": "MAX", BID: "900000"},
                 "LINK_CLICK", id="a link click stays as chosen between AUTO and MAX"),
])  # fmt: skip
def test_pay_by_that_was_chosen(
    box: Sandbox, line_item: str, stored: tuple[str, str], sent: dict[str, str], pay_by: str
) -> None:
    """A bid strategy changes what is stored only where it rules it out."""
    box.change("line_items", line_item, bid_strategy=stored[0], pay_by=stored[1])
    data = alter(box, line_item, **sent)

    assert (data["bid_strategy"], data["pay_by"]) == (sent["bid_strategy"], pay_by)


def test_the_fixtures_have_website_clicks_that_can_be_bid_by_target(box: Sandbox) -> None:
    """A client finds a line item for WEBSITE_CLICKS, not paid by impression, to set TARGET on."""
    path, bid = "/12/accounts/18ce55fw2ag/line_items/iv3k8", {"bid_strategy": "TARGET"}
    data = data_of(box.ask("PUT", path, **bid, bid_amount_local_micro="900000"))
    expected = bid | {"objective": "WEBSITE_CLICKS", "pay_by": "LINK_CLICK", BID: 900000}

    assert expected.items() <= data.items()


def test_an_update_without_parameters_changes_nothing(box: Sandbox) -> None:
    """Nothing sent leaves the line item, its updated_at and its history alone."""
    before, entries = box.record("line_items", CLICKS), box.world.store.count("account_history")
    data = alter(box, CLICKS)

    assert before["updated_at"] == data["updated_at"]
    assert before == box.record("line_items", CLICKS)
    assert entries == box.world.store.count("account_history")


@pytest.mark.spec("B, Line items", "Update parameters")
@pytest.mark.spec("B, What public facts and settled questions add", "An empty value")
def test_an_empty_value_unsets_an_optional_field(box: Sandbox) -> None:
    """An empty end_time takes the end away; only what was sent changes."""
    before = box.record("line_items", CLICKS)
    data = alter(box, CLICKS, end_time="")
    changed = {name for name in data if data[name] != before[name]}
    assert (data["end_time"], changed) == (None, {"end_time", "updated_at"})


def test_an_unrelated_update_never_trips_over_an_old_record(box: Sandbox) -> None:
    """A record that breaks a rule by itself can still be renamed."""
    box.change("line_items", CLICKS, frequency_cap=9, bid_strategy="TARGET")

    assert alter(box, CLICKS, name="Still fine")


@pytest.mark.spec("B, Line items", "PUT /12/accounts/:account_id/line_items/:line_item_id")
@pytest.mark.spec("B, What public facts and settled questions add", "Parameters of a")
def test_parameters_are_taken_from_a_form_as_well(box: Sandbox) -> None:
    """PUT parameters may be sent in the body instead of the query."""
    response = box.call("PUT", f"{PATH}/{CLICKS}", form={"name": "From a form"})

    assert data_of(response)["name"] == "From a form"


@pytest.mark.spec("B, What public facts and settled questions add", "Unknown, read-only")
def test_a_whole_record_can_be_sent_back(box: Sandbox) -> None:
    """Client libraries send every field: read-only ones are ignored with a warning."""
    response = put(box, VIDEO, id=VIDEO, campaign_id="8x3fz", name="N", created_at="x")

    assert (response.status_code, len(box.world.journal.find()[-1].warnings)) == (200, 3)


@pytest.mark.spec("B, Line items", "advertiser_user_id")
def test_advertiser_user_id_is_restricted(box: Sandbox) -> None:
    """Only allowlisted client applications set advertiser_user_id, and only for PREROLL_VIEWS.

    Clients that send back all that they read are not refused for it.
    """
    refused = put(box, PREROLL, advertiser_user_id=OWNER)
    box.change("apps", "11827", _allowlist=["advertiser_user_id"])
    taken = alter(box, PREROLL, advertiser_user_id=OWNER)
    wrong = put(box, CLICKS, advertiser_user_id=OWNER)

    for answer in (refused, wrong):
        assert refusal(answer) == (400, [("INVALID_PARAMETER", "advertiser_user_id")])
        (error,) = answer.get_json()["errors"]
        assert error["message"] == "setting advertiser_user_id is not allowed"
    assert taken["advertiser_user_id"] == OWNER
    box.change("line_items", CLICKS, advertiser_user_id=OWNER)
    assert alter(box, CLICKS, advertiser_user_id=OWNER)


@pytest.mark.spec("B, Line items", "DELETE the same", "DELETE is irreversible")
@pytest.mark.spec("B, States and transitions", "Line item, DELETE: irreversible")
@pytest.mark.spec("B, States and transitions", "Line item, DELETE: child")
@pytest.mark.spec("B, Errors", "Repeated DELETE")
def test_a_delete_is_irreversible_and_happens_once(box: Sandbox) -> None:
    """The record is returned deleted, later calls find nothing, children stay as they are."""
    path, match = f"{PATH}/{CLICKS}", {"line_item_id": CLICKS}
    children = [entry.record for entry in box.world.store.page("promoted_posts", match)]
    gone = data_of(box.call("DELETE", path))

    assert gone["deleted"] is True
    for response in (
        box.call("DELETE", path), put(box, CLICKS, entity_status="ACTIVE"), box.call("GET", path)
    ):  # fmt: skip
        assert refusal(response) == (404, [("LINE_ITEM_NOT_FOUND", "line_item_id")])
    assert load(box, f"line_items/{CLICKS}", with_deleted="true")["deleted"] is True
    assert 2 == len(children)
    assert children == [entry.record for entry in box.world.store.page("promoted_posts", match)]


@pytest.mark.spec("B, Not shown", "Endpoints not shown")
def test_line_items_are_listed_and_filtered(box: Sandbox) -> None:
    """The public list takes ids, campaigns and a name prefix."""
    by_ids = get(box, "line_items", line_item_ids=f"{VIDEO},{CLICKS},x")

    assert ids(get(box, "line_items", campaign_ids="8wku2,8wmq4")) == [CLICKS, REACH]
    assert ids(get(box, "line_items", q="app")) == [INSTALLS, ENGAGE_APP]
    assert ids(by_ids) == [CLICKS, VIDEO]
    assert echo(by_ids)["line_item_ids"] == [VIDEO, CLICKS, "x"]


@pytest.mark.spec("B, Line items", "Update parameters", "bid_strategy: default")
@pytest.mark.spec("B, Line items", "goal: default depends")
def test_what_is_not_sent_keeps_its_value(box: Sandbox) -> None:
    """Goal, bid strategy and pay_by have defaults where nothing is stored; an update has none."""
    before = box.record("line_items", INSTALLS)
    data = alter(box, INSTALLS, name="Renamed")
    kept = {"goal": "APP_INSTALLS", "bid_strategy": "MAX", "pay_by": "APP_CLICK"}

    assert kept.items() <= data.items()
    assert {"name", "updated_at"} == {name for name in data if data[name] != before[name]}


@pytest.mark.spec("B, Line items", "pay_by: IMPRESSION")
@pytest.mark.parametrize(("goal", "objective", "bid_strategy", "expected"), [
    ("ENGAGEMENT", "ENGAGEMENTS", "AUTO", "ENGAGEMENT"),
    ("FOLLOWERS", "FOLLOWERS", "AUTO", "FOLLOW"),
    ("VIDEO_VIEW", "VIDEO_VIEWS", "AUTO", "VIEW"),
    ("VIEW_6S", "VIDEO_VIEWS", "TARGET", "VIEW"),
    ("PREROLL_STARTS", "PREROLL_VIEWS", "AUTO", "VIEW"),
    ("APP_CLICKS", "APP_INSTALLS", "AUTO", "APP_CLICK"),
    ("APP_INSTALLS", "APP_INSTALLS", "AUTO", "IMPRESSION"),
    ("LINK_CLICKS", "APP_INSTALLS", "MAX", "IMPRESSION"),
    ("SITE_VISITS", "WEBSITE_CLICKS", "AUTO", "IMPRESSION"),
    ("LINK_CLICKS", "WEBSITE_CLICKS", "TARGET", "LINK_CLICK"),
    (None, "ENGAGEMENTS", "AUTO", "ENGAGEMENT"),  # the goal that the objective brings
    (None, "REACH", "MAX", "IMPRESSION"),
])  # fmt: skip
def test_pay_by_follows_the_goal(
    box: Sandbox, goal: str | None, objective: str, bid_strategy: str, expected: str
) -> None:
    """A stored line item is paid by what its goal, or its objective, makes of it."""
    state = State(box.world, box.platform.tables)
    bare = without(box.record("line_items", CLICKS), "pay_by", "goal")
    bare |= {"id": "new", "objective": objective, "bid_strategy": bid_strategy}
    made = state["line_items"].put(bare | ({} if goal is None else {"goal": goal}))

    assert expected == made["pay_by"]
    assert expected == load(box, "line_items/new")["pay_by"]


def test_pay_by_follows_a_changed_goal(box: Sandbox) -> None:
    """Another goal brings another pay_by, unless one was sent; the same goal keeps a chosen one."""
    for key, sent, expected in (
        (INSTALLS, {"goal": "APP_INSTALLS"}, "APP_CLICK"),
        (INSTALLS, {"goal": "ENGAGEMENT"}, "ENGAGEMENT"),
        (INSTALLS, {"goal": "APP_INSTALLS", "pay_by": "LINK_CLICK"}, "LINK_CLICK"),
        (VIDEO, {"goal": "FOLLOWERS", "pay_by": "VIEW"}, "FOLLOW"),
    ):
        assert expected == alter(box, key, **sent)["pay_by"]


def test_only_reads_name_the_funding_instrument(box: Sandbox) -> None:
    """List and read serve the campaign's funding instrument; update and delete lack it."""
    (listed,) = load(box, "line_items", line_item_ids=REACH)

    assert "m2k8s" == listed["funding_instrument_id"]
    assert listed == load(box, f"line_items/{REACH}")
    for data in (
        alter(box, REACH), alter(box, REACH, name="Renamed"), drop(box, f"line_items/{REACH}")
    ):  # fmt: skip
        assert "funding_instrument_id" not in data


def test_a_record_of_a_read_can_be_stored(box: Sandbox) -> None:
    """What a read serves is a record; the funding instrument that it names is the one served."""
    state = State(box.world, box.platform.tables)
    own = load(box, f"line_items/{REACH}") | {"id": "copy", "funding_instrument_id": "lygyi"}
    record = own | {"_account_id": ACCOUNT}

    assert record == state["line_items"].put(record)
    assert own == load(box, "line_items/copy")
    for data in (alter(box, "copy", name="x"), drop(box, "line_items/copy")):
        assert "funding_instrument_id" not in data
    entries = box.world.store.page("account_history", {"entity_id": "copy"})
    assert 2 == len(entries)
    assert not [e for e in entries if "funding_instrument_id" in e.record["entity_data"]]


def test_audience_expansion_is_served_once_it_was_set(box: Sandbox) -> None:
    """The key comes with its first value and goes when it is unset."""
    for sent, shown in (
        ({"name": "A"}, None), ({"audience_expansion": "BROAD"}, "BROAD"), ({"name": "B"}, "BROAD"),
        ({"audience_expansion": ""}, None),
    ):  # fmt: skip
        expected = {} if shown is None else {"audience_expansion": shown}
        for record in (alter(box, CLICKS, **sent), box.record("line_items", CLICKS)):
            assert expected == {k: v for k, v in record.items() if k == "audience_expansion"}


def test_standard_delivery_follows_the_daily_budget(box: Sandbox) -> None:
    """It is true for a daily budget of the line item's own, else null, unless it was chosen."""
    box.change("line_items", CLICKS, **{DAILY: None}, standard_delivery=None)
    found = [alter(box, CLICKS, **{DAILY: value}) for value in ("5000000", "")]
    box.change("line_items", CLICKS, standard_delivery=False)
    found.append(alter(box, CLICKS, **{DAILY: "5000000"}))

    assert [True, None, False] == [data["standard_delivery"] for data in found]


@pytest.mark.parametrize("odd", [
    {"goal": "SITE_VISITS"}, {"pay_by": "APP_INSTALL"}, {"pay_by": "LEAD"},
    {"entity_status": "DRAFT"}, {"standard_delivery": None}, {"duration_in_days": 14}, {BID: 0},
])  # fmt: skip
def test_bounds_of_the_update_are_not_those_of_a_record(box: Sandbox, odd: dict[str, Any]) -> None:
    """A record may hold what the update does not take, and is served with it."""
    state = State(box.world, box.platform.tables)
    state["line_items"].put(box.record("line_items", CLICKS) | odd)
    ((name, value),) = odd.items()

    assert odd.items() <= load(box, f"line_items/{CLICKS}").items()
    others = {"pay_by": "VIEW", "goal": "SITE_VISITS", "entity_status": "DRAFT"}
    if name in others:  # as it is; clients save what they loaded
        assert alter(box, CLICKS, **odd)[name] == value
        response = put(box, REACH, **{name: others[name]})
        assert (400, [("INVALID_PARAMETER", name)]) == refusal(response)
    elif name != "standard_delivery":
        response = put(box, CLICKS, **odd)
        assert (400, name) == (response.status_code, faults(response)[0][1])


@pytest.mark.spec("B, Advertiser business category", "Applies only to")
@pytest.mark.parametrize(("categories", "status"), [
    ("1jl", 200),  # by its id
    ("IAB8,IAB8-5", 200),  # two codes of one category
    ("IAB8,IAB8-4", 200),  # of two
    ("1jl,IAB8-4", 200),
    ("IAB8,IAB8-4,IAB22", 400),  # of three
    ("1jl,1jm,1jn", 400),
])  # fmt: skip
def test_one_or_two_business_categories(box: Sandbox, categories: str, status: int) -> None:
    """A PREROLL_VIEWS line item has one or two business categories, by id or by IAB code."""
    response = put(box, PREROLL, categories=categories)

    assert status == response.status_code
    if status == 400:
        assert [("INVALID_PARAMETER", "categories")] == faults(response)
    else:
        assert categories.split(",") == data_of(response)["categories"]
