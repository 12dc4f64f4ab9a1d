"""A world in this process, as `interface` describes it.

Each method does what the control route of the same name does, without HTTP. It looks the world up
by its name each time, so a dropped world is unknown here as it is over HTTP.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from mock_platform.api.oauth.tester_access import approve, credentials
from mock_platform.api.v2.streams.open_streams import (
    ALL,
    DISCONNECT_TYPE,
    disconnect_streams,
    list_streams,
    stall_streams,
)
from mock_platform.client.arguments import (
    EntryQuery,
    PageQuery,
    check_folders,
    copy_as_json,
    read_scenario,
    serialize_query,
    write_private,
)
from mock_platform.client.interface import WorldFace
from mock_platform.client.late_application import LateApplication
from mock_platform.client.world_parts import ClockFace, JournalFace, StateFace, StreamsFace
from mock_platform.control.clock import advance_to_next
from mock_platform.control.costs import QueryOfCosts
from mock_platform.control.journal import QueryOfList, QueryOfRequests, read_query
from mock_platform.control.route import load_query
from mock_platform.control.worlds import addresses
from mock_platform.core.auth.tester_access import Credentials, choose_answer
from mock_platform.core.call import FaultKind
from mock_platform.core.platform_hosts import Interception
from mock_platform.core.snapshots import Snapshots
from mock_platform.core.tables.checking import copy_of_json
from mock_platform.core.tables.state import State
from mock_platform.core.transitions import WorldTransitions
from mock_platform.names import OwnName
from mock_platform.platform import Platform
from mock_platform.scenario.director import find_engine
from mock_platform.scenario.engine import Engine
from mock_platform.scenario.outline import UnfiredRule
from mock_platform.world.clock import Clock, Happening, Instant, machine_now, moment
from mock_platform.world.journal import JournalEntry
from mock_platform.world.names import DEFAULT
from mock_platform.world.world import World

if TYPE_CHECKING:
    from flask import Flask
    from httpx import AsyncClient

    from mock_platform.client.interface import Authentication
    from mock_platform.names import ScenarioName
    from mock_platform.serving.in_process.asgi import AsgiApplication
    from mock_platform.serving.in_process.session import PlatformSession
    from mock_platform.verification.costs.document import By


class LocalClock(ClockFace):
    """The clock of a world in this process."""

    def __init__(self, world: World) -> None:
        self._world = world

    def now(self) -> datetime:
        return self._world.clock.now()

    @property
    def frozen(self) -> bool:
        return self._world.clock.frozen

    def freeze(self, to: Instant | None = None) -> datetime:
        at = None if to is None else moment(to)
        return self._move(lambda clock: clock.freeze(at))

    def travel(self, to: Instant) -> datetime:
        at = machine_now() if to == "now" else moment(to)
        return self._move(lambda clock: clock.travel(at))

    def _advance(self, seconds: float) -> datetime:
        return self._move(lambda clock: clock.advance(seconds))

    def _advance_to_next(self) -> list[Happening]:
        return advance_to_next(self._world)

    def resume(self) -> datetime:
        return self._move(Clock.resume)

    def _move(self, act: Callable[[Clock], None]) -> datetime:
        with self._world.work():
            # A move of the clock makes things due. They are done in the same piece of work, so that
            # whoever moved the clock finds them done when the method returns, as over HTTP.
            act(self._world.clock)
            self._world.transitions.evaluate_every_kind()
        return self._world.clock.now()


class LocalJournal(JournalFace):
    """The journal of a world in this process; readable after the world was dropped."""

    def __init__(self, world: World, platform: Platform) -> None:
        self._world, self._journal = world, world.journal
        self._world_name = world.name
        self._platform = platform

    def find(self, **query: Unpack[PageQuery]) -> list[JournalEntry]:
        loaded = load_query(QueryOfList(), serialize_query(query, PageQuery))
        return self._journal.find(
            read_query(self._platform, self._world, loaded), loaded.get("limit")
        )

    def count(self, **query: Unpack[EntryQuery]) -> int:
        loaded = load_query(QueryOfRequests(), serialize_query(query, EntryQuery))
        return self._journal.count(read_query(self._platform, self._world, loaded))

    def get(self, request_id: str) -> JournalEntry | None:
        return self._journal.get(request_id)

    def clear(self) -> None:
        self._platform.worlds.get(self._world_name).clear_journal()

    def __iter__(self) -> Iterator[JournalEntry]:
        return iter(self._journal)

    def __len__(self) -> int:
        return len(self._journal)


class LocalStreams(StreamsFace):
    """The open streams of a world in this process."""

    def __init__(self, world: World) -> None:
        self._world = world

    def list(self) -> list[dict[str, Any]]:
        return list_streams(self._world)

    def disconnect(
        self,
        stream_id: str = ALL,
        *,
        disconnect_type: str = DISCONNECT_TYPE,
        line: bool = True,
        fault: FaultKind | None = None,
    ) -> Sequence[str]:
        return disconnect_streams(
            self._world, stream_id, disconnect_type=disconnect_type, line=line, fault=fault
        )

    def stall(self, stream_id: str = ALL, *, seconds: float) -> Sequence[str]:
        return stall_streams(self._world, stream_id, seconds)


class LocalWorld(WorldFace):
    """One world of a sandbox in this process."""

    def __init__(
        self, platform: Platform, name: str, origin: str, application: LateApplication
    ) -> None:
        self._platform = platform
        self._name = name
        self._addresses = {"name": name, **addresses(origin, name)}
        self._application = application

    @property
    def clock(self) -> LocalClock:
        return LocalClock(self._world)

    @property
    def journal(self) -> LocalJournal:
        return LocalJournal(self._world, self._platform)

    @property
    def state(self) -> StateFace:
        return State(self._world, self._platform.tables)

    @property
    def credentials(self) -> Credentials:
        return credentials(self._world)

    @property
    def streams(self) -> LocalStreams:
        return LocalStreams(self._world)

    @property
    def snapshots(self) -> Snapshots:
        return Snapshots(self._world)

    @property
    def transitions(self) -> WorldTransitions:
        return WorldTransitions(self._world)

    def _make(
        self, table: str, count: int, seed: int | None, fields: dict[str, Any]
    ) -> dict[str, Any]:
        from mock_platform.control.making import describe_made
        from mock_platform.core.tables.making import make_records

        keys = make_records(self._world, self._platform.tables, table, count, fields, seed)
        return describe_made(table, keys)

    def _emit(self, given: dict[str, Any]) -> dict[str, Any]:
        from mock_platform.delivery.events import emit

        found: dict[str, Any] = copy_of_json(emit(self._world, given), "an event")
        return found

    def authorize(self, asked: str, *, user: str | None = None, deny: bool = False) -> str:
        with self._world.work():
            found = approve(self._world, asked, user=user, deny=deny)
        return choose_answer(asked, found.as_json(), deny=deny)

    @property
    def deliveries(self) -> list[dict[str, Any]]:
        return [dict(delivery) for delivery in list(self._world.deliveries)]

    def explain_deliveries(self, url: str) -> list[str]:
        from mock_platform.delivery.missed import explain_missed

        held = self._platform.deliverer.list_held(self._world)
        return explain_missed(self._world, url, held)

    def wait_for_deliveries(self, seconds: float = 10.0) -> bool:
        return self._platform.deliverer.wait_until_idle(seconds)

    @property
    def wsgi(self) -> Flask:
        return self._application.flask

    @property
    def asgi(self) -> AsgiApplication:
        # Only asynchronous clients load it.
        from mock_platform.serving.in_process.asgi import AsgiApplication

        return AsgiApplication(self._application, self._platform.settings.max_body)

    @contextmanager
    def intercept(
        self, *, allow_hosts: Collection[str] = (), hosts: Collection[str] = ()
    ) -> Iterator[Mapping[str, str]]:
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

    def _session(
        self, signs: Authentication | None, base: str, passthrough: Sequence[str]
    ) -> PlatformSession:
        # A client that does not use requests does not load it.
        from mock_platform.serving.in_process.session import PlatformSession

        return PlatformSession(self._application, base, signs, passthrough)

    def _async_client(
        self, signs: Authentication | None, base: str, passthrough: Sequence[str]
    ) -> AsyncClient:
        from mock_platform.serving.in_process.async_client import make_client

        return make_client(self.asgi, base, signs, passthrough)

    def _activate(self, name: str, parameters: Mapping[str, Any]) -> None:
        self._engine.activate(name, copy_as_json(parameters))

    def deactivate(self, name: ScenarioName | OwnName | None = None) -> None:
        self._engine.deactivate(name)

    def define(self, document: Mapping[str, Any] | str | Path) -> OwnName:
        scenario = read_scenario(document, self._platform.library.catalog)
        self._engine.define(scenario)
        return OwnName(scenario.name)

    @property
    def scenarios(self) -> list[dict[str, Any]]:
        return self._engine.as_json()

    def unfired_expectations(self) -> list[UnfiredRule]:
        return self._engine.unfired_expectations()

    def coverage(self, only: str | None = None) -> dict[str, Any]:
        from mock_platform.control.coverage import read_scope
        from mock_platform.verification.coverage.document import document

        scope = read_scope(self._platform, only or None)  # over HTTP an empty one counts as absent
        platform, name = self._platform, self._world.name
        world, recorder = None if name == DEFAULT else name, self._application.control.coverage
        return scope.restrict(document(platform.operations, platform.settings, recorder, world))

    def costs(self, by: By = "operation") -> dict[str, Any]:
        chosen = load_query(QueryOfCosts(), {"by": by})["by"]
        world, recorder = self._world, self._application.control.costs
        if chosen != "test":
            return recorder.document(world, chosen)
        return recorder.document_of_all(None if world.name == DEFAULT else world.name)

    def warnings(self) -> dict[str, Any]:
        name = self._world.name
        recorder = self._application.control.warnings
        return recorder.document(None if name == DEFAULT else name)

    def save_case(self, path: Path | str) -> Path:
        from mock_platform.verification.cases.writing import write_case

        return write_private(path, write_case(self._platform, self._world))

    def use_fixtures(self, *folders: Path | str) -> None:
        settings = self._platform.settings
        laid = (*settings.fixtures, *check_folders(folders))
        self._world.rebase(self._platform.overlays.load(laid))

    def reset(self) -> None:
        self._world.reset()

    @property
    def _world(self) -> World:
        return self._platform.worlds.get(self._name)

    @property
    def _engine(self) -> Engine:
        return find_engine(self._world)
