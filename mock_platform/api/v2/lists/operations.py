"""Lists of the v2 interface: made, read, changed and deleted; their members, followers and posts.

Facts: all of v2, section 8.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from mock_platform.api.v2.conventions import (
    ANY_CALLER,
    ANY_USER,
    Rates,
    check_path,
    declare_public,
    find_absence,
    find_id_faults,
    forbid,
    get_user_id,
    make_id_field,
    refuse_value,
    require_record,
    wrap_data,
)
from mock_platform.api.v2.lists.records import (
    LIST_CEILINGS,
    LIST_FOLLOWERS,
    LIST_LIMITS,
    LIST_MEMBERS,
    LIST_ORDER,
    LIST_POSTS,
    LIST_REFUSALS,
    LIST_SHAPES,
    MOST_LISTS,
    MOST_MEMBERS,
    MOST_POSTS,
    PRIVATE_LISTS,
    ListSelectionQuery,
    SingleListAnswer,
    delete_list,
    find_list,
    show_lists,
    update_list,
)
from mock_platform.api.v2.objects.answers import FIELD_SELECTION, PARTIAL_ERRORS
from mock_platform.api.v2.objects.lists import (
    PageOfPosts,
    PageOfUsers,
    PostPageQuery,
    UserPageQuery,
    list_related_users,
    make_sight,
    show_posts,
)
from mock_platform.api.v2.objects.post_view import is_latest
from mock_platform.api.v2.objects.relations import BLOCKS, count_at_least
from mock_platform.api.v2.pages import (
    NUMBERS,
    TIMED_POSTS,
    TOKEN_FORMS,
    TokenPage,
    take_page_both_ways,
)
from mock_platform.api.v2.prices import LIST_CREATE, LIST_MANAGE, LIST_READ, POST_READ, USER_READ
from mock_platform.api.v2.usage.counting import COUNTED_ONCE
from mock_platform.core.auth.authenticate import Auth
from mock_platform.core.call import Call
from mock_platform.core.envelope import Flat
from mock_platform.core.fields import Flag, Text
from mock_platform.core.operation import Example
from mock_platform.core.schema import Schema
from mock_platform.world.clock import wire_millis
from mock_platform.world.store.interface import Record, Within
from mock_platform.world.world import World

ADD, REMOVE = "add members to", "delete members from"


class ListChange(Schema):
    """What to change of a list."""

    name = Text(min_length=1, max_length=25)
    description = Text(max_length=100)
    private = Flag()


class NewList(ListChange):
    """The name of a new list, and whether others see it."""

    name = Text(required=True, min_length=1, max_length=25)
    private = Flag(load_default=False)


class NewMember(Schema):
    """Whom to add to a list."""

    user_id = make_id_field(required=True)


MadeListAnswer = wrap_data(
    "MadeListAnswer", "_MadeList", id=Text(required=True), name=Text(required=True)
)
UpdatedListAnswer = wrap_data("UpdatedListAnswer", updated=Flag(required=True))
DeletedListAnswer = wrap_data("DeletedListAnswer", deleted=Flag(required=True))
MemberAnswer = wrap_data("MemberAnswer", is_member=Flag(required=True))


def require_list(call: Call, world: World) -> Record:
    """Return the list in the path.

    Raises:
        ProblemFailure: It does not exist, or is a private one of another user (404).
    """
    return require_record(
        call,
        world,
        "lists",
        "list",
        PARTIAL_ERRORS,
        PRIVATE_LISTS,
        find=partial(find_list, call, world),
    )


def _check_owner(call: Call, list_: Record, action: str) -> Record:
    if list_["owner_id"] != get_user_id(call):
        raise forbid(f"You are not allowed to {action} this List.", LIST_REFUSALS)
    return list_


def create(call: Call, world: World) -> dict[str, Any]:
    """Make a list of the caller.

    Raises:
        ProblemFailure: The caller has as many lists as a user may have (400).
    """
    owner_id = get_user_id(call)
    if world.store.count("lists", {"owner_id": owner_id}) >= MOST_LISTS:
        raise refuse_value(f"You already own {MOST_LISTS:,} Lists.", LIST_CEILINGS)
    made = {
        "id": world.ids.snowflake(),
        "created_at": wire_millis(world.clock.now()),
        "description": "",
        "follower_count": 0,
        "member_count": 0,
        "owner_id": owner_id,
        **call.params,
    }
    world.store.put("lists", made["id"], made)
    call.extra_headers.append(("location", f"{call.base_url}/2/lists/{made['id']}"))
    return {"data": {"id": made["id"], "name": made["name"]}}


def update(call: Call, world: World) -> dict[str, Any]:
    """Change a list of the caller.

    Raises:
        ProblemFailure: It does not exist (400), or belongs to another user (403).
    """
    found = find_list(call, world, call.path_params["id"])
    if found is None:
        text = "You cannot update a List that does not exist."
        raise refuse_value(text, LIST_REFUSALS, PRIVATE_LISTS)
    update_list(world, _check_owner(call, found, "update"), **call.params)
    return {"data": {"updated": True}}


def delete(call: Call, world: World) -> dict[str, Any]:
    """Delete a list of the caller."""
    delete_list(world, _check_owner(call, require_list(call, world), "delete"))
    return {"data": {"deleted": True}}


def get(call: Call, world: World) -> dict[str, Any]:
    """Return the list in the path."""
    return show_lists(call, world, [require_list(call, world)])


def list_members(call: Call, world: World) -> dict[str, Any]:
    """Return the page of users who are members of a list."""
    return list_related_users(call, world, LIST_MEMBERS, require_list(call, world)["id"], NUMBERS)


def list_followers(call: Call, world: World) -> dict[str, Any]:
    """Return the page of users who follow a list."""
    list_id = require_list(call, world)["id"]
    return list_related_users(call, world, LIST_FOLLOWERS, list_id, NUMBERS, show="source")


def list_posts(call: Call, world: World) -> dict[str, Any]:
    """Return the page of posts of the members of a list."""
    page = take_posts(call, world, require_list(call, world)["id"])
    return show_posts(call, world, page, page.records)


def take_posts(
    call: Call,
    world: World,
    list_id: str,
    match: Record | None = None,
    where: Callable[[Record], bool] | None = None,
) -> TokenPage:
    """Return the page with those posts of the members of a list that match."""
    is_listed = _make_sight(call, world)
    return take_page_both_ways(
        call,
        world,
        "posts",
        {"nullcast": False, **(match or {})},
        form=TIMED_POSTS,
        where=is_listed if where is None else lambda post: where(post) and is_listed(post),
        within=Within("_user_id", LIST_MEMBERS.find_targets(world, list_id)),
        most=MOST_POSTS,
    )


def _make_sight(call: Call, world: World) -> Callable[[Record], bool]:
    """Return the test whether the caller sees a post of a member among the posts of a list."""
    may_see = make_sight(call, world)

    def is_listed(post: Record) -> bool:
        in_community = post["_community_id"] and not post["_share_with_followers"]
        return not in_community and is_latest(post) and may_see(post)

    return is_listed


def create_member(call: Call, world: World) -> dict[str, Any]:
    """Add a user to a list of the caller.

    Raises:
        ProblemFailure: The user is unknown or the list full (400), the list belongs to another
            user, or the user blocks its owner (403).
    """
    found, user_id = _check_owner(call, require_list(call, world), ADD), call.params["user_id"]
    absence = find_absence(world.store.get("users", user_id), "id", user_id)
    if absence is not None:
        raise refuse_value(absence.detail, LIST_REFUSALS, name="user_id", value=user_id)
    if BLOCKS.find(world, user_id, found["owner_id"]) is not None:
        raise forbid(f"You are not allowed to {ADD} this List.", LIST_REFUSALS)
    is_new = LIST_MEMBERS.find(world, found["id"], user_id) is None
    counted = LIST_MEMBERS.count_targets(world, found["id"])
    if is_new and count_at_least(found["member_count"], counted) >= MOST_MEMBERS:
        raise refuse_value(f"This List already has {MOST_MEMBERS:,} members.", LIST_CEILINGS)
    LIST_MEMBERS.add(world, found["id"], user_id)
    return {"data": {"is_member": True}}


def delete_member(call: Call, world: World) -> dict[str, Any]:
    """Take a user out of a list of the caller."""
    found = _check_owner(call, require_list(call, world), REMOVE)
    LIST_MEMBERS.remove(world, found["id"], call.path_params["user_id"])
    return {"data": {"is_member": False}}


READ = Auth(ANY_CALLER, scopes=("list.read", "post.read", "users.read"))
WRITE = Auth(ANY_USER, scopes=("list.write", "post.read", "users.read"))
_ERRORS = ("invalid-request", "resource-not-found")
_declare_read = partial(
    declare_public,
    rules=find_id_faults,
    auth=READ,
    errors=_ERRORS,
    may_assume=(PARTIAL_ERRORS, PRIVATE_LISTS),
)
_declare_users = partial(
    _declare_read,
    params=UserPageQuery,
    returns=PageOfUsers,
    assumptions=(LIST_SHAPES, LIST_ORDER, FIELD_SELECTION, TOKEN_FORMS),
    price=USER_READ,
)
_declare_write = partial(
    declare_public,
    rules=find_id_faults,
    auth=WRITE,
    limit=Rates(user=300),
    errors=(*_ERRORS, "about:blank"),
    assumptions=(LIST_SHAPES,),
    may_assume=(PARTIAL_ERRORS, PRIVATE_LISTS, LIST_REFUSALS, LIST_CEILINGS),
    price=LIST_MANAGE,
)
OPERATIONS = (
    declare_public(
        "lists.create",
        "POST /2/lists",
        create,
        "Make a list",
        params=NewList,
        returns=Flat(MadeListAnswer, status=201),
        auth=Auth(ANY_USER, scopes=("list.read", *WRITE.scopes)),
        limit=Rates(user=300),
        assumptions=(LIST_SHAPES,),
        may_assume=(LIST_CEILINGS,),
        example=Example(json={"name": "Where we drink coffee"}),
        price=LIST_CREATE,
    ),
    _declare_read(
        "lists.get",
        "GET /2/lists/:id",
        get,
        "Read a list",
        params=ListSelectionQuery,
        returns=SingleListAnswer,
        limit=Rates(app=75, user=75),
        assumptions=(LIST_SHAPES,),
        price=LIST_READ,
    ),
    _declare_write(
        "lists.update",
        "PUT /2/lists/:id",
        update,
        "Change a list",
        params=ListChange,
        returns=UpdatedListAnswer,
        example=Example(json={"description": "Cups within a walk"}),
    ),
    _declare_write(
        "lists.delete", "DELETE /2/lists/:id", delete, "Delete a list", returns=DeletedListAnswer
    ),
    _declare_users(
        "list_members.list",
        "GET /2/lists/:id/members",
        list_members,
        "List the members of a list",
        limit=Rates(app=900, user=900),
    ),
    _declare_write(
        "list_members.create",
        "POST /2/lists/:id/members",
        create_member,
        "Add a user to a list",
        params=NewMember,
        returns=MemberAnswer,
        example=Example(json={"user_id": "2790441185"}),
        price=LIST_CREATE,
    ),
    _declare_write(
        "list_members.delete",
        "DELETE /2/lists/:id/members/:user_id",
        delete_member,
        "Take a user out of a list",
        rules=check_path("id", "user_id"),
        returns=MemberAnswer,
        example=Example(path={"user_id": "3805104374"}),
    ),
    _declare_users(
        "list_followers.list",
        "GET /2/lists/:id/followers",
        list_followers,
        "List the followers of a list",
        limit=Rates(app=180, user=180),
        assumptions=(LIST_SHAPES, LIST_ORDER, LIST_LIMITS, FIELD_SELECTION, TOKEN_FORMS),
    ),
    _declare_read(
        "list_posts.list",
        "GET /2/lists/:id/posts",
        list_posts,
        "List the posts of a list's members",
        params=PostPageQuery,
        returns=PageOfPosts,
        limit=Rates(app=900, user=900),
        errors=(*_ERRORS, "usage-capped"),
        assumptions=(LIST_SHAPES, LIST_POSTS, FIELD_SELECTION, TOKEN_FORMS, COUNTED_ONCE),
        price=POST_READ,
    ),
)
