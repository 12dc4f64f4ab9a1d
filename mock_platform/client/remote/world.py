"""A world of a server elsewhere."""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import requests

from mock_platform.client.errors import NotInProcess
from mock_platform.client.remote.clock import RemoteClock
from mock_platform.client.remote.control import LONGEST_WAIT, Control, trusted
from mock_platform.client.remote.fixtures import lay
from mock_platform.client.remote.journal import RemoteJournal
from mock_platform.client.remote.state import RemoteState
from mock_platform.client.scenarios import plain, read_scenario
from mock_platform.client.sessions import authentication
from mock_platform.in_process.session import AuthScheme, BasedSession
from mock_platform.scenario.active import UnfiredRule
from mock_platform.scenario.library import UnknownScenario
from mock_platform.scenario.schema import SCENARIO_NAME
from mock_platform.world.clock import UPTIME
from mock_platform.world.names import DEFAULT

if TYPE_CHECKING:
    from flask import Flask
    from flask.testing import FlaskClient


class RemoteWorld:
    """One world of a server elsewhere."""

    def __init__(self, addresses: Mapping[str, Any], http: requests.Session) -> None:
        """`addresses` are those with which `PUT /_mock/worlds/NAME` answers."""
        self._addresses = addresses
        self._http = http
        self._control = Control(self.control_url, http)
        self._clock = RemoteClock(self._control)
        self._journal = RemoteJournal(self._control)
        self._state = RemoteState(self._control)
        self._sessions: list[BasedSession] = []

    @property
    def name(self) -> str:
        """The world's name; `default` for the one that needs no prefix."""
        return str(self._addresses["name"])

    @property
    def base_url(self) -> str:
        """`{base_url}` of the spec, with the world's prefix unless it is the default one."""
        return str(self._addresses["base_url"])

    @property
    def ads_base_url(self) -> str:
        """`{ads_base_url}` of the spec."""
        return str(self._addresses["ads_base_url"])

    @property
    def ads_sandbox_base_url(self) -> str:
        """`{ads_sandbox_base_url}` of the spec."""
        return str(self._addresses["ads_sandbox_base_url"])

    @property
    def control_url(self) -> str:
        """Where the control plane of this world answers."""
        return str(self._addresses["control"])

    @property
    def clock(self) -> RemoteClock:
        """The world's clock."""
        return self._clock

    @property
    def journal(self) -> RemoteJournal:
        """What the world was asked and how it answered."""
        return self._journal

    @property
    def state(self) -> RemoteState:
        """The world's records."""
        return self._state

    @property
    def credentials(self) -> dict[str, Any]:
        """The well-known credentials, in the form of `GET /_mock/credentials`."""
        found: dict[str, Any] = self._control.ask("GET", "/credentials")
        return found

    @property
    def deliveries(self) -> list[dict[str, Any]]:
        """Every attempted webhook delivery, oldest first."""
        found: list[dict[str, Any]] = self._control.ask("GET", "/deliveries")["deliveries"]
        return found

    def wait_for_deliveries(self, seconds: float = 10.0) -> bool:
        """Whether every webhook delivery asked for so far was made, within so many real seconds."""
        end = UPTIME() + seconds
        while True:
            left = end - UPTIME()
            wait = min(max(0, ceil(left)), LONGEST_WAIT)  # a request waits for whole seconds
            query = {"wait": str(wait), "limit": "0"}
            if self._control.ask("GET", "/deliveries", query=query)["idle"]:
                return True
            if left <= LONGEST_WAIT:
                return False

    @property
    def wsgi(self) -> Flask:
        """There is none in this process: raises `NotInProcess`."""
        raise NotInProcess(
            "This sandbox runs elsewhere (MockPlatform.connect, --mock-platform-url): there is no "
            "WSGI application to call in this process. Use base_url or session()."
        )

    @property
    def app(self) -> Flask:
        """There is none, as there is no `wsgi`: raises `NotInProcess`."""
        return self.wsgi

    def session(self, auth: AuthScheme | None = None, *, sandbox: bool = False) -> BasedSession:
        """A session over the network; relative addresses begin at the base address."""
        signs = None if auth is None else authentication(self.name, self.credentials, auth)
        session = BasedSession(self.ads_sandbox_base_url if sandbox else self.base_url)
        session.auth = signs
        session.verify = trusted()
        self._sessions.append(session)
        return session

    def test_client(self, *, sandbox: bool = False) -> FlaskClient:
        """There is none, as there is no `wsgi`: raises `NotInProcess`."""
        return self.wsgi.test_client()

    def activate(self, name: str, /, **parameters: Any) -> None:
        """Switch a scenario on, with values for its parameters; one that is on begins again."""
        path = f"{self._scenario_path(name)}/activate"
        self._control.ask("POST", path, {"parameters": plain(parameters)})

    def deactivate(self, name: str | None = None) -> None:
        """Switch a scenario off, or all of them."""
        path = "/scenarios" if name is None else self._scenario_path(name)
        self._control.ask("POST", f"{path}/deactivate")

    def define(self, document: Mapping[str, Any] | str | Path) -> str:
        """Know a scenario in this world until it is reset: a document, its YAML, or a file.

        Returns its name, for `activate`.
        """
        listed = self._control.ask("GET", "/operations")["operations"]
        scenario = read_scenario(document, [operation["id"] for operation in listed])
        self._control.ask("PUT", f"/scenarios/{scenario.name}", scenario.document)
        return scenario.name

    @property
    def scenarios(self) -> list[dict[str, Any]]:
        """Every known scenario, in the form of `GET /_mock/scenarios`."""
        found: list[dict[str, Any]] = self._control.ask("GET", "/scenarios")["scenarios"]
        return found

    def unfired_expectations(self) -> list[UnfiredRule]:
        """Rules with `expect: fired` of active scenarios that never acted."""
        return [
            UnfiredRule(scenario["name"], rule["rule"], rule["matched"], rule.get("refused", 0))
            for scenario in self.scenarios
            if scenario["active"]
            for rule in scenario["rules"]
            if rule["expected"] and not rule["fired"]
        ]

    def coverage(self) -> dict[str, Any]:
        """How much of the contract clients exercised here; of all worlds for the default one."""
        document: dict[str, Any] = self._control.ask("GET", "/coverage")
        return document

    def use_fixtures(self, *folders: Path | str) -> None:
        """Begin again with more fixtures: folders laid over the server's own, the last on top."""
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
            lay(RemoteState(Control(made["control"], self._http)), self.clock.now(), folders)
            self._control.ask("DELETE", f"/worlds/{self.name}")
            again = {"from": changed, "seed": seed}
            self._control.ask("PUT", f"/worlds/{self.name}", again)
        finally:
            self._control.ask("DELETE", f"/worlds/{changed}")

    def reset(self) -> None:
        """The world as it started: fixtures, start-up scenarios, clock, ids; an empty journal."""
        self._control.ask("POST", "/reset")

    def close_sessions(self) -> None:
        """Close the connections of all sessions that were asked for."""
        while self._sessions:
            self._sessions.pop().close()

    def _scenario_path(self, name: str) -> str:
        if re.fullmatch(SCENARIO_NAME, name) is None:  # it could be the address of something else
            raise UnknownScenario(name, [scenario["name"] for scenario in self.scenarios])
        return f"/scenarios/{name}"
