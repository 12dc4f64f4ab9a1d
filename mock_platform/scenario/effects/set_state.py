"""`set_state: NAME` — the scenario is in another state from the next request on."""

from __future__ import annotations

from dataclasses import dataclass

from mock_platform.scenario.effects.effect import Kind, Staging
from mock_platform.scenario.shapes import Fields, Word


@dataclass(frozen=True, slots=True)
class SetStateEffect:
    """Moves the scenario to another state."""

    state: str

    def change(self, staging: Staging) -> None:
        """Set the state for the next requests."""
        staging.set_state(self.state)


FORM = Fields(
    {"set_state": Word(least=1, most=100)},
    required=("set_state",),
    description="The state that `when: {state: …}` sees from the next request on.",
)
KIND = Kind(
    "set_state",
    lambda value: SetStateEffect(value["set_state"]),
    form=FORM,
)
