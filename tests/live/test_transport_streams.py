"""Any WSGI application over the server's socket and behind `WsgiAdapter`: the same answers.

What the sandbox itself never says is said here: answers in parts, of unknown or wrong length,
compressed, late in the middle; bytes that are no answer, or no one's.
"""

from __future__ import annotations

import gzip
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import pytest
import requests

from mock_platform import WsgiAdapter
from mock_platform.core.connection import CONNECTION
from mock_platform.serving.http import ServerThread
from tests.live.parity import Told, answer_told, direct, met

pytestmark = pytest.mark.live

Step = bytes | float
"""Something to say, or seconds to wait."""


@dataclass(frozen=True)
class Saying:
    """A WSGI application: its head, then steps, at once in a list or one by one; or raw bytes."""

    headers: tuple[tuple[str, str], ...] = ()
    steps: tuple[Step, ...] = ()
    whole: bool = False
    status: str = "200 OK"
    raw: bytes | None = None

    def __call__(
        self, environ: dict[str, Any], start_response: Callable[..., Any]
    ) -> Iterable[bytes]:
        """Answer."""
        environ["wsgi.input"].read()
        if self.raw is not None:
            environ[CONNECTION].send_raw(self.raw)
        start_response(self.status, list(self.headers))
        if self.whole:
            return [step for step in self.steps if isinstance(step, bytes)]
        return self._one_by_one(environ[CONNECTION])

    def _one_by_one(self, connection: Any) -> Iterator[bytes]:
        for step in self.steps:
            if isinstance(step, bytes):
                yield step
            else:
                connection.wait(step, threading.Event())


def length(size: int) -> tuple[str, str]:
    """A Content-Length."""
    return "Content-Length", str(size)


LINES = (b"one\n", b"", b"two\n", b"thr")
ZIPPED = gzip.compress(b"plain text\n" * 1000)
GZIP = ("Content-Encoding", "gzip")

TIMEOUT = 1.5
"""Seconds: longer than each pause of a slow answer, also on a busy machine; shorter than all of
them together, and than the pause of a late one."""
APPLICATIONS = {
    "whole": Saying((length(11),), LINES, whole=True),
    "in parts": Saying((length(11),), LINES),
    "of unknown length": Saying((), LINES, whole=True),
    "of unknown length, in parts": Saying((), (b"", *LINES)),
    "empty": Saying((length(0),), ()),
    "empty, of unknown length": Saying((), ()),
    "too short": Saying((length(20),), LINES, whole=True),
    "too short, in parts": Saying((length(20),), LINES),
    "nothing of something": Saying((length(20),), ()),
    "long": Saying((length(150_000),), (b"x" * 150_000,), whole=True),
    "long, in parts": Saying((length(150_000),), (b"x" * 1000,) * 150),
    "compressed": Saying((GZIP, length(len(ZIPPED))), (ZIPPED,), whole=True),
    "compressed, in parts": Saying((GZIP,), (ZIPPED[:20], ZIPPED[20:])),
    "compressed, cut": Saying((GZIP, length(len(ZIPPED) - 20)), (ZIPPED[:-20],)),
    "not compressed": Saying((("Content-Encoding", "deflate"), length(3)), (b"abc",)),
    "late": Saying((length(6),), (5.0, b"one", b"two")),
    "late in the middle": Saying((length(6),), (b"one", 5.0, b"two")),
    "late in the middle, of unknown length": Saying((), (b"one", 5.0, b"two")),
    "slow": Saying((length(9),), (0.6, b"one", 0.6, b"two", 0.6, b"six")),
    "repeated headers": Saying(
        (("Set-Cookie", "a=1; Path=/"), ("Set-Cookie", "b=2; HttpOnly"), ("X", "1"), ("x", "2"),
         ("Link", '</2>; rel="next"'), ("X-Name", "caf\xe9"), length(2)), (b"ok",)),
    "another charset": Saying((("Content-Type", "text/html; charset=utf-16"),), (b"ok",)),
    "another reason": Saying((length(2),), (b"ok",), status="200 All is well"),
    "no reason": Saying((length(2),), (b"ok",), status="299 "),
    "not modified": Saying((("ETag", "x"), length(7)), status="304 Not Modified"),
    "led in circles": Saying((("Location", "/x"), length(0)), status="302 Found"),
    "raw, an answer": Saying(raw=b"HTTP/1.1 203 Odd\r\nA: b\r\nContent-Length: 4\r\n\r\nbody"),
    "raw, a short answer": Saying(raw=b"HTTP/1.1 203 Odd\r\nA: b\r\nContent-Length: 9\r\n\r\nbody"),
    "raw, no status": Saying(raw=b"HTTP/1.1 abc\r\n\r\n"),
    "raw, half a head": Saying(raw=b"HTTP/1.1 200 OK\r\nA: b"),
    "raw, an endless line": Saying(raw=b"x" * 70_000),
    "raw, a broken chunk": Saying(
        raw=b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nzz\r\n"),
}  # fmt: skip

READINGS: dict[str, Callable[[requests.Response], object]] = {
    "content": lambda answer: answer.content,
    "text": lambda answer: answer.text,
    "iter_content": lambda answer: list(answer.iter_content(3)),
    "iter_content(None)": lambda answer: list(answer.iter_content(None)),
    "iter_lines": lambda answer: list(answer.iter_lines()),
    "raw.read": lambda answer: answer.raw.read(),
    "raw.read decoded": lambda answer: answer.raw.read(decode_content=True),
    "raw.read(5)": lambda answer: (answer.raw.read(5), answer.raw.tell(), answer.raw.read(5)),
    "iter(raw)": lambda answer: list(answer.raw),
    "closed early": lambda answer: (
        next(answer.iter_content(2), b""),
        met(answer.close),
        met(answer.raw.read),
        met(lambda: answer.content),
    ),
}


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize("application", APPLICATIONS)
def test_an_application(application: str, method: str) -> None:
    """However its answer is read, it is the same answer."""
    saying = APPLICATIONS[application]
    patient = application.startswith(("late", "slow"))

    readings = {"content", "raw.read"} if patient else READINGS.keys()

    # Most of the time of those that are late passes in waiting, so they wait side by side.
    with ServerThread(saying) as server, ThreadPoolExecutor(4 if patient else 1) as pool:
        found = {
            (name, where is saying): pool.submit(_read, where, method, server.url, READINGS[name])
            for name in readings
            for where in (None, saying)
        }
        for name in readings:
            socket, in_process = (found[name, own].result() for own in (False, True))

            # HEAD without a length is the one thing after which the server ends the connection.
            _forget(socket, "Connection")
            assert socket == in_process, name


def _read(
    application: Saying | None,
    method: str,
    url: str,
    reading: Callable[[requests.Response], object],
) -> Told:
    """What a call and a way to read its answer meet, with an application in-process or none."""

    def call() -> object:
        answer = session.request(method, f"{url}/x", stream=True, timeout=TIMEOUT)
        return answer_told(answer, content=met(lambda: reading(answer)))

    with direct() as session:
        if application is not None:
            session.mount(url, WsgiAdapter(application))
        return met(call)


def _forget(told: Told, header: str) -> None:
    for each in told.get("made", {}).get("history", []):
        _forget({"made": each}, header)
    for kept in ("headers", "raw headers"):
        if "made" in told:
            told["made"][kept] = [pair for pair in told["made"][kept] if pair[0] != header]
