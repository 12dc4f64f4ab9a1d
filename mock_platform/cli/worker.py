"""A process that serves together with others: a worker of `--workers`, or one of an engine."""

from __future__ import annotations

import gc
import logging
import os
import shutil
import signal
import socket
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from socket import gethostname
from typing import TYPE_CHECKING, cast

import click
from msgspec import Struct

from mock_platform.cli import logs
from mock_platform.cli.command import BadInput, CannotListen, convert_errors
from mock_platform.cli.intercepting import add_proxy
from mock_platform.cli.options import split_address
from mock_platform.cli.server_context import (
    ServeOptions,
    close_after,
    report_error,
    send_to_shadow,
    watch_files,
)
from mock_platform.cli.signals import STOPPING, StopSignals
from mock_platform.serving.app import make_edge
from mock_platform.serving.cluster import Place, Placement
from mock_platform.serving.cluster.directory import Directory
from mock_platform.serving.cluster.hop import Hop, PlacedApplication
from mock_platform.serving.cluster.placement import ByHash, ByLease
from mock_platform.serving.cluster.shared_worlds import EngineLeases
from mock_platform.serving.http import Bound, CannotBind, serve_forever
from mock_platform.serving.http.binding import bind, share
from mock_platform.serving.process import collect_rarely
from mock_platform.serving.restoring import open_platform
from mock_platform.world.names import DEFAULT
from mock_platform.world.shared_worlds import SharedWorlds
from mock_platform.world.store.backends import name_share

if TYPE_CHECKING:
    from mock_platform.serving.flask.wsgi import Edge
    from mock_platform.serving.http.tls import TlsMaterial
    from mock_platform.serving.proxy_in_cluster import SharedProxy
    from mock_platform.serving.restoring import Opened
    from mock_platform.world.store.redis_archive import RedisArchive


_LOOPBACK = "127.0.0.1"
_MAX_PATH = 80
"""Characters of a folder in which a socket's path is short enough for every system."""


@contextmanager
def make_socket_folder() -> Iterator[Path]:
    """Make a folder for sockets that only this user can enter; it is removed at the end.

    Raises:
        BadInput: It cannot be made.
    """
    try:
        folder = Path(tempfile.mkdtemp(prefix="mock-platform-"))
        if len(str(folder)) > _MAX_PATH:
            folder.rmdir()
            folder = Path(tempfile.mkdtemp(prefix="mock-platform-", dir="/tmp"))
    except OSError as fault:
        raise BadInput(f"A folder for the processes cannot be made: {fault}.") from fault
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def make_hop(
    opened: Opened,
    edge: Edge,
    placement: Placement,
    listener: socket.socket | None = None,
) -> tuple[Hop, PlacedApplication]:
    """Return what hands requests to other processes, and the application that uses it."""
    hop = Hop(placement, edge, edge.control.list_questions(), listener)
    opened.platform.peers = hop
    return hop, PlacedApplication(edge, placement, hop)


def join_engine(
    opened: Opened, folder: Path, index: int = 0
) -> tuple[ByLease, socket.socket | None]:
    """Return the placement of a process whose worlds are on an engine, and where it listens.

    Without `--advertise`, it listens in `folder`, which only this user can enter, and nothing is
    returned for it. `index` counts the workers of a server from 0. Call `join` of the placement
    when the process answers.

    Raises:
        CannotListen: The address of `--advertise` cannot be used.
        StoreError: The engine cannot be reached.
    """
    platform = opened.platform
    listener, address = _listen(platform.settings.advertise, folder, index)
    here = Place(f"{gethostname()}/{os.getpid()}", address)
    archive = cast("RedisArchive", opened.archive)
    worlds = platform.worlds
    assert isinstance(worlds, SharedWorlds)
    leases = EngineLeases(archive, worlds)
    platform.number_requests(*archive.processes.draw_number())
    placement = ByLease(here, leases, archive.processes.find_secret())
    placement.announce()
    return placement, listener


def _listen(advertised: str | None, folder: Path, index: int) -> tuple[socket.socket | None, str]:
    """Return the socket and the address at which other processes reach this one."""
    if advertised is None and hasattr(socket, "AF_UNIX"):
        # A number of its own: what an earlier process left at this path is not taken for it.
        return None, f"unix:{folder}/{os.getpid()}.sock"
    host, port = (_LOOPBACK, 0) if advertised is None else split_address(advertised)
    try:
        listener, bound = bind(host, port and port + index)
    except CannotBind as fault:
        raise CannotListen(
            f"--advertise {advertised}: {fault} It must be an address of this machine, which the "
            "other machines reach."
        ) from fault
    shown = f"[{host}]" if ":" in host else host
    return listener, f"{shown}:{bound.port}"


_LOG = logging.getLogger(__name__)
OPEN, READY, DRAINED = b"open\n", b"ready\n", b"drained\n"
"""What a worker says: its worlds are open; it answers; it has no more requests of its clients."""
GO, RELEASE = b"go\n", b"release\n"
"""What the supervisor says: all workers' worlds are open; all workers have no more requests."""


class Team(Struct, frozen=True):
    """What all workers of a server have in common."""

    serving: ServeOptions
    reserved: socket.socket
    bound: Bound
    material: TlsMaterial | None
    folder: Path
    """The private folder of this start: sockets, and the directory of credentials."""
    secret: bytes
    proxy: SharedProxy | None = None
    """The address of the proxy of `--intercept`, which each worker runs."""

    @property
    def count(self) -> int:
        """The number of workers."""
        return self.serving.workers

    @property
    def directory(self) -> Path:
        """The file of the directory."""
        return self.folder / "directory.sqlite"

    def list_places(self) -> list[Place]:
        """Return the places of all workers."""
        numbers = range(1, self.count + 1)
        return [
            Place(
                str(number),
                f"unix:{self.folder}/{number}.sock",
                door=f"{self.folder}/{number}.door",
            )
            for number in numbers
        ]


class Wire:
    """The worker's end of its connection with the supervisor."""

    def __init__(self, end: socket.socket) -> None:
        self._end = end
        self._release: Callable[[], object] | None = None
        self._is_released = False
        self._lock = threading.Lock()

    def say(self, word: bytes) -> None:
        """Tell the supervisor something; one that is gone is noticed elsewhere."""
        try:
            self._end.sendall(word)
        except OSError:
            _LOG.debug("The supervisor is gone")

    def wait_for_go(self) -> None:
        """Wait until the worlds of all workers are open, or the supervisor is gone."""
        while self._end.recv(1) not in {b"\n", b""}:
            pass

    def follow(self) -> None:
        """Read in a thread what the supervisor says; without it, this process stops."""
        threading.Thread(target=self._read, name="mock-platform-wire", daemon=True).start()

    def drain(self, release: Callable[[], object]) -> None:
        """Say that there are no more requests; `release` is called when no worker has any."""
        with self._lock:
            self._release = release
            released = self._is_released
        if released:
            release()
        else:
            self.say(DRAINED)

    def _read(self) -> None:
        heard = b""
        while RELEASE not in heard:
            try:
                word = self._end.recv(64)
            except OSError:
                word = b""
            if not word:  # the supervisor was killed
                os.kill(os.getpid(), signal.SIGTERM)
                break
            heard += word
        with self._lock:
            self._is_released, release = True, self._release
        if release is not None:
            release()


def work(team: Team, index: int, end: socket.socket, unblocked: Iterable[int]) -> int:
    """Be a worker until a signal; return the exit status of the process.

    `unblocked` is the mask of signals for when they can be taken.
    """
    try:
        with StopSignals() as stop:
            signal.pthread_sigmask(signal.SIG_SETMASK, unblocked)
            _serve(team, index, Wire(end), stop)
    except click.ClickException as fault:
        fault.show()
        return fault.exit_code
    except Exception:  # noqa: BLE001 - the process ends here, and the log is all that remains
        _LOG.exception("Worker %d failed", index + 1)
        return 1
    return 0


def _serve(team: Team, index: int, wire: Wire, stop: StopSignals) -> None:
    serving, places = team.serving, team.list_places()
    log = logs.configure(serving.log_format, level=serving.log_level)
    with convert_errors():
        directory = Directory(team.directory, index)
        store = name_share(serving.settings.store, index)
        settings = replace(serving.settings, store=store, port=team.bound.port)
        opened = open_platform(settings, directory)
        platform = opened.platform
        platform.number_requests(index + 1, team.count)
        platform.on_error = report_error
        platform.observers.append(logs.log_warnings)
        if opened.archive.keeps:
            directory.keep([world.name for world in platform.worlds if world.name != DEFAULT])
        with close_after(opened):
            wire.say(OPEN)
            wire.wait_for_go()
            wire.follow()
            placement: ByHash | ByLease
            listener = None
            if platform.worlds.shared:
                placement, listener = join_engine(opened, team.folder, index)
            else:
                placement = ByHash(places, index, team.secret, directory.list_kept())
            hop, front = make_hop(opened, make_edge(platform), placement, listener)
            hop.on_drained = wire.drain

            def ready(_: Bound) -> None:
                if not hop.is_open:
                    here = placement.here.address
                    raise BadInput(f"Worker {index + 1} cannot listen at {here}.")
                if isinstance(placement, ByLease):
                    placement.join()
                wire.say(READY)

            with (
                watch_files(opened, active=serving.watch),
                send_to_shadow(platform, serving.shadow, aloud=index == 0),
                collect_rarely(),
            ):
                serve_forever(
                    front,
                    settings.host,
                    settings.port,
                    tls=team.material,
                    limits=settings.connection,
                    log=log,
                    on_ready=ready,
                    stop=stop,
                    listener=(share(team.reserved), team.bound),
                    companion=add_proxy(team.proxy, front, settings.connection, hop),
                )


def start_worker(
    team: Team, index: int, others: Sequence[socket.socket]
) -> tuple[int, socket.socket]:
    """Start a worker; return its process id and the supervisor's end of the connection.

    `others` are the supervisor's ends of other workers: a worker must not keep them open.
    """
    own, end = socket.socketpair()
    sys.stdout.flush()
    sys.stderr.flush()
    # A signal for the worker waits until it can be taken; the supervisor sends it once.
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, STOPPING)
    pid = -1
    try:
        pid = os.fork()
    finally:
        if pid:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    if pid:
        end.close()
        return pid, own
    status = 1
    try:
        own.close()
        for other in others:
            other.close()
        gc.enable()
        status = work(team, index, end, mask)
    finally:
        logging.shutdown()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
