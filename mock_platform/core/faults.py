"""Faults of values in the interface's grammar, and functions that make the common ones.

A refused value becomes a `Fault`: a message with a code for its kind, so that each dialect can
render it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, Self

from marshmallow import ValidationError

from mock_platform.core.assumptions import public_fact
from mock_platform.core.errors import find_nearest, shorten
from mock_platform.core.jsonio import dumps

INVALID = "INVALID_PARAMETER"
MISSING = "MISSING_PARAMETER"
EXCLUSIVE = "EXCLUSIVE_PARAMETERS"
INCLUSIVE = "INCLUSIVE_PARAMETERS"
_MOST_REPEATED = 25_000
"""Characters of a value that a refusal repeats: the longest post."""


V2_WORDS = public_fact(
    "v2.refusals",
    "What an invalid-request says of a parameter are the recorded sentences, such as The `x` query "
    "parameter value [v] is not between 10 and 100; of a key in a body those of the validator that "
    "recorded refusals show, such as $.a.b: is missing but it is required. Equal ones are one. "
    "With --wire recorded parameters names such a place and repeats its value, and a body of "
    "another media type is such a refusal too.",
    "wire, no. 11",
)


class Said(NamedTuple):
    """How `/2` says a fault: of a parameter, and of a key in a JSON body."""

    of_parameter: str
    of_key: str
    is_of_object: bool = False
    """Whether a body's fault is one of the object around the key, which is repeated then."""

    def naming(self, parameter: str) -> Said:
        """Return the same with the name in its sentences."""
        first, second = (each.replace("{name}", parameter) for each in self[:2])
        return Said(first, second, self.is_of_object)


def say(value: Any, of_parameter: str, of_key: str) -> Said:
    """Return what `/2` says of a value: how each sentence goes on after its beginning."""
    shown = cut(value if isinstance(value, str) else dumps(value).decode())
    begin = f"The `{{name}}` query parameter value [{shown}]"
    return Said(f"{begin} {of_parameter}", f"$.{{name}}: {of_key}")


class Fault(str):
    """A fault of a value, with a code for its kind. `{name}` is replaced by the parameter.

    `details` has one or two words on why a value could not be read, and `value` is that value;
    other faults have neither. `hint` is an addition to the interface's own words. `said` are the
    words of `/2` where they differ; `beside` names other parameters that are at fault.
    """

    __slots__ = ("beside", "code", "details", "hint", "said", "value")

    code: str
    details: str | None
    value: Any
    hint: str
    said: Said | None
    beside: tuple[str, ...]

    def __new__(
        cls,
        text: str,
        code: str = INVALID,
        *,
        details: str | None = None,
        value: Any = None,
        hint: str = "",
        said: Said | None = None,
        beside: tuple[str, ...] = (),
    ) -> Self:
        """Return a fault of the given kind."""
        fault = super().__new__(cls, text)
        fault.code = code
        fault.details = details
        fault.value = value
        fault.hint = hint
        fault.said = said
        fault.beside = beside
        return fault

    def naming(self, parameter: str) -> Self:
        """Return the same fault with the parameter's name in its text."""
        return type(self)(
            self.replace("{name}", parameter),
            self.code,
            details=self.details,
            value=self.value,
            hint=self.hint,
            said=None if self.said is None else self.said.naming(parameter),
            beside=self.beside,
        )

    @property
    def explanation(self) -> str:
        """The text, with the hint."""
        return f"{self}. {self.hint}" if self.hint else str(self)


def expected(what: str, value: Any) -> str:
    """Return `Expected <what>, got <value> for <parameter>`, in the words of the live service."""
    shown = cut(dumps(value).decode()) if _showable(value) else type(value).__name__
    return f"Expected {what}, got {shown} for {{name}}"


def cut(text: str) -> str:
    """Return what is shown of a client's value."""
    return shorten(text, _MOST_REPEATED)


JSON_TYPES: Mapping[type, str] = {
    str: "string", bool: "boolean", int: "integer", float: "number", list: "array", dict: "object",
    type(None): "null",
}  # fmt: skip


def invalid(what: str, value: Any, details: str, said: Said | None = None) -> ValidationError:
    """A value that cannot be read as its type."""
    if said is None:
        found, wanted = JSON_TYPES.get(type(value), "unknown"), what.lower()
        is_typed = found != wanted and wanted in JSON_TYPES.values()
        said = say(
            value if _showable(value) else found,
            "is not valid",
            f"{found} found, {wanted} expected" if is_typed else f"expected {what}",
        )
    return ValidationError([Fault(expected(what, value), details=details, value=value, said=said)])


def unlisted(allowed: Iterable[object], value: Any, code: str = INVALID) -> Fault:
    """A value that is not one of the allowed ones; the hint names a similar one."""
    names = [str(each) for each in allowed]
    near = find_nearest(value, names) if isinstance(value, str) else None
    return Fault(
        expected(f"a value in {', '.join(names)}", value),
        code,
        hint="" if near is None else f"Did you mean {near}?",
        said=say(
            value if _showable(value) else "",
            f"is not one of [{','.join(names)}]",
            f"does not have a value in the enumeration [{', '.join(names)}]",
        ),
    )


def missing(name: str, condition: str = "") -> Fault:
    """A required parameter is missing; `condition` is for instance `when goal is X`."""
    key = f"$.{name}: is missing but it is required"
    said = None if condition else Said("field is required", key, is_of_object=True)
    text = f'"{name}" is a required parameter{condition and f" {condition}"}'
    return Fault(text, MISSING, said=said)


def exclusive(one: str, other: str) -> Fault:
    """Two parameters were sent, but only one of them is allowed."""
    return Fault(f"{one} and {other} are exclusive parameters", EXCLUSIVE)


def not_allowed(name: str, hint: str = "") -> Fault:
    """A parameter that the caller may not set."""
    return Fault(f"setting {name} is not allowed", INVALID, hint=hint)


def refuse(text: str, code: str = INVALID, *, said: Said | None = None) -> ValidationError:
    """A value that breaks a rule; `{name}` in the text is replaced by the parameter."""
    return ValidationError([Fault(text, code, said=said)])


def _showable(value: Any) -> bool:
    return value is None or isinstance(value, str | int | float | bool | list | dict)


def say_unknown(names: Iterable[str] = ()) -> Said:
    """Return what `/2` says of an unknown name; `names` are the known parameters."""
    return Said(
        f"The query parameter [{{name}}] is not one of [{','.join(names)}]",
        "$.{name}: is not defined in the schema and the schema does not allow additional "
        "properties",
        is_of_object=True,
    )


def _read_message(text: str) -> Fault:
    return Fault(text, said=say_unknown() if text == "Unknown field." else None)


def flatten(messages: Any, path: str = "") -> Iterable[tuple[str, Fault]]:
    """Return marshmallow's nested messages as pairs of parameter and named fault."""
    if isinstance(messages, Mapping):
        for key, inner in messages.items():
            if isinstance(key, int):
                yield from flatten(inner, f"{path}[{key}]")
            elif key == "_schema":
                yield from flatten(inner, path)
            else:
                yield from flatten(inner, f"{path}.{key}" if path else str(key))
    else:
        for message in messages if isinstance(messages, list) else [messages]:
            found = message if isinstance(message, Fault) else _read_message(str(message))
            yield path, found.naming(path or "the body")
