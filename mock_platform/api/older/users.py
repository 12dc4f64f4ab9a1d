"""Users of the older interface: read by id and by name, and found.

Sign-in libraries ask whom they signed in (`account.verify_credentials`), advertising clients find
the `as_user_id` of a name (`users.show`).
"""

from __future__ import annotations

from functools import partial

from mock_platform.api.older import conventions as older
from mock_platform.api.older.conventions import Switch, add_fields, declare, run
from mock_platform.api.older.objects import OlderUser, show_found_users, show_user
from mock_platform.api.v2 import conventions as v2
from mock_platform.api.v2 import users
from mock_platform.core.assumptions import expectation, public_fact
from mock_platform.core.auth.authenticate import USER
from mock_platform.core.call import Call
from mock_platform.core.fields import Integer, Text
from mock_platform.core.tables.table import AS, RECORDED
from mock_platform.core.unread import NO_EFFECT
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

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


_NAMED = {"screen_name": "northbike_co"}
_USERS = older.Listing(OlderUser)
_off = partial(Switch, load_default=False)
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
)  # fmt: skip
