"""OAuth 1.0a: finds who signed a request, and checks the signature (HMAC-SHA1).

Document A, "Authentication". The order of the checks decides which reason the client gets; the
journal gets a diagnosis.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from msgspec.structs import replace

from mock_platform.core.assumptions import expectation, public_fact
from mock_platform.core.auth.lookup import find_calling_app, find_signing_token
from mock_platform.core.auth.oauth1 import (
    VERSION,
    Credentials,
    MalformedAuthorization,
    SignedRequest,
    parse,
    verify,
)
from mock_platform.core.auth.oauth1_diagnosis import explain
from mock_platform.core.call import Call, Caller
from mock_platform.core.failures.errors import Unauthorized
from mock_platform.core.unread import NO_EFFECT
from mock_platform.world.clock import machine_seconds
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

CANONICAL_HOSTS = ("api.platform.com", "ads-api.platform.com", "ads-api-sandbox.platform.com")
_OAUTH1_KINDS = frozenset({"request", "access"})
_EXCHANGE = ("oauth1-request-token",)
"""The schemes of the exchange of a request token, and of nothing else."""

TIMESTAMP_TOLERANCE = public_fact(
    "oauth.timestamp-tolerance",
    "An OAuth timestamp may be up to 300 seconds before or after the machine's real clock; the "
    "spec has no number. The world's clock does not count, because clients sign with their own.",
    "section 4, nonce",
)
NONCE_ONCE = public_fact(
    "oauth.nonce-once",
    "The same nonce with the same key, token and timestamp is refused with code 32.",
    "section 4, nonce",
)
ONE_OF_TWO = expectation(
    "oauth.parameter-in-two-places",
    "An OAuth parameter that stands in two places with one value is accepted, whether the client "
    "signed it twice (RFC 5849) or once (as some popular clients do).",
)
LOOSE_EXCHANGE = public_fact(
    "oauth.exchange-as-recorded",
    "With --wire recorded, oauth/access_token takes signatures without the parameters of the "
    "query, and those made with the secret of the consumer alone: token and verifier decide, as "
    "programs that run against the real service show. Each is a warning in the journal.",
    "section 4, access_token",
)
VERSION_VARIANT = expectation(
    "oauth.version-variant",
    "oauth_version is 1.0; 1.0A is taken as well, because the manual of node's most used client "
    "says to send it.",
)


class SignatureAuthenticator:
    """Authenticates callers that sign with OAuth 1.0a."""

    def __init__(self, tolerance: int) -> None:
        """`tolerance` is how many seconds a timestamp may be off."""
        self._tolerance = tolerance

    def caller(self, call: Call, world: World, schemes: Sequence[str]) -> Caller | None:
        """Return who signed a request, `None` if it is not signed.

        `schemes` are those that the operation accepts. What the token may do is not checked.

        Raises:
            Unauthorized: It is not signed as it must be.
        """
        request = _read_signed_request(call)
        try:
            credentials = parse(request)
        except MalformedAuthorization as fault:
            call.diagnosis = {"mistake": "malformed", "explanation": fault.message}
            raise Unauthorized("malformed", fault.message) from fault
        if credentials is None:
            return None
        _note_liberties(call, credentials)
        app = find_calling_app(call, world, credentials.consumer_key)
        if app is None:
            known = [entry.record["consumer_key"] for entry in world.store.page("apps", limit=5)]
            why = (
                f"no app in world {world.name!r} has the consumer key "
                f"{credentials.consumer_key!r}; there are {', '.join(known)}"
            )
            call.diagnosis = {"mistake": "consumer_key", "explanation": why}
            raise Unauthorized("consumer", why)
        # The order decides which reason the client gets. Cheap checks come before the signature.
        # The nonce comes after it, because it is remembered: without the secrets it must not
        # be used up.
        # In detail: an app that is unknown, then a token that is missing, foreign, or of the wrong
        # kind; then the time, which costs nothing and explains most failures of clients whose clock
        # is wrong; then the signature; then the nonce. Whether the token was revoked comes last:
        # only who can sign with it learns that it once was valid.
        token = _find_token(call, world, credentials, app, schemes)
        # Not the world's clock: a test that moves the clock by a year would otherwise refuse every
        # client, because a client library signs with the clock of its machine.
        now = machine_seconds()
        self._check_time(call, world, credentials, now)
        secret = "" if token is None else token["secret"]
        if not (
            verify(request, credentials, app["consumer_secret"], secret)
            or (
                call.wire == "recorded"
                and tuple(schemes) == _EXCHANGE
                and _is_loosely_signed(call, request, app["consumer_secret"], secret)
            )
        ):
            call.diagnosis = _diagnose(call, world, request, credentials, app, token)
            raise Unauthorized("signature", "the signature does not match")
        self._check_nonce(call, world, credentials, now)
        user_id = "" if token is None else token.get("user_id") or ""
        user = world.store.get("users", user_id)
        if token is not None and token["state"] == "invalidated":
            raise Unauthorized("revoked", "this access token was invalidated")
        if token is not None and token["kind"] == "access" and user is None:
            raise Unauthorized("token", f"the user {user_id} of this access token is gone")
        return Caller("oauth1", app, user, token, "OAuth 1.0a signature")

    def _check_time(self, call: Call, world: World, credentials: Credentials, now: float) -> None:
        off = credentials.timestamp - now
        if abs(off) > self._tolerance:
            call.assume(TIMESTAMP_TOLERANCE)
            side = "ahead of" if off > 0 else "behind"
            why = (
                f"oauth_timestamp is {abs(off):.0f} seconds {side} this machine's clock; "
                f"{self._tolerance} are tolerated"
            )
            if abs(credentials.timestamp - world.clock.now().timestamp()) <= self._tolerance:
                why += ". It is that of the world's clock; sign with the machine's"
            call.diagnosis = {"mistake": "timestamp", "explanation": why}
            raise Unauthorized("timestamp", why)

    def _check_nonce(self, call: Call, world: World, credentials: Credentials, now: float) -> None:
        # The number of remembered nonces is limited by time: what is older than the tolerance would
        # be refused for its timestamp anyway. A nonce is returned if the request was not executed
        # after all, so that the client may send the same request again.
        used = (
            credentials.consumer_key,
            credentials.token or "",
            credentials.nonce,
            credentials.timestamp,
        )
        fresh = world.nonces.first_use(*used, now=int(now), keep=self._tolerance)
        if not fresh:
            call.assume(NONCE_ONCE)
            why = f"the nonce {credentials.nonce!r} was used before with this timestamp"
            call.diagnosis = {"mistake": "nonce", "explanation": why}
            raise Unauthorized("nonce", why)
        call.give_back = partial(world.nonces.give_back, *used)


def _find_token(
    call: Call, world: World, credentials: Credentials, app: Record, schemes: Sequence[str]
) -> Record | None:
    if credentials.token is None:
        if "oauth1-app" not in schemes:
            why = "oauth_token is missing; this operation needs one"
            call.diagnosis = {"mistake": "missing-token", "explanation": why}
            raise Unauthorized("no-token", why)
        return None
    token = find_signing_token(call, world, credentials.token)
    if token is None or token["kind"] not in _OAUTH1_KINDS or token["app_id"] != app["id"]:
        why = (
            f"the token {_shorten(credentials.token)} was never issued to app {app['id']} "
            f"in world {world.name!r}"
        )
        call.diagnosis = {"mistake": "token", "explanation": why}
        raise Unauthorized("token", why)
    if token["kind"] == "request" and "oauth1-request-token" not in schemes:
        why = "this is a request token; exchange it at POST /oauth/access_token first"
        call.diagnosis = {"mistake": "request-token", "explanation": why}
        raise Unauthorized("token", why)
    return token


def _is_loosely_signed(
    call: Call, request: SignedRequest, consumer_secret: str, token_secret: str
) -> bool:
    """Whether the exchange of a request token is signed as some programs sign it.

    What they leave out, the parameters of the query or the secret of the token, becomes a warning.
    """
    query = "the parameters of the query"
    secret = "the secret of the request token"
    bare = replace(request, url=request.url.partition("?")[0])
    tries = (
        (request, "", secret), (bare, token_secret, query), (bare, "", f"{query} and {secret}"),
    )  # fmt: skip
    for signed, key, lacks in tries:
        credentials = parse(signed)
        if credentials is not None and verify(signed, credentials, consumer_secret, key):
            call.assume(LOOSE_EXCHANGE)
            call.warn(f"the signature was taken although it lacks {lacks}")
            return True
    return False


def _diagnose(
    call: Call,
    world: World,
    request: SignedRequest,
    credentials: Credentials,
    app: Record,
    token: Record | None,
) -> dict[str, Any]:
    # Only now, after the signature was found to be wrong, is it worth it to look for the secrets of
    # other apps and tokens: a secret from the wrong line of a configuration file is among the most
    # common mistakes. The journal gets a label of the secret, never the secret.
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
    # A body that was signed although it is not a form is one of the mistakes; so the explanation
    # gets it, and the check above does not.
    body = None if request.form is not None else call.body.decode("utf-8", "replace")
    found = explain(
        replace(request, body=body),
        credentials,
        app["consumer_secret"],
        "" if token is None else token["secret"],
        others,
        hosts,
    )
    return found.as_json()


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


def _read_signed_request(call: Call) -> SignedRequest:
    """Return the parts of a call that a signature covers."""
    header = call.header("authorization")
    oauth = header if header is not None and header[:6].lower() == "oauth " else None
    return SignedRequest(call.method, call.url, oauth, call.form_text)


def _shorten(token: str) -> str:
    return f"{token[:6]}…" if len(token) > 6 else token
