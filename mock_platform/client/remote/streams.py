"""The open streams of a world on a server elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from mock_platform.api.v2.streams.open_streams import check_ending, check_stall
from mock_platform.client.remote.control import Control
from mock_platform.client.world_parts import StreamsFace
from mock_platform.core.call import FaultKind


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
