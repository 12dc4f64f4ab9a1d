"""Authentication: finds the caller of a request by the schemes that the operation accepts.

Document A, "Authentication": OAuth 1.0a signatures (HMAC-SHA1), bearer tokens, and HTTP Basic with
API key and secret. The client gets the same refusal as from the platform; the journal gets the
reason.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Mapping
from typing import Literal

from msgspec import Struct

from mock_platform.core.assumptions import Assumption, expectation, settled
from mock_platform.core.auth.lookup import (
    BEARER_DECODED,
    credential_hints,
    find_app,
    find_bearer,
    find_calling_app,
    find_client,
    read_basic_pair,
)
from mock_platform.core.auth.oauth1_caller import (
    NONCE_ONCE,
    ONE_OF_TWO,
    TIMESTAMP_TOLERANCE,
    VERSION_VARIANT,
    SignatureAuthenticator,
)
from mock_platform.core.auth.oauth2 import (
    MISSING_SCOPE,
    SCOPE_NAMES,
    authenticate_client,
    authenticate_user,
    explain_no_bearer,
    find_missing,
    has_oauth1_access,
    refuse_missing,
)
from mock_platform.core.auth.session import find_session
from mock_platform.core.call import Call, Caller
from mock_platform.core.failures.errors import (
    ABSENT_CALLERS,
    OWN_REALM,
    CallerSuspended,
    Failure,
    Unauthorized,
    UnsupportedAuthentication,
)
from mock_platform.core.pairs import first_values
from mock_platform.settings import Settings
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

Scheme = Literal[
    "bearer",
    "oauth1",
    "oauth2",
    "oauth1-app",
    "oauth1-request-token",
    "oauth2-client",
    "basic",
    "session",
]

_NAMES: Mapping[Scheme, str] = {
    "bearer": "OAuth 2.0 Application-Only",
    "oauth1": "OAuth 1.0a User Context",
    "oauth2": "OAuth 2.0 User Context",
    "oauth1-app": "OAuth 1.0a (application)",
    "oauth1-request-token": "OAuth 1.0a (request token)",
    "oauth2-client": "OAuth 2.0 client",
    "basic": "HTTP Basic",
    "session": "login session",
}
_TOKEN_KINDS: Mapping[Scheme, str] = {
    "bearer": "bearer",
    "oauth1": "access",
    "oauth2": "oauth2",
    "oauth1-request-token": "request",
    "session": "request",
}
_CHALLENGES: Mapping[Scheme, str] = {
    "bearer": "Bearer",
    "oauth2": "Bearer",
    "oauth2-client": "Basic",
    "basic": "Basic",
}

PERMISSIONS_OVERRIDE = settled(
    "oauth2.permissions-override",
    "At the endpoints of account activity a user token needs no scopes if the same user has given "
    "the app OAuth 1.0a access: its permissions override the scopes.",
    "A, Authentication, rule 2",
)
AUTH_OFF = expectation(
    "auth.off",
    "With --auth off every request acts for the well-known app and user unless its credentials "
    "name others; nothing is verified.",
)


class Auth(Struct, frozen=True):
    """The schemes that an operation accepts; an empty tuple means that it needs no credentials."""

    schemes: tuple[Scheme, ...] = ()
    assumptions: tuple[Assumption, ...] = ()
    scopes: tuple[str, ...] = ()
    """The scopes that an OAuth 2.0 user token needs; all of them."""
    permissions_override: bool = False
    """Whether OAuth 1.0a access of the same user and app replaces the scopes."""
    on_failure: Callable[[Failure], Failure] | None = None
    """The failure for a refusal, if an endpoint has its own answers for some or all refusals."""

    @property
    def refuses(self) -> bool:
        """Whether a caller can be refused; a page without session asks to log in instead."""
        return bool(self.schemes) and "session" not in self.schemes

    @property
    def names(self) -> tuple[str, ...]:
        """Return the schemes with the names that the documentation uses."""
        return tuple(_NAMES[scheme] for scheme in self.schemes)


NO_AUTH = Auth()
BEARER = Auth(("bearer",))
USER = Auth(("oauth1",))
APP_OR_USER = Auth(("bearer", "oauth1"))


class Authenticator:
    """Authenticates callers with the settings of one server."""

    def __init__(self, settings: Settings) -> None:
        self._off = settings.auth == "off"
        self._signatures = SignatureAuthenticator(settings.oauth_tolerance)

    def caller(self, call: Call, world: World, auth: Auth) -> Caller:
        """Return the caller, found by one of the schemes in `auth`.

        Raises:
            Unauthorized: The caller cannot be authenticated.
            UnsupportedAuthentication: The caller used another scheme.
            CallerSuspended: The user for whom the call is made is suspended.
        """
        if not auth.schemes:
            return Caller()
        if self._off:
            call.assume(AUTH_OFF)
            return self._trust_credentials(call, world, auth)
        if "session" in auth.schemes:
            return _session(call, world)
        try:
            return _require_present(self._authenticate(call, world, auth))
        except CallerSuspended:
            raise  # nothing is wrong with the credentials
        except Failure as fault:
            mistake = "scheme"
            if isinstance(fault, Unauthorized):
                mistake, fault.headers = fault.fault, _challenges(auth)
            call.diagnosis = call.diagnosis or {"mistake": mistake, "explanation": str(fault)}
            if auth.on_failure is None:
                raise
            raise auth.on_failure(fault) from fault

    def _authenticate(self, call: Call, world: World, auth: Auth) -> Caller:
        if "oauth2-client" in auth.schemes:
            return authenticate_client(call, world)
        # The header's scheme decides which check is made, not the operation: a client that sends a
        # bearer token to an operation for users is told that this scheme is not accepted, and not
        # that a signature is missing.
        scheme, _, rest = (call.header("authorization") or "").strip().partition(" ")
        scheme = scheme.lower()
        if scheme == "bearer":
            return self._bearer(call, world, rest.strip(), auth)
        if scheme == "basic":
            caller = self._basic(call, world, rest.strip())
            return self._require_scheme("basic", caller, auth)
        if scheme not in {"", "oauth"}:
            raise Unauthorized("malformed", f"unknown authentication scheme {scheme!r}")
        return self._oauth1(call, world, auth)

    def _require_scheme(self, scheme: Scheme, caller: Caller, auth: Auth) -> Caller:
        if scheme not in auth.schemes:
            raise UnsupportedAuthentication(_NAMES[scheme], auth.names)
        return caller

    # -- bearer and basic ------------------------------------------------------------------------

    def _bearer(self, call: Call, world: World, value: str, auth: Auth) -> Caller:
        stored = world.store.get("tokens", value) if value else None
        if stored is not None and stored["kind"] == "oauth2":
            caller = self._require_scheme("oauth2", authenticate_user(world, stored), auth)
            # At a few endpoints the access that the user gave by OAuth 1.0a counts more than the
            # scopes of this token. That is only looked up if scopes are missing.
            missing = find_missing(auth.scopes, stored["scopes"])
            if missing and auth.permissions_override:
                call.assume(PERMISSIONS_OVERRIDE)
                if has_oauth1_access(world, stored["app_id"], stored["user_id"]):
                    return caller
            if missing:
                raise refuse_missing(missing, stored)
            return caller
        return self._require_scheme("bearer", self._app_token(call, world, value, stored), auth)

    def _app_token(self, call: Call, world: World, value: str, stored: Record | None) -> Caller:
        token = find_bearer(call, world, value)
        if token is None:
            raise Unauthorized("token", explain_no_bearer(stored))
        if token["state"] != "active":
            raise Unauthorized("revoked", "this bearer token was invalidated")
        app = world.store.get("apps", token["app_id"])
        if app is None:
            raise Unauthorized("token", "the app of this bearer token is gone")
        owner = world.store.get("users", app.get("_owner_user_id") or "")
        return Caller("bearer", app, owner, token, "bearer token of the app")

    def _basic(self, call: Call, world: World, value: str) -> Caller:
        key, secret = read_basic_pair(value)
        app = find_calling_app(call, world, key)
        if app is None:
            raise Unauthorized("consumer", f"no app has the API key {key!r}")
        if not hmac.compare_digest(app["consumer_secret"].encode(), secret.encode()):
            raise Unauthorized("consumer", f"wrong API key secret for the API key {key!r}")
        return Caller("basic", app, None, None, "API key and secret by HTTP Basic")

    # -- OAuth 1.0a ------------------------------------------------------------------------------

    def _oauth1(self, call: Call, world: World, auth: Auth) -> Caller:
        caller = self._signatures.caller(call, world, auth.schemes)
        if caller is None:
            wanted = " or ".join(auth.names)
            raise Unauthorized("absent", f"no credentials; this operation takes {wanted}")
        token = caller.token
        # What the token may do comes last, so that only its owner learns of it.
        if token is None:
            return self._require_scheme("oauth1-app", caller, auth)
        if token["kind"] == "request":
            return self._require_scheme("oauth1-request-token", caller, auth)
        if "oauth1" not in auth.schemes and "oauth1-app" in auth.schemes:
            return caller  # a user's signature contains the app's
        return self._require_scheme("oauth1", caller, auth)

    # -- auth off --------------------------------------------------------------------------------

    def _trust_credentials(self, call: Call, world: World, auth: Auth) -> Caller:
        """Return the caller named by the credentials, unverified; the test user by default."""
        # Nothing is verified, but the credentials still say for whom the client means to act; so a
        # test with two users works without signatures. What they do not name is the first record of
        # its table.
        kinds = {_TOKEN_KINDS.get(scheme) for scheme in auth.schemes}
        app = token = None
        for hint in credential_hints(call):
            named = world.store.get("tokens", hint)
            if named is not None:
                app = app or world.store.get("apps", named["app_id"])
                token = token or (named if named["kind"] in kinds else None)
            app = app or find_app(world, hint) or find_client(world, hint)
        app = app or world.store.first("apps")
        if app is None:
            raise Unauthorized("consumer", f"world {world.name!r} has no app to act for")
        if token is None and "oauth1" in auth.schemes:
            match = {"kind": "access", "state": "active", "app_id": app["id"]}
            token = world.store.first("tokens", match)
        user_id = (token or {}).get("user_id") or app.get("_owner_user_id") or ""
        user = world.store.get("users", user_id) or world.store.first("users")
        if "session" in auth.schemes:
            user = _session(call, world).user or user
        scheme = auth.schemes[0].partition("-")[0]
        return Caller(scheme, app, user, token, "assumed: --auth off", assumed=True)


def _require_present(caller: Caller) -> Caller:
    """Return a caller, unless the user for whom the call is made is suspended or deactivated."""
    user = caller.user if caller.scheme in {"oauth1", "oauth2"} else None
    if user is not None and user.get("_suspended"):
        raise CallerSuspended(f"User {user['id']} is suspended")
    if user is not None and user.get("_deactivated"):
        raise Unauthorized("token", f"user {user['id']} has deactivated the account (_deactivated)")
    return caller


def _challenges(auth: Auth) -> list[tuple[str, str]]:
    """Return one `WWW-Authenticate` header for each accepted kind of credentials."""
    kinds = dict.fromkeys(_CHALLENGES.get(scheme, "OAuth") for scheme in auth.schemes)
    return [("WWW-Authenticate", f"{kind} realm={OWN_REALM}") for kind in kinds]


def _session(call: Call, world: World) -> Caller:
    """Return the user who is logged in in this browser, and the app of the request token."""
    session = find_session(call, world)
    record = None if session is None else session.record
    user = None if record is None else world.store.get("users", record["user_id"])
    values, _ = first_values([*call.query, *call.form])
    token = world.store.get("tokens", values.get("oauth_token", ""))
    if token is not None and token["kind"] != "request":
        token = None
    app = None if token is None else world.store.get("apps", token["app_id"])
    if app is None and values.get("client_id"):
        app = find_client(world, values["client_id"])
    how = "nobody is logged in" if user is None else "logged in with the session of the cookie"
    return Caller("session", app, user, token, how)


CORE_ASSUMPTIONS = (
    TIMESTAMP_TOLERANCE, NONCE_ONCE, ONE_OF_TWO, VERSION_VARIANT, AUTH_OFF, BEARER_DECODED,
    MISSING_SCOPE, SCOPE_NAMES, PERMISSIONS_OVERRIDE, ABSENT_CALLERS,
)  # fmt: skip
"""The assumptions of authentication."""
