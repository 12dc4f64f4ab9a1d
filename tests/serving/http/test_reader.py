"""Requests from bytes: what is refused, and that it never matters how the bytes are cut."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mock_platform.core.connection import Request
from mock_platform.serving.http.reader import Refusal, RequestReader
from mock_platform.settings import ConnectionSettings

GET = b"GET / HTTP/1.1\r\nHost: x\r\n"
POST = b"POST / HTTP/1.1\r\nHost: x\r\n"
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n\r\n"
SMALL = ConnectionSettings(head_bytes=200, body_bytes=10)

REFUSED: dict[str, tuple[int, bytes]] = {
    "both lengths": (400,
        POST + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
    "both lengths, other order": (400,
        POST + b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n"),
    "two different lengths": (400, POST + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello"),
    "two equal lengths": (400, POST + b"Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello"),
    "a list of lengths": (400, POST + b"Content-Length: 5, 5\r\n\r\nhello"),
    "a negative length": (400, POST + b"Content-Length: -1\r\n\r\n"),
    "a length with a sign": (400, POST + b"Content-Length: +5\r\n\r\nhello"),
    "a length with an underscore": (400, POST + b"Content-Length: 5_0\r\n\r\n"),
    "a hexadecimal length": (400, POST + b"Content-Length: 0x5\r\n\r\nhello"),
    "a length in words": (400, POST + b"Content-Length: five\r\n\r\n"),
    "an empty length": (400, POST + b"Content-Length: \r\n\r\n"),
    "a length beyond all numbers": (400, POST + b"Content-Length: 99999999999999999999\r\n\r\n"),
    "a folded header": (400, GET + b"X: a\r\n b\r\n\r\n"),
    "a folded header with a tab": (400, GET + b"X: a\r\n\tb\r\n\r\n"),
    "a blank before the colon": (400, GET + b"X : a\r\n\r\n"),
    "a tab before the colon": (400, GET + b"X\t: a\r\n\r\n"),
    "a header without a name": (400, GET + b": x\r\n\r\n"),
    "a header without a colon": (400, GET + b"XY\r\n\r\n"),
    "a blank within a name": (400, GET + b"X Y: x\r\n\r\n"),
    "a control character in a name": (400, GET + b"X\x01Y: x\r\n\r\n"),
    "a zero byte in a value": (400, GET + b"X: a\x00b\r\n\r\n"),
    "a bare CR in a value": (400, GET + b"X: a\rb\r\n\r\n"),
    "a bare LF behind the request line": (400, b"GET / HTTP/1.1\nHost: x\r\n\r\n"),
    "a bare LF behind a header": (400, GET + b"Y: z\n\r\n"),
    "a bare LF at the end": (400, GET + b"\n"),
    "a chunk size with 0x": (400, CHUNKED + b"0x5\r\nhello\r\n0\r\n\r\n"),
    "a negative chunk size": (400, CHUNKED + b"-5\r\nhello\r\n0\r\n\r\n"),
    "a chunk size with a sign": (400, CHUNKED + b"+5\r\nhello\r\n0\r\n\r\n"),
    "a blank behind a chunk size": (400, CHUNKED + b"5 \r\nhello\r\n0\r\n\r\n"),
    "a chunk size with a bare LF": (400, CHUNKED + b"5\nhello\r\n0\r\n\r\n"),
    "a chunk size beyond all numbers": (400, CHUNKED + b"fffffffffffffffff\r\nhello\r\n0\r\n\r\n"),
    "a chunk with more bytes than any body": (413, CHUNKED + b"7fffffffffffffff\r\n"),
    "a chunk with one byte too many": (413, CHUNKED + b"2000001\r\nhello"),
    "chunks that announce too much together": (413, CHUNKED + b"1\r\nh\r\n2000000\r\n"),
    "a chunk size with too many leading zeros": (400, CHUNKED + b"0" * 70_000 + b"5\r\n"),
    "a chunk that is too large and malformed": (400, CHUNKED + b"7fffffffffffffff \r\n"),
    "a chunk extension without an end": (400, CHUNKED + b"5;a=" + b"b" * 70_000),
    "a chunk extension that is too long": (400, CHUNKED + b"5;a=" + b"b" * 70_000 + b"\r\nhello"),
    "headers behind a body without an end": (431, CHUNKED + b"0\r\n" + b"X-A: b\r\n" * 9_000),
    "headers behind a body that are too long": (431,
        CHUNKED + b"0\r\nX-A: " + b"b" * 70_000 + b"\r\n\r\n"),
    "a long name of a header behind a body": (431,
        CHUNKED + b"0\r\n" + b"X" * 70_000 + b": a\r\n\r\n"),
    "a chunk too large for a client that asks for another protocol": (413,
        POST + b"Connection: Upgrade\r\nUpgrade: h2c\r\nTransfer-Encoding: chunked\r\n\r\n"
        b"7fffffffffffffff\r\n"),
    "an empty chunk size": (400, CHUNKED + b"\r\nhello\r\n0\r\n\r\n"),
    "a chunk longer than its size": (400, CHUNKED + b"5\r\nhelloXX0\r\n\r\n"),
    "an unknown coding": (501, POST + b"Transfer-Encoding: gzip\r\n\r\nhello"),
    "chunked that is not the last coding": (400,
        POST + b"Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n"),
    "another coding before chunked": (501,
        POST + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"),
    "a word that ends in chunked": (501, POST + b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n"),
    "a coding in HTTP/1.0": (400,
        b"POST / HTTP/1.0\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
    "no Host": (400, b"GET / HTTP/1.1\r\n\r\n"),
    "two Hosts": (400, b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"),
    "HTTP/2 without its preface": (505, b"GET / HTTP/2.0\r\nHost: a\r\n\r\n"),
    "HTTP/0.9": (505, b"GET /\r\n\r\n"),
    "a version that does not exist": (505, b"GET / HTTP/3.1\r\nHost: a\r\n\r\n"),
    "a method in small letters": (400, b"get / HTTP/1.1\r\nHost: a\r\n\r\n"),
    "a method that nobody registered": (400, b"BREW / HTTP/1.1\r\nHost: a\r\n\r\n"),
    "TLS": (400, b"\x16\x03\x01\x02\x00\x01\x00"),
    "a control character in the target": (400, b"GET /\x01 HTTP/1.1\r\nHost: a\r\n\r\n"),
    "a raw byte in the target": (400, b"GET /\xff HTTP/1.1\r\nHost: a\r\n\r\n"),
}  # fmt: skip
"""What RFC 9112 has refused, or leaves open to two readings."""


def read(
    data: bytes, *cuts: int, limits: ConnectionSettings | None = None
) -> list[Request | Refusal]:
    """What a reader makes of bytes that come in pieces."""
    reader = RequestReader(limits or ConnectionSettings())
    places = [0, *sorted(cuts), len(data)]
    for start, end in pairwise(places):
        reader.feed(data[start:end])
    return reader.ready


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_ambiguous_is_refused(name: str) -> None:
    """Each form is refused with its status, and nothing after it is read."""
    status, data = REFUSED[name]
    found = read(data + GET + b"\r\n")

    assert [status] == [item.status for item in found if isinstance(item, Refusal)]
    assert 1 == len(found)


@pytest.mark.parametrize("name", REFUSED)
def test_a_refusal_does_not_depend_on_the_cuts(name: str) -> None:
    """Byte by byte, each form gets the same status as in one piece."""
    status, data = REFUSED[name]
    (found,) = read(data, *range(1, len(data)))

    assert isinstance(found, Refusal)
    assert status == found.status


HEADERS = st.lists(
    st.tuples(
        st.from_regex(rb"X-[A-Za-z0-9-]{1,12}", fullmatch=True),
        st.from_regex(rb"[!-~]([ -~]{0,20}[!-~])?", fullmatch=True),
    ),
    max_size=4,
)


@st.composite
def whole_requests(draw: st.DrawFn) -> tuple[bytes, bytes, bytes]:
    """A request on the wire, and its target and body."""
    target = b"/" + draw(st.from_regex(rb"[a-z0-9%/?=&._-]{0,30}", fullmatch=True))
    headers = b"".join(b"%b: %b\r\n" % pair for pair in draw(HEADERS))
    kind = draw(st.sampled_from(["none", "length", "chunked"]))
    if kind == "none":
        return b"GET %b HTTP/1.1\r\nHost: x\r\n%b\r\n" % (target, headers), target, b""
    parts = draw(st.lists(st.binary(min_size=1, max_size=40), max_size=4))
    body = b"".join(parts)
    start = b"POST %b HTTP/1.1\r\nHost: x\r\n%b" % (target, headers)
    if kind == "length":
        return b"%bContent-Length: %d\r\n\r\n%b" % (start, len(body), body), target, body
    chunks = b"".join(b"%x;q=1\r\n%b\r\n" % (len(part), part) for part in parts)
    trailer = draw(st.sampled_from([b"", b"X-Trailer: 1\r\n"]))
    wire = b"%bTransfer-Encoding: chunked\r\n\r\n%b0\r\n%b\r\n" % (start, chunks, trailer)
    return wire, target, body


@given(st.data())
def test_requests_are_read_however_their_bytes_are_cut(data: st.DataObject) -> None:
    """Pipelined requests come out whole and in order, at any cut points."""
    sent = data.draw(st.lists(whole_requests(), min_size=1, max_size=4))
    wire = b"".join(request for request, _, _ in sent)
    cuts = data.draw(st.lists(st.integers(0, len(wire)), max_size=12))
    found = read(wire, *cuts)

    assert [(target.decode(), body) for _, target, body in sent] == [
        (item.target, item.body) for item in found if isinstance(item, Request)
    ]
    assert len(sent) == len(found)


@given(whole_requests(), st.data())
def test_half_a_request_is_none(sent: tuple[bytes, bytes, bytes], data: st.DataObject) -> None:
    """Until its last byte came, nothing is ready."""
    wire = sent[0]
    cut = data.draw(st.integers(0, len(wire) - 1))

    assert [] == read(wire[:cut])


@given(st.lists(st.binary(max_size=60), max_size=8))
def test_no_bytes_raise(pieces: list[bytes]) -> None:
    """Whatever comes, the reader answers with requests and at most one refusal, the last."""
    reader = RequestReader(SMALL)
    for piece in pieces:
        reader.feed(piece)
    refusals = [item for item in reader.ready if isinstance(item, Refusal)]

    assert reader.ready[-1:] == refusals or not refusals
    assert bool(refusals) <= reader.ended


@pytest.mark.parametrize(("spare", "status"), [(0, None), (1, 431)])
def test_the_head_has_a_limit(spare: int, status: int | None) -> None:
    """Request line and headers may have that many bytes, and not one more."""
    start = GET + b"X-Long: "
    head = start + b"a" * (200 - len(start) - 4 + spare) + b"\r\n\r\n"
    (found,) = read(head, limits=SMALL)

    assert status == (found.status if isinstance(found, Refusal) else None)


def test_an_endless_head_is_refused_before_its_end() -> None:
    """Also a header that never ends is bounded, and so is an address."""
    (header,) = read(GET + b"X: " + b"a" * 100_000, limits=SMALL)
    (address,) = read(b"GET /" + b"a" * 100_000, limits=SMALL)

    assert isinstance(header, Refusal)
    assert isinstance(address, Refusal)
    assert (431, 414) == (header.status, address.status)


@pytest.mark.parametrize(("size", "status"), [(10, None), (11, 413)])
def test_a_body_has_a_limit(size: int, status: int | None) -> None:
    """With a length and in chunks alike; a declared length is refused before the body comes."""
    chunked = CHUNKED + b"%x\r\n%b\r\n0\r\n\r\n" % (size, b"b" * size)
    declared = POST + b"Content-Length: %d\r\n\r\n" % size
    found = read(chunked, limits=SMALL) + read(declared + b"b" * size, limits=SMALL)
    early = read(declared, limits=SMALL)

    assert [status] * 2 == [getattr(item, "status", None) for item in found]
    assert ([] if status is None else [status]) == [getattr(item, "status", None) for item in early]


def test_what_is_not_offered_is_passed_over() -> None:
    """An upgrade to another protocol is a plain request, and so is what follows it."""
    upgrade = GET + b"Connection: Upgrade\r\nUpgrade: h2c\r\n\r\n"
    found = read(upgrade + GET + b"\r\n")

    assert [Request, Request] == [type(item) for item in found]


@pytest.mark.parametrize(
    "body",
    [
        b"Content-Length: 5\r\n\r\nhello",
        b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    ],
)
@pytest.mark.parametrize("pieces", ["whole", "bytes", "head and body"])
def test_a_body_with_an_upgrade_is_read(body: bytes, pieces: str) -> None:
    """Java's client asks for HTTP/2 with each request: method, headers and body stay its own."""
    head = b"PUT /a HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
    data = (head + body) * 2 + GET + b"\r\n"
    cuts: dict[str, list[int]] = {
        "whole": [],
        "bytes": list(range(1, len(data))),
        "head and body": [data.index(b"\r\n\r\n") + 4],
    }

    found = [item for item in read(data, *cuts[pieces]) if isinstance(item, Request)]

    assert ["PUT", "PUT", "GET"] == [item.method for item in found]
    assert [b"hello", b"hello", b""] == [item.body for item in found]
    assert [(b"Upgrade", b"h2c")] * 2 == [
        pair for item in found for pair in item.headers if pair[0] == b"Upgrade"
    ]
    assert all(item.keep_alive for item in found)


def test_limits_hold_with_an_upgrade() -> None:
    """A body that is too long, a last request, and a length that is wrong."""
    upgrade = POST + b"Upgrade: h2c\r\nConnection: Upgrade%b\r\n"
    size = b"Content-Length: %d\r\n\r\n"
    too_long = read((upgrade % b"") + size % 11 + b"b" * 11, limits=SMALL)
    (last,) = read((upgrade % b", close") + size % 2 + b"ok" + GET + b"\r\n")

    assert [413] == [getattr(item, "status", None) for item in too_long]
    assert isinstance(last, Request)
    assert (b"ok", False) == (last.body, last.keep_alive)


def test_nothing_follows_a_request_that_says_it_is_the_last() -> None:
    """Behind `Connection: close` nothing is read."""
    found = read(GET + b"Connection: close\r\n\r\n" + GET + b"\r\n")

    assert [False] == [item.keep_alive for item in found if isinstance(item, Request)]


def test_empty_lines_before_a_request_are_passed_over() -> None:
    """Some clients send one behind a body (RFC 9112, 2.2)."""
    assert [Request] == [type(item) for item in read(b"\r\n\r\n" + GET + b"\r\n")]


def test_a_chunk_that_is_too_large_is_refused_behind_other_requests() -> None:
    """However the bytes are cut, also if the body before it ends in the same ones."""
    data = POST + b"Content-Length: 5\r\n\r\nhello" + CHUNKED + b"1\r\na\r\n0\r\n\r\n"
    data += b"\r\n" + CHUNKED + b"7fffffffffffffff\r\n"
    for cut in range(len(data)):
        found = read(data, cut)

        assert [b"hello", b"a"] == [item.body for item in found if isinstance(item, Request)]
        assert [413] == [item.status for item in found if isinstance(item, Refusal)]


def test_a_length_may_begin_with_any_number_of_zeros() -> None:
    """RFC 9112 allows them; the length is the number that they write."""
    (found,) = read(POST + b"Content-Length: " + b"0" * 6_000 + b"5\r\n\r\nhello")

    assert isinstance(found, Request)
    assert b"hello" == found.body


def test_a_client_that_waits_says_so() -> None:
    """`Expect: 100-continue` counts until the body begins, and only where a body is announced."""
    reader = RequestReader(ConnectionSettings())
    reader.feed(POST + b"Content-Length: 5\r\nExpect: 100-continue\r\n\r\n")
    waits = reader.wants_continue
    reader.feed(b"hello")
    bodiless = RequestReader(ConnectionSettings())
    bodiless.feed(GET + b"Expect: 100-continue\r\n\r\n")

    assert (True, False, False) == (waits, reader.wants_continue, bodiless.wants_continue)
