"""Placements by product type (document B, "Accounts")."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support import NORTHBIKE, Sandbox

PATH = "/12/line_items/placements"


def data(box: Sandbox, **params: str) -> Any:
    """What is answered."""
    response = box.call("GET", PATH, query_string=params)
    assert response.status_code == 200, response.get_json()
    return response.get_json()["data"]


@pytest.mark.spec("B, Accounts", "GET /12/line_items/placements")
def test_all_product_types(box: Sandbox) -> None:
    """Without a filter every product type is listed, with combinations as arrays of arrays."""
    body = box.call("GET", PATH).get_json()

    assert set(body) == {"request", "data"}
    assert [entry["product_type"] for entry in body["data"]] == [
        "MEDIA",
        "PROMOTED_ACCOUNT",
        "PROMOTED_POSTS",
    ]
    assert body["data"][0] == {
        "product_type": "MEDIA",
        "placements": [
            ["ALL_ON_PLATFORM"],
            ["PUBLISHER_NETWORK"],
            ["ALL_ON_PLATFORM", "PUBLISHER_NETWORK"],
        ],
    }


@pytest.mark.spec("B, Accounts", "GET /12/line_items/placements")
@pytest.mark.parametrize("product_type", ["MEDIA", "PROMOTED_ACCOUNT", "PROMOTED_POSTS"])
def test_one_product_type(box: Sandbox, product_type: str) -> None:
    """product_type leaves one of them and is echoed."""
    body = box.call("GET", PATH, query_string={"product_type": product_type}).get_json()

    assert [entry["product_type"] for entry in body["data"]] == [product_type]
    assert body["request"] == {"params": {"product_type": product_type}}


def test_belongs_to_no_account(box: Sandbox) -> None:
    """Every user sees the same ones; without credentials they are not shown."""
    assert box.call("GET", PATH, keys=NORTHBIKE).get_json()["data"] == data(box)
    assert box.call("GET", PATH, keys=None).status_code == 401


def test_fixture_line_items_fit(box: Sandbox) -> None:
    """Every shipped line item has a combination that is listed for its product type."""
    listed = {
        entry["product_type"]: [set(combination) for combination in entry["placements"]]
        for entry in data(box)
    }
    line_items = box.world.store.page("line_items")

    assert [
        entry.key
        for entry in line_items
        if set(entry.record["placements"]) not in listed[entry.record["product_type"]]
    ] == []
