"""Scenarios: found, switched on with parameters, watched while they act, switched off."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from flask import Response
from msgspec import Struct
from msgspec.structs import replace

from mock_platform.api.v2.release_history import EVENT_NAMES
from mock_platform.control.console.answers import (
    FormState,
    answer_form,
    find_target,
    go,
    read_form,
    render,
    to_number,
)
from mock_platform.control.console.pickers import (
    CALLS,
    DURATIONS,
    MAX_RECORDS,
    MORE_CALLS,
    TIMES,
    Options,
    list_operations,
    list_records,
)
from mock_platform.control.operation_pages import find_operation_parameter
from mock_platform.control.refusals import refuse_values
from mock_platform.control.route import HTML, ControlRequest, Route
from mock_platform.control.scenario_cards import FAULTS, ScenarioCard, make_cards, search_cards
from mock_platform.control.scenarios import (
    activate,
    deactivate,
    deactivate_all,
    delete_scenario,
    get_scenario,
)
from mock_platform.core.documents.source import MAX_BYTES
from mock_platform.core.fields import Choice, Text
from mock_platform.core.installed import folder
from mock_platform.core.jsonio import BadJson, dumps, loads
from mock_platform.core.schema import Schema
from mock_platform.scenario.director import find_engine
from mock_platform.scenario.document import Scenario
from mock_platform.scenario.groups import GROUPS, MAIN
from mock_platform.scenario.schema import ParameterForm, describe_parameters
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


# The parameters of a scenario as a form: a field each, in words a tester uses.

PREFIX = "parameters."
"""Before the names of the fields, as in the faults of an activation."""
_NUMBER = "number."
"""Before the names of the fields for a number that a choice does not offer."""
_ANY = "any"
"""The value of a choice that stands for null, where null restricts nothing."""
_LABELS = {
    "on": "Which operation",
    "call": "Which call",
    "times": "How often",
    "failures": "How often",
    "reads": "How many reads show it",
    "limit": "How many calls are let through",
    "window": "How long until the next ones are",
    "status": "Status of the answer",
    "fault": "What happens to the connection",
    "after_lines": "After how many lines",
    "seconds": "How long it takes",
    "least": "At least how long",
    "most": "At most how long",
    "slow_body": "How much longer the body takes",
    "attempts": "How many attempts fail",
    "event_type": "Which event",
    "first": "From which call on",
    "read": "From which read on",
    "errors": "The errors",
    "user": "Which user",
}
_KINDS = {"webhook": "webhooks", "user": "users", "card": "poll_cards", "entity": "line_items"}
"""Tables of parameters that are not called like them."""


class ParameterField(Struct, frozen=True):
    """The field of a parameter: what it shows at first, and how it is described."""

    form: ParameterForm
    label: str
    value: str
    hint: str
    options: Sequence[Options] = ()
    """What it offers; empty if it is no choice."""
    suggestions: Sequence[tuple[str, str]] = ()
    """Values that a text field suggests, with their texts."""
    takes_number: bool = False
    """Whether another number than those of the choice can be written."""

    @property
    def name(self) -> str:
        """The name of the field."""
        return f"{PREFIX}{self.form.name}"

    @property
    def number_name(self) -> str:
        """The name of the field for another number."""
        return f"{_NUMBER}{self.form.name}"


def describe_fields(
    request: ControlRequest, scenario: Scenario, given: Mapping[str, Any]
) -> list[ParameterField]:
    """Return the fields of a scenario's parameters, with the `given` values or the defaults."""
    comments = find_comments(scenario)
    return [
        _describe(request, scenario, form, given.get(form.name, form.default), comments)
        for form in describe_parameters(scenario.document, scenario.catalog.ids)
    ]


def read_parameters(
    scenario: Scenario, values: Mapping[str, str]
) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """Return the parameters that a form sent, and what is wrong with them by field.

    An empty field is the default, so it is not among them.
    """
    given: dict[str, Any] = {}
    faults: list[tuple[str, str]] = []
    for form in describe_parameters(scenario.document, scenario.catalog.ids):
        other = values.get(f"{_NUMBER}{form.name}", "").strip()
        text = other or values.get(f"{PREFIX}{form.name}", "")
        if text == _ANY and _restricts(form):
            given[form.name] = None
        elif text.strip():
            try:
                given[form.name] = _read_value(form, text)
            except BadJson as fault:
                where = f"line {fault.line}, column {fault.column}"
                faults.append((f"{PREFIX}{form.name}", f"{form.name}: {where}: {fault}"))
    return given, faults


def _read_value(form: ParameterForm, text: str) -> Any:
    """Return the value of a text.

    Raises:
        BadJson: It is to be JSON, and is not.
    """
    if form.used == ("on",):
        return loads(text.encode()) if text.startswith("[") else text.strip()
    # Where any value is allowed, an object is a condition; no id begins like one.
    if form.kind == "json" or (form.kind == "any" and text.lstrip().startswith("{")):
        return loads(text.encode())
    if form.kind in {"number", "duration"} or form.used == ("call",):
        return to_number(text.strip())
    if form.kind == "flag" and text in {"true", "false"}:
        return text == "true"
    return text


def _restricts(form: ParameterForm) -> bool:
    """Return whether a parameter only says which requests and how many, so null means any."""
    return all(use.partition(".")[0] in {"when", "call", "times"} for use in form.used)


def _show(form: ParameterForm, value: Any) -> str:
    if value is None:
        return "" if form.default is None else _ANY
    if isinstance(value, str) and form.kind != "json":
        return value
    return dumps(value).decode()


def _describe(
    request: ControlRequest,
    scenario: Scenario,
    form: ParameterForm,
    value: Any,
    comments: Mapping[str, str],
) -> ParameterField:
    noun = form.name.removesuffix("_id").replace("_", " ")
    is_key = form.name.endswith("_id")
    label = _LABELS.get(form.name) or (f"Which {noun}" if is_key else noun.capitalize())
    hint, unset = _split_comment(comments.get(form.name, ""))
    described = ParameterField(form, label, _show(form, value), hint)
    if form.used == ("on",):
        listed = [form.default, value]
        several = [(_show(form, each), _count(each)) for each in listed if isinstance(each, list)]
        options = list_operations(request.platform.operations)
        if several:
            options.insert(0, Options("", [*dict.fromkeys(several)]))
        return replace(described, options=options)
    rows, suggested = _list_choices(request, scenario, form)
    takes_number = form.used in {("call",), ("times",)}
    if not rows:
        return replace(described, hint=_join(hint, _describe_bounds(form), unset and
                       f"left empty: {unset}"), suggestions=suggested)  # fmt: skip
    every = {"call": "every call", "times": "every time"}.get(form.name, f"any {noun}")
    if form.default is None:
        rows.insert(0, ("", every if _restricts(form) else unset or "as usual"))
    elif _restricts(form):
        rows.insert(0, (_ANY, every))
    shown = described.value
    if shown not in {row[0] for row in rows}:
        rows.append((shown, shown))
    return replace(described, options=[Options("", rows)], takes_number=takes_number)


def _list_choices(
    request: ControlRequest, scenario: Scenario, form: ParameterForm
) -> tuple[list[tuple[str, str]], Sequence[tuple[str, str]]]:
    """Return the options of a parameter, and what its field suggests if it has none."""
    rows: list[tuple[str, str]] = []
    if form.used == ("call",):
        rows = [*CALLS, *(MORE_CALLS if form.default is None else ())]
    elif form.used == ("times",):
        rows = [*TIMES]
    elif form.kind == "duration":
        return [], [(each, each) for each in DURATIONS]
    elif form.kind == "flag":
        rows = [("true", "yes"), ("false", "no")]
    elif form.choices and form.only_choices:
        rows = [(str(each), _word_choice(form, str(each))) for each in form.choices]
    elif form.name == "event_type":
        rows = [(each.name, each.name) for each in EVENT_NAMES]
    elif table := _find_table(request, scenario, form):
        rows = list_records(request.world, table)
    return (rows, ()) if len(rows) < MAX_RECORDS else ([], rows)


def _count(operations: Sequence[str]) -> str:
    """Return what an option for several operations says."""
    more = len(operations) - 2
    named = ", ".join(operations[:2])
    return f"{named} and {more} more" if more > 0 else named


def _word_choice(form: ParameterForm, value: str) -> str:
    return f"{FAULTS[value]} ({value})" if form.name == "fault" and value in FAULTS else value


def _find_table(request: ControlRequest, scenario: Scenario, form: ParameterForm) -> str | None:
    """Return the table whose records a parameter names, if it can be found by its name."""
    name = form.name.removesuffix("_id")
    if form.kind not in {"any", "text"} or form.name not in {f"{name}_id", "id", "user"}:
        return None
    if form.name == "id":
        on = scenario.document["rules"][0].get("on")
        name = on.partition(".")[0] if isinstance(on, str) else ""
    found = (_KINDS.get(name), name, f"{name}s", f"{name}_creatives")
    return next((each for each in found if each in request.platform.tables), None)


def _split_comment(comment: str) -> tuple[str, str]:
    """Return a comment without what it says of null, and what that is in words."""
    parts = [part.strip() for part in comment.split(";")]
    null = next((part for part in parts if part.startswith("null:")), "")
    kept = [part for part in parts if part and part != null and not part.startswith("or ")]
    return _join(*kept), null.removeprefix("null:").strip()


def _describe_bounds(form: ParameterForm) -> str:
    """Return what a number or a duration may be."""
    if form.kind == "duration":
        return "seconds, or with a unit: 30s, 15m, 2h"
    if form.low is None or form.high is None or form.high >= _MANY:
        return "as JSON" if form.kind == "json" else ""
    return f"from {_write(form.low)} to {_write(form.high)}"


_MANY = 1_000_000


def _write(number: float) -> str:
    return f"{number:,.0f}" if number == int(number) else f"{number:g}"


def _join(*parts: str) -> str:
    text = "; ".join(part.rstrip(".") for part in parts if part)
    return f"{text[:1].upper()}{text[1:]}." if text else ""


PATH = "/console/scenarios"
SHOWN = ("all", "active", "own")


class ScenarioSearch(Schema):
    """What the list shows."""

    q = Text(load_default="", metadata={"description": "a status, a code, or words"})
    show = Choice(SHOWN, load_default="all")


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
    engine = find_engine(request.world)
    scenarios = engine.list_scenarios()
    running = engine.describe_active()
    active = {each["name"] for each in running}
    show, defined = request.query["show"], engine.list_defined()
    cards = [] if block == "active" else make_cards(request.platform, scenarios, by_click=True)
    found = [
        card
        for card in search_cards(cards, request.query["q"])
        if (show != "active" or card.name in active) and (show != "own" or card.name in defined)
    ]
    return render(
        request,
        "scenarios.html",
        block=block,
        active=[summarize(each) for each in running],
        names=active,
        sections=_divide(request, found),
        count=len(found),
        defined=defined,
        total=len(scenarios),
        shown=SHOWN,
        query=request.query,
    )


def _divide(
    request: ControlRequest, found: Sequence[ScenarioCard]
) -> list[tuple[str, Sequence[ScenarioCard], bool]]:
    """Return title, cards and whether it is open of each part of the list.

    What is searched for is one part; else there are the recently used ones, the main ones, and
    the groups.
    """
    if request.query["q"].strip() or request.query["show"] != "all":
        return [("Found", found, True)] if found else []
    used = _read_used(request)
    recent = [card for name in used for card in found if card.name == name]
    main = [card for card in found if card.name in MAIN]
    parts = [("Recently used", recent, True), ("What clients meet most", main, True)]
    for name, title in GROUPS.items():
        parts.append((title, [card for card in found if card.group == name], False))
    return [part for part in parts if part[1]]


_USED = "mock_platform_used"
"""The cookie with the names of the scenarios that were switched on last."""
_MAX_USED = 4
_USED_SECONDS = 30 * 86_400


def _read_used(request: ControlRequest) -> list[str]:
    return request.flask.cookies.get(_USED, "").split()[:_MAX_USED]


def show_scenario(request: ControlRequest, form: FormState | None = None) -> Response:
    """One scenario: what it does, its parameters as a form, its counts, its text."""
    told = get_scenario(request)
    engine = find_engine(request.world)
    scenario = engine.find(told["name"])
    text, name = find_text(scenario)
    given = dict(told["given"] if told["active"] else scenario.card)
    parameter = find_operation_parameter(scenario)
    if parameter is not None and "operation" in request.query:
        given[parameter] = request.query["operation"]
    return render(
        request,
        "scenario.html",
        block="content",
        form=form,
        each=summarize(told),
        card=make_cards(request.platform, [scenario], by_click=True)[0],
        fields=describe_fields(request, scenario, given),
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
        scenario = find_engine(request.world).find(name)
        given, faults = read_parameters(scenario, values)
        if faults:
            raise refuse_values(422, faults, "The scenario was not activated")
        if values.get("back") == "list":  # a click on its card, not the form
            given = dict(scenario.card)
        activate(replace(request, body={"parameters": given}))
        back = PATH if values.get("back") == "list" else f"{PATH}/{quote(name)}"
        response = go(request, back, f"{name} is on.")
        used = dict.fromkeys([name, *_read_used(request)])
        response.set_cookie(
            _USED, " ".join([*used][:_MAX_USED]), max_age=_USED_SECONDS, samesite="Strict",
            httponly=True,
        )  # fmt: skip
        return response

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
    return go(
        request, find_target(read_form(request).get("back", ""), PATH), "All scenarios are off."
    )


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
