"""Placements by product type (document B, "Accounts")."""

from __future__ import annotations

import pytest

from tests.support import NORTHBIKE, Sandbox

PATH = "/12/line_items/placements"


@pytest.mark.spec("B, Accounts", "GET /12/line_items/placements")
def test_placements(box: Sandbox) -> None:
    """Every product type is listed, with combinations as arrays of arrays, or the one asked for.

    They belong to no account.
    """
    body = box.read(PATH)
    kinds = ["MEDIA", "PROMOTED_ACCOUNT", "PROMOTED_POSTS"]
    both = ["ALL_ON_PLATFORM", "PUBLISHER_NETWORK"]

    assert set(body) == {"request", "data"}
    assert [entry["product_type"] for entry in body["data"]] == kinds
    assert body["data"][0]["placements"] == [both[:1], both[1:], both]
    for number, kind in enumerate(kinds):
        request = {"params": {"product_type": kind}}
        one = {"request": request, "data": [body["data"][number]]}
        assert box.read(PATH, product_type=kind) == one
    assert box.read(PATH, keys=NORTHBIKE) == body


def test_fixture_line_items_fit(box: Sandbox) -> None:
    """Every shipped line item has a combination that is listed for its product type."""
    listed = {entry["product_type"]: entry["placements"] for entry in box.read(PATH)["data"]}

    for entry in box.world.store.page("line_items"):
        listed_sets = map(set, listed[entry.record["product_type"]])
        assert set(entry.record["placements"]) in listed_sets, entry.key
