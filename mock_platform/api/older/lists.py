"""Lists of the older interface: their members and subscribers, and whose lists there are."""

from __future__ import annotations

import re
from functools import partial

from mock_platform.api.older import conventions as older
from mock_platform.api.older import objects
from mock_platform.api.older.conventions import add_fields, declare, make_page, require, run
from mock_platform.api.v2.conventions import make_id_field, make_schema
from mock_platform.api.v2.lists import lists_of_users, operations, records
from mock_platform.api.v2.objects import answers, older_forms, post_view
from mock_platform.api.v2.objects.relations import Relation
from mock_platform.api.v2.pages import NUMBERS
from mock_platform.api.v2.usage.counting import COUNTED_ONCE
from mock_platform.core.assumptions import expectation
from mock_platform.core.call import Call
from mock_platform.core.failures.errors import NumericFailure
from mock_platform.core.fields import Choice, Flag, Integer, ListOf, Long, Nested, Text
from mock_platform.core.operation import Handler
from mock_platform.world.clock import parse_instant
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

LIST_NAMES = expectation(
    "older.lists",
    "The slug of a list is its name in small letters, with - for all that is no letter and no "
    "digit; it is found in any case. A list is named by list_id, or by its slug and its owner; "
    "neither is refused with code 112. Members and subscribers who are not there change nothing.",
)
_SEPARATORS = re.compile(r"[^a-z0-9]+")


_TEXTS = ("id_str", "name", "uri", "description", "slug", "full_name", "created_at")
OlderList = make_schema(
    "OlderList",
    id=Long(required=True),
    mode=Choice(("public", "private"), required=True),
    following=Flag(required=True),
    user=Nested(objects.OlderUser, required=True),
    **require(Integer, "subscriber_count", "member_count"),
    **require(Text, *_TEXTS),
)
ListPage = make_page("OlderListPage", lists=ListOf(Nested(OlderList), required=True))


class OneListQuery(older.FormQuery):
    """A list by its id, or by its slug and its owner."""

    list_id = make_id_field("a list id of ")
    slug = Text(min_length=1)
    owner_id = make_id_field("a user id of ")
    owner_screen_name = Text(min_length=1)


class OlderListChange(OneListQuery):
    """What to change of a list."""

    name = Text(min_length=1, max_length=25)
    mode = Choice(("public", "private"))
    description = Text(max_length=100)


def _make_slug(name: str) -> str:
    return _SEPARATORS.sub("-", name.lower()).strip("-") or "list"


def require_list(call: Call, world: World) -> str:
    """Return the id of the list that the parameters name.

    Raises:
        NumericFailure: None is named (112).
        ProblemFailure: The caller sees none (its number is 34).
    """
    sent, list_id = call.params, call.params.get("list_id")
    if list_id is None:
        if "slug" not in sent:
            raise NumericFailure(112)
        owner = older.find_named_user(call, world, none=112, prefix="owner_")
        owned = world.store.page("lists", {"owner_id": owner["id"]})
        slugs = {_make_slug(one.record["name"]): one.key for one in owned}
        list_id = slugs.get(sent["slug"].lower(), "")
    return str(run(operations.require_list, call, world, {"id": list_id})["id"])


def show_list(call: Call, world: World, list_id: str) -> Record:
    """Return a list as the older interface shows it."""
    found = run(operations.get, call, world, {"id": list_id}, list_fields=records.LIST_FIELDS)
    list_, viewer = found["data"], answers.get_viewer_id(call)
    owner, slug = world.store.get("users", list_["owner_id"]) or {}, _make_slug(list_["name"])
    is_followed = viewer and records.LIST_FOLLOWERS.find(world, viewer, list_id) is not None
    return {
        **post_view.add_texts({"id": int(list_id)}),
        **{name: list_[name] for name in ("name", "description", "member_count")},
        "uri": f"/{owner['screen_name']}/lists/{slug}",
        "subscriber_count": list_["follower_count"],
        "mode": "private" if list_["private"] else "public",
        "slug": slug,
        "full_name": f"@{owner['screen_name']}/{slug}",
        "created_at": older_forms.format_post_time(parse_instant(list_["created_at"])),
        "following": bool(is_followed) or viewer == list_["owner_id"],
        "user": objects.show_user(call, world, owner, status=False),
    }


def _read_change(call: Call) -> Record:
    change = {name: call.params[name] for name in ("name", "description") if name in call.params}
    return change | ({"private": call.params["mode"] == "private"} if "mode" in call.params else {})


def create(call: Call, world: World) -> Record:
    """Make a list of the caller."""
    made = run(operations.create, call, world, **{"private": False, **_read_change(call)})
    return show_list(call, world, made["data"]["id"])


def write(handler: Handler, call: Call, world: World) -> Record:
    """Change, delete, follow or unfollow a list, and return it."""
    list_id = require_list(call, world)
    shown, named = show_list(call, world, list_id), {"id": list_id, "list_id": list_id}
    sent = _read_change(call) if handler is operations.update else named
    run(handler, call, world, named, **sent)
    return shown if handler is operations.delete else show_list(call, world, list_id)


def write_members(handler: Handler, find: Handler, call: Call, world: World) -> Record:
    """Add the users that the parameters name to a list, or take them out; return the list."""
    list_id = require_list(call, world)
    for user in find(call, world):
        named = {"id": list_id, "user_id": user["id"]}
        run(handler, call, world, named, user_id=user["id"])
    return show_list(call, world, list_id)


def _find_member(call: Call, world: World) -> list[Record]:
    return [older.find_named_user(call, world, 108, 108)]


def show(call: Call, world: World) -> Record:
    """Return the list that the parameters name."""
    return show_list(call, world, require_list(call, world))


def list_users(list_: Handler, call: Call, world: World) -> Record:
    """Return the page of the members, or of the subscribers, of a list."""
    key = require_list(call, world)
    found, cursors = older.run_page(list_, NUMBERS, 20, 5000, call, world, key)
    return {"users": objects.show_found_users(call, world, found), **cursors}


def show_user_of(edge: Relation, call: Call, world: World) -> Record:
    """Return a user who is a member, or a subscriber, of a list.

    Raises:
        NumericFailure: The user is not (109).
    """
    list_id, user = require_list(call, world), older.find_named_user(call, world, none=25)
    is_member = edge is records.LIST_MEMBERS
    ends = (list_id, user["id"]) if is_member else (user["id"], list_id)
    if edge.find(world, *ends) is None:
        kind = "member" if is_member else "subscriber"
        text = f"The specified user is not a {kind} of this list."
        raise NumericFailure(109, text, status=404)
    return objects.show_user(call, world, user)


def list_lists(handler: Handler, call: Call, world: World) -> Record:
    """Return the page of lists that belong to a user, or that have the user."""
    found, cursors = older.run_page(handler, NUMBERS, 20, 1000, call, world)
    return {"lists": [show_list(call, world, each["id"]) for each in found], **cursors}


def list_all(call: Call, world: World) -> list[Record]:
    """Return the lists that a user owns and those that the user follows, up to 100."""
    path = {"id": older.find_owner(call, world)["id"]}
    kinds = [lists_of_users.list_owned, lists_of_users.list_followed]
    pages = [run(kind, call, world, path, max_results=100).get("data", ()) for kind in kinds]
    ordered = pages if call.params["reverse"] else reversed(pages)
    found = dict.fromkeys(each["id"] for page in ordered for each in page)
    return [show_list(call, world, id_) for id_ in list(found)[:100]]


def list_posts(call: Call, world: World) -> list[Record]:
    """Return the latest posts of the members of a list."""
    list_id, (low, high) = require_list(call, world), older.read_bounds(call)
    match = {} if call.params["include_rts"] else {"_reposted_post_id": None}
    take = partial(operations.take_posts, list_id=list_id, match=match,
                   where=lambda post: low < post["id"] < high)  # fmt: skip
    page = run(take, call, world, max_results=older.clamp(call, 20, 200))
    return objects.show_read_posts(call, world, page.records)


_LIST, _OTHERS_LIST = {"list_id": "1715300000000000101"}, {"list_id": "1715300000000000103"}
_OWNER = {"screen_name": "harbor_roasters"}
_ListedQuery = add_fields(OneListQuery, older.CursorQuery)
_ONE = (_find_member, older.OneUserQuery, "34 50 63 87 104 108 112")
_SEVERAL = (older.find_named_users, older.UsersQuery, "17 25 34 50 63 87 104 112")
_BOTH = {"screen_name": "ines_duarte,northbike_co"}
_MEMBERS = (
    ("create", operations.create_member, "Add a user to", {"user_id": "2790441185"}, _ONE),
    ("destroy", operations.delete_member, "Take a user out of", {"user_id": "3805104374"}, _ONE),
    ("create_all", operations.create_member, "Add up to 100 users to", _BOTH, _SEVERAL),
    ("destroy_all", operations.delete_member, "Take several users out of", _BOTH, _SEVERAL),
)
_RULES = (LIST_NAMES, records.PRIVATE_LISTS, records.LIST_REFUSALS, records.LIST_CEILINGS)
_declare = partial(declare, facts=_RULES, query=_LIST)
_write = partial(_declare, returns=OlderList, params=OneListQuery, errors="34 50 63 87 112")
_read = partial(_declare, errors="25 34 44 50 63 112")
_of_user = partial(older.declare_of_user, facts=_RULES, query=_OWNER)
OPERATIONS = (
    _write("POST lists/create", create, "Make a list", errors="87",
           params=add_fields(older.FormQuery, name=Text(required=True, min_length=1, max_length=25),
                             mode=Choice(("public", "private")), description=Text(max_length=100)),
           query={"name": "Where we drink coffee"}),
    _write("POST lists/update", partial(write, operations.update), "Change a list",
           params=OlderListChange, query=_LIST | {"description": "Cups within a walk"}),
    _write("POST lists/destroy", partial(write, operations.delete), "Delete a list"),
    *(_write(f"POST lists/members/{name}", partial(write_members, handler, find), f"{text} a list",
             params=add_fields(OneListQuery, query), errors=errors, query=_LIST | example)
      for name, handler, text, example, (find, query, errors) in _MEMBERS),
    *(_write(f"POST lists/subscribers/{name}", partial(write, handler), text, query=_OTHERS_LIST)
      for name, handler, text in (("create", lists_of_users.follow, "Follow a list"),
                                  ("destroy", lists_of_users.unfollow, "Unfollow a list"))),
    _read("GET lists/show", show, "Read a list", OlderList, OneListQuery, rates=(75, 75)),
    _read("GET lists/members", partial(list_users, operations.list_members),
          "List the members of a list", objects.UserPage, _ListedQuery, rates=(75, 900)),
    _read("GET lists/subscribers", partial(list_users, operations.list_followers),
          "List the followers of a list", objects.UserPage, _ListedQuery, rates=(15, 180)),
    *(_read(f"GET lists/{kind}/show", partial(show_user_of, edge), f"Read a {name} of a list",
            objects.OlderUser, add_fields(OneListQuery, older.OneUserQuery), rates=(15, 15),
            errors="25 34 44 50 63 109 112", query=_LIST | {"screen_name": "ines_duarte"})
      for kind, edge, name in (("members", records.LIST_MEMBERS, "member"),
                               ("subscribers", records.LIST_FOLLOWERS, "follower"))),
    _read("GET lists/statuses", list_posts, "List the posts of a list's members", objects.POSTS,
          add_fields(OneListQuery, older.PostRangeQuery), rates=(900, 900),
          may_assume=(COUNTED_ONCE,)),
    _of_user("GET lists/list", list_all, "List all lists of a user", older.Listing(OlderList),
             add_fields(older.OneUserQuery, reverse=older.Switch(load_default=False)),
             rates=(15, 15)),
    *(_of_user(f"GET lists/{name}", partial(list_lists, handler), text, ListPage,
               older.UserListQuery, rates=(most, most))
      for name, handler, text, most in (
          ("ownerships", lists_of_users.list_owned, "List the lists of a user", 15),
          ("memberships", lists_of_users.list_memberships,
           "List the lists with a user as a member", 75),
          ("subscriptions", lists_of_users.list_followed,
           "List the lists that a user follows", 15))),
)  # fmt: skip
