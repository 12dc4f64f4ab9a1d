"""Users of the older interface: found, followed and listed, settings, and what is trending."""

from __future__ import annotations

from functools import partial
from urllib.parse import quote_plus

from mock_platform.api.older import conventions as older
from mock_platform.api.older.conventions import OneUserQuery, Switch, add_fields, declare, run
from mock_platform.api.older.objects import OlderUser, UserPage, show_found_users, show_user
from mock_platform.api.v2.conventions import (
    Rates,
    get_user,
    get_user_id,
    make_id_field,
    make_schema,
)
from mock_platform.api.v2.objects.post_text import find_user
from mock_platform.api.v2.objects.relations import (
    FOLLOW_REQUESTS,
    find_connections,
    is_present,
    takes_messages_of,
)
from mock_platform.api.v2.pages import USERS
from mock_platform.api.v2.trends.operations import TREND_RECORDS, list_of_place
from mock_platform.api.v2.user_relations import changes
from mock_platform.api.v2.user_relations import operations as relations
from mock_platform.api.v2.users.lists import SEARCH_MATCHES, search
from mock_platform.core.assumptions import expectation
from mock_platform.core.auth.authenticate import USER
from mock_platform.core.call import Call
from mock_platform.core.failures.errors import NumericFailure
from mock_platform.core.fields import CommaList, Flag, Integer, Json, ListOf, Text
from mock_platform.core.operation import Handler
from mock_platform.world.clock import wire_seconds
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

FRIENDSHIP_RULES = expectation(
    "older.friendships",
    "A second follow answers 200 with the user, a request that waits already is refused with code "
    "160. An unknown user is refused with code 108 where a follow begins, with 50 elsewhere.",
)
FIXED_SETTINGS = expectation(
    "older.settings",
    "account/settings has the published keys; name, language and protection are those of the "
    "user, all else is the same for everybody.",
)
_MOST_FOUND = 1000


class IdPage(older.Cursors):
    """A page of ids of users."""

    component_name = "OlderIdPage"
    ids = ListOf(Json(), required=True)
    total_count = Integer(allow_none=True)


Friendship = make_schema("OlderFriendship", relationship=Json(required=True))
_TEXTS = ("screen_name", "language", "translator_type", "allow_contributor_request",
          "allow_dms_from", "allow_dm_groups_from")  # fmt: skip
_OFF = ("discoverable_by_email", "discoverable_by_mobile_phone", "use_cookie_personalization")
_NEVER = ("notifications_enabled", "all_replies", "marked_spam", "live_following")
_FLAGS = ("protected", "geo_enabled", "always_use_https", *_OFF)
AccountSettings = make_schema(
    "OlderSettings",
    time_zone=Json(),
    sleep_time=Json(),
    **{name: Text(required=True) for name in _TEXTS},
    **{name: Flag(required=True) for name in _FLAGS},
)
PlaceTrends = make_schema(
    "OlderTrends",
    trends=ListOf(Json(), required=True),
    as_of=Text(required=True),
    created_at=Text(required=True),
    locations=ListOf(Json(), required=True),
)


def look_up(call: Call, world: World) -> list[Record]:
    """Return the users with these ids and names; those who are not there are left out.

    Raises:
        NumericFailure: Nothing is asked for (25), or no user is found (17).
    """
    ids, names = call.params.get("user_id"), call.params.get("screen_name")
    if ids is None and names is None:
        raise NumericFailure(25)
    found = [world.store.get("users", id_) for id_ in ids or ()]
    found += [find_user(world, name) for name in names or ()]
    present = {user["id"]: user for user in found if user is not None and is_present(user)}
    if not present:
        raise NumericFailure(17)
    return [show_user(call, world, user) for user in present.values()]


def find(call: Call, world: World) -> list[Record]:
    """Return the page of users whom a query finds."""
    count, page = older.clamp(call, 20, 20), max(1, call.params["page"])
    end = min(count * page, _MOST_FOUND)
    found = run(search, call, world, query=call.params["q"], max_results=end).get("data", [])
    return show_found_users(call, world, found[count * (page - 1) :])


def list_users(handler: Handler, call: Call, world: World) -> Record:
    """Return the page of followers, or of those whom a user follows."""
    user_id = older.find_named_user(call, world)["id"]
    found, cursors = older.run_page(handler, USERS, 20, 200, call, world, user_id)
    return {"users": show_found_users(call, world, found), **cursors}


def list_ids(handler: Handler, call: Call, world: World) -> Record:
    """Return the page of the ids of followers, or of those whom a user follows."""
    user_id = older.find_named_user(call, world)["id"]
    found, cursors = older.run_page(handler, USERS, 5000, 5000, call, world, user_id)
    make = str if call.params["stringify_ids"] else int
    return {"ids": [make(user["id"]) for user in found], **cursors, "total_count": None}


def follow(call: Call, world: World) -> Record:
    """Follow a user, or ask to follow a protected one; return the user."""
    target = older.require_target(call, world)
    if FOLLOW_REQUESTS.find(world, get_user_id(call), target["id"]) is not None:
        raise NumericFailure(160)
    run(relations.create_follow, call, world, target_user_id=target["id"])
    return show_user(call, world, world.store.get("users", target["id"]) or target)


def unfollow(call: Call, world: World) -> Record:
    """End the follow of a user, and return the user."""
    target = older.require_target(call, world, 50)
    end = partial(relations.end_relation, changes.unfollow, "following")
    run(end, call, world, {"target_user_id": target["id"]})
    return show_user(call, world, world.store.get("users", target["id"]) or target)


def show_friendship(call: Call, world: World) -> Record:
    """Return what two users are to each other; the caller is the first one if none is named."""
    if not call.params.keys() & {"target_id", "target_screen_name"}:
        raise NumericFailure(25)
    one, other = (older.find_named_user(call, world, prefix=f"{name}_")
                  for name in ("source", "target"))  # fmt: skip
    seen, back = (find_connections(world, first["id"], second["id"])
                  for first, second in ((one, other), (other, one)))  # fmt: skip
    source, target = (
        {
            "id": int(user["id"]),
            "id_str": user["id"],
            "screen_name": user["screen_name"],
            "following": "following" in found,
            "followed_by": "followed_by" in found,
            "following_received": "follow_request_received" in found,
            "following_requested": "follow_request_sent" in found,
        }
        for user, found in ((one, seen), (other, back))
    )
    source |= {
        "can_dm": takes_messages_of(world, other, one["id"]),
        "blocking": "blocking" in seen,
        "blocked_by": "blocking" in back,
        "muting": "muting" in seen,
        "want_reposts": "following" in seen,
        **dict.fromkeys(_NEVER, False),
    }
    return {"relationship": {"source": source, "target": target}}


def show_settings(call: Call, _world: World) -> Record:
    """Return the settings of the caller."""
    user = get_user(call)
    return {
        **{name: user[name] for name in ("screen_name", "protected", "geo_enabled")},
        "language": user.get("lang") or "en",
        "time_zone": {"name": "UTC", "tzinfo_name": "Etc/UTC", "utc_offset": 0},
        "sleep_time": {"enabled": False, "start_time": None, "end_time": None},
        "always_use_https": True,
        **dict.fromkeys(_OFF, False),
        "allow_contributor_request": "none",
        "allow_dms_from": "following" if user.get("receives_your_dm") is False else "all",
        "allow_dm_groups_from": "following",
        "translator_type": user["translator_type"],
    }


def list_trends(call: Call, world: World) -> list[Record]:
    """Return the trends of a place."""
    woeid = str(call.params["id"])
    found = run(list_of_place, call, world, {"woeid": woeid}, max_trends=50).get("data", ())
    bare, moment = call.params.get("exclude") == "hashtags", wire_seconds(world.clock.now())
    place = world.store.get("trend_places", woeid) or {}
    trends = [
        {
            "name": one["trend_name"],
            "url": f"https://platform.example/search?q={quote_plus(one['trend_name'])}",
            "promoted_content": None,
            "query": quote_plus(one["trend_name"]),
            "post_volume": one.get("post_count"),
        }
        for one in found
        if not (bare and one["trend_name"].startswith("#"))
    ]
    where = [{"name": place.get("name"), "woeid": int(woeid)}]
    return [{"trends": trends, "as_of": moment, "created_at": moment, "locations": where}]


_NAMED = {"screen_name": "northbike_co"}
_USERS = older.Listing(OlderUser)
_user_id = partial(make_id_field, "a user id of ")
_UsersQuery = add_fields(
    older.FormQuery,
    user_id=CommaList(_user_id(), most=100),
    screen_name=CommaList(Text(), most=100),
)
_IdPageQuery = add_fields(older.UserListQuery, stringify_ids=Switch(load_default=False))
_list = partial(declare, limit=Rates(app=15, user=15), errors="25 44 50 63 179", query=_NAMED)
_KINDS: tuple[tuple[str, Handler, str], ...] = (
    ("followers", relations.list_followers, "a user's followers"),
    ("friends", relations.list_following, "those whom a user follows"),
)
OPERATIONS = (
    *(declare(f"{method} users/lookup", look_up, "Read several users", _USERS, _UsersQuery,
              id_=name, limit=Rates(app=300, user=900), errors="17 25", query=_NAMED, reads=True)
      for method, name in (("GET", "users.lookup"), ("POST", "users.lookup_by_post"))),
    declare("GET users/search", find, "Search users by name", _USERS,
            add_fields(older.FormQuery, q=Text(required=True, min_length=1, max_length=50),
                       page=Integer(load_default=1), count=Integer(low=0)),
            auth=USER, limit=Rates(user=900), facts=(SEARCH_MATCHES,), query={"q": "harbor"}),
    *(_list(f"GET {kind}/ids", partial(list_ids, handler), f"List the ids of {text}", IdPage,
            _IdPageQuery) for kind, handler, text in _KINDS),
    *(_list(f"GET {kind}/list", partial(list_users, handler), f"List {text}", UserPage,
            older.UserListQuery) for kind, handler, text in _KINDS),
    declare("POST friendships/create", follow, "Follow a user", OlderUser,
            add_fields(OneUserQuery, follow=Switch()), limit=Rates(user_daily=400),
            errors="63 108 158 160 162", facts=(FRIENDSHIP_RULES,), query=_NAMED),
    declare("POST friendships/destroy", unfollow, "Unfollow a user", OlderUser, OneUserQuery,
            errors="50 63", facts=(FRIENDSHIP_RULES,), query=_NAMED),
    declare("GET friendships/show", show_friendship, "Show what two users are to each other",
            Friendship,
            add_fields(source_id=_user_id(), source_screen_name=Text(),
                       target_id=_user_id(), target_screen_name=Text()),
            limit=Rates(app=15, user=180), errors="25 50 63", facts=(FRIENDSHIP_RULES,),
            query={"source_id": "2244994945", "target_screen_name": "northbike_co"}),
    declare("GET account/settings", show_settings, "Read the settings of the caller",
            AccountSettings, None, auth=USER, limit=Rates(user=15), facts=(FIXED_SETTINGS,)),
    declare("GET trends/place", list_trends, "List the trends of a place",
            older.Listing(PlaceTrends),
            add_fields(id=Integer(required=True), exclude=Text()), limit=Rates(app=75, user=75),
            errors="34", facts=(TREND_RECORDS,), query={"id": "1"}),
)  # fmt: skip
