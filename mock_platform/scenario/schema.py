"""The form of a scenario document, for the loader and as published JSON Schema."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal

from msgspec import Struct

from mock_platform.core.documents.forms import (
    ANY_NUMBER,
    NAME,
    AnyForm,
    DurationForm,
    EntriesForm,
    FaultReport,
    FieldsForm,
    FlagForm,
    Form,
    InstantForm,
    JsonSchema,
    KeyedForm,
    ListForm,
    NumberForm,
    Row,
    StructureForm,
    TypedForm,
    WholeForm,
    WordForm,
    is_number,
    make_object,
    parse_reference,
)
from mock_platform.core.documents.source import Path
from mock_platform.core.jsonio import canonical
from mock_platform.scenario.catalog import OnForm
from mock_platform.scenario.deliveries import (
    DELIVERIES,
    DELIVERY_EFFECT,
    LINE_EFFECT,
    LINES,
    WITHOUT_REQUEST,
    make_event_form,
)
from mock_platform.scenario.effects import KINDS
from mock_platform.scenario.groups import GROUPS, OTHER
from mock_platform.scenario.match import WHEN
from mock_platform.scenario.outline import ANY_NAME
from mock_platform.scenario.references import find_references

# Makes a JSON Schema small: parts that occur more than once are defined once.

_ONE = ("if", "then", "else", "items", "propertyNames", "additionalProperties", "not")
_MANY = ("allOf", "anyOf")
_LEAST_CHARACTERS = 60
"""The size from which a repeated part is worth a definition."""


def share_parts(schema: JsonSchema) -> JsonSchema:
    """Return an equal schema whose repeated parts are references to `$defs`."""
    counts: Counter[Any] = Counter()

    def count(part: JsonSchema) -> JsonSchema:
        key = canonical(part)
        counts[key] += 1
        if counts[key] == 1:  # the parts of a repeated one are shared with it
            _map_parts(part, count)
        return part

    names: dict[Any, str] = {}
    definitions: dict[str, JsonSchema] = {}

    def replace(part: JsonSchema) -> JsonSchema:
        key = canonical(part)
        if counts[key] < 2 or len(key) < _LEAST_CHARACTERS:
            return _simplify(_map_parts(part, replace))
        if key not in names:
            name = names[key] = f"{part.get('title', 'part')}-{len(names) + 1}".replace(" ", "-")
            definitions[name] = _simplify(_map_parts(part, replace))
        return {"$ref": f"#/$defs/{names[key]}"}

    count(schema)
    return {**replace(schema), "$defs": definitions}


def _map_parts(schema: JsonSchema, change: Callable[[JsonSchema], JsonSchema]) -> JsonSchema:
    """Return a schema with each of its direct parts changed."""
    found = dict(schema)
    for name in _ONE:
        if isinstance(found.get(name), dict):
            found[name] = change(found[name])
    for name in _MANY:
        if name in found:
            found[name] = [change(part) for part in found[name]]
    if "properties" in found:
        found["properties"] = {name: change(part) for name, part in found["properties"].items()}
    return found


def _simplify(schema: JsonSchema) -> JsonSchema:
    """Return a description of one reference without the list around it."""
    parts = schema.get("allOf")
    if parts is None or len(parts) != 1 or [*parts[0]] != ["$ref"]:
        return schema
    return {**{name: value for name, value in schema.items() if name != "allOf"}, **parts[0]}


BEFORE_AUTH = "before_auth"
EVERYTHING = "*"
SCHEMA_ID = "urn:mock-platform:scenario:1"
"""The `$id` of the published schema; its number grows when files have to change."""
_COUNT = WholeForm(1, 1_000_000)
_EFFECT = KeyedForm(
    forms={name: kind.form for name, kind in KINDS.items() if kind.form is not None},
    by_value={name: kind.by_value for name, kind in KINDS.items() if kind.by_value is not None},
    what="an effect",
)


class Forms(Struct, frozen=True):
    """The forms of a document and of a rule in it."""

    document: FieldsForm
    rule: RuleForm


class RuleForm(Struct, frozen=True):
    """The forms of rules on requests, on deliveries and on lines; the value of `on` decides."""

    request: FieldsForm
    delivery: FieldsForm
    line: FieldsForm

    def schema(self) -> JsonSchema:
        """Return both forms, with a condition on `on`."""
        return {
            "type": "object",
            "if": _describe_on(DELIVERIES),
            "then": {"title": "Rule on deliveries", **self.delivery.schema()},
            "else": {
                "if": _describe_on(LINES),
                "then": {"title": "Rule on lines", **self.line.schema()},
                "else": {"title": "Rule on requests", **self.request.schema()},
            },
        }

    def check(self, value: Any, at: Path, report: FaultReport) -> None:
        """Report violations against the form of the rule's kind."""
        self.find(value).check(value, at, report)

    def find(self, value: Any) -> FieldsForm:
        """Return the form of the rule's kind."""
        on = value.get("on") if isinstance(value, dict) else None
        others = {DELIVERIES: self.delivery, LINES: self.line}
        return others.get(on, self.request) if isinstance(on, str) else self.request


def _describe_on(name: str) -> JsonSchema:
    return {"properties": {"on": {"const": name}}, "required": ["on"]}


_CALL = TypedForm(
    number=_COUNT,
    object=make_object(
        {
            "from": (_COUNT, "The first matching call on which the rule acts.", "1"),
            "to": (_COUNT, "The last one.", "no end"),
            "every": (_COUNT, "Every nth call, counted from the first one.", "1"),
        },
        least=1,
    ),
    what="the number of a matching call, or an object with from, to, every",
)


def _make_rows(on: Row, when: Form, effect: Form, what: str) -> dict[str, Row]:
    """Return the fields that rules of every kind have; `what` is what an effect acts on."""
    effects = TypedForm(
        object=effect,
        items=ListForm(StructureForm(effect), most=20),
        what=f"an effect{what} or a list of them",
    )
    return {
        "on": on,
        "when": (StructureForm(when), "Conditions, all of which must hold.", "no condition"),
        "call": (
            _CALL,
            "On which matching calls the rule acts: a number, or an object.",
            "every matching call",
        ),
        "times": (_COUNT, "After this number of actions the rule ends.", "no end"),
        "until": (InstantForm(), "At this moment of the world's clock the rule ends.", "no end"),
        "probability": (
            NumberForm(0, 1),
            "The share of calls on which the rule acts, from 0 to 1. The seed of the world and the "
            "number of the call decide, so a repeated run is the same.",
            "1",
        ),
        "then": (
            StructureForm(effects),
            "The effect, or a list of effects that act together.",
        ),
        "expect": (
            StructureForm(WordForm(("fired",))),
            "`fired`: a run or test fails if the rule never acted.",
            "nothing is expected",
        ),
    }


def _make_event_rule_form(on: str, what: str, named: Sequence[str], effect: Form) -> FieldsForm:
    """Return the form of rules on deliveries or on lines."""
    own: Row = (
        StructureForm(WordForm((on,))), f"`{on}`: the rule acts on {on}, not on requests."
    )  # fmt: skip
    return make_object(
        _make_rows(own, make_event_form(named), effect, f" on {what}"),
        required=("on", "then"),
        description=f"When a rule acts on {on}, and what happens to them.",
    )


def _make_request_rule_form(operations: tuple[str, ...]) -> FieldsForm:
    named: Row = (
        TypedForm(
            text=OnForm(operations, (EVERYTHING, *WITHOUT_REQUEST)),
            items=ListForm(OnForm(operations)),
            what="an operation id, a path that no operation serves, a list of them, '*', "
            "'deliveries' or 'lines'",
        ),
        "The id of an operation or a list of ids, `*` for all, `deliveries` or `lines`, "
        "`METHOD /path/:name` for a path that no operation serves, `/path` for a collection.",
        "every request",
    )
    rows = _make_rows(named, WHEN, _EFFECT, "")
    last = {name: rows.pop(name) for name in ("then", "expect")}
    stage: Row = (
        StructureForm(WordForm((BEFORE_AUTH,))),
        "`before_auth`: the rule acts before credentials and parameters are checked.",
        "only requests that nothing else refuses",
    )
    return make_object(
        {**rows, "stage": stage, **last},
        required=("then",),
        description="When a rule acts on requests, and what it does.",
    )


_PARAMETERS = EntriesForm(
    TypedForm(
        text=WordForm(),
        number=NumberForm(-ANY_NUMBER, ANY_NUMBER),
        flag=FlagForm(),
        items=ListForm(AnyForm(), least=0),
        null=True,
        what="a default value, or null for any",
    ),
    pattern=NAME,
    meaning="a parameter's name in lower case",
    least=0,
)


@lru_cache(maxsize=8)
def make_forms(operations: tuple[str, ...]) -> Forms:
    """Return the forms for a server with these operations."""
    rule = RuleForm(
        _make_request_rule_form(operations),
        _make_event_rule_form(
            DELIVERIES, "a delivery", ("id", "event_type", "webhook_id"), DELIVERY_EFFECT
        ),
        _make_event_rule_form(
            LINES, "a line", ("id", "event_type", "endpoint", "app_id"), LINE_EFFECT
        ),
    )
    name = WordForm(
        pattern=ANY_NAME,
        meaning="a name in lower case, digits, dots, hyphens and underscores",
    )
    document = make_object(
        {
            "name": (
                StructureForm(name), "Under this name the scenario is activated and shown.",
            ),
            "description": (WordForm(), "What happens, in a sentence.", "none"),
            "spec": (WordForm(), "The sentence of a specification that says so.", "none"),
            "group": (WordForm(tuple(GROUPS)), "The group in which it is shown.", OTHER),
            "words": (WordForm(), "Other words by which people look for it.", "none"),
            "parameters": (
                StructureForm(_PARAMETERS),
                "Values that an activation can change, by name, with their defaults. `$name` "
                "stands for the value; null restricts nothing and leaves out what it is for.",
                "none",
            ),
            "card": (
                StructureForm(EntriesForm(AnyForm())),
                "Values with which the console switches it on, in place of those defaults.",
                "none",
            ),
            "rules": (
                StructureForm(ListForm(StructureForm(rule), most=500)),
                "The rules. The first one that fits a request acts; each one that fits counts it.",
            ),
            "$schema": (
                StructureForm(WordForm()),
                "Where an editor finds the JSON Schema; without effect otherwise.",
            ),
        },
        required=("name", "rules"),
    )  # fmt: skip
    return Forms(document, rule)


def json_schema(operations: Sequence[str]) -> dict[str, Any]:
    """Return the JSON Schema of scenario documents.

    The loader also checks what the schema cannot express: that each `$name` is a declared
    parameter, that regular expressions are valid, that the effects of a rule can act together.
    """
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": SCHEMA_ID,
        "title": "Scenario of mock_platform",
        **share_parts(make_forms(tuple(operations)).document.schema()),
    }


# What the parameters of a scenario may be: their kinds, bounds and allowed values. They follow from
# the default of a parameter and from the places where the rules name it.

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


def describe_parameters(
    document: Mapping[str, Any], operations: tuple[str, ...]
) -> list[ParameterForm]:
    """Return the parameters of a valid document for a server with these operations."""
    parameters = document.get("parameters") or {}
    rule_form = make_forms(operations).rule
    forms: dict[str, list[Form]] = {name: [] for name in parameters}
    used: dict[str, list[str]] = {name: [] for name in parameters}
    for rule in document["rules"]:
        for name, form in _find_uses(rule_form, rule):
            forms[name].append(form)
        for at, name in find_references(rule, ()):
            used[name].append(".".join(str(step) for step in at))
    return [
        _describe(name, default, forms[name], tuple(dict.fromkeys(used[name])))
        for name, default in parameters.items()
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
