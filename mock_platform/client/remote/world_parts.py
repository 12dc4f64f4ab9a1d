"""Streams, snapshots and transitions of a world on a server elsewhere.

In a module of its own, because most commands and tests need none of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from mock_platform.api.v2.streams.open_streams import (
    check_ending,
    check_stall,
)
from mock_platform.client.remote.control import Control
from mock_platform.client.world_parts import SnapshotsFace, StreamsFace, TransitionsFace
from mock_platform.core.call import FaultKind
from mock_platform.core.errors import UnknownSnapshot
from mock_platform.core.snapshots import check_snapshot_name
from mock_platform.core.transitions import check_move, find_kind, read_pace
from mock_platform.world.names import is_name
from mock_platform.world.transitions import Progression


class RemoteStreams(StreamsFace):
    """The open streams of a world."""

    def __init__(self, control: Control) -> None:
        self._control = control

    def list(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self._control.ask("GET", "/streams")["streams"]
        return found

    def disconnect(
        self,
        stream_id: str = "all",
        *,
        disconnect_type: str = "OperationalDisconnect",
        line: bool = True,
        fault: FaultKind | None = None,
    ) -> Sequence[str]:
        check_ending(disconnect_type, fault)
        body: dict[str, Any] = {"disconnect_type": disconnect_type, "line": line}
        if fault is not None:
            body["fault"] = fault
        return self._act(stream_id, "disconnect", body)

    def stall(self, stream_id: str = "all", *, seconds: float) -> Sequence[str]:
        check_stall(seconds)
        return self._act(stream_id, "stall", {"seconds": seconds})

    def _act(self, stream_id: str, verb: str, body: dict[str, Any]) -> Sequence[str]:
        path = f"/streams/{quote(stream_id, safe='')}/{verb}"
        chosen: list[str] = self._control.ask("POST", path, body)["streams"]
        return chosen


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


class RemoteTransitions(TransitionsFace):
    """The transitions of a world."""

    def __init__(self, control: Control) -> None:
        self._control = control

    def list(self) -> dict[str, dict[str, Any]]:
        kinds: dict[str, dict[str, Any]] = self._control.ask("GET", "/transitions")
        return kinds

    def set(
        self,
        kind: str,
        *,
        progression: Progression | None = None,
        seconds: float | None = None,
        polls: int | None = None,
    ) -> dict[str, Any]:
        changes = read_pace(progression, seconds, polls)
        shown: dict[str, Any] = self._control.ask("PUT", self._path(kind), changes)
        return shown

    def move(self, kind: str, id: str, to: str) -> str:
        check_move(id, to)
        path = f"{self._path(kind)}/{quote(id, safe='')}"
        state: str = self._control.ask("POST", path, {"to": to})["state"]
        return state

    def _path(self, kind: str) -> str:
        if not isinstance(kind, str) or not kind.isidentifier():
            find_kind(self.list(), kind)  # it could be the address of something else
        return f"/transitions/{kind}"
