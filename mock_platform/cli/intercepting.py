"""`--intercept` and `hosts`: for which hosts a proxy answers, and how else they lead here."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mock_platform.core.platform_hosts import (
    PLATFORM_HOSTS,
    BadHosts,
    Interception,
    check_host,
    is_ip_address,
    read_allowed,
    read_hosts,
)

if TYPE_CHECKING:
    from mock_platform.serving.http.loop_server import LoopCompanion
    from mock_platform.serving.proxy_in_cluster import SharedProxy
    from mock_platform.settings import ConnectionSettings


def check_allowed(_context: object, _option: object, hosts: tuple[str, ...]) -> tuple[str, ...]:
    """Return the hosts of `--allow-host`.

    Raises:
        click.BadParameter: One is no host.
    """
    for each in hosts:
        try:
            read_allowed(each)
        except ValueError as fault:
            raise click.BadParameter(str(fault)) from fault
    return hosts


def check_hosts(_context: object, _option: object, hosts: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names or addresses of `--host`, in lower case.

    Raises:
        click.BadParameter: One is neither.
    """
    found = []
    for each in hosts:
        try:
            found.append(each.lower() if is_ip_address(each) else check_host(each))
        except ValueError as fault:
            raise click.BadParameter(str(fault)) from fault
    return tuple(found)


allow_host_option = click.option(
    "--allow-host", multiple=True, metavar="HOST[:PORT]", callback=check_allowed,
    help="With --intercept: pass connections on to this host, at the ports 80 and 443, or at PORT. "
    "All others are refused. Repeatable.",
)  # fmt: skip


def _read_file(_context: object, _option: object, file: Path | None) -> tuple[str, ...]:
    try:
        return () if file is None else read_hosts(file)
    except BadHosts as fault:
        raise click.BadParameter(str(fault)) from fault


intercept_hosts_option = click.option(
    "--intercept-hosts", type=click.Path(path_type=Path, exists=True, dir_okay=False),
    metavar="FILE", callback=_read_file,
    help="Answer for these hosts like the platform's own: a file with one name in a line.",
)  # fmt: skip


def read_interception(
    allow_hosts: tuple[str, ...], hosts: tuple[str, ...], *, intercept: bool
) -> Interception | None:
    """Return what a proxy does; `None` without a proxy.

    Raises:
        click.UsageError: Its options are given, but `--intercept` is not.
    """
    for option, given in (("--allow-host", allow_hosts), ("--intercept-hosts", hosts)):
        if given and not intercept:
            raise click.UsageError(f"{option} needs --intercept.")
    return Interception(hosts, allow_hosts) if intercept else None


def add_proxy(
    proxy: SharedProxy | None, front: Any, limits: ConnectionSettings, hop: LoopCompanion
) -> LoopCompanion:
    """Return what runs beside a server: the hop, and the proxy whose requests may take it."""
    if proxy is None:
        return hop
    from mock_platform.client.intercepting import share_proxy

    return share_proxy(proxy, front, limits, hop)


# `hosts`: what a hosts file needs, so that the platform's names lead to this machine.


def hosts_text(more: tuple[str, ...] = ()) -> str:
    """Return lines for a hosts file, with `more` hosts, and the command that serves them."""
    hosts = (*PLATFORM_HOSTS, *more)
    names = " ".join(f"--public-host {name}" for name in hosts)
    return "\n".join(
        [
            "# Lines for /etc/hosts. Remove them after your tests; --intercept does without them.",
            *(f"127.0.0.1 {name}" for name in hosts),
            "# Serve these names, on the port of https, with a certificate for all of them:",
            f"# mock-platform serve --tls --port 443 {names}",
        ]
    )
