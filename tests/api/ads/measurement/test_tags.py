"""Tags of app and web events: list, read, create, change, delete."""

from __future__ import annotations

from functools import partial

import pytest

from tests.api.ads.support import alter, delete, drop, echo, get, load, make
from tests.refusals import Refusal, refusals
from tests.support import ACCOUNT, Sandbox, data_of

APP, WEB = f"/12/accounts/{ACCOUNT}/app_event_tags", f"/12/accounts/{ACCOUNT}/web_event_tags"
APP_TAG = {
    "app_store_identifier": "com.harborroasters.loyalty", "os_type": "ANDROID",
    "conversion_type": "PURCHASE", "provider_app_event_id": "abc123",
    "provider_app_event_name": "Bought",
}  # fmt: skip
WEB_TAG = {
    "name": "Ordered", "type": "PURCHASE", "click_window": "7", "view_through_window": "7",
    "retargeting_enabled": "false",
}  # fmt: skip


def test_an_app_event_tag(box: Sandbox) -> None:
    """It counts 30 days after an engagement by default, and its delete echoes id."""
    made = make(box, "app_event_tags", **APP_TAG)
    one = f"app_event_tags/{made['id']}"
    read, gone = load(box, one), delete(box, one)
    shown = load(box, "app_event_tags", app_event_tag_ids=made["id"], with_deleted="true")
    usual = {
        "post_engagement_attribution_window": 30, "post_view_attribution_window": 1,
        "retargeting_enabled": True,
    }  # fmt: skip

    assert usual.items() <= made.items()
    assert made | {"status": "UNVERIFIED", "last_tracked_at": None} == read
    assert echo(gone) == {"account_id": ACCOUNT, "id": made["id"]}
    assert get(box, one).status_code == 404
    assert [tag["deleted"] for tag in shown] == [True]


def test_a_web_event_tag(box: Sandbox) -> None:
    """It has the pixel of its account, in its code as well, and can be changed."""
    made = make(box, "web_event_tags", **WEB_TAG)
    one = f"web_event_tags/{made['id']}"
    changed = alter(box, one, type="DOWNLOAD")

    assert (made["website_tag_id"], made["status"]) == ("o8z6j", "UNVERIFIED")
    assert "o8z6j" in made["embed_code"]
    assert (changed["type"], changed["name"]) == ("DOWNLOAD", "Ordered")
    assert drop(box, one)["deleted"] is True


def test_an_account_gets_its_pixel_with_its_first_tag(box: Sandbox) -> None:
    """All later tags have the same one."""
    other = WEB.replace(ACCOUNT, "18ce55fw2ag")
    made = [data_of(box.ask("POST", other, **WEB_TAG)) for _ in range(2)]
    pixels = {tag["website_tag_id"] for tag in made}

    assert len(pixels) == 1
    assert pixels.isdisjoint({"o8z6j", "p1c00"})


app, web = partial(Refusal, f"POST {APP}"), partial(Refusal, f"POST {WEB}")


@refusals([
    app("an app event tag needs its app and event", 400,
        [("MISSING_PARAMETER", name) for name in APP_TAG]),
    app("a window of an app event is one of four", 400,
        [("INVALID_PARAMETER", "post_engagement_attribution_window")],
        query=APP_TAG | {"post_engagement_attribution_window": "2"}),
    web("a web event tag has windows of the lists", 400,
        [("INVALID_PARAMETER", "click_window"), ("INVALID_PARAMETER", "view_through_window")],
        query=WEB_TAG | {"click_window": "0", "view_through_window": "2"}),
    web("a view does not count longer than a click", 400,
        [("INVALID_PARAMETER", "view_through_window")],
        query=WEB_TAG | {"view_through_window": "14"}),
    Refusal(f"PUT {WEB}/o87ne", "nor after a change", 400,
            [("INVALID_PARAMETER", "view_through_window")],
            query={"click_window": "7", "view_through_window": "14"}),

])  # fmt: skip
def test_refused(box: Sandbox, row: Refusal) -> None:
    """Tags that are incomplete, count too long, or are not there."""
    row.check(box)


@pytest.mark.parametrize("name", ["app_event_tags", "web_event_tags"])
def test_analysts_only_read(box: Sandbox, name: str) -> None:
    """Tags belong to campaigns."""
    access = [{"user_id": "2244994945", "permissions": ["CAMPAIGN_ANALYST"]}]
    box.change("accounts", ACCOUNT, _user_access=access)
    path = f"/12/accounts/{ACCOUNT}/{name}"

    assert box.call("GET", path).status_code == 200
    assert box.call("POST", path, query_string=APP_TAG | WEB_TAG).status_code == 403
