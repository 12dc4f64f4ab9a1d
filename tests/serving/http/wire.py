"""A client that sends exactly what a test asks for, and an application that shows what it got."""

from __future__ import annotations

import json
import socket
import ssl
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from mock_platform.core.connection import CONNECTION
from mock_platform.serving.http import Bound, ServerThread
from tests.waits import PATIENCE

Environ = dict[str, Any]
Start = Callable[..., Any]
Application = Callable[[Environ, Start], Iterable[bytes]]


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer as it came over the wire."""

    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)


Connect = Callable[[Any], "Wire"]
"""Connects to a server by its transport."""


class Wire:
    """One connection to a server, spoken to in bytes."""

    def __init__(self, server: ServerThread | Bound, ca: Path | None = None) -> None:
        plain = socket.create_connection((server.host, server.port), PATIENCE)
        self.socket: socket.socket = plain
        if ca is not None:
            context = ssl.create_default_context(cafile=ca)
            # Strictly: an end without TLS's farewell is an error.
            self.socket = context.wrap_socket(
                plain, server_hostname="localhost", suppress_ragged_eofs=False
            )
        self._left = b""

    def send(self, data: bytes) -> Self:
        """Send bytes as they are."""
        self.socket.sendall(data)
        return self

    def get(self, target: str = "/", *headers: str, method: str = "GET") -> Self:
        """Send a request without a body."""
        lines = [f"{method} {target} HTTP/1.1", "Host: sandbox.test", *headers, "", ""]
        return self.send("\r\n".join(lines).encode("latin-1"))

    def answer(self, *, head: bool = False) -> Answer:
        """Read one answer; `head`: the request was a HEAD."""
        top = self._until(b"\r\n\r\n").decode("latin-1").split("\r\n")
        pairs = (line.partition(": ") for line in top[1:] if line)
        headers = {name.lower(): value for name, _, value in pairs}
        status = int(top[0].split(" ")[1])
        if head or status in {100, 204, 304}:
            return Answer(status, headers, b"")
        if headers.get("transfer-encoding") == "chunked":
            return Answer(status, headers, self._chunks())
        return Answer(status, headers, self._exactly(int(headers["content-length"])))

    def rest(self) -> bytes:
        """Everything until the server ends the connection."""
        parts = [self._left]
        while part := self.socket.recv(65_536):
            parts.append(part)
        self._left = b""
        return b"".join(parts)

    def drain(self) -> None:
        """Read to the end past TLS, where Python would report a reset as a mere end."""
        while socket.socket.recv(self.socket, 65_536):
            pass

    def _chunks(self) -> bytes:
        body = b""
        while length := int(self._until(b"\r\n"), 16):
            body += self._exactly(length)
            self._exactly(2)  # the line's end
        self._exactly(2)
        return body

    def _until(self, mark: bytes) -> bytes:
        while mark not in self._left:
            self._more()
        found, _, self._left = self._left.partition(mark)
        return found

    def _exactly(self, count: int) -> bytes:
        while len(self._left) < count:
            self._more()
        found, self._left = self._left[:count], self._left[count:]
        return found

    def _more(self) -> None:
        part = self.socket.recv(65_536)
        if not part:
            raise EOFError(f"the server ended the connection; before that came {self._left!r}")
        self._left += part

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()


def show(environ: Environ, start_response: Start) -> list[bytes]:
    """Answers with the environ's texts and the length of the body."""
    shown: Environ = {key: value for key, value in environ.items() if isinstance(value, str)}
    shown["length"] = len(environ["wsgi.input"].read())
    return reply(start_response, json.dumps(shown).encode(), "application/json")


def hello(_environ: Environ, start_response: Start) -> list[bytes]:
    """Answers `hello` and reads nothing."""
    return reply(start_response, b"hello")


def reply(start_response: Start, body: bytes, kind: str = "text/plain") -> list[bytes]:
    """An answer of one piece."""
    start_response("200 OK", [("Content-Type", kind), ("Content-Length", str(len(body)))])
    return [body]


def doing(act: Callable[[Any], object]) -> Application:
    """An application that does something with its connection on `/act`, and answers besides."""

    def application(environ: Environ, start_response: Start) -> list[bytes]:
        if environ["PATH_INFO"] == "/act":
            act(environ[CONNECTION])
        return hello(environ, start_response)

    return application


class Seen:
    """An application that answers hello and keeps the paths of the requests it gets."""

    def __init__(self) -> None:
        self.paths: list[str] = []

    def __call__(self, environ: Environ, start_response: Start) -> list[bytes]:
        """Answers hello."""
        self.paths.append(environ["PATH_INFO"])
        return hello(environ, start_response)
