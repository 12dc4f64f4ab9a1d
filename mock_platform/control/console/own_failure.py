"""A failure of one's own, chosen in a form: the operation, which call, and what happens."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from flask import Response
from msgspec.structs import replace

from mock_platform.control.console.answers import (
    FormState,
    attempt,
    go,
    read_form,
    render,
    to_number,
)
from mock_platform.control.console.pickers import (
    CALLS,
    DURATIONS,
    EVERY,
    MORE_CALLS,
    Options,
    list_operations,
)
from mock_platform.control.console.scenarios import PATH, send_text
from mock_platform.control.operation_pages import find_operation
from mock_platform.control.refusals import refuse_values
from mock_platform.control.route import HTML, ControlRequest, Route
from mock_platform.control.scenarios import (
    activate,
    check_scenario_text,
    define_scenario,
    find_scenario_folder,
    refuse_text,
    save_scenario,
)
from mock_platform.core.failures.codes import phrase
from mock_platform.core.fields import Text
from mock_platform.core.jsonio import BadJson, loads
from mock_platform.core.operation import Operation
from mock_platform.core.schema import Schema
from mock_platform.scenario.outcomes import Outcome, choose_effect, list_documented
from mock_platform.scenario.writing import write_document

# A scenario for a failure.

_NOT_IN_A_NAME = re.compile(r"[^a-z0-9]+")


def write_failure_scenario(operation: Operation, outcome: Outcome) -> str:
    """Return the text of a scenario with which an operation fails so, for every request."""
    failure = f"{outcome.status} {outcome.code}".strip()
    document = {
        "name": _make_name(operation.id, outcome.code or str(outcome.status)),
        "description": f"{operation.method} {operation.path} fails with {failure}.",
        "rules": [{"on": operation.id, "then": choose_effect(outcome), "expect": "fired"}],
    }
    return write_document(document)[0]


def _make_name(*parts: str) -> str:
    return _NOT_IN_A_NAME.sub("-", "-".join(parts).lower()).strip("-")[:64].strip("-")


# The form.

_KINDS = (
    ("answer", "an error is answered"),
    ("delay", "the answer is late"),
    ("lost", "it is executed, but the answer is lost"),
    ("unreached", "the connection breaks before anything happens"),
    ("broken", "the answer breaks off in the middle"),
    ("silent", "no answer comes at all"),
)
_FAULTS: Mapping[str, Mapping[str, Any]] = {
    "lost": {"fault": "reset", "stage": "after_commit"},
    "unreached": {"fault": "reset", "stage": "before_commit"},
    "broken": {"fault": "truncate"},
    "silent": {"fault": "timeout"},
}
_STATUSES = (503, 400, 401, 403, 404, 409, 429, 500, 502, 504)
"""Statuses that are offered although they are not documented; the first one at first."""


class QueryOfOwnFailure(Schema):
    """What the form begins with."""

    operation = Text(metadata={"description": "the operation that is to fail"})


def show_own(request: ControlRequest, form: FormState | None = None) -> Response:
    """Return the form of a failure, and the text of its scenario beside it."""
    sent = form.values if form is not None else request.query
    operation, values = _read(request, sent)
    text = _write(operation, values)
    checked = check_scenario_text(request.platform, text)
    return render(
        request,
        "own_failure.html",
        block="content",
        form=FormState(values) if form is None else replace(form, values=values),
        operations=list_operations(request.platform.operations),
        wanted=EVERY if operation is None else operation.id,
        outcome=values["outcome"],
        outcomes=_list_outcomes(request, operation),
        kind=values.get("kind", _KINDS[0][0]),
        kinds=_KINDS,
        calls=[Options("", [("", "every call"), *CALLS, *MORE_CALLS])],
        durations=DURATIONS,
        text=text,
        complaints=[each.text for each in checked.complaints],
        name=_name(operation, values),
        has_folder=bool(request.platform.start_up.folders),
        world_name=request.world.name,
    )


def act_on_own(request: ControlRequest) -> Response:
    """Switch the failure on, save or send its file, or show its text again."""
    sent = read_form(request)
    action = sent.get("action", "show")
    if action == "show":
        return show_own(request, FormState(sent))
    operation, values = _read(request, sent)
    text = _write(operation, values)
    file = f"{_name(operation, values)}.yaml"
    if action == "download":
        return send_text(text, file)
    done: list[str] = []
    refused = attempt(values, lambda: done.extend(_act(request, action, text, file)))
    if refused is not None:
        return show_own(request, refused)
    name, said = done
    return go(request, f"{PATH}/{quote(name)}", said)


def _read(
    request: ControlRequest, sent: Mapping[str, str]
) -> tuple[Operation | None, dict[str, str]]:
    """Return the operation, and the values with an error that can be chosen for it."""
    wanted = sent.get("operation") or EVERY
    operation = None if wanted == EVERY else find_operation(request.platform, wanted)
    offered = [value for group in _list_outcomes(request, operation) for value, _ in group.options]
    outcome = sent.get("outcome", "")
    return operation, {**sent, "outcome": outcome if outcome in offered else offered[0]}


def _act(request: ControlRequest, action: str, text: str, file: str) -> tuple[str, str]:
    """Return the name of the scenario that was switched on or saved, and what to say."""
    checked = check_scenario_text(request.platform, text)
    if checked.scenario is None:
        raise refuse_text(checked.complaints, "The failure cannot be used")
    name = checked.scenario.name
    if action == "save":
        folder = find_scenario_folder(request.platform)
        return name, f"{save_scenario(request.platform, text, file, folder).file} is saved."
    if action != "on":
        raise refuse_values(422, [("action", "action: on, save, download or show")], "Not done")
    define_scenario(request, checked.scenario)
    activate(replace(request, args={"name": name}, body={}))
    return name, f"{name} is on."


def _write(operation: Operation | None, values: Mapping[str, str]) -> str:
    rule: dict[str, Any] = {"on": EVERY if operation is None else operation.id}
    call = values.get("number", "").strip() or values.get("call", "").strip()
    if call:
        rule["call"] = _read_call(call)
    rule |= {"then": _make_effect(values), "expect": "fired"}
    what = dict(_KINDS).get(values.get("kind", ""), _KINDS[0][1])
    document = {
        "name": _name(operation, values),
        "description": f"On {rule['on']} {what}.",
        "rules": [rule],
    }
    return write_document(document)[0]


def _read_call(text: str) -> Any:
    try:
        return loads(text.encode()) if text.startswith("{") else to_number(text)
    except BadJson:
        return text


def _make_effect(values: Mapping[str, str]) -> dict[str, Any]:
    kind = values.get("kind", _KINDS[0][0])
    if kind in _FAULTS:
        return dict(_FAULTS[kind])
    if kind == "delay":
        return {"delay": to_number(values.get("delay", "").strip() or "5s")}
    status, _, code = values["outcome"].partition(" ")
    text = values.get("text", "").strip()
    return choose_effect(Outcome(int(status), code), text)


def _name(operation: Operation | None, values: Mapping[str, str]) -> str:
    given = _make_name(values.get("name", ""))
    kind = values.get("kind", _KINDS[0][0])
    what = values["outcome"] if kind == _KINDS[0][0] else kind
    return given or _make_name("every" if operation is None else operation.id, what)


def _list_outcomes(request: ControlRequest, operation: Operation | None) -> list[Options]:
    documented = []
    if operation is not None:
        documented = [
            (f"{each.status} {each.code}".strip(), f"{each.status} {each.code}".strip())
            for each in list_documented(operation, request.platform.settings)
            if each.status >= 400
        ]
    known = {value for value, _ in documented}
    others = [
        (str(status), f"{status} {phrase(status)}")
        for status in _STATUSES
        if str(status) not in known
    ]
    groups = [Options("Documented for this operation", documented)] if documented else []
    return [*groups, Options("Any other status", others)]


OWN_ROUTES = (
    Route("GET", f"{PATH}/+own", show_own, query=QueryOfOwnFailure, media_type=HTML),
    Route("POST", f"{PATH}/+own", act_on_own, media_type=HTML, form=True),
)
