"""What the tests share: a sandbox in this process, and requests signed by a real OAuth library."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import InitVar, dataclass, field
from datetime import timedelta
from typing import Any, cast
from urllib.parse import urlencode

from oauthlib.oauth1 import Client
from werkzeug.test import Client as WsgiClient
from werkzeug.test import TestResponse

from mock_platform.client.interface import WorldFace
from mock_platform.client.local import LocalWorld
from mock_platform.control.plane import ControlPlane
from mock_platform.platform import Platform
from mock_platform.serving.app import CONTROL, create_app
from mock_platform.settings import Settings
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World
from tests.made_once import load_once

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
    "hbrDeskKey7uE2qXn0Zt4Wc9R",
    "hbrDeskSecret5mVd81JpQkL3sYx6RgTa2NfB0oCwUiEz9h4Yt",
    "2244994945-hRbDeskAccessTokenQ4mZ8sV1xK7tY2wL9pN5c3",
    "hRbDeskAccessSecret6fT0uG8kB3yM5qW2zE7rD9vH1",
)
"""The well-known app and user."""
NORTHBIKE = Keys(
    "nbkPosterKey3aR6vLk8Ys1Dg",
    "nbkPosterSecret9bXe42HtMwQ7uZc5JoVr1KgP8iSnDlA6v3W",
    "3805104374-nBkPosterAccessTokenL2kX9vR5tM8qZ4wC7yBs",
    "nBkPosterAccessSecret3jN7hP1gV5xT9dQ2mK8rF4a",
)
"""Another app and user, without early access."""
BEARER = (
    "AAAAAAAAAAAAAAAAAAAAAHbrDeskBearer7Kq2Vx9Lm4%2FtR8wYc3Zn6%3D"
    "JsPd1Fg5HuEoBkTaXiQv0Me2nW5cR9yUe2ZbG7mD4kTq8sVx1LpHaC"
)
"""The well-known app's bearer token."""
USER_TOKEN = "aGJyRGVza1VzZXJUb2tlbjR1ak9lSHdkRmNBZWZBWmhuTTZKeThjMXJpaHQ6MToxOmF0OjE"
"""The OAuth 2.0 token of the well-known user, with all scopes."""


def signed(
    method: str, url: str, keys: Keys = HARBOR, form: Mapping[str, str] | None = None, **more: Any
) -> dict[str, str]:
    """Headers of a request signed with OAuth 1.0a; `more` goes to the OAuth library."""
    client = Client(keys.key, keys.secret, keys.token, keys.token_secret, **more)
    headers = {"Content-Type": FORM} if form is not None else {}
    body = None if form is None else urlencode(form)
    _, found, _ = client.sign(url, cast("Any", method), body, headers)
    return {str(name): str(value) for name, value in found.items()}


def make_platform(settings: Settings) -> Platform:
    """A platform, which takes half the time where its fixtures are the packaged ones."""
    return Platform(settings, base=load_once(settings))


@dataclass
class Sandbox:
    """A sandbox without a socket; `settings` are those of the server, if it is not `made`."""

    settings: Settings = field(default_factory=Settings)
    made: InitVar[Platform | None] = None

    def __post_init__(self, made: Platform | None) -> None:
        self.platform = made or make_platform(self.settings)
        self.app = create_app(self.platform)
        self.client: WsgiClient = self.app.test_client()
        self._as_made = _parts(self.platform)

    def start_over(self) -> bool:
        """Be as it was made; False if that takes more than a reset of its default world."""
        # The reset comes first: it ends what the deliverer waits for between two attempts. It also
        # wakes the deliverer's thread, which is busy for a moment.
        self.platform.worlds.default.reset()
        deliverer = self.platform.deliverer
        if self._as_made != _parts(self.platform) or not deliverer.wait_until_idle(0.05):
            self.platform.close()
            return False
        control: ControlPlane = self.app.extensions[CONTROL]
        control.warnings.clear()  # counts of the server, which a reset keeps
        self.client = self.app.test_client()
        return True

    def call(
        self,
        method: str,
        path: str,
        *,
        keys: Keys | str | None = HARBOR,
        form: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        **more: Any,
    ) -> TestResponse:
        """One request to `http://localhost`; signed, or with a bearer token, or with no keys."""
        url = f"http://localhost{path}"
        if more.get("query_string"):
            query = more.pop("query_string")
            url += "?" + (query if isinstance(query, str) else urlencode(query))
        found = {"Authorization": f"Bearer {keys}"} if keys else {}
        if isinstance(keys, Keys):
            found = signed(method, url, keys, form)
        if form is not None:
            more["data"] = urlencode(form)
            found.setdefault("Content-Type", FORM)
        target = url.removeprefix("http://localhost")
        return self.client.open(target, method=method, headers={**found, **(headers or {})}, **more)

    def ask(
        self, method: str, path: str, *, keys: Keys | str | None = HARBOR, **params: Any
    ) -> TestResponse:
        """One request with these parameters in its query; those that are None are left out."""
        query = {name: value for name, value in params.items() if value is not None}
        return self.call(method, path, keys=keys, query_string=query)

    def read(
        self, path: str, *, keys: Keys | str | None = HARBOR, status: int = 200, **query: Any
    ) -> Any:
        """The body of the answer to a GET, which must have this status."""
        return body_of(self.ask("GET", path, keys=keys, **query), status)

    def advance(self, **by: float) -> None:
        """Move the clock as users do; `by` is what a `timedelta` takes."""
        body = {"action": "advance", "seconds": timedelta(**by).total_seconds()}
        body_of(self.client.put("/_mock/clock", json=body))

    @property
    def world(self) -> World:
        """The default world."""
        return self.platform.worlds.default

    def record(self, table: str, key: str) -> Record:
        """A stored record of the default world."""
        found = self.world.store.get(table, key)
        assert found is not None, f"no {key} in {table}"
        return found

    def change(self, table: str, key: str, **fields: Any) -> None:
        """Change a stored record of the default world behind the interface."""
        self.put(table, key, self.record(table, key) | fields)

    def remove(self, table: str, key: str) -> None:
        """Remove a record of the default world behind the interface."""
        with self.world.work():
            self.world.store.remove(table, key)

    def clear(self, *tables: str) -> None:
        """Remove all records of some tables from the default world, and nothing else."""
        with self.world.store.skip_consequences(), self.world.work():
            for table in tables:
                for entry in self.world.store.page(table):
                    self.world.store.remove(table, entry.key)

    def put(self, table: str, key: str, record: Record) -> None:
        """Store a record in the default world behind the interface."""
        with self.world.work():
            self.world.store.put(table, key, record)


def sandbox(**settings: Any) -> Sandbox:
    """A fresh sandbox with these settings."""
    return Sandbox(Settings(**settings))


def find_inner(running: WorldFace) -> Platform:
    """What a running sandbox of this process is made of."""
    assert isinstance(running, LocalWorld)
    return running._platform


class Sandboxes:
    """Sandboxes as they start, each made once and used again and again."""

    def __init__(self) -> None:
        self._made: dict[tuple[tuple[str, Any], ...], Sandbox] = {}

    def get(self, **settings: Any) -> Sandbox:
        """The sandbox with these settings; a new one if a test changed more than its world."""
        key = tuple(sorted(settings.items()))
        found = self._made.get(key)
        if found is None or not found.start_over():
            found = self._made[key] = sandbox(**settings)
        return found


def _parts(platform: Platform) -> list[object]:
    """What a test could change of a platform, the records of its default world aside."""
    values = [
        each for name, each in sorted(vars(platform).items()) if name != "unanswered_requests"
    ]
    lists = [len(each) for each in values if isinstance(each, list)]
    worlds = platform.worlds
    world = worlds.default
    own: list[object] = [id(world), world.seed, world.wire, len(worlds)]
    own.append(len(worlds.dropped_listeners))
    own.append(platform._scenarios.connections)
    return [*map(id, values), *lists, *own, platform.closing.is_set()]


def bearer(token: str = BEARER) -> dict[str, str]:
    """The header of a request with a bearer token, for clients that are not `Sandbox.call`."""
    return {"Authorization": f"Bearer {token}"}


def body_of(response: TestResponse, status: int = 200) -> Any:
    """The JSON of an answer, which must have this status."""
    assert response.status_code == status, response.text
    return response.get_json()


def data_of(response: TestResponse, status: int = 200) -> Any:
    """The `data` of an answer, which must have this status."""
    return body_of(response, status)["data"]


def echo_of(response: TestResponse) -> Any:
    """The parameters that an advertising success repeats."""
    return body_of(response)["request"]["params"]


def faults(response: TestResponse) -> list[tuple[str, str | None]]:
    """Code and parameter of each error of an advertising failure."""
    body = response.get_json()
    return [(error["code"], error.get("parameter")) for error in body["errors"]]


def refusal(response: TestResponse) -> tuple[int, list[tuple[str, str | None]]]:
    """Status of an advertising failure, with code and parameter of each error."""
    return response.status_code, faults(response)
