"""What Python sees of a world: addresses, credentials, clock, records, journal, sessions.

Thin: each method does what the control route of the same name does, without HTTP.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mock_platform.client.errors import MissingCredentials
from mock_platform.control.clock import settle
from mock_platform.control.journal import unknown_operation
from mock_platform.control.worlds import addresses
from mock_platform.core.jsonio import dumps
from mock_platform.credentials import Credentials, credentials
from mock_platform.platform import Platform
from mock_platform.records.state import State
from mock_platform.scenario.director import engine_of
from mock_platform.scenario.document import load, loads
from mock_platform.scenario.engine import Unfired
from mock_platform.transport import AuthScheme, BearerAuth, OAuth1Auth, PlatformSession
from mock_platform.world.clock import parse_instant
from mock_platform.world.journal import JournalEntry, Query
from mock_platform.world.world import World

if TYPE_CHECKING:
    from flask import Flask
    from flask.testing import FlaskClient

Instant = datetime | str
"""A moment: a datetime that knows its offset from UTC, or ISO 8601 text."""


class ClockFace:
    """The clock of a world. What falls due by moving it happens before the method returns."""

    def __init__(self, world: World) -> None:
        self._world = world

    def now(self) -> datetime:
        """The present moment of the world, UTC."""
        return self._world.clock.now()

    @property
    def frozen(self) -> bool:
        """Whether time stands still."""
        return self._world.clock.frozen

    def freeze(self, to: Instant | None = None) -> datetime:
        """Stand still, now or at a moment; gives the moment.

        Raises:
            ValueError: `to` is no moment, or does not say its offset from UTC.
        """
        self._world.clock.freeze(None if to is None else moment(to))
        return self._moved()

    def travel(self, to: Instant) -> datetime:
        """Jump to a moment; a running clock runs on from there.

        Raises:
            ValueError: `to` is no moment, or does not say its offset from UTC.
        """
        self._world.clock.travel(moment(to))
        return self._moved()

    def advance(
        self, *, days: float = 0, hours: float = 0, minutes: float = 0, seconds: float = 0
    ) -> datetime:
        """Move by so much (negative: back); gives the new moment.

        Raises:
            OverflowError: The result is no date.
        """
        step = timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)
        self._world.clock.advance(step.total_seconds())
        return self._moved()

    def resume(self) -> datetime:
        """Run on from the present moment."""
        self._world.clock.resume()
        return self._moved()

    def _moved(self) -> datetime:
        settle(self._world)
        return self._world.clock.now()


class JournalFace:
    """What a world was asked and how it answered; entries are `JournalEntry` values."""

    def __init__(self, world: World, platform: Platform) -> None:
        self._journal = world.journal
        self._platform = platform

    def find(
        self,
        *,
        operation: str | None = None,
        status: int | None = None,
        method: str | None = None,
        path: str | None = None,
        rule: str | None = None,
        since: Instant | None = None,
        limit: int | None = None,
    ) -> list[JournalEntry]:
        """Entries that fit everything given, oldest first; with `limit`, the newest so many.

        `path` is a part of the address, `rule` a scenario's name, or one of its rules as NAME/0,
        `since` a moment of the world's clock.

        Raises:
            ValueError: There is no such operation, or `since` is no moment.
        """
        return self._journal.find(self._query(operation, status, method, path, rule, since), limit)

    def count(
        self,
        *,
        operation: str | None = None,
        status: int | None = None,
        method: str | None = None,
        path: str | None = None,
        rule: str | None = None,
        since: Instant | None = None,
    ) -> int:
        """How many entries fit everything given.

        Raises:
            ValueError: There is no such operation, or `since` is no moment.
        """
        return self._journal.count(self._query(operation, status, method, path, rule, since))

    def get(self, request_id: str) -> JournalEntry | None:
        """The entry that `X-Mock-Request-Id` of an answer names, if it is still kept."""
        return self._journal.get(request_id)

    def clear(self) -> None:
        """Forget everything."""
        self._journal.clear()

    def __iter__(self) -> Iterator[JournalEntry]:
        return iter(self._journal)

    def __len__(self) -> int:
        return len(self._journal)

    def _query(
        self,
        operation: str | None,
        status: int | None,
        method: str | None,
        path: str | None,
        rule: str | None,
        since: Instant | None,
    ) -> Query:
        # "None of these came" would hold of a misspelt operation whatever came.
        unknown = None if operation is None else unknown_operation(self._platform, operation)
        if unknown is not None:
            raise ValueError(f"{unknown} `mock-platform operations` lists them.")
        after = None if since is None else moment(since)
        return Query(operation, status, method, path, rule, after)


class WorldFace:
    """One world of a running platform."""

    def __init__(self, platform: Platform, world: World, origin: str, wsgi: Flask) -> None:
        self._platform = platform
        self._world = world
        self._addresses = addresses(origin, world.name)
        self.wsgi = wsgi
        """The whole server, every world of it, as a WSGI application for any transport.

        What a handler raises it raises too, instead of answering 500. Where a scenario breaks the
        connection it raises `NoConnection`, unless its caller has one to break, as `session` and
        `WsgiAdapter` have.
        """
        self.clock = ClockFace(world)
        self.journal = JournalFace(world, platform)
        self.state = State(world, platform.tables)

    @property
    def name(self) -> str:
        """The world's name; `default` for the one that needs no prefix."""
        return self._world.name

    @property
    def base_url(self) -> str:
        """`{base_url}` of the spec, with the world's prefix unless it is the default one."""
        return self._addresses["base_url"]

    @property
    def ads_base_url(self) -> str:
        """`{ads_base_url}` of the spec."""
        return self._addresses["ads_base_url"]

    @property
    def ads_sandbox_base_url(self) -> str:
        """`{ads_sandbox_base_url}` of the spec."""
        return self._addresses["ads_sandbox_base_url"]

    @property
    def control_url(self) -> str:
        """Where the control plane of this world answers."""
        return self._addresses["control"]

    @property
    def credentials(self) -> Credentials:
        """The well-known credentials, in the form of `GET /_mock/credentials`."""
        return credentials(self._platform, self._world)

    @property
    def deliveries(self) -> list[dict[str, Any]]:
        """Every attempted webhook delivery, oldest first."""
        return [dict(delivery) for delivery in self._world.deliveries.copy()]

    def wait_for_deliveries(self, seconds: float = 10.0) -> bool:
        """Whether every webhook delivery asked for so far was made, within so many real seconds.

        Those of all worlds of the server count.
        """
        return self._platform.deliverer.wait_until_idle(seconds)

    def session(self, auth: AuthScheme | None = None, *, sandbox: bool = False) -> PlatformSession:
        """A `requests.Session` answered in-process; relative addresses begin at the base address.

        `oauth1` signs as the well-known user, `bearer` sends the well-known token. `sandbox` takes
        the sandbox address as base.

        Raises:
            MissingCredentials: The world holds none of that kind (any more).
            ValueError: `auth` is something else.
        """
        base = self.ads_sandbox_base_url if sandbox else self.base_url
        session = PlatformSession(self.wsgi, base)
        if auth is None:
            return session
        found = self.credentials
        app, user, bearer = found["app"], found["user"], found["bearer_token"]
        if auth == "oauth1":
            if app is None or user is None or user["access_token"] is None:
                raise self._missing("an app, a user and an access token")
            session.auth = OAuth1Auth(
                app["consumer_key"],
                app["consumer_secret"],
                user["access_token"],
                user["access_token_secret"],
            )
        elif auth == "bearer":
            if bearer is None:
                raise self._missing("a bearer token")
            session.auth = BearerAuth(bearer)
        else:
            raise ValueError(f"auth is 'oauth1', 'bearer' or None, not {auth!r}")
        return session

    def test_client(self, *, sandbox: bool = False) -> FlaskClient:
        """Flask's test client; relative addresses begin at the base address.

        `sandbox` takes the sandbox address as base.
        """
        base = self.ads_sandbox_base_url if sandbox else self.base_url
        return self.wsgi.test_client(base_url=base)

    def activate(self, name: str, /, **parameters: Any) -> None:
        """Switch a scenario on, with values for its parameters; one that is on begins anew.

        Raises:
            UnknownScenario: There is none of that name.
            BadParameters: A parameter is unknown, or its value does not fit.
            CannotPerform: It breaks connections and the server cannot.
        """
        engine_of(self._world).activate(name, parameters)

    def deactivate(self, name: str | None = None) -> None:
        """Switch a scenario off, or all of them.

        Raises:
            UnknownScenario: There is none of that name.
        """
        engine_of(self._world).deactivate(name)

    def define(self, document: Mapping[str, Any] | str | Path) -> str:
        """Know a scenario in this world until it is reset: a document, its YAML, or a file.

        Gives its name, for `activate`.

        Raises:
            BadScenario: It has faults; each is told with its place.
        """
        operations = self._platform.library.operations
        if isinstance(document, Path):
            scenario = load(document, operations)
        elif isinstance(document, str):
            scenario = loads(document, operations)
        else:
            scenario = loads(dumps(document), operations, "scenario.json")
        engine_of(self._world).define(scenario)
        return scenario.name

    @property
    def scenarios(self) -> list[dict[str, Any]]:
        """Every known scenario, in the form of `GET /_mock/scenarios`."""
        return engine_of(self._world).as_json()

    def unfired_expectations(self) -> list[Unfired]:
        """Rules with `expect: fired` of active scenarios that never acted."""
        return engine_of(self._world).unfired_expectations()

    def use_fixtures(self, *folders: Path | str) -> None:
        """Begin anew with more fixtures: folders laid over the server's own, the last on top.

        Raises:
            BadFixtures: Something is wrong with them.
        """
        settings = self._platform.settings
        laid = (*settings.fixtures, *(Path(folder) for folder in folders))
        self._world.rebase(self._platform.overlays.load(laid))

    def reset(self) -> None:
        """The world as it started: fixtures, start-up scenarios, clock, ids; an empty journal."""
        self._world.reset()

    def _missing(self, what: str) -> MissingCredentials:
        return MissingCredentials(
            f"World {self.name!r} does not hold {what} of its first app and user. Put them into "
            "its state or reset it, or sign with credentials of your own."
        )


def moment(value: Instant) -> datetime:
    """A moment from a datetime or ISO 8601 text (without offset: UTC).

    Raises:
        ValueError: It is none, or a datetime without offset from UTC.
    """
    if isinstance(value, str):
        return parse_instant(value)
    if value.tzinfo is None:
        raise ValueError(f"{value!r} does not say its offset from UTC: give it tzinfo=UTC")
    return value
