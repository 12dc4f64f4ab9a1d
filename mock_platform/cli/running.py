"""`run`: runs a command with a server that stops when the command ends."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import click

from mock_platform.cli.run_report import Examiner, RunOptions
from mock_platform.cli.signals import Signals
from mock_platform.cli.trouble import convert_errors
from mock_platform.client.intercepting import trust_variables
from mock_platform.client.platform import MockPlatform
from mock_platform.core.auth.tester_access import environment

NOT_EXECUTABLE = 126
NOT_FOUND = 127
_BY_SIGNAL = 128
_FORWARDED = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2")
_FROM_TERMINAL = ("SIGINT", "SIGQUIT")


def run_beside_server(command: Sequence[str], options: RunOptions) -> int:
    """Run a command with the server's addresses and credentials in its environment.

    Returns the exit status as a shell would: 127 if the command does not exist, 128 plus the
    signal's number if a signal ended it. 1 if the command succeeded but the run did not.

    Raises:
        click.ClickException: The server cannot start, or a report cannot be written.
    """
    observed = observe_run(command, options)
    if observed is None:
        return NOT_FOUND
    examiner, status, faults = observed
    return examiner.conclude(command, status, faults)


def observe_run(
    command: Sequence[str], options: RunOptions
) -> tuple[Examiner, int, Sequence[BaseException]] | None:
    """Run a command beside a server, which is stopped then.

    Returns who examined the run, the exit status of the command, and the server's errors; `None` if
    the command does not exist.

    Raises:
        click.ClickException: The server cannot start.
    """
    if not hasattr(signal, "SIGCHLD"):
        raise click.ClickException(
            "this system has no signal for the end of a command (SIGCHLD), which `run` waits for. "
            "Start `mock-platform serve` beside the command."
        )
    gate = options.coverage.make_gate()
    if shutil.which(command[0]) is None and not os.path.exists(command[0]):  # noqa: PTH110
        click.echo(f"Error: {command[0]}: this command does not exist.", err=True)
        return None
    with convert_errors():
        server = MockPlatform.start(options.settings, tls=options.tls)
    examiner = Examiner(server, options, gate)
    try:
        with _list_more(server, options) as more:
            status = run_command(command, {**variables(server), **more})
        examiner.examine()
    finally:
        faults = _stop(server)
    return examiner, status, faults


def variables(platform: MockPlatform) -> dict[str, str]:
    """Return the environment of the command: addresses, test credentials, whom to trust."""
    return {
        "MOCK_PLATFORM_URL": platform.base_url,
        "MOCK_PLATFORM_SANDBOX_URL": platform.ads_sandbox_base_url,
        **environment(platform.credentials),
        **({} if platform.ca is None else trust_variables(platform.ca)),
    }


@contextmanager
def _list_more(server: MockPlatform, options: RunOptions) -> Iterator[Mapping[str, str]]:
    """Return the variables of a proxy, if there is one."""
    if options.intercept is None:
        yield {}
        return
    wanted = options.intercept
    with server.intercept(allow_hosts=wanted.allow_hosts, hosts=wanted.hosts) as found:
        yield found


def run_command(command: Sequence[str], more: Mapping[str, str]) -> int:
    """Run a command with more variables; return its exit status as a shell would."""
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


def _stop(server: MockPlatform) -> Sequence[BaseException]:
    """Stop the server, and return its errors."""
    try:
        server.stop()
    except BaseExceptionGroup as group:
        return group.exceptions
    except Exception as fault:  # noqa: BLE001 - reported to the user
        return [fault]
    return []
