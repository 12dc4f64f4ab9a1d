"""What the endpoints that document A only names have in common: origin, date, kinds of credentials.

Their shapes are public facts (the reference for named endpoints), so every declaration has an
assumption that says from where its shape comes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, Unpack

from marshmallow import Schema
from msgspec.structs import replace

from mock_platform.core.assumptions import Assumption, public_fact
from mock_platform.core.auth.authenticate import Auth
from mock_platform.core.call import Call
from mock_platform.core.challenge import Challenge
from mock_platform.core.envelope import Returns
from mock_platform.core.failures.problem_details import could_not_find
from mock_platform.core.failures.problems import Problem, problem
from mock_platform.core.operation import (
    Gate,
    Handler,
    Limit,
    Location,
    Operation,
    Origin,
    Particulars,
)
from mock_platform.settings import Settings
from mock_platform.world.world import World

OLDER_NAMES = public_fact(
    "v2.older-names",
    "Older names are taken on input: paths with tweets, tweet.fields, quote_tweet_id and their "
    "kin, and the older values of fields and expansions. Answers have the neutral names.",
    "Names, the table of pairs",
)

WINDOW_SECONDS = 900
"""The rate windows of the v2 interface last 15 minutes."""


class NamedParticulars(Particulars, total=False):
    """The options that only some named operations use, with the same meaning as on `Operation`."""

    challenge: Callable[[Call, World, Settings], Challenge]
    gates: tuple[Gate, ...]


def limit_users(id_: str, count: int) -> tuple[Limit, ...]:
    """Return a limit of so many requests of a user in 15 minutes."""
    return (Limit(id_, count, WINDOW_SECONDS, per="user", source="public"),)


def declare_named(
    id_: str,
    method: str,
    path: str,
    handler: Handler,
    *,
    summary: str,
    spec: str,
    returns: Returns,
    auth: Auth,
    since: datetime | None,
    limit: int | Sequence[Limit],
    assumptions: Sequence[Assumption],
    params: type[Schema] | None = None,
    location: Location = Location.QUERY,
    errors: tuple[str, ...] = ("invalid-request",),
    statuses: tuple[int, ...] = (400,),
    **particulars: Unpack[NamedParticulars],
) -> Operation:
    """Return an operation that document A names without showing its form.

    `since` is the moment at which the release history says that it took effect, `None` if the
    history does not date it. `limit` is a number of requests of an app in 15 minutes, or rate
    windows of other kinds.
    """
    if isinstance(limit, int):
        limit = (Limit(id_, limit, WINDOW_SECONDS, per="app", source="public"),)
    options: dict[str, Any] = dict(particulars)
    return Operation(
        id=id_,
        method=method,
        path=path,
        handler=handler,
        summary=summary,
        spec=f"A, {spec}",
        returns=returns,
        auth=auth,
        params=params,
        location=location,
        origin=Origin.NAMED,
        since=since,
        limits=tuple(limit),
        errors=errors,
        statuses=statuses,
        assumptions=tuple(assumptions),
        **options,
    )


def find_nothing(
    kind: str,
    parameter: str,
    value: str,
    *,
    repeated: bool = False,
    resource_type: str | None = None,
) -> Problem:
    """Return the problem that a post, user, medium or place does not exist.

    `resource_type` is for a kind that the enumeration of the specification does not have.
    """
    found = problem(
        "resource-not-found",
        detail=could_not_find(kind, parameter, value),
        parameter=parameter,
        value=value,
        resource_id=value,
        resource_type=resource_type or kind,
    )
    return replace(found, repeated=repeated)
