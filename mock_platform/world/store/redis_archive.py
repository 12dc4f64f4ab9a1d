"""Worlds on a Redis or Valkey server: shared by processes, each world owned by one at a time.

A commit is one entry of the world's stream. Whole states replace what is before them: at a reset,
and when the stream has become long. Every change is one script (`redis/scripts.py`), which refuses
a token that is not the world's current one. The token changes whenever a process opens the world.
`redis/lease.py` and `redis/writing.py` say what holds when the engine is started again.
"""

from __future__ import annotations

import logging
import os
import threading
from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from math import isinf
from typing import NoReturn

from mock_platform.settings import Durability
from mock_platform.world.store.archive import (
    KeptWorld,
    Meta,
    Slots,
    WholeWorld,
    check_new,
    check_part,
)
from mock_platform.world.store.errors import StoreError, StoreUnwritable, WorldElsewhere, WorldLost
from mock_platform.world.store.interface import SavedWorld, Snapshot
from mock_platform.world.store.memory import Base
from mock_platform.world.store.redis import scripts
from mock_platform.world.store.redis.address import EngineAddress, parse_address
from mock_platform.world.store.redis.encoding import (
    FORMAT,
    Fixtures,
    check_format,
    encode_commit,
    encode_meta,
    encode_whole,
)
from mock_platform.world.store.redis.engine import EngineLink
from mock_platform.world.store.redis.lease import (
    SETTLING,
    EngineCredentials,
    Lease,
    NameSet,
    Processes,
    find_owner,
    list_owners,
)
from mock_platform.world.store.redis.writing import OwnedPoint, OwnedWorld, WorldReader, WorldWriter

_LOG = logging.getLogger(__name__)
_COMPACT_BYTES = 1024 * 1024
_COMPACT_AT_REST = 64 * 1024
_MOST_LOSSES = 20
"""Losses that are remembered, the newest ones."""


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
        self.lease = Lease(self._engine, self._check_worlds, self._confirm_worlds, self._take_turn)
        self.processes = Processes(self._engine)
        self.lost_listeners: list[Callable[[str], None]] = []
        """Called with the name of a world that another process took over or dropped, or may."""
        self.turn_listeners: list[Callable[[], object]] = []
        """Called in the thread of the lease, each time after it was renewed."""
        self.restart_listeners: list[Callable[[], object]] = []
        """Called in the thread of the lease after the engine was started again."""
        self._fixtures = Fixtures()
        self._writer = WorldWriter(
            self._engine, self.lease, self._fixtures, self._lose, self._forget
        )
        self._losses: deque[str] = deque(maxlen=_MOST_LOSSES)
        self._restarted = False
        self._compact_bytes = compact_bytes
        self._owned: dict[str, OwnedWorld] = {}
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
        """Return the names of all worlds in the archive, whoever owns them."""
        self._check_open()
        key = self._key("worlds")
        return [self._engine.read_text(name, key) for name in self._engine.call("SMEMBERS", key)]

    def open(self, name: str, base: Base) -> KeptWorld | None:
        """Take over a world, and return it as it was left; `None` if it is missing.

        Raises:
            WorldElsewhere: A process whose lease holds has the world open.
            StoreDamaged: The engine does not have what was written to it.
        """
        # Claim first, then read: only the owner may read, because a state that another process is
        # just changing would be outdated at once. If reading fails, the claim is given back, so
        # that another process may try, perhaps one with a newer version.
        term = self.lease.term
        found, run = self._claim(name)
        if found is None:
            return None
        token = int(found[1])
        reader = WorldReader(self._engine, self._fixtures)
        try:
            owned, points = reader.read(name, base, token, found[2])
        except BaseException:
            with suppress(StoreError):  # the next request for it asks this process
                self._engine.run(scripts.GIVE_BACK, [self._key("world", name)], token)
            raise
        if found[3] not in {"", self.lease.process}:
            _LOG.warning("World %r is taken over; the process that had it is gone", name)
        owned.run = run
        self._keep_owned(name, owned, term)
        rows = {table: dict(slots) for table, slots in owned.state.rows.items()}
        now = Snapshot(rows, owned.state.next_place)
        return KeptWorld(token, now, owned.state.meta, points)

    def add(self, name: str, whole: WholeWorld, points: Mapping[str, SavedWorld]) -> int:
        """Add a new world with its points, in one commit; return its token."""
        self._check_open()
        check_new(name, ())
        base = self._writer.put_fixtures(whole.base)
        body, state = encode_whole(whole, base, 0)
        kept = {}
        for label, saved in points.items():
            check_part(label, "a point")
            at_point = WholeWorld(whole.base, saved.records, saved.meta)
            kept[label] = OwnedPoint(base, encode_whole(at_point, base, 0)[0])
        more = [part for label, point in kept.items() for part in (label, point.body)]
        keys = [*self._keys(name), *map(self._key, ("worlds", "token", "run", "settling"))]
        born, term = os.urandom(8).hex(), self.lease.term
        found, run = self.lease.become_owner(
            scripts.ADD, keys, lambda run: (name, self.lease.process, born, body, run, *more)
        )
        if found[0] == "kept":
            check_new(name, [name])
        token = int(found[1])
        meta = encode_meta(whole.meta)
        self._keep_owned(name, OwnedWorld(token, state, meta, base, 0, points=kept, run=run), term)
        self._writer.put_fixtures(whole.base)  # again, if the engine was started meanwhile
        return token

    def drop(self, name: str, token: int) -> None:
        """Delete a world with its points."""
        owned = self._find(name, token)
        with owned.lock:
            keys, values = self._describe_drop(name)
            found = self._writer.let_go(name, owned, scripts.DROP, keys, *values)
            # After a repetition it may be gone because the first attempt arrived.
            if found == "lost" and self._engine.call("EXISTS", self._key("world", name)):
                self._lose(name, owned)
            self._owned.pop(name, None)

    def remove(self, name: str) -> bool:
        """Delete a world that cannot be read; return whether it was there.

        Raises:
            WorldElsewhere: A process whose lease holds has the world open.
        """
        found, _ = self._claim(name)
        if found is None:
            return False
        keys, values = self._describe_drop(name)
        self._engine.run(scripts.DROP, keys, int(found[1]), *values)
        return True

    def give_back(self, name: str, token: int) -> None:
        """Let other processes take over a world from now on; it takes no more changes from here.

        Raises:
            WorldLost: Another process has it already.
            StoreUnwritable: The engine cannot be reached; the lease will end by itself. If the
                engine may have the command, the world is closed here all the same.
        """
        owned = self._find(name, token)
        with owned.lock:
            if owned.log_bytes > _COMPACT_AT_REST and not owned.unsure:
                self._writer.compact(name, owned)
            self._writer.let_go(name, owned, scripts.GIVE_BACK, [self._key("world", name)])
            self._owned.pop(name, None)

    def owns(self, name: str) -> bool:
        """Whether this process owns a world, as far as it knows. Never waits."""
        return name in self._owned

    def find_owner(self, name: str) -> str | None:
        """Return the address of the process that has a world open; `None`: this one may open it.

        Raises:
            StoreUnreachable: The engine cannot be reached.
        """
        return find_owner(self._engine, name, self.lease.process)

    def list_owners(self) -> dict[str, str | None]:
        """Return every world with the address of its owner; `None` for those that rest."""
        return list_owners(self._engine, sorted(self.names()))

    # -- changes ---------------------------------------------------------------------------------

    def commit(self, name: str, token: int, slots: Slots, meta: Meta) -> None:
        """Record changed rows and the data beside them. Without changes nothing is written."""
        owned = self._find(name, token)
        with owned.lock:
            # The data beside the records are compared part by part with what was written last, so a
            # commit has only what changed: usually one counter.
            parts, known = encode_meta(meta), owned.meta
            changed = {name: body for name, body in parts.items() if known.get(name) != body}
            removed = [name for name in known if name not in parts]
            if not slots and not changed and not removed:
                return
            body = encode_commit(slots, changed, removed)
            keys = self._keys(name)[:2]
            self._writer.change(name, owned, scripts.COMMIT, keys, body)
            owned.state.take(slots)
            owned.meta, owned.state.seq = parts, owned.seq
            owned.log_bytes += len(body)

    def replace(
        self, name: str, token: int, whole: WholeWorld, *, dropped: Collection[str] = ()
    ) -> None:
        """Record the state of a world, and delete the points `dropped`, in one commit."""
        owned = self._find(name, token)
        with owned.lock:
            base = self._writer.put_fixtures(whole.base)
            # A repair before it gives the change another number; the state's own is only compared
            # with those of commits, which are deleted with it.
            body, state = encode_whole(whole, base, owned.seq + 1)
            self._writer.change(name, owned, scripts.REPLACE, self._keys(name), body, *dropped)
            owned.state, owned.base, owned.log_bytes = state, base, 0
            owned.meta = encode_meta(whole.meta)
            owned.state.seq = owned.seq
            self._writer.put_fixtures(whole.base)  # again, if the engine was started meanwhile
            for label in dropped:
                owned.points.pop(label, None)

    def keep_point(self, name: str, token: int, label: str, whole: WholeWorld) -> None:
        """Save a point; replaces the one with its label."""
        check_part(label, "a point")
        owned = self._find(name, token)
        with owned.lock:
            base = self._writer.put_fixtures(whole.base)
            body, _ = encode_whole(whole, base, owned.seq + 1)
            keys = [self._key("world", name), self._key("points", name)]
            self._writer.change(name, owned, scripts.KEEP_POINT, keys, label, body)
            owned.points[label] = OwnedPoint(base, body)
            self._writer.put_fixtures(whole.base)  # again, if the engine was started meanwhile

    def drop_point(self, name: str, token: int, label: str) -> None:
        """Delete a saved point."""
        owned = self._find(name, token)
        with owned.lock:
            keys = [self._key("world", name), self._key("points", name)]
            self._writer.change(name, owned, scripts.DROP_POINT, keys, label)
            owned.points.pop(label, None)

    # -- end -------------------------------------------------------------------------------------

    @property
    def trouble(self) -> str | None:
        """Why the engine cannot be used at present; `None` if it can."""
        waits = f"{self.place}: {SETTLING}" if self.lease.waits else None
        return self._engine.trouble or waits

    def list_warnings(self) -> Sequence[str]:
        """Return what should be set otherwise on the engine, and what it lost."""
        return [*self._engine.advice, *self._losses]

    def close(self) -> None:
        """Give all worlds back, so that other processes need not wait for the end of the lease."""
        with self._lock:
            if self._closed:
                return
            self.lease.stop()
            self._engine.probe()
            for name, owned in list(self._owned.items()):
                try:
                    self.give_back(name, owned.token)
                except WorldLost:
                    continue
                except StoreUnwritable as error:
                    _LOG.warning("%s. Other processes get its worlds when its lease ends", error)
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

    def _claim(self, name: str) -> tuple[list[str] | None, str]:
        """Become the owner of a world.

        Returns what `CLAIM` does, `None` if it is missing, and the run of the engine.
        """
        self._check_open()
        keys = [self._key("world", name), *map(self._key, ("token", "run", "settling"))]
        prefix = self._engine.address.prefix
        found, run = self.lease.become_owner(
            scripts.CLAIM, keys, lambda run: (self.lease.process, prefix, run)
        )
        if found[0] == "elsewhere":
            raise WorldElsewhere(name, found[1])
        return (None if found[0] == "none" else found), run

    def _describe_drop(self, name: str) -> tuple[list[str], tuple[str, str]]:
        """Return the keys of `DROP`, and its values after the token."""
        own = (self._key("worlds"), self._key("credentials", name), self._key("nonces", name))
        return [*self._keys(name), *own], (name, self._engine.address.prefix)

    def _keep_owned(self, name: str, owned: OwnedWorld, term: int) -> None:
        """Keep a world that this process has become the owner of; `term` is from before that.

        Raises:
            WorldLost: Another process has it already.
        """
        self._owned[name] = owned
        # The lease may have ended and been renewed since the engine was asked. Then worlds were
        # checked before this one was among them.
        if self.lease.term != term:
            self._check_worlds()
            self._find(name, owned.token)

    def _find(self, name: str, token: int) -> OwnedWorld:
        self._check_open()
        owned = self._owned.get(name)
        if owned is None or owned.token != token:
            raise WorldLost(name, self.place)
        return owned

    def _lose(self, name: str, owned: OwnedWorld, *, after_restart: bool = False) -> NoReturn:
        """Forget a world that another process owns now, and say so.

        Raises:
            WorldLost: Always.
        """
        if self._owned.get(name) is owned:
            if after_restart:
                self._note_loss(
                    f"World {name!r}: {self.place} was started again and had forgotten that this "
                    "process has it, and another process has it now. What only this process had "
                    "acknowledged is lost; the world is closed here"
                )
            else:
                _LOG.warning(
                    "World %r was taken over by another process, or dropped; it is closed here",
                    name,
                )
            self._forget(name, owned)
        raise WorldLost(name, self.place)

    def _forget(self, name: str, owned: OwnedWorld) -> None:
        """Close a world here that another process owns, or may own."""
        if self._owned.get(name) is owned:
            del self._owned[name]
            for listener in self.lost_listeners:
                listener(name)

    def _note_loss(self, text: str) -> None:
        _LOG.error("%s", text)
        if text not in self._losses:
            self._losses.append(text)

    def _confirm_worlds(self, forgotten: float) -> bool:
        """Confirm all worlds on an engine that was started again, and forgot some seconds.

        Returns whether that was possible for all of them; if not, it has to settle first.
        """
        self._restarted = True
        if forgotten > 0:
            what = "anything" if isinf(forgotten) else f"the last {forgotten:.1f} s or more"
            self._note_loss(
                f"{self.place} was started again without {what} of what it had acknowledged. "
                "Processes write the worlds again that they have open; what had changed in other "
                "worlds is lost. Start it with --appendonly yes --appendfsync always, and change "
                "to a replica only when that has everything"
            )
        self._check_format()
        return self._check_worlds()

    def _check_worlds(self) -> bool:
        """Find the worlds that were lost, and confirm the others; return whether none is left."""
        # Also after a restart of the engine, requests may have confirmed some worlds in this run
        # before the lease was renewed in it. So nothing kept other processes from taking these.
        self._check_tokens()
        return self._confirm_late()

    def _confirm_late(self) -> bool:
        """Confirm the worlds that are not yet in this run; return whether none is left."""
        confirmed = True
        for name, owned in list(self._owned.items()):
            if owned.run == self._engine.run_id:
                continue
            with owned.lock, suppress(WorldLost):
                if self._owned.get(name) is owned:
                    confirmed &= self._writer.confirm(name, owned)
        return confirmed

    def _check_tokens(self) -> None:
        """Find the worlds that were lost while the lease did not hold."""
        kept = dict(self._owned)
        if not kept:
            return
        keys = [self._key("world", name) for name in kept]
        tokens = self._engine.call_all([("HGET", key, "token") for key in keys])
        for (name, owned), token in zip(kept.items(), tokens, strict=True):
            # The engine may have been started again meanwhile; then the world is confirmed.
            same_run = owned.run == self._engine.run_id
            if same_run and token != str(owned.token).encode():
                with suppress(WorldLost):
                    self._lose(name, owned)

    def _take_turn(self) -> None:
        self._engine.try_writing()
        self._confirm_late()
        if self._restarted:
            self._engine.look_at_settings()
            for listener in self.restart_listeners:
                listener()
            self._restarted = False
        self._compact_long()
        for listener in self.turn_listeners:
            listener()

    def _compact_long(self) -> None:
        for name, owned in list(self._owned.items()):
            if owned.log_bytes > self._compact_bytes and not owned.unsure:
                self._writer.compact(name, owned)


def open_archive(place: str, durability: Durability) -> RedisArchive:
    """Return the archive on the engine that a URL names; how durable it is, the engine decides.

    Raises:
        StoreError: The engine cannot be reached or used, or has keys of another program there.
    """
    return RedisArchive(parse_address(place))
