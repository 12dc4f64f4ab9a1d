"""Opens a stream for a request: its slot, its record in `connections`, what it begins with."""

from __future__ import annotations

from mock_platform.core.assumptions import settled
from mock_platform.core.call import Call
from mock_platform.core.failures.errors import ProblemFailure
from mock_platform.core.failures.problems import problem
from mock_platform.settings import Settings
from mock_platform.streams.endpoint import StreamEndpoint
from mock_platform.streams.open_streams import CONNECTIONS, OpenStreams
from mock_platform.streams.stream import Opening, Stream
from mock_platform.streams.window import RECOVERY_CONNECTIONS, find_past
from mock_platform.world.clock import wire_millis
from mock_platform.world.world import World

SLOTS = settled(
    "streams.slots",
    "One connection too many is refused with streaming-connection, TooManyConnections, and the "
    "open ones stay. Before that, each open stream of the app is checked: one whose client has "
    "left frees its slot. --stream-connections sets another number.",
    "Events and streams",
)


def open_stream(call: Call, world: World, endpoint: StreamEndpoint, settings: Settings) -> Stream:
    """Return a stream for the app that calls; `call.params` holds those of `WindowQuery`.

    Raises:
        ProblemFailure: The app has as many connections as it may have.
    """
    app = call.caller.app
    assert app is not None, "streams are for apps"
    streams = world.find_attachment(OpenStreams)
    ends = "start_time" in call.params
    most = RECOVERY_CONNECTIONS if ends else settings.stream_connections or endpoint.connections
    if streams.count_present(endpoint, app["id"], ends=ends) >= most:
        value = problem("streaming-connection", connection_issue="TooManyConnections")
        raise ProblemFailure(value, SLOTS)
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
