"""Events that webhooks receive, and the results of their deliveries."""

from __future__ import annotations

from typing import Any

from marshmallow import fields

from mock_platform.api.v2.activity.activities import ActivityRecord
from mock_platform.api.v2.release_history import describe_event_names
from mock_platform.api.v2.webhooks.event_log import EventRecord
from mock_platform.control.refusals import ControlRefusal, refuse_values
from mock_platform.control.route import ControlRequest, Route, object_of
from mock_platform.core.description.schemas import Converter
from mock_platform.core.errors import BadEvent, did_you_mean
from mock_platform.core.fields import Anything, Choice, Flag, Integer, ListOf, Nested, Text
from mock_platform.core.schema import Schema
from mock_platform.delivery.events import GIVEN, HAPPENED, add_event, emit
from mock_platform.delivery.missed import explain_missed
from mock_platform.delivery.sender import Invalid, Stale
from mock_platform.platform import Platform


class PostedEvent(Schema):
    """The activity with its outlets; with `webhook_id` the fields of the event in the log.

    `why_not` says why nothing, or not everything, is delivered.
    """

    activity = Nested(ActivityRecord)
    outlets = ListOf(fields.Dict())
    id = Text()
    delivering = Flag()
    why_not = Anything(required=True, allow_none=True)
    warnings = ListOf(Text(), required=True)


class QueryOfDeliveries(Schema):
    """A query for attempts; an attempt must match all values."""

    job_id = Text()
    webhook_id = Text()
    event_id = Text()
    stream_id = Text()
    kind = Choice(("webhook", "stream"))
    limit = Integer(
        low=0, metadata={"description": "maximum number of entries; the newest ones are kept"}
    )
    wait = Integer(
        low=0,
        high=60,
        metadata={
            "description": "answer when everything that is due was delivered, or after this time"
        },
    )


class DeliveriesAnswer(Schema):
    """Attempted deliveries and the lines of streams, oldest first."""

    deliveries = ListOf(fields.Dict(), required=True)
    idle = Flag(metadata={"description": "with `wait`: whether no delivery is running any more"})


class ValidationAnswer(Schema):
    """The result of a challenge; `error` says what was wrong with the answer."""

    id = Text(required=True)
    url = Text(required=True)
    valid = Flag(required=True)
    error = Text(required=True, allow_none=True)


def validate(request: ControlRequest) -> dict[str, Any]:
    """Challenge a webhook now; a correct answer makes it valid, a wrong one invalid.

    Without an answer it stays as it is, and `error` says why there was none.
    """
    world, key = request.world, request.args["key"]
    try:
        error = request.platform.deliverer.validate(world, key)
    except Invalid as fault:
        with world.lock:
            known = [entry.key for entry in world.store.page("webhooks", limit=1000)]
        shown = ", ".join(known[:10]) or "none"
        text = f"The webhook cannot be challenged: {fault}.{did_you_mean(key, known)}"
        raise ControlRefusal(404, f"{text} Webhooks: {shown}.") from fault
    except Stale as fault:
        text = (
            "The world was reset or removed during the challenge, or the server is "
            "stopping; send the request again."
        )
        raise ControlRefusal(409, text) from fault
    with world.lock:
        webhook = world.store.get("webhooks", key)
    if webhook is None:
        raise ControlRefusal(404, f"Webhook {key} was removed during the challenge.")
    return {"id": key, "url": webhook["url"], "valid": webhook["valid"], "error": error}


def event_form(_platform: Platform, converter: Converter) -> dict[str, Any]:
    """Return the description of an event to add: the fields of its record that may be sent."""
    described = converter.inline(EventRecord(only=sorted(GIVEN)))
    described["required"] = ["event_type"]
    happened = converter.inline(ActivityRecord(only=sorted(HAPPENED)))["properties"]
    described["properties"] |= {
        name: happened[name] for name in ("user_id", "direction", "includes")
    }
    described["properties"]["event_type"] |= describe_event_names()
    described["properties"]["created_at"] = {
        "type": "string",
        "description": "a moment, or a time relative to now, such as now-2h; default: now",
    }
    return described


def post_event(request: ControlRequest) -> dict[str, Any]:
    """Let something happen to a user, or with `webhook_id` add an event to that webhook's log."""
    given = object_of(request.body, "An event")
    try:
        if "webhook_id" not in given:
            return emit(request.world, given)
        added = add_event(request.world, given)
    except BadEvent as fault:
        raise refuse_values(422, fault.faults, "The event was not added") from fault
    return {
        **added.record,
        "delivering": added.delivering,
        "why_not": added.why_not,
        "warnings": list(added.warnings),
    }


def list_deliveries(request: ControlRequest) -> dict[str, Any]:
    """Every attempt to deliver an event, and every line of a stream, that is still kept."""
    wanted = dict(request.query)
    limit, wait = wanted.pop("limit", None), wanted.pop("wait", None)
    idle = {} if wait is None else {"idle": request.platform.deliverer.wait_until_idle(wait)}
    world = request.world
    with world.lock:
        deliveries = list(world.deliveries)
    found = [
        delivery
        for delivery in deliveries
        if all(delivery.get(name) == value for name, value in wanted.items())
    ]
    return {"deliveries": found if limit is None else found[max(0, len(found) - limit) :], **idle}


class QueryOfMissed(Schema):
    """The address of a webhook."""

    url = Text(required=True, metadata={"description": "the address, as it was registered"})


class MissedAnswer(Schema):
    """Why deliveries did not come, a sentence for each reason."""

    why_not = ListOf(Text(), required=True)


def explain_deliveries(request: ControlRequest) -> dict[str, Any]:
    """Why no deliveries came to an address: what happened, and why it was not sent there."""
    held = request.platform.deliverer.list_held(request.world)
    return {"why_not": explain_missed(request.world, request.query["url"], held)}


ROUTES = (
    Route(
        "POST",
        "/events",
        post_event,
        body=None,
        body_form=event_form,
        returns=PostedEvent,
        status=201,
    ),
    Route("GET", "/deliveries", list_deliveries, query=QueryOfDeliveries, returns=DeliveriesAnswer),
    Route(
        "GET",
        "/deliveries/why_not",
        explain_deliveries,
        query=QueryOfMissed,
        returns=MissedAnswer,
    ),
    Route("POST", "/webhooks/<key>/validate", validate, returns=ValidationAnswer),
)
