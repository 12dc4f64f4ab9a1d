"""`delay: DURATION | {seconds | between | slow_body}` — the answer is delayed.

A duration is a number of seconds, or has a unit: `500ms`, `2s`, `1m`.

The wait happens where the answer is sent, after the world's lock is released.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from mock_platform.core.call import Reply, Sending
from mock_platform.core.documents.forms import ListForm, TypedForm, make_keyed, make_object
from mock_platform.scenario.effects.effect import DELAY, DELAY_WORDS, EffectKind, Staging
from mock_platform.world.clock import read_seconds


class DelayEffect(Struct, frozen=True):
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
        before, slow_body = reply.sending or Sending(), self.slow_body
        if slow_body and reply.stream is not None:
            staging.call.warn("the scenario's slow_body had no body to act on: a stream has lines")
            slow_body = 0.0
        sending = replace(
            before, delay=before.delay + seconds, slow_body=before.slow_body + slow_body
        )
        return replace(reply, sending=sending)


def _make(value: Mapping[str, Any]) -> DelayEffect:
    given = value["delay"]
    if not isinstance(given, dict):
        seconds = read_seconds(given)
        return DelayEffect(seconds, seconds)
    if "between" in given:
        least, most = sorted(map(read_seconds, given["between"]))
    else:
        least = most = read_seconds(given.get("seconds", 0.0))
    return DelayEffect(least, most, read_seconds(given.get("slow_body", 0.0)))


KIND = EffectKind(
    "delay",
    _make,
    form=make_keyed(
        "delay",
        TypedForm(
            text=DELAY,
            number=DELAY,
            object=make_object(
                {
                    "seconds": (DELAY, "How long the answer waits.", "0"),
                    "between": (
                        ListForm(DELAY, least=2, most=2),
                        "Two durations; the seed of the world draws one between them.",
                    ),
                    "slow_body": (DELAY, "How long the body takes to arrive.", "0"),
                },
                least=1,
                excluding=("seconds", "between"),
            ),
            what=f"{DELAY_WORDS}, or an object with seconds, between, slow_body",
        ),
        "Real seconds before the answer, or over which its body is spread.",
    ),
)
