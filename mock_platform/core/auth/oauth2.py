"""OAuth 2.0: user tokens, their scopes, and the clients that hold them.

Their time runs on the world's clock, so a test can wait for their end.
"""

from __future__ import annotations

import hmac
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from mock_platform.core.assumptions import expectation, public_fact
from mock_platform.core.auth.lookup import find_app, find_client, read_basic_pair
from mock_platform.core.call import Call, Caller
from mock_platform.core.failures.errors import ProblemFailure, Unauthorized
from mock_platform.core.failures.problems import problem
from mock_platform.core.pairs import first_values
from mock_platform.world.clock import parse_instant
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

# The scopes of OAuth 2.0 user tokens: their names, former names, and what a token lacks.
# Document A says that there are fine-grained scopes and shows no names; they are public facts.

SCOPES = (
    "post.read", "post.write", "post.moderate.write", "users.read", "users.email",
    "follows.read", "follows.write", "offline.access", "space.read", "mute.read", "mute.write",
    "like.read", "like.write", "list.read", "list.write", "block.read", "block.write",
    "bookmark.read", "bookmark.write", "dm.read", "dm.write", "media.write", "timeline.read",
    "broadcast.read", "broadcast.write", "ads.read", "ads.write",
)  # fmt: skip
OFFLINE = "offline.access"
"""The scope with which an app also gets a refresh token."""
_FORMER: Mapping[str, str] = {
    "tweet.read": "post.read",
    "tweet.write": "post.write",
    "tweet.moderate.write": "post.moderate.write",
}

SCOPE_NAMES = public_fact(
    "oauth2.scope-names",
    "The names of the scopes are public facts; the spec shows none. The older words of three of "
    "them are taken as well, and answers repeat the words that the client asked with, because "
    "client libraries compare the two.",
    "section 9 of the named endpoints; A, Authentication, rule 5",
)
MISSING_SCOPE = expectation(
    "oauth2.missing-scope",
    "An OAuth 2.0 user token without a scope that the endpoint needs is refused with 403 "
    "about:blank; the detail names the scopes that are missing and those that the token has.",
)


def canonicalize(scope: str) -> str:
    """Return the name in force of a scope."""
    return _FORMER.get(scope, scope)


def find_missing(needed: Iterable[str], held: Collection[str]) -> list[str]:
    """Return the scopes that are needed and not held, in the order in which they are needed."""
    missing = [scope for scope in needed if scope not in held]
    known = {canonicalize(scope) for scope in held} if missing else ()
    return [scope for scope in missing if scope not in known]


def refuse_missing(missing: Iterable[str], token: Mapping[str, Any]) -> ProblemFailure:
    """Return the refusal of a user token that lacks these scopes."""
    held = ", ".join(token["scopes"]) or "none"
    text = (
        f"This endpoint needs the scope {_join(missing)}, which the token does not have. The "
        f"user allowed: {held}. Ask the user again, with the missing scope."
    )
    refusal = problem("about:blank", title="Forbidden", status=403, detail=text)
    return ProblemFailure(refusal, MISSING_SCOPE, SCOPE_NAMES)


def _join(scopes: Iterable[str]) -> str:
    return " and ".join(scopes)


_NOT_A_BEARER: Mapping[str, str] = {
    "refresh": "this is a refresh token; exchange it at POST /2/oauth2/token first",
    "code": "this is an authorization code; exchange it at POST /2/oauth2/token first",
    "access": "this is an OAuth 1.0a access token, which signs requests and is not sent as Bearer",
    "request": "this is an OAuth 1.0a request token; exchange it at POST /oauth/access_token first",
}


def authenticate_user(world: World, token: Record) -> Caller:
    """Return the caller of an OAuth 2.0 user token.

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
    """Return whether a user has given an app access: by OAuth 1.0a, or by OAuth 2.0 with a scope.

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
    """Return whether a user has given an app access by OAuth 1.0a that is still valid."""
    match = {"app_id": app_id, "user_id": user_id, "kind": "access", "state": "active"}
    return world.store.count("tokens", match) > 0


def is_expired(world: World, token: Record) -> bool:
    """Return whether a token's time is over on the world's clock; many have no end."""
    end = token.get("expires_at")
    return end is not None and world.clock.now() >= parse_instant(end)


def explain_no_bearer(stored: Record | None) -> str:
    """Return why a value is no token that can be sent as Bearer."""
    kind = "" if stored is None else stored["kind"]
    return _NOT_A_BEARER.get(kind, "no bearer token of this value was ever issued here")


# The clients of OAuth 2.0 user context: apps with a `client_id`, and how they prove who they
# are. A confidential client sends its secret by HTTP Basic, a public one only its `client_id`
# in the form.


def authenticate_client(call: Call, world: World) -> Caller:
    """Return the app that calls, by Basic or by `client_id` in the form.

    Raises:
        Unauthorized: `absent` without a `client_id`, `consumer` for an unknown one, `no-token` for
            a confidential client without its secret, `signature` for a wrong secret.
    """
    scheme, _, rest = (call.header("authorization") or "").strip().partition(" ")
    pairs = [*call.query, *call.form] if call.wire == "recorded" else call.form
    sent = first_values(pairs)[0].get("client_id", "")
    if scheme.lower() == "basic":
        client_id, secret = read_basic_pair(rest.strip())
        app = _require_client(world, client_id)
        if sent and sent != client_id:
            raise Unauthorized("consumer", "client_id in the form is not the one of Basic")
        expected = app["client_secret"] or ""
        if app["_client_type"] == "public" and not secret:
            expected = ""  # libraries send public clients so: the secret is empty
        if not hmac.compare_digest(expected.encode(), secret.encode()):
            why = f"wrong client_secret for the client_id {client_id!r}"
            if hmac.compare_digest(app["consumer_secret"].encode(), secret.encode()):
                why = "the consumer secret was sent; this endpoint takes the client_secret"
            raise Unauthorized("signature", why)
        return Caller("basic", app, None, None, "client_id and secret by HTTP Basic")
    if scheme:
        raise Unauthorized("no-token", f"this endpoint takes Basic or no header, not {scheme!r}")
    if not sent:
        raise Unauthorized("absent", "no client_id: neither by HTTP Basic nor in the form body")
    app = _require_client(world, sent)
    if app["_client_type"] == "confidential":
        why = f"app {app['id']} is a confidential client: it sends client_id and secret by Basic"
        raise Unauthorized("no-token", why)
    return Caller("basic", app, None, None, "client_id of a public client")


def _require_client(world: World, client_id: str) -> Record:
    app = find_client(world, client_id) if client_id else None
    if app is not None:
        return app
    if find_app(world, client_id) is not None:
        why = "the consumer key was sent; OAuth 2.0 user context takes client_id and client_secret"
        raise Unauthorized("consumer", why)
    raise Unauthorized(
        "consumer", f"no app in world {world.name!r} has the client_id {client_id!r}"
    )
