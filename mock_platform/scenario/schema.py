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
    ABOUT_RULES,
    DEFAULTS_OF_RULES,
    DELIVERIES,
    LINES,
    WITHOUT_REQUEST,
    make_line_rule_form,
    make_rule_form,
)
from mock_platform.scenario.effects import KINDS
from mock_platform.scenario.forms import (
    NAME,
    AnyForm,
    EntriesForm,
    FieldsForm,
    FixedForm,
    FlagForm,
    JsonSchema,
    ListForm,
    NumberForm,
    Path,
    Report,
    StructureForm,
    WholeForm,
    WordForm,
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


@lru_cache(maxsize=8)
def make_forms(operations: tuple[str, ...]) -> Forms:
    """Return the forms for a server with these operations."""
    named = OnForm(operations, (EVERYTHING, *WITHOUT_REQUEST))
    call = TypedForm(
        number=_COUNT,
        object=FieldsForm(
            {"from": _COUNT, "to": _COUNT, "every": _COUNT},
            least=1,
            about={
                "from": "The first matching call on which the rule acts.",
                "to": "The last one.",
                "every": "Every nth call, counted from the first one.",
            },
            defaults={"from": "1", "to": "no end", "every": "1"},
        ),
        what="the number of a matching call, or an object with from, to, every",
    )
    request = FieldsForm(
        {
            "on": TypedForm(
                text=named,
                items=ListForm(OnForm(operations)),
                what="an operation id, a path that no operation serves, a list of them, '*', "
                "'deliveries' or 'lines'",
            ),
            "when": StructureForm(WHEN),
            "call": call,
            "times": _COUNT,
            "until": InstantForm(),
            "probability": NumberForm(0, 1),
            "stage": FixedForm((BEFORE_AUTH,)),
            "then": StructureForm(
                TypedForm(
                    object=_EFFECT,
                    items=ListForm(StructureForm(_EFFECT), most=20),
                    what="an effect or a list of them",
                )
            ),
            "expect": FixedForm(("fired",)),
        },
        required=("then",),
        description="When a rule acts on requests, and what it does.",
        about={
            "on": "The id of an operation or a list of ids, `*` for all, `deliveries` or `lines`, "
            "`METHOD /path/:name` for a path that no operation serves, `/path` for a collection.",
            **ABOUT_RULES,
            "stage": "`before_auth`: the rule acts before credentials and parameters are checked.",
        },
        defaults={
            "on": "every request",
            **DEFAULTS_OF_RULES,
            "stage": "only requests that nothing else refuses",
        },
    )
    rule = RuleForm(request, make_rule_form(_COUNT, call), make_line_rule_form(_COUNT, call))
    document = FieldsForm(
        {
            "name": StructureForm(
                WordForm(
                    pattern=SCENARIO_NAME,
                    meaning="a name in lower case, digits, dots, hyphens and underscores",
                )
            ),
            "description": WordForm(),
            "spec": WordForm(),
            "parameters": StructureForm(
                EntriesForm(
                    TypedForm(
                        text=WordForm(),
                        number=NumberForm(-1e18, 1e18),
                        flag=FlagForm(),
                        items=ListForm(AnyForm(), least=0),
                        null=True,
                        what="a default value, or null for any",
                    ),
                    pattern=NAME,
                    meaning="a parameter's name in lower case",
                    least=0,
                )
            ),
            "rules": StructureForm(ListForm(StructureForm(rule), most=500)),
            "$schema": StructureForm(WordForm()),
        },
        required=("name", "rules"),
        about={
            "name": "Under this name the scenario is activated and shown.",
            "description": "What happens, in a sentence.",
            "spec": "The sentence of a specification that says so.",
            "parameters": "Values that an activation can change, by name, with their defaults. "
            "`$name` stands for the value; null restricts nothing and leaves out what it is for.",
            "rules": "The rules. The first one that fits a request acts; each one that fits "
            "counts it.",
            "$schema": "Where an editor finds the JSON Schema; without effect otherwise.",
        },
        defaults={"description": "none", "spec": "none", "parameters": "none"},
    )
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
