"""What operations of the v2 interface have in common: how they are declared, and their answers.

Their shapes are public facts (the reference for named endpoints), so every declaration has an
assumption that says from where its shape comes. A family sets once what its operations share:
`_declare = partial(declare_named, spec=…, since=…, auth=…, limit=…)`. The answer of a write is made
by `wrap_data`. Lists and their pages are in `pages`, answers with posts and users in
`objects.answers`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any, ClassVar, Literal, Unpack

from marshmallow import fields
from msgspec import Struct
from msgspec.structs import replace

from mock_platform.core.assumptions import Assumption, public_fact
from mock_platform.core.auth.authenticate import Auth, Scheme
from mock_platform.core.call import Call, Challenge, Reply
from mock_platform.core.envelope import Flat, Returns
from mock_platform.core.failures.codes import NUMERIC_CODES, could_not_find, describe_unavailable
from mock_platform.core.failures.errors import Failure, ProblemFailure
from mock_platform.core.failures.problems import Problem, problem, problem_type
from mock_platform.core.fields import FieldOptions, Instant, Nested, Text, TextOrNumber
from mock_platform.core.operation import (
    Gate,
    Handler,
    Limit,
    Location,
    Operation,
    Origin,
    Particulars,
    Price,
    Rules,
)
from mock_platform.core.schema import Schema
from mock_platform.settings import Settings
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

OLDER_NAMES = public_fact(
    "v2.older-names",
    "Older names are taken on input: paths with tweets, tweet.fields, quote_tweet_id and their "
    "kin, and the older values of fields and expansions. Answers have the neutral names.",
    "Names, the table of pairs",
)

WRITE_PERMISSION = public_fact(
    "v2.oauth1-permissions",
    "Where other tokens need a scope of writing, OAuth 1.0a needs a token and an app that may "
    "write: with access to read alone (x_auth_access_type, _permissions) the answer is 403 "
    "about:blank, because the spec has no type oauth1-permissions. Subscribing to account activity "
    "needs no permission.",
    "issues of the libraries, app permissions",
)
WINDOW_SECONDS = 900
"""The rate windows of the v2 interface last 15 minutes."""


DAY_SECONDS = 86_400
ANY_CALLER: tuple[Scheme, ...] = ("bearer", "oauth1", "oauth2")
ANY_USER: tuple[Scheme, ...] = ("oauth1", "oauth2")


class NamedParticulars(Particulars, total=False):
    """The options that only some named operations use, with the same meaning as on `Operation`."""

    challenge: Callable[[Call, World, Settings], Challenge]
    dress: Callable[[Call, Failure, Reply], Reply]
    gates: tuple[Gate, ...]
    tier_gate: Gate
    max_body: int
    price: Price


class Rates(Struct, frozen=True):
    """The published numbers of requests: by app and by user, in 15 minutes and in a day.

    Example:
        >>> [limit.name for limit in Rates(user=50, user_daily=1000).name_limits("likes.create")]
        ['likes.create', 'likes.create.daily']
    """

    app: int | None = None
    user: int | None = None
    app_daily: int | None = None
    user_daily: int | None = None
    in_a_second: int | None = None
    """The number in one second, of an app and of a user alike."""
    shared: str | None = None
    """A name under which several operations share the windows."""

    def name_limits(self, id_: str) -> tuple[Limit, ...]:
        """Return the windows of an operation, those of the app first."""
        rows: tuple[tuple[Literal["app", "user"], int | None, int, str], ...] = (
            ("app", self.app, WINDOW_SECONDS, f"{id_}.app" if self.user else id_),
            ("user", self.user, WINDOW_SECONDS, id_),
            ("app", self.app_daily, DAY_SECONDS, f"{id_}.app.daily"),
            ("user", self.user_daily, DAY_SECONDS, f"{id_}.daily"),
            ("app", self.in_a_second, 1, f"{id_}.app.second"),
            ("user", self.in_a_second, 1, f"{id_}.second"),
        )
        return tuple(
            Limit(
                name if self.shared is None else f"{self.shared}.{per}.{seconds}",
                count,
                seconds,
                per=per,
                source="public",
                # What an app may do in a day is what all of its users do together.
                when=None if per == "app" and seconds == DAY_SECONDS else _ASKERS[per],
                category=self.shared,
            )
            for per, count, seconds, name in rows
            if count is not None
        )


def _is_app(call: Call) -> bool:
    return call.caller.scheme == "bearer"


def _is_user(call: Call) -> bool:
    return call.caller.scheme != "bearer"


_ASKERS = {"app": _is_app, "user": _is_user}


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
    assumptions: Sequence[Assumption],
    since: datetime | None = None,
    limit: int | Rates | Sequence[Limit] = (),
    params: type[Schema] | None = None,
    location: Location | None = None,
    errors: tuple[str, ...] = ("invalid-request",),
    statuses: tuple[int, ...] = (),
    origin: Origin = Origin.NAMED,
    **particulars: Unpack[NamedParticulars],
) -> Operation:
    """Return an operation that document A names without showing its form.

    `declare_public` does the same for one that document A does not name at all.

    `route` is method and path. `since` is the moment at which the release history says that it took
    effect, `None` if the history does not date it. `limit` is a number of requests of an app in 15
    minutes, `Rates`, or rate windows of other kinds; without it the platform names none. Parameters
    of writes are in a JSON body, all others in the query, if `location` does not say otherwise.
    `statuses` are those that `errors` do not have.
    """
    if isinstance(limit, int):
        limit = (Limit(id_, limit, WINDOW_SECONDS, per="app", source="public"),)
    elif isinstance(limit, Rates):
        limit = limit.name_limits(id_)
    method, _, path = route.partition(" ")
    if location is None:
        location = Location.JSON if method in {"POST", "PUT"} and params else Location.QUERY
    options: dict[str, Any] = dict(particulars)
    if _needs_write_permission(method, auth):
        # Last, because an app without the permission for messages is told so first (code 93).
        options["gates"] = (*options.get("gates", ()), require_oauth1_write)
        options["may_assume"] = (*options.get("may_assume", ()), WRITE_PERMISSION)
    return Operation(
        id=id_,
        method=method,
        path=path,
        handler=handler,
        summary=summary,
        spec=f"A, {spec}" if origin is Origin.NAMED else spec,
        returns=Flat(returns) if isinstance(returns, type) else returns,
        auth=auth,
        params=params,
        location=location,
        origin=origin,
        since=since,
        limits=tuple(limit),
        errors=errors,
        statuses=tuple(sorted({*map(_find_status, errors), *statuses})),
        assumptions=tuple(assumptions),
        **options,
    )


declare_public = partial(
    declare_named, spec="Not shown in the specification", origin=Origin.PUBLIC_FACT
)


def _needs_write_permission(method: str, auth: Auth) -> bool:
    writes = method != "GET" and any(scope.endswith(".write") for scope in auth.scopes)
    return writes and "oauth1" in auth.schemes and not auth.permissions_override


def require_oauth1_write(call: Call, _world: World) -> None:
    """Require, as a gate, that OAuth 1.0a lets the caller do more than read.

    Raises:
        ProblemFailure: It does not.
    """
    caller = call.caller
    if caller.scheme != "oauth1" or caller.assumed or caller.may_write:
        return
    app = get_app(call)
    why = f"_permissions of app {app['id']} lacks write"
    if "write" in app["_permissions"]:
        why = "the access token may only read; let the user allow the app again, with write access"
    call.diagnosis = {"mistake": "permissions", "explanation": why}
    raise forbid(
        "Your client app is not configured with the appropriate oauth1 app permissions for this "
        "endpoint.",
        WRITE_PERMISSION,
    )


def start_on(date: str) -> datetime:
    """Return the beginning of a day such as 2025-01-08, in UTC: the release of an operation."""
    return datetime.fromisoformat(f"{date}T00:00:00+00:00")


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


def make_id_field(what: str = "", *, or_number: bool = False, **options: Any) -> Text:
    """Return the field of an id: 1 to 19 digits; `what` says of what it is one.

    With `or_number` JSON may have a number, which some programs send.
    """
    kind = TextOrNumber if or_number else Text
    return kind(pattern=r"[0-9]{1,19}", pattern_text=f"{what}1 to 19 digits", **options)


def make_moment_field(**options: Any) -> Instant:
    """Return the field of a moment in a query: the day, the time and the offset from UTC."""
    return Instant(millis=True, full=True, **options)


MEDIA_KEY = re.compile(r"[0-9]{1,3}_[0-9]{1,19}", re.ASCII)


class MediaKey(Text):
    """A media key: the number of its kind, `_`, a snowflake."""

    def __init__(self, **options: Unpack[FieldOptions]) -> None:
        super().__init__(
            pattern=MEDIA_KEY.pattern,
            pattern_text="a media key such as 3_1712850617439551489",
            **options,
        )


class NamedPostBody(Schema):
    """A body that names a post; the older `tweet_id` is read as `post_id`."""

    older_keys: ClassVar[Mapping[str, str]] = {"tweet_id": "post_id"}
    post_id = make_id_field(required=True)


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


def find_absence(
    user: Record | None, parameter: str, value: str, *, repeated: bool = False
) -> Problem | None:
    """Return the problem that a user does not exist, is deactivated or suspended, else `None`."""
    if user is not None and not user.get("_suspended") and not user.get("_deactivated"):
        return None
    missing = find_nothing("user", parameter, value, repeated=repeated)
    if user is None or not user.get("_suspended"):
        return missing
    return replace(missing, title="Forbidden", detail=describe_unavailable("user", value))


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
        ProblemFailure: No record is found, or the user is suspended (resource-not-found, 404).
    """
    value = call.path_params[parameter]
    record = world.store.get(table, value) if find is None else find(value)
    absence = find_absence(record, parameter, value, repeated=True) if table == "users" else None
    if absence is not None:
        raise ProblemFailure(absence, *rests_on)
    if record is None:
        missing = find_nothing(kind, parameter, value, repeated=True, resource_type=resource_type)
        raise ProblemFailure(missing, *rests_on)
    return record


ID = re.compile(r"[0-9]{1,19}", re.ASCII)


class PathRule(Struct, frozen=True):
    """The rule that parameters of the path match their patterns.

    One of them may have to be the caller's `own` id; `further` rules may follow.
    """

    path_patterns: Mapping[str, re.Pattern[str]]
    text: str = "is not valid"
    own: str | None = None
    further: Rules | None = None

    def continue_with(self, further: Rules) -> PathRule:
        """Return this rule with further ones behind it."""
        return replace(self, further=further)

    def __call__(
        self, params: Mapping[str, Any], call: Call, world: World, settings: Settings
    ) -> Iterator[tuple[str, str]]:
        """Yield the parameters that break the rule, each with what is wrong with it."""
        for name, pattern in self.path_patterns.items():
            value = call.path_params[name]
            if name == self.own:
                own = get_user_id(call)
                text = f"must be the same as the authenticating user [{own}]"
                is_right = value == own
            else:
                text = self.text
                is_right = pattern.fullmatch(value) is not None
            if not is_right:
                yield name, f"The `{name}` query parameter value [{value}] {text}"
        if self.further is not None:
            yield from self.further(params, call, world, settings)


def check_path(*ids: str, text: str = "is not valid", **others: re.Pattern[str]) -> PathRule:
    """Return the rule that parameters of the path are ids, and others match their patterns.

    `text` is the end of its refusal.
    """
    return PathRule(dict.fromkeys(ids, ID) | others, text)


find_id_faults = check_path("id")
"""Finds what is wrong with the id in the path."""


def check_self(name: str = "id", *others: str) -> PathRule:
    """Return the rule that a parameter of the path is the id of the user who calls.

    `others` are further parameters of the path that are ids.
    """
    return PathRule(dict.fromkeys((name, *others), ID), own=name)


def forbid(
    detail: str, *rests_on: Assumption, status: int = 403, title: str | None = None
) -> ProblemFailure:
    """Return the generic problem for what a caller may not do; the title is that of the status."""
    return ProblemFailure(
        problem("about:blank", title=title, status=status, detail=detail), *rests_on
    )


def refuse_value(
    message: str, *rests_on: Assumption, name: str | None = None, value: str = ""
) -> ProblemFailure:
    """Return the refusal (invalid-request, 400) of what a valid request names; it is no such thing.

    `name` is the parameter at fault; some refusals of the platform are a message alone.
    """
    parameters = {} if name is None else {name: [value]}
    items = [{"message": message, "parameters": parameters}]
    return ProblemFailure(problem("invalid-request", errors=items), *rests_on)


ENTERPRISE_ONLY = public_fact(
    "v2.enterprise-only",
    "With --tiers on, an app whose _tier is neither enterprise nor partner is refused what the "
    "platform keeps for enterprises: client-forbidden, 403, with the reason client-not-enrolled. "
    "By default every app may call everything.",
    "all of v2, section 1.2",
)


def refuse_unenrolled(app: Record, needed: str, *rests_on: Assumption) -> ProblemFailure:
    """Return the refusal (client-forbidden) of an app that is not enrolled as it is needed."""
    value = problem(
        "client-forbidden",
        reason="client-not-enrolled",
        registration_url="https://developer.example.com/en/portal/products",
        client_id=app["id"],
        required_enrollment=needed,
    )
    return ProblemFailure(value, *rests_on)


def require_enterprise(call: Call, world: World) -> None:
    """Require that the app is enrolled as an enterprise.

    Raises:
        ProblemFailure: It is not (client-forbidden).
    """
    app = get_app(call)
    if app.get("_tier") not in {"enterprise", "partner"}:
        raise refuse_unenrolled(app, "Appropriate Level of API Access", ENTERPRISE_ONLY)


def require_enterprise_from(date: str) -> Gate:
    """Return the gate that holds from a day on, by the world's clock."""
    first = start_on(date)

    def require(call: Call, world: World) -> None:
        if world.clock.now() >= first:
            require_enterprise(call, world)

    return require


def wrap_data(
    name: str, shown: str = "", /, *, meta: Nested | None = None, **parts: fields.Field[Any]
) -> type[Schema]:
    """Return the schema of an answer with these fields under `data`, and with `meta` beside it.

    The description calls them `name` and `shown`, which is by default `_` and the name.

    Example:
        >>> from mock_platform.core.fields import Flag
        >>> answer = wrap_data("PinnedAnswer", pinned=Flag(required=True))
        >>> answer().load({"data": {"pinned": True}})
        {'data': {'pinned': True}}
    """
    data = make_schema(shown or f"_{name.removesuffix('Answer')}", **parts)
    beside = {} if meta is None else {"meta": meta}
    return make_schema(name, data=Nested(data, required=True), **beside)


def make_schema(name: str, /, **parts: fields.Field[Any]) -> type[Schema]:
    """Return a schema with these fields."""
    return Schema.from_dict(parts, name=name)
