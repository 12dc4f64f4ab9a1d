"""Scheduled promoted posts: line items that wait for a post."""

from __future__ import annotations

from functools import partial
from typing import Any

from tests.api.ads.advertiser_posts import support
from tests.api.ads.advertiser_posts.support import DONE, NOW, WAITING, schedule
from tests.api.ads.support import BASE, history
from tests.refusals import Refusal, refusals
from tests.support import Sandbox, refusal

PATH = f"{BASE}/scheduled_promoted_posts"
FIRST, SECOND, GONE = "1f0a2", "1f0b7", "1f0c4"
SETTINGS = {"freeze": NOW}


def ask(box: Sandbox, method: str, path: str = PATH, **query: str) -> Any:
    """The data of a successful call."""
    return support.ask(box, method, path, **query)["data"]


def promoted(box: Sandbox, post_id: str) -> list[dict[str, Any]]:
    """What promotes a post."""
    found: list[dict[str, Any]] = ask(box, "GET", f"{BASE}/promoted_posts")
    return [each for each in found if each["post_id"] == post_id]


def test_promoted_when_it_is_out(box: Sandbox) -> None:
    """At the post's moment each line item that waits promotes it, and the history says so."""
    sent = {"line_item_id": "iumz0", "scheduled_post_id": schedule(box)["id"]}
    waiting = ask(box, "POST", **sent)
    before = promoted(box, "")
    box.advance(hours=1)
    after = ask(box, "GET", f"{PATH}/{waiting['id']}")
    (made,) = promoted(box, after["post_id"])
    shown = {"line_item_id": "iumz0", "approval_status": "ACCEPTED", "deleted": False}

    assert {*sent, "id", "post_id", "created_at", "updated_at", "deleted"} == set(waiting)
    assert (None, []) == (waiting["post_id"], before)
    assert shown.items() <= made.items()
    assert ["CREATE"] == history(box, "PROMOTED_POST", made["id"])


create = partial(Refusal, f"POST {PATH}")
FITS, POST = {"line_item_id": "iumz0"}, "scheduled_post_id"
REFUSED = [
    create("a post is required", 400, [("MISSING_PARAMETER", POST)], query=FITS),
    create("a line item is required", 400, [("MISSING_PARAMETER", "line_item_id")],
           query={POST: WAITING}),
    create("a post has a number", 400, [("INVALID_PARAMETER", POST)], query=FITS | {POST: "x"}),
    create("a line item exists", 404, [("LINE_ITEM_NOT_FOUND", "line_item_id")],
           query={"line_item_id": "none", POST: WAITING}),
    create("a post exists", 404, [("NOT_FOUND", POST)], query=FITS | {POST: "1"}),
    create("a post is not out", 403, [("ACTION_NOT_ALLOWED", POST)], query=FITS | {POST: DONE}),
    create("a line item promotes posts", 400, [("INCOMPATIBLE_LINE_ITEM", "line_item_id")],
           query={"line_item_id": "iuc5v", POST: WAITING}),
]  # fmt: skip


@refusals(REFUSED)
def test_what_is_refused(box: Sandbox, row: Refusal) -> None:
    """Both are required and exist; the post is not out, and the line item promotes posts."""
    row.check(box)


def test_listed_by_line_item_and_by_id(box: Sandbox) -> None:
    """Filters by line items and ids; deleted ones only when asked for.

    An association that exists is not made again, but returned.
    """
    assert FIRST == ask(box, "POST", line_item_id="itttx", scheduled_post_id=WAITING)["id"]
    assert [FIRST, SECOND] == [each["id"] for each in ask(box, "GET")]
    assert [SECOND] == [each["id"] for each in ask(box, "GET", line_item_ids="iumz0")]
    chosen = ask(box, "GET", scheduled_promoted_post_ids=f"{FIRST},{GONE}", with_deleted="true")
    assert [FIRST, GONE] == [each["id"] for each in chosen]


def test_deleted_before_the_post_is_out(box: Sandbox) -> None:
    """The record stays, deleted, and promotes nothing; once the post is out it is too late."""
    gone = ask(box, "DELETE", f"{PATH}/{FIRST}")
    box.advance(days=401)
    done = ask(box, "GET", f"{PATH}/{SECOND}")
    late = box.call("DELETE", f"{PATH}/{SECOND}")

    assert gone["deleted"] is True
    assert ["iumz0"] == [each["line_item_id"] for each in promoted(box, done["post_id"])]
    assert (403, [("ACTION_NOT_ALLOWED", "scheduled_promoted_post_id")]) == refusal(late)


def test_a_deleted_line_item_promotes_nothing(box: Sandbox) -> None:
    """Its association stays as it is."""
    assert 200 == box.call("DELETE", f"{BASE}/line_items/iumz0").status_code
    box.advance(days=401)
    waiting = box.record("scheduled_promoted_posts", SECOND)

    assert waiting["post_id"] is None
    assert "SUCCESS" == box.record("scheduled_posts", WAITING)["scheduled_status"]
    assert 404 == box.call("GET", f"{PATH}/{SECOND}").status_code
