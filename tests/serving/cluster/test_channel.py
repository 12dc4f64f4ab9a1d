"""What lies between two processes: the user at the other end, and the certificate of a machine."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from msgspec.structs import replace

from mock_platform.core.connection import Request
from mock_platform.serving.cluster import Place
from mock_platform.serving.cluster.channel import (
    FRONT,
    OWNER,
    Greeting,
    find_fingerprint,
    is_own_user,
    make_certificate,
    make_client_context,
)
from mock_platform.serving.cluster.connection_moves import Door
from mock_platform.serving.cluster.link import Link, connect, listen
from mock_platform.serving.http.binding import bind
from tests.loops import awaited
from tests.waits import PATIENCE

_LISTEN = """
import os, socket, sys
os.setuid(65534)
kind = getattr(socket, sys.argv[2])
listener = socket.socket(socket.AF_UNIX, kind)
listener.bind(sys.argv[1])
listener.listen()
print("listening", flush=True)
peer, _ = listener.accept()
print(peer.recv(65_536), flush=True)
"""
needs_root = pytest.mark.skipif(
    os.geteuid() != 0, reason="only root can start a process of another user"
)


@contextmanager
def taken_by_another_user(kind: str) -> Iterator[tuple[Path, subprocess.Popen[str]]]:
    """The path of a socket at which a process of another user listens."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o777)
    command = [sys.executable, "-c", _LISTEN, str(folder / "s"), kind]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert "listening\n" == process.stdout.readline()
            yield folder / "s", process
        finally:
            process.kill()
            shutil.rmtree(folder)


class Waiting:
    """What a request waits with."""

    def __init__(self) -> None:
        self.lost = asyncio.Event()

    def take_frame(self, kind: int, payload: bytes) -> None:
        """Fail: no answer may come."""
        raise AssertionError(kind)

    def lose(self, *, sent: bool) -> None:
        """Note that no answer will come."""
        assert not sent
        self.lost.set()


@needs_root
def test_another_user_at_the_path_of_a_process_is_told_nothing() -> None:
    """Whoever takes the place of a folder that is gone gets no byte of a request."""

    async def ask(path: Path) -> None:
        link = Link(Place("1", f"unix:{path}"), b"s", lambda _: None)
        waiting = Waiting()
        link.write(b"%d" % link.add(waiting))
        async with asyncio.timeout(PATIENCE):
            await waiting.lost.wait()

    with taken_by_another_user("SOCK_STREAM") as (path, process):
        awaited(ask(path))
        assert process.stdout is not None
        assert "b''\n" == process.stdout.readline()


@needs_root
def test_no_connection_moves_to_another_user() -> None:
    """Neither the socket of a client nor its request is given away."""
    request = Request("GET", "/", "h", "1.1", [], b"", keep_alive=True)

    async def move(path: Path) -> bool:
        door = Door(Place("2", "unix:/nowhere"))
        ours, theirs = socket.socketpair()
        with ours, theirs:
            return door.give(Place("1", "", door=str(path)), ours.fileno(), request, 0)

    with taken_by_another_user("SOCK_SEQPACKET") as (path, process):
        assert not awaited(move(path))
        assert process.stdout is not None
        assert "b''\n" == process.stdout.readline()


def test_the_user_at_the_other_end_is_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    """One end of a pair is ours; if we were another user, it would not be."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        assert is_own_user(ours)
        monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
        assert not is_own_user(ours)


def test_a_socket_that_says_no_user_is_not_ours() -> None:
    """So nothing is sent where the system cannot say who listens."""
    closed = socket.socket(socket.AF_UNIX)
    closed.close()
    assert not is_own_user(closed)


def test_both_sides_see_the_same_certificate() -> None:
    """The front sees the fingerprint that the owner has, and each process has its own."""
    certificate = make_certificate()
    seen: list[bytes] = []

    class Front(asyncio.Protocol):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            assert isinstance(transport, asyncio.Transport)
            seen.append(find_fingerprint(transport))
            assert "TLSv1.3" == transport.get_extra_info("ssl_object").version()
            transport.close()

        def connection_lost(self, exc: Exception | None) -> None:
            ended.set()

    ended = asyncio.Event()

    async def meet() -> None:
        loop = asyncio.get_running_loop()
        listener, bound = bind("127.0.0.1", 0)
        async with await listen(loop, (listener, certificate), asyncio.Protocol):
            await connect(loop, f"127.0.0.1:{bound.port}", Front)
            await ended.wait()

    awaited(meet())
    assert [certificate.fingerprint] == seen
    assert make_certificate().fingerprint != certificate.fingerprint
    assert not make_client_context().check_hostname


# The codes with which two processes show that they know the secret, and who they are.

_SECRET = b"s"
_SAID = Greeting(b"1" * 32, b"2" * 32, Place("a/1", "10.0.0.1:7001"), b"c" * 32)


def test_a_code_is_right_for_what_it_was_made_for() -> None:
    """Both sides see the same, so each accepts the other's code."""
    for side in (FRONT, OWNER):
        assert _SAID.is_proof(_SAID.prove(_SECRET, side), _SECRET, side)


@pytest.mark.parametrize(
    "other",
    [
        replace(_SAID, first=b"3" * 32),
        replace(_SAID, second=b"3" * 32),
        replace(_SAID, owner=Place("a/2", "10.0.0.1:7001")),
        replace(_SAID, owner=Place("a/1", "10.0.0.1:7002")),
        replace(_SAID, channel=b"d" * 32),
    ],
)
def test_a_code_that_was_passed_on_is_wrong(other: Greeting) -> None:
    """Texts, name, address and certificate must all be those that the other side sees."""
    for side in (FRONT, OWNER):
        assert not _SAID.is_proof(other.prove(_SECRET, side), _SECRET, side)


def test_a_code_is_not_sent_back() -> None:
    """The code of one side is wrong for the other, and for another secret."""
    assert not _SAID.is_proof(_SAID.prove(_SECRET, FRONT), _SECRET, OWNER)
    assert not _SAID.is_proof(_SAID.prove(b"t", OWNER), _SECRET, OWNER)


def test_a_short_text_proves_nothing() -> None:
    """What one text lacks cannot be taken from the next one."""
    short = replace(_SAID, first=b"1" * 31, second=b"12" + b"2" * 31)
    assert not short.is_proof(short.prove(_SECRET, OWNER), _SECRET, OWNER)
