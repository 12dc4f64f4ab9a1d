"""The transitions of a world on a server elsewhere."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from mock_platform.client.remote.control import Control
from mock_platform.client.world_parts import TransitionsFace
from mock_platform.core.transitions import check_move, find_kind, read_pace
from mock_platform.world.transitions import Progression


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
