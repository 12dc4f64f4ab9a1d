"""The field types of the interface, which is stricter than the library."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Self, TypedDict, Unpack

from marshmallow import ValidationError, fields

from mock_platform.core.codes import list_countries, list_currencies
from mock_platform.core.errors import MAX_FAULTS
from mock_platform.core.faults import (
    Fault,
    Said,
    cut,
    expected,
    invalid,
    missing,
    refuse,
    say,
)
from mock_platform.core.validators import EMPTY, Between, Length, OneOf, Pattern, tell_bound
from mock_platform.world.clock import parse_instant, parse_relative, wire_millis, wire_seconds

_INTEGER = re.compile(r"-?[0-9]+", re.ASCII)
_LONG = 2**63
_SHOWN = 40
"""Characters of a content that a refusal repeats."""


Validator = Callable[[Any], Any]
"""Raises ValidationError for a value that is not accepted."""


class FieldOptions(TypedDict, total=False):
    """The options of all fields, with the same meaning as in marshmallow."""

    required: bool
    allow_none: bool
    load_default: Any
    dump_only: bool
    data_key: str
    attribute: str
    metadata: Mapping[str, Any]


class TextOptions(FieldOptions, total=False):
    """The options of a text."""

    min_length: int | None
    max_length: int | None
    pattern: str | None
    pattern_text: str | None


class _Wire:
    """The messages that all our fields share; those of the library have no code.

    `kind` is the interface's name of the type, `unreadable` the fault for a value of another type.
    """

    kind = "a value"
    unreadable = "invalid value"

    def __deepcopy__(self, memo: Any) -> Self:
        """Return a copy for an instance of a schema: as the library does, in a fifth of the time.

        The start of a server makes a thousand.
        """
        made = type(self).__new__(type(self))
        vars(made).update(vars(self))
        return made

    def _unreadable(self, value: Any) -> ValidationError:
        return invalid(self.kind, value, self.unreadable)

    def make_error(self, key: str, **kwargs: Any) -> ValidationError:
        """Return the error for a value that is absent or null."""
        if key == "required":
            return ValidationError([missing("{name}")])
        if key == "null":
            return self._unreadable(None)
        return super().make_error(key, **kwargs)  # type: ignore[misc,no-any-return]


class Text(_Wire, fields.String):
    """A string; no other JSON type is accepted.

    Example:
        >>> Text(max_length=5).deserialize("Open")
        'Open'
        >>> Text(max_length=5).deserialize(12)
        Traceback (most recent call last):
        marshmallow.exceptions.ValidationError: ...
    """

    kind = "String"
    unreadable = "invalid string"

    def __init__(
        self,
        *,
        max_length: int | None = None,
        min_length: int | None = None,
        pattern: str | None = None,
        pattern_text: str | None = None,
        validate: Sequence[Validator] = (),
        **options: Unpack[FieldOptions],
    ) -> None:
        checks = list(validate)
        if max_length is not None or min_length is not None:
            checks.append(Length(min_length, max_length))
        if pattern is not None:
            checks.append(Pattern(pattern, pattern_text))
        super().__init__(validate=checks, **options)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        if not isinstance(value, str):
            raise self._unreadable(value)
        return value


class TextOrNumber(Text):
    """A string; a whole number is accepted as well, and kept as text.

    Example:
        >>> TextOrNumber().deserialize(12)
        '12'
    """

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        is_number = isinstance(value, int) and not isinstance(value, bool)
        return super()._deserialize(str(value) if is_number else value, attr, data, **kwargs)


class Integer(_Wire, fields.Integer):
    """A whole number: ASCII digits with an optional minus sign in text, a number in JSON.

    `454706.0` is an integer in JSON, as JSON Schema says. A `typed` one must be a JSON number: a
    text with digits is refused.

    Example:
        >>> field = Integer(low=1, high=100)
        >>> field.deserialize("20"), field.deserialize(20.0)
        (20, 20)
    """

    kind = "Integer"
    unreadable = "invalid number"

    def __init__(
        self,
        *,
        low: int | None = None,
        high: int | None = None,
        typed: bool = False,
        **options: Unpack[FieldOptions],
    ) -> None:
        self.typed = typed
        bounded = low is not None or high is not None
        super().__init__(validate=[Between(low, high)] if bounded else None, **options)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> int:
        if isinstance(value, float) and -_LONG <= value < _LONG and value.is_integer():
            value = int(value)
        if isinstance(value, int) and not isinstance(value, bool):
            number = value
        # 20 characters are enough for every 64-bit integer; longer digits are refused unread.
        elif self._is_number(value):
            number = int(value)
        else:
            raise self._unreadable(value)
        if not -_LONG <= number < _LONG:
            raise self._unreadable(value)
        return number

    def _is_number(self, value: Any) -> bool:
        is_text = isinstance(value, str) and not self.typed
        return is_text and len(value) <= 20 and _INTEGER.fullmatch(value) is not None


class Long(Integer):
    """A whole number of 64 bits."""

    kind = "Long"


class Number(_Wire, fields.Float):
    """A JSON number, whole or not."""

    kind = "Number"
    unreadable = "invalid number"

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self._unreadable(value)
        return float(value)


class Flag(_Wire, fields.Boolean):
    """`true` or `false`, in any case in text. A `typed` one must be a JSON boolean."""

    kind = "Boolean"
    unreadable = "invalid boolean"

    def __init__(self, *, typed: bool = False, **options: Unpack[FieldOptions]) -> None:
        self.typed = typed
        super().__init__(**options)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> bool:
        if isinstance(value, bool):
            return value
        if isinstance(value, str) and not self.typed and value.lower() in {"true", "false"}:
            return value.lower() == "true"
        raise self._unreadable(value)


class Choice(Text):
    """One of the named values.

    Example:
        >>> field = Choice(("ACTIVE", "PAUSED"))
        >>> field.deserialize("PAUSED"), field.values
        ('PAUSED', ('ACTIVE', 'PAUSED'))
    """

    def __init__(self, values: Sequence[str], **options: Unpack[FieldOptions]) -> None:
        self.values = tuple(values)
        super().__init__(validate=[OneOf(self.values)], **options)


class IntegerChoice(Integer):
    """One of some whole numbers.

    Example:
        >>> IntegerChoice((1, 7, 14)).deserialize("7")
        7
    """

    def __init__(self, values: Sequence[int], **options: Unpack[FieldOptions]) -> None:
        super().__init__(**options)
        self.validators.append(OneOf(values))


COUNTRY = "an ISO 3166-1 alpha-2 code such as US"


class CountryCode(Text):
    """An ISO 3166-1 alpha-2 code that is assigned to a country."""

    @staticmethod
    def json_schema() -> dict[str, Any]:
        """The description of such a code: all allowed values."""
        return {"enum": sorted(list_countries())}

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        text = super()._deserialize(value, attr, data, **kwargs)
        if text not in list_countries():
            raise invalid(COUNTRY, text, "invalid country")
        return text


class CurrencyCode(Text):
    """An ISO 4217 code of a currency."""

    @staticmethod
    def json_schema() -> dict[str, Any]:
        """The description of such a code: all allowed values."""
        return {"enum": sorted(list_currencies())}

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        text = super()._deserialize(value, attr, data, **kwargs)
        if text not in list_currencies():
            raise invalid("an ISO 4217 code such as USD", text, "invalid currency")
        return text


class Instant(_Wire, fields.Field[str]):
    """An ISO 8601 moment, converted to the form of the interface unless `as_sent`.

    This form has seconds and `Z`, or with `millis` milliseconds and `Z`. A text without a
    time or an offset is midnight or in UTC; with `full` it is refused, as RFC 3339 demands both.
    """

    kind = "time"
    unreadable = "invalid date"

    def __init__(
        self,
        *,
        as_sent: bool = False,
        millis: bool = False,
        full: bool = False,
        **options: Unpack[FieldOptions],
    ) -> None:
        self.as_sent = as_sent
        self.full = full
        self.form = wire_millis if millis else wire_seconds
        super().__init__(**options)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        if isinstance(value, str):
            try:
                moment = parse_instant(value, full=self.full)
                return value if self.as_sent else self.form(moment)
            except ValueError as fault:
                refusal = Fault(
                    expected(self.kind, value),
                    details=self.unreadable,
                    value=value,
                    hint=f"{str(fault)[:1].upper()}{str(fault)[1:]}",
                    said=say(value, "is not valid", f"{cut(value)} is an invalid date-time"),
                )
                raise ValidationError([refusal]) from fault
        raise self._unreadable(value)


class CommaList(_Wire, fields.List[Any]):
    """Values separated by commas in the query; `inner` checks each one.

    With `repeatable` the parameter may also be sent several times. Spaces around a value do not
    belong to it, unless `exact`. In the JSON of a batch the values may also be an array.
    """

    kind = "comma-separated values"
    unreadable = "invalid list"

    def __init__(
        self,
        inner: fields.Field[Any],
        *,
        most: int | None = None,
        repeatable: bool = False,
        exact: bool = False,
        **options: Unpack[FieldOptions],
    ) -> None:
        self.repeatable = repeatable
        self.exact = exact
        self.length = Length(None, most)
        super().__init__(inner, validate=None if most is None else [self.length], **options)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> list[Any]:
        if not isinstance(value, str | list):
            raise self._unreadable(value)
        if not value:
            raise refuse(
                "A minimum of 1 items must be provided for {name}",
                said=Said(EMPTY, f"$.{{name}}: {tell_bound('minimum', 1)}"),
            )
        values: list[Any] = []
        faults: list[Any] = []
        # Too many are refused before any of them is looked at: reading each takes a while.
        for part in self.length(value if isinstance(value, list) else self._split(value)):
            try:
                values.append(self.inner.deserialize(part))
            except ValidationError as fault:
                faults.extend(fault.messages)
                if len(faults) > MAX_FAULTS:
                    break
        if faults:
            raise ValidationError(faults)
        return values

    def _split(self, text: str) -> list[str]:
        parts = text.split(",")
        return parts if self.exact else [part.strip() for part in parts]


class ListOf(_Wire, fields.List[Any]):
    """A JSON array; `inner` checks each item."""

    kind = "Array"
    unreadable = "invalid array"

    def __init__(
        self,
        inner: fields.Field[Any] | type[fields.Field[Any]],
        *,
        least: int | None = None,
        most: int | None = None,
        validate: Sequence[Validator] = (),
        **options: Unpack[FieldOptions],
    ) -> None:
        checks = list(validate)
        self.longest = Length(None, most)
        if least is not None or most is not None:
            checks.append(Length(least, most))
        super().__init__(inner, validate=checks, **options)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> list[Any]:
        if not isinstance(value, list):
            raise self._unreadable(value)
        self.longest(value)  # before each item is read, which takes a while
        # As the library does, but faults beyond those that are reported are not looked for.
        items: list[Any] = []
        faults: dict[int, Any] = {}
        for index, each in enumerate(value):
            try:
                items.append(self.inner.deserialize(each, **kwargs))
            except ValidationError as fault:
                if fault.valid_data is not None:
                    items.append(fault.valid_data)
                faults[index] = fault.messages
                if len(faults) > MAX_FAULTS:
                    break
        if faults:
            raise ValidationError(faults, valid_data=items)
        return items


class Nested(_Wire, fields.Nested):
    """A JSON object with its own schema, or with `many` an array of such objects."""

    def _unreadable(self, value: Any) -> ValidationError:
        if self.many:
            return invalid("Array", value, "invalid array")
        return invalid("Object", value, "invalid object")

    def _deserialize(
        self, value: Any, attr: str | None, data: Any, partial: Any = None, **kwargs: Any
    ) -> Any:
        if not isinstance(value, list if self.many else dict):
            raise self._unreadable(value)
        return super()._deserialize(value, attr, data, partial, **kwargs)


def require_types(declared: Iterable[fields.Field[Any]]) -> None:
    """Refuse texts in the place of numbers and booleans, in these fields and inside of them.

    The fields must be those of an instance of a schema, which nothing else uses.
    """
    for field in declared:
        if isinstance(field, Integer | Flag):
            field.typed = True
        elif isinstance(field, ListOf):
            require_types([field.inner])
        elif isinstance(field, Nested):
            require_types(field.schema.load_fields.values())


class Anything(_Wire, fields.Raw):
    """Any JSON value. If `keys` are set, other keys of an object are not read."""

    def __init__(
        self,
        *,
        keys: Sequence[str] = (),
        read_only: Sequence[str] = (),
        **options: Unpack[FieldOptions],
    ) -> None:
        self.keys = tuple(keys)
        self.read_only = tuple(read_only)
        super().__init__(**options)


class Json(_Wire, fields.Dict):
    """Any object of JSON."""

    kind = "Object"
    unreadable = "invalid object"

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        if not isinstance(value, dict):
            raise self._unreadable(value)
        return value


class Content(_Wire, fields.Field[bytes]):
    """The content of a file: the bytes of a multipart form, or base64 in text."""

    kind = "base64"
    unreadable = "invalid base64"

    @staticmethod
    def json_schema() -> dict[str, Any]:
        """The description of such a content."""
        return {"type": "string", "contentEncoding": "base64"}

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> bytes:
        if isinstance(value, bytes):
            return value
        if not isinstance(value, str):
            raise self._unreadable(value)
        try:
            return base64.b64decode(value, validate=True)
        except ValueError as fault:
            shown = f"{value[:_SHOWN]}…" if len(value) > _SHOWN else value
            raise self._unreadable(shown) from fault


class Timed(Json):
    """A JSON object whose moments may be relative to now, like the moments of a record.

    `moments` contains the names of such keys, at any depth, each with the form of its value.
    """

    def __init__(
        self, moments: Mapping[str, Callable[[datetime], str]], **options: Unpack[FieldOptions]
    ) -> None:
        self.moments = moments
        super().__init__(**options)

    def writer(self, value: Any) -> Callable[[datetime], Any] | None:
        """Return what counts the moments in a value from a given one; `None` if it has none.

        Each new world calls it, so where the moments are is found once, here.
        """
        if not isinstance(value, dict | list):
            return None
        parts: list[tuple[Any, Callable[[datetime], Any]]] = []
        pairs: Iterable[tuple[Any, Any]] = (
            value.items() if isinstance(value, dict) else enumerate(value)
        )
        for name, inner in pairs:
            distance = self._distance(name, inner)
            write = (
                self.writer(inner)
                if distance is None
                else partial(_write_moment, self.moments[name], distance)
            )
            if write is not None:
                parts.append((name, write))

        def write_all(now: datetime) -> Any:
            # Only the objects on the way to a moment are copied; all other parts are shared with
            # the fixture by every world.
            counted = value.copy()
            for name, write in parts:
                counted[name] = write(now)
            return counted

        return write_all if parts else None

    def _distance(self, name: Any, value: Any) -> timedelta | None:
        known = name in self.moments and isinstance(value, str)
        return parse_relative(value) if known else None


def _write_moment(form: Callable[[datetime], str], distance: timedelta, now: datetime) -> str:
    return form(now + distance)
