"""The snapshots of a world on a server elsewhere."""

from __future__ import annotations

from typing import Any

from mock_platform.client.remote.control import Control
from mock_platform.client.world_parts import SnapshotsFace
from mock_platform.core.errors import UnknownSnapshot
from mock_platform.core.snapshots import check_snapshot_name
from mock_platform.world.names import is_name


class RemoteSnapshots(SnapshotsFace):
    """The snapshots of a world."""

    def __init__(self, control: Control, world: str) -> None:
        self._control = control
        self._world = world

    def list(self) -> list[str]:
        found: list[str] = self._control.ask("GET", "/snapshots")["snapshots"]
        return found

    def save(self, name: str) -> dict[str, Any]:
        check_snapshot_name(name)
        saved: dict[str, Any] = self._control.ask("PUT", f"/snapshots/{name}")
        return saved

    def restore(self, name: str) -> None:
        self._control.ask("POST", f"{self._path(name)}/restore")

    def delete(self, name: str) -> None:
        self._control.ask("DELETE", self._path(name))

    def _path(self, name: str) -> str:
        if not is_name(name):  # it could be the address of something else
            raise UnknownSnapshot(self._world, name, self.list())
        return f"/snapshots/{name}"
