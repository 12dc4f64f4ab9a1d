"""What the journal is searched for, in the form that the control plane takes."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, TypedDict

from mock_platform.client.moments import wire
from mock_platform.control.refusal import did_you_mean
from mock_platform.world.clock import Instant


class EntryQuery(TypedDict, total=False):
    """Which entries of a journal; all that are given must fit."""

    operation: str | None
    """Id of an operation."""
    status: int | None
    method: str | None
    """In any case."""
    path: str | None
    """A part of the address."""
    rule: str | None
    """A scenario's name, or one of its rules as NAME/0."""
    since: Instant | None
    """A moment of the world's clock."""


class PageQuery(EntryQuery, total=False):
    """Which entries of a journal, and how many."""

    limit: int | None
    """The newest so many of those that fit."""


def as_sent(query: Mapping[str, Any], known: type[EntryQuery]) -> dict[str, str]:
    """A query as text by name, without what does not restrict.

    Raises:
        TypeError: A name is unknown, or `since` is neither a datetime nor text.
        ValueError: `since` is no moment.
    """
    names = known.__annotations__
    sent = {}
    for name, value in query.items():
        if name not in names:
            hint = did_you_mean(name, names)
            raise TypeError(
                f"The journal is not searched by {name!r}.{hint} By {', '.join(names)}."
            )
        if value is not None:
            is_moment = name == "since" or isinstance(value, datetime)
            sent[name] = wire(value) if is_moment else str(value)
    return sent
