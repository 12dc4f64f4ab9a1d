"""OAuth 2.0 user tokens in the header Authorization: Bearer, and what clients mistake for one.

Their time runs on the world's clock, so a test can wait for their end.
"""

from __future__ import annotations

from collections.abc import Mapping

from mock_platform.core.auth.scopes import find_missing
from mock_platform.core.call import Caller
from mock_platform.core.failures.errors import Unauthorized
from mock_platform.store.interface import Record
from mock_platform.world.clock import parse_instant
from mock_platform.world.world import World

_NOT_A_BEARER: Mapping[str, str] = {
    "refresh": "this is a refresh token; exchange it at POST /2/oauth2/token first",
    "code": "this is an authorization code; exchange it at POST /2/oauth2/token first",
    "access": "this is an OAuth 1.0a access token, which signs requests and is not sent as Bearer",
    "request": "this is an OAuth 1.0a request token; exchange it at POST /oauth/access_token first",
}


def authenticate_user(world: World, token: Record) -> Caller:
    """Returns the caller of an OAuth 2.0 user token.

    Raises:
        Unauthorized: The token was revoked or has expired, or its app or user is gone.
    """
    if token["state"] != "active":
        raise Unauthorized("token", "this OAuth 2.0 user token was revoked")
    if is_expired(world, token):
        raise Unauthorized(
            "token",
            f"this OAuth 2.0 user token expired at {token['expires_at']} on the world's clock; "
            "the app exchanges its refresh token for another at POST /2/oauth2/token",
        )
    app = world.store.get("apps", token["app_id"])
    user = world.store.get("users", token["user_id"])
    if app is None or user is None:
        gone = "app" if app is None else "user"
        raise Unauthorized("token", f"the {gone} of this OAuth 2.0 user token is gone")
    return Caller("oauth2", app, user, token, "OAuth 2.0 token of the user")


def is_granted(world: World, app_id: str, user_id: str, scope: str) -> bool:
    """Returns whether a user has given an app access: by OAuth 1.0a, or by OAuth 2.0 with a scope.

    OAuth 1.0a has permissions in place of scopes (document A, "Authentication", rule 2).
    """
    match = {"app_id": app_id, "user_id": user_id}
    if any(_allows(entry.record, scope) for entry in world.store.page("grants", match)):
        return True
    return any(
        entry.record["kind"] == "access"
        or (
            entry.record["kind"] in {"oauth2", "refresh"}
            and not is_expired(world, entry.record)
            and _allows(entry.record, scope)
        )
        for entry in world.store.page("tokens", match | {"state": "active"})
    )


def _allows(record: Record, scope: str) -> bool:
    scopes = record.get("scopes")
    return scopes is None or not find_missing([scope], scopes)


def has_oauth1_access(world: World, app_id: str, user_id: str) -> bool:
    """Returns whether a user has given an app access by OAuth 1.0a that is still valid."""
    match = {"app_id": app_id, "user_id": user_id, "kind": "access", "state": "active"}
    return world.store.count("tokens", match) > 0


def is_expired(world: World, token: Record) -> bool:
    """Returns whether a token's time is over on the world's clock; many have no end."""
    end = token.get("expires_at")
    return end is not None and world.clock.now() >= parse_instant(end)


def explain_no_bearer(stored: Record | None) -> str:
    """Returns why a value is no token that can be sent as Bearer."""
    kind = "" if stored is None else stored["kind"]
    return _NOT_A_BEARER.get(kind, "no bearer token of this value was ever issued here")
