"""The open streams of one world: who gets an activity, how one opens, is silenced, or ends."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import Any
from weakref import WeakValueDictionary

from mock_platform.api.v2.conventions import get_app
from mock_platform.api.v2.streams.endpoint import (
    RECOVERY_CONNECTIONS,
    STREAM_BACKFILL,
    STREAM_RECOVERY,
    Line,
    StreamEndpoint,
    find_past,
)
from mock_platform.api.v2.streams.stream import Ending, Opening, Stream, make_ending
from mock_platform.core.assumptions import settled
from mock_platform.core.call import Call, FaultKind
from mock_platform.core.errors import UnknownStream
from mock_platform.core.failures.errors import ProblemFailure
from mock_platform.core.failures.problems import DISCONNECT_TYPES, problem
from mock_platform.settings import Settings
from mock_platform.world.attached import RESTORED, RETURNED, Notice
from mock_platform.world.clock import wire_millis
from mock_platform.world.names import UnknownWorld
from mock_platform.world.store.errors import StoreError
from mock_platform.world.store.interface import Change, Record
from mock_platform.world.world import World

WOKEN = "streams:woken"
"""Topic of the notice that streams have something to send; it has no key."""
CONNECTIONS = "connections"
ACTIVITIES, COMPLIANCE_EVENTS = "activities", "_compliance_events"
CARRIED = frozenset({ACTIVITIES, COMPLIANCE_EVENTS})
"""The tables whose new records become lines."""
OPERATOR = "operator_disconnect"
ALL = "all"
DISCONNECT_TYPE = "OperationalDisconnect"
"""The type of disconnects that are asked for without one."""
LONGEST_STALL_SECONDS = 24 * 3600
FAULTS: tuple[FaultKind, ...] = ("reset", "empty", "truncate", "garbage")
"""Network faults that end a stream; `stall` silences one."""
_REMOVED = {"disconnected_at": ""}


class OpenStreams:
    """The streams of a world. A stream is in here from the commit of its request to its end."""

    def __init__(
        self, world: World, settings: Settings, write_original: Callable[[Line], Line]
    ) -> None:
        """`write_original` returns a line with original names."""
        self._write_original = write_original
        self._world = world
        self.settings = settings
        self._epoch = world.epoch
        self._streams: dict[str, Stream] = {}
        self._groups: dict[tuple[str, str], dict[str, Stream]] = {}
        """The streams of each endpoint and app, by id."""
        self._opening: WeakValueDictionary[str, Stream] = WeakValueDictionary()
        """Streams whose request is not committed yet. A request that fails leaves none."""
        self._woken: dict[str, Stream] = {}
        self._disconnected: dict[str, Stream] = {}
        world.attach(self)
        world.on_commit(self._observe, {CONNECTIONS, *CARRIED})
        world.on_notice(self._take)

    # -- opening ---------------------------------------------------------------------------------

    def open(self, opening: Opening, waiting: Iterable[str]) -> Stream:
        """Return a new stream; it is open when the request is committed.

        Needs the world's lock, and a record in `connections` that is put after this.
        """
        stream = Stream(
            self._world,
            opening,
            waiting,
            keepalive=self.settings.stream_keepalive or math.inf,
            backlog=self.settings.stream_backlog,
            on_end=self._forget,
            write_original=self._write_original,
        )
        self._opening[opening.id] = stream
        return stream

    def count_present(
        self, endpoint: StreamEndpoint, app_id: str, partition: int | None, *, ends: bool
    ) -> int:
        """Return how many streams an app has open, after a look whether their clients are there.

        Needs the world's lock. `ends` counts those that end by themselves, else the others.
        """
        own = [
            stream
            for stream in self.list_for_app(endpoint.id, app_id)
            if (stream.opening.ends, stream.opening.params.get("partition")) == (ends, partition)
        ]
        return sum(stream.check_client() for stream in own)

    # -- looking ---------------------------------------------------------------------------------

    def __iter__(self) -> Iterator[Stream]:
        return iter(list(self._streams.values()))

    def __len__(self) -> int:
        return len(self._streams)

    def list_for_app(self, endpoint_id: str, app_id: str) -> list[Stream]:
        """Return the streams of an endpoint that an app has open."""
        return list(self._groups.get((endpoint_id, app_id), {}).values())

    def find(self, id_: str) -> Stream:
        """Return the open stream with this id.

        Raises:
            UnknownStream: No open stream has it.
        """
        found = self._streams.get(id_)
        if found is None:
            raise UnknownStream(id_, self._streams)
        return found

    def find_concerned(self, activity: Record, table: str = ACTIVITIES) -> list[Stream]:
        """Return the open streams that get a record of a table. Needs the world's lock."""
        # All streams of a group have the same endpoint and app, so whether a record concerns these
        # is asked once a group. Each of them is asked for what its own parameters decide: its
        # partition, and whether it ends by itself because it shows the past alone.
        return [
            stream
            for (_, app_id), group in self._groups.items()
            if (first := next(iter(group.values()), None)) is not None
            and first.opening.endpoint.table == table
            and first.opening.endpoint.concerns(activity, app_id)
            for stream in group.values()
            if not stream.opening.ends
            and stream.opening.endpoint.takes(activity, stream.opening.params)
        ]

    # -- ending ----------------------------------------------------------------------------------

    def disconnect(
        self,
        streams: Iterable[Stream],
        reason: str,
        disconnect_type: str,
        *,
        line: bool = True,
        fault: FaultKind | None = None,
    ) -> list[str]:
        """End streams with the documented last line, unless `line` is false; return their ids.

        Lines that were waiting are sent before it. With a `fault` the connection breaks.
        """
        ended = []
        for stream in streams:
            with self._world.lock:
                if stream.is_open:
                    ending = make_ending(reason, disconnect_type, stream.opening.base_url)
                    if not line or fault is not None:
                        ending = Ending(reason, ending.last_line if line else b"", fault)
                    stream.end(ending, drain=True)
                    ended.append(stream.opening.id)
            stream.wake(urgent=True)
        return ended

    def close(self, reason: str) -> None:
        """End all streams: the world or the server ends."""
        for stream in self:
            stream.end(make_ending(reason, "ForceDisconnect", stream.opening.base_url))
            stream.wake(urgent=True)

    # -- called by the world ---------------------------------------------------------------------

    def _observe(self, world: World, changes: Iterable[Change]) -> None:
        """Note committed activities and connections, under the world's lock."""
        if world.epoch != self._epoch:  # the world was reset: what follows is no news
            self._epoch = world.epoch
            for stream in self:
                stream.end(make_ending("reset", "ForceDisconnect", stream.opening.base_url))
                self._woken[stream.opening.id] = stream
            return
        for change in changes:
            if change.table == CONNECTIONS:
                self._note_connection(change)
            elif change.table in CARRIED and change.kind == "created" and self._streams:
                assert change.after is not None
                for stream in self.find_concerned(change.after, change.table):
                    stream.push(change.key)
                    self._woken[stream.opening.id] = stream
        # Here the world is locked, and a stream that is woken writes to its socket. So it waits for
        # the notice, which is sent when the lock is free (`_take`).
        if self._woken or self._disconnected:
            world.notify(WOKEN, "")

    def _note_connection(self, change: Change) -> None:
        """Admit a new stream; end one whose connection's record was ended or removed."""
        id_ = change.key
        if change.kind != "created":
            if id_ in self._streams and "disconnected_at" in (change.after or _REMOVED):
                self._disconnected[id_] = self._streams[id_]
            return
        # A stream becomes visible with the commit of its record. Until then only `_opening` has it,
        # weakly: if the request fails, nobody else does, and it is gone with the answer.
        stream = self._opening.pop(id_, None)
        if stream is not None and stream.is_open:
            opening = stream.opening
            self._streams[id_] = stream
            self._groups.setdefault((opening.endpoint.id, opening.app_id), {})[id_] = stream

    def _take(self, world: World, notice: Notice) -> None:
        """Wake streams, outside the world's lock."""
        if notice.topic == RESTORED:
            self._close_left_over()
        elif notice.topic in {WOKEN, RETURNED}:
            with world.lock:
                woken, self._woken = self._woken, {}
                ended, self._disconnected = self._disconnected, {}
            self.disconnect(ended.values(), OPERATOR, "ForceDisconnect")
            for stream in woken.values():
                stream.wake()

    def _close_left_over(self) -> None:
        """Mark connections as ended that were open when the state was saved."""
        world = self._world
        with suppress(UnknownWorld, StoreError), world.work():
            for entry in world.store.page(CONNECTIONS):
                if "disconnected_at" not in entry.record and entry.key not in self._streams:
                    self._mark_ended(entry.key, entry.record, "server_stop")

    # -- called by its streams -------------------------------------------------------------------

    def _forget(self, stream: Stream, ending: Ending) -> None:
        """Free the slot of a stream that ended, and note its end. Has the world's lock."""
        id_, world = stream.opening.id, self._world
        self._opening.pop(id_, None)
        self._streams.pop(id_, None)
        at = stream.opening.endpoint.id, stream.opening.app_id
        group = self._groups.get(at, {})
        group.pop(id_, None)
        if not group:
            self._groups.pop(at, None)
        # After a reset the record of the connection is gone, or another one has its id.
        if world.closed or world.epoch != stream.epoch:
            return
        record = world.store.get(CONNECTIONS, id_)
        if record is not None and "disconnected_at" not in record:
            with suppress(UnknownWorld, StoreError), world.work():
                self._mark_ended(id_, record, ending.reason)

    def _mark_ended(self, id_: str, record: Record, reason: str) -> None:
        ended: dict[str, Any] = {
            "disconnected_at": wire_millis(self._world.clock.now()),
            "disconnect_reason": reason,
        }
        self._world.store.put(CONNECTIONS, id_, {**record, **ended})


STREAM_SLOTS = settled(
    "streams.slots",
    "One connection too many is refused with streaming-connection, TooManyConnections, and the "
    "open ones stay. Before that, each open stream of the app is checked: one whose client has "
    "left frees its slot. --stream-connections sets another number.",
    "Events and streams",
)
OPENING = (STREAM_BACKFILL, STREAM_RECOVERY, STREAM_SLOTS)
"""What the answers of a request that opens a stream may rest on."""


def open_stream(call: Call, world: World, endpoint: StreamEndpoint) -> Stream:
    """Return a stream for the app that calls; `call.params` holds those of `WindowQuery`.

    Raises:
        ProblemFailure: The app has as many connections as it may have.
    """
    app = get_app(call)
    streams = world.find_attachment(OpenStreams)
    ends, partition = "start_time" in call.params, call.params.get("partition")
    usual = streams.settings.stream_connections or endpoint.connections
    most = RECOVERY_CONNECTIONS if ends else usual
    if streams.count_present(endpoint, app["id"], partition, ends=ends) >= most:
        value = problem("streaming-connection", connection_issue="TooManyConnections")
        raise ProblemFailure(value, STREAM_SLOTS)
    now = wire_millis(world.clock.now())
    id_, names = world.ids.uuid(), call.names
    opening = Opening(id_, endpoint, app["id"], call.params, call.base_url, now, ends, names)
    past = find_past(world, endpoint, app["id"], call.params)
    stream = streams.open(opening, past)
    record = {
        "id": opening.id,
        "endpoint_name": endpoint.id,
        "connected_at": now,
        "client_ip": call.remote_address or "127.0.0.1",
        "_app_id": app["id"],
    }
    world.store.put(CONNECTIONS, opening.id, record)
    return stream


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
    return {
        "id": stream.opening.id,
        "endpoint": stream.opening.endpoint.id,
        "app_id": stream.opening.app_id,
        "since": stream.opening.opened_at,
        "lines": stream.lines_sent,
        "last_keepalive": stream.last_keepalive,
        "lag": stream.lag,
    }
