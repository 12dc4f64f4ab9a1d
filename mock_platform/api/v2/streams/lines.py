"""What a stream sends: lines that end with CR LF, and what an endpoint puts into them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from msgspec import Struct

from mock_platform.core.assumptions import public_fact, settled
from mock_platform.core.call import FaultKind
from mock_platform.core.failures.problems import Problem, problem
from mock_platform.core.jsonio import dumps
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

WIRE = public_fact(
    "streams.wire",
    "A stream is sent in chunks, one JSON object on a line; lines and keep-alives end with CR LF. "
    "The first keep-alive comes at once, later ones after 20 real seconds of silence "
    "(--stream-keepalive).",
    "section 5.5 of the named endpoints",
    gap=True,
)
ENDING = settled(
    "streams.ending",
    "A stream that the service ends gets a last line with an operational-disconnect problem: "
    "ForceDisconnect when its connection is deleted, its world is reset or removed, or the server "
    "stops; SlowReader when too many lines wait for its client.",
    "Events and streams",
)

KEEP_ALIVE = b"\r\n"
_ASCII = 127
DISCONNECT = "operational-disconnect"


class Ending(Struct, frozen=True):
    """How a stream ends: the last line, if any, and what its connection's record says."""

    reason: str
    """`disconnect_reason` of the connection."""
    last_line: bytes = b""
    fault: FaultKind | None = None
    """The network fault with which it ends."""


def encode_line(line: Mapping[str, Any]) -> bytes:
    """Return a line as it is sent."""
    return dumps(line) + b"\r\n"


def find_cut(data: bytes) -> int:
    """Return a place inside a character of several bytes; without one the middle of the line."""
    return next((at + 1 for at, byte in enumerate(data) if byte > _ASCII), len(data) // 2)


def make_problem_line(value: Problem, base_url: str) -> bytes:
    """Return the line that carries a problem, as a stream's last line does."""
    body = value.as_json(base_url)
    del body["status"]
    return encode_line({"errors": [body]})


def make_ending(reason: str, disconnect_type: str, base_url: str) -> Ending:
    """Return an ending with the line that document A has for it."""
    value = problem(DISCONNECT, disconnect_type=disconnect_type)
    return Ending(reason, make_problem_line(value, base_url))


# What makes a stream of one endpoint different from those of the others.

Line = dict[str, Any]
"""The JSON object of a line."""


class StreamEndpoint(Struct, frozen=True):
    """An endpoint with streams. Its functions are called under the world's lock."""

    id: str
    """Its name in the interface, such as `filtered_stream`."""
    connections: int
    """How many connections an app may have at a time."""
    concerns: Callable[[Record, str], bool]
    """Whether an activity is for the streams of an app; called once for each activity and app."""
    make_lines: Callable[[World, Record, str, Mapping[str, Any]], Iterable[Line]]
    """Makes an activity's lines for an app, under the parameters of the stream's request.

    A `ProblemFailure` ends the stream with the problem as its last line.
    """
    explain: Callable[[Record, str], str | None] = lambda _activity, _app_id: None
    """Returns why the streams of an app do not get an activity, where the endpoint knows."""
