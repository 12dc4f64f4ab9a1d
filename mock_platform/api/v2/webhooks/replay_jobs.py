"""Replay jobs: what a request for one must satisfy, and what creating one does.

Both ways to create one use this: `POST /2/webhooks/replay`, and its retired predecessor under
`/2/account_activity`. The delivery package runs the jobs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Unpack

from mock_platform.api.v2.webhooks.event_log import remember_delivery
from mock_platform.core.assumptions import expectation, public_fact, settled
from mock_platform.core.call import Call
from mock_platform.core.failures.codes import could_not_find
from mock_platform.core.failures.errors import ProblemFailure
from mock_platform.core.failures.problems import WEBHOOK_NOT_A_RESOURCE_TYPE, problem
from mock_platform.core.faults import invalid
from mock_platform.core.fields import Choice, FieldOptions, Instant, Integer, Text
from mock_platform.core.schema import Schema
from mock_platform.core.tables.table import Reference, Table
from mock_platform.settings import Settings
from mock_platform.world.clock import wire_millis
from mock_platform.world.store.interface import Record
from mock_platform.world.transitions import Pace, TransitionKind
from mock_platform.world.world import World

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
    Table(
        "replay_jobs",
        ReplayJobRecord,
        references=(Reference("webhook_id", "webhooks"), Reference("_app_id", "apps")),
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
        # This looks at the job, so it counts as a poll where jobs end after a number of polls.
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
