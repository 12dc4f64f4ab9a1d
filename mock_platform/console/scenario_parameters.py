"""The parameters of a scenario as a form: a field each, and the values that were sent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from mock_platform.console.scenario_texts import find_comments
from mock_platform.console.values import to_number
from mock_platform.core.jsonio import BadJson, dumps, loads
from mock_platform.scenario.document import Scenario
from mock_platform.scenario.errors import BadParameters
from mock_platform.scenario.parameter_forms import ParameterForm, describe_parameters

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
    """Returns the fields of a scenario's parameters, with the `given` values or the defaults."""
    comments = find_comments(scenario)
    fields = []
    for form in describe_parameters(scenario):
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
    """Returns the parameters that a form sent, and what is wrong with them by field.

    An empty field is the default, so it is not among them.
    """
    given: dict[str, Any] = {}
    faults: list[tuple[str, str]] = []
    for form in describe_parameters(scenario):
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
    """Returns the value of a text.

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
    """Returns the hint of a field: the author's comment, what it may be, the default."""
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
