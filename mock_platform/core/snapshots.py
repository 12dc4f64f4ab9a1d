"""The snapshots of a world: named states, which it keeps until its next reset."""

from __future__ import annotations

from typing import Any

from mock_platform.core.errors import BadSnapshotName, TooManySnapshots, UnknownSnapshot
from mock_platform.world.clock import wire_millis
from mock_platform.world.names import is_name
from mock_platform.world.world import World

MAX_SNAPSHOTS = 100
"""Maximum number of snapshots in one world."""


def check_snapshot_name(name: str) -> None:
    """Require that a snapshot can have this name.

    Raises:
        BadSnapshotName: No snapshot can have it.
    """
    if not is_name(name):
        raise BadSnapshotName(name)


class Snapshots:
    """The snapshots of one world, by name. Every use of a dropped world raises `UnknownWorld`."""

    def __init__(self, world: World) -> None:
        self._world = world

    def list(self) -> list[str]:
        """Return the names, oldest first."""
        with self._world.hold():
            return [*self._world.snapshots]

    def save(self, name: str) -> dict[str, Any]:
        """Save the current state under a name, and return the snapshot; it replaces one of it.

        Raises:
            BadSnapshotName: No snapshot can have this name.
            TooManySnapshots: The world has the maximum number of snapshots.
        """
        check_snapshot_name(name)
        with self._world.hold():
            found = self._world.snapshots
            if name not in found and len(found) >= MAX_SNAPSHOTS:
                raise TooManySnapshots(MAX_SNAPSHOTS)
            saved = self._world.take_snapshot(name)
            now = wire_millis(self._world.clock.now())
        return {"name": name, "at": now, "changed_records": saved.records.size}

    def restore(self, name: str) -> None:
        """Return the world to a snapshot; the journal is emptied, the snapshots stay.

        Raises:
            UnknownSnapshot: No snapshot has this name.
        """
        with self._world.hold():
            self._require(name)
            self._world.load(self._world.snapshots[name])

    def delete(self, name: str) -> None:
        """Delete a snapshot.

        Raises:
            UnknownSnapshot: No snapshot has this name.
        """
        with self._world.hold():
            self._require(name)
            self._world.drop_snapshot(name)

    def _require(self, name: str) -> None:
        if not is_name(name) or name not in self._world.snapshots:
            raise UnknownSnapshot(self._world.name, name, self._world.snapshots)
