"""Places of the older interface: what is trending there, and where posts were written."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from math import cos, radians
from typing import Any
from urllib.parse import quote_plus, urlencode

from mock_platform.api.older import conventions as older
from mock_platform.api.older.conventions import add_fields, declare, require, run
from mock_platform.api.v2 import conventions as v2
from mock_platform.api.v2 import trends
from mock_platform.core.assumptions import expectation
from mock_platform.core.call import Call
from mock_platform.core.failures.errors import NumericFailure
from mock_platform.core.fields import Choice, Integer, Json, Number, Text
from mock_platform.core.unread import NO_EFFECT
from mock_platform.core.validators import Between
from mock_platform.world.clock import wire_seconds
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

TREND_PLACES = expectation(
    "older.trend-places",
    "trends/available lists the places of this world that have trends: the world (code 19), and "
    "all others as countries below it (code 12). trends/closest has the nearest of those that have "
    "_coordinates, or the world.",
)
POST_PLACES = expectation(
    "older.post-places",
    "The places of geo are those of the posts of this world. A query finds a place by a part of "
    "its full name, a position by its bounding box; ip finds none.",
)
_DEGREES = re.compile(r"[+-]?[0-9]{1,3}(?:\.[0-9]{0,20})?", re.ASCII)


class Degrees(Number):
    """A latitude or longitude, also in text; up to `most` degrees to both sides."""

    def __init__(self, most: int, **options: Any) -> None:
        super().__init__(validate=[Between(-most, most)], **options)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> float:
        if isinstance(value, str) and _DEGREES.fullmatch(value):
            value = float(value)
        return super()._deserialize(value, attr, data, **kwargs)


TrendPlace = v2.make_schema(
    "OlderTrendPlace",
    placeType=Json(required=True),
    countryCode=Text(allow_none=True),
    **require(Integer, "woeid", "parentid"),
    **require(Text, "name", "url", "country"),
)
_OF_TRENDS = dict.fromkeys(("trends", "locations"), older.OBJECTS)
PlaceTrends = v2.make_schema("OlderTrends", **_OF_TRENDS, **require(Text, "as_of", "created_at"))


def list_trends(call: Call, world: World) -> list[Record]:
    """Return the trends of a place."""
    woeid, moment = str(call.params["id"]), wire_seconds(world.clock.now())
    found = run(trends.operations.list_of_place, call, world, {"woeid": woeid}, max_trends=50)
    named = [(one["trend_name"], one.get("post_count")) for one in found.get("data", ())]
    shown = [
        {
            "name": name,
            "url": f"{older.SITE}/search?q={quote_plus(name)}",
            "promoted_content": None,
            "query": quote_plus(name),
            "post_volume": count,
        }
        for name, count in named
        if not (call.params.get("exclude") == "hashtags" and name.startswith("#"))
    ]
    place = world.store.get("trend_places", woeid) or {}
    where = [{"name": place.get("name"), "woeid": int(woeid)}]
    return [{"trends": shown, "as_of": moment, "created_at": moment, "locations": where}]


def list_places(_call: Call, world: World) -> list[Record]:
    """Return the places that have trends."""
    return [show_trend_place(entry.record) for entry in world.store.page("trend_places")]


def find_closest(call: Call, world: World) -> list[Record]:
    """Return the place with trends that is nearest to a position, or the world."""
    lat, long = call.params["lat"], call.params["long"]

    def measure(place: Record) -> float:
        # Flat geometry is enough to tell which of a few places is nearest: a degree of longitude
        # is shorter towards the poles, and no two places are further apart than 180 degrees.
        place_long, place_lat = place["_coordinates"]
        east = (place_long - long + 180) % 360 - 180
        return float((east * cos(radians(lat))) ** 2 + (place_lat - lat) ** 2)

    found = [entry.record for entry in world.store.page("trend_places")]
    located = [place for place in found if place.get("_coordinates")]
    nearest = [min(located, key=measure)] if located else [one for one in found if _is_world(one)]
    return [show_trend_place(place) for place in nearest]


def show_trend_place(place: Record) -> Record:
    """Return a place that has trends."""
    is_world = _is_world(place)
    return {
        "name": place["name"],
        "woeid": int(place["woeid"]),
        "placeType": {"code": 19 if is_world else 12, "name": ""},
        "url": f"{older.SITE}/place/{place['woeid']}",
        "parentid": 0 if is_world else 1,
        "country": "" if is_world else place["name"],
        "countryCode": None,
    }


def _is_world(place: Record) -> bool:
    return bool(place["woeid"] == "1")


def show_place(call: Call, world: World) -> Record:
    """Return the place in the path."""
    id_ = call.path_params["place_id"]
    found = _list_post_places(world, lambda place: bool(place["id"] == id_))
    if not found:
        raise NumericFailure(34)
    return found[0] | {"geometry": None, "polylines": []}


def search(call: Call, world: World) -> Record:
    """Return the places that a query or a position finds.

    Raises:
        NumericFailure: Neither of them is there, nor an address (25).
    """
    sent, words = call.params, call.params.get("query", "").casefold()
    is_position = {"lat", "long"} <= sent.keys()
    if not (words or is_position or "ip" in sent):
        raise NumericFailure(25)
    ignored = sent.keys() & {"ip", "accuracy", "contained_within"}
    for name in sorted(ignored):
        call.warn(f"{name} has no effect on places", NO_EFFECT)

    def is_wanted(place: Record) -> bool:
        kind = place["place_type"]
        if sent.get("granularity", kind) != kind:
            return False
        if words:
            return words in place["full_name"].casefold()
        return is_position and _contains(place["bounding_box"], sent["long"], sent["lat"])

    found = _list_post_places(world, is_wanted)[: sent.get("max_results", 20)]
    kind = call.path.rpartition("/")[2].removesuffix(".json")
    names = ("query", "lat", "long", "granularity")
    params: Record = {name: sent[name] for name in names if name in sent}
    about = {"url": f"{call.path}?{urlencode(params)}", "type": kind, "params": params}
    return {"query": about, "result": {"places": found}}


def _list_post_places(world: World, is_wanted: Callable[[Record], bool]) -> list[Record]:
    """Return those places of posts that are wanted, each once, with all keys of a place."""
    posts = world.store.page("posts", where=lambda post: bool(post.get("place")))
    places = {entry.record["place"]["id"]: entry.record["place"] for entry in posts}
    return list(filter(is_wanted, map(_complete, places.values())))


def _complete(place: Record) -> Record:
    id_, box = place["id"], place.get("bounding_box")
    corners = box["coordinates"][0] if box else []
    middle = [sum(values) / len(values) for values in zip(*corners, strict=True)] or None
    return {
        "id": id_,
        "url": f"{older.SITE}/1.1/geo/id/{id_}.json",
        "place_type": place.get("place_type", "city"),
        "name": place.get("name", id_),
        "full_name": place.get("full_name") or place.get("name") or id_,
        "country_code": place.get("country_code", ""),
        "country": place.get("country", ""),
        "contained_within": place.get("contained_within", []),
        "bounding_box": box,
        "centroid": middle,
        "attributes": place.get("attributes", {}),
    }


def _contains(box: Record | None, long: float, lat: float) -> bool:
    if box is None:
        return False
    longs, lats = zip(*box["coordinates"][0], strict=True)
    return bool(min(longs) <= long <= max(longs) and min(lats) <= lat <= max(lats))


_POSITION = {"lat": "47.6", "long": "-122.3"}
_OPEN = ("contained_within", "bounding_box", "centroid", "attributes", "geometry", "polylines")
_TEXTS = ("id", "url", "place_type", "name", "full_name", "country_code", "country")
OlderPlace = v2.make_schema(
    "OlderPlace",
    **require(Text, *_TEXTS),
    **{name: Json(allow_none=True) for name in _OPEN},
)
FoundPlaces = v2.make_schema("OlderPlaces", query=Json(required=True), result=Json(required=True))
_PlaceQuery = add_fields(
    granularity=Choice(("poi", "neighborhood", "city", "admin", "country")),
    max_results=Integer(low=1),
    accuracy=Text(),
)
_AtPosition = add_fields(lat=Degrees(90, required=True), long=Degrees(180, required=True))
_geo = partial(declare, facts=(POST_PLACES,))
OPERATIONS = (
    declare("GET trends/available", list_places, "List the places that have trends",
            older.Listing(TrendPlace), add_fields(), rates=(75, 75),
            facts=(trends.operations.TREND_RECORDS, TREND_PLACES)),
    declare("GET trends/closest", find_closest, "Find the place with trends near a position",
            older.Listing(TrendPlace), _AtPosition, rates=(75, 75), query=_POSITION,
            facts=(trends.operations.TREND_RECORDS, TREND_PLACES)),
    declare("GET trends/place", list_trends, "List the trends of a place",
            older.Listing(PlaceTrends), add_fields(id=Integer(required=True), exclude=Text()),
            rates=(75, 75), errors="34", facts=(trends.operations.TREND_RECORDS,),
            query={"id": "1"}),
    _geo("GET geo/id/:place_id", show_place, "Read a place", OlderPlace, None, rates=(75, 75),
         id_="geo.id", errors="34", path={"place_id": "300bcc6e23a88361"}),
    _geo("GET geo/search", search, "Search places", FoundPlaces,
         add_fields(_PlaceQuery, query=Text(), ip=Text(), contained_within=Text(),
                    lat=Degrees(90), long=Degrees(180)),
         rates=(15, 15), errors="25", query={"query": "Seattle"}),
    _geo("GET geo/reverse_geocode", search, "Find the places at a position", FoundPlaces,
         add_fields(_PlaceQuery, _AtPosition), rates=(15, 15), query=_POSITION),
)  # fmt: skip
