"""Users of the older interface: read, found, followed and listed, settings, and what is trending.

Sign-in libraries ask whom they signed in (`account.verify_credentials`), advertising clients find
the `as_user_id` of a name (`users.show`).
"""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from urllib.parse import quote_plus

from mock_platform.api.older import conventions as older
from mock_platform.api.older.conventions import Switch, add_fields, declare, require, run
from mock_platform.api.older.objects import OlderUser, UserPage, show_found_users, show_user
from mock_platform.api.v2 import conventions as v2
from mock_platform.api.v2 import trends, user_relations, users
from mock_platform.api.v2.objects import post_view, relations
from mock_platform.api.v2.pages import NUMBERS, USERS, TokenForm
from mock_platform.core.assumptions import expectation, public_fact
from mock_platform.core.auth.authenticate import USER
from mock_platform.core.call import Call
from mock_platform.core.failures.errors import NumericFailure
from mock_platform.core.fields import Anything, Flag, Integer, Json, ListOf, Text
from mock_platform.core.operation import Handler
from mock_platform.core.tables.table import AS, RECORDED
from mock_platform.core.unread import NO_EFFECT
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
TREND_PLACES = expectation(
    "older.trend-places",
    "trends/available lists the places of this world that have trends: the world (code 19), and "
    "all others as countries below it (code 12).",
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
_MOST_FOUND = 1000
_OF_RECORDED = (
    "has_extended_profile", "profile_location", "show_all_inline_media", "suspended",
    "needs_phone_verification",
)  # fmt: skip


class CallingUser(OlderUser):
    """The user who calls, with their confirmed address."""

    email = Text(allow_none=True)


class ShownUserQuery(older.FormQuery):
    """Which user to show; one of the two."""

    one_of = ("user_id", "screen_name", "id")
    """Parameters of which one is needed."""
    id = Text()
    user_id = Text()
    screen_name = Text()


_Ids = ListOf(Anything(metadata={"type": ["integer", "string"]}), required=True)
IdPage = older.make_page("OlderIdPage", ids=_Ids, total_count=Integer(allow_none=True))
Friendship = v2.make_schema("OlderFriendship", relationship=Json(required=True))
_ALLOWED = ("allow_contributor_request", "allow_dms_from", "allow_dm_groups_from")
_OFF = ("discoverable_by_email", "discoverable_by_mobile_phone", "use_cookie_personalization")
_NEVER = ("notifications_enabled", "all_replies", "marked_spam", "live_following")
AccountSettings = v2.make_schema(
    "OlderSettings",
    time_zone=Json(),
    sleep_time=Json(),
    **require(Text, "screen_name", "language", "translator_type", *_ALLOWED),
    **require(Flag, "protected", "geo_enabled", "always_use_https", *_OFF),
)
TrendPlace = v2.make_schema(
    "OlderTrendPlace",
    placeType=Json(required=True),
    countryCode=Text(allow_none=True),
    **require(Integer, "woeid", "parentid"),
    **require(Text, "name", "url", "country"),
)
_OF_TRENDS = dict.fromkeys(("trends", "locations"), older.OBJECTS)
PlaceTrends = v2.make_schema("OlderTrends", **_OF_TRENDS, **require(Text, "as_of", "created_at"))


def verify_credentials(call: Call, world: World) -> Record:
    """Return the user whose credentials sign the request."""
    user = v2.get_user(call)
    email = {"email": user.get("_confirmed_email")} if call.params["include_email"] else {}
    return _show_one(call, world, user) | email


def show(call: Call, world: World) -> Record:
    """Return the user with an id or a name, which may be the end of the path."""
    call.params = {**call.params, **call.path_params}
    if not call.path_params and {"user_id", "screen_name"} <= call.params.keys():
        call.warn("screen_name has no effect beside user_id", NO_EFFECT)
    is_named = not {*ShownUserQuery.one_of}.isdisjoint({*call.sent, *call.path_params})
    return _show_one(call, world, older.find_named_user(call, world, 50, 50 if is_named else 25))


def _show_one(call: Call, world: World, user: Record) -> Record:
    """Return a user by itself: with the keys that no page names and recorded answers have."""
    if call.wire != "recorded":
        return show_user(call, world, user)
    call.params["include_entities"] = True
    shown = show_user(call, world, user)
    if user.get(AS) == RECORDED:
        return shown | {name: user[name] for name in _OF_RECORDED if name in user}
    shown["has_extended_profile"] = False
    if call.operation == "users.show":
        shown["profile_location"] = None
    own = call.caller.user is not None and call.caller.user["id"] == user["id"]
    return shown | ({"suspended": False, "needs_phone_verification": False} if own else {})


def look_up(call: Call, world: World) -> list[Record]:
    """Return the users with these ids and names; those who are not there are left out."""
    return [show_user(call, world, user) for user in older.find_named_users(call, world)]


def find(call: Call, world: World) -> list[Record]:
    """Return the page of users whom a query finds."""
    count, page = older.clamp(call, 20, 20), max(1, call.params["page"])
    asked = {"query": call.params["q"], "max_results": min(count * page, _MOST_FOUND)}
    found = run(users.operations.search, call, world, **asked).get("data", [])
    return show_found_users(call, world, found[count * (page - 1) :])


def list_users(handler: Handler, form: TokenForm, call: Call, world: World) -> Record:
    """Return the page of users who hang together with one, such as followers."""
    found, cursors = older.run_page(handler, form, 20, 200, call, world)
    return {"users": show_found_users(call, world, found), **cursors}


def list_ids(handler: Handler, form: TokenForm, call: Call, world: World) -> Record:
    """Return the page of the ids of such users."""
    found, cursors = older.run_page(handler, form, 5000, 5000, call, world)
    make = str if call.params["stringify_ids"] else int
    return {"ids": [make(user["id"]) for user in found], **cursors, "total_count": None}


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
    seen = relations.find_connections(world, one["id"], other["id"])
    back = relations.find_connections(world, other["id"], one["id"])
    source = _show_side(one, seen) | {
        **{name: name in seen for name in ("blocking", "muting")},
        "can_dm": relations.takes_messages_of(world, other, one["id"]),
        "blocked_by": "blocking" in back,
        "want_reposts": "following" in seen,
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


def show_settings(call: Call, _world: World) -> Record:
    """Return the settings of the caller."""
    user = v2.get_user(call)
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
    woeid, moment = str(call.params["id"]), wire_seconds(world.clock.now())
    found = run(trends.operations.list_of_place, call, world, {"woeid": woeid}, max_trends=50)
    named = [(one["trend_name"], one.get("post_count")) for one in found.get("data", ())]
    shown = [
        {
            "name": name,
            "url": f"https://platform.example/search?q={quote_plus(name)}",
            "promoted_content": None,
            "query": quote_plus(name),
            "post_volume": count,
        }
        for name, count in named
        if not (call.params.get("exclude") == "hashtags" and name.startswith("#"))
    ]
    place = world.store.get("trend_places", woeid) or {}
    where = [{"name": place.get("name"), "woeid": int(woeid)}]
    return [{"trends": shown, "as_of": moment, "created_at": moment, "locations": where}]


def list_places(_call: Call, world: World) -> list[Record]:
    """Return the places that have trends."""
    return [
        {
            "name": place["name"],
            "woeid": int(place["woeid"]),
            "placeType": {"code": 19 if place["woeid"] == "1" else 12, "name": ""},
            "url": f"https://platform.example/place/{place['woeid']}",
            "parentid": 0 if place["woeid"] == "1" else 1,
            "country": "" if place["woeid"] == "1" else place["name"],
            "countryCode": None,
        }
        for place in (entry.record for entry in world.store.page("trend_places"))
    ]


_NAMED = {"screen_name": "northbike_co"}
_USERS = older.Listing(OlderUser)
_user_id = partial(v2.make_id_field, "a user id of ")
_off = partial(Switch, load_default=False)
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
    ("ids", list_ids, "List the ids of", IdPage, add_fields(stringify_ids=_off())),
    ("list", list_users, "List", UserPage, older.OlderParameters),
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
    declare("GET account/verify_credentials", verify_credentials, "Read the user who calls",
            CallingUser, add_fields(older.FormQuery, include_email=_off()),
            prefix="", auth=USER, limit=v2.limit_users("verify_credentials", 75), errors="64 89",
            facts=(OLDER_SHAPES, OLDER_LIMITS)),
    declare("GET users/show", show, "Read a user by id or by name", OlderUser, ShownUserQuery,
            prefix="", also=("/1.1/users/show/:id",), limit=v2.limit_users("users/show", 900),
            errors="25 50 63", facts=(OLDER_SHAPES, OLDER_LIMITS, OLDER_LOOKUP), query=_NAMED),
    *(declare(f"{method} users/lookup", look_up, "Read several users", _USERS, older.UsersQuery,
              id_=name, rates=(300, 900), errors="17 25", query=_NAMED, reads=True)
      for method, name in (("GET", "users.lookup"), ("POST", "users.lookup_by_post"))),
    declare("GET users/search", find, "Search users by name", _USERS,
            add_fields(older.FormQuery, q=Text(required=True, min_length=1, max_length=50),
                       page=Integer(load_default=1), count=Integer(low=0)),
            rates=(None, 900), facts=(users.operations.SEARCH_MATCHES,), query={"q": "harbor"}),
    *(make(f"GET {kind}/{form}", partial(list_, _RELATIONS[name, "list"], tokens),
           f"{verb} {text}", page, add_fields(query, more))
      for kind, name, tokens, text, query, make in _LISTS
      for form, list_, verb, page, more in _FORMS),
    *(_write(f"POST {path}", partial(change, _RELATIONS[of, done]), f"{text} a user", errors=errors,
             before=before) for path, of, done, text, errors, before in _SEPARATIONS),
    _write("POST friendships/create", partial(change, _RELATIONS["following", "create"]),
           "Follow a user", params=add_fields(older.OneUserQuery, follow=Switch()),
           limit=v2.Rates(user_daily=400), errors="63 108 158 160 162", facts=(FRIENDSHIP_RULES,)),
    _write("POST friendships/destroy", partial(change, _RELATIONS["following", "delete"]),
           "Unfollow a user", facts=(FRIENDSHIP_RULES,)),
    declare("GET friendships/show", show_friendship, "Show what two users are to each other",
            Friendship, add_fields(source_id=_user_id(), source_screen_name=Text(),
                                   target_id=_user_id(), target_screen_name=Text()),
            rates=(15, 180), errors="25 50 63", facts=(FRIENDSHIP_RULES,),
            query={"source_id": "2244994945", "target_screen_name": "northbike_co"}),
    declare("GET account/settings", show_settings, "Read the settings of the caller",
            AccountSettings, None, rates=(None, 15), facts=(FIXED_SETTINGS,)),
    declare("GET trends/available", list_places, "List the places that have trends",
            older.Listing(TrendPlace), add_fields(), rates=(75, 75),
            facts=(trends.operations.TREND_RECORDS, TREND_PLACES)),
    declare("GET trends/place", list_trends, "List the trends of a place",
            older.Listing(PlaceTrends), add_fields(id=Integer(required=True), exclude=Text()),
            rates=(75, 75), errors="34", facts=(trends.operations.TREND_RECORDS,),
            query={"id": "1"}),
)  # fmt: skip
