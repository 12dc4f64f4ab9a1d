"""Worlds on a Redis or Valkey server: shared by processes, each world owned by one at a time.

A commit is one entry of the world's stream. Whole states replace what is before them: at a reset,
and when the stream has become long. Every change is one script (`redis/scripts.py`), which refuses
a token that is not the world's current one. The token changes whenever a process opens the world.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from typing import Any

from mock_platform.settings import Durability
from mock_platform.store.archive import (
    KeptWorld,
    Meta,
    Slots,
    WholeWorld,
    check_new,
    check_part,
)
from mock_platform.store.errors import StoreError, StoreUnwritable, WorldElsewhere, WorldLost
from mock_platform.store.interface import SavedWorld, Snapshot
from mock_platform.store.memory import Base
from mock_platform.store.redis import owners, scripts
from mock_platform.store.redis.address import EngineAddress, parse_address
from mock_platform.store.redis.credentials import EngineCredentials
from mock_platform.store.redis.encoding import (
    FORMAT,
    Fixtures,
    check_format,
    encode_commit,
    encode_fixtures,
    encode_meta,
    encode_state,
    encode_whole,
)
from mock_platform.store.redis.engine import EngineLink
from mock_platform.store.redis.held import HeldWorld
from mock_platform.store.redis.lease import Lease
from mock_platform.store.redis.name_set import NameSet
from mock_platform.store.redis.processes import Processes
from mock_platform.store.redis.reading import WorldReader
from mock_platform.store.stored_worlds import StoredState

_LOG = logging.getLogger(__name__)
_COMPACT_BYTES = 1024 * 1024
_COMPACT_AT_REST = 64 * 1024


class RedisArchive:
    """An archive on an engine. Close it after the last call.

    Raises:
        StoreError: The engine cannot be reached or used, or has keys of another program there.
    """

    keeps = True

    def __init__(self, address: EngineAddress, *, compact_bytes: int = _COMPACT_BYTES) -> None:
        self._engine = EngineLink(address)
        self.place = address.shown
        self.credentials = EngineCredentials(self._engine)
        self.unfinished = NameSet(self._engine, "unfinished")
        self.lease = Lease(self._engine, self._check_tokens, self._take_turn)
        self.processes = Processes(self._engine)
        self.lost_listeners: list[Callable[[str], None]] = []
        """Called with the name of a world that another process took over, or dropped."""
        self.turn_listeners: list[Callable[[], object]] = []
        """Called in the thread of the lease, each time after it was renewed."""
        self._fixtures = Fixtures()
        self._written: set[str] = set()
        """Hashes of the fixtures that the engine has."""
        self._compact_bytes = compact_bytes
        self._held: dict[str, HeldWorld] = {}
        self._lock = threading.Lock()
        self._closed = False
        try:
            self._engine.check_server()
            self._check_format()
        except BaseException:
            self._engine.close()
            raise

    # -- worlds ----------------------------------------------------------------------------------

    def names(self) -> Collection[str]:
        """Returns the names of all worlds in the archive, whoever owns them."""
        self._check_open()
        return [name.decode() for name in self._engine.call("SMEMBERS", self._key("worlds"))]

    def open(self, name: str, base: Base) -> KeptWorld | None:
        """Take over a world, and return it as it was left; `None` if it is missing.

        Raises:
            WorldElsewhere: A process whose lease holds has the world open.
            StoreDamaged: The engine does not have what was written to it.
        """
        found = self._claim(name)
        if found is None:
            return None
        token = int(found[1])
        reader = WorldReader(self._engine, self._fixtures)
        try:
            held, points = reader.read(name, base, token, found[2])
        except BaseException:
            self._engine.run(scripts.GIVE_BACK, [self._key("world", name)], token)
            raise
        if found[3] not in {"", self.lease.process}:
            _LOG.warning("World %r is taken over; the process that had it is gone", name)
        self._held[name] = held
        rows = {table: dict(slots) for table, slots in held.state.rows.items()}
        now = Snapshot(rows, held.state.next_place)
        return KeptWorld(token, now, held.state.meta, points)

    def add(self, name: str, whole: WholeWorld, points: Mapping[str, SavedWorld]) -> int:
        """Add a new world with its points, in one commit; returns its token."""
        self._check_open()
        check_new(name, ())
        base = self._put_fixtures(whole.base)
        body, state = encode_whole(whole, base, 0)
        more: list[str | bytes] = []
        for label, saved in points.items():
            check_part(label, "a point")
            at_point = WholeWorld(whole.base, saved.records, saved.meta)
            more += [label, encode_whole(at_point, base, 0)[0]]
        self.lease.ensure()
        found = self._engine.run(
            scripts.ADD,
            [*self._keys(name), self._key("worlds"), self._key("token")],
            name, self.lease.process, os.urandom(8).hex(), body, *more,
        )  # fmt: skip
        if found == "kept":
            check_new(name, [name])
        token = int(found)
        self._held[name] = HeldWorld(token, state, encode_meta(whole.meta), base, 0)
        return token

    def drop(self, name: str, token: int) -> None:
        """Delete a world with its points."""
        held = self._find(name, token)
        with held.lock:
            found = self._drop(name, token)
            # After a repetition it may be gone because the first attempt arrived.
            if found == "lost" and self._engine.call("EXISTS", self._key("world", name)):
                self._lose(name)
            self._held.pop(name, None)

    def remove(self, name: str) -> bool:
        """Delete a world that cannot be read; returns whether it was there.

        Raises:
            WorldElsewhere: A process whose lease holds has the world open.
        """
        found = self._claim(name)
        if found is None:
            return False
        self._drop(name, int(found[1]))
        return True

    def give_back(self, name: str, token: int) -> None:
        """Let other processes take over a world from now on; it takes no more changes from here.

        Raises:
            WorldLost: Another process has it already.
            StoreUnwritable: The engine cannot be reached; the lease will end by itself.
        """
        held = self._find(name, token)
        with held.lock:
            if held.unsure:
                self._repair(name, held)
            elif held.log_bytes > _COMPACT_AT_REST:
                self._compact(name, held)
            self._engine.run(scripts.GIVE_BACK, [self._key("world", name)], token)
            self._held.pop(name, None)

    def find_owner(self, name: str) -> str | None:
        """Returns the address of the process that has a world open; `None`: this one may open it.

        Raises:
            StoreUnreachable: The engine cannot be reached.
        """
        return owners.find_owner(self._engine, name, self.lease.process)

    def list_owners(self) -> dict[str, str | None]:
        """Returns every world with the address of its owner; `None` for those that rest."""
        return owners.list_owners(self._engine, sorted(self.names()))

    # -- changes ---------------------------------------------------------------------------------

    def commit(self, name: str, token: int, slots: Slots, meta: Meta) -> None:
        """Record changed rows and the data beside them. Without changes nothing is written."""
        held = self._find(name, token)
        with held.lock:
            parts, known = encode_meta(meta), held.meta
            changed = {name: body for name, body in parts.items() if known.get(name) != body}
            removed = [name for name in known if name not in parts]
            if not slots and not changed and not removed:
                return
            body = encode_commit(slots, changed, removed)
            keys = self._keys(name)[:2]
            self._change(name, held, scripts.COMMIT, keys, body)
            held.state.take(slots)
            held.meta, held.state.seq = parts, held.seq
            held.log_bytes += len(body)

    def replace(
        self, name: str, token: int, whole: WholeWorld, *, dropped: Collection[str] = ()
    ) -> None:
        """Record the state of a world, and delete the points `dropped`, in one commit."""
        held = self._find(name, token)
        with held.lock:
            base = self._put_fixtures(whole.base)
            # A repair before it gives the change another number; the state's own is only compared
            # with those of commits, which are deleted with it.
            body, state = encode_whole(whole, base, held.seq + 1)
            self._change(name, held, scripts.REPLACE, self._keys(name), body, *dropped)
            held.state, held.base, held.log_bytes = state, base, 0
            held.meta = encode_meta(whole.meta)
            held.state.seq = held.seq

    def keep_point(self, name: str, token: int, label: str, whole: WholeWorld) -> None:
        """Save a point; replaces the one with its label."""
        check_part(label, "a point")
        held = self._find(name, token)
        with held.lock:
            base = self._put_fixtures(whole.base)
            body, _ = encode_whole(whole, base, held.seq + 1)
            keys = [self._key("world", name), self._key("points", name)]
            self._change(name, held, scripts.KEEP_POINT, keys, label, body)

    def drop_point(self, name: str, token: int, label: str) -> None:
        """Delete a saved point."""
        held = self._find(name, token)
        with held.lock:
            keys = [self._key("world", name), self._key("points", name)]
            self._change(name, held, scripts.DROP_POINT, keys, label)

    # -- end -------------------------------------------------------------------------------------

    @property
    def trouble(self) -> str | None:
        """Why the engine cannot be reached at present; `None` if it can."""
        return self._engine.trouble

    def close(self) -> None:
        """Give all worlds back, so that other processes need not wait for the end of the lease."""
        with self._lock:
            if self._closed:
                return
            self.lease.stop()
            self._engine.probe()
            for name, held in list(self._held.items()):
                try:
                    self.give_back(name, held.token)
                except WorldLost:
                    continue
                except StoreUnwritable as fault:
                    _LOG.warning("%s. Other processes get its worlds when its lease ends", fault)
                    break
            self._closed = True
            with suppress(StoreError):  # it ends by itself
                self.lease.end()
            self._engine.close()

    # -- details ---------------------------------------------------------------------------------

    def _key(self, *parts: str) -> str:
        return self._engine.key(*parts)

    def _keys(self, name: str) -> list[str]:
        return [self._key(part, name) for part in ("world", "log", "state", "points")]

    def _check_open(self) -> None:
        if self._closed:
            raise StoreError(f"{self.place} has been closed; open it again")

    def _check_format(self) -> None:
        key = self._key("format")
        self._engine.call("SET", key, FORMAT, "NX")
        check_format(self.place, self._engine.address.prefix, self._engine.call("GET", key))

    def _claim(self, name: str) -> list[str] | None:
        """Become the owner of a world; returns what `CLAIM` does, `None` if it is missing."""
        self._check_open()
        self.lease.ensure()
        found: list[str] = self._engine.run(
            scripts.CLAIM, [self._key("world", name), self._key("token")],
            self.lease.process, self._engine.address.prefix,
        )  # fmt: skip
        if found[0] == "elsewhere":
            raise WorldElsewhere(name, found[1])
        return None if found[0] == "none" else found

    def _drop(self, name: str, token: int) -> Any:
        own = (self._key("worlds"), self._key("credentials", name), self._key("nonces", name))
        keys = [*self._keys(name), *own]
        return self._engine.run(scripts.DROP, keys, token, name, self._engine.address.prefix)

    def _find(self, name: str, token: int) -> HeldWorld:
        self._check_open()
        held = self._held.get(name)
        if held is None or held.token != token:
            raise WorldLost(name, self.place)
        return held

    def _change(
        self, name: str, held: HeldWorld, script: str, keys: list[str], *values: str | bytes
    ) -> None:
        """Make one change; the world's lock is held.

        Raises:
            WorldLost: The token is not the current one.
            LookupError: A point does not exist.
            StoreUnwritable: It could not be written. Then the engine may have it: the next change
                first writes the state that counts.
        """
        if held.unsure:
            self._repair(name, held)
        try:
            found = self._engine.run(script, keys, held.token, held.seq + 1, *values)
            if found in ("ahead", "behind"):
                # An engine that crashed came back without its last changes; they are all here.
                _LOG.warning(
                    "%s lost changes of world %r that it had acknowledged; they are written again",
                    self.place, name,
                )  # fmt: skip
                self._repair(name, held)
                found = self._engine.run(script, keys, held.token, held.seq + 1, *values)
        except StoreUnwritable:
            held.unsure = True
            raise
        if found == "lost":
            self._lose(name)
        if found != "done":
            raise LookupError(f"world {name!r} has no point {found[1]!r}")
        held.seq += 1

    def _repair(self, name: str, held: HeldWorld) -> None:
        """Write the state that counts in place of whatever the engine has."""
        kept = self._engine.call("HMGET", self._key("world", name), "token", "seq")
        if kept[0] is None or int(kept[0]) != held.token:
            self._lose(name)
        seq = max(int(kept[1]), held.seq) + 1
        self._written.discard(held.base)
        state = held.copy_state()
        self._put_rows(held.base, state)
        state.seq = seq
        body = encode_state(state, held.base)
        found = self._engine.run(scripts.REPLACE, self._keys(name), held.token, seq, body)
        if found == "lost":
            self._lose(name)
        held.seq, held.unsure, held.log_bytes = seq, False, 0

    def _lose(self, name: str) -> None:
        """Forget a world that another process owns now, and say so.

        Raises:
            WorldLost: Always.
        """
        if self._held.pop(name, None) is not None:
            _LOG.warning(
                "World %r was taken over by another process, or dropped; it is closed here", name
            )
            for listener in self.lost_listeners:
                listener(name)
        raise WorldLost(name, self.place)

    def _check_tokens(self) -> None:
        """Find the worlds that were lost while the lease did not hold."""
        names = list(self._held)
        if not names:
            return
        keys = [self._key("world", name) for name in names]
        tokens = self._engine.call_all([("HGET", key, "token") for key in keys])
        for name, token in zip(names, tokens, strict=True):
            held = self._held.get(name)
            if held is not None and (token is None or int(token) != held.token):
                try:
                    self._lose(name)
                except WorldLost:
                    continue

    def _take_turn(self) -> None:
        self._compact_long()
        for listener in self.turn_listeners:
            listener()

    def _compact_long(self) -> None:
        for name, held in list(self._held.items()):
            if held.log_bytes > self._compact_bytes and not held.unsure:
                self._compact(name, held)

    def _compact(self, name: str, held: HeldWorld) -> None:
        """Replace the commits of a world by a whole state, while new ones are added."""
        with held.lock:
            state, size, base = held.copy_state(), held.log_bytes, held.base
        self._put_rows(base, state)
        body = encode_state(state, base)
        self._engine.run(scripts.COMPACT, self._keys(name)[:3], held.token, state.seq, body)
        with held.lock:
            held.log_bytes = max(0, held.log_bytes - size)

    def _put_fixtures(self, base: Base) -> str:
        """Write fixtures that the engine does not have; returns their hash."""
        found = self._fixtures.hash_of(base)
        if found and found not in self._written:
            self._engine.call("SET", self._key("fixtures", found), encode_fixtures(base.rows), "NX")
            self._written.add(found)
        return found

    def _put_rows(self, base: str, state: StoredState) -> None:
        """Write the fixtures of a state that the engine does not have."""
        if base and base not in self._written:
            body = encode_fixtures(state.base)
            self._engine.call("SET", self._key("fixtures", base), body, "NX")
            self._written.add(base)


def open_archive(place: str, durability: Durability) -> RedisArchive:
    """Returns the archive on the engine that a URL names; how durable it is, the engine decides.

    Raises:
        StoreError: The engine cannot be reached or used, or has keys of another program there.
    """
    return RedisArchive(parse_address(place))
