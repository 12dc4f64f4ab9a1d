"""The lease of a process: while it holds, no other process takes over the worlds that it owns.

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
        on_lapse: Callable[[], None],
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

    def ensure(self) -> None:
        """Renew the lease if it is not certain that it holds.

        Raises:
            StoreError: The engine cannot be reached.
        """
        if not self.is_held():
            self.renew()

    def renew(self) -> float:
        """Renew the lease; returns for how many seconds the engine still settles.

        If it had ended, or the engine was started again, worlds are checked before this returns.

        Raises:
            StoreError: The engine cannot be reached, or this process has to wait until it settled.
        """
        with self._lock:
            # The moment before the command is sent counts, not the one at which the answer arrives:
            # the engine counts from somewhere in between, so by our count the lease never lasts
            # longer than by its own.
            begun = 0.0 if self._uptime is None else self._uptime()
            was_held = begun < self._until
            run, (state, settling, beat, now) = self._send()
            # Two things may have happened since the last renewal. The engine may be another run;
            # then worlds are confirmed before anything else. Or the lease had ended in the same
            # run; then another process may have taken worlds over, and each world is checked by its
            # token. A process that was stopped for a while learns of it here, before it answers
            # from what it remembers.
            if self.run not in {"", run}:
                self._pass_restart(float(beat), float(now), is_certain=was_held or settling < 0)
            elif self.run and (state == "ended" or not (was_held or self._uptime is None)):
                _LOG.warning(
                    "The lease of this process on %s had ended; its worlds are checked",
                    self._engine.place,
                )
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
        """Renew the lease on the engine; returns its run, and what it answers."""
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
            except StoreError as fault:
                _LOG.warning("%s", fault)
