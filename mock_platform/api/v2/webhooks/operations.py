"""Webhooks: registering addresses, and replaying their events.

Document A shows `POST {base_url}/2/webhooks/replay` and names the others in its release history.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from mock_platform.api.v2.conventions import declare_named, get_app, make_id_field, wrap_data
from mock_platform.api.v2.release_history import find_release
from mock_platform.api.v2.webhooks.event_log import (
    CREATES,
    MAY_CREATE,
    REPLAY_JOB,
    Minute,
    check_window,
    create_job,
)
from mock_platform.api.v2.webhooks.validation import (
    ALLOWED_ADDRESS,
    DELETED_WEBHOOK,
    FIRST_CHALLENGE,
    NAMED_FAILURES,
    WEBHOOK_CAP,
    WEBHOOK_SHAPES,
    WEBHOOK_VALIDITY,
    WebhookPath,
    add_webhook,
    delete_webhook,
    find_address_faults,
    find_own_webhook,
    make_refusal,
    require_room,
    show_webhook,
)
from mock_platform.core.auth.authenticate import APP_OR_USER, BEARER
from mock_platform.core.call import Call, Challenge
from mock_platform.core.envelope import Flat
from mock_platform.core.fields import (
    Choice,
    CommaList,
    Flag,
    Instant,
    Integer,
    ListOf,
    Nested,
    Text,
)
from mock_platform.core.operation import MINUTE, Example, Handler, Limit, Location, Operation
from mock_platform.core.schema import Schema
from mock_platform.settings import Settings
from mock_platform.world.world import World

KINDS = (REPLAY_JOB,)
_FIELDS = ("created_at", "id", "url", "valid")


class ReplayRequest(Schema):
    """The replay job create request of document A."""

    webhook_id = make_id_field(
        "a webhook id of ",
        required=True,
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


class WebhookFields(Schema):
    """Which fields of a webhook to return; all of them are always returned."""

    webhook_config_fields = CommaList(Choice(_FIELDS), data_key="webhook_config.fields")


class NewWebhook(Schema):
    """The address of a webhook to register."""

    url = Text(required=True, min_length=1, max_length=200)


class Webhook(Schema):
    """A webhook configuration as clients see it."""

    created_at = Instant(millis=True, required=True)
    id = Text(required=True)
    url = Text(required=True)
    valid = Flag(required=True)


class ResultCount(Schema):
    """How many records an answer holds."""

    result_count = Integer(required=True)


class Webhooks(Schema):
    """All webhooks of the app; an empty list is present, unlike in other lists of `/2`."""

    data = ListOf(Nested(Webhook), required=True)
    meta = Nested(ResultCount, required=True)


WebhookValidationAnswer = wrap_data(
    "WebhookValidationAnswer",
    "Validation",
    attempted=Flag(required=True),
    valid=Flag(required=True),
)
"""What a challenge found out, under both public names."""
DeletionAnswer = wrap_data("DeletionAnswer", "Deletion", deleted=Flag(required=True))


def list_(call: Call, world: World) -> dict[str, Any]:
    """List the webhooks of the caller's app."""
    entries = world.store.page("webhooks", {"_app_id": get_app(call)["id"]})
    found = [show_webhook(entry.record) for entry in entries]
    return {"data": found, "meta": {"result_count": len(found)}}


def challenge_new(call: Call, world: World, settings: Settings) -> Challenge:
    """Decide whether an address may be registered, and how it is challenged."""
    app, url = get_app(call), call.params["url"]
    require_room(world, app, url, settings.webhook_limit)
    return Challenge(world.ids.snowflake(), url, app["consumer_secret"])


def make_create(settings: Settings) -> Handler:
    """Return what registers an address that passed its challenge, under these settings."""

    def create(call: Call, world: World) -> dict[str, Any]:
        app, url = get_app(call), call.params["url"]
        challenge = _require_passed(call, "url", url)
        require_room(world, app, url, settings.webhook_limit)  # again: others came meanwhile
        record = show_webhook(add_webhook(world, challenge.webhook_id, app, url, call.names))
        return {"data": record} if settings.webhook_envelope == "data" else record

    return create


def challenge_known(call: Call, world: World, _settings: Settings) -> Challenge:
    """Decide which address is challenged again."""
    webhook = find_own_webhook(call, world)
    return Challenge(webhook["id"], webhook["url"], get_app(call)["consumer_secret"])


def validate(call: Call, world: World) -> dict[str, Any]:
    """Report that a webhook passed its challenge; the challenge itself has made it valid."""
    webhook = find_own_webhook(call, world)
    _require_passed(call, "webhook_id", webhook["id"])
    return {"data": {"attempted": True, "valid": True}}


def delete(call: Call, world: World) -> dict[str, Any]:
    """Delete a webhook, its events and its replay jobs."""
    delete_webhook(world, find_own_webhook(call, world)["id"])
    return {"data": {"deleted": True}}


def _require_passed(call: Call, parameter: str, value: str) -> Challenge:
    """Return the challenge that was made for this call.

    Raises:
        ProblemFailure: It was not passed (CrcValidationFailed).
    """
    challenge = call.challenge
    assert challenge is not None
    if challenge.fault is not None:
        text = f"URL returned bad response during CRC with error: {challenge.fault}"
        raise make_refusal("CrcValidationFailed", text, parameter, value)
    return challenge


def replay(call: Call, world: World) -> dict[str, str]:
    """Create a job that delivers a webhook's events of the window again."""
    job = create_job(call, world, **call.params)
    return {"job_id": job["id"], "created_at": job["created_at"]}


_declare = partial(
    declare_named,
    spec="Versioning: 2025-05-20",
    since=find_release("account-activity").effective,
    auth=APP_OR_USER,
    limit=450,
    path_form=WebhookPath,
)
OPERATIONS = (
    _declare(
        "webhooks.list",
        "GET /2/webhooks",
        list_,
        "List the webhooks of an app",
        params=WebhookFields,
        returns=Webhooks,
        auth=BEARER,
        assumptions=(WEBHOOK_SHAPES,),
    ),
    _declare(
        "webhooks.create",
        "POST /2/webhooks",
        make_create(Settings()),
        "Register a webhook",
        configure=make_create,
        params=NewWebhook,
        rules=find_address_faults,
        challenge=challenge_new,
        returns=Flat(Webhook, recorded_in_data=True),
        assumptions=(
            WEBHOOK_SHAPES,
            ALLOWED_ADDRESS,
            FIRST_CHALLENGE,
            WEBHOOK_VALIDITY,
            WEBHOOK_CAP,
        ),
        may_assume=(NAMED_FAILURES,),
        example=Example(json={"url": "http://127.0.0.1:8099/webhooks/new"}, is_refused=True),
    ),
    _declare(
        "webhooks.validate",
        "PUT /2/webhooks/:webhook_id",
        validate,
        "Challenge a webhook again",
        challenge=challenge_known,
        returns=WebhookValidationAnswer,
        assumptions=(WEBHOOK_SHAPES, FIRST_CHALLENGE, WEBHOOK_VALIDITY),
        may_assume=(NAMED_FAILURES,),
        example=Example(is_refused=True),
    ),
    _declare(
        "webhooks.delete",
        "DELETE /2/webhooks/:webhook_id",
        delete,
        "Delete a webhook",
        returns=DeletionAnswer,
        assumptions=(WEBHOOK_SHAPES, DELETED_WEBHOOK),
        may_assume=(NAMED_FAILURES,),
    ),
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
        example=Example(
            json={"webhook_id": "1146654567674912769", "from_date": MINUTE, "to_date": MINUTE}
        ),
    ),
)
