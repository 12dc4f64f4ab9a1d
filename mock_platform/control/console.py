"""The web console: one page for a world, and one for each of its requests.

It is rendered here completely; it needs no script and no files from elsewhere.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from flask import Response, redirect, render_template

from mock_platform.control.clock import ClockBody, get_clock, put_clock
from mock_platform.control.journal import find_entry
from mock_platform.control.refusal import ControlRefusal, did_you_mean
from mock_platform.control.route import ControlRequest, load_body
from mock_platform.control.worlds import addresses, reset
from mock_platform.core.jsonio import BadJson, loads, pretty
from mock_platform.version import __version__
from mock_platform.world import redact
from mock_platform.world.clock import wire_millis
from mock_platform.world.journal import JournalEntry

SHOWN_REQUESTS = 50
SHOWN_DELIVERIES = 20
ACTIONS = ("reset", "freeze", "resume", "advance", "travel")

_MAX_FORM_BYTES = 16 * 1024
_POLICY = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
}


def overview(request: ControlRequest) -> Response:
    """The world: clock, latest requests with their reasons, deliveries, tables."""
    return _overview(request)


def act(request: ControlRequest) -> Response:
    """Execute a form of the overview and show the overview again."""
    try:
        _act(request)
    except ControlRefusal as refusal:
        return _overview(request, refusal)
    # 303: reloading the page does not send the form again.
    return redirect(f"{request.base_url}/_mock/", 303, Response)  # type: ignore[return-value]


def entry(request: ControlRequest) -> Response:
    """One request in full."""
    found = find_entry(request.platform, request.world, request.args["key"])
    shown = found.as_json()
    texts = {a.id: a.text for a in request.platform.assumptions().values()}
    return _page(
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


def _act(request: ControlRequest) -> None:
    request.flask.max_content_length = _MAX_FORM_BYTES
    form = request.flask.form
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


def _overview(request: ControlRequest, refusal: ControlRefusal | None = None) -> Response:
    world = request.world
    with world.work():
        tables = [(name, world.store.count(name)) for name in request.platform.tables]
        deliveries = list(world.deliveries)[-SHOWN_DELIVERIES:]
    entries = world.journal.find(limit=SHOWN_REQUESTS)
    response = _page(
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
        fault=None if refusal is None else refusal.detail,
    )
    response.status_code = 200 if refusal is None else refusal.status
    return response


def _page(request: ControlRequest, template: str, **values: Any) -> Response:
    text = render_template(
        template,
        root=f"{request.base_url}/_mock",
        world=request.world,
        base_url=request.base_url,
        now=wire_millis(request.world.clock.now()),
        version=__version__,
        **values,
    )
    return Response(text, headers=_POLICY)


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
