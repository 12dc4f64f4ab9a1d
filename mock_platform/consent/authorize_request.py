"""What an app asks for at oauth2/authorize, and where the user is sent if it cannot be granted.

A request with a wrong `client_id` or `redirect_uri` never redirects: the address could be that of
an attacker. All other faults go back to the app, as RFC 6749, 4.1.2.1 says.
"""

from __future__ import annotations

import base64
import hmac
import re
from collections.abc import Mapping
from hashlib import sha256
from typing import Any
from urllib.parse import urlencode

from msgspec import Struct

from mock_platform.consent.request_tokens import build_callback
from mock_platform.core.assumptions import expectation, public_fact
from mock_platform.core.auth.scopes import NAMES, SCOPES, canonicalize
from mock_platform.core.failures.errors import PlainFailure
from mock_platform.core.hints import did_you_mean
from mock_platform.store.interface import Record

LONGEST_STATE = 500
METHODS = ("S256", "plain")
PARAMETERS = (
    "response_type", "client_id", "redirect_uri", "scope", "state", "code_challenge",
    "code_challenge_method",
)  # fmt: skip

REQUEST = public_fact(
    "oauth2.authorize-request",
    "redirect_uri must equal one of the app's callback_urls character by character, state may have "
    f"{LONGEST_STATE} characters, the method of the challenge is S256 or plain.",
    "section 9 of the named endpoints",
)
FAULTS = expectation(
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
    return PlainFailure(400, text, FAULTS, NAMES)
