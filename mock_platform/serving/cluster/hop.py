"""The hop of one process: its connections to the others, its listener for them, and questions."""

from __future__ import annotations

import asyncio
import logging
import socket
import stat
import threading
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from mock_platform.core.cluster_peers import NoAnswer
from mock_platform.core.connection import Direct, Request
from mock_platform.serving.cluster import Misplaced, Place, Placement
from mock_platform.serving.cluster.answering import PeerConnection
from mock_platform.serving.cluster.channel import LOCAL, make_certificate
from mock_platform.serving.cluster.connection_moves import Door
from mock_platform.serving.cluster.forwarding import HandedRequest
from mock_platform.serving.cluster.frames import Kind, pack
from mock_platform.serving.cluster.link import Link, listen
from mock_platform.serving.http.backend import Backend
from mock_platform.serving.http.scheduling import Workers

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

    from mock_platform.serving.flask.wsgi import Edge


class PlacedApplication:
    """Answers the requests of this process's worlds, and hands the others over."""

    def __init__(self, application: Edge, placement: Placement, hop: Hop) -> None:
        self._application = application
        self._find = placement.find
        self._here = placement.here
        self._hop = hop
        self.never_blocks = application.never_blocks

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Answer a WSGI request here."""
        return self._application(environ, start_response)

    def at_once(self, request: Request) -> Direct | None:
        """Return what answers on the loop: this process, or another one; `None` for a thread."""
        world = self._application.name_world(request)
        if world is not None:
            place = self._find(world)
            if place != self._here:
                handed = HandedRequest(self._hop, world, place)
                handed.is_stream = self._application.opens_stream(request)
                return handed
        return self._application.at_once(request)


_LOG = logging.getLogger(__name__)
_ANSWER_SECONDS = 10.0
_TROUBLE_SECONDS = 1.0
"""Seconds that a process may take to say that it is there."""
_MAX_THREADS = 8
ALIVE = "alive"
"""The question whose answer only shows that a process is there."""
Answerer = Callable[[Any], Any]
"""Answers a question: JSON in, JSON out."""


class Hop:
    """Hands requests over to other processes, and takes theirs."""

    def __init__(
        self,
        placement: Placement,
        application: Edge,
        questions: Mapping[str, Answerer],
        listener: socket.socket | None = None,
    ) -> None:
        """`application` answers the requests for worlds of this process.

        `listener` is bound to the address of this process, unless that is the path of a socket.

        Raises:
            MissingExtra: There is a listener, and the library for its certificate is missing.
        """
        self._listener = None if listener is None else (listener, make_certificate())
        self.channel = LOCAL if self._listener is None else self._listener[1].fingerprint
        """What other processes see of this one's end of a connection."""
        self.is_leaving = False
        """Whether this process takes no more requests of others."""
        self._placement = placement
        self._application = application
        self._questions = questions
        self.secret = placement.secret
        self.is_open = False
        """Whether other processes can reach this one."""
        self.backend: Backend
        self.on_drained: Callable[[Callable[[], object]], object] | None = None
        """Called on the loop when this process stops and has no more requests of its own clients;
        it ends when what is passed is called."""
        self._links: dict[Place, Link] = {}
        placement.gone_listeners.append(self._give_up)
        self._connections: set[PeerConnection] = set()
        self._server: asyncio.Server | None = None
        self._door = Door(placement.here)
        # Questions have threads of their own: those that answer never wait for another process.
        self._threads = Workers(_MAX_THREADS)

    # -- the server's -----------------------------------------------------------------------------

    async def open(self, backend: Backend) -> None:
        """Listen for the other processes; called on the loop of the server.

        Raises:
            OSError: The address cannot be used.
        """
        self.backend = backend
        address = self._placement.here.address
        path = Path(address.removeprefix("unix:")) if address.startswith("unix:") else None
        if path is not None:
            path.unlink(missing_ok=True)  # of a process that was killed
        loop = asyncio.get_running_loop()
        self._server = await listen(loop, self._listener or address, self._accept)
        if path is not None:
            path.chmod(stat.S_IRUSR | stat.S_IWUSR)
        self._door.open(backend)
        self.is_open = True

    def hurry(self) -> None:
        """End the pauses of requests from other processes, because this process stops."""
        for connection in list(self._connections):
            connection.hurry()

    def drain(self, release: Callable[[], object]) -> None:
        """Let the server end, or let `on_drained` say when."""

        def end() -> None:
            # First this process says that it takes no more, then its server may end: requests that
            # others have sent already are answered in between.
            self.backend.on_loop(self._leave)
            release()

        if self.on_drained is None:
            end()
        else:
            self.on_drained(end)

    def _leave(self) -> None:
        """Take no more from other processes; what they have sent is still answered."""
        self._door.take_waiting()
        if self._placement.moves and self._server is not None:
            self.is_leaving = True
            self._server.close()
            for connection in list(self._connections):
                connection.leave()

    def close(self) -> None:
        """End all connections with other processes; called on the loop."""
        if self._server is not None:
            self._server.close()
            self._server = None
        self._door.close()
        for connection in list(self._connections):
            connection.abort()
        for link in list(self._links.values()):
            link.close()
        self._threads.dismiss(0)

    # -- the front's ------------------------------------------------------------------------------

    def open_link(self, place: Place) -> Link:
        """Return the connection to a process; open it if needed."""
        link = self._links.get(place)
        if link is None:
            link = self._links[place] = Link(place, self.secret, self._lose)
        return link

    def locate(self, world: str, not_at: Place | None, act: Callable[..., object]) -> None:
        """Find out in a thread where a world lives, then call `act` on the loop."""

        def ask() -> None:
            # Finding out may ask the engine, and wait for it, so it is done in a thread and the
            # result comes back to the loop. Any fault becomes a result too: somewhere a client
            # waits for an answer.
            found: Place | Misplaced
            try:
                found = self._placement.locate(world, not_at)
            except Misplaced as fault:
                found = fault
            except Exception as fault:  # noqa: BLE001 - the client must get an answer
                self.backend.report(fault)
                found = Misplaced(f"Where the world lives cannot be found out: {fault}")
            self.backend.on_loop(act, found)

        self._threads.put(ask)

    def is_here(self, place: Place) -> bool:
        """Whether a place is that of this process."""
        return place == self._placement.here

    def call_later(self, seconds: float, act: Callable[[], object]) -> object:
        """Run something on the loop after real seconds."""
        return self.backend.call_later_in_any_case(seconds, act)

    # -- the owner's ------------------------------------------------------------------------------

    @property
    def here(self) -> Place:
        """The place of this process."""
        return self._placement.here

    def lives_here(self, world: str) -> bool:
        """Whether a world lives in this process, as far as is known."""
        return not self.is_leaving and self._placement.find(world) == self._placement.here

    def answer_here(self, request: Request) -> Direct | None:
        """Return what answers a request on the loop; `None` if that needs a thread."""
        direct = self._application.at_once(request)
        if direct is None and self._application.never_blocks(request):
            return self.backend.call_wsgi
        return direct

    def answer_question(self, payload: bytes, reply: Callable[[bytes], object]) -> None:
        """Answer a question in a thread."""

        def work() -> None:
            try:
                name, argument = orjson.loads(payload)
                answer = {"answer": self._find_answer(name)(argument)}
            except Exception as fault:  # noqa: BLE001 - the process that asks gets it
                _LOG.debug("A question of another process failed", exc_info=True)
                answer = {"fault": str(fault) or type(fault).__name__}
            reply(orjson.dumps(answer))

        self._threads.put(work)

    # -- questions, from any thread except the loop's ----------------------------------------------

    @property
    def label(self) -> str:
        """What people call this process."""
        return self._placement.here.label

    @property
    def count(self) -> int:
        """How many processes there are, this one included."""
        self._placement.refresh()
        return len(self._placement.list_places())

    def ask_all(self, question: str, argument: Any = None) -> Mapping[str, Any]:
        """Return the answers of all other processes by their labels.

        Raises:
            NoAnswer: One of them does not answer.
        """
        found = {}
        for place, one in self._ask_others(question, argument).items():
            try:
                found[place.label] = one.wait(_ANSWER_SECONDS)
            except NoAnswer:
                # Others take over what a process had that is gone; until its lease ends, it is
                # among those that are asked.
                if not (self._placement.moves and one.is_lost):
                    raise
        return found

    def ask_owner(self, world: str, question: str, argument: Any = None) -> Any:
        """Return the answer of the process in which a world lives.

        Raises:
            NoAnswer: It does not answer, or refuses.
        """
        try:
            place = self._placement.locate(world)
        except Misplaced as fault:
            raise NoAnswer(str(fault)) from fault
        return self._ask(place, question, argument).wait(_ANSWER_SECONDS)

    def find_trouble(self) -> str | None:
        """Return why the processes together cannot serve at present; `None` if they can."""
        trouble = self._placement.find_trouble()
        if trouble is not None:
            return trouble
        if self.backend.stopping.is_set():
            return "This process stops."
        if self._placement.moves:  # others may come and go
            return None
        for one in self._ask_others(ALIVE).values():
            try:
                one.wait(_TROUBLE_SECONDS)
            except NoAnswer as fault:
                return str(fault)
        return None

    # -- details ----------------------------------------------------------------------------------

    def _find_answer(self, name: str) -> Answerer:
        if name == ALIVE:
            return lambda _: None
        found = self._questions.get(name)
        if found is None:
            raise LookupError(f"this process does not know the question {name!r}")
        return found

    def _ask_others(self, question: str, argument: Any = None) -> dict[Place, _Asked]:
        here = self._placement.here
        self._placement.refresh()
        places = [place for place in self._placement.list_places() if place != here]
        return {place: self._ask(place, question, argument) for place in places}

    def _ask(self, place: Place, question: str, argument: Any) -> _Asked:
        asked = _Asked(place, orjson.dumps([question, argument]))

        def send() -> None:
            asked.send(self.open_link(place))

        self.backend.on_loop(send)
        return asked

    def _accept(self) -> PeerConnection:
        return PeerConnection(self, self._connections)

    def _give_up(self, place: Place) -> None:
        """End the connection to a process that hangs; another one answers in its place."""

        def end() -> None:
            link = self._links.get(place)
            if link is not None:
                link.abort()

        self.backend.on_loop(end)

    def _lose(self, link: Link) -> None:
        if self._links.get(link.place) is link:
            del self._links[link.place]


class _Asked:
    """A question that another process answers; a thread waits."""

    def __init__(self, place: Place, payload: bytes) -> None:
        self._place = place
        self._payload = payload
        self._done = threading.Event()
        self.is_lost = False
        """Whether the process cannot be reached."""
        self._answer: dict[str, Any] = {"fault": "it did not answer in time"}

    def send(self, link: Link) -> None:
        """Send the question; called on the loop."""
        link.write(pack(Kind.QUESTION, link.add(self), self._payload))

    def take_frame(self, kind: int, payload: bytes) -> None:
        """Take the answer of the process."""
        self._answer = orjson.loads(payload)
        self._done.set()

    def lose(self, *, sent: bool) -> None:
        """End the wait: the process has ended, or cannot be reached."""
        self.is_lost = True
        self._answer = {"fault": "it cannot be reached"}
        self._done.set()

    def wait(self, seconds: float) -> Any:
        """Wait for the answer and return it.

        Raises:
            NoAnswer: It did not come in time, or the process refuses.
        """
        self._done.wait(seconds)
        answer = self._answer
        if "fault" in answer:
            raise NoAnswer(f"Process {self._place.label}: {answer['fault']}.")
        return answer["answer"]
