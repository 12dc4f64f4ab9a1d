"""The connection to an engine: its address, its scripts, and errors that say what to do.

A command whose connection breaks is tried once more at once, on a new one. An engine that does not
answer in time is not asked again. In both cases it counts as gone after that: commands fail without
being tried, so that no request waits, until `probe` has reached it again. So an engine that hangs
costs one request the time of `EngineAddress.timeout`, and the others nothing.

The library connects, identifies itself and reads answers. The way around them, from its client
to the connection, takes several times as long as all of this, so it is here.

An engine that was started again may be older than what it acknowledged. So each connection knows
the run of the engine that it leads to, and a command can be bound to one run: it is never sent to
another one.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from hashlib import sha1
from typing import Any, NamedTuple

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
from redis.exceptions import (
    ConnectionError as Disconnected,
)
from redis.exceptions import (
    TimeoutError as TookTooLong,
)
from redis.retry import Retry

from mock_platform.world.store.errors import (
    StoreError,
    StoreForeign,
    StoreUnanswered,
    StoreUnreachable,
)
from mock_platform.world.store.redis.address import EngineAddress

_LOG = logging.getLogger(__name__)
_OLDEST = (6, 2)
_REASONS = {
    "WRONGPASS": "it does not accept this user name and password: redis://USER:PASSWORD@HOST",
    "NOAUTH": "it wants a password: redis://:PASSWORD@HOST or redis://USER:PASSWORD@HOST",
    "OOM": "its memory is full: give it a larger maxmemory",
    "command not allowed when used memory": "its memory is full: give it a larger maxmemory",
    "READONLY": "it is a replica, which takes no changes: name the one that it follows",
    "You can't write against a read only": (
        "it is a replica, which takes no changes: name the one that it follows"
    ),
    "MISCONF": "it cannot write its own files, so it takes no changes: see its log",
    "NOREPLICAS": "too few replicas follow it, so it takes no changes",
    "DB index": "it has no database with this number",
}
"""What to do about errors, by how their texts begin."""
_REPLICA = _REASONS["READONLY"]
_SAFE_POLICY = "noeviction"
_UNCOUNTED = 2**31
"""The library's pool only makes connections here, and counts those that broke as well."""
Word = str | bytes | int
"""A part of a command."""


class EngineRestarted(Exception):
    """The engine is not in the run that a command was bound to. Nothing was sent."""


class _Line(NamedTuple):
    """A connection, and the run of the engine that it leads to."""

    connection: Any
    run: str


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
                max_connections=_UNCOUNTED,
            )
        except (ValueError, RedisError) as error:
            raise StoreError(f"{self.place}: this address cannot be used ({error}).") from None
        self._free: deque[_Line] = deque()
        """Connections that no thread uses at the moment."""
        self.run_id = ""
        """The run of the engine that was reached last; each start of it has another one."""
        self.advice: tuple[str, ...] = ()
        """What should be set otherwise on the engine, as it was found last."""
        self._scripts: dict[str, str] = {}
        """The hashes of scripts by their texts."""
        self._lock = threading.Lock()
        self._gone: str | None = None
        self._refusing: str | None = None

    @property
    def is_gone(self) -> bool:
        """Whether the engine cannot be reached at present."""
        return self._gone is not None

    @property
    def trouble(self) -> str | None:
        """Why the engine cannot be reached, or takes no changes, at present; `None` if it does."""
        return self._gone or self._refusing

    def key(self, *parts: str) -> str:
        """Return the name of a key, with the prefix."""
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
        self.look_at_settings()

    def look_at_settings(self) -> None:
        """Find out what should be set otherwise on the engine, and log what was not so before."""
        try:
            kept = _read_info(self.call("INFO", "persistence"))
            memory = _read_info(self.call("INFO", "memory"))
        except StoreError:  # a user who may not ask
            return
        found = []
        if kept.get("aof_enabled") == "0":
            found.append(
                f"{self.place} keeps no append-only file: what was written since its last snapshot "
                "is lost if it crashes. Start it with --appendonly yes --appendfsync always"
            )
        policy = memory.get("maxmemory_policy", _SAFE_POLICY)
        if policy != _SAFE_POLICY:
            found.append(
                f"{self.place} may delete keys when its memory is full (maxmemory-policy "
                f"{policy}), so worlds, or who owns them, would be lost. Set maxmemory-policy "
                "noeviction"
            )
        for text in found:
            if text not in self.advice:
                _LOG.warning("%s", text)
        self.advice = tuple(found)

    def try_writing(self) -> None:
        """Find out whether the engine takes changes, so that `trouble` says so if it does not."""
        try:
            self.call("SET", self.key("probe"), "1")
        except StoreError:
            return
        was, self._refusing = self._refusing, None
        if was is not None:
            _LOG.warning("%s takes changes again", self.place)

    def find_run(self) -> str:
        """Return the run of the engine that is reached now. Raises the same as `call`."""
        self.call("PING")
        return self.run_id

    def call(self, *command: Word) -> Any:
        """Return the answer to a command.

        Raises:
            StoreUnreachable: The engine cannot be reached, or does not take it.
            StoreForeign: A key is from another program.
        """
        return self._run([command])[0]

    def call_all(self, commands: Sequence[Sequence[Word]]) -> list[Any]:
        """Return the answers to commands that are sent together. Raises the same as `call`."""
        return self._run(commands)

    def run(self, text: str, keys: Sequence[str], *values: Word, within: str | None = None) -> Any:
        """Return what a script returns, with texts as `str`. Raises the same as `call`.

        Raises:
            EngineRestarted: The engine is in another run than `within`, if that is given.
        """
        known = self._scripts.get(text)
        if known is None:
            known = self._scripts[text] = sha1(text.encode(), usedforsecurity=False).hexdigest()
        found = self._run([("EVALSHA", known, len(keys), *keys, *values)], text, within)[0]
        if isinstance(found, bytes):
            return self.read_text(found, *keys)
        if isinstance(found, list):
            return [
                self.read_text(each, *keys) if isinstance(each, bytes) else each for each in found
            ]
        return found

    def read_text(self, body: bytes, *keys: str) -> str:
        """Return a value of one of these keys as text.

        Raises:
            StoreForeign: It is no text.
        """
        try:
            return body.decode()
        except UnicodeDecodeError:
            named = " or ".join(keys)
            raise self._report_foreign(f"the key {named} holds bytes that are no text") from None

    def probe(self) -> bool:
        """Whether the engine can be reached again; then commands are sent again."""
        if self._gone is None:
            return True
        try:
            self._exchange([("PING",)])
        except RedisError as error:
            self._gone = self._explain(error)
            return False
        with self._lock:
            was_gone, self._gone = self._gone, None
        if was_gone is not None:
            _LOG.warning("%s can be reached again", self.place)
        return True

    def close(self) -> None:
        """Close all connections to the engine."""
        with suppress(IndexError):  # other threads take connections as well
            while True:
                self._free.pop().connection.disconnect()

    def _run(
        self, commands: Sequence[Sequence[Word]], script: str = "", within: str | None = None
    ) -> list[Any]:
        if self._gone is not None:
            # Known to be gone: the request is refused at once. Without this each request would wait
            # for its own time-out, under the lock of its world, and the server would look frozen.
            raise StoreUnreachable(self.place, self._gone)
        try:
            try:
                # One repetition, since a broken connection usually means that the engine was
                # restarted or closed an idle connection, and a new one works. A time-out is not
                # repeated: the engine has the command and is only slow. A repetition has no effect
                # twice, because each change carries a number.
                return self._try(commands, script, within)
            except Disconnected as error:
                if isinstance(error, AuthenticationError):
                    raise
                self.close()  # all connections are from the same time
                return self._try(commands, script, within)  # what it repeats has no effect twice
        except RedisError as error:
            # The address in its text may have a password.
            raise self._translate(error, commands) from None

    def _try(
        self, commands: Sequence[Sequence[Word]], script: str, within: str | None
    ) -> list[Any]:
        try:
            # A script is named by its hash, which is short. An engine that does not know it yet
            # says so without doing anything; then the text is sent, and the engine remembers it.
            return self._exchange(commands, within)
        except NoScriptError:  # its first use, or the engine was started again
            rest = commands[0][2:]
            return self._exchange([("EVAL", script, *rest)], within)

    def _exchange(self, commands: Sequence[Sequence[Word]], within: str | None = None) -> list[Any]:
        """Send commands and return their answers; each thread uses a connection of its own.

        Raises:
            RedisError: This failed, or an answer is an error.
            EngineRestarted: The engine is in another run than `within`. Nothing was sent.
        """
        # A connection is used by one thread at a time and comes back only if every answer was read.
        # After any exception an answer may still be on its way and would be taken for that of the
        # next command, so the connection is closed.
        line = self._take_line()
        if within is not None and line.run != within:
            self._free.append(line)
            raise EngineRestarted
        connection = line.connection
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
        self._free.append(line)
        if error is not None:
            raise error
        return answers

    def _take_line(self) -> _Line:
        """Return a connection that no other thread uses, to the newest known run of the engine."""
        while True:
            try:
                # The last one that came back is the first to be used, so idle ones are closed by
                # the engine and not kept alive for nothing. Connections to an earlier run are of no
                # use: they were broken with it.
                line = self._free.pop()
            except IndexError:
                return self._connect()
            if line.run == self.run_id:
                return line
            line.connection.disconnect()

    def _connect(self) -> _Line:
        connection: Any = self._pool.make_connection()
        try:
            connection.send_packed_command([_pack(("INFO", "server"))])
            run = _read_info(connection.read_response()).get("run_id", "")
        except BaseException:
            connection.disconnect()
            raise
        self.run_id = run
        return _Line(connection, run)

    def _translate(self, fault: RedisError, commands: Sequence[Sequence[Word]]) -> StoreError:
        reason = self._explain(fault)
        if isinstance(fault, ResponseError) and "WRONGTYPE" in str(fault):
            return self._report_foreign(self._find_wrong_key(commands))
        if reason in _REASONS.values() and isinstance(fault, ResponseError):
            was, self._refusing = self._refusing, reason
            if reason == _REPLICA:  # its address may be that of another one by now
                self.close()
            if was is None:
                _LOG.warning("%s takes no changes (%s); trying again", self.place, reason)
        if isinstance(fault, Disconnected | TookTooLong):
            with self._lock:
                was_there, self._gone = self._gone is None, reason
            if was_there:
                _LOG.warning("%s cannot be reached (%s); trying again", self.place, reason)
            return StoreUnanswered(self.place, reason)
        return StoreUnreachable(self.place, reason)

    def _find_wrong_key(self, commands: Sequence[Sequence[Word]]) -> str:
        """Return what is wrong with the key that holds another type than it should."""
        for key in _find_keys(commands):
            wanted = _find_type(key.removeprefix(self.address.prefix))
            with suppress(RedisError):
                found = self._exchange([("TYPE", key)])[0].decode()
                if found not in {"none", wanted}:
                    return f"the key {key} holds a {found} where mock_platform keeps a {wanted}"
        return f"a key that begins with {self.address.prefix} holds another type than it should"

    def _report_foreign(self, what: str) -> StoreForeign:
        return StoreForeign(
            f"{self.place}: {what}, so it is from another program. Nothing was changed. Remove the "
            "key if nobody needs it; or name another prefix with ?prefix=NAME:, or another number "
            "of a database."
        )

    def _explain(self, fault: RedisError) -> str:
        """Return why a command failed, and what to do, without the secrets of the address."""
        text = str(fault)
        if isinstance(fault, InvalidResponse):
            return "what answers there is no Redis and no Valkey: check host and port"
        if isinstance(fault, TookTooLong):
            return f"it did not answer within {self.address.timeout:g} seconds"
        if isinstance(fault, AuthenticationError):
            return _REASONS["WRONGPASS" if "WRONGPASS" in text or "invalid" in text else "NOAUTH"]
        # Errors have no codes, only texts whose beginnings are stable.
        for begin, reason in _REASONS.items():
            # Older engines name the script first.
            if text.startswith(begin) or f": {begin}" in text:
                return reason
        if isinstance(fault, NoPermissionError):
            return f"this user may not do all that is needed ({text})"
        return text.rstrip(".") or type(fault).__name__


def _pack(command: Sequence[Word]) -> bytes:
    """Return a command in the form of the protocol."""
    parts = [part if isinstance(part, bytes) else str(part).encode() for part in command]
    words = b"".join([b"$%d\r\n%b\r\n" % (len(part), part) for part in parts])
    return b"*%d\r\n%b" % (len(parts), words)


def _read_info(body: bytes) -> dict[str, str]:
    """Return what an engine says of itself."""
    lines = (line.partition(":") for line in body.decode("utf-8", "replace").splitlines())
    return {name: value for name, colon, value in lines if colon}


def _version_of(info: dict[str, str]) -> tuple[int, ...]:
    text = info.get("redis_version", "0")
    return tuple(int(part) for part in text.split(".")[:2] if part.isdigit())


_TYPES = {
    "world": "hash",
    "points": "hash",
    "log": "stream",
    "worlds": "set",
    "credential": "set",
    "credentials": "set",
    "processes": "set",
    "unfinished": "set",
    "nonces": "zset",
}
"""By the first word of a key after its prefix; all others are strings."""


def _find_type(key: str) -> str:
    """Return the type that a key has, named without the prefix of all keys."""
    return _TYPES.get(key.partition(":")[0], "string")


def _find_keys(commands: Sequence[Sequence[str | bytes | int]]) -> Iterator[str]:
    """Return the keys that commands name."""
    for command in commands:
        name, *rest = command
        if name in {"EVAL", "EVALSHA"}:
            yield from map(str, rest[2 : 2 + int(rest[1])])
        elif name == "MGET":
            yield from map(str, rest)
        else:
            yield from map(str, rest[:1])
