"""Why an address gets no deliveries: what happened in a world, and why it was not sent there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import urlsplit

from mock_platform.api.served import OPERATIONS
from mock_platform.api.v2.activity.activities import Happenings
from mock_platform.delivery.sender import Dispatch
from mock_platform.world.journal import Query
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

_MOST_HAPPENINGS = 10
_MOST_ATTEMPTS = 5
_CHALLENGES = tuple(each.id for each in OPERATIONS if each.challenge is not None)


def explain_missed(world: World, url: str, held: Sequence[Dispatch]) -> list[str]:
    """Return why deliveries did not come to an address, a sentence for each reason.

    First what is wrong with its webhook, then what happened since the world began, the newest last,
    attempts that failed, and what scenarios hold back of the world's events (`held`).
    """
    with world.lock:
        webhooks = [entry.record for entry in world.store.page("webhooks", limit=1000)]
        here = [webhook for webhook in webhooks if webhook["url"] == url]
        found = [*_explain_webhooks(world, here, webhooks)]
        ids = {webhook["id"] for webhook in here}
        happened = world.find_attachment(Happenings).list_kept(world)[-_MOST_HAPPENINGS:]
        for each in happened:
            found += _explain_happening(each.activity, each.events, each.why_not, ids)
        failed = [
            delivery
            for delivery in world.deliveries
            if delivery.get("webhook_id") in ids and delivery["error"] is not None
        ]
    if not happened:
        found.append(
            f"Nothing happened to a user in the world {world.name!r} since it began; POST "
            "/_mock/events, emit() and requests that change something let it happen."
        )
    found += [_describe_attempt(each) for each in failed[-_MOST_ATTEMPTS:]]
    found += [_describe_held(each) for each in held if each.to.webhook_id in ids]
    return found


def _explain_webhooks(world: World, here: list[Record], known: list[Record]) -> Iterator[str]:
    """Yield what is wrong with the webhooks of an address, refused challenges included."""
    if not here:
        urls = [webhook["url"] for webhook in known]
        shown = ", ".join(urls[-3:]) or "none"
        yield f"No webhook has this address. Registered: {shown}."
    for webhook in here:
        if not webhook["valid"]:
            yield (
                f"Webhook {webhook['id']} is not valid, so nothing is sent to it: a challenge "
                f"failed. PUT /2/webhooks/{webhook['id']} challenges it again."
            )
    if not here or not all(webhook["valid"] for webhook in here):
        for name in _CHALLENGES:
            for entry in world.journal.find(Query(operation=name), 3):
                if entry.status >= 400:
                    asked = f"{entry.method} {urlsplit(entry.url).path}"
                    yield f"{asked} was answered with {entry.status}: {entry.why}"


def _explain_happening(
    activity: Record, events: list[Record], why_not: list[str], ids: set[str]
) -> Iterator[str]:
    """Yield why an activity did not go to these webhooks, or that it did."""
    whose = f" of user {activity['user_id']}" if activity["user_id"] else ""
    what = f"{activity['event_type']}{whose} at {activity['created_at']}"
    sent = [event for event in events if event["webhook_id"] in ids]
    if any(event["_attempted"] for event in sent):
        yield f"{what} went to it."
        return
    reasons = why_not or ["no subscription leads to it"]
    if events and not sent:
        others = ", ".join(sorted({event["webhook_id"] for event in events}))
        reasons = [f"it went to webhook {others}", *reasons]
    yield f"{what} did not go to it: {'; '.join(dict.fromkeys(reasons))}."


def _describe_attempt(delivery: dict[str, Any]) -> str:
    event_id, job_id = delivery["event_id"], delivery["job_id"]
    if event_id is not None:
        what = f"Attempt {delivery['attempt']} for event {event_id}"
    else:
        what = "A challenge" if delivery["body"] is None else f"The end of the job {job_id}"
    return f"{what} failed: {delivery['error']}."


def _describe_held(sent: Dispatch) -> str:
    rule = "" if sent.delivery_fault is None else sent.delivery_fault.rule
    until = "until the next event of the webhook is delivered"
    return f"Event {sent.event_id} is held back by scenario rule {rule} {until}."
