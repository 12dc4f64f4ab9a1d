"""The names that type checkers and editors know: `names.pyi` for Python, `names.d.ts` for npm.

Both are made from the same lists, so a name that exists in one language exists in the other.
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache

from mock_platform.api.sample_events import HAPPENINGS
from mock_platform.api.v2.release_history import ALIASES, EVENT_NAMES
from mock_platform.core.failures.codes import ADS_STATUS, NUMERIC_CODES
from mock_platform.platform import Platform
from mock_platform.scenario.schema import ParameterForm, describe_parameters

Names = Sequence[str | int]

_PLATFORM = Platform()
_OPERATION_IDS = tuple(sorted(each.id for each in _PLATFORM.operations))
_LISTS: Mapping[str, tuple[Names, str]] = {
    "TableName": (sorted(_PLATFORM.tables), "The tables of a world."),
    "OperationId": (_OPERATION_IDS, "The operations."),
    "EventType": (
        sorted({*(each.name for each in EVENT_NAMES), *HAPPENINGS, *ALIASES, *ALIASES.values()}),
        "What can happen to a user, with former names.",
    ),
    "ErrorCode": (
        (*sorted(ADS_STATUS), *sorted(NUMERIC_CODES)),
        "The codes of failures: words on the advertising interface, else numbers.",
    ),
}
"""The names that are no more than a list, and what each list is."""
_SCENARIOS = "The scenarios of the package."
_OWN = "A name that only you know, such as that of a scenario in your files."
_TARGET = "What a rule of a scenario acts on."


def write_stub() -> str:
    """Returns `mock_platform/names.pyi`."""
    scenarios = _read_scenarios()
    lists = {"ScenarioName": (list(scenarios), _SCENARIOS), **_LISTS}
    aliases = (
        f'{name}: TypeAlias = Literal[\n{_fill(values, ", ")}\n]\n"""{text}"""'
        for name, (values, text) in lists.items()
    )
    parts = (
        '"""The names that exist. Made by `make docs`; do not edit."""',
        "from collections.abc import Mapping\n"
        "from typing import Any, Literal, NewType, Protocol, TypeAlias, overload",
        f'OwnName = NewType("OwnName", str)\n"""{_OWN}"""',
        *aliases,
        # An alias that contains itself: mypy shows its name, and not what hundreds of names it is.
        f"_RuleTarget: TypeAlias = (\n    OperationId | OwnName | "
        f"Literal[{_join(_target_words(), ', ')}] | list[_RuleTarget]\n)\n"
        f'"""{_TARGET}"""',
        "class Activation(Protocol):\n"
        '    """Takes the name of a scenario, and values for the parameters it has."""\n\n'
        + "\n".join(_write_overloads(scenarios)),
    )
    return "\n\n".join(parts) + "\n"


def write_types() -> str:
    """Returns `types/names.d.ts` of the JavaScript package."""
    parts = (
        "// Made by `make docs` from the lists in Python; do not edit.",
        f"declare const own: unique symbol;\nexport {{}}; // only what says so\n\n/** {_OWN} */\n"
        "export type OwnName = string & { readonly [own]: true };",
        *(
            f"/** {text} */\nexport type {name} =\n{_fill(values, ' | ')};"
            for name, (values, text) in _LISTS.items()
        ),
        f"/** {_TARGET} */\n"
        f"export type RuleTarget = OperationId | {_join(_target_words(), ' | ')} | OwnName;",
        "/** What a scenario without parameters takes. */\n"
        "export type NoParameters = { readonly [name: string]: never };",
        "/** The parameters of each scenario of the package. */\n"
        "export interface ScenarioParameters {",
    )
    fields = (f"  {json.dumps(name)}: {_object(each)};" for name, each in _read_scenarios().items())
    end = f"}}\n\n/** {_SCENARIOS} */\nexport type ScenarioName = keyof ScenarioParameters;\n"
    return "\n".join(("\n\n".join(parts), *fields, end))


@cache
def _read_scenarios() -> Mapping[str, tuple[ParameterForm, ...]]:
    """Returns the parameters of each scenario of the package, by its name."""
    library = sorted(_PLATFORM.library, key=lambda each: each.name)
    return {
        each.name: tuple(describe_parameters(each.document, _OPERATION_IDS)) for each in library
    }


def _target_words() -> list[str]:
    """Returns what a rule can act on beside operations."""
    found = {
        word
        for forms in _read_scenarios().values()
        for form in forms
        if not form.only_choices
        for word in form.choices
    }
    return sorted(found - {*_OPERATION_IDS})


def _write_overloads(scenarios: Mapping[str, Sequence[ParameterForm]]) -> Iterator[str]:
    """Yields one overload for all scenarios with the same parameters."""
    groups: dict[str, list[str]] = {}
    for name, forms in scenarios.items():
        taken = ", ".join(f"{form.name}: {_python(form)} | None = ..." for form in forms)
        groups.setdefault(taken, []).append(name)
    heads = {
        f"name: Literal[{_join(names, ', ')}], /": f"*, {taken}"
        for taken, names in groups.items()
        if taken
    }
    # The last one is that of which pyright says why it does not fit.
    heads |= {"name: OwnName, /": "**parameters: Any", "name: ScenarioName, /": ""}
    for name, others in heads.items():
        signature = f"self, {name}, {others}" if others else f"self, {name}"
        yield f"    @overload\n    def __call__({signature}) -> None: ..."


def _python(form: ParameterForm) -> str:
    """Returns the type of a parameter's values in Python, beside `None`."""
    match form:
        case ParameterForm(only_choices=False):
            return "_RuleTarget"
        case ParameterForm(name="event_type"):
            return "EventType | Mapping[str, Any]"
        case ParameterForm(choices=choices) if choices:
            others = f"Literal[{_join(_without_codes(choices), ', ')}]"
            return others if _without_codes(choices) == choices else f"ErrorCode | {others}"
        case ParameterForm(kind="number", whole=True):
            return "int"
    kinds = {"text": "str", "number": "float", "duration": "float | str", "flag": "bool"}
    return kinds.get(form.kind, "Any")


def _object(forms: Sequence[ParameterForm]) -> str:
    """Returns the type of a scenario's parameters in TypeScript."""
    fields = (f"{form.name}?: {_typescript(form)} | null" for form in forms)
    return f"{{ {'; '.join(fields)} }}" if forms else "NoParameters"


def _typescript(form: ParameterForm) -> str:
    match form:
        case ParameterForm(only_choices=False):
            return "readonly RuleTarget[]" if form.kind == "json" else "RuleTarget"
        case ParameterForm(name="event_type"):
            return "EventType | Record<string, any>"
        case ParameterForm(choices=choices) if choices:
            others = _join(_without_codes(choices), " | ")
            return others if _without_codes(choices) == choices else f"ErrorCode | {others}"
    kinds = {"text": "string", "number": "number", "duration": "number | string", "flag": "boolean"}
    return kinds.get(form.kind, "any")


def _without_codes(choices: tuple[str, ...]) -> tuple[str, ...]:
    """Returns allowed values without the error codes, which are too many to be repeated."""
    return tuple(choice for choice in choices if choice not in ADS_STATUS)


def _fill(values: Names, separator: str) -> str:
    """Returns literals in lines of the usual width; none of them has a space."""
    wrap = textwrap.TextWrapper(96, break_on_hyphens=False, break_long_words=False)
    return textwrap.indent(wrap.fill(_join(values, separator)), "  ")


def _join(values: Iterable[str | int], separator: str) -> str:
    return separator.join(json.dumps(value) for value in values)
