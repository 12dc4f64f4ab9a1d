"""Places of the older interface: trends, and where posts were written."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.older.numbers import invalid, numbers
from tests.refusals import Refusal, make_refusal_test
from tests.support import Sandbox, body_of

SEATTLE = "300bcc6e23a88361"
_IN: dict[str, Any] = {"lat": "47.6", "long": "-122.3"}
_OUT = _IN | {"long": "-122.2"}


def test_trends_of_a_place(box: Sandbox) -> None:
    """Trends are there with and without hashtags; the world is above all other places."""
    (place,) = box.read("/1.1/trends/place.json", id="1")
    (bare,) = box.read("/1.1/trends/place.json", id="1", exclude="hashtags")
    places = {one["woeid"]: one for one in box.read("/1.1/trends/available.json")}

    assert [{"name": "Worldwide", "woeid": 1}] == place["locations"]
    assert 0 < len(bare["trends"]) < len(place["trends"])
    assert (0, 1) == (places[1]["parentid"], places[23424977]["parentid"])


@pytest.mark.parametrize(
    ("lat", "long", "name"),
    [("34", "-118", "Los Angeles"), ("35.7", "139.8", "Tokyo"), ("40", "-179.9", "Tokyo"),
     ("-90", "180", "Los Angeles"), ("51.5", "0", "London")],
)  # fmt: skip
def test_the_nearest_place(box: Sandbox, lat: str, long: str, name: str) -> None:
    """The nearest place is found across the edge of the map as well."""
    (place,) = box.read("/1.1/trends/closest.json", lat=lat, long=long)

    assert name == place["name"]


def test_places_without_coordinates(box: Sandbox) -> None:
    """If no place has coordinates, the world is nearest."""
    for entry in box.world.store.page("trend_places"):
        place = {name: value for name, value in entry.record.items() if name != "_coordinates"}
        box.put("trend_places", entry.key, place)

    (place,) = box.read("/1.1/trends/closest.json", lat="1", long="2")

    assert 1 == place["woeid"]


def test_the_place_of_a_post(box: Sandbox) -> None:
    """A place is found by its id, by a part of its name in any case, and by a position in it."""
    place = box.read(f"/1.1/geo/id/{SEATTLE}.json")
    named = box.read("/1.1/geo/search.json", query="seattle, w")
    at = box.read("/1.1/geo/reverse_geocode.json", **_IN)
    ids = [one["id"] for one in at["result"]["places"]]

    assert ("Seattle, WA", "city") == (place["full_name"], place["place_type"])
    assert [pytest.approx(-122.34), pytest.approx(47.615)] == place["centroid"]
    assert [place] == [
        one | {"geometry": None, "polylines": []} for one in named["result"]["places"]
    ]
    assert [SEATTLE] == ids
    assert ("search", "reverse_geocode") == (named["query"]["type"], at["query"]["type"])
    assert [] == box.read("/1.1/geo/reverse_geocode.json", **_OUT)["result"]["places"]


@pytest.mark.parametrize(
    ("query", "count"),
    [({"query": "Seattle", "granularity": "city"}, 1),
     ({"query": "Seattle", "granularity": "country"}, 0), ({"query": "Sealand"}, 0), (_IN, 1),
     ({"ip": "192.0.2.1"}, 0)],
)  # fmt: skip
def test_searched_places(box: Sandbox, query: dict[str, str], count: int) -> None:
    """The kind of a place counts; addresses of machines find nothing, which is said."""
    answer = box.ask("GET", "/1.1/geo/search.json", **query)

    assert count == len(body_of(answer)["result"]["places"])
    assert ("ip" in query) == ("no-effect" in answer.headers.get("X-Mock-Warnings", ""))


def test_a_place_that_a_user_names(box: Sandbox) -> None:
    """A place of which only the id is known is its own name, and has no box."""
    made = {"text": "Here we are", "geo": {"place_id": "df51dec6f4ee2b2c"}}
    body_of(box.call("POST", "/2/posts", json=made), 201)
    place = box.read("/1.1/geo/id/df51dec6f4ee2b2c.json")

    assert ("df51dec6f4ee2b2c", None) == (place["full_name"], place["centroid"])


REFUSED = [
    Refusal("GET /1.1/trends/place.json", "an unknown place", 404, query={"id": "99"},
            shows=numbers(34)),
    Refusal("GET /1.1/trends/place.json", "a place that is no number", 400, query={"id": "here"},
            shows=invalid("id")),
    Refusal("GET /1.1/trends/closest.json", "no position", 403, shows=numbers(38)),
    Refusal("GET /1.1/trends/closest.json", "a latitude above 90", 400,
            query={"lat": "90.1", "long": "1"}, shows=invalid("lat")),
    Refusal("GET /1.1/trends/closest.json", "a longitude below -180", 400,
            query={"lat": "1", "long": "-180.5"}, shows=invalid("long")),
    Refusal("GET /1.1/trends/closest.json", "a position in words", 400,
            query={"lat": "north", "long": "1"}, shows=invalid("lat")),
    Refusal("GET /1.1/geo/id/none.json", "an unknown place of posts", 404, shows=numbers(34)),
    Refusal("GET /1.1/geo/search.json", "neither words nor a position", 400, shows=numbers(25)),
    Refusal("GET /1.1/geo/search.json", "half a position", 400, query={"lat": "1"},
            shows=numbers(25)),
    Refusal("GET /1.1/geo/search.json", "an unknown kind of place", 400,
            query={"query": "x", "granularity": "street"}, shows=invalid("granularity")),
]  # fmt: skip
test_what_is_refused = make_refusal_test(REFUSED)
