"""What the tests share: a sandbox in this process, and requests signed by a real OAuth library."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast
from urllib.parse import urlencode

from oauthlib.oauth1 import Client
from werkzeug.test import Client as WsgiClient
from werkzeug.test import TestResponse

from mock_platform.app import create_app
from mock_platform.platform import Platform
from mock_platform.settings import Settings
from mock_platform.store.interface import Record

FORM = "application/x-www-form-urlencoded"
ACCOUNT = "18ce54d4x5t"
"""The account of the well-known user that has most records."""
OTHER_ACCOUNT = "18ce551k9m7"
"""An account of another user."""


@dataclass(frozen=True, slots=True)
class Keys:
    """The four values that sign a request."""

    key: str
    secret: str
    token: str | None = None
    token_secret: str | None = None


HARBOR = Keys(
    "hbrDeskKey7uE2qXn0Zt4Wc9",
    "hbrDeskSecret5mVd81JpQkL3sYx6RgTa2NfB0oCwUiEz9",
    "2244994945-hRbDeskAccessTokenQ4mZ8sV1xK7tY2wL9pN5cJ3",
    "hRbDeskAccessSecret6fT0uG8kB3yM5qW2zE7rD9vH1",
)
"""The well-known app and user."""
NORTHBIKE = Keys(
    "nbkPosterKey3aR6vLk8Ys1Df",
    "nbkPosterSecret9bXe42HtMwQ7uZc5JoVr1KgP8iSnDlA6",
    "3805104374-nBkPosterAccessTokenL2kX9vR5tM8qZ4wC7yB1s",
    "nBkPosterAccessSecret3jN7hP1gV5xT9dQ2mK8rF4a",
)
"""Another app and user, without early access."""
BEARER = "AAAAAAAAAAAAAAAAAAAAAHbrDeskBearer7Kq2Vx9Lm4%2FtR8wYc3Zn6JsPd1Fg5HuEoBkTaXiQv0Me2%3D"
"""The well-known app's bearer token."""


def signed(
    method: str, url: str, keys: Keys = HARBOR, form: Mapping[str, str] | None = None, **more: Any
) -> dict[str, str]:
    """Headers of a request signed with OAuth 1.0a; `more` goes to the OAuth library."""
    client = Client(keys.key, keys.secret, keys.token, keys.token_secret, **more)
    headers = {"Content-Type": FORM} if form is not None else {}
    body = None if form is None else urlencode(form)
    _, found, _ = client.sign(url, cast("Any", method), body, headers)
    return {str(name): str(value) for name, value in found.items()}


@dataclass
class Sandbox:
    """A sandbox without a socket; `settings` are those of the server."""

    settings: Settings = field(default_factory=Settings)

    def __post_init__(self) -> None:
        self.platform = Platform(self.settings)
        self.client: WsgiClient = create_app(self.platform).test_client()

    def call(
        self,
        method: str,
        path: str,
        *,
        keys: Keys | None = HARBOR,
        form: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        **more: Any,
    ) -> TestResponse:
        """One request to `http://localhost`; signed unless `keys` is None."""
        url = f"http://localhost{path}"
        if more.get("query_string"):
            query = more.pop("query_string")
            url += "?" + (query if isinstance(query, str) else urlencode(query))
        found = signed(method, url, keys, form) if keys else {}
        if form is not None:
            more["data"] = urlencode(form)
            found.setdefault("Content-Type", FORM)
        target = url.removeprefix("http://localhost")
        return self.client.open(target, method=method, headers={**found, **(headers or {})}, **more)

    def record(self, table: str, key: str) -> Record:
        """A stored record of the default world."""
        found = self.platform.worlds.default.store.get(table, key)
        assert found is not None, f"no {key} in {table}"
        return found

    def change(self, table: str, key: str, **fields: Any) -> None:
        """Change a stored record of the default world behind the interface."""
        world = self.platform.worlds.default
        with world.work():
            world.store.put(table, key, self.record(table, key) | fields)


def sandbox(**settings: Any) -> Sandbox:
    """A fresh sandbox with these settings."""
    return Sandbox(Settings(**settings))


def faults(response: TestResponse) -> list[tuple[str, str | None]]:
    """Code and parameter of each error of an advertising failure."""
    body = response.get_json()
    return [(error["code"], error.get("parameter")) for error in body["errors"]]
