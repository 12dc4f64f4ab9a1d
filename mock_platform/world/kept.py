"""What lives beside a world's records and is recorded with them: rate windows, scenarios."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

from mock_platform.store.interface import Beside, Record
from mock_platform.world.delivery_faults import DeliveryFault

Tables = Mapping[str, Mapping[str, Record]]


class Kept(Protocol):
    """One part of it. Everything is called under the world's lock."""

    def mark(self) -> Any:
        """All of it, for `put_back`."""

    def put_back(self, mark: Any) -> None:
        """Be again what `mark` returned."""

    def read_records(self) -> Beside:
        """All of it, as it is recorded."""

    def pending(self) -> Beside:
        """What changed since it was last recorded."""

    def mark_recorded(self) -> None:
        """What was pending is recorded."""

    def undo(self) -> None:
        """What was pending could not be recorded; go back to what was."""

    def resume(self, tables: Tables) -> None:
        """Go on with what was recorded."""


class Companion(Kept, Protocol):
    """What begins from scratch with a world's records: its scenarios."""

    def begin(self) -> None:
        """Begin as at the start; called under the world's lock."""

    def on_delivery(self, event: Mapping[str, Any], *, holding: bool) -> DeliveryFault | None:
        """Return the fault of an event's delivery, if any; called once, under the world's lock.

        `holding` says that one before it is held back, to go out after it.
        """


class Parts:
    """All parts of one world together."""

    def __init__(self, parts: Callable[[], Sequence[Kept]]) -> None:
        self._parts = parts

    def read_records(self) -> Beside:
        """All of all of them."""
        return {at: record for part in self._parts() for at, record in part.read_records().items()}

    def pending(self) -> Beside:
        """What changed in any of them since it was last recorded."""
        return {at: record for part in self._parts() for at, record in part.pending().items()}

    def mark_recorded(self) -> None:
        """What was pending is recorded."""
        for part in self._parts():
            part.mark_recorded()

    def undo(self) -> None:
        """What was pending could not be recorded; go back to what was."""
        for part in self._parts():
            part.undo()

    def resume(self, tables: Tables) -> None:
        """Go on with what was recorded."""
        for part in self._parts():
            part.resume(tables)

    @contextmanager
    def all_or_nothing(self) -> Iterator[None]:
        """Put all of them back if something goes wrong within."""
        marks = [(part, part.mark()) for part in self._parts()]
        try:
            yield
        except BaseException:
            for part, mark in marks:
                part.put_back(mark)
            raise
