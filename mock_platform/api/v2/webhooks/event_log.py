"""The log of what webhooks receive, a row for each event, and the jobs that replay it.

A row is written in the transaction of its cause. A replay reads the same rows, so it delivers an
event again in the body of its product. Both ways to create a job use this: `POST
/2/webhooks/replay`, and its retired predecessor under `/2/account_activity`. The delivery package
runs the jobs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, Unpack, get_args

from mock_platform.api.v2.release_history import explain_unknown_name, find_event_name
from mock_platform.core.assumptions import expectation, public_fact, settled
from mock_platform.core.call import Call
from mock_platform.core.failures.codes import could_not_find
from mock_platform.core.failures.errors import ProblemFailure
from mock_platform.core.failures.problems import WEBHOOK_NOT_A_RESOURCE_TYPE, problem
from mock_platform.core.faults import invalid
from mock_platform.core.fields import (
    Choice,
    FieldOptions,
    Flag,
    Instant,
    Integer,
    Json,
    Text,
    Timed,
)
from mock_platform.core.schema import Schema
from mock_platform.core.tables.table import Reference, Table
from mock_platform.settings import Settings
from mock_platform.world.clock import epoch_millis, wire_millis
from mock_platform.world.store.interface import Record
from mock_platform.world.transitions import Pace, TransitionKind
from mock_platform.world.world import World

ADDED = "event:added"
"""Topic of the notice that an event waits to be delivered; its key is the event's id."""
OUTGOING = "_outgoing"
"""The table of what is to be delivered, in worlds that outlive the process: of events by their
ids, and of the ends of replay jobs, which have a `job_id`.
"""
Product = Literal["activity", "account_activity", "filtered_stream"]
"""The products whose events webhooks receive; each has its own form of body."""
_DIRECTIONS = ("received", "sent", "both")
_DIRECTED = ("dm.", "chat.")
"""The families of events whose subscriptions may have a direction."""
PAYLOAD_MOMENTS = {
    "created_at": wire_millis,
    "editable_until": wire_millis,
    "created_timestamp": epoch_millis,
    "timestamp_ms": epoch_millis,
}
"""The moments in payloads that fixtures may count from now, with their forms."""


class EventRecord(Schema):
    """One event in a webhook's log; `_attempted` once its delivery was attempted.

    `_user_id`, `_tag`, `_direction` and `_includes` fill the envelope in which it is delivered:
    whom the subscription follows (the app's owner, if not given), its tag and direction if it has
    any, and what is included.
    """

    id = Text(required=True)
    webhook_id = Text(required=True)
    event_type = Text(required=True, min_length=1)
    payload = Timed(PAYLOAD_MOMENTS, required=True)
    created_at = Instant(millis=True, required=True)
    _product = Choice(get_args(Product), load_default="activity")
    """The product that delivers it. The payload of account activity is the body itself without
    for_user_id, that of the filtered stream is the whole body."""
    _attempted = Flag(load_default=True)
    _user_id = Text(load_default=None, allow_none=True)
    _tag = Text(load_default=None, allow_none=True)
    _direction = Choice(_DIRECTIONS, load_default=None, allow_none=True)
    _includes = Timed(PAYLOAD_MOMENTS, load_default=None, allow_none=True)
    _filter = Json(load_default=None, allow_none=True)
    """The whole filter of the subscription, in place of `_user_id` and `_direction`."""
    _event_uuid = Text(load_default=None, allow_none=True)
    """What receivers see as the event's id, if not `id`."""


def _check_event(record: Record) -> Iterator[tuple[str, str]]:
    name, direction = record["event_type"], record["_direction"]
    if find_event_name(name) is None:
        yield "event_type", explain_unknown_name(name)
    elif direction is not None and not name.startswith(_DIRECTED):
        yield "_direction", f"only subscriptions to dm.* and chat.* have a direction, not {name}"


EVENTS = Table(
    "events",
    EventRecord,
    references=(Reference("webhook_id", "webhooks"), Reference("_user_id", "users")),
    check=_check_event,
)


def log_event(
    world: World,
    product: Product,
    webhook_id: str,
    activity: Record,
    payload: Mapping[str, Any],
    **envelope: Any,
) -> tuple[Record, str | None]:
    """Add an activity to a webhook's log; return also why it is not delivered now, if it is not.

    `envelope` holds those fields of the record that the product's body needs: `_tag`, `_includes`,
    `_filter`. The delivery begins after the commit.
    """
    webhook = world.store.get("webhooks", webhook_id)
    # An event for an invalid webhook is logged all the same: a replay job delivers it once the
    # webhook has passed a challenge again.
    live = webhook is not None and webhook["valid"]
    event = {
        "id": world.ids.snowflake(),
        "webhook_id": webhook_id,
        "event_type": activity["event_type"],
        "payload": payload,
        "created_at": activity["created_at"],
        "_product": product,
        "_attempted": live,
        "_user_id": activity["user_id"],
        "_tag": None,
        "_direction": None,
        "_includes": None,
        "_filter": None,
        "_event_uuid": activity["event_uuid"],
    } | envelope
    world.store.put("events", event["id"], event)
    if live:
        request_delivery(world, event)
        return event, None
    return event, (
        f"webhook {webhook_id} is not valid, so the event is kept and not delivered; "
        f"PUT /2/webhooks/{webhook_id} challenges it again"
    )


def request_delivery(world: World, event: Record) -> None:
    """Request the delivery of a new event; the next process goes on with it if this one ends."""
    remember_delivery(world, event["id"], {"webhook_id": event["webhook_id"]})
    world.notify(ADDED, event["id"])


def remember_delivery(world: World, key: str, waiting: Record) -> None:
    """Record that something is to be delivered, in a world that outlives the process."""
    if world.store.outlives:
        world.store.put(OUTGOING, key, waiting)


REPLAY_WINDOW = settled(
    "replay.window",
    "from_date is inclusive and at most 24 hours back, counted in whole minutes on the world's "
    "clock; older is refused, not clipped. from_date may equal to_date (an empty window); neither "
    "may be in the future.",
    "A, Limits: replay window",
)
TO_DATE = public_fact(
    "replay.to-date-exclusive",
    "to_date is the end of the window and exclusive; the spec does not show its role.",
    "section 6, replay window",
)
MINIMUM_AGE = public_fact(
    "replay.minimum-age",
    "With --replay-minimum-age, from_date must be at least 31 and to_date at least 10 minutes ago, "
    "as for the predecessor.",
    "section 6, replay window",
)
ONE_JOB_EACH = public_fact(
    "replay.conflict-per-webhook",
    "A job in progress prevents only another one for the same webhook.",
    "section 6, replay failures",
)
JOB_STATES = public_fact(
    "replay.states",
    "A job is in progress until every event was accepted (COMPLETE) or not (INCOMPLETE); its end "
    "is announced to the webhook by a replay_job_status event.",
    "section 6, job ends with an event",
)
JOB_PACE = settled(
    "replay.pace",
    "Deliveries start at once; the job ends two seconds on the world's clock after the last "
    "attempt, unless /_mock/transitions/replay_job says otherwise.",
)
JOB_CHALLENGE = public_fact(
    "replay.crc",
    "Before a job delivers, the webhook's url must answer a challenge: GET url?crc_token=… with "
    '{"response_token": "sha256=…"}. The create has answered by then; a failed check ends the job '
    "as incomplete. A wrong answer (2xx without the right token, 3xx, a TLS failure) makes the "
    "webhook invalid at once: it receives nothing from then on, the announcement of the job's end "
    "included, until it passes a challenge (POST /_mock/webhooks/ID/validate).",
    "section 6, CRC; invalid when",
)
REPLAY_ENVELOPE = public_fact(
    "replay.activity-envelope",
    "A receiver gets each event in the public activity envelope, signed in the header "
    "x-platform-webhooks-signature and, with the same value, in the header of the original name; "
    "the spec does not show payload shapes. filter.user_id is the app's owner unless the event "
    "record says otherwise.",
    "section 6, activity envelope; signature",
)
REPLAY_ATTEMPTS = expectation(
    "replay.attempts",
    "An event is accepted when the receiver answers 200 within 10 seconds; otherwise it is tried "
    "3 times in all, 0.2 and 0.4 seconds apart. After 3 events in a row that timed out the job "
    "ends.",
)
CREATES = (
    REPLAY_WINDOW,
    TO_DATE,
    ONE_JOB_EACH,
    JOB_STATES,
    JOB_PACE,
    JOB_CHALLENGE,
    REPLAY_ENVELOPE,
    REPLAY_ATTEMPTS,
)
"""The assumptions that every created job relies on."""
MAY_CREATE = (MINIMUM_AGE, WEBHOOK_NOT_A_RESOURCE_TYPE)


def _remember_announcement(world: World, job: Mapping[str, Any], end: str) -> None:
    """Record that the end of a job is to be announced, also if this process ends before."""
    waiting = {"webhook_id": job["webhook_id"], "job_id": job["id"], "state": end}
    remember_delivery(world, f"{REPLAY_JOB.name}:{job['id']}", waiting)


REPLAY_JOB = TransitionKind(
    name="replay_job",
    table="replay_jobs",
    field="state",
    first="IN_PROGRESS",
    ends=("COMPLETE", "INCOMPLETE"),
    pace=Pace("time", seconds=2.0),
    remember=_remember_announcement,
)


class ReplayJobRecord(Schema):
    """A replay job. `id` is what the interface calls `job_id`."""

    id = Text(required=True)
    webhook_id = Text(required=True)
    from_date = Text(required=True, pattern=r"[0-9]{12}", pattern_text="yyyymmddhhmm")
    to_date = Text(required=True, pattern=r"[0-9]{12}", pattern_text="yyyymmddhhmm")
    created_at = Instant(millis=True, required=True)
    state = Choice(REPLAY_JOB.states, required=True)
    _app_id = Text(required=True)
    _delivered = Integer(load_default=0)
    """How many events the receiver accepted."""
    _failed = Integer(load_default=0)
    _reason = Text(load_default=None, allow_none=True)


TABLES = (
    EVENTS,
    Table(
        "replay_jobs",
        ReplayJobRecord,
        references=(Reference("webhook_id", "webhooks"), Reference("_app_id", "apps")),
        draw=lambda draft: {
            "from_date": f"{draft.moment - timedelta(hours=draft.draw_between(2, 20)):%Y%m%d%H%M}",
            "to_date": f"{draft.moment - timedelta(hours=1):%Y%m%d%H%M}",
            "state": "COMPLETE",
        },
    ),
)
RUNNING = "_replays"
"""The table of jobs whose events are being delivered: how far each one is."""
CREATED = "replay_job:created"
"""Topic of the notice that a job waits for its deliveries; its key is the job's id."""

LONGEST_WINDOW = timedelta(hours=24)
_MINIMUM_AGE_MINUTES = {"from_date": 31, "to_date": 10}


class Minute(Text):
    """A minute of UTC as `yyyymmddhhmm`, exactly 12 digits, one that the calendar has."""

    def __init__(self, **options: Unpack[FieldOptions]) -> None:
        super().__init__(
            pattern=r"[0-9]{12}", pattern_text="yyyymmddhhmm (12 digits, UTC)", **options
        )

    def _validate(self, value: Any) -> None:
        super()._validate(value)
        try:
            parse_minute(value)
        except ValueError as fault:
            raise invalid(
                f"a minute of the calendar as yyyymmddhhmm ({fault})", value, "invalid date"
            ) from fault


def parse_minute(text: str) -> datetime:
    """Return the moment at which a minute begins.

    Raises:
        ValueError: The calendar has no such minute.
    """
    year, month, day, hour, minute = (
        int(text[:4]), int(text[4:6]), int(text[6:8]), int(text[8:10]), int(text[10:12])
    )  # fmt: skip
    return datetime(year, month, day, hour, minute, tzinfo=UTC)


def spell_minute(moment: datetime) -> str:
    """Return the minute that contains a moment, as `yyyymmddhhmm`."""
    return moment.isoformat()[:16].translate(_SEPARATORS)


_SEPARATORS = str.maketrans("", "", "-T:")


def check_window(
    params: Mapping[str, Any], _call: Call, world: World, settings: Settings
) -> Iterator[tuple[str, str]]:
    """Yield every fault of the window; dates that are invalid by themselves are skipped."""
    # Dates are whole minutes, so the oldest one that is allowed is counted from the minute that
    # now is in: 24 hours ago at 12:00:59 is still 12:00. Each date is compared alone before the two
    # are compared, so a caller learns everything that is wrong at once.
    now = world.clock.now()
    minutes = {
        name: parse_minute(params[name]) for name in ("from_date", "to_date") if name in params
    }
    start, end = minutes.get("from_date"), minutes.get("to_date")
    if start is not None and start < (oldest := parse_minute(spell_minute(now)) - LONGEST_WINDOW):
        yield (
            "from_date",
            "from_date may lie at most 24 hours back: it is before "
            f"{spell_minute(oldest)}, got {params['from_date']}",
        )
    for name, moment in minutes.items():
        if moment > now:
            yield (
                name,
                f"{name} must not be in the future: it is after {spell_minute(now)}, "
                f"got {params[name]}",
            )
        elif settings.replay_minimum_age and now - moment < (
            age := timedelta(minutes=_MINIMUM_AGE_MINUTES[name])
        ):
            yield (
                name,
                f"{name} must be at least {_MINIMUM_AGE_MINUTES[name]} minutes ago: it is after "
                f"{spell_minute(now - age)}, got {params[name]}",
            )
    if start is not None and end is not None and start > end:
        yield (
            "from_date",
            f"from_date must not be after to_date, got {params['from_date']} and "
            f"{params['to_date']}",
        )


def create_job(call: Call, world: World, webhook_id: str, from_date: str, to_date: str) -> Record:
    """Create a job for one of the caller's webhooks, and request its deliveries.

    Raises:
        ProblemFailure: The app has no such webhook (resource-not-found), or a job of that webhook
            is in progress (conflict).
    """
    app = call.caller.app
    assert app is not None
    webhook = world.store.get("webhooks", webhook_id)
    if webhook is None or webhook["_app_id"] != app["id"]:
        raise _make_webhook_not_found(webhook_id)
    for running in find_jobs_in_progress(world, webhook_id):
        # This looks at the job, so it counts as a poll where jobs end after a number of polls. A
        # refusal would undo that count with all else, so it is raised with `keeping`.
        if not world.transitions.evaluate(REPLAY_JOB.name, running["id"], poll=True):
            raise _make_conflict(call, running).keeping()
    if not webhook["valid"]:
        call.warn(
            f"webhook {webhook_id} is not valid, so the job will deliver nothing; "
            f"POST /_mock/webhooks/{webhook_id}/validate challenges it again"
        )
    record = {
        "id": world.ids.snowflake(),
        "webhook_id": webhook_id,
        "from_date": from_date,
        "to_date": to_date,
        "created_at": wire_millis(world.clock.now()),
        "state": REPLAY_JOB.first,
        "_app_id": app["id"],
        "_delivered": 0,
        "_failed": 0,
        "_reason": None,
    }
    world.store.put("replay_jobs", record["id"], record)
    world.transitions.begin(REPLAY_JOB.name, record["id"], started=False)
    world.notify(CREATED, record["id"])
    return record


def find_jobs_in_progress(world: World, webhook_id: str) -> list[Record]:
    """Return the webhook's jobs that have not ended."""
    match = {"webhook_id": webhook_id, "state": REPLAY_JOB.first}
    return [entry.record for entry in world.store.page("replay_jobs", match)]


def _make_webhook_not_found(webhook_id: str) -> ProblemFailure:
    value = problem(
        "resource-not-found",
        detail=could_not_find("webhook", "id", webhook_id),
        parameter="webhook_id",
        value=webhook_id,
        resource_id=webhook_id,
        resource_type="user",
    )
    return ProblemFailure(value, WEBHOOK_NOT_A_RESOURCE_TYPE)


def _make_conflict(call: Call, running: Record) -> ProblemFailure:
    why = (
        f"replay job {running['id']} is in progress for webhook {running['webhook_id']} until it "
        "ends by its transition (/_mock/transitions/replay_job)"
    )
    call.diagnosis = {"mistake": "conflict", "explanation": why}
    return ProblemFailure(problem("conflict"), ONE_JOB_EACH)
