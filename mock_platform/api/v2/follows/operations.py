"""Follows of the v2 interface: the lists of both sides, following and unfollowing."""

from __future__ import annotations

from functools import partial
from typing import Any

from mock_platform.api.v2.activity.activities import FOLLOW_ACTIVITIES
from mock_platform.api.v2.conventions import (
    ANY_CALLER,
    ANY_USER,
    ENTERPRISE_ONLY,
    Rates,
    check_self,
    declare_public,
    find_id_faults,
    get_user,
    make_id_field,
    refuse_value,
    require_enterprise_from,
    require_record,
    wrap_data,
)
from mock_platform.api.v2.follows.changes import follow, unfollow
from mock_platform.api.v2.objects.answers import FIELD_SELECTION, PARTIAL_ERRORS
from mock_platform.api.v2.objects.lists import (
    HIDDEN_USERS,
    LongUserPageQuery,
    PageOfUsers,
    find_hidden,
    list_related_users,
)
from mock_platform.api.v2.objects.relations import (
    BLOCKS,
    FOLLOW_REQUESTS,
    FOLLOWS,
    RELATION_COUNTS,
)
from mock_platform.api.v2.pages import TOKEN_FORMS, USERS
from mock_platform.core.assumptions import expectation, public_fact
from mock_platform.core.auth.authenticate import Auth
from mock_platform.core.call import Call
from mock_platform.core.fields import Flag
from mock_platform.core.operation import Example, Location
from mock_platform.core.schema import Schema
from mock_platform.world.world import World

FOLLOW_SHAPES = public_fact(
    "follows.shapes",
    "Followers and following are lists of users, the latest follow first. Following and "
    "unfollowing answer 200 whether or not something changes; a second follow is no event.",
    "all of v2, section 3",
    gap=True,
)
FOLLOW_RULES = expectation(
    "follows.refusals",
    "A follow of oneself, of an unknown user, of a user who blocks the caller or whom the caller "
    "blocks is refused with 400. To follow a protected user is a request that waits for the "
    "control plane: following is false and pending_follow true, no count changes, and no event "
    "is sent before it is accepted.",
)


class NewFollow(Schema):
    """The user whom the caller wants to follow."""

    target_user_id = make_id_field(required=True)


FollowAnswer = wrap_data(
    "FollowAnswer", following=Flag(required=True), pending_follow=Flag(required=True)
)
UnfollowAnswer = wrap_data("UnfollowAnswer", following=Flag(required=True))


def list_followers(call: Call, world: World) -> dict[str, Any]:
    """Return the page of users who follow a user."""
    user = require_record(call, world, "users", "user", PARTIAL_ERRORS)
    hidden = find_hidden(call, world, user)
    if hidden is not None:
        return hidden
    return list_related_users(call, world, FOLLOWS, user["id"], USERS, show="source")


def list_following(call: Call, world: World) -> dict[str, Any]:
    """Return the page of users whom a user follows."""
    user = require_record(call, world, "users", "user", PARTIAL_ERRORS)
    hidden = find_hidden(call, world, user)
    if hidden is not None:
        return hidden
    return list_related_users(call, world, FOLLOWS, user["id"], USERS)


def create(call: Call, world: World) -> dict[str, Any]:
    """Follow a user, or ask to follow a protected one.

    Raises:
        ProblemFailure: The user is unknown, the caller, or separated by a block (400).
    """
    user, target_id = get_user(call), call.params["target_user_id"]
    target = world.store.get("users", target_id)
    text = _find_obstacle(world, user["id"], target_id)
    if target is None or text is not None:
        text = text or f"Could not find user with id: [{target_id}]."
        raise refuse_value(text, FOLLOW_RULES, name="target_user_id", value=target_id)
    follows = FOLLOWS.find(world, user["id"], target_id) is not None
    if target["protected"] and not follows:
        FOLLOW_REQUESTS.add(world, user["id"], target_id)
        return {"data": {"following": False, "pending_follow": True}}
    follow(world, user, target)
    return {"data": {"following": True, "pending_follow": False}}


def _find_obstacle(world: World, user_id: str, target_id: str) -> str | None:
    """Return why a user cannot follow another, or `None`."""
    if user_id == target_id:
        return "You cannot follow yourself"
    if BLOCKS.find(world, target_id, user_id) is not None:
        return "You cannot follow an account that is blocking you"
    if BLOCKS.find(world, user_id, target_id) is not None:
        return "You cannot follow an account that you are blocking"
    return None


def delete(call: Call, world: World) -> dict[str, Any]:
    """Unfollow a user, or take back a request."""
    target = world.store.get("users", call.path_params["target_user_id"])
    if target is not None:
        unfollow(world, get_user(call), target)
    return {"data": {"following": False}}


_READ = Auth(ANY_CALLER, scopes=("follows.read", "post.read", "users.read"))
_WRITE = Auth(ANY_USER, scopes=("follows.write", "post.read", "users.read"))
_declare_list = partial(
    declare_public,
    params=LongUserPageQuery,
    rules=find_id_faults,
    returns=PageOfUsers,
    auth=_READ,
    since=None,
    limit=Rates(app=300, user=300),
    errors=("invalid-request", "resource-not-found"),
    assumptions=(FOLLOW_SHAPES, FIELD_SELECTION, TOKEN_FORMS),
    may_assume=(HIDDEN_USERS, PARTIAL_ERRORS),
)
_declare = partial(
    declare_public,
    auth=_WRITE,
    since=None,
    limit=Rates(user=50),
    assumptions=(FOLLOW_SHAPES, FOLLOW_ACTIVITIES, RELATION_COUNTS),
    may_assume=(FOLLOW_RULES, ENTERPRISE_ONLY),
)
OPERATIONS = (
    _declare_list(
        "followers.list", "GET /2/users/:id/followers", list_followers, "List a user's followers"
    ),
    _declare_list(
        "following.list", "GET /2/users/:id/following", list_following, "List whom a user follows"
    ),
    _declare(
        "following.create",
        "POST /2/users/:id/following",
        create,
        "Follow a user",
        params=NewFollow,
        location=Location.JSON,
        rules=check_self(),
        returns=FollowAnswer,
        tier_gate=require_enterprise_from("2026-04-20"),
        example=Example(path={"id": "2244994945"}, json={"target_user_id": "3805104374"}),
    ),
    _declare(
        "following.delete",
        "DELETE /2/users/:source_user_id/following/:target_user_id",
        delete,
        "Unfollow a user",
        rules=check_self("source_user_id"),
        returns=UnfollowAnswer,
        example=Example(path={"source_user_id": "2244994945", "target_user_id": "3805104374"}),
    ),
)
