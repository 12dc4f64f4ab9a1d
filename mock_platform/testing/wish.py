"""What a test wishes of its world, read from its markers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from datetime import datetime
from inspect import signature
from pathlib import Path
from typing import Any, Protocol, TypeVar

from mock_platform.client.interface import World
from mock_platform.scenario.library import UnknownScenario, is_file

W = TypeVar("W")


class BadWish(ValueError):
    """A world cannot begin as it was wished: what is wrong with which marker."""


class Marker(Protocol):
    """A marker as pytest gives it."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def args(self) -> tuple[Any, ...]:
        """What it was given by position."""

    @property
    def kwargs(self) -> Any:
        """What it was given by name."""


@dataclass(frozen=True, slots=True)
class Wish:
    """How a test's world begins."""

    scenarios: tuple[tuple[str | Path, dict[str, Any]], ...] = ()
    """Names or files of scenarios, each with its parameters, in the order of activation."""
    fixtures: tuple[Path, ...] = ()
    """Folders laid over the server's fixtures, the last one on top."""
    clock: datetime | str | None = None
    """Where the clock stands still; `None`: it runs."""
    strict: bool = False
    """Whether the server refuses what the specification does not show."""


@dataclass(slots=True)
class _Reader:
    """Takes each marker's arguments as a function of the same name would."""

    folder: Path
    scenarios: list[tuple[str | Path, dict[str, Any]]] = field(default_factory=list)
    fixtures: list[Path] = field(default_factory=list)
    clock: datetime | str | None = None
    strict: bool = False

    def mock_scenario(self, name: str, /, **parameters: Any) -> None:
        chosen: str | Path = name
        if is_file(name):
            chosen = self.folder / name
        self.scenarios.append((chosen, parameters))

    def mock_fixtures(self, path: str | Path) -> None:
        self.fixtures.append(self.folder / path)

    def mock_clock(self, instant: datetime | str) -> None:
        if not isinstance(instant, datetime | str):
            raise TypeError(f"an instant is a datetime or ISO 8601 text, not {instant!r}")
        self.clock = instant

    def mock_strict(self) -> None:
        self.strict = True


def wish(markers: Iterable[Marker], folder: Path) -> Wish:
    """The wish that markers make, the outermost first; paths are counted from `folder`.

    Raises:
        BadWish: One was given what it does not take.
    """
    reader = _Reader(folder)
    takers: dict[str, Callable[..., None]] = {
        "mock_scenario": reader.mock_scenario,
        "mock_fixtures": reader.mock_fixtures,
        "mock_clock": reader.mock_clock,
        "mock_strict": reader.mock_strict,
    }
    for marker in markers:
        take = takers.get(marker.name)
        if take is None:
            continue
        try:
            given = signature(take).bind(*marker.args, **marker.kwargs)
            take(*given.args, **given.kwargs)
        except TypeError as fault:
            raise BadWish(f"@pytest.mark.{_FORMS[marker.name]}: {fault}") from fault
    return Wish(tuple(reader.scenarios), tuple(reader.fixtures), reader.clock, reader.strict)


def begin(make: Callable[..., W], name: str, wish: Wish) -> W:
    """A world from `make(name, freeze=…)`, with its clock where it was wished.

    Raises:
        BadWish: It cannot stand there.
    """
    at = wish.clock
    with nullcontext() if at is None else _told(f"mock_clock({at!r})"):
        return make(name, freeze=at)


def lay(world: World, wish: Wish) -> None:
    """Lay the fixtures that were wished.

    Raises:
        BadWish: Something is wrong with them.
    """
    if wish.fixtures:
        with _told("mock_fixtures"):
            world.use_fixtures(*wish.fixtures)


def switch(world: World, wish: Wish) -> None:
    """Switch the scenarios on that were wished.

    Raises:
        BadWish: There is none such, or it cannot be had so.
    """
    for chosen, parameters in wish.scenarios:
        with _told("mock_scenario"):
            name = chosen if isinstance(chosen, str) else world.define(chosen)
            world.activate(name, **parameters)


@contextmanager
def _told(marker: str) -> Iterator[None]:
    """Name the marker in what is wrong with it."""
    try:
        yield
    except (ValueError, UnknownScenario) as fault:
        raise BadWish(f"{marker}: {fault}") from fault


_FORMS = {
    "mock_scenario": "mock_scenario(name, **parameters)",
    "mock_fixtures": "mock_fixtures(path)",
    "mock_clock": "mock_clock(instant)",
    "mock_strict": "mock_strict",
}
