"""Curated categories by country, and advertiser business categories (document B)."""

from __future__ import annotations

import re
from typing import Any

import pytest
from werkzeug.test import TestResponse

from mock_platform.core.codes import list_countries
from tests.support import ACCOUNT, BEARER, NORTHBIKE, OTHER_ACCOUNT, Sandbox, faults

PATH = f"/12/accounts/{ACCOUNT}/curated_categories"
FOOD, LIFESTYLE, FOOTBALL, CYCLING, ANIME, CRICKET, NOVELAS = ALL = [
    "8tujl1p3yn0g", "b0xt8tz3fx8g", "8tujtb9xo5ts", "aq1v0m52z7uo", "c83khy6p1d4w",
    "94mhq7tzb2x0", "a7pe41nkv9cs",
]  # fmt: skip


def ask(box: Sandbox, **params: Any) -> TestResponse:
    """One page."""
    return box.call("GET", PATH, query_string=params)


def ids(response: TestResponse) -> list[str]:
    """Ids of the categories on a page."""
    assert response.status_code == 200, response.get_json()
    return [category["id"] for category in response.get_json()["data"]]


class TestList:
    """GET /12/accounts/:account_id/curated_categories."""

    @pytest.mark.spec("B, Curated category", "id, name, description")
    @pytest.mark.spec("B, Accounts", "GET /12/accounts/:account_id/curated_categories: list")
    @pytest.mark.spec("B, What public facts and settled questions add", "Curated categories")
    def test_shape(self, box: Sandbox) -> None:
        """A category has the documented fields; the total is there without being asked for."""
        body = ask(box).get_json()

        assert body["request"] == {"params": {"account_id": ACCOUNT}}
        assert body["total_count"] == len(body["data"]) == 7
        assert body["next_cursor"] is None
        assert body["data"][0] == {
            "id": FOOD,
            "name": "Food and cooking",
            "description": "Recipes, chefs and kitchens.",
            "country_codes": ["US", "CA"],
            "publisher_user_ids": ["807095", "14511951", "16211434"],
            "videos_monetized_in_last_thirty_days": 1284,
            "created_at": "2024-06-03T17:20:11Z",
            "updated_at": "2026-11-01T03:00:00Z",
        }

    @pytest.mark.spec("B, Curated category", "Each is available")
    @pytest.mark.parametrize(
        ("codes", "expected"),
        [
            ("US", [FOOD, LIFESTYLE, ANIME]),
            ("DE", [FOOTBALL, CYCLING]),
            ("DE,JP", [FOOTBALL, CYCLING, ANIME]),
            ("JP, DE", [FOOTBALL, CYCLING, ANIME]),
            ("BR,MX", [NOVELAS]),
            ("SE", []),
        ],
    )
    def test_by_country(self, box: Sandbox, codes: str, expected: list[str]) -> None:
        """Those available in one of the countries are listed and counted; the codes are echoed."""
        response = ask(box, country_codes=codes)
        body = response.get_json()

        assert ids(response) == expected
        assert body["total_count"] == len(expected)
        assert body["request"]["params"]["country_codes"] == codes.replace(" ", "").split(",")

    @pytest.mark.spec("B, Accounts", "GET /12/accounts/:account_id/curated_categories: list")
    def test_pages_of_a_country(self, box: Sandbox) -> None:
        """Pages hold what the filter leaves; every page has the whole total."""
        first = ask(box, country_codes="US", count=2)
        second = ask(box, country_codes="US", count=2, cursor=first.get_json()["next_cursor"])

        assert (ids(first), ids(second)) == ([FOOD, LIFESTYLE], [ANIME])
        assert [r.get_json()["total_count"] for r in (first, second)] == [3, 3]

    def test_total_if_asked_for(self, box: Sandbox) -> None:
        """Asking for the total changes nothing, but excludes a cursor as everywhere."""
        page = ask(box, with_total_count="true", count=3).get_json()

        response = ask(box, with_total_count="true", cursor=page["next_cursor"])

        assert (page["total_count"], len(page["data"])) == (7, 3)
        assert faults(response) == [("EXCLUSIVE_PARAMETERS", "with_total_count")]

    @pytest.mark.spec("B, Accounts", "GET /12/accounts/:account_id/curated_categories: list")
    @pytest.mark.parametrize(
        ("attribute", "ascending"),
        [
            ("created_at", ALL),
            ("name", [ANIME, CRICKET, CYCLING, FOOD, FOOTBALL, LIFESTYLE, NOVELAS]),
            ("updated_at", [NOVELAS, ANIME, FOOD, LIFESTYLE, CYCLING, FOOTBALL, CRICKET]),
        ],
    )
    def test_sort(self, box: Sandbox, attribute: str, ascending: list[str]) -> None:
        """Name and timestamps sort both ways."""
        assert ids(ask(box, sort_by=f"{attribute}-asc")) == ascending
        assert ids(ask(box, sort_by=f"{attribute}-desc")) == ascending[::-1]

    def test_every_account_sees_all(self, box: Sandbox) -> None:
        """The categories are the same under each account of the caller, and only there."""
        path = f"/12/accounts/{OTHER_ACCOUNT}/curated_categories"

        assert ids(box.call("GET", path, keys=NORTHBIKE)) == ALL
        assert faults(box.call("GET", path)) == [("ACCOUNT_NOT_FOUND", "account_id")]

    def test_fixtures(self, box: Sandbox) -> None:
        """The shipped categories have real countries, differing ones, and ids of 12 characters."""
        codes = [tuple(c["country_codes"]) for c in ask(box).get_json()["data"]]
        known = list_countries()

        assert {code for group in codes for code in group} <= known
        assert len(set(codes)) == len(codes)
        assert {len(key) for key in ALL} == {12}


class TestGet:
    """GET /12/accounts/:account_id/curated_categories/:curated_category_id."""

    @pytest.mark.spec("operations", "curated_categories.get")
    def test_one(self, box: Sandbox) -> None:
        """One category is as in the list, under data."""
        body = box.call("GET", f"{PATH}/{CYCLING}").get_json()

        assert body["data"] == ask(box).get_json()["data"][3]
        assert body["request"]["params"] == {"account_id": ACCOUNT, "id": CYCLING}


BUSINESSES = "/12/advertiser_business_categories"


@pytest.mark.spec("B, Advertiser business category", "id, name, iab_categories")
@pytest.mark.spec("B, Accounts", "GET /12/advertiser_business_categories")
def test_all_of_them(box: Sandbox) -> None:
    """All categories come on one page: id, name and IAB codes, nothing else."""
    body = box.call("GET", BUSINESSES).get_json()

    assert body["request"] == {"params": {}}
    assert body["next_cursor"] is None
    assert len(body["data"]) >= 8
    assert all(set(category) == {"id", "name", "iab_categories"} for category in body["data"])


@pytest.mark.spec("B, Advertiser business category", "id, name, iab_categories")
def test_codes(box: Sandbox) -> None:
    """Codes have the IAB's form, and no code is in two categories."""
    data = box.call("GET", BUSINESSES).get_json()["data"]
    codes = [code for category in data for code in category["iab_categories"]]

    assert all(re.fullmatch(r"IAB\d{1,2}(-\d{1,2})?", code) for code in codes)
    assert len(codes) == len(set(codes))
    assert {"IAB8", "IAB8-5"} <= set(codes)


def test_the_same_for_everybody(box: Sandbox) -> None:
    """The categories belong to no account: every user sees the same ones."""
    mine = box.call("GET", BUSINESSES).get_json()

    assert box.call("GET", BUSINESSES, keys=NORTHBIKE).get_json() == mine
    assert box.call("GET", BUSINESSES, keys=BEARER).get_json() == mine


def test_business_categories_need_a_caller(box: Sandbox) -> None:
    """Without credentials they are not shown."""
    assert box.call("GET", BUSINESSES, keys=None).status_code == 401


def test_what_is_stored_is_listed(box: Sandbox) -> None:
    """A category that is added to the world is listed."""
    added = {"id": "zz", "name": "Pets", "iab_categories": ["IAB16"]}
    box.put("advertiser_business_categories", "zz", added)

    assert box.call("GET", BUSINESSES).get_json()["data"][-1] == added
