"""The interface of an archive, which keeps the worlds of a server, and the values for it.

The state of a world depends on its commits alone: everything in it (records, clock, ids, rate
windows, scenarios) goes through the archive. So a backend may keep a log of commits and replace it
by a snapshot at any time.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Protocol, runtime_checkable

from msgspec import Struct

from mock_platform.world.store.interface import SavedWorld, Slot, Snapshot
from mock_platform.world.store.memory import Base

POINT = "@"
"""Separates the name of a world from the label of a saved state, if a backend writes both as one
name.
"""

ORIGIN = "origin"
"""The label of the state to which a reset returns a copied world."""
SNAPSHOT = "snapshot-"
"""Prefix of the labels of a world's snapshots."""

Meta = Mapping[str, Any]
"""The data of a world beside its records, as JSON: ids drawn, state of the clock."""

Slots = Mapping[tuple[str, str], Slot]
"""Changed rows by table and key; `None` for removed ones."""


class WholeWorld(Struct, frozen=True):
    """A whole world: its fixtures, its differences from them, and the data beside the records."""

    base: Base
    snapshot: Snapshot
    meta: Meta


class KeptWorld(Struct, frozen=True):
    """A world as an earlier process left it."""

    token: int
    snapshot: Snapshot
    """The differences of its records from the current fixtures."""
    meta: dict[str, Any]
    points: Mapping[str, SavedWorld]

    @property
    def snapshots(self) -> dict[str, SavedWorld]:
        """Its snapshots by their names."""
        return {
            label.removeprefix(SNAPSHOT): saved
            for label, saved in self.points.items()
            if label.startswith(SNAPSHOT)
        }


class Archive(Protocol):
    """Keeps the worlds of a server. Thread-safe. All backends pass the same contract tests.

    A world has a token from the moment when it is added or opened, and each change names the token.
    In the commit itself, a backend refuses a change whose token is not the current one. So nothing
    is written for a world that was dropped in the meantime, or that another process took over.

    A point is a saved state to which a world can return. It has a label, and is deleted with its
    world.
    """

    @property
    def keeps(self) -> bool:
        """Whether worlds outlive the process. If they do not, commits need not be passed on."""

    @property
    def place(self) -> str:
        """The place of the worlds, for messages."""

    def names(self) -> Collection[str]:
        """Return the names of all worlds in the archive."""

    def open(self, name: str, base: Base) -> KeptWorld | None:
        """Return a world as it was left, on the current fixtures, or `None` if it is missing."""

    def add(self, name: str, whole: WholeWorld, points: Mapping[str, SavedWorld]) -> int:
        """Add a new world with its points, in one commit; return its token.

        Raises:
            ValueError: The archive has a world of this name already, or the name is empty or has
                one of the characters `/` and `@`.
            TypeError: A value has no JSON form.
            StoreUnwritable: This could not be written; nothing is stored. The same for the methods
                below.
        """

    def commit(self, name: str, token: int, slots: Slots, meta: Meta) -> None:
        """Record changed rows and what the world keeps beside them.

        Raises:
            LookupError: The token is not the world's current one. The same for the methods below.
            TypeError: A value has no JSON form.
            StoreUnwritable: The change could not be written; nothing is recorded.
        """

    def replace(
        self, name: str, token: int, whole: WholeWorld, *, dropped: Collection[str] = ()
    ) -> None:
        """Record the whole state of a world, as after a reset, and delete the points `dropped`.

        It is one commit. Raises the same as `commit`.
        """

    def keep_point(self, name: str, token: int, label: str, whole: WholeWorld) -> None:
        """Save a point; replaces the one with its label. Raises the same as `commit`.

        Raises:
            ValueError: The label is empty or has one of the characters `/` and `@`.
        """

    def drop_point(self, name: str, token: int, label: str) -> None:
        """Delete a saved point.

        Raises:
            LookupError: The world does not have this point.
        """

    def drop(self, name: str, token: int) -> None:
        """Delete a world with its points. Raises the same as `commit`."""

    def close(self) -> None:
        """Write what is not written yet and release all resources; idempotent.

        If worlds outlive the process, later changes raise `StoreError`.

        Raises:
            OSError: It could not be written; `close` can be called again.
        """


@runtime_checkable
class SharedArchive(Archive, Protocol):
    """An archive that several processes share, in which each world has one owner at a time.

    `open` makes this process the owner. It raises `WorldElsewhere` while another process is it.
    """

    def give_back(self, name: str, token: int) -> None:
        """Let other processes open a world from now on; it takes no more changes from here."""

    def list_owners(self) -> Mapping[str, str | None]:
        """Return every world with the address of its owner; `None` for those that rest."""


class AlreadyKept(ValueError):
    """The archive has a world of this name already."""


def check_new(name: str, kept: Collection[str]) -> None:
    """Check that a world of this name can be added.

    Raises:
        AlreadyKept: The archive has one already.
        ValueError: The name is empty or has `/` or `@`.
    """
    check_part(name, "a kept world")
    if name in kept:
        raise AlreadyKept(f"world {name!r} is kept already: drop it first, or open it")


def check_part(name: str, what: str) -> None:
    """Check that a name can be part of a longer one.

    Raises:
        ValueError: The name is empty or has `/` or `@`.
    """
    if not name or "/" in name or POINT in name:
        raise ValueError(f"{name!r} is no name for {what}: it is empty or has / or {POINT}")
