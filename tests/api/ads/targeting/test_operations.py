"""Targeting criteria: every rule of the public documentation, just inside and just outside."""

from __future__ import annotations

import pytest
from werkzeug.test import TestResponse

from mock_platform.api.ads.targeting.criteria import MOST, TYPES
from tests.api.ads.line_items.parts import CLICKS, DELETED, FOREIGN, PREROLL
from tests.api.ads.support import BASE, delete, drop, get, history, load, post
from tests.refusals import Refusal, refusals
from tests.support import Sandbox, data_of, refusal

OWN_USER, NORTHBIKE_USER = "2244994945", "3805104374"
US, UK, GERMANY = "96683cc9126741d1", "6416b8512febefc9", "fdcd221ac44fa326"
TARGETABLE, SMALL, SHARED, FOREIGN_AUDIENCE, GONE = "1nmth", "2b4kp", "4q7sd", "3k2pf", "2d0aa"
EMPTY = "iumz0"
"""A line item without criteria."""


def add(
    box: Sandbox, type_: str, value: str, operator: str = "EQ", line_item: str = EMPTY
) -> TestResponse:
    """Add a criterion to a line item."""
    return post(box, "targeting_criteria", line_item_id=line_item, targeting_type=type_,
        targeting_value=value, operator_type=operator,
    )  # fmt: skip


def fill(box: Sandbox, type_: str, number: int) -> None:
    """Give the empty line item so many criteria of a type, behind the interface."""
    base = box.record("targeting_criteria", "8ptm9") | {"line_item_id": EMPTY}
    with box.world.work():
        for index in range(number):
            key = f"f{type_}{index}"
            record = base | {"id": key, "targeting_type": type_, "targeting_value": str(index)}
            box.world.store.put("targeting_criteria", key, record)


def test_a_criterion_is_made_read_and_deleted(box: Sandbox) -> None:
    """The record has operator_type everywhere; each change is in the account's history."""
    record = data_of(add(box, "BROAD_KEYWORD", "espresso"))
    path = f"targeting_criteria/{record['id']}"
    read, listed = load(box, path), load(box, "targeting_criteria", line_item_ids=EMPTY)
    gone = drop(box, path)

    assert record == read == listed[0]
    assert record == {
        "id": record["id"], "line_item_id": EMPTY, "name": "espresso",
        "targeting_type": "BROAD_KEYWORD", "targeting_value": "espresso", "operator_type": "EQ",
        "created_at": record["created_at"], "updated_at": record["created_at"], "deleted": False,
    }  # fmt: skip
    assert (gone["deleted"], gone["operator_type"]) == (True, "EQ")
    assert [] == load(box, "targeting_criteria", line_item_ids=EMPTY)
    assert ["CREATE", "DELETE"] == history(box, "TARGETING_CRITERIA", record["id"])


@pytest.mark.parametrize(("number", "status"), [(200, 200), (201, 400)])
def test_two_hundred_line_items(box: Sandbox, number: int, status: int) -> None:
    """Up to 200 line items are taken, unknown ones have no criteria."""
    ids = ",".join([CLICKS, *(f"x{index}" for index in range(number - 1))])

    assert get(box, "targeting_criteria", line_item_ids=ids).status_code == status


@pytest.mark.parametrize(
    ("type_", "value", "name", "more"),
    [
        ("LOCATION", US, "United States", {"location_type": "COUNTRY"}),
        ("LOCATION", "5122804691e5fecc", "San Francisco-Oakland-San Jose CA, US",
         {"location_type": "METRO"}),
        ("LOCATION", "ffffffffffffffff", "ffffffffffffffff", {}),
        ("CUSTOM_AUDIENCE", TARGETABLE, "Custom audience targeting", {}),
        ("CUSTOM_AUDIENCE_EXPANDED", SHARED, "Custom audience targeting", {}),
        ("GENDER", "2", "Female", {}),
        ("AGE", "AGE_21_TO_34", "AGE_21_TO_34", {}),
        ("AGE", "AGE_OVER_50", "AGE_OVER_50", {}),
        ("INTEREST", "6001", "Food and drink/Coffee and tea", {}),
        ("PLATFORM", "4", "Desktop and laptop computers", {}),
        ("APP_STORE_CATEGORY_LOOKALIKE", "qov2", "Music", {}),
        ("FOLLOWERS_OF_USER", OWN_USER, OWN_USER, {}),
        ("SIMILAR_TO_FOLLOWERS_OF_USER", NORTHBIKE_USER, NORTHBIKE_USER, {}),
        ("CAMPAIGN_ENGAGEMENT", "8x3fz", "8x3fz", {}),
        ("USER_ENGAGEMENT_LOOKALIKE", OWN_USER, OWN_USER, {}),
        ("WIFI_ONLY", "1", "1", {}),
    ],
)  # fmt: skip
def test_names(box: Sandbox, type_: str, value: str, name: str, more: dict[str, str]) -> None:
    """The name is that of the lookups, else the value; locations have a type."""
    record = data_of(add(box, type_, value))

    assert record["name"] == name
    assert more == {key: record[key] for key in ("location_type",) if key in record}


def test_every_type_is_known(box: Sandbox) -> None:
    """No type of the public list is refused as a type."""
    for type_ in TYPES:
        assert "INVALID_TARGETING_TYPE" not in add(box, type_, "x", "NE").text


def refuse(
    holds: str,
    type_: str,
    value: str,
    operator: str = "EQ",
    *errors: tuple[str, str | None],
    status: int = 400,
    line_item: str = EMPTY,
    messages: tuple[str, ...] = (),
) -> Refusal:
    """A criterion that is refused; by default the value is wrong."""
    sent = {"line_item_id": line_item, "targeting_type": type_, "targeting_value": value}
    return Refusal(
        f"POST {BASE}/targeting_criteria", holds, status, errors or [WRONG_VALUE],
        query=sent | {"operator_type": operator}, messages=messages,
    )  # fmt: skip


WRONG_VALUE = ("INVALID_PARAMETER", "targeting_value")
WRONG_OPERATOR = ("INVALID_PARAMETER", "operator_type")
UNKNOWN = ("NOT_FOUND", "targeting_value")
NO_LINE_ITEM = ("LINE_ITEM_NOT_FOUND", "line_item_id")
REFUSED = [
    refuse("a third gender", "GENDER", "3"),
    refuse("a sixth platform", "PLATFORM", "5"),
    refuse("an age that is no bucket", "AGE", "AGE_21"),
    refuse("a list of apps that is aimed at", "APP_LIST", "ab", "EQ", WRONG_OPERATOR),
    refuse("a publisher that is aimed at", "CONTENT_PUBLISHER_USER", "12", "EQ", WRONG_OPERATOR),
    *(refuse(f"a duration with {operator}", "NETWORK_ACTIVATION_DURATION", "3", operator,
             WRONG_OPERATOR) for operator in ("EQ", "NE")),
    refuse("an unknown operator", "BROAD_KEYWORD", "a", "IN", WRONG_OPERATOR),
    refuse("an audience that is too small", "CUSTOM_AUDIENCE", SMALL),
    refuse("a foreign audience", "CUSTOM_AUDIENCE", FOREIGN_AUDIENCE, "EQ", UNKNOWN, status=404),
    refuse("a deleted audience", "CUSTOM_AUDIENCE_EXPANDED", GONE, "EQ", UNKNOWN, status=404),
    refuse("followers of another user", "FOLLOWERS_OF_USER", NORTHBIKE_USER),
    refuse("engagements of another user", "USER_ENGAGEMENT", NORTHBIKE_USER),
    refuse("an unknown campaign", "CAMPAIGN_ENGAGEMENT", "9b5qk", "EQ",
           ("CAMPAIGN_NOT_FOUND", "targeting_value"), status=404),
    refuse("a show without location", "TV_SHOW", "10027243420", "EQ",
           ("INVALID_TV_SHOW_LOCATIONS", "targeting_value")),
    refuse("an unknown type", "KEYWORD", "espresso", "EQ",
           ("INVALID_TARGETING_TYPE", "targeting_type"),
           messages=(f'Expected a value in {", ".join(TYPES)}, got "KEYWORD" for targeting_type',)),
    *(refuse(f"a line item that is {holds}", "BROAD_KEYWORD", "a", "EQ", NO_LINE_ITEM, status=404,
             line_item=key)
      for holds, key in (("deleted", DELETED), ("foreign", FOREIGN), ("unknown", "unknown"))),
    Refusal(f"GET {BASE}/targeting_criteria", "a list without line items", 400,
            [("MISSING_PARAMETER", "line_item_ids")],
            messages=['"line_item_ids" is a required parameter']),
    Refusal(f"GET {BASE}/targeting_criteria/8ptk3", "a language in words", 400,
            [("INVALID_PARAMETER", "lang")], query={"lang": "German"}),
    Refusal(f"PUT {BASE}/targeting_criteria/8ptm9", "an update, which there is none of", 405,
            [("METHOD_NOT_ALLOWED", None)]),
]  # fmt: skip


@refusals(REFUSED)
def test_what_is_refused(box: Sandbox, row: Refusal) -> None:
    """A criterion that breaks a rule of its type is refused, in the live service's words."""
    row.check(box)


def test_without_an_operator(box: Sandbox) -> None:
    """As in the public sample it is EQ then; the journal warns, and does not if it was sent."""
    sent = {"line_item_id": EMPTY, "targeting_type": "BROAD_KEYWORD", "targeting_value": "a"}
    made = box.call("POST", f"{BASE}/targeting_criteria", query_string=sent)
    add(box, "BROAD_KEYWORD", "b", "EQ")
    warnings = [entry.warnings for entry in box.world.journal.find()[-2:]]

    assert data_of(made)["operator_type"] == "EQ"
    assert [len(each) for each in warnings] == [1, 0]


@pytest.mark.parametrize(("type_", "operator"), [
    ("APP_LIST", "NE"), ("CONTENT_PUBLISHER_USER", "NE"), ("NETWORK_ACTIVATION_DURATION", "LT"),
    ("NETWORK_ACTIVATION_DURATION", "GTE"), ("PHRASE_KEYWORD", "NE"),
])  # fmt: skip
def test_operators_of_a_type(box: Sandbox, type_: str, operator: str) -> None:
    """Each type takes the operators that are its own."""
    assert data_of(add(box, type_, "3", operator))["operator_type"] == operator


VALUE_OF = {"AGE": "AGE_OVER_18"}


@pytest.mark.parametrize("types", MOST)
def test_how_many_of_a_type(box: Sandbox, types: tuple[str, ...]) -> None:
    """The last one within the limit is taken, the next one refused; deleted ones do not count."""
    fill(box, types[0], MOST[types] - 1)
    last = add(box, types[-1], VALUE_OF.get(types[-1], "last"))
    refused = add(box, types[0], VALUE_OF.get(types[0], "beyond"))
    delete(box, f"targeting_criteria/{data_of(last)['id']}")

    assert refusal(refused) == (400, [("INVALID_PARAMETER", "targeting_type")])
    assert f"A maximum of {MOST[types]} " in refused.get_json()["errors"][0]["message"]
    assert add(box, types[0], VALUE_OF.get(types[0], "beyond")).status_code == 200


def test_an_engagement_type_needs_engagements(box: Sandbox) -> None:
    """It needs a campaign or user whose engagements are meant, first."""
    refused = add(box, "ENGAGEMENT_TYPE", "IMPRESSION")
    add(box, "CAMPAIGN_ENGAGEMENT", "8x3fz")
    odd = add(box, "ENGAGEMENT_TYPE", "CLICK")

    assert refusal(refused) == (400, [("INVALID_PARAMETER", "targeting_type")])
    assert refusal(odd) == (400, [("INVALID_PARAMETER", "targeting_value")])
    assert data_of(add(box, "ENGAGEMENT_TYPE", "VIDEO_VIEW_PARTIAL"))["deleted"] is False


def test_a_show_needs_locations_in_its_market(box: Sandbox) -> None:
    """All locations must be in a country of the show; excluded ones do not count."""
    show = "10027243421"  # in the United States and Canada
    add(box, "LOCATION", GERMANY, "NE")
    none = add(box, "TV_SHOW", show)
    add(box, "LOCATION", US)
    inside = add(box, "TV_SHOW", show)
    unlisted = add(box, "TV_SHOW", "1")
    add(box, "LOCATION", UK)
    outside = add(box, "TV_SHOW", show)

    assert refusal(none) == (400, [("INVALID_TV_SHOW_LOCATIONS", "targeting_value")])
    assert data_of(inside)["name"] == "The Long Roast"
    assert data_of(unlisted)["name"] == "1"
    assert refusal(outside) == (400, [("TV_SHOW_OUTSIDE_MARKET", "targeting_value")])


def test_a_localized_name(box: Sandbox) -> None:
    """With lang, criteria whose name is known in that language have it."""
    listed = get(box, "targeting_criteria", line_item_ids=CLICKS, lang="de")
    read = load(box, "targeting_criteria/8ptk3", lang="de")
    plain = load(box, "targeting_criteria/8ptk3")
    names = [record.get("localized_name") for record in data_of(listed)]
    assert names == ["Vereinigte Staaten", None, None]
    assert (read["localized_name"], "localized_name" in plain) == ("Vereinigte Staaten", False)


def test_criteria_below_a_deleted_line_item(box: Sandbox) -> None:
    """They are shown only with_deleted, with deleted: false."""
    assert delete(box, f"line_items/{CLICKS}").status_code == 200
    shown = load(box, "targeting_criteria", line_item_ids=CLICKS, with_deleted="true")

    assert [] == load(box, "targeting_criteria", line_item_ids=CLICKS)
    assert [False, False, False] == [record["deleted"] for record in shown]
    assert get(box, "targeting_criteria/8ptk3").status_code == 404


def test_a_new_location_counts_for_curated_categories(box: Sandbox) -> None:
    """A category is available for a line item only in the countries that it targets."""
    category = "8tujtb9xo5ts"  # in Great Britain, Germany and Spain
    link = {"line_item_id": EMPTY, "curated_category_id": category}
    add(box, "LOCATION", US)
    refused = post(box, "line_item_curated_categories", **link)
    add(box, "LOCATION", GERMANY)

    assert refusal(refused) == (400, [("INVALID_PARAMETER", "curated_category_id")])
    assert post(box, "line_item_curated_categories", **link).status_code == 200


def test_targeted_follows_new_criteria(box: Sandbox) -> None:
    """An audience's campaigns and line items are those of its criteria, new and deleted ones."""
    path = f"custom_audiences/{TARGETABLE}/targeted"
    made = data_of(add(box, "CUSTOM_AUDIENCE", TARGETABLE, line_item=PREROLL))
    with_new = get(box, path, with_active="false").text
    delete(box, f"targeting_criteria/{made['id']}")
    without = get(box, path, with_active="false").text

    assert PREROLL in with_new
    assert PREROLL not in without
