"""Conversions of web sites and of apps, as they are reported."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from tests.refusals import Refusal, refusals
from tests.support import ACCOUNT, NORTHBIKE, Sandbox, body_of, faults

WEB, APP = "/12/measurement/conversions/o8z6j", "/12/conversion_event"
HASH = "d360d510a224510f373931ce2d6215a799f5a9c1cef221b0149b6b6b50cced62"
BOUGHT = {
    "conversion_time": "2026-11-18T01:14:00.603Z",
    "event_id": "o87ne",
    "identifiers": [{"twclid": "23opevjt88psuo13lu8d020qkn"}],
}
INSTALLED = {
    "app_id": "com.harborroasters.subscribe", "os_type": "ANDROID", "conversion_type": "INSTALL",
    "conversion_time": "2026-11-18T01:14:00.602Z", "hashed_device_id": "lke1GZa3",
}  # fmt: skip


def report(box: Sandbox, *conversions: dict[str, Any]) -> Any:
    """The answer to a report of conversions of a web site."""
    return body_of(box.call("POST", WEB, json={"conversions": conversions}))


def kept(box: Sandbox) -> list[str | None]:
    """The tags of the conversions that were reported beside the two of the fixtures."""
    return [entry.record["event_id"] for entry in box.world.store.page("conversions")][2:]


def test_conversions_of_a_web_site(box: Sandbox) -> None:
    """Either spelling of an event is taken; the tag is tracked from then on."""
    full = BOUGHT | {
        "event_id": "tw-o8z6j-o87nz", "value": "20.00", "number_items": 3,
        "identifiers": [{"hashed_email": HASH}, {"ip_address": "1.0.0.0", "user_agent": "curl"}],
        "contents": [{"content_id": "1", "content_price": 100.99, "num_items": 1}],
    }  # fmt: skip
    answer = report(box, BOUGHT, full)
    tag = box.call("GET", f"/12/accounts/{ACCOUNT}/web_event_tags/o87nz").get_json()["data"]

    assert answer["request"] == {"params": {"account_id": ACCOUNT}}
    assert answer["data"]["conversions_processed"] == 2
    assert len(answer["data"]["debug_id"]) == 36
    assert (tag["status"], tag["last_tracked_at"]) == ("TRACKING", BOUGHT["conversion_time"])
    assert kept(box) == ["o87ne", "o87nz"]


@pytest.mark.parametrize(("time", "expected"), [("20T01:14:00.603Z", 1), ("20T01:14:00.604Z", 2)])
def test_a_repeated_conversion_is_kept_once(box: Sandbox, time: str, expected: int) -> None:
    """The same id of the same event within 48 hours is the same conversion."""
    report(box, BOUGHT | {"conversion_id": "1"})
    report(box, BOUGHT | {"conversion_id": "1", "conversion_time": f"2026-11-{time}"})

    assert len(kept(box)) == expected


def test_500_conversions_in_a_request(box: Sandbox) -> None:
    """That many are taken, and no more."""
    assert report(box, *[BOUGHT] * 500)["data"]["conversions_processed"] == 500
    response = box.call("POST", WEB, json={"conversions": [BOUGHT] * 501})

    assert faults(response) == [("INVALID_PARAMETER", "conversions")]


def test_unknown_keys_are_ignored(box: Sandbox) -> None:
    """At any depth of a report: the journal warns of them, as in every JSON body."""
    odd: dict[str, Any] = {"currency": "USD"}
    conversion = BOUGHT | odd | {"identifiers": [{"twclid": "23"} | odd]}
    response = box.call("POST", WEB, json={"conversions": [conversion | {"contents": [odd]}]})

    assert body_of(response)["data"]["conversions_processed"] == 1
    assert response.headers["X-Mock-Warnings"] == "unknown-key"


web, app = partial(Refusal, f"POST {WEB}"), partial(Refusal, f"POST {APP}")


@refusals([
    web("an event of no tag", 404, [("NOT_FOUND", "event_id"), ("INVALID_PARAMETER", "event_id")],
        json={"conversions": [BOUGHT, BOUGHT | {"event_id": "abc"}]},
        messages=["event_id (abc) does not belong to provided account",
                  "event_id (abc) is not a single event tag (SET)"]),
    web("an event of a deleted tag", 404,
        [("NOT_FOUND", "event_id"), ("INVALID_PARAMETER", "event_id")],
        json={"conversions": [BOUGHT | {"event_id": "o87q1"}]}),
    web("a pixel in place of an event", 400, [("INVALID_PARAMETER", "event_id")],
        json={"conversions": [BOUGHT | {"event_id": "o8z6j"}]}),
    web("nobody is named", 400, [("INVALID_PARAMETER", "")],
        json={"conversions": [BOUGHT | {"identifiers": [{"twclid": ""}]}]},
        messages=["At least one user identifier must be provided"]),
    web("a hash that is none", 400, [("INVALID_PARAMETER", "hashed_email")],
        json={"conversions": [BOUGHT | {"identifiers": [{"hashed_email": "abc"}]}]},
        messages=["hashed_email (abc) is not a valid SHA-256 hash"]),
    web("an address alone", 400, [("INVALID_PARAMETER", "ip_address")],
        json={"conversions": [BOUGHT | {"identifiers": [{"ip_address": "1.0.0.0"}]}]}),
    web("no item", 400, [("INVALID_PARAMETER", "conversions[0].number_items")],
        json={"conversions": [BOUGHT | {"number_items": 0}]}),
    web("another account's pixel", 404, [("NOT_FOUND", "pixel_id")],
        json={"conversions": [BOUGHT]}, keys=NORTHBIKE),
    Refusal("POST /12/measurement/conversions/none", "an unknown pixel", 404,
            [("NOT_FOUND", "pixel_id")], json={"conversions": [BOUGHT]}),
    app("an app without a tag", 404, [("MACT_APP_NOT_FOUND", "app_id")],
        query=INSTALLED | {"app_id": "com.example"}),
    app("an app on another system", 404, [("MACT_APP_NOT_FOUND", "app_id")],
        query=INSTALLED | {"os_type": "IOS"}),
    app("a view counts longer than a click", 400, [("INVALID_PARAMETER", "view_through_window")],
        query=INSTALLED | {"click_window": "7", "view_through_window": "14"}),
])  # fmt: skip
def test_refused(box: Sandbox, row: Refusal) -> None:
    """One conversion that is refused refuses all: nothing is kept."""
    row.check(box)
    assert not kept(box)


def test_a_conversion_of_an_app(box: Sandbox) -> None:
    """It is attributed to no ad; what else was said of it is its metadata."""
    query = INSTALLED | {"price_micro": "3000000", "level": "2", "view_through_window": "14"}
    data = box.call("POST", APP, query_string=query).get_json()["data"]

    assert data["event_metadata"] == {"level": 2, "price_micro": 3000000}
    assert (data["click_window"], data["view_through_window"]) == (14, 14)
    assert (data["platform_attribution"], data["tpn_attribution"]) == (None, None)
    assert kept(box) == ["jhp"]


def test_original_names_of_attributions(box: Sandbox) -> None:
    """The attribution has the platform's own name."""
    answer = box.call("POST", APP, query_string=INSTALLED, headers={"X-Mock-Names": "original"})

    assert "twitter_attribution" in answer.get_json()["data"]
    assert "non_twitter_engagement_time" in answer.get_json()["data"]
