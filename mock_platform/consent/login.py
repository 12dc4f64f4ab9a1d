"""Logging in on the pages: who the user is, and whether a form comes from a page of this server."""

from __future__ import annotations

import hmac

from mock_platform.core.assumptions import expectation
from mock_platform.core.auth.session import Session, find_session
from mock_platform.core.call import Call
from mock_platform.core.failures.errors import PlainFailure
from mock_platform.store.interface import Record
from mock_platform.world.world import World

REFUSALS = expectation(
    "oauth.page-refusals",
    "A page for a request token that is unknown answers 404, for one that is used up, denied or "
    "expired 410, without a token 400, for a form of another page or a wrong password 403.",
)


def find_user(world: World, name: str) -> Record | None:
    """Return the user with this screen name, ignoring case."""
    wanted = name.casefold()
    if not wanted:
        return None
    near = world.store.prefix("users", {}, "screen_name", wanted)
    return next((user for user in near if user["screen_name"].casefold() == wanted), None)


def read_name(call: Call) -> str:
    """Return the screen name in a login form, without the sign before it."""
    name: str = call.params.get("screen_name", "")
    return name.strip().removeprefix("@")


def check_password(call: Call, world: World) -> tuple[Record | None, str]:
    """Return the user of a login form, or what is wrong with it."""
    user = find_user(world, read_name(call))
    password = call.params.get("password", "")
    if user is not None and hmac.compare_digest(password.encode(), user["_password"].encode()):
        return user, ""
    call.assume(REFUSALS)
    return None, (
        "No user has this username and password. The sandbox's users are in its table "
        f"“users”; {call.base_url}/_mock/credentials shows one who can log in."
    )


def require_own_form(call: Call, world: World, subject: str) -> Session:
    """Return the session of a form that came from a page about `subject`.

    Raises:
        PlainFailure: This browser was not shown that page.
    """
    session = find_session(call, world)
    if session is not None and session.accepts_form(
        call.params.get("authenticity_token", ""), subject
    ):
        return session
    if call.caller.assumed:
        return session or Session.anonymous()
    raise PlainFailure(
        403,
        "This form did not come from the page that was shown to this browser. Allow "
        "cookies for this address, open the app's link again and answer there.",
        REFUSALS,
    )
