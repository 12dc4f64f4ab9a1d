"""What the tests of planned posts share: a stopped clock, and posts that are scheduled by it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from mock_platform.world.clock import wire_seconds
from tests.api.ads.support import BASE
from tests.support import Sandbox, body_of

DRAFTS, SCHEDULED = f"{BASE}/draft_posts", f"{BASE}/scheduled_posts"
OWNER, ADVERTISER = "2244994945", "3805104374"
NOW = datetime(2026, 11, 22, 12, 0, tzinfo=UTC)
DONE, FAILED = "1991600000000000201", "1991600000000000202"
WAITING = "1991600000000000203"


def ask(box: Sandbox, method: str, path: str, **query: str) -> dict[str, Any]:
    """The body of a successful call."""
    found: dict[str, Any] = body_of(box.ask(method, path, **query))
    return found


def schedule(box: Sandbox, minutes: int = 60, **more: str) -> dict[str, Any]:
    """A post scheduled so many minutes from now."""
    moment = wire_seconds(box.world.clock.now() + timedelta(minutes=minutes))
    sent = {"as_user_id": OWNER, "scheduled_at": moment, "text": "Soon"} | more
    data: dict[str, Any] = ask(box, "POST", SCHEDULED, **sent)["data"]
    return data
