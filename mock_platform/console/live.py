"""The list of requests, live: server-sent events with the rows that are new.

A request costs nothing here: once a second each open page reads the end of the journal. What it
sends is limited, so that a busy server does not keep browsers busy.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import Self

from mock_platform.console.filters import EntryFilter
from mock_platform.core.jsonio import dumps
from mock_platform.edge.connection import Connection, Pause
from mock_platform.world.journal import Journal, JournalEntry

TICK_SECONDS = 1.0
"""Real seconds between two looks at the journal."""
MAX_ROWS = 25
"""Maximum number of rows in an event; the page says how many it leaves out."""
_MAX_READ = 2000
"""Maximum number of new entries that a filter looks at."""
_SILENT_TICKS = 15
"""After so many looks without news a comment is sent: proxies close silent connections."""
_RETRY = b"retry: 2000\n\n"


class Tail:
    """A position in a journal, and the entries after it."""

    def __init__(self, journal: Journal, position: str = "") -> None:
        """`position` is one that `position` returned; without one, the beginning."""
        self._journal = journal
        cleared, _, number = position.partition("-")
        known = cleared.isdecimal() and number.isdecimal()
        self._cleared, self._position = (
            (int(cleared), int(number)) if known else (journal.cleared, 0)
        )

    @property
    def position(self) -> str:
        """The position as text."""
        return f"{self._cleared}-{self._position}"

    def read_all(self) -> list[JournalEntry]:
        """Returns all entries, the newest first; what comes later is new."""
        entries, self._position = self._journal.find_newer(0, sys.maxsize)
        return entries

    def read(self) -> tuple[list[JournalEntry], int, bool]:
        """Returns the newest new entries, how many there are in all, and if the rest is gone."""
        journal, before = self._journal, self._position
        cleared = journal.cleared
        emptied = cleared != self._cleared
        if emptied:
            self._cleared, before = cleared, 0
        entries, self._position = journal.find_newer(before, _MAX_READ)
        return entries, max(0, self._position - before), emptied


class LiveRows:
    """The body of the events: bytes to send, and pauses in which no thread waits."""

    def __init__(
        self,
        find_journal: Callable[[], Journal],
        wanted: EntryFilter,
        show: Callable[[Iterable[JournalEntry]], str],
        after: str,
        connection: Connection | None,
    ) -> None:
        """`show` returns the rows of entries as HTML; `after` is a position, or empty."""
        self._tail = Tail(find_journal(), after)
        self._wanted = wanted
        self._show = show
        self._connection = connection
        self._begun = self._looks = False
        self._silent = 0

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> bytes | Pause:
        """Return the next event, or a pause.

        Servers that know no pause send what there is and end; the browser asks again.
        """
        connection = self._connection
        if connection is None or not connection.pauses:
            if self._begun:
                raise StopIteration
            self._begun = True
            return _RETRY + (self._read() or b"")
        if not self._begun:
            self._begun = True
            return _RETRY
        if connection.is_stopping:
            raise StopIteration
        event = self._read() if self._looks else None
        self._looks = event is None
        if event is not None:
            return event
        self._silent += 1
        if self._silent % _SILENT_TICKS == 0:
            self._looks = False
            return b": nothing new\n\n"
        return Pause(TICK_SECONDS, endless=True)

    def _read(self) -> bytes | None:
        """Returns the event with what is new; `None` if nothing is."""
        entries, count, emptied = self._tail.read()
        found = [entry for entry in entries if self._wanted.matches(entry)]
        if not found and not emptied:
            return None
        data = dumps(
            {
                "rows": self._show(found[:MAX_ROWS]),
                "shown": min(len(found), MAX_ROWS),
                "left_out": max(0, len(found) - MAX_ROWS),
                "read": count,
                "emptied": emptied,
                "position": self._tail.position,
            }
        )
        return b"id: %b\nevent: requests\ndata: %b\n\n" % (self._tail.position.encode(), data)
