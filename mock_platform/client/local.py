"""A world in this process, with the face of `interface`.

Thin: each method does what the control route of the same name does, without HTTP. The world is
looked up by its name, so one that was dropped is unknown here as it is over an address.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from mock_platform.client.moments import seconds_in
from mock_platform.client.queries import EntryQuery, PageQuery, as_sent
from mock_platform.client.scenarios import plain, read_scenario
from mock_platform.client.sessions import authentication
from mock_platform.control.clock import settle
from mock_platform.control.journal import QueryOfList, QueryOfRequests, read_query
from mock_platform.control.known_credentials import Credentials, credentials
from mock_platform.control.route import load_query
from mock_platform.control.routes import services_of
from mock_platform.control.worlds import addresses
from mock_platform.coverage import document as coverage_document
from mock_platform.in_process.session import AuthScheme, PlatformSession
from mock_platform.platform import Platform
from mock_platform.records.state import State
from mock_platform.scenario.active import UnfiredRule
from mock_platform.scenario.director import engine_of
from mock_platform.scenario.engine import Engine
from mock_platform.world.clock import Clock, Instant, moment
from mock_platform.world.journal import JournalEntry
from mock_platform.world.names import DEFAULT
from mock_platform.world.world import World

if TYPE_CHECKING:
    from flask import Flask
    from flask.testing import FlaskClient


class LocalClock:
    """The clock of a world."""

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
        """Stand still, now or at a moment; returns the moment."""
        at = None if to is None else moment(to)
        return self._move(lambda clock: clock.freeze(at))

    def travel(self, to: Instant) -> datetime:
        """Jump to a moment and return it; a running clock runs on from there."""
        at = moment(to)
        return self._move(lambda clock: clock.travel(at))

    def advance(
        self, *, days: float = 0, hours: float = 0, minutes: float = 0, seconds: float = 0
    ) -> datetime:
        """Move by so much (negative: back); returns the new moment."""
        step = seconds_in(days=days, hours=hours, minutes=minutes, seconds=seconds)
        return self._move(lambda clock: clock.advance(step))

    def resume(self) -> datetime:
        """Run on from the present moment, and return it."""
        return self._move(Clock.resume)

    def _move(self, act: Callable[[Clock], None]) -> datetime:
        with self._world.work():
            act(self._world.clock)
            settle(self._world)
        return self._world.clock.now()


class LocalJournal:
    """What a world was asked and how it answered; it can be read after the world has gone."""

    def __init__(self, world: World, platform: Platform) -> None:
        self._journal = world.journal
        self._platform = platform

    def find(self, **query: Unpack[PageQuery]) -> list[JournalEntry]:
        """Entries that fit everything given, oldest first; with `limit`, the newest so many."""
        loaded = load_query(QueryOfList(), as_sent(query, PageQuery))
        return self._journal.find(read_query(self._platform, loaded), loaded.get("limit"))

    def count(self, **query: Unpack[EntryQuery]) -> int:
        """How many entries fit everything given."""
        loaded = load_query(QueryOfRequests(), as_sent(query, EntryQuery))
        return self._journal.count(read_query(self._platform, loaded))

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


class LocalWorld:
    """One world of a sandbox in this process."""

    def __init__(self, platform: Platform, name: str, origin: str, wsgi: Flask) -> None:
        self._platform = platform
        self._name = name
        self._addresses = addresses(origin, name)
        self._wsgi = wsgi

    @property
    def name(self) -> str:
        """The world's name; `default` for the one that needs no prefix."""
        return self._name

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
    def clock(self) -> LocalClock:
        """The world's clock."""
        return LocalClock(self._world)

    @property
    def journal(self) -> LocalJournal:
        """What the world was asked and how it answered."""
        return LocalJournal(self._world, self._platform)

    @property
    def state(self) -> State:
        """The world's records."""
        return State(self._world, self._platform.tables)

    @property
    def credentials(self) -> Credentials:
        """The well-known credentials, in the form of `GET /_mock/credentials`."""
        return credentials(self._platform, self._world)

    @property
    def deliveries(self) -> list[dict[str, Any]]:
        """Every attempted webhook delivery, oldest first."""
        return [dict(delivery) for delivery in self._world.deliveries.copy()]

    def wait_for_deliveries(self, seconds: float = 10.0) -> bool:
        """Whether every webhook delivery asked for so far was made, within so many real seconds."""
        return self._platform.deliverer.wait_until_idle(seconds)

    @property
    def wsgi(self) -> Flask:
        """The whole server, every world of it, as a WSGI application for any transport."""
        return self._wsgi

    @property
    def app(self) -> Flask:
        """The Flask application, of every world: add routes, blueprints, hooks and handlers."""
        return self._wsgi

    def session(self, auth: AuthScheme | None = None, *, sandbox: bool = False) -> PlatformSession:
        """A `requests.Session` answered in-process; relative addresses begin at the base address.

        `oauth1` signs as the well-known user, `bearer` sends the well-known token. `sandbox` takes
        the sandbox address as base.
        """
        base = self.ads_sandbox_base_url if sandbox else self.base_url
        signs = None if auth is None else authentication(self.name, self.credentials, auth)
        return PlatformSession(self.wsgi, base, signs)

    def test_client(self, *, sandbox: bool = False) -> FlaskClient:
        """Flask's test client; relative addresses begin at the base address."""
        base = self.ads_sandbox_base_url if sandbox else self.base_url
        return self.wsgi.test_client(base_url=base)

    def activate(self, name: str, /, **parameters: Any) -> None:
        """Switch a scenario on, with values for its parameters; one that is on begins again."""
        self._engine.activate(name, plain(parameters))

    def deactivate(self, name: str | None = None) -> None:
        """Switch a scenario off, or all of them."""
        self._engine.deactivate(name)

    def define(self, document: Mapping[str, Any] | str | Path) -> str:
        """Know a scenario in this world until it is reset: a document, its YAML, or a file.

        Returns its name, for `activate`.
        """
        scenario = read_scenario(document, self._platform.library.operations)
        self._engine.define(scenario)
        return scenario.name

    @property
    def scenarios(self) -> list[dict[str, Any]]:
        """Every known scenario, in the form of `GET /_mock/scenarios`."""
        return self._engine.as_json()

    def unfired_expectations(self) -> list[UnfiredRule]:
        """Rules with `expect: fired` of active scenarios that never acted."""
        return self._engine.unfired_expectations()

    def coverage(self) -> dict[str, Any]:
        """How much of the contract clients exercised here; of all worlds for the default one."""
        platform, name = self._platform, self._world.name
        recorder = services_of(self._wsgi).coverage
        only = None if name == DEFAULT else name
        return coverage_document(platform.operations, platform.settings, recorder, only)

    def use_fixtures(self, *folders: Path | str) -> None:
        """Begin again with more fixtures: folders laid over the server's own, the last on top."""
        settings = self._platform.settings
        laid = (*settings.fixtures, *(Path(folder) for folder in folders))
        self._world.rebase(self._platform.overlays.load(laid))

    def reset(self) -> None:
        """The world as it started: fixtures, start-up scenarios, clock, ids; an empty journal."""
        self._world.reset()

    @property
    def _world(self) -> World:
        return self._platform.worlds.get(self._name)

    @property
    def _engine(self) -> Engine:
        return engine_of(self._world)
