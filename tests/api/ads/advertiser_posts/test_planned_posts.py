"""Drafts and scheduled posts: their operations, and what happens at the moment of a post."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.api.ads.advertiser_posts.support import (
    ADVERTISER,
    DONE,
    DRAFTS,
    FAILED,
    NOW,
    OWNER,
    SCHEDULED,
    WAITING,
    ask,
    schedule,
)
from tests.refusals import Refusal, refusals
from tests.support import (
    ACCOUNT,
    Sandbox,
    body_of,
    faults,
    refusal,
    sandbox,
)
from tests.waits import PATIENCE

FIRST = "1991500000000000101"
CARD = "card://1712860000001000003"
IMAGE, GIF = "3_1712850617439550002", "16_1712850617439550007"
DRAFT_KEYS = {"id", "name", "text", "user_id", "nullcast", "media_keys", "card_uri"} | {
    "created_at", "updated_at"
}  # fmt: skip
KEYS = DRAFT_KEYS | {"scheduled_at", "completed_at", "scheduled_status", "post_id"}
OUT_AT = "2026-11-22T13:00:00Z"
SETTINGS = {"freeze": NOW}


# -- both ---------------------------------------------------------------------------------------

draft = partial(Refusal, f"POST {DRAFTS}")
plan = partial(Refusal, f"POST {SCHEDULED}")
change = partial(Refusal, f"PUT {DRAFTS}/1991500000000000103")
OWN = {"as_user_id": OWNER}
AT = {"scheduled_at": OUT_AT}
CONTENT: list[tuple[str, dict[str, str], int, str, str]] = [
    ("an author is required", {"text": "a"}, 400, "MISSING_PARAMETER", "as_user_id"),
    ("text or media are required", OWN, 400, "MISSING_PARAMETER", "text"),
    ("a text is not blank", OWN | {"text": " "}, 400, "POST_CANNOT_BE_BLANK", "text"),
    ("an author is a number", {"as_user_id": "me", "text": "a"}, 400, "INVALID_PARAMETER",
     "as_user_id"),
    ("an author exists", {"as_user_id": "5", "text": "a"}, 403, "USER_NOT_FOUND", "as_user_id"),
    ("an author lets the caller post", {"as_user_id": "2790441185", "text": "a"}, 403,
     "ACTION_NOT_ALLOWED", "as_user_id"),
    ("media exist", OWN | {"media_keys": "3_9"}, 404, "MEDIA_NOT_FOUND", "media_keys"),
    ("media are of one kind", OWN | {"media_keys": f"{IMAGE},{GIF}"}, 400, "INVALID_PARAMETER",
     "media_keys"),
    ("a card exists", OWN | {"text": "a", "card_uri": "card://9"}, 404, "CARD_NOT_FOUND",
     "card_uri"),
    ("posts of others are promoted only", {"as_user_id": ADVERTISER, "text": "a",
                                           "nullcast": "false"}, 400, "INVALID_PARAMETER",
     "nullcast"),
    ("a name has 80 characters", OWN | {"text": "a", "name": "x" * 81}, 400, "INVALID_PARAMETER",
     "name"),
]  # fmt: skip
REFUSED = [
    *(draft(f"draft: {holds}", status, [(code, name)], query=query)
      for holds, query, status, code, name in CONTENT),
    *(plan(f"scheduled: {holds}", status, [(code, name)], query=query | AT)
      for holds, query, status, code, name in CONTENT),
    *(change(f"a draft keeps text or media, {text!r}", 400, [("POST_CANNOT_BE_BLANK", "text")],
             query={"text": text}) for text in ("", "  ")),
    plan("all that is required is named", 400, [("MISSING_PARAMETER", name) for name in
                                                ("as_user_id", "scheduled_at", "text")]),
    *(Refusal(f"GET {path}", f"a page of {kind} has 1 to 200, {count}", 400,
              [("INVALID_PARAMETER", "count")], query={"count": count})
      for path, kind in ((DRAFTS, "drafts"), (SCHEDULED, "scheduled posts"))
      for count in ("0", "201")),
    Refusal(f"POST {DRAFTS}/preview/1", "a preview is of a draft", 404,
            [("NOT_FOUND", "draft_post_id")]),
    *(Refusal(f"{method} {SCHEDULED}/{key}", f"what is out stays, {method} {key}", 403,
              [("ACTION_NOT_ALLOWED", "scheduled_post_id")], query={"name": "New"})
      for method in ("PUT", "DELETE") for key in (DONE, FAILED)),
]  # fmt: skip


@refusals(REFUSED)
def test_what_is_refused(box: Sandbox, row: Refusal) -> None:
    """The rules of posting at once hold for drafts and scheduled posts."""
    row.check(box)


@pytest.mark.parametrize("path", [DRAFTS, SCHEDULED])
@pytest.mark.parametrize("count", ["1", "200"])
def test_bounds_of_count(box: Sandbox, path: str, count: str) -> None:
    """From 1 to 200 plans in a page."""
    assert len(ask(box, "GET", path, count=count)["data"]) in range(1, int(count) + 1)


# -- drafts -------------------------------------------------------------------------------------


def test_drafts_of_the_accounts_own_user(box: Sandbox) -> None:
    """Without user_id those of the FULL promotable user; the echo lacks the account."""
    body, others = ask(box, "GET", DRAFTS), ask(box, "GET", DRAFTS, user_id=ADVERTISER)

    assert ["101", "102", "103"] == [draft["id"][-3:] for draft in body["data"]]
    assert {"params": {}} == body["request"]
    assert ["1991500000000000104"] == [draft["id"] for draft in others["data"]]
    assert all(DRAFT_KEYS == set(draft) for draft in body["data"])


def test_a_draft_is_created_read_changed_and_deleted(box: Sandbox) -> None:
    """A change touches what is sent; the delete says DELETED and is hard."""
    sent = {"as_user_id": OWNER, "text": "Soon", "name": "Teaser", "card_uri": CARD}
    created = ask(box, "POST", DRAFTS, **sent)
    draft, path = created["data"], f"{DRAFTS}/{created['data']['id']}"
    box.world.clock.advance(seconds=60)
    changed = ask(box, "PUT", path, text="Sooner", nullcast="false", card_uri="", name="")["data"]
    read, deleted = ask(box, "GET", path), ask(box, "DELETE", path)
    given = {"user_id": OWNER, "nullcast": True, "media_keys": [], "card_uri": CARD}
    after = {"text": "Sooner", "nullcast": False, "card_uri": None, "name": None}

    assert DRAFT_KEYS == set(draft)
    assert sent == created["request"]["params"]
    assert given.items() <= draft.items()
    assert draft | after | {"updated_at": changed["updated_at"]} == changed == read["data"]
    assert changed["updated_at"] > draft["updated_at"]
    assert changed | {"status": "DELETED"} == deleted["data"]
    for method in ("DELETE", "GET"):
        assert (404, [("NOT_FOUND", "draft_post_id")]) == refusal(box.call(method, path))


def test_media_take_the_place_of_text(box: Sandbox) -> None:
    """Text is empty where only media are sent, and can be emptied where media are.

    A name may have 80 characters.
    """
    sent = {"as_user_id": OWNER, "media_keys": IMAGE, "name": "x" * 80}
    draft = ask(box, "POST", DRAFTS, **sent)["data"]
    emptied = ask(box, "PUT", f"{DRAFTS}/{FIRST}", text="")["data"]

    assert ("", [IMAGE], "") == (draft["text"], draft["media_keys"], emptied["text"])
    assert 80 == len(draft["name"])


def test_pages_of_a_hundred(box: Sandbox) -> None:
    """Without count a page has 100 drafts."""
    for key in map(str, range(98)):
        box.put("draft_posts", key, box.record("draft_posts", FIRST) | {"id": key})
    body = ask(box, "GET", DRAFTS)

    assert 100 == len(body["data"])
    assert 1 == len(ask(box, "GET", DRAFTS, cursor=body["next_cursor"])["data"])


def test_a_preview(box: Sandbox) -> None:
    """A message and no data; no notification is sent."""
    body = ask(box, "POST", f"{DRAFTS}/preview/{FIRST}")

    assert {"request", "message"} == set(body)
    assert "@harbor_roasters" in body["message"]
    assert {"draft_post_id": FIRST} == body["request"]["params"]


# -- scheduled posts ----------------------------------------------------------------------------


def test_scheduled_and_posted(box: Sandbox) -> None:
    """Nothing exists before the moment; at the moment the post does, as if made then."""
    plan = schedule(box, name="Opening", media_keys=IMAGE, card_uri=CARD)
    path = f"{SCHEDULED}/{plan['id']}"
    box.advance(minutes=59)
    early, posts = ask(box, "GET", path)["data"], box.world.store.count("posts")
    box.advance(minutes=1)
    late = ask(box, "GET", path)["data"]
    box.advance(days=3)
    post = box.record("posts", late["post_id"])
    before = {"scheduled_status": "SCHEDULED", "completed_at": None, "post_id": None}

    assert KEYS == set(plan)
    assert before.items() <= early.items()
    assert posts + 1 == box.world.store.count("posts")
    assert ("SUCCESS", OUT_AT) == (late["scheduled_status"], late["completed_at"])
    assert {
        "full_text": "Soon", "name": "Opening", "_user_id": OWNER, "nullcast": True,
        "card_uri": CARD, "_media_keys": [IMAGE], "scheduled_at": OUT_AT,
        "scheduled_status": "SUCCESS",
    }.items() <= post.items()  # fmt: skip
    assert "Harbor Campaign Desk" in post["source"]
    assert box.record("media_library", IMAGE)["posted"] is True
    shown = body_of(box.call("GET", f"/2/posts/{late['post_id']}?post.fields=created_at"))
    assert "2026-11-22T13:00:00.000Z" == shown["data"]["created_at"]


def test_a_post_is_an_activity_at_its_moment() -> None:
    """The clock runs: subscriptions get the post without any read of the schedule."""
    box = sandbox()
    body = {"event_type": "post.create", "filter": {"user_id": OWNER}}
    assert 200 == box.call("POST", "/2/activity/subscriptions", json=body).status_code
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
    key = "1991600000000000999"
    plan = sandbox().record("scheduled_posts", WAITING) | {"id": key, "scheduled_at": "now+2h"}
    (tmp_path / "scheduled_posts.json").write_text(json.dumps([plan]))
    box = sandbox(fixtures=(tmp_path,))
    box.world.clock.travel(box.world.clock.now() + timedelta(hours=2, seconds=1))

    assert box.platform.deliverer.wait_until_idle(PATIENCE)
    assert "SUCCESS" == box.record("scheduled_posts", key)["scheduled_status"]
    box.platform.close()


def test_seconds_are_ignored(box: Sandbox) -> None:
    """The moment is a whole minute, in the echo as well."""
    sent = {"as_user_id": OWNER, "text": "a", "scheduled_at": "2026-11-22T12:05:59Z"}
    body = ask(box, "POST", SCHEDULED, **sent)
    whole = "2026-11-22T12:05:00Z"

    assert whole == body["data"]["scheduled_at"]
    assert sent | {"as_user_id": int(OWNER), "scheduled_at": whole} == body["request"]["params"]


@pytest.mark.parametrize(("moment", "status"), [
    ("2026-11-22T11:59:59Z", 400), ("2026-11-22T12:00:59Z", 400), ("2026-11-22T12:01:00Z", 200),
    ("2027-11-22T12:00:30Z", 200), ("2027-11-22T12:01:00Z", 400), ("soon", 400),
])  # fmt: skip
@pytest.mark.parametrize("method", ["POST", "PUT"])
def test_bounds_of_the_moment(box: Sandbox, method: str, moment: str, status: int) -> None:
    """Later than now, and at most a year ahead."""
    new = {"as_user_id": OWNER, "text": "a"}
    path, query = (SCHEDULED, new) if method == "POST" else (f"{SCHEDULED}/{WAITING}", {})
    answer = box.ask(method, path, **query, scheduled_at=moment)

    assert status == answer.status_code
    assert status == 200 or [("INVALID_PARAMETER", "scheduled_at")] == faults(answer)


def test_a_moment_within_the_present_minute(box: Sandbox) -> None:
    """The refusal says that seconds are ignored: as sent, this moment is later than now."""
    query = {"as_user_id": OWNER, "text": "a", "scheduled_at": "2026-11-22T12:00:59Z"}
    answer = box.ask("POST", SCHEDULED, **query)

    assert "scheduled_at, in whole minutes (2026-11-22T12:00:00Z)," in answer.get_data(as_text=True)


def test_thirty_in_a_quarter_of_an_hour(box: Sandbox) -> None:
    """The thirty-first is refused, by creation and by change; the next quarter is free."""
    for number in range(30):
        schedule(box, 60 + number % 15)
    later = schedule(box, 75)
    moment = {"scheduled_at": "2026-11-22T13:14:59Z"}
    created = {"as_user_id": OWNER, "text": "One more"} | moment
    errors = [("SCHEDULED_POST_LIMIT_EXCEEDED", "scheduled_at")]
    plan("created", 400, errors, query=created).check(box)
    Refusal(f"PUT {SCHEDULED}/{later['id']}", "changed", 400, errors, query=moment).check(box)
    schedule(box, 60, as_user_id=ADVERTISER)
    own = ask(box, "GET", SCHEDULED, count="200")["data"]
    inside = next(p for p in own if p["scheduled_at"] == OUT_AT)
    ask(box, "PUT", f"{SCHEDULED}/{inside['id']}", scheduled_at="2026-11-22T13:07:00Z")
    ask(box, "DELETE", f"{SCHEDULED}/{inside['id']}")
    schedule(box, 74)


def test_listed(box: Sandbox) -> None:
    """All of the FULL user, whatever their status; the echo lacks the account.

    The id in an echo is a text on GET, and a number on PUT and DELETE.
    """
    schedule(box, as_user_id=ADVERTISER)
    body, path = ask(box, "GET", SCHEDULED), f"{SCHEDULED}/{WAITING}"
    echoes = [ask(box, method, path)["request"]["params"] for method in ("GET", "PUT", "DELETE")]

    assert {"params": {}} == body["request"]
    assert ["SUCCESS", "FAILED", "SCHEDULED", "SCHEDULED"] == [
        plan["scheduled_status"] for plan in body["data"]
    ]
    assert 1 == len(ask(box, "GET", SCHEDULED, user_id=ADVERTISER)["data"])
    assert [WAITING, int(WAITING), int(WAITING)] == [each["scheduled_post_id"] for each in echoes]


def test_changed_and_deleted(box: Sandbox) -> None:
    """What is sent changes; the delete says DELETED, and nothing is posted then."""
    path = f"{SCHEDULED}/{schedule(box, card_uri=CARD)['id']}"
    changed = ask(box, "PUT", path, card_uri="", media_keys=IMAGE, text="")["data"]
    deleted = ask(box, "DELETE", path)["data"]
    posts = box.world.store.count("posts")
    box.advance(hours=2)

    assert (None, [IMAGE], "") == (changed["card_uri"], changed["media_keys"], changed["text"])
    assert changed | {"scheduled_status": "DELETED"} == deleted
    assert posts == box.world.store.count("posts")
    assert (404, [("NOT_FOUND", "scheduled_post_id")]) == refusal(box.call("DELETE", path))


@pytest.mark.parametrize(("table", "key", "fields", "why"), [
    ("accounts", ACCOUNT, {"_post_grants": []}, "does not let user"),
    ("accounts", ACCOUNT, {"deleted": True}, "account 18ce54d4x5t is gone"),
    ("users", ADVERTISER, None, "user 3805104374 is gone"),
    ("media_library", IMAGE, {"deleted": True}, "media are gone"),
    ("cards", "1712860000001000003", {"deleted": True}, "card"),
])  # fmt: skip
def test_what_cannot_be_posted_any_more(
    box: Sandbox, table: str, key: str, fields: dict[str, Any] | None, why: str
) -> None:
    """FAILED when account, user, grant, media or card are gone; the record says why."""
    plan = schedule(box, as_user_id=ADVERTISER, media_keys=IMAGE, card_uri=CARD)
    if fields is not None:
        box.change(table, key, **fields)
    else:
        with box.world.work():
            box.world.store.remove(table, key)
    box.advance(hours=1)
    stored = box.record("scheduled_posts", plan["id"])
    failed = {"scheduled_status": "FAILED", "post_id": None, "completed_at": OUT_AT}

    assert failed.items() <= stored.items()
    assert why in stored["_failure"]


@pytest.mark.parametrize(("to", "posted"), [("SUCCESS", 1), ("FAILED", 0)])
def test_moved_by_hand(box: Sandbox, to: str, posted: int) -> None:
    """The control plane posts now, or lets it fail; not twice."""
    kind = "/_mock/transitions/scheduled_post"
    box.client.put(kind, json={"progression": "manual"})
    plan, before = schedule(box), box.world.store.count("posts")
    box.advance(hours=2)
    untouched = box.record("scheduled_posts", plan["id"])["scheduled_status"]
    for _ in range(2):
        body_of(box.client.post(f"{kind}/{plan['id']}", json={"to": to}))

    assert "SCHEDULED" == untouched
    assert to == box.record("scheduled_posts", plan["id"])["scheduled_status"]
    assert before + posted == box.world.store.count("posts")


def test_posted_after_some_reads(box: Sandbox) -> None:
    """With the progression by polls each read of the post counts; the time does not."""
    box.client.put("/_mock/transitions/scheduled_post", json={"progression": "polls", "polls": 2})
    path = f"{SCHEDULED}/{schedule(box)['id']}"
    first, second = (ask(box, "GET", path)["data"] for _ in range(2))

    assert ("SCHEDULED", "SUCCESS") == (first["scheduled_status"], second["scheduled_status"])
    assert "2026-11-22T12:00:00Z" == second["completed_at"]


def test_a_reset_brings_it_back(box: Sandbox) -> None:
    """What a fixture schedules is scheduled again after a reset, counted from then."""
    box.advance(days=401)
    done = box.record("scheduled_posts", WAITING)["scheduled_status"]
    box.client.post("/_mock/reset")

    assert "SUCCESS" == done
    assert "SCHEDULED" == box.record("scheduled_posts", WAITING)["scheduled_status"]


def test_scheduled_post_failed(box: Sandbox) -> None:
    """The scenario shows a failure, and leaves the record alone."""
    box.client.post("/_mock/scenarios/scheduled-post-failed/activate")
    shown = ask(box, "GET", f"{SCHEDULED}/{WAITING}")["data"]

    assert ("FAILED", None) == (shown["scheduled_status"], shown["post_id"])
    assert "SCHEDULED" == box.record("scheduled_posts", WAITING)["scheduled_status"]
