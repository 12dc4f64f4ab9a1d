"""Moves a client's connection to the process whose world it asks for.

A hop costs as much as a request. Most clients use a connection for one world, so a connection whose
requests are for another process moves there: its socket and the request that was read. From then on
nothing of it passes through this process. It works between processes of one machine, without TLS
and HTTP/2, where the system can pass sockets on (Linux). All others use the hop for every request.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import stat
from contextlib import suppress
from pathlib import Path

from mock_platform.core.connection import Direct, Request
from mock_platform.serving.cluster import Place
from mock_platform.serving.cluster.channel import is_own_user
from mock_platform.serving.cluster.forwarding import HandedRequest
from mock_platform.serving.cluster.frames import Kind, pack_request, read_frame, read_request
from mock_platform.serving.http.backend import Backend
from mock_platform.serving.http.connection import ClientConnection

_LOG = logging.getLogger(__name__)
_KIND = getattr(socket, "SOCK_SEQPACKET", None) if hasattr(socket, "send_fds") else None
"""A kind of socket that keeps messages apart; `None` where connections cannot move."""
_MAX_MESSAGE = 64 * 1024
"""Bytes of a request that moves with its connection."""
_MAX_WAITING = 64
"""Messages that are taken before anything else is done."""
_STAYS = 255
"""The number of moves after which a connection stays where it is."""


class Door:
    """Takes connections from other processes, and passes some on to them. Runs on the loop."""

    def __init__(self, here: Place) -> None:
        self._here = here
        self._backend: Backend
        self._loop: asyncio.AbstractEventLoop
        self._listener: socket.socket | None = None
        self._open: dict[socket.socket, Place | None] = {}
        """Connections with other processes; the place of those that this one opened."""
        self._ways: dict[Place, socket.socket] = {}
        self._arriving: set[asyncio.Task[None]] = set()

    def open(self, backend: Backend) -> None:
        """Take connections from now on, if the system can pass them on.

        Raises:
            OSError: The socket for it cannot be made.
        """
        self._backend, self._loop = backend, asyncio.get_running_loop()
        if _KIND is None or not self._here.door or backend.scheme != "http":
            return
        path = Path(self._here.door)
        path.unlink(missing_ok=True)  # of a process that was killed
        self._listener = listener = socket.socket(socket.AF_UNIX, _KIND)
        listener.settimeout(0)
        listener.bind(str(path))
        path.chmod(stat.S_IRUSR | stat.S_IWUSR)
        listener.listen()
        self._loop.add_reader(listener, self._accept)
        backend.follow = self._follow

    def give(self, place: Place, client: int, request: Request, moves: int) -> bool:
        """Give a client's socket and its request to another process; return whether it went.

        The caller closes its own end then, without another byte.
        """
        # A connection that has moved very often serves a client that changes worlds all the time;
        # it stays, and its requests take the hop.
        if not place.door or moves >= _STAYS or len(request.body) > _MAX_MESSAGE:
            return False
        way = self._ways.get(place) or self._connect(place)
        return way is not None and self._send(way, client, request, moves + 1)

    def take_waiting(self) -> None:
        """Take what other processes have sent: they stop, and will send nothing more."""
        if self._listener is not None:
            self._accept()
        for way in list(self._open):
            self._receive(way)

    def close(self) -> None:
        """Take no more connections."""
        for each in [self._listener, *self._open]:
            if each is not None:
                self._loop.remove_reader(each)
                each.close()
        self._listener = None
        self._open.clear()
        self._ways.clear()

    # -- details ----------------------------------------------------------------------------------

    def _follow(self, moves: int) -> Trail:
        return Trail(self, moves)

    def _connect(self, place: Place) -> socket.socket | None:
        assert _KIND is not None
        way = socket.socket(socket.AF_UNIX, _KIND)
        way.settimeout(0)
        try:
            way.connect(place.door)
        except OSError:  # it is being started again: the request takes the hop, and waits there
            way.close()
            return None
        if not is_own_user(way):  # the process and its folder are gone, and someone made another
            _LOG.error("What listens at %s is not our process %s.", place.door, place.label)
            way.close()
            return None
        self._ways[place] = way
        self._watch(way, place)
        return way

    def _watch(self, way: socket.socket, place: Place | None) -> None:
        self._open[way] = place
        self._loop.add_reader(way, self._receive, way)

    def _forget(self, way: socket.socket) -> None:
        place = self._open.pop(way, None)
        if place is not None:
            self._ways.pop(place, None)
        self._loop.remove_reader(way)
        way.close()

    def _send(self, way: socket.socket, client: int, request: Request, moves: int) -> bool:
        message = pack_request(moves, "", request, ())
        if len(message) > _MAX_MESSAGE:
            return False
        try:
            socket.send_fds(way, [message], [client])
        except BlockingIOError:  # it has many others to take at present
            return False
        except OSError:
            self._forget(way)
            return False
        return True

    def _accept(self) -> None:
        assert self._listener is not None
        with suppress(BlockingIOError):
            while True:
                way, _ = self._listener.accept()
                way.settimeout(0)
                if is_own_user(way):
                    self._watch(way, None)
                else:
                    _LOG.warning("A process of another user is not let in.")
                    way.close()

    def _receive(self, way: socket.socket) -> None:
        for _ in range(_MAX_WAITING):
            try:
                message, descriptors, _, _ = socket.recv_fds(way, _MAX_MESSAGE, 1)
            except BlockingIOError:
                return
            except OSError:
                message, descriptors = b"", []
            if not message:
                self._forget(way)
                return
            if descriptors:
                self._take(way, message, descriptors[0])

    def _take(self, way: socket.socket, message: bytes, descriptor: int) -> None:
        # The descriptor came with the message and belongs to this process now, whatever happens
        # next: it is wrapped at once, so that it is closed with the object if anything fails. If
        # there is no room for another connection, it goes back to where it came from, marked so
        # that it does not come again.
        client = socket.socket(fileno=descriptor)
        client.settimeout(0)
        client.set_inheritable(False)
        _, moves, payload = read_frame(message, Kind.REQUEST)
        _, _, request = read_request(payload, 0)
        if (
            moves < _STAYS
            and not self._backend.has_space(_address_of(client))
            and self._send(way, client.fileno(), request, _STAYS)
        ):
            client.close()
            return
        connection = ClientConnection(self._backend, trail=self._follow(moves))
        connection.begin_with(request)
        self._backend.hold(connection)
        task = self._loop.create_task(self._attach(client, connection))
        self._arriving.add(task)
        task.add_done_callback(self._arriving.discard)

    async def _attach(self, client: socket.socket, connection: ClientConnection) -> None:
        try:
            await self._loop.connect_accepted_socket(lambda: connection, client)
        except OSError:  # the client left meanwhile
            self._backend.finish_answer(connection)
            client.close()


class Trail:
    """For which processes the requests of a connection were, and whether it should move.

    It moves with the second request in a row for the same other process, so that clients who open a
    connection for each request cost no move. Each further move takes four times as many. One that
    is for a stream moves at once: the process of the world learns then without delay that the
    client has left, and that it may open another one.
    """

    __slots__ = ("_count", "_door", "_moves", "_place", "_wanted")

    def __init__(self, door: Door, moves: int) -> None:
        """`moves` is how often the connection has moved."""
        self._door = door
        self._moves = moves
        self._wanted = 2 << min(2 * moves, 32)
        self._place: Place | None = None
        self._count = 0

    def leads_away(self, direct: Direct | None) -> bool:
        """Add a request by what answers it; return whether the connection should move there."""
        # Requests in a row for one other process make it worth moving; any other request begins the
        # count again. Each move makes the next one four times as hard, so a client that goes back
        # and forth between two worlds settles somewhere.
        handed = direct if type(direct) is HandedRequest else None
        place = None if handed is None else handed.place
        if place is not self._place:
            self._place, self._count = place, 0
        self._count += 1
        if handed is None or place is None:
            return False
        return handed.is_stream or self._count >= self._wanted

    def move(self, descriptor: int, request: Request) -> bool:
        """Move a socket, with the request that leads away; return whether it went."""
        self._count = 0
        place = self._place
        return place is not None and self._door.give(place, descriptor, request, self._moves)


def _address_of(client: socket.socket) -> str:
    try:
        name = client.getpeername()
    except OSError:  # the client left meanwhile
        return ""
    return str(name[0]) if isinstance(name, tuple) else ""
