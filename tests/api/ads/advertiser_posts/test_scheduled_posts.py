"""Scheduled posts: create, list, read, change, delete, and what happens at their moment."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from mock_platform.world.clock import wire_seconds
from tests.support import ACCOUNT, Sandbox, faults, refusal, sandbox
from tests.waits import PATIENCE

BASE = f"/12/accounts/{ACCOUNT}"
PATH = f"{BASE}/scheduled_posts"
OWNER, ADVERTISER = "2244994945", "3805104374"
NOW = datetime(2026, 11, 22, 12, 0, tzinfo=UTC)
DONE, FAILED = "1991600000000000201", "1991600000000000202"
WAITING = "1991600000000000203"
CARD = "card://1712860000001000003"
IMAGE = "3_1712850617439550002"
KEYS = {
    "id",
    "name",
    "text",
    "user_id",
    "nullcast",
    "media_keys",
    "card_uri",
    "scheduled_at",
    "completed_at",
    "scheduled_status",
    "post_id",
    "created_at",
    "updated_at",
}


@pytest.fixture
def box() -> Sandbox:
    """A sandbox of its own, whose clock is stopped."""
    return sandbox(freeze=NOW)


def ask(box: Sandbox, method: str, path: str = PATH, **query: str) -> dict[str, Any]:
    """The body of a successful call."""
    answer = box.call(method, path, query_string=query)
    assert 200 == answer.status_code, answer.text
    found: dict[str, Any] = answer.get_json()
    return found


def schedule(box: Sandbox, minutes: int = 60, **more: str) -> dict[str, Any]:
    """A post scheduled so many minutes from now."""
    moment = wire_seconds(box.world.clock.now() + timedelta(minutes=minutes))
    sent = {"as_user_id": OWNER, "scheduled_at": moment, "text": "Soon"} | more
    data: dict[str, Any] = ask(box, "POST", **sent)["data"]
    return data


def pass_time(box: Sandbox, **by: float) -> None:
    """Move the clock as users do."""
    seconds = timedelta(**by).total_seconds()
    body = {"action": "advance", "seconds": seconds}
    assert 200 == box.client.put("/_mock/clock", json=body).status_code


def test_scheduled_and_posted(box: Sandbox) -> None:
    """Nothing exists before the moment; at the moment the post does, as if made then."""
    plan = schedule(box, name="Opening", media_keys=IMAGE, card_uri=CARD)
    pass_time(box, minutes=59)
    early = ask(box, "GET", f"{PATH}/{plan['id']}")["data"]
    posts = box.world.store.count("posts")
    pass_time(box, minutes=1)
    late = ask(box, "GET", f"{PATH}/{plan['id']}")["data"]
    pass_time(box, days=3)
    post = box.record("posts", late["post_id"])

    assert KEYS == set(plan)
    assert ("SCHEDULED", None, None) == (
        early["scheduled_status"], early["completed_at"], early["post_id"]
    )  # fmt: skip
    assert posts + 1 == box.world.store.count("posts")
    assert ("SUCCESS", "2026-11-22T13:00:00Z") == (late["scheduled_status"], late["completed_at"])
    assert ("Soon", "Opening", OWNER) == (post["full_text"], post["name"], post["_user_id"])
    assert (True, CARD, [IMAGE]) == (post["nullcast"], post["card_uri"], post["_media_keys"])
    assert "Harbor Campaign Desk" in post["source"]
    assert ("2026-11-22T13:00:00Z", "SUCCESS") == (post["scheduled_at"], post["scheduled_status"])
    assert box.record("media_library", IMAGE)["posted"] is True
    shown = box.call("GET", f"/2/posts/{late['post_id']}?post.fields=created_at").get_json()
    assert "2026-11-22T13:00:00.000Z" == shown["data"]["created_at"]


def test_a_post_is_an_activity_at_its_moment() -> None:
    """The clock runs: subscriptions get the post without any read of the schedule."""
    box = sandbox()
    path = "/2/activity/subscriptions"
    body = {"event_type": "post.create", "filter": {"user_id": OWNER}}
    assert 200 == box.call("POST", path, json=body).status_code
    plan = schedule(box, nullcast="false")
    box.world.clock.travel(datetime.fromisoformat(plan["scheduled_at"]) + timedelta(seconds=1))

    assert box.platform.deliverer.wait_until_idle(PATIENCE)
    done = box.record("scheduled_posts", plan["id"])
    assert "SUCCESS" == done["scheduled_status"]
    events = [entry.record for entry in box.world.store.page("events")]
    assert done["post_id"] in str(events[-1])
    box.platform.close()


def test_what_a_fixture_schedules_is_posted_in_time(tmp_path: Path) -> None:
    """Nobody reads it and no control route moves the clock: it is posted when the clock says so."""
    plan = sandbox().record("scheduled_posts", WAITING) | {
        "id": "1991600000000000999",
        "scheduled_at": "now+2h",
    }
    (tmp_path / "scheduled_posts.json").write_text(json.dumps([plan]))
    box = sandbox(fixtures=(tmp_path,))
    box.world.clock.travel(box.world.clock.now() + timedelta(hours=2, seconds=1))

    assert box.platform.deliverer.wait_until_idle(PATIENCE)
    assert "SUCCESS" == box.record("scheduled_posts", plan["id"])["scheduled_status"]
    box.platform.close()


def test_seconds_are_ignored(box: Sandbox) -> None:
    """The moment is a whole minute, in the echo as well."""
    body = ask(
        box, "POST", as_user_id=OWNER, text="a", scheduled_at="2026-11-22T12:05:59Z"
    )  # fmt: skip

    assert "2026-11-22T12:05:00Z" == body["data"]["scheduled_at"]
    assert {"as_user_id": int(OWNER), "text": "a", "scheduled_at": "2026-11-22T12:05:00Z"} == body[
        "request"
    ]["params"]


@pytest.mark.parametrize(
    ("moment", "status"),
    [
        ("2026-11-22T11:59:59Z", 400),
        ("2026-11-22T12:00:59Z", 400),
        ("2026-11-22T12:01:00Z", 200),
        ("2027-11-22T12:00:30Z", 200),
        ("2027-11-22T12:01:00Z", 400),
        ("soon", 400),
    ],
)
@pytest.mark.parametrize("method", ["POST", "PUT"])
def test_bounds_of_the_moment(box: Sandbox, method: str, moment: str, status: int) -> None:
    """Later than now, and at most a year ahead."""
    new = {"as_user_id": OWNER, "text": "a"}
    path, query = (PATH, new) if method == "POST" else (f"{PATH}/{WAITING}", {})
    answer = box.call(method, path, query_string=query | {"scheduled_at": moment})

    assert status == answer.status_code
    assert status == 200 or [("INVALID_PARAMETER", "scheduled_at")] == faults(answer)


def test_thirty_in_a_quarter_of_an_hour(box: Sandbox) -> None:
    """The thirty-first is refused, by creation and by change; the next quarter is free."""
    for number in range(30):
        schedule(box, 60 + number % 15)
    later = schedule(box, 75)
    moment = "2026-11-22T13:14:59Z"
    created = {"as_user_id": OWNER, "text": "One more", "scheduled_at": moment}
    refused = box.call("POST", PATH, query_string=created)
    changed = box.call("PUT", f"{PATH}/{later['id']}", query_string={"scheduled_at": moment})
    error = (400, [("SCHEDULED_POST_LIMIT_EXCEEDED", "scheduled_at")])

    assert error == refusal(refused) == refusal(changed)
    schedule(box, 60, as_user_id=ADVERTISER)
    own = ask(box, "GET", count="200")["data"]
    inside = next(p for p in own if p["scheduled_at"] == "2026-11-22T13:00:00Z")
    ask(box, "PUT", f"{PATH}/{inside['id']}", scheduled_at="2026-11-22T13:07:00Z")
    ask(box, "DELETE", f"{PATH}/{inside['id']}")
    schedule(box, 74)


def test_listed(box: Sandbox) -> None:
    """All of the FULL user, whatever their status; the echo lacks the account."""
    schedule(box, as_user_id=ADVERTISER)
    body = ask(box, "GET")

    assert {"params": {}} == body["request"]
    assert ["SUCCESS", "FAILED", "SCHEDULED", "SCHEDULED"] == [
        plan["scheduled_status"] for plan in body["data"]
    ]
    assert 1 == len(ask(box, "GET", user_id=ADVERTISER)["data"])


@pytest.mark.parametrize(("count", "status"), [("1", 200), ("200", 200), ("0", 400), ("201", 400)])
def test_bounds_of_count(box: Sandbox, count: str, status: int) -> None:
    """From 1 to 200 scheduled posts in a page."""
    assert status == box.call("GET", f"{PATH}?count={count}").status_code


def test_the_id_in_the_echo(box: Sandbox) -> None:
    """A text on GET, a number on PUT and DELETE."""
    path = f"{PATH}/{WAITING}"
    echoes = [ask(box, method, path)["request"]["params"] for method in ("GET", "PUT", "DELETE")]

    assert [WAITING, int(WAITING), int(WAITING)] == [each["scheduled_post_id"] for each in echoes]


def test_changed_and_deleted(box: Sandbox) -> None:
    """What is sent changes; the delete says DELETED, and nothing is posted then."""
    plan = schedule(box, card_uri=CARD)
    path = f"{PATH}/{plan['id']}"
    changed = ask(box, "PUT", path, card_uri="", media_keys=IMAGE, text="")["data"]
    deleted = ask(box, "DELETE", path)["data"]
    posts = box.world.store.count("posts")
    pass_time(box, hours=2)

    assert (None, [IMAGE], "") == (changed["card_uri"], changed["media_keys"], changed["text"])
    assert changed | {"scheduled_status": "DELETED"} == deleted
    assert posts == box.world.store.count("posts")
    assert (404, [("NOT_FOUND", "scheduled_post_id")]) == refusal(box.call("DELETE", path))


@pytest.mark.parametrize("key", [DONE, FAILED])
@pytest.mark.parametrize("method", ["PUT", "DELETE"])
def test_what_is_out_stays(box: Sandbox, method: str, key: str) -> None:
    """A post that is out, or has failed, is not changed or deleted."""
    answer = box.call(method, f"{PATH}/{key}", query_string={"name": "New"})

    assert (403, [("ACTION_NOT_ALLOWED", "scheduled_post_id")]) == refusal(answer)
    assert 200 == box.call("GET", f"{PATH}/{key}").status_code


@pytest.mark.parametrize(
    ("table", "key", "fields", "why"),
    [
        ("accounts", ACCOUNT, {"_post_grants": []}, "does not let user"),
        ("media_library", IMAGE, {"deleted": True}, "media are gone"),
        ("cards", "1712860000001000003", {"deleted": True}, "card"),
    ],
)
def test_what_cannot_be_posted_any_more(
    box: Sandbox, table: str, key: str, fields: dict[str, Any], why: str
) -> None:
    """FAILED when the grant, the media or the card are gone; the record says why."""
    plan = schedule(box, as_user_id=ADVERTISER, media_keys=IMAGE, card_uri=CARD)
    box.change(table, key, **fields)
    pass_time(box, hours=1)
    stored = box.record("scheduled_posts", plan["id"])

    assert ("FAILED", None) == (stored["scheduled_status"], stored["post_id"])
    assert "2026-11-22T13:00:00Z" == stored["completed_at"]
    assert why in stored["_failure"]


@pytest.mark.parametrize("gone", ["accounts", "users"])
def test_nobody_to_post_for(box: Sandbox, gone: str) -> None:
    """FAILED as well when the account is deleted, or the user does not exist any more."""
    plan = schedule(box, as_user_id=ADVERTISER)
    with box.world.work():
        if gone == "users":
            box.world.store.remove("users", ADVERTISER)
        else:
            box.world.store.put(
                "accounts", ACCOUNT, box.record("accounts", ACCOUNT) | {"deleted": True}
            )
    pass_time(box, hours=1)

    assert "FAILED" == box.record("scheduled_posts", plan["id"])["scheduled_status"]


@pytest.mark.parametrize(("to", "posted"), [("SUCCESS", 1), ("FAILED", 0)])
def test_moved_by_hand(box: Sandbox, to: str, posted: int) -> None:
    """The control plane posts now, or lets it fail; not twice."""
    box.client.put("/_mock/transitions/scheduled_post", json={"progression": "manual"})
    plan, before = schedule(box), box.world.store.count("posts")
    pass_time(box, hours=2)
    untouched = box.record("scheduled_posts", plan["id"])["scheduled_status"]
    for _ in range(2):
        path = f"/_mock/transitions/scheduled_post/{plan['id']}"
        answer = box.client.post(path, json={"to": to})
        assert 200 == answer.status_code, answer.text

    assert "SCHEDULED" == untouched
    assert to == box.record("scheduled_posts", plan["id"])["scheduled_status"]
    assert before + posted == box.world.store.count("posts")


def test_posted_after_some_reads(box: Sandbox) -> None:
    """With the progression by polls each read of the post counts; the time does not."""
    box.client.put("/_mock/transitions/scheduled_post", json={"progression": "polls", "polls": 2})
    plan = schedule(box)
    read = [ask(box, "GET", f"{PATH}/{plan['id']}")["data"]["scheduled_status"] for _ in range(2)]

    assert ["SCHEDULED", "SUCCESS"] == read
    assert "2026-11-22T12:00:00Z" == box.record("scheduled_posts", plan["id"])["completed_at"]


def test_a_reset_brings_it_back(box: Sandbox) -> None:
    """What a fixture schedules is scheduled again after a reset, counted from then."""
    pass_time(box, days=401)
    done = box.record("scheduled_posts", WAITING)["scheduled_status"]
    box.client.post("/_mock/reset")

    assert ("SUCCESS", "SCHEDULED") == (
        done, box.record("scheduled_posts", WAITING)["scheduled_status"]
    )  # fmt: skip


def test_scheduled_post_failed(box: Sandbox) -> None:
    """The scenario shows a failure, and leaves the record alone."""
    box.client.post("/_mock/scenarios/scheduled-post-failed/activate")
    shown = ask(box, "GET", f"{PATH}/{WAITING}")["data"]

    assert ("FAILED", None) == (shown["scheduled_status"], shown["post_id"])
    assert "SCHEDULED" == box.record("scheduled_posts", WAITING)["scheduled_status"]


def test_as_user_and_moment_are_required(box: Sandbox) -> None:
    """All faults of a request are reported together."""
    answer = box.call("POST", PATH)

    assert 400 == answer.status_code
    assert {
        ("MISSING_PARAMETER", "as_user_id"),
        ("MISSING_PARAMETER", "scheduled_at"),
        ("MISSING_PARAMETER", "text"),
    } == set(faults(answer))
