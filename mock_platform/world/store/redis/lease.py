"""The lease of a process, and who owns what: worlds, credentials, nonces, names.

While the lease holds, no other process takes over the worlds that its process owns.

One key of the engine is the process, and expires with the lease, so a hundred worlds cost no
more renewals than one. After a lapse another process may own some of the worlds; each change is
refused by its token then, and what is only read is checked before it is answered.

A lease is of one run of the engine. One that was started again may be older than what it had
acknowledged, so it settles for the length of a lease, in which no process takes over a world unless
its owner has confirmed it. A process whose lease has not ended meanwhile is certain that no other
process has its worlds: it confirms them and goes on. One whose lease has ended waits until the
engine has settled, because another process may have had its worlds since, and the engine forgot it.
"""

from __future__ import annotations

import logging
import math
import os
import threading
from collections.abc import Callable, Sequence
from typing import Any

from mock_platform.world.store.errors import StoreError, StoreUnreachable
from mock_platform.world.store.redis import scripts
from mock_platform.world.store.redis.engine import EngineLink, EngineRestarted, Word

SETTLING = (
    "it was started again, and its processes say first which worlds they have; that takes as long "
    "as a lease"
)
"""Why worlds cannot be opened or changed for a while."""
STARTS_AGAIN = "it is started again and again"
ATTEMPTS = 3
"""How many runs of the engine a command may meet."""
_LOG = logging.getLogger(__name__)
_RENEWALS = 3
"""How many times in the length of a lease it is renewed."""
_TURN_SECONDS = 0.1
"""How often the thread looks: at most so late an engine that was gone is used again."""


class Lease:
    """A process that is known to the engine.

    `on_lapse` is called after the lease had ended. `on_restart` is called with the seconds that an
    engine forgot which was started again, and returns whether all worlds could be confirmed.
    """

    def __init__(
        self,
        engine: EngineLink,
        on_lapse: Callable[[], object],
        on_restart: Callable[[float], bool],
        on_turn: Callable[[], None],
    ) -> None:
        self.process = os.urandom(8).hex()
        """The name of this process in the engine; no other process ever had it."""
        self.address = ""
        """How other processes reach this one."""
        self.seconds = 3.0
        self.run = ""
        """The run of the engine that the lease is of."""
        self.term = 0
        """Grows when worlds have to be checked: the lease did not hold, or the run has ended."""
        self._certain_in = ""
        """The run of the engine that began while the lease of the one before held for certain."""
        self.waits = False
        """Whether this process waits until the engine has settled."""
        self._engine = engine
        self._on_lapse = on_lapse
        self._on_restart = on_restart
        self._on_turn = on_turn
        self._uptime: Callable[[], float] | None = None
        self._until = 0.0
        self._beat = 0.0
        """The moment of the last renewal, by the engine's clock."""
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self, seconds: float, address: str, uptime: Callable[[], float]) -> None:
        """Renew the lease in a thread from now on, as soon as the engine has settled.

        `uptime` returns seconds that only grow, also while the machine sleeps.

        Raises:
            StoreError: The engine cannot be reached.
        """
        self.seconds, self.address, self._uptime = seconds, address, uptime
        while (left := self.renew()) > 0:
            self._stopped.wait(min(left, seconds / _RENEWALS))
        if self._thread is None:
            name = "mock-platform-lease"
            self._thread = threading.Thread(target=self._run, name=name, daemon=True)
            self._thread.start()

    def is_held(self) -> bool:
        """Whether the lease holds for certain; also `False` before `start`."""
        return self._uptime is not None and self._uptime() < self._until

    def is_certain(self, run: str) -> bool:
        """Whether no other process had a world of this one before this run of the engine."""
        return run == self._certain_in or self.is_held()

    def ensure(self) -> None:
        """Renew the lease if it is not certain that it holds.

        Raises:
            StoreError: The engine cannot be reached.
        """
        if not self.is_held():
            self.renew()

    def renew(self) -> float:
        """Renew the lease; return for how many seconds the engine still settles.

        If it had ended, or the engine was started again, worlds are checked before this returns.

        Raises:
            StoreError: The engine cannot be reached, or this process has to wait until it settled.
        """
        with self._lock:
            # The moment before the command is sent counts, not the one at which the answer arrives:
            # the engine counts from somewhere in between, so by our count the lease never lasts
            # longer than by its own. Whether the lease held until now is asked afterwards for the
            # same reason: the process may be stopped in between, and the command may be sent twice,
            # so that the engine's word that the lease had ended is lost.
            begun = 0.0 if self._uptime is None else self._uptime()
            run, (state, settling, beat, now) = self._send()
            was_held = self.is_held()
            # Two things may have happened since the last renewal. The engine may be another run;
            # then worlds are confirmed before anything else. Or the lease had ended in the same
            # run; then another process may have taken worlds over, and each world is checked by its
            # token. A process that was stopped for a while learns of it here, before it answers
            # from what it remembers.
            if self.run not in {"", run}:
                self.term += 1
                is_certain = was_held or settling < 0
                if is_certain:
                    self._certain_in = run
                self._pass_restart(float(beat), float(now), is_certain=is_certain)
            elif self.run and (state == "ended" or not (was_held or self._uptime is None)):
                _LOG.warning(
                    "The lease of this process on %s had ended; its worlds are checked",
                    self._engine.place,
                )
                self.term += 1
                self._on_lapse()
            self.run, self.waits, self._beat = run, False, float(now)
            # The engine's own count begins later than ours, so ours never ends after it.
            self._until = begun + self.seconds
            return max(1, int(settling)) / 1000 if settling >= 0 else 0.0

    def become_owner(
        self, script: str, keys: Sequence[str], values: Callable[[str], Sequence[Word]]
    ) -> tuple[list[str], str]:
        """Run a script that makes this process the owner of a world.

        Returns its answer, and the run of the engine in which that is so.

        Its last key is that of this lease; `values` are those for a run of the engine.

        Raises:
            StoreUnreachable: The engine cannot be reached, or has to settle first.
        """
        self.ensure()
        # The engine may be started again between any two commands. Every script is bound to the run
        # in which the lease was renewed; if that is over, nothing was sent, the lease is renewed in
        # the new run, and the script is tried there. An engine that is started again and again ends
        # this after a few times.
        for _ in range(ATTEMPTS):
            run = self.run
            try:
                found: list[str] = self._engine.run(
                    script, [*keys, self.key], *values(run), within=run
                )
            except EngineRestarted:
                found = ["renew"]
            if found[0] == "settling":
                raise StoreUnreachable(self._engine.place, SETTLING)
            if found[0] != "renew":
                return found, run
            self.renew()
        raise StoreUnreachable(self._engine.place, STARTS_AGAIN)

    def stop(self) -> None:
        """Stop the thread; the lease ends by itself."""
        self._stopped.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(self.seconds)

    def end(self) -> None:
        """Let other processes know at once that this one has gone."""
        self.stop()
        self._until = 0.0
        self._engine.call("DEL", self.key)

    @property
    def key(self) -> str:
        """The key that is there as long as the lease lasts."""
        return self._engine.key("process", self.process)

    def _send(self) -> tuple[str, list[Any]]:
        """Renew the lease on the engine; return its run, and what it answers."""
        names = ("run", "settling", "beat")
        keys = [self.key, *map(self._engine.key, names)]
        for _ in range(ATTEMPTS):
            run = self._engine.find_run()
            knew = int(self.run not in {"", run})
            milliseconds = int(self.seconds * 1000)
            try:
                return run, self._engine.run(
                    scripts.RENEW, keys, self.address, milliseconds, run, knew, within=run
                )
            except EngineRestarted:
                continue
        raise StoreUnreachable(self._engine.place, STARTS_AGAIN)

    def _pass_restart(self, beat: float, now: float, *, is_certain: bool) -> None:
        """Confirm the worlds of this process on an engine that was started again.

        Raises:
            StoreUnreachable: It has to wait until the engine has settled.
        """
        forgotten, self._beat = self._beat - beat if beat else math.inf, now
        confirmed = self._on_restart(forgotten)
        if not (confirmed and is_certain):
            self.waits = True
            raise StoreUnreachable(self._engine.place, SETTLING)

    def _run(self) -> None:
        turns = 0
        while not self._stopped.wait(_TURN_SECONDS):
            turns += 1
            # The thread turns often but does little: only while the engine is gone, or has to
            # settle, is each turn used, so that the first moment at which it works again is not
            # missed.
            hurries = self._engine.is_gone or self.waits
            if not hurries and turns * _TURN_SECONDS < self.seconds / _RENEWALS:
                continue
            try:
                if self._engine.probe():
                    self.renew()
                    turns = 0
                    self._on_turn()
            except StoreUnreachable:
                continue  # the engine has said so in the log
            except StoreError as error:
                _LOG.warning("%s", error)
            except Exception:  # noqa: BLE001 - without this thread the worlds would be lost
                _LOG.exception("What follows the renewal of the lease failed")


def find_owner(engine: EngineLink, name: str, process: str) -> str | None:
    """Return the address of another process that has a world open; `None`: `process` may open it.

    Raises:
        StoreUnreachable: The engine cannot be reached.
    """
    key = engine.key("world", name)
    owner = engine.read_text(engine.call("HGET", key, "owner") or b"", key)
    if owner in {"", process}:
        return None
    key = engine.key("process", owner)
    address = engine.call("GET", key)
    return None if address is None else engine.read_text(address, key)


def list_owners(engine: EngineLink, names: Sequence[str]) -> dict[str, str | None]:
    """Return worlds with the addresses of their owners; `None` for those that rest.

    Raises:
        StoreUnreachable: The engine cannot be reached.
    """
    if not names:
        return {}
    worlds = [engine.key("world", name) for name in names]
    told = engine.call_all([("HGET", key, "owner") for key in worlds])
    owners = [engine.read_text(each or b"", key) for each, key in zip(told, worlds, strict=True)]
    asked = list({owner for owner in owners if owner})
    keys = [engine.key("process", owner) for owner in asked]
    found = engine.call_all([("GET", key) for key in keys])
    addresses = {
        owner: engine.read_text(address, key)
        for owner, key, address in zip(asked, keys, found, strict=True)
        if address is not None
    }
    return {
        name: addresses.get(owner) if owner else None
        for name, owner in zip(names, owners, strict=True)
    }


# The credentials and the nonces of worlds on an engine: every process finds those of all.


class EngineCredentials:
    """Credentials with their worlds, whoever owns these, and the nonces that were used there.

    Every method raises `StoreUnreachable` if the engine cannot be reached.
    """

    def __init__(self, engine: EngineLink) -> None:
        self._engine = engine

    def add(self, credential: str, world: str) -> None:
        """Record that a world has a credential."""
        self._run(scripts.ADD_CREDENTIAL, credential, world)

    def remove(self, credential: str, world: str) -> None:
        """Record that a world no longer has a credential."""
        self._run(scripts.REMOVE_CREDENTIAL, credential, world)

    def find_worlds(self, credential: str) -> Sequence[str]:
        """Return the worlds that have a credential, whoever owns them."""
        key = self._engine.key("credential", credential)
        return [self._engine.read_text(name, key) for name in self._engine.call("SMEMBERS", key)]

    def use_nonce(self, world: str, nonce: str, mark: float, *, now: int, until: int) -> bool:
        """Return whether a nonce of a world is new; it is remembered until then, epoch seconds.

        `mark`, from 0 up to 1, is of this use: a repetition of it finds the nonce new as well.
        """
        keys = [self._engine.key("nonces", world)]
        values = now, repr(until + mark), nonce, 2 * until - now
        return bool(self._engine.run(scripts.USE_NONCE, keys, *values))

    def give_nonce_back(self, world: str, nonce: str) -> None:
        """Forget a nonce of a world, whose request changed nothing."""
        self._engine.call("ZREM", self._engine.key("nonces", world), nonce)

    def clear_nonces(self, world: str) -> None:
        """Forget the nonces of a world, because it was reset."""
        self._engine.call("DEL", self._engine.key("nonces", world))

    def _run(self, script: str, credential: str, world: str) -> None:
        keys = [self._engine.key("credential", credential), self._engine.key("credentials", world)]
        self._engine.run(script, keys, world, credential)


# A set of names of worlds on an engine, which all processes read and write.


class NameSet:
    """The names of one set. Every method raises `StoreUnreachable` if the engine is gone."""

    def __init__(self, engine: EngineLink, key: str) -> None:
        self._engine = engine
        self._key = engine.key(key)

    def add(self, name: str) -> None:
        """Add a name; nothing happens if it is there."""
        self._engine.call("SADD", self._key, name)

    def remove(self, name: str) -> None:
        """Remove a name, if it is there."""
        self._engine.call("SREM", self._key, name)

    def read(self) -> set[str]:
        """Return the names of all worlds in the set."""
        found = self._engine.call("SMEMBERS", self._key)
        return {self._engine.read_text(name, self._key) for name in found}


# The processes that share an engine: which of them live, and what they prove to one another.

_NUMBERS = 1000
"""Processes are numbered up to this, then again from 1."""


class Processes:
    """The living processes of an engine, by what each says of itself in the key of its lease."""

    def __init__(self, engine: EngineLink) -> None:
        self._engine = engine
        self._names = engine.key("processes")
        self._secret = b""

    def enter(self, process: str) -> None:
        """Let the others find a process as long as its lease holds."""
        self._engine.call("SADD", self._names, process)

    def list_living(self) -> list[str]:
        """Return what the living processes say of themselves; those that are gone are removed."""
        names = sorted(
            self._engine.read_text(name, self._names)
            for name in self._engine.call("SMEMBERS", self._names)
        )
        keys = [self._engine.key("process", name) for name in names]
        found = self._engine.call("MGET", *keys) if keys else []
        gone = [name for name, text in zip(names, found, strict=True) if text is None]
        if gone:
            self._engine.call("SREM", self._names, *gone)
        return [
            self._engine.read_text(text, key)
            for key, text in zip(keys, found, strict=True)
            if text is not None
        ]

    def find_secret(self) -> bytes:
        """Return what only the processes of this engine know, and whoever may use the engine."""
        key = self._engine.key("secret")
        # An engine that came back without it gets the one that this process has used so far.
        self._engine.call("SET", key, self._secret or os.urandom(32).hex(), "NX")
        self._secret = self._engine.call("GET", key)
        return self._secret

    def draw_number(self) -> tuple[int, int]:
        """Return a number for a process, and how many there are before they repeat."""
        drawn = int(self._engine.call("INCR", self._engine.key("processes-so-far")))
        return (drawn - 1) % _NUMBERS + 1, _NUMBERS
