"""The editor of scenarios: a text is checked while it is written, defined, saved, downloaded."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote

from flask import Response

from mock_platform.control.console.answers import (
    ConsolePage,
    FormState,
    attempt,
    go,
    read_form,
    render,
)
from mock_platform.control.console.own_failure import OWN_ROUTES, write_failure_scenario
from mock_platform.control.console.scenarios import PAGE_ROUTES, PATH, find_text, send_text
from mock_platform.control.operation_pages import find_operation
from mock_platform.control.refusals import ControlRefusal
from mock_platform.control.route import HTML, ControlRequest, Route
from mock_platform.control.scenarios import (
    check_scenario_text,
    define_scenario,
    find_scenario_folder,
    refuse_text,
    save_scenario,
)
from mock_platform.core.errors import did_you_mean
from mock_platform.core.fields import Integer, Text
from mock_platform.core.schema import Schema
from mock_platform.scenario.director import find_engine
from mock_platform.scenario.document import Scenario
from mock_platform.scenario.library import CheckedText
from mock_platform.scenario.outcomes import Outcome


class QueryOfEditor(Schema):
    """The failure that a new scenario provokes; without an operation the editor has an example."""

    operation = Text(metadata={"description": "the id of an operation"})
    status = Integer(low=400, high=599, load_default=400)
    code = Text(load_default="", metadata={"description": "problem, numeric or named code"})


ACTIONS = ("define", "save", "download")
_EXAMPLE = """\
name: my-failure
description: >-
  What happens, in a sentence.
parameters:
  times: 2                              # how often it fails
rules:
  - on: users.me                        # the id of an operation, a list of them, or "*"
    times: $times
    then:
      error: 131
"""


def show_new(request: ControlRequest) -> Response:
    """Return the editor with an example, or with a scenario that provokes a documented failure."""
    query, text = request.query, _EXAMPLE
    if "operation" in query:
        operation = find_operation(request.platform, query["operation"])
        text = write_failure_scenario(operation, Outcome(query["status"], query["code"]))
    return _show(request, FormState({"text": text}))


def show_edit(request: ControlRequest) -> Response:
    """Return the editor with the text of a scenario."""
    scenario = find_engine(request.world).find(request.args["name"])
    text, name = find_text(scenario)
    folder, file = _find_own_file(request, scenario) or ("", name)
    return _show(request, FormState({"text": text, "file": file, "folder": folder}))


def check(request: ControlRequest) -> Response:
    """Return what is wrong with the text that is being written; a part of the editor."""
    return _show(request, FormState(read_form(request)), block="findings")


def submit(request: ControlRequest) -> Response:
    """Define the text in this world, save it as a file, or send it as one."""
    values = read_form(request)
    action = values.get("action", "")
    if action == "download":
        return send_text(values.get("text", ""), _name_file(request, values))
    done: list[str] = []
    refused = attempt(values, lambda: done.extend(_act(request, action, values)))
    if refused is not None:
        return _show(request, refused)
    name, said = done
    return go(request, f"{PATH}/{quote(name)}", said)


# -- within ------------------------------------------------------------------------------------


def _show(request: ControlRequest, form: FormState, block: str = "content") -> Response:
    folders = [str(folder) for folder in request.platform.start_up.folders]
    return render(
        request,
        "scenario_editor.html",
        block=block,
        form=form,
        checked=_check(request, form.values),
        folders=folders,
        file_name=_name_file(request, form.values),
        world_name=request.world.name,
    )


def _act(request: ControlRequest, action: str, values: Mapping[str, str]) -> tuple[str, str]:
    """Return the name of the scenario that was defined or saved, and what to say about it."""
    if action == "define":
        checked = _check(request, values, in_folder=False)
        if checked.scenario is None:
            raise refuse_text(checked.complaints, "The scenario was not defined")
        define_scenario(request, checked.scenario)
        name = checked.scenario.name
        return name, f"{name} is defined in this world, until its reset."
    if action != "save":
        hint = did_you_mean(action, ACTIONS)
        text = f"The editor cannot {action!r}.{hint} It can: {', '.join(ACTIONS)}."
        raise ControlRefusal(422, text)
    folder = find_scenario_folder(request.platform, values.get("folder") or None)
    file = values.get("file", "").strip() or _name_file(request, values)
    saved = save_scenario(
        request.platform, values.get("text", ""), file, folder, replace="replace" in values
    )
    name = saved.scenario.name
    said = [f"{saved.file} is saved; all worlds know {name}.", *saved.kept]
    if name in find_engine(request.world).list_defined():
        said.append("This world still has its own version of it, until that is removed.")
    return name, " ".join(said)


def _check(
    request: ControlRequest, values: Mapping[str, str], *, in_folder: bool = True
) -> CheckedText:
    platform = request.platform
    folders = [str(each) for each in platform.start_up.folders]
    chosen = values.get("folder") or next(iter(folders), "")
    folder = Path(chosen) if in_folder and chosen in folders else None
    file = values.get("file", "").strip() or "scenario.yaml"
    return check_scenario_text(platform, values.get("text", ""), file, folder)


def _name_file(request: ControlRequest, values: Mapping[str, str]) -> str:
    """Return a name for a file with the text: the one that was given, else the scenario's."""
    given = values.get("file", "").strip().rpartition("/")[2]
    if given and all(letter.isalnum() or letter in "._-" for letter in given) and given.isascii():
        return given
    scenario = _check(request, values).scenario
    return f"{'scenario' if scenario is None else scenario.name}.yaml"


def _find_own_file(request: ControlRequest, scenario: Scenario) -> tuple[str, str] | None:
    """Return the folder and the name of a scenario's file, if it may be saved there."""
    if scenario.file is None:
        return None
    for folder in request.platform.start_up.folders:
        if scenario.file.is_relative_to(folder):
            return str(folder), scenario.file.relative_to(folder).as_posix()
    return None


PAGE = ConsolePage(
    "Scenarios",
    PATH,
    (
        *PAGE_ROUTES,
        *OWN_ROUTES,
        Route("GET", f"{PATH}/+new", show_new, query=QueryOfEditor, media_type=HTML),
        Route("GET", f"{PATH}/<name>/edit", show_edit, media_type=HTML),
        Route("POST", f"{PATH}/+check", check, media_type=HTML, form=True),
        Route("POST", f"{PATH}/+new", submit, media_type=HTML, form=True),
    ),
    section="Break",
)
