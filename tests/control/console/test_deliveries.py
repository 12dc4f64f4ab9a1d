"""The pages of replay jobs, webhooks, streams and rules."""

from __future__ import annotations

import json
from typing import Any

from mock_platform.control.console.webhooks import WIDTH, draw_timeline
from tests.control.console.support import OWN, done, show, submit, text_of
from tests.control.support import call
from tests.support import Sandbox
from tests.support_receiver import Receiver
from tests.support_replay import WEBHOOK, Desk
from tests.support_streams import StreamClient

Client = StreamClient
EMPTY = ("activity_subscriptions",)
USER = "2244994945"


def read(desk: Desk, path: str, form: dict[str, str] | None = None) -> str:
    """The text of a page of a sandbox with a receiver; with `form`, what its form answers."""
    if form is None:
        return text_of(desk.client.get(f"/_mock{path}"), 200)
    answer = desk.client.post(f"/_mock{path}", data=form, headers=OWN)
    return done(answer) if answer.status_code == 303 else text_of(answer, answer.status_code)


def test_a_replay_job(receiver: Receiver) -> None:
    """The job shows its window, its events and deliveries, and is ended by a button."""
    receiver.plan.extend([500, 200])
    with Desk(receiver.url) as desk:
        desk.pace("manual")
        job = desk.create()
        assert desk.platform.deliverer.wait_until_idle(60)

        jobs, page = read(desk, "/console/replay"), read(desk, f"/console/replay/{job}")
        assert job in jobs
        assert "IN_PROGRESS" in jobs
        assert "15 delivered 0 failed 0 not attempted" in page
        assert "End it now as COMPLETE" in page
        assert "moved to COMPLETE" in read(desk, f"/console/replay/{job}/move", {"to": "COMPLETE"})
        assert "End it now" not in read(desk, f"/console/replay/{job}")
        delivery = read(desk, "/console/replay/deliveries/d2")
        assert "status 500" in delivery
        assert "event_uuid" in delivery


def test_jobs_and_deliveries_that_are_not_there(box: Sandbox) -> None:
    """Both are refused with a page that says so."""
    assert "No replay job has the id 'j1'" in show(box, "/console/replay/j1", status=404)
    assert "No delivery 'd9' is kept" in show(box, "/console/replay/deliveries/d9", status=404)
    assert "Nothing was delivered so far" in show(box, "/console/replay")


def test_the_last_attempt_counts() -> None:
    """An event is where its moment is in the window; its result is that of its last attempt."""
    job = {"from_date": "202611200000", "to_date": "202611210000"}
    events = [
        {"id": str(n), "event_type": "post.create", "created_at": f"2026-11-20T{h}:00:00.000Z"}
        for n, h in enumerate(("00", "06", "12"))
    ]
    attempts: list[dict[str, Any]] = [
        {"event_id": None, "status": 200},
        {"event_id": "0", "status": 500},
        {"event_id": "0", "status": 204},
        {"event_id": "1", "status": None},
    ]

    drawn = draw_timeline(job, events, attempts)

    assert [(0, "delivered"), (WIDTH / 4, "failed"), (WIDTH / 2, "waiting")] == [
        (mark.x, mark.result) for mark in drawn.marks
    ]
    assert {"delivered": 1, "failed": 1, "waiting": 1} == drawn.counts


def test_webhooks_and_subscriptions(box: Sandbox) -> None:
    """Webhooks and both kinds of subscriptions are listed."""
    page = show(box, "/console/webhooks")

    assert "http://127.0.0.1:8091/webhooks/platform" in page
    assert "Harbor bio" in page
    assert "2790441185" in page


def test_something_happens(box: Sandbox) -> None:
    """The answer says where an event goes, and why it does not go elsewhere."""
    path = "/console/webhooks/events"

    page = text_of(submit(box, path, event_type="profile.update.bio", user_id=USER), 200)

    assert "It goes to 1 outlet" in page
    assert "it is for post.create, not profile.update.bio" in page
    nowhere = submit(box, path, event_type="spaces.start", user_id=USER)
    assert "It goes nowhere" in text_of(nowhere, 200)


def test_an_event_for_one_webhook(box: Sandbox) -> None:
    """The form sends it with its user, whom the form names by itself, and its direction."""
    form = {"event_type": "dm.received", "webhook_id": WEBHOOK, "payload": "{}", "user_id": USER}

    submit(box, "/console/webhooks/events", **form, direction="received")

    events = [entry.record for entry in box.world.store.page("events", {"webhook_id": WEBHOOK})]
    assert ("received", USER) in [(each["_direction"], each["_user_id"]) for each in events]


def test_users_are_offered_by_name(box: Sandbox) -> None:
    """Beside the id that is sent."""
    page = call(box, "GET", "/console/webhooks").text

    assert f'<option value="{USER}">harbor_roasters</option>' in page


def test_no_stream_is_open(box: Sandbox) -> None:
    """Then the buttons for all streams say that nothing happened."""
    for path in ("stall", "disconnect"):
        answer = submit(box, f"/console/streams/{path}", stream="all", seconds="1")

        assert "No stream is open, so nothing happened." == done(answer)


def test_a_challenge(receiver: Receiver) -> None:
    """A webhook is challenged by its button, and the page says what came of it."""
    with Desk(receiver.url) as desk:
        path = f"/console/webhooks/{WEBHOOK}/challenge"

        assert f"Webhook {WEBHOOK} is valid." == read(desk, path, {})
        receiver.challenge = lambda _token: (500, b"")
        assert "did not answer, and stays valid for now" in read(desk, path, {})
        receiver.challenge = lambda _token: (200, b"{}")
        assert "is invalid" in read(desk, path, {})
        assert "cannot be challenged" in read(desk, "/console/webhooks/1/challenge", {})


def test_streams(client: StreamClient) -> None:
    """Open streams are listed; one is silenced, and all are ended with a problem."""
    client.subscribe()
    lines = client.open()
    lines.next_piece()
    (found,) = client.connections()
    path = "/console/streams"

    assert found["id"] in read(client.desk, path)
    assert found["id"] in read(client.desk, f"{path}/table")
    form = {"stream": found["id"], "seconds": "2m"}
    silent = read(client.desk, f"{path}/stall", form)
    assert f"Silent, 2m (real time): stream {found['id']}." == silent
    form = {"stream": "all", "disconnect_type": "ForceDisconnect", "line": "yes"}
    assert "Ended: all streams." == read(client.desk, f"{path}/disconnect", form)
    assert "ForceDisconnect" in json.dumps(lines.next())
    assert "No stream is open" in read(client.desk, path)


def test_rules(box: Sandbox) -> None:
    """The rules of the stream are listed, and one is tried part by part."""
    assert "cold brew coffee" in show(box, "/console/rules")
    answer = submit(
        box, "/console/rules", rule="coffee -is:repost", post='{"id": "1", "text": "tea"}'
    )

    assert "<mark><code>coffee</code></mark>" in answer.text
    assert "does not match" in text_of(answer, 200)
    assert "this part failed" in text_of(answer, 200)


def test_markup_is_escaped(box: Sandbox) -> None:
    """What users wrote never becomes markup."""
    evil = "<script>alert(1)</script>"
    call(box, "PATCH", f"/state/webhooks/{WEBHOOK}", json={"url": f"http://127.0.0.1/{evil}"})
    shown = submit(box, "/console/rules", rule=evil, post=json.dumps({"id": "1", "text": evil}))

    assert evil not in shown.text
    assert evil not in call(box, "GET", "/console/webhooks").text
