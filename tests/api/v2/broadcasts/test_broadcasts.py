"""Broadcasts: their lists and schedules, beginning and end, series."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest

from mock_platform.api.v2.broadcasts.records import (
    BROADCAST_FIELDS,
    BROADCASTS,
    MUTES,
    SCHEDULED_FIELDS,
)
from mock_platform.world.clock import epoch_millis
from tests.api.v2.posts.support import list_activities
from tests.refusals import Refusal, make_refusal_test
from tests.support import BEARER, HARBOR, NORTHBIKE, Sandbox

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
OWN, OTHER = "2244994945", "3805104374"
RUNNING, MANUAL, WEEKLY, THEIRS = "1LvHarborRst1", "1LvHandCup001", "1LvWeekly0001", "1LvNorthRide2"
PATH, SCHEDULE = "/2/broadcasts", "/2/broadcasts/scheduled"


def millis(**after: float) -> str:
    """So long after the beginning of a test, in milliseconds."""
    return epoch_millis(NOW + timedelta(**after))


def make_body(start: float = 1, length: float = 1, **more: Any) -> dict[str, Any]:
    """What schedules a broadcast that begins in so many hours and lasts so many."""
    times = {
        "scheduled_start_ms": millis(hours=start),
        "scheduled_end_ms": millis(hours=start + length),
    }
    return {"source_id": "cup-desk", **times, **more}


def schedule(box: Sandbox, **body: Any) -> dict[str, Any]:
    """Schedule a broadcast, and return it."""
    answer = box.call("POST", SCHEDULE, json=make_body(**body))
    assert 201 == answer.status_code, answer.text
    return dict(answer.get_json()["data"])


def list_scheduled(box: Sandbox, **query: Any) -> list[dict[str, Any]]:
    """The broadcasts in the caller's schedule."""
    return list(box.read(SCHEDULE, **query).get("data", ()))


def select(*fields: str) -> dict[str, Any]:
    """The parameter that asks for fields of broadcasts."""
    return {"broadcast.fields": ",".join(fields)}


def list_events(box: Sandbox) -> list[tuple[str, dict[str, Any]]]:
    """The activities of broadcasts: their types and payloads, oldest first."""
    return list_activities(box, "event_type", "payload")


def test_a_broadcast_with_all_fields(box: Sandbox) -> None:
    """Without a list a broadcast has three fields; with it, all that it has a value for."""
    short = box.read(f"{PATH}/{RUNNING}")["data"]
    box.change(BROADCASTS, RUNNING, post_id="1", ended_at="2026-11-22T11:59:00.000Z",
               image_url_medium="https://a.example/m", image_url_small="https://a.example/s",
               scheduled_start_at="2026-11-22T11:00:00.000Z", state="Ended",
               scheduled_end_at="2026-11-22T12:00:00.000Z")  # fmt: skip
    whole = box.read(f"{PATH}/{RUNNING}", **select(*BROADCAST_FIELDS))

    assert {"id": RUNNING, "state": "Running", "title": "Roasting the winter blend"} == short
    assert set(BROADCAST_FIELDS) == set(whole["data"])
    assert (millis(minutes=-20), "312", 1, OWN) == tuple(
        whole["data"][name]
        for name in ("start_ms", "total_watched", "chat_option", "platform_user_id")
    )


def test_pages_and_ids(box: Sandbox) -> None:
    """The own broadcasts are listed newest first; of ids the missing ones are errors."""
    first = box.read(PATH, max_results=3)
    rest = box.read(PATH, max_results=3, pagination_token=first["meta"]["next_token"])
    picked = box.read(PATH, ids=f"{MANUAL},{THEIRS},nobody")

    assert [WEEKLY, MANUAL, RUNNING] == [each["id"] for each in first["data"]]
    assert ["1LvHarborEnd0"] == [each["id"] for each in rest["data"]]
    assert {"result_count": 1} == rest["meta"]
    assert [MANUAL] == [each["id"] for each in picked["data"]]
    assert [THEIRS, "nobody"] == [each["value"] for each in picked["errors"]]


def test_it_begins_and_ends_with_the_clock(box: Sandbox) -> None:
    """A scheduled broadcast runs from its beginning to its end, and each is one event."""
    made = schedule(box, title="Cupping", locale="en_US", chat_option="2")
    id_, fields = made["broadcast_id"], select("start_ms", "end_ms", "language", "chat_option")
    path = f"{PATH}/{id_}"
    before = box.read(path)["data"]["state"]
    box.advance(minutes=90)
    during = box.read(path, **fields)["data"]
    listed = [each["broadcast_id"] for each in list_scheduled(box)]
    box.advance(minutes=90)
    after = box.read(path, **fields)["data"]
    (start, begun), (end, over) = list_events(box)

    assert ("Scheduled", "2") == (before, made["chat_option"])
    assert id_ not in listed
    assert {"id": id_, "state": "Running", "title": "Cupping", "language": "en", "chat_option": 2,
            "start_ms": millis(hours=1)} == during  # fmt: skip
    assert ("Ended", millis(hours=2)) == (after["state"], after["end_ms"])
    assert ("broadcast.start", "broadcast.end") == (start, end)
    assert (OWN, "Running", int(millis(hours=1)), millis(hours=1)) == (
        begun["user"]["data"]["id"], begun["broadcast_state"],
        begun["event_timestamp_ms"], begun["event_timestamp_ms_str"])  # fmt: skip
    assert ("Ended", 3_600_000, "3600000") == (
        over["broadcast_state"], over["duration_ms"], over["duration_ms_str"])  # fmt: skip
    assert "duration_ms" not in begun


def test_begun_by_hand(box: Sandbox) -> None:
    """One with manual_publish waits for its owner, who may begin it once, also early."""
    live = f"{SCHEDULE}/{MANUAL}/live"
    begun = box.call("POST", live).get_json()["data"]
    again = box.call("POST", live)
    made = schedule(box, manual_publish=True)
    box.advance(minutes=90)

    assert ("Running", MANUAL) == (begun["state"], begun["broadcast_id"])
    assert (400, "is Running, not Scheduled.") == (
        again.status_code, again.get_json()["errors"][0]["message"][-26:])  # fmt: skip
    assert ["broadcast.start"] == [name for name, _ in list_events(box)]
    assert "Scheduled" == box.read(f"{SCHEDULE}/{made['broadcast_id']}")["data"]["state"]


def test_it_ends_by_the_control_plane(box: Sandbox) -> None:
    """A broadcast without a schedule runs until the control plane ends it."""
    box.advance(days=2)
    assert "Running" == box.read(f"{PATH}/{RUNNING}")["data"]["state"]
    box.client.post(f"/_mock/transitions/broadcast_end/{RUNNING}", json={"to": "Ended"})
    assert "Ended" == box.read(f"{PATH}/{RUNNING}")["data"]["state"]


def test_subscribers_hear_of_it(box: Sandbox) -> None:
    """Anybody may subscribe to the beginning; to the chat only with the owner's consent."""

    def subscribe(name: str, keys: Any, user: str = OWN) -> int:
        body = {"event_type": name, "filter": {"user_id": user}}
        return box.call("POST", "/2/activity/subscriptions", keys=keys, json=body).status_code

    assert 200 == subscribe("broadcast.start", BEARER)
    assert (403, 200) == (
        subscribe("broadcast.chat", NORTHBIKE), subscribe("broadcast.chat", HARBOR))  # fmt: skip
    box.call("POST", f"{SCHEDULE}/{MANUAL}/live")
    box.call("POST", f"{PATH}/{MANUAL}/chat", json={"text": "Welcome!"})
    found = [entry.record for entry in box.world.store.page("activities")]

    assert [("broadcast.start", 1), ("broadcast.chat", 1)] == [
        (each["event_type"], len(each["_matches"])) for each in found
    ]


def test_the_schedule(box: Sandbox) -> None:
    """Scheduled broadcasts are listed by their beginning, within the moments that are asked for."""
    made = schedule(box, description="Four lots", telecast_id="12", is_locked=True)
    ids = [each["broadcast_id"] for each in list_scheduled(box)]
    page = box.read(SCHEDULE, max_results=1)
    rest = box.read(SCHEDULE, pagination_token=page["meta"]["next_token"])
    late = list_scheduled(box, oldest_start_time="2026-11-24T12:00:00Z")
    early = list_scheduled(box, newest_start_time=millis(days=2))

    assert [made["broadcast_id"], MANUAL, WEEKLY] == ids
    assert ids[1:] == [each["broadcast_id"] for each in rest["data"]]
    assert ids[1:] == [each["broadcast_id"] for each in late]
    assert ids[:2] == [each["broadcast_id"] for each in early]
    assert set(made) <= set(SCHEDULED_FIELDS)
    assert ("Four lots", "12", False) == (
        made["description"], made["telecast_id"], made["manual_publish"])  # fmt: skip
    by_number = box.read(f"{SCHEDULE}/{made['scheduled_broadcast_id']}")
    assert made == by_number["data"]


def test_a_replacement(box: Sandbox) -> None:
    """A change replaces all: what it leaves out is gone, but for what it cannot name."""
    made = schedule(box, title="Cupping", description="Four lots", telecast_id="9")
    body = make_body(start=3) | {"scheduled_broadcast_id": made["scheduled_broadcast_id"]}
    changed = box.call("PUT", f"{SCHEDULE}/{made['broadcast_id']}", json=body).get_json()["data"]

    assert {"title", "description"} == set(made) - set(changed)
    assert (millis(hours=3), "9") == (changed["scheduled_start_ms"], changed["telecast_id"])


def test_a_deletion(box: Sandbox) -> None:
    """A deleted broadcast is in no list, never begins, and its mutes are gone."""
    made, mutes = schedule(box), box.world.store.count(MUTES)
    chat = f"{PATH}/{made['broadcast_id']}/chat"
    assert 200 == box.call("POST", f"{chat}/mutes", json={"user_id": OTHER}).status_code
    answer = box.call("DELETE", f"{SCHEDULE}/{made['broadcast_id']}").get_json()
    box.advance(hours=2)

    assert {"data": {"deleted": True}} == answer
    box.read(f"{PATH}/{made['broadcast_id']}", status=404)
    assert mutes == box.world.store.count(MUTES)
    assert [] == list_events(box)


def test_a_thumbnail(box: Sandbox) -> None:
    """Media of the user are the picture of a broadcast."""
    media = next(entry.record for entry in box.world.store.page("media_library"))
    made = schedule(box, thumbnail_media_id=media["media_key"].partition("_")[2])
    query = select("image_url")

    shown = box.read(f"{PATH}/{made['broadcast_id']}", **query)["data"]
    assert media["media_url"] == shown["image_url"]


def make_series(box: Sandbox, repeats: str = "3") -> dict[str, Any]:
    """Schedule a daily broadcast."""
    return schedule(box, recurrence={"frequency": "Daily", "repeats": repeats}, title="Daily")


def starts_of(box: Sandbox, series: dict[str, Any]) -> list[str]:
    """When the scheduled broadcasts of a series begin."""
    id_ = series["recurring_schedule_id"]
    found = (each for each in list_scheduled(box) if each.get("recurring_schedule_id") == id_)
    return [each["scheduled_start_ms"] for each in found]


def test_a_series(box: Sandbox) -> None:
    """When one of a series begins, the next is scheduled, as often as was said."""
    series = make_series(box)
    found = []
    for _ in range(4):
        found.append(starts_of(box, series))
        box.advance(days=1)

    assert [[millis(hours=1)], [millis(hours=25)], [millis(hours=49)], []] == found
    titles = [payload["title"] for name, payload in list_events(box) if name == "broadcast.start"]
    assert ["Daily"] * 3 == titles


def test_a_jump_over_a_series(box: Sandbox) -> None:
    """A clock that passes all of a series lets each of them begin and end."""
    make_series(box)
    box.advance(days=5)
    box.read(PATH)

    names = [name for name, _ in list_events(box)]
    assert (3, 3) == (names.count("broadcast.start"), names.count("broadcast.end"))


@pytest.mark.parametrize(("query", "left"), [({}, []), ({"roll_forward": "true"}, [25])])
def test_a_deletion_in_a_series(box: Sandbox, query: dict[str, str], left: list[int]) -> None:
    """A deletion ends the series; with roll_forward the next one is scheduled."""
    series = make_series(box)
    box.call("DELETE", f"{SCHEDULE}/{series['broadcast_id']}", query_string=query)
    assert [millis(hours=each) for each in left] == starts_of(box, series)


def test_a_change_in_a_series(box: Sandbox) -> None:
    """A change moves the series; with roll_forward it moves the one alone."""
    series = make_series(box)
    body = make_body(start=2) | {"scheduled_broadcast_id": series["scheduled_broadcast_id"]}
    path = f"{SCHEDULE}/{series['broadcast_id']}"
    box.call("PUT", path, json=body)
    moved = starts_of(box, series)
    box.call("PUT", path, json={**body, **make_body(start=3), "roll_forward": True})
    rolled = starts_of(box, series)
    box.advance(days=2)

    assert ([millis(hours=2)], [millis(hours=3), millis(hours=26)]) == (moved, rolled)
    assert [] == starts_of(box, series)[1:]


create = partial(Refusal, f"POST {SCHEDULE}", status=400)
update = partial(Refusal, f"PUT {SCHEDULE}/{MANUAL}", status=400)
NUMBER = {"scheduled_broadcast_id": "1990400000001"}
REFUSED = [
    Refusal(f"GET {PATH}/{THEIRS}", "a broadcast of another", 404, problem="resource-not-found"),
    Refusal(f"GET {PATH}", "a token of nothing", 400, query={"pagination_token": "x"},
            messages=["pagination_token"]),
    Refusal(f"GET {SCHEDULE}", "no moment", 400, query={"oldest_start_time": "soon"},
            messages=["[soon] is not a moment"]),
    Refusal(f"GET {SCHEDULE}/{RUNNING}", "one that was never scheduled", 404,
            problem="resource-not-found"),
    create("no source", json={**make_body(), "source_id": ""}, messages=["source_id"]),
    create("a beginning now", json=make_body(start=0), messages=["later than now"]),
    create("no length", json=make_body(length=0), messages=["later than scheduled_start_ms"]),
    create("a year that does not exist", json=make_body() | {"scheduled_end_ms": "9" * 19},
           messages=["is not a moment"]),
    create("a year that no clock has", json=make_body() | {"scheduled_end_ms": "221845392000000"},
           messages=["is not a moment"]),
    create("a moment in other digits", json=make_body() | {"scheduled_start_ms": "١٢"},
           messages=["scheduled_start_ms"]),
    create("no repeats", json=make_body(recurrence={"frequency": "Daily", "repeats": "0"}),
           messages=["between 1 and 1000"]),
    create("too many", json=make_body(recurrence={"frequency": "Daily", "repeats": "1001"}),
           messages=["between 1 and 1000"]),
    create("monthly", json=make_body(recurrence={"frequency": "Monthly", "repeats": "2"}),
           messages=["frequency"]),
    create("media of nobody", json=make_body(thumbnail_media_id="1"),
           messages=["no media with the id [1]"]),
    update("one that runs", json=make_body() | NUMBER, messages=["is Running, not Scheduled"],
           given={(BROADCASTS, MANUAL): {"state": "Running"}}),
    Refusal(f"DELETE {SCHEDULE}/{MANUAL}", "a deletion of one that is over", 400,
            messages=["is Ended"], given={(BROADCASTS, MANUAL): {"state": "Ended"}}),
    Refusal(f"POST {SCHEDULE}/{WEEKLY}/live", "one that begins by itself", 400,
            messages=["has no manual_publish"]),
    Refusal(f"POST {SCHEDULE}/{MANUAL}/live", "in another's name", 404, keys=NORTHBIKE,
            problem="resource-not-found"),
]  # fmt: skip
test_what_is_refused = make_refusal_test(REFUSED)


@pytest.mark.parametrize("repeats", ["1", "1000"])
def test_the_shortest_and_the_longest_series(box: Sandbox, repeats: str) -> None:
    """A series has 1 to 1,000 broadcasts."""
    assert make_series(box, repeats)["recurring_schedule_id"]
