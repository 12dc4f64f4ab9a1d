"""Reads the deliveries that an archive shows: requests to receivers, with an event as body."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from mock_platform.har import HarExchange
from mock_platform.importing.replaying import read_json
from mock_platform.store.interface import Record
from mock_platform.world.clock import wire_millis


def is_delivery(exchange: HarExchange) -> bool:
    """Whether a request is the delivery of an event to a receiver."""
    if exchange.request.method != "POST":
        return False
    body = read_json(exchange.request.body)
    if not isinstance(body, dict):
        return False
    if "replay_job_status" in body or "for_user_id" in body:
        return True
    data = body.get("data")
    return isinstance(data, dict) and {"event_type", "payload"} <= data.keys()


def read_events(exchange: HarExchange, webhook_id: str, number: int) -> Iterator[Record | str]:
    """Yields the events of a delivery, or why it holds no event; events without id get one."""
    body: dict[str, Any] = read_json(exchange.request.body)
    if "replay_job_status" in body:
        yield "the end of a replay job is no event; replay jobs of the folder announce their own"
        return
    at = wire_millis(exchange.started or datetime(2026, 1, 1, tzinfo=UTC))
    key = f"{1_990_000_000_000_000_000 + number}"
    if "for_user_id" in body:
        payload = {name: value for name, value in body.items() if name != "for_user_id"}
        event_type = next((name for name in payload if name.endswith("_events")), None)
        if event_type is None:
            yield "its body has no list of events"
            return
        yield {
            "id": key, "webhook_id": webhook_id, "event_type": event_type, "created_at": at,
            "payload": payload, "_product": "account_activity", "_user_id": body["for_user_id"],
            "_as": "recorded",
        }  # fmt: skip
        return
    data = body["data"]
    wanted = data.get("filter") if isinstance(data.get("filter"), dict) else {}
    event = {
        "id": key, "webhook_id": webhook_id, "event_type": data["event_type"], "created_at": at,
        "payload": data["payload"], "_filter": wanted, "_as": "recorded",
    }  # fmt: skip
    if isinstance(data.get("event_uuid"), str):
        event["_event_uuid"] = data["event_uuid"]
    if isinstance(data.get("tag"), str):
        event["_tag"] = data["tag"]
    if isinstance(data.get("includes"), dict):
        event["_includes"] = data["includes"]
    yield event
