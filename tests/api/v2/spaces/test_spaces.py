"""Spaces: lookups, the search, buyers, shared posts, and how they start and end."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from mock_platform.api.v2.objects.relations import BLOCKS, FOLLOWS, SPACE_POSTS
from mock_platform.api.v2.spaces.changes import add_space, start_space
from mock_platform.api.v2.spaces.records import SPACE_BUYERS
from tests.api.v2.posts.support import add_user, ids_of, relate
from tests.refusals import Refusal, make_refusal_test
from tests.support import BEARER, NORTHBIKE, USER_TOKEN, Sandbox, body_of
from tests.walks import walk_both_ways

SETTINGS = {"dataset": "small"}
OWN, OTHER, INES = "2244994945", "3805104374", "2790441185"
LIVE, SCHEDULED, TICKETED, ENDED = (
    "1HarborTaste1", "1HarborBrewer", "1HarborTicket", "1NorthWinter1",
)  # fmt: skip
ALL_FIELDS = {
    "space.fields": "created_at,creator_id,ended_at,host_ids,id,invited_user_ids,is_ticketed,lang,"
    "participant_count,scheduled_start,speaker_ids,started_at,state,subscriber_count,title,"
    "topic_ids,updated_at"
}


def read(box: Sandbox, path: str = "", keys: Any = BEARER, **query: Any) -> Any:
    """Read something of Spaces."""
    return box.read(f"/2/spaces{path}", keys=keys, **query)


def move(box: Sandbox, space_id: str, to: str) -> None:
    """Move a Space into another state."""
    body_of(box.client.post(f"/_mock/transitions/space/{space_id}", json={"to": to}))


def happenings(box: Sandbox) -> list[tuple[str, str, str]]:
    """The type, the user and the Space of each activity."""
    found = (entry.record for entry in box.world.store.page("activities"))
    return [
        (each["event_type"], each["user_id"], each["payload"]["broadcast_id"]) for each in found
    ]


def test_what_is_usual(box: Sandbox) -> None:
    """Without fields a Space has id and state."""
    assert {"data": {"id": LIVE, "state": "live"}} == read(box, f"/{LIVE}")
    assert {"data": {"id": ENDED, "state": "ended"}} == read(box, f"/{ENDED}")


def test_all_fields(box: Sandbox) -> None:
    """Every field that has a value is shown; participants while live, some to the creator alone."""
    shown = {id_: read(box, f"/{id_}", **ALL_FIELDS)["data"] for id_ in (LIVE, SCHEDULED, ENDED)}
    always = {"id", "state", "title", "creator_id", "host_ids", "speaker_ids", "topic_ids", "lang",
              "is_ticketed", "created_at", "updated_at"}  # fmt: skip
    more = [set(shown[id_]) - always for id_ in (LIVE, SCHEDULED, ENDED)]
    live, scheduled = {"participant_count", "started_at"}, {"scheduled_start"}
    assert [live, scheduled, scheduled | {"started_at", "ended_at"}] == more
    assert all(always <= set(each) for each in shown.values())

    own = read(box, f"/{SCHEDULED}", keys=USER_TOKEN, **ALL_FIELDS)["data"]
    assert {"subscriber_count", "invited_user_ids"} == set(own) - set(shown[SCHEDULED])
    assert (5, [OTHER]) == (own["subscriber_count"], own["invited_user_ids"])


def test_expansions(box: Sandbox) -> None:
    """Users and topics are included once, and their ids are shown."""
    names = "creator_id,host_ids,speaker_ids,invited_user_ids,topic_ids"
    asked = {"user.fields": "verified", "topic.fields": "description"}
    shown = read(box, ids=f"{LIVE},{SCHEDULED}", expansions=names, **asked)
    topic = {"id": "847528391163092993", "name": "Coffee", "description": "All about coffee"}

    assert [topic] == shown["includes"]["topics"]
    assert [OWN, INES] == ids_of({"data": shown["includes"]["users"]})
    assert {"id", "name", "username", "verified"} == set(shown["includes"]["users"][0])
    assert {"id", "state", *names.split(",")} - {"invited_user_ids"} == set(shown["data"][0])
    own = read(box, f"/{SCHEDULED}", keys=USER_TOKEN, expansions="invited_user_ids,topic_ids")
    assert [OTHER] == ids_of({"data": own["includes"]["users"]})
    assert [{"id": topic["id"], "name": "Coffee"}] == own["includes"]["topics"]


def test_missing_ones(box: Sandbox) -> None:
    """What is missing among several is in `errors`; each is shown once."""
    shown = read(box, ids=f"{LIVE},1Missing,{LIVE}")
    (error,) = shown["errors"]

    assert [LIVE] == ids_of(shown)
    named = {"value": "1Missing", "parameter": "ids", "resource_type": "space"}
    assert named.items() <= error.items()


def test_by_creators(box: Sandbox) -> None:
    """The Spaces of creators that have not ended, the newest first; unknown users have none."""
    shown = read(box, "/by/creator_ids", user_ids=f"{OWN},{OTHER},1")
    assert ([SCHEDULED, LIVE, TICKETED], {"result_count": 3}) == (ids_of(shown), shown["meta"])
    assert {"meta": {"result_count": 0}} == read(box, "/by/creator_ids", user_ids=OTHER)


@pytest.mark.parametrize(
    ("query", "more", "expected"),
    [("COFFEE", {}, [SCHEDULED, LIVE]), ("coffee", {"state": "live"}, [LIVE]),
     ("coffee", {"state": "scheduled"}, [SCHEDULED]), ("coffee", {"max_results": 1}, [SCHEDULED]),
     ("winter coffee", {}, [SCHEDULED]), ("bikes", {}, []), ("coff", {}, []), ("?!", {}, [])],
)  # fmt: skip
def test_search(box: Sandbox, query: str, more: dict[str, Any], expected: list[str]) -> None:
    """All words are words of the title; Spaces that have ended are not found."""
    shown = read(box, "/search", query=query, **more)
    assert (expected, {"result_count": len(expected)}) == (ids_of(shown), shown["meta"])


def test_buyers(box: Sandbox) -> None:
    """The creator reads who bought a ticket, the latest first, on pages both ways."""
    path, asked = f"/2/spaces/{TICKETED}/buyers", {"user.fields": "verified"}
    shown = read(box, f"/{TICKETED}/buyers", keys=USER_TOKEN, **asked)
    assert [INES, OTHER] == ids_of(shown)
    assert "verified" in shown["data"][0]

    for number in "123":
        add_user(box, number)
        relate(box, SPACE_BUYERS, TICKETED, number)
    pages, tokens = walk_both_ways(box, path, USER_TOKEN, 2)
    assert [["3", "2"], ["1", INES], [OTHER]] == pages
    assert all(len(token) == 16 and token.endswith("ZZZ") for token in tokens)


def test_shared_posts(box: Sandbox) -> None:
    """The posts that were shared, the latest first, on pages; deleted and hidden ones are not."""
    path, usual = f"/2/spaces/{LIVE}/posts", ["1789900000000000006", "1789900000000000001"]
    with box.world.work():
        for number in (2, 4):
            SPACE_POSTS.add(box.world, LIVE, f"178990000000000000{number}")
    pages, tokens = walk_both_ways(box, path, BEARER, 3, **{"post.fields": "author_id"})
    assert [["1789900000000000004", "1789900000000000002", usual[0]], usual[1:]] == pages
    assert [45] == [len(token) for token in tokens]

    box.call("DELETE", "/2/posts/1789900000000000004", keys=NORTHBIKE)
    box.change("users", OTHER, protected=True)
    assert usual == ids_of(box.read(path, keys=BEARER))
    with box.world.work():
        BLOCKS.add(box.world, INES, OWN)
        FOLLOWS.remove(box.world, OWN, OTHER)
    assert usual[1:] == ids_of(box.read(path, keys=USER_TOKEN))


def test_a_space_is_started_and_ended_by_hand(box: Sandbox) -> None:
    """The transition changes the record, and each change is one event of the creator."""
    for state in ("live", "live", "ended", "ended"):
        move(box, SCHEDULED, state)
        shown = read(box, f"/{SCHEDULED}", **ALL_FIELDS)["data"]
        assert state == shown["state"]

    assert [("spaces.start", OWN, SCHEDULED), ("spaces.end", OWN, SCHEDULED)] == happenings(box)
    assert shown["started_at"] == shown["ended_at"] == "2026-11-22T12:00:00.000Z"
    assert [LIVE] == ids_of(read(box, "/search", query="coffee"))


def test_a_space_starts_by_its_time(box: Sandbox) -> None:
    """With the progression `time` a scheduled Space starts at its `scheduled_start`."""
    pace = {"progression": "time", "seconds": 0}
    body_of(box.client.put("/_mock/transitions/space", json=pace))
    assert "scheduled" == read(box, f"/{SCHEDULED}")["data"]["state"]
    box.advance(days=2)

    assert "live" == read(box, f"/{SCHEDULED}")["data"]["state"]
    assert [("spaces.start", OWN, SCHEDULED)] == happenings(box)
    assert [SCHEDULED, LIVE] == ids_of(read(box, "/search", query="coffee", state="live"))


@pytest.mark.parametrize(
    ("event", "user", "space_id"),
    [("spaces.start", OWN, SCHEDULED), ("spaces.end", OWN, LIVE), ("spaces.start", INES, None),
     ("spaces.end", INES, None)],
)  # fmt: skip
def test_events_change_the_record(
    box: Sandbox, event: str, user: str, space_id: str | None
) -> None:
    """What happens on command to a user's Space, or to a new one, is what is read afterwards."""
    subscription = {"event_type": event, "filter": {"user_id": OWN}}
    box.call("POST", "/2/activity/subscriptions", keys=USER_TOKEN, json=subscription)
    answer = box.client.post("/_mock/events", json={"event_type": event, "user_id": user})
    payload = body_of(answer, 201)["activity"]["payload"]
    shown = read(box, f"/{payload['broadcast_id']}", **{"space.fields": "creator_id"})["data"]
    state = "live" if event == "spaces.start" else "ended"

    assert (event.replace(".", "_"), user) == (payload["event_type"], payload["user"]["data"]["id"])
    assert {"id": payload["broadcast_id"], "state": state, "creator_id": user} == shown
    assert space_id in {None, shown["id"]}
    activity = [entry.record for entry in box.world.store.page("activities")][-1]
    assert (user == OWN) == bool(activity["_matches"])


def test_a_canceled_space(box: Sandbox) -> None:
    """A Space that no longer exists takes along what was shared in it."""
    assert 204 == box.client.delete(f"/_mock/state/spaces/{LIVE}").status_code
    assert [] == SPACE_POSTS.list_targets(box.world, LIVE)


def test_made_in_code(box: Sandbox) -> None:
    """A Space that a test makes is scheduled, and live when it was started."""
    with box.world.work():
        space = add_space(box.world, box.record("users", OTHER), "Gravel night")
        assert 1 == len(start_space(box.world, space))
    assert [space["id"]] == ids_of(read(box, "/by/creator_ids", user_ids=OTHER))


get = partial(Refusal, keys=BEARER)
REFUSED = [
    Refusal(f"GET /2/spaces/{LIVE}/buyers", "buyers without tickets", 403, keys=USER_TOKEN,
            problem="about:blank", text="not permitted to see the buyers"),
    Refusal(f"GET /2/spaces/{ENDED}/buyers", "buyers of another's Space", 403, keys=USER_TOKEN,
            given={("spaces", ENDED): {"is_ticketed": True}}, problem="about:blank",
            text="not permitted to see the buyers"),
]  # fmt: skip
test_what_is_refused = make_refusal_test(REFUSED)


def test_a_space_that_has_ended(box: Sandbox) -> None:
    """The scenario lets a Space end between two reads of a client."""
    box.client.post("/_mock/scenarios/space-ended-meanwhile/activate")
    shown = [read(box, f"/{LIVE}")["data"]["state"] for _ in range(2)]
    assert ["live", "ended"] == shown
