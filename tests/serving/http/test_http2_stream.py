"""What must not be in a request of HTTP/2 is answered with 400, and its connection goes on."""

from __future__ import annotations

import h2.events
import pytest

from mock_platform.serving.http import ServerThread
from mock_platform.serving.http.http2_stream import write_head
from mock_platform.settings import ConnectionSettings
from tests.serving.http.frames import HEAD, Frames, frame
from tests.serving.http.wire import Seen, hello

pytestmark = pytest.mark.live

HTTP2 = ConnectionSettings(http2=True)
METHOD, PATH, SCHEME, AUTHORITY = HEAD
BAD = {
    "an absolute path": [METHOD, (":path", "http://other.test/"), SCHEME, AUTHORITY],
    "a path without a slash": [METHOD, (":path", "users"), SCHEME, AUTHORITY],
    "an empty path": [METHOD, (":path", ""), SCHEME, AUTHORITY],
    "a star": [METHOD, (":path", "*"), SCHEME, AUTHORITY],
    "a fragment": [METHOD, (":path", "/a#b"), SCHEME, AUTHORITY],
    "a space in the path": [METHOD, (":path", "/a b"), SCHEME, AUTHORITY],
    "a control character": [METHOD, (":path", "/a\x01"), SCHEME, AUTHORITY],
    "two words as method": [(":method", "GET /a"), PATH, SCHEME, AUTHORITY],
    "a tunnel": [(":method", "CONNECT"), AUTHORITY],
    "a user in the authority": [METHOD, PATH, SCHEME, (":authority", "u:p@a.test")],
    "a path in the authority": [METHOD, PATH, SCHEME, (":authority", "a.test/b")],
    "another host": [*HEAD, ("host", "b.test")],
    "two hosts": [METHOD, PATH, SCHEME, ("host", "a.test"), ("host", "a.test")],
    "no host": [METHOD, PATH, SCHEME],
    "no path": [METHOD, SCHEME, AUTHORITY],
    "two paths": [*HEAD, PATH],
    "an unknown pseudo-header": [*HEAD, (":other", "x")],
    "a coding": [*HEAD, ("transfer-encoding", "chunked")],
    "a line break": [*HEAD, ("x-one", "1\r\nx-two: 2")],
    "a body that does not come": [*HEAD, ("content-length", "5")],
}


@pytest.mark.parametrize("what", BAD)
def test_a_bad_head_is_answered_with_400(what: str) -> None:
    """No application gets it, and the next request of the connection is answered."""
    seen = Seen()
    with ServerThread(seen, limits=HTTP2) as server, Frames(server) as client:
        client.h2.config.normalize_outbound_headers = False
        client.ask_with(BAD[what])
        assert "400" == client.read_status()
        client.ask_with([METHOD, (":path", "/good"), SCHEME, AUTHORITY, ("host", "a.test")])
        assert "200" == client.read_status()

    assert ["/good"] == seen.paths


def test_a_name_with_upper_case_is_answered_with_400() -> None:
    """h2 as a client cannot send it, so its bytes are put behind those of a good head."""
    with ServerThread(hello, limits=HTTP2) as server, Frames(server) as client:
        number = client.h2.get_next_available_stream_id()
        client.h2.send_headers(number, HEAD, end_stream=True)
        wire = client.h2.data_to_send()
        start = len(wire) - int.from_bytes(wire[:3])
        client.socket.sendall(frame(1, 0x5, number, wire[start:] + b"\x00\x03X-A\x01b"))

        assert "400" == client.read_status()


@pytest.mark.parametrize("body", [b"abc", b"abcdefgh"], ids=["short", "long"])
@pytest.mark.parametrize("trailers", [False, True], ids=["ended", "trailers"])
def test_a_body_has_the_declared_length(body: bytes, *, trailers: bool) -> None:
    """A body with another length is refused at once, and the connection goes on."""
    seen = Seen()
    with ServerThread(seen, limits=HTTP2) as server, Frames(server) as client:
        number = client.ask(("content-length", "5"), method="POST", ended=False)
        client.h2.send_data(number, body, end_stream=not trailers)
        if trailers:
            client.h2.send_headers(number, [("x-sum", "1")], end_stream=True)
        client.send()
        assert "400" == client.read_status()
        client.ask()
        assert "200" == client.read_status()

    assert ["/"] == seen.paths


def test_a_bad_body_resets_its_stream() -> None:
    """After the answer the stream is reset for a breach of the protocol."""
    with ServerThread(hello, limits=HTTP2) as server, Frames(server) as client:
        number = client.ask(("content-length", "5"), method="POST", ended=False)
        client.h2.send_data(number, b"abcdefgh")
        client.send()
        codes = [client.read_until(h2.events.StreamReset).error_code]

    assert [1] == codes


def test_pseudo_headers_behind_a_body_are_refused() -> None:
    """They are no trailers."""
    with ServerThread(hello, limits=HTTP2) as server, Frames(server) as client:
        number = client.ask(method="POST", ended=False)
        client.h2.send_headers(number, [(":path", "/other")], end_stream=True)
        client.send()

        assert "400" == client.read_status()


def test_a_star_is_a_path_of_options_alone() -> None:
    """`OPTIONS *` passes."""
    headers = [(name.encode(), value.encode()) for name, value in HEAD[2:]]
    head = write_head([(b":method", b"OPTIONS"), (b":path", b"*"), *headers], ended=True)

    assert head.wire.startswith(b"OPTIONS * HTTP/1.1\r\nhost: a.test\r\n")
