"""HTTP/2 clients that send without end, never read, or ask for more memory than others."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterable

import h2.errors
import h2.events
import h2.settings
import pytest

from mock_platform.serving.http import ServerThread
from mock_platform.settings import ConnectionSettings
from tests.serving.http.frames import HEAD, Frames, frame
from tests.serving.http.wire import Environ, Start, Wire, hello, reply
from tests.waits import PATIENCE

pytestmark = pytest.mark.live

HTTP2 = ConnectionSettings(http2=True)
CALM = h2.errors.ErrorCodes.ENHANCE_YOUR_CALM
CHEAP = {
    "empty DATA": frame(0, 0, 1), "padded DATA": frame(0, 0x8, 1, b"\x04pads"),
    "PRIORITY": frame(2, 0, 1, bytes(4) + b"\x10"), "SETTINGS": frame(4, 0, 0),
    "PING": frame(6, 0, 0, b"12345678"), "WINDOW_UPDATE": frame(8, 0, 0, b"\x00\x00\x00\x01"),
    "WINDOW_UPDATE of a stream": frame(8, 0, 1, b"\x00\x00\x00\x01"),
    "RST_STREAM": frame(3, 0, 1, bytes(4)), "an unknown kind": frame(0x55, 0, 0),
}  # fmt: skip
"""Frames that ask for nothing, of which thousands are too many."""
REFUSED = {
    **{name: (wire * 3000, CALM, b"Too many") for name, wire in CHEAP.items()},
    # A frame with thousands of settings is as many; without it h2 kept each unknown one.
    "thousands of settings": (
        frame(4, 0, 0, b"".join(number.to_bytes(2) + bytes(4) for number in range(1000, 3500))),
        CALM, b"",
    ),
    # Its header suffices; nothing of it is kept.
    "a frame that is too large": (
        b"\xff\xff\xff\x00\x00\x00\x00\x00\x01", h2.errors.ErrorCodes.FRAME_SIZE_ERROR, b"16384"
    ),
    "headers of stream 0": (
        b"\x00\x00\x01\x01\x00\x00\x00\x00\x00x", h2.errors.ErrorCodes.PROTOCOL_ERROR, b""
    ),
}  # fmt: skip


class OnLoop:
    """An application that is called on the loop of the server."""

    def never_blocks(self, _request: object) -> bool:
        """Every request is answered at once."""
        return True

    def __call__(self, environ: Environ, start: Start) -> Iterable[bytes]:
        """Answers hello."""
        return hello(environ, start)


@pytest.mark.parametrize(("wire", "code", "told"), REFUSED.values(), ids=REFUSED)
def test_what_breaks_the_rules_ends_the_connection(wire: bytes, code: int, told: bytes) -> None:
    """The client is sent away, with the name of what was too many or too large."""
    with ServerThread(hello, limits=HTTP2) as server, Frames(server) as client:
        client.ask(method="POST", ended=False)
        client.socket.sendall(wire)

        left = client.read_until(h2.events.ConnectionTerminated)

        assert code == left.error_code
        assert told in (left.additional_data or b"")


def test_frames_for_what_was_answered_are_not_counted() -> None:
    """A client may open its window with every frame of a large answer."""

    def large(_environ: Environ, start: Start) -> list[bytes]:
        return reply(start, bytes(3_000_000))

    with ServerThread(large, limits=HTTP2) as server, Frames(server) as client:
        client.ask()
        received = 0
        while received < 3_000_000:
            for event in client.h2.receive_data(client.socket.recv(65_536)):
                assert not isinstance(event, h2.events.ConnectionTerminated)
                if isinstance(event, h2.events.DataReceived):
                    received += len(event.data)
                    for _ in range(5):
                        client.h2.increment_flow_control_window(len(event.data))
                        if received < 2_900_000:
                            client.h2.increment_flow_control_window(len(event.data), 1)
            client.send()

    assert 3_000_000 == received


def test_others_are_answered_beside_a_thousand_requests_of_one() -> None:
    """Who asks after the first of them is answered before the last."""
    seen: list[str] = []
    others: list[Wire] = []

    class Watching(OnLoop):
        def __call__(self, environ: Environ, start: Start) -> Iterable[bytes]:
            seen.append(environ["PATH_INFO"])
            if len(seen) == 2:  # the loop reads nothing meanwhile
                others[0].get("/other")
            return hello(environ, start)

    with (
        ServerThread(Watching(), limits=HTTP2) as server,
        Wire(server) as other,
        Frames(server) as client,
    ):
        others.append(other)
        assert 200 == other.get("/first").answer().status
        for _ in range(1000):
            number = client.h2.get_next_available_stream_id()
            client.h2.send_headers(number, HEAD, end_stream=True)
            client.h2.outbound_flow_control_window = 65_535
            client.h2.streams.clear()  # the limit of open ones is the server's to keep
        client.send()
        assert 200 == other.answer().status
        client.socket.settimeout(PATIENCE)
        while len(seen) < 1002:
            assert client.socket.recv(65_536)

    assert seen.index("/other") < 1000


def test_requests_beyond_the_number_are_refused_alone() -> None:
    """Of 120 requests at once 100 are answered; the others may be asked again (RFC 9113, 5.1.2)."""
    gate = threading.Event()

    def wait(environ: Environ, start: Start) -> Iterable[bytes]:
        assert gate.wait(PATIENCE)
        return hello(environ, start)

    with ServerThread(wait, limits=HTTP2) as server, Frames(server) as client:
        for _ in range(120):
            client.h2.send_headers(client.h2.get_next_available_stream_id(), HEAD, end_stream=True)
        client.send()
        refused = answered = 0
        for event in client.events():
            if isinstance(event, h2.events.StreamReset):
                assert h2.errors.ErrorCodes.REFUSED_STREAM == event.error_code
                refused += 1
            answered += isinstance(event, h2.events.StreamEnded)
            if refused == 20:
                gate.set()
            if answered == 100:
                break

    assert (100, 20) == (answered, refused)


@pytest.mark.parametrize("application", [hello, OnLoop()], ids=["in a worker", "at once"])
def test_taking_back_without_end_is_refused(application: object) -> None:
    """A client that only opens and resets streams is sent away (CVE-2023-44487)."""
    with (
        ServerThread(application, limits=HTTP2) as server,  # type: ignore[arg-type]
        Frames(server) as client,
    ):
        for _ in range(500):
            number = client.h2.get_next_available_stream_id()
            client.h2.send_headers(number, HEAD)
            client.h2.reset_stream(number)
        client.send()

        assert CALM == client.read_until(h2.events.ConnectionTerminated).error_code


@pytest.mark.parametrize(
    "provoke",
    [
        pytest.param(lambda number: frame(0, 0, number, b"x"), id="DATA after the end"),
        pytest.param(lambda number: frame(8, 0, number, b"\x7f\xff\xff\xff"), id="a window"),
    ],
)
def test_making_the_server_reset_without_end_is_refused(provoke: object) -> None:
    """A client that makes the server reset its streams is sent away too (CVE-2025-8671)."""

    def never(_environ: Environ, start: Start) -> list[bytes]:
        return reply(start, bytes(100_000))

    with ServerThread(never, limits=HTTP2) as server, Frames(server) as client:
        client.socket.sendall(frame(4, 0, 0, b"\x00\x04\x00\x00\x00\x01"))  # a byte at a time
        for _ in range(500):
            number = client.h2.get_next_available_stream_id()
            client.h2.send_headers(number, HEAD, end_stream=True)
            client.send()
            client.socket.sendall(provoke(number))  # type: ignore[operator]
            client.h2.streams.clear()  # the server closed it

        left = _read_goodbye(client)

    assert CALM == left


def test_the_table_of_headers_stays_small() -> None:
    """A client that asks for a table of any size gets the usual one."""
    with ServerThread(hello, limits=HTTP2) as server, Frames(server) as client:
        client.h2.update_settings({h2.settings.SettingCodes.HEADER_TABLE_SIZE: 2**31})
        client.ask()
        client.read_until(h2.events.ResponseReceived)

        assert 4096 == client.h2.decoder.header_table_size


def test_a_head_that_is_too_large_is_answered() -> None:
    """It gets 431 and the connection goes on; one of many times the size ends it."""
    large = ("x-large", "x" * 7000)
    with ServerThread(hello, limits=HTTP2) as server, Frames(server) as client:
        client.ask(*[large] * 10)
        assert "431" == client.read_status()
        client.ask()
        assert "200" == client.read_status()
        client.ask(*[large] * 40)

        assert CALM == client.read_until(h2.events.ConnectionTerminated).error_code


@pytest.mark.parametrize("reads", [True, False], ids=["idle", "reads nothing"])
def test_pings_do_not_keep_a_connection(*, reads: bool) -> None:
    """A client without requests, or that never takes its answer, is let go whatever it sends."""
    limits = ConnectionSettings(
        http2=True,
        idle_seconds=0.2 if reads else PATIENCE * 2,
        write_seconds=PATIENCE * 2 if reads else 0.2,
    )
    with ServerThread(hello, limits=limits) as server, Frames(server) as client:
        if not reads:
            client.socket.sendall(frame(4, 0, 0, b"\x00\x04\x00\x00\x00\x00"))
            client.ask()
        client.socket.settimeout(0.05)
        ended = False
        for _ in range(int(PATIENCE / 0.05)):
            client.socket.sendall(frame(6, 0, 0, b"12345678"))
            if ended := _is_ended(client):
                break

    assert ended


def test_a_half_head_is_given_up() -> None:
    """A head of which no more comes ends the connection in its time."""
    limits = ConnectionSettings(http2=True, head_seconds=0.1, idle_seconds=PATIENCE * 2)
    with ServerThread(hello, limits=limits) as server, Frames(server) as client:
        client.read_until(h2.events.RemoteSettingsChanged)
        client.send()
        client.socket.sendall(frame(1, 0x1, 1, b"\x82"))

        left = client.read_until(h2.events.ConnectionTerminated)

        assert b"too slowly" in left.additional_data


def _is_ended(client: Frames) -> bool:
    """Read until nothing comes for a moment; returns whether the server said goodbye."""
    try:
        while data := client.socket.recv(65_536):
            for event in client.h2.receive_data(data):
                if isinstance(event, h2.events.ConnectionTerminated):
                    return True
    except TimeoutError:
        return False
    return True


def _read_goodbye(client: Frames) -> int:
    """Returns the code with which the server ends; its other frames are not looked at."""
    client.socket.shutdown(socket.SHUT_WR)
    data = b""
    while part := client.socket.recv(65_536):
        data += part
    while data:
        length, kind = int.from_bytes(data[:3]), data[3]
        if kind == 7:
            return int.from_bytes(data[13:17])
        data = data[9 + length :]
    raise AssertionError("the server did not say goodbye")
