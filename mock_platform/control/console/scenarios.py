"""Scenarios: found, switched on with parameters, watched while they act, switched off."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from flask import Response
from msgspec import Struct
from msgspec.structs import replace

from mock_platform.control.console.answers import (
    FormState,
    answer_form,
    go,
    read_form,
    render,
    to_number,
)
from mock_platform.control.operation_pages import find_operation_parameter
from mock_platform.control.refusals import refuse_values
from mock_platform.control.route import HTML, ControlRequest, Route
from mock_platform.control.scenarios import (
    activate,
    deactivate,
    deactivate_all,
    delete_scenario,
    get_scenario,
    list_scenarios,
)
from mock_platform.core.errors import BadParameters
from mock_platform.core.fields import Choice, Integer, Text
from mock_platform.core.installed import folder
from mock_platform.core.jsonio import BadJson, dumps, loads
from mock_platform.core.schema import Schema
from mock_platform.scenario.director import find_engine
from mock_platform.scenario.document import Scenario
from mock_platform.scenario.schema import ParameterForm, describe_parameters
from mock_platform.scenario.source import MAX_BYTES
from mock_platform.scenario.writing import write_document

# The texts of scenarios: their files as they are, else what is known of them as YAML.

_HEADING = "# "


def find_text(scenario: Scenario) -> tuple[str, str]:
    """Return the text of a scenario and the name of a file for it.

    The file of the scenario is returned as its author wrote it, with its comments.
    """
    file = scenario.file
    if file is not None:
        try:
            content = file.read_bytes()
        except OSError:  # removed since; what the server knows of it remains
            content = b""
        if content and len(content) <= MAX_BYTES:
            return content.decode("utf-8-sig", "replace"), file.name
    text, suffix = write_document(scenario.document)
    return text, f"{scenario.name}{suffix}"


def find_comments(scenario: Scenario) -> dict[str, str]:
    """Return what the author wrote beside the parameters: comments at the ends of their lines."""
    text, name = find_text(scenario)
    if name.endswith(".json") or not scenario.parameters:
        return {}
    return _read_comments(text)


def _read_comments(text: str) -> dict[str, str]:
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        # The document was read before, within bounds and without aliases.
        parameters = YAML(typ="rt", pure=True).load(text)["parameters"]
    except (YAMLError, KeyError, TypeError):
        return {}
    found = getattr(parameters, "ca", None)
    comments: dict[str, str] = {}
    for key, tokens in (found.items if found is not None else {}).items():
        token = tokens[2]
        first = "" if token is None else str(token.value).strip().partition("\n")[0]
        if first.startswith(_HEADING):
            comments[key] = first.removeprefix(_HEADING).strip()
    return comments


# The parameters of a scenario as a form: a field each, and the values that were sent.

MAX_OPTIONS = 30
"""With more allowed values, a field suggests them instead of a choice."""
PREFIX = "parameters."
"""Before the names of the fields, as in the faults of an activation."""
_ANY = "any."
_JSON = "json."


class ParameterField(Struct, frozen=True):
    """The field of a parameter: what it shows at first, and how it is described."""

    form: ParameterForm
    value: str
    hint: str
    is_any: bool
    """Whether it was given as null: any."""
    is_json: bool
    """Whether the value is read as JSON, not as text."""
    may_be_any: bool
    """Whether null is offered: the scenario can be switched on with it."""

    @property
    def name(self) -> str:
        """The name of the field."""
        return f"{PREFIX}{self.form.name}"

    @property
    def any_name(self) -> str:
        """The name of the box for null, which restricts nothing."""
        return f"{_ANY}{self.form.name}"

    @property
    def json_name(self) -> str:
        """The name of the choice between text and JSON."""
        return f"{_JSON}{self.form.name}"

    @property
    def options(self) -> list[str]:
        """The values of a choice; empty if it is no choice."""
        form = self.form
        few = form.only_choices and len(form.choices) <= MAX_OPTIONS
        return [str(each) for each in form.choices] if few else []

    @property
    def suggestions(self) -> list[str]:
        """Values that a text field suggests."""
        return [] if self.options else [str(each) for each in self.form.choices]


def describe_fields(scenario: Scenario, given: Mapping[str, Any]) -> list[ParameterField]:
    """Return the fields of a scenario's parameters, with the `given` values or the defaults."""
    comments = find_comments(scenario)
    fields = []
    for form in describe_parameters(scenario.document, scenario.catalog.ids):
        value = given.get(form.name, form.default)
        fields.append(
            ParameterField(
                form=form,
                value=_show(form, value),
                hint=_describe(form, comments.get(form.name, "")),
                is_any=value is None and form.default is not None,
                is_json=form.kind == "any" and value is not None and not isinstance(value, str),
                may_be_any=form.default is not None and _may_be_any(scenario, form.name),
            )
        )
    return fields


def read_parameters(
    scenario: Scenario, values: Mapping[str, str]
) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """Return the parameters that a form sent, and what is wrong with them by field.

    An empty field is the default, so it is not among them.
    """
    given: dict[str, Any] = {}
    faults: list[tuple[str, str]] = []
    for form in describe_parameters(scenario.document, scenario.catalog.ids):
        text = values.get(f"{PREFIX}{form.name}", "")
        if f"{_ANY}{form.name}" in values:
            given[form.name] = None
        elif text.strip():
            as_json = form.kind == "json" or values.get(f"{_JSON}{form.name}") == "json"
            try:
                given[form.name] = _read_value(form, text, as_json=as_json)
            except BadJson as fault:
                where = f"line {fault.line}, column {fault.column}"
                faults.append((f"{PREFIX}{form.name}", f"{form.name}: {where}: {fault}"))
    return given, faults


def _read_value(form: ParameterForm, text: str, *, as_json: bool) -> Any:
    """Return the value of a text.

    Raises:
        BadJson: It is to be JSON, and is not.
    """
    if as_json:
        return loads(text.encode())
    if form.kind in {"number", "duration"}:
        return to_number(text.strip())
    if form.kind == "flag" and text in {"true", "false"}:
        return text == "true"
    return text


def _show(form: ParameterForm, value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str) and form.kind != "json":
        return value
    return dumps(value).decode()


def _write(number: float) -> str:
    return f"{number:,.0f}" if number == int(number) else f"{number:g}"


def _may_be_any(scenario: Scenario, name: str) -> bool:
    try:
        scenario.bind({name: None})
    except BadParameters:
        return False
    return True


def _describe(form: ParameterForm, comment: str) -> str:
    """Return the hint of a field: the author's comment, what it may be, the default."""
    parts = [comment] if comment else []
    if form.low is not None and form.high is not None:
        kind = "whole number" if form.whole else "number"
        what = f"a {kind} of seconds" if form.kind == "duration" else f"a {kind}"
        units = ", or with a unit such as 15m" if form.kind == "duration" else ""
        parts.append(f"{what} from {_write(form.low)} to {_write(form.high)}{units}")
    elif form.kind == "json":
        parts.append("as JSON")
    if form.default is None:
        parts.append("empty: any")
    else:
        shown = _show(form, form.default)
        parts.append(f"default: {shown if len(shown) <= 60 else shown[:60] + '…'}")
    text = "; ".join(parts)
    return f"{text[:1].upper()}{text[1:]}."


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
    """Return the scenarios of the world: the active ones with their counts, and all known ones."""
    return _show_list(request, "content")


def show_active(request: ControlRequest) -> Response:
    """Return the active scenarios alone, for the page that shows their counts live."""
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
    """Return where a file is, without what is different on each machine."""
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

    def switch(values: Mapping[str, str]) -> Response:
        name = request.args["name"]
        given, faults = read_parameters(find_engine(request.world).find(name), values)
        if faults:
            raise refuse_values(422, faults, "The scenario was not activated")
        activate(replace(request, body={"parameters": given}))
        return go(request, f"{PATH}/{quote(name)}", f"{name} is on.")

    return answer_form(request, switch, show_scenario)


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
    """Return a scenario as a file."""
    text, name = find_text(find_engine(request.world).find(request.args["name"]))
    return send_text(text, name)


def send_text(text: str, name: str) -> Response:
    """Return a text as a file to be saved under a name of letters, digits, dots and hyphens."""
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(text, content_type="text/plain; charset=utf-8", headers=headers)


def summarize(told: Mapping[str, Any]) -> dict[str, Any]:
    """Return a scenario with the counts of all its rules together."""
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
    """Return the query of another page of the same list."""
    shown = {name: request.query[name] for name in ("q", "show")}
    return f"?{urlencode({**shown, 'skip': max(0, skip)})}"


def _has_words(told: Mapping[str, Any], words: Sequence[str]) -> bool:
    text = f"{told['name']} {told['description']} {told['spec']}".lower()
    return all(word in text for word in words)


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
