"""The field types of the interface, stricter than the library's own where the wire is stricter.

A refused value becomes a `Fault`: a message in the interface's grammar with the code that names its
kind, so that each dialect can render it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Self

from marshmallow import ValidationError, fields, validate

from mock_platform.core.jsonio import dumps
from mock_platform.world.clock import parse_instant, parse_relative, wire_millis, wire_seconds

INVALID = "INVALID_PARAMETER"
MISSING = "MISSING_PARAMETER"
EXCLUSIVE = "EXCLUSIVE_PARAMETERS"
INCLUSIVE = "INCLUSIVE_PARAMETERS"

_INTEGER = re.compile(r"-?[0-9]+", re.ASCII)
_LONG = 2**63


class Fault(str):
    """What is wrong with a value, with the code of its kind. `{name}` stands for the parameter."""

    __slots__ = ("code", "detail")

    code: str
    detail: str | None

    def __new__(cls, text: str, code: str = INVALID, detail: str | None = None) -> Self:
        """A fault of the given kind."""
        fault = super().__new__(cls, text)
        fault.code = code
        fault.detail = detail
        return fault


def invalid(expected: str, value: Any, detail: str | None = None) -> ValidationError:
    """A value of the wrong kind: `Expected <type>, got <value> for <parameter>`."""
    shown = dumps(value).decode() if _showable(value) else type(value).__name__
    return ValidationError(
        [Fault(f"Expected {expected}, got {shown} for {{name}}", INVALID, detail)]
    )


def refuse(text: str, code: str = INVALID) -> ValidationError:
    """A value that breaks a rule; `{name}` in the text stands for the parameter."""
    return ValidationError([Fault(text, code)])


def _showable(value: Any) -> bool:
    return value is None or isinstance(value, str | int | float | bool | list | dict)


class _Wire:
    """The complaints that all our fields share; the library's own would lose their kind."""

    def make_error(self, key: str, **kwargs: Any) -> ValidationError:
        """The error for a value that is absent or null."""
        if key == "required":
            return refuse("{name} is a required parameter", MISSING)
        if key == "null":
            return refuse("{name} may not be null")
        return super().make_error(key, **kwargs)  # type: ignore[misc,no-any-return]


class Text(_Wire, fields.String):
    """A string; from JSON nothing else is taken for one."""

    def __init__(
        self,
        *,
        max_length: int | None = None,
        min_length: int | None = None,
        pattern: str | None = None,
        pattern_text: str | None = None,
        **kwargs: Any,
    ) -> None:
        checks = list(kwargs.pop("validate", ()))
        if max_length is not None or min_length is not None:
            checks.append(Length(min_length, max_length))
        if pattern is not None:
            checks.append(Pattern(pattern, pattern_text))
        super().__init__(validate=checks, **kwargs)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        if not isinstance(value, str):
            raise invalid("String", value)
        return value


class Length(validate.Length):
    """Characters of a text, or items of a list, from `min` to `max`."""

    def __call__(self, value: Any) -> Any:
        """Check a value."""
        unit = "characters" if isinstance(value, str) else "items"
        if self.max is not None and len(value) > self.max:
            raise refuse(f"{{name}} may have at most {self.max} {unit}, got {len(value)}")
        if self.min is not None and len(value) < self.min:
            raise refuse(f"{{name}} must have at least {self.min} {unit}, got {len(value)}")
        return value


class Pattern(validate.Regexp):
    """The whole text must match; `text` says so in words."""

    def __init__(self, pattern: str, text: str | None = None) -> None:
        self.text = text
        super().__init__(pattern, flags=re.ASCII)

    def __call__(self, value: Any) -> Any:
        """Check a value."""
        if self.regex.fullmatch(value) is None:
            expected = self.text or f"a value that matches {self.regex.pattern!s}"
            raise invalid(expected, value)
        return value


class Between(validate.Range):
    """A number from `min` to `max`, ends included."""

    def __call__(self, value: Any) -> Any:
        """Check a value."""
        low, high = self.min, self.max
        if (low is not None and value < low) or (high is not None and value > high):
            if low is None:
                bounds = f"at most {high}"
            elif high is None:
                bounds = f"at least {low}"
            else:
                bounds = f"between {low} and {high}"
            raise refuse(f"{{name}} must be {bounds}, got {value}")
        return value


class Integer(_Wire, fields.Integer):
    """A whole number: ASCII digits with an optional minus sign in text, a number in JSON.

    `454706.0` is a whole number in JSON, as JSON Schema says.
    """

    def __init__(self, *, low: int | None = None, high: int | None = None, **kwargs: Any) -> None:
        if low is not None or high is not None:
            kwargs["validate"] = [*kwargs.get("validate", ()), Between(low, high)]
        super().__init__(**kwargs)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> int:
        if isinstance(value, float) and -_LONG <= value < _LONG and value.is_integer():
            value = int(value)
        if isinstance(value, int) and not isinstance(value, bool):
            number = value
        # 20 characters hold every long; longer digits are refused unread.
        elif isinstance(value, str) and len(value) <= 20 and _INTEGER.fullmatch(value):
            number = int(value)
        else:
            raise invalid(self.type_name, value)
        if not -_LONG <= number < _LONG:
            raise invalid(self.type_name, value)
        return number

    type_name = "Integer"


class Long(Integer):
    """A whole number of 64 bits."""

    type_name = "Long"


class Number(_Wire, fields.Float):
    """A JSON number, whole or not."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise invalid("Number", value)
        return float(value)


class Flag(_Wire, fields.Boolean):
    """`true` or `false`, in any case in text."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> bool:
        if isinstance(value, bool):
            return value
        if isinstance(value, str) and value.lower() in {"true", "false"}:
            return value.lower() == "true"
        raise invalid("Boolean", value, "true or false")


class Choice(Text):
    """One of the named values."""

    def __init__(self, values: Sequence[str], **kwargs: Any) -> None:
        self.values = tuple(values)
        super().__init__(validate=[OneOf(self.values)], **kwargs)


class OneOf(validate.OneOf):
    """One of the named values; a near miss is pointed out."""

    def __call__(self, value: Any) -> Any:
        """Check a value."""
        if value not in self.choices:
            allowed = ", ".join(str(choice) for choice in self.choices)
            raise invalid(f"one of [{allowed}]", value)
        return value


COUNTRY = "an ISO 3166-1 alpha-2 code such as US"


class CountryCode(Text):
    """An ISO 3166-1 alpha-2 code that is assigned to a country."""

    @staticmethod
    def json_schema() -> dict[str, Any]:
        """What a description says of such a code: all there are."""
        import pycountry

        return {"enum": sorted(country.alpha_2 for country in pycountry.countries)}

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        text = super()._deserialize(value, attr, data, **kwargs)
        # The code list is 37 ms and 23 MB, and few requests need it.
        import pycountry

        if text != text.upper() or pycountry.countries.get(alpha_2=text) is None:
            raise invalid(COUNTRY, text)
        return text


class Instant(_Wire, fields.Field[str]):
    """An ISO 8601 moment, put into the wire's form unless `as_sent`.

    That is seconds and `Z`, or milliseconds and `Z` with `millis`.
    """

    def __init__(self, *, as_sent: bool = False, millis: bool = False, **kwargs: Any) -> None:
        self.as_sent = as_sent
        self.form = wire_millis if millis else wire_seconds
        super().__init__(**kwargs)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        if isinstance(value, str):
            try:
                moment = parse_instant(value)
                return value if self.as_sent else self.form(moment)
            except ValueError as fault:
                raise invalid("time", value, str(fault)) from fault
        raise invalid("time", value)


class CommaList(_Wire, fields.List[Any]):
    """Values joined by commas in the query; each one is checked by `inner`."""

    def __init__(self, inner: fields.Field[Any], *, most: int | None = None, **kwargs: Any) -> None:
        if most is not None:
            kwargs["validate"] = [*kwargs.get("validate", ()), Length(None, most)]
        super().__init__(inner, **kwargs)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> list[Any]:
        if not isinstance(value, str):
            raise invalid("comma-separated values", value)
        values: list[Any] = []
        faults: list[Any] = []
        for part in value.split(","):
            try:
                values.append(self.inner.deserialize(part.strip()))
            except ValidationError as fault:
                faults.extend(fault.messages)
        if faults:
            raise ValidationError(faults)
        return values


class ListOf(_Wire, fields.List[Any]):
    """A JSON array; each item is checked by `inner`."""

    def __init__(
        self,
        inner: fields.Field[Any] | type[fields.Field[Any]],
        *,
        least: int | None = None,
        most: int | None = None,
        **kwargs: Any,
    ) -> None:
        if least is not None or most is not None:
            kwargs["validate"] = [*kwargs.get("validate", ()), Length(least, most)]
        super().__init__(inner, **kwargs)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> list[Any]:
        if not isinstance(value, list):
            raise invalid("Array", value)
        return super()._deserialize(value, attr, data, **kwargs)


class Nested(_Wire, fields.Nested):
    """A JSON object with a schema of its own."""

    def _deserialize(
        self, value: Any, attr: str | None, data: Any, partial: Any = None, **kwargs: Any
    ) -> Any:
        if not isinstance(value, list if self.many else dict):
            raise invalid("Array" if self.many else "Object", value)
        return super()._deserialize(value, attr, data, partial, **kwargs)


class Anything(_Wire, fields.Raw):
    """Any JSON value."""


class Json(_Wire, fields.Dict):
    """Any JSON object."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        if not isinstance(value, dict):
            raise invalid("Object", value)
        return value


class Timed(Json):
    """A JSON object in which moments may count from now, as the moments of a record may.

    `moments` holds the names of the keys, at any depth, whose values may do so, with the form in
    which each is written.
    """

    def __init__(self, moments: Mapping[str, Callable[[datetime], str]], **kwargs: Any) -> None:
        self.moments = moments
        super().__init__(**kwargs)

    def counts(self, value: Any) -> bool:
        """Whether something in the value counts from now."""
        if isinstance(value, dict):
            return any(
                self.counts(inner) or self._distance(name, inner) is not None
                for name, inner in value.items()
            )
        return isinstance(value, list) and any(self.counts(item) for item in value)

    def at(self, value: Any, now: datetime) -> Any:
        """A copy of the value in which what counts from now is counted from this moment."""
        if isinstance(value, list):
            return [self.at(item, now) for item in value]
        if not isinstance(value, dict):
            return value
        counted: dict[str, Any] = {}
        for name, inner in value.items():
            distance = self._distance(name, inner)
            counted[name] = (
                self.at(inner, now) if distance is None else self.moments[name](now + distance)
            )
        return counted

    def _distance(self, name: str, value: Any) -> timedelta | None:
        known = name in self.moments and isinstance(value, str)
        return parse_relative(value) if known else None


def flatten(messages: Any, path: str = "") -> Iterable[tuple[str, Fault]]:
    """Marshmallow's nested messages as `(parameter, fault)`, the name filled in."""
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
            code = getattr(message, "code", INVALID)
            text = str(message).replace("{name}", path or "the body")
            yield path, Fault(text, code, getattr(message, "detail", None))
