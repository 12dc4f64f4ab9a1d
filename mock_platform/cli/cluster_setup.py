"""Lets a process hand requests to the others of its engine, and take theirs."""

from __future__ import annotations

import os
import shutil
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from socket import gethostname
from typing import TYPE_CHECKING, cast

from mock_platform.cli.kinds import split_address
from mock_platform.cli.trouble import BadInput, CannotListen
from mock_platform.serving.app import CONTROL
from mock_platform.serving.cluster import Place, Placement
from mock_platform.serving.cluster.hop import Hop, PlacedApplication
from mock_platform.serving.cluster.placement import ByLease
from mock_platform.serving.cluster.shared_worlds import EngineLeases
from mock_platform.serving.http import CannotBind
from mock_platform.serving.http.binding import bind
from mock_platform.world.shared_worlds import SharedWorlds

if TYPE_CHECKING:
    from mock_platform.control.plane import ControlPlane
    from mock_platform.serving.flask.application import PlatformApplication
    from mock_platform.serving.flask.wsgi import Edge
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
    application: PlatformApplication,
    placement: Placement,
    listener: socket.socket | None = None,
) -> tuple[Hop, PlacedApplication]:
    """Returns what hands requests to other processes, and the application that uses it."""
    control: ControlPlane = application.extensions[CONTROL]
    edge = cast("Edge", application.wsgi_app)
    hop = Hop(placement, edge, control.list_questions(), listener)
    opened.platform.peers = hop
    return hop, PlacedApplication(edge, placement, hop)


def join_engine(
    opened: Opened, folder: Path, index: int = 0
) -> tuple[ByLease, socket.socket | None]:
    """Returns the placement of a process whose worlds are on an engine, and where it listens.

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
    """Returns the socket and the address at which other processes reach this one."""
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
