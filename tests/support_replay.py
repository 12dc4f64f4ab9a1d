"""A sandbox whose well-known webhook leads to a receiver, and replay requests against it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, Self

from werkzeug.test import TestResponse

from mock_platform.api.v2.webhooks.event_log import spell_minute
from mock_platform.platform import Platform
from mock_platform.settings import DeliverySettings, Settings
from mock_platform.world.store.interface import Record
from tests.support import BEARER, Sandbox
from tests.waits import PATIENCE

NOW = datetime(2026, 11, 20, 12, 0, 30, tzinfo=UTC)
WEBHOOK = "1146654567674912769"
"""The well-known webhook; its shipped events lie from 26 hours to 30 minutes back."""
QUICK = DeliverySettings(timeout=PATIENCE, attempts=3, backoff=0.001)
"""Deliveries as by default, but without waiting between attempts."""


def window_before(now: datetime, **distance: float) -> dict[str, str]:
    """A replay request of the well-known webhook for the time up to a moment."""
    begin = spell_minute(now - timedelta(**distance))
    return {"webhook_id": WEBHOOK, "from_date": begin, "to_date": spell_minute(now)}


class Desk(Sandbox):
    """A sandbox with a frozen clock; `url` is where the well-known webhook leads.

    `platform` is used instead of a new one of the settings, if passed.
    """

    def __init__(
        self,
        url: str | None = None,
        *,
        freeze: datetime | None = NOW,
        platform: Platform | None = None,
        **settings: Any,
    ) -> None:
        settings.setdefault("delivery", QUICK)
        super().__init__(Settings(freeze=freeze, **settings), platform)
        if url is not None:
            self.lead_to(url)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.platform.close()

    def lead_to(self, url: str, webhook: str = WEBHOOK, **more: Any) -> None:
        """Point a webhook somewhere."""
        self.change("webhooks", webhook, url=url, **more)

    def pace(self, progression: str, **more: Any) -> None:
        """Set how replay jobs move."""
        with self.world.work():
            self.world.transitions.set_pace("replay_job", progression=progression, **more)

    def ago(self, **distance: float) -> str:
        """A minute so long before the world's present one."""
        return spell_minute(self.world.clock.now() - timedelta(**distance))

    def body(self, **changes: Any) -> dict[str, Any]:
        """A replay request for the last 24 hours; what is None is left out."""
        whole = {
            "webhook_id": WEBHOOK,
            "from_date": self.ago(hours=24),
            "to_date": self.ago(),
        } | changes
        return {name: value for name, value in whole.items() if value is not None}

    def post(
        self, *, prefix: str = "", bearer: str | None = BEARER, **changes: Any
    ) -> TestResponse:
        """Ask for a replay."""
        headers = {} if bearer is None else {"Authorization": f"Bearer {bearer}"}
        path = f"{prefix}/2/webhooks/replay"
        return self.client.post(path, json=self.body(**changes), headers=headers)

    def create(self, **changes: Any) -> str:
        """Ask for a replay that must be accepted; the job's id."""
        answer = self.post(**changes)
        assert answer.status_code == 200, answer.get_data(as_text=True)
        job_id: str = answer.get_json()["job_id"]
        return job_id

    def job(self, job_id: str) -> Record:
        """A job as it is stored."""
        return self.record("replay_jobs", job_id)

    def wait(self, seconds: float = PATIENCE) -> None:
        """Wait until every delivery asked for so far is made."""
        assert self.platform.deliverer.wait_until_idle(seconds)

    def deliveries(self) -> list[tuple[str, int, int | None, str | None]]:
        """What was attempted: event (or `challenge`, `end`), attempt, status, error."""
        return [
            (_what(entry), entry["attempt"], entry["status"], entry["error"])
            for entry in list(self.world.deliveries)
        ]

    def event_ids(self, webhook: str = WEBHOOK) -> list[str]:
        """The webhook's events of the last 24 hours, oldest first."""
        from_date = self.world.clock.now().replace(second=0) - timedelta(hours=24)
        found = [
            entry.record
            for entry in self.world.store.page("events", {"webhook_id": webhook})
            if datetime.fromisoformat(entry.record["created_at"]) >= from_date
        ]
        return [event["id"] for event in sorted(found, key=lambda event: event["created_at"])]

    def put_event(self, key: str, created_at: str, **more: Any) -> None:
        """Store an event of the well-known webhook."""
        record = {
            "id": key,
            "webhook_id": WEBHOOK,
            "event_type": "post.create",
            "payload": {},
            "created_at": created_at,
            "_attempted": True,
        } | more
        self.put("events", key, record)

    def remove_events(self) -> None:
        """Begin with an empty log."""
        self.clear("events")

    def fate(self, job_id: str) -> tuple[str, int, int, str | None]:
        """State, events delivered and lost, and why, of a job."""
        job = self.job(job_id)
        return job["state"], job["_delivered"], job["_failed"], job["_reason"]


def _what(entry: dict[str, Any]) -> str:
    if entry["event_id"] is not None:
        return str(entry["event_id"])
    return "challenge" if entry["body"] is None else "end"
