"""Curated categories by country, and advertiser business categories (document B)."""

from __future__ import annotations

import re

import pytest

from mock_platform.core.codes import list_countries
from tests.api.ads.support import BASE, echo, get, ids, load
from tests.support import ACCOUNT, BEARER, NORTHBIKE, OTHER_ACCOUNT, Sandbox, data_of

CATEGORIES = "curated_categories"
FOOD, LIFESTYLE, FOOTBALL, CYCLING, ANIME, CRICKET, NOVELAS = ALL = [
    "8tujl1p3yn0g", "b0xt8tz3fx8g", "8tujtb9xo5ts", "aq1v0m52z7uo", "c83khy6p1d4w",
    "94mhq7tzb2x0", "a7pe41nkv9cs",
]  # fmt: skip


@pytest.mark.spec("B, Curated category", "id, name, description")
@pytest.mark.spec("B, Accounts", "GET /12/accounts/:account_id/curated_categories: list")
@pytest.mark.spec("B, What public facts and settled questions add", "Curated categories")
@pytest.mark.spec("operations", "curated_categories.get")
def test_curated_categories(box: Sandbox) -> None:
    """A category has the documented fields; the total is there without being asked for."""
    body, one = get(box, CATEGORIES).get_json(), get(box, f"{CATEGORIES}/{FOOD}")

    assert body["request"] == {"params": {"account_id": ACCOUNT}}
    assert body["total_count"] == len(body["data"]) == 7
    assert body["next_cursor"] is None
    assert echo(one) == {"account_id": ACCOUNT, "id": FOOD}
    assert data_of(one) == body["data"][0] == {
        "id": FOOD, "name": "Food and cooking", "description": "Recipes, chefs and kitchens.",
        "country_codes": ["US", "CA"], "publisher_user_ids": ["807095", "14511951", "16211434"],
        "videos_monetized_in_last_thirty_days": 1284, "created_at": "2024-06-03T17:20:11Z",
        "updated_at": "2026-11-01T03:00:00Z",
    }  # fmt: skip


@pytest.mark.spec("B, Curated category", "Each is available")
@pytest.mark.parametrize(("codes", "expected"), [
    ("US", [FOOD, LIFESTYLE, ANIME]),
    ("DE", [FOOTBALL, CYCLING]),
    ("DE,JP", [FOOTBALL, CYCLING, ANIME]),
    ("JP, DE", [FOOTBALL, CYCLING, ANIME]),
    ("BR,MX", [NOVELAS]),
    ("SE", []),
])  # fmt: skip
def test_by_country(box: Sandbox, codes: str, expected: list[str]) -> None:
    """Those available in one of the countries are listed and counted; the codes are echoed.

    Pages hold what the filter leaves, and each has the whole total.
    """
    response, query = get(box, CATEGORIES, country_codes=codes), {"country_codes": codes}
    first = get(box, CATEGORIES, **query, count=1)
    cursor = first.get_json()["next_cursor"]
    second = box.ask("GET", f"{BASE}/{CATEGORIES}", **query, count="2", cursor=cursor)

    assert ids(response) == expected
    assert (ids(first), ids(second)) == (expected[:1], expected[1:] or expected)
    for answer in (response, first, second):
        assert answer.get_json()["total_count"] == len(expected)
    assert echo(response)["country_codes"] == codes.replace(" ", "").split(",")


def test_every_account_sees_all(box: Sandbox) -> None:
    """The categories are the same under each account of the caller."""
    path = f"/12/accounts/{OTHER_ACCOUNT}/curated_categories"

    assert ids(box.call("GET", path, keys=NORTHBIKE)) == ids(get(box, CATEGORIES)) == ALL


def test_fixtures(box: Sandbox) -> None:
    """The shipped categories have real countries, differing ones, and ids of 12 characters."""
    codes = [tuple(category["country_codes"]) for category in load(box, CATEGORIES)]

    assert {code for group in codes for code in group} <= list_countries()
    assert len(set(codes)) == len(codes)
    assert {len(key) for key in ALL} == {12}


BUSINESSES = "/12/advertiser_business_categories"


@pytest.mark.spec("B, Advertiser business category", "id, name, iab_categories")
@pytest.mark.spec("B, Accounts", "GET /12/advertiser_business_categories")
def test_business_categories(box: Sandbox) -> None:
    """All come on one page: id, name and codes in the IAB's form, each in one category.

    They belong to no account, and one that is added to the world is listed.
    """
    body = box.read(BUSINESSES)
    codes = [code for category in body["data"] for code in category["iab_categories"]]
    others = [box.read(BUSINESSES, keys=keys) for keys in (NORTHBIKE, BEARER)]
    added = {"id": "zz", "name": "Pets", "iab_categories": ["IAB16"]}
    box.put("advertiser_business_categories", "zz", added)

    assert (body["request"], body["next_cursor"]) == ({"params": {}}, None)
    assert len(body["data"]) >= 8
    assert all(set(category) == {"id", "name", "iab_categories"} for category in body["data"])
    assert all(re.fullmatch(r"IAB\d{1,2}(-\d{1,2})?", code) for code in codes)
    assert len(codes) == len(set(codes))
    assert {"IAB8", "IAB8-5"} <= set(codes)
    assert others == [body, body]
    assert box.read(BUSINESSES)["data"][-1] == added
