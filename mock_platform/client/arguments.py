"""Arguments of the Python interface in the form that the control plane takes, and their checks."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from mock_platform.core import jsonio
from mock_platform.core.errors import BadFixtures, MissingCredentials, did_you_mean
from mock_platform.core.wire_choice import read_wire
from mock_platform.settings import NAMES, NamesMode
from mock_platform.world.clock import Instant, moment, parse_step
from mock_platform.world.endings import How

if TYPE_CHECKING:
    from mock_platform.names import OperationId, OwnName
    from mock_platform.scenario.catalog import Catalog
    from mock_platform.scenario.document import Scenario
    from mock_platform.serving.in_process.oauth1 import OAuth1Auth
    from mock_platform.serving.in_process.session import AuthScheme, BearerAuth


def format_moment(value: Instant) -> str:
    """Return a moment in the form that the control plane accepts, to the microsecond.

    Raises:
        ValueError: It is not a moment, or a datetime without offset from UTC.
        TypeError: It is neither a datetime nor text.
    """
    return moment(value).astimezone(UTC).isoformat(timespec="microseconds")[:26] + "Z"


def count_seconds(step: float | str | timedelta | None, /, **parts: float) -> float:
    """Return the seconds of a step of the clock, given as one value, or in parts.

    Raises:
        OverflowError: The duration is infinite or too large.
        ValueError: A part is not a number (`nan`), or a text is not a duration.
        TypeError: A part has another type, or there are both a step and parts, or neither.
    """
    if step is None:
        if not parts:
            raise TypeError("give a duration, as in advance('1h') or advance(hours=1)")
        return timedelta(**parts).total_seconds()
    if timedelta(**parts):
        raise TypeError("give the step as one value (advance('1h')) or in parts (hours=1)")
    if isinstance(step, timedelta):
        return step.total_seconds()
    try:
        seconds = parse_step(step) if isinstance(step, str) else step
    except ValueError as fault:
        raise ValueError(f"{step!r} is {fault}") from None
    return timedelta(seconds=seconds).total_seconds()


# What `emit` sends: the body of `POST /_mock/events`.


def describe_event(
    event_type: str,
    user: str | None,
    payload: Mapping[str, Any] | None,
    includes: Mapping[str, Any] | None,
    direction: str | None,
    created_at: Instant | None,
) -> dict[str, Any]:
    """Return an event in the form of the control plane; what was not given is left out."""
    moment = format_moment(created_at) if isinstance(created_at, datetime) else created_at
    given = {
        "event_type": event_type,
        "user_id": user,
        "payload": dict(payload) if isinstance(payload, Mapping) else payload,
        "includes": dict(includes) if isinstance(includes, Mapping) else includes,
        "direction": direction,
        "created_at": moment,
    }
    return {name: value for name, value in given.items() if value is not None}


# Queries on the journal, in the form that the control plane accepts.


class EntryQuery(TypedDict, total=False):
    """A query on the journal; an entry must match all values."""

    operation: OperationId | OwnName | None
    """Id of an operation."""
    status: int | str | None
    """A status, or a class of them such as "4xx"."""
    method: str | None
    """HTTP method, in any case."""
    path: str | None
    """Part of the address."""
    rule: str | None
    """Name of a scenario, or one of its rules as NAME/0."""
    ended: How | None
    """How the answer ended at the client."""
    since: Instant | None
    """Moment on the world's clock."""


class PageQuery(EntryQuery, total=False):
    """A query on the journal with a limit."""

    limit: int | None
    """Maximum number of entries; the newest ones are kept."""


def serialize_query(query: Mapping[str, Any], known: type[EntryQuery]) -> dict[str, str]:
    """Return a query as text by name, without values that are `None`.

    Raises:
        TypeError: A name is unknown, or `since` is neither a datetime nor text.
        ValueError: `since` is not a moment.
    """
    names = known.__annotations__
    sent = {}
    for name, value in query.items():
        if name not in names:
            hint = did_you_mean(name, names)
            raise TypeError(
                f"The journal has no filter {name!r}.{hint} Filters: {', '.join(names)}."
            )
        if value is not None:
            is_moment = name == "since" or isinstance(value, datetime)
            sent[name] = format_moment(value) if is_moment else str(value)
    return sent


# The options of a world, checked the same way here and on a server elsewhere.


def is_error(warnings: str | None) -> bool | None:
    """Return whether warnings are errors; `None` leaves it to the server.

    Raises:
        ValueError: It is another value.
    """
    if warnings not in {None, "ignore", "error"}:
        raise ValueError(f"warnings is 'ignore' or 'error', not {warnings!r}")
    return None if warnings is None else warnings == "error"


def read_as_of(as_of: Instant | date | None) -> datetime | None:
    """Return the date of a contract; `None` leaves it to the server.

    Raises:
        ValueError: It is not a date, or a datetime without offset from UTC.
    """
    if isinstance(as_of, date) and not isinstance(as_of, datetime):
        as_of = as_of.isoformat()
    try:
        return None if as_of is None else moment(as_of)
    except (TypeError, ValueError) as fault:
        raise ValueError(f"as_of: {fault}; a date is 2026-03-01") from fault


def check_names(names: NamesMode | None) -> NamesMode | None:
    """Return which names a world uses; `None` leaves it to the server.

    Raises:
        ValueError: It is another value.
    """
    if names is not None and names not in NAMES:
        raise ValueError(f"names is {' or '.join(map(repr, NAMES))}, not {names!r}")
    return names


def check_wire(wire: str | None) -> str | None:
    """Return which form answers of a world have; `None` leaves it to the server.

    Raises:
        ValueError: It is no wire.
    """
    return None if wire is None else read_wire(str(wire)).name


_FILE_NAME = re.compile(r"(?:(?!: )[^\n{}])*\.(yaml|yml|json)")
"""The name of a file in place of YAML: no scenario is as short as that."""


def read_scenario(document: Mapping[str, Any] | str | Path, catalog: Catalog) -> Scenario:
    """Return the scenario from a document, its YAML, or a file, which may be named by a text.

    Raises:
        BadScenario: The scenario has faults; each is reported with its place.
        TypeError: The document contains a value that has no JSON form.
    """
    from mock_platform.scenario.document import load, loads  # quick commands do without

    if isinstance(document, str) and _FILE_NAME.fullmatch(document):
        document = Path(document)
    if isinstance(document, Path):
        return load(document, catalog)
    if isinstance(document, str):
        return loads(document, catalog)
    return loads(jsonio.dumps(document), catalog, "scenario.json")


def check_folders(folders: Iterable[Path | str]) -> list[Path]:
    """Return folders of fixtures.

    Raises:
        BadFixtures: One has no fixture files, so that it would change nothing.
    """
    from mock_platform.core.tables.fixtures import find_nothing  # quick commands do without

    paths = [Path(folder) for folder in folders]
    empty = [complaint for complaint in map(find_nothing, paths) if complaint is not None]
    if empty:
        raise BadFixtures(empty)
    return paths


def describe_fields(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of records to be made, as they would arrive over HTTP.

    Raises:
        TypeError: A value has no JSON form.
    """
    plain = {
        name: value.total_seconds() if isinstance(value, timedelta) else value
        for name, value in fields.items()
    }
    return copy_as_json(plain)


def copy_as_json(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of the values, as they would arrive over HTTP.

    Raises:
        TypeError: A value has no JSON form.
    """
    copy: dict[str, Any] = jsonio.loads(jsonio.dumps(parameters))
    return copy


def authentication(
    world: str, found: Mapping[str, Any], scheme: AuthScheme
) -> OAuth1Auth | BearerAuth:
    """Return the authentication that signs requests with the test credentials of a world.

    Raises:
        MissingCredentials: The world has no credentials of this kind, or no longer.
        ValueError: The scheme does not exist.
    """
    from mock_platform.serving.in_process.session import BearerAuth  # requests, which few need

    app, user, bearer = found["app"], found["user"], found["bearer_token"]
    if scheme == "oauth1":
        if app is None or user is None or user["access_token"] is None:
            raise _explain_missing(world, "an app, a user and an access token")
        from mock_platform.serving.in_process.oauth1 import OAuth1Auth

        return OAuth1Auth(
            app["consumer_key"],
            app["consumer_secret"],
            user["access_token"],
            user["access_token_secret"],
        )
    if scheme == "bearer":
        if bearer is None:
            raise _explain_missing(world, "a bearer token")
        return BearerAuth(bearer)
    if scheme == "oauth2":
        if user is None or user["oauth2_access_token"] is None:
            raise _explain_missing(world, "an OAuth 2.0 access token")
        return BearerAuth(user["oauth2_access_token"])
    raise ValueError(f"auth must be 'oauth1', 'oauth2', 'bearer' or None, not {scheme!r}")


def _explain_missing(world: str, what: str) -> MissingCredentials:
    return MissingCredentials(
        f"World {world!r} does not have {what} of its first app and user. Add them to "
        "its state, reset the world, or sign with other credentials."
    )


def write_private(path: Path | str, data: bytes) -> Path:
    """Write a file that only its owner can read, in place of one that was there; return its path.

    Raises:
        OSError: It cannot be written.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    flags = os.O_CREAT | os.O_TRUNC | os.O_WRONLY | getattr(os, "O_BINARY", 0)
    with os.fdopen(os.open(path, flags, 0o600), "wb") as file:
        if path.is_file():  # one that was there may be open to others; a device stays as it is
            path.chmod(0o600)
        file.write(data)
    return path
