"""Rules `on: deliveries` and `on: lines`: faults of what webhooks and streams get.

A call of the first is one event on its way to one webhook, whether a replay job delivers it or it
has just happened; all attempts at it are one call. Challenges and announcements of a job's end do
not count. A call of the second is one line of one stream.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from mock_platform.core.jsonio import dumps
from mock_platform.scenario.effects import set_state
from mock_platform.scenario.forms import (
    AnyForm,
    EntriesForm,
    FieldsForm,
    FixedForm,
    Form,
    JsonSchema,
    ListForm,
    NumberForm,
    Path,
    Report,
    StructureForm,
    WholeForm,
    WordForm,
    quote,
)
from mock_platform.scenario.match import ABOUT_WHEN, CLOCK, CONDITION, STATE
from mock_platform.scenario.value_forms import DELAY, DELAY_WORDS, InstantForm, KeyedForm, TypedForm
from mock_platform.world.clock import read_seconds
from mock_platform.world.kept import DeliveryFault

DELIVERIES = "deliveries"
"""The value of `on` in such rules, in the place of an operation."""
LINES = "lines"
"""The same for lines of streams."""
WITHOUT_REQUEST = (DELIVERIES, LINES)

ABOUT_RULES = {
    "when": "Conditions, all of which must hold.",
    "call": "On which matching calls the rule acts: a number, or an object.",
    "times": "After so many actions the rule ends.",
    "until": "At this moment of the world's clock the rule ends.",
    "probability": "The share of calls on which the rule acts, from 0 to 1. The seed of the world "
    "and the number of the call decide, so a repeated run is the same.",
    "then": "The effect, or a list of effects that act together.",
    "expect": "`fired`: a run or test fails if the rule never acted.",
}
"""Sentences on the fields that all rules have."""
DEFAULTS_OF_RULES = {
    "when": "no condition",
    "call": "every matching call",
    "times": "no end",
    "until": "no end",
    "probability": "1",
    "expect": "nothing is expected",
}
_OUTCOMES = ("drop", "duplicate", "reorder", "fail")
_DELAY = TypedForm(
    text=DELAY,
    number=DELAY,
    object=FieldsForm(
        {"seconds": DELAY}, required=("seconds",), about={"seconds": "How long it waits."}
    ),
    what=f"{DELAY_WORDS}, or an object with seconds",
)
_ATTEMPTS = WholeForm(1, 100)
_ABOUT_ATTEMPTS = {"attempts": "How many attempts fail, from the first one on."}
_ALL_ATTEMPTS = {"attempts": "all"}
_ABOUT_EVENTS = {
    "id": "The id of the event.",
    "event_type": "Its type, such as `post.create`.",
    "webhook_id": "The webhook that gets it.",
    "endpoint": "The stream that sends it: `activity_stream` or `filtered_stream`.",
    "app_id": "The app that opened the stream.",
}


class OnlyTrue:
    """Accepts only true: an effect that is not to happen is left out of a rule."""

    def schema(self) -> JsonSchema:
        """Return a constant as JSON Schema."""
        return {"const": True}

    def check(self, value: Any, at: Path, report: Report) -> None:
        """Report every value other than true."""
        if value is not True:
            report(at, f"expected true, got {quote(value)}; leave it out where it is not to happen")


def _make_flag(keyword: str, description: str) -> FieldsForm:
    return FieldsForm({keyword: OnlyTrue()}, required=(keyword,), description=description)


DELIVERY_EFFECT = KeyedForm(
    forms={
        "drop": _make_flag("drop", "The delivery is lost: nothing is sent or tried again."),
        "duplicate": _make_flag("duplicate", "What was accepted is delivered once more."),
        "reorder": _make_flag("reorder", "It is delivered after the webhook's next one."),
        "delay": FieldsForm(
            {"delay": _DELAY},
            required=("delay",),
            description="Real seconds before the delivery.",
        ),
        "fail": FieldsForm(
            {
                "fail": KeyedForm(
                    forms={
                        "status": FieldsForm(
                            {"status": WholeForm(201, 599), "attempts": _ATTEMPTS},
                            required=("status",),
                            about={"status": "The receiver seems to answer with this status."}
                            | _ABOUT_ATTEMPTS,
                            defaults=_ALL_ATTEMPTS,
                        ),
                        "connection": FieldsForm(
                            {"connection": WordForm(("refused", "timeout")), "attempts": _ATTEMPTS},
                            required=("connection",),
                            about={"connection": "The receiver seems to be down, or silent."}
                            | _ABOUT_ATTEMPTS,
                            defaults=_ALL_ATTEMPTS,
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
LINE_EFFECT = KeyedForm(
    forms={
        "drop": _make_flag("drop", "The line is lost."),
        "duplicate": _make_flag("duplicate", "The line is sent twice."),
        "reorder": _make_flag("reorder", "The line is sent after the stream's next one."),
        "delay": FieldsForm(
            {"delay": _DELAY},
            required=("delay",),
            description="Real seconds before the line; what comes after it waits as well.",
        ),
        "split": _make_flag("split", "The line is sent in two pieces, cut inside a character."),
        "insert": FieldsForm(
            {
                "insert": TypedForm(
                    text=WordForm(),
                    object=EntriesForm(AnyForm(), least=0),
                    what="the text or the JSON object of a line",
                )
            },
            required=("insert",),
            description="A line of another kind is sent before it.",
        ),
        "set_state": set_state.FORM,
    },
    what="an effect on a line",
)


def make_rule_form(count: Form, call: Form) -> FieldsForm:
    """Return the form of rules on deliveries; `count` and `call` are forms of all rules."""
    return _make_form(DELIVERIES, ("id", "event_type", "webhook_id"), DELIVERY_EFFECT, count, call)


def make_line_rule_form(count: Form, call: Form) -> FieldsForm:
    """Return the form of rules on lines; `count` and `call` are forms of all rules."""
    named = ("id", "event_type", "endpoint", "app_id")
    return _make_form(LINES, named, LINE_EFFECT, count, call)


def _make_form(on: str, event: Sequence[str], effect: Form, count: Form, call: Form) -> FieldsForm:
    what = "a delivery" if on == DELIVERIES else "a line"
    return FieldsForm(
        {
            "on": FixedForm((on,)),
            "when": StructureForm(
                FieldsForm(
                    {
                        "event": FieldsForm(
                            dict.fromkeys(event, CONDITION),
                            least=1,
                            about={name: _ABOUT_EVENTS[name] for name in event},
                        ),
                        "state": STATE,
                        "clock": CLOCK,
                    },
                    description="Conditions on the event, all of which must hold.",
                    about={"event": "The event that is sent.", **ABOUT_WHEN},
                )
            ),
            "call": call,
            "times": count,
            "until": InstantForm(),
            "probability": NumberForm(0, 1),
            "then": StructureForm(
                TypedForm(
                    object=effect,
                    items=ListForm(StructureForm(effect), most=20),
                    what=f"an effect on {what} or a list of them",
                )
            ),
            "expect": FixedForm(("fired",)),
        },
        required=("on", "then"),
        description=f"When a rule acts on {on}, and what happens to them.",
        about={"on": f"`{on}`: the rule acts on {on}, not on requests.", **ABOUT_RULES},
        defaults=DEFAULTS_OF_RULES,
    )


def report_conflicts(
    effects: Sequence[Mapping[str, Any]], places: Sequence[Path], report: Report
) -> None:
    """Report effects that cannot act on one delivery together; `places` says where they are."""
    first: str | None = None
    for effect, at in zip(effects, places, strict=True):
        fate = next((name for name in _OUTCOMES if name in effect), None)
        if fate is None:
            continue
        if first is not None:
            text = f"{fate} and {first} cannot act on one delivery; make two rules of them"
            report((*at, fate), text)
        first = fate


def make_fault(effects: Sequence[Mapping[str, Any]]) -> DeliveryFault:
    """Return the fault that these effects cause; the caller fills in the rule's name."""
    found = DeliveryFault(rule="")
    for effect in effects:
        if "delay" in effect:
            given = effect["delay"]
            seconds = read_seconds(given["seconds"] if isinstance(given, dict) else given)
            found = replace(found, delay=found.delay + seconds)
        elif "fail" in effect:
            given = effect["fail"]
            how = given["status"] if "status" in given else given["connection"]
            found = replace(found, fail=how, failures=given.get("attempts"))
        elif "insert" in effect:
            given = effect["insert"]
            text = given if isinstance(given, str) else dumps(given).decode()
            found = replace(found, insert=text)
        else:
            found = replace(
                found,
                split=found.split or "split" in effect,
                drop=found.drop or "drop" in effect,
                duplicate=found.duplicate or "duplicate" in effect,
                reorder=found.reorder or "reorder" in effect,
            )
    return found


def find_next_state(effects: Sequence[Mapping[str, Any]]) -> str | None:
    """Return the state that these effects move their scenario to, if any."""
    return next((effect["set_state"] for effect in effects if "set_state" in effect), None)
