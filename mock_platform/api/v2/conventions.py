"""What operations of the v2 interface have in common: origin, date, credentials, limits, pages.

Their shapes are public facts (the reference for named endpoints), so every declaration has an
assumption that says from where its shape comes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Unpack

from marshmallow import Schema
from msgspec import Struct
from msgspec.structs import replace

from mock_platform.core.assumptions import Assumption, public_fact
from mock_platform.core.auth.authenticate import Auth
from mock_platform.core.call import Call, Challenge
from mock_platform.core.cursors import (
    SHORT_CHARACTERS,
    BadCursor,
    make_cursor,
    make_short_cursor,
    read_cursor,
    read_short_cursor,
)
from mock_platform.core.envelope import Returns
from mock_platform.core.failures.errors import InvalidParameters
from mock_platform.core.failures.problem_details import could_not_find
from mock_platform.core.failures.problems import Problem, problem
from mock_platform.core.faults import Fault
from mock_platform.core.fields import Text
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
from mock_platform.world.store.interface import Order, Position, Record
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


# Lists of the v2 interface: `max_results`, `pagination_token`, `meta`.

PAGES = public_fact(
    "v2.pages",
    "Lists take max_results and pagination_token; meta has result_count, and next_token unless the "
    "page is the last one. An empty list leaves data out.",
    "Common to all of the named endpoints",
)
TOKEN = "pagination_token"
_SHORTEST_TOKEN = 16


def make_token_field(*, short: bool = False) -> Text:
    """Return the parameter that names the page to begin with; `short` as for `take_page`."""
    return Text(min_length=_SHORTEST_TOKEN, max_length=SHORT_CHARACTERS if short else None)


class TokenPage(Struct, frozen=True):
    """The records of one page, and the token of the next one, if there is one."""

    records: list[Record]
    next_token: str | None

    def meta(self, **more: Any) -> dict[str, Any]:
        """Return `meta`: the number of records, the next token, and what else belongs there."""
        token = {} if self.next_token is None else {"next_token": self.next_token}
        return {"result_count": len(self.records), **more, **token}


def take_page(
    call: Call,
    world: World,
    table: str,
    match: Mapping[str, Any],
    *,
    order: Order | None = None,
    keys: Sequence[str] | None = None,
    where: Callable[[Record], bool] | None = None,
    short: bool = False,
) -> TokenPage:
    """Return the page of matching records that `max_results` and `pagination_token` ask for.

    With `keys`, only those records are in the list; with `where`, those for which it is true.
    `short` tokens have 16 characters, which is enough for lists in insertion order.

    Raises:
        InvalidParameters: The token is not one of this list.
    """
    order = order or Order()
    count: int = call.params["max_results"]
    text = call.params.get(TOKEN)
    try:
        after = None if text is None else _read_token(call, order, text, short=short)
    except BadCursor as fault:
        hint = "It must be a next_token of this list"
        wrong = Fault("pagination_token is not valid", details="invalid token", hint=hint)
        raise InvalidParameters([(TOKEN, wrong)], call.params) from fault
    store, limit = world.store, count + 1
    if keys is None:
        found = store.page(table, match, order=order, after=after, limit=limit, where=where)
    else:
        found = store.pick(table, keys, match, order=order, after=after, limit=limit, where=where)
    page = found[:count]
    token = None
    if len(found) > count:
        last = page[-1]
        token = make_short_cursor(call, last) if short else make_cursor(call, order, last)
    return TokenPage([entry.record for entry in page], token)


def _read_token(call: Call, order: Order, text: str, *, short: bool) -> Position:
    return read_short_cursor(call, text) if short else read_cursor(call, order, text)
