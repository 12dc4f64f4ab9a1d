"""The face of a sandbox, written once: what everybody who holds one in Python may rely on.

`local` and `platform` implement it for a sandbox in this process, `remote` for a server elsewhere.
What is wrong raises the same exception on both. What only one of them can do says so with
`NotInProcess`; a server elsewhere may besides be `Unreachable`, or have `Refused` a request for a
reason of its own, such as its control token or the size of a body.
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


class Clock(Protocol):
    """The clock of a world. What falls due by moving it happens before the method returns.

    Over an address moments are read to the millisecond.
    """

    def now(self) -> datetime:
        """The present moment of the world, UTC."""

    @property
    def frozen(self) -> bool:
        """Whether time stands still."""

    def freeze(self, to: Instant | None = None) -> datetime:
        """Stand still, now or at a moment; returns the moment.

        Raises:
            ValueError: `to` is no moment, does not say its offset from UTC, or is out of bounds.
        """

    def travel(self, to: Instant) -> datetime:
        """Jump to a moment and return it; a running clock runs on from there.

        Raises:
            ValueError: `to` is no moment, does not say its offset from UTC, or is out of bounds.
        """

    def advance(
        self, *, days: float = 0, hours: float = 0, minutes: float = 0, seconds: float = 0
    ) -> datetime:
        """Move by so much (negative: back); returns the new moment.

        Raises:
            OverflowError: The result is no date.
            ValueError: The result is out of bounds, or a part is no number.
        """

    def resume(self) -> datetime:
        """Run on from the present moment, and return it."""


class Change(Protocol):
    """What a request did to one record."""

    @property
    def table(self) -> str:
        """The record's table."""

    @property
    def key(self) -> str:
        """The record's key."""

    @property
    def kind(self) -> str:
        """`created`, `changed` or `removed`."""

    @property
    def fields(self) -> Sequence[str]:
        """Names of the fields whose values are others than before."""


class Entry(Protocol):
    """One request of the journal, its answer, and why it was what it was.

    In this process headers, bodies and address are as they were sent; over an address credentials
    are taken out of them, as `as_json` does everywhere.
    """

    @property
    def id(self) -> str:
        """What `X-Mock-Request-Id` of the answer says."""

    @property
    def at(self) -> datetime:
        """When it came, on the world's clock."""

    @property
    def world(self) -> str:
        """The world's name."""

    @property
    def method(self) -> str:
        """The request's method."""

    @property
    def url(self) -> str:
        """The address that was called."""

    @property
    def status(self) -> int:
        """The answer's status."""

    @property
    def milliseconds(self) -> float:
        """How long the answer took, in real time."""

    @property
    def operation(self) -> str | None:
        """The id of the operation that answered, if one did."""

    @property
    def caller(self) -> dict[str, Any] | None:
        """Who called, and how that was established."""

    @property
    def rule(self) -> dict[str, Any] | None:
        """The rule of a scenario that acted."""

    @property
    def near_misses(self) -> list[dict[str, Any]]:
        """The nearest rules that did not act, each with the first difference."""

    @property
    def changes(self) -> Sequence[Change]:
        """Which records changed."""

    @property
    def assumptions(self) -> Sequence[str]:
        """Ids of the assumptions that the answer rests on."""

    @property
    def warnings(self) -> Sequence[str]:
        """What was ignored or should not be used any more."""

    @property
    def diagnosis(self) -> dict[str, Any] | None:
        """What would explain a refusal."""

    @property
    def traceback(self) -> str | None:
        """What failed in the sandbox itself."""

    @property
    def request_headers(self) -> Sequence[tuple[str, str]]:
        """Headers of the request."""

    @property
    def request_body(self) -> bytes:
        """Body of the request."""

    @property
    def response_headers(self) -> Sequence[tuple[str, str]]:
        """Headers of the answer."""

    @property
    def response_body(self) -> bytes:
        """Body of the answer."""

    def as_json(self) -> dict[str, Any]:
        """The entry in the form of `GET /_mock/requests/ID`, without credentials."""


class Journal(Protocol):
    """What a world was asked and how it answered."""

    def find(self, **query: Unpack[PageQuery]) -> Sequence[Entry]:
        """Entries that fit everything given, oldest first; with `limit`, the newest so many.

        Raises:
            BadQuery: No operation has that id, or a value is one that no entry can have.
            ValueError: `since` is no moment, or does not say its offset from UTC.
        """

    def count(self, **query: Unpack[EntryQuery]) -> int:
        """How many entries fit everything given; raises what `find` raises."""

    def get(self, request_id: str) -> Entry | None:
        """The entry that `X-Mock-Request-Id` of an answer names, if it is still kept."""

    def clear(self) -> None:
        """Forget everything."""

    def __iter__(self) -> Iterator[Entry]:
        """Every entry, oldest first."""

    def __len__(self) -> int:
        """How many entries there are."""


class Table(Protocol):
    """The records of one table, in stored form: wire form and underscore keys."""

    @property
    def name(self) -> str:
        """The table's name."""

    def all(self) -> list[Record]:
        """Every record, in the order in which they came."""

    def get(self, key: str) -> Record | None:
        """The record under a key, or `None`."""

    def put(self, record: Record, *, key: str | None = None, unchecked: bool = False) -> Record:
        """Create or replace a record; returns it as stored, defaults filled in.

        `key` is filled in where the record does not name it. `unchecked` stores the record as it
        is, for odd states on purpose.

        Raises:
            BadRecord: It has faults, or refers to what is not there; nothing is stored.
        """

    def patch(self, key: str, changes: Record, *, unchecked: bool = False) -> Record:
        """Merge changes into a record (JSON merge patch: null takes a field out); returns it.

        Raises:
            UnknownRecord: There is no such record.
            BadRecord: What would come out has faults, or another key; nothing is changed.
        """

    def delete(self, key: str) -> None:
        """Take a record out for good, whatever refers to it.

        Raises:
            UnknownRecord: There is no such record.
        """

    def __contains__(self, key: object) -> bool:
        """Whether there is a record under a key."""

    def __iter__(self) -> Iterator[Record]:
        """Every record, in the order in which they came."""

    def __len__(self) -> int:
        """How many records there are."""


class State(Protocol):
    """All tables of one world: a mapping by name, and the whole world as one document."""

    def __getitem__(self, name: str) -> Table:
        """The table of this name.

        Raises:
            UnknownTable: There is none.
        """

    def __contains__(self, name: object) -> bool:
        """Whether there is a table of this name."""

    def __iter__(self) -> Iterator[str]:
        """The names of all tables."""

    def __len__(self) -> int:
        """How many tables there are."""

    def get(self, name: str, /) -> Table | None:
        """The table of this name, or `None`."""

    def keys(self) -> KeysView[str]:
        """The names of all tables."""

    def values(self) -> ValuesView[Table]:
        """All tables."""

    def items(self) -> ItemsView[str, Table]:
        """Names and tables."""

    def dump(self) -> dict[str, Any]:
        """The whole world as one document: tables, clock, ids and paces of transitions."""

    def load(self, document: Mapping[str, Any], *, unchecked: bool = False) -> None:
        """Make the world what a document says, as `dump` returned it. The journal is emptied.

        Raises:
            BadRecord: Records have faults, or the document has another form; nothing is changed.
        """


class World(Protocol):
    """One world of a running sandbox.

    Whatever is asked of one that was removed raises `UnknownWorld`.
    """

    @property
    def name(self) -> str:
        """The world's name; `default` for the one that needs no prefix."""

    @property
    def base_url(self) -> str:
        """`{base_url}` of the spec, with the world's prefix unless it is the default one."""

    @property
    def ads_base_url(self) -> str:
        """`{ads_base_url}` of the spec."""

    @property
    def ads_sandbox_base_url(self) -> str:
        """`{ads_sandbox_base_url}` of the spec."""

    @property
    def control_url(self) -> str:
        """Where the control plane of this world answers."""

    @property
    def clock(self) -> Clock:
        """The world's clock."""

    @property
    def journal(self) -> Journal:
        """What the world was asked and how it answered."""

    @property
    def state(self) -> State:
        """The world's records."""

    @property
    def credentials(self) -> dict[str, Any]:
        """The well-known credentials, in the form of `GET /_mock/credentials`."""

    @property
    def deliveries(self) -> list[dict[str, Any]]:
        """Every attempted webhook delivery, oldest first."""

    def wait_for_deliveries(self, seconds: float = 10.0) -> bool:
        """Whether every webhook delivery asked for so far was made, within so many real seconds.

        Those of all worlds of the server count.
        """

    @property
    def wsgi(self) -> Flask:
        """The whole server, every world of it, as a WSGI application for any transport.

        What a handler raises it raises too, instead of answering 500. Where a scenario breaks the
        connection it raises `NoConnection`, unless its caller has one to break, as `session` and
        `WsgiAdapter` have.

        Raises:
            NotInProcess: The server runs elsewhere.
        """

    @property
    def app(self) -> Flask:
        """The Flask application, of every world: add routes, blueprints, hooks and handlers.

        Raises:
            NotInProcess: The server runs elsewhere.
        """

    def session(self, auth: AuthScheme | None = None, *, sandbox: bool = False) -> BasedSession:
        """A `requests.Session` whose relative addresses begin at the base address.

        `oauth1` signs as the well-known user, `bearer` sends the well-known token. `sandbox` takes
        the sandbox address as base. A sandbox in this process answers without a socket.

        Raises:
            MissingCredentials: The world holds none of that kind (any more).
            ValueError: `auth` is something else.
        """

    def test_client(self, *, sandbox: bool = False) -> FlaskClient:
        """Flask's test client; relative addresses begin at the base address.

        Raises:
            NotInProcess: The server runs elsewhere.
        """

    def activate(self, name: str, /, **parameters: Any) -> None:
        """Switch a scenario on, with values for its parameters; one that is on begins again.

        Raises:
            UnknownScenario: There is none of that name.
            BadParameters: A parameter is unknown, or its value does not fit.
            CannotPerform: It breaks connections and the server cannot.
            TypeError: A value is something that JSON has not.
        """

    def deactivate(self, name: str | None = None) -> None:
        """Switch a scenario off, or all of them.

        Raises:
            UnknownScenario: There is none of that name.
        """

    def define(self, document: Mapping[str, Any] | str | Path) -> str:
        """Know a scenario in this world until it is reset: a document, its YAML, or a file.

        Returns its name, for `activate`.

        Raises:
            BadScenario: It has faults; each is reported with its place.
            BadParameters: It is active, and cannot go on with the parameters that it has.
            CannotPerform: It is active, and breaks connections, which the server cannot.
        """

    @property
    def scenarios(self) -> list[dict[str, Any]]:
        """Every known scenario, in the form of `GET /_mock/scenarios`."""

    def unfired_expectations(self) -> list[UnfiredRule]:
        """Rules with `expect: fired` of active scenarios that never acted."""

    def coverage(self) -> dict[str, Any]:
        """How much of the contract clients exercised here; of all worlds for the default one."""

    def use_fixtures(self, *folders: Path | str) -> None:
        """Begin again with more fixtures: folders laid over the server's own, the last on top.

        Raises:
            BadFixtures: Something is wrong with them.
            NotInProcess: It is the default world of a server elsewhere, which begins as that
                server was started.
        """

    def reset(self) -> None:
        """The world as it started: fixtures, start-up scenarios, clock, ids; an empty journal."""


class Platform(World, Protocol):
    """A running sandbox; by itself the face of its default world. Use it in a `with`."""

    def world(
        self,
        name: str,
        *,
        source: str | None = None,
        seed: int | None = None,
        freeze: Instant | None = None,
    ) -> World:
        """Another world, made if there is none of that name: afresh, or as a copy of `source`.

        With `freeze` its clock stands still there, from the beginning and after each reset.

        Raises:
            BadWorldName: A world cannot have that name.
            UnknownWorld: `source` does not exist.
            TooManyWorlds: There are as many as there may be.
            TypeError: `seed` is no integer.
            ValueError: `freeze` is no moment, does not say its offset from UTC, or is out of
                bounds.
        """

    def drop_world(self, name: str) -> None:
        """Remove a world with all that is in it.

        Raises:
            UnknownWorld: There is none of that name.
            ValueError: It is the default one, which always exists.
        """

    @property
    def worlds(self) -> list[str]:
        """The names of all worlds."""

    @property
    def ca(self) -> Path | None:
        """Over https: the file of the certificate authority for clients to trust, if one needs."""

    def on_stray(self, listener: Callable[[str, str, str], None]) -> None:
        """Report requests to worlds that are not there (any more): world, method, address.

        The address comes without credentials. Called in the thread that answers the request.

        Raises:
            NotInProcess: The server runs elsewhere.
        """

    def raise_errors(self) -> None:
        """Raise what failed in handlers while clients called over the network, once each.

        Raises:
            Exception: What the one failing handler raised.
            ExceptionGroup: What several raised.
            NotInProcess: The server runs elsewhere; its journal has the tracebacks.
        """

    def stop(self) -> None:
        """Stop the sandbox and raise what `raise_errors` would; idempotent.

        A server elsewhere goes on: only the connections to it are closed.
        """

    def __enter__(self) -> Self:
        """The platform itself."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop."""


WorldFace = World
"""The type of the fixture `mock_platform`."""
