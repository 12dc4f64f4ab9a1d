"""`serve`: one server in this process, from READY until a signal."""

from __future__ import annotations

import contextlib
import gc
import logging
import os
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mock_platform.app import create_app
from mock_platform.cli import logs
from mock_platform.cli.signals import StopSignals
from mock_platform.cli.trouble import BadInput, convert_errors
from mock_platform.cli.watching import Watch
from mock_platform.control.worlds import addresses
from mock_platform.core.jsonio import dumps
from mock_platform.edge.hosts import Interception
from mock_platform.restoring import Opened, open_platform
from mock_platform.server import Bound, serve_forever
from mock_platform.server.tls import TlsMaterial
from mock_platform.settings import ConnectionSettings, Settings
from mock_platform.version import __version__
from mock_platform.world.ids import unguessable
from mock_platform.world.names import DEFAULT

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication

    from mock_platform.server.proxy import ProxyServer

_STANDARD_INPUT = 0
_LOG = logging.getLogger(__name__)
_NEW_OBJECTS = 20_000
"""Number of new objects (beyond those freed) after which the garbage collector scans them."""


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """The arguments of `serve`."""

    settings: Settings
    tls: bool = False
    tls_folder: Path | None = None
    log_format: logs.LogFormat = "text"
    log_level: logs.LogLevel = "info"
    watch: bool = False
    stop_with_stdin: bool = False
    intercept: Interception | None = None
    """What a proxy for the platform's real hosts does; `None` without one."""


def serve_until_stopped(serving: ServeOptions) -> None:
    """Serve until a signal (or the end of standard input), then finish and write the store.

    Raises:
        click.ClickException: The server cannot start, or cannot write its store at the end.
    """
    log = logs.configure(serving.log_format, level=serving.log_level)
    settings = _add_control_token(serving.settings)
    with StopSignals() as stop, convert_errors():
        if serving.stop_with_stdin:
            stop.follow(_STANDARD_INPUT)
        material = _make_certificates(serving, settings)
        opened = open_platform(settings)
        platform = opened.platform
        platform.on_error = _report
        platform.observers.append(logs.log_warnings)
        application = create_app(platform)

        with (
            _close_after(opened),
            _watch_files(opened, active=serving.watch),
            _intercept(application, settings.connection, serving.intercept) as proxy,
            _collect_rarely(),
        ):

            def ready(bound: Bound) -> None:
                made_up = serving.settings.control_token is None
                _print_ready_line(bound, settings, material, proxy, made_up=made_up)

            serve_forever(
                application,
                settings.host,
                settings.port,
                tls=material,
                limits=settings.connection,
                log=log,
                on_ready=ready,
                stop=stop,
            )
    _LOG.info("Stopped.")


@contextlib.contextmanager
def _collect_rarely() -> Iterator[None]:
    """Let the garbage collector scan less: it took about a fifth of the time of a request.

    What is loaded now is kept until the end, so it is not scanned at all. Of the rest nearly
    everything is freed without the collector, when the journal drops its oldest entry, so the
    collector waits until many more objects exist than before.
    """
    gc.freeze()
    before = gc.get_threshold()
    gc.set_threshold(_NEW_OBJECTS)
    try:
        yield
    finally:
        gc.set_threshold(*before)


def _add_control_token(settings: Settings) -> Settings:
    """Returns the settings, with a control token if other machines can reach the server."""
    if settings.loopback or settings.control_token is not None:
        return settings
    return replace(settings, control_token=unguessable(32))


def _make_certificates(serving: ServeOptions, settings: Settings) -> TlsMaterial | None:
    if not serving.tls:
        return None
    try:
        return TlsMaterial.generate((settings.host, *settings.public_hosts), serving.tls_folder)
    except OSError as fault:
        raise BadInput(f"The certificate authority cannot be stored: {fault}.") from fault


@contextlib.contextmanager
def _intercept(
    application: WSGIApplication,
    limits: ConnectionSettings,
    wanted: Interception | None,
) -> Iterator[ProxyServer | None]:
    if wanted is None:
        yield None
        return
    from mock_platform.client.intercepting import open_proxy

    proxy = open_proxy(application, DEFAULT, limits, wanted)
    try:
        yield proxy
    finally:
        proxy.stop()


def _log_proxy(proxy: ProxyServer) -> None:
    from mock_platform.client.intercepting import list_variables

    file = proxy.tls.ca.with_name("proxy.sh")
    lines = [f"export {name}={shlex.quote(v)}\n" for name, v in list_variables(proxy).items()]
    file.write_text("".join(lines), "utf-8")
    _LOG.info("Programs of a shell reach the platform's real hosts here after: . %s", file)


def _print_ready_line(
    bound: Bound,
    settings: Settings,
    material: TlsMaterial | None,
    proxy: ProxyServer | None,
    *,
    made_up: bool,
) -> None:
    own = addresses(bound.url, DEFAULT)
    line: dict[str, Any] = {
        "url": bound.url,
        "sandbox": own["ads_sandbox_base_url"],
        "control": own["control"],
        "pid": os.getpid(),
        "version": __version__,
    }
    curl, note = ["curl", "-sS", "--fail-with-body"], ""
    if material is not None:
        line["ca"] = str(material.ca)
        curl += ["--cacert", str(material.ca)]
    if settings.control_token is not None:
        token = "TOKEN"  # who chose one knows it; it does not belong in a log
        if made_up:
            token = line["control_token"] = settings.control_token
        else:
            note = f"  # {token}: the value of --control-token"
        curl += ["-H", f"X-Mock-Control-Token: {token}"]
    if proxy is not None:
        line["proxy"] = proxy.url
    click.echo(f"READY {dumps(line).decode()}")
    if made_up and settings.control_token is not None:
        _LOG.warning(
            "Other machines can reach this server, so its control plane requires the "
            "header X-Mock-Control-Token: %s (choose your own with --control-token)",
            settings.control_token,
        )
    if proxy is not None:
        _log_proxy(proxy)
    _LOG.info("Console: %s/  Documentation: %s/docs/", own["control"], own["control"])
    _LOG.info("Try: %s%s", shlex.join([*curl, f"{own['control']}/credentials"]), note)


@contextlib.contextmanager
def _close_after(opened: Opened) -> Iterator[None]:
    try:
        yield
    finally:
        opened.platform.deliverer.close()
        try:
            opened.close()
        except OSError as fault:
            raise BadInput(
                f"{opened.archive.place} could not be written at the end ({fault}); it contains "
                "what was written before. Free some space; with --durability log each "
                "change is written at once."
            ) from fault


@contextlib.contextmanager
def _watch_files(opened: Opened, *, active: bool) -> Iterator[None]:
    if not active:
        yield
        return
    watch = Watch(opened.platform)
    watch.start()
    try:
        yield
    finally:
        watch.stop()


def _report(fault: BaseException) -> None:
    _LOG.error("The sandbox itself failed: %s", fault, exc_info=fault)
