"""Lookups of what can be targeted: filters, pages, and forms of the rows."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from mock_platform.api.ads.targeting.criteria import find_option
from mock_platform.api.ads.targeting.options import OPERATIONS
from mock_platform.world.clock import parse_instant, wire_seconds
from tests.api.ads.support import without
from tests.refusals import Refusal, refusals
from tests.support import Sandbox, Sandboxes, refusal

KINDS = [operation.id.rpartition(".")[2] for operation in OPERATIONS]
REQUIRED = {"events": {"event_types": "HOLIDAY"}, "tv_shows": {"locale": "en-US"}}


def look_up(box: Sandbox, kind: str, **query: Any) -> dict[str, Any]:
    """The body of a lookup."""
    sent = REQUIRED.get(kind, {}) | query
    body: dict[str, Any] = box.read(f"/12/targeting_criteria/{kind}", **sent)
    return body


def names(body: dict[str, Any]) -> list[str]:
    """The names of the rows."""
    return [row["name"] for row in body["data"]]


@pytest.mark.parametrize("kind", KINDS)
def test_rows_of_a_kind(box: Sandbox, kind: str) -> None:
    """Rows can be targeted by their value, and show nothing of the mock's own."""
    rows = look_up(box, kind)["data"]

    assert rows
    for row in rows:
        assert not any(name.startswith("_") for name in row)
        if "targeting_type" in row:
            option = find_option(box.world, row["targeting_type"], row["targeting_value"])
            assert option is not None
            assert option["name"] == row["name"]


def test_which_have_pages(box: Sandbox) -> None:
    """Some lookups have no cursor at all."""
    bare = {"devices", "platforms", "platform_versions", "app_store_categories", "tv_markets"}

    assert bare == {kind for kind in KINDS if "next_cursor" not in look_up(box, kind)}


@pytest.mark.parametrize(
    ("kind", "query", "found"),
    [
        ("app_store_categories", {"q": "MUSIC", "os_type": "IOS"}, ["Games: Music", "Music"]),
        ("app_store_categories", {"q": "music", "os_type": "ANDROID"}, ["Music & Audio"]),
        ("conversations", {"conversation_type": "SPORTS"}, ["NFL", "NBA"]),
        ("devices", {"q": "iphone", "count": "2"}, ["iPhone 3GS", "iPhone 4"]),
        ("interests", {"q": "coffee"}, ["Food and drink/Coffee and tea"]),
        ("languages", {"q": "english"}, ["English"]),
        ("locations", {"location_type": "REGIONS", "country_code": "GB"}, ["Scotland, GB"]),
        ("locations", {"location_type": "COUNTRIES", "q": "united"},
         ["United States", "United Kingdom"]),
        ("network_operators", {"country_code": "DE"}, ["Nordfunk", "Hansetel"]),
        ("network_operators", {"q": "aer"}, ["Aeris"]),
        ("platform_versions", {"q": "jelly"}, ["Jelly Bean"]),
        ("platforms", {"q": "ios"}, ["iOS"]),
        ("tv_shows", {"locale": "de-DE"}, ["Tatwerk", "Küchenschlacht Nord"]),
        ("tv_shows", {"q": "roast"}, ["The Long Roast"]),
        ("tv_shows", {"locale": "xx-XX"}, []),
        ("events", {"event_types": "SPORTS,CONFERENCE", "country_codes": "DE"},
         ["Berlin Bicycle Week", "Tour of the Islands"]),
        ("events", {"event_types": "POLITICS"}, []),
    ],
)  # fmt: skip
def test_filters(box: Sandbox, kind: str, query: dict[str, str], found: list[str]) -> None:
    """Each parameter narrows the rows; names are searched in any case."""
    assert found == names(look_up(box, kind, **query))


REFUSED = [
    Refusal(f"GET /12/targeting_criteria/{kind}", f"{kind} with {name} {value}", 400,
            [("INVALID_PARAMETER", name)], query=REQUIRED.get(kind, {}) | {name: value})
    for kind, name, value in (
        ("events", "event_types", "FAIR"), ("locations", "location_type", "COUNTRY"),
        ("locations", "count", "1001"), ("devices", "count", "0"), ("tv_shows", "count", "51"),
        ("tv_shows", "locale", "English"), ("conversations", "conversation_type", "COFFEE"),
    )
] + [
    Refusal(f"GET /12/targeting_criteria/{kind}", f"{kind} without {name}", 400,
            [("MISSING_PARAMETER", name)])
    for kind, name in (("events", "event_types"), ("tv_shows", "locale"))
]  # fmt: skip


@refusals(REFUSED)
def test_what_is_refused(box: Sandbox, row: Refusal) -> None:
    """Values beyond the public ones; and two lookups have a parameter that they need."""
    row.check(box)


def test_the_row_of_a_show(box: Sandbox) -> None:
    """The targeting value of a show is a number, and the locale is echoed in its parts."""
    body = look_up(box, "tv_shows", locale="en-GB", count="1")
    locale = {"countryCode": "GB", "languageCode": "en"}

    assert body["data"] == [{
        "name": "Evening Kitchen", "targeting_value": 10027243422, "genre": "REALITY",
        "locales": [{"language": "en", "country": "US"}, {"language": "en", "country": "GB"}],
    }]  # fmt: skip
    assert body["request"]["params"] == {"locale": locale, "count": 1}


def test_the_row_of_an_event(box: Sandbox) -> None:
    """An event has the whole public form, with what the sandbox does not know left empty."""
    row = look_up(box, "events")["data"][0]
    shares = [f"{name}_breakdown_percentage" for name in ("gender", "device", "country")]

    assert without(row, "start_time", "end_time", *shares) == {
        "reach": {"total_reach": None}, "name": "New Year's", "targeting_value": "1ex",
        "event_type": "HOLIDAY", "country_code": None, "is_global": True, "top_users": [],
        "top_posts": [], "top_hashtags": [],
    }  # fmt: skip
    assert [{}, {}, {}] == [row[name] for name in shares]


def test_events_within_a_time(box: Sandbox) -> None:
    """By default those that have not ended; an end leaves out what begins at it or later."""
    first = {row["name"]: row for row in look_up(box, "events")["data"]}["Thanksgiving"]
    later = wire_seconds(parse_instant(first["start_time"]) + timedelta(seconds=1))

    assert [] == names(look_up(box, "events", end_time=first["start_time"]))
    assert ["New Year's"] == names(look_up(box, "events", start_time=first["end_time"]))
    assert ["Thanksgiving"] == names(look_up(box, "events", end_time=later))


def test_a_language(box: Sandbox) -> None:
    """Platforms have their name in another language on request."""
    plain, german = look_up(box, "platforms"), look_up(box, "platforms", lang="de")

    assert "localized_name" not in plain["data"][4]
    assert german["data"][4]["localized_name"] == "Desktop-Computer und Laptops"
    assert [row["targeting_value"] for row in plain["data"]] == ["0", "1", "2", "3", "4"]


def test_an_option_of_ones_own(box: Sandbox) -> None:
    """A row that a test adds is found, and names the criteria with its value."""
    row = {
        "name": "Lisbon, PT", "targeting_type": "LOCATION", "targeting_value": "0123456789abcdef",
        "country_code": "PT", "location_type": "CITIES", "_kind": "locations", "_id": "lisbon",
    }  # fmt: skip
    response = box.client.put("/_mock/state/targeting_options/lisbon", json=row)

    assert response.status_code == 200, response.text
    assert ["Lisbon, PT"] == names(look_up(box, "locations", country_code="PT"))


def test_four_hundred_lookups_in_fifteen_minutes(sandboxes: Sandboxes) -> None:
    """They are counted together, except for those of TV."""
    box = sandboxes.get(limits="public")
    kinds = ["platforms", "languages"] * 200
    codes = {box.call("GET", f"/12/targeting_criteria/{kind}").status_code for kind in kinds}
    beyond = box.call("GET", "/12/targeting_criteria/interests")
    shows = box.call("GET", "/12/targeting_criteria/tv_markets")

    assert codes == {200}
    assert refusal(beyond) == (429, [("TOO_MANY_REQUESTS", None)])
    assert shows.status_code == 200
    assert shows.headers["x-rate-limit-limit"] == "2000"
