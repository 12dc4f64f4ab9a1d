"""A world in this process: the implementation of `interface`.

Each method does what the control route of the same name does, without HTTP. It looks the world up
by its name each time, so a dropped world is unknown here as it is over HTTP.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from mock_platform.api.oauth.consent.approval import approve
from mock_platform.api.oauth.known_credentials import credentials
from mock_platform.api.v2.streams.steering import (
    ALL,
    DISCONNECT_TYPE,
    disconnect_streams,
    list_streams,
    stall_streams,
)
from mock_platform.client.arguments import (
    EntryQuery,
    PageQuery,
    count_seconds,
    describe_event,
    serialize_query,
)
from mock_platform.client.late_application import LateApplication
from mock_platform.client.scenarios import copy_as_json, read_scenario
from mock_platform.control.journal import QueryOfList, QueryOfRequests, read_query
from mock_platform.control.route import load_query
from mock_platform.control.worlds import addresses
from mock_platform.core.auth.consent_requests import choose_answer
from mock_platform.core.auth.credential_texts import Credentials
from mock_platform.core.call import FaultKind
from mock_platform.core.platform_hosts import Interception
from mock_platform.core.tables.checking import copy_of_json
from mock_platform.core.tables.state import State
from mock_platform.platform import Platform
from mock_platform.scenario.director import find_engine
from mock_platform.scenario.engine import Engine
from mock_platform.scenario.unfired import UnfiredRule
from mock_platform.world.clock import Clock, Instant, moment
from mock_platform.world.journal import JournalEntry
from mock_platform.world.names import DEFAULT
from mock_platform.world.world import World

if TYPE_CHECKING:
    from flask import Flask
    from flask.testing import FlaskClient

    from mock_platform.serving.in_process.session import AuthScheme, PlatformSession


class LocalClock:
    """The clock of a world in this process."""

    def __init__(self, world: World) -> None:
        self._world = world

    def now(self) -> datetime:
        """Returns the current moment of the world, in UTC."""
        return self._world.clock.now()

    @property
    def frozen(self) -> bool:
        """Whether the clock is stopped."""
        return self._world.clock.frozen

    def freeze(self, to: Instant | None = None) -> datetime:
        """Stop the clock, now or at a moment; returns the moment."""
        at = None if to is None else moment(to)
        return self._move(lambda clock: clock.freeze(at))

    def travel(self, to: Instant) -> datetime:
        """Set the clock to a moment and return it; a running clock continues from there."""
        at = moment(to)
        return self._move(lambda clock: clock.travel(at))

    def advance(
        self, *, days: float = 0, hours: float = 0, minutes: float = 0, seconds: float = 0
    ) -> datetime:
        """Move the clock by a duration (negative: back); returns the new moment."""
        step = count_seconds(days=days, hours=hours, minutes=minutes, seconds=seconds)
        return self._move(lambda clock: clock.advance(step))

    def resume(self) -> datetime:
        """Start the clock again at its current moment; returns the moment."""
        return self._move(Clock.resume)

    def _move(self, act: Callable[[Clock], None]) -> datetime:
        with self._world.work():
            # A move of the clock makes things due. They are done in the same piece of work, so that
            # whoever moved the clock finds them done when the method returns, as over HTTP.
            act(self._world.clock)
            self._world.transitions.evaluate_every_kind()
        return self._world.clock.now()


class LocalJournal:
    """The journal of a world in this process; readable after the world was dropped."""

    def __init__(self, world: World, platform: Platform) -> None:
        self._journal = world.journal
        self._platform = platform

    def find(self, **query: Unpack[PageQuery]) -> list[JournalEntry]:
        """Returns the entries that match the query, oldest first; `limit` keeps the newest ones."""
        loaded = load_query(QueryOfList(), serialize_query(query, PageQuery))
        return self._journal.find(read_query(self._platform, loaded), loaded.get("limit"))

    def count(self, **query: Unpack[EntryQuery]) -> int:
        """Returns how many entries match the whole query."""
        loaded = load_query(QueryOfRequests(), serialize_query(query, EntryQuery))
        return self._journal.count(read_query(self._platform, loaded))

    def get(self, request_id: str) -> JournalEntry | None:
        """Returns the entry with this `X-Mock-Request-Id`; `None` if it is not in the journal."""
        return self._journal.get(request_id)

    def clear(self) -> None:
        """Delete all entries of the journal."""
        self._journal.clear()

    def __iter__(self) -> Iterator[JournalEntry]:
        return iter(self._journal)

    def __len__(self) -> int:
        return len(self._journal)


class LocalStreams:
    """The open streams of a world in this process."""

    def __init__(self, world: World) -> None:
        self._world = world

    def list(self) -> list[dict[str, Any]]:
        """Returns the open streams, oldest first."""
        return list_streams(self._world)

    def disconnect(
        self,
        stream_id: str = ALL,
        *,
        disconnect_type: str = DISCONNECT_TYPE,
        line: bool = True,
        fault: FaultKind | None = None,
    ) -> Sequence[str]:
        """End one stream, or all of them; returns their ids."""
        return disconnect_streams(
            self._world, stream_id, disconnect_type=disconnect_type, line=line, fault=fault
        )

    def stall(self, stream_id: str = ALL, *, seconds: float) -> Sequence[str]:
        """Let one stream, or all of them, send nothing for so many real seconds."""
        return stall_streams(self._world, stream_id, seconds)


class LocalWorld:
    """One world of a sandbox in this process."""

    def __init__(
        self, platform: Platform, name: str, origin: str, application: LateApplication
    ) -> None:
        self._platform = platform
        self._name = name
        self._addresses = addresses(origin, name)
        self._application = application

    @property
    def name(self) -> str:
        """The name of the world; `default` for the one without prefix."""
        return self._name

    @property
    def base_url(self) -> str:
        """`{base_url}` of the specification, with the prefix of the world, if it has one."""
        return self._addresses["base_url"]

    @property
    def ads_base_url(self) -> str:
        """`{ads_base_url}` of the specification."""
        return self._addresses["ads_base_url"]

    @property
    def ads_sandbox_base_url(self) -> str:
        """`{ads_sandbox_base_url}` of the specification."""
        return self._addresses["ads_sandbox_base_url"]

    @property
    def control_url(self) -> str:
        """The address of this world's control plane."""
        return self._addresses["control"]

    @property
    def clock(self) -> LocalClock:
        """The clock of the world."""
        return LocalClock(self._world)

    @property
    def journal(self) -> LocalJournal:
        """The journal of the world."""
        return LocalJournal(self._world, self._platform)

    @property
    def state(self) -> State:
        """The records of the world."""
        return State(self._world, self._platform.tables)

    @property
    def credentials(self) -> Credentials:
        """The published test credentials, in the form of `GET /_mock/credentials`."""
        return credentials(self._world)

    @property
    def streams(self) -> LocalStreams:
        """The open streams of the world."""
        return LocalStreams(self._world)

    def emit(
        self,
        event_type: str,
        *,
        user: str | None = None,
        payload: Mapping[str, Any] | None = None,
        includes: Mapping[str, Any] | None = None,
        direction: str | None = None,
        created_at: Instant | None = None,
    ) -> dict[str, Any]:
        """Let something happen to a user; returns the answer of `POST /_mock/events`."""
        from mock_platform.delivery.events import emit

        given = describe_event(event_type, user, payload, includes, direction, created_at)
        found: dict[str, Any] = copy_of_json(emit(self._world, given), "an event")
        return found

    def authorize(self, asked: str, *, user: str | None = None, deny: bool = False) -> str:
        """Let a user answer an app without the pages; returns the verifier or the redirect."""
        with self._world.work():
            found = approve(self._world, asked, user=user, deny=deny)
        return choose_answer(asked, found.as_json(), deny=deny)

    @property
    def deliveries(self) -> list[dict[str, Any]]:
        """Every attempted webhook delivery and every line of a stream, oldest first."""
        return [dict(delivery) for delivery in self._world.deliveries.copy()]

    def wait_for_deliveries(self, seconds: float = 10.0) -> bool:
        """Wait up to `seconds` of real time; returns whether all requested deliveries were made."""
        return self._platform.deliverer.wait_until_idle(seconds)

    @property
    def wsgi(self) -> Flask:
        """The whole server with all its worlds, as a WSGI application for any transport."""
        return self._application.flask

    @property
    def app(self) -> Flask:
        """The Flask application of all worlds: add routes, blueprints, hooks and error handlers."""
        return self._application.flask

    @contextmanager
    def intercept(
        self, *, allow_hosts: Collection[str] = (), hosts: Collection[str] = ()
    ) -> Iterator[Mapping[str, str]]:
        """Within a `with`, let programs reach the platform's real hosts in this world."""
        # Most runs need none of this.
        from mock_platform.client.intercepting import list_variables, open_proxy, set_variables

        wanted = Interception(tuple(hosts), tuple(allow_hosts))
        proxy = open_proxy(self._application, self.name, self._platform.settings.connection, wanted)
        try:
            variables = list_variables(proxy)
            with set_variables(variables):
                yield variables
        finally:
            proxy.stop()

    def session(
        self,
        auth: AuthScheme | None = None,
        *,
        sandbox: bool = False,
        passthrough: Sequence[str] = (),
    ) -> PlatformSession:
        """Returns a `requests.Session` that is answered in-process, with a base address."""
        # A client that does not use requests does not load it.
        from mock_platform.client.sessions import authentication
        from mock_platform.serving.in_process.session import PlatformSession

        base = self.ads_sandbox_base_url if sandbox else self.base_url
        signs = None if auth is None else authentication(self.name, self.credentials, auth)
        return PlatformSession(self._application, base, signs, passthrough)

    def test_client(self, *, sandbox: bool = False) -> FlaskClient:
        """Returns Flask's test client; relative addresses start at the base address."""
        base = self.ads_sandbox_base_url if sandbox else self.base_url
        return self.wsgi.test_client(base_url=base)

    def activate(self, name: str, /, **parameters: Any) -> None:
        """Activate a scenario, with values for its parameters; an active one starts again."""
        self._engine.activate(name, copy_as_json(parameters))

    def deactivate(self, name: str | None = None) -> None:
        """Deactivate a scenario, or all scenarios."""
        self._engine.deactivate(name)

    def define(self, document: Mapping[str, Any] | str | Path) -> str:
        """Make a scenario known in this world until its reset: a document, its YAML, or a file.

        Returns its name, for `activate`.
        """
        scenario = read_scenario(document, self._platform.library.catalog)
        self._engine.define(scenario)
        return scenario.name

    @property
    def scenarios(self) -> list[dict[str, Any]]:
        """Every known scenario, in the form of `GET /_mock/scenarios`."""
        return self._engine.as_json()

    def unfired_expectations(self) -> list[UnfiredRule]:
        """Returns the rules with `expect: fired` of active scenarios that never acted."""
        return self._engine.unfired_expectations()

    def coverage(self, only: str | None = None) -> dict[str, Any]:
        """Returns how much of the contract was exercised here; the default world counts all.

        `only` restricts it to operations whose ids match patterns, such as `line_items.*,oauth*`.
        """
        from mock_platform.control.coverage import read_scope
        from mock_platform.verification.coverage.document import document

        scope = read_scope(self._platform, only or None)  # over HTTP an empty one counts as absent
        platform, name = self._platform, self._world.name
        world, recorder = None if name == DEFAULT else name, self._application.control.coverage
        return scope.restrict(document(platform.operations, platform.settings, recorder, world))

    def warnings(self) -> dict[str, Any]:
        """Returns what was ignored in requests here; the default world counts all."""
        name = self._world.name
        recorder = self._application.control.warnings
        return recorder.document(None if name == DEFAULT else name)

    def use_fixtures(self, *folders: Path | str) -> None:
        """Start the world again with more folders of fixtures; the last one wins."""
        settings = self._platform.settings
        laid = (*settings.fixtures, *(Path(folder) for folder in folders))
        self._world.rebase(self._platform.overlays.load(laid))

    def reset(self) -> None:
        """Return the world to its start: fixtures, start-up scenarios, clock, ids, no journal."""
        self._world.reset()

    @property
    def _world(self) -> World:
        return self._platform.worlds.get(self._name)

    @property
    def _engine(self) -> Engine:
        return find_engine(self._world)
