"""A context manager of two functions: what it passes in, and out."""

from __future__ import annotations

import pytest

from mock_platform.world.store.interface import Scope


def test_the_functions_frame_each_block_nested_ones_too() -> None:
    """The start's result is the block's value; the end gets the exception, or `None`."""
    seen: list[object] = []

    def begin() -> int:
        seen.append("begin")
        return len(seen)

    scope = Scope(begin, seen.append)

    with scope as outer, scope as inner:
        seen.append((outer, inner))

    assert ["begin", "begin", (1, 2), None, None] == seen


def test_an_exception_reaches_the_end_and_the_caller() -> None:
    """It is not suppressed, whatever the end returns."""
    seen: list[object] = []

    def end(fault: BaseException | None) -> bool:
        seen.append(fault)
        return True

    with pytest.raises(LookupError) as caught, Scope(list, end):
        raise LookupError("broken")

    assert [caught.value] == seen
