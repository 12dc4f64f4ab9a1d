"""Promoted posts: whose posts, how many at once, reposts of other users' posts, and approval."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.ads.line_items.parts import (
    BASE,
    CLICKS,
    CYCLISTS,
    DELETED,
    FOREIGN,
    PREROLL,
    VIDEO,
    call,
    data,
    history,
)
from tests.support import Sandbox, refusal

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
    return call(box, "POST", "promoted_posts", line_item_id=line_item, post_ids=",".join(posts))


def test_posts_are_promoted(box: Sandbox) -> None:
    """The answer has all of them in an array, with their number and no cursor."""
    response = promote(box, VIDEO, OWN, OTHER_OWN)

    body = response.get_json()
    assert ["request", "data", "total_count"] == list(body)
    assert body["request"]["params"] == {
        "line_item_id": VIDEO,
        "post_ids": [int(OWN), int(OTHER_OWN)],
        "account_id": BASE.rpartition("/")[2],
    }
    assert [(OWN, "ACCEPTED", "ACTIVE"), (OTHER_OWN, "ACCEPTED", "ACTIVE")] == [
        (one["post_id"], one["approval_status"], one["entity_status"]) for one in body["data"]
    ]
    assert body["total_count"] == 2
    assert sorted(KEYS) == sorted(body["data"][0])
    assert [body["data"][0]] == data(
        call(box, "GET", "promoted_posts", promoted_post_ids=body["data"][0]["id"])
    )
    assert ["CREATE"] == history(box, "PROMOTED_POST", body["data"][0]["id"])


def test_promoted_again_is_the_same(box: Sandbox) -> None:
    """A post promoted twice on one line item keeps its first promotion, on another it gets one."""
    first, second = data(promote(box, VIDEO, OWN, OWN, OTHER_OWN))
    again = data(promote(box, VIDEO, OTHER_OWN))
    elsewhere = data(promote(box, "iumz0", OTHER_OWN))

    assert first["post_id"] == OWN
    assert again == [second]
    assert elsewhere[0]["id"] != second["id"]


def test_a_repost_for_a_user_for_reposts_only(box: Sandbox) -> None:
    """The promoted post is a new nullcast repost by the account's own user; once for each."""
    before = box.record("posts", NORTHBIKE_POST)
    made = data(promote(box, VIDEO, NORTHBIKE_POST))
    again = data(promote(box, VIDEO, NORTHBIKE_POST))

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

    assert data(promote(box, VIDEO, INES_POST))[0]["post_id"] == INES_POST


@pytest.mark.parametrize(
    ("line_item", "posts", "status", "errors"),
    [
        (VIDEO, ("1", OWN), 404, [("POST_NOT_FOUND", "post_ids")]),
        (VIDEO, (OWN, INES_POST), 403, [("ACTION_NOT_ALLOWED", "post_ids")]),
        (PREROLL, (OWN,), 400, [("INCOMPATIBLE_LINE_ITEM", "line_item_id")]),
        (DELETED, (OWN,), 404, [("LINE_ITEM_NOT_FOUND", "line_item_id")]),
        (FOREIGN, (OWN,), 404, [("LINE_ITEM_NOT_FOUND", "line_item_id")]),
        ("zzz", (OWN,), 404, [("LINE_ITEM_NOT_FOUND", "line_item_id")]),
        (VIDEO, ("",), 400, [("INVALID_PARAMETER", "post_ids")]),
    ],
)
def test_one_wrong_post_promotes_none(
    box: Sandbox, line_item: str, posts: tuple[str, ...], status: int, errors: Any
) -> None:
    """A refusal names what is wrong, and nothing is promoted."""
    before = box.world.store.count("promoted_posts")

    response = promote(box, line_item, *posts)

    assert refusal(response) == (status, errors)
    assert box.world.store.count("promoted_posts") == before


def test_post_ids_are_numbers(box: Sandbox) -> None:
    """The refusal is that of the live service, word for word."""
    response = promote(box, VIDEO, "[12]")

    error = response.get_json()["errors"][0]
    assert error["code"] == "INVALID_PARAMETER"
    assert error["message"] == 'Expected Long, got "[12]" for post_ids'


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

    assert box.record("line_items", CYCLISTS)["placements"] == [
        "PLATFORM_SEARCH",
        "PLATFORM_TIMELINE",
    ]
    assert ["CREATE", "UPDATE"] == history(box, "LINE_ITEM", CYCLISTS)
    assert ["CREATE"] == history(box, "LINE_ITEM", "iuj2q")


def test_a_promotion_is_deleted(box: Sandbox) -> None:
    """It is shown with_deleted, stays ACTIVE, its post stays; a second delete finds nothing."""
    gone = data(call(box, "DELETE", "promoted_posts/1efwlo"))
    again = call(box, "DELETE", "promoted_posts/1efwlo")

    assert (gone["deleted"], gone["entity_status"]) == (True, "ACTIVE")
    assert refusal(again) == (404, [("PROMOTED_POST_NOT_FOUND", "promoted_post_id")])
    assert call(box, "GET", "promoted_posts/1efwlo").status_code == 404
    assert gone == data(call(box, "GET", "promoted_posts/1efwlo", with_deleted="true"))
    assert box.record("posts", OWN)
    assert "DELETE" in history(box, "PROMOTED_POST", "1efwlo")


def test_there_is_no_update(box: Sandbox) -> None:
    """The public interface has none: 405."""
    assert call(box, "PUT", "promoted_posts/1efwlo").status_code == 405


def test_promotions_below_a_deleted_line_item(box: Sandbox) -> None:
    """They keep deleted: false, are shown only with_deleted, and can be deleted."""
    assert call(box, "DELETE", f"line_items/{CLICKS}").status_code == 200

    listed = [one["id"] for one in data(call(box, "GET", "promoted_posts"))]
    all_listed = data(call(box, "GET", "promoted_posts", with_deleted="true"))
    counted = call(box, "GET", "promoted_posts", with_total_count="true").get_json()["total_count"]

    assert listed == ["1efx5k", *ELSEWHERE]
    assert counted == len(listed)
    assert ("1efwlo", False) in [(one["id"], one["deleted"]) for one in all_listed]
    assert call(box, "GET", "promoted_posts/1efwlo").status_code == 404
    assert data(call(box, "GET", "promoted_posts/1efwlo", with_deleted="true"))["id"] == "1efwlo"
    assert data(call(box, "DELETE", "promoted_posts/1efwlo"))["deleted"] is True


def test_promotions_below_a_deleted_campaign(box: Sandbox) -> None:
    """A deleted campaign hides what is two levels below it as well."""
    box.change("campaigns", "8wku2", deleted=True)

    assert ["1efx5k", *ELSEWHERE] == [one["id"] for one in data(call(box, "GET", "promoted_posts"))]
    assert call(box, "GET", "promoted_posts/1efwlo").status_code == 404


def test_filters(box: Sandbox) -> None:
    """By line item and by id; paused is an attribute to sort by."""
    of_item = data(call(box, "GET", "promoted_posts", line_item_ids=f"{CLICKS},{FOREIGN}"))
    both = data(
        call(box, "GET", "promoted_posts", line_item_ids=CLICKS, promoted_post_ids="1efx0t,1efx5k")
    )
    box.change("promoted_posts", "1efwlo", entity_status="PAUSED")
    by_pause = data(call(box, "GET", "promoted_posts", sort_by="paused-desc"))

    assert [one["id"] for one in of_item] == ["1efwlo", "1efx0t"]
    assert [one["id"] for one in both] == ["1efx0t"]
    assert by_pause[0]["id"] == "1efwlo"


def test_approval_is_a_transition(box: Sandbox) -> None:
    """A review may take time, end by hand in a rejection, or after so many reads."""
    transitions = box.world.transitions
    with box.world.work():
        transitions.set_pace("promoted_post", progression="time", seconds=60)
    made = data(promote(box, VIDEO, OWN))[0]
    waiting = data(call(box, "GET", f"promoted_posts/{made['id']}"))
    box.world.clock.advance(60)
    listed = data(call(box, "GET", "promoted_posts", line_item_ids=VIDEO))
    with box.world.work():
        transitions.move("promoted_post", made["id"], "REJECTED")

    assert ("UNDER_REVIEW", "UNDER_REVIEW") == (made["approval_status"], waiting["approval_status"])
    assert ["ACCEPTED"] * 2 == [one["approval_status"] for one in listed]
    read = data(call(box, "GET", f"promoted_posts/{made['id']}"))
    assert read["approval_status"] == "REJECTED"
