"""The connection to an engine: scripts, and errors that say what to do.

A command that fails on the way is tried once more at once, on a new connection. After that the
engine counts as gone: commands fail without being tried, so that no request waits, until `probe`
has reached it again.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from typing import Any

import redis
from redis.backoff import NoBackoff
from redis.exceptions import (
    AuthenticationError,
    InvalidResponse,
    NoPermissionError,
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
_WAIT_SECONDS = 2.0
"""How long a command may take; a healthy engine answers in a thousandth of that."""


class EngineLink:
    """Runs commands and scripts on an engine. Thread-safe."""

    def __init__(self, address: EngineAddress) -> None:
        self.address = address
        self.place = address.shown
        try:
            self._client = redis.Redis.from_url(
                address.url,
                retry=Retry(NoBackoff(), 0),
                socket_timeout=_WAIT_SECONDS,
                socket_connect_timeout=_WAIT_SECONDS,
                client_name="mock_platform",
            )
        except (ValueError, RedisError) as fault:
            raise StoreError(f"{self.place}: this address cannot be used ({fault}).") from None
        self._scripts: dict[str, Any] = {}
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
        info = self.call("INFO", "server")
        version = _version_of(info)
        if version < _OLDEST:
            shown = ".".join(map(str, version))
            raise StoreError(
                f"{self.place} is version {shown}; 6.2 is the oldest that can be used."
            )
        try:
            kept = self.call("INFO", "persistence")
        except StoreError:
            return
        if isinstance(kept, dict) and not kept.get("aof_enabled"):
            _LOG.warning(
                "%s keeps no append-only file: what was written since its last snapshot is lost if "
                "it crashes. Start it with --appendonly yes --appendfsync always",
                self.place,
            )

    def call(self, *command: Any) -> Any:
        """Returns the answer to a command.

        Raises:
            StoreUnreachable: The engine cannot be reached, or does not take it.
            StoreForeign: A key is from another program.
        """
        execute: Any = self._client.execute_command
        return self._run(lambda: execute(*command))

    def call_all(self, commands: Sequence[Sequence[Any]]) -> list[Any]:
        """Returns the answers to commands that are sent together. Raises the same as `call`."""

        def send() -> list[Any]:
            pipeline: Any = self._client.pipeline(transaction=False)
            for command in commands:
                pipeline.execute_command(*command)
            found: list[Any] = pipeline.execute()
            return found

        found: list[Any] = self._run(send)
        return found

    def run(self, text: str, keys: Sequence[str], *values: str | bytes | int) -> Any:
        """Returns what a script returns, with texts as `str`. Raises the same as `call`."""
        script = self._scripts.get(text)
        if script is None:
            script = self._scripts[text] = self._client.register_script(text)
        found = self._run(lambda: script(keys, values))
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
            self._client.ping()
        except RedisError as fault:
            self._gone = _explain(fault)
            return False
        with self._lock:
            was_gone, self._gone = self._gone, None
        if was_gone is not None:
            _LOG.warning("%s can be reached again", self.place)
        return True

    def close(self) -> None:
        """Close all connections to the engine."""
        self._client.close()

    def _run(self, send: Any) -> Any:
        if self._gone is not None:
            raise StoreUnreachable(self.place, self._gone)
        try:
            try:
                return send()
            except (Disconnected, TookTooLong) as fault:
                if isinstance(fault, AuthenticationError):
                    raise
                return send()  # on another connection; what it repeats has no effect twice
        except RedisError as fault:
            raise self._translate(fault) from None  # the address in its text may have a password

    def _translate(self, fault: RedisError) -> StoreError:
        reason = _explain(fault)
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


def _explain(fault: RedisError) -> str:
    """Returns why a command failed, and what to do, without the secrets of the address."""
    text = str(fault)
    if isinstance(fault, InvalidResponse):
        return "what answers there is no Redis and no Valkey: check host and port"
    if isinstance(fault, TookTooLong):
        return f"it did not answer within {_WAIT_SECONDS:.0f} seconds"
    if isinstance(fault, AuthenticationError):
        return _REASONS["WRONGPASS" if "WRONGPASS" in text or "invalid" in text else "NOAUTH"]
    for begin, reason in _REASONS.items():
        if text.startswith(begin):
            return reason
    if isinstance(fault, NoPermissionError):
        return f"this user may not do all that is needed ({text})"
    return text.rstrip(".") or type(fault).__name__


def _version_of(info: Any) -> tuple[int, ...]:
    text = info.get("redis_version", "0") if isinstance(info, dict) else "0"
    return tuple(int(part) for part in str(text).split(".")[:2] if part.isdigit())
