"""`serve`: one server in this process, from READY until a signal."""

from __future__ import annotations

import contextlib
import dataclasses
import logging
import os
import shlex
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, cast

import click
from msgspec.structs import replace

from mock_platform.cli import logs
from mock_platform.cli.command import BadInput, convert_errors
from mock_platform.cli.intercepting import add_proxy
from mock_platform.cli.server_context import (
    ServeOptions,
    close_after,
    report_error,
    send_to_shadow,
    watch_files,
)
from mock_platform.cli.signals import StopSignals
from mock_platform.control.mistakes import TOKEN_HEADER
from mock_platform.control.worlds import addresses
from mock_platform.core.curl import write_curl
from mock_platform.core.jsonio import dumps
from mock_platform.core.platform_hosts import Interception
from mock_platform.serving.app import make_edge
from mock_platform.serving.http import Bound, serve_forever
from mock_platform.serving.http.tls import TlsMaterial
from mock_platform.serving.process import collect_rarely
from mock_platform.settings import Settings
from mock_platform.version import __version__
from mock_platform.world.ids import unguessable
from mock_platform.world.names import DEFAULT
from mock_platform.world.store.backends import check_shares

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication

    from mock_platform.client.intercepting import OpenProxy
    from mock_platform.serving.flask.wsgi import Edge
    from mock_platform.serving.http.loop_server import LoopCompanion
    from mock_platform.serving.proxy_in_cluster import SharedProxy
    from mock_platform.serving.restoring import Opened

_STANDARD_INPUT = 0
_LOG = logging.getLogger(__name__)


def serve_until_stopped(serving: ServeOptions) -> None:
    """Serve until a signal (or the end of standard input), then finish and write the store.

    Raises:
        click.ClickException: The server cannot start, or cannot write its store at the end.
    """
    log = logs.configure(serving.log_format, level=serving.log_level)
    settings = _add_control_token(serving.settings)
    if serving.workers > 1:
        _serve_with_workers(replace(serving, settings=settings), serving.settings)
        return
    with StopSignals() as stop, convert_errors():
        check_shares(settings.store, 1)
        if serving.stop_with_stdin:
            stop.follow(_STANDARD_INPUT)
        material = _make_certificates(serving, settings)
        opened = serving.opener(settings)
        platform = opened.platform
        platform.on_error = report_error
        platform.observers.append(logs.log_warnings)
        edge = make_edge(platform)

        with (
            close_after(opened),
            watch_files(opened, active=serving.watch),
            send_to_shadow(platform, serving.shadow),
            _intercept(opened, edge, serving.intercept) as proxy,
            collect_rarely(),
            _join_engine(opened, edge, proxy) as (front, companion, join),
        ):

            def ready(bound: Bound) -> None:
                join()
                made_up = serving.settings.control_token is None
                _print_ready_line(bound, settings, material, proxy, made_up=made_up)

            serve_forever(
                front,
                settings.host,
                settings.port,
                tls=material,
                limits=settings.connection,
                log=log,
                on_ready=ready,
                stop=stop,
                companion=companion,
            )
    _LOG.info("Stopped.")


@contextlib.contextmanager
def _join_engine(
    opened: Opened, edge: Edge, proxy: OpenProxy | None
) -> Iterator[tuple[WSGIApplication, LoopCompanion | None, Callable[[], object]]]:
    """Yield what serves, what runs beside it, and what to call when the server answers."""
    if not opened.platform.worlds.shared:
        yield edge, None, lambda: None
        return
    from mock_platform.cli.worker import join_engine, make_hop, make_socket_folder

    with make_socket_folder() as folder:
        placement, listener = join_engine(opened, folder)
        hop, front = make_hop(opened, edge, placement, listener)
        limits = opened.platform.settings.connection
        beside = add_proxy(cast("SharedProxy | None", proxy), front, limits, hop)
        yield front, beside, placement.join


def _serve_with_workers(serving: ServeOptions, given: Settings) -> None:
    """Serve with several processes; `given` are the settings before a token was made up."""
    from mock_platform.cli.supervisor import supervise

    def ready(bound: Bound, material: TlsMaterial | None, proxy: OpenProxy | None) -> None:
        made_up = given.control_token is None
        _print_ready_line(bound, serving.settings, material, proxy, made_up=made_up)

    supervise(serving, lambda: _make_certificates(serving, serving.settings), ready)
    _LOG.info("Stopped.")


def _add_control_token(settings: Settings) -> Settings:
    """Return the settings, with a control token if other machines can reach the server."""
    if settings.loopback or settings.control_token is not None:
        return settings
    return dataclasses.replace(settings, control_token=unguessable(32))


def _make_certificates(serving: ServeOptions, settings: Settings) -> TlsMaterial | None:
    if not serving.tls:
        return None
    try:
        return TlsMaterial.generate((settings.host, *settings.public_hosts), serving.tls_folder)
    except OSError as fault:
        raise BadInput(f"The certificate authority cannot be stored: {fault}.") from fault


@contextlib.contextmanager
def _intercept(
    opened: Opened, application: WSGIApplication, wanted: Interception | None
) -> Iterator[OpenProxy | None]:
    """Open a proxy; one for worlds of an engine runs beside the hop, so that it can take it."""
    if wanted is None:
        yield None
        return
    from mock_platform.client.intercepting import open_proxy, reserve_proxy

    if opened.platform.worlds.shared:
        shared = reserve_proxy(wanted)
        with shared.reserved:
            yield shared
        return
    proxy = open_proxy(application, DEFAULT, opened.platform.settings.connection, wanted)
    try:
        yield proxy
    finally:
        proxy.stop()


def _log_proxy(proxy: OpenProxy) -> None:
    from mock_platform.client.intercepting import list_variables

    file = proxy.tls.ca.with_name("proxy.sh")
    lines = [f"export {name}={shlex.quote(v)}\n" for name, v in list_variables(proxy).items()]
    file.write_text("".join(lines), "utf-8")
    _LOG.info("Programs of a shell reach the platform's real hosts here after: . %s", file)


def _print_ready_line(
    bound: Bound,
    settings: Settings,
    material: TlsMaterial | None,
    proxy: OpenProxy | None,
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
    options, headers, note = ["-sS", "--fail-with-body"], [], ""
    if material is not None:
        line["ca"] = str(material.ca)
        options += ["--cacert", str(material.ca)]
    if settings.control_token is not None:
        token = "TOKEN"  # who chose one knows it; it does not belong in a log
        if made_up:
            token = line["control_token"] = settings.control_token
        else:
            note = f"  # {token}: the value of --control-token"
        headers.append(f"{TOKEN_HEADER}: {token}")
    if proxy is not None:
        line["proxy"] = proxy.url
    click.echo(f"READY {dumps(line).decode()}")
    if made_up and settings.control_token is not None:
        _LOG.warning(
            "Other machines can reach this server, so its control plane requires the "
            "header %s: %s (choose your own with --control-token)",
            TOKEN_HEADER,
            settings.control_token,
        )
    if proxy is not None:
        _log_proxy(proxy)
    _LOG.info("Console: %s/  Documentation: %s/docs/", own["control"], own["control"])
    address = f"{own['control']}/credentials"
    _LOG.info("Try: %s%s", write_curl("GET", address, headers, options=options, between=" "), note)
