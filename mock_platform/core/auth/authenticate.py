"""Authentication: finds the caller of a request by the schemes that the operation accepts.

Document A, "Authentication": OAuth 1.0a signatures (HMAC-SHA1), bearer tokens, and HTTP Basic with
API key and secret. The client gets the same refusal as from the platform; the journal gets the
reason.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal
from urllib.parse import quote, unquote_plus, urlsplit

from msgspec import Struct
from msgspec.structs import replace

from mock_platform.core.assumptions import Assumption, expectation, public_fact, settled
from mock_platform.core.auth.clients import (
    authenticate_client,
    find_client,
    read_basic_pair,
)
from mock_platform.core.auth.oauth1 import (
    VERSION,
    Credentials,
    MalformedAuthorization,
    SignedRequest,
    parse,
    verify,
)
from mock_platform.core.auth.oauth1_diagnosis import explain
from mock_platform.core.auth.scopes import MISSING, NAMES, find_missing, refuse_missing
from mock_platform.core.auth.session import find_session
from mock_platform.core.auth.user_tokens import (
    authenticate_user,
    explain_no_bearer,
    has_oauth1_access,
)
from mock_platform.core.call import FORM, Call, Caller
from mock_platform.core.failures.errors import Failure, Unauthorized, UnsupportedAuthentication
from mock_platform.core.pairs import first_values
from mock_platform.core.unread import NO_EFFECT
from mock_platform.settings import Settings
from mock_platform.store.interface import Record
from mock_platform.world.clock import machine_seconds
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

CANONICAL_HOSTS = ("api.platform.com", "ads-api.platform.com", "ads-api-sandbox.platform.com")

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
_OAUTH1_KINDS = frozenset({"request", "access"})
_CHALLENGES: Mapping[Scheme, str] = {
    "bearer": "Bearer",
    "oauth2": "Bearer",
    "oauth2-client": "Basic",
    "basic": "Basic",
}

TIMESTAMP = public_fact(
    "oauth.timestamp-tolerance",
    "An OAuth timestamp may lie 300 seconds off the machine's real clock, either way; the spec "
    "gives no number. It is not read against the world's clock, because clients sign with theirs.",
    "section 4, nonce",
)
NONCE = public_fact(
    "oauth.nonce-once",
    "The same nonce with the same key, token and timestamp is refused with code 32.",
    "section 4, nonce",
)
ONE_OF_TWO = expectation(
    "oauth.parameter-in-two-places",
    "An OAuth parameter that stands in two places with one value is accepted, whether the client "
    "signed it twice (RFC 5849) or once (as some popular clients do).",
)
VERSION_VARIANT = expectation(
    "oauth.version-variant",
    "oauth_version is 1.0; 1.0A is taken as well, because the manual of node's most used client "
    "says to send it.",
)
OVERRIDE = settled(
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
BEARER_DECODED = expectation(
    "oauth2.bearer-decoded",
    "A bearer token, which is handed out percent-encoded, is known in its decoded form too.",
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
        """Returns the schemes with the names that the documentation uses."""
        return tuple(_NAMES[scheme] for scheme in self.schemes)


NO_AUTH = Auth()
BEARER = Auth(("bearer",))
USER = Auth(("oauth1",))
APP_OR_USER = Auth(("bearer", "oauth1"))


class Authenticator:
    """Authenticates callers with the settings of one server."""

    def __init__(self, settings: Settings) -> None:
        self._off = settings.auth == "off"
        self._tolerance = settings.oauth_tolerance

    def caller(self, call: Call, world: World, auth: Auth) -> Caller:
        """Returns the caller, found by one of the schemes in `auth`.

        Raises:
            Unauthorized: The caller cannot be authenticated.
            UnsupportedAuthentication: The caller used another scheme.
        """
        if not auth.schemes:
            return Caller()
        if self._off:
            call.assume(AUTH_OFF)
            return self._trust_credentials(call, world, auth)
        if "session" in auth.schemes:
            return _session(call, world)
        try:
            return self._authenticate(call, world, auth)
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
        scheme, _, rest = (call.header("authorization") or "").strip().partition(" ")
        scheme = scheme.lower()
        if scheme == "bearer":
            return self._bearer(call, world, rest.strip(), auth)
        if scheme == "basic":
            caller = self._basic(world, rest.strip())
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
            missing = find_missing(auth.scopes, stored["scopes"])
            if missing and auth.permissions_override:
                call.assume(OVERRIDE)
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

    def _basic(self, world: World, value: str) -> Caller:
        key, secret = read_basic_pair(value)
        app = find_app(world, key)
        if app is None:
            raise Unauthorized("consumer", f"no app has the API key {key!r}")
        if not hmac.compare_digest(app["consumer_secret"].encode(), secret.encode()):
            raise Unauthorized("consumer", f"wrong API key secret for the API key {key!r}")
        return Caller("basic", app, None, None, "API key and secret by HTTP Basic")

    # -- OAuth 1.0a ------------------------------------------------------------------------------

    def _oauth1(self, call: Call, world: World, auth: Auth) -> Caller:
        request = read_signed_request(call)
        try:
            credentials = parse(request)
        except MalformedAuthorization as fault:
            call.diagnosis = {"mistake": "malformed", "explanation": fault.message}
            raise Unauthorized("malformed", fault.message) from fault
        if credentials is None:
            wanted = " or ".join(auth.names)
            raise Unauthorized("absent", f"no credentials; this operation takes {wanted}")
        _note_liberties(call, credentials)
        app = find_app(world, credentials.consumer_key)
        if app is None:
            known = [entry.record["consumer_key"] for entry in world.store.page("apps", limit=5)]
            why = (
                f"no app in world {world.name!r} has the consumer key "
                f"{credentials.consumer_key!r}; there are {', '.join(known)}"
            )
            call.diagnosis = {"mistake": "consumer_key", "explanation": why}
            raise Unauthorized("consumer", why)
        # The order decides which reason the client gets. Cheap checks come before the signature.
        # The nonce comes after it, because it is remembered: nobody without the secrets may use up
        # a nonce. What the token may do comes last, so that only its owner learns of it.
        token = self._token(call, world, credentials, app, auth)
        now = machine_seconds()
        self._check_time(call, credentials, now)
        secret = "" if token is None else token["secret"]
        if not verify(request, credentials, app["consumer_secret"], secret):
            self._diagnose(call, world, request, credentials, app, token)
            raise Unauthorized("signature", "the signature does not match")
        self._check_nonce(call, world, credentials, now)
        user_id = "" if token is None else token.get("user_id") or ""
        user = world.store.get("users", user_id)
        if token is not None and token["state"] == "invalidated":
            raise Unauthorized("revoked", "this access token was invalidated")
        if token is not None and token["kind"] == "access" and user is None:
            raise Unauthorized("token", f"the user {user_id} of this access token is gone")
        caller = Caller("oauth1", app, user, token, "OAuth 1.0a signature")
        if token is None:
            return self._require_scheme("oauth1-app", caller, auth)
        if token["kind"] == "request":
            return self._require_scheme("oauth1-request-token", caller, auth)
        if "oauth1" not in auth.schemes and "oauth1-app" in auth.schemes:
            return caller  # a user's signature contains the app's
        return self._require_scheme("oauth1", caller, auth)

    def _token(
        self, call: Call, world: World, credentials: Credentials, app: Record, auth: Auth
    ) -> Record | None:
        if credentials.token is None:
            if not {"oauth1-app"} & set(auth.schemes):
                why = "oauth_token is missing; this operation needs one"
                call.diagnosis = {"mistake": "missing-token", "explanation": why}
                raise Unauthorized("no-token", why)
            return None
        token = world.store.get("tokens", credentials.token)
        if token is None or token["kind"] not in _OAUTH1_KINDS or token["app_id"] != app["id"]:
            why = (
                f"the token {_shorten(credentials.token)} was never issued to app {app['id']} "
                f"in world {world.name!r}"
            )
            call.diagnosis = {"mistake": "token", "explanation": why}
            raise Unauthorized("token", why)
        if token["kind"] == "request" and "oauth1-request-token" not in auth.schemes:
            why = "this is a request token; exchange it at POST /oauth/access_token first"
            call.diagnosis = {"mistake": "request-token", "explanation": why}
            raise Unauthorized("token", why)
        return token

    def _check_time(self, call: Call, credentials: Credentials, now: float) -> None:
        off = credentials.timestamp - now
        if abs(off) > self._tolerance:
            call.assume(TIMESTAMP)
            side = "ahead of" if off > 0 else "behind"
            why = (
                f"oauth_timestamp is {abs(off):.0f} seconds {side} this machine's clock; "
                f"{self._tolerance} are tolerated"
            )
            call.diagnosis = {"mistake": "timestamp", "explanation": why}
            raise Unauthorized("timestamp", why)

    def _check_nonce(self, call: Call, world: World, credentials: Credentials, now: float) -> None:
        fresh = world.nonces.first_use(
            credentials.consumer_key,
            credentials.token or "",
            credentials.nonce,
            credentials.timestamp,
            now=int(now),
            keep=self._tolerance,
        )
        if not fresh:
            call.assume(NONCE)
            why = f"the nonce {credentials.nonce!r} was used before with this timestamp"
            call.diagnosis = {"mistake": "nonce", "explanation": why}
            raise Unauthorized("nonce", why)

    def _diagnose(
        self,
        call: Call,
        world: World,
        request: SignedRequest,
        credentials: Credentials,
        app: Record,
        token: Record | None,
    ) -> None:
        others = {
            f"the secret of app {entry.record['id']}": entry.record["consumer_secret"]
            for entry in world.store.page("apps", limit=20)
            if entry.record["id"] != app["id"]
        }
        for entry in world.store.page("tokens", {"app_id": app["id"]}, limit=50):
            if entry.record.get("secret") and entry.record is not token:
                label = f"the secret of token {_shorten(entry.key)}"
                others[label] = entry.record["secret"]
        hosts: Sequence[str] = [*CANONICAL_HOSTS, urlsplit(call.url).netloc]
        body = None if request.form is not None else call.body.decode("utf-8", "replace")
        found = explain(
            replace(request, body=body),
            credentials,
            app["consumer_secret"],
            "" if token is None else token["secret"],
            others,
            hosts,
        )
        call.diagnosis = found.as_json()

    # -- auth off --------------------------------------------------------------------------------

    def _trust_credentials(self, call: Call, world: World, auth: Auth) -> Caller:
        """Returns the caller named by the credentials, unverified; the test user by default."""
        kinds = {_TOKEN_KINDS.get(scheme) for scheme in auth.schemes}
        app = token = None
        for hint in credential_hints(call):
            named = world.store.get("tokens", hint)
            if named is not None:
                app = app or world.store.get("apps", named["app_id"])
                token = token or (named if named["kind"] in kinds else None)
            app = app or find_app(world, hint) or find_client(world, hint)
        app = app or first(world, "apps", {})
        if app is None:
            raise Unauthorized("consumer", f"world {world.name!r} has no app to act for")
        if token is None and "oauth1" in auth.schemes:
            match = {"kind": "access", "state": "active", "app_id": app["id"]}
            token = first(world, "tokens", match)
        user_id = (token or {}).get("user_id") or app.get("_owner_user_id") or ""
        user = world.store.get("users", user_id) or first(world, "users", {})
        if "session" in auth.schemes:
            user = _session(call, world).user or user
        scheme = auth.schemes[0].partition("-")[0]
        return Caller(scheme, app, user, token, "assumed: --auth off", assumed=True)


def _challenges(auth: Auth) -> list[tuple[str, str]]:
    """Returns one `WWW-Authenticate` header for each accepted kind of credentials."""
    kinds = dict.fromkeys(_CHALLENGES.get(scheme, "OAuth") for scheme in auth.schemes)
    return [("WWW-Authenticate", f'{kind} realm="mock_platform"') for kind in kinds]


def first(world: World, table: str, match: Mapping[str, object]) -> Record | None:
    """Returns the first matching record in insertion order."""
    found = world.store.page(table, match, limit=1)
    return found[0].record if found else None


def find_app(world: World, consumer_key: str) -> Record | None:
    """Returns the app with this API key."""
    return first(world, "apps", {"consumer_key": consumer_key})


def find_bearer(call: Call, world: World, value: str) -> Record | None:
    """Returns the bearer token with this value, as it was issued or percent-decoded."""
    token = world.store.get("tokens", value) if value else None
    if token is None and value:
        token = world.store.get("tokens", quote(value, safe=""))
        if token is not None:
            call.assume(BEARER_DECODED)
    return token if token is not None and token["kind"] == "bearer" else None


def _session(call: Call, world: World) -> Caller:
    """Returns the user who is logged in in this browser, and the app of the request token."""
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


def _note_liberties(call: Call, credentials: Credentials) -> None:
    """Record the assumption if a client did something that RFC 5849 does not allow."""
    parameters = credentials.parameters
    if credentials.header and (credentials.query or credentials.form):
        elsewhere = (*credentials.query, *credentials.form)
        mixed = any(name.startswith("oauth_") for name, _ in elsewhere)
        if mixed and len(credentials.merged_parameters) < len(parameters):
            call.assume(ONE_OF_TWO)
    variants = [v for name, v in parameters if name == "oauth_version" and v != VERSION]
    for variant in variants:
        call.assume(VERSION_VARIANT)
        call.warn(f"oauth_version is {VERSION}; {variant!r} was taken for it", NO_EFFECT)


def read_signed_request(call: Call) -> SignedRequest:
    """Returns the parts of a call that a signature covers."""
    header = call.header("authorization")
    oauth = header if header is not None and header[:6].lower() == "oauth " else None
    return SignedRequest(call.method, call.url, oauth, call.form_text)


_HINT = re.compile(r'oauth_(token|consumer_key)="?([^"&,\s]+)', re.ASCII)


_OAUTH2_HINTS = ("code", "refresh_token", "token", "client_id")
"""Parameters of the OAuth 2.0 endpoints that name a token or an app."""


def credential_hints(call: Call) -> Iterator[str]:
    """Returns tokens and keys of the request, unverified, tokens first: to find its world."""
    header = call.header("authorization") or ""
    scheme, _, rest = header.partition(" ")
    if scheme.lower() == "bearer":
        value = rest.strip()
        yield value
        if "%" not in value and (encoded := quote(value, safe="")) != value:
            yield encoded
    elif scheme.lower() == "basic":
        try:
            yield read_basic_pair(rest.strip())[0]
        except Unauthorized:
            return
    texts = [rest] if scheme.lower() == "oauth" else []
    if "oauth_" in call.query_string:
        texts.append(call.query_string)
    if call.media_type == FORM and b"oauth_" in call.body[:65536]:
        texts.append(call.body[:65536].decode("latin-1"))
    found = [match.groups() for text in texts for match in _HINT.finditer(text)]
    for kind in ("token", "consumer_key"):
        yield from (unquote_plus(value) for name, value in found if name == kind)
    if "/oauth2/" in call.path:
        values, _ = first_values([*call.query, *call.form])
        yield from (values[name] for name in _OAUTH2_HINTS if values.get(name))


def _shorten(token: str) -> str:
    return f"{token[:6]}…" if len(token) > 6 else token


CORE_ASSUMPTIONS = (
    TIMESTAMP, NONCE, ONE_OF_TWO, VERSION_VARIANT, AUTH_OFF, BEARER_DECODED, MISSING, NAMES,
    OVERRIDE,
)  # fmt: skip
"""The assumptions of authentication."""
