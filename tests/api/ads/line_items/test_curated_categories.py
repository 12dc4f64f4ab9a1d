"""Line item curated categories (document B): links, their ends, and the category's countries."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from werkzeug.test import TestResponse

from tests.api.ads.support import echo, ids
from tests.refusals import Refusal, refusals
from tests.support import ACCOUNT, NORTHBIKE, OTHER_ACCOUNT, Sandbox, data_of

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
FIRST, SECOND, THIRD, GONE = "1bx2k", "1bx2m", "1bx2q", "1bx2t"


def call(box: Sandbox, method: str, key: str = "", **params: Any) -> TestResponse:
    """One request."""
    return box.ask(method, f"{PATH}/{key}" if key else PATH, **params)


ENDS = {"line_item_id": PREROLL, CATEGORY: NORTH_AMERICA}


def listed(box: Sandbox, **params: str) -> list[str]:
    """Ids of one page."""
    return ids(call(box, "GET", **params))


@pytest.mark.spec("B, Line item curated category", "id, line_item_id")
@pytest.mark.spec("operations", "line_item_curated_categories.list")
@pytest.mark.spec("operations", "line_item_curated_categories.get")
def test_links_are_listed_and_read(box: Sandbox) -> None:
    """Deleted links are left out unless asked for; one reads as it is listed, its id echoed."""
    live, one = call(box, "GET"), call(box, "GET", FIRST)
    moments = dict.fromkeys(("created_at", "updated_at"), "2026-05-03T10:00:00Z")

    assert ids(live) == [FIRST, SECOND, THIRD]
    assert listed(box, with_deleted="true") == [FIRST, SECOND, THIRD, GONE]
    assert data_of(one) == data_of(live)[0] == ENDS | moments | {"id": FIRST, "deleted": False}
    assert echo(one) == {"account_id": ACCOUNT, "line_item_curated_category_id": FIRST}


@pytest.mark.spec("B, Line item curated categories", "PUT .../:line_item_curated_category_id")
@pytest.mark.spec("B, Line item curated categories", "DELETE .../:line_item_curated_category_id")
@pytest.mark.spec("B, States and transitions", "Account media, media")
def test_a_link_is_created_changed_and_deleted(box: Sandbox) -> None:
    """What one call does, the next ones show."""
    ends = {"line_item_id": VIDEO, CATEGORY: ENGLISH}
    made = data_of(call(box, "POST", **ends))
    moved = data_of(call(box, "PUT", made["id"], curated_category_id=NORTH_AMERICA))
    same = data_of(call(box, "PUT", made["id"]))
    gone = data_of(call(box, "DELETE", made["id"]))

    assert ends.items() <= made.items()
    assert (moved["line_item_id"], moved[CATEGORY]) == (VIDEO, NORTH_AMERICA)
    assert same == moved
    assert gone["deleted"] is True
    assert gone == data_of(call(box, "GET", made["id"], with_deleted="true"))


link = partial(Refusal, f"POST {PATH}")
move = partial(Refusal, f"PUT {PATH}/{FIRST}")
NO_ITEM, NO_CATEGORY = ("LINE_ITEM_NOT_FOUND", "line_item_id"), ("NOT_FOUND", CATEGORY)
NO_COUNTRY = ("INVALID_PARAMETER", CATEGORY)
REFUSED = [
    link("neither end", 400, [("MISSING_PARAMETER", name) for name in ENDS],
         spec={"B, Line item curated categories": ["POST .../line_item_curated_categories"]}),
    link("no line item", 400, [("MISSING_PARAMETER", "line_item_id")], query={CATEGORY: ENGLISH}),
    link("no category", 400, [("MISSING_PARAMETER", CATEGORY)], query={"line_item_id": PREROLL}),
    *(link(f"an empty {name}", 400, [("INVALID_PARAMETER", name)], query=ENDS | {name: ""})
      for name in ENDS),
    *(link(f"a line item that is {holds}", 404, [NO_ITEM], query=ENDS | {"line_item_id": key})
      for holds, key in (("unknown", "nope"), ("deleted", "iuqf4"), ("of the user's other account",
                         "iv3k8"), ("of another user", GERMAN))),
    link("an unknown category", 404, [NO_CATEGORY], query=ENDS | {CATEGORY: "nope"}),
    link("US, where GB, DE and ES are available", 400, [NO_COUNTRY],
         query={"line_item_id": CLICKS, CATEGORY: EUROPEAN},
         spec={"B, Curated category": ["Each is available"]}),
    link("US and GB, where DE, FR and NL are available", 400, [NO_COUNTRY],
         query=ENDS | {CATEGORY: CYCLING}),
    Refusal(f"POST /12/accounts/{OTHER_ACCOUNT}/line_item_curated_categories",
            "DE, where US and CA are available", 400, [NO_COUNTRY], keys=NORTHBIKE,
            query=ENDS | {"line_item_id": GERMAN}),
    move("a move out of the countries", 400, [NO_COUNTRY], query={CATEGORY: CYCLING},
         spec={"B, Line item curated categories": ["PUT .../:line_item_curated_category_id"]}),
    move("a move to a deleted line item", 404, [NO_ITEM], query={"line_item_id": "iuqf4"}),
    move("a move to an unknown category", 404, [NO_CATEGORY], query={CATEGORY: "nope"}),
    move("a move to no line item", 400, [("INVALID_PARAMETER", "line_item_id")],
         query={"line_item_id": ""}),

    Refusal(f"GET {PATH}", "an order by line item", 400, [("INVALID_PARAMETER", "sort_by")],
            query={"sort_by": "line_item_id-asc"}),
]  # fmt: skip


@refusals(REFUSED)
def test_what_is_refused(box: Sandbox, row: Refusal) -> None:
    """Both ends are required, are the account's, and have a country in common."""
    row.check(box)


def test_a_category_that_becomes_available(box: Sandbox) -> None:
    """The countries are those of the category at the time of the request."""
    box.change("curated_categories", NORTH_AMERICA, country_codes=["DE"])
    path = f"/12/accounts/{OTHER_ACCOUNT}/line_item_curated_categories"
    sent = ENDS | {"line_item_id": GERMAN}

    assert 200 == box.call("POST", path, keys=NORTHBIKE, query_string=sent).status_code


@pytest.mark.spec("B, Curated category", "Each is available")
@pytest.mark.parametrize(("line_item", "category"), [
    (CLICKS, NORTH_AMERICA),  # US of US, CA
    (PREROLL, EUROPEAN),  # GB of GB, DE, ES
    (VIDEO, CYCLING),  # an excluded country is not targeted
    (ENGAGEMENTS, CYCLING),  # everywhere
])  # fmt: skip
def test_countries(box: Sandbox, line_item: str, category: str) -> None:
    """One country that is aimed at and available is enough."""
    made = call(box, "POST", line_item_id=line_item, curated_category_id=category)

    assert data_of(made)["id"] in listed(box)


@pytest.mark.spec("B, Line item curated categories", "POST .../line_item_curated_categories")
@pytest.mark.spec("B, Common conventions", "Creation and update")
@pytest.mark.usefixtures("noon")
def test_a_new_link_stands_in_the_list(box: Sandbox) -> None:
    """It has an id and the world's time; what was sent is echoed."""
    ends = {"line_item_id": PREROLL, CATEGORY: ENGLISH}
    response = call(box, "POST", **ends)
    made = data_of(response)
    moments = dict.fromkeys(("created_at", "updated_at"), "2026-11-20T12:00:00Z")

    assert made == {"id": made["id"], **ends, **moments, "deleted": False}
    assert echo(response) == {"account_id": ACCOUNT, **ends}
    assert [FIRST, SECOND, THIRD, made["id"]] == listed(box)


@pytest.mark.spec("B, Line item curated categories", "PUT .../:line_item_curated_category_id")
@pytest.mark.parametrize("changes", [
    {CATEGORY: ENGLISH}, {"line_item_id": ENGAGEMENTS},
    {"line_item_id": ENGAGEMENTS, CATEGORY: CYCLING},
])  # fmt: skip
def test_either_end_changes(box: Sandbox, changes: dict[str, str]) -> None:
    """Either end or both change, updated_at moves, and the rest stays."""
    before = data_of(call(box, "GET", FIRST))
    after = data_of(call(box, "PUT", FIRST, **changes))

    assert after == before | changes | {"updated_at": after["updated_at"]}
    assert after["updated_at"] > before["updated_at"]
    assert after == data_of(call(box, "GET", FIRST))


@pytest.mark.spec("B, Line item curated categories", "DELETE .../:line_item_curated_category_id")
def test_a_delete_leaves_both_ends(box: Sandbox) -> None:
    """Line item and category stay, and can be linked again."""
    call(box, "DELETE", FIRST)

    assert box.record("line_items", PREROLL)["deleted"] is False
    assert 200 == call(box, "POST", **ENDS).status_code
    assert 3 == len(listed(box))
