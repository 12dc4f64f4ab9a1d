"""Worlds of a server elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil
from pathlib import Path
from typing import Any

import requests

from mock_platform.client.errors import MissingCredentials, NotInProcess
from mock_platform.client.local import Instant
from mock_platform.client.remote.clock import RemoteClock
from mock_platform.client.remote.control import LONGEST_WAIT, Control, connect, trusted, wire
from mock_platform.client.remote.fixtures import lay
from mock_platform.client.remote.journal import RemoteJournal
from mock_platform.client.remote.state import RemoteState
from mock_platform.scenario.engine import Unfired
from mock_platform.scenario.source import read
from mock_platform.transport import AuthScheme, BasedSession, BearerAuth, OAuth1Auth
from mock_platform.world.worlds import DEFAULT


class RemoteWorld:
    """One world of a server elsewhere."""

    def __init__(self, addresses: Mapping[str, Any], http: requests.Session) -> None:
        """`addresses` are those with which `PUT /_mock/worlds/NAME` answers."""
        self.name: str = addresses["name"]
        self.base_url: str = addresses["base_url"]
        self.ads_base_url: str = addresses["ads_base_url"]
        self.ads_sandbox_base_url: str = addresses["ads_sandbox_base_url"]
        self.control_url: str = addresses["control"]
        self._http = http
        self._control = Control(self.control_url, http)
        self.clock = RemoteClock(self._control)
        self.journal = RemoteJournal(self._control)
        self.state = RemoteState(self._control)
        self._sessions: list[BasedSession] = []

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

    def test_client(self, *, sandbox: bool = False) -> Any:
        """There is none, as there is no `wsgi`.

        Raises:
            NotInProcess: Always.
        """
        return self.wsgi.test_client(sandbox)

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

    def wait_for_deliveries(self, seconds: float = 10.0) -> bool:
        """Whether every webhook delivery asked for so far was made, within so many real seconds.

        Those of all worlds of the server count; a minute is the most.
        """
        waited = min(ceil(seconds), LONGEST_WAIT)
        idle: bool = self._control.ask("GET", "/deliveries", wait=waited, limit=0)["idle"]
        return idle

    @property
    def scenarios(self) -> list[dict[str, Any]]:
        """Every known scenario."""
        found: list[dict[str, Any]] = self._control.ask("GET", "/scenarios")["scenarios"]
        return found

    def session(self, auth: AuthScheme | None = None, *, sandbox: bool = False) -> BasedSession:
        """A session over the network; relative addresses begin at the base address.

        Raises:
            MissingCredentials: The world holds none of that kind (any more).
            ValueError: `auth` is something else.
        """
        session = BasedSession(self.ads_sandbox_base_url if sandbox else self.base_url)
        session.verify = trusted()
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
        return [
            Unfired(scenario["name"], rule["rule"], rule["matched"], rule.get("refused", 0))
            for scenario in self.scenarios
            if scenario["active"]
            for rule in scenario["rules"]
            if rule["expected"] and not rule["fired"]
        ]

    def coverage(self) -> dict[str, Any]:
        """What this world met of the contract."""
        document: dict[str, Any] = self._control.ask("GET", "/coverage")
        return document

    def use_fixtures(self, *folders: Path | str) -> None:
        """Begin anew with more fixtures: folders laid over the server's own, the last on top.

        Raises:
            BadFixtures: Something is wrong with them.
            NotInProcess: It is the default world, which begins as its server was told to.
        """
        if self.name == DEFAULT:
            raise NotInProcess(
                "The default world of a server elsewhere begins with the fixtures of that server. "
                "Start it with --fixtures DIR, or use a world of your own."
            )
        self.reset()
        listed = self._control.ask("GET", "/worlds")["worlds"]
        seed = next(world["seed"] for world in listed if world["name"] == self.name)
        # A reset returns to what a world was made from: it is made again, from a changed copy.
        changed = f"{self.name[:54]}-fixtures"
        made = self._control.ask("PUT", f"/worlds/{changed}", {"from": self.name, "seed": seed})
        try:
            lay(RemoteWorld(made, self._http).state, self.clock.now(), map(Path, folders))
            self._control.ask("DELETE", f"/worlds/{self.name}")
            again = {"from": changed, "seed": seed}
            self._control.ask("PUT", f"/worlds/{self.name}", again)
        finally:
            self._control.ask("DELETE", f"/worlds/{changed}")

    def reset(self) -> None:
        """The world as it started."""
        self._control.ask("POST", "/reset")

    def close_sessions(self) -> None:
        """Let the connections go of all sessions that were asked for."""
        while self._sessions:
            self._sessions.pop().close()


class RemotePlatform(RemoteWorld):
    """A server elsewhere; by itself the face of its default world."""

    def __init__(self, url: str) -> None:
        http = connect()
        worlds = Control(f"{url.rstrip('/')}/_mock", http).ask("GET", "/worlds")["worlds"]
        super().__init__(next(world for world in worlds if world["name"] == DEFAULT), http)

    def world(
        self,
        name: str,
        *,
        source: str | None = None,
        seed: int | None = None,
        freeze: Instant | None = None,
    ) -> RemoteWorld:
        """Another world, made if there is none of that name: afresh, or as a copy of `source`.

        With `freeze` its clock stands still there, from the beginning and after each reset.
        """
        at = None if freeze is None else wire(freeze)
        wanted = {"from": source, "seed": seed, "freeze": at}
        body = {key: value for key, value in wanted.items() if value is not None}
        return RemoteWorld(self._control.ask("PUT", f"/worlds/{name}", body), self._http)

    def drop_world(self, name: str) -> None:
        """Remove a world with all that is in it."""
        self._control.ask("DELETE", f"/worlds/{name}")

    @property
    def worlds(self) -> list[str]:
        """The names of all worlds."""
        return [world["name"] for world in self._control.ask("GET", "/worlds")["worlds"]]

    def close(self) -> None:
        """Let all connections go."""
        self.close_sessions()
        self._http.close()
