"""A sandbox in a Python process: a server in a thread, and the Python interface of its worlds.

Errors in handlers are not hidden from the caller. An in-process call raises them itself. For a
network request they are raised when the platform stops, because the client has already got a 500.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self

from mock_platform.app import create_app
from mock_platform.client.local import LocalWorld
from mock_platform.client.world_options import check_names, is_error
from mock_platform.core.auth.world_credentials import replace_credentials
from mock_platform.core.call import Call
from mock_platform.edge.application import PlatformApplication
from mock_platform.edge.request import Direct, Request
from mock_platform.restoring import Opened, open_platform, override_settings
from mock_platform.server import ServerThread
from mock_platform.server.tls import TlsMaterial
from mock_platform.settings import NamesMode, Settings
from mock_platform.world import redact
from mock_platform.world.clock import Instant, moment
from mock_platform.world.names import DEFAULT

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment
    from flask import Flask


_OVER_SOCKET = "mock_platform.over_socket"
"""Key of the WSGI environ: the request came over a socket."""


class LocalPlatform(LocalWorld):
    """A server in a thread of this process, and its default world; see `MockPlatform.start`."""

    def __init__(
        self,
        opened: Opened,
        server: ServerThread,
        faults: Faults,
        wsgi: Flask,
        material: TlsMaterial | None,
    ) -> None:
        """Internal; use `MockPlatform.start` to make one."""
        super().__init__(opened.platform, DEFAULT, server.url, wsgi)
        self._opened = opened
        self._server = server
        self._faults = faults
        self._material = material  # its files live as long as it does

    @property
    def ca(self) -> Path | None:
        """With `tls`: the file of the certificate authority to trust."""
        return None if self._material is None else self._material.ca

    @classmethod
    def open(
        cls, settings: Settings | None, *, port: int, tls: bool, **overrides: Any
    ) -> LocalPlatform:
        """Start a server in a thread; it listens before this method returns."""
        wanted = replace(override_settings(settings or Settings(), overrides), port=port)
        opened = open_platform(wanted)
        faults = Faults()
        opened.platform.on_error = faults.record
        try:
            app = create_app(opened.platform)
            material = TlsMaterial.generate((wanted.host, *wanted.public_hosts)) if tls else None
            app.wsgi_app = faults.wrap(app.wsgi_app)  # type: ignore[assignment,method-assign]
            server = ServerThread(
                _OverSocket(app), wanted.host, wanted.port, material, limits=wanted.connection
            ).start()
        except BaseException:
            opened.platform.deliverer.close()
            opened.close()
            raise
        return cls(opened, server, faults, app, material)

    def world(
        self,
        name: str,
        *,
        source: str | None = None,
        seed: int | None = None,
        freeze: Instant | None = None,
        own_credentials: bool = False,
        warnings: Literal["ignore", "error"] | None = None,
        names: NamesMode | None = None,
    ) -> LocalWorld:
        """Returns another world; makes a missing one, from fixtures or as a copy of `source`.

        With `freeze` its clock is stopped at that moment, at the start and after each reset.
        With `own_credentials` its apps and tokens have keys that choose the world by themselves,
        without a prefix or a header. With `warnings="error"` it refuses requests of which something
        would be ignored. `names="original"` lets its clients use the platform's original names.
        """
        self._platform.worlds.create(
            name,
            source=source,
            seed=seed,
            freeze=None if freeze is None else moment(freeze),
            change=replace_credentials if own_credentials else None,
            refuse_warnings=is_error(warnings),
            names=check_names(names),
        )
        return LocalWorld(self._platform, name, self._server.url, self.wsgi)

    def drop_world(self, name: str) -> None:
        """Remove a world with all its contents."""
        self._platform.worlds.drop(name)

    @property
    def worlds(self) -> list[str]:
        """Returns the names of all worlds."""
        return [world.name for world in self._platform.worlds]

    def on_stray(self, listener: Callable[[str, str, str], None]) -> None:
        """Call `listener` for each request to a missing world, with world, method and address."""

        def listen(call: Call, world: str) -> None:
            listener(world, call.method, redact.address(call.url))

        self._platform.stray_listeners.append(listen)

    def raise_errors(self) -> None:
        """Raise the errors of handlers during network requests, each once."""
        self._faults.raise_recorded()

    def stop(self) -> None:
        """Stop the server, release the store's files, and raise the same as `raise_errors`.

        Idempotent: a second call does nothing.
        """
        self._close()
        self.raise_errors()

    def __enter__(self) -> Self:
        return self

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
            self._faults.add_notes(fault)

    def _close(self) -> None:
        self._server.stop()
        self._platform.close()
        self._opened.close()
        for fault in self._server.errors:
            self._faults.record(fault)
        self._server.errors.clear()


class Faults:
    """Collects errors of handlers: an in-process call raises its own, all others are kept."""

    def __init__(self) -> None:
        self._recorded: list[BaseException] = []
        self._local = threading.local()

    def record(self, fault: BaseException) -> None:
        """Record an error, in the thread in which it happened."""
        caught: list[BaseException] = getattr(self._local, "caught", self._recorded)
        caught.append(fault)

    def wrap(self, application: WSGIApplication) -> WSGIApplication:
        """Returns the application; it raises the errors of handlers to in-process callers."""
        return _Raising(application, self.catching)

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
        """Collects the errors of this thread inside a `with` block."""
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
    """An application that raises the errors of its handlers to in-process callers."""

    def __init__(
        self,
        application: WSGIApplication,
        catching: Callable[[], AbstractContextManager[list[BaseException]]],
    ) -> None:
        self._application = application
        self._catch = catching
        self.at_once: Callable[[Request], Direct | None] | None = getattr(
            application, "at_once", None
        )
        self.never_blocks: Callable[[Request], bool] | None = getattr(
            application, "never_blocks", None
        )
        """The application for the server: requests over a socket raise nothing."""

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Answer one WSGI request."""
        if _OVER_SOCKET in environ:
            return self._application(environ, start_response)
        return self._raise_errors_of(partial(self._application, environ, start_response))

    def at_once_in_process(self, request: Request) -> Direct | None:
        """Returns the same as `at_once`, raising what handlers raise."""
        direct = None if self.at_once is None else self.at_once(request)
        if direct is None:
            return None
        return lambda *args: self._raise_errors_of(partial(direct, *args))

    def _raise_errors_of(self, answer: Callable[[], Iterable[Any]]) -> Iterable[Any]:
        with self._catch() as caught:
            body = answer()
        if caught:
            close = getattr(body, "close", None)
            if close is not None:
                close()
            raise caught[0]
        return body


class _OverSocket:
    """Returns the application for the server; it includes later wrappers of its `wsgi_app`."""

    def __init__(self, app: PlatformApplication) -> None:
        self._app = app
        self.at_once = app.at_once
        self.never_blocks = app.never_blocks

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Answer one WSGI request."""
        environ[_OVER_SOCKET] = True
        return self._app(environ, start_response)
