"""The life of a user's consent to an app in OAuth 2.0: its code, its tokens and its end.

All records of one consent have the same `authorization_id`. Their times run on the world's clock.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import timedelta

from mock_platform.consent.authorize_request import AuthorizeRequest
from mock_platform.core.assumptions import expectation, public_fact
from mock_platform.core.auth.scopes import OFFLINE, canonicalize
from mock_platform.store.interface import Record
from mock_platform.world.clock import wire_millis, wire_seconds
from mock_platform.world.world import World

CODE_SECONDS = 30
TOKEN_SECONDS = 7200

LIFETIMES = public_fact(
    "oauth2.lifetimes",
    f"An authorization code can be exchanged for {CODE_SECONDS} seconds, an access token used for "
    f"{TOKEN_SECONDS}, on the world's clock. A refresh token has no end; it is used up by its "
    "exchange, and the access token before it stays valid until its own end.",
    "section 9 of the named endpoints",
)
CODE_REUSED = expectation(
    "oauth2.code-reused",
    "A code that comes a second time ends the consent: the tokens that it was exchanged for are "
    "revoked (RFC 6749, 4.1.2). A wrong redirect_uri or code_verifier does not use it up.",
)
REVOKED = expectation(
    "oauth2.revoke-ends-consent",
    "Revoking an access or a refresh token ends the whole consent (RFC 7009, 2.1): all its tokens. "
    "A token that is unknown or revoked already is answered in the same way.",
)


def issue_code(world: World, request: AuthorizeRequest, user: Record) -> Record:
    """Record a user's consent; return the code that the app can exchange once."""
    authorization_id = world.ids.snowflake()
    code = {
        "id": world.ids.alphanumeric(64),
        "kind": "code",
        **_make_common(world, request.app, user, authorization_id, request.scopes),
        "callback": request.redirect_uri,
        "expires_at": _moment_in(world, CODE_SECONDS),
        "code_challenge": request.code_challenge,
        "code_challenge_method": request.code_challenge_method,
    }
    world.store.put("tokens", code["id"], code)
    remember(world, request.app, user, request.scopes)
    return code


def issue_tokens(
    world: World,
    app: Record,
    user: Record,
    scopes: Sequence[str],
    *,
    authorization_id: str | None = None,
    refresh_scopes: Sequence[str] | None = None,
) -> tuple[Record, Record | None]:
    """Issue an access token and, if the consent includes it, a refresh token.

    `refresh_scopes` are those of the consent, if the access token has fewer.
    """
    authorization_id = authorization_id or world.ids.snowflake()
    whole = scopes if refresh_scopes is None else refresh_scopes
    access = {
        "id": world.ids.alphanumeric(64),
        "kind": "oauth2",
        **_make_common(world, app, user, authorization_id, scopes),
        "expires_at": _moment_in(world, TOKEN_SECONDS),
    }
    world.store.put("tokens", access["id"], access)
    if OFFLINE not in map(canonicalize, whole):
        return access, None
    refresh = {
        "id": world.ids.alphanumeric(64),
        "kind": "refresh",
        **_make_common(world, app, user, authorization_id, whole),
    }
    world.store.put("tokens", refresh["id"], refresh)
    return access, refresh


def use_up(world: World, token: Record) -> None:
    """Mark a code or a refresh token as used."""
    world.store.put("tokens", token["id"], token | {"state": "used"})


def end(world: World, token: Record) -> bool:
    """End the consent that a token comes from; return whether anything of it was still valid."""
    found = [token]
    if token["authorization_id"] is not None:
        match = {"authorization_id": token["authorization_id"], "app_id": token["app_id"]}
        found = [entry.record for entry in world.store.page("tokens", match)]
    return bool(_invalidate(world, found))


def end_all(world: World, app: Record, user: Record) -> list[str]:
    """End all OAuth 2.0 consents of a user to an app; return the ids of the tokens that ended."""
    match = {"app_id": app["id"], "user_id": user["id"]}
    return _invalidate(world, [entry.record for entry in world.store.page("tokens", match)])


def _invalidate(world: World, tokens: Iterable[Record]) -> list[str]:
    kinds = {"oauth2", "refresh", "code"}
    ended = [each for each in tokens if each["kind"] in kinds and each["state"] == "active"]
    for each in ended:
        world.store.put("tokens", each["id"], each | {"state": "invalidated"})
    for app_id, user_id in {(each["app_id"], each["user_id"]) for each in ended}:
        live = {"app_id": app_id, "user_id": user_id, "state": "active", "kind": "oauth2"}
        if not world.store.count("tokens", live):
            world.store.remove("grants", _make_grant_key(app_id, user_id))
    return [each["id"] for each in ended]


def remember(world: World, app: Record, user: Record, scopes: Sequence[str]) -> None:
    """Record what a user allowed an app, in addition to what they allowed it before."""
    key = _make_grant_key(app["id"], user["id"])
    before = world.store.get("grants", key)
    allowed = dict.fromkeys([*(before["scopes"] if before else ()), *map(canonicalize, scopes)])
    writes = any(scope.endswith(".write") for scope in allowed)
    grant = {
        "_id": key,
        "app_id": app["id"],
        "user_id": user["id"],
        "access": "write" if writes else "read",
        "scopes": list(allowed),
        "created_at": wire_seconds(world.clock.now()),
    }
    world.store.put("grants", key, grant)


def _make_common(
    world: World, app: Record, user: Record, authorization_id: str, scopes: Sequence[str]
) -> Record:
    return {
        "state": "active",
        "secret": None,
        "app_id": app["id"],
        "user_id": user["id"],
        "access": "write",
        "created_at": wire_seconds(world.clock.now()),
        "callback": None,
        "verifier": None,
        "scopes": list(scopes),
        "expires_at": None,
        "authorization_id": authorization_id,
        "code_challenge": None,
        "code_challenge_method": None,
    }


def _moment_in(world: World, seconds: int) -> str:
    return wire_millis(world.clock.now() + timedelta(seconds=seconds))


def _make_grant_key(app_id: str, user_id: str) -> str:
    return f"{app_id}-{user_id}-oauth2"
