"""The form of a scenario document, for the loader and as published JSON Schema."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from msgspec import Struct

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
from mock_platform.scenario.forms import (
    ANY_NUMBER,
    NAME,
    AnyForm,
    EntriesForm,
    FieldsForm,
    FlagForm,
    Form,
    JsonSchema,
    ListForm,
    NumberForm,
    Path,
    Report,
    Row,
    StructureForm,
    WholeForm,
    WordForm,
    make_object,
)
from mock_platform.scenario.match import WHEN
from mock_platform.scenario.name_or_file import SCENARIO_NAME
from mock_platform.scenario.value_forms import InstantForm, KeyedForm, TypedForm

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

    def check(self, value: Any, at: Path, report: Report) -> None:
        """Report faults against the form of the rule's kind."""
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
        "times": (_COUNT, "After so many actions the rule ends.", "no end"),
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
        pattern=SCENARIO_NAME,
        meaning="a name in lower case, digits, dots, hyphens and underscores",
    )
    document = make_object(
        {
            "name": (
                StructureForm(name), "Under this name the scenario is activated and shown.",
            ),
            "description": (WordForm(), "What happens, in a sentence.", "none"),
            "spec": (WordForm(), "The sentence of a specification that says so.", "none"),
            "parameters": (
                StructureForm(_PARAMETERS),
                "Values that an activation can change, by name, with their defaults. `$name` "
                "stands for the value; null restricts nothing and leaves out what it is for.",
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
