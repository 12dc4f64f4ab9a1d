from __future__ import annotations

import gc

from mock_platform.cli.garbage import load_without_collecting


def test_nothing_is_collected_while_modules_are_loaded() -> None:
    """Afterwards the collector runs again, and leaves out what was made before."""
    with load_without_collecting():
        paused = not gc.isenabled()
        made: list[list[int]] = [[] for _ in range(1000)]
        before = gc.get_freeze_count()

    assert paused
    assert gc.isenabled()
    assert gc.get_freeze_count() >= before + len(made)
