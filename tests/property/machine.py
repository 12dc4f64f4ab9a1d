"""What the models of families share: a world that starts again, requests of the well-known user."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from hypothesis import HealthCheck
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test
from werkzeug.test import TestResponse

from mock_platform.world.clock import wire_seconds
from tests.generated import examples
from tests.support import ACCOUNT, BEARER, Sandbox, sandbox

BASE = f"/12/accounts/{ACCOUNT}"
START = datetime(2026, 11, 20, 10, tzinfo=UTC)
INVALID, MISSING = "INVALID_PARAMETER", "MISSING_PARAMETER"
Record = dict[str, Any]


class Family(RuleBasedStateMachine):
    """A sandbox whose world starts again with each sequence; its clock is frozen between calls."""

    box: Sandbox

    def start(self) -> None:
        """The world as it is shipped, at a moment of its own."""
        self.world = self.box.world
        self.world.reset()
        self.world.clock.freeze(START)

    @property
    def now(self) -> str:
        """The world's time as it is served."""
        return wire_seconds(self.world.clock.now())

    def tick(self) -> None:
        """Time passes between what happens and what happens next."""
        self.world.clock.advance(1)

    def call(self, method: str, path: str, **more: Any) -> TestResponse:
        """One request of the well-known user."""
        return self.box.call(method, path, keys=BEARER, **more)


def run(machine: type[Family], *, sequences: int, steps: int) -> None:
    """Random sequences of operations, the same ones each time."""
    run_state_machine_as_test(
        type(machine.__name__, (machine,), {"box": sandbox(limits="off")}),
        settings=examples(
            sequences, stateful_step_count=steps, suppress_health_check=list(HealthCheck)
        ),
    )
