"""Rules `on: deliveries`: what befalls the events that are delivered to webhooks.

A call is one event on its way to one webhook, whether a replay job delivers it or it has just
happened; all attempts at it are one call. Challenges and the announced ends of jobs are no calls.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from mock_platform.scenario.effects import set_state
from mock_platform.scenario.effects.delay import MOST_SECONDS
from mock_platform.scenario.match import CONDITION, STATE
from mock_platform.scenario.shapes import (
    Choose,
    Either,
    Fields,
    Fixed,
    JsonSchema,
    Many,
    Number,
    Own,
    Path,
    Report,
    Shape,
    Whole,
    Word,
    shown,
)
from mock_platform.world.mishaps import Mishap

DELIVERIES = "deliveries"
"""What such rules stand `on`, in the place of an operation."""

_FATES = ("drop", "duplicate", "reorder", "fail")
_SECONDS = Number(0, MOST_SECONDS)
_ATTEMPTS = Whole(1, 100)


class _True:
    """The value true alone: a fate that does not happen has no place in a rule."""

    def schema(self) -> JsonSchema:
        """A constant."""
        return {"const": True}

    def check(self, value: Any, at: Path, report: Report) -> None:
        """Must be true."""
        if value is not True:
            report(at, f"expected true, got {shown(value)}; leave it out where it is not to happen")


def _flagged(keyword: str, description: str) -> Fields:
    return Fields({keyword: _True()}, required=(keyword,), description=description)


_EFFECT = Choose(
    forms={
        "drop": _flagged("drop", "The delivery is lost: nothing is sent or tried again."),
        "duplicate": _flagged("duplicate", "What was taken is delivered once more."),
        "reorder": _flagged("reorder", "It is delivered after the webhook's next one."),
        "delay": Fields(
            {
                "delay": Either(
                    number=_SECONDS,
                    object=Fields({"seconds": _SECONDS}, required=("seconds",)),
                    what="seconds, or an object with seconds",
                )
            },
            required=("delay",),
            description="Real seconds before the delivery.",
        ),
        "fail": Fields(
            {
                "fail": Choose(
                    forms={
                        "status": Fields(
                            {"status": Whole(201, 599), "attempts": _ATTEMPTS},
                            required=("status",),
                        ),
                        "connection": Fields(
                            {"connection": Word(("refused", "timeout")), "attempts": _ATTEMPTS},
                            required=("connection",),
                        ),
                    },
                    what="how the receiver fails",
                )
            },
            required=("fail",),
            description="The receiver seems to fail, in all `attempts` or the first ones; nothing "
            "is sent then.",
        ),
        "set_state": set_state.FORM,
    },
    what="an effect on a delivery",
)


def rule_form(count: Shape, call: Shape) -> Fields:
    """The form of such rules, with the forms of counts and of `call` that all rules have."""
    return Fields(
        {
            "on": Fixed((DELIVERIES,)),
            "when": Own(
                Fields(
                    {
                        "event": Fields(
                            {"id": CONDITION, "event_type": CONDITION, "webhook_id": CONDITION},
                            least=1,
                        ),
                        "state": STATE,
                    },
                    description="Conditions on the event, all of which must hold.",
                )
            ),
            "call": call,
            "times": count,
            "probability": Number(0, 1),
            "then": Own(
                Either(
                    object=_EFFECT,
                    items=Many(Own(_EFFECT), most=20),
                    what="an effect on a delivery or a list of them",
                )
            ),
            "expect": Fixed(("fired",)),
        },
        required=("on", "then"),
        description="When a rule acts on webhook deliveries, and what befalls them.",
    )


def cross_check(
    effects: Sequence[Mapping[str, Any]], places: Sequence[Path], report: Report
) -> None:
    """Report fates of one delivery that exclude each other; `places` are those of the effects."""
    first: str | None = None
    for effect, at in zip(effects, places, strict=True):
        fate = next((name for name in _FATES if name in effect), None)
        if fate is None:
            continue
        if first is not None:
            text = f"{fate} and {first} cannot befall one delivery; make two rules of them"
            report((*at, fate), text)
        first = fate


def mishap(effects: Sequence[Mapping[str, Any]]) -> Mishap:
    """What befalls a delivery by these effects; the rule's name is still to be put in."""
    found = Mishap(rule="")
    for effect in effects:
        if "delay" in effect:
            given = effect["delay"]
            seconds = given["seconds"] if isinstance(given, dict) else given
            found = replace(found, delay=found.delay + seconds)
        elif "fail" in effect:
            given = effect["fail"]
            how = given["status"] if "status" in given else given["connection"]
            found = replace(found, fail=how, failures=given.get("attempts"))
        else:
            found = replace(
                found,
                drop=found.drop or "drop" in effect,
                duplicate=found.duplicate or "duplicate" in effect,
                reorder=found.reorder or "reorder" in effect,
            )
    return found


def next_state(effects: Sequence[Mapping[str, Any]]) -> str | None:
    """The state that these effects move their scenario to, if they do."""
    return next((effect["set_state"] for effect in effects if "set_state" in effect), None)
