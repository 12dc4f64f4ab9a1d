"""Line item curated categories (document B): links, their ends, and the category's countries."""

from __future__ import annotations

from typing import Any

import pytest
from werkzeug.test import TestResponse

from tests.support import ACCOUNT, NORTHBIKE, OTHER_ACCOUNT, Sandbox, faults, sandbox

PATH = f"/12/accounts/{ACCOUNT}/line_item_curated_categories"
PREROLL, VIDEO, GERMAN = "iuc5v", "iufm7", "iv7pd"
NORTH_AMERICA, ENGLISH = "8tujl1p3yn0g", "b0xt8tz3fx8g"


@pytest.fixture
def box() -> Sandbox:
    """A fresh sandbox."""
    return sandbox()


def call(box: Sandbox, method: str, key: str = "", **params: Any) -> TestResponse:
    """One request."""
    path = f"{PATH}/{key}" if key else PATH
    return box.call(method, path, query_string=params)


def test_links_are_listed(box: Sandbox) -> None:
    """Deleted links are left out unless asked for; pages and totals work."""
    live = call(box, "GET").get_json()
    everything = call(box, "GET", with_deleted="true", with_total_count="true").get_json()
    first = call(box, "GET", count="2").get_json()
    second = call(box, "GET", count="2", cursor=first["next_cursor"]).get_json()

    assert [link["id"] for link in live["data"]] == ["1bx2k", "1bx2m", "1bx2q"]
    assert everything["total_count"] == 4
    assert [link["id"] for link in second["data"]] == ["1bx2q"]
    assert live["data"][0] == {
        "id": "1bx2k",
        "line_item_id": PREROLL,
        "curated_category_id": NORTH_AMERICA,
        "created_at": "2026-05-03T10:00:00Z",
        "updated_at": "2026-05-03T10:00:00Z",
        "deleted": False,
    }


@pytest.mark.parametrize(
    ("params", "status"),
    [({"count": "1"}, 200), ({"count": "1000"}, 200), ({"count": "0"}, 400),
     ({"count": "1001"}, 400), ({"with_total_count": "true", "cursor": "x"}, 400)],
)  # fmt: skip
def test_list_bounds(box: Sandbox, params: dict[str, str], status: int) -> None:
    """A count is 1 to 1000, and with_total_count excludes cursor."""
    assert call(box, "GET", **params).status_code == status


def test_a_link_is_created_changed_and_deleted(box: Sandbox) -> None:
    """What one call does, the next ones show; a second delete finds nothing."""
    made = call(box, "POST", line_item_id=VIDEO, curated_category_id=ENGLISH).get_json()["data"]
    key = made["id"]
    moved = call(box, "PUT", key, curated_category_id=NORTH_AMERICA).get_json()["data"]
    same = call(box, "PUT", key).get_json()["data"]
    gone = call(box, "DELETE", key).get_json()["data"]
    again = call(box, "DELETE", key)
    hidden = call(box, "GET", key)
    shown = call(box, "GET", key, with_deleted="true").get_json()["data"]

    assert (made["line_item_id"], made["curated_category_id"]) == (VIDEO, ENGLISH)
    assert (moved["line_item_id"], moved["curated_category_id"]) == (VIDEO, NORTH_AMERICA)
    assert same == moved
    assert (gone["deleted"], shown) == (True, gone)
    for response in (again, hidden):
        assert (response.status_code, faults(response)) == (
            404,
            [("NOT_FOUND", "line_item_curated_category_id")],
        )


@pytest.mark.parametrize(
    ("params", "status", "expected"),
    [
        (
            {},
            400,
            [("MISSING_PARAMETER", "curated_category_id"), ("MISSING_PARAMETER", "line_item_id")],
        ),
        (
            {"line_item_id": "nope", "curated_category_id": ENGLISH},
            404,
            [("LINE_ITEM_NOT_FOUND", "line_item_id")],
        ),
        (
            {"line_item_id": GERMAN, "curated_category_id": ENGLISH},
            404,
            [("LINE_ITEM_NOT_FOUND", "line_item_id")],
        ),
        (
            {"line_item_id": VIDEO, "curated_category_id": "nope"},
            404,
            [("NOT_FOUND", "curated_category_id")],
        ),
    ],
)
def test_both_ends_must_exist(
    box: Sandbox, params: dict[str, str], status: int, expected: list[tuple[str, str]]
) -> None:
    """Both parameters are required and name records that the account may use."""
    response = call(box, "POST", **params)

    assert (response.status_code, sorted(faults(response))) == (status, expected)


def test_a_category_is_available_only_in_its_countries(box: Sandbox) -> None:
    """A line item that targets none of a category's countries cannot be linked to it."""
    path = f"/12/accounts/{OTHER_ACCOUNT}/line_item_curated_categories"
    sent = {"line_item_id": GERMAN, "curated_category_id": NORTH_AMERICA}
    refused = box.call("POST", path, keys=NORTHBIKE, query_string=sent)
    box.change("curated_categories", NORTH_AMERICA, country_codes=["DE"])
    taken = box.call("POST", path, keys=NORTHBIKE, query_string=sent)

    assert (refused.status_code, faults(refused)) == (
        400,
        [("INVALID_PARAMETER", "curated_category_id")],
    )
    assert taken.status_code == 200


def test_an_update_is_checked_like_a_creation(box: Sandbox) -> None:
    """A link cannot be pointed at what does not exist."""
    response = call(box, "PUT", "1bx2k", curated_category_id="nope")

    assert response.status_code == 404
    assert box.record("line_item_curated_categories", "1bx2k")["curated_category_id"] == (
        NORTH_AMERICA
    )
