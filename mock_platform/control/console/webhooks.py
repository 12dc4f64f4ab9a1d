"""Webhooks: who is subscribed to what, replay jobs, and the deliveries to webhooks and streams."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import quote

from flask import Response
from msgspec import Struct
from msgspec.structs import replace

from mock_platform.api.v2.activity.activities import DIRECTIONS
from mock_platform.api.v2.release_history import EVENT_NAMES, list_names_in_force
from mock_platform.api.v2.webhooks.event_log import REPLAY_JOB, parse_minute, spell_minute
from mock_platform.control.console.answers import (
    ConsolePage,
    FormState,
    answer_form,
    attempt,
    go,
    read_json,
    render,
)
from mock_platform.control.console.pickers import list_records
from mock_platform.control.console.sending import send_as_client
from mock_platform.control.refusals import ControlRefusal
from mock_platform.control.route import HTML, ControlRequest, Route, load_body
from mock_platform.control.transitions import MoveBody, move
from mock_platform.control.webhooks import list_deliveries, post_event, validate
from mock_platform.core.errors import did_you_mean
from mock_platform.core.jsonio import dumps, loads, pretty
from mock_platform.world.clock import wire_millis
from mock_platform.world.store.interface import Order, Record
from mock_platform.world.world import World

# Webhooks and subscriptions, and a form that lets something happen to a user.

WEBHOOKS_PATH = "/console/webhooks"
MAX_SHOWN = 200
"""Webhooks, subscriptions and users that the page lists, of each."""
_DIRECTIONS = [("", "not named"), *DIRECTIONS]
_GIVEN = ("event_type", "user_id", "webhook_id", "direction", "created_at")
_OF_ONE_WEBHOOK = {"user_id": "_user_id", "direction": "_direction"}
"""Names of what an event has that goes to a single webhook, where they differ."""


def show_webhooks(
    request: ControlRequest,
    form: FormState | None = None,
    happened: Mapping[str, Any] | None = None,
    attempts: Sequence[Mapping[str, Any]] = (),
) -> Response:
    """Webhooks, who is subscribed to what, and the form of an event."""
    world = request.world
    with world.work():
        tables = {
            name: [entry.record for entry in world.store.page(name, limit=MAX_SHOWN)]
            for name in (
                "webhooks", "activity_subscriptions", "account_activity_subscriptions", "users",
            )
        }  # fmt: skip
        now = world.clock.now()
    names = EVENT_NAMES if world.has_all_releases else list_names_in_force(world.as_of or now)
    return render(
        request,
        "webhooks.html",
        block="content",
        form=form,
        webhooks=tables["webhooks"],
        activity=tables["activity_subscriptions"],
        account_activity=tables["account_activity_subscriptions"],
        users=[(each["id"], each.get("screen_name", "")) for each in tables["users"]],
        event_types=[name.name for name in names if not name.is_deprecated(now)],
        directions=_DIRECTIONS,
        targets=[
            ("", "whatever is subscribed"),
            *((each["id"], f"{each['url']} ({each['id']})") for each in tables["webhooks"]),
        ],
        limit=MAX_SHOWN,
        happened=happened,
        deliveries=attempts,
        result=_describe_result(attempts),
        happened_text="" if happened is None else pretty(happened),
    )


MAX_WAIT = 3.0
"""Real seconds for which the page of an event waits for its deliveries."""


def _describe_result(attempts: Sequence[Mapping[str, Any]]) -> str:
    """Return what came of an event: the last attempt at each outlet counts."""
    if not attempts:
        return "Nothing was delivered"
    last = {each["webhook_id"] or each["stream_id"]: each for each in attempts}
    good = sum(not each["error"] and (each["status"] or 200) in _OK for each in last.values())
    if good == len(last):
        return "Delivered"
    return "Not delivered" if not good else f"Delivered to {good} of {len(last)}"


def emit_event(request: ControlRequest) -> Response:
    """Let something happen to a user, and show where it went and where it did not."""

    def emit(values: Mapping[str, str]) -> Response:
        body: dict[str, Any] = {
            name: text for name in _GIVEN if (text := values.get(name, "").strip())
        }
        body |= read_json(values, "payload", "The event was not added")
        if "webhook_id" in body:
            body = {_OF_ONE_WEBHOOK.get(name, name): value for name, value in body.items()}
        happened = post_event(replace(request, body=body))
        outlets = happened.get("outlets", [happened])
        ids = {each.get("event_id") or each.get("id") for each in outlets}
        request.platform.deliverer.wait_until_idle(MAX_WAIT)
        attempts = [each for each in _list_of(request) if each["event_id"] in ids]
        return show_webhooks(request, FormState(values), happened, attempts)

    return answer_form(request, emit, show_webhooks)


def challenge_webhook(request: ControlRequest) -> Response:
    """Challenge a webhook now, and say whether it answered as it must."""
    key = request.args["key"]
    found: dict[str, Any] = {}
    refused = attempt({}, lambda: found.update(validate(request)))
    if refused is not None:
        return show_webhooks(request, refused)
    if found["error"] is None:
        result = "is valid."
    elif found["valid"]:  # nothing was answered, so nothing was wrong
        result = f"did not answer, and stays valid for now: {found['error']}."
    else:
        result = f"is invalid: {found['error']}."
    return go(request, WEBHOOKS_PATH, f"Webhook {key} {result}")


WEBHOOKS = ConsolePage(
    "Webhooks",
    WEBHOOKS_PATH,
    (
        Route("GET", WEBHOOKS_PATH, show_webhooks, media_type=HTML),
        Route("POST", f"{WEBHOOKS_PATH}/events", emit_event, media_type=HTML, form=True),
        Route(
            "POST",
            f"{WEBHOOKS_PATH}/<key>/challenge",
            challenge_webhook,
            media_type=HTML,
            form=True,
        ),
    ),
    section="Data",
)


# The picture of a replay job: its events in the window, and what came of each.

WIDTH = 1000
"""Width of the picture in its own units; the window fills it."""
_OK = range(200, 300)


class Mark(Struct, frozen=True):
    """One event in the picture."""

    x: float
    event_id: str
    event_type: str
    at: str
    result: str
    """`delivered`, `failed`, or `waiting`: not attempted so far."""


class Timeline(Struct, frozen=True):
    """The marks of a window, oldest first, and how many there are of each result."""

    marks: Sequence[Mark]
    counts: Mapping[str, int]
    width: int = WIDTH


def draw_timeline(
    job: Record, events: Sequence[Record], deliveries: Sequence[Mapping[str, Any]]
) -> Timeline:
    """Return the picture of a job from its events and its deliveries."""
    start, end = parse_minute(job["from_date"]), parse_minute(job["to_date"])
    length = (end - start).total_seconds() or 1.0
    results: dict[str, str] = {}
    for each in deliveries:  # the last attempt counts
        if each["event_id"] is not None:
            results[each["event_id"]] = "delivered" if each["status"] in _OK else "failed"
    marks = []
    for event in events:
        at = datetime.fromisoformat(event["created_at"])
        x = round((at - start).total_seconds() / length * WIDTH, 1)
        result = results.get(event["id"], "waiting")
        marks.append(Mark(x, event["id"], event["event_type"], event["created_at"], result))
    counts = dict.fromkeys(("delivered", "failed", "waiting"), 0)
    for mark in marks:
        counts[mark.result] += 1
    return Timeline(marks, counts)


REPLAY_PATH = "/console/replay"
MAX_JOBS = 100
MAX_DELIVERIES = 100
MAX_EVENTS = 1000
"""Events of a job that its picture shows."""
_NEWEST = Order("created_at", descending=True)
_OLDEST = Order("created_at")


def show_replay(request: ControlRequest, form: FormState | None = None) -> Response:
    """All replay jobs, the newest first, and the newest deliveries."""
    world = request.world
    with world.work():
        jobs = [entry.record for entry in world.store.page("replay_jobs", order=_NEWEST, limit=100)]
        total = world.store.count("replay_jobs")
    return render(
        request,
        "replay.html",
        block="content",
        form=form,
        webhooks=list_records(world, "webhooks"),
        jobs=jobs,
        total=total,
        deliveries=_list_newest(request),
        shown=MAX_DELIVERIES,
    )


def list_deliveries_live(request: ControlRequest) -> Response:
    """Return the table of deliveries alone, which the page asks for again and again."""
    return render(request, "deliveries_table.html", deliveries=_list_newest(request))


def show_job(request: ControlRequest, form: FormState | None = None) -> Response:
    """One job: its window, events, deliveries, and how it ends."""
    world, key = request.world, request.args["key"]
    with world.work():
        job = world.store.get("replay_jobs", key)
        if job is None:
            raise _refuse_unknown(world, key)
        events = _list_events(world, job)
    deliveries = _list_of(request, job_id=key)
    return render(
        request,
        "replay_job.html",
        block="content",
        form=form,
        job=job,
        window=[wire_millis(parse_minute(job[name])) for name in ("from_date", "to_date")],
        timeline=draw_timeline(job, events, deliveries),
        events=events,
        deliveries=list(reversed(deliveries)),
        ends=REPLAY_JOB.ends,
    )


def move_job(request: ControlRequest) -> Response:
    """End a job now, whatever its progression."""

    def end(values: Mapping[str, str]) -> Response:
        key = request.args["key"]
        body = load_body(MoveBody(), {"to": values.get("to", "")})
        move(replace(request, args={"kind": REPLAY_JOB.name, "key": key}, body=body))
        return go(request, f"{REPLAY_PATH}/{quote(key)}", f"The job was moved to {values['to']}.")

    return answer_form(request, end, show_job)


def show_delivery(request: ControlRequest) -> Response:
    """One delivery: where it went, its body, and what came of it."""
    key = request.args["key"]
    deliveries = _list_of(request)
    found = next((each for each in deliveries if each["id"] == key), None)
    if found is None:
        hint = did_you_mean(key, [each["id"] for each in deliveries])
        raise ControlRefusal(404, f"No delivery {key!r} is kept.{hint}")
    body = found.get("body")
    return render(
        request, "delivery.html", block="content", delivery=found,
        body="" if body is None else pretty(body),
    )  # fmt: skip


def redeliver(request: ControlRequest) -> Response:
    """Deliver the event of a delivery once more, and show the new attempt."""
    key = request.args["key"]
    deliveries = _list_of(request)
    found = next((each for each in deliveries if each["id"] == key), None)
    if found is None or found["event_id"] is None or found["kind"] != "webhook":
        raise ControlRefusal(404, f"The delivery {key!r} is none of an event to a webhook.")
    deliverer = request.platform.deliverer
    deliverer.deliver_again(request.world, found["event_id"])
    deliverer.wait_until_idle(MAX_WAIT)
    newest = [each for each in _list_of(request) if each["event_id"] == found["event_id"]][-1]
    if newest["id"] in {each["id"] for each in deliveries}:
        return go(request, f"{REPLAY_PATH}/deliveries/{key}", "The event is being delivered again.")
    said = f"Delivered again: {newest['error'] or newest['status']}."
    return go(request, f"{REPLAY_PATH}/deliveries/{newest['id']}", said)


def start_job(request: ControlRequest) -> Response:
    """Ask for a replay as a client does, and show the job, or why it was refused."""

    def start(values: Mapping[str, str]) -> Response:
        now = request.world.clock.now()
        hours = {"hour": 1, "day": 24}.get(values.get("window", ""), 1)
        body = {
            "webhook_id": values.get("webhook_id", ""),
            "from_date": spell_minute(now - timedelta(hours=hours) + timedelta(minutes=1)),
            "to_date": spell_minute(now),
        }
        kind = [("Content-Type", "application/json")]
        reply = send_as_client(request, "POST", "/2/webhooks/replay", kind, dumps(body).decode())
        if reply.status >= 400 and reply.entry is not None:
            path = f"/console/requests/{quote(reply.entry.id)}"
            return go(request, path, f"The replay was refused with {reply.status}.")
        request.platform.deliverer.wait_until_idle(MAX_WAIT)
        return go(request, f"{REPLAY_PATH}/{quote(loads(reply.body)['job_id'])}", "The job began.")

    return answer_form(request, start, show_replay)


def _list_of(request: ControlRequest, **query: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = list_deliveries(replace(request, query=query))["deliveries"]
    return found


def _list_newest(request: ControlRequest) -> list[dict[str, Any]]:
    return list(reversed(_list_of(request, limit=MAX_DELIVERIES)))


def _list_events(world: World, job: Record) -> Sequence[Record]:
    """Return the events of a job's webhook in its window, the oldest first."""
    start, end = (wire_millis(parse_minute(job[name])) for name in ("from_date", "to_date"))
    page = world.store.page(
        "events",
        {"webhook_id": job["webhook_id"], "_attempted": True},
        order=_OLDEST,
        where=lambda event: start <= event["created_at"] < end,
        limit=MAX_EVENTS,
    )
    return [entry.record for entry in page]


def _refuse_unknown(world: World, key: str) -> ControlRefusal:
    known = [entry.key for entry in world.store.page("replay_jobs", limit=1000)]
    return ControlRefusal(404, f"No replay job has the id {key!r}.{did_you_mean(key, known)}")


DELIVERIES = ConsolePage(
    "Replay and deliveries",
    REPLAY_PATH,
    (
        Route("GET", REPLAY_PATH, show_replay, media_type=HTML),
        Route("GET", f"{REPLAY_PATH}/deliveries", list_deliveries_live, media_type=HTML),
        Route("GET", f"{REPLAY_PATH}/deliveries/<key>", show_delivery, media_type=HTML),
        Route(
            "POST", f"{REPLAY_PATH}/deliveries/<key>/again", redeliver, media_type=HTML, form=True
        ),
        Route("POST", REPLAY_PATH, start_job, media_type=HTML, form=True),
        Route("GET", f"{REPLAY_PATH}/<key>", show_job, media_type=HTML),
        Route("POST", f"{REPLAY_PATH}/<key>/move", move_job, media_type=HTML, form=True),
    ),
    section="Watch",
)
