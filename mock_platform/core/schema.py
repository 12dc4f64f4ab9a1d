"""The base of all schemas: marshmallow's, whose classes are made in half the time.

There are some 750 of them, all made at the start. For each marshmallow looks at every attribute of
the class and of its bases to find methods that are marked as hooks, and nearly none has any.
"""

from __future__ import annotations

from abc import ABCMeta
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar, cast

import marshmallow
from marshmallow import EXCLUDE, RAISE, ValidationError, missing
from marshmallow.decorators import POST_LOAD, PRE_LOAD, VALIDATES, VALIDATES_SCHEMA
from marshmallow.fields import Field
from marshmallow.schema import SchemaMeta

from mock_platform.core.fields import Flag, Instant, ListOf, Nested

_Hooks = dict[str, list[tuple[str, bool, dict[str, Any]]]]


class _SchemaMeta(SchemaMeta):
    """Makes schemas; most have the hooks of their bases, which so need no search."""

    found_hooks: _Hooks

    def __new__(  # noqa: PYI034 - `Self` is not allowed in a metaclass
        mcs, name: str, bases: tuple[type, ...], attrs: dict[str, Any]
    ) -> _SchemaMeta:
        """Return a new class; one that adds only to a single base has also the base's fields."""
        # marshmallow gathers the fields again from each class in the order of inheritance. A single
        # base has gathered them all already. Whatever else a class may bring along is its business.
        own = {key: value for key, value in attrs.items() if isinstance(value, Field)}
        if len(bases) != 1 or not isinstance(bases[0], _SchemaMeta) or _is_special(attrs):
            return cast("_SchemaMeta", super().__new__(mcs, name, bases, attrs))
        base: Any = bases[0]
        rest = {key: value for key, value in attrs.items() if key not in own}
        made: Any = ABCMeta.__new__(mcs, name, bases, rest)
        made.opts = base.opts
        made._declared_fields = base._declared_fields | own  # noqa: SLF001 - as the library does
        return cast("_SchemaMeta", made)

    def __init__(cls, *made_of: Any) -> None:  # noqa: N805 - of a metaclass
        """Find the hooks, and leave out the library's register: nothing here is nested by name."""
        ABCMeta.__init__(cls, *made_of)
        cls._hooks = cls.resolve_hooks()

    def resolve_hooks(cls) -> _Hooks:  # noqa: N805 - of a metaclass
        """Return the methods that are called before and after loading, by the time of the call."""
        # marshmallow collects hooks (methods marked with `@validates_schema` and the like) by a
        # walk over each attribute of each class in the order of inheritance. If all bases have the
        # same ones, and the class neither marks a method nor replaces one that was marked, the walk
        # would find those again. Otherwise the library looks itself.
        found = [getattr(base, "found_hooks", None) for base in cls.__bases__]
        hooks: _Hooks | None = found[0]
        if hooks is None or any(each != hooks for each in found) or _changes_hooks(cls, hooks):
            hooks = super().resolve_hooks()
        cls.found_hooks = hooks
        return hooks


def _is_special(attrs: Mapping[str, Any]) -> bool:
    """Return whether a class has options of its own, or a class in place of a field."""
    return "Meta" in attrs or any(isinstance(value, type) for value in attrs.values())


def _changes_hooks(cls: type, hooks: _Hooks) -> bool:
    """Return whether a class has hooks that are not among those of its bases, or replaces one."""
    names = {name for rows in hooks.values() for name, _, _ in rows}
    return any(
        name in names or hasattr(value, "__marshmallow_hook__") for name, value in vars(cls).items()
    )


class Schema(marshmallow.Schema, metaclass=_SchemaMeta):
    """The fields of a body, of parameters or of a record, and what is checked about them.

    Example:
        >>> from mock_platform.core.fields import Integer, Text
        >>> class Shop(Schema):
        ...     name = Text(required=True)
        ...     seats = Integer(low=0, load_default=4)
        >>> Shop().load({"name": "Harbor"})
        {'name': 'Harbor', 'seats': 4}
    """

    find_faults: ClassVar[Callable[..., Iterable[tuple[str, str]]] | None] = None
    """`Rules` that come with the parameters: every operation that takes them has these as well."""

    @classmethod
    def from_dict(
        cls, fields: Mapping[str, Field[Any]], *, name: str = "GeneratedSchema"
    ) -> type[Schema]:
        """Return a schema with these fields; unlike the library, without a class of options."""
        return cast("type[Schema]", _SchemaMeta(name, (cls,), {"__module__": __name__, **fields}))

    def load(self, *arguments: Any, **options: Any) -> Any:
        """Return the loaded data, as the library does.

        Its exception refers to a frame that has it in a variable. What was refused would stay in
        memory until the garbage collector finds that circle: all bodies on the way to it.

        Raises:
            ValidationError: The data have faults.
        """
        try:
            return super().load(*arguments, **options)
        except marshmallow.ValidationError as fault:
            fault.__cause__ = fault.__context__ = None
            raise fault.with_traceback(None) from None


def list_fields(schema: type[marshmallow.Schema]) -> dict[str, Field[Any]]:
    """Return the fields that a schema loads, by their names on the wire.

    They belong to the class. An instance has copies, which take long to make.
    """
    found = schema._declared_fields.items()  # noqa: SLF001 - marshmallow shows them nowhere else
    return {field.data_key or name: field for name, field in found if not field.dump_only}


class Stamped(Schema):
    """Fields of every record unless stated otherwise (document B, "Resources and fields")."""

    created_at = Instant(as_sent=True, required=True)
    updated_at = Instant(as_sent=True, required=True)
    deleted = Flag(load_default=False)


# Loads objects as their schema does, at a cost that depends only on the fields that were sent. For
# each load, marshmallow goes through every field of a schema and takes a microsecond for one that
# was not sent. Here such a field costs one look into a dict, and what was sent goes straight to the
# same field and the same validators; so do the objects inside it. If anything is wrong, the schema
# itself loads and reports it.

Loader = Callable[[Any], Any]
_Reader = Callable[[Any, str, Mapping[str, Any]], Any]
"""Return the value of a field that was sent with a name, among other values."""


def loader(schema: marshmallow.Schema) -> Loader:
    """Return a function like `schema.load` (results, exceptions) that ignores unknown names."""
    # The fast way decides only whether everything is right, and what the result is. What is wrong,
    # and how it is said, is left to the library, which loads the same data again. A refusal costs
    # twice then, and its messages are those of the library without any copy of them here.
    load_sent = _make_loader(schema, EXCLUDE)
    if load_sent is None or schema.partial:
        return schema.load

    def load(sent: Any) -> Any:
        try:
            return load_sent(sent)
        except ValidationError:
            return schema.load(sent)

    return load


def _make_loader(schema: marshmallow.Schema, unknown: str) -> Loader | None:
    """Return a function like `schema.load`, whose exceptions say nothing; `None` if it cannot.

    `unknown` is what happens to unknown names: EXCLUDE or RAISE.
    """
    # Hooks before or after loading, and validators of single fields by method, may do anything to
    # the data. Schemas that have some are left to the library as a whole.
    hooks = schema._hooks  # noqa: SLF001 - marshmallow shows them nowhere else
    if schema.many or any(hooks[kind] for kind in (PRE_LOAD, POST_LOAD, VALIDATES)):
        return None
    fields = [
        (
            field.data_key or attribute,
            field.attribute or attribute,
            _make_reader(field),
            field.load_default,
        )
        for attribute, field in schema.load_fields.items()
    ]
    validators = [
        (getattr(schema, name), more["pass_original"]) for name, _, more in hooks[VALIDATES_SCHEMA]
    ]
    known = frozenset(name for name, *_ in fields) if unknown == RAISE else None
    required = frozenset(f.data_key or name for name, f in schema.load_fields.items() if f.required)
    context = {"partial": schema.partial, "many": False, "unknown": schema.unknown}

    def load_sent(sent: Any) -> dict[str, Any]:
        if not isinstance(sent, dict) or not required <= sent.keys():
            raise ValidationError("")
        if known is not None and not sent.keys() <= known:
            raise ValidationError("")
        # In the order of the schema's fields, as the library does it, because that is the order of
        # the result's keys. A field that was not sent costs one look into a dictionary, and gets
        # its default.
        loaded = {}
        for name, attribute, read, default in fields:
            if name in sent:
                loaded[attribute] = read(sent[name], name, sent)
            elif default is not missing:
                loaded[attribute] = default() if callable(default) else default
        for validate, pass_original in validators:
            if pass_original:
                validate(loaded, sent, **context)
            else:
                validate(loaded, **context)
        return loaded

    return load_sent


def _make_reader(field: Field[Any]) -> _Reader:
    """Return a function like `field.deserialize` for values that were sent.

    It raises a `ValidationError` for the same values, but perhaps with other messages.
    """
    # A field class of our own may do something else altogether in `deserialize`. Only if it is the
    # library's own method is it known what it does: handle null and absent, convert, validate. The
    # three are then called directly.
    kind = type(field)
    if kind.deserialize is not Field.deserialize or kind._validate is not Field._validate:  # noqa: SLF001
        return field.deserialize
    read_value, validators = _find_value_reader(field), tuple(field.validators)

    def read(value: Any, name: str, sent: Mapping[str, Any]) -> Any:
        if value is None or value is missing:
            return field.deserialize(value, name, sent)
        found = read_value(value, name, sent)
        for validate in validators:
            validate(found)
        return found

    return read


def _find_value_reader(field: Field[Any]) -> _Reader:
    """Return a function like `field._deserialize`, which loads objects and lists as above."""
    if type(field) is Nested:
        schema, unknown = field.schema, field.unknown or field.schema.unknown
        load = None if field.many or schema.partial else _make_loader(schema, unknown)
        if load is not None and unknown in {EXCLUDE, RAISE}:
            return lambda value, *_: load(value)
    elif type(field) is ListOf:
        read = _make_reader(field.inner)

        def read_list(value: Any, name: str, sent: Mapping[str, Any]) -> list[Any]:
            if not isinstance(value, list):
                raise ValidationError("")
            return [read(item, name, sent) for item in value]

        return read_list
    return field._deserialize  # noqa: SLF001 - what `deserialize` calls
