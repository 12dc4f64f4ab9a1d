"""`set_state: NAME` — the scenario is in another state from the next request on."""

from __future__ import annotations

from msgspec import Struct

from mock_platform.core.documents.forms import WordForm, make_keyed
from mock_platform.scenario.effects.effect import EffectKind, Staging


class SetStateEffect(Struct, frozen=True):
    """Moves the scenario to another state."""

    state: str

    def change(self, staging: Staging) -> None:
        """Set the state for the next requests."""
        staging.set_state(self.state)


FORM = make_keyed(
    "set_state",
    WordForm(least=1, most=100),
    "The state that `when: {state: …}` sees from the next request on.",
)
KIND = EffectKind("set_state", lambda value: SetStateEffect(value["set_state"]), form=FORM)
