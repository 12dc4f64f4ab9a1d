"""`docs/scenario-format.md`: every key of scenarios, from the declarations of their forms."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from types import ModuleType
from typing import Any

from docs.generators import scenario_examples as examples
from docs.generators.markdown import paragraphs, table
from docs.generators.scenario_examples import Example
from mock_platform.core.documents.forms import (
    AnyForm,
    DurationForm,
    EntriesForm,
    FieldsForm,
    FlagForm,
    Form,
    InstantForm,
    KeyedForm,
    ListForm,
    NumberForm,
    StructureForm,
    TypedForm,
    WholeForm,
    WordForm,
)
from mock_platform.platform import Platform
from mock_platform.scenario import deliveries, effects, match
from mock_platform.scenario.document import Scenario
from mock_platform.scenario.effects import KINDS
from mock_platform.scenario.schema import RuleForm, make_forms

_MAX_CHOICES = 12
_MAX_NAMED = 5
"""Up to this number the scenarios that use an effect are named; more are only counted."""
_COMMON = ("title", "detail", "status")
"""The fields of all problems."""
_INTRODUCTION = """\
# Scenario format

Made by `make docs` from the declarations of the format; do not edit. A test runs each example.

A scenario is one file in YAML or JSON, or the body of `PUT /_mock/scenarios/NAME`.
[How to write and use one](for-qa.md#a-scenario-of-your-own). Wherever a value is allowed, so is
`$name`, the value of a parameter; `$$` at the beginning of a text is one dollar sign.

Durations are seconds, or have units: `500ms`, `90s`, `15m`, `1h`, `1d`, `1h30m`. Moments are ISO
8601 on the world's clock, such as `2026-03-01T12:00:00Z`; without an offset they are UTC. YAML has
no aliases, anchors or tags here.

## In your editor

`mock-platform scenarios --format schema > scenario.schema.json` writes the JSON Schema. The first
line of a YAML file names it for editors with the YAML language server; a JSON file names it under
`$schema`. A running server has it too, at `/_mock/scenarios/schema.json`:

```yaml
# yaml-language-server: $schema=./scenario.schema.json
name: my-scenario
rules:
  - on: line_items.list
    then: {delay: 2s}
```

`mock-platform check FILE` also finds what no schema can: misspelt parameters, served paths, rules
that never act.
"""


def write_page() -> str:
    """Returns the page."""
    forms = make_forms(("OPERATION",))
    parts = [_INTRODUCTION, *_write_section("## The document", forms.document, examples.DOCUMENT)]
    request = forms.rule.request
    parts += _write_section("## Rules", request)
    parts += _write_fields_of("### call: from, to, every", _find_form(request.fields["call"]))
    parts += _write_examples("###", examples.RULES)
    parts += _write_section("## Conditions", match.WHEN)
    for name in ("caller", "clock"):
        parts += _write_fields_of(f"### {name}", _find_form(match.WHEN.fields[name]))
    parts += _write_examples("###", examples.CONDITIONS, prefix="when: ")
    parts += ["## Operators\n", *_write_fields(_find_form(match.CONDITION))]
    parts += _write_examples("###", examples.OPERATORS, prefix="operator: ")
    parts.append("## Effects\n")
    library = list(Platform().library)
    for name in effects.EFFECTS:
        parts += _write_effect(import_module(f"{effects.__name__}.{name}"), library)
    parts += _write_others("deliveries", forms.rule.delivery, examples.DELIVERIES)
    parts += _write_others("lines", forms.rule.line, examples.LINES)
    return "\n".join(parts).rstrip("\n") + "\n"


def list_subjects() -> dict[str, Mapping[str, Example]]:
    """Returns the keys that need an example, as the declarations have them, with the examples."""
    forms = make_forms(("OPERATION",))
    request = forms.rule.request
    calls = {f"call.{name}" for name in _find_form(request.fields["call"]).fields}
    conditions = set(match.WHEN.fields) - {"caller", "clock"}
    for name in ("caller", "clock"):
        conditions |= {f"{name}.{each}" for each in _find_form(match.WHEN.fields[name]).fields}
    return {
        " ".join(sorted({*request.fields, *calls})): examples.RULES,
        " ".join(sorted(conditions)): examples.CONDITIONS,
        " ".join(sorted(_find_form(match.CONDITION).fields)): examples.OPERATORS,
        " ".join(sorted(KINDS)): examples.EFFECTS,
        " ".join(sorted(deliveries.DELIVERY_EFFECT.forms)): examples.DELIVERIES,
        " ".join(sorted(deliveries.LINE_EFFECT.forms)): examples.LINES,
    }


def list_examples() -> dict[str, Example]:
    """Returns all examples, by a name."""
    groups = {
        "rule": examples.RULES,
        "condition": examples.CONDITIONS,
        "operator": examples.OPERATORS,
        "effect": examples.EFFECTS,
        "delivery": examples.DELIVERIES,
        "line": examples.LINES,
    }
    named = {f"{group} {key}": each for group, of in groups.items() for key, each in of.items()}
    return {"document": examples.DOCUMENT, **named}


def _write_section(heading: str, form: FieldsForm, example: Example | None = None) -> list[str]:
    text = [f"{heading}\n"]
    if form.description:
        text.append(f"{form.description}\n")
    text += _write_fields(form)
    return [*text, *(_write_example(example) if example is not None else [])]


def _write_fields_of(heading: str, form: FieldsForm) -> list[str]:
    return [f"{heading}\n", *_write_fields(form)]


def _write_fields(form: FieldsForm) -> list[str]:
    rows = []
    for name, shape in form.fields.items():
        default = "required" if name in form.required else form.defaults.get(name, "")
        rows.append((f"`{name}`", _describe(shape), default, form.describe(name)
                     .removesuffix(f" Default: {form.defaults.get(name)}.")))  # fmt: skip
    return [*table(("key", "value", "default", ""), rows), ""]


def _write_examples(level: str, of: Mapping[str, Example], prefix: str = "") -> Iterator[str]:
    for key, example in of.items():
        yield f"{level} Example: {prefix}{key}\n"
        yield from _write_example(example)


def _write_example(example: Example) -> list[str]:
    text = ["```yaml", example.document, "```", ""]
    return [*text, f"{example.more}\n"] if example.more else text


def _write_effect(module: ModuleType, library: Sequence[Scenario]) -> list[str]:
    keyword = module.KIND.keyword
    kind = KINDS[keyword]
    text = [f"### {keyword}\n", f"{paragraphs(module.__doc__)}\n"]
    if kind.form is not None:
        text += _write_form(keyword, kind.form)
    elif kind.by_value is not None:
        rows = []
        for value, form in kind.by_value.items():
            own = [name for name in form.fields if name not in {keyword, *_COMMON}]
            rows.append((f"`{value}`", form.description, ", ".join(f"`{name}`" for name in own)))
        first = next(iter(kind.by_value.values()))
        common = FieldsForm(
            {name: first.fields[name] for name in _COMMON},
            about=first.about,
            defaults=first.defaults,
        )
        text += ["A problem of the v2 interface; what is left out is filled in.\n"]
        text += _write_fields(common)
        text += [*table((keyword, "", "fields of its own"), rows), ""]
    uses = [each.name for each in library if keyword in _list_keywords(each)]
    links = ", ".join(f"[`{use}`](scenarios.md#{use})" for use in uses[:_MAX_NAMED])
    more = f" and {len(uses) - _MAX_NAMED} more" if len(uses) > _MAX_NAMED else ""
    used = [f"Used by {links}{more}.\n"] if uses else []
    return [*text, *_write_example(examples.EFFECTS[keyword]), *used]


def _list_keywords(scenario: Scenario) -> set[str]:
    """Returns the keys of all effects of a scenario."""
    found: set[str] = set()
    for rule in scenario.document["rules"]:
        then = rule["then"]
        for effect in then if isinstance(then, list) else [then]:
            found |= effect.keys()
    return found


def _write_form(keyword: str, form: FieldsForm) -> list[str]:
    """Returns the description of an effect, its value, and the fields of objects in it."""
    shape = form.fields[keyword]
    text = [f"{form.description}\n", f"Value: {_describe(shape)}.\n"]
    if len(form.fields) > 1:
        text += _write_fields(form)
    inner = list(_find_inner(shape))
    for each in inner:
        text += _write_fields(each)
    return text


def _write_others(on: str, form: FieldsForm, of: Mapping[str, Example]) -> list[str]:
    own = deliveries.DELIVERY_EFFECT if on == "deliveries" else deliveries.LINE_EFFECT
    what = "Rules on deliveries" if on == "deliveries" else "Rules on lines"
    text = [f"## {what}\n", f"{form.description}\n", *_write_fields(form)]
    when = _find_form(form.fields["when"])
    text += [*_write_fields_of(f"### Conditions on {on}", _find_form(when.fields["event"]))]
    for keyword, example in of.items():
        text += [f"### {on}: {keyword}\n", *_write_form(keyword, own.forms[keyword])]
        text += _write_example(example)
    return text


def _find_form(shape: Form) -> FieldsForm:
    """Returns the form of the objects that a value may be.

    Raises:
        ValueError: It may not be an object of known fields.
    """
    found = next(_find_inner(shape), None)
    if found is None:
        raise ValueError(f"{shape} has no fields")
    return found


def _find_inner(shape: Form) -> Iterator[FieldsForm]:
    """The forms of objects in a form, without those inside of other objects."""
    if isinstance(shape, FieldsForm):
        yield shape
    elif isinstance(shape, StructureForm):
        yield from _find_inner(shape.shape)
    elif isinstance(shape, KeyedForm):
        yield from shape.forms.values()
    elif isinstance(shape, EntriesForm):
        yield from _find_inner(shape.value)
    elif isinstance(shape, TypedForm) and shape.object is not None:
        yield from _find_inner(shape.object)


def _describe(shape: Any) -> str:
    """Returns the values that a form accepts, in words."""
    return next((write(shape) for kind, write in _WORDS.items() if isinstance(shape, kind)), "")


def _describe_words(shape: WordForm) -> str:
    choices = shape.choices
    if len(choices) > _MAX_CHOICES:
        return f"one of {len(choices)} texts, such as `{choices[0]}`"
    if choices:
        return " or ".join(f"`{each}`" for each in choices)
    return shape.meaning or "a text"


_WORDS: Mapping[type, Callable[[Any], str]] = {
    StructureForm: lambda shape: _describe(shape.shape),
    TypedForm: lambda shape: str(shape.what),
    WordForm: _describe_words,
    WholeForm: lambda shape: f"a whole number, {shape.low:,} to {shape.high:,}",
    NumberForm: lambda shape: (
        "a number" if shape.high >= 1e18 else f"a number, {shape.low:g} to {shape.high:g}"
    ),
    DurationForm: lambda shape: f"a duration, {shape.low:g} to {shape.high:,.0f} seconds",
    InstantForm: lambda _: "a moment",
    FlagForm: lambda _: "true or false",
    ListForm: lambda shape: f"a list: {_describe(shape.item)}",
    EntriesForm: lambda shape: f"an object by {shape.meaning}: {_describe(shape.value)}",
    KeyedForm: lambda shape: f"{shape.what}: an object with one of {', '.join(shape.forms)}",
    FieldsForm: lambda shape: f"an object with {', '.join(shape.fields)}",
    AnyForm: lambda _: "any value",
    deliveries.OnlyTrue: lambda _: "true",
    RuleForm: lambda _: "rules, in the order in which they are asked",
}
