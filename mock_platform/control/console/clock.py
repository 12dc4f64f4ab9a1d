"""The clock of a world, and what changes with it: the transitions of its records."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from flask import Response
from msgspec.structs import replace

from mock_platform.control.clock import ClockBody, get_clock, list_coming, put_clock
from mock_platform.control.console.answers import (
    ConsolePage,
    FormState,
    answer_form,
    attempt,
    find_target,
    go,
    read_form,
    render,
    to_number,
)
from mock_platform.control.console.records import address_of
from mock_platform.control.refusals import refuse_values
from mock_platform.control.route import HTML, ControlRequest, Route, load_body
from mock_platform.control.transitions import (
    MoveBody,
    PaceBody,
    list_transitions,
    put_transition,
)
from mock_platform.control.transitions import move as move_record
from mock_platform.core.transitions import find_kind
from mock_platform.world.clock import Happening, wire_millis
from mock_platform.world.transitions import PROGRESSIONS

# The clock: what it shows now, frozen, set, moved on, resumed.

CLOCK_PATH = "/console/clock"
_TRAVEL = "to_travel"
"""The field of the moment to travel to: the form beside it has a field `to`, too."""
_COMING = 5
"""So many things that are due are listed."""
STEPS = (
    ("1 minute", 60),
    ("15 minutes", 900),
    ("1 hour", 3600),
    ("1 day", 86_400),
    ("7 days", 604_800),
    ("30 days", 2_592_000),
)
"""What is often needed: windows of rate limits, tokens, days of figures."""


def show_clock(request: ControlRequest, form: FormState | None = None) -> Response:
    """Return the world's clock, and all that can be done with it."""
    # The face is refreshed each second, and has none of what is due.
    is_face = request.flask.headers.get("HX-Target") == "face"
    return render(
        request,
        "clock.html",
        block="content",
        form=form,
        clock=get_clock(request),
        steps=STEPS,
        coming=[] if is_face else [_tell(each) for each in list_coming(request.world, _COMING)],
    )


def _tell(coming: Happening) -> dict[str, Any]:
    """Return what is due as a line of the list: when, what, and which record."""
    at, kind, table, key = coming
    if table is None:
        return {"at": wire_millis(at), "what": "end of the rate window", "id": key, "page": None}
    what = f"{kind.replace('_', ' ')} of {table}"
    return {"at": wire_millis(at), "what": what, "id": key, "page": address_of(table, key)}


def freeze(request: ControlRequest) -> Response:
    """Freeze the clock, now or at a moment."""
    return _move(request, "freeze", "The clock is frozen.")


def travel(request: ControlRequest) -> Response:
    """Set the clock to a moment."""
    return _move(request, "travel", "The clock was set.")


def advance(request: ControlRequest) -> Response:
    """Move the clock on; whatever is due then happens."""
    return _move(request, "advance", "The clock was moved.")


def advance_to_next(request: ControlRequest) -> Response:
    """Move the clock to the next thing that is due, and say what it was."""

    def move(_: Mapping[str, str]) -> Response:
        body = load_body(ClockBody(), {"action": "advance", "to": "next"})
        happened = put_clock(replace(request, body=body))["happened"]
        what = ", ".join(
            " ".join(filter(None, (each["kind"].replace("_", " "), each.get("table"), each["id"])))
            for each in happened
        )
        return go(request, CLOCK_PATH, f"{happened[0]['at'][:19]}Z: {what}")

    return answer_form(request, move, show_clock)


def resume(request: ControlRequest) -> Response:
    """Let the clock go on."""
    return _move(request, "resume", "The clock goes on.")


def return_to_real_time(request: ControlRequest) -> Response:
    """Set the clock to real time, running, and show the page on which that was wanted."""
    for body in ({"action": "travel", "to": "now"}, {"action": "resume"}):
        put_clock(replace(request, body=load_body(ClockBody(), body)))
    back = find_target(read_form(request).get("back", ""), CLOCK_PATH)
    return go(request, back, "The clock shows real time again.")


def _move(request: ControlRequest, action: str, done: str) -> Response:
    values = read_form(request)
    refused = attempt(values, lambda: _put(request, action, values))
    if refused is None:
        return go(request, CLOCK_PATH, done)
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


CLOCK = ConsolePage(
    "Clock",
    CLOCK_PATH,
    (
        Route("GET", CLOCK_PATH, show_clock, media_type=HTML),
        Route("POST", f"{CLOCK_PATH}/freeze", freeze, media_type=HTML, form=True),
        Route("POST", f"{CLOCK_PATH}/travel", travel, media_type=HTML, form=True),
        Route("POST", f"{CLOCK_PATH}/advance", advance, media_type=HTML, form=True),
        Route("POST", f"{CLOCK_PATH}/next", advance_to_next, media_type=HTML, form=True),
        Route("POST", f"{CLOCK_PATH}/real", return_to_real_time, media_type=HTML, form=True),
        Route("POST", f"{CLOCK_PATH}/resume", resume, media_type=HTML, form=True),
    ),
    section="Break",
)


# Transitions: which records are changing, how fast, and one of them moved now.

TRANSITIONS_PATH = "/console/transitions"
MAX_SHOWN = 100
"""Records of one kind that a page lists."""
_MEANING = {
    "immediate": "immediate: at once",
    "time": "time: after some seconds on the world's clock",
    "polls": "polls: after some reads of the record",
    "manual": "manual: only when it is moved by hand",
}


def show_transitions(request: ControlRequest) -> Response:
    """Every kind of transition: what moves, how, and how many records are changing."""
    kinds = request.world.transitions.kinds
    told = [(kinds[name], pace) for name, pace in list_transitions(request).items()]
    return render(request, "transitions.html", block="content", kinds=told)


def show_transition(request: ControlRequest, form: FormState | None = None) -> Response:
    """One kind: its progression as a form, the records that are changing, one to be moved."""
    kind = find_kind(request.world.transitions.kinds, request.args["kind"])
    pace = list_transitions(request)[kind.name]
    with request.world.lock:
        rows = [_describe(request, kind.name, key) for key in pace["under_way"][:MAX_SHOWN]]
    return render(
        request,
        "transition.html",
        block="content",
        form=form,
        kind=kind,
        pace=pace,
        rows=rows,
        progressions=[(name, _MEANING[name]) for name in PROGRESSIONS],
    )


def set_pace(request: ControlRequest) -> Response:
    """Change the progression of a kind, also for records that are already changing."""

    def change(values: Mapping[str, str]) -> Response:
        body: dict[str, Any] = {"progression": values.get("progression", "")}
        for name in ("seconds", "polls"):
            text = values.get(name, "").strip()
            if text:
                body[name] = to_number(text)
        put_transition(replace(request, body=load_body(PaceBody(), body)))
        return _go_back(request, "The progression was changed.")

    return answer_form(request, change, show_transition)


def move_one(request: ControlRequest) -> Response:
    """Move one record now, whatever the progression."""

    def move(values: Mapping[str, str]) -> Response:
        key = values.get("key", "").strip()
        kind = find_kind(request.world.transitions.kinds, request.args["kind"])
        if not key:
            text = f"key: write the key of a record of {kind.table}"
            raise refuse_values(422, [("key", text)], "The record was not moved")
        body = load_body(MoveBody(), {"to": values.get("to", "")})
        move_record(replace(request, args={"kind": kind.name, "key": key}, body=body))
        return _go_back(request, f"{values['key']} was moved to {values['to']}.")

    return answer_form(request, move, show_transition)


def _go_back(request: ControlRequest, said: str) -> Response:
    return go(request, f"{TRANSITIONS_PATH}/{quote(request.args['kind'])}", said)


def _describe(request: ControlRequest, kind: str, key: str) -> dict[str, Any]:
    """Return a record that is changing: its state, and when the clock moves it."""
    transitions = request.world.transitions
    found = transitions.kinds[kind]
    record = request.world.store.get(found.table, key)
    due = transitions.find_due_time(kind, key)
    return {
        "key": key,
        "address": address_of(found.table, key),
        "state": "gone" if record is None else found.state_of(record),
        "due": None if due is None else wire_millis(due),
        "started": transitions.has_started(kind, key) is not False,
    }


TRANSITIONS = ConsolePage(
    "Transitions",
    TRANSITIONS_PATH,
    (
        Route("GET", TRANSITIONS_PATH, show_transitions, media_type=HTML),
        Route("GET", f"{TRANSITIONS_PATH}/<kind>", show_transition, media_type=HTML),
        Route("POST", f"{TRANSITIONS_PATH}/<kind>/pace", set_pace, media_type=HTML, form=True),
        Route("POST", f"{TRANSITIONS_PATH}/<kind>/move", move_one, media_type=HTML, form=True),
    ),
    section="Break",
)
