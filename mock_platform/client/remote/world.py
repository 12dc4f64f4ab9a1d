"""A world on a server elsewhere: its clock, and the world itself.

Commands use it in loops of shells: what needs the operations or Flask is imported in its method.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import requests

from mock_platform.client.arguments import count_seconds, describe_event, format_moment
from mock_platform.client.remote.control import LONGEST_WAIT_SECONDS, Control, read_authority
from mock_platform.client.remote.journal import RemoteJournal
from mock_platform.client.scenarios import copy_as_json, read_scenario
from mock_platform.core.auth.consent_requests import choose_answer, is_address
from mock_platform.core.errors import NotInProcess, UnknownScenario
from mock_platform.scenario.name_or_file import SCENARIO_NAME
from mock_platform.scenario.unfired import UnfiredRule
from mock_platform.world.clock import UPTIME, Instant, parse_instant
from mock_platform.world.names import DEFAULT

if TYPE_CHECKING:
    from flask import Flask
    from flask.testing import FlaskClient

    from mock_platform.client.remote.state import RemoteState
    from mock_platform.client.remote.streams import RemoteStreams
    from mock_platform.serving.in_process.session import AuthScheme, BasedSession


# The clock of a world on a server elsewhere.


class RemoteClock:
    """The clock of a world in this process."""

    def __init__(self, control: Control) -> None:
        self._control = control

    def now(self) -> datetime:
        """Returns the current moment of the world, in UTC."""
        return parse_instant(self._control.ask("GET", "/clock")["now"])

    @property
    def frozen(self) -> bool:
        """Whether the clock is stopped."""
        frozen: bool = self._control.ask("GET", "/clock")["frozen"]
        return frozen

    def freeze(self, to: Instant | None = None) -> datetime:
        """Stop the clock, now or at a moment; returns the moment."""
        return self._put(action="freeze", **({} if to is None else {"to": format_moment(to)}))

    def travel(self, to: Instant) -> datetime:
        """Set the clock to a moment and return it; a running clock continues from there."""
        return self._put(action="travel", to=format_moment(to))

    def advance(
        self, *, days: float = 0, hours: float = 0, minutes: float = 0, seconds: float = 0
    ) -> datetime:
        """Move the clock by a duration (negative: back); returns the new moment."""
        step = count_seconds(days=days, hours=hours, minutes=minutes, seconds=seconds)
        return self._put(action="advance", seconds=step)

    def resume(self) -> datetime:
        """Start the clock again at its current moment; returns the moment."""
        return self._put(action="resume")

    def _put(self, **body: Any) -> datetime:
        return parse_instant(self._control.ask("PUT", "/clock", body)["now"])


class RemoteWorld:
    """One world on a server elsewhere."""

    def __init__(self, addresses: Mapping[str, Any], http: requests.Session) -> None:
        """`addresses` is the answer of `PUT /_mock/worlds/NAME`."""
        self._addresses = addresses
        self._http = http
        self._control = Control(self.control_url, http)
        self._clock = RemoteClock(self._control)
        self._journal = RemoteJournal(self._control)
        self._sessions: list[BasedSession] = []

    @property
    def name(self) -> str:
        """The name of the world; `default` for the one without prefix."""
        return str(self._addresses["name"])

    @property
    def base_url(self) -> str:
        """`{base_url}` of the specification, with the prefix of the world, if it has one."""
        return str(self._addresses["base_url"])

    @property
    def ads_base_url(self) -> str:
        """`{ads_base_url}` of the specification."""
        return str(self._addresses["ads_base_url"])

    @property
    def ads_sandbox_base_url(self) -> str:
        """`{ads_sandbox_base_url}` of the specification."""
        return str(self._addresses["ads_sandbox_base_url"])

    @property
    def control_url(self) -> str:
        """The address of this world's control plane."""
        return str(self._addresses["control"])

    @property
    def clock(self) -> RemoteClock:
        """The clock of the world."""
        return self._clock

    @property
    def journal(self) -> RemoteJournal:
        """The journal of the world."""
        return self._journal

    @property
    def state(self) -> RemoteState:
        """The records of the world."""
        from mock_platform.client.remote.state import RemoteState

        return RemoteState(self._control)

    @property
    def credentials(self) -> dict[str, Any]:
        """The published test credentials, in the form of `GET /_mock/credentials`."""
        found: dict[str, Any] = self._control.ask("GET", "/credentials")
        return found

    @property
    def streams(self) -> RemoteStreams:
        """The open streams of the world."""
        from mock_platform.client.remote.streams import RemoteStreams

        return RemoteStreams(self._control)

    def emit(
        self,
        event_type: str,
        *,
        user: str | None = None,
        payload: Mapping[str, Any] | None = None,
        includes: Mapping[str, Any] | None = None,
        direction: str | None = None,
        created_at: Instant | None = None,
    ) -> dict[str, Any]:
        """Let something happen to a user; returns the answer of `POST /_mock/events`."""
        given = describe_event(event_type, user, payload, includes, direction, created_at)
        answer: dict[str, Any] = self._control.ask("POST", "/events", given)
        return answer

    def authorize(self, asked: str, *, user: str | None = None, deny: bool = False) -> str:
        """Let a user answer an app without the pages; returns the verifier or the redirect."""
        name = "url" if is_address(asked) else "oauth_token"
        given: dict[str, Any] = {name: asked, "deny": deny}
        if user is not None:
            given["user"] = user
        return choose_answer(asked, self._control.ask("POST", "/oauth/approve", given), deny=deny)

    @property
    def deliveries(self) -> list[dict[str, Any]]:
        """Every attempted webhook delivery and every line of a stream, oldest first."""
        found: list[dict[str, Any]] = self._control.ask("GET", "/deliveries")["deliveries"]
        return found

    def wait_for_deliveries(self, seconds: float = 10.0) -> bool:
        """Wait up to `seconds` of real time; returns whether all requested deliveries were made."""
        end = UPTIME() + seconds
        while True:
            # The server waits, not this client, so there are no polls in between. It waits for a
            # limited time in one request; a longer wait is several requests.
            left = end - UPTIME()
            wait = min(
                max(0, ceil(left)), LONGEST_WAIT_SECONDS
            )  # a request waits for whole seconds
            query = {"wait": str(wait), "limit": "0"}
            if self._control.ask("GET", "/deliveries", query=query)["idle"]:
                return True
            if left <= LONGEST_WAIT_SECONDS:
                return False

    @property
    def wsgi(self) -> Flask:
        """Always raises `NotInProcess`: the WSGI application is in another process."""
        raise NotInProcess(
            "This sandbox runs elsewhere (MockPlatform.connect, "
            "--mock-platform-url), so this process has no WSGI application to call. "
            "Use base_url or session()."
        )

    @property
    def app(self) -> Flask:
        """Always raises `NotInProcess`, like `wsgi`."""
        return self.wsgi

    def intercept(
        self, *, allow_hosts: Collection[str] = (), hosts: Collection[str] = ()
    ) -> AbstractContextManager[Mapping[str, str]]:
        """Always raises `NotInProcess`: the proxy belongs to the process of the sandbox."""
        raise NotInProcess(
            "This sandbox runs elsewhere, so its proxy does as well: start it with `mock-platform "
            "serve --intercept`, which prints the variables to set."
        )

    def session(
        self,
        auth: AuthScheme | None = None,
        *,
        sandbox: bool = False,
        passthrough: Sequence[str] = (),
    ) -> BasedSession:
        """Returns a session over the network; relative addresses start at the base address."""
        from mock_platform.client.sessions import authentication
        from mock_platform.serving.in_process.session import BasedSession

        signs = None if auth is None else authentication(self.name, self.credentials, auth)
        base = self.ads_sandbox_base_url if sandbox else self.base_url
        session = BasedSession(base, passthrough)
        session.auth = signs
        session.verify = read_authority()
        self._sessions.append(session)
        return session

    def test_client(self, *, sandbox: bool = False) -> FlaskClient:
        """Always raises `NotInProcess`, like `wsgi`."""
        return self.wsgi.test_client()

    def activate(self, name: str, /, **parameters: Any) -> None:
        """Activate a scenario, with values for its parameters; an active one starts again."""
        path = f"{self._scenario_path(name)}/activate"
        self._control.ask("POST", path, {"parameters": copy_as_json(parameters)})

    def deactivate(self, name: str | None = None) -> None:
        """Deactivate a scenario, or all scenarios."""
        path = "/scenarios" if name is None else self._scenario_path(name)
        self._control.ask("POST", f"{path}/deactivate")

    def define(self, document: Mapping[str, Any] | str | Path) -> str:
        """Make a scenario known in this world until its reset: a document, its YAML, or a file.

        Returns its name, for `activate`.
        """
        from mock_platform.scenario.catalog import Catalog

        listed = self._control.ask("GET", "/operations")["operations"]
        scenario = read_scenario(document, Catalog.read(listed))
        self._control.ask("PUT", f"/scenarios/{scenario.name}", scenario.document)
        return scenario.name

    @property
    def scenarios(self) -> list[dict[str, Any]]:
        """Every known scenario, in the form of `GET /_mock/scenarios`."""
        found: list[dict[str, Any]] = self._control.ask("GET", "/scenarios")["scenarios"]
        return found

    def unfired_expectations(self) -> list[UnfiredRule]:
        """Returns the rules with `expect: fired` of active scenarios that never acted."""
        return [
            UnfiredRule(scenario["name"], rule["rule"], rule["matched"], rule.get("refused", 0))
            for scenario in self.scenarios
            if scenario["active"]
            for rule in scenario["rules"]
            if rule["expected"] and not rule["fired"]
        ]

    def coverage(self, only: str | None = None) -> dict[str, Any]:
        """Returns how much of the contract was exercised here; the default world counts all.

        `only` restricts it to operations whose ids match patterns, such as `line_items.*,oauth*`.
        """
        query = {"only": only}
        document: dict[str, Any] = self._control.ask("GET", "/coverage", query=query)
        return document

    def warnings(self) -> dict[str, Any]:
        """Returns what was ignored in requests here; the default world counts all."""
        document: dict[str, Any] = self._control.ask("GET", "/warnings")
        return document

    def use_fixtures(self, *folders: Path | str) -> None:
        """Start the world again with more folders of fixtures; the last one wins."""
        if self.name == DEFAULT:
            raise NotInProcess(
                "The default world of a server elsewhere starts with the fixtures of "
                "that server. Start the server with --fixtures DIR, or use another "
                "world."
            )
        from mock_platform.client.remote.fixtures import apply_fixtures
        from mock_platform.client.remote.state import RemoteState

        self.reset()
        listed = self._control.ask("GET", "/worlds")["worlds"]
        seed = next(world["seed"] for world in listed if world["name"] == self.name)
        # A reset returns to the origin of a world. So the world is made again, from a changed copy.
        changed = f"{self.name[:54]}-fixtures"
        made = self._control.ask("PUT", f"/worlds/{changed}", {"from": self.name, "seed": seed})
        try:
            apply_fixtures(
                RemoteState(Control(made["control"], self._http)), self.clock.now(), folders
            )
            self._control.ask("DELETE", f"/worlds/{self.name}")
            again = {"from": changed, "seed": seed}
            self._control.ask("PUT", f"/worlds/{self.name}", again)
        finally:
            self._control.ask("DELETE", f"/worlds/{changed}")

    def reset(self) -> None:
        """Return the world to its start: fixtures, start-up scenarios, clock, ids, no journal."""
        self._control.ask("POST", "/reset")

    def close_sessions(self) -> None:
        """Close the connections of all sessions that `session` returned."""
        while self._sessions:
            self._sessions.pop().close()

    def _scenario_path(self, name: str) -> str:
        if re.fullmatch(SCENARIO_NAME, name) is None:  # it could be the address of something else
            raise UnknownScenario(name, [scenario["name"] for scenario in self.scenarios])
        return f"/scenarios/{name}"
