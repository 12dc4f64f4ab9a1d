"""Line item curated categories (document B): links, their ends, and the category's countries."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from werkzeug.test import TestResponse

from tests.support import ACCOUNT, NORTHBIKE, OTHER_ACCOUNT, Sandbox, faults, refusal

PATH = f"/12/accounts/{ACCOUNT}/line_item_curated_categories"
CLICKS, PREROLL, VIDEO, ENGAGEMENTS, GERMAN = (
    "itttx",  # targets US
    "iuc5v",  # targets US, GB
    "iufm7",  # excludes DE, targets none
    "iumz0",  # no location
    "iv7pd",  # another account's, targets DE
)
NORTH_AMERICA, ENGLISH, EUROPEAN, CYCLING = (
    "8tujl1p3yn0g",  # US, CA
    "b0xt8tz3fx8g",  # US, GB
    "8tujtb9xo5ts",  # GB, DE, ES
    "aq1v0m52z7uo",  # DE, FR, NL
)
CATEGORY = "curated_category_id"
FIRST, SECOND, THIRD, GONE, FOREIGN = "1bx2k", "1bx2m", "1bx2q", "1bx2t", "1bx4d"


def call(box: Sandbox, method: str, key: str = "", **params: Any) -> TestResponse:
    """One request."""
    path = f"{PATH}/{key}" if key else PATH
    return box.call(method, path, query_string=params)


@pytest.mark.spec("B, Line item curated category", "id, line_item_id")
@pytest.mark.spec("operations", "line_item_curated_categories.list")
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


@pytest.mark.spec("B, Line item curated categories", "PUT .../:line_item_curated_category_id")
@pytest.mark.spec("B, Line item curated categories", "DELETE .../:line_item_curated_category_id")
@pytest.mark.spec("B, States and transitions", "Account media, media")
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
        assert refusal(response) == (404, [("NOT_FOUND", "line_item_curated_category_id")])


@pytest.mark.spec("B, Line item curated categories", "POST .../line_item_curated_categories")
@pytest.mark.parametrize(("params", "status", "expected"), [
    ({}, 400, [("MISSING_PARAMETER", CATEGORY), ("MISSING_PARAMETER", "line_item_id")]),
    ({"line_item_id": "nope", CATEGORY: ENGLISH}, 404, [("LINE_ITEM_NOT_FOUND", "line_item_id")]),
    ({"line_item_id": GERMAN, CATEGORY: ENGLISH}, 404, [("LINE_ITEM_NOT_FOUND", "line_item_id")]),
    ({"line_item_id": VIDEO, CATEGORY: "nope"}, 404, [("NOT_FOUND", CATEGORY)]),
])  # fmt: skip
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

    assert refusal(refused) == (400, [("INVALID_PARAMETER", "curated_category_id")])
    assert taken.status_code == 200


def test_an_update_is_checked_like_a_creation(box: Sandbox) -> None:
    """A link cannot be pointed at what does not exist."""
    assert call(box, "PUT", "1bx2k", curated_category_id="nope").status_code == 404
    assert box.record("line_item_curated_categories", "1bx2k")["curated_category_id"] == (
        NORTH_AMERICA
    )


def listed(box: Sandbox, **params: str) -> list[str]:
    """Ids of one page."""
    return [link["id"] for link in call(box, "GET", **params).get_json()["data"]]


@pytest.mark.spec("operations", "line_item_curated_categories.list")
def test_links_are_sorted(box: Sandbox) -> None:
    """Timestamps and deleted sort both ways; what a link points at does not."""
    assert [FIRST, THIRD, SECOND] == listed(box, sort_by="updated_at-asc")
    assert [SECOND, THIRD, FIRST] == listed(box, sort_by="updated_at-desc")
    assert [THIRD, SECOND, FIRST] == listed(box, sort_by="created_at-desc")
    assert GONE == listed(box, sort_by="deleted-desc", with_deleted="true")[0]
    assert [("INVALID_PARAMETER", "sort_by")] == faults(
        call(box, "GET", sort_by="line_item_id-asc")
    )


@pytest.mark.spec("operations", "line_item_curated_categories.get")
def test_one_link_is_read(box: Sandbox) -> None:
    """It reads as it is listed, its id echoed; a deleted one only with with_deleted."""
    body = call(box, "GET", SECOND).get_json()

    assert call(box, "GET").get_json()["data"][1] == body["data"]
    assert body["request"]["params"] == {
        "account_id": ACCOUNT,
        "line_item_curated_category_id": SECOND,
    }
    assert 404 == call(box, "GET", GONE).status_code
    shown = call(box, "GET", GONE, with_deleted="true").get_json()["data"]
    assert (GONE, True) == (shown["id"], shown["deleted"])


@pytest.mark.spec("operations", "line_item_curated_categories.get")
@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
@pytest.mark.parametrize("key", ["nope", FOREIGN, GONE])
def test_a_link_out_of_reach_is_not_found(box: Sandbox, method: str, key: str) -> None:
    """An unknown link, one of another account and a deleted one are not found."""
    response = call(box, method, key)

    assert (404, [("NOT_FOUND", "line_item_curated_category_id")]) == refusal(response)


@pytest.mark.spec("B, Line item curated categories", "POST .../line_item_curated_categories")
@pytest.mark.spec("B, Common conventions", "Creation and update")
def test_a_new_link_stands_in_the_list(box: Sandbox) -> None:
    """It has an id and the world's time; what was sent is echoed."""
    box.world.clock.freeze(datetime(2026, 11, 20, 10, tzinfo=UTC))
    ends = {"line_item_id": PREROLL, "curated_category_id": ENGLISH}
    body = call(box, "POST", **ends).get_json()
    moments = dict.fromkeys(("created_at", "updated_at"), "2026-11-20T10:00:00Z")

    assert body["data"] == {"id": body["data"]["id"], **ends, **moments, "deleted": False}
    assert body["request"]["params"] == {"account_id": ACCOUNT, **ends}
    assert [FIRST, SECOND, THIRD, body["data"]["id"]] == listed(box)


@pytest.mark.spec("B, Line item curated categories", "POST .../line_item_curated_categories")
@pytest.mark.parametrize("name", ["line_item_id", "curated_category_id"])
def test_each_end_is_required(box: Sandbox, name: str) -> None:
    """Neither end may be absent or empty."""
    ends = {"line_item_id": PREROLL, "curated_category_id": NORTH_AMERICA}
    absent = call(box, "POST", **{key: value for key, value in ends.items() if key != name})
    empty = call(box, "POST", **ends | {name: ""})

    assert (400, [("MISSING_PARAMETER", name)]) == refusal(absent)
    assert (400, [("INVALID_PARAMETER", name)]) == refusal(empty)


@pytest.mark.spec("B, Line item curated categories", "POST .../line_item_curated_categories")
@pytest.mark.parametrize("line_item", ["iuqf4", "iv3k8"])
def test_deleted_and_other_line_items_cannot_be_linked(box: Sandbox, line_item: str) -> None:
    """A deleted line item, and one of the user's other account, are not found."""
    response = call(box, "POST", line_item_id=line_item, curated_category_id=ENGLISH)

    assert (404, [("LINE_ITEM_NOT_FOUND", "line_item_id")]) == refusal(response)


@pytest.mark.spec("B, Curated category", "Each is available")
@pytest.mark.parametrize(
    ("line_item", "category", "status"),
    [
        (CLICKS, NORTH_AMERICA, 200),  # US of US, CA
        (CLICKS, EUROPEAN, 400),  # US, but GB, DE, ES
        (PREROLL, EUROPEAN, 200),  # GB of GB, DE, ES
        (PREROLL, CYCLING, 400),  # US and GB, but DE, FR, NL
        (VIDEO, CYCLING, 200),  # an excluded country is not targeted
        (ENGAGEMENTS, CYCLING, 200),  # everywhere
    ],
)
def test_countries(box: Sandbox, line_item: str, category: str, status: int) -> None:
    """One country that is aimed at and available is enough; without any the link is refused."""
    response = call(box, "POST", line_item_id=line_item, curated_category_id=category)

    assert status == response.status_code
    assert (status == 400) == (len(listed(box)) == 3)


@pytest.mark.spec("B, Line item curated categories", "PUT .../:line_item_curated_category_id")
@pytest.mark.parametrize(
    "changes",
    [
        {"curated_category_id": ENGLISH},
        {"line_item_id": ENGAGEMENTS},
        {"line_item_id": ENGAGEMENTS, "curated_category_id": CYCLING},
    ],
)
def test_either_end_changes(box: Sandbox, changes: dict[str, str]) -> None:
    """Either end or both change, updated_at moves, and the rest stays."""
    before = call(box, "GET", FIRST).get_json()["data"]
    after = call(box, "PUT", FIRST, **changes).get_json()["data"]

    assert after == before | changes | {"updated_at": after["updated_at"]}
    assert after["updated_at"] > before["updated_at"]
    assert after == call(box, "GET", FIRST).get_json()["data"]


@pytest.mark.spec("B, Line item curated categories", "PUT .../:line_item_curated_category_id")
@pytest.mark.parametrize(
    ("changes", "status", "code", "parameter"),
    [
        ({"curated_category_id": CYCLING}, 400, "INVALID_PARAMETER", "curated_category_id"),
        ({"line_item_id": "iuqf4"}, 404, "LINE_ITEM_NOT_FOUND", "line_item_id"),
        ({"curated_category_id": "nope"}, 404, "NOT_FOUND", "curated_category_id"),
        ({"line_item_id": ""}, 400, "INVALID_PARAMETER", "line_item_id"),
    ],
)
def test_a_refused_update_changes_nothing(
    box: Sandbox, changes: dict[str, str], status: int, code: str, parameter: str
) -> None:
    """The rules apply to the link after the update."""
    before = box.record("line_item_curated_categories", FIRST)
    assert (status, [(code, parameter)]) == refusal(call(box, "PUT", FIRST, **changes))
    assert before == box.record("line_item_curated_categories", FIRST)


@pytest.mark.spec("B, Line item curated categories", "DELETE .../:line_item_curated_category_id")
def test_a_delete_leaves_both_ends(box: Sandbox) -> None:
    """Line item and category stay, and can be linked again."""
    call(box, "DELETE", FIRST)
    ends = {"line_item_id": PREROLL, "curated_category_id": NORTH_AMERICA}

    assert box.record("line_items", PREROLL)["deleted"] is False
    assert 200 == call(box, "POST", **ends).status_code
    assert 3 == len(listed(box))
