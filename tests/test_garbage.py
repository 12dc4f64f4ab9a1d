from __future__ import annotations

import gc
import subprocess
import sys
from contextlib import suppress

import pytest

from mock_platform.garbage import load_without_collecting, pause_collecting

CIRCLE = """
from mock_platform.garbage import exit_without_collecting

class Circle:
    def __init__(self):
        self.itself = self

    def __del__(self):
        print("collected")

circle = Circle()
"""


def test_nothing_is_collected_while_modules_are_loaded() -> None:
    """Afterwards the collector runs again, and leaves out what was made before."""
    with load_without_collecting():
        paused = not gc.isenabled()
        made: list[list[int]] = [[] for _ in range(1000)]
        before = gc.get_freeze_count()

    assert paused
    assert gc.isenabled()
    assert gc.get_freeze_count() >= before + len(made)


@pytest.mark.parametrize("enabled", [True, False])
def test_garbage_collection_goes_on_as_it_was(
    monkeypatch: pytest.MonkeyPatch, *, enabled: bool
) -> None:
    """It is paused while the sandbox is made, and then as the run had it, also after an error."""
    state = [enabled]
    monkeypatch.setattr(gc, "isenabled", lambda: state[-1])
    monkeypatch.setattr(gc, "enable", lambda: state.append(True))
    monkeypatch.setattr(gc, "disable", lambda: state.append(False))

    with suppress(ZeroDivisionError), pause_collecting():
        assert not gc.isenabled()
        raise ZeroDivisionError

    assert gc.isenabled() is enabled


@pytest.mark.parametrize(
    ("call", "printed"), [("", "collected\n"), ("exit_without_collecting()", "")]
)
def test_the_process_ends_without_a_scan(call: str, printed: str) -> None:
    """The interpreter does not look for garbage among all objects while it ends."""
    ended = subprocess.run(
        [sys.executable, "-c", CIRCLE + call], capture_output=True, text=True, check=True
    )

    assert ended.stdout == printed
