"""The connection to an engine: scripts, and errors that say what to do.

A command whose connection breaks is tried once more at once, on a new one. An engine that does not
answer in time is not asked again. In both cases it counts as gone after that: commands fail without
being tried, so that no request waits, until `probe` has reached it again. So an engine that hangs
costs one request the time of `EngineAddress.timeout`, and the others nothing.

The library connects, identifies itself and reads answers. The way around them, from its client
to the connection, takes several times as long as all of this, so it is here.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Sequence
from hashlib import sha1
from typing import Any

import redis
from redis.backoff import NoBackoff
from redis.exceptions import (
    AuthenticationError,
    InvalidResponse,
    NoPermissionError,
    NoScriptError,
    RedisError,
    ResponseError,
)
from redis.exceptions import ConnectionError as Disconnected
from redis.exceptions import TimeoutError as TookTooLong
from redis.retry import Retry

from mock_platform.store.errors import StoreError, StoreForeign, StoreUnreachable
from mock_platform.store.redis.address import EngineAddress

_LOG = logging.getLogger(__name__)
_OLDEST = (6, 2)
_REASONS = {
    "WRONGPASS": "it does not accept this user name and password: redis://USER:PASSWORD@HOST",
    "NOAUTH": "it wants a password: redis://:PASSWORD@HOST or redis://USER:PASSWORD@HOST",
    "OOM": "its memory is full: give it a larger maxmemory",
    "DB index": "it has no database with this number",
}
"""What to do about errors, by how their texts begin."""
Word = str | bytes | int
"""A part of a command."""


class EngineLink:
    """Runs commands and scripts on an engine. Thread-safe."""

    def __init__(self, address: EngineAddress) -> None:
        self.address = address
        self.place = address.shown
        try:
            # The older protocol: its answers have the same form in every version of the library.
            self._pool = redis.ConnectionPool.from_url(
                address.url,
                protocol=2,
                retry=Retry(NoBackoff(), 0),
                socket_timeout=address.timeout,
                socket_connect_timeout=address.timeout,
                client_name="mock_platform",
            )
        except (ValueError, RedisError) as fault:
            raise StoreError(f"{self.place}: this address cannot be used ({fault}).") from None
        self._free: deque[Any] = deque()
        """Connections that no thread uses at the moment."""
        self._scripts: dict[str, str] = {}
        """The hashes of scripts by their texts."""
        self._lock = threading.Lock()
        self._gone: str | None = None

    @property
    def trouble(self) -> str | None:
        """Why the engine cannot be reached at present; `None` if it can."""
        return self._gone

    def key(self, *parts: str) -> str:
        """Returns the name of a key, with the prefix."""
        return self.address.prefix + ":".join(parts)

    def check_server(self) -> None:
        """Check that this is an engine of a version that we can use.

        Raises:
            StoreError: It is not, or it cannot be reached; the text says what to do.
        """
        version = _version_of(_read_info(self.call("INFO", "server")))
        if version < _OLDEST:
            shown = ".".join(map(str, version))
            raise StoreError(
                f"{self.place} is version {shown}; 6.2 is the oldest that can be used."
            )
        try:
            kept = _read_info(self.call("INFO", "persistence"))
        except StoreError:
            return
        if kept.get("aof_enabled") == "0":
            _LOG.warning(
                "%s keeps no append-only file: what was written since its last snapshot is lost if "
                "it crashes. Start it with --appendonly yes --appendfsync always",
                self.place,
            )

    def call(self, *command: Word) -> Any:
        """Returns the answer to a command.

        Raises:
            StoreUnreachable: The engine cannot be reached, or does not take it.
            StoreForeign: A key is from another program.
        """
        return self._run([command])[0]

    def call_all(self, commands: Sequence[Sequence[Word]]) -> list[Any]:
        """Returns the answers to commands that are sent together. Raises the same as `call`."""
        return self._run(commands)

    def run(self, text: str, keys: Sequence[str], *values: Word) -> Any:
        """Returns what a script returns, with texts as `str`. Raises the same as `call`."""
        known = self._scripts.get(text)
        if known is None:
            known = self._scripts[text] = sha1(text.encode(), usedforsecurity=False).hexdigest()
        found = self._run([("EVALSHA", known, len(keys), *keys, *values)], text)[0]
        if isinstance(found, bytes):
            return found.decode()
        if isinstance(found, list):
            return [each.decode() if isinstance(each, bytes) else each for each in found]
        return found

    def probe(self) -> bool:
        """Whether the engine can be reached again; then commands are sent again."""
        if self._gone is None:
            return True
        try:
            self._exchange([("PING",)])
        except RedisError as fault:
            self._gone = self._explain(fault)
            return False
        with self._lock:
            was_gone, self._gone = self._gone, None
        if was_gone is not None:
            _LOG.warning("%s can be reached again", self.place)
        return True

    def close(self) -> None:
        """Close all connections to the engine."""
        while self._free:
            self._free.pop().disconnect()

    def _run(self, commands: Sequence[Sequence[Word]], script: str = "") -> list[Any]:
        if self._gone is not None:
            raise StoreUnreachable(self.place, self._gone)
        try:
            try:
                return self._exchange(commands)
            except NoScriptError:  # its first use, or the engine was started again
                rest = commands[0][2:]
                return self._exchange([("EVAL", script, *rest)])
            except Disconnected as fault:
                if isinstance(fault, AuthenticationError):
                    raise
                self.close()  # all connections are from the same time
                return self._exchange(commands)  # what it repeats has no effect twice
        except RedisError as fault:
            raise self._translate(fault) from None  # the address in its text may have a password

    def _exchange(self, commands: Sequence[Sequence[Word]]) -> list[Any]:
        """Send commands and return their answers; each thread uses a connection of its own.

        Raises:
            RedisError: This failed, or an answer is an error.
        """
        try:
            connection: Any = self._free.pop()
        except IndexError:
            connection = self._pool.make_connection()
        answers: list[Any] = []
        error: ResponseError | None = None
        try:
            connection.send_packed_command([_pack(command) for command in commands])
            for _ in commands:
                try:
                    answers.append(connection.read_response())
                except ResponseError as fault:
                    error = error or fault
        except BaseException:
            connection.disconnect()
            raise
        self._free.append(connection)
        if error is not None:
            raise error
        return answers

    def _translate(self, fault: RedisError) -> StoreError:
        reason = self._explain(fault)
        if isinstance(fault, ResponseError) and str(fault).startswith("WRONGTYPE"):
            return StoreForeign(
                f"{self.place}: a key that begins with {self.address.prefix} is from another "
                "program. Nothing was changed. Name another prefix with ?prefix=NAME:, or another "
                "number of a database."
            )
        if isinstance(fault, Disconnected | TookTooLong):
            with self._lock:
                was_there, self._gone = self._gone is None, reason
            if was_there:
                _LOG.warning("%s cannot be reached (%s); trying again", self.place, reason)
        return StoreUnreachable(self.place, reason)

    def _explain(self, fault: RedisError) -> str:
        """Returns why a command failed, and what to do, without the secrets of the address."""
        text = str(fault)
        if isinstance(fault, InvalidResponse):
            return "what answers there is no Redis and no Valkey: check host and port"
        if isinstance(fault, TookTooLong):
            return f"it did not answer within {self.address.timeout:g} seconds"
        if isinstance(fault, AuthenticationError):
            return _REASONS["WRONGPASS" if "WRONGPASS" in text or "invalid" in text else "NOAUTH"]
        for begin, reason in _REASONS.items():
            if text.startswith(begin):
                return reason
        if isinstance(fault, NoPermissionError):
            return f"this user may not do all that is needed ({text})"
        return text.rstrip(".") or type(fault).__name__


def _pack(command: Sequence[Word]) -> bytes:
    """Returns a command in the form of the protocol."""
    parts = [part if isinstance(part, bytes) else str(part).encode() for part in command]
    words = b"".join([b"$%d\r\n%b\r\n" % (len(part), part) for part in parts])
    return b"*%d\r\n%b" % (len(parts), words)


def _read_info(body: bytes) -> dict[str, str]:
    """Returns what an engine says of itself."""
    lines = (line.partition(":") for line in body.decode("utf-8", "replace").splitlines())
    return {name: value for name, colon, value in lines if colon}


def _version_of(info: dict[str, str]) -> tuple[int, ...]:
    text = info.get("redis_version", "0")
    return tuple(int(part) for part in text.split(".")[:2] if part.isdigit())
