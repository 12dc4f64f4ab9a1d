"""A sandbox inside a Python process: a server in a thread, and a face on what is in it.

Faults of handlers are raised in the caller's face: by the call itself where it was made in-process,
else when the platform is stopped, because by then the client has got its 500.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from mock_platform.app import create_app
from mock_platform.client.local import LocalWorld
from mock_platform.client.remote.platform import RemotePlatform
from mock_platform.core.call import Call
from mock_platform.edge.application import PlatformApplication
from mock_platform.restoring import Opened, open_platform, overridden
from mock_platform.server import ServerThread
from mock_platform.server.tls import TlsMaterial
from mock_platform.settings import Settings
from mock_platform.world import redact
from mock_platform.world.clock import Instant, moment
from mock_platform.world.names import DEFAULT

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment
    from flask import Flask


_OVER_SOCKET = "mock_platform.over_socket"
"""Key of the WSGI environ: the request came over a socket."""


class MockPlatform(LocalWorld):
    """A running sandbox; by itself the face of its default world. Stop it, or use it in a `with`.

    ```python
    with MockPlatform.start() as platform:
        platform.session(auth="bearer").post("/2/webhooks/replay", json={...})
    ```
    """

    def __init__(
        self,
        opened: Opened,
        server: ServerThread,
        faults: Faults,
        wsgi: Flask,
        material: TlsMaterial | None,
    ) -> None:
        """Not for callers: `start` makes one."""
        super().__init__(opened.platform, DEFAULT, server.url, wsgi)
        self._opened = opened
        self._server = server
        self._faults = faults
        self._material = material  # its files live as long as it does

    @property
    def ca(self) -> Path | None:
        """With `tls`: the file of the certificate authority for clients to trust."""
        return None if self._material is None else self._material.ca

    @classmethod
    def start(
        cls,
        settings: Settings | None = None,
        *,
        port: int = 0,
        tls: bool = False,
        **overrides: Any,
    ) -> MockPlatform:
        """Start a server in a thread; it listens before this returns.

        `overrides` are fields of `Settings`, or of its `delivery` as `delivery_timeout=1`; folders
        may be text, and `freeze` ISO 8601. `port` 0 takes a free one, whatever `settings` says.

        Raises:
            TypeError: There is no such setting.
            BadFixtures: Something is wrong with the fixtures.
            StoreError: The store's files are in use, damaged or not ours.
            CannotBind: The address cannot be listened on.
        """
        wanted = replace(overridden(settings or Settings(), overrides), port=port)
        opened = open_platform(wanted)
        faults = Faults()
        opened.platform.on_error = faults.take
        try:
            app = create_app(opened.platform)
            material = TlsMaterial.generate((wanted.host, *wanted.public_hosts)) if tls else None
            app.wsgi_app = faults.raising(app.wsgi_app)  # type: ignore[assignment,method-assign]
            server = ServerThread(_OverSocket(app), wanted.host, wanted.port, material).start()
        except BaseException:
            opened.platform.deliverer.close()
            opened.close()
            raise
        return cls(opened, server, faults, app, material)

    @staticmethod
    def connect(url: str) -> RemotePlatform:
        """The same face for a server elsewhere: the `url` of its READY line.

        A control token is taken from `MOCK_PLATFORM_CONTROL_TOKEN`, the file of an authority to
        trust from `REQUESTS_CA_BUNDLE`.

        Raises:
            ValueError: It is no address.
            Unreachable: Nobody answers there, or the server is not trusted.
            Refused: The server refuses, or is no mock_platform.
        """
        return RemotePlatform(url)

    def world(
        self,
        name: str,
        *,
        source: str | None = None,
        seed: int | None = None,
        freeze: Instant | None = None,
    ) -> LocalWorld:
        """Another world, made if there is none of that name: afresh, or as a copy of `source`.

        With `freeze` its clock stands still there, from the beginning and after each reset.
        """
        frozen_at = None if freeze is None else moment(freeze)
        self._platform.worlds.create(name, source=source, seed=seed, freeze=frozen_at)
        return LocalWorld(self._platform, name, self._server.url, self.wsgi)

    def drop_world(self, name: str) -> None:
        """Remove a world with all that is in it."""
        self._platform.worlds.drop(name)

    @property
    def worlds(self) -> list[str]:
        """The names of all worlds."""
        return [world.name for world in self._platform.worlds]

    def on_stray(self, listener: Callable[[str, str, str], None]) -> None:
        """Report requests to worlds that are not there (any more): world, method, address."""

        def listen(call: Call, world: str) -> None:
            listener(world, call.method, redact.address(call.url))

        self._platform.stray_listeners.append(listen)

    def raise_errors(self) -> None:
        """Raise what failed in handlers while clients called over the network, once each."""
        self._faults.raise_kept()

    def stop(self) -> None:
        """Stop the server, release the store's files, and raise what `raise_errors` would.

        Idempotent.
        """
        self._shut()
        self.raise_errors()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._shut()
        if fault is None:
            self.raise_errors()
        else:  # what the block raised is not to be hidden by what came of it
            self._faults.note_on(fault)

    def _shut(self) -> None:
        self._server.stop()
        self._platform.deliverer.close()
        self._opened.close()
        for fault in self._server.errors:
            self._faults.take(fault)
        self._server.errors.clear()


class Faults:
    """Where faults of handlers go: to the in-process call that met them, else they are kept."""

    def __init__(self) -> None:
        self._kept: list[BaseException] = []
        self._local = threading.local()

    def take(self, fault: BaseException) -> None:
        """Take a fault, in the thread that met it."""
        caught: list[BaseException] = getattr(self._local, "caught", self._kept)
        caught.append(fault)

    def raising(self, application: WSGIApplication) -> WSGIApplication:
        """The application, raising what its handlers raise to whoever calls it in this process."""
        return _Raising(application, self.catching)

    def raise_kept(self) -> None:
        """Raise what was kept, once."""
        kept, self._kept = self._kept, []
        if len(kept) == 1:
            raise kept[0]
        if kept:
            raise BaseExceptionGroup("faults of the sandbox itself", kept)

    def note_on(self, fault: BaseException) -> None:
        """Mention what was kept on another exception."""
        kept, self._kept = self._kept, []
        for each in kept:
            fault.add_note(f"The sandbox itself failed meanwhile: {type(each).__name__}: {each}")

    @contextmanager
    def catching(self) -> Iterator[list[BaseException]]:
        """Collects the faults of this thread for as long as it is entered."""
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


class _Raising:
    """An application that raises what its handlers raise to whoever calls it in this process."""

    def __init__(
        self,
        application: WSGIApplication,
        catching: Callable[[], AbstractContextManager[list[BaseException]]],
    ) -> None:
        self._application = application
        self._catching = catching
        self.at_once = getattr(application, "at_once", None)
        """What the server asks for: requests over a socket raise nothing."""

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Answer one request."""
        if _OVER_SOCKET in environ:
            return self._application(environ, start_response)
        with self._catching() as caught:
            answer = self._application(environ, start_response)
        if caught:
            close = getattr(answer, "close", None)
            if close is not None:
                close()
            raise caught[0]
        return answer


class _OverSocket:
    """The application for the server; what wraps its `wsgi_app` later is passed as well."""

    def __init__(self, app: PlatformApplication) -> None:
        self._app = app
        self.at_once = app.at_once

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Answer one request."""
        environ[_OVER_SOCKET] = True
        return self._app(environ, start_response)
