"""The interface of the parts of a world: clock, journal, records and others."""

from __future__ import annotations

from collections.abc import (
    ItemsView,
    Iterator,
    KeysView,
    Mapping,
    Sequence,
    ValuesView,
)
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal, Protocol, Unpack, overload

if TYPE_CHECKING:
    from mock_platform.client.arguments import EntryQuery, PageQuery
    from mock_platform.core.call import FaultKind
    from mock_platform.names import OwnName, TableName
    from mock_platform.world.clock import Happening, Instant
    from mock_platform.world.transitions import Progression

Record = dict[str, Any]


class ClockFace(Protocol):
    """The clock of a world. Everything that is due happens before a method returns.

    A server elsewhere reports moments to the millisecond.

    Example:
        >>> from mock_platform import MockPlatform
        >>> with MockPlatform.start() as platform:
        ...     frozen = platform.clock.freeze("2026-11-20T10:00:00Z")
        ...     later = platform.clock.advance(hours=2)
        ...     print(later - frozen, platform.clock.frozen)
        2:00:00 True
    """

    def now(self) -> datetime:
        """Return the current moment of the world, in UTC."""

    @property
    def frozen(self) -> bool:
        """Whether the clock is stopped."""

    def freeze(self, to: Instant | None = None) -> datetime:
        """Stop the clock, now or at a moment; return the moment.

        Raises:
            ValueError: `to` is not a moment, has no offset from UTC, or is out of bounds.
        """

    def travel(self, to: Instant) -> datetime:
        """Set the clock to a moment and return it; a running clock continues from there.

        `"now"` is the time of the machine on which the sandbox runs.

        Raises:
            ValueError: `to` is not a moment, has no offset from UTC, or is out of bounds.
        """

    @overload
    def advance(self, /, *, to: Literal["next"]) -> list[Happening]: ...

    @overload
    def advance(
        self,
        duration: float | str | timedelta | None = None,
        /,
        *,
        days: float = 0,
        hours: float = 0,
        minutes: float = 0,
        seconds: float = 0,
    ) -> datetime: ...

    def advance(
        self,
        duration: float | str | timedelta | None = None,
        /,
        *,
        days: float | None = None,
        hours: float | None = None,
        minutes: float | None = None,
        seconds: float | None = None,
        to: Literal["next"] | None = None,
    ) -> datetime | list[Happening]:
        """Move the clock by a duration (negative: back); return the new moment.

        `duration` is a number of seconds, a text such as `"1h"` or `"-7d"`, or a `timedelta`.
        `to="next"` moves it to the next thing that is due, and returns what happened then: a
        transition, a scheduled post, an expiry, the end of a rate window.

        Raises:
            NothingDue: With `to="next"`: nothing is due; the clock was not moved.
            OverflowError: The result is not a possible date.
            ValueError: The result is out of bounds, or a part is not a number, or `duration` is
                not one, or `to` is something else.
            TypeError: Both `duration` and parts were given, or one of them beside `to`, or nothing.
        """
        from mock_platform.client.arguments import count_seconds  # which loads much more

        units = {"days": days, "hours": hours, "minutes": minutes, "seconds": seconds}
        parts = {unit: count for unit, count in units.items() if count is not None}
        if to is None:
            return self._advance(count_seconds(duration, **parts))
        if to != "next":
            raise ValueError(f"to is 'next', not {to!r}: travel() goes to a moment")
        if parts or duration is not None:
            raise TypeError("give a duration, or to='next', and not both")
        return self._advance_to_next()

    def _advance(self, seconds: float) -> datetime:
        """Move the clock by seconds; return the new moment."""

    def _advance_to_next(self) -> list[Happening]:
        """Move the clock to the next thing that is due; return what happened then."""

    def resume(self) -> datetime:
        """Start the clock again at its current moment; return the moment."""


class ChangeFace(Protocol):
    """What a request changed in one record.

    Example:
        >>> from mock_platform import MockPlatform
        >>> with MockPlatform.start() as platform:
        ...     session = platform.session(auth="oauth1")
        ...     answer = session.post("/2/posts", json={"text": "Open!"})
        ...     entry = platform.journal.get(answer.headers["X-Mock-Request-Id"])
        ...     for change in entry.changes[:2]:
        ...         print(change.table, change.kind, change.fields[:1])
        posts created ['id']
        users changed ['statuses_count']
    """

    @property
    def table(self) -> str:
        """The name of the record's table."""

    @property
    def key(self) -> str:
        """The key of the record."""

    @property
    def kind(self) -> str:
        """The kind of change: `created`, `changed` or `removed`."""

    @property
    def fields(self) -> Sequence[str]:
        """The names of the fields whose values changed."""


class EntryFace(Protocol):
    """One request in the journal, its answer, and the reasons for it.

    In this process headers, bodies and address are as they were sent. From a server elsewhere they
    come without credentials, as from `as_json` everywhere.

    Example:
        >>> from mock_platform import MockPlatform
        >>> with MockPlatform.start() as platform:
        ...     answer = platform.session(auth="bearer").get("/12/accounts")
        ...     entry = platform.journal.get(answer.headers["X-Mock-Request-Id"])
        ...     print(entry.operation, entry.status, entry.caller["how"])
        accounts.list 200 bearer token of the app
    """

    @property
    def id(self) -> str:
        """The id of the request, as in `X-Mock-Request-Id` of the answer."""

    @property
    def at(self) -> datetime:
        """When the request came, on the world's clock."""

    @property
    def world(self) -> str:
        """The name of the world."""

    @property
    def method(self) -> str:
        """The HTTP method of the request."""

    @property
    def url(self) -> str:
        """The address of the request."""

    @property
    def status(self) -> int:
        """The HTTP status of the answer."""

    @property
    def ended(self) -> dict[str, Any] | None:
        """How the answer ended at the client: `how`, `bytes`, `late_milliseconds`.

        `None` while it is being sent.
        """

    @property
    def why(self) -> str | None:
        """Why the request was refused, or what a scenario did to it, in one sentence."""

    @property
    def milliseconds(self) -> float:
        """How long the client waited for the end of the answer, in milliseconds of real time."""

    @property
    def handler_milliseconds(self) -> float:
        """How long the answer took to be made, in milliseconds of real time."""

    @property
    def operation(self) -> str | None:
        """The id of the operation that answered; `None` if no operation did."""

    @property
    def custom(self) -> str | None:
        """The route of a user or a scenario that answered in place of an operation.

        For what an agent sent that was not the call of a tool: `mcp` and its method.
        """

    @property
    def tool(self) -> str | None:
        """The tool with which an agent called the operation; `None` if it was called directly."""

    @property
    def caller(self) -> dict[str, Any] | None:
        """Who called, and how the sandbox knew it."""

    @property
    def rule(self) -> dict[str, Any] | None:
        """The rule of a scenario that acted; `None` if no rule did."""

    @property
    def near_misses(self) -> list[dict[str, Any]]:
        """The nearest rules that did not act, each with its first difference."""

    @property
    def changes(self) -> Sequence[ChangeFace]:
        """The records that changed."""

    @property
    def assumptions(self) -> Sequence[str]:
        """The ids of the assumptions that the answer depends on."""

    @property
    def warnings(self) -> Sequence[str]:
        """The warnings: what was ignored or is deprecated."""

    @property
    def diagnosis(self) -> dict[str, Any] | None:
        """The explanation of a refusal, if there is one."""

    @property
    def cost(self) -> dict[str, Any] | None:
        """What the platform would have charged: `usd`, `resources`, `why`; `None` if not billed."""

    @property
    def traceback(self) -> str | None:
        """The traceback of an error in the sandbox itself."""

    @property
    def request_headers(self) -> Sequence[tuple[str, str]]:
        """The headers of the request."""

    @property
    def request_body(self) -> bytes:
        """The body of the request."""

    @property
    def response_headers(self) -> Sequence[tuple[str, str]]:
        """The headers of the answer."""

    @property
    def response_body(self) -> bytes:
        """The body of the answer."""

    def as_json(self) -> dict[str, Any]:
        """Return the entry in the form of `GET /_mock/requests/ID`, without credentials."""


class StreamsFace(Protocol):
    """The open streams of a world.

    Example:
        >>> from mock_platform import MockPlatform
        >>> with MockPlatform.start() as platform:
        ...     session = platform.session(auth="bearer")
        ...     with session.get("/2/posts/search/stream", stream=True) as answer:
        ...         print(answer.status_code, len(platform.streams.list()))
        ...         ended = platform.streams.disconnect(disconnect_type="ForceDisconnect")
        ...         print(len(ended), "ForceDisconnect" in answer.text)
        200 1
        1 True
    """

    def list(self) -> list[Record]:
        """Return the open streams, oldest first, in the form of `GET /_mock/streams`."""

    def disconnect(
        self,
        stream_id: str = "all",
        *,
        disconnect_type: str = "OperationalDisconnect",
        line: bool = True,
        fault: FaultKind | None = None,
    ) -> Sequence[str]:
        """End one stream, or all of them; return their ids.

        The last line has the type, unless `line` is false. With a `fault` the connection breaks.

        Raises:
            UnknownStream: No open stream has this id.
            ValueError: The type or the fault does not exist.
        """

    def stall(self, stream_id: str = "all", *, seconds: float) -> Sequence[str]:
        """Let one stream, or all of them, send nothing for a number of real seconds.

        Returns their ids.

        Raises:
            UnknownStream: No open stream has this id.
            ValueError: `seconds` is negative or more than a day.
        """


class SnapshotsFace(Protocol):
    """Named states of a world, which keeps them until its next reset.

    Example:
        >>> from mock_platform import MockPlatform
        >>> with MockPlatform.start() as platform:
        ...     taken = platform.snapshots.save("before")
        ...     platform.state["users"].delete("2244994945")
        ...     platform.snapshots.restore("before")
        ...     print(platform.snapshots.list(), "2244994945" in platform.state["users"])
        ['before'] True
    """

    def list(self) -> list[str]:
        """Return the names of the snapshots, oldest first."""

    def save(self, name: str) -> dict[str, Any]:
        """Save the current state under a name; a snapshot of that name is replaced.

        Returns the answer of `PUT /_mock/snapshots/NAME`: `name`, `at`, `changed_records`.

        Raises:
            BadSnapshotName: The name is not allowed for a snapshot.
            TooManySnapshots: The world has the maximum number of snapshots.
        """

    def restore(self, name: str) -> None:
        """Return the world to a snapshot. The journal is emptied; scenarios stay as they are.

        Raises:
            UnknownSnapshot: The world has no snapshot of this name.
        """

    def delete(self, name: str) -> None:
        """Delete a snapshot.

        Raises:
            UnknownSnapshot: The world has no snapshot of this name.
        """


class TransitionsFace(Protocol):
    """How slow states move: replay jobs, media, product sets and others.

    Example:
        >>> from mock_platform import MockPlatform
        >>> with MockPlatform.start() as platform:
        ...     kind = platform.transitions.set("do_not_reach_list", progression="manual")
        ...     (key,) = kind["under_way"]
        ...     print(platform.transitions.move("do_not_reach_list", key, "PROCESSED"))
        PROCESSED
    """

    def list(self) -> dict[str, dict[str, Any]]:
        """Return each kind by name: its progression, its states, and the records under way."""

    def set(
        self,
        kind: str,
        *,
        progression: Progression | None = None,
        seconds: float | None = None,
        polls: int | None = None,
    ) -> dict[str, Any]:
        """Set the progression of a kind, also for records under way; return the kind.

        With `time` a state moves after `seconds` on the world's clock, with `polls` after so many
        reads, with `immediate` at once, and with `manual` only by `move`.

        Raises:
            UnknownTransition: No kind has this name.
            ValueError: A value is not allowed.
        """

    def move(self, kind: str, id: str, to: str) -> str:
        """Move one record now, whatever its progression; return the state that it reached.

        Raises:
            UnknownTransition: No kind has this name, or its table no record with this id.
            ValueError: The kind has no such state.
        """


class JournalFace(Protocol):
    """The requests that a world received, and its answers.

    Example:
        >>> from mock_platform import MockPlatform
        >>> with MockPlatform.start() as platform:
        ...     session = platform.session(auth="bearer")
        ...     found = session.get("/12/accounts"), session.get("/2/users/0")
        ...     print(platform.journal.count(), platform.journal.count(operation="accounts.list"))
        ...     print([entry.status for entry in platform.journal.find(status=200)])
        2 1
        [200]
    """

    def find(self, **query: Unpack[PageQuery]) -> Sequence[EntryFace]:
        """Return the entries that match the query, oldest first; `limit` keeps the newest ones.

        Raises:
            BadQuery: An operation does not exist, or no entry can have one of the values.
            ValueError: `since` is not a moment, or has no offset from UTC.
        """

    def count(self, **query: Unpack[EntryQuery]) -> int:
        """Return how many entries match the whole query; raise the same as `find`."""

    def get(self, request_id: str) -> EntryFace | None:
        """Return the entry with this `X-Mock-Request-Id`; `None` if it is not in the journal."""

    def clear(self) -> None:
        """Delete all entries of the journal."""

    def __iter__(self) -> Iterator[EntryFace]:
        """Iterate over all entries, oldest first."""

    def __len__(self) -> int:
        """Return the number of entries."""


class TableFace(Protocol):
    """The records of one table, in stored form: wire form and underscore keys.

    Example:
        >>> from mock_platform import MockPlatform
        >>> with MockPlatform.start() as platform:
        ...     accounts = platform.state["accounts"]
        ...     key = accounts.all()[0]["id"]
        ...     changed = accounts.patch(key, {"name": "Corner Shop"})
        ...     accounts.get(key)["name"]
        'Corner Shop'
    """

    @property
    def name(self) -> TableName:
        """The name of the table."""

    def all(self) -> list[Record]:
        """Return all records, in the order in which they were added."""

    def get(self, key: str) -> Record | None:
        """Return the record under a key, or `None`."""

    def put(self, record: Record, *, key: str | None = None, unchecked: bool = False) -> Record:
        """Create or replace a record; return it as stored, with defaults.

        `key` is added to a record that has none. `unchecked` stores the record without checks, for
        invalid states on purpose.

        Raises:
            BadRecord: The record has faults, or refers to a missing record; no record is stored.
        """

    def patch(self, key: str, changes: Record, *, unchecked: bool = False) -> Record:
        """Merge changes into a record (JSON merge patch: null removes a field); return it.

        Raises:
            UnknownRecord: No record has this key.
            BadRecord: The result has faults or another key; the record does not change.
        """

    def delete(self, key: str) -> None:
        """Remove a record, even if other records refer to it.

        Raises:
            UnknownRecord: No record has this key.
        """

    def __contains__(self, key: object) -> bool:
        """Whether a record has this key."""

    def __iter__(self) -> Iterator[Record]:
        """Return all records, in the order in which they were added."""

    def __len__(self) -> int:
        """Return the number of records."""


class StateFace(Protocol):
    """All tables of one world, by name; also loads and dumps the whole world as one document.

    Example:
        >>> from mock_platform import MockPlatform
        >>> with MockPlatform.start() as platform:
        ...     before = platform.state.dump()
        ...     platform.state["news"].put({"id": "1"}, unchecked=True)["id"]
        ...     platform.state.load(before)
        ...     "1" in platform.state["news"]
        '1'
        False
    """

    def __getitem__(self, name: TableName | OwnName) -> TableFace:
        """Return the table of this name.

        Raises:
            UnknownTable: No table has this name.
        """

    def __contains__(self, name: object) -> bool:
        """Whether a table of this name exists."""

    def __iter__(self) -> Iterator[TableName | OwnName]:
        """Return the names of all tables."""

    def __len__(self) -> int:
        """Return the number of tables."""

    def get(self, name: TableName | OwnName, /) -> TableFace | None:
        """Return the table of this name, or `None`."""

    def keys(self) -> KeysView[TableName | OwnName]:
        """Return the names of all tables."""

    def values(self) -> ValuesView[TableFace]:
        """All tables, without their names."""

    def items(self) -> ItemsView[TableName | OwnName, TableFace]:
        """Pairs of name and table."""

    def dump(self) -> dict[str, Any]:
        """Return the whole world as one document: tables, clock, ids, progressions."""

    def load(self, document: Mapping[str, Any], *, unchecked: bool = False) -> None:
        """Replace the whole world by a document from `dump`. The journal is emptied.

        Raises:
            BadRecord: Records have faults, or the document has another form; the world does not
                change.
        """
