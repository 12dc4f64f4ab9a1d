"""Rules `on: deliveries` and `on: lines`: faults of what webhooks and streams get.

A call of the first is one event on its way to one webhook, whether a replay job delivers it or it
has just happened; all attempts at it are one call. Challenges and announcements of a job's end do
not count. A call of the second is one line of one stream.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from mock_platform.core.documents.forms import (
    AnyForm,
    EntriesForm,
    FaultReport,
    FieldsForm,
    Form,
    JsonSchema,
    KeyedForm,
    TypedForm,
    WholeForm,
    WordForm,
    make_keyed,
    make_object,
)
from mock_platform.core.documents.source import Path, quote
from mock_platform.core.jsonio import dumps
from mock_platform.scenario.effects import set_state
from mock_platform.scenario.effects.effect import DELAY, DELAY_WORDS
from mock_platform.scenario.match import COMMON_CONDITIONS, CONDITION
from mock_platform.world.attached import DeliveryFault
from mock_platform.world.clock import read_seconds

DELIVERIES = "deliveries"
"""The value of `on` in such rules, in the place of an operation."""
LINES = "lines"
"""The same for lines of streams."""
WITHOUT_REQUEST = (DELIVERIES, LINES)

_OUTCOMES = ("drop", "duplicate", "reorder", "fail")
_DELAY = TypedForm(
    text=DELAY,
    number=DELAY,
    object=make_object({"seconds": (DELAY, "How long it waits.")}, required=("seconds",)),
    what=f"{DELAY_WORDS}, or an object with seconds",
)


class OnlyTrue:
    """Accepts only true: an effect that is not to happen is left out of a rule."""

    def schema(self) -> JsonSchema:
        """Return a constant as JSON Schema."""
        return {"const": True}

    def check(self, value: Any, at: Path, report: FaultReport) -> None:
        """Report every value other than true."""
        if value is not True:
            report(at, f"expected true, got {quote(value)}; leave it out where it is not to happen")


def _make_failure(key: str, form: Form, about: str) -> FieldsForm:
    attempts = "How many attempts fail, from the first one on."
    return make_object(
        {key: (form, about), "attempts": (WholeForm(1, 100), attempts, "all")}, required=(key,)
    )


_FAILURE = KeyedForm(
    forms={
        "status": _make_failure(
            "status", WholeForm(201, 599), "The receiver seems to answer with this status."
        ),
        "connection": _make_failure(
            "connection",
            WordForm(("refused", "timeout")),
            "The receiver seems to be down, or silent.",
        ),
    },
    what="how the receiver fails",
)
_INSERTED = TypedForm(
    text=WordForm(),
    object=EntriesForm(AnyForm(), least=0),
    what="the text or the JSON object of a line",
)


def _make_effects(what: str, described: Mapping[str, tuple[Form, str]]) -> KeyedForm:
    forms = {key: make_keyed(key, form, about) for key, (form, about) in described.items()}
    return KeyedForm({**forms, "set_state": set_state.FORM}, what=what)


DELIVERY_EFFECT = _make_effects(
    "an effect on a delivery",
    {
        "drop": (OnlyTrue(), "The delivery is lost: nothing is sent or tried again."),
        "duplicate": (OnlyTrue(), "What was accepted is delivered once more."),
        "reorder": (OnlyTrue(), "It is delivered after the webhook's next one."),
        "delay": (_DELAY, "Real seconds before the delivery."),
        "fail": (
            _FAILURE,
            "The receiver seems to fail, in all `attempts` or the first ones; nothing is sent "
            "then.",
        ),
    },
)
LINE_EFFECT = _make_effects(
    "an effect on a line",
    {
        "drop": (OnlyTrue(), "The line is lost."),
        "duplicate": (OnlyTrue(), "The line is sent twice."),
        "reorder": (OnlyTrue(), "The line is sent after the stream's next one."),
        "delay": (_DELAY, "Real seconds before the line; what comes after it waits as well."),
        "split": (OnlyTrue(), "The line is sent in two pieces, cut inside a character."),
        "insert": (
            _INSERTED,
            "A line of another kind is sent before it; beside `drop`, in its place.",
        ),
    },
)


def make_event_form(named: Sequence[str]) -> FieldsForm:
    """Return the form of conditions on an event with these values."""
    about = {
        "id": "The id of the event.",
        "event_type": "Its type, such as `post.create`.",
        "webhook_id": "The webhook that gets it.",
        "endpoint": "The stream that sends it: the id of the operation that opens it without "
        "`.open`, such as `activity_stream` or `sample10_stream`.",
        "app_id": "The app that opened the stream.",
    }
    event = make_object({name: (CONDITION, about[name]) for name in named}, least=1)
    return make_object(
        {"event": (event, "The event that is sent."), **COMMON_CONDITIONS},
        description="Conditions on the event, all of which must hold.",
    )


def report_conflicts(
    effects: Sequence[Mapping[str, Any]], places: Sequence[Path], report: FaultReport
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
