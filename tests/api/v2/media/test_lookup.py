"""Media by their keys: who sees which, and their private metrics."""

from __future__ import annotations

from typing import Any

from mock_platform.api.v2.objects.relations import FOLLOWS
from tests.api.v2.posts.support import relate
from tests.refusals import Refusal, make_refusal_test
from tests.support import BEARER, HARBOR, NORTHBIKE, Keys, Sandbox

POST = "1712850617439551491"
VIDEO = "7_1712850617439550009"
"""The video of that post."""
IMAGE = "3_1712850617439550001"
UNUSED = "3_1712850617439550003"
"""An image that no post has."""
FILE = "24_1712850617439560008"
OWN, OTHER = "2244994945", "3805104374"


def look_up(box: Sandbox, keys: Keys | str, *media_keys: str, fields: str = "url") -> Any:
    """Look media up with some credentials."""
    query = {"media_keys": ",".join(media_keys), "media.fields": fields}
    answer = box.call("GET", "/2/media", keys=keys, query_string=query)
    assert 200 == answer.status_code, answer.text
    return answer.get_json()


def test_several(box: Sandbox) -> None:
    """Media come once and in the order of the question; missing ones are named in errors."""
    found = look_up(box, BEARER, VIDEO, IMAGE, VIDEO, "3_1", UNUSED, FILE)

    assert [VIDEO, IMAGE] == [one["media_key"] for one in found["data"]]
    assert [("media", "media_keys", key) for key in ("3_1", UNUSED, FILE)] == [
        (each["resource_type"], each["parameter"], each["value"]) for each in found["errors"]
    ]
    one = box.read(f"/2/media/{IMAGE}", keys=BEARER)
    assert {"data": {"media_key": IMAGE, "type": "photo"}} == one


def test_unused_media_are_for_their_owner(box: Sandbox) -> None:
    """Media without a post are found by those who may use them alone, until they expire."""
    body = {"media": "MQ==", "media_category": "post_image", "media_type": "image/png"}
    key = box.call("POST", "/2/media/upload", json=body).get_json()["data"]["media_key"]

    assert [UNUSED, key] == [one["media_key"] for one in look_up(box, HARBOR, UNUSED, key)["data"]]
    assert ["errors"] == list(look_up(box, NORTHBIKE, UNUSED, key))
    box.advance(hours=24)
    assert [UNUSED] == [one["media_key"] for one in look_up(box, HARBOR, UNUSED, key)["data"]]


def test_media_of_hidden_and_of_deleted_posts(box: Sandbox) -> None:
    """Media of a protected user's post are for followers; of a deleted post for the owner alone."""
    box.change("users", OWN, protected=True)
    with box.world.work():
        FOLLOWS.remove(box.world, OTHER, OWN)
    for keys in (BEARER, NORTHBIKE):
        (error,) = look_up(box, keys, VIDEO)["errors"]
        assert ("media", "data") == (error["resource_type"], error["section"])
        assert error["type"].endswith("/not-authorized-for-resource")
    alone = box.call("GET", f"/2/media/{VIDEO}", keys=NORTHBIKE)
    assert 403 == alone.status_code
    relate(box, FOLLOWS, OTHER, OWN)
    assert "data" in look_up(box, NORTHBIKE, VIDEO)
    assert 200 == box.call("DELETE", f"/2/posts/{POST}").status_code

    assert 404 == box.call("GET", f"/2/media/{VIDEO}", keys=NORTHBIKE).status_code
    assert "data" in look_up(box, HARBOR, VIDEO)


def test_private_metrics(box: Sandbox) -> None:
    """Playbacks are for those who may use a video, and agree with its views; others get errors."""
    fields = "public_metrics,non_public_metrics,organic_metrics,promoted_metrics"
    (own,) = look_up(box, HARBOR, VIDEO, fields=fields)["data"]
    played = list(own["non_public_metrics"].values())
    other = look_up(box, BEARER, VIDEO, fields=fields)

    assert own["public_metrics"]["view_count"] == own["organic_metrics"]["view_count"] == played[0]
    assert sorted(played, reverse=True) == played
    assert {"media_key", "type", "public_metrics"} == set(other["data"][0])
    assert ["non_public_metrics", "organic_metrics", "promoted_metrics"] == [
        error["field"] for error in other["errors"]
    ]


REFUSED = [
    Refusal(f"GET /2/media/{FILE}", "a file of subtitles", 404, problem="resource-not-found"),
]  # fmt: skip
test_what_is_refused = make_refusal_test(REFUSED)
