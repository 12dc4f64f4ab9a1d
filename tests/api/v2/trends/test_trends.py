"""Trends: of places by their WOEID, and of the caller."""

from __future__ import annotations

from typing import Any

import pytest

from tests.refusals import Refusal, make_refusal_test
from tests.support import BEARER, NORTHBIKE, USER_TOKEN, Sandbox

SETTINGS = {"dataset": "small"}
WORLD, PERSONAL = "/2/trends/by/woeid/1", "/2/users/personalized_trends"


def test_trends_of_a_place(box: Sandbox) -> None:
    """The first 20 of a place are shown as ranked, or as many as are asked for; counts may miss."""
    stored = box.record("trend_places", "1")["trends"]

    assert {"data": stored[:20]} == box.read(WORLD, keys=BEARER)
    assert stored[:21] == box.read(WORLD, keys=USER_TOKEN, max_trends=21)["data"]
    assert stored == box.read(WORLD, keys=BEARER, max_trends=50)["data"]
    query: Any = {"trend.fields": "trend_name"}
    london = box.read("/2/trends/by/woeid/44418", keys=BEARER, **query)["data"]
    assert {"trend_name": "Night trains", "post_count": 18_040} == london[0]
    assert {"trend_name": "Old ferries"} == london[2]


@pytest.mark.parametrize(
    "woeid", ["23424977", "23424975", "23424856", "2459115", "2442047", "1118370"]
)
def test_the_public_places(box: Sandbox, woeid: str) -> None:
    """The places that the public pages name have trends."""
    assert box.read(f"/2/trends/by/woeid/{woeid}", keys=BEARER)["data"]


def test_trends_of_the_caller(box: Sandbox) -> None:
    """Each user has trends of its own, whose counts are texts; a user without any has none."""
    own, other = box.read(PERSONAL)["data"], box.read(PERSONAL, keys=NORTHBIKE)["data"]
    query: Any = {"personalized_trend.fields": "trend_name,category"}

    assert box.record("personal_trends", "2244994945")["trends"] == own != other
    assert {"category": "Food", "trend_name": "#ColdBrew"} == box.read(PERSONAL, **query)["data"][0]
    box.remove("personal_trends", "2244994945")
    assert {} == box.read(PERSONAL)


def test_no_field_of_a_trend_is_needed(box: Sandbox) -> None:
    """Whoever asks for one field gets that one alone, as the description says; a record has all."""
    query: Any = {"personalized_trend.fields": "category"}
    schemas = box.client.get("/2/openapi.json").get_json()["components"]["schemas"]
    unnamed = {"user_id": "2244994945", "trends": [{"category": "Food"}]}

    assert {"category": "Food"} == box.read(PERSONAL, **query)["data"][0]
    assert "required" not in schemas["PersonalTrend"]
    path = "/_mock/state/personal_trends/2244994945"
    assert 422 == box.client.put(path, json=unnamed).status_code


REFUSED = [
    Refusal("GET /2/trends/by/woeid/2147483648", "a large number", 400, keys=BEARER,
            messages=["[2147483648] is not valid"]),
    Refusal("GET /2/trends/by/woeid/2147483647", "the largest number", 404, keys=BEARER,
            problem="resource-not-found"),
    Refusal("GET /2/trends/by/woeid/seattle", "a name", 400, keys=BEARER,
            messages=["[seattle] is not valid"]),
]  # fmt: skip
test_what_is_refused = make_refusal_test(REFUSED)
