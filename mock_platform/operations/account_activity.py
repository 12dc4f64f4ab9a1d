"""Account activity: the replay path that `POST /2/webhooks/replay` replaced.

Document A only names it, in its release history: announced as deprecated on 2026-03-20, removed on
2026-03-25 12:00 ET. The world's clock decides whether a call comes before or after that.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from marshmallow import Schema

from mock_platform.core.assumptions import public_fact, settled
from mock_platform.core.auth.authenticate import BEARER
from mock_platform.core.call import Call
from mock_platform.core.envelope import Flat
from mock_platform.core.failures.errors import ProblemFailure
from mock_platform.core.failures.problems import problem
from mock_platform.core.fields import Instant, Nested, Text
from mock_platform.core.operation import Location, Operation, Origin
from mock_platform.rules.release_history import find_release
from mock_platform.rules.replay_jobs import (
    CREATES,
    MAY_CREATE,
    WEBHOOK_ID,
    Minute,
    check_window,
    create_job,
)
from mock_platform.settings import Settings
from mock_platform.world.world import World

SHAPE = public_fact(
    "account-activity.replay-shape",
    "The retired replay path takes from_date and to_date in the query and answers with for_user_id "
    "(the app's owner) and replay_event; the spec only names it.",
    "section 5, endpoints that the spec only names",
    gap=True,
)
RETIRED = settled(
    "account-activity.replay-retired",
    "From 2026-03-25 16:00 UTC on the world's clock the retired replay path answers 410 with a "
    "generic problem that names its successor.",
    "A, Versioning: 2026-03-20",
)
SUCCESSOR = "POST /2/webhooks/replay"


class ReplayQuery(Schema):
    """Parameters of the retired path, the same as those of its successor."""

    from_date = Minute(required=True)
    to_date = Minute(required=True)


class ReplayEvent(Schema):
    """The created job, as the retired path shows it."""

    job_id = Text(required=True)
    created_at = Instant(millis=True, required=True)


class ReplayAnswer(Schema):
    """The retired path's own shape."""

    for_user_id = Text(required=True)
    replay_event = Nested(ReplayEvent, required=True)


def refuse_when_retired(call: Call, world: World) -> None:
    """Refuse the call if the release history says that the path is retired.

    Raises:
        ProblemFailure: 410 about:blank, which names the successor.
    """
    retirement, now = find_release("replay-path-retired"), world.clock.now()
    if retirement.is_in_force(now):
        detail = f"This endpoint was retired on 2026-03-25 at 12:00 ET. Use {SUCCESSOR} instead."
        value = problem("about:blank", title="Gone", status=410, detail=detail)
        raise ProblemFailure(value, RETIRED)
    if f"{now:%Y-%m-%d}" >= retirement.date:
        call.warn(f"this endpoint is deprecated and ends 2026-03-25 at 12:00 ET: use {SUCCESSOR}")


def check_parameters(
    params: Mapping[str, Any], call: Call, world: World, settings: Settings
) -> Iterator[tuple[str, str]]:
    """Yield the faults of path and query, by the rules that the successor has for its body."""
    webhook_id = call.path_params["webhook_id"]
    if WEBHOOK_ID.fullmatch(webhook_id) is None:
        yield "webhook_id", f"webhook_id must be 1 to 19 digits, got {webhook_id!r}"
    yield from check_window(params, call, world, settings)


def replay(call: Call, world: World) -> dict[str, Any]:
    """Create a replay job, and return it in the retired path's shape."""
    job = create_job(call, world, call.path_params["webhook_id"], **call.params)
    app = call.caller.app
    assert app is not None
    return {
        "for_user_id": app.get("_owner_user_id") or "",
        "replay_event": {"job_id": job["id"], "created_at": job["created_at"]},
    }


OPERATIONS = (
    Operation(
        id="account_activity.replay",
        method="POST",
        path="/2/account_activity/replay/webhooks/:webhook_id/subscriptions/all",
        handler=replay,
        summary="Create a replay job for a webhook (retired)",
        spec="A, Versioning: 2026-03-20",
        params=ReplayQuery,
        location=Location.QUERY,
        rules=check_parameters,
        origin=Origin.NAMED,
        gates=(refuse_when_retired,),
        returns=Flat(ReplayAnswer),
        auth=BEARER,
        errors=("invalid-request", "resource-not-found", "conflict", "about:blank"),
        statuses=(400, 404, 409, 410),
        assumptions=(SHAPE, *CREATES),
        may_assume=(RETIRED, *MAY_CREATE),
        deprecated=True,
    ),
)
