"""No byte sent over a socket makes server or sandbox fail, wherever in a request it is."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, example, given
from hypothesis import strategies as st

from mock_platform.platform import Platform
from mock_platform.serving.app import create_app
from mock_platform.serving.http import ServerThread
from tests.generated import examples
from tests.support import BEARER
from tests.waits import PATIENCE

pytestmark = pytest.mark.live

PIECES = st.one_of(
    st.binary(max_size=8),
    st.sampled_from(
        [
            b"", b"\xff", b"\x00", b"\x1b[2J", b"%ff", b"%zz", b"[", b"]", b"[::1", b"://", b"@",
            b":", b":99999", b"\xc3(", b"~w1", b"/../", b"//", b"?", b"#", b"a" * 3000, b"\t", b" ",
            b"Basic \xff", b"Bearer ", b"OAuth oauth_token=", b"http://", b"chunked", b"-1",
            BEARER.encode(),
        ]
    ),
)  # fmt: skip
BYTES = st.lists(PIECES, max_size=3).map(b"".join)
VALUES = BYTES.map(lambda value: value.replace(b"\r", b"").replace(b"\n", b""))
"""Whatever can stand in a line of its own; a line's end would begin another header."""
TARGETS = st.builds(
    bytes.__add__,
    st.sampled_from(
        [b"/", b"/12/accounts", b"/2/webhooks/replay", b"/oauth2/token", b"/~w1/12/accounts/",
         b"/_mock/requests?", b"/_mock/state/", b"/sandbox/12/", b"http://", b""]
    ),
    VALUES.map(lambda value: value.replace(b" ", b"")),
)  # fmt: skip
HEADERS = st.dictionaries(
    st.sampled_from(
        [b"Authorization", b"Cookie", b"Content-Type", b"Prefer", b"X-Mock-World", b"Accept",
         b"X-Mock-Scenario", b"X-Forwarded-For", b"Referer", b"Origin", b"Host", b"Range",
         b"Expect", b"X-Other", b"Upgrade"]
    ),
    VALUES,
    max_size=3,
)  # fmt: skip


class Raw:
    """A platform behind the default server, spoken to in bytes."""

    def __init__(self, worlds: int) -> None:
        self.platform = Platform()
        for number in range(1, worlds):
            self.platform.worlds.create(f"w{number}")
        self.server = ServerThread(create_app(self.platform))

    def send(self, data: bytes) -> bytes:
        """Everything that the server answers until it ends the connection."""
        found = bytearray()
        with socket.create_connection((self.server.host, self.server.port), PATIENCE) as client:
            client.sendall(data)
            client.shutdown(socket.SHUT_WR)
            while part := client.recv(65_536):
                found += part
        return bytes(found)


@pytest.fixture(scope="module", params=[1, 2], ids=["one world", "two worlds"])
def raw(request: pytest.FixtureRequest) -> Iterator[Raw]:
    """One server for all examples."""
    raw = Raw(request.param)
    with raw.server:
        yield raw


@example(b"GET", b"/12/accounts", {b"Authorization": b"Basic \xff"}, b"")
@example(b"GET", b"/_mock/requests?path=\xff", {}, b"")
@example(b"GET", b"/12/accounts", {b"Host": b"[::1"}, b"")
@examples(100, suppress_health_check=list(HealthCheck))
@given(
    st.sampled_from([b"GET", b"POST", b"PUT", b"DELETE", b"HEAD", b"X\xff"]),
    TARGETS,
    HEADERS,
    BYTES,
)
def test_no_byte_makes_the_server_fail(
    raw: Raw, method: bytes, target: bytes, headers: dict[bytes, bytes], body: bytes
) -> None:
    """A request is answered, refused or hung up on; nothing in the sandbox fails."""
    lines = [b"%b %b HTTP/1.1" % (method, target)]
    named = {b"Host": b"127.0.0.1", b"Connection": b"close", b"Content-Length": b"%d" % len(body)}
    lines += [b"%b: %b" % pair for pair in (named | headers).items()]

    answer = raw.send(b"\r\n".join([*lines, b"", body]))

    assert [] == raw.server.errors
    assert [] == raw.platform.errors
    if answer:
        assert answer.startswith(b"HTTP/1.1 ")
        assert int(answer[9:12]) < 500 or answer[9:12] in {b"501", b"505"}, answer[:300]


@examples(50, suppress_health_check=list(HealthCheck))
@given(st.lists(PIECES, max_size=8).map(b"".join))
def test_bytes_that_are_no_request(raw: Raw, data: bytes) -> None:
    """Nor does what is no request at all."""
    answer = raw.send(data)

    assert [] == raw.server.errors
    assert answer == b"" or answer.startswith(b"HTTP/1.1 4")
