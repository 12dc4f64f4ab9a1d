"""A sandbox in a Python process: a server in a thread, and the Python interface of its worlds.

Errors in handlers are not hidden from the caller. An in-process call raises them itself. For a
network request they are raised when the platform stops, because the client has already got a 500.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from mock_platform.client.interface import PlatformFace
from mock_platform.client.late_application import (
    LateApplication,
    RaisingApplication,
    SocketApplication,
)
from mock_platform.client.local import LocalWorld
from mock_platform.control.plane import ControlPlane
from mock_platform.core.auth.lookup import replace_credentials
from mock_platform.core.call import Call
from mock_platform.serving.app import make_edge
from mock_platform.serving.flask.wsgi import Edge
from mock_platform.serving.http import ServerThread
from mock_platform.serving.http.tls import TlsMaterial
from mock_platform.serving.restoring import Opened, open_platform, open_replayed, override_settings
from mock_platform.settings import Settings
from mock_platform.world import redact
from mock_platform.world.names import DEFAULT
from mock_platform.world.worlds import list_ignored

if TYPE_CHECKING:
    from mock_platform.control.plane import ControlPlane
    from mock_platform.serving.flask.wsgi import Edge
    from mock_platform.verification.cases.replay import CaseDifference


class LocalPlatform(LocalWorld, PlatformFace):
    """A server in a thread of this process, and its default world; see `MockPlatform.start`."""

    def __init__(
        self,
        opened: Opened,
        server: ServerThread,
        errors: HandlerErrors,
        application: LateApplication,
        material: TlsMaterial | None,
    ) -> None:
        """Internal; use `MockPlatform.start` to make one."""
        super().__init__(opened.platform, DEFAULT, server.url, application)
        self._opened = opened
        self._server = server
        self._errors = errors
        self._material = material  # its files live as long as it does
        self.differences: Sequence[CaseDifference] = ()
        """How the answers of an opened case differ from the recorded ones."""

    @property
    def control(self) -> ControlPlane:
        """The control plane: what it counts, and the platform below it."""
        return self._application.control

    @property
    def ca(self) -> Path | None:
        return None if self._material is None else self._material.ca

    @classmethod
    def open(
        cls, settings: Settings | None, *, port: int, tls: bool, **overrides: Any
    ) -> LocalPlatform:
        """Start a server in a thread; it listens before this method returns."""
        wanted = replace(override_settings(settings or Settings(), overrides), port=port)
        return cls._serve(open_platform(wanted), tls=tls)

    @classmethod
    def open_case(cls, path: Path | str, *, port: int) -> LocalPlatform:
        """Start a server with the world of a case; see `MockPlatform.open_case`."""
        from mock_platform.verification.cases.document import read_case
        from mock_platform.verification.cases.replay import replay

        replayed = replay(read_case(path))
        try:
            opened = open_replayed(replayed, {"port": port})
        finally:
            replayed.platform.close()
        platform = cls._serve(opened, tls=False)
        platform.differences = replayed.differences
        return platform

    @classmethod
    def _serve(cls, opened: Opened, *, tls: bool) -> LocalPlatform:
        wanted, errors = opened.platform.settings, HandlerErrors()
        opened.platform.on_error = errors.record
        try:
            edge = make_edge(opened.platform)
            application = LateApplication(edge, errors.wrap(edge))
            material = TlsMaterial.generate((wanted.host, *wanted.public_hosts)) if tls else None
            server = ServerThread(
                SocketApplication(application),
                wanted.host,
                wanted.port,
                material,
                limits=wanted.connection,
            ).start()
        except BaseException:
            opened.platform.deliverer.close()
            opened.close()
            raise
        return cls(opened, server, errors, application, material)

    def _open_world(
        self, name: str, source: str | None, wanted: Mapping[str, Any], *, own_credentials: bool
    ) -> tuple[LocalWorld, Sequence[str]]:
        change = replace_credentials if own_credentials else None
        world = self._platform.worlds.create(name, source=source, change=change, **wanted)
        found = LocalWorld(self._platform, name, self._server.url, self._application)
        return found, list(list_ignored(world, **wanted))

    def drop_world(self, name: str) -> None:
        self._platform.worlds.drop(name)

    @property
    def worlds(self) -> list[str]:
        return [world.name for world in self._platform.worlds]

    def on_stray(self, listener: Callable[[str, str, str], None]) -> None:
        def listen(call: Call, world: str) -> None:
            listener(world, call.method, redact.address(call.url))

        self._platform.stray_listeners.append(listen)

    def raise_errors(self) -> None:
        self._errors.raise_recorded()

    def stop(self) -> None:
        self._close()
        self.raise_errors()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._close()
        if fault is None:
            self.raise_errors()
        else:  # what the block raised is not to be hidden by what came of it
            self._errors.add_notes(fault)

    def _close(self) -> None:
        self._server.stop()
        self._platform.close()
        self._opened.close()
        for error in self._server.errors:
            self._errors.record(error)
        self._server.errors.clear()


class HandlerErrors:
    """Collects errors of handlers: an in-process call raises its own, all others are kept."""

    def __init__(self) -> None:
        self._recorded: list[BaseException] = []
        self._local = threading.local()

    def record(self, fault: BaseException) -> None:
        """Record an error, in the thread in which it happened."""
        caught: list[BaseException] = getattr(self._local, "caught", self._recorded)
        caught.append(fault)

    def wrap(self, edge: Edge) -> RaisingApplication:
        """Return the edge; it raises the errors of handlers to in-process callers."""
        return RaisingApplication(edge, self.catching)

    def raise_recorded(self) -> None:
        """Raise the recorded errors, each once."""
        kept, self._recorded = self._recorded, []
        if len(kept) == 1:
            raise kept[0]
        if kept:
            raise BaseExceptionGroup("errors in the sandbox itself", kept)

    def add_notes(self, fault: BaseException) -> None:
        """Add the recorded errors to another exception as notes."""
        kept, self._recorded = self._recorded, []
        for each in kept:
            fault.add_note(f"The sandbox itself also failed: {type(each).__name__}: {each}")

    @contextmanager
    def catching(self) -> Iterator[list[BaseException]]:
        """Collect the errors of this thread inside a `with` block."""
        before = getattr(self._local, "caught", None)
        caught: list[BaseException] = []
        self._local.caught = caught
        try:
            yield caught
        finally:
            if before is None:
                del self._local.caught
            else:
                self._local.caught = before
