"""A signal wakes the main thread, whichever thread the system hands it to."""

from __future__ import annotations

import subprocess

import pytest

from tests.commands import environment, python

ELSEWHERE = """
import signal, sys, threading

def send_elsewhere(number):
    # The system may choose any thread; here it must choose the one that is not the main thread.
    def send():
        signal.pthread_kill(threading.get_ident(), number)
    threading.Timer(0.2, send).start()
"""


def run(script: str) -> subprocess.CompletedProcess[str]:
    """A script in a process of its own, which must end by itself."""
    return python("-c", ELSEWHERE + script, env=environment())


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT"])
def test_serve_stops_by_a_signal_to_another_thread(name: str) -> None:
    """The main thread waits on no lock, so it does not sleep through a stop."""
    found = run(
        f"""
from mock_platform.cli import serving
from mock_platform.settings import Settings

print_ready_line = serving._print_ready_line
def ready(*args, **more):
    print_ready_line(*args, **more)
    send_elsewhere(signal.{name})

serving._print_ready_line = ready
serving.serve_until_stopped(serving.ServeOptions(Settings(port=0)))
print("ended in good order")
"""
    )

    assert found.returncode == 0, found.stderr
    assert found.stdout.endswith("ended in good order\n")
    assert "Stopped." in found.stderr


def test_run_passes_on_a_signal_to_another_thread() -> None:
    """Waiting for the command is no reason to sleep through a signal for it."""
    found = run(
        """
from mock_platform.cli import running
from mock_platform.cli.running import RunOptions
from mock_platform.settings import Settings

pass_on_to = running._Forward.to
def begun(forward, child):
    pass_on_to(forward, child)
    send_elsewhere(signal.SIGTERM)

running._Forward.to = begun
child = "import time; time.sleep(600)"
sys.exit(running.run_beside_server([sys.executable, "-c", child], RunOptions(Settings())))
"""
    )

    assert found.returncode == 128 + 15, found.stderr


def test_a_signal_before_the_wait_counts() -> None:
    """Nothing is lost between catching signals and waiting for one; a second changes nothing."""
    found = run(
        """
from mock_platform.cli.signals import StopSignals

with StopSignals() as stop:
    signal.raise_signal(signal.SIGTERM)
    signal.raise_signal(signal.SIGINT)
    stop.wait()
    stop.wait()
signal.raise_signal(signal.SIGTERM)
print("still here")
"""
    )

    assert (found.returncode, found.stdout) == (0, "still here\n"), found.stderr


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT"])
def test_a_late_signal_does_not_change_the_status(name: str) -> None:
    """Nor when the interpreter is about to end and has put its handlers back."""
    found = run(
        f"""
import os
from mock_platform.cli.signals import StopSignals

class Last:
    def __del__(self, kill=os.kill, me=os.getpid(), number=signal.{name}):
        kill(me, number)

with StopSignals() as stop:
    signal.raise_signal(signal.SIGTERM)
sys.modules["last"] = sys.last = Last()  # deleted with the modules, after the handlers
sys.exit(3)
"""
    )

    assert found.returncode == 3, found.stderr


def test_a_signal_for_a_worker_that_is_being_made_counts() -> None:
    """The supervisor sends it once, and the worker may not have come far."""
    found = run(
        """
import os
from mock_platform.cli import worker

fork = os.fork
def stopped():
    pid = fork()
    if not pid:
        signal.raise_signal(signal.SIGTERM)
    return pid

os.fork = stopped
worker._serve = lambda team, index, wire, stop: stop.wait()
pid, end = worker.start_worker(None, 0, [])
print(os.waitpid(pid, 0)[1], signal.pthread_sigmask(signal.SIG_BLOCK, []))
"""
    )

    assert (found.returncode, found.stdout) == (0, "0 set()\n"), found.stderr


def test_other_signals_do_not_end_the_wait() -> None:
    """Whoever else catches signals in the process does not stop the server with them."""
    found = run(
        """
from mock_platform.cli.signals import StopSignals

seen = []
signal.signal(signal.SIGUSR1, lambda *_: (seen.append(1), send_elsewhere(signal.SIGTERM)))
with StopSignals() as stop:
    send_elsewhere(signal.SIGUSR1)
    print(sorted(stop.wait()) == [signal.SIGTERM], seen)
"""
    )

    assert (found.returncode, found.stdout) == (0, "True [1]\n"), found.stderr


def test_handlers_of_before_are_back() -> None:
    """What was caught for a while goes to whom it went before."""
    found = run(
        """
from mock_platform.cli.signals import Signals

before = signal.getsignal(signal.SIGUSR1), signal.getsignal(signal.SIGINT)
with Signals([signal.SIGUSR1, signal.SIGINT]) as caught:
    signal.raise_signal(signal.SIGUSR1)
    print(caught.wait() == {signal.SIGUSR1})
print(before == (signal.getsignal(signal.SIGUSR1), signal.getsignal(signal.SIGINT)))
print(signal.set_wakeup_fd(-1))
"""
    )

    assert (found.returncode, found.stdout) == (0, "True\nTrue\n-1\n"), found.stderr
