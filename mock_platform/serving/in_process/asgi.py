"""The sandbox as an ASGI application, for asynchronous clients in the same process.

A request is answered on the caller's event loop, as the server answers it on its own. Only what may
block, such as the control plane, goes to a thread. Delays and streams are awaited.
"""

from __future__ import annotations

import asyncio
import sys
from asyncio import CancelledError, Future
from collections.abc import (
    AsyncIterable,
    AsyncIterator,
    Awaitable,
    Callable,
    Iterable,
    MutableMapping,
)
from contextlib import suppress
from contextvars import copy_context
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Any, Literal, NoReturn, Protocol, Self
from urllib.parse import quote

from mock_platform.core.connection import Direct, Pause, Peer, Request
from mock_platform.serving.http.answer import Answer
from mock_platform.serving.http.backend import EnvironMaker
from mock_platform.serving.http.binding import Bound
from mock_platform.serving.in_process.connection import CallerConnection
from mock_platform.world.clock import UPTIME

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

_SAFE = "/:@!$&'()*+,;=~-._"
_MADE_UP = Bound("127.0.0.1", 80, "http://127.0.0.1")
"""Where a request came that came over no socket; its header Host says what the client called."""


class ClientLeft(Exception):
    """The client of an answer that is being sent is there no longer."""


class InProcess(Protocol):
    """A WSGI application that may answer a request without an environ."""

    def __call__(self, environ: WSGIEnvironment, start: StartResponse, /) -> Iterable[bytes]:
        """Answer one WSGI request."""

    def at_once_in_process(self, request: Request) -> Direct | None:
        """Return an object that answers the request without blocking, if there is one."""


class AsgiApplication:
    """Answers requests of asynchronous clients, without a socket.

    If a scenario breaks the connection, the call raises: what httpx raises then if the process has
    loaded it, else the built-in exception. An answer that never comes does so at once.

    Example:
        >>> import asyncio, httpx
        >>> from mock_platform import MockPlatform
        >>> async def ask(platform):
        ...     transport = httpx.ASGITransport(platform.asgi)
        ...     async with httpx.AsyncClient(transport=transport, base_url="http://api") as client:
        ...         return await client.get("/2/users/1")
        >>> with MockPlatform.start() as platform:
        ...     print(asyncio.run(ask(platform)).status_code)  # no credentials
        401
    """

    def __init__(self, application: InProcess, max_body: int) -> None:
        self._application = application
        self._max_body = max_body
        self._environs = EnvironMaker(_MADE_UP)

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Serve one connection of ASGI: a request, or the life of the application."""
        match scope["type"]:
            case "http":
                await self._serve(scope, receive, send)
            case "lifespan":
                await _live(receive, send)
            case "websocket":
                await send({"type": "websocket.close", "code": 1000})
            case other:
                raise ValueError(f"The sandbox serves http and lifespan of ASGI, not {other!r}.")

    def answer(
        self,
        request: Request,
        address: str = _MADE_UP.host,
        *,
        mount: str = "",
        timeout: float | None = None,
        receive: Receive | None = None,
    ) -> AsyncAnswer:
        """Return the answer to a request, for an `async with`.

        `mount` is the path of this application in another one, `timeout` after how many seconds
        without a piece of the answer the client stops to wait. `receive` returns when it left.
        """

        def call_wsgi(request: Request, peer: Peer, start: StartResponse) -> Iterable[bytes]:
            environ = self._environs.environ_of(request, peer)
            environ["SCRIPT_NAME"] = mount
            return self._application(environ, start)

        direct = None if mount else self._application.at_once_in_process(request)
        return AsyncAnswer(request, direct, call_wsgi, address, timeout, receive)

    async def read_body(self, parts: AsyncIterable[bytes]) -> bytes:
        """Return the body of a request, of which no more is read than shows that it is too long."""
        body = bytearray()
        async for part in parts:
            body += part
            if len(body) > self._max_body:
                break
        return bytes(body)

    async def _serve(self, scope: Message, receive: Receive, send: Send) -> None:
        with suppress(ClientLeft):
            request = _make_request(scope, await self.read_body(_receive_body(receive)))
            client, mount = scope.get("client") or (_MADE_UP.host,), scope.get("root_path", "")
            async with self.answer(request, client[0], mount=mount, receive=receive) as answer:
                headers = [
                    (name.lower().encode("latin-1"), value.strip().encode("latin-1"))
                    for name, value in answer.headers
                ]
                status = int(answer.status[:3])
                await send({"type": "http.response.start", "status": status, "headers": headers})
                async for piece in answer:
                    await send({"type": "http.response.body", "body": piece, "more_body": True})
                await send({"type": "http.response.body", "body": b"", "more_body": False})


class AsyncAnswer(Answer):
    """The answer to one request: in an `async with` it has its head, and iterates over its body."""

    def __init__(
        self,
        request: Request,
        direct: Direct | None,
        call_wsgi: Direct,
        address: str,
        timeout: float | None,
        receive: Receive | None,
    ) -> None:
        super().__init__(request, direct, UPTIME(), _raise, str, keep_alive=True)
        self._line = _Line(timeout)
        self._peer = Peer(self._line, address, "0", request.scheme, _MADE_UP.host)
        self._call_wsgi = call_wsgi
        self._receive = receive
        self._watch: asyncio.Task[None] | None = None
        self._made: list[bytes] = []
        self._is_abandoned = False

    async def __aenter__(self) -> Self:
        make: Callable[[], list[bytes] | Pause]
        make = partial(self.run, self.direct or self._call_wsgi, self._peer)
        # A caller that asks until another task has done something would never let it run.
        await asyncio.sleep(0)
        try:
            while not (self._made or self.complete):
                self._made = await self._advance(make)
                make = self.step
        except BaseException:
            await self.aclose()
            raise
        self.head_sent = True
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes:
        while not self._made:
            if self.complete:
                self._check_length()
                raise StopAsyncIteration
            self._made = await self._advance(self.step)
        piece = self._made.pop(0)
        self.body_bytes += len(piece)
        self._line.restart_timeout()
        return piece

    async def aclose(self) -> None:
        """End the answer; what of it was not read has lost its client. Idempotent."""
        if self._watch is not None:
            self._watch.cancel()
        if self._is_abandoned or self._body is None:
            return
        if self.direct is not None:
            self.close()
        else:
            await self._run_in_thread(self.close)

    async def _advance(self, make: Callable[[], list[bytes] | Pause]) -> list[bytes]:
        """Return the next pieces of the body, after the pauses before them."""
        line = self._line
        while True:
            line.woken.clear()  # whatever wakes it from now on is about more than `make` has seen
            made = make() if self.direct is not None else await self._run_in_thread(make)
            if isinstance(made, Pause):
                if self._receive is not None and self._watch is None:
                    self._watch = asyncio.ensure_future(line.leave_with(self._receive))
                await line.pause(made)
            if line.is_taken:
                raise self._explain_break()
            if line.is_gone():
                raise ClientLeft
            if not isinstance(made, Pause):
                return made
            make = self.step

    async def _run_in_thread(self, make: Callable[[], Any]) -> Any:
        loop = asyncio.get_running_loop()
        work = loop.run_in_executor(None, copy_context().run, make)
        try:
            return await asyncio.shield(work)
        except CancelledError:
            self._is_abandoned = True  # the thread goes on, so the answer is closed after it
            work.add_done_callback(self._drop)
            raise

    def _drop(self, work: Future[Any]) -> None:
        if not work.cancelled():
            work.exception()  # it is read, since it cannot be raised any more
            self.close()

    def _explain_break(self) -> Exception:
        """Return what the client of a socket would raise now that the connection is broken."""
        try:
            sent = self._line.take_sent_bytes()
        except TimeoutError as fault:
            return _network_error("ReadTimeout", str(fault))
        except OSError as fault:
            return _network_error("ReadError", str(fault))
        if sent:
            place = "chunk header" if self.head_sent else "status line"
            return _network_error("RemoteProtocolError", f"illegal {place}: {bytearray(sent)!r}")
        if self.head_sent:
            return _incomplete("incomplete chunked read")
        text = "Server disconnected without sending a response."
        return _network_error("RemoteProtocolError", text)

    def _check_length(self) -> None:
        """Check that all of the declared body came.

        Raises:
            Exception: It is shorter, as a scenario wants it.
        """
        lengths = (value for name, value in self.headers if name.lower() == "content-length")
        length = next(lengths, "")
        if length.isdecimal() and self.body_bytes < int(length) and not self._has_no_body():
            raise _incomplete(f"received {self.body_bytes} bytes, expected {length}")

    # What a server would frame is left as it is, and what fails is raised.

    def _pack(self, pieces: list[bytes]) -> list[bytes]:
        if not self._started and not self._line.is_taken:
            raise RuntimeError("the WSGI application did not call start_response before its body")
        return [] if self._has_no_body() else [piece for piece in pieces if piece]

    def _fail(self, fault: BaseException) -> list[bytes]:
        raise fault


class _Line(CallerConnection):
    """The connection for the application, to a caller on an event loop."""

    pauses = True

    def __init__(self, timeout: float | None) -> None:
        super().__init__(timeout)
        try:
            self._loop = asyncio.get_running_loop()
        except RuntimeError:
            text = "The sandbox is called in this process from asyncio. With trio, call `base_url`."
            raise RuntimeError(text) from None
        self.woken = asyncio.Event()
        self._has_left = False

    def is_gone(self) -> bool:
        """Whether the caller has said that it left."""
        return self._has_left

    def resume(self, *, urgent: bool) -> None:
        """End a pause early, from any thread."""
        with suppress(RuntimeError):  # the caller's loop has ended, and nobody reads any more
            self._loop.call_soon_threadsafe(self.woken.set)

    async def leave_with(self, receive: Receive) -> None:
        """Wait until the client leaves, and end the pause then."""
        while (await receive())["type"] != "http.disconnect":
            pass
        self._has_left = True
        self.woken.set()

    async def pause(self, pause: Pause) -> None:
        """Wait; a wait that is longer than the caller's timeout ends the connection.

        It does so at once if nothing could come meanwhile.
        """
        left = inf if self._timeout is None else self._timeout - self._silent
        seconds = min(pause.seconds, left)
        is_last = pause.seconds >= left
        if pause.endless or not is_last:
            with suppress(TimeoutError):
                await asyncio.wait_for(self.woken.wait(), None if seconds == inf else seconds)
                return
            self._silent += seconds
        if is_last:
            self.hold()


def _raise(fault: BaseException) -> NoReturn:
    raise fault


def _incomplete(what: str) -> Exception:
    text = f"peer closed connection without sending complete message body ({what})"
    return _network_error("RemoteProtocolError", text)


_BUILT_IN = {
    "ReadError": ConnectionResetError,
    "ReadTimeout": TimeoutError,
    "RemoteProtocolError": ConnectionError,
}


def _network_error(
    name: Literal["ReadError", "ReadTimeout", "RemoteProtocolError"], text: str
) -> Exception:
    """Return httpx's exception if the process has loaded it, since its user catches those."""
    httpx = sys.modules.get("httpx")
    error: Exception = (_BUILT_IN[name] if httpx is None else getattr(httpx, name))(text)
    return error


def _make_request(scope: Message, body: bytes) -> Request:
    path = scope.get("raw_path") or quote(scope["path"], safe=_SAFE).encode()
    query = scope.get("query_string", b"")
    target = (path + b"?" + query if query else path).decode("latin-1")
    headers = [(bytes(name), bytes(value)) for name, value in scope["headers"]]
    scheme, version = scope.get("scheme", "http"), scope.get("http_version", "1.1")
    return Request(
        scope["method"], target, "", version, headers, body, keep_alive=True, scheme=scheme
    )


async def _receive_body(receive: Receive) -> AsyncIterator[bytes]:
    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientLeft
        more = message.get("more_body", False)
        yield message.get("body", b"")


async def _live(receive: Receive, send: Send) -> None:
    """Say that start and end are done: who started the sandbox stops it."""
    while True:
        kind = (await receive())["type"]
        await send({"type": f"{kind}.complete"})
        if kind == "lifespan.shutdown":
            return
