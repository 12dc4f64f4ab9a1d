"""The page of a world: clock, newest requests, deliveries; and one for each of its requests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from flask import Response

from mock_platform.console.answers import go, render
from mock_platform.console.forms import FormState, attempt, read_form
from mock_platform.console.page import ConsolePage
from mock_platform.control.clock import ClockBody, get_clock, put_clock
from mock_platform.control.journal import find_entry
from mock_platform.control.refusal import ControlRefusal, did_you_mean
from mock_platform.control.route import HTML, ControlRequest, Route, load_body
from mock_platform.control.worlds import addresses, reset
from mock_platform.core.jsonio import BadJson, loads, pretty
from mock_platform.world import redact
from mock_platform.world.journal import JournalEntry

SHOWN_REQUESTS = 50
SHOWN_DELIVERIES = 20
ACTIONS = ("reset", "freeze", "resume", "advance", "travel")


def overview(request: ControlRequest) -> Response:
    """The world: clock, latest requests with their reasons, deliveries, tables."""
    return _overview(request)


def act(request: ControlRequest) -> Response:
    """Execute a form of the overview and show the overview again."""
    values = read_form(request)
    refused = attempt(values, lambda: _act(request, values))
    return go(request, "/") if refused is None else _overview(request, refused)


def entry(request: ControlRequest) -> Response:
    """One request in full."""
    found = find_entry(request.platform, request.world, request.args["key"])
    shown = found.as_json()
    texts = {a.id: a.text for a in request.platform.assumptions().values()}
    return render(
        request,
        "entry.html",
        entry=shown,
        assumptions=[(name, texts.get(name, "")) for name in found.assumptions],
        diagnosis=None if found.diagnosis is None else pretty(found.diagnosis),
        caller=pretty(found.caller),
        rule=None if found.rule is None else pretty(found.rule),
        near_misses=pretty(found.near_misses) if found.near_misses else None,
        messages=[
            ("Request", shown["request"]["headers"], _format_body(shown["request"]["body"])),
            ("Answer", shown["response"]["headers"], _format_body(shown["response"]["body"])),
        ],
    )


def why(found: JournalEntry) -> str:
    """Returns the most important reason for an answer, in one line."""
    diagnosis, rule = found.diagnosis or {}, found.rule
    changed = ", ".join(
        f"{change.table}/{redact.key(change.table, change.key)}" for change in found.changes[:3]
    )
    reasons = (
        "the sandbox itself failed" if found.traceback is not None else "",
        f"rule of scenario {rule.get('scenario')}" if rule is not None else "",
        str(diagnosis.get("explanation") or ""),
        _message(found.response_body) if found.status >= 400 else "",
        "; ".join(found.warnings),
        f"changed {changed}" if changed else "",
    )
    return next(filter(None, reasons), "")


# -- within ------------------------------------------------------------------------------------


def _act(request: ControlRequest, form: Mapping[str, str]) -> None:
    action = form.get("action", "")
    if action == "reset":
        reset(request)
        return
    if action not in ACTIONS:
        allowed = ", ".join(ACTIONS)
        hint = did_you_mean(action, ACTIONS)
        raise ControlRefusal(
            422, f"The action {action!r} does not exist.{hint} Actions: {allowed}."
        )
    body: dict[str, Any] = {"action": action}
    if form.get("to"):
        body["to"] = form["to"]
    if form.get("seconds"):
        body["seconds"] = _number(form["seconds"])
    put_clock(replace(request, body=load_body(ClockBody(), body)))


def _number(text: str) -> float | str:
    """Convert form values to numbers where possible; the schema refuses the rest."""
    try:
        return float(text)
    except ValueError:
        return text


def _overview(request: ControlRequest, form: FormState | None = None) -> Response:
    world = request.world
    with world.work():
        tables = [(name, world.store.count(name)) for name in request.platform.tables]
        deliveries = list(world.deliveries)[-SHOWN_DELIVERIES:]
    entries = world.journal.find(limit=SHOWN_REQUESTS)
    return render(
        request,
        "overview.html",
        clock=get_clock(request),
        entries=[
            (shown := found.summary(), shown["url"].removeprefix(request.origin), why(found))
            for found in reversed(entries)
        ],
        journal=world.journal,
        shown_requests=SHOWN_REQUESTS,
        deliveries=list(reversed(deliveries)),
        tables=tables,
        worlds=[
            (other.name, addresses(request.origin, other.name)["control"], len(other.journal))
            for other in request.platform.worlds
        ],
        form=form,
    )


def _format_body(body: dict[str, Any]) -> str:
    """Returns a body in readable form: JSON indented, anything else unchanged."""
    text: str = body["text"]
    try:
        return pretty(loads(text.encode())) if text else ""
    except BadJson:
        return text


def _message(body: bytes) -> str:
    """Returns the message in the body of a failure, in any dialect."""
    try:
        value = loads(body)
    except BadJson:
        return body[:200].decode("utf-8", "replace")
    if not isinstance(value, dict):
        return ""
    errors = value.get("errors")
    first = errors[0] if isinstance(errors, list) and errors else value
    if not isinstance(first, dict):
        return ""
    return str(first.get("detail") or first.get("message") or first.get("title") or "")


PAGE = ConsolePage(
    "Requests",
    "/",
    (
        Route("GET", "/", overview, media_type=HTML),
        Route("POST", "/console", act, media_type=HTML, form=True),
        Route("GET", "/console/requests/<key>", entry, media_type=HTML),
    ),
)
