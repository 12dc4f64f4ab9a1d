"""Reads the deliveries that an archive shows: requests to receivers, with an event as body."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from mock_platform.api.served import ORIGINAL_NAMES
from mock_platform.api.v2.activity.account_activity_delivery import is_account_activity
from mock_platform.verification.har import HarExchange
from mock_platform.verification.importing.replaying import read_json
from mock_platform.world.clock import wire_millis
from mock_platform.world.store.interface import Record

_TYPES = {
    "post_create_events": "post.create",
    "post_delete_events": "post.delete",
    "favorite_events": "like.create",
    "follow_events": "follow",
    "block_events": "block",
    "mute_events": "mute",
    "direct_message_events": "dm.received",
    "direct_message_mark_read_events": "dm.read",
    "direct_message_indicate_typing_events": "dm.indicate_typing",
}
"""The type of the events of each list; of a family, the events name their kind."""


def is_delivery(exchange: HarExchange) -> bool:
    """Whether a request is the delivery of an event to a receiver."""
    if exchange.request.method != "POST":
        return False
    body = read_json(exchange.request.body)
    if not isinstance(body, dict):
        return False
    if "replay_job_status" in body or is_account_activity(body):
        return True
    data = body.get("data")
    return isinstance(data, dict) and {"event_type", "payload"} <= data.keys()


def read_neutral_event(body: Mapping[str, Any]) -> Any:
    """Returns the body of a delivery with neutral names, whichever it has."""
    product = "account_activity" if is_account_activity(body) else None
    return ORIGINAL_NAMES.read_event(body, product)


def read_event(exchange: HarExchange, webhook_id: str, number: int) -> Record | str:
    """Returns the event of a delivery with neutral names, or why it has none.

    An event without an id gets one, from the `number` of the exchange.
    """
    sent: dict[str, Any] = read_json(exchange.request.body)
    if "replay_job_status" in sent:
        return "the end of a replay job is no event; replay jobs of the folder announce their own"
    body = read_neutral_event(sent)
    event: Record = {
        "id": f"{1_990_000_000_000_000_000 + number}",
        "webhook_id": webhook_id,
        "created_at": wire_millis(exchange.started or datetime(2026, 1, 1, tzinfo=UTC)),
        "_as": "recorded",
    }
    if is_account_activity(body):
        payload = {name: value for name, value in body.items() if name != "for_user_id"}
        found = _find_account_event(payload, body.get("for_user_id"))
        if found is None:
            return "its body has no list of events that is known"
        event_type, user_id = found
        event |= {"event_type": event_type, "payload": payload, "_product": "account_activity"}
        return event | ({} if user_id is None else {"_user_id": user_id})
    data = body["data"]
    wanted = data.get("filter") if isinstance(data.get("filter"), dict) else {}
    event |= {"event_type": data["event_type"], "payload": data["payload"], "_filter": wanted}
    if isinstance(data.get("event_uuid"), str):
        event["_event_uuid"] = data["event_uuid"]
    if isinstance(data.get("tag"), str):
        event["_tag"] = data["tag"]
    if isinstance(data.get("includes"), dict):
        event["_includes"] = data["includes"]
    return event


def _find_account_event(payload: Record, user_id: Any) -> tuple[str, str | None] | None:
    """Returns type and user of what account activity delivered; `None` if it is not known."""
    user = user_id if isinstance(user_id, str) else None
    revoked = payload.get("user_event")
    if isinstance(revoked, dict) and isinstance(revoked.get("revoke"), dict):
        source = revoked["revoke"].get("source")
        of = source.get("user_id") if isinstance(source, dict) else None
        return "oauth.revoke", of if isinstance(of, str) else None
    for key, event_type in _TYPES.items():
        listed = payload.get(key)
        if not isinstance(listed, list) or not listed or not isinstance(listed[0], dict):
            continue
        return _name_event(key, event_type, payload, user), user
    return None


def _name_event(key: str, event_type: str, payload: Record, user: str | None) -> str:
    """Returns the type of the first event of a list, where the list may have several."""
    first = payload[key][0]
    if key == "post_create_events" and "user_has_blocked" in payload:
        return "post.mention.create"
    if key == "direct_message_events":
        message = first.get("message_create")
        sender = message.get("sender_id") if isinstance(message, dict) else None
        return "dm.sent" if sender == user else "dm.received"
    return event_type if "." in event_type else f"{event_type}.{first.get('type', event_type)}"
