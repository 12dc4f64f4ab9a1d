"""Users by id, by name and as the caller, in the form of the v2 and of the 1.1 interface.

The shapes of v2 are public facts (named endpoints, section 7.4); document A names `affiliation`.
Clients make the two calls of the 1.1 interface around the documented operations: sign-in libraries
ask whom they signed in, advertising clients find the `as_user_id` of a name.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from mock_platform.api.v2.conventions import (
    ANY_CALLER,
    ANY_USER,
    OLDER_NAMES,
    Rates,
    check_path,
    declare_named,
    find_id_faults,
    get_user,
    limit_users,
    require_record,
)
from mock_platform.api.v2.objects.answers import (
    FIELD_SELECTION,
    PARTIAL_ERRORS,
    ObjectAnswer,
    UserSelectionQuery,
    collect,
    start_answer,
)
from mock_platform.api.v2.objects.object_types import USER_OBJECT
from mock_platform.api.v2.objects.older_forms import NAME, make_user_object
from mock_platform.api.v2.objects.post_text import Links, find_links, find_user
from mock_platform.api.v2.objects.posts import make_post_object
from mock_platform.api.v2.objects.relations import (
    is_present,
)
from mock_platform.api.v2.objects.users import UserObject, find_newest_post, write_profile
from mock_platform.api.v2.prices import USER_READ
from mock_platform.core.assumptions import expectation, public_fact
from mock_platform.core.auth.authenticate import APP_OR_USER, USER, Auth
from mock_platform.core.call import Call
from mock_platform.core.envelope import Flat
from mock_platform.core.failures.errors import OAUTH_CODES, NumericFailure
from mock_platform.core.fields import CommaList, Flag, Json, Text
from mock_platform.core.operation import Example, Operation, Origin
from mock_platform.core.schema import Schema
from mock_platform.core.tables.table import AS, RECORDED
from mock_platform.core.unread import NO_EFFECT
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

USER_SHAPES = public_fact(
    "users.shapes",
    "Users are read by id, by name and as the caller in their public shapes; the spec names "
    "affiliation.user_id, which is an array from 2025-02-18 on.",
    "section 7.4 of the named endpoints",
    gap=True,
)
USER_LIMITS = public_fact(
    "users.limits",
    "In 15 minutes a user may call GET /2/users/me 75 times, each of the others 900 times, and an "
    "app 300 times. Affiliates have no published limit.",
    "section 7.4 of the named endpoints; all of v2, section 3",
)
OLDER_SHAPES = public_fact(
    "older-users.shapes",
    "verify_credentials and users/show return the user object of 41 keys with its entities and, "
    "as status, the user's last public post without its author. include_entities=false leaves "
    "entities out, skip_status=true the status; include_email=true adds the confirmed address or "
    "null. With --wire recorded users have has_extended_profile, in users/show profile_location, "
    "the caller also suspended and needs_phone_verification; include_entities has no effect on "
    "the entities of the user.",
    "adjacent operations, section 11; wire, section 1",
    gap=True,
)
OLDER_LIMITS = public_fact(
    "older-users.limits",
    "A user may call verify_credentials 75 and users/show 900 times in 15 minutes.",
    "adjacent operations, section 11",
)
OLDER_LOOKUP = expectation(
    "older-users.lookup",
    "users/show takes user_id or screen_name, in any case; with both, the user_id counts. Neither "
    "answers 400 with code 25, a user who does not exist or is deactivated 404 with code 50, one "
    "who is suspended 403 with code 63.",
)


class SeveralUsersQuery(UserSelectionQuery):
    """The users to read, and what to show of them."""

    ids = CommaList(
        Text(pattern=r"[0-9]{1,19}", pattern_text="a user id"), most=100, exact=True, required=True
    )


class UsersByNameQuery(UserSelectionQuery):
    """The names of the users to read, and what to show of them."""

    usernames = CommaList(
        Text(pattern=NAME.pattern, pattern_text="a name of 1 to 15 letters, digits and _"),
        most=100,
        exact=True,
        required=True,
    )


class SingleUserAnswer(ObjectAnswer):
    """A user with the selected fields, and what it refers to."""

    data = USER_OBJECT.one()


class UsersAnswer(ObjectAnswer):
    """Users with the selected fields, what they refer to, and what was not found."""

    data = USER_OBJECT.several()


def show_caller(call: Call, world: World) -> dict[str, Any]:
    """Return the user who calls."""
    return _show(call, world, get_user(call))


def get(call: Call, world: World) -> dict[str, Any]:
    """Return the user with the id in the path."""
    return _show(call, world, require_record(call, world, "users", "user", PARTIAL_ERRORS))


def get_by_name(call: Call, world: World) -> dict[str, Any]:
    """Return the user with the name in the path, in any case."""
    find = partial(find_user, world)
    user = require_record(
        call, world, "users", "user", PARTIAL_ERRORS, parameter="username", find=find
    )
    return _show(call, world, user)


def get_many(call: Call, world: World) -> dict[str, Any]:
    """Return the users with these ids; those that are not found are named in `errors`."""
    answer = start_answer(call, world)
    collect(call, answer, "user", "ids", partial(world.store.get, "users"))
    return answer.show_all()


def get_many_by_name(call: Call, world: World) -> dict[str, Any]:
    """Return the users with these names; those that are not found are named in `errors`."""
    answer = start_answer(call, world)
    collect(call, answer, "user", "usernames", partial(find_user, world))
    return answer.show_all()


def _show(call: Call, world: World, user: Record) -> dict[str, Any]:
    answer = start_answer(call, world)
    answer.add_users([user])
    return answer.show_one()


_TRUE, _FALSE = frozenset({"true", "t", "1"}), frozenset({"false", "f", "0"})


class UserQuery(Schema):
    """What to show of a user. Other words than true and false have no effect."""

    include_entities = Text()


class CallerQuery(UserQuery):
    """What to show of the calling user."""

    skip_status = Text()
    include_email = Text()


class ShownUserQuery(UserQuery):
    """Which user to show; one of the two."""

    one_of = ("user_id", "screen_name")
    """Parameters of which one is needed."""
    user_id = Text()
    screen_name = Text()


class ShownUser(UserObject):
    """A user with the addresses in its profile, and its last post."""

    entities = Json()
    status = Json()
    has_extended_profile = Flag()
    profile_location = Json(allow_none=True)
    show_all_inline_media = Flag()
    suspended = Flag()
    needs_phone_verification = Flag()


class CallingUser(ShownUser):
    """The user who calls, with their confirmed address."""

    email = Text(allow_none=True)


def verify_credentials(call: Call, world: World) -> Record:
    """Return the user whose credentials sign the request."""
    user = get_user(call)
    shown = _show_older(call, world, user)
    if _reads(call, "include_email", _TRUE):
        shown["email"] = user.get("_confirmed_email")
    return shown


def show_older(call: Call, world: World) -> Record:
    """Return the user with an id or a name.

    Raises:
        NumericFailure: 25 without either, 50 if the user does not exist, 63 if suspended.
    """
    user_id, name = call.params.get("user_id"), call.params.get("screen_name")
    if user_id is None and name is None:  # as `one_of` says
        raise NumericFailure(25)
    if user_id is not None and name is not None:
        call.warn("screen_name has no effect beside user_id", NO_EFFECT)
    user = find_user(world, name or "") if user_id is None else world.store.get("users", user_id)
    if user is not None and user.get("_suspended"):
        raise NumericFailure(63)
    if user is None or not is_present(user):
        raise NumericFailure(50)
    return _show_older(call, world, user)


def _show_older(call: Call, world: World, user: Record) -> Record:
    links, is_recorded = find_links(call), call.wire == "recorded"
    entities = is_recorded or not _reads(call, "include_entities", _FALSE)
    shown = make_older_user(world, user, links, entities=entities)
    if is_recorded:
        shown |= _find_recorded_keys(call, user)
    if not _reads(call, "skip_status", _TRUE):
        post = _find_status(world, user["id"], links)
        if post is not None:
            shown["status"] = post
    return shown


_OF_RECORDED = (
    "has_extended_profile", "profile_location", "show_all_inline_media", "suspended",
    "needs_phone_verification",
)  # fmt: skip


def _find_recorded_keys(call: Call, user: Record) -> Record:
    """Return what no page names and recorded answers have; of a recorded user what it had."""
    if user.get(AS) == RECORDED:
        return {name: user[name] for name in _OF_RECORDED if name in user}
    shown: Record = {"has_extended_profile": False}
    if call.operation == "users.show":
        shown["profile_location"] = None
    own = call.caller.user is not None and call.caller.user["id"] == user["id"]
    return shown | ({"suspended": False, "needs_phone_verification": False} if own else {})


def _reads(call: Call, name: str, words: frozenset[str]) -> bool:
    return call.params.get(name, "").lower() in words


def make_older_user(world: World, user: Record, links: Links | None, *, entities: bool) -> Record:
    """Return a user in the 1.1 form, with the addresses in the profile if `entities`."""
    profile = write_profile(world, user, links)
    shown = make_user_object(user | profile)
    if entities:
        shown["entities"] = {
            name: {"urls": [_place(one) for one in found.get("urls", ())]}
            for name, found in (user.get("entities") or profile["entities"]).items()
        }
    return shown


def _place(link: Record) -> Record:
    """Return a link with its place in the 1.1 form; one that was recorded may have the other."""
    if "indices" in link:
        return link
    shown = {name: value for name, value in link.items() if name not in {"start", "end"}}
    return {**shown, "indices": [link.get("start", 0), link.get("end", 0)]}


def _find_status(world: World, user_id: str, links: Links | None) -> Record | None:
    """Return the last post of a user that all can see, in the compatible form, or `None`."""
    post = find_newest_post(world, user_id)
    if post is None:
        return None
    hidden = {"user", "full_text", "display_text_range", "nullcast", "conversation_settings"}
    hidden |= {"post_type", "post_id", "scheduled_at", "scheduled_status", "name", "scopes"}
    whole = make_post_object(world, post, trim=True, links=links)
    shown = {name: value for name, value in whole.items() if name not in hidden}
    empty: dict[str, Any] = {"hashtags": [], "symbols": [], "user_mentions": [], "urls": []}
    shown["entities"] = empty | (shown.get("entities") or {})
    if shown["entities"]["urls"] or shown["entities"].get("media"):  # others need no look
        shown["possibly_sensitive"] = bool(post.get("_possibly_sensitive"))
    return shown | {
        "text": whole["full_text"],
        "is_quote_status": post.get("_quoted_post_id") is not None,
    }


_SCOPES = ("post.read", "users.read")
_declare = partial(
    declare_named,
    spec="Versioning: 2025-02-18",
    params=UserSelectionQuery,
    since=None,
    returns=SingleUserAnswer,
    auth=Auth(ANY_CALLER, scopes=_SCOPES),
    limit=Rates(app=300, user=900),
    errors=("invalid-request", "resource-not-found"),
    assumptions=(USER_SHAPES, FIELD_SELECTION, OLDER_NAMES, USER_LIMITS),
    may_assume=(PARTIAL_ERRORS,),
    price=USER_READ,
)
_declare_list = partial(_declare, returns=UsersAnswer, errors=("invalid-request",))
OPERATIONS = (
    _declare(
        "users.me",
        "GET /2/users/me",
        show_caller,
        "Read the user who calls",
        auth=Auth(ANY_USER, scopes=_SCOPES),
        limit=limit_users("users.me", 75),
        errors=("invalid-request",),
        may_assume=(),
    ),
    _declare_list(
        "users.list",
        "GET /2/users",
        get_many,
        "Read several users by id",
        params=SeveralUsersQuery,
    ),
    _declare_list(
        "users.list_by_name",
        "GET /2/users/by",
        get_many_by_name,
        "Read several users by name",
        params=UsersByNameQuery,
    ),
    _declare("users.get", "GET /2/users/:id", get, "Read a user by id", rules=find_id_faults),
    _declare(
        "users.get_by_name",
        "GET /2/users/by/username/:username",
        get_by_name,
        "Read a user by name",
        rules=check_path("username", NAME, "does not match ^[A-Za-z0-9_]{1,15}$"),
    ),
    Operation(
        id="account.verify_credentials",
        method="GET",
        path="/1.1/account/verify_credentials",
        also=("/1.1/account/verify_credentials.json",),
        handler=verify_credentials,
        summary="Read the user who calls, in the 1.1 form",
        spec="Not shown in the specification",
        params=CallerQuery,
        returns=Flat(CallingUser),
        auth=USER,
        origin=Origin.ADJACENT,
        limits=limit_users("verify_credentials", 75),
        errors=("64", "89"),
        statuses=(401, 403),
        assumptions=(OLDER_SHAPES, OLDER_LIMITS),
        may_assume=(OAUTH_CODES,),
        example=Example(is_refused=True),
    ),
    Operation(
        id="users.show",
        method="GET",
        path="/1.1/users/show",
        also=("/1.1/users/show.json",),
        handler=show_older,
        summary="Read a user by id or by name, in the 1.1 form",
        spec="Not shown in the specification",
        params=ShownUserQuery,
        returns=Flat(ShownUser),
        auth=APP_OR_USER,
        origin=Origin.ADJACENT,
        limits=limit_users("users/show", 900),
        errors=("25", "50", "63"),
        statuses=(400, 403, 404),
        assumptions=(OLDER_SHAPES, OLDER_LIMITS, OLDER_LOOKUP),
        may_assume=(OAUTH_CODES,),
        example=Example(query={"screen_name": "northbike_co"}),
    ),
)
