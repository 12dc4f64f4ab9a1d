"""The journal of a world: every request with its answer and the reasons for it.

An entry is stored unchanged; credentials are removed and JSON is made when it is read, so that
writing an entry costs almost nothing. The journal is limited by entries and by bytes, alone and
together with those of the other worlds, and counts what it dropped.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from itertools import islice
from sys import getsizeof
from typing import Any
from weakref import WeakSet

from msgspec import Struct
from msgspec.structs import replace

from mock_platform.world import redact
from mock_platform.world.clock import wire_millis
from mock_platform.world.endings import COMPLETE, AnswerEnding
from mock_platform.world.ids import unguessable
from mock_platform.world.store.interface import Change

_SHOWN_BODY = 256 * 1024
_OVERHEAD = 600
_OF_HEADER = 160
_OF_CHANGE = 1000
_OF_NEAR_MISS = 400
_OF_DIAGNOSIS = 800
"""Approximate size in bytes of each object in Python, without its long texts."""
_LARGE_BODY = 16 * 1024
"""Bytes of a body from which on what was made of it is measured too; of others it is little."""
_PART = 8
"""Minimum part of itself that the largest journal drops when all together are too large."""

_LOG = logging.getLogger(__name__)


class JournalEntry(Struct, gc=False):
    """One request and its answer. The fields from `operation` on explain the answer.

    What is kept in any kind of sequence is read as a list. Most are empty, and the garbage
    collector looks at every list there is: at tens of thousands while the journal is full.
    """

    id: str
    at: datetime
    world: str
    method: str
    url: str
    status: int
    handler_milliseconds: float
    """How long the answer took to be made, in milliseconds of real time."""
    operation: str | None = None
    caller: dict[str, Any] | None = None
    rule: dict[str, Any] | None = None
    kept_near_misses: Sequence[dict[str, Any]] = ()
    kept_changes: Sequence[Change] = ()
    assumptions: Sequence[str] = ()
    kept_warnings: Sequence[str] = ()
    coded_warnings: Sequence[tuple[str, str]] = ()
    """Those about what was sent and ignored, each with its code; not in JSON."""
    custom: str | None = None
    """The route of a user or a scenario that answered in place of an operation."""
    tool: str | None = None
    """The tool with which an agent called the operation; not in JSON without one."""
    diagnosis: dict[str, Any] | None = None
    traceback: str | None = None
    request_headers: Sequence[tuple[str, str]] = ()
    request_body: bytes = b""
    response_headers: Sequence[tuple[str, str]] = ()
    response_body: bytes = b""
    reason: str | None = None
    """The reason phrase of the answer, if it is not the standard one."""
    sent: Iterable[str] = ()
    """Names of the operation's parameters that were sent; only for the coverage."""
    ending: AnswerEnding | None = COMPLETE
    """How the answer ended; `None` while it is being sent. The edge changes it, from any thread."""
    why: str | None = None
    """Why the request was refused, or what a scenario did to it, in one sentence."""
    shadow: dict[str, Any] | None = None
    """How the answer of the real service differs, if the request was sent there as well."""
    turn: int = 0
    """Its number among the requests of the world, in the order in which they were answered."""
    cost: dict[str, Any] | None = None
    """What the platform would have charged: `usd`, `resources` and `why`; set before it is read."""

    @property
    def milliseconds(self) -> float:
        """How long the client waited for the answer's end; while it waits, how long it was made."""
        return self.handler_milliseconds + (0.0 if self.ending is None else self.ending.after)

    @property
    def ended(self) -> dict[str, Any] | None:
        """How the answer ended, in the form of JSON; `None` while it is being sent."""
        ending = self.ending
        if ending is None:
            return None
        shown: dict[str, Any] = {"how": ending.how}
        sent = len(self.response_body) if ending is COMPLETE else ending.bytes
        if sent is not None:
            shown["bytes"] = sent
        if ending.is_late:
            shown["late_milliseconds"] = round(ending.after, 3)
        return shown

    def lose(self, sent: int | None = None, after: float = 0.0) -> None:
        """The client left before it had the answer, whether that was complete here or not."""
        ending = self.ending or AnswerEnding("complete", is_late=self.rule is not None)
        if ending.how == "complete":
            after = max(after, 0.0) or ending.after
            self.ending = AnswerEnding("disconnected", sent, after, ending.is_late)

    def prolong(self, milliseconds: float) -> None:
        """The client waited longer for an answer that never came."""
        if self.ending is not None:
            self.ending = replace(self.ending, after=self.ending.after + milliseconds)

    @property
    def near_misses(self) -> list[dict[str, Any]]:
        """The nearest rules that did not act, each with its first difference."""
        return list(self.kept_near_misses)

    @property
    def changes(self) -> list[Change]:
        """The records that changed."""
        return list(self.kept_changes)

    @property
    def warnings(self) -> list[str]:
        """The warnings: what was ignored or is deprecated."""
        return list(self.kept_warnings)

    @property
    def size(self) -> int:
        """Return the approximate size of the entry in bytes."""
        sent = self.request_headers
        size = _OVERHEAD + len(self.url) + len(self.request_body) + len(self.response_body)
        # Headers of answers are our own, and none of them is longer than what the client sent.
        size += _OF_HEADER * (len(sent) + len(self.response_headers))
        size += len("".join([value for _, value in sent]))
        if self.kept_changes:
            size += _OF_CHANGE * len(self.kept_changes)
        if self.kept_near_misses:
            size += _OF_NEAR_MISS * len(self.kept_near_misses)
        if self.kept_warnings:
            size += len("".join(self.kept_warnings))
        if self.why is not None:
            size += len(self.why)
        if self.diagnosis is not None:
            said = [value for value in self.diagnosis.values() if isinstance(value, str)]
            size += _OF_DIAGNOSIS + len("".join(said))
        if len(self.request_body) > _LARGE_BODY:
            kept = [
                record for change in self.kept_changes for record in (change.before, change.after)
            ]
            size += _measure([kept, self.diagnosis])
        return size if self.traceback is None else size + len(self.traceback)

    def summary(self) -> dict[str, Any]:
        """Return the entry without headers and bodies."""
        named = {"shadow": self.shadow, "tool": self.tool}
        return {name: value for name, value in named.items() if value is not None} | {
            "id": self.id,
            "at": wire_millis(self.at),
            "world": self.world,
            "operation": self.operation,
            "custom": self.custom,
            "method": self.method,
            "url": redact.address(self.url),
            "status": self.status,
            "ended": self.ended,
            "why": self.why,
            "milliseconds": round(self.milliseconds, 3),
            "handler_milliseconds": round(self.handler_milliseconds, 3),
            "caller": self.caller,
            "rule": self.rule,
            "near_misses": self.near_misses,
            "changes": [
                {
                    "table": change.table,
                    "id": redact.key(change.table, change.key),
                    "change": change.kind,
                    "fields": change.fields,
                }
                for change in self.changes
            ],
            "assumptions": list(self.assumptions),
            "warnings": self.warnings,
            "diagnosis": self._show_diagnosis(),
            "cost": self.cost,
        }

    def _show_diagnosis(self) -> dict[str, Any] | None:
        """Return the diagnosis without credentials: it quotes what the client sent."""
        if self.diagnosis is None:
            return None
        return {
            name: redact.text(value) if isinstance(value, str) else value
            for name, value in self.diagnosis.items()
        }

    def as_json(self) -> dict[str, Any]:
        """Return the whole entry, with credentials redacted."""
        whole = self.summary() | {
            "request": {
                "headers": redact.headers(self.request_headers),
                "body": redact.body(
                    self.request_body, _content_type(self.request_headers), _SHOWN_BODY
                ),
            },
            "response": {
                "headers": redact.headers(self.response_headers),
                "body": redact.body(
                    self.response_body, _content_type(self.response_headers), _SHOWN_BODY
                ),
            },
        }
        if self.traceback is not None:
            whole["traceback"] = self.traceback
        return whole


class Query(Struct, frozen=True):
    """A search for entries; `None` restricts nothing."""

    operation: str | None = None
    status: range | None = None
    method: str | None = None
    path: str | None = None
    rule: str | None = None
    ended: str | None = None
    since: datetime | None = None

    def matches(self, entry: JournalEntry) -> bool:
        """Whether an entry matches the search.

        `path` is part of the URL; `rule` is a scenario's name, or one of its rules as NAME/0;
        `ended` is one of `endings.HOWS`.
        """
        return (
            (self.operation is None or entry.operation == self.operation)
            and (self.status is None or entry.status in self.status)
            and (self.method is None or entry.method == self.method.upper())
            and (self.path is None or self.path in entry.url)
            and (self.since is None or entry.at >= self.since)
            and (self.rule is None or self.rule in _names(entry.rule))
            and (self.ended is None or (entry.ending and entry.ending.how) == self.ended)
        )


def _measure(value: Any) -> int:
    """Return the size in memory of a JSON value, in bytes."""
    size, waiting = 0, [value]
    while waiting:
        each = waiting.pop()
        size += getsizeof(each)
        if isinstance(each, dict):
            waiting += each.values()
        elif isinstance(each, list | tuple):
            waiting += each
    return size


def _names(rule: dict[str, Any] | None) -> tuple[str, ...]:
    """Return the names under which a rule that acted is found."""
    return () if rule is None else (rule["scenario"], f"{rule['scenario']}/{rule['rule']}")


_ALL = Query()


class JournalMemory:
    """Limits what several journals keep together. Safe for concurrent use.

    When they are too large, the largest one drops its oldest entries: a busy world does not cost a
    quieter one its journal.
    """

    def __init__(self, max_bytes: int = 256 * 1024 * 1024) -> None:
        self.max_bytes = max_bytes
        self.bytes = 0
        """The approximate size of all journals in bytes."""
        self._journals: WeakSet[Journal] = WeakSet()
        self._lock = threading.Lock()

    def join(self, journal: Journal) -> None:
        """Count a journal from now on."""
        with self._lock:
            # Lock order: a journal is changed under its own lock, and calls `count` only after it
            # has left it; `_make_room` holds the common lock and then takes the lock of the largest
            # journal. So the common lock is never taken by a thread that holds a journal's.
            self._journals.add(journal)

    def leave(self, journal: Journal) -> None:
        """Stop counting it, because its world was dropped. Idempotent."""
        with self._lock:
            if not journal.closed:
                journal.closed = True
                self._journals.discard(journal)
                self.bytes -= journal.counted

    def count(self, journal: Journal, more: int) -> None:
        """Add to the size of a journal; call this without the journal's lock."""
        with self._lock:
            if not journal.closed:
                journal.counted += more
                self.bytes += more
                if self.bytes > self.max_bytes:
                    self._make_room()

    def _make_room(self) -> None:
        while self.bytes > self.max_bytes:
            # The world that uses most pays: a noisy one drops its own history, and the others keep
            # theirs. It drops an eighth of itself at least, because finding the largest looks at
            # all journals; with one entry at a time, each request would do that once memory is
            # full.
            largest = max(self._journals, key=lambda each: each.counted)
            count = max(self.bytes - self.max_bytes, largest.counted // _PART)
            freed = largest.drop_bytes(count, self.max_bytes)
            if not freed:
                return  # another thread has emptied it, and has not counted that yet
            largest.counted -= freed
            self.bytes -= freed


_MAX_NOTES = 100
"""Maximum number of warnings that wait for the entry of their request; some records have no
request.
"""


class Journal:
    """The entries of one world, oldest first. Safe for concurrent use."""

    def __init__(
        self,
        max_entries: int = 10_000,
        max_bytes: int = 64 * 1024 * 1024,
        memory: JournalMemory | None = None,
    ) -> None:
        self._entries: deque[JournalEntry] = deque()
        self._sizes: deque[int] = deque()
        self._by_id: dict[str, JournalEntry] = {}
        self._max_entries = max_entries
        self._max_bytes = max_bytes
        self._bytes = 0
        self._lock = threading.Lock()
        self._notes: dict[tuple[str, str], str] = {}
        self._has_reported = False
        self.dropped = 0
        self.era = unguessable(16)
        """Names the time since it was made or emptied: a position in it counts from there."""
        self.counted = 0
        """Its bytes in the common memory, until it is `closed`; use it under its lock."""
        self.closed = False
        self.settle: Callable[[], None] | None = None
        """Counts what entries cost (`take_new`): before any is read, and when some were dropped."""
        self._left: list[JournalEntry] = []
        """Dropped entries that were not counted yet."""
        self._counted_to = 0
        """How many entries were counted since the journal was cleared."""
        self._memory = memory
        if memory is not None:
            memory.join(self)

    def add(self, entry: JournalEntry) -> None:
        """Append an entry, and drop the oldest ones beyond the limits."""
        size = entry.size
        with self._lock:
            if self._notes:  # under the lock that `note` takes: it finds the entry, or is found
                self._attach_notes(entry)
                size = entry.size
            before = self._bytes
            self._entries.append(entry)
            self._sizes.append(size)
            self._by_id[entry.id] = entry
            self._bytes += size
            while self._entries and (
                len(self._entries) > self._max_entries or self._bytes > self._max_bytes
            ):
                self._drop_oldest()
            more = self._bytes - before
        if self._left:
            self._count_costs()
        if self._memory is not None:
            self._memory.count(self, more)

    def note(self, table: str, key: str, text: str) -> None:
        """Add a warning to the newest request that changed a record: something that happened later.

        The work that a request started may end before its entry is written; then the warning waits
        for it.
        """
        with self._lock:
            # Newest first, because the request that caused the change was usually among the last
            # ones. A warning for an entry that does not exist yet waits in `_notes` under the
            # record's key, where `add` finds it. Both happen under one lock, so neither can miss
            # the other.
            for entry in reversed(self._entries):
                if any((change.table, change.key) == (table, key) for change in entry.kept_changes):
                    entry.kept_warnings = (*entry.kept_warnings, text)
                    return
            self._notes[table, key] = text
            if len(self._notes) > _MAX_NOTES:
                del self._notes[next(iter(self._notes))]

    def drop_bytes(self, count: int, limit: int) -> int:
        """Drop the oldest entries, at least `count` bytes; return how many bytes were dropped.

        `limit` is that of all journals together; the log mentions it the first time.
        """
        with self._lock:
            # The log says it once for each journal, and outside the lock: a handler of the log may
            # be slow, or write to a place that itself makes requests.
            before, world = self._bytes, self._entries[0].world if self._entries else ""
            while self._entries and before - self._bytes < count:
                self._drop_oldest()
            freed = before - self._bytes
            report = freed > 0 and not self._has_reported
            self._has_reported = self._has_reported or report
        self._count_costs()
        if report:
            _LOG.warning(
                "The journals of all worlds keep more than %d bytes together "
                "(--journal-total-bytes), so the journal of world %r drops its oldest entries. "
                "Empty journals with DELETE /_mock/requests, drop worlds that are no longer used, "
                "or raise the limit",
                limit,
                world,
            )
        return freed

    def close(self) -> None:
        """Return its part of the common memory, because its world was dropped."""
        if self._memory is not None:
            self._memory.leave(self)

    def get(self, entry_id: str) -> JournalEntry | None:
        """Return the entry with this id; `None` if it is not in the journal."""
        self._count_costs()
        return self._by_id.get(entry_id)

    def find(self, query: Query = _ALL, limit: int | None = None) -> list[JournalEntry]:
        """Return the matching entries, oldest first; `limit` keeps the newest ones."""
        self._count_costs()
        with self._lock:
            entries = list(self._entries)
        # From the newest on, so that a small limit takes equally long however many there are.
        found = [*islice((each for each in reversed(entries) if query.matches(each)), limit)]
        return found[::-1]

    def find_newer(self, position: int, limit: int) -> tuple[list[JournalEntry], int]:
        """Return the entries after a position, the newest first, and the position after them.

        A position is a number of entries since the journal was made or emptied. At most `limit`
        entries, so that it takes equally long however many there are.
        """
        self._count_costs()
        with self._lock:
            # Dropped entries count as well, so a position stays right when old entries go. The
            # newest come first, so that a reader who is far behind gets the end, not a piece of the
            # middle.
            now = self.dropped + len(self._entries)
            return list(islice(reversed(self._entries), max(0, min(now - position, limit)))), now

    def count(self, query: Query = _ALL) -> int:
        """Return how many entries match."""
        return len(self.find(query))

    def clear(self) -> None:
        """Delete all entries of the journal."""
        with self._lock:
            freed = self._bytes
            self._left, self._counted_to = self._list_uncounted(), 0
            self._entries.clear()
            self._notes.clear()
            self._sizes.clear()
            self._by_id.clear()
            self._bytes = self.dropped = 0
            self.era = unguessable(16)
            self._has_reported = False
        self._count_costs()
        if self._memory is not None:
            self._memory.count(self, -freed)

    def take_new(self) -> list[JournalEntry]:
        """Return the entries since the last call, oldest first; also those dropped meanwhile."""
        with self._lock:
            found = self._list_uncounted()
            self._left, self._counted_to = [], self.dropped + len(self._entries)
        return found

    def _list_uncounted(self) -> list[JournalEntry]:
        if self.settle is None:
            return []
        number = self.dropped + len(self._entries) - self._counted_to
        newest = [*islice(reversed(self._entries), number)]
        return [*self._left, *reversed(newest)]

    def _count_costs(self) -> None:
        # Without any lock of the journal: whoever counts takes its own one first.
        if self.settle is not None:
            self.settle()

    def _attach_notes(self, entry: JournalEntry) -> None:
        for change in entry.kept_changes:
            note = self._notes.pop((change.table, change.key), None)
            if note is not None:
                entry.kept_warnings = (*entry.kept_warnings, note)

    def _drop_oldest(self) -> None:
        oldest = self._entries.popleft()
        if self.settle is not None and self.dropped >= self._counted_to:
            self._left.append(oldest)
        self._by_id.pop(oldest.id, None)
        self._bytes -= self._sizes.popleft()
        self.dropped += 1

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[JournalEntry]:
        return iter(self.find())


def _content_type(pairs: Iterable[tuple[str, str]]) -> str | None:
    return next((value for name, value in pairs if name.lower() == "content-type"), None)
