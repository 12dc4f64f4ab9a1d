"""A prepared command is to whoever starts it what the command itself would be."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands import environment, finished
from tests.prepared_commands import PreparedCommands
from tests.waits import PATIENCE

pytestmark = pytest.mark.live
SHOW = "import os, sys; print(os.getcwd(), os.environ['ODD'], sys.argv[1:], sys.stdin.read())"


def test_it_has_what_it_was_started_with(
    prepared_commands: PreparedCommands, tmp_path: Path
) -> None:
    """Words, folder, variables and input are passed on, and output and status come back."""
    words = [prepared_commands.command, "run", "--", sys.executable, "-c", SHOW, "a b", "é"]
    env = environment(ODD="x y")

    ended = finished(words, cwd=tmp_path, env=env, input="in")
    refused = finished([prepared_commands.command, "no-such"], env=env)

    assert (0, f"{tmp_path} x y ['a b', 'é'] in\n") == (ended.returncode, ended.stdout)
    assert (2, "") == (refused.returncode, refused.stdout)
    assert "No such command" in refused.stderr


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGABRT])
def test_both_end_together(prepared_commands: PreparedCommands, number: int) -> None:
    """A signal that ends the server ends the command alike; who kills the command kills both."""
    words = [str(prepared_commands.command), "serve", "--port", "0", "--stop-with-stdin"]
    for is_server in (True, False):
        with subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        ) as command:
            assert command.stdout is not None
            ready = command.stdout.readline().partition(b'"pid":')[2]
            pid = int(ready.partition(b",")[0])
            os.kill(pid if is_server else command.pid, number)
            assert b"" == command.stdout.read()  # when nobody has it open any more
            assert -number == command.wait(PATIENCE)


def test_a_signal_that_its_shell_ignores_still_ends_a_server(
    prepared_commands: PreparedCommands,
) -> None:
    """Shells ignore SIGINT for what runs in the background; a server takes it all the same."""
    words = ["sh", "-c", "trap '' INT; exec \"$@\"", "sh", str(prepared_commands.command)]
    with subprocess.Popen(
        [*words, "serve", "--port", "0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as command:
        assert command.stdout is not None
        assert command.stdout.readline().startswith(b"READY")
        command.send_signal(signal.SIGINT)
        assert 0 == command.wait(PATIENCE)
