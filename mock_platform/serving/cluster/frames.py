"""The frames that two processes exchange: bytes to values and back, without IO.

A frame is the length of its payload (4 bytes), its kind (1), the number of its request (4) and the
payload. Texts of a payload are separated by a NUL, which no part of a request or answer contains.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from enum import IntEnum

from mock_platform.core.connection import Request

_HEAD = struct.Struct("!IBI")
_LENGTH = struct.Struct("!I")
_HEAD_BYTES = _HEAD.size
MAX_PAYLOAD = 512 * 1024 * 1024
"""Bytes of a payload. The largest is a body, which the limits of the front allowed."""
_NUL = b"\0"
Frame = tuple[int, int, bytes]
"""Kind, number of the request, payload."""


class Kind(IntEnum):
    """What a frame says."""

    # From the front, which opened the connection, to the owner.
    HELLO = 1
    """The answer to a challenge, as the first frame: a text, and a code (`channel.Greeting`)."""
    REQUEST = 2
    """A whole request."""
    LEFT = 3
    """The client has left; the payload is empty, or `slow` if it did not read."""
    CLOGGED = 4
    """The client does not read at present."""
    READING = 5
    """The client reads again."""
    HURRY = 6
    """The front stops: pauses end at once, streams end."""
    QUESTION = 7
    """A question in JSON."""
    BYE = 8
    """The front has understood that the owner leaves: it sends no more requests here."""
    # From the owner to the front.
    ANSWER = 16
    """A whole answer: head and body."""
    START = 17
    """The head of an answer, and the first part of its body."""
    DATA = 18
    """A part of the body."""
    ENDLESS = 19
    """The body goes on as long as the client is there."""
    END = 20
    """The answer is complete."""
    BROKEN = 21
    """The answer ends without its end: the application failed."""
    RESET = 22
    """Break the client's connection."""
    CLOSE = 23
    """Close the client's connection without another byte."""
    HOLD = 24
    """Leave the client's connection open without an answer."""
    RAW = 25
    """Bytes for the client as they are, which need not be HTTP."""
    MOVED = 26
    """The world does not live here."""
    REPLY = 27
    """The answer to a question in JSON."""
    CHALLENGE = 28
    """A text to prove the secret with, as the first frame of the owner."""
    WELCOME = 29
    """The owner's code: the front may send requests."""
    LEAVING = 30
    """The owner stops: it answers what it has, and takes no more."""


def pack(kind: int, number: int, payload: bytes = b"") -> bytes:
    """Return a frame in bytes."""
    return _HEAD.pack(len(payload), kind, number) + payload


def read_frame(data: bytes, wanted: Kind) -> Frame:
    """Return the one frame in a message.

    Raises:
        ValueError: It is of another kind, or not whole; it was not sent by one of ours.
    """
    length, kind, number = _HEAD.unpack_from(data)
    if kind != wanted or len(data) != _HEAD_BYTES + length:
        raise ValueError(f"a message of {len(data)} bytes")
    return kind, number, data[_HEAD_BYTES:]


class FrameReader:
    """Turns bytes, as they arrive, into frames."""

    def __init__(self) -> None:
        self.max_payload = MAX_PAYLOAD
        self._parts: list[bytes] = []
        self._missing = 0

    def feed(self, data: bytes) -> Iterator[Frame]:
        """Return the frames that are complete now.

        Raises:
            ValueError: A frame is larger than any can be; it was not sent by one of ours.
        """
        if self._missing > len(data):  # a large frame, of which a further part came
            self._parts.append(data)
            self._missing -= len(data)
            return
        if self._parts:
            data = b"".join([*self._parts, data])
            self._parts, self._missing = [], 0
        start, end = 0, len(data)
        while end - start >= _HEAD_BYTES:
            length, kind, number = _HEAD.unpack_from(data, start)
            if length > self.max_payload:
                raise ValueError(f"a frame of {length} bytes")
            # Frames are cut from what has arrived without copying the rest. How many bytes are
            # missing is remembered, so that a large frame in many pieces is joined once, when all
            # of it is there.
            stop = start + _HEAD_BYTES + length
            if stop > end:
                self._missing = stop - end
                break
            yield kind, number, data[start + _HEAD_BYTES : stop]
            start = stop
        else:
            self._missing = _HEAD_BYTES - (end - start) if start < end else 0
        if start < end:
            self._parts = [data[start:]]


def pack_request(number: int, world: str, request: Request, peer: Sequence[str]) -> bytes:
    """Return a request in bytes; `peer` are the texts of its client."""
    texts = [
        # Texts are joined by zero bytes, which no part of a request can have: the reader refuses
        # them. That is faster than a length for each, and as safe.
        world.encode("utf-8", "surrogateescape"),
        *(text.encode("utf-8", "surrogateescape") for text in peer),
        request.method.encode("latin-1"),
        request.target.encode("latin-1"),
        request.authority.encode("latin-1"),
        request.version.encode("latin-1"),
        b"1" if request.keep_alive else b"",
        request.scheme.encode("latin-1"),
    ]
    for pair in request.headers:
        texts += pair
    head = _NUL.join(texts)
    length = _LENGTH.size + len(head) + len(request.body)
    start = _HEAD.pack(length, Kind.REQUEST, number) + _LENGTH.pack(len(head))
    return b"".join((start, head, request.body))


def read_request(payload: bytes, peer_texts: int) -> tuple[str, list[str], Request]:
    """Return the world, the texts of the client and the request in a payload."""
    (length,) = _LENGTH.unpack_from(payload)
    body_at = _LENGTH.size + length
    texts = payload[_LENGTH.size : body_at].split(_NUL)
    world, *peer = (text.decode("utf-8", "surrogateescape") for text in texts[: 1 + peer_texts])
    method, target, authority, version, alive, scheme = texts[1 + peer_texts : 7 + peer_texts]
    fields = texts[7 + peer_texts :]
    request = Request(
        method.decode("latin-1"),
        target.decode("latin-1"),
        authority.decode("latin-1"),
        version.decode("latin-1"),
        list(zip(fields[::2], fields[1::2], strict=True)),
        payload[body_at:],
        bool(alive),
        scheme.decode("latin-1"),
    )
    return world, peer, request


def pack_start(
    kind: int, number: int, status: str, headers: Sequence[tuple[str, str]], body: bytes
) -> bytes:
    """Return the head of an answer, and a part of its body, in bytes."""
    texts = [status]
    for pair in headers:
        texts += pair
    head = "\0".join(texts).encode("latin-1")
    length = _LENGTH.size + len(head) + len(body)
    return b"".join((_HEAD.pack(length, kind, number), _LENGTH.pack(len(head)), head, body))


def read_start(payload: bytes) -> tuple[str, list[tuple[str, str]], bytes]:
    """Return status, headers and the first part of the body in a payload."""
    (length,) = _LENGTH.unpack_from(payload)
    body_at = _LENGTH.size + length
    status, *texts = payload[_LENGTH.size : body_at].decode("latin-1").split("\0")
    return status, list(zip(texts[::2], texts[1::2], strict=True)), payload[body_at:]


def read_length(headers: Sequence[tuple[str, str]]) -> int | None:
    """Return the bytes of a body as the head of its answer says; `None` if it does not."""
    for name, value in headers:
        if name.lower() == "content-length" and value.isdecimal():
            return int(value)
    return None
