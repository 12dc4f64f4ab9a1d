"""`delay: SECONDS | {seconds | between | slow_body}` — the answer is delayed.

The wait happens where the answer is sent, after the world's lock is released.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from mock_platform.core.call import Reply, Sending
from mock_platform.scenario.effects.effect import EffectKind, Staging
from mock_platform.scenario.forms import FieldsForm, ListForm, NumberForm, TypedForm

MAX_DELAY_SECONDS = 300.0
_SECONDS = NumberForm(0, MAX_DELAY_SECONDS)


@dataclass(frozen=True, slots=True)
class DelayEffect:
    """Waits between `least` and `most` seconds, then spreads the body over `slow_body` ones."""

    least: float = 0.0
    most: float = 0.0
    slow_body: float = 0.0

    def treat(self, staging: Staging, reply: Reply) -> Reply:
        """Return the reply with this delay added; several delays add up."""
        seconds = self.least
        if self.most > self.least:
            drawn = staging.world.ids.fraction("delay", *staging.rule, staging.number)
            seconds += drawn * (self.most - self.least)
        before = reply.sending or Sending()
        sending = replace(
            before, delay=before.delay + seconds, slow_body=before.slow_body + self.slow_body
        )
        return replace(reply, sending=sending)


def _make(value: Mapping[str, Any]) -> DelayEffect:
    given = value["delay"]
    if not isinstance(given, dict):
        return DelayEffect(given, given)
    if "between" in given:
        least, most = sorted(given["between"])
    else:
        least = most = given.get("seconds", 0.0)
    return DelayEffect(least, most, given.get("slow_body", 0.0))


KIND = EffectKind(
    "delay",
    _make,
    form=FieldsForm(
        {
            "delay": TypedForm(
                number=_SECONDS,
                object=FieldsForm(
                    {
                        "seconds": _SECONDS,
                        "between": ListForm(_SECONDS, least=2, most=2),
                        "slow_body": _SECONDS,
                    },
                    least=1,
                    excluding=("seconds", "between"),
                ),
                what="seconds, or an object with seconds, between, slow_body",
            )
        },
        required=("delay",),
        description="Real seconds before the answer, or over which its body is spread.",
    ),
)
