"""What others attach to a world: parts recorded with its records, and notices after a commit.

The parts are rate windows and scenarios with faults; a notice is taken outside of the world's lock.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal, Protocol

from msgspec import Struct

from mock_platform.world.store.interface import Beside, Record

RESTORED = "world:restored"
"""Topic of the notice that a world returned to a saved state; its key is the world's name."""
RETURNED = "world:returned"
"""Topic of the notice that a world was reset or returned to a saved state, whichever."""
PACED = "transitions:paced"
"""Topic of the notice that the progression of a kind changed; its key is the kind's name."""


class Notice(Struct, frozen=True):
    """Work that a committed request needs outside the world's lock: a job to start."""

    topic: str
    key: str


# The parts, and what they say of deliveries.

Down = Literal["refused", "timeout"]
"""How a receiver that is down fails: it refuses connections, or does not answer in time."""


class DeliveryFault(Struct, frozen=True):
    """What happens to the delivery of one event, in all its attempts, or to a line of a stream."""

    rule: str
    """The rule that caused it, as SCENARIO/INDEX."""
    drop: bool = False
    """The event is lost: it is not sent, and there is no further attempt."""
    duplicate: bool = False
    """The event is sent a second time after it was accepted."""
    reorder: bool = False
    """The event is delivered after the next one."""
    delay: float = 0.0
    """Real seconds before the first attempt."""
    split: bool = False
    """The line of a stream is sent in two pieces, cut inside a character."""
    insert: str | None = None
    """A text that is sent as a line of its own before the line of a stream."""
    fail: int | Down | None = None
    """The status of the simulated answer, or how the receiver seems to be down."""
    failures: int | None = None
    """How many attempts fail this way; `None` for all."""


Tables = Mapping[str, Mapping[str, Record]]


class Kept(Protocol):
    """One such part. Every method is called under the world's lock."""

    def mark(self) -> Any:
        """Return everything, for `put_back`."""

    def put_back(self, mark: Any) -> None:
        """Restore what `mark` returned."""

    def read_records(self) -> Beside:
        """Return everything in the form in which it is recorded."""

    def pending(self) -> Beside:
        """Return what changed since it was last recorded."""

    def mark_recorded(self) -> None:
        """Called when the pending changes were recorded."""

    def undo(self) -> None:
        """Called when the pending changes could not be recorded; undo them."""

    def resume(self, tables: Tables) -> None:
        """Continue with what was recorded."""


class Companion(Kept, Protocol):
    """A part that restarts when the world's records do: its scenarios."""

    def begin(self) -> None:
        """Start again as at the beginning; called under the world's lock."""

    def on_delivery(self, event: Mapping[str, Any], *, holding: bool) -> DeliveryFault | None:
        """Return the fault of an event's delivery, if any; called once, under the world's lock.

        `holding` says that an earlier event is held back and will be sent after it.
        """

    def on_line(self, line: Mapping[str, Any], *, holding: bool) -> DeliveryFault | None:
        """Return the fault of a stream's line, if any; called once, under the world's lock.

        `line` describes its activity and its stream; `holding` is as above, for that stream.
        """


class Parts:
    """All such parts of one world together."""

    def __init__(self, parts: Callable[[], Sequence[Kept]]) -> None:
        self._parts = parts

    def read_records(self) -> Beside:
        """Return everything from all parts."""
        return {at: record for part in self._parts() for at, record in part.read_records().items()}

    def pending(self) -> Beside:
        """Return what changed in any part since it was last recorded."""
        return {at: record for part in self._parts() for at, record in part.pending().items()}

    def mark_recorded(self) -> None:
        """Called when the pending changes were recorded."""
        for part in self._parts():
            part.mark_recorded()

    def undo(self) -> None:
        """Called when the pending changes could not be recorded; undo them."""
        for part in self._parts():
            part.undo()

    def resume(self, tables: Tables) -> None:
        """Continue with what was recorded."""
        for part in self._parts():
            part.resume(tables)

    @contextmanager
    def all_or_nothing(self) -> Iterator[None]:
        """Restore all parts if the block raises."""
        marks = [(part, part.mark()) for part in self._parts()]
        try:
            yield
        except BaseException:
            for part, mark in marks:
                part.put_back(mark)
            raise
