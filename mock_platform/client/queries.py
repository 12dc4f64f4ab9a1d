"""Queries on the journal, in the form that the control plane accepts."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, TypedDict

from mock_platform.client.moments import format_moment
from mock_platform.core.hints import did_you_mean
from mock_platform.world.clock import Instant


class EntryQuery(TypedDict, total=False):
    """A query on the journal; an entry must match all values."""

    operation: str | None
    """Id of an operation."""
    status: int | None
    method: str | None
    """HTTP method, in any case."""
    path: str | None
    """Part of the address."""
    rule: str | None
    """Name of a scenario, or one of its rules as NAME/0."""
    since: Instant | None
    """Moment on the world's clock."""


class PageQuery(EntryQuery, total=False):
    """A query on the journal with a limit."""

    limit: int | None
    """Maximum number of entries; the newest ones are kept."""


def serialize_query(query: Mapping[str, Any], known: type[EntryQuery]) -> dict[str, str]:
    """Returns a query as text by name, without values that are `None`.

    Raises:
        TypeError: A name is unknown, or `since` is neither a datetime nor text.
        ValueError: `since` is not a moment.
    """
    names = known.__annotations__
    sent = {}
    for name, value in query.items():
        if name not in names:
            hint = did_you_mean(name, names)
            raise TypeError(
                f"The journal has no filter {name!r}.{hint} Filters: {', '.join(names)}."
            )
        if value is not None:
            is_moment = name == "since" or isinstance(value, datetime)
            sent[name] = format_moment(value) if is_moment else str(value)
    return sent
