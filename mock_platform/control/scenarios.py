"""Scenarios of a world: list, define, activate, deactivate."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from mock_platform.control.questions import RELOAD_SCENARIO
from mock_platform.control.refusals import ControlRefusal, refuse_values
from mock_platform.control.route import ControlRequest, Route, object_of
from mock_platform.core.description.schemas import Converter
from mock_platform.core.documents.source import format_path
from mock_platform.core.errors import (
    BadParameters,
    BadScenario,
    CannotPerform,
    Complaint,
    NotDefinedHere,
)
from mock_platform.core.fields import CommaList, Flag, Integer, Json, ListOf, Nested, Text
from mock_platform.core.jsonio import dumps
from mock_platform.core.schema import Schema
from mock_platform.platform import Platform
from mock_platform.scenario.advice import find_warnings
from mock_platform.scenario.director import find_engine
from mock_platform.scenario.document import Scenario, loads
from mock_platform.scenario.engine import Engine
from mock_platform.scenario.failures import find_failures
from mock_platform.scenario.library import CheckedText, check_text
from mock_platform.scenario.outline import SCENARIO_NAME
from mock_platform.scenario.schema import json_schema, make_forms
from mock_platform.scenario.writing import CannotSave, FileExists, find_place, write_file


class ActivationBody(Schema):
    """The parameters of an activation."""

    parameters = Json(metadata={"description": "values by name; null means any"})


def list_scenarios(request: ControlRequest) -> dict[str, Any]:
    """Every known scenario: its parameters, whether it is active, and the counts of its rules."""
    return {"scenarios": _engine(request).as_json()}


def get_scenario(request: ControlRequest) -> dict[str, Any]:
    """One scenario, with its document."""
    engine, name = _engine(request), request.args["name"]
    return engine.describe(name) | {"document": dict(engine.find(name).document)}


def body_form(platform: Platform, _converter: Converter) -> dict[str, Any]:
    """Return the description of a scenario: only its outermost form; the name may be absent.

    The rules alone are larger than all other bodies; `GET /_mock/scenarios/schema.json` has them.
    """
    whole = make_forms(platform.library.catalog.ids).document.schema()
    rules = {
        "type": "array",
        "items": {"type": "object", "required": ["then"]},
        "minItems": 1,
        "description": "rules, in the form that GET /_mock/scenarios/schema.json describes",
    }
    return {
        "type": "object",
        "properties": whole["properties"] | {"rules": rules},
        "required": [name for name in whole["required"] if name != "name"],
        "additionalProperties": False,
    }


def put_scenario(request: ControlRequest) -> dict[str, Any]:
    """Define or replace a scenario in this world, until its reset; the body is like a file.

    `warnings` say what is odd in it, as `mock-platform check` does.
    """
    scenario = _read(request, request.args["name"])
    odd = [f"{format_path(at)}: {text}" for at, text in find_warnings(scenario)]
    return {**define_scenario(request, scenario), "warnings": odd}


def define_scenario(request: ControlRequest, scenario: Scenario) -> dict[str, Any]:
    """Define a scenario in this world; return it as the control plane shows it.

    Raises:
        ControlRefusal: 422; it is active, and cannot continue with its parameters.
    """
    engine = _engine(request)
    try:
        engine.define(scenario)
    except BadParameters as fault:
        what = "It is active, and cannot continue with the parameters of its activation"
        raise refuse_values(422, _locate_faults(fault), what) from fault
    return engine.describe(scenario.name)


def delete_scenario(request: ControlRequest) -> None:
    """Remove a scenario that was defined in this world; an active one is deactivated."""
    try:
        _engine(request).undefine(request.args["name"])
    except NotDefinedHere as fault:
        raise ControlRefusal(409, str(fault)) from fault


def activate(request: ControlRequest) -> dict[str, Any]:
    """Activate a scenario; an active one starts again."""
    engine, name = _engine(request), request.args["name"]
    given = request.body.get("parameters", {})
    try:
        engine.activate(name, given)
    except BadParameters as fault:
        raise refuse_values(422, _locate_faults(fault), "The scenario was not activated") from fault
    return engine.describe(name)


def deactivate(request: ControlRequest) -> dict[str, Any]:
    """Deactivate a scenario of this world."""
    engine, name = _engine(request), request.args["name"]
    engine.deactivate(name)
    return engine.describe(name)


def deactivate_all(request: ControlRequest) -> None:
    """Deactivate all scenarios of this world."""
    _engine(request).deactivate()


def schema(request: ControlRequest) -> dict[str, Any]:
    """Return the JSON Schema of scenario documents, for editors."""
    return json_schema(request.platform.library.catalog.ids)


class QueryOfFailures(Schema):
    """Which failures are listed."""

    operations = Text(
        load_default="*",
        metadata={"description": "comma-separated patterns of operations, such as line_items.*"},
    )
    statuses = CommaList(
        Integer(low=400, high=599), metadata={"description": "only answers with these"}
    )
    network = Flag(
        load_default=False, metadata={"description": "also what the network can do to any request"}
    )


class FailureItem(Schema):
    """A way in which an operation can fail; its id is the name of a scenario."""

    id = Text(required=True)
    operation = Text(required=True)
    status = Integer(required=True, allow_none=True)
    code = Text(required=True)
    headers = Json(required=True)


class FailuresAnswer(Schema):
    """The documented failures of operations."""

    failures = ListOf(Nested(FailureItem), required=True)


def list_failures(request: ControlRequest) -> dict[str, Any]:
    """The documented failures of operations, each with the headers that ask for it."""
    query = request.query
    found = find_failures(
        request.platform.operations,
        query["operations"],
        query.get("statuses", ()),
        network=query["network"],
    )
    return {"failures": [failure.as_json() for failure in found]}


def _engine(request: ControlRequest) -> Engine:
    return find_engine(request.world)


def _read(request: ControlRequest, name: str) -> Scenario:
    """Return the scenario of a body in JSON or YAML; the address may contain its name."""
    faults: list[tuple[str, str]] = []
    text, file, named = request.body, f"{name}.yaml", None
    yaml = isinstance(text, bytes)
    if not yaml:
        document = object_of(request.body, "A scenario")
        named = document.setdefault("name", name)
        text, file = dumps(document), f"{name}.json"
    try:
        scenario = loads(text, request.platform.library.catalog, file)
        named = scenario.name
    except BadScenario as fault:
        faults += [
            (each.field, str(each) if yaml else _prefix_field(each.field, each.text))
            for each in fault.complaints
        ]
    if named is not None and named != name:
        why = f"the address has the name {name!r}, the document {named!r}; use the same name"
        faults.insert(0, ("name", why))
    if faults:
        raise refuse_values(422, faults, "The scenario cannot be used")
    return scenario


def _locate_faults(fault: BadParameters) -> list[tuple[str, str]]:
    return [(f"parameters.{p}" if p else "", _prefix_field(p, text)) for p, text in fault.faults]


def _prefix_field(field: str, text: str) -> str:
    return f"{field}: {text}" if field else text


# Scenario texts and files: checked as `mock-platform check` does, saved in a scenario folder.

NO_FOLDER = (
    "The server was started without a folder of scenarios, so there is none to save in. Start it "
    "with --scenario FOLDER, or download the file."
)


class SavedScenario(Struct, frozen=True):
    """A scenario that was saved, and is known to all worlds."""

    file: Path
    scenario: Scenario
    kept: Sequence[str]
    """Why worlds in which it is active go on with its last version."""


def check_scenario_text(
    platform: Platform, text: str, name: str = "scenario.yaml", folder: Path | None = None
) -> CheckedText:
    """Return the faults and oddities of a text; in a folder it may name files beside it.

    The suffix of `name` decides between YAML and JSON.
    """
    catalog = platform.library.catalog
    try:
        file = None if folder is None else find_place(folder, name)
    except CannotSave:  # a fault of the name, not of the text
        file = None
    return check_text(text.encode(), catalog, name, file)


def find_scenario_folder(platform: Platform, given: str | None = None) -> Path:
    """Return one of the server's scenario folders: the `given` one, else the first.

    Raises:
        ControlRefusal: 409; the server has none. 422; it has not this one.
    """
    folders = platform.start_up.folders
    if not folders:
        raise ControlRefusal(409, NO_FOLDER)
    if given is None:
        return folders[0]
    for folder in folders:
        if str(folder) == given:
            return folder
    listed = ", ".join(str(folder) for folder in folders)
    fault = f"folder: {given!r} is no folder of scenarios of this server; they are: {listed}"
    raise refuse_values(422, [("folder", fault)], "The scenario was not saved")


def save_scenario(
    platform: Platform, text: str, name: str, folder: Path, *, replace: bool = False
) -> SavedScenario:
    """Save a text as the file `name` of a scenario folder; all worlds know its scenario then.

    Raises:
        ControlRefusal: 422 for a text or a name with faults, 409 if the file exists and is not to
            be replaced, 507 if it cannot be written.
    """
    what = "The scenario was not saved"
    try:
        file = find_place(folder, name)
        checked = check_text(text.encode(), platform.library.catalog, name, file)
        if checked.scenario is None:
            raise refuse_text(checked.complaints, what)
        platform.check_scenario(file, checked.scenario)
        write_file(file, text.encode(), replace=replace)
        kept = platform.reload_scenario(file)
        for others in platform.peers.ask_all(RELOAD_SCENARIO, str(file)).values():
            kept += others
    except FileExists as fault:
        raise refuse_values(409, [("file", f"file: {fault}")], what) from fault
    except CannotSave as fault:
        status = 507 if isinstance(fault.__cause__, OSError) else 422
        raise refuse_values(status, [("file", f"file: {fault}")], what) from fault
    except BadScenario as fault:
        raise refuse_text(fault.complaints, what) from fault
    except (BadParameters, CannotPerform) as fault:
        raise refuse_values(422, [("", str(fault))], what) from fault
    return SavedScenario(file, checked.scenario, kept)


def refuse_text(complaints: Sequence[Complaint], what: str) -> ControlRefusal:
    """A refusal of a text: 422 with the line and the column of every fault."""
    faults = [
        {"field": each.field, "message": each.text, "line": each.line, "column": each.column}
        for each in complaints
    ]
    return ControlRefusal(422, f"{what}: {'; '.join(map(_locate, complaints))}", faults=faults)


def _locate(complaint: Complaint) -> str:
    where = f"{complaint.field}: " if complaint.field else ""
    return f"line {complaint.line}, column {complaint.column}: {where}{complaint.text}"


ROUTES = (
    Route("GET", "/scenarios", list_scenarios),
    Route("GET", "/scenarios/schema.json", schema),
    Route("POST", "/scenarios/deactivate", deactivate_all, status=204),
    Route("GET", "/scenarios/<name>", get_scenario),
    Route(
        "PUT",
        "/scenarios/<name>",
        put_scenario,
        body=None,
        body_form=body_form,
        name_pattern=SCENARIO_NAME,
        yaml=True,
    ),
    Route("DELETE", "/scenarios/<name>", delete_scenario, status=204),
    Route("POST", "/scenarios/<name>/activate", activate, body=ActivationBody),
    Route("POST", "/scenarios/<name>/deactivate", deactivate),
    Route("GET", "/failures", list_failures, query=QueryOfFailures, returns=FailuresAnswer),
)
