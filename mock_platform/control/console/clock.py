"""The clock of a world: what it shows now, frozen, set, moved on, resumed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flask import Response
from msgspec.structs import replace

from mock_platform.control.clock import ClockBody, get_clock, put_clock
from mock_platform.control.console.answers import ConsolePage, go, render
from mock_platform.control.console.forms import FormState, attempt, read_form, to_number
from mock_platform.control.refusals import refuse_values
from mock_platform.control.route import HTML, ControlRequest, Route, load_body

PATH = "/console/clock"
_TRAVEL = "to_travel"
"""The field of the moment to travel to: the form beside it has a field `to`, too."""
STEPS = (
    ("1 minute", 60),
    ("15 minutes", 900),
    ("1 hour", 3600),
    ("1 day", 86_400),
    ("7 days", 604_800),
)
"""What is often needed: windows of rate limits, tokens, days of figures."""


def show_clock(request: ControlRequest, form: FormState | None = None) -> Response:
    """Return the world's clock, and all that can be done with it."""
    return render(
        request, "clock.html", block="content", form=form, clock=get_clock(request), steps=STEPS
    )


def freeze(request: ControlRequest) -> Response:
    """Freeze the clock, now or at a moment."""
    return _move(request, "freeze", "The clock is frozen.")


def travel(request: ControlRequest) -> Response:
    """Set the clock to a moment."""
    return _move(request, "travel", "The clock was set.")


def advance(request: ControlRequest) -> Response:
    """Move the clock on; whatever is due then happens."""
    return _move(request, "advance", "The clock was moved.")


def resume(request: ControlRequest) -> Response:
    """Let the clock go on."""
    return _move(request, "resume", "The clock goes on.")


def _move(request: ControlRequest, action: str, done: str) -> Response:
    values = read_form(request)
    refused = attempt(values, lambda: _put(request, action, values))
    if refused is None:
        return go(request, PATH, done)
    if action == "travel" and "to" in refused.faults:
        refused = replace(refused, faults={_TRAVEL: refused.faults["to"]})
    return show_clock(request, refused)


def _put(request: ControlRequest, action: str, values: Mapping[str, str]) -> None:
    body: dict[str, Any] = {"action": action}
    moment = values.get(_TRAVEL if action == "travel" else "to", "").strip()
    if moment:
        body["to"] = moment
    elif action == "travel":
        text = "to: a journey needs a moment, such as 2026-12-24T18:00:00Z"
        raise refuse_values(422, [(_TRAVEL, text)], "The clock was not moved")
    if "seconds" in values:
        body["seconds"] = to_number(values["seconds"].strip())
    put_clock(replace(request, body=load_body(ClockBody(), body)))


PAGE = ConsolePage(
    "Clock",
    PATH,
    (
        Route("GET", PATH, show_clock, media_type=HTML),
        Route("POST", f"{PATH}/freeze", freeze, media_type=HTML, form=True),
        Route("POST", f"{PATH}/travel", travel, media_type=HTML, form=True),
        Route("POST", f"{PATH}/advance", advance, media_type=HTML, form=True),
        Route("POST", f"{PATH}/resume", resume, media_type=HTML, form=True),
    ),
)
