"""Advertiser business categories (document B)."""

from __future__ import annotations

import re

import pytest

from tests.support import BEARER, NORTHBIKE, Sandbox

PATH = "/12/advertiser_business_categories"


@pytest.mark.spec("B, Advertiser business category", "id, name, iab_categories")
@pytest.mark.spec("B, Accounts", "GET /12/advertiser_business_categories")
def test_all_of_them(box: Sandbox) -> None:
    """All categories come on one page: id, name and IAB codes, nothing else."""
    body = box.call("GET", PATH).get_json()

    assert body["request"] == {"params": {}}
    assert body["next_cursor"] is None
    assert len(body["data"]) >= 8
    assert all(set(category) == {"id", "name", "iab_categories"} for category in body["data"])


@pytest.mark.spec("B, Advertiser business category", "id, name, iab_categories")
def test_codes(box: Sandbox) -> None:
    """Codes have the IAB's form, and no code is in two categories."""
    data = box.call("GET", PATH).get_json()["data"]
    codes = [code for category in data for code in category["iab_categories"]]

    assert all(re.fullmatch(r"IAB\d{1,2}(-\d{1,2})?", code) for code in codes)
    assert len(codes) == len(set(codes))
    assert {"IAB8", "IAB8-5"} <= set(codes)


def test_the_same_for_everybody(box: Sandbox) -> None:
    """The categories belong to no account: every user sees the same ones."""
    mine = box.call("GET", PATH).get_json()

    assert box.call("GET", PATH, keys=NORTHBIKE).get_json() == mine
    assert box.call("GET", PATH, keys=BEARER).get_json() == mine


def test_needs_a_caller(box: Sandbox) -> None:
    """Without credentials they are not shown."""
    assert box.call("GET", PATH, keys=None).status_code == 401


def test_what_is_stored_is_listed(box: Sandbox) -> None:
    """A category that is added to the world is listed."""
    added = {"id": "zz", "name": "Pets", "iab_categories": ["IAB16"]}
    box.put("advertiser_business_categories", "zz", added)

    assert box.call("GET", PATH).get_json()["data"][-1] == added
