"""Media creatives: which media and line items fit, landing addresses, and approval."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.ads.line_items.parts import CLICKS, DELETED, FOREIGN, PREROLL, call, data
from tests.support import ACCOUNT, Sandbox, refusal

BANNER, VIDEO, FOREIGN_MEDIA, GONE = "2pzo", "2q4r", "2r0a", "2q6d"
LANDING = "https://harbor-roasters.example/landing"


def test_a_line_item_shows_media(box: Sandbox) -> None:
    """The kind of creative is that of the media; it is read, listed and deleted."""
    made = data(
        call(box, "POST", "media_creatives", line_item_id=PREROLL, account_media_id=BANNER,
             landing_url=LANDING)
    )  # fmt: skip
    key = made["id"]
    read = data(call(box, "GET", f"media_creatives/{key}"))
    listed = data(call(box, "GET", "media_creatives", media_creative_ids=key))
    gone = data(call(box, "DELETE", f"media_creatives/{key}"))
    again = call(box, "DELETE", f"media_creatives/{key}")

    assert {**made, "id": "", "created_at": "", "updated_at": ""} == {
        "id": "",
        "line_item_id": PREROLL,
        "account_media_id": BANNER,
        "creative_type": "BANNER",
        "landing_url": LANDING,
        "entity_status": "ACTIVE",
        "approval_status": "ACCEPTED",
        "created_at": "",
        "updated_at": "",
        "deleted": False,
    }
    assert made == read == listed[0]
    assert gone["deleted"] is True
    assert refusal(again) == (404, [("MEDIA_CREATIVE_NOT_FOUND", "media_creative_id")])


def test_a_preroll_has_no_landing_address(box: Sandbox) -> None:
    """It is ignored, with a warning."""
    response = call(
        box, "POST", "media_creatives", line_item_id=PREROLL, account_media_id=VIDEO,
        landing_url=LANDING,
    )  # fmt: skip

    assert data(response)["landing_url"] is None
    assert response.headers["X-Mock-Warnings"] == "no-effect"


@pytest.mark.parametrize(
    ("objective", "status"), [("WEBSITE_CLICKS", 400), ("PREROLL_VIEWS", 200), ("REACH", 200)]
)
def test_when_an_image_needs_a_landing_address(box: Sandbox, objective: str, status: int) -> None:
    """For website clicks it is required, with it they are taken."""
    box.change("line_items", PREROLL, objective=objective)
    sent = {"line_item_id": PREROLL, "account_media_id": BANNER}
    without = call(box, "POST", "media_creatives", **sent)
    with_it = call(box, "POST", "media_creatives", **sent, landing_url=LANDING)

    assert (without.status_code, with_it.status_code) == (status, 200)
    if status == 400:
        assert refusal(without) == (400, [("MISSING_PARAMETER", "landing_url")])


@pytest.mark.parametrize(
    ("line_item", "media", "more", "status", "errors"),
    [
        (CLICKS, BANNER, {}, 400, [("INCOMPATIBLE_LINE_ITEM", "line_item_id")]),
        (DELETED, BANNER, {}, 404, [("LINE_ITEM_NOT_FOUND", "line_item_id")]),
        (FOREIGN, BANNER, {}, 404, [("LINE_ITEM_NOT_FOUND", "line_item_id")]),
        (PREROLL, FOREIGN_MEDIA, {}, 404, [("ACCOUNT_MEDIA_NOT_FOUND", "account_media_id")]),
        (PREROLL, GONE, {}, 404, [("ACCOUNT_MEDIA_NOT_FOUND", "account_media_id")]),
        (PREROLL, BANNER, {"landing_url": "harbor"}, 400, [("INVALID_PARAMETER", "landing_url")]),
    ],
)
def test_what_does_not_fit(
    box: Sandbox, line_item: str, media: str, more: dict[str, str], status: int, errors: Any
) -> None:
    """Other products, missing line items and media are refused."""
    response = call(
        box, "POST", "media_creatives", line_item_id=line_item, account_media_id=media, **more
    )

    assert refusal(response) == (status, errors)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"campaign_id": "8x3fz"}, ["1bzq3", "1bzq8"]),
        ({"campaign_id": "8wku2"}, []),
        ({"campaign_id": "8x3fz", "line_item_ids": CLICKS}, []),
        ({"line_item_ids": f"{PREROLL},{CLICKS}", "media_creative_ids": "1bzq8"}, ["1bzq8"]),
    ],
)
def test_filters(box: Sandbox, query: dict[str, str], found: list[str]) -> None:
    """By campaign, line item and id, all together."""
    response = call(box, "GET", "media_creatives", **query)

    assert found == [record["id"] for record in data(response)]
    echo = response.get_json()["request"]["params"]
    assert set(echo) == {*query, "account_id"}


def test_approval_is_a_transition(box: Sandbox) -> None:
    """After so many reads the review is over."""
    with box.world.work():
        box.world.transitions.set_pace("media_creative", progression="polls", polls=2)
    made = data(call(box, "POST", "media_creatives", line_item_id=PREROLL, account_media_id=VIDEO))
    seen = [data(call(box, "GET", f"media_creatives/{made['id']}")) for _ in range(2)]

    assert ["UNDER_REVIEW", "UNDER_REVIEW", "ACCEPTED"] == [
        record["approval_status"] for record in (made, *seen)
    ]


def test_a_creative_below_a_deleted_line_item(box: Sandbox) -> None:
    """It keeps deleted: false and is shown with_deleted only."""
    assert call(box, "DELETE", f"line_items/{PREROLL}").status_code == 200

    assert [] == data(call(box, "GET", "media_creatives"))
    read = data(call(box, "GET", "media_creatives/1bzq3", with_deleted="true"))
    assert read["deleted"] is False
    assert ACCOUNT not in read.values()
