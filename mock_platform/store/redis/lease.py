"""The lease of a process: while it holds, no other process takes over the worlds that it owns.

One key of the engine is the process, and expires with the lease, so a hundred worlds cost no
more renewals than one. After a lapse another process may own some of the worlds; each change is
refused by its token then, and what is only read is checked before it is answered.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable

from mock_platform.store.errors import StoreError, StoreUnreachable
from mock_platform.store.redis.engine import EngineLink

_LOG = logging.getLogger(__name__)
_RENEWALS = 3
"""How many times in the length of a lease it is renewed."""
_TURN_SECONDS = 0.1
"""How often the thread looks: at most so late an engine that was gone is used again."""


class Lease:
    """A process that is known to the engine. `on_lapse` is called after the lease had ended."""

    def __init__(
        self, engine: EngineLink, on_lapse: Callable[[], None], on_turn: Callable[[], None]
    ) -> None:
        self.process = os.urandom(8).hex()
        """The name of this process in the engine; no other process ever had it."""
        self.address = ""
        """How other processes reach this one."""
        self.seconds = 3.0
        self._engine = engine
        self._on_lapse = on_lapse
        self._on_turn = on_turn
        self._uptime: Callable[[], float] | None = None
        self._until = 0.0
        self._lock = threading.Lock()
        self._known = False
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self, seconds: float, address: str, uptime: Callable[[], float]) -> None:
        """Renew the lease in a thread from now on; `uptime` returns seconds that only grow.

        Raises:
            StoreError: The engine cannot be reached.
        """
        self.seconds, self.address, self._uptime = seconds, address, uptime
        self.renew()
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

    def renew(self) -> None:
        """Renew the lease; if it had ended, `on_lapse` is called before this returns.

        Raises:
            StoreError: The engine cannot be reached.
        """
        with self._lock:
            begun = 0.0 if self._uptime is None else self._uptime()
            # The engine's own count begins later than ours, so ours never ends after it.
            before = self._engine.call(
                "SET", self._key, self.address, "PX", int(self.seconds * 1000), "GET"
            )
            if before is None and self._known:
                _LOG.warning(
                    "The lease of this process on %s had ended; its worlds are checked",
                    self._engine.place,
                )
                self._on_lapse()
            self._known = True
            self._until = begun + self.seconds

    def stop(self) -> None:
        """Stop the thread; the lease ends by itself."""
        self._stopped.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(self.seconds)

    def end(self) -> None:
        """Let other processes know at once that this one has gone."""
        self.stop()
        self._until = 0.0
        self._engine.call("DEL", self._key)

    @property
    def _key(self) -> str:
        return self._engine.key("process", self.process)

    def _run(self) -> None:
        turns = 0
        while not self._stopped.wait(_TURN_SECONDS):
            turns += 1
            was_gone = self._engine.trouble is not None
            if not was_gone and turns * _TURN_SECONDS < self.seconds / _RENEWALS:
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
