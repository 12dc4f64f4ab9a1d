"""The steps of the three-legged flow, as an app and its user take them in the tests."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl

from werkzeug.test import TestResponse

from mock_platform.serving.app import create_app
from mock_platform.serving.in_process.session import PlatformSession
from tests.support import HARBOR, Keys, Sandbox
from tests.visitor import Visitor

CALLBACK = "https://desk.harbor-roasters.example/oauth/callback"
"""One of the well-known app's callbacks."""
APP = Keys(HARBOR.key, HARBOR.secret)
"""The well-known app, for nobody."""


def pairs(response: TestResponse) -> dict[str, str]:
    """The names and values of a form-encoded answer."""
    assert response.status_code == 200, response.text
    return dict(parse_qsl(response.text, strict_parsing=True))


def code(response: TestResponse) -> tuple[int, int]:
    """Status and numeric code of a failure."""
    (error,) = response.get_json()["errors"]
    return response.status_code, error["code"]


def ask(
    box: Sandbox, callback: str = CALLBACK, app: Keys | str | None = APP, **query: str
) -> TestResponse:
    """The answer to a request for a request token."""
    asked = {"oauth_callback": callback, **query}
    return box.call("POST", "/oauth/request_token", keys=app, query_string=asked)


def begun(box: Sandbox, callback: str = CALLBACK, app: Keys = APP, **query: str) -> Keys:
    """An app's keys with a new request token."""
    found = pairs(ask(box, callback, app, **query))
    return Keys(app.key, app.secret, found["oauth_token"], found["oauth_token_secret"])


def visitor(box: Sandbox, base_url: str = "http://localhost") -> Visitor:
    """A new browser."""
    return Visitor(PlatformSession(create_app(box.platform).wsgi_app, base_url), base_url)


def granted(box: Sandbox, keys: Keys, user: str = "harbor_roasters") -> str:
    """The verifier that a user's browser gets for a request token."""
    page = visitor(box).open("/oauth/authorize", oauth_token=str(keys.token)).log_in(user)
    page.submit("allow")
    return page.landed_with["oauth_verifier"] if page.status == 302 else page.pin


def exchange(box: Sandbox, keys: Keys, verifier: str | None) -> TestResponse:
    """The answer to an exchange of a request token."""
    form = {} if verifier is None else {"oauth_verifier": verifier}
    return box.call("POST", "/oauth/access_token", keys=keys, form=form)


def sign_in(box: Sandbox, user: str = "harbor_roasters", **query: Any) -> TestResponse:
    """The answer to the exchange at the end of all steps."""
    keys = begun(box, **query)
    return exchange(box, keys, granted(box, keys, user))


def last(box: Sandbox) -> Any:
    """The newest entry of the journal."""
    return box.platform.worlds.default.journal.find()[-1]
