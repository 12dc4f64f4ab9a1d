"""A request saved as a scenario: choose what it matches, look at the file, take it along."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flask import Response
from msgspec import Struct
from msgspec.structs import replace

from mock_platform.console.answers import go, render
from mock_platform.console.forms import FormState, attempt, read_form, refuse_form
from mock_platform.console.seen import SeenRequest, read_seen
from mock_platform.control.journal import find_entry
from mock_platform.control.refusal import ControlRefusal
from mock_platform.control.route import HTML, ControlRequest, Route
from mock_platform.control.scenario_files import (
    check_scenario_text,
    find_scenario_folder,
    refuse_text,
    save_scenario,
)
from mock_platform.control.scenarios import put_scenario
from mock_platform.scenario.writing import write_document

ACTIONS = ("preview", "download", "save", "define")
_MATCH = "match"


class _Draft(Struct, frozen=True):
    """The file as it would be saved."""

    name: str
    text: str
    suffix: str
    matched: frozenset[str]

    @property
    def file(self) -> str:
        """The name of the file."""
        return f"{self.name}{self.suffix}"


def draft_scenario(request: ControlRequest) -> Response:
    """The form that makes a scenario of a request."""
    seen = _read_entry(request)
    usual = frozenset(each.key for each in seen.conditions if each.usual)
    return _show(request, seen, _draft(seen, {}, usual))


def act_on_draft(request: ControlRequest) -> Response:
    """Show the draft again, or download it, save it, or define it in this world."""
    seen, values = _read_entry(request), read_form(request)
    draft = _draft(seen, values, frozenset(request.flask.form.getlist(_MATCH)))
    action = values.get("action", "preview")
    said: list[str] = []
    refused = attempt(values, lambda: said.append(_act(request, draft, action, values)))
    if refused is not None:
        return _show(request, seen, draft, refused)
    if action == "download":
        return Response(
            draft.text,
            content_type="application/yaml; charset=utf-8",
            headers={"Content-Disposition": f'attachment; filename="{draft.file}"'},
        )
    if action == "preview":
        return _show(request, seen, draft, FormState(values))
    return go(request, f"/console/requests/{request.args['key']}", said=said[0])


def _act(request: ControlRequest, draft: _Draft, action: str, values: Mapping[str, str]) -> str:
    """Do what a button says; returns what to tell.

    Raises:
        ControlRefusal: The draft has faults, or cannot be saved.
    """
    if action not in ACTIONS:
        raise ControlRefusal(422, f"The action {action!r} does not exist: {', '.join(ACTIONS)}.")
    checked = check_scenario_text(request.platform, draft.text, f"scenario{draft.suffix}")
    if checked.scenario is None:
        raise refuse_text(checked.complaints, "The scenario cannot be used")
    if action == "save":
        folder = find_scenario_folder(request.platform)
        overwrites = values.get("replace") == "on"
        saved = save_scenario(request.platform, draft.text, draft.file, folder, replace=overwrites)
        return f"The scenario {draft.name} was saved as {saved.file}."
    if action == "define":
        whole = dict(checked.scenario.document)
        put_scenario(replace(request, args={"name": draft.name}, body=whole))
        return f"This world knows the scenario {draft.name} now; switch it on under Scenarios."
    return ""


def _read_entry(request: ControlRequest) -> SeenRequest:
    found = find_entry(request.platform, request.world, request.args["key"])
    if not 200 <= found.status <= 599:
        raise ControlRefusal(422, "No answer was sent, so a scenario has none to repeat.")
    return read_seen(request.platform, found.as_json())


def _draft(seen: SeenRequest, values: Mapping[str, str], matched: frozenset[str]) -> _Draft:
    name = values.get("name", seen.name).strip()
    description = values.get("description", seen.description).strip()
    text, suffix = write_document(seen.make_document(name, description, matched))
    return _Draft(name, text, suffix, matched)


def _show(
    request: ControlRequest, seen: SeenRequest, draft: _Draft, form: FormState | None = None
) -> Response:
    checked = check_scenario_text(request.platform, draft.text, f"scenario{draft.suffix}")
    if form is None or not form.text:
        form = form or FormState()
        if checked.scenario is None:  # what is typed is explained as it is typed
            form = refuse_form(form.values, refuse_text(checked.complaints, "It has faults"))
    folders = request.platform.start_up.folders
    oddities = [complaint.text for complaint in checked.warnings]
    if request.origin in draft.text:
        oddities.append(
            f"The answer contains this server's address, {request.origin}, which will be the same "
            "wherever the scenario is used."
        )
    data: dict[str, Any] = {
        "key": request.args["key"],
        "seen": seen,
        "draft": draft,
        "folder": folders[0] if folders else None,
        "oddities": oddities,
    }
    return render(request, "entry_scenario.html", block="preview", form=form, **data)


_PATH = "/console/requests/<key>/scenario"
ROUTES = (
    Route("GET", _PATH, draft_scenario, media_type=HTML),
    Route("POST", _PATH, act_on_draft, media_type=HTML, form=True),
)
