"""What operations of the older interface have in common: how they are declared, ask and refuse.

They are views of the same world: an operation of the v2 interface does the work (`run`), and the
answer has the older form. What that operation refuses becomes a number of the older interface.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial, wraps
from typing import Any, cast

from marshmallow import fields, pre_load

from mock_platform.api.v2.conventions import (
    Rates,
    declare_public,
    get_user_id,
    make_id_field,
    make_schema,
)
from mock_platform.api.v2.objects import post_text, post_view, relations
from mock_platform.api.v2.pages import TOKEN, TokenForm, TokenPage
from mock_platform.core.assumptions import Assumption, expectation, public_fact
from mock_platform.core.auth.authenticate import APP_OR_USER, USER
from mock_platform.core.call import Call, Reply
from mock_platform.core.envelope import JSON, Flat, Returns
from mock_platform.core.failures import errors as failures
from mock_platform.core.failures.errors import InvalidParameters, NumericFailure, ProblemFailure
from mock_platform.core.faults import MISSING
from mock_platform.core.fields import (
    Anything,
    Choice,
    CommaList,
    Flag,
    Integer,
    Json,
    ListOf,
    Text,
)
from mock_platform.core.jsonio import dumps
from mock_platform.core.operation import Example, Gate, Handler, Limit, Location, Operation, Origin
from mock_platform.core.original_names.translation import Pairs
from mock_platform.core.schema import Schema
from mock_platform.settings import Settings
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

OLDER_INTERFACE = public_fact(
    "older.shapes",
    "The operations of version 1.1 have their published parameters, forms, numbers of errors and "
    "limits. They show the records that the v2 interface shows, and what they change is changed "
    "there, with the same events and counts.",
    "developer pages of version 1.1",
    gap=True,
)
OLDER_RULES = expectation(
    "older.rules",
    "What the v2 interface refuses is refused here, with the nearest number: 87 where none is "
    "published. A parameter that is missing is refused with code 38, one that is invalid with code "
    "44, and X-Mock-Why says what is wrong with it. A count above the highest one is taken as that "
    "one. Words other than true, t and 1 mean false. In paths and names the neutral words are "
    "posts and repost; the original paths are taken as well.",
)
WRITE_ACCESS = public_fact(
    "older.write-access",
    "A token or an app that may only read is refused with code 261 where something is changed.",
    "developer pages of version 1.1, error codes",
)

NOT_AUTHORIZED = public_fact(
    "older.not-authorized",
    "The timeline and the lists of a user who is protected or suspended, or from whom a block "
    "separates the caller, are refused with 401 and an object of their own: request is the path, "
    "error is Not authorized. Of an unknown user they are refused with code 34.",
    "tests and issues of the libraries for version 1.1",
)


def _respell(*texts: str) -> dict[str, str]:
    """Return the original spelling of names and sentences, which have tweet for post."""
    return {text: text.replace("post", "tweet").replace("Post", "Tweet") for text in texts}


ORIGINAL_NAMES = Pairs(
    _respell("post_mode", "repost_count", "reposted", "reposted_status", "include_my_repost",
             "want_reposts", "reposts", "post_volume", "/search/posts"),
    values={"media_category": _respell("post_image", "post_gif", "post_video")},
    segments=_respell("posts", "repost", "reposts", "unrepost", "reposters", "reposts_of_me",
                      "no_reposts"),
    spoken=frozenset({"message"}),
    sentences=_respell(
        "Post needs to be a bit shorter.",
        "You have already reposted this Post.",
        "The Post exceeds the number of allowed attachment types.",
        "You attempted to reply to a Post that is deleted or not visible to you.",
        "The original Post author restricted who can reply to this Post.",
        "You have been blocked from the author of this Post.",
    ),
    free=frozenset({"entities", "extended_entities", "geo", "place", "coordinates", "apps"}),
)  # fmt: skip


SITE = "https://platform.example"
"""Where the pages of users, posts and places would be."""


# -- parameters --------------------------------------------------------------------------------

OBJECTS = ListOf(Json(), required=True)
"""A list of objects in an answer, whose keys are not described."""


class Switch(Flag):
    """Whether something is wanted: `true`, `t` or `1`, in any case; all else is no."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> bool:
        return str(value).lower() in {"true", "t", "1"}


class OlderParameters(Schema):
    """Parameters, of which empty ones are as good as absent, but for those that may be empty."""

    may_be_empty: frozenset[str] = frozenset()

    @pre_load
    def _drop_empty(self, data: Any, **_: Any) -> Any:
        kept = self.may_be_empty
        return {name: value for name, value in data.items() if value != "" or name in kept}


class FormQuery(OlderParameters):
    """In which form posts and users are shown."""

    post_mode = Choice(("compat", "extended"))
    tweet_mode = Choice(("compat", "extended"))
    trim_user = Switch(load_default=False)
    include_entities = Switch(load_default=True)
    include_user_entities = Switch(load_default=True)
    skip_status = Switch(load_default=False)
    include_card_uri = Switch(load_default=False)
    include_ext_alt_text = Switch(load_default=False)


class OneUserQuery(FormQuery):
    """A user by id or by name; `id` is either."""

    id = Text(min_length=1)
    user_id = make_id_field("a user id of ")
    screen_name = Text(min_length=1)


class UsersQuery(FormQuery):
    """Up to 100 users by id and by name."""

    user_id = CommaList(make_id_field("a user id of "), most=100)
    screen_name = CommaList(Text(), most=100)


class CursorQuery(OlderParameters):
    """The page of a list: -1 is the first one, and 0 says that there is no other."""

    count = Integer(low=0)
    cursor = Integer(load_default=-1)


class UserListQuery(OneUserQuery, CursorQuery):
    """The page of a list that belongs to a user."""


class PostRangeQuery(FormQuery):
    """How many posts to show, and between which ids."""

    count = Integer(low=0)
    since_id = make_id_field("a post id of ")
    max_id = make_id_field("a post id of ")
    include_rts = Switch(load_default=True)


def require(kind: type[fields.Field[Any]], *names: str) -> dict[str, fields.Field[Any]]:
    """Return required fields of one kind, for the schema of an answer."""
    return {name: kind(required=True) for name in names}


def add_fields(*bases: type[Schema], **parts: fields.Field[Any]) -> type[Schema]:
    """Return a schema of parameters with the fields of others and with these."""
    return cast("type[Schema]", type("OlderQuery", bases or (OlderParameters,), parts))


# -- answers -----------------------------------------------------------------------------------


class Listing(Flat, frozen=True):
    """An array of objects without anything around it; or if `by_id`, an object with them."""

    by_id: bool = False

    def describe_body(self, data: dict[str, Any]) -> dict[str, Any]:
        """Return the JSON Schema of the body: an array."""
        array = {"type": "array", "items": data}
        return {"anyOf": [array, {"type": "object"}]} if self.by_id else array


class NoContent(Schema):
    """An answer without a body."""


class Empty(Flat, frozen=True):
    """An answer without a body."""

    media_type: str = ""

    def reply(self, call: Call, result: Any) -> Reply:
        """Return the reply with a status alone."""
        return Reply(self.status)


NOTHING = Empty(NoContent, status=204)


class IdList(Listing, frozen=True):
    """An array of ids, which are numbers or texts."""

    def describe_body(self, data: dict[str, Any]) -> dict[str, Any]:
        """Return the JSON Schema of the body."""
        return {"type": "array", "items": _ID_TYPES}


_ID_TYPES = {"type": ["integer", "string"]}
ID_LIST = IdList(NoContent)


def make_page(name: str, **parts: fields.Field[Any]) -> type[Schema]:
    """Return the schema of a page: with the places of the next and of the previous one."""
    numbers, texts = ("next_cursor", "previous_cursor"), ("next_cursor_str", "previous_cursor_str")
    return make_schema(name, **parts, **require(Integer, *numbers), **require(Text, *texts))


_Ids = ListOf(Anything(metadata=_ID_TYPES), required=True)
IdPage = make_page("OlderIdPage", ids=_Ids, total_count=Integer(allow_none=True))


def show_ids(call: Call, ids: Iterable[str]) -> list[int | str]:
    """Return ids as numbers, or as texts if the caller wants that (`stringify_ids`)."""
    return [*ids] if call.params["stringify_ids"] else [int(id_) for id_ in ids]


# -- what the v2 interface does, and its refusals as numbers -----------------------------------

_CODES_OF_KINDS = {"user": 50, "post": 144, "list": 34, "media": 325}
_REFUSALS = {
    34: ("WebhookIdInvalid",),
    104: ("You are not allowed to add members",),
    136: ("You are not permitted to perform",),
    158: ("You cannot follow yourself",),
    162: ("You cannot follow an account",),
    179: ("Sorry, you are not authorized to see",),
    183: ("You are not authorized to delete this Post",),
    186: ("Your Post is too long",),
    187: ("You are not allowed to create a Post with duplicate",),
    195: ("query",),
    214: ("DuplicateUrlFailed", "WebhookLimitExceeded", "CrcValidationFailed",
          "SubscriptionLimitExceeded"),
    271: ("You cannot mute yourself",),
    324: ("media.media_ids", "attachments"),
    327: ("You cannot repost a Post",),
    349: ("You do not have permission to DM",),
    355: ("DuplicateSubscriptionFailed",),
    385: ("reply.in_reply_to_post_id",),
    433: ("Reply to this conversation",),
}  # fmt: skip
"""The numbers, each for parameters at fault, or for the beginning of what is said."""
_CODES = {text: code for code, texts in _REFUSALS.items() for text in texts}
_SENT_AS = {"quote_post_id": "attachment_url", "pagination_token": "cursor"}
"""Parameters of the v2 interface, and what clients of this one sent for them."""
_SPOKEN = {87, 214}
"""Numbers whose text is what the v2 interface says."""


def run(
    handler: Handler, call: Call, world: World, path: Mapping[str, str] = {}, /, **sent: Any
) -> Any:
    """Return what an operation of the v2 interface answers to these parameters of the caller."""
    own, headers = (call.path_params, call.params), len(call.extra_headers)
    call.path_params, call.params = path, sent
    try:
        return handler(call, world)
    finally:
        call.path_params, call.params = own
        del call.extra_headers[headers:]  # addresses of the v2 interface


def number_refusals(handler: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function whose refusals have the numbers of the older interface."""

    @wraps(handler)
    def answer(call: Call, *given: Any) -> Any:
        try:
            return handler(call, *given)
        except (ProblemFailure, InvalidParameters) as failure:
            raise _find_number(call, failure) from failure

    return answer


def _find_number(call: Call, failure: ProblemFailure | InvalidParameters) -> failures.Failure:
    if isinstance(failure, InvalidParameters):
        for name, fault in failure.faults:
            if name in _CODES:
                call.diagnosis = {"mistake": name, "explanation": fault.hint or str(fault)}
                return NumericFailure(_CODES[name])
        return failure
    problem = failure.problem
    if problem.kind.slug == "resource-not-found":
        # Messages are of the type of users, because the enumeration has none for them.
        kind = "" if problem.extra["parameter"] == "event_id" else problem.extra["resource_type"]
        return NumericFailure(63 if problem.title == "Forbidden" else _CODES_OF_KINDS.get(kind, 34))
    if problem.kind.slug == "usage-capped":
        return NumericFailure(88)
    said = [problem.detail, *(item["message"] for item in problem.extra.get("errors", ()))]
    code = next((_CODES[each] for each in _CODES for text in said if text.startswith(each)), 87)
    return NumericFailure(code, said[-1] if code in _SPOKEN else None)


def _dress(call: Call, failure: failures.Failure, reply: Reply) -> Reply:
    """Return the reply with the body of this interface.

    A parameter that is not missing but invalid is refused with code 44 and its name. What hangs on
    a hidden user has no code.
    """
    if isinstance(failure, failures.PlainFailure):
        reply.body = dumps({"request": call.path, "error": failure.text})
        reply.headers = [("Content-Type", JSON), *reply.headers[1:]]
    invalid = failure.faults if isinstance(failure, InvalidParameters) else ()
    names = [name for name, fault in invalid if fault.code != MISSING]
    if names:
        text = f"{_SENT_AS.get(names[0], names[0])} parameter is invalid."
        reply.body = dumps({"errors": [{"code": 44, "message": text}]})
    return reply


def find_named_user(
    call: Call, world: World, missing: int = 50, none: int | None = None, prefix: str = ""
) -> Record:
    """Return the user whom `user_id`, `screen_name` or `id` names; without them, the caller.

    With a `prefix` the parameters are called `owner_id` and `owner_screen_name`, for instance.

    Raises:
        NumericFailure: The user does not exist (`missing`), or is suspended (63); none is named
            where one is needed (`none`), or by an app (25).
    """
    sent = call.params
    key, name = sent.get(f"{prefix}id" if prefix else "user_id"), sent.get(f"{prefix}screen_name")
    if key is None and name is None and not prefix and "id" in sent:
        key, name = (sent["id"], None) if sent["id"].isdecimal() else (None, sent["id"])
    if key is None and name is None:
        if none is not None or call.caller.scheme == "bearer" or call.caller.user is None:
            raise NumericFailure(none or 25)
        return call.caller.user
    user = post_text.find_user(world, name or "") if key is None else world.store.get("users", key)
    if user is None or not relations.is_present(user):
        raise NumericFailure(63 if user and user.get("_suspended") else missing)
    return user


def find_owner(call: Call, world: World) -> Record:
    """Return the user whose timeline or list is asked for; the caller if none is named.

    Raises:
        NumericFailure: The user does not exist (34), or an app names no user (25).
        PlainFailure: The user is suspended (401).
    """
    try:
        return find_named_user(call, world, 34)
    except NumericFailure as failure:
        raise (_refuse_hidden(call) if failure.code == 63 else failure) from None


def _refuse_hidden(call: Call) -> failures.PlainFailure:
    why = "the user is protected or suspended, or a block separates the two"
    call.diagnosis = {"mistake": "hidden", "explanation": why}
    return failures.PlainFailure(401, "Not authorized.", NOT_AUTHORIZED)


def find_named_users(call: Call, world: World) -> list[Record]:
    """Return those users whom `user_id` and `screen_name` list.

    Raises:
        NumericFailure: Nothing is asked for (25), or no user is found (17).
    """
    ids, names = call.params.get("user_id"), call.params.get("screen_name")
    if ids is None and names is None:
        raise NumericFailure(25)
    found = [world.store.get("users", id_) for id_ in ids or ()]
    found += [post_text.find_user(world, name) for name in names or ()]
    present = {user["id"]: user for user in found if user and relations.is_present(user)}
    if not present:
        raise NumericFailure(17)
    return list(present.values())


def read_bounds(call: Call) -> tuple[int, int]:
    """Return the ids between which posts lie, both exclusive: `since_id`, and behind `max_id`."""
    return int(call.params.get("since_id", -1)), int(call.params.get("max_id", 1 << 63)) + 1


def clamp(call: Call, usual: int, most: int) -> int:
    """Return the number of results: the usual one if none is asked for, and at most `most`."""
    return max(1, min(int(call.params.get("count", usual)), most))


def run_page(
    list_: Handler, form: TokenForm, usual: int, most: int, call: Call, world: World, key: str = ""
) -> tuple[list[Record], Record]:
    """Return what a list of the v2 interface has on the page that was asked for, and the cursors.

    `form` is that of its tokens, whose numbers are the cursors; `key` is the id in its path, by
    default that of the user whom the parameters name.
    """
    path, cursor = {"id": key or find_owner(call, world)["id"]}, call.params["cursor"]
    asked: Record = {} if cursor in {-1, 0} else {TOKEN: form.write(abs(cursor))}
    answer = run(list_, call, world, path, max_results=clamp(call, usual, most), **asked)
    meta = require_shown(call, answer).get("meta", {})
    tokens = (meta.get(name) for name in ("next_token", "previous_token"))
    following, previous = (0 if token is None else form.read(token) for token in tokens)
    cursors = {"next_cursor": following, "previous_cursor": -previous}
    return answer.get("data", []), post_view.add_texts(cursors)


def run_id_page(
    list_: Handler, form: TokenForm, most: int, call: Call, world: World, key: str = ""
) -> Record:
    """Return the page of the ids of the users that a list of the v2 interface has (`IdPage`)."""
    found, cursors = run_page(list_, form, most, most, call, world, key)
    return {"ids": show_ids(call, (one["id"] for one in found)), **cursors, "total_count": None}


def run_text_page(
    take: Callable[[Call, World], TokenPage], call: Call, world: World
) -> tuple[list[Record], Record]:
    """Return the records of a page whose cursor is a text, and the cursor of the next one."""
    sent = {TOKEN: call.params["cursor"]} if "cursor" in call.params else {}
    page = run(take, call, world, max_results=clamp(call, 20, 50), **sent)
    return page.records, {} if page.next_token is None else {"next_cursor": page.next_token}


def require_own(call: Call, world: World, table: str, key: str) -> Record:
    """Return a record of the caller, from a table whose records name their user.

    Raises:
        NumericFailure: No record has this key, or another user has it (34).
    """
    found = world.store.get(table, key)
    if found is None or found["_user_id"] != get_user_id(call):
        raise NumericFailure(34)
    return found


def require_shown(call: Call, answer: Record) -> Record:
    """Return the answer of a list, which must not be hidden from the caller.

    Raises:
        PlainFailure: It hangs on a user whose posts the caller may not see (401).
    """
    if "errors" in answer and not answer.keys() & {"data", "meta"}:
        raise _refuse_hidden(call)
    return answer


# -- declarations ------------------------------------------------------------------------------


def require_write_access(call: Call, _world: World) -> None:
    """Require, as a gate, a token and an app that may write."""
    if not call.caller.may_write:
        call.assume(WRITE_ACCESS)
        raise NumericFailure(261)


def _drop_ending(call: Call, _world: World) -> None:
    """Leave the ending of a path out of its last parameter."""
    call.path_params = {name: text.removesuffix(".json") for name, text in call.path_params.items()}


def declare(
    route: str, handler: Callable[..., Any], summary: str, returns: type[Schema] | Returns,
    params: type[Schema] | None = FormQuery, *,
    id_: str = "", prefix: str = "older.", also: Sequence[str] = (), errors: str = "",
    facts: Sequence[Assumption] = (), may_assume: Sequence[Assumption] = (),
    rates: tuple[int | None, int] | None = None, limit: Rates | tuple[Limit, ...] = (),
    gates: tuple[Gate, ...] = (), reads: bool | None = None,
    query: Mapping[str, str] | None = None, path: Mapping[str, str] | None = None,
    json: Any = None, before: tuple[str, str] | None = None,
    configure: Callable[[Settings], Handler] | None = None, **options: Any,
) -> Operation:  # fmt: skip
    """Return an operation of the older interface: `route` is its method, and its path below `/1.1`.

    Its id follows from the path. One that reads (by default each GET) is for apps and users, others
    for users that may write. `rates` are the requests of an app and of a user in 15 minutes, None
    where an app may make none; `limit` is for other windows. `query`, `path` and `json` are those
    of its example. With `configure` the handler gets first what that returns under the settings.
    """
    method, _, rest = route.partition(" ")
    names = [segment for segment in rest.split("/") if not segment.startswith(":")]
    reads = method == "GET" if reads is None else reads
    is_own = not reads or (rates is not None and rates[0] is None)
    auth = options.setdefault("auth", USER if is_own else APP_OR_USER)
    options.setdefault("location", Location.QUERY)
    answer = number_refusals(handler)
    if configure is not None:
        options["configure"] = lambda made: number_refusals(partial(handler, configure(made)))
        answer = options["configure"](Settings())
    is_form = query is not None and method == "POST" and json is None
    sent, form = ({}, query) if is_form else (query, None)
    # Examples are not signed, and nothing answers a challenge.
    is_refused = (auth.schemes and "bearer" not in auth.schemes) or "challenge" in options
    return declare_public(
        f"{prefix}{id_ or '.'.join(names)}",
        f"{method} /1.1/{rest}",
        answer,
        f"{summary}, in the 1.1 form",
        origin=Origin.ADJACENT,
        params=params,
        returns=returns,
        limit=limit if rates is None else Rates(*rates),
        dress=_dress,
        gates=(_drop_ending, *(() if reads else (require_write_access,)), *gates),
        errors=tuple(errors.split()),
        assumptions=(OLDER_INTERFACE, OLDER_RULES, *facts),
        may_assume=(failures.OAUTH_CODES, WRITE_ACCESS, *may_assume),
        also=(*([] if rest.rpartition("/")[2].startswith(":") else [f"/1.1/{rest}.json"]), *also),
        example=Example(path or {}, sent, json, form, before=before, is_refused=bool(is_refused)),
        **options,
    )


declare_of_user = partial(declare, errors="25 34 44", statuses=(401,), may_assume=(NOT_AUTHORIZED,))
"""Returns an operation for a timeline or a list that belongs to a user."""
