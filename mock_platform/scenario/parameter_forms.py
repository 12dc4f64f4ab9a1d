"""What the parameters of a scenario may be: their kinds, bounds and allowed values.

They follow from the default of a parameter and from the places where the rules name it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct

from mock_platform.scenario.catalog import OnForm
from mock_platform.scenario.document import Scenario
from mock_platform.scenario.forms import (
    ANY_NUMBER,
    EntriesForm,
    FieldsForm,
    FlagForm,
    Form,
    ListForm,
    NumberForm,
    StructureForm,
    WholeForm,
    WordForm,
    find_references,
    is_number,
    parse_reference,
)
from mock_platform.scenario.schema import RuleForm, make_forms
from mock_platform.scenario.value_forms import DurationForm, InstantForm, KeyedForm, TypedForm

Kind = Literal["text", "number", "duration", "flag", "json", "any"]


class ParameterForm(Struct, frozen=True):
    """One parameter of a scenario: its default and what its value may be."""

    name: str
    default: Any
    kind: Kind
    """`duration` is seconds or a text with units, `json` a list or an object, `any` everything."""
    choices: tuple[Any, ...] = ()
    """The allowed values, if they can be listed."""
    only_choices: bool = True
    """Whether other values than the choices are refused everywhere."""
    low: float | None = None
    high: float | None = None
    whole: bool = False
    """Whether a number must be whole."""
    used: tuple[str, ...] = ()
    """The keys in the rules where the value stands."""


def describe_parameters(scenario: Scenario) -> list[ParameterForm]:
    """Return the parameters of a scenario, in the order of its document."""
    rule_form = make_forms(scenario.catalog.ids).rule
    forms: dict[str, list[Form]] = {name: [] for name in scenario.parameters}
    used: dict[str, list[str]] = {name: [] for name in scenario.parameters}
    for rule in scenario.document["rules"]:
        for name, form in _find_uses(rule_form, rule):
            forms[name].append(form)
        for at, name in find_references(rule, ()):
            used[name].append(".".join(str(step) for step in at))
    return [
        _describe(name, default, forms[name], tuple(dict.fromkeys(used[name])))
        for name, default in scenario.parameters.items()
    ]


def _describe(
    name: str, default: Any, forms: Sequence[Form], used: tuple[str, ...]
) -> ParameterForm:
    kind = _find_kind(default, forms)
    listed = [choices for form in forms if (choices := _list_choices(form))]
    shared = [each for each in listed[0] if all(each in row for row in listed)] if listed else []
    numbers = [
        form
        for form in forms
        if isinstance(form, WholeForm | NumberForm | DurationForm)
        and kind in {"number", "duration"}
        and not _list_choices(form)
        and form.high < ANY_NUMBER
    ]
    return ParameterForm(
        name=name,
        default=default,
        kind=kind,
        choices=tuple(shared) if kind in {"text", "number"} else (),
        only_choices=not any(isinstance(form, OnForm) for form in forms),
        low=max((form.low for form in numbers), default=None),
        high=min((form.high for form in numbers), default=None),
        whole=any(isinstance(form, WholeForm) or _is_whole(form) for form in numbers),
        used=used,
    )


def _is_whole(form: Form) -> bool:
    return isinstance(form, DurationForm) and form.whole


def _find_kind(default: Any, forms: Sequence[Form]) -> Kind:
    if not isinstance(default, list | dict) and any(isinstance(f, DurationForm) for f in forms):
        return "duration"
    if default is not None:
        return _find_kind_of_value(default)
    kinds = {_find_kind_of_form(form) for form in forms}
    return kinds.pop() if len(kinds) == 1 else "any"


def _find_kind_of_value(value: Any) -> Kind:
    if isinstance(value, bool):
        return "flag"
    if is_number(value):
        return "number"
    return "text" if isinstance(value, str) else "json"


def _find_kind_of_form(form: Form) -> Kind:
    kinds: Mapping[type, Kind] = {
        WholeForm: "number",
        NumberForm: "number",
        FlagForm: "flag",
        InstantForm: "text",
        WordForm: "text",
        OnForm: "text",
        ListForm: "json",
        EntriesForm: "json",
        FieldsForm: "json",
        KeyedForm: "json",
    }
    return kinds.get(type(form), "any")


def _list_choices(form: Form) -> tuple[Any, ...]:
    if isinstance(form, WordForm | WholeForm):
        return form.choices
    return (*form.words, *form.operations) if isinstance(form, OnForm) else ()


def _find_uses(form: Form, value: Any) -> Iterator[tuple[str, Form]]:
    """Yield each parameter that a value names, with the form of its place."""
    form = _unwrap(form)
    name = parse_reference(value)
    if name is not None:
        # A text names the parameter, but its value may be of any type that the place allows.
        options = [*form.options.values()] if isinstance(form, TypedForm) else [form]
        yield from ((name, _unwrap(option)) for option in options)
    elif isinstance(form, RuleForm):
        yield from _find_uses(form.find(value), value)
    elif isinstance(form, TypedForm | KeyedForm):
        chosen = form.find(value)
        if chosen is not None:
            yield from _find_uses(chosen, value)
    elif isinstance(form, FieldsForm) and isinstance(value, dict):
        for key, item in value.items():
            if key in form.fields:
                yield from _find_uses(form.fields[key], item)
    elif isinstance(form, EntriesForm) and isinstance(value, dict):
        for item in value.values():
            yield from _find_uses(form.value, item)
    elif isinstance(form, ListForm) and isinstance(value, list):
        for item in value:
            yield from _find_uses(form.item, item)


def _unwrap(form: Form) -> Form:
    """Return the form of a part of the structure without its wrapper."""
    while isinstance(form, StructureForm):
        form = form.shape
    return form
