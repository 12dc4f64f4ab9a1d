"""The contract as of a date, of a server, a world or one request, whatever the clock says."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from mock_platform import MockPlatform
from mock_platform.api.v2.activity.activities import record_activity
from mock_platform.world.worlds import pack_world, unpack_world
from tests.support import BEARER, HARBOR, Sandbox, Sandboxes

NEWS = "/2/news/search?query=coffee"
BEFORE_NEWS = "2025-11-18"
REPLAY = (
    "/2/account_activity/replay/webhooks/1146654567674912769/subscriptions/all"
    "?from_date=202601010000&to_date=202601010100"
)
DATED = {"Deprecation": "@1773964800", "Sunset": "Wed, 25 Mar 2026 16:00:00 GMT"}


@pytest.mark.parametrize(("server", "header", "status"), [
    (None, BEFORE_NEWS, 404),
    (BEFORE_NEWS, None, 404),
    (BEFORE_NEWS, "2025-11-19", 200),
    (None, "2025-11-18T23:59:59Z", 404),
    (None, "2025-11-19T00:00:00Z", 200),
])  # fmt: skip
def test_the_header_wins_over_the_server(
    sandboxes: Sandboxes, server: str | None, header: str | None, status: int
) -> None:
    """A path answers as of the date of the request, else of the server; the answer names it."""
    as_of = None if server is None else datetime.fromisoformat(server).replace(tzinfo=UTC)
    box = sandboxes.get(as_of=as_of)
    headers = {} if header is None else {"X-Mock-As-Of": header}
    answer = box.call("GET", NEWS, keys=BEARER, headers=headers)

    assert status == answer.status_code
    assert answer.headers["X-Mock-As-Of"] == (header or server or "").removesuffix("T00:00:00Z")
    assert box.world.as_of == as_of


def test_a_refusal_names_the_date_and_what_to_do(box: Sandbox) -> None:
    """An endpoint that is not there yet says since when it is, and how to have it."""
    answer = box.call("GET", NEWS, keys=BEARER, headers={"X-Mock-As-Of": BEFORE_NEWS})

    assert answer.get_json()["detail"].endswith(
        "The release history adds this endpoint on 2025-11-19, and the contract is that of "
        "2025-11-18; a later --as-of or X-Mock-As-Of has it."
    )


@pytest.mark.parametrize("text", ["", "soon", "2026-13-01", "01.03.2026"])
def test_a_header_without_a_date_is_ignored_with_a_warning(box: Sandbox, text: str) -> None:
    """The request is answered as without it, and the answer names the warning."""
    answer = box.call("GET", NEWS, keys=BEARER, headers={"X-Mock-As-Of": text})

    assert (200, "unknown-as-of") == (answer.status_code, answer.headers["X-Mock-Warnings"])
    assert "X-Mock-As-Of" not in answer.headers


def test_a_date_wins_over_all_releases(sandboxes: Sandboxes) -> None:
    """With --releases all a request can still have the contract of a date."""
    box = sandboxes.get(releases="all")

    headers = {"X-Mock-As-Of": BEFORE_NEWS}
    assert 404 == box.call("GET", NEWS, keys=BEARER, headers=headers).status_code


@pytest.mark.parametrize(("at", "status", "dated"), [
    ("2026-03-19", 400, {}),
    ("2026-03-20", 400, DATED),
    ("2026-03-25T15:59:59Z", 400, DATED),
    ("2026-03-25T16:00:00Z", 410, DATED),
])  # fmt: skip
def test_a_path_that_ends_says_so_from_its_announcement_on(
    box: Sandbox, at: str, status: int, dated: dict[str, str]
) -> None:
    """Deprecation and Sunset are there from the announcement on, and rest on an assumption."""
    answer = box.call("POST", REPLAY, keys=BEARER, headers={"X-Mock-As-Of": at})
    shown = {name: answer.headers[name] for name in DATED if name in answer.headers}

    assert (status, dated) == (answer.status_code, shown)
    assumed = answer.headers.get("X-Mock-Assumptions", "").split(",")
    assert bool(dated) is ("account-activity.deprecation-headers" in assumed)


@pytest.mark.parametrize(("at", "subscribed", "name"), [
    ("2026-03-17", "ProfileBioUpdate", "ProfileBioUpdate"),
    ("2026-03-18", "ProfileBioUpdate", "profile.update.bio"),
    ("2026-03-18", "profile.update.bio", "profile.update.bio"),
])  # fmt: skip
def test_an_event_has_the_name_of_its_time(
    sandboxes: Sandboxes, at: str, subscribed: str, name: str
) -> None:
    """A changed bio is delivered under the name that the type had at the date."""
    box = sandboxes.get(as_of=datetime.fromisoformat(f"{at}T00:00:00+00:00"))
    wanted = {"event_type": subscribed, "filter": {"user_id": "2244994945"}, "tag": "as of"}
    made = box.call("POST", "/2/activity/subscriptions", keys=HARBOR, json=wanted)
    with box.world.work():
        found = record_activity(
            box.world,
            "profile.update.bio",
            user_id="2244994945",
            payload={"before": "", "after": ""},
        )

    assert 200 == made.status_code, made.get_json()
    assert [name] == [
        match["event_type"] for match in found.activity["_matches"] if match["tag"] == "as of"
    ]


def test_a_type_of_event_that_does_not_exist_yet_is_not_delivered(sandboxes: Sandboxes) -> None:
    """Who subscribed to post.create hears nothing of a post before 2026-06-04."""
    box = sandboxes.get(as_of=datetime(2026, 6, 3, tzinfo=UTC))
    box.call("POST", "/2/posts", keys=HARBOR, json={"text": "Hello"})

    made = [each.record for each in box.world.store.page("activities")]
    assert [[]] == [each["_matches"] for each in made if each["payload"].get("text") == "Hello"]


@pytest.mark.parametrize(("at", "products"), [
    ("2025-05-19", set()),
    ("2025-05-20", {"account_activity"}),
    ("2025-09-09", {"account_activity", "filtered_stream"}),
    ("2026-06-04", {"account_activity", "filtered_stream", "activity"}),
])  # fmt: skip
def test_a_product_delivers_from_its_launch_on(
    sandboxes: Sandboxes, at: str, products: set[str]
) -> None:
    """A post reaches the webhooks of the products that there were at the date."""
    box = sandboxes.get(as_of=datetime.fromisoformat(f"{at}T00:00:00+00:00"))
    webhook, store = "1146654567674912769", box.world.store
    listener = {"_id": "x", "webhook_id": webhook, "user_id": "2244994945"}
    store.put("account_activity_subscriptions", "x", listener)
    link = {"webhook_id": webhook, "fields": [], "_app_id": "11827", "created_at": at}
    store.put("stream_links", webhook, link)
    before = {entry.key for entry in store.page("events")}
    box.call("POST", "/2/posts", keys=HARBOR, json={"text": "cold brew coffee"})
    found = [each for each in store.page("events") if each.key not in before]

    assert products == {each.record["_product"] for each in found}


def test_the_description_is_that_of_the_date(sandboxes: Sandboxes) -> None:
    """Endpoints, keys, values and credentials that were not there are not described."""
    box = sandboxes.get()

    def describe(at: str | None) -> dict[str, Any]:
        headers = {} if at is None else {"X-Mock-As-Of": at}
        return dict(box.call("GET", "/2/openapi.json", keys=None, headers=headers).get_json())

    now, old, older = describe(None), describe("2025-06-01"), describe("2025-01-01")
    again = describe("2025-06-02")
    posts = [each["components"]["schemas"]["NewPost"]["properties"] for each in (now, old)]
    fields = [
        each["paths"]["/2/users/{id}"]["get"]["parameters"][1]["schema"]["items"]["enum"]
        for each in (now, old)
    ]
    subscribe = "/2/account_activity/webhooks/{webhook_id}/subscriptions/all"
    badges = [
        each["components"]["schemas"]["UserAffiliation"]["properties"]["user_id"]["type"]
        for each in (now, old, older)
    ]

    assert old == again
    assert describe(None) == now
    assert {"/2/news/search", "/2/connections"} <= now["paths"].keys() - old["paths"].keys()
    assert {"paid_partnership", "edit_options", "share_with_followers"} == (
        posts[0].keys() - posts[1].keys()
    )
    assert ["paid_partnership"] == [name for name in fields[0] if name not in fields[1]]
    assert [2, 1] == [len(each["paths"][subscribe]["get"]["security"]) for each in (now, old)]
    assert ["array", "array", "string"] == badges
    replay = "/2/account_activity/replay/webhooks/{webhook_id}/subscriptions/all"
    dates = ("2026-03-19", "2026-03-20", "2026-03-26")
    found = [describe(at)["paths"].get(replay, {}).get("post") for at in dates]
    assert [False, True, None] == [each and each.get("deprecated", False) for each in found]


def test_the_control_plane_makes_and_lists_it(box: Sandbox) -> None:
    """PUT takes as_of, a copy and a reset keep it, and the list shows it."""
    for name, body in (("old", {"as_of": "2026-03-01"}), ("copy", {"from": "old"})):
        assert 200 == box.call("PUT", f"/_mock/worlds/{name}", keys=None, json=body).status_code
    box.call("POST", "/~copy/_mock/reset", keys=None)
    wrong = box.call("PUT", "/_mock/worlds/wrong", keys=None, json={"as_of": "soon"})
    listed = box.call("GET", "/_mock/worlds", keys=None).get_json()["worlds"]

    assert {"default": None, "old": "2026-03-01", "copy": "2026-03-01"} == {
        each["name"]: each.get("as_of") for each in listed
    }
    assert 422 == wrong.status_code
    assert "as_of" in wrong.get_json()["detail"]


def test_a_world_keeps_its_own_date_where_it_goes() -> None:
    """Another process gets it with a copy, and an archive with the meta data; not the server's."""
    box = Sandboxes().get(as_of=datetime(2026, 1, 1, tzinfo=UTC))
    at = datetime(2026, 3, 1, tzinfo=UTC)
    worlds = box.platform.worlds
    own = worlds.create("own", as_of=at)
    packed = unpack_world(pack_world(own, box.platform.base), box.platform.base)
    moved = worlds.create("moved", source=packed)
    plain = worlds.create("plain")
    plain.restore_meta(own.meta())

    assert [at, at, at] == [world.as_of for world in (own, moved, plain)]
    assert "as_of" not in worlds.default.meta()
    plain.reset()
    assert plain.as_of == at


def test_a_server_in_python_takes_text() -> None:
    """MockPlatform.start takes ISO 8601."""
    with MockPlatform.start(as_of=BEFORE_NEWS) as platform:
        assert 404 == platform.session(auth="bearer").get(NEWS).status_code


@pytest.mark.parametrize("headers", [{}, {"X-Mock-Names": "original"}])
def test_no_part_of_the_description_has_a_field_of_later(
    box: Sandbox, headers: dict[str, str]
) -> None:
    """As of a date before its row, `paid_partnership` is in no answer, parameter or form."""
    early, later = (
        box.client.get("/2/openapi.json", headers={**headers, "X-Mock-As-Of": date}).get_data(True)
        for date in ("2026-06-02", "2026-06-03")
    )

    name = '"paid_partnership"'
    assert (name in early, name in later) == (False, True)
    assert "paid_partnership" in json.loads(later)["components"]["schemas"]["Post"]["properties"]
