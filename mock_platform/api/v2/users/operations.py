"""Users of the v2 interface: the caller, and others by id or by name.

The shapes are public facts (named endpoints, section 7.4); document A names `affiliation`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from marshmallow import fields

from mock_platform.api.v2.conventions import (
    OLDER_NAMES,
    WINDOW_SECONDS,
    declare_named,
    find_nothing,
)
from mock_platform.api.v2.objects.answers import (
    PARTIAL,
    SELECTION,
    UserSelectionQuery,
    read_selection,
    start_answer,
)
from mock_platform.api.v2.objects.older_forms import NAME
from mock_platform.api.v2.objects.post_texts import ID, find_user
from mock_platform.api.v2.posts.creation import find_id_faults
from mock_platform.core.assumptions import public_fact
from mock_platform.core.auth.authenticate import Auth
from mock_platform.core.call import Call
from mock_platform.core.envelope import Flat
from mock_platform.core.failures.errors import ProblemFailure
from mock_platform.core.fields import CommaList, ListOf, Text
from mock_platform.core.operation import Limit
from mock_platform.core.schema import Schema
from mock_platform.settings import Settings
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

SHAPES = public_fact(
    "users.shapes",
    "Users are read by id, by name and as the caller in their public shapes; the spec names "
    "affiliation.user_id, which is an array from 2025-02-18 on.",
    "section 7.4 of the named endpoints",
    gap=True,
)
LIMITS = public_fact(
    "users.limits",
    "GET /2/users/me is limited to 75 requests of a user in 15 minutes, the others to 300 of an "
    "app, which is not public.",
    "section 7.4 of the named endpoints",
)
_LIMIT = 300


class SeveralUsersQuery(UserSelectionQuery):
    """The users to read, and what to show of them."""

    ids = CommaList(
        Text(pattern=ID.pattern, pattern_text="a user id"), most=100, exact=True, required=True
    )


class UsersByNameQuery(UserSelectionQuery):
    """The names of the users to read, and what to show of them."""

    usernames = CommaList(
        Text(pattern=NAME.pattern, pattern_text="a name of 1 to 15 letters, digits and _"),
        most=100,
        exact=True,
        required=True,
    )


class SingleUserAnswer(Schema):
    """A user with the selected fields, and what it refers to."""

    data = fields.Dict(required=True)
    includes = fields.Dict()
    errors = ListOf(fields.Dict())


class UsersAnswer(Schema):
    """Users with the selected fields, what they refer to, and what was not found."""

    data = ListOf(fields.Dict())
    includes = fields.Dict()
    errors = ListOf(fields.Dict())


def show_caller(call: Call, world: World) -> dict[str, Any]:
    """Return the user who calls."""
    assert call.caller.user is not None
    return _show(call, world, call.caller.user)


def get(call: Call, world: World) -> dict[str, Any]:
    """Return the user with the id in the path."""
    user_id = call.path_params["id"]
    user = world.store.get("users", user_id)
    if user is None:
        raise ProblemFailure(find_nothing("user", "id", user_id, repeated=True), PARTIAL)
    return _show(call, world, user)


def get_by_name(call: Call, world: World) -> dict[str, Any]:
    """Return the user with the name in the path, in any case."""
    name = call.path_params["username"]
    user = find_user(world, name)
    if user is None:
        raise ProblemFailure(find_nothing("user", "username", name, repeated=True), PARTIAL)
    return _show(call, world, user)


def get_many(call: Call, world: World) -> dict[str, Any]:
    """Return the users with these ids; those that are not found are named in `errors`."""
    return _show_many(call, world, "ids", lambda key: world.store.get("users", key))


def get_many_by_name(call: Call, world: World) -> dict[str, Any]:
    """Return the users with these names; those that are not found are named in `errors`."""
    return _show_many(call, world, "usernames", lambda name: find_user(world, name))


def find_name_faults(
    _params: Mapping[str, Any], call: Call, _world: World, _settings: Settings
) -> Iterator[tuple[str, str]]:
    """Find what is wrong with the name in the path."""
    value = call.path_params["username"]
    if not NAME.fullmatch(value):
        text = "does not match ^[A-Za-z0-9_]{1,15}$"
        yield "username", f"The `username` query parameter value [{value}] {text}"


def _show(call: Call, world: World, user: Record) -> dict[str, Any]:
    answer = start_answer(call, world, read_selection(call.params))
    answer.add_users([user])
    return {"data": answer.data[0], **answer.parts()}


def _show_many(
    call: Call, world: World, parameter: str, find: Callable[[str], Record | None]
) -> dict[str, Any]:
    answer = start_answer(call, world, read_selection(call.params))
    for value in dict.fromkeys(call.params[parameter]):
        user = find(value)
        if user is None:
            answer.add_missing("user", parameter, value)
        else:
            answer.add_users([user])
    if answer.errors:
        call.assume(PARTIAL)
    return {**({"data": answer.data} if answer.data else {}), **answer.parts()}


_SPEC = "Versioning: 2025-02-18"
_SCOPES = ("post.read", "users.read")
_READ = Auth(("bearer", "oauth1", "oauth2"), scopes=_SCOPES)
_COMMON = (SHAPES, SELECTION, OLDER_NAMES, LIMITS)
OPERATIONS = (
    declare_named(
        "users.me",
        "GET",
        "/2/users/me",
        show_caller,
        summary="Read the user who calls",
        spec=_SPEC,
        params=UserSelectionQuery,
        since=None,
        returns=Flat(SingleUserAnswer),
        auth=Auth(("oauth1", "oauth2"), scopes=_SCOPES),
        limit=(Limit("users.me", 75, WINDOW_SECONDS, per="user", source="public"),),
        assumptions=_COMMON,
    ),
    declare_named(
        "users.list",
        "GET",
        "/2/users",
        get_many,
        summary="Read several users by id",
        spec=_SPEC,
        params=SeveralUsersQuery,
        since=None,
        returns=Flat(UsersAnswer),
        auth=_READ,
        limit=_LIMIT,
        assumptions=_COMMON,
        may_assume=(PARTIAL,),
    ),
    declare_named(
        "users.list_by_name",
        "GET",
        "/2/users/by",
        get_many_by_name,
        summary="Read several users by name",
        spec=_SPEC,
        params=UsersByNameQuery,
        since=None,
        returns=Flat(UsersAnswer),
        auth=_READ,
        limit=_LIMIT,
        assumptions=_COMMON,
        may_assume=(PARTIAL,),
    ),
    declare_named(
        "users.get",
        "GET",
        "/2/users/:id",
        get,
        summary="Read a user by id",
        spec=_SPEC,
        params=UserSelectionQuery,
        rules=find_id_faults,
        since=None,
        returns=Flat(SingleUserAnswer),
        auth=_READ,
        limit=_LIMIT,
        errors=("invalid-request", "resource-not-found"),
        statuses=(400, 404),
        assumptions=_COMMON,
        may_assume=(PARTIAL,),
    ),
    declare_named(
        "users.get_by_name",
        "GET",
        "/2/users/by/username/:username",
        get_by_name,
        summary="Read a user by name",
        spec=_SPEC,
        params=UserSelectionQuery,
        rules=find_name_faults,
        since=None,
        returns=Flat(SingleUserAnswer),
        auth=_READ,
        limit=_LIMIT,
        errors=("invalid-request", "resource-not-found"),
        statuses=(400, 404),
        assumptions=_COMMON,
        may_assume=(PARTIAL,),
    ),
)
