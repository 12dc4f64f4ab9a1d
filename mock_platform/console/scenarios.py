"""Scenarios: found, switched on with parameters, watched while they act, switched off."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from flask import Response
from msgspec.structs import replace

from mock_platform.console.answers import go, render
from mock_platform.console.forms import FormState, attempt, read_form
from mock_platform.console.scenario_parameters import describe_fields, read_parameters
from mock_platform.console.scenario_texts import find_text
from mock_platform.control.provoking import find_operation_parameter
from mock_platform.control.refusal import refuse_values
from mock_platform.control.route import HTML, ControlRequest, Route
from mock_platform.control.scenarios import (
    activate,
    deactivate,
    deactivate_all,
    delete_scenario,
    get_scenario,
    list_scenarios,
)
from mock_platform.core.fields import Choice, Integer, Text
from mock_platform.core.packaged import folder
from mock_platform.core.schema import Schema
from mock_platform.scenario.director import find_engine

PATH = "/console/scenarios"
PAGE_SIZE = 48
SHOWN = ("all", "active", "own")


class ScenarioSearch(Schema):
    """What the list shows."""

    q = Text(load_default="", metadata={"description": "words in the name or the description"})
    show = Choice(SHOWN, load_default="all")
    skip = Integer(low=0, high=10**6, load_default=0)


class QueryOfScenario(Schema):
    """What the form of a scenario begins with."""

    operation = Text(metadata={"description": "the operation that it is to act on"})


def show_scenarios(request: ControlRequest) -> Response:
    """The scenarios of the world: the active ones with their counts, and all that are known."""
    return _show_list(request, "content")


def show_active(request: ControlRequest) -> Response:
    """The active scenarios alone, for the page that shows their counts live."""
    return _show_list(request, "active")


def _show_list(request: ControlRequest, block: str) -> Response:
    listed = list_scenarios(request)["scenarios"]
    words, show = request.query["q"].lower().split(), request.query["show"]
    skip = request.query["skip"]
    defined = find_engine(request.world).list_defined()
    found = [
        each
        for each in listed
        if _has_words(each, words)
        and (show != "active" or each["active"])
        and (show != "own" or each["name"] in defined)
    ]
    return render(
        request,
        "scenarios.html",
        block=block,
        active=[summarize(each) for each in listed if each["active"]],
        found=found[skip : skip + PAGE_SIZE],
        count=len(found),
        skip=skip,
        previous=_page(request, skip - PAGE_SIZE) if skip else None,
        following=_page(request, skip + PAGE_SIZE) if skip + PAGE_SIZE < len(found) else None,
        defined=defined,
        total=len(listed),
        shown=SHOWN,
        query=request.query,
    )


def show_scenario(request: ControlRequest, form: FormState | None = None) -> Response:
    """One scenario: what it does, its parameters as a form, its counts, its text."""
    told = get_scenario(request)
    engine = find_engine(request.world)
    scenario = engine.find(told["name"])
    text, name = find_text(scenario)
    given = dict(told["given"]) if told["active"] else {}
    parameter = find_operation_parameter(scenario)
    if parameter is not None and "operation" in request.query:
        given[parameter] = request.query["operation"]
    return render(
        request,
        "scenario.html",
        block="content",
        form=form,
        each=summarize(told),
        fields=describe_fields(scenario, given),
        text=text,
        file_name=name if scenario.file is None else _name_file(scenario.file, request),
        file=scenario.file,
        is_defined=told["name"] in engine.list_defined(),
    )


def _name_file(file: Path, request: ControlRequest) -> str:
    """Returns where a file is, without what is different on each machine."""
    file = file.resolve()
    if file.is_relative_to(own := folder("scenarios").resolve()):
        return f"{file.relative_to(own.parent)} of the package"
    for given in request.platform.settings.scenarios:
        root = Path(given).resolve()
        if file.is_relative_to(root) and file != root:
            return str(file.relative_to(root.parent))
    return file.name


def switch_on(request: ControlRequest) -> Response:
    """Switch a scenario on with the parameters of its form; an active one starts again."""
    values, name = read_form(request), request.args["name"]
    refused = attempt(values, lambda: _switch_on(request, name, values))
    if refused is not None:
        return show_scenario(request, refused)
    return go(request, f"{PATH}/{quote(name)}", f"{name} is on.")


def switch_off(request: ControlRequest) -> Response:
    """Switch a scenario off."""
    deactivate(request)
    name = request.args["name"]
    back = read_form(request).get("back")
    return go(request, PATH if back == "list" else f"{PATH}/{quote(name)}", f"{name} is off.")


def switch_all_off(request: ControlRequest) -> Response:
    """Switch all scenarios of the world off."""
    deactivate_all(request)
    return go(request, PATH, "All scenarios are off.")


def remove(request: ControlRequest) -> Response:
    """Remove a scenario that was defined in this world."""
    delete_scenario(request)
    return go(request, PATH, f"{request.args['name']} was removed from this world.")


def download(request: ControlRequest) -> Response:
    """A scenario as a file."""
    text, name = find_text(find_engine(request.world).find(request.args["name"]))
    return send_text(text, name)


def send_text(text: str, name: str) -> Response:
    """Returns a text as a file to be saved under a name of letters, digits, dots and hyphens."""
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(text, content_type="text/plain; charset=utf-8", headers=headers)


def summarize(told: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a scenario with the counts of all its rules together."""
    rules: Sequence[Mapping[str, Any]] = told["rules"]
    left = [rule["remaining"] for rule in rules]
    return {
        **told,
        "matched": sum(rule["matched"] for rule in rules),
        "fired": sum(rule["fired"] for rule in rules),
        "refused": sum(rule["refused"] for rule in rules),
        "remaining": None if None in left else sum(left),
        "waiting": any(rule["expected"] and not rule["fired"] for rule in rules),
    }


# -- within ------------------------------------------------------------------------------------


def _page(request: ControlRequest, skip: int) -> str:
    """Returns the query of another page of the same list."""
    shown = {name: request.query[name] for name in ("q", "show")}
    return f"?{urlencode({**shown, 'skip': max(0, skip)})}"


def _has_words(told: Mapping[str, Any], words: Sequence[str]) -> bool:
    text = f"{told['name']} {told['description']} {told['spec']}".lower()
    return all(word in text for word in words)


def _switch_on(request: ControlRequest, name: str, values: Mapping[str, str]) -> None:
    given, faults = read_parameters(find_engine(request.world).find(name), values)
    if faults:
        raise refuse_values(422, faults, "The scenario was not activated")
    activate(replace(request, body={"parameters": given}))


PAGE_ROUTES = (
    Route("GET", PATH, show_scenarios, query=ScenarioSearch, media_type=HTML),
    Route("GET", f"{PATH}/+active", show_active, query=ScenarioSearch, media_type=HTML),
    Route("POST", f"{PATH}/+off", switch_all_off, media_type=HTML, form=True),
    Route("GET", f"{PATH}/<name>", show_scenario, query=QueryOfScenario, media_type=HTML),
    Route("GET", f"{PATH}/<name>/file", download, media_type=HTML),
    Route("POST", f"{PATH}/<name>/on", switch_on, media_type=HTML, form=True),
    Route("POST", f"{PATH}/<name>/off", switch_off, media_type=HTML, form=True),
    Route("POST", f"{PATH}/<name>/remove", remove, media_type=HTML, form=True),
)
