"""Challenges webhooks again when the last passed challenge is a day old (`webhooks.validity`)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from mock_platform.delivery.agenda import Wait
from mock_platform.rules.webhooks import find_next_challenge
from mock_platform.world.world import World


@dataclass(frozen=True, slots=True)
class Recheck:
    """The next challenge of one webhook; `start` makes it, on another thread."""

    world: World
    webhook_id: str
    start: Callable[[Recheck], None] = field(compare=False)

    def look(self) -> Wait:
        """Start the challenge if it is due. Whoever makes it watches for the next one."""
        with self.world.lock:
            webhook = self.world.store.get("webhooks", self.webhook_id)
            due = None if webhook is None or self.world.closed else find_next_challenge(webhook)
            if due is None:
                return Wait(None, over=True)
            if self.world.clock.now() < due:
                return Wait(self.world.clock.real_seconds_until(due))
        self.start(self)
        return Wait(None, over=True)
