"""The connection from this process to another: opened when needed, kept, shared by all requests."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Callable
from typing import Protocol, cast

from mock_platform.serving.cluster import Place
from mock_platform.serving.cluster.channel import (
    FRONT,
    OWNER,
    Certificate,
    Greeting,
    draw,
    find_fingerprint,
    is_stranger,
    make_client_context,
)
from mock_platform.serving.cluster.frames import MAX_PAYLOAD, FrameReader, Kind, pack

_LOG = logging.getLogger(__name__)
_UNIX = "unix:"
_CONNECT_SECONDS = 2.0
_MAX_NUMBER = 0xFFFFFFFF
_MAX_GREETING = 1024
"""Bytes of a payload from someone who has not yet proved to know the secret."""
_LARGE = 128 * 1024
"""Bytes that are written at once instead of with the loop's next round."""


class Taker(Protocol):
    """What waits for the frames of one number."""

    def take_frame(self, kind: int, payload: bytes) -> None:
        """Take a frame that the other process sent."""

    def lose(self, *, sent: bool) -> None:
        """The connection is lost; `sent` is whether the other process may have got the request."""


class FrameProtocol(asyncio.Protocol):
    """A connection that carries frames; collects what is written in one round of the loop."""

    def __init__(self) -> None:
        self._reader = FrameReader()
        self._reader.max_payload = _MAX_GREETING
        self._out: list[bytes] = []
        self._loop = asyncio.get_running_loop()
        self.transport: asyncio.Transport | None = None
        self.is_known = False
        """Whether the other side has proved that it knows the secret; nothing is sent before."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport; what was written before is sent when the other side is known."""
        self.transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        """Take the frames that are complete."""
        try:
            for kind, number, payload in self._reader.feed(data):
                self.take(kind, number, payload)
        except ValueError as fault:
            if not self.is_known:
                self.refuse_stranger()
                return
            _LOG.error("A process sent what is not understood (%s); its connection ends.", fault)
            self.abort()

    def take(self, kind: int, number: int, payload: bytes) -> None:
        """Take one frame of the other process."""
        raise NotImplementedError

    def trust(self) -> None:
        """Take and send frames of any size: the other side knows the secret."""
        self.is_known = True
        self._reader.max_payload = MAX_PAYLOAD

    def refuse_stranger(self) -> None:
        """End the connection: the other side does not know the secret."""
        _LOG.warning("Someone who does not know the secret of the processes is not let in.")
        self.abort()

    def write(self, frame: bytes) -> None:
        """Send a frame with the others of this round."""
        out = self._out
        # Frames of one round of the loop go in one write, like answers to clients. A large one does
        # not wait: copying it together with others would cost more than the write.
        out.append(frame)
        if len(out) == 1:
            self._loop.call_soon(self._flush)
        if len(frame) > _LARGE:
            self._flush()

    def abort(self) -> None:
        """End the connection now."""
        if self.transport is not None:
            self.transport.abort()

    def _flush(self) -> None:
        out, transport = self._out, self.transport
        if transport is not None and transport.is_closing():  # whoever waits learns of it apart
            out.clear()
        elif out and transport is not None and self.is_known:
            transport.write(out[0] if len(out) == 1 else b"".join(out))
            out.clear()


class Link(FrameProtocol):
    """The connection to one process. Everything runs on the loop's thread."""

    def __init__(self, place: Place, secret: bytes, on_lost: Callable[[Link], object]) -> None:
        """Open the connection; frames may be sent before it is there."""
        super().__init__()
        self.place = place
        self._on_lost = on_lost
        self._secret = secret
        self._takers: dict[int, Taker] = {}
        self._numbers = 0
        self._greeting: Greeting | None = None
        self._opening = self._loop.create_task(self._open())
        self._hello = self._loop.call_later(_CONNECT_SECONDS, self._expect_welcome)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport, unless a process of another user listens there."""
        super().connection_made(transport)
        assert self.transport is not None
        if is_stranger(self.transport):
            self.refuse_stranger()

    def add(self, taker: Taker) -> int:
        """Return a number under which a taker gets the frames of the other process."""
        self._numbers = number = self._numbers % _MAX_NUMBER + 1
        self._takers[number] = taker
        return number

    def forget(self, number: int) -> None:
        """Pass on no more frames of this number."""
        self._takers.pop(number, None)

    def take(self, kind: int, number: int, payload: bytes) -> None:
        """Pass a frame to the one that waits for it; a late one is dropped."""
        taker = self._takers.get(number)
        if taker is not None and self.is_known:
            taker.take_frame(kind, payload)
        elif number == 0:
            self._hear(kind, payload)

    def connection_lost(self, exc: Exception | None) -> None:
        """Tell everyone who waits; the next request opens another connection."""
        self._hello.cancel()
        self._lose(sent=self.is_known)

    def close(self) -> None:
        """End the connection because this process ends."""
        self._opening.cancel()
        self._hello.cancel()
        if self.transport is not None:
            self.transport.close()

    async def _open(self) -> None:
        try:
            async with asyncio.timeout(_CONNECT_SECONDS):
                await connect(self._loop, self.place.address, lambda: self)
        except (OSError, TimeoutError) as fault:
            _LOG.debug("Process %s cannot be reached: %s", self.place.label, fault)
            self._lose(sent=False)

    def _hear(self, kind: int, payload: bytes) -> None:
        """Hear what the owner says of itself."""
        # Three messages. The owner sends a random text (CHALLENGE). The front answers with one of
        # its own and its code (HELLO); it proves itself first, so that a stranger who connects
        # learns no code. The owner answers with its code (WELCOME). Frames that were written
        # meanwhile wait until the last one is right.
        greeting = self._greeting
        if kind == Kind.CHALLENGE and greeting is None and self.transport is not None:
            greeting = Greeting(payload, draw(), self.place, find_fingerprint(self.transport))
            self._greeting = greeting
            code = greeting.prove(self._secret, FRONT)
            self.transport.write(pack(Kind.HELLO, 0, greeting.second + code))
        elif kind == Kind.WELCOME and greeting is not None:
            self._hello.cancel()
            if greeting.is_proof(payload, self._secret, OWNER):
                self.trust()
                self._flush()
            else:
                self.refuse_stranger()
        # New requests find another connection, perhaps to another process, from now on. Those on
        # their way are still answered here; `BYE` says that the last of them was sent.
        elif kind == Kind.LEAVING and self.is_known:
            self._on_lost(self)
            self.write(pack(Kind.BYE, 0))

    def refuse_stranger(self) -> None:
        """End the connection: something else listens where the process was."""
        place = self.place
        _LOG.error("What listens at %s is not our process %s.", place.address, place.label)
        self.abort()

    def _expect_welcome(self) -> None:
        if not self.is_known:
            self.abort()

    def _lose(self, *, sent: bool) -> None:
        self._on_lost(self)
        takers, self._takers = self._takers, {}
        for taker in takers.values():
            taker.lose(sent=sent)


async def connect(
    loop: asyncio.AbstractEventLoop, address: str, make: Callable[[], asyncio.Protocol]
) -> None:
    """Connect to a place's address.

    Raises:
        OSError: No process listens there.
    """
    if address.startswith(_UNIX):
        await loop.create_unix_connection(make, address.removeprefix(_UNIX))
        return
    host, _, port = address.rpartition(":")
    context = make_client_context()
    await loop.create_connection(make, host.strip("[]"), int(port), ssl=context, server_hostname="")


async def listen(
    loop: asyncio.AbstractEventLoop,
    address: str | tuple[socket.socket, Certificate],
    make: Callable[[], asyncio.Protocol],
) -> asyncio.Server:
    """Listen at the address `unix:PATH`, or with a certificate on a bound socket.

    Raises:
        OSError: The address is in use, or cannot be used.
    """
    if isinstance(address, str):
        return await loop.create_unix_server(make, address.removeprefix(_UNIX))
    bound, certificate = address
    return await loop.create_server(
        make, sock=bound, ssl=certificate.context, ssl_handshake_timeout=_CONNECT_SECONDS
    )
