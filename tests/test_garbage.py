from __future__ import annotations

import gc
from contextlib import suppress

import pytest

from mock_platform.serving.garbage import load_without_collecting


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

    with suppress(ZeroDivisionError), load_without_collecting():
        assert not gc.isenabled()
        raise ZeroDivisionError

    assert gc.isenabled() is enabled
