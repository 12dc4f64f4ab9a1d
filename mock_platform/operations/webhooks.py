"""Webhooks: replaying their events (document A, `POST {base_url}/2/webhooks/replay`)."""

from __future__ import annotations

from marshmallow import Schema

from mock_platform.core.auth.authenticate import BEARER
from mock_platform.core.call import Call
from mock_platform.core.envelope import Flat
from mock_platform.core.fields import Instant, Text
from mock_platform.core.operation import Limit, Location, Operation
from mock_platform.rules.replay_jobs import (
    CREATES,
    MAY_CREATE,
    REPLAY_JOB,
    WEBHOOK_ID,
    Minute,
    check_window,
    create_job,
)
from mock_platform.world.world import World

KINDS = (REPLAY_JOB,)


class ReplayRequest(Schema):
    """The replay job create request of document A."""

    webhook_id = Text(
        required=True,
        pattern=WEBHOOK_ID.pattern,
        pattern_text="a webhook id of 1 to 19 digits",
        metadata={"description": "identifier of the webhook configuration"},
    )
    from_date = Minute(
        required=True, metadata={"description": "first minute of the window, UTC, inclusive"}
    )
    to_date = Minute(required=True, metadata={"description": "end of the window, UTC, exclusive"})


class ReplayJob(Schema):
    """The replay job create response of document A."""

    job_id = Text(required=True, metadata={"description": "identifier of the created replay job"})
    created_at = Instant(millis=True, required=True, metadata={"format": "date-time"})


def replay(call: Call, world: World) -> dict[str, str]:
    """Create a job that delivers a webhook's events of the window again."""
    job = create_job(call, world, **call.params)
    return {"job_id": job["id"], "created_at": job["created_at"]}


OPERATIONS = (
    Operation(
        id="webhooks.replay",
        method="POST",
        path="/2/webhooks/replay",
        handler=replay,
        summary="Create a replay job for a webhook",
        spec="A, Endpoints: POST {base_url}/2/webhooks/replay",
        params=ReplayRequest,
        location=Location.JSON,
        rules=check_window,
        returns=Flat(ReplayJob),
        auth=BEARER,
        limits=(Limit("replay", 100, 900, per="app", source="public"),),
        errors=("invalid-request", "resource-not-found", "conflict"),
        statuses=(400, 404, 409),
        assumptions=CREATES,
        may_assume=MAY_CREATE,
    ),
)
