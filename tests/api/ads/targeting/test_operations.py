"""Targeting criteria: every rule of the public documentation, just inside and just outside."""

from __future__ import annotations

from typing import Any

import pytest
from werkzeug.test import TestResponse

from mock_platform.api.ads.targeting.criteria import MOST, TYPES
from tests.api.ads.line_items.parts import CLICKS, DELETED, FOREIGN, PREROLL, call, data, history
from tests.support import Sandbox, faults, refusal

OWN_USER, NORTHBIKE_USER = "2244994945", "3805104374"
US, UK, GERMANY = "96683cc9126741d1", "6416b8512febefc9", "fdcd221ac44fa326"
TARGETABLE, SMALL, SHARED, FOREIGN_AUDIENCE, GONE = "1nmth", "2b4kp", "4q7sd", "3k2pf", "2d0aa"
EMPTY = "iumz0"
"""A line item without criteria."""


def add(
    box: Sandbox, type_: str, value: str, operator: str = "EQ", line_item: str = EMPTY
) -> TestResponse:
    """Add a criterion to a line item."""
    return call(
        box, "POST", "targeting_criteria", line_item_id=line_item, targeting_type=type_,
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
    made = add(box, "BROAD_KEYWORD", "espresso")
    record = data(made)
    key = record["id"]
    read = data(call(box, "GET", f"targeting_criteria/{key}"))
    listed = data(call(box, "GET", "targeting_criteria", line_item_ids=EMPTY))
    gone = data(call(box, "DELETE", f"targeting_criteria/{key}"))
    again = call(box, "DELETE", f"targeting_criteria/{key}")

    assert record == read == listed[0]
    assert {name: record[name] for name in list(record) if name != "id"} == {
        "line_item_id": EMPTY,
        "name": "espresso",
        "targeting_type": "BROAD_KEYWORD",
        "targeting_value": "espresso",
        "operator_type": "EQ",
        "created_at": record["created_at"],
        "updated_at": record["created_at"],
        "deleted": False,
    }
    assert (gone["deleted"], gone["operator_type"]) == (True, "EQ")
    assert refusal(again) == (404, [("TARGETING_CRITERION_NOT_FOUND", "targeting_criterion_id")])
    assert [] == data(call(box, "GET", "targeting_criteria", line_item_ids=EMPTY))
    assert ["CREATE", "DELETE"] == history(box, "TARGETING_CRITERIA", key)


def test_the_list_needs_line_items(box: Sandbox) -> None:
    """Without line_item_ids the list is refused, in the words of the live service."""
    response = call(box, "GET", "targeting_criteria")

    assert faults(response) == [("MISSING_PARAMETER", "line_item_ids")]
    message = response.get_json()["errors"][0]["message"]
    assert message == '"line_item_ids" is a required parameter'


@pytest.mark.parametrize(("number", "status"), [(200, 200), (201, 400)])
def test_two_hundred_line_items(box: Sandbox, number: int, status: int) -> None:
    """Up to 200 line items are taken, unknown ones have no criteria."""
    ids = ",".join([CLICKS, *(f"x{index}" for index in range(number - 1))])

    assert call(box, "GET", "targeting_criteria", line_item_ids=ids).status_code == status


def test_operator_type_is_required(box: Sandbox) -> None:
    """The single creation is refused without it, word for word as by the live service."""
    response = call(
        box, "POST", "targeting_criteria", line_item_id=EMPTY, targeting_type="BROAD_KEYWORD",
        targeting_value="espresso",
    )  # fmt: skip

    assert refusal(response) == (400, [("MISSING_PARAMETER", "operator_type")])
    message = response.get_json()["errors"][0]["message"]
    assert message == '"operator_type" is a required parameter'


def test_there_is_no_update(box: Sandbox) -> None:
    """The reference of the public interface has none: 405."""
    assert call(box, "PUT", "targeting_criteria/8ptm9").status_code == 405


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
    record = data(add(box, type_, value))

    assert record["name"] == name
    assert more == {key: record[key] for key in ("location_type",) if key in record}


@pytest.mark.parametrize("type_", TYPES)
def test_every_type_is_known(box: Sandbox, type_: str) -> None:
    """No type of the public list is refused as a type."""
    assert "INVALID_TARGETING_TYPE" not in add(box, type_, "x", "NE").text


def test_an_unknown_type(box: Sandbox) -> None:
    """The refusal names all types in the live service's words."""
    response = add(box, "KEYWORD", "espresso")

    assert refusal(response) == (400, [("INVALID_TARGETING_TYPE", "targeting_type")])
    message = response.get_json()["errors"][0]["message"]
    expected = f'Expected a value in {", ".join(TYPES)}, got "KEYWORD" for targeting_type'
    assert message == expected


REFUSED: list[Any] = [
    ("GENDER", "3", "EQ", 400, [("INVALID_PARAMETER", "targeting_value")]),
    ("PLATFORM", "5", "EQ", 400, [("INVALID_PARAMETER", "targeting_value")]),
    ("AGE", "AGE_21", "EQ", 400, [("INVALID_PARAMETER", "targeting_value")]),
    ("APP_LIST", "ab", "EQ", 400, [("INVALID_PARAMETER", "operator_type")]),
    ("CONTENT_PUBLISHER_USER", "12", "EQ", 400, [("INVALID_PARAMETER", "operator_type")]),
    ("NETWORK_ACTIVATION_DURATION", "3", "EQ", 400, [("INVALID_PARAMETER", "operator_type")]),
    ("NETWORK_ACTIVATION_DURATION", "3", "NE", 400, [("INVALID_PARAMETER", "operator_type")]),
    ("BROAD_KEYWORD", "a", "IN", 400, [("INVALID_PARAMETER", "operator_type")]),
    ("CUSTOM_AUDIENCE", SMALL, "EQ", 400, [("INVALID_PARAMETER", "targeting_value")]),
    ("CUSTOM_AUDIENCE", FOREIGN_AUDIENCE, "EQ", 404, [("NOT_FOUND", "targeting_value")]),
    ("CUSTOM_AUDIENCE_EXPANDED", GONE, "EQ", 404, [("NOT_FOUND", "targeting_value")]),
    ("FOLLOWERS_OF_USER", NORTHBIKE_USER, "EQ", 400, [("INVALID_PARAMETER", "targeting_value")]),
    ("USER_ENGAGEMENT", NORTHBIKE_USER, "EQ", 400, [("INVALID_PARAMETER", "targeting_value")]),
    ("CAMPAIGN_ENGAGEMENT", "9b5qk", "EQ", 404, [("CAMPAIGN_NOT_FOUND", "targeting_value")]),
    ("TV_SHOW", "10027243420", "EQ", 400, [("INVALID_TV_SHOW_LOCATIONS", "targeting_value")]),
]


@pytest.mark.parametrize(("type_", "value", "operator", "status", "errors"), REFUSED)
def test_what_is_refused(
    box: Sandbox, type_: str, value: str, operator: str, status: int, errors: Any
) -> None:
    """A criterion that breaks a rule of its type is refused and not stored."""
    before = box.world.store.count("targeting_criteria")

    assert refusal(add(box, type_, value, operator)) == (status, errors)
    assert box.world.store.count("targeting_criteria") == before


@pytest.mark.parametrize(
    ("type_", "operator"),
    [
        ("APP_LIST", "NE"),
        ("CONTENT_PUBLISHER_USER", "NE"),
        ("NETWORK_ACTIVATION_DURATION", "LT"),
        ("NETWORK_ACTIVATION_DURATION", "GTE"),
        ("PHRASE_KEYWORD", "NE"),
    ],
)
def test_operators_of_a_type(box: Sandbox, type_: str, operator: str) -> None:
    """Each type takes the operators that are its own."""
    assert data(add(box, type_, "3", operator))["operator_type"] == operator


@pytest.mark.parametrize("line_item", [DELETED, FOREIGN, "unknown"])
def test_the_line_item_must_be_there(box: Sandbox, line_item: str) -> None:
    """A deleted, foreign or unknown line item answers 404."""
    response = add(box, "BROAD_KEYWORD", "espresso", line_item=line_item)

    assert refusal(response) == (404, [("LINE_ITEM_NOT_FOUND", "line_item_id")])


VALUE_OF = {"AGE": "AGE_OVER_18"}


@pytest.mark.parametrize("types", MOST)
def test_how_many_of_a_type(box: Sandbox, types: tuple[str, ...]) -> None:
    """The last one within the limit is taken, the next one refused; deleted ones do not count."""
    fill(box, types[0], MOST[types] - 1)
    last = add(box, types[-1], VALUE_OF.get(types[-1], "last"))
    refused = add(box, types[0], VALUE_OF.get(types[0], "beyond"))
    call(box, "DELETE", f"targeting_criteria/{data(last)['id']}")

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
    assert data(add(box, "ENGAGEMENT_TYPE", "VIDEO_VIEW_PARTIAL"))["deleted"] is False


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
    assert data(inside)["name"] == "The Long Roast"
    assert data(unlisted)["name"] == "1"
    assert refusal(outside) == (400, [("TV_SHOW_OUTSIDE_MARKET", "targeting_value")])


def test_a_localized_name(box: Sandbox) -> None:
    """With lang, criteria whose name is known in that language have it."""
    listed = call(box, "GET", "targeting_criteria", line_item_ids=CLICKS, lang="de")
    read = data(call(box, "GET", "targeting_criteria/8ptk3", lang="de"))
    plain = data(call(box, "GET", "targeting_criteria/8ptk3"))
    odd = call(box, "GET", "targeting_criteria/8ptk3", lang="German")

    names = [record.get("localized_name") for record in data(listed)]
    assert names == ["Vereinigte Staaten", None, None]
    assert (read["localized_name"], "localized_name" in plain) == ("Vereinigte Staaten", False)
    assert refusal(odd) == (400, [("INVALID_PARAMETER", "lang")])


def test_criteria_below_a_deleted_line_item(box: Sandbox) -> None:
    """They are shown only with_deleted, with deleted: false."""
    assert call(box, "DELETE", f"line_items/{CLICKS}").status_code == 200
    shown = data(call(box, "GET", "targeting_criteria", line_item_ids=CLICKS, with_deleted="true"))

    assert [] == data(call(box, "GET", "targeting_criteria", line_item_ids=CLICKS))
    assert [False, False, False] == [record["deleted"] for record in shown]
    assert call(box, "GET", "targeting_criteria/8ptk3").status_code == 404


def test_a_new_location_counts_for_curated_categories(box: Sandbox) -> None:
    """A category is available for a line item only in the countries that it targets."""
    category = "8tujtb9xo5ts"  # in Great Britain, Germany and Spain
    link = {"line_item_id": EMPTY, "curated_category_id": category}
    add(box, "LOCATION", US)
    refused = call(box, "POST", "line_item_curated_categories", **link)
    add(box, "LOCATION", GERMANY)

    assert refusal(refused) == (400, [("INVALID_PARAMETER", "curated_category_id")])
    assert call(box, "POST", "line_item_curated_categories", **link).status_code == 200


def test_targeted_follows_new_criteria(box: Sandbox) -> None:
    """An audience's campaigns and line items are those of its criteria, new and deleted ones."""
    path = f"custom_audiences/{TARGETABLE}/targeted"
    made = data(add(box, "CUSTOM_AUDIENCE", TARGETABLE, line_item=PREROLL))
    with_new = call(box, "GET", path, with_active="false").text
    call(box, "DELETE", f"targeting_criteria/{made['id']}")
    without = call(box, "GET", path, with_active="false").text

    assert PREROLL in with_new
    assert PREROLL not in without
