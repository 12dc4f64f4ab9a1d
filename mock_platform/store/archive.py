"""Where the worlds of a server are kept: what every backend does, and the values that it takes.

What a world is follows from its commits alone: all that it keeps (records, clock, ids, rate
windows, scenarios) goes through the archive, so a backend may keep a log of commits and replace it
by a snapshot whenever it likes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from mock_platform.store.interface import SavedWorld, Slot, Snapshot
from mock_platform.store.memory import Base

POINT = "@"
"""Between the name of a world and the label of a point, where a backend writes both as one name."""

Meta = Mapping[str, Any]
"""What a world keeps beside its records, as JSON: ids drawn, state of the clock."""

Slots = Mapping[tuple[str, str], Slot]
"""Changed rows by table and key; `None` for those that are gone."""


@dataclass(frozen=True, slots=True)
class WholeWorld:
    """All that a world is: these fixtures, with these differences, and what is kept beside."""

    base: Base
    snapshot: Snapshot
    meta: Meta


@dataclass(frozen=True, slots=True)
class KeptWorld:
    """A world as an earlier process left it."""

    token: int
    snapshot: Snapshot
    """How its records differ from the fixtures of today."""
    meta: dict[str, Any]
    points: Mapping[str, SavedWorld]


class Archive(Protocol):
    """Keeps the worlds of a server. Safe for threads. All backends pass one contract suite.

    A world has a token from the moment when it is added or opened, and each change to it names the
    token. A backend refuses, in the commit itself, a change whose token is not the present one: so
    nothing is written for a world that was dropped meanwhile, or that another process took over.

    A point is a state that a world may return to. It has a label, and goes with its world.
    """

    @property
    def keeps(self) -> bool:
        """Whether worlds outlive the process. Where they do not, commits need not be passed on."""

    @property
    def place(self) -> str:
        """Where the worlds are, for messages."""

    def names(self) -> Collection[str]:
        """The names of all worlds that are kept."""

    def open(self, name: str, base: Base) -> KeptWorld | None:
        """A world as it was left, beside the fixtures of today; `None` if it is not kept."""

    def add(self, name: str, whole: WholeWorld, points: Mapping[str, SavedWorld]) -> int:
        """Keep a new world with its points, in one commit; returns its token.

        Raises:
            ValueError: A world of this name is kept already, or the name is empty or has one of
                the characters `/` and `@`.
            TypeError: Something is not JSON.
            StoreUnwritable: It could not be written; nothing is kept. As below.
        """

    def commit(self, name: str, token: int, slots: Slots, meta: Meta) -> None:
        """Record changed rows and what the world keeps beside them.

        Raises:
            LookupError: The token is not the world's present one. As below.
            TypeError: Something is not JSON.
            StoreUnwritable: It could not be written; nothing is recorded.
        """

    def replace(
        self, name: str, token: int, whole: WholeWorld, *, dropped: Collection[str] = ()
    ) -> None:
        """Record what a world is now, after a reset for instance, and forget the points `dropped`.

        It is one commit. Raises what `commit` raises.
        """

    def keep_point(self, name: str, token: int, label: str, whole: WholeWorld) -> None:
        """Keep a point, in place of what had its label. Raises what `commit` raises.

        Raises:
            ValueError: The label is empty or has one of the characters `/` and `@`.
        """

    def drop_point(self, name: str, token: int, label: str) -> None:
        """Forget a point.

        Raises:
            LookupError: The world has no such point.
        """

    def drop(self, name: str, token: int) -> None:
        """Forget a world with its points. Raises what `commit` raises."""

    def close(self) -> None:
        """Write what is not written yet and release what is held; idempotent.

        Where worlds outlive the process, changes afterwards raise `StoreError`.

        Raises:
            OSError: It could not be written; closing can be tried again.
        """


def check_new(name: str, kept: Collection[str]) -> None:
    """Make sure that a world of this name can be added to those that are kept.

    Raises:
        ValueError: One is kept already, or the name is empty or has `/` or `@`.
    """
    check_part(name, "a kept world")
    if name in kept:
        raise ValueError(f"world {name!r} is kept already: drop it first, or open it")


def check_part(name: str, what: str) -> None:
    """Make sure that a name can be one part of a longer one.

    Raises:
        ValueError: It is empty or has `/` or `@`.
    """
    if not name or "/" in name or POINT in name:
        raise ValueError(f"{name!r} is no name for {what}: it is empty or has / or {POINT}")
