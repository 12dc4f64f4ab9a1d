"""`run`: runs a command with a server that stops when the command ends."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import traceback
from collections.abc import Mapping, Sequence

import click

from mock_platform.cli.signals import Signals
from mock_platform.cli.trouble import convert_errors
from mock_platform.client.platform import MockPlatform
from mock_platform.control.known_credentials import environment
from mock_platform.core.warning_counts import (
    WarningDocument,
    count_requests,
    describe_warnings,
)
from mock_platform.settings import Settings

NOT_EXECUTABLE = 126
NOT_FOUND = 127
_BY_SIGNAL = 128
_FORWARDED = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2")
_FROM_TERMINAL = ("SIGINT", "SIGQUIT")


def run_beside_server(command: Sequence[str], settings: Settings) -> int:
    """Run a command with the server's addresses and credentials in its environment.

    Returns the exit status as a shell would: 127 if the command does not exist, 128 plus the
    signal's number if a signal ended it.

    Raises:
        click.ClickException: The server cannot start.
    """
    if not hasattr(signal, "SIGCHLD"):
        raise click.ClickException(
            "this system has no signal for the end of a command (SIGCHLD), which `run` waits for. "
            "Start `mock-platform serve` beside the command."
        )
    if shutil.which(command[0]) is None and not os.path.exists(command[0]):  # noqa: PTH110
        click.echo(f"Error: {command[0]}: this command does not exist.", err=True)
        return NOT_FOUND
    with convert_errors():
        platform = MockPlatform.start(settings)
    try:
        return _run_command(command, variables(platform))
    finally:
        _show_warnings(platform.warnings())
        _stop(platform)


def variables(platform: MockPlatform) -> dict[str, str]:
    """Returns the environment of the command: addresses and test credentials."""
    return {
        "MOCK_PLATFORM_URL": platform.base_url,
        "MOCK_PLATFORM_SANDBOX_URL": platform.ads_sandbox_base_url,
        **environment(platform.credentials),
    }


def _run_command(command: Sequence[str], more: Mapping[str, str]) -> int:
    with _Forward() as forward:
        try:
            child = subprocess.Popen(  # noqa: S603 - it is the user's own
                command, env={**os.environ, **more}
            )
        except OSError as fault:
            click.echo(f"Error: {command[0]} cannot be run: {fault.strerror}.", err=True)
            return NOT_EXECUTABLE
        forward.to(child)
        while (status := child.poll()) is None:
            forward.wait()
    return status if status >= 0 else _BY_SIGNAL - status


class _Forward(Signals):
    """Forwards signals to a child, also earlier ones; wakes up when the child ends."""

    def __init__(self) -> None:
        named = [getattr(signal, name) for name in _FORWARDED if hasattr(signal, name)]
        super().__init__((*named, signal.SIGCHLD))
        self._child: subprocess.Popen[bytes] | None = None
        self._early: list[int] = []

    def to(self, child: subprocess.Popen[bytes]) -> None:
        """Forward signals to this child from now on."""
        self._child = child
        for number in self._early:
            child.send_signal(number)

    def on_signal(self, number: int) -> None:
        """Forward a signal, or keep it until the child exists."""
        if number == signal.SIGCHLD:
            return
        # The terminal sends these to the child itself; forwarding would send them twice.
        if signal.Signals(number).name in _FROM_TERMINAL and _is_in_foreground():
            return
        if self._child is None:
            self._early.append(number)
        else:
            self._child.send_signal(number)


def _is_in_foreground() -> bool:
    """Whether a terminal sends its signals to this process and its children alike."""
    try:
        return os.tcgetpgrp(0) == os.getpgrp()
    except OSError:
        return False


def _show_warnings(found: WarningDocument) -> None:
    """Print what was ignored in the requests of the command."""
    if found["requests"]:
        click.echo(f"mock-platform: {count_requests(found)}:", err=True)
        for line in describe_warnings(found):
            click.echo(f"  {line}", err=True)


def _stop(platform: MockPlatform) -> None:
    """Stop the server and report its errors; the exit status stays that of the command."""
    try:
        platform.stop()
    except Exception as fault:  # noqa: BLE001 - told below
        click.echo("Warning: the sandbox itself failed.", err=True)
        click.echo("".join(traceback.format_exception(fault)), err=True, nl=False)
