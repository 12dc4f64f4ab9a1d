from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from functools import partial

import pytest

from mock_platform.delivery.agenda import DeliveryWorkers
from tests.waits import PATIENCE


class Crew:
    """Workers, and what their tasks raised."""

    def __init__(self) -> None:
        self.faults: list[BaseException] = []
        self.made: list[DeliveryWorkers] = []

    def __call__(self, count: int) -> DeliveryWorkers:
        """So many workers, stopped at the end of the test."""
        workers = DeliveryWorkers(count, self.faults.append)
        self.made.append(workers)
        return workers


@pytest.fixture
def crew() -> Iterator[Crew]:
    """Makes workers."""
    made = Crew()
    yield made
    for workers in made.made:
        workers.stop(5)


def waiting_for(event: threading.Event) -> Callable[[], None]:
    """A task that lasts until an event."""

    def wait() -> None:
        event.wait(PATIENCE)

    return wait


def test_there_is_no_thread_before_the_first_task(crew: Crew) -> None:
    """Workers cost nothing until they are needed."""
    workers = crew(4)

    assert [] == workers._threads
    assert workers.wait_until_idle(0)


def test_one_lane_is_done_in_order_by_one_at_a_time(crew: Crew) -> None:
    """A hundred tasks of one lane happen in the order in which they came, never two at once."""
    workers, done, inside, most = crew(4), list[int](), list[int](), list[int]()

    def task(number: int) -> Callable[[], None]:
        def do() -> None:
            inside.append(number)
            most.append(len(inside))
            done.append(number)
            inside.remove(number)

        return do

    for number in range(100):
        workers.submit("lane", task(number))

    assert workers.wait_until_idle(10)
    assert list(range(100)) == done
    assert 1 == max(most)


def test_lanes_run_beside_one_another(crew: Crew) -> None:
    """A lane that waits does not delay another."""
    workers, gate, passed = crew(2), threading.Event(), threading.Event()
    workers.submit("slow", waiting_for(gate))
    workers.submit("fast", passed.set)

    assert passed.wait(PATIENCE)
    assert not workers.wait_until_idle(0)
    gate.set()
    assert workers.wait_until_idle(10)


def test_lanes_take_turns(crew: Crew) -> None:
    """With one worker, a long lane lets a short one in between."""
    workers, gate, order = crew(1), threading.Event(), list[str]()
    workers.submit("first", waiting_for(gate))
    for number in (1, 2):
        workers.submit("long", partial(order.append, f"long {number}"))
    workers.submit("short", lambda: order.append("short"))
    gate.set()

    assert workers.wait_until_idle(10)
    assert ["long 1", "short", "long 2"] == order


def test_no_more_threads_than_allowed(crew: Crew) -> None:
    """Ten waiting lanes share the three threads there may be."""
    workers, gate = crew(3), threading.Event()
    for lane in range(10):
        workers.submit(lane, waiting_for(gate))

    assert 3 == len(workers._threads)
    gate.set()
    assert workers.wait_until_idle(10)


def test_a_task_that_fails_is_told_and_stops_nobody(crew: Crew) -> None:
    """What a task raises reaches on_error; the lane goes on."""
    workers, done = crew(1), threading.Event()

    def fail() -> None:
        raise LookupError("lost")

    workers.submit("lane", fail)
    workers.submit("lane", done.set)

    assert done.wait(PATIENCE)
    assert workers.wait_until_idle(10)
    assert ["lost"] == [str(fault) for fault in crew.faults]


def test_a_stop_drops_what_has_not_begun(crew: Crew) -> None:
    """Stopping waits for what runs, drops the rest, and takes nothing more."""
    workers, gate, begun, done = crew(1), threading.Event(), threading.Event(), list[str]()

    def first() -> None:
        begun.set()
        gate.wait(PATIENCE)
        done.append("first")

    workers.submit("lane", first)
    workers.submit("lane", lambda: done.append("second"))
    assert begun.wait(PATIENCE)
    workers.stop(0)
    gate.set()
    workers.stop(10)
    workers.submit("late", lambda: done.append("late"))

    assert ["first"] == done
    assert not any(thread.is_alive() for thread in workers._threads)


def test_what_a_stop_drops_is_not_waited_for(crew: Crew) -> None:
    """Neither tasks behind the one that runs nor lanes that had no thread yet."""
    workers, gate, begun = crew(1), threading.Event(), threading.Event()

    def first() -> None:
        begun.set()
        gate.wait(PATIENCE)

    workers.submit("lane", first)
    workers.submit("lane", first)
    workers.submit("other", first)
    assert begun.wait(PATIENCE)
    workers.stop(0)

    assert not workers.wait_until_idle(0)
    gate.set()
    assert workers.wait_until_idle(PATIENCE)
