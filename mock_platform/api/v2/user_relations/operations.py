"""Follows, mutes and blocks of the v2 interface: their lists, and how they begin and end.

Their shapes are public facts (all of v2, section 3). Blocking and unblocking left the public
description after 2025-02-06; the pages of the platform still have them for Enterprise.
"""

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
    find_absence,
    find_id_faults,
    get_user,
    get_user_id,
    make_id_field,
    refuse_value,
    require_enterprise,
    require_enterprise_from,
    wrap_data,
)
from mock_platform.api.v2.objects.answers import FIELD_SELECTION, PARTIAL_ERRORS
from mock_platform.api.v2.objects.lists import (
    HIDDEN_USERS,
    LongUserPageQuery,
    PageOfUsers,
    list_related_users,
    take_user,
)
from mock_platform.api.v2.objects.relations import (
    BLOCKS,
    FOLLOW_REQUESTS,
    FOLLOWS,
    MUTES,
    POST_VISIBILITY,
    RELATION_COUNTS,
    Relation,
)
from mock_platform.api.v2.pages import NUMBERS, TOKEN_FORMS, USERS, TokenForm
from mock_platform.api.v2.prices import (
    BLOCK_READ,
    FOLLOW_READ,
    INTERACTION_CREATE,
    INTERACTION_DELETE,
    MUTE_DELETE,
    MUTE_READ,
    PRIVACY_UPDATE,
)
from mock_platform.api.v2.user_relations.changes import (
    RelationChange,
    block,
    follow,
    mute,
    unblock,
    unfollow,
    unmute,
)
from mock_platform.core.assumptions import Assumption, expectation, public_fact
from mock_platform.core.auth.authenticate import Auth
from mock_platform.core.call import Call
from mock_platform.core.failures.errors import ProblemFailure
from mock_platform.core.fields import Flag
from mock_platform.core.operation import Example
from mock_platform.core.schema import Schema
from mock_platform.world.store.interface import Record
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
    "A follow of oneself, of a user who is unknown or suspended, who blocks the caller or whom the "
    "caller blocks is refused with 400. To follow a protected user is a request that waits for the "
    "control plane: following is false and pending_follow true, no count changes, and no event "
    "is sent before it is accepted. A user who is no longer protected has accepted all requests.",
)
FOLLOW_CEILINGS = public_fact(
    "follows.ceilings",
    "The platform lets a user follow 400 users a day, and an app 1,000 with 500 unfollows. These "
    "are no rate windows: no headers tell of them, and no refusal is public. So they do not end "
    "the follows of a test.",
    "all of v2, section 3",
)
MUTE_SHAPES = public_fact(
    "mutes.shapes",
    "Muting is a private list of users, the latest mute first. Muting and unmuting answer 200 "
    "whether or not something changes; a second mute is no event. Who is muted need not be "
    "followed, keeps following, and hears nothing; only the muter has an event.",
    "all of v2, section 3",
    gap=True,
)
BLOCK_SHAPES = public_fact(
    "blocks.shapes",
    "Blocking is a private list of users, the latest block first. POST and DELETE left the public "
    "description after 2025-02-06; they answer 200 with blocking, whether or not something "
    "changes. Only the blocker has an event.",
    "all of v2, section 3",
    gap=True,
)
BLOCK_EFFECTS = expectation(
    "blocks.effects",
    "A block ends the follows and the requests of both users, without events of their own; their "
    "likes and reposts stay, and an unblock brings no follow back. 50 blocks and 50 unblocks of a "
    "user in 15 minutes are allowed, as for mutes.",
)
TARGET_RULES = expectation(
    "mutes.refusals",
    "A mute or a block of oneself, or of a user who is unknown or suspended, is refused with 400, "
    "as a follow is.",
)


class TargetUser(Schema):
    """Whom to follow, mute or block."""

    target_user_id = make_id_field(required=True)


FollowAnswer = wrap_data(
    "FollowAnswer", following=Flag(required=True), pending_follow=Flag(required=True)
)
UnfollowAnswer = wrap_data("UnfollowAnswer", following=Flag(required=True))
MuteAnswer = wrap_data("MuteAnswer", muting=Flag(required=True))
BlockAnswer = wrap_data("BlockAnswer", blocking=Flag(required=True))


@take_user
def list_followers(call: Call, world: World, user: Record) -> dict[str, Any]:
    """Return the page of users who follow a user."""
    return list_related_users(call, world, FOLLOWS, user["id"], USERS, show="source")


@take_user
def list_following(call: Call, world: World, user: Record) -> dict[str, Any]:
    """Return the page of users whom a user follows."""
    return list_related_users(call, world, FOLLOWS, user["id"], USERS)


def list_own(relation: Relation, form: TokenForm, call: Call, world: World) -> dict[str, Any]:
    """Return the page of users whom the caller mutes or blocks."""
    return list_related_users(call, world, relation, get_user_id(call), form)


list_muting = partial(list_own, MUTES, NUMBERS)
list_blocking = partial(list_own, BLOCKS, USERS)


def create_follow(call: Call, world: World) -> dict[str, Any]:
    """Follow a user, or ask to follow a protected one.

    Raises:
        ProblemFailure: The user is no other one, or separated by a block (400).
    """
    user, target = get_user(call), _require_target(call, world, "follow", FOLLOW_RULES)
    for blocker, blocked, text in (
        (target, user, "You cannot follow an account that is blocking you"),
        (user, target, "You cannot follow an account that you are blocking"),
    ):
        if BLOCKS.find(world, blocker["id"], blocked["id"]) is not None:
            raise _refuse_target(text, target["id"], FOLLOW_RULES)
    follows = FOLLOWS.find(world, user["id"], target["id"]) is not None
    if target["protected"] and not follows:
        FOLLOW_REQUESTS.add(world, user["id"], target["id"])
        return {"data": {"following": False, "pending_follow": True}}
    follow(world, user, target)
    return {"data": {"following": True, "pending_follow": False}}


def begin_relation(
    change: RelationChange, verb: str, flag: str, call: Call, world: World
) -> dict[str, Any]:
    """Mute or block a user.

    Raises:
        ProblemFailure: The user is no other one (400).
    """
    change(world, get_user(call), _require_target(call, world, verb, TARGET_RULES))
    return {"data": {flag: True}}


def end_relation(change: RelationChange, flag: str, call: Call, world: World) -> dict[str, Any]:
    """Unfollow, unmute or unblock a user; for an unknown one there is nothing to end."""
    target = world.store.get("users", call.path_params["target_user_id"])
    if target is not None:
        change(world, get_user(call), target)
    return {"data": {flag: False}}


def _require_target(call: Call, world: World, verb: str, rests_on: Assumption) -> Record:
    """Return the user whom the body names.

    Raises:
        ProblemFailure: It is the caller, or a user who is unknown, suspended or deactivated (400).
    """
    id_ = call.params["target_user_id"]
    if id_ == get_user_id(call):
        raise _refuse_target(f"You cannot {verb} yourself", id_, rests_on)
    target = world.store.get("users", id_)
    absence = find_absence(target, "id", id_)
    if absence is not None:
        raise _refuse_target(absence.detail, id_, rests_on)
    assert target is not None, "a user who is unknown is absent"
    return target


def _refuse_target(text: str, id_: str, rests_on: Assumption) -> ProblemFailure:
    return refuse_value(text, rests_on, name="target_user_id", value=id_)


_SHOWN = ("post.read", "users.read")
_FOLLOWS, _MUTES, _BLOCKS = (
    Auth(ANY_USER, scopes=(f"{name}.write", *_SHOWN)) for name in ("follows", "mute", "block")
)
_FOLLOW_FACTS = (FOLLOW_SHAPES, FOLLOW_ACTIVITIES, RELATION_COUNTS, FOLLOW_CEILINGS)
_BLOCK_FACTS = (BLOCK_SHAPES, BLOCK_EFFECTS, POST_VISIBILITY)
_declare_list = partial(
    declare_public,
    params=LongUserPageQuery,
    rules=find_id_faults,
    returns=PageOfUsers,
    auth=Auth(ANY_CALLER, scopes=("follows.read", *_SHOWN)),
    limit=Rates(app=300, user=300),
    errors=("invalid-request", "resource-not-found"),
    assumptions=(FOLLOW_SHAPES, FIELD_SELECTION, TOKEN_FORMS),
    may_assume=(HIDDEN_USERS, PARTIAL_ERRORS),
    price=FOLLOW_READ,
)
_declare_own_list = partial(
    _declare_list,
    rules=check_self(),
    limit=Rates(user=15),
    errors=("invalid-request",),
    may_assume=(PARTIAL_ERRORS,),
)
_declare_beginning = partial(
    declare_public,
    params=TargetUser,
    rules=check_self(),
    limit=Rates(user=50),
    may_assume=(TARGET_RULES,),
    example=Example(json={"target_user_id": "3805104374"}),
)
_declare_end = partial(
    declare_public,
    rules=check_self("source_user_id", "target_user_id"),
    limit=Rates(user=50),
    example=Example(path={"target_user_id": "3805104374"}),
)
OPERATIONS = (
    _declare_list(
        "followers.list", "GET /2/users/:id/followers", list_followers, "List a user's followers"
    ),
    _declare_list(
        "following.list", "GET /2/users/:id/following", list_following, "List whom a user follows"
    ),
    _declare_beginning(
        "following.create",
        "POST /2/users/:id/following",
        create_follow,
        "Follow a user",
        returns=FollowAnswer,
        auth=_FOLLOWS,
        assumptions=_FOLLOW_FACTS,
        may_assume=(FOLLOW_RULES, ENTERPRISE_ONLY),
        tier_gate=require_enterprise_from("2026-04-20"),
        price=INTERACTION_CREATE,
    ),
    _declare_end(
        "following.delete",
        "DELETE /2/users/:source_user_id/following/:target_user_id",
        partial(end_relation, unfollow, "following"),
        "Unfollow a user",
        returns=UnfollowAnswer,
        auth=_FOLLOWS,
        assumptions=_FOLLOW_FACTS,
        price=INTERACTION_DELETE,
    ),
    _declare_own_list(
        "muting.list",
        "GET /2/users/:id/muting",
        list_muting,
        "List whom the caller mutes",
        auth=Auth(ANY_USER, scopes=("mute.read", *_SHOWN)),
        assumptions=(MUTE_SHAPES, FIELD_SELECTION, TOKEN_FORMS),
        price=MUTE_READ,
    ),
    _declare_beginning(
        "muting.create",
        "POST /2/users/:id/muting",
        partial(begin_relation, mute, "mute", "muting"),
        "Mute a user",
        returns=MuteAnswer,
        auth=_MUTES,
        assumptions=(MUTE_SHAPES,),
        price=PRIVACY_UPDATE,
    ),
    _declare_end(
        "muting.delete",
        "DELETE /2/users/:source_user_id/muting/:target_user_id",
        partial(end_relation, unmute, "muting"),
        "Unmute a user",
        returns=MuteAnswer,
        auth=_MUTES,
        assumptions=(MUTE_SHAPES,),
        price=MUTE_DELETE,
    ),
    _declare_own_list(
        "blocking.list",
        "GET /2/users/:id/blocking",
        list_blocking,
        "List whom the caller blocks",
        auth=Auth(ANY_USER, scopes=("block.read", *_SHOWN)),
        assumptions=(BLOCK_SHAPES, FIELD_SELECTION, TOKEN_FORMS),
        price=BLOCK_READ,
    ),
    _declare_beginning(
        "blocking.create",
        "POST /2/users/:id/blocking",
        partial(begin_relation, block, "block", "blocking"),
        "Block a user",
        returns=BlockAnswer,
        auth=_BLOCKS,
        assumptions=_BLOCK_FACTS,
        may_assume=(TARGET_RULES, ENTERPRISE_ONLY),
        tier_gate=require_enterprise,
        deprecated=True,
    ),
    _declare_end(
        "blocking.delete",
        "DELETE /2/users/:source_user_id/blocking/:target_user_id",
        partial(end_relation, unblock, "blocking"),
        "Unblock a user",
        returns=BlockAnswer,
        auth=_BLOCKS,
        assumptions=_BLOCK_FACTS,
        may_assume=(ENTERPRISE_ONLY,),
        tier_gate=require_enterprise,
        deprecated=True,
    ),
)
