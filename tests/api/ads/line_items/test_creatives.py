"""Media creatives, tracking tags, preroll calls to action: what fits a line item, and approval."""

from __future__ import annotations

from functools import partial

import pytest

from tests.api.ads.line_items.parts import CLICKS, DELETED, FOREIGN, PREROLL
from tests.api.ads.support import (
    BASE,
    alter,
    drop,
    echo,
    get,
    ids,
    load,
    make,
    post,
    without,
)
from tests.refusals import Refusal, refusals
from tests.support import ACCOUNT, Sandbox, data_of

BANNER, VIDEO, FOREIGN_MEDIA, GONE = "2pzo", "2q4r", "2r0a", "2q6d"
LANDING = "https://harbor-roasters.example/landing"
ADDRESS = "https://count.example.com/imp?c=1"
TAG = {
    "line_item_id": CLICKS, "tracking_tag_type": "IMPRESSION_TAG", "tracking_tag_url": ADDRESS,
}  # fmt: skip
BUTTON = {
    "line_item_id": PREROLL,
    "call_to_action": "SHOP",
    "call_to_action_url": "https://shop.example.com",
}


def test_a_line_item_shows_media(box: Sandbox) -> None:
    """The kind of creative is that of the media; it is read, listed and deleted."""
    sent = {"line_item_id": PREROLL, "account_media_id": BANNER, "landing_url": LANDING}
    made = make(box, "media_creatives", **sent)
    path = f"media_creatives/{made['id']}"
    own = {"id", "created_at", "updated_at"}

    assert without(made, *own) == sent | {
        "creative_type": "BANNER", "entity_status": "ACTIVE", "approval_status": "ACCEPTED",
        "deleted": False,
    }  # fmt: skip
    assert own < made.keys()
    assert [made] == load(box, "media_creatives", media_creative_ids=made["id"])
    assert made == load(box, path)
    assert drop(box, path)["deleted"] is True


def test_a_preroll_has_no_landing_address(box: Sandbox) -> None:
    """It is ignored, with a warning."""
    response = post(box, "media_creatives", line_item_id=PREROLL, account_media_id=VIDEO,
        landing_url=LANDING,
    )  # fmt: skip

    assert data_of(response)["landing_url"] is None
    assert response.headers["X-Mock-Warnings"] == "no-effect"


show = partial(Refusal, f"POST {BASE}/media_creatives")
tag = partial(Refusal, f"POST {BASE}/tracking_tags")
button = partial(Refusal, f"POST {BASE}/preroll_call_to_actions")
UNFIT, MISSING_ITEM = (
    ("INCOMPATIBLE_LINE_ITEM", "line_item_id"),
    ("LINE_ITEM_NOT_FOUND", "line_item_id"),
)
MEDIA = {"line_item_id": PREROLL, "account_media_id": BANNER}
REFUSED = [
    show("media for posts", 400, [UNFIT], query=MEDIA | {"line_item_id": CLICKS}),
    show("media for a deleted line item", 404, [MISSING_ITEM],
         query=MEDIA | {"line_item_id": DELETED}),
    show("media for a foreign line item", 404, [MISSING_ITEM],
         query=MEDIA | {"line_item_id": FOREIGN}),
    show("foreign media", 404, [("ACCOUNT_MEDIA_NOT_FOUND", "account_media_id")],
         query=MEDIA | {"account_media_id": FOREIGN_MEDIA}),
    show("deleted media", 404, [("ACCOUNT_MEDIA_NOT_FOUND", "account_media_id")],
         query=MEDIA | {"account_media_id": GONE}),
    show("a landing address without protocol", 400, [("INVALID_PARAMETER", "landing_url")],
         query=MEDIA | {"landing_url": "harbor"}),
    show("an image for clicks without landing address", 400, [("MISSING_PARAMETER", "landing_url")],
         query=MEDIA, given={("line_items", PREROLL): {"objective": "WEBSITE_CLICKS"}}),
    tag("a tag without anything", 400, [("MISSING_PARAMETER", name) for name in TAG]),
    tag("a tag of another type", 400, [("INVALID_PARAMETER", "tracking_tag_type")],
        query=TAG | {"tracking_tag_type": "PIXEL"}),
    tag("a tag without protocol", 400, [("INVALID_PARAMETER", "tracking_tag_url")],
        query=TAG | {"tracking_tag_url": "count.example.com"}),
    tag("a tag of a deleted line item", 404, [MISSING_ITEM], query=TAG | {"line_item_id": DELETED}),
    button("a button without anything", 400, [("MISSING_PARAMETER", name) for name in BUTTON]),
    button("another call to action", 400, [("INVALID_PARAMETER", "call_to_action")],
           query=BUTTON | {"call_to_action": "BUY"}),
    button("a button with another protocol", 400, [("INVALID_PARAMETER", "call_to_action_url")],
           query=BUTTON | {"call_to_action_url": "ftp://x"}),
    button("a button for clicks", 400, [UNFIT], query=BUTTON | {"line_item_id": CLICKS}),
    button("a button of an unknown line item", 404, [MISSING_ITEM],
           query=BUTTON | {"line_item_id": "none"}),
]  # fmt: skip


@refusals(REFUSED)
def test_what_is_refused(box: Sandbox, row: Refusal) -> None:
    """Unfit and missing line items and media, unknown values, addresses without protocol."""
    row.check(box)


@pytest.mark.parametrize("objective", ["WEBSITE_CLICKS", "PREROLL_VIEWS", "REACH"])
def test_when_an_image_needs_a_landing_address(box: Sandbox, objective: str) -> None:
    """With it each objective is taken, without it those other than website clicks."""
    box.change("line_items", PREROLL, objective=objective)

    assert make(box, "media_creatives", **MEDIA, landing_url=LANDING)
    if objective != "WEBSITE_CLICKS":
        assert make(box, "media_creatives", **MEDIA)


@pytest.mark.parametrize(("query", "found"), [
    ({"campaign_id": "8x3fz"}, ["1bzq3", "1bzq8"]),
    ({"campaign_id": "8wku2"}, []),
    ({"campaign_id": "8x3fz", "line_item_ids": CLICKS}, []),
    ({"line_item_ids": f"{PREROLL},{CLICKS}", "media_creative_ids": "1bzq8"}, ["1bzq8"]),
])  # fmt: skip
def test_filters(box: Sandbox, query: dict[str, str], found: list[str]) -> None:
    """By campaign, line item and id, all together."""
    response = get(box, "media_creatives", **query)

    assert found == ids(response)
    assert set(echo(response)) == {*query, "account_id"}


def test_approval_is_a_transition(box: Sandbox) -> None:
    """After so many reads the review is over."""
    with box.world.work():
        box.world.transitions.set_pace("media_creative", progression="polls", polls=2)
    seen = [make(box, "media_creatives", line_item_id=PREROLL, account_media_id=VIDEO)]
    seen += [load(box, f"media_creatives/{seen[0]['id']}") for _ in range(2)]
    states = ["UNDER_REVIEW", "UNDER_REVIEW", "ACCEPTED"]
    assert states == [record["approval_status"] for record in seen]


@pytest.mark.parametrize("path", ["media_creatives", "tracking_tags", "preroll_call_to_actions"])
def test_below_a_deleted_line_item(box: Sandbox, path: str) -> None:
    """They are shown with_deleted only, with deleted: false."""
    box.change("line_items", PREROLL, deleted=True)
    shown = load(box, path, line_item_ids=PREROLL, with_deleted="true")

    assert [] == load(box, path, line_item_ids=PREROLL)
    assert False in {record["deleted"] for record in shown}
    assert not any(ACCOUNT in record.values() for record in shown)


FAMILIES = [
    ("tracking_tags", "tracking_tag", TAG, {"tracking_tag_url": f"{ADDRESS}0"}),
    ("preroll_call_to_actions", "preroll_call_to_action", BUTTON, {"call_to_action": "GO_TO"}),
]


@pytest.mark.parametrize(("path", "name", "sent", "change"), FAMILIES)
def test_made_read_changed_and_deleted(
    box: Sandbox, path: str, name: str, sent: dict[str, str], change: dict[str, str]
) -> None:
    """What one call does, the next ones show."""
    made = make(box, path, **sent)
    one = f"{path}/{made['id']}"
    (by_id,) = load(box, path, **{f"{name}_ids": made["id"]})
    box.world.clock.advance(60)

    assert made.keys() == {*sent, "id", "created_at", "updated_at", "deleted"}
    assert sent.items() <= made.items()
    assert made == load(box, one) == by_id == alter(box, one)
    changed = alter(box, one, **change)
    assert changed == made | change | {"updated_at": changed["updated_at"]}
    assert changed["updated_at"] > made["updated_at"]
    assert drop(box, one)["deleted"] is True


def test_each_call_to_action(box: Sandbox) -> None:
    """The five public calls to action are taken."""
    for action in ("GO_TO", "SEE_MORE", "SHOP", "VISIT_SITE", "WATCH_NOW"):
        made = make(box, "preroll_call_to_actions", **BUTTON | {"call_to_action": action})
        assert made["call_to_action"] == action
