"""Scenarios of a world: list, define, activate, deactivate."""

from __future__ import annotations

from typing import Any

from mock_platform.control.refusal import ControlRefusal, refuse_values
from mock_platform.control.route import ControlRequest, object_of
from mock_platform.core.description.schemas import Converter
from mock_platform.core.fields import Json
from mock_platform.core.jsonio import dumps
from mock_platform.core.schema import Schema
from mock_platform.platform import Platform
from mock_platform.scenario.director import find_engine
from mock_platform.scenario.document import Scenario, loads
from mock_platform.scenario.engine import Engine
from mock_platform.scenario.errors import BadParameters, BadScenario, NotDefinedHere
from mock_platform.scenario.schema import json_schema, make_forms


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
    """Returns the description of a scenario: only its outermost form; the name may be absent.

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
    """Define or replace a scenario in this world, until its reset; the body is like a file."""
    return define_scenario(request, _read(request, request.args["name"]))


def define_scenario(request: ControlRequest, scenario: Scenario) -> dict[str, Any]:
    """Define a scenario in this world; returns it as the control plane shows it.

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
    """The JSON Schema of scenario documents, for editors."""
    return json_schema(request.platform.library.catalog.ids)


def _engine(request: ControlRequest) -> Engine:
    return find_engine(request.world)


def _read(request: ControlRequest, name: str) -> Scenario:
    """Returns the scenario of a body in JSON or YAML; the address may contain its name."""
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
