"""What `emit` sends: the body of `POST /_mock/events`."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from mock_platform.client.moments import format_moment
from mock_platform.world.clock import Instant


def describe_event(
    event_type: str,
    user: str | None,
    payload: Mapping[str, Any] | None,
    includes: Mapping[str, Any] | None,
    direction: str | None,
    created_at: Instant | None,
) -> dict[str, Any]:
    """Return an event in the form of the control plane; what was not given is left out."""
    moment = format_moment(created_at) if isinstance(created_at, datetime) else created_at
    given = {
        "event_type": event_type,
        "user_id": user,
        "payload": None if payload is None else dict(payload),
        "includes": None if includes is None else dict(includes),
        "direction": direction,
        "created_at": moment,
    }
    return {name: value for name, value in given.items() if value is not None}
