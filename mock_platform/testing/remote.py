"""Worlds of a server elsewhere, worked through its control plane: the face of those in Python.

Names and arguments are those of `mock_platform.faces`; what cannot be had over an address says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

import requests

from mock_platform.faces import Instant, MissingCredentials, moment
from mock_platform.scenario.engine import Unfired
from mock_platform.scenario.source import read
from mock_platform.transport import AuthScheme, BearerAuth, OAuth1Auth
from mock_platform.world.clock import parse_instant, wire_millis

Record = dict[str, Any]

_SECONDS = 30


class Refused(ValueError):
    """The control plane refused something; the message is what it said."""

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class NotInProcess(RuntimeError):
    """Something was asked for that only a sandbox in this process has."""


class Control:
    """The control plane of one world."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._session = requests.Session()
        self._session.trust_env = False

    def ask(self, method: str, path: str, body: Any = None, **query: Any) -> Any:
        """What a route answers; `None` for nothing.

        Raises:
            Refused: It is an error.
            requests.ConnectionError: Nobody answers there.
        """
        sent = {name: value for name, value in query.items() if value is not None}
        url = f"{self._url}{path}"
        answer = self._session.request(method, url, json=body, params=sent, timeout=_SECONDS)
        if not answer.ok:
            raise Refused(_detail(answer), answer.status_code)
        return answer.json() if answer.content else None

    def close(self) -> None:
        """Let the connection go."""
        self._session.close()


class RemoteSession(requests.Session):
    """A session whose relative addresses begin at a base address."""

    def __init__(self, base_url: str) -> None:
        super().__init__()
        self.base_url = base_url
        self.trust_env = False

    def request(
        self, method: str | bytes, url: str | bytes, *args: Any, **kwargs: Any
    ) -> requests.Response:
        """Send a request; `/2/…` is joined to the base address."""
        if isinstance(url, str) and url.startswith("/"):
            url = self.base_url + url
        return super().request(method, url, *args, **kwargs)


class RemoteClock:
    """The clock of a world."""

    def __init__(self, control: Control) -> None:
        self._control = control

    def now(self) -> datetime:
        """The present moment of the world, UTC."""
        return parse_instant(self._control.ask("GET", "/clock")["now"])

    @property
    def frozen(self) -> bool:
        """Whether time stands still."""
        frozen: bool = self._control.ask("GET", "/clock")["frozen"]
        return frozen

    def freeze(self, to: Instant | None = None) -> datetime:
        """Stand still, now or at a moment; gives the moment."""
        return self._put(action="freeze", **({} if to is None else {"to": wire(to)}))

    def travel(self, to: Instant) -> datetime:
        """Jump to a moment; a running clock runs on from there."""
        return self._put(action="travel", to=wire(to))

    def advance(
        self, *, days: float = 0, hours: float = 0, minutes: float = 0, seconds: float = 0
    ) -> datetime:
        """Move by so much (negative: back); gives the new moment."""
        step = ((days * 24 + hours) * 60 + minutes) * 60 + seconds
        return self._put(action="advance", seconds=step)

    def resume(self) -> datetime:
        """Run on from the present moment."""
        return self._put(action="resume")

    def _put(self, **body: Any) -> datetime:
        return parse_instant(self._control.ask("PUT", "/clock", body)["now"])


@dataclass(frozen=True, slots=True)
class RemoteEntry:
    """An entry of the journal, credentials redacted; `changes` without the records themselves."""

    id: str
    at: datetime
    world: str
    method: str
    url: str
    status: int
    milliseconds: float
    operation: str | None
    caller: dict[str, Any] | None
    rule: dict[str, Any] | None
    near_misses: list[dict[str, Any]]
    changes: list[dict[str, Any]]
    assumptions: list[str]
    warnings: list[str]
    diagnosis: dict[str, Any] | None
    traceback: str | None
    request_headers: list[tuple[str, str]]
    request_body: bytes
    response_headers: list[tuple[str, str]]
    response_body: bytes
    document: dict[str, Any]

    @classmethod
    def read(cls, document: dict[str, Any]) -> RemoteEntry:
        """The entry of a document of the control plane."""
        request, response = document["request"], document["response"]
        plain: dict[str, Any] = {"traceback": None} | {
            name: document[name]
            for name in cls.__dataclass_fields__
            if name in document and name != "at"
        }
        return cls(
            **plain,
            at=parse_instant(document["at"]),
            request_headers=[(name, value) for name, value in request["headers"]],
            request_body=request["body"]["text"].encode(),
            response_headers=[(name, value) for name, value in response["headers"]],
            response_body=response["body"]["text"].encode(),
            document=document,
        )

    def as_json(self) -> dict[str, Any]:
        """The entry as the control plane gave it."""
        return self.document


class RemoteJournal:
    """What a world was asked and how it answered."""

    def __init__(self, control: Control) -> None:
        self._control = control

    def find(self, *, since: Instant | None = None, **query: Any) -> list[RemoteEntry]:
        """Entries that fit everything given, oldest first; with `limit`, the newest so many."""
        after = None if since is None else wire(since)
        found = self._control.ask("GET", "/requests", since=after, **query)["requests"]
        return [RemoteEntry.read(entry) for entry in found]

    def count(self, *, since: Instant | None = None, **query: Any) -> int:
        """How many entries fit everything given."""
        after = None if since is None else wire(since)
        count: int = self._control.ask("GET", "/requests/count", since=after, **query)["count"]
        return count

    def get(self, request_id: str) -> RemoteEntry | None:
        """The entry that `X-Mock-Request-Id` of an answer names, if it is still kept."""
        try:
            return RemoteEntry.read(self._control.ask("GET", f"/requests/{request_id}"))
        except Refused as refused:
            if refused.status != 404:
                raise
            return None

    def clear(self) -> None:
        """Forget everything."""
        self._control.ask("DELETE", "/requests")

    def __iter__(self) -> Iterator[RemoteEntry]:
        return iter(self.find())

    def __len__(self) -> int:
        return self.count()


class RemoteTable:
    """The records of one table."""

    def __init__(self, control: Control, name: str) -> None:
        self._control = control
        self.name = name

    def all(self) -> list[Record]:
        """Every record, in the order in which they came."""
        records: list[Record] = self._control.ask("GET", f"/state/{self.name}")["records"]
        return records

    def get(self, key: str) -> Record | None:
        """The record under a key, or `None`."""
        try:
            record: Record = self._control.ask("GET", self._path(key))
        except Refused as refused:
            if refused.status != 404:
                raise
        else:
            return record
        self.all()  # refused if it is the table that does not exist
        return None

    def put(self, record: Record, *, key: str | None = None, unchecked: bool = False) -> Record:
        """Create or replace a record; gives it as stored. Without `key` its `id` is taken."""
        named = record.get("id") if key is None else key
        if named is None:
            raise Refused(f"a record of {self.name} without id needs a key: put(record, key=…)")
        return self._send("PUT", str(named), record, unchecked=unchecked)

    def patch(self, key: str, changes: Record, *, unchecked: bool = False) -> Record:
        """Merge changes into a record (JSON merge patch: null takes a field out)."""
        return self._send("PATCH", key, changes, unchecked=unchecked)

    def delete(self, key: str) -> None:
        """Take a record out for good, whatever refers to it."""
        self._control.ask("DELETE", self._path(key))

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and self.get(key) is not None

    def __iter__(self) -> Iterator[Record]:
        return iter(self.all())

    def __len__(self) -> int:
        return len(self.all())

    def _send(self, method: str, key: str, body: Record, *, unchecked: bool) -> Record:
        flag = "true" if unchecked else None
        record: Record = self._control.ask(method, self._path(key), body, unchecked=flag)
        return record

    def _path(self, key: str) -> str:
        return f"/state/{self.name}/{quote(key, safe='')}"


class RemoteState:
    """All tables of one world by name."""

    def __init__(self, control: Control) -> None:
        self._control = control

    def __getitem__(self, name: str) -> RemoteTable:
        return RemoteTable(self._control, name)

    def dump(self) -> dict[str, Any]:
        """The whole world as one document."""
        document: dict[str, Any] = self._control.ask("GET", "/state")
        return document

    def load(self, document: Mapping[str, Any], *, unchecked: bool = False) -> None:
        """Make the world what a document says."""
        self._control.ask("PUT", "/state", document, unchecked="true" if unchecked else None)


class RemoteWorld:
    """One world of a server elsewhere."""

    def __init__(self, addresses: Mapping[str, Any]) -> None:
        """`addresses` are those with which `PUT /_mock/worlds/NAME` answers."""
        self.name: str = addresses["name"]
        self.base_url: str = addresses["base_url"]
        self.ads_base_url: str = addresses["ads_base_url"]
        self.ads_sandbox_base_url: str = addresses["ads_sandbox_base_url"]
        self.control_url: str = addresses["control"]
        self._control = Control(self.control_url)
        self.clock = RemoteClock(self._control)
        self.journal = RemoteJournal(self._control)
        self.state = RemoteState(self._control)
        self._sessions: list[RemoteSession] = []

    @property
    def wsgi(self) -> Any:
        """There is none.

        Raises:
            NotInProcess: Always.
        """
        raise NotInProcess(
            "With --mock-platform-url the sandbox runs elsewhere: there is no WSGI application to "
            "call in this process. Use mock_platform.base_url or mock_platform_session."
        )

    @property
    def credentials(self) -> dict[str, Any]:
        """The well-known credentials."""
        found: dict[str, Any] = self._control.ask("GET", "/credentials")
        return found

    @property
    def deliveries(self) -> list[dict[str, Any]]:
        """Every attempted webhook delivery, oldest first."""
        found: list[dict[str, Any]] = self._control.ask("GET", "/deliveries")["deliveries"]
        return found

    @property
    def scenarios(self) -> list[dict[str, Any]]:
        """Every known scenario."""
        found: list[dict[str, Any]] = self._control.ask("GET", "/scenarios")["scenarios"]
        return found

    def session(self, auth: AuthScheme | None = None, *, sandbox: bool = False) -> RemoteSession:
        """A session over the network; relative addresses begin at the base address.

        Raises:
            MissingCredentials: The world holds none of that kind (any more).
            ValueError: `auth` is something else.
        """
        session = RemoteSession(self.ads_sandbox_base_url if sandbox else self.base_url)
        self._sessions.append(session)
        if auth is None:
            return session
        found = self.credentials
        app, user, bearer = found["app"], found["user"], found["bearer_token"]
        if auth == "bearer" and bearer is not None:
            session.auth = BearerAuth(bearer)
        elif auth == "oauth1" and app and user and user["access_token"]:
            session.auth = OAuth1Auth(
                app["consumer_key"],
                app["consumer_secret"],
                user["access_token"],
                user["access_token_secret"],
            )
        elif auth in {"bearer", "oauth1"}:
            raise MissingCredentials(f"World {self.name!r} holds no credentials for {auth}.")
        else:
            raise ValueError(f"auth is 'oauth1', 'bearer' or None, not {auth!r}")
        return session

    def activate(self, name: str, /, **parameters: Any) -> None:
        """Switch a scenario on, with values for its parameters; one that is on begins anew."""
        self._control.ask("POST", f"/scenarios/{name}/activate", {"parameters": parameters})

    def deactivate(self, name: str | None = None) -> None:
        """Switch a scenario off, or all of them."""
        path = "/scenarios/deactivate" if name is None else f"/scenarios/{name}/deactivate"
        self._control.ask("POST", path)

    def define(self, document: Mapping[str, Any] | str | Path) -> str:
        """Know a scenario in this world until it is reset; gives its name."""
        if isinstance(document, Path):
            taken = read(document, document.read_bytes()).data
        elif isinstance(document, str):
            taken = read(Path("scenario.yaml"), document.encode()).data
        else:
            taken = document
        name: str = taken["name"]
        self._control.ask("PUT", f"/scenarios/{name}", taken)
        return name

    def unfired_expectations(self) -> list[Unfired]:
        """Rules with `expect: fired` of active scenarios that never acted."""
        found = []
        for scenario in self.scenarios:
            silent = [rule for rule in scenario["rules"] if not rule["fired"]]
            if not scenario["active"] or not silent:
                continue
            whole = self._control.ask("GET", f"/scenarios/{scenario['name']}")
            rules = whole["document"]["rules"]
            found += [
                Unfired(scenario["name"], rule["rule"], rule["matched"])
                for rule in silent
                if rules[rule["rule"]].get("expect") == "fired"
            ]
        return found

    def coverage(self) -> dict[str, Any]:
        """What this world met of the contract."""
        document: dict[str, Any] = self._control.ask("GET", "/coverage")
        return document

    def reset(self) -> None:
        """The world as it started."""
        self._control.ask("POST", "/reset")

    def close_sessions(self) -> None:
        """Let the connections go of all sessions that were asked for."""
        while self._sessions:
            self._sessions.pop().close()

    def close(self) -> None:
        """Let all connections go."""
        self.close_sessions()
        self._control.close()


class RemotePlatform(RemoteWorld):
    """A server elsewhere; by itself the face of its default world."""

    def __init__(self, url: str) -> None:
        root = url.rstrip("/")
        control = Control(f"{root}/_mock")
        worlds = control.ask("GET", "/worlds")["worlds"]
        control.close()
        super().__init__(next(world for world in worlds if world["name"] == "default"))

    def world(
        self, name: str, *, source: str | None = None, seed: int | None = None
    ) -> RemoteWorld:
        """Another world, made if there is none of that name: afresh, or as a copy of `source`."""
        wanted = {"from": source, "seed": seed}
        body = {key: value for key, value in wanted.items() if value is not None}
        return RemoteWorld(self._control.ask("PUT", f"/worlds/{name}", body))

    def drop_world(self, name: str) -> None:
        """Remove a world with all that is in it."""
        self._control.ask("DELETE", f"/worlds/{name}")

    @property
    def worlds(self) -> list[str]:
        """The names of all worlds."""
        return [world["name"] for world in self._control.ask("GET", "/worlds")["worlds"]]


def wire(value: Instant) -> str:
    """A moment as the control plane takes it.

    Raises:
        ValueError: It is none, or a datetime without offset from UTC.
    """
    return wire_millis(moment(value).astimezone(UTC))


def _detail(answer: requests.Response) -> str:
    try:
        detail = answer.json()["detail"]
    except (ValueError, KeyError, TypeError):
        detail = answer.text[:500]
    return f"{answer.request.method} {answer.url}: {answer.status_code}: {detail}"
