"""Promoted posts and accounts: whose, how many at once, reposts of other users, and approval."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from tests.api.ads.line_items.parts import (
    CLICKS,
    CYCLISTS,
    DELETED,
    FOLLOWERS,
    FOREIGN,
    PREROLL,
    VIDEO,
)
from tests.api.ads.support import BASE, drop, echo, get, history, ids, load, make, post
from tests.refusals import Refusal, refusals
from tests.support import ACCOUNT, Sandbox, data_of

OWN_USER, NORTHBIKE_USER = "2244994945", "3805104374"
OWN, OTHER_OWN = "1712850617439551489", "1712850617439551490"
ELSEWHERE = ["1efx7n", "1efxb4", "1efxbw", "1efxcn"]
"""Posts that other line items promote; the first one in the same campaign."""
NORTHBIKE_POST, INES_POST = "1712850617439551495", "1789900000000000006"
KEYS = [
    "id", "line_item_id", "post_id", "entity_status", "approval_status", "created_at",
    "updated_at", "deleted",
]  # fmt: skip


def promote(box: Sandbox, line_item: str, *posts: str) -> Any:
    """Promote posts."""
    return post(box, "promoted_posts", line_item_id=line_item, post_ids=",".join(posts))


def test_posts_are_promoted(box: Sandbox) -> None:
    """The answer has all of them in an array, with their number and no cursor."""
    response = promote(box, VIDEO, OWN, OTHER_OWN)
    body, made = response.get_json(), data_of(response)
    key = made[0]["id"]

    assert ["request", "data", "total_count"] == list(body)
    posts = [int(OWN), int(OTHER_OWN)]
    assert echo(response) == {"line_item_id": VIDEO, "post_ids": posts, "account_id": ACCOUNT}
    assert [(OWN, "ACCEPTED", "ACTIVE"), (OTHER_OWN, "ACCEPTED", "ACTIVE")] == [
        (one["post_id"], one["approval_status"], one["entity_status"]) for one in made
    ]
    assert body["total_count"] == 2
    assert sorted(KEYS) == sorted(made[0])
    assert made[:1] == load(box, "promoted_posts", promoted_post_ids=key)
    assert ["CREATE"] == history(box, "PROMOTED_POST", key)


def test_promoted_again_is_the_same(box: Sandbox) -> None:
    """A post promoted twice on one line item keeps its first promotion, on another it gets one."""
    first, second = data_of(promote(box, VIDEO, OWN, OWN, OTHER_OWN))
    again = data_of(promote(box, VIDEO, OTHER_OWN))
    elsewhere = data_of(promote(box, "iumz0", OTHER_OWN))

    assert first["post_id"] == OWN
    assert again == [second]
    assert elsewhere[0]["id"] != second["id"]


def test_a_repost_for_a_user_for_reposts_only(box: Sandbox) -> None:
    """The promoted post is a new nullcast repost by the account's own user; once for each."""
    before = box.record("posts", NORTHBIKE_POST)
    made = data_of(promote(box, VIDEO, NORTHBIKE_POST))
    again = data_of(promote(box, VIDEO, NORTHBIKE_POST))
    repost = box.record("posts", made[0]["post_id"])
    assert made == again
    assert made[0]["post_id"] != NORTHBIKE_POST
    assert (repost["_user_id"], repost["nullcast"]) == ("2244994945", True)
    assert repost["_reposted_post_id"] == NORTHBIKE_POST
    assert repost["full_text"] == f"RT @northbike_co: {before['full_text']}"
    assert box.record("posts", NORTHBIKE_POST)["repost_count"] == before["repost_count"] + 1


def test_a_post_made_through_the_account(box: Sandbox) -> None:
    """A post that another user made through the account can be promoted as it is."""
    box.change("posts", INES_POST, _account_id=BASE.rpartition("/")[2])

    assert data_of(promote(box, VIDEO, INES_POST))[0]["post_id"] == INES_POST


add_posts = partial(Refusal, f"POST {BASE}/promoted_posts")
add_account = partial(Refusal, f"POST {BASE}/promoted_accounts")
REFUSED = [
    add_posts("one unknown post of two", 404, [("POST_NOT_FOUND", "post_ids")],
              query={"line_item_id": VIDEO, "post_ids": f"1,{OWN}"}),
    add_posts("one post of a stranger", 403, [("ACTION_NOT_ALLOWED", "post_ids")],
              query={"line_item_id": VIDEO, "post_ids": f"{OWN},{INES_POST}"}),
    add_posts("a line item of media", 400, [("INCOMPATIBLE_LINE_ITEM", "line_item_id")],
              query={"line_item_id": PREROLL, "post_ids": OWN}),
    *(add_posts(f"posts of {holds}", 404, [("LINE_ITEM_NOT_FOUND", "line_item_id")],
                query={"line_item_id": line_item, "post_ids": OWN})
      for holds, line_item in (("a deleted line item", DELETED), ("a foreign line item", FOREIGN),
                               ("an unknown line item", "zzz"))),
    add_posts("no post", 400, [("INVALID_PARAMETER", "post_ids")],
              query={"line_item_id": VIDEO, "post_ids": ""}),
    add_posts("a post id that is no number", 400, [("INVALID_PARAMETER", "post_ids")],
              query={"line_item_id": VIDEO, "post_ids": "[12]"},
              messages=['Expected Long, got "[12]" for post_ids']),
    add_account("a line item of posts", 400, [("INCOMPATIBLE_LINE_ITEM", "line_item_id")],
                query={"line_item_id": CLICKS, "user_id": OWN_USER}),
    add_account("an account of a deleted line item", 404, [("LINE_ITEM_NOT_FOUND", "line_item_id")],
                query={"line_item_id": DELETED, "user_id": OWN_USER}),
    add_account("a user for reposts only", 400, [("INVALID_USER", "user_id")],
                query={"line_item_id": FOLLOWERS, "user_id": NORTHBIKE_USER}),
    add_account("an unknown user", 403, [("USER_NOT_FOUND", "user_id")],
                query={"line_item_id": FOLLOWERS, "user_id": "1"}),
    add_account("a user id that is no number", 400, [("INVALID_PARAMETER", "user_id")],
                query={"line_item_id": FOLLOWERS, "user_id": "harbor"}),
    Refusal(f"GET {BASE}/promoted_accounts", "line items of other products alone", 400,
            [("INCOMPATIBLE_LINE_ITEM", "line_item_ids")],
            query={"line_item_ids": f"{CLICKS},unknown"}),
    Refusal(f"PUT {BASE}/promoted_posts/1efwlo", "an update, which there is none of", 405,
            [("METHOD_NOT_ALLOWED", None)]),
]  # fmt: skip


@refusals(REFUSED)
def test_what_is_refused(box: Sandbox, row: Refusal) -> None:
    """Each refusal names what is wrong; one wrong post promotes none of them."""
    row.check(box)


@pytest.mark.parametrize(("number", "status"), [(50, 404), (51, 400)])
def test_fifty_posts_at_once(box: Sandbox, number: int, status: int) -> None:
    """Fifty posts are looked up, fifty-one are refused."""
    response = promote(box, VIDEO, *map(str, range(1, number + 1)))

    assert response.status_code == status
    assert len(response.get_json()["errors"]) == (50 if status == 404 else 1)


def test_a_promoted_account_gets_the_timeline(box: Sandbox) -> None:
    """A post on such a line item adds timeline placements, once."""
    promote(box, CYCLISTS, OWN)
    promote(box, CYCLISTS, OTHER_OWN)
    promote(box, "iuj2q", OWN)
    placements = box.record("line_items", CYCLISTS)["placements"]

    assert placements == ["PLATFORM_SEARCH", "PLATFORM_TIMELINE"]
    assert ["CREATE", "UPDATE"] == history(box, "LINE_ITEM", CYCLISTS)
    assert ["CREATE"] == history(box, "LINE_ITEM", "iuj2q")


def test_a_promotion_is_deleted(box: Sandbox) -> None:
    """It is shown with_deleted, stays ACTIVE, and its post stays."""
    gone = drop(box, "promoted_posts/1efwlo")

    assert (gone["deleted"], gone["entity_status"]) == (True, "ACTIVE")
    assert gone == load(box, "promoted_posts/1efwlo", with_deleted="true")
    assert box.record("posts", OWN)
    assert "DELETE" in history(box, "PROMOTED_POST", "1efwlo")


@pytest.mark.parametrize(("table", "key"), [("line_items", CLICKS), ("campaigns", "8wku2")])
def test_promotions_below_what_is_deleted(box: Sandbox, table: str, key: str) -> None:
    """Below a deleted line item or campaign they keep deleted: false, and can be deleted.

    They are shown only with_deleted.
    """
    box.change(table, key, deleted=True)
    counted = get(box, "promoted_posts", with_total_count="true")
    every = load(box, "promoted_posts", with_deleted="true")

    assert ids(counted) == ["1efx5k", *ELSEWHERE]
    assert counted.get_json()["total_count"] == len(ids(counted))
    assert ("1efwlo", False) in [(one["id"], one["deleted"]) for one in every]
    assert get(box, "promoted_posts/1efwlo").status_code == 404
    assert load(box, "promoted_posts/1efwlo", with_deleted="true")["id"] == "1efwlo"
    assert drop(box, "promoted_posts/1efwlo")["deleted"] is True


def test_filters(box: Sandbox) -> None:
    """By line item and by id; paused is an attribute to sort by."""
    box.change("promoted_posts", "1efx0t", entity_status="PAUSED")
    for query, found in (
        ({"line_item_ids": f"{CLICKS},{FOREIGN}"}, ["1efwlo", "1efx0t"]),
        ({"line_item_ids": CLICKS, "promoted_post_ids": "1efx0t,1efx5k"}, ["1efx0t"]),
        ({"line_item_ids": CLICKS, "sort_by": "paused-desc"}, ["1efx0t", "1efwlo"]),
    ):
        assert found == ids(get(box, "promoted_posts", **query))


def test_approval_is_a_transition(box: Sandbox) -> None:
    """A review may take time, end by hand in a rejection, or after so many reads."""
    transitions = box.world.transitions
    with box.world.work():
        transitions.set_pace("promoted_post", progression="time", seconds=60)
    made = data_of(promote(box, VIDEO, OWN))[0]
    waiting = load(box, f"promoted_posts/{made['id']}")
    box.world.clock.advance(60)
    listed = load(box, "promoted_posts", line_item_ids=VIDEO)
    with box.world.work():
        transitions.move("promoted_post", made["id"], "REJECTED")

    assert ("UNDER_REVIEW", "UNDER_REVIEW") == (made["approval_status"], waiting["approval_status"])
    assert ["ACCEPTED"] * 2 == [one["approval_status"] for one in listed]
    read = load(box, f"promoted_posts/{made['id']}")
    assert read["approval_status"] == "REJECTED"


def test_a_user_is_promoted(box: Sandbox) -> None:
    """The answer is one record; a user who is promoted already is not promoted again."""
    drop(box, "promoted_accounts/1f2qc")
    made, again = (
        post(box, "promoted_accounts", line_item_id=CYCLISTS, user_id=OWN_USER) for _ in range(2)
    )
    record = data_of(made)

    assert echo(made)["user_id"] == int(OWN_USER)
    assert record == data_of(again) == load(box, f"promoted_accounts/{record['id']}")
    assert {*KEYS, "user_id"} - {"post_id"} == set(record)
    assert (record["user_id"], record["approval_status"]) == (OWN_USER, "ACCEPTED")
    assert ["CREATE"] == history(box, "PROMOTED_ACCOUNT", record["id"])


def test_accounts_are_listed_by_line_item(box: Sandbox) -> None:
    """One line item of the product is enough. One that is deleted is in the history."""
    mixed = get(box, "promoted_accounts", line_item_ids=f"{CLICKS},{FOLLOWERS}")

    assert ["1f2pa"] == ids(mixed)
    assert ["1f2qc"] == ids(get(box, "promoted_accounts", promoted_account_ids="1f2qc"))
    assert drop(box, "promoted_accounts/1f2pa")["deleted"] is True
    assert ["DELETE"] == history(box, "PROMOTED_ACCOUNT", "1f2pa")


def test_approval_of_an_account_is_a_transition(box: Sandbox) -> None:
    """By hand, a review ends when a test says so."""
    with box.world.work():
        box.world.transitions.set_pace("promoted_account", progression="manual")
    drop(box, "promoted_accounts/1f2qc")
    made = make(box, "promoted_accounts", line_item_id=CYCLISTS, user_id=OWN_USER)
    with box.world.work():
        box.world.transitions.move("promoted_account", made["id"], "ACCEPTED")

    assert made["approval_status"] == "UNDER_REVIEW"
    assert load(box, f"promoted_accounts/{made['id']}")["approval_status"] == "ACCEPTED"
