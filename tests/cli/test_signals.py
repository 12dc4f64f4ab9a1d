"""A signal wakes the main thread, whichever thread the system hands it to."""

from __future__ import annotations

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
SERVE = """
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
LATE = """
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
SCRIPTS = {
    # Waiting for the command is no reason to sleep through a signal for it.
    "run passes on a signal to another thread": (128 + 15, "", """
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
"""),
    # Nothing is lost between catching signals and waiting for one; a second changes nothing.
    "a signal before the wait counts": (0, "still here\n", """
from mock_platform.cli.signals import StopSignals

with StopSignals() as stop:
    signal.raise_signal(signal.SIGTERM)
    signal.raise_signal(signal.SIGINT)
    stop.wait()
    stop.wait()
signal.raise_signal(signal.SIGTERM)
print("still here")
"""),
    # Nor do they when the interpreter is about to end and has put its handlers back.
    "a late SIGTERM does not change the status": (3, "", LATE.format(name="SIGTERM")),
    "a late SIGINT does not change the status": (3, "", LATE.format(name="SIGINT")),
    # The supervisor sends it once, and the worker may not have come far.
    "a signal for a worker that is being made counts": (0, "0 set()\n", """
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
"""),
    # Whoever else catches signals in the process does not stop the server with them.
    "other signals do not end the wait": (0, "True [1]\n", """
from mock_platform.cli.signals import StopSignals

seen = []
signal.signal(signal.SIGUSR1, lambda *_: (seen.append(1), send_elsewhere(signal.SIGTERM)))
with StopSignals() as stop:
    send_elsewhere(signal.SIGUSR1)
    print(sorted(stop.wait()) == [signal.SIGTERM], seen)
"""),
    # What was caught for a while goes to whom it went before.
    "handlers of before are back": (0, "True\nTrue\n-1\n", """
from mock_platform.cli.signals import Signals

before = signal.getsignal(signal.SIGUSR1), signal.getsignal(signal.SIGINT)
with Signals([signal.SIGUSR1, signal.SIGINT]) as caught:
    signal.raise_signal(signal.SIGUSR1)
    print(caught.wait() == {signal.SIGUSR1})
print(before == (signal.getsignal(signal.SIGUSR1), signal.getsignal(signal.SIGINT)))
print(signal.set_wakeup_fd(-1))
"""),
}  # fmt: skip


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT"])
def test_serve_stops_by_a_signal_to_another_thread(name: str) -> None:
    """The main thread waits on no lock, so it does not sleep through a stop."""
    found = python("-c", ELSEWHERE + SERVE.format(name=name), env=environment())

    assert found.returncode == 0, found.stderr
    assert found.stdout.endswith("ended in good order\n")
    assert "Stopped." in found.stderr


@pytest.mark.parametrize(("status", "printed", "script"), SCRIPTS.values(), ids=SCRIPTS)
def test_signals_are_neither_lost_nor_taken_for_others(
    status: int, printed: str, script: str
) -> None:
    """Each script ends by itself, with its status and what it prints."""
    found = python("-c", ELSEWHERE + script, env=environment())

    assert (status, printed) == (found.returncode, found.stdout), found.stderr
