"""The transitions of a world as testers use them: to be read, given another pace, moved by hand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from mock_platform.core.errors import UnknownTransition, did_you_mean
from mock_platform.core.tables.checking import require_key
from mock_platform.world.transitions import Pace, Progression
from mock_platform.world.world import World

MAX_SECONDS = 10**9
MAX_POLLS = 10**6
T = TypeVar("T")


def find_kind(kinds: Mapping[str, T], name: str) -> T:
    """Return the kind of transition with this name.

    Raises:
        UnknownTransition: No kind has this name.
    """
    if name not in kinds:
        known = ", ".join(sorted(kinds)) or "none"
        hint = did_you_mean(name, kinds)
        raise UnknownTransition(
            f"The kind of transition {name!r} does not exist.{hint} Kinds: {known}."
        )
    return kinds[name]


def read_pace(
    progression: Progression | None, seconds: float | None, polls: int | None
) -> dict[str, Any]:
    """Return what is to change of a pace; `None` does not change.

    Raises:
        ValueError: A value is not allowed.
    """
    given = {"progression": progression, "seconds": seconds, "polls": polls}
    changes: dict[str, Any] = {name: each for name, each in given.items() if each is not None}
    pace = Pace(**changes)
    for name, value, most in (
        ("seconds", pace.seconds, MAX_SECONDS),
        ("polls", pace.polls, MAX_POLLS),
    ):
        if value > most:
            raise ValueError(f"{name} is at most {most}, got {value}")
    return changes


def check_move(id_: str, to: str) -> None:
    """Require an id and a state that can be sent to a server elsewhere.

    Raises:
        TypeError: One of them is no text.
        UnknownTransition: No record has the id.
    """
    if not isinstance(to, str):
        raise TypeError(f"a state is text, not {to!r}")
    if require_key(id_) in {"", ".", ".."}:  # a path cannot end with it
        raise UnknownTransition(f"No record has the id {id_!r}.")


class WorldTransitions:
    """The transitions of one world. Every use of a dropped world raises `UnknownWorld`."""

    def __init__(self, world: World) -> None:
        self._world = world

    def list(self) -> dict[str, dict[str, Any]]:
        """Return each kind by name: its progression, its states, the records under way."""
        with self._world.work():
            self._world.transitions.evaluate_every_kind()
            return self._world.transitions.as_json()

    def set(
        self,
        kind: str,
        *,
        progression: Progression | None = None,
        seconds: float | None = None,
        polls: int | None = None,
    ) -> dict[str, Any]:
        """Set the progression of a kind, also for records under way; return the kind.

        Raises:
            UnknownTransition: No kind has this name.
            ValueError: A value is not allowed.
        """
        changes = read_pace(progression, seconds, polls)
        with self._world.work():
            find_kind(self._world.transitions.kinds, kind)
            self._world.transitions.set_pace(kind, **changes)
            return self.list()[kind]

    def move(self, kind: str, id: str, to: str) -> str:
        """Move one record now, whatever its progression; return the state that it reached.

        Raises:
            UnknownTransition: The kind or the record does not exist.
            ValueError: The kind has no such state.
        """
        check_move(id, to)
        world = self._world
        with world.work():
            found = find_kind(world.transitions.kinds, kind)
            if to not in found.states:
                allowed = ", ".join(found.states)
                raise ValueError(f"{kind} has no state {to!r}; its states: {allowed}")
            if world.store.get(found.table, id) is None:
                raise UnknownTransition(f"{found.table} has no record {id!r}.")
            world.transitions.move(kind, id, to)
            return found.state_of(world.store.get(found.table, id) or {})
