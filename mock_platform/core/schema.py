"""The base of all schemas: marshmallow's, whose classes are made in half the time.

There are some 500 of them, all made at the start. For each marshmallow looks at every attribute of
the class and of its bases to find methods that are marked as hooks, and nearly none has any.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, ClassVar

import marshmallow
from marshmallow.schema import SchemaMeta

from mock_platform.core.fields import Flag, Instant

_Hooks = dict[str, list[tuple[str, bool, dict[str, Any]]]]
_NO_HOOKS = frozenset({"Meta", "_abc_impl", "_declared_fields", "opts"})
"""What Python and marshmallow put into each class. A name that is missing here costs time only."""


class _SchemaMeta(SchemaMeta):
    """Makes schemas; one that adds only fields to a single base has the hooks of the base."""

    found_hooks: _Hooks

    def resolve_hooks(cls) -> _Hooks:  # noqa: N805 - of a metaclass
        """Returns the methods that are called before and after loading, by the time of the call."""
        # marshmallow collects hooks (methods marked with `@validates_schema` and the like) by a
        # walk over each attribute of each class in the order of inheritance. If a class adds fields
        # only, the walk would find exactly what it found for the base, so that result is reused.
        # Two bases could each have hooks, and a method or any other attribute could be one: then
        # the library looks itself.
        base = cls.__bases__[0]
        if len(cls.__bases__) == 1 and isinstance(base, _SchemaMeta) and not _list_additions(cls):
            cls.found_hooks = base.found_hooks
        else:
            cls.found_hooks = super().resolve_hooks()
        return cls.found_hooks


def _list_additions(cls: type) -> list[str]:
    """Returns what a class has beside its fields, which marshmallow has taken out of it."""
    # marshmallow's metaclass has removed the declared fields from the class before this is called.
    # What is left beside the names that every class has are methods and constants. A constant is no
    # hook, but telling them apart would be the library's business.
    return [name for name in vars(cls) if name not in _NO_HOOKS and not name.startswith("__")]


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

    def load(self, *arguments: Any, **options: Any) -> Any:
        """Returns the loaded data, as the library does.

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


class Stamped(Schema):
    """Fields of every record unless stated otherwise (document B, "Resources and fields")."""

    created_at = Instant(as_sent=True, required=True)
    updated_at = Instant(as_sent=True, required=True)
    deleted = Flag(load_default=False)
