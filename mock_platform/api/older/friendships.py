"""Who follows, mutes and blocks whom in the older interface: listed, begun, ended and shown."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from typing import Any, Literal

from mock_platform.api.older import conventions as older
from mock_platform.api.older.conventions import Switch, add_fields, declare, run
from mock_platform.api.older.objects import OlderUser, UserPage, show_found_users, show_user
from mock_platform.api.v2 import conventions as v2
from mock_platform.api.v2 import user_relations
from mock_platform.api.v2.objects import post_view, relations
from mock_platform.api.v2.objects.lists import list_related_users
from mock_platform.api.v2.pages import NUMBERS, USERS, TokenForm
from mock_platform.core.assumptions import expectation
from mock_platform.core.call import Call
from mock_platform.core.failures.errors import NumericFailure
from mock_platform.core.fields import Json, ListOf, Long, Text
from mock_platform.core.operation import Handler
from mock_platform.core.unread import NO_EFFECT
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

FRIENDSHIP_RULES = expectation(
    "older.friendships",
    "A second follow answers 200 with the user, a request that waits already is refused with code "
    "160. An unknown user is refused with code 108 where a follow begins, with 50 elsewhere. "
    "friendships/update is for users whom the caller follows; others are refused with code 87. "
    "With reposts=false their reposts are not in the home timeline of the caller.",
)
REPORTED_SPAM = expectation(
    "older.reported-spam",
    "users/report_spam changes nothing but that the caller blocks the user, if perform_block is "
    "not false.",
)
Friendship = v2.make_schema("OlderFriendship", relationship=Json(required=True))
Connections = v2.make_schema(
    "OlderConnections",
    connections=ListOf(Text(), required=True),
    **older.require(Text, "name", "screen_name", "id_str"),
    id=Long(required=True),
)
_NEVER = ("notifications_enabled", "all_replies", "marked_spam", "live_following")


def list_users(handler: Handler, form: TokenForm, call: Call, world: World) -> Record:
    """Return the page of users who hang together with one, such as followers."""
    found, cursors = older.run_page(handler, form, 20, 200, call, world)
    return {"users": show_found_users(call, world, found), **cursors}


def list_ids(handler: Handler, form: TokenForm, call: Call, world: World) -> Record:
    """Return the page of the ids of such users."""
    return older.run_id_page(handler, form, 5000, call, world)


def change(handler: Handler, call: Call, world: World) -> Record:
    """Begin or end to follow, mute or block a user, who is returned; a protected one is asked.

    Raises:
        NumericFailure: The caller asks to follow the user already (160), or does not mute the user
            whom to unmute (272).
    """
    begins = handler is _RELATIONS["following", "create"]
    target = older.find_named_user(call, world, 108 if begins else 50, 108)
    own, named = v2.get_user_id(call), {"target_user_id": target["id"]}
    if begins and relations.FOLLOW_REQUESTS.find(world, own, target["id"]):
        raise NumericFailure(160)
    unmutes = handler is _RELATIONS["muting", "delete"]
    if unmutes and not relations.MUTES.find(world, own, target["id"]):
        raise NumericFailure(272)
    run(handler, call, world, named, **named)
    return show_user(call, world, world.store.get("users", target["id"]) or target)


def show_friendship(call: Call, world: World) -> Record:
    """Return what two users are to each other; the caller is the first one if none is named."""
    if not call.params.keys() & {"target_id", "target_screen_name"}:
        raise NumericFailure(25)
    one = older.find_named_user(call, world, prefix="source_")
    other = older.find_named_user(call, world, prefix="target_")
    return _show_both(world, one, other)


def _show_both(world: World, one: Record, other: Record) -> Record:
    seen = relations.find_connections(world, one["id"], other["id"])
    back = relations.find_connections(world, other["id"], one["id"])
    hides_reposts = relations.HIDDEN_REPOSTS.find(world, one["id"], other["id"]) is not None
    source = _show_side(one, seen) | {
        **{name: name in seen for name in ("blocking", "muting")},
        "can_dm": relations.takes_messages_of(world, other, one["id"]),
        "blocked_by": "blocking" in back,
        "want_reposts": "following" in seen and not hides_reposts,
        **dict.fromkeys(_NEVER, False),
    }
    return {"relationship": {"source": source, "target": _show_side(other, back)}}


def _show_side(user: Record, found: Collection[str]) -> Record:
    """Return one of two users, and what was `found` that the other is to this one."""
    asked = {"following_received": "received", "following_requested": "sent"}
    return {
        **post_view.add_texts({"id": int(user["id"])}),
        "screen_name": user["screen_name"],
        **{name: name in found for name in ("following", "followed_by")},
        **{name: f"follow_request_{way}" in found for name, way in asked.items()},
    }


def look_up(call: Call, world: World) -> list[Record]:
    """Return what connects the caller with each of these users."""
    own = v2.get_user_id(call)
    return [
        {
            **post_view.add_texts({"id": int(user["id"])}),
            **{name: user[name] for name in ("name", "screen_name")},
            "connections": _name_connections(world, own, user["id"]),
        }
        for user in older.find_named_users(call, world)
    ]


def _name_connections(world: World, own: str, other: str) -> list[str]:
    found = relations.find_connections(world, own, other)
    return [_CONNECTIONS.get(name, name) for name in found] or ["none"]


End = Literal["source", "target"]


def list_requests(show: End, call: Call, world: World) -> Record:
    """Return the page of the ids of those who ask to follow the caller, or whom the caller asks."""

    def list_asking(call: Call, world: World) -> dict[str, Any]:
        own = v2.get_user_id(call)
        return list_related_users(call, world, relations.FOLLOW_REQUESTS, own, USERS, show=show)

    return list_ids(list_asking, USERS, call, world)


def update(call: Call, world: World) -> Record:
    """Choose whether the reposts of a user whom the caller follows are in the home timeline.

    Raises:
        NumericFailure: The caller does not follow the user (87).
    """
    user, own = older.find_named_user(call, world, none=108), v2.get_user(call)
    if relations.FOLLOWS.find(world, own["id"], user["id"]) is None:
        raise NumericFailure(87)
    if "device" in call.params:
        call.warn("device has no effect: nobody is notified", NO_EFFECT)
    if "reposts" in call.params:
        hidden, wanted = relations.HIDDEN_REPOSTS, call.params["reposts"]
        (hidden.remove if wanted else hidden.add)(world, own["id"], user["id"])
    return _show_both(world, own, user)


def list_without_reposts(call: Call, world: World) -> list[int | str]:
    """Return the ids of the users whose reposts the caller does not want to see."""
    found = relations.HIDDEN_REPOSTS.list_targets(world, v2.get_user_id(call))
    return older.show_ids(call, reversed(found))


def report_spam(call: Call, world: World) -> Record:
    """Report a user, who is returned; the caller blocks the user, if that is not excluded."""
    user = older.find_named_user(call, world, none=108)
    if call.params["perform_block"]:
        run(_RELATIONS["blocking", "create"], call, world, target_user_id=user["id"])
    return show_user(call, world, user)


_CONNECTIONS = {
    "follow_request_sent": "following_requested",
    "follow_request_received": "following_received",
}
"""The words of the v2 interface that are others here."""
_NAMED = {"screen_name": "northbike_co"}
_user_id = partial(v2.make_id_field, "a user id of ")
_Stringified = add_fields(stringify_ids=Switch(load_default=False))
_of_user = partial(older.declare_of_user, rates=(15, 15), query=_NAMED)
_of_caller = partial(declare, rates=(None, 15))
_OwnQuery = add_fields(older.FormQuery, older.CursorQuery)
_LISTS = (
    ("followers", "followers", USERS, "a user's followers", older.UserListQuery, _of_user),
    ("friends", "following", USERS, "those whom a user follows", older.UserListQuery, _of_user),
    ("blocks", "blocking", USERS, "those whom the caller blocks", _OwnQuery, _of_caller),
    ("mutes/users", "muting", NUMBERS, "those whom the caller mutes", _OwnQuery, _of_caller),
)
_FORMS = (
    ("ids", list_ids, "List the ids of", older.IdPage, _Stringified),
    ("list", list_users, "List", UserPage, older.OlderParameters),
)
_REQUESTS: tuple[tuple[str, End, str], ...] = (
    ("incoming", "source", "those who ask to follow the caller"),
    ("outgoing", "target", "those whom the caller asks to follow"),
)
_MUTE = ("POST", "/1.1/mutes/users/create?screen_name=northbike_co")
_SEPARATIONS = (
    ("blocks/create", "blocking", "create", "Begin to block", "50 63 87 108", None),
    ("blocks/destroy", "blocking", "delete", "Cease to block", "50 63 87 108", None),
    ("mutes/users/create", "muting", "create", "Begin to mute", "50 63 108 271", None),
    ("mutes/users/destroy", "muting", "delete", "Cease to mute", "50 63 108 272", _MUTE),
)
_RELATIONS = {tuple(one.id.split(".")): one.handler for one in user_relations.operations.OPERATIONS}
_write = partial(declare, returns=OlderUser, params=older.OneUserQuery, errors="50 63 87 108",
                 query=_NAMED)  # fmt: skip
OPERATIONS = (
    *(make(f"GET {kind}/{form}", partial(list_, _RELATIONS[name, "list"], tokens),
           f"{verb} {text}", page, add_fields(query, more))
      for kind, name, tokens, text, query, make in _LISTS
      for form, list_, verb, page, more in _FORMS),
    *(_write(f"POST {path}", partial(change, _RELATIONS[of, done]), f"{text} a user", errors=errors,
             before=before) for path, of, done, text, errors, before in _SEPARATIONS),
    _write("POST users/report_spam", report_spam, "Report a user",
           params=add_fields(older.OneUserQuery, perform_block=Switch(load_default=True)),
           limit=v2.limit_users("users/report_spam", 15), facts=(REPORTED_SPAM,)),
    _write("POST friendships/create", partial(change, _RELATIONS["following", "create"]),
           "Follow a user", params=add_fields(older.OneUserQuery, follow=Switch()),
           limit=v2.Rates(user_daily=400), errors="63 108 158 160 162", facts=(FRIENDSHIP_RULES,)),
    _write("POST friendships/destroy", partial(change, _RELATIONS["following", "delete"]),
           "Unfollow a user", facts=(FRIENDSHIP_RULES,)),
    _write("POST friendships/update", update, "Choose what to see of a user", returns=Friendship,
           params=add_fields(older.OneUserQuery, device=Switch(), reposts=Switch()),
           facts=(FRIENDSHIP_RULES,), query={"screen_name": "ines_duarte", "reposts": "false"}),
    declare("GET friendships/show", show_friendship, "Show what two users are to each other",
            Friendship, add_fields(source_id=_user_id(), source_screen_name=Text(),
                                   target_id=_user_id(), target_screen_name=Text()),
            rates=(15, 180), errors="25 50 63", facts=(FRIENDSHIP_RULES,),
            query={"source_id": "2244994945", "target_screen_name": "northbike_co"}),
    _of_caller("GET friendships/lookup", look_up, "Show what connects the caller with users",
               older.Listing(Connections), older.UsersQuery, errors="17 25", query=_NAMED),
    *(_of_caller(f"GET friendships/{name}", partial(list_requests, shown),
                 f"List the ids of {text}", older.IdPage,
                 add_fields(older.CursorQuery, _Stringified)) for name, shown, text in _REQUESTS),
    _of_caller("GET friendships/no_reposts/ids", list_without_reposts,
               "List the ids of those whose reposts the caller does not want",
               older.ID_LIST, _Stringified, facts=(FRIENDSHIP_RULES,)),
)  # fmt: skip
