"""What testers do with open streams: list them, end one, silence one. `all` means every one."""

from __future__ import annotations

from typing import Any

from mock_platform.api.v2.streams.open_streams import OPERATOR, OpenStreams
from mock_platform.api.v2.streams.stream import Stream
from mock_platform.core.call import FaultKind
from mock_platform.core.failures.problems import DISCONNECT_TYPES
from mock_platform.world.world import World

ALL = "all"
DISCONNECT_TYPE = "OperationalDisconnect"
"""The type of disconnects that are asked for without one."""
LONGEST_STALL_SECONDS = 24 * 3600
FAULTS: tuple[FaultKind, ...] = ("reset", "empty", "truncate", "garbage")
"""Network faults that end a stream; `stall` silences one."""


def list_streams(world: World) -> list[dict[str, Any]]:
    """Return the open streams, oldest first."""
    with world.hold():
        return [_describe(stream) for stream in world.find_attachment(OpenStreams)]


def disconnect_streams(
    world: World,
    id_: str,
    *,
    disconnect_type: str = DISCONNECT_TYPE,
    line: bool = True,
    fault: FaultKind | None = None,
) -> list[str]:
    """End one stream or all of them; return their ids.

    The last line has the type, unless `line` is false. With a `fault` the connection breaks.

    Raises:
        UnknownStream: No open stream has this id.
        ValueError: The type or the fault does not exist.
    """
    check_ending(disconnect_type, fault)
    streams = world.find_attachment(OpenStreams)
    chosen = _choose(world, id_)
    return streams.disconnect(chosen, OPERATOR, disconnect_type, line=line, fault=fault)


def stall_streams(world: World, id_: str, seconds: float) -> list[str]:
    """Let one stream or all of them send nothing for so many real seconds; return their ids.

    Raises:
        UnknownStream: No open stream has this id.
        ValueError: `seconds` is negative or more than a day.
    """
    check_stall(seconds)
    chosen = _choose(world, id_)
    for stream in chosen:
        stream.stall(seconds)
    return [stream.opening.id for stream in chosen]


def check_ending(disconnect_type: str, fault: str | None) -> None:
    """Require that streams can end like this.

    Raises:
        ValueError: The type or the fault does not exist.
    """
    _require("disconnect_type", disconnect_type, DISCONNECT_TYPES)
    if fault is not None:
        _require("fault", fault, FAULTS)


def check_stall(seconds: float) -> None:
    """Require that streams can be silent for so long.

    Raises:
        ValueError: `seconds` is negative or more than a day.
    """
    if not 0 <= seconds <= LONGEST_STALL_SECONDS:
        raise ValueError(f"seconds must be from 0 to {LONGEST_STALL_SECONDS}, got {seconds:g}")


def _choose(world: World, id_: str) -> list[Stream]:
    with world.hold():
        streams = world.find_attachment(OpenStreams)
        return list(streams) if id_ == ALL else [streams.find(id_)]


def _require(name: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(allowed)}, got {value!r}")


def _describe(stream: Stream) -> dict[str, Any]:
    opening = stream.opening
    return {
        "id": opening.id,
        "endpoint": opening.endpoint.id,
        "app_id": opening.app_id,
        "since": opening.opened_at,
        "lines": stream.lines_sent,
        "last_keepalive": stream.last_keepalive,
        "lag": stream.lag,
    }
