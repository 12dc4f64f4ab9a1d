"""The form of a scenario document, for the loader and as published JSON Schema."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from mock_platform.scenario.deliveries import DELIVERIES, rule_form
from mock_platform.scenario.effects import KINDS
from mock_platform.scenario.match import WHEN
from mock_platform.scenario.shapes import (
    NAME,
    Anything,
    Choose,
    Either,
    Entries,
    Fields,
    Fixed,
    Flag,
    JsonSchema,
    Many,
    Number,
    Own,
    Path,
    Report,
    Whole,
    Word,
)

BEFORE_AUTH = "before_auth"
EVERYTHING = "*"
SCENARIO_NAME = r"[a-z0-9][a-z0-9._-]{0,99}"

_COUNT = Whole(1, 1_000_000)
_EFFECT = Choose(
    forms={name: kind.form for name, kind in KINDS.items() if kind.form is not None},
    by_value={name: kind.by_value for name, kind in KINDS.items() if kind.by_value is not None},
    what="an effect",
)


@dataclass(frozen=True, slots=True)
class Forms:
    """The forms of a document and of a rule in it."""

    document: Fields
    rule: RuleForm


@dataclass(frozen=True, slots=True)
class RuleForm:
    """The forms of rules on requests and on deliveries; the value of `on` decides."""

    request: Fields
    delivery: Fields

    def schema(self) -> JsonSchema:
        """Return both forms, with a condition on `on`."""
        on_deliveries = {"properties": {"on": {"const": DELIVERIES}}, "required": ["on"]}
        return {
            "type": "object",
            "if": on_deliveries,
            "then": self.delivery.schema(),
            "else": self.request.schema(),
        }

    def check(self, value: Any, at: Path, report: Report) -> None:
        """Report faults against the form of the rule's kind."""
        delivery = isinstance(value, dict) and value.get("on") == DELIVERIES
        (self.delivery if delivery else self.request).check(value, at, report)


@lru_cache(maxsize=8)
def make_forms(operations: tuple[str, ...]) -> Forms:
    """Return the forms for a server with these operations."""
    named = Word((*operations, EVERYTHING, DELIVERIES))
    call = Either(
        number=_COUNT,
        object=Fields({"from": _COUNT, "to": _COUNT, "every": _COUNT}, least=1),
        what="the number of a matching call, or an object with from, to, every",
    )
    request = Fields(
        {
            "on": Either(text=named, items=Many(Word(operations)), what="an operation id, a list "
                         "of them, '*' or 'deliveries'"),
            "when": Own(WHEN),
            "call": call,
            "times": _COUNT,
            "probability": Number(0, 1),
            "stage": Fixed((BEFORE_AUTH,)),
            "then": Own(Either(object=_EFFECT, items=Many(Own(_EFFECT), most=20),
                               what="an effect or a list of them")),
            "expect": Fixed(("fired",)),
        },
        required=("then",),
        description="When a rule acts, and what it does. Without `on` it acts on every request.",
    )  # fmt: skip
    rule = RuleForm(request, rule_form(_COUNT, call))
    document = Fields(
        {
            "name": Own(Word(
                pattern=SCENARIO_NAME,
                meaning="a name in lower case, digits, dots, hyphens and underscores",
            )),
            "description": Word(),
            "spec": Word(),
            "parameters": Own(Entries(
                Either(
                    text=Word(), number=Number(-1e18, 1e18), flag=Flag(), items=Many(
                        Anything(), least=0), null=True,
                    what="a default value, or null for any"),
                pattern=NAME,
                meaning="a parameter's name in lower case",
                least=0,
            )),
            "rules": Own(Many(Own(rule), most=500)),
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
        "title": "Scenario of mock_platform",
        **make_forms(tuple(operations)).document.schema(),
    }
