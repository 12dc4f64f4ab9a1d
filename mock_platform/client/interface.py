"""The interface of a sandbox, declared once.

`local` and `platform` implement it for a sandbox in this process, `remote` for a server elsewhere.
The same mistake raises the same exception on both. What only one of them can do raises
`NotInProcess` on the other. A server elsewhere may also be `Unreachable`, or it may have `Refused`
a request, for instance because of its control token or the size of a body.
"""

from __future__ import annotations

from collections.abc import (
    Callable,
    ItemsView,
    Iterator,
    KeysView,
    Mapping,
    Sequence,
    ValuesView,
)
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, Self, Unpack

from mock_platform.client.queries import EntryQuery, PageQuery
from mock_platform.world.clock import Instant

if TYPE_CHECKING:
    from flask import Flask
    from flask.testing import FlaskClient

    from mock_platform.in_process.session import AuthScheme, BasedSession
    from mock_platform.scenario.active import UnfiredRule

Record = dict[str, Any]


class ClockFace(Protocol):
    """The clock of a world. Everything that is due happens before a method returns.

    A server elsewhere reports moments to the millisecond.
    """

    def now(self) -> datetime:
        """Returns the current moment of the world, in UTC."""

    @property
    def frozen(self) -> bool:
        """Whether the clock is stopped."""

    def freeze(self, to: Instant | None = None) -> datetime:
        """Stop the clock, now or at a moment; returns the moment.

        Raises:
            ValueError: `to` is not a moment, has no offset from UTC, or is out of bounds.
        """

    def travel(self, to: Instant) -> datetime:
        """Set the clock to a moment and return it; a running clock continues from there.

        Raises:
            ValueError: `to` is not a moment, has no offset from UTC, or is out of bounds.
        """

    def advance(
        self, *, days: float = 0, hours: float = 0, minutes: float = 0, seconds: float = 0
    ) -> datetime:
        """Move the clock by a duration (negative: back); returns the new moment.

        Raises:
            OverflowError: The result is not a possible date.
            ValueError: The result is out of bounds, or a part is not a number.
        """

    def resume(self) -> datetime:
        """Start the clock again at its current moment; returns the moment."""


class ChangeFace(Protocol):
    """What a request changed in one record."""

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
    def milliseconds(self) -> float:
        """How long the answer took, in milliseconds of real time."""

    @property
    def operation(self) -> str | None:
        """The id of the operation that answered; `None` if no operation did."""

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
        """Returns the entry in the form of `GET /_mock/requests/ID`, without credentials."""


class JournalFace(Protocol):
    """The requests that a world received, and its answers."""

    def find(self, **query: Unpack[PageQuery]) -> Sequence[EntryFace]:
        """Returns the entries that match the query, oldest first; `limit` keeps the newest ones.

        Raises:
            BadQuery: An operation does not exist, or no entry can have one of the values.
            ValueError: `since` is not a moment, or has no offset from UTC.
        """

    def count(self, **query: Unpack[EntryQuery]) -> int:
        """Returns how many entries match the whole query; raises the same as `find`."""

    def get(self, request_id: str) -> EntryFace | None:
        """Returns the entry with this `X-Mock-Request-Id`; `None` if it is not in the journal."""

    def clear(self) -> None:
        """Delete all entries of the journal."""

    def __iter__(self) -> Iterator[EntryFace]:
        """Iterates over all entries, oldest first."""

    def __len__(self) -> int:
        """The number of entries."""


class TableFace(Protocol):
    """The records of one table, in stored form: wire form and underscore keys."""

    @property
    def name(self) -> str:
        """The name of the table."""

    def all(self) -> list[Record]:
        """Returns all records, in the order in which they were added."""

    def get(self, key: str) -> Record | None:
        """Returns the record under a key, or `None`."""

    def put(self, record: Record, *, key: str | None = None, unchecked: bool = False) -> Record:
        """Create or replace a record; returns it as stored, with defaults.

        `key` is added to a record that has none. `unchecked` stores the record without checks, for
        invalid states on purpose.

        Raises:
            BadRecord: The record has faults, or refers to a missing record; no record is stored.
        """

    def patch(self, key: str, changes: Record, *, unchecked: bool = False) -> Record:
        """Merge changes into a record (JSON merge patch: null removes a field); returns it.

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
        """Returns all records, in the order in which they were added."""

    def __len__(self) -> int:
        """The number of records."""


class StateFace(Protocol):
    """All tables of one world, by name; also loads and dumps the whole world as one document."""

    def __getitem__(self, name: str) -> TableFace:
        """Returns the table of this name.

        Raises:
            UnknownTable: No table has this name.
        """

    def __contains__(self, name: object) -> bool:
        """Whether a table of this name exists."""

    def __iter__(self) -> Iterator[str]:
        """The names of all tables."""

    def __len__(self) -> int:
        """The number of tables."""

    def get(self, name: str, /) -> TableFace | None:
        """Returns the table of this name, or `None`."""

    def keys(self) -> KeysView[str]:
        """The names of all tables."""

    def values(self) -> ValuesView[TableFace]:
        """All tables, without their names."""

    def items(self) -> ItemsView[str, TableFace]:
        """Pairs of name and table."""

    def dump(self) -> dict[str, Any]:
        """Returns the whole world as one document: tables, clock, ids, progressions."""

    def load(self, document: Mapping[str, Any], *, unchecked: bool = False) -> None:
        """Replace the whole world by a document from `dump`. The journal is emptied.

        Raises:
            BadRecord: Records have faults, or the document has another form; the world does not
                change.
        """


class WorldFace(Protocol):
    """One world of a running sandbox.

    Every use of a world that was removed raises `UnknownWorld`.
    """

    @property
    def name(self) -> str:
        """The name of the world; `default` for the one without prefix."""

    @property
    def base_url(self) -> str:
        """`{base_url}` of the specification, with the prefix of the world, if it has one."""

    @property
    def ads_base_url(self) -> str:
        """`{ads_base_url}` of the specification."""

    @property
    def ads_sandbox_base_url(self) -> str:
        """`{ads_sandbox_base_url}` of the specification."""

    @property
    def control_url(self) -> str:
        """The address of this world's control plane."""

    @property
    def clock(self) -> ClockFace:
        """The clock of the world."""

    @property
    def journal(self) -> JournalFace:
        """The journal of the world."""

    @property
    def state(self) -> StateFace:
        """The records of the world."""

    @property
    def credentials(self) -> dict[str, Any]:
        """The published test credentials, in the form of `GET /_mock/credentials`."""

    @property
    def deliveries(self) -> list[dict[str, Any]]:
        """Every attempted webhook delivery, oldest first."""

    def wait_for_deliveries(self, seconds: float = 10.0) -> bool:
        """Wait up to `seconds` of real time; returns whether all requested deliveries were made.

        The deliveries of all worlds of the server count.
        """

    @property
    def wsgi(self) -> Flask:
        """The whole server with all its worlds, as a WSGI application for any transport.

        It raises what a handler raises, instead of answering 500. If a scenario breaks the
        connection, it raises `NoConnection`, unless its caller has a connection to break, as
        `session` and `WsgiAdapter` do.

        Raises:
            NotInProcess: The server runs elsewhere.
        """

    @property
    def app(self) -> Flask:
        """The Flask application of all worlds: add routes, blueprints, hooks and error handlers.

        Raises:
            NotInProcess: The server runs elsewhere.
        """

    def session(self, auth: AuthScheme | None = None, *, sandbox: bool = False) -> BasedSession:
        """Returns a `requests.Session` whose relative addresses start at the base address.

        `oauth1` signs as the test user, `bearer` sends the test bearer token. With `sandbox` the
        sandbox address is the base address. A sandbox in this process answers without a socket.

        Raises:
            MissingCredentials: The world has no credentials of this kind, or no longer.
            ValueError: `auth` has another value.
        """

    def test_client(self, *, sandbox: bool = False) -> FlaskClient:
        """Returns Flask's test client; relative addresses start at the base address.

        Raises:
            NotInProcess: The server runs elsewhere.
        """

    def activate(self, name: str, /, **parameters: Any) -> None:
        """Activate a scenario, with values for its parameters; an active one starts again.

        Raises:
            UnknownScenario: No scenario has this name.
            BadParameters: A parameter is unknown, or its value is not allowed.
            CannotPerform: The scenario breaks connections and the server cannot do that.
            TypeError: A value has no JSON form.
        """

    def deactivate(self, name: str | None = None) -> None:
        """Deactivate a scenario, or all scenarios.

        Raises:
            UnknownScenario: No scenario has this name.
        """

    def define(self, document: Mapping[str, Any] | str | Path) -> str:
        """Make a scenario known in this world until its reset: a document, its YAML, or a file.

        Returns its name, for `activate`.

        Raises:
            BadScenario: The scenario has faults; each is reported with its place.
            BadParameters: The scenario is active and cannot continue with its parameters.
            CannotPerform: The scenario is active and breaks connections, which the server cannot
                do.
        """

    @property
    def scenarios(self) -> list[dict[str, Any]]:
        """Every known scenario, in the form of `GET /_mock/scenarios`."""

    def unfired_expectations(self) -> list[UnfiredRule]:
        """Returns the rules with `expect: fired` of active scenarios that never acted."""

    def coverage(self) -> dict[str, Any]:
        """Returns how much of the contract was exercised here; the default world counts all."""

    def use_fixtures(self, *folders: Path | str) -> None:
        """Start the world again with more folders of fixtures; the last one wins.

        Raises:
            BadFixtures: The fixtures have faults.
            NotInProcess: It is the default world of a server elsewhere, which keeps that server's
                fixtures.
        """

    def reset(self) -> None:
        """Return the world to its start: fixtures, start-up scenarios, clock, ids, no journal."""


class PlatformFace(WorldFace, Protocol):
    """A running sandbox; itself also the interface of its default world. Use it in a `with`."""

    def world(
        self,
        name: str,
        *,
        source: str | None = None,
        seed: int | None = None,
        freeze: Instant | None = None,
    ) -> WorldFace:
        """Returns another world; makes a missing one, from fixtures or as a copy of `source`.

        With `freeze` its clock is stopped at that moment, at the start and after each reset.

        Raises:
            BadWorldName: The name is not allowed for a world.
            UnknownWorld: The world `source` does not exist.
            TooManyWorlds: The server has the maximum number of worlds.
            TypeError: `seed` is not an integer.
            ValueError: `freeze` is not a moment, has no offset from UTC, or is out of bounds.
        """

    def drop_world(self, name: str) -> None:
        """Remove a world with all its contents.

        Raises:
            UnknownWorld: No world has this name.
            ValueError: It is the default world, which always exists.
        """

    @property
    def worlds(self) -> list[str]:
        """Returns the names of all worlds."""

    @property
    def ca(self) -> Path | None:
        """With https: the file of the certificate authority to trust, if clients need one."""

    def on_stray(self, listener: Callable[[str, str, str], None]) -> None:
        """Call `listener` for each request to a missing world, with world, method and address.

        The address has no credentials. The call is made in the thread that answers the request.

        Raises:
            NotInProcess: The server runs elsewhere.
        """

    def raise_errors(self) -> None:
        """Raise the errors of handlers during network requests, each once.

        Raises:
            Exception: The error, if there was one.
            ExceptionGroup: The errors, if there were several.
            NotInProcess: The server runs elsewhere; its journal has the tracebacks.
        """

    def stop(self) -> None:
        """Stop the sandbox and raise the same as `raise_errors`; idempotent.

        A server elsewhere keeps running; only the connections to it are closed.
        """

    def __enter__(self) -> Self:
        """Returns the platform itself."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop the platform; see `stop`."""
