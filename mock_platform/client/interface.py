"""The interface of a sandbox, declared once, with what both kinds of it do alike.

`local` and `local_platform` complete it for a sandbox in this process, `remote` for a server
elsewhere; their methods have no docstring of their own where this one is enough. The same mistake
raises the same exception on both. What only one of them can do raises `NotInProcess` on the other.
A server elsewhere may also be `Unreachable`, or it may have `Refused` a request, for instance
because of its control token or the size of a body. `world_parts` declares clock, journal and
records.
"""

from __future__ import annotations

import re
from collections.abc import (
    Callable,
    Collection,
    Mapping,
    Sequence,
)
from contextlib import AbstractContextManager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, NoReturn, Protocol, Self, cast
from warnings import warn

from mock_platform.client.world_parts import (
    ClockFace,
    JournalFace,
    SnapshotsFace,
    StateFace,
    StreamsFace,
    TransitionsFace,
)
from mock_platform.core.errors import find_nearest
from mock_platform.scenario.outline import FAILURE_ID

if TYPE_CHECKING:
    from datetime import date

    from flask import Flask
    from flask.testing import FlaskClient
    from httpx import AsyncClient

    from mock_platform.names import Activation, EventType, OwnName, ScenarioName, TableName
    from mock_platform.scenario.failures import DocumentedFailure
    from mock_platform.scenario.outline import UnfiredRule
    from mock_platform.serving.in_process.asgi import AsgiApplication
    from mock_platform.serving.in_process.oauth1 import OAuth1Auth
    from mock_platform.serving.in_process.session import AuthScheme, BasedSession, BearerAuth
    from mock_platform.settings import NamesMode
    from mock_platform.verification.costs.document import By
    from mock_platform.world.clock import Instant

    Authentication = OAuth1Auth | BearerAuth


def _take_scenario(method: Callable[..., None]) -> Activation:
    """Let type checkers know which parameters the scenario of a name has; change nothing."""
    return cast("Activation", method)


OTHER_WORDS = {
    "url": "base_url",
    "get": "session",
    "post": "session",
    "client": "session",
    "scenario": "activate",
    "enable": "activate",
    "disable": "deactivate",
    "requests": "journal",
    "calls": "journal",
    "records": "state",
    "tables": "state",
    "save": "snapshots",
    "restore": "snapshots",
    "time": "clock",
    "webhooks": "deliveries",
}
"""What other tools call parts of a world, with the name here."""


class WorldFace(Protocol):
    """One world of a running sandbox.

    Every use of a world that was removed raises `UnknownWorld`.

    Example:
        >>> from mock_platform import MockPlatform
        >>> with MockPlatform.start() as platform:
        ...     world = platform.world("shop", seed=7)
        ...     answer = world.session(auth="oauth1").post("/2/posts", json={"text": "Open!"})
        ...     print(answer.status_code, world.name, len(world.journal), len(platform.journal))
        201 shop 1 0
    """

    _addresses: Mapping[str, str]
    """`name` and addresses of the world, as `PUT /_mock/worlds/NAME` answers."""

    @property
    def name(self) -> str:
        """The name of the world; `default` for the one without prefix."""
        return self._addresses["name"]

    @property
    def base_url(self) -> str:
        """`{base_url}` of the specification, with the prefix of the world, if it has one."""
        return self._addresses["base_url"]

    @property
    def ads_base_url(self) -> str:
        """`{ads_base_url}` of the specification."""
        return self._addresses["ads_base_url"]

    @property
    def ads_sandbox_base_url(self) -> str:
        """`{ads_sandbox_base_url}` of the specification."""
        return self._addresses["ads_sandbox_base_url"]

    @property
    def control_url(self) -> str:
        """The address of this world's control plane."""
        return self._addresses["control"]

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
    def streams(self) -> StreamsFace:
        """The open streams of the world."""

    @property
    def snapshots(self) -> SnapshotsFace:
        """The named states of the world, to which it can return."""

    @property
    def transitions(self) -> TransitionsFace:
        """How slow states of the world move."""

    def make(
        self,
        table: TableName | OwnName,
        count: int = 1,
        *,
        seed: int | None = None,
        **fields: Any,
    ) -> dict[str, Any]:
        """Make records in one step; return the answer of `PUT /_mock/make`: `made`, `ids`.

        All of them have these `fields`. A reference may be named without `_id`; its value is a key,
        a list of keys, which are used in turn, or a mapping: the fields of a record that is made
        for it. `spread` is how long ago the oldest was created, such as `"30d"`. What is left out
        is drawn; the same `seed` draws the same.

        Raises:
            UnknownTable: No table has this name.
            BadRecord: The count or a field is not allowed; nothing was made.
            TypeError: A field has no JSON form, or `seed` is not an integer.
        """
        # Loaded when it is used: with the class, an import would take half as long again.
        from mock_platform.client.arguments import describe_fields
        from mock_platform.world.ids import check_seed

        return self._make(table, count, check_seed(seed), describe_fields(fields))

    def _make(
        self, table: str, count: int, seed: int | None, fields: dict[str, Any]
    ) -> dict[str, Any]: ...

    def emit(
        self,
        event_type: EventType | OwnName,
        *,
        user: str | None = None,
        payload: Mapping[str, Any] | None = None,
        includes: Mapping[str, Any] | None = None,
        direction: str | None = None,
        created_at: Instant | None = None,
    ) -> dict[str, Any]:
        """Let something happen to a user; return the answer of `POST /_mock/events`.

        `user` is an id or a screen name; without it, the first user. Without a payload a
        believable one is made, and the record changes with it. `created_at` may also count from
        now, such as `now-2h`.

        Raises:
            BadEvent: Fields are missing or wrong; nothing happened.
        """
        from mock_platform.client.arguments import describe_event

        given = describe_event(event_type, user, payload, includes, direction, created_at)
        return self._emit(given)

    def _emit(self, given: dict[str, Any]) -> dict[str, Any]: ...

    def authorize(self, asked: str, *, user: str | None = None, deny: bool = False) -> str:
        """Let a user answer an app without the pages; the first user unless `user` names another.

        For a request token, the verifier or PIN is returned. For the address to which the app sends
        its user, of either OAuth, and for a denial, the address is returned to which the browser
        would be sent; it is empty in out-of-band mode.

        Raises:
            CannotApprove: Nothing here waits for an answer to this, or the user does not exist.
        """

    @property
    def deliveries(self) -> list[dict[str, Any]]:
        """Every attempted webhook delivery and every line of a stream, oldest first."""

    def explain_deliveries(self, url: str) -> list[str]:
        """Return why no deliveries came to a webhook with this address, as sentences.

        They say what happened since the world began and why each of it was not sent there: no
        subscription leads to it, the webhook is not valid, its challenge or an attempt failed.
        """

    def wait_for_deliveries(self, seconds: float = 10.0) -> bool:
        """Wait up to `seconds` of real time; return whether all requested deliveries were made.

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
        return self.wsgi

    @property
    def asgi(self) -> AsgiApplication:
        """The whole server with all its worlds, as an ASGI application for asynchronous clients.

        `httpx.AsyncClient(transport=httpx.ASGITransport(platform.asgi))` calls it for every host;
        that transport reads an answer to its end before it returns it, which streams do not have.
        It raises what a handler raises. If a scenario breaks the connection, it raises what httpx
        raises over a socket.

        Raises:
            NotInProcess: The server runs elsewhere.
        """

    def session(
        self,
        auth: AuthScheme | None = None,
        *,
        sandbox: bool = False,
        passthrough: Sequence[str] = (),
    ) -> BasedSession:
        """Return a `requests.Session` whose relative addresses start at the base address.

        `oauth1` signs as the test user, `oauth2` sends the OAuth 2.0 token of the test user,
        `bearer` the bearer token of the test app. With `sandbox` the sandbox address is the base
        address. A sandbox in this process answers without a socket.

        A request for any other host raises `ForeignHost` before it leaves. Hosts in `passthrough`
        are called over the network; an adapter that you mount answers for its host.

        Raises:
            MissingCredentials: The world has no credentials of this kind, or no longer.
            ValueError: `auth` has another value, or `passthrough` is not a list of host names.
        """
        return self._session(self._sign(auth), self._find_base(sandbox=sandbox), passthrough)

    def _session(
        self, signs: Authentication | None, base: str, passthrough: Sequence[str]
    ) -> BasedSession: ...

    def async_client(
        self,
        auth: AuthScheme | None = None,
        *,
        sandbox: bool = False,
        passthrough: Sequence[str] = (),
    ) -> AsyncClient:
        """Return an `httpx.AsyncClient`, signed and addressed as what `session` returns.

        A sandbox in this process answers without a socket, and reads of a stream get each line as
        it comes. Close it, or use it in an `async with`.

        Raises:
            MissingExtra: httpx is not installed.
            MissingCredentials: The world has no credentials of this kind, or no longer.
            ValueError: `auth` has another value, or `passthrough` is not a list of host names.
        """
        from mock_platform.core.installed import require_extra

        require_extra("async_client()", "httpx", "httpx")
        return self._async_client(self._sign(auth), self._find_base(sandbox=sandbox), passthrough)

    def _async_client(
        self, signs: Authentication | None, base: str, passthrough: Sequence[str]
    ) -> AsyncClient: ...

    def test_client(self, *, sandbox: bool = False) -> FlaskClient:
        """Return Flask's test client; relative addresses start at the base address.

        Raises:
            NotInProcess: The server runs elsewhere.
        """
        return self.wsgi.test_client(base_url=self._find_base(sandbox=sandbox))

    @_take_scenario
    def activate(self, name: ScenarioName | OwnName, /, **parameters: Any) -> None:
        """Activate a scenario, with values for its parameters; an active one starts again.

        For a scenario of yours, `name` is what `define` returned, or `OwnName("my-outage")` if the
        server was started with it.

        Raises:
            UnknownScenario: No scenario has this name.
            BadParameters: A parameter is unknown, or its value is not allowed.
            CannotPerform: The scenario breaks connections and the server cannot do that.
            TypeError: A value has no JSON form.
        """
        self._activate(name, parameters)

    def _activate(self, name: str, parameters: Mapping[str, Any]) -> None: ...

    def fail(self, failure: DocumentedFailure | str, *, times: int | None = 1) -> None:
        """Let an operation fail at its next call, in a way that `mock_platform.failures` lists.

        `failure` may be its id; `times` is the number of calls that fail, `None` for all. A call
        that is refused anyway does not count. `deactivate` takes the id.

        Raises:
            UnknownScenario: No failure has this id.
            ValueError: `failure` does not have the form of an id.
            BadParameters: `times` is not above 0.
            CannotPerform: The network is to fail and the server cannot do that.
        """
        name = str(failure)
        if re.fullmatch(FAILURE_ID, name) is None:
            raise ValueError(
                f"{name!r} is no failure such as line_items.update-404-LINE_ITEM_NOT_FOUND. "
                "mock_platform.failures lists them; activate is for scenarios."
            )
        self._activate(name, {"times": times})

    def deactivate(self, name: ScenarioName | OwnName | None = None) -> None:
        """Deactivate a scenario, or all scenarios.

        Raises:
            UnknownScenario: No scenario has this name.
        """

    def define(self, document: Mapping[str, Any] | str | Path) -> OwnName:
        """Make a scenario known in this world until its reset: a document, its YAML, or a file.

        Returns its name, for `activate`. A text that is the name of a YAML or JSON file is one.

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
        """Return the rules with `expect: fired` of active scenarios that never acted."""

    def coverage(self, only: str | None = None) -> dict[str, Any]:
        """Return how much of the contract was exercised here; the default world counts all.

        `only` restricts it to operations whose ids match patterns, such as `line_items.*,oauth*`.

        Raises:
            BadQuery: A pattern matches no operation.
        """

    def warnings(self) -> dict[str, Any]:
        """Return what was ignored in requests here; the default world counts all.

        `requests` is the number of requests with warnings; each of `warnings` has its `code`,
        `operation`, number of `requests` and the first `example`.
        """

    def costs(self, by: By = "operation") -> dict[str, Any]:
        """Return what calls would have cost here, as `GET /_mock/costs`: since the last reset.

        The sums are kept apart by operation, app or day. By `test`, they are those of the server's
        other worlds as well if this is the default one, whatever was reset or dropped since.

        Raises:
            BadQuery: `by` is something else.
        """

    def save_case(self, path: Path | str) -> Path:
        """Write the world with all its requests to a file, without secrets; return its path.

        `MockPlatform.open_case` and `mock-platform open` make the same world of it elsewhere. A
        file that is there is replaced; only its owner can read it.

        Raises:
            CaseTooLarge: It would be larger than a case can be.
            OSError: The file cannot be written.
        """

    def use_fixtures(self, *folders: Path | str) -> None:
        """Start the world again with more folders of fixtures; the last one wins.

        Raises:
            BadFixtures: The fixtures have faults, or a folder has none.
            NotInProcess: It is the default world of a server elsewhere, which keeps that server's
                fixtures.
        """

    def intercept(
        self, *, allow_hosts: Collection[str] = (), hosts: Collection[str] = ()
    ) -> AbstractContextManager[Mapping[str, str]]:
        """Within a `with`, let programs reach the platform's real hosts in this world.

        Environment variables lead this process and its children to a proxy on this machine:
        `HTTPS_PROXY`, those that name whom to trust, and the settings of node and Java. `with … as`
        returns them. `hosts` are answered like the platform's own. Other hosts are
        refused unless they are among `allow_hosts`: `HOST` for the ports 80 and 443, or
        `HOST:PORT`.

        Raises:
            ValueError: One of `hosts` or `allow_hosts` is not a host.
            MissingExtra: The package was installed without the extra `tls`.
            NotInProcess: The server runs elsewhere.
        """

    def reset(self) -> None:
        """Return the world to its start: fixtures, start-up scenarios, clock, ids, no journal."""

    if not TYPE_CHECKING:  # type checkers still report an attribute that does not exist

        def __getattr__(self, name: str) -> NoReturn:
            """Raise an `AttributeError` that says what may have been meant."""
            if name.startswith("_") or hasattr(type(self), name):
                object.__getattribute__(self, name)  # a property raised: its own error is shown
            declared = next(kind for kind in type(self).__mro__ if kind.__module__ == __name__)
            known = [each for each in dir(declared) if not each.startswith("_")]
            nearest = find_nearest(name, [*known, *OTHER_WORDS])
            meant = OTHER_WORDS.get(nearest, nearest)
            hint = "" if meant is None else f" Did you mean {meant!r}?"
            raise AttributeError(
                f"A world has no attribute {name!r}.{hint} It has: {', '.join(known)}."
            )

    def _find_base(self, *, sandbox: bool) -> str:
        return self.ads_sandbox_base_url if sandbox else self.base_url

    def _sign(self, auth: AuthScheme | None) -> Authentication | None:
        if auth is None:
            return None
        from mock_platform.client.arguments import authentication

        return authentication(self.name, self.credentials, auth)


class PlatformFace(WorldFace, Protocol):
    """A running sandbox; itself also the interface of its default world. Use it in a `with`.

    Example:
        >>> from mock_platform import MockPlatform
        >>> with MockPlatform.start() as platform:
        ...     copy = platform.world("copy", source="default")
        ...     print(platform.worlds)
        ...     platform.drop_world("copy")
        ...     print(platform.worlds)
        ['default', 'copy']
        ['default']
    """

    def world(
        self,
        name: str,
        *,
        source: str | None = None,
        seed: int | None = None,
        freeze: Instant | None = None,
        own_credentials: bool = False,
        warnings: Literal["ignore", "error"] | None = None,
        names: NamesMode | None = None,
        wire: str | None = None,
        as_of: Instant | date | None = None,
    ) -> WorldFace:
        """Return another world; make a missing one, from fixtures or as a copy of `source`.

        A world that exists does not change: what it has otherwise is warned of. A copy has the
        records and the clock of its source, but none of its scenarios. With `freeze` its clock is
        stopped at that moment, at the start and after each reset. With `own_credentials` its apps
        and tokens have keys that choose the world by themselves, without a prefix or a header. With
        `warnings="error"` it refuses requests of which something would be ignored.
        `names="original"` lets its clients use the platform's original names, `wire="recorded"`
        answers as the real service was recorded where that differs from the specification. With
        `as_of="2026-03-01"` endpoints, fields, names of events and refusals are those that the
        release history had at that date, whatever the clock says.

        Raises:
            BadWorldName: The name is not allowed for a world.
            UnknownWorld: The world `source` does not exist.
            TooManyWorlds: The server has the maximum number of worlds.
            TypeError: `seed` is not an integer.
            ValueError: `freeze` is not a moment, has no offset from UTC, or is out of bounds; or
                `warnings`, `names`, `wire` or `as_of` has another value.
        """
        from mock_platform.client.arguments import check_names, check_wire, is_error, read_as_of
        from mock_platform.world.clock import moment
        from mock_platform.world.ids import check_seed

        wanted = {
            "seed": check_seed(seed),
            "freeze": None if freeze is None else moment(freeze),
            "refuse_warnings": is_error(warnings),
            "names": check_names(names),
            "wire": check_wire(wire),
            "as_of": read_as_of(as_of),
        }
        found, ignored = self._open_world(name, source, wanted, own_credentials=own_credentials)
        for text in ignored:
            warn(f"mock_platform: {text}", stacklevel=2)
        return found

    def _open_world(
        self, name: str, source: str | None, wanted: Mapping[str, Any], *, own_credentials: bool
    ) -> tuple[WorldFace, Sequence[str]]: ...

    def drop_world(self, name: str) -> None:
        """Remove a world with all its contents.

        Raises:
            UnknownWorld: No world has this name.
            ValueError: It is the default world, which always exists.
        """

    @property
    def worlds(self) -> list[str]:
        """Return the names of all worlds."""

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
        """Return the platform itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop the platform; see `stop`."""
        self.stop()
