"""Transitions: which records are changing, how fast, and one of them moved now."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from flask import Response
from msgspec.structs import replace

from mock_platform.control.console.answers import ConsolePage, go, render
from mock_platform.control.console.forms import FormState, answer_form, to_number
from mock_platform.control.console.records import address_of
from mock_platform.control.refusals import refuse_values
from mock_platform.control.route import HTML, ControlRequest, Route, load_body
from mock_platform.control.transitions import (
    MoveBody,
    PaceBody,
    list_transitions,
    put_transition,
    require_kind,
)
from mock_platform.control.transitions import move as move_record
from mock_platform.world.clock import wire_millis
from mock_platform.world.transitions import PROGRESSIONS

PATH = "/console/transitions"
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
    kind = require_kind(request.world, request.args["kind"])
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
        kind = require_kind(request.world, request.args["kind"])
        if not key:
            text = f"key: write the key of a record of {kind.table}"
            raise refuse_values(422, [("key", text)], "The record was not moved")
        body = load_body(MoveBody(), {"to": values.get("to", "")})
        move_record(replace(request, args={"kind": kind.name, "key": key}, body=body))
        return _go_back(request, f"{values['key']} was moved to {values['to']}.")

    return answer_form(request, move, show_transition)


# -- within ------------------------------------------------------------------------------------


def _go_back(request: ControlRequest, said: str) -> Response:
    return go(request, f"{PATH}/{quote(request.args['kind'])}", said)


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


PAGE = ConsolePage(
    "Transitions",
    PATH,
    (
        Route("GET", PATH, show_transitions, media_type=HTML),
        Route("GET", f"{PATH}/<kind>", show_transition, media_type=HTML),
        Route("POST", f"{PATH}/<kind>/pace", set_pace, media_type=HTML, form=True),
        Route("POST", f"{PATH}/<kind>/move", move_one, media_type=HTML, form=True),
    ),
)
