"""What operations of the v2 interface have in common: how they are declared, lists and answers.

Their shapes are public facts (the reference for named endpoints), so every declaration has an
assumption that says from where its shape comes. A family sets once what its operations share:
`_declare = partial(declare_named, spec=…, since=…, auth=…, limit=…)`. Lists take a `TokenPageQuery`
and answer with `take_page` and `show_list`; the answer of a write is made by `wrap_data`. Lists of
posts and users are in `objects.answers`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Unpack, cast

from marshmallow import fields
from msgspec import Struct
from msgspec.structs import replace

from mock_platform.core.assumptions import Assumption, public_fact
from mock_platform.core.auth.authenticate import Auth, Scheme
from mock_platform.core.call import Call, Challenge
from mock_platform.core.cursors import (
    SHORT_CHARACTERS,
    BadCursor,
    make_cursor,
    make_short_cursor,
    read_cursor,
    read_short_cursor,
)
from mock_platform.core.envelope import Flat, Returns
from mock_platform.core.failures.codes import NUMERIC_CODES, could_not_find
from mock_platform.core.failures.errors import InvalidParameters, ProblemFailure
from mock_platform.core.failures.problems import Problem, problem, problem_type
from mock_platform.core.faults import Fault
from mock_platform.core.fields import Integer, Nested, Text
from mock_platform.core.operation import (
    Gate,
    Handler,
    Limit,
    Location,
    Operation,
    Origin,
    Particulars,
    Rules,
)
from mock_platform.core.schema import Schema
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


DAY_SECONDS = 86_400
ANY_CALLER: tuple[Scheme, ...] = ("bearer", "oauth1", "oauth2")
ANY_USER: tuple[Scheme, ...] = ("oauth1", "oauth2")


class NamedParticulars(Particulars, total=False):
    """The options that only some named operations use, with the same meaning as on `Operation`."""

    challenge: Callable[[Call, World, Settings], Challenge]
    gates: tuple[Gate, ...]


def limit_users(id_: str, count: int, seconds: int = WINDOW_SECONDS) -> tuple[Limit, ...]:
    """Return a limit of so many requests of a user, in 15 minutes if not said otherwise."""
    return (Limit(id_, count, seconds, per="user", source="public"),)


def declare_named(
    id_: str,
    route: str,
    handler: Handler,
    summary: str,
    *,
    spec: str,
    returns: type[Schema] | Returns,
    auth: Auth,
    since: datetime | None,
    limit: int | Sequence[Limit],
    assumptions: Sequence[Assumption],
    params: type[Schema] | None = None,
    location: Location = Location.QUERY,
    errors: tuple[str, ...] = ("invalid-request",),
    statuses: tuple[int, ...] = (),
    **particulars: Unpack[NamedParticulars],
) -> Operation:
    """Return an operation that document A names without showing its form.

    `route` is method and path. `since` is the moment at which the release history says that it took
    effect, `None` if the history does not date it. `limit` is a number of requests of an app in 15
    minutes, or rate windows of other kinds. `statuses` are those that `errors` do not have.
    """
    if isinstance(limit, int):
        limit = (Limit(id_, limit, WINDOW_SECONDS, per="app", source="public"),)
    method, _, path = route.partition(" ")
    options: dict[str, Any] = dict(particulars)
    return Operation(
        id=id_,
        method=method,
        path=path,
        handler=handler,
        summary=summary,
        spec=f"A, {spec}",
        returns=Flat(returns) if isinstance(returns, type) else returns,
        auth=auth,
        params=params,
        location=location,
        origin=Origin.NAMED,
        since=since,
        limits=tuple(limit),
        errors=errors,
        statuses=tuple(sorted({*map(_find_status, errors), *statuses})),
        assumptions=tuple(assumptions),
        **options,
    )


def _find_status(error: str) -> int:
    """Return the status of an error by its slug or code; of a generic problem that of a refusal."""
    if error == "about:blank":
        return 403
    return NUMERIC_CODES[int(error)].status if error.isdigit() else problem_type(error).status


def get_app(call: Call) -> Record:
    """Return the caller's app."""
    app = call.caller.app
    assert app is not None, "every scheme of these operations establishes an app"
    return app


def get_user(call: Call) -> Record:
    """Return the user for whom the call is made."""
    user = call.caller.user
    assert user is not None, "every scheme of these operations establishes a user"
    return user


def get_user_id(call: Call) -> str:
    """Return the id of the user for whom the call is made."""
    return str(get_user(call)["id"])


def make_id_field(what: str = "", **options: Any) -> Text:
    """Return the field of an id: 1 to 19 digits; `what` says of what it is one."""
    return Text(pattern=r"[0-9]{1,19}", pattern_text=f"{what}1 to 19 digits", **options)


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


def require_record(
    call: Call,
    world: World,
    table: str,
    kind: str,
    *rests_on: Assumption,
    parameter: str = "id",
    find: Callable[[str], Record | None] | None = None,
    resource_type: str | None = None,
) -> Record:
    """Return the record that the path names; `find` looks it up, else its key does.

    Raises:
        ProblemFailure: No record is found (resource-not-found, 404).
    """
    value = call.path_params[parameter]
    record = world.store.get(table, value) if find is None else find(value)
    if record is None:
        missing = find_nothing(kind, parameter, value, repeated=True, resource_type=resource_type)
        raise ProblemFailure(missing, *rests_on)
    return record


def check_path(name: str, pattern: re.Pattern[str], text: str) -> Rules:
    """Return the rule that a parameter of the path matches a pattern; `text` is its refusal."""

    def find_faults(
        _params: Mapping[str, Any], call: Call, _world: World, _settings: Settings
    ) -> Iterator[tuple[str, str]]:
        value = call.path_params[name]
        if not pattern.fullmatch(value):
            yield name, f"The `{name}` query parameter value [{value}] {text}"

    return find_faults


ID = re.compile(r"[0-9]{1,19}", re.ASCII)
find_id_faults = check_path("id", ID, "is not valid")
"""Finds what is wrong with the id in the path."""


def check_self(name: str = "id") -> Rules:
    """Return the rule that a parameter of the path is the id of the user who calls."""

    def find_faults(
        _params: Mapping[str, Any], call: Call, _world: World, _settings: Settings
    ) -> Iterator[tuple[str, str]]:
        value, own = call.path_params[name], get_user_id(call)
        if value != own:
            text = f"must be the same as the authenticating user [{own}]"
            yield name, f"The `{name}` query parameter value [{value}] {text}"

    return find_faults


def forbid(
    detail: str, *rests_on: Assumption, status: int = 403, title: str | None = None
) -> ProblemFailure:
    """Return the generic problem for what a caller may not do; the title is that of the status."""
    return ProblemFailure(
        problem("about:blank", title=title, status=status, detail=detail), *rests_on
    )


def wrap_data(
    name: str, shown: str = "", *, meta: Nested | None = None, **parts: fields.Field[Any]
) -> type[Schema]:
    """Return the schema of an answer with these fields under `data`, and with `meta` beside it.

    The description calls them `name` and `shown`, which is by default `_` and the name.

    Example:
        >>> from mock_platform.core.fields import Flag
        >>> answer = wrap_data("PinnedAnswer", pinned=Flag(required=True))
        >>> answer().load({"data": {"pinned": True}})
        {'data': {'pinned': True}}
    """
    data = Schema.from_dict(dict(parts), name=shown or f"_{name.removesuffix('Answer')}")
    beside = {} if meta is None else {"meta": meta}
    whole = Schema.from_dict({"data": Nested(data, required=True), **beside}, name=name)
    return cast("type[Schema]", whole)  # the library says that it is one of its own


# Lists of the v2 interface: `max_results`, `pagination_token`, `meta`.

TOKEN_PAGES = public_fact(
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


class TokenPageQuery(Schema):
    """The page of a list to return; a list that has another `max_results` says so."""

    max_results = Integer(low=1, high=100, load_default=100)
    pagination_token = make_token_field()


class PageMeta(Schema):
    """How many records a page has, and the token of the next one."""

    result_count = Integer(required=True)
    next_token = Text()


def show_list(data: Sequence[Any], **parts: Any) -> dict[str, Any]:
    """Return the answer of a list with its other parts: without `data` if there is nothing."""
    return {"data": list(data), **parts} if data else parts


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
    after = read_token(call, order, short=short)
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


def read_token(
    call: Call, order: Order, name: str = TOKEN, *, of: str = "this list", short: bool = False
) -> Position | None:
    """Return the position of the page that a token asks for; `None` without one.

    Raises:
        InvalidParameters: It is not a token of this list.
    """
    text = call.params.get(name)
    try:
        if text is None:
            return None
        return read_short_cursor(call, text) if short else read_cursor(call, order, text)
    except BadCursor as fault:
        hint = f"It must be a next_token of {of}"
        wrong = Fault(f"{name} is not valid", details="invalid token", hint=hint)
        raise InvalidParameters([(name, wrong)], call.params) from fault
