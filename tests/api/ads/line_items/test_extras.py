"""Tracking tags and preroll calls to action: the same verbs, each with its own values."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.ads.line_items.parts import CLICKS, DELETED, PREROLL, call, data
from tests.support import Sandbox, refusal

ADDRESS = "https://count.example.com/imp?c=1"
TAG = {
    "line_item_id": CLICKS,
    "tracking_tag_type": "IMPRESSION_TAG",
    "tracking_tag_url": ADDRESS,
}
BUTTON = {
    "line_item_id": PREROLL,
    "call_to_action": "SHOP",
    "call_to_action_url": "https://shop.example.com",
}
FAMILIES = [
    ("tracking_tags", "tracking_tag", TAG, {"tracking_tag_url": f"{ADDRESS}0"}),
    ("preroll_call_to_actions", "preroll_call_to_action", BUTTON, {"call_to_action": "GO_TO"}),
]


@pytest.mark.parametrize(("path", "name", "sent", "change"), FAMILIES)
def test_made_read_changed_and_deleted(
    box: Sandbox, path: str, name: str, sent: dict[str, str], change: dict[str, str]
) -> None:
    """What one call does, the next ones show; a second delete finds nothing."""
    made = data(call(box, "POST", path, **sent))
    one = f"{path}/{made['id']}"
    read = data(call(box, "GET", one))
    by_id = data(call(box, "GET", path, **{f"{name}_ids": made["id"]}))
    box.world.clock.advance(60)
    same = data(call(box, "PUT", one))
    changed = data(call(box, "PUT", one, **change))
    gone = data(call(box, "DELETE", one))
    again = call(box, "DELETE", one)

    assert sorted(made) == sorted([*sent, "id", "created_at", "updated_at", "deleted"])
    assert {key: made[key] for key in sent} == sent
    assert made == read == by_id[0] == same
    assert changed == made | change | {"updated_at": changed["updated_at"]}
    assert changed["updated_at"] > made["updated_at"]
    assert gone["deleted"] is True
    assert refusal(again) == (404, [("NOT_FOUND", f"{name}_id")])
    assert refusal(call(box, "PUT", one, **change)) == (404, [("NOT_FOUND", f"{name}_id")])


@pytest.mark.parametrize(("path", "name", "sent", "change"), FAMILIES)
def test_what_is_required(
    box: Sandbox, path: str, name: str, sent: dict[str, str], change: dict[str, str]
) -> None:
    """Without parameters each of them is reported."""
    missing = sorted(("MISSING_PARAMETER", parameter) for parameter in sent)
    status, errors = refusal(call(box, "POST", path))

    assert (status, sorted(errors, key=str)) == (400, sorted(missing, key=str))


WRONG: list[Any] = [
    ("tracking_tags", TAG, {"tracking_tag_type": "PIXEL"}, 400, "INVALID_PARAMETER"),
    ("tracking_tags", TAG, {"tracking_tag_url": "count.example.com"}, 400, "INVALID_PARAMETER"),
    ("tracking_tags", TAG, {"line_item_id": DELETED}, 404, "LINE_ITEM_NOT_FOUND"),
    ("preroll_call_to_actions", BUTTON, {"call_to_action": "BUY"}, 400, "INVALID_PARAMETER"),
    ("preroll_call_to_actions", BUTTON, {"call_to_action_url": "ftp://x"}, 400,
     "INVALID_PARAMETER"),
    ("preroll_call_to_actions", BUTTON, {"line_item_id": CLICKS}, 400, "INCOMPATIBLE_LINE_ITEM"),
    ("preroll_call_to_actions", BUTTON, {"line_item_id": "none"}, 404, "LINE_ITEM_NOT_FOUND"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "sent", "wrong", "status", "code"), WRONG)
def test_what_is_refused(
    box: Sandbox, path: str, sent: dict[str, str], wrong: dict[str, str], status: int, code: str
) -> None:
    """Unknown values, addresses without protocol and unfit line items are refused."""
    (parameter,) = wrong

    assert refusal(call(box, "POST", path, **(sent | wrong))) == (status, [(code, parameter)])


@pytest.mark.parametrize("action", ["GO_TO", "SEE_MORE", "SHOP", "VISIT_SITE", "WATCH_NOW"])
def test_each_call_to_action(box: Sandbox, action: str) -> None:
    """The five public calls to action are taken."""
    made = call(box, "POST", "preroll_call_to_actions", **(BUTTON | {"call_to_action": action}))

    assert data(made)["call_to_action"] == action


@pytest.mark.parametrize("path", ["tracking_tags", "preroll_call_to_actions"])
def test_below_a_deleted_line_item(box: Sandbox, path: str) -> None:
    """They are shown with_deleted only, with deleted: false."""
    box.change("line_items", PREROLL, deleted=True)
    shown = data(call(box, "GET", path, line_item_ids=PREROLL, with_deleted="true"))

    assert [] == data(call(box, "GET", path, line_item_ids=PREROLL))
    assert False in {record["deleted"] for record in shown}
