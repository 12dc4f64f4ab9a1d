"""Threads that answer requests, without sockets."""

from __future__ import annotations

import threading

import pytest

from mock_platform.server.loop import Workers
from tests.waits import PATIENCE


class Half:
    """A connection whose request never comes in whole; its end is to be hushed."""

    def __init__(self) -> None:
        self.last_used = 0.0
        self.held = False
        self.answering = True  # as it was of the request before
        self.taken_up = threading.Event()
        self.hushed = threading.Event()
        self.closed = threading.Event()

    def fileno(self) -> int:
        """None that is used."""
        return -1

    def has_data(self) -> bool:
        """Nothing was read ahead."""
        return False

    def close(self) -> None:
        """Remember it."""
        self.closed.set()

    def communicate(self) -> bool:
        """Read until nothing more comes."""
        self.taken_up.set()
        assert self.hushed.wait(PATIENCE)
        return False

    def hush(self) -> None:
        """Nothing more comes."""
        self.hushed.set()

    def abort(self) -> None:
        """Cut."""
        self.hushed.set()


@pytest.fixture
def faults() -> list[BaseException]:
    """What workers had to report."""
    return []


def test_half_a_request_behind_an_answered_one_ends_with_the_stop(
    faults: list[BaseException],
) -> None:
    """That a connection answered its last request does not make the next one one in flight."""
    workers = Workers(1, lambda _: None, faults.append)
    half = Half()
    workers.put(half)
    assert half.taken_up.wait(PATIENCE)

    assert workers.stop(grace=PATIENCE)
    assert half.closed.is_set()
    assert [] == faults


def test_a_request_taken_up_after_the_stop_has_no_more_to_come(
    faults: list[BaseException],
) -> None:
    """Whoever waits behind another request is answered from what has come, without waiting."""
    workers = Workers(1, lambda _: None, faults.append)
    first, second = Half(), Half()
    workers.put(first)
    assert first.taken_up.wait(PATIENCE)
    workers.put(second)

    assert workers.stop(grace=PATIENCE)
    assert second.taken_up.is_set()
    assert second.closed.is_set()
    assert [] == faults
