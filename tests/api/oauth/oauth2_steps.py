"""The steps of OAuth 2.0 with PKCE, as an app and its user take them in the tests."""

from __future__ import annotations

from base64 import b64encode, urlsafe_b64encode
from hashlib import sha256
from typing import Any

from werkzeug.test import TestResponse

from tests.oauth_steps import CALLBACK, visitor
from tests.support import Sandbox, body_of
from tests.visitor import Visitor

CLIENT_ID = "aGJyRGVza0NsaWVudDRWcTh4VzI6MTpjaQ"
CLIENT_SECRET = "hbrDeskClientSecret2tGf7NwYq4RmZ8xKc1VbJ6sLdP3uH9eT"
"""The well-known app, a confidential client."""
PUBLIC_ID = "bmJrUG9zdGVyQ2xpZW50N1RtMzoxOm5h"
PUBLIC_CALLBACK = "https://northbike.example/cb"
"""The other app, a public client."""
VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
CHALLENGE = urlsafe_b64encode(sha256(VERIFIER.encode()).digest()).rstrip(b"=").decode()
SCOPES = "post.read users.read offline.access"
AUTHORIZE = "/2/oauth2/authorize"


def asked(**changed: str | None) -> dict[str, str]:
    """The parameters of a good authorize request, with changes; None leaves one out."""
    values: dict[str, str | None] = {
        "response_type": "code", "client_id": CLIENT_ID, "redirect_uri": CALLBACK,
        "scope": SCOPES, "state": "s 1&2", "code_challenge": CHALLENGE,
        "code_challenge_method": "S256",
    }  # fmt: skip
    return {name: value for name, value in (values | changed).items() if value is not None}


def opened(box: Sandbox, path: str = AUTHORIZE, /, **changed: str | None) -> Visitor:
    """A new browser at the page of a request."""
    return visitor(box).open(path, **asked(**changed))


def allowed(box: Sandbox, user: str = "harbor_roasters", /, **changed: str | None) -> str:
    """The code that the app gets after a user allowed a request."""
    page = opened(box, **changed).log_in(user).submit("allow")
    return page.landed_with["code"]


def basic(client_id: str = CLIENT_ID, secret: str = CLIENT_SECRET) -> dict[str, str]:
    """The header of a confidential client."""
    return {"Authorization": f"Basic {b64encode(f'{client_id}:{secret}'.encode()).decode()}"}


def exchange(
    box: Sandbox, value: str, headers: dict[str, str] | None = None, /, **changed: str | None
) -> TestResponse:
    """The exchange of a code by the well-known app, with changes to its form."""
    form: dict[str, str | None] = {
        "grant_type": "authorization_code", "code": value, "redirect_uri": CALLBACK,
        "code_verifier": VERIFIER,
    }  # fmt: skip
    return send(box, "token", form | changed, headers)


def refresh(box: Sandbox, token: str, **changed: str | None) -> TestResponse:
    """The exchange of a refresh token by the well-known app."""
    return send(box, "token", {"grant_type": "refresh_token", "refresh_token": token, **changed})


def revoke(box: Sandbox, token: str, **changed: str | None) -> TestResponse:
    """The revocation of a token by the well-known app."""
    return send(box, "revoke", {"token": token, **changed})


def send(
    box: Sandbox, step: str, form: dict[str, Any], headers: dict[str, str] | None = None
) -> TestResponse:
    """A form to a token endpoint, as the well-known app unless `headers` are given."""
    sent = {name: value for name, value in form.items() if value is not None}
    found = basic() if headers is None else headers
    return box.call("POST", f"/2/oauth2/{step}", keys=None, form=sent, headers=found)


def tokens(box: Sandbox, **changed: str | None) -> dict[str, Any]:
    """The tokens of a new consent."""
    found: dict[str, Any] = body_of(exchange(box, allowed(box, **changed)))
    return found


def use(box: Sandbox, token: str, path: str = "/2/activity/subscriptions") -> int:
    """The status of a call with a user's token."""
    return box.call("GET", path, keys=token).status_code


def error(answer: TestResponse) -> tuple[int, str, str]:
    """Status, word and text of a refusal of a token endpoint."""
    body = answer.get_json()
    assert {"error", "error_description"} == set(body)
    return answer.status_code, body["error"], body["error_description"]
