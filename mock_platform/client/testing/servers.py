"""Servers for the tests of a run, in this process or elsewhere: a fresh world for each test."""

from __future__ import annotations

import os
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from datetime import datetime
from difflib import get_close_matches
from functools import partial
from hashlib import blake2s
from inspect import signature
from itertools import chain, count
from pathlib import Path
from socket import gethostname
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar, cast

from msgspec import Struct, field

from mock_platform.client.arguments import check_names, check_wire, is_error, read_as_of
from mock_platform.client.interface import WorldFace
from mock_platform.client.platform import MockPlatform
from mock_platform.client.remote.world import RemoteWorld
from mock_platform.client.testing.report import Verdict
from mock_platform.core.errors import UnknownScenario, Unreachable
from mock_platform.core.warning_counts import WarningDocument, strip_origin
from mock_platform.names import OwnName
from mock_platform.scenario.director import find_engine
from mock_platform.scenario.engine import Engine
from mock_platform.scenario.outline import is_file
from mock_platform.settings import NamesMode
from mock_platform.verification.costs.document import CostsDocument
from mock_platform.world.clock import Instant

if TYPE_CHECKING:
    from mock_platform.client.local_platform import LocalPlatform


W = TypeVar("W")


class BadWorldRequest(ValueError):
    """A world cannot be made as requested: says which marker is wrong, and why."""


class Marker(Protocol):
    """A marker as pytest passes it."""

    @property
    def name(self) -> str:
        """The name of the marker."""

    @property
    def args(self) -> tuple[Any, ...]:
        """The positional arguments of the marker."""

    @property
    def kwargs(self) -> Any:
        """The keyword arguments of the marker."""


class WorldRequest(Struct, frozen=True):
    """The start of a test's world."""

    scenarios: tuple[tuple[str | Path, dict[str, Any]], ...] = ()
    """Names or files of scenarios, each with its parameters, in the order of activation."""
    fixtures: tuple[Path, ...] = ()
    """Folders added to the server's fixtures; the last one wins."""
    clock: datetime | str | None = None
    """The moment at which the clock is stopped; `None`: it runs."""
    strict: bool = False
    """Whether the server refuses what the specification does not show."""
    names: NamesMode | None = None
    """Which names clients use and get; `None`: those of the server."""
    wire: str | None = None
    """How answers are on the wire; `None`: as those of the server."""
    as_of: datetime | None = None
    """The date of the contract; `None`: that of the server."""
    warnings: Literal["ignore", "error"] | None = None
    """Whether requests of which something is ignored are refused; `None`: as the server does."""


class _Reader(Struct):
    """Reads the arguments of each marker as a function of the same name would."""

    folder: Path
    scenarios: list[tuple[str | Path, dict[str, Any]]] = field(default_factory=list)
    fixtures: list[Path] = field(default_factory=list)
    clock: datetime | str | None = None
    strict: bool = False
    names: NamesMode | None = None
    wire: str | None = None
    as_of: datetime | None = None
    warnings: Literal["ignore", "error"] | None = None

    def mock_scenario(self, name: str, /, **parameters: Any) -> None:
        chosen: str | Path = name
        if is_file(name):
            chosen = self.folder / name
        self.scenarios.append((chosen, parameters))

    def mock_fixtures(self, path: str | Path) -> None:
        self.fixtures.append(self.folder / path)

    def mock_clock(self, instant: datetime | str) -> None:
        if not isinstance(instant, datetime | str):
            raise TypeError(f"an instant must be a datetime or ISO 8601 text, not {instant!r}")
        self.clock = instant

    def mock_strict(self) -> None:
        self.strict = True

    def mock_names(self, names: NamesMode) -> None:
        try:
            self.names = check_names(names)
        except ValueError as fault:
            raise TypeError(fault) from fault

    def mock_wire(self, wire: str) -> None:
        try:
            self.wire = check_wire(wire)
        except ValueError as fault:
            raise TypeError(fault) from fault

    def mock_as_of(self, date: Instant) -> None:
        try:
            self.as_of = read_as_of(date)
        except ValueError as fault:
            raise TypeError(fault) from fault

    def mock_warnings(self, warnings: Literal["ignore", "error"]) -> None:
        try:
            is_error(warnings)
        except ValueError as fault:
            raise TypeError(fault) from fault
        self.warnings = warnings


def read_markers(markers: Iterable[Marker], folder: Path) -> WorldRequest:
    """Return the request of these markers, the outermost first; paths are relative to `folder`.

    Raises:
        BadWorldRequest: A marker has wrong arguments.
    """
    reader = _Reader(folder)
    for marker in markers:
        if marker.name not in _FORMS:
            continue
        take: Callable[..., None] = getattr(reader, marker.name)
        try:
            given = signature(take).bind(*marker.args, **marker.kwargs)
            take(*given.args, **given.kwargs)
        except TypeError as fault:
            raise BadWorldRequest(f"@pytest.mark.{_FORMS[marker.name]}: {fault}") from fault
    return WorldRequest(
        tuple(reader.scenarios),
        tuple(reader.fixtures),
        reader.clock,
        reader.strict,
        reader.names,
        reader.wire,
        reader.as_of,
        reader.warnings,
    )


def make_world(make: Callable[..., W], name: str, request: WorldRequest) -> W:
    """Return a world from `make(name, …)`, with the requested clock, names and date.

    Raises:
        BadWorldRequest: The clock cannot be stopped at this moment.
    """
    at = request.clock
    wanted = {
        "names": request.names,
        "wire": request.wire,
        "as_of": request.as_of,
        "warnings": request.warnings,
    }
    own = {name: value for name, value in wanted.items() if value is not None}
    with nullcontext() if at is None else _name_marker(f"mock_clock({at!r})"):
        return make(name, freeze=at, **own)


def apply_fixtures(world: WorldFace, request: WorldRequest) -> None:
    """Apply the requested fixtures.

    Raises:
        BadWorldRequest: The fixtures have faults.
    """
    if request.fixtures:
        with _name_marker("mock_fixtures"):
            world.use_fixtures(*request.fixtures)


def activate_scenarios(world: WorldFace, request: WorldRequest) -> None:
    """Activate the requested scenarios.

    Raises:
        BadWorldRequest: A scenario does not exist or cannot be activated.
    """
    for chosen, parameters in request.scenarios:
        with _name_marker("mock_scenario"):
            name = OwnName(chosen) if isinstance(chosen, str) else world.define(chosen)
            world.activate(name, **parameters)


@contextmanager
def _name_marker(marker: str) -> Iterator[None]:
    """Add the name of the marker to an error."""
    try:
        yield
    except (ValueError, UnknownScenario) as fault:
        raise BadWorldRequest(f"{marker}: {fault}") from fault


_FORMS = {
    "mock_scenario": "mock_scenario(name, **parameters)",
    "mock_fixtures": "mock_fixtures(path)",
    "mock_clock": "mock_clock(instant)",
    "mock_strict": "mock_strict",
    "mock_names": "mock_names(names)",
    "mock_wire": "mock_wire(wire)",
    "mock_as_of": "mock_as_of(date)",
    "mock_warnings": "mock_warnings(warnings)",
}


def find_meant(name: str, known: Iterable[str]) -> str | None:
    """Return which of our names somebody misspelt; `None` if it looks like a name of their own.

    Both begin with `mock_`, which does not count.
    """
    ends = {each.removeprefix("mock_"): each for each in known}
    near = get_close_matches(name.removeprefix("mock_"), ends, 1, _NEAR)
    return ends[near[0]] if near else None


_NEAR = 0.75
"""How alike two names are at least: `service` and `strict` are not (0.62)."""

Stray = tuple[str, str, str]
"""A test, and the method and address of a request that came after its end."""


class LocalServers:
    """The server of a run or of a worker, and a second, strict one when a test needs it."""

    def __init__(
        self,
        warnings: Literal["ignore", "error"] = "ignore",
        names: NamesMode | None = None,
        wire: str | None = None,
        as_of: datetime | None = None,
    ) -> None:
        self._as_of = as_of
        self._warnings = warnings
        self._names_mode = names
        self._wire = wire
        self._lock = threading.Lock()
        self._names: dict[str, str] = {}
        self._strays: Counter[Stray] = Counter()
        self._strict: MockPlatform | None = None
        self.main = self._start()

    def open(self, request: WorldRequest, test: str) -> tuple[WorldFace, Verdict]:
        """Return a fresh world for a test.

        Raises:
            BadWorldRequest: The world cannot be made.
        """
        server = self._strict_server() if request.strict else self.main
        name = self._choose_name(test)
        self._names[name] = test
        cast("LocalPlatform", server).control.costs.name_test(name, test)
        world = make_world(server.world, name, request)
        try:
            apply_fixtures(world, request)
            activate_scenarios(world, request)
        except BaseException:
            server.drop_world(name)
            raise

        journal = world.journal  # can be read when the world has gone

        def entries(*, failed: bool = False) -> list[dict[str, Any]]:
            # This runs after each test, and redacting its journal takes as long as a request.
            return [each.as_json() for each in journal if each.traceback or not failed]

        # Listing all would read every packaged scenario.
        scenarios = _engine_of(server, name).describe_active
        return world, Verdict(world, entries, scenarios, self._take_errors)

    def close(self, world: WorldFace) -> None:
        """Drop a world: later requests to it are refused and counted in `strays`."""
        server = self.main
        if self._strict is not None and world.name in self._strict.worlds:
            server = self._strict
        server.drop_world(world.name)

    def strays(self) -> Counter[Stray]:
        """Return the requests that reached a test's world after its end, each with its count."""
        with self._lock:
            return Counter(self._strays)

    def coverage(self) -> list[dict[str, Any]]:
        """Return the coverage document of each server."""
        return [server.coverage() for server in self._all_servers()]

    def warnings(self) -> list[WarningDocument]:
        """Return what was ignored in requests to each server."""
        return [server.warnings() for server in self._all_servers()]

    def costs(self) -> list[CostsDocument]:
        """Return what the requests to each server would have cost."""
        return [server.costs("test") for server in self._all_servers()]

    def stop(self) -> None:
        """Stop the servers.

        Raises:
            Exception: An error in the sandbox outside of every test.
        """
        with ExitStack() as stack:  # what one raises leaves none running
            for server in self._all_servers():
                stack.callback(server.stop)

    def _choose_name(self, test: str) -> str:
        """A name that depends on the test alone: ids are drawn from it, so they repeat."""
        digest = blake2s(test.encode(), digest_size=5).hexdigest()
        names = (f"test-{digest}{again}" for again in chain([""], map("-{}".format, count(2))))
        return next(name for name in names if name not in self._names)

    def _strict_server(self) -> MockPlatform:
        if self._strict is None:
            self._strict = self._start(strict=True)
        return self._strict

    def _start(self, **settings: Any) -> MockPlatform:
        server = MockPlatform.start(
            warnings=self._warnings,
            names=self._names_mode,
            wire=self._wire,
            as_of=self._as_of,
            **settings,
        )
        server.on_stray(self._count_stray)
        return server

    def _all_servers(self) -> list[MockPlatform]:
        return [server for server in (self.main, self._strict) if server is not None]

    def _count_stray(self, world: str, method: str, url: str) -> None:
        test = self._names.get(world)
        if test is not None:
            path = url.partition(f"/~{world}")[2].partition("?")[0]
            with self._lock:
                self._strays[test, method, path] += 1

    def _take_errors(self) -> list[BaseException]:
        """Return the errors that servers recorded, and removes them."""
        found: list[BaseException] = []
        for server in self._all_servers():
            try:
                server.raise_errors()
            except BaseExceptionGroup as group:
                found += group.exceptions
            except Exception as fault:  # noqa: BLE001 - handed on, whatever it is
                found.append(fault)
        return found


def _engine_of(server: MockPlatform, world: str) -> Engine:
    """Return the scenarios of a world; they can be read when the world was dropped."""
    return find_engine(cast("LocalPlatform", server).control.platform.worlds.get(world))


# A server elsewhere for the tests of a run: one world per worker, new for each test.


class SharedServer:
    """A running server that other runs and workers may use at the same time."""

    def __init__(
        self,
        url: str,
        world: str,
        warnings: Literal["ignore", "error"] | None = None,
        names: NamesMode | None = None,
        wire: str | None = None,
        as_of: datetime | None = None,
    ) -> None:
        """Make a world for this worker on the server at `url`; replaces one of the same name.

        Without `warnings`, the server decides whether they are errors; so it does with `names`,
        `wire` and `as_of`.

        Raises:
            Refused: The server refuses.
            Unreachable: No server answers at the address.
        """
        self.main = MockPlatform.connect(url)
        if world in self.main.worlds:
            self.main.drop_world(world)
        make = partial(self.main.world, warnings=warnings, names=names, wire=wire, as_of=as_of)
        self._make = cast("Callable[..., RemoteWorld]", make)
        self._world = self._make(world)
        self._ended: str | None = None
        self._strays: Counter[Stray] = Counter()

    def open(self, request: WorldRequest, test: str) -> tuple[WorldFace, Verdict]:
        """Return the world, made from scratch for a test.

        Raises:
            BadWorldRequest: The world cannot be made.
            Unreachable: The server no longer answers.
        """
        if request.strict:
            raise BadWorldRequest(
                "mock_strict needs a server that this run starts. Leave out "
                "--mock-platform-url, or start that server with --strict and leave "
                "out the marker."
            )
        self._gather()
        name = self._world.name
        self.main.drop_world(name)
        try:
            world = self._world = make_world(self._make, name, request)
        except BadWorldRequest:
            self._world = self._make(name)
            raise
        apply_fixtures(world, request)
        activate_scenarios(world, request)
        self._ended = test
        kept: list[dict[str, Any]] = []
        listed: list[dict[str, Any]] = []

        def entries(*, failed: bool = False) -> list[dict[str, Any]]:
            return kept or [entry.as_json() for entry in world.journal]

        def scenarios() -> list[dict[str, Any]]:
            return listed or world.scenarios

        def end() -> None:
            kept.extend(entries())
            listed.extend(world.scenarios)

        return world, Verdict(world, entries, scenarios, list, end)

    def close(self, world: WorldFace) -> None:
        """Empty the world; requests before the next test are counted in `strays`."""
        self._world.close_sessions()
        world.reset()

    def strays(self) -> Counter[Stray]:
        """Return the requests that came between tests, each with its count."""
        with suppress(Unreachable):  # each test that needed it was told
            self._gather()
        return Counter(self._strays)

    def coverage(self) -> list[dict[str, Any]]:
        """Return the coverage document of the world."""
        with suppress(Unreachable):
            return [self._world.coverage()]
        return []

    def warnings(self) -> list[WarningDocument]:
        """Return what was ignored in the requests of the world."""
        with suppress(Unreachable):
            return [self._world.warnings()]
        return []

    def costs(self) -> list[CostsDocument]:
        """Return what the requests of the world would have cost."""
        with suppress(Unreachable):
            return [self._world.costs("test")]
        return []

    def stop(self) -> None:
        """Remove the world; the server keeps running."""
        with suppress(Unreachable):
            self.main.drop_world(self._world.name)
        self.main.stop()

    def _gather(self) -> None:
        if self._ended is None:
            return
        for entry in self._world.journal:
            path = strip_origin(entry.url).partition("?")[0]
            self._strays[self._ended, entry.method, path] += 1
        self._ended = None


def name_worker(given: Mapping[str, Any]) -> str:
    """Return the name of a worker's world; `given` is its `workerinput`, empty without workers.

    No other worker has it: several runs, from several machines, may share a server.
    """
    run = given.get("testrunuid", f"{os.getpid()}-{gethostname()}")
    name = re.sub("[^A-Za-z0-9-]", "-", f"pytest-{given.get('workerid', 'main')}-{run}")
    return name[:64]
