"""Lists of a user: owned ones, those with the user as a member, followed and pinned ones.

Facts: all of v2, section 8.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from mock_platform.api.v2.conventions import (
    Rates,
    check_self,
    declare_public,
    find_id_faults,
    forbid,
    get_user_id,
    make_id_field,
    refuse_value,
    wrap_data,
)
from mock_platform.api.v2.lists.operations import READ, WRITE
from mock_platform.api.v2.lists.records import (
    LIST_CEILINGS,
    LIST_FOLLOWERS,
    LIST_LIMITS,
    LIST_MEMBERS,
    LIST_ORDER,
    LIST_PINS,
    LIST_REFUSALS,
    LIST_SHAPES,
    MOST_PINS,
    PRIVATE_LISTS,
    ListPageQuery,
    ListSelectionQuery,
    PageOfLists,
    PinnedLists,
    find_list,
    show_lists,
    unfollow_list,
)
from mock_platform.api.v2.objects.answers import FIELD_SELECTION, PARTIAL_ERRORS
from mock_platform.api.v2.objects.lists import HIDDEN_USERS, take_user
from mock_platform.api.v2.pages import NUMBERS, TOKEN_FORMS, take_page_both_ways
from mock_platform.api.v2.prices import LIST_CREATE, LIST_MANAGE, OWN_LIST_READ
from mock_platform.core.auth.authenticate import Auth
from mock_platform.core.call import Call
from mock_platform.core.fields import Flag
from mock_platform.core.operation import Example
from mock_platform.core.schema import Schema
from mock_platform.world.store.interface import Order, Record
from mock_platform.world.world import World


class NamedList(Schema):
    """The list to follow or to pin."""

    list_id = make_id_field(required=True)


FollowedListAnswer = wrap_data("FollowedListAnswer", following=Flag(required=True))
PinnedListAnswer = wrap_data("PinnedListAnswer", pinned=Flag(required=True))


def _list_lists(
    table: str, by: str, key: str, call: Call, world: World, user: Record
) -> dict[str, Any]:
    """Return a page of the lists that `key` names in the records of a user, found `by` its id."""

    def find(record: Record) -> Record | None:
        return find_list(call, world, record[key])

    page = take_page_both_ways(
        call,
        world,
        table,
        {by: user["id"]},
        form=NUMBERS,
        where=lambda record: find(record) is not None,
    )
    return show_lists(call, world, filter(None, map(find, page.records)), meta=page.meta())


list_owned = take_user(partial(_list_lists, "lists", "owner_id", "id"))
list_memberships = take_user(partial(_list_lists, LIST_MEMBERS.name, "user_id", "list_id"))
list_followed = take_user(partial(_list_lists, LIST_FOLLOWERS.name, "user_id", "list_id"))


def list_pinned(call: Call, world: World) -> dict[str, Any]:
    """Return all lists that the caller has pinned, the latest pin first."""
    match = {"user_id": get_user_id(call)}
    pins = world.store.page(LIST_PINS.name, match, order=Order(descending=True))
    found = [find_list(call, world, pin.record["list_id"]) for pin in pins]
    lists = [each for each in found if each is not None]
    return show_lists(call, world, lists, meta={"result_count": len(lists)})


def _require_named_list(call: Call, world: World) -> Record:
    list_id = call.params["list_id"]
    found = find_list(call, world, list_id)
    if found is None:
        text = f"Could not find list with id: [{list_id}]."
        raise refuse_value(text, LIST_REFUSALS, PRIVATE_LISTS, name="list_id", value=list_id)
    return found


def follow(call: Call, world: World) -> dict[str, Any]:
    """Follow a list.

    Raises:
        ProblemFailure: The list is unknown, or the caller's own (400).
    """
    user_id, found = get_user_id(call), _require_named_list(call, world)
    if found["owner_id"] == user_id:
        raise refuse_value(
            "You cannot follow your own List.", LIST_REFUSALS, name="list_id", value=found["id"]
        )
    LIST_FOLLOWERS.add(world, user_id, found["id"])
    return {"data": {"following": True}}


def unfollow(call: Call, world: World) -> dict[str, Any]:
    """Unfollow a list, which unpins it."""
    unfollow_list(world, get_user_id(call), call.path_params["list_id"])
    return {"data": {"following": False}}


def pin(call: Call, world: World) -> dict[str, Any]:
    """Pin a list that the caller owns or follows.

    Raises:
        ProblemFailure: The list is unknown, or the caller has five pins (400); or the caller
            neither owns nor follows the list (403).
    """
    user_id, found = get_user_id(call), _require_named_list(call, world)
    follows = LIST_FOLLOWERS.find(world, user_id, found["id"]) is not None
    if found["owner_id"] != user_id and not follows:
        raise forbid("You are not allowed to pin this List.", LIST_REFUSALS)
    is_new = LIST_PINS.find(world, user_id, found["id"]) is None
    if is_new and LIST_PINS.count_targets(world, user_id) >= MOST_PINS:
        raise refuse_value(f"You have already pinned {MOST_PINS} Lists.", LIST_CEILINGS)
    LIST_PINS.add(world, user_id, found["id"])
    return {"data": {"pinned": True}}


def unpin(call: Call, world: World) -> dict[str, Any]:
    """Take away the pin of a list; without one nothing changes."""
    LIST_PINS.remove(world, get_user_id(call), call.path_params["list_id"])
    return {"data": {"pinned": False}}


_OTHERS_LIST = "1715300000000000103"
_declare_page = partial(
    declare_public,
    params=ListPageQuery,
    rules=find_id_faults,
    returns=PageOfLists,
    auth=READ,
    errors=("invalid-request", "resource-not-found"),
    assumptions=(LIST_SHAPES, LIST_ORDER, PRIVATE_LISTS, FIELD_SELECTION, TOKEN_FORMS),
    may_assume=(HIDDEN_USERS, PARTIAL_ERRORS),
    price=OWN_LIST_READ,
)
_declare_own = partial(
    declare_public,
    rules=check_self(),
    auth=WRITE,
    limit=Rates(user=50),
    errors=("invalid-request", "about:blank"),
    assumptions=(LIST_SHAPES,),
    may_assume=(LIST_REFUSALS, PRIVATE_LISTS, LIST_CEILINGS),
)
_declare_write = partial(
    _declare_own,
    params=NamedList,
    example=Example(json={"list_id": _OTHERS_LIST}),
    price=LIST_CREATE,
)
_declare_end = partial(
    _declare_own,
    rules=check_self("id", "list_id"),
    example=Example(path={"list_id": _OTHERS_LIST}),
    price=LIST_MANAGE,
)
OPERATIONS = (
    _declare_page(
        "owned_lists.list",
        "GET /2/users/:id/owned_lists",
        list_owned,
        "List the lists of a user",
        limit=Rates(app=15, user=15),
    ),
    _declare_page(
        "list_memberships.list",
        "GET /2/users/:id/list_memberships",
        list_memberships,
        "List the lists with a user as a member",
        limit=Rates(app=75, user=75),
    ),
    _declare_page(
        "followed_lists.list",
        "GET /2/users/:id/followed_lists",
        list_followed,
        "List the lists that a user follows",
        limit=Rates(app=15, user=15),
        assumptions=(
            LIST_SHAPES,
            LIST_ORDER,
            LIST_LIMITS,
            PRIVATE_LISTS,
            FIELD_SELECTION,
            TOKEN_FORMS,
        ),
    ),
    _declare_write(
        "followed_lists.create",
        "POST /2/users/:id/followed_lists",
        follow,
        "Follow a list",
        returns=FollowedListAnswer,
    ),
    _declare_end(
        "followed_lists.delete",
        "DELETE /2/users/:id/followed_lists/:list_id",
        unfollow,
        "Unfollow a list",
        returns=FollowedListAnswer,
    ),
    _declare_own(
        "pinned_lists.list",
        "GET /2/users/:id/pinned_lists",
        list_pinned,
        "List the lists that the caller has pinned",
        params=ListSelectionQuery,
        returns=PinnedLists,
        auth=Auth(WRITE.schemes, scopes=READ.scopes),
        limit=Rates(app=15, user=15),
        errors=("invalid-request",),
        assumptions=(LIST_SHAPES, LIST_ORDER, FIELD_SELECTION),
        may_assume=(),
        price=OWN_LIST_READ,
    ),
    _declare_write(
        "pinned_lists.create",
        "POST /2/users/:id/pinned_lists",
        pin,
        "Pin a list",
        returns=PinnedListAnswer,
    ),
    _declare_end(
        "pinned_lists.delete",
        "DELETE /2/users/:id/pinned_lists/:list_id",
        unpin,
        "Unpin a list",
        returns=PinnedListAnswer,
    ),
)
