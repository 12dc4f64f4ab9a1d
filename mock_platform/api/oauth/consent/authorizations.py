"""Consent in OAuth 2.0: what an app asks for, and the life of what a user allows.

All records of one consent have the same `authorization_id`. Their times run on the world's clock.
"""

from __future__ import annotations

import base64
import hmac
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from hashlib import sha256
from typing import Any
from urllib.parse import urlencode

from msgspec import Struct

from mock_platform.api.oauth.consent.tokens import build_callback
from mock_platform.core.assumptions import expectation, public_fact
from mock_platform.core.auth.oauth2 import OFFLINE, SCOPE_NAMES, SCOPES, canonicalize
from mock_platform.core.errors import did_you_mean
from mock_platform.core.failures.errors import PlainFailure
from mock_platform.world.clock import wire_millis, wire_seconds
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

# What an app asks for at oauth2/authorize, and where the user is sent if it cannot be granted.
# A request with a wrong `client_id` or `redirect_uri` never redirects: the address could be
# that of an attacker. All other faults go back to the app, as RFC 6749, 4.1.2.1 says.

LONGEST_STATE = 500
METHODS = ("S256", "plain")
PARAMETERS = (
    "response_type", "client_id", "redirect_uri", "scope", "state", "code_challenge",
    "code_challenge_method",
)  # fmt: skip

AUTHORIZE_REQUEST = public_fact(
    "oauth2.authorize-request",
    "redirect_uri must equal one of the app's callback_urls character by character, state may have "
    f"{LONGEST_STATE} characters, the method of the challenge is S256 or plain.",
    "section 9 of the named endpoints",
)
AUTHORIZE_REFUSALS = expectation(
    "oauth2.authorize-faults",
    "A wrong client_id or redirect_uri is a page with 400 and never a redirect; all other faults "
    "go back to the app with error, error_description and state (RFC 6749, 4.1.2.1). PKCE is "
    "required from every client; a challenge may be shorter than RFC 7636 says.",
)

_VERIFIER = re.compile(r"[A-Za-z0-9._~-]{43,128}", re.ASCII)


class SentBack(Exception):
    """The user is sent back to the app with an error; `address` is where."""

    def __init__(self, redirect_uri: str, state: str, error: str, description: str) -> None:
        super().__init__(description)
        self.error = error
        given = {"state": state} if state else {}
        self.address = build_callback(
            redirect_uri, **given, error=error, error_description=description
        )


class AuthorizeRequest(Struct, frozen=True):
    """A request that a user can allow or deny."""

    app: Record
    redirect_uri: str
    scopes: tuple[str, ...]
    """In the words of the app."""
    state: str
    code_challenge: str
    code_challenge_method: str

    @property
    def fields(self) -> tuple[tuple[str, str], ...]:
        """The parameters of the request, to ask again with."""
        return (
            ("response_type", "code"),
            ("client_id", self.app["client_id"]),
            ("redirect_uri", self.redirect_uri),
            ("scope", " ".join(self.scopes)),
            *((("state", self.state),) if self.state else ()),
            ("code_challenge", self.code_challenge),
            ("code_challenge_method", self.code_challenge_method),
        )

    @property
    def subject(self) -> str:
        """What a form about this request, and no other, is tied to."""
        return sha256(urlencode(self.fields).encode()).hexdigest()

    def build_answer(self, **parameters: str) -> str:
        """Return the address that the user is sent back to."""
        given = {"state": self.state} if self.state else {}
        return build_callback(self.redirect_uri, **given, **parameters)

    def deny(self) -> SentBack:
        """Return the redirect for a user who denies the request."""
        text = "The user denied the request."
        return SentBack(self.redirect_uri, self.state, "access_denied", text)


def read_request(params: Mapping[str, Any], app: Record | None) -> AuthorizeRequest:
    """Return the request with these parameters; `app` is the one of its `client_id`.

    Raises:
        PlainFailure: The user cannot be sent back: the app or its address is not known.
        SentBack: The request has another fault, which the app learns of.
    """
    # Two kinds of refusal, and this line divides them. Until it is certain that the address belongs
    # to the app, the user stays here: a redirect to an address that somebody made up would make
    # this server a tool for phishing. From here on each fault goes back to the app, which can show
    # it or correct its request.
    app, redirect_uri = _require_address(params, app)
    state = params.get("state") or ""

    def send_back(error: str, description: str) -> SentBack:
        return SentBack(redirect_uri, state, error, description)

    if len(state) > LONGEST_STATE:
        text = f"state has {len(state)} characters; at most {LONGEST_STATE} are allowed."
        raise send_back("invalid_request", text)
    kind = params.get("response_type") or ""
    if not kind:
        raise send_back("invalid_request", "Missing required parameter [response_type].")
    if kind != "code":
        raise send_back("unsupported_response_type", "response_type must be code.")
    challenge = params.get("code_challenge") or ""
    if not challenge:
        raise send_back("invalid_request", "Missing required parameter [code_challenge].")
    method = params.get("code_challenge_method") or "plain"
    if method not in METHODS:
        text = f"code_challenge_method must be one of {' or '.join(METHODS)}."
        raise send_back("invalid_request", text)
    scopes = tuple((params.get("scope") or "").split())
    if not scopes:
        raise send_back("invalid_scope", "Missing required parameter [scope].")
    fault = find_scope_fault(scopes)
    if fault:
        raise send_back("invalid_scope", fault)
    return AuthorizeRequest(app, redirect_uri, scopes, state, challenge, method)


def find_scope_fault(scopes: tuple[str, ...]) -> str:
    """Return which scope does not exist, with the nearest one; empty if all do."""
    for scope in scopes:
        if canonicalize(scope) not in SCOPES:
            hint = did_you_mean(scope, SCOPES)
            return f"{scope!r} is not a scope.{hint}"
    return ""


def proves(code: Record, verifier: str) -> bool:
    """Return whether a verifier belongs to the challenge with which a code was requested."""
    expected: str = code["code_challenge"]
    # PKCE: whoever exchanges the code has to show the text whose hash came with the request for it.
    # So a code that was read on its way is of no use to the reader. Padding is ignored, as some
    # clients send it.
    if code["code_challenge_method"] == "S256":
        digest = sha256(verifier.encode()).digest()
        verifier = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        expected = expected.rstrip("=")
    return hmac.compare_digest(expected.encode(), verifier.encode())


def is_well_formed(verifier: str) -> bool:
    """Return whether a verifier has the form of RFC 7636: 43 to 128 unreserved characters."""
    return _VERIFIER.fullmatch(verifier) is not None


def _require_address(params: Mapping[str, Any], app: Record | None) -> tuple[Record, str]:
    client_id = params.get("client_id") or ""
    if app is None:
        what = f"has no app with the client_id {client_id!r}" if client_id else "needs a client_id"
        raise _refuse(
            f"This sandbox {what}. Send the client_id of the app, which is not its API key; if the "
            "app uses a world of its own, open the address with its prefix."
        )
    redirect_uri: str = params.get("redirect_uri") or ""
    registered: list[str] = app["callback_urls"]
    if redirect_uri in registered:
        return app, redirect_uri
    where = f"callback_urls of app {app['id']} (apps.json or /_mock/state/apps/{app['id']})"
    hint = did_you_mean(redirect_uri, registered)
    shown = f"{redirect_uri!r} is not one of" if redirect_uri else "redirect_uri is missing in"
    raise _refuse(f"{shown} the {where}: {', '.join(registered) or 'none'}.{hint}")


def _refuse(text: str) -> PlainFailure:
    return PlainFailure(400, text, AUTHORIZE_REFUSALS, SCOPE_NAMES)


CODE_SECONDS = 30
TOKEN_SECONDS = 7200

TOKEN_LIFETIMES = public_fact(
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
ONE_GRANT_FOR_ADS = public_fact(
    "oauth2.one-grant-for-ads",
    "A user and an app have one consent with ads.read or ads.write: a second sign-in ends the "
    "tokens of the first. Consents without these scopes, and tokens without an end such as the "
    "published one, stay.",
    "agents, section 2",
)
REVOKE_ENDS_CONSENT = expectation(
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
    # A consent is what the user sees as "access of this app". All codes and tokens of it have one
    # id, so ending any of them ends them all.
    if token["authorization_id"] is not None:
        match = {"authorization_id": token["authorization_id"], "app_id": token["app_id"]}
        found = [entry.record for entry in world.store.page("tokens", match)]
    return bool(_invalidate(world, found))


def end_earlier_of_ads(world: World, code: Record) -> None:
    """End the other consents of the same user and app for ads, if this one is such a consent."""
    if not _is_for_ads(code):
        return
    match = {"app_id": code["app_id"], "user_id": code["user_id"], "state": "active"}
    found = [entry.record for entry in world.store.page("tokens", match)]
    kept = {t["authorization_id"] for t in found if t["kind"] == "oauth2" and not t["expires_at"]}
    kept.add(code["authorization_id"])
    _invalidate(world, [t for t in found if _is_for_ads(t) and t["authorization_id"] not in kept])


def _is_for_ads(token: Record) -> bool:
    return any(scope.startswith("ads.") for scope in token.get("scopes") or ())


def end_all(world: World, app: Record, user: Record) -> list[str]:
    """End all OAuth 2.0 consents of a user to an app; return the ids of the tokens that ended."""
    match = {"app_id": app["id"], "user_id": user["id"]}
    return _invalidate(world, [entry.record for entry in world.store.page("tokens", match)])


def _invalidate(world: World, tokens: Iterable[Record]) -> list[str]:
    kinds = {"oauth2", "refresh", "code"}
    ended = [each for each in tokens if each["kind"] in kinds and each["state"] == "active"]
    for each in ended:
        world.store.put("tokens", each["id"], each | {"state": "invalidated"})
    # The record of the consent itself goes with its last live token; another consent of the same
    # user to the same app may still have one.
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
