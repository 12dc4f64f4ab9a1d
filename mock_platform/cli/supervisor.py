"""`serve --workers N`: starts the workers, starts those again that end, and ends all of them.

The supervisor answers no requests. It has no threads, because workers are made by a fork.
"""

from __future__ import annotations

import logging
import os
import select
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

import click
from msgspec import Struct, field

from mock_platform.cli.command import convert_errors
from mock_platform.cli.server_context import ServeOptions
from mock_platform.cli.signals import STOPPING, Signals
from mock_platform.cli.worker import GO, RELEASE, Team, make_socket_folder, start_worker
from mock_platform.serving.cluster.directory import Directory
from mock_platform.serving.http.binding import Bound, reserve
from mock_platform.world.clock import UPTIME
from mock_platform.world.ids import unguessable
from mock_platform.world.store.backends import check_shares

if TYPE_CHECKING:
    from mock_platform.core.platform_hosts import Interception
    from mock_platform.serving.http.tls import TlsMaterial
    from mock_platform.serving.proxy_in_cluster import SharedProxy

_LOG = logging.getLogger(__name__)
_FIRST_PAUSE = 0.1
_LONGEST_PAUSE = 5.0
_HEALTHY_SECONDS = 30.0
"""Seconds after which a worker that ends is started again without a longer pause than at first."""
_STANDARD_INPUT = 0


class _Worker(Struct):
    """A worker as the supervisor knows it."""

    index: int
    pid: int = 0
    """0 while it does not run."""
    end: socket.socket | None = None
    words: set[bytes] = field(default_factory=set)
    text: bytes = b""
    started: float = 0.0
    pause: float = _FIRST_PAUSE
    due: float = 0.0
    """When it is started again, on the clock `UPTIME`."""

    @property
    def label(self) -> str:
        """What people call it."""
        return str(self.index + 1)

    def say(self, word: bytes) -> None:
        """Tell the worker something; the end of one that is gone is noticed elsewhere."""
        if self.end is not None:
            with suppress(OSError):
                self.end.sendall(word)


class Supervisor:
    """Starts and watches the workers of one server."""

    def __init__(self, team: Team, signals: Signals, on_ready: Callable[[], object]) -> None:
        self._team = team
        self._signals = signals
        self._on_ready = on_ready
        self._workers = [_Worker(index) for index in range(team.count)]
        self._was_ready = self._stopping = self._released = False
        self._follows_stdin = team.serving.stop_with_stdin
        self._status = 0

    def run(self) -> int:
        """Run until a signal, then end all workers; returns the exit status.

        It is 0 if all workers ended well, else that of the first that did not.
        """
        for worker in self._workers:
            self._start(worker)
        while any(worker.pid or worker.due for worker in self._workers):
            self._wait()
            self._start_due()
        return self._status

    def stop(self) -> None:
        """End all workers, as after a signal."""
        self._stopping = True
        for worker in self._workers:
            worker.due = 0.0
            worker.say(GO)
            if worker.pid:
                os.kill(worker.pid, signal.SIGTERM)
        self._release_if_drained()

    # -- details ----------------------------------------------------------------------------------

    def _wait(self) -> None:
        ends = {worker.end: worker for worker in self._workers if worker.end is not None}
        readable: list[int | socket.socket] = [self._signals.fileno(), *ends]
        if self._follows_stdin:
            readable.append(_STANDARD_INPUT)
        due = [worker.due for worker in self._workers if worker.due]
        timeout = max(0.0, min(due) - UPTIME()) if due else None
        found, _, _ = select.select(readable, [], [], timeout)
        for each in found:
            if isinstance(each, socket.socket):
                self._listen(ends[each])
            elif each == _STANDARD_INPUT:
                self._follows_stdin = bool(os.read(_STANDARD_INPUT, 65_536))
                if not self._follows_stdin and not self._stopping:
                    self.stop()
            else:
                numbers = self._signals.wait()
                if numbers & {*STOPPING} and not self._stopping:
                    self.stop()
        self._collect_ended()

    def _start(self, worker: _Worker) -> None:
        others = [each.end for each in self._workers if each.end is not None]
        worker.words, worker.text, worker.due = set(), b"", 0.0
        worker.started = UPTIME()
        worker.pid, worker.end = start_worker(self._team, worker.index, others)

    def _start_due(self) -> None:
        now = UPTIME()
        for worker in self._workers:
            if worker.due and worker.due <= now:
                self._start(worker)

    def _listen(self, worker: _Worker) -> None:
        assert worker.end is not None
        try:
            data = worker.end.recv(4096)
        except OSError:
            data = b""
        if not data:
            worker.end.close()
            worker.end = None
            return
        # A worker says one word a line: "open" when its worlds are open, "ready" when it answers,
        # "drained" when it has no requests left at the end. What is behind the last line break is
        # the beginning of a word whose rest comes with the next read.
        *words, worker.text = (worker.text + data).split(b"\n")
        worker.words.update(words)
        if b"open" in words:
            self._let_go(worker)
        if b"ready" in words:
            self._note_ready(worker)
        if b"drained" in words:
            self._release_if_drained(worker)

    def _let_go(self, worker: _Worker) -> None:
        """Let workers serve when the worlds of all are open: then each knows where they are."""
        if self._was_ready or self._stopping:
            worker.say(GO)
        elif all(b"open" in each.words for each in self._workers):
            for each in self._workers:
                each.say(GO)

    def _note_ready(self, worker: _Worker) -> None:
        if self._was_ready:
            _LOG.info("Worker %s answers again (process %d).", worker.label, worker.pid)
        elif all(b"ready" in each.words for each in self._workers):
            self._was_ready = True
            self._on_ready()

    def _release_if_drained(self, worker: _Worker | None = None) -> None:
        """Let workers end when none has requests that another would have to answer."""
        if not self._stopping:
            if worker is not None:  # someone ended this one alone
                worker.say(RELEASE)
            return
        # A request is answered by the worker that has its world. So a worker without requests of
        # its own still answers for the others, until all have none.
        alive = [each for each in self._workers if each.pid]
        if not self._released and all(b"drained" in each.words for each in alive):
            self._released = True
            for each in alive:
                each.say(RELEASE)

    def _collect_ended(self) -> None:
        for worker in self._workers:
            if not worker.pid:
                continue
            pid, status = os.waitpid(worker.pid, os.WNOHANG)
            if pid:
                self._note_end(worker, os.waitstatus_to_exitcode(status))

    def _note_end(self, worker: _Worker, code: int) -> None:
        how = f"by signal {signal.Signals(-code).name}" if code < 0 else f"with status {code}"
        if self._stopping:
            worker.pid = 0
            if code and not self._status:
                self._status = code if code > 0 else 1
                _LOG.error("Worker %s ended %s while the server stopped.", worker.label, how)
            self._release_if_drained()
            return
        # Whatever ends a worker before the server was ready (a port, a store, a fixture) would end
        # the next one as well, so it ends the server. Later it was an accident: the worker is
        # started again, each time after a longer pause if it does not live long.
        if not self._was_ready:
            worker.pid = 0
            self._status = self._status or (code if code > 0 else 1)
            if code < 0:
                _LOG.error("Worker %s ended %s before the server was ready.", worker.label, how)
            self.stop()
            return
        lived = UPTIME() - worker.started
        worker.pause = _FIRST_PAUSE if lived > _HEALTHY_SECONDS else worker.pause
        lost = (
            " What its worlds had is gone, because they were in memory only."
            if self._team.serving.settings.store == "memory"
            else ""
        )
        _LOG.error(
            "Worker %s (process %d) ended %s.%s It is started again in %g s.",
            worker.label, worker.pid, how, lost, worker.pause,
        )  # fmt: skip
        worker.pid = 0
        worker.due = UPTIME() + worker.pause
        worker.pause = min(worker.pause * 2, _LONGEST_PAUSE)


def supervise(
    serving: ServeOptions,
    make_material: Callable[[], TlsMaterial | None],
    on_ready: Callable[[Bound, TlsMaterial | None, SharedProxy | None], object],
) -> None:
    """Serve with several workers until a signal.

    Raises:
        click.ClickException: The server cannot start.
        SystemExit: A worker did not end well; with its status.
    """
    settings = serving.settings
    if not hasattr(os, "fork") or not hasattr(socket, "AF_UNIX"):
        raise click.UsageError(
            "--workers needs a system with fork and Unix sockets, such as Linux or macOS."
        )
    with convert_errors():
        check_shares(settings.store, serving.workers)
        material = make_material()
        scheme = "http" if material is None else "https"
        reserved, bound = reserve(settings.host, settings.port, scheme)
        proxy = _reserve_proxy(serving.intercept)
    try:
        with make_socket_folder() as folder:
            team = Team(serving, reserved, bound, material, folder, unguessable(32).encode(), proxy)
            Directory.create(team.directory)
            with Signals((*STOPPING, signal.SIGCHLD), restore=False) as signals:
                status = Supervisor(team, signals, lambda: on_ready(bound, material, proxy)).run()
    finally:
        reserved.close()
        if proxy is not None:
            proxy.reserved.close()
    if status:
        sys.exit(status)


def _reserve_proxy(wanted: Interception | None) -> SharedProxy | None:
    if wanted is None:
        return None
    from mock_platform.client.intercepting import reserve_proxy

    return reserve_proxy(wanted)
