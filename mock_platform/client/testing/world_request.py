"""What a test requests of its world, read from its markers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from datetime import datetime
from inspect import signature
from pathlib import Path
from typing import Any, Protocol, TypeVar

from msgspec import Struct, field

from mock_platform.client.arguments import check_names
from mock_platform.client.interface import WorldFace
from mock_platform.core.errors import UnknownScenario
from mock_platform.scenario.name_or_file import is_file
from mock_platform.settings import NamesMode

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


class _Reader(Struct):
    """Reads the arguments of each marker as a function of the same name would."""

    folder: Path
    scenarios: list[tuple[str | Path, dict[str, Any]]] = field(default_factory=list)
    fixtures: list[Path] = field(default_factory=list)
    clock: datetime | str | None = None
    strict: bool = False
    names: NamesMode | None = None

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


def read_markers(markers: Iterable[Marker], folder: Path) -> WorldRequest:
    """Returns the request of these markers, the outermost first; paths are relative to `folder`.

    Raises:
        BadWorldRequest: A marker has wrong arguments.
    """
    reader = _Reader(folder)
    takers: dict[str, Callable[..., None]] = {
        "mock_scenario": reader.mock_scenario,
        "mock_fixtures": reader.mock_fixtures,
        "mock_clock": reader.mock_clock,
        "mock_strict": reader.mock_strict,
        "mock_names": reader.mock_names,
    }
    for marker in markers:
        take = takers.get(marker.name)
        if take is None:
            continue
        try:
            given = signature(take).bind(*marker.args, **marker.kwargs)
            take(*given.args, **given.kwargs)
        except TypeError as fault:
            raise BadWorldRequest(f"@pytest.mark.{_FORMS[marker.name]}: {fault}") from fault
    return WorldRequest(
        tuple(reader.scenarios), tuple(reader.fixtures), reader.clock, reader.strict, reader.names
    )


def make_world(make: Callable[..., W], name: str, request: WorldRequest) -> W:
    """Returns a world from `make(name, …)`, with the requested clock and names.

    Raises:
        BadWorldRequest: The clock cannot be stopped at this moment.
    """
    at = request.clock
    own = {} if request.names is None else {"names": request.names}
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
            name = chosen if isinstance(chosen, str) else world.define(chosen)
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
}
