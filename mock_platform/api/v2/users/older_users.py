"""Users of the 1.1 interface: the caller, and one by id or by name.

Clients make these two calls around the documented operations: sign-in libraries ask whom they
signed in, advertising clients find the `as_user_id` of a name.
"""

from __future__ import annotations

from typing import Any

from mock_platform.api.v2.objects.older_forms import make_user_object
from mock_platform.api.v2.objects.post_texts import find_user
from mock_platform.api.v2.objects.posts import make_post_object
from mock_platform.api.v2.objects.user_view import NEWEST_FIRST
from mock_platform.api.v2.objects.users import UserObject
from mock_platform.core.assumptions import expectation, public_fact
from mock_platform.core.auth.authenticate import APP_OR_USER, USER
from mock_platform.core.call import Call
from mock_platform.core.envelope import Flat
from mock_platform.core.example import Example
from mock_platform.core.failures.errors import OAUTH_CODES, NumericFailure
from mock_platform.core.fields import Json, Text
from mock_platform.core.operation import Limit, Operation, Origin
from mock_platform.core.schema import Schema
from mock_platform.core.unread import NO_EFFECT
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

SHAPES = public_fact(
    "older-users.shapes",
    "verify_credentials and users/show return the user object of 41 keys with its entities and, "
    "as status, the user's last public post without its author. include_entities=false leaves "
    "entities out, skip_status=true the status; include_email=true adds the confirmed address or "
    "null.",
    "adjacent operations, section 11",
    gap=True,
)
LIMITS = public_fact(
    "older-users.limits",
    "A user may call verify_credentials 75 and users/show 900 times in 15 minutes.",
    "adjacent operations, section 11",
)
LOOKUP = expectation(
    "older-users.lookup",
    "users/show takes user_id or screen_name, in any case; with both, the user_id counts. Neither "
    "answers 400 with code 25, a user who does not exist 404 with code 50.",
)
_TRUE, _FALSE = frozenset({"true", "t", "1"}), frozenset({"false", "f", "0"})
_NO_URLS: dict[str, list[Any]] = {"urls": []}


class UserQuery(Schema):
    """What to show of a user. Other words than true and false have no effect."""

    include_entities = Text()


class CallerQuery(UserQuery):
    """What to show of the calling user."""

    skip_status = Text()
    include_email = Text()


class ShownUserQuery(UserQuery):
    """Which user to show; one of the two."""

    one_of = ("user_id", "screen_name")
    """Parameters of which one is needed."""
    user_id = Text()
    screen_name = Text()


class ShownUser(UserObject):
    """A user with the addresses in its profile, and its last post."""

    entities = Json()
    status = Json()


class CallingUser(ShownUser):
    """The user who calls, with their confirmed address."""

    email = Text(allow_none=True)


def verify_credentials(call: Call, world: World) -> Record:
    """Return the user whose credentials sign the request."""
    assert call.caller.user is not None
    shown = _show(call, world, call.caller.user)
    if _reads(call, "include_email", _TRUE):
        shown["email"] = call.caller.user.get("_confirmed_email")
    return shown


def show(call: Call, world: World) -> Record:
    """Return the user with an id or a name.

    Raises:
        NumericFailure: 25 without either, 50 if the user does not exist.
    """
    user_id, name = call.params.get("user_id"), call.params.get("screen_name")
    if user_id is None and name is None:  # as `one_of` says
        raise NumericFailure(25)
    if user_id is not None and name is not None:
        call.warn("screen_name has no effect beside user_id", NO_EFFECT)
    user = find_user(world, name or "") if user_id is None else world.store.get("users", user_id)
    if user is None:
        raise NumericFailure(50)
    return _show(call, world, user)


def _show(call: Call, world: World, user: Record) -> Record:
    shown = make_user_object(user)
    if not _reads(call, "include_entities", _FALSE):
        shown["entities"] = _find_addresses(user)
    if not _reads(call, "skip_status", _TRUE):
        post = _find_status(world, user["id"])
        if post is not None:
            shown["status"] = post
    return shown


def _reads(call: Call, name: str, words: frozenset[str]) -> bool:
    return call.params.get(name, "").lower() in words


def _find_addresses(user: Record) -> dict[str, Any]:
    """Return the entities of a profile: the address of its website, if it has one."""
    address = user.get("url")
    if not address:
        return {"description": _NO_URLS}
    link = {
        "url": address,
        "expanded_url": address,
        "display_url": address.partition("://")[2],
        "indices": [0, len(address)],
    }
    return {"url": {"urls": [link]}, "description": _NO_URLS}


def _find_status(world: World, user_id: str) -> Record | None:
    """Return the last post of a user that all can see, in the compatible form, or `None`."""
    match = {"_user_id": user_id, "nullcast": False}
    found = world.store.page("posts", match, order=NEWEST_FIRST, limit=1)
    if not found:
        return None
    hidden = {"user", "full_text", "display_text_range", "nullcast", "conversation_settings"}
    hidden |= {"post_type", "post_id", "scheduled_at", "scheduled_status", "name", "scopes"}
    whole = make_post_object(world, found[0].record, trim=True)
    shown = {name: value for name, value in whole.items() if name not in hidden}
    return shown | {"text": found[0].record["full_text"]}


OPERATIONS = (
    Operation(
        id="account.verify_credentials",
        method="GET",
        path="/1.1/account/verify_credentials",
        also=("/1.1/account/verify_credentials.json",),
        handler=verify_credentials,
        summary="Read the user who calls, in the 1.1 form",
        spec="Not shown in the specification",
        params=CallerQuery,
        returns=Flat(CallingUser),
        auth=USER,
        origin=Origin.ADJACENT,
        limits=(Limit("verify_credentials", 75, 900, per="user", source="public"),),
        errors=("64", "89"),
        statuses=(401, 403),
        assumptions=(SHAPES, LIMITS),
        may_assume=(OAUTH_CODES,),
        example=Example(is_refused=True),
    ),
    Operation(
        id="users.show",
        method="GET",
        path="/1.1/users/show",
        also=("/1.1/users/show.json",),
        handler=show,
        summary="Read a user by id or by name, in the 1.1 form",
        spec="Not shown in the specification",
        params=ShownUserQuery,
        returns=Flat(ShownUser),
        auth=APP_OR_USER,
        origin=Origin.ADJACENT,
        limits=(Limit("users/show", 900, 900, per="user", source="public"),),
        errors=("25", "50", "63"),
        statuses=(400, 403, 404),
        assumptions=(SHAPES, LIMITS, LOOKUP),
        may_assume=(OAUTH_CODES,),
        example=Example(query={"screen_name": "northbike_co"}),
    ),
)
