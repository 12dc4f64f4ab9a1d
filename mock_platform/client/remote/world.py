"""A server elsewhere, its worlds and their clocks, through the control plane.

Commands use it in loops of shells: what needs the operations or Flask is imported in its method.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import requests

from mock_platform.client.arguments import (
    check_folders,
    copy_as_json,
    format_moment,
    read_scenario,
    write_private,
)
from mock_platform.client.interface import PlatformFace, WorldFace
from mock_platform.client.remote.control import (
    LONGEST_WAIT_SECONDS,
    Control,
    connect,
    read_authority,
    split_address,
)
from mock_platform.client.remote.journal import RemoteJournal
from mock_platform.client.world_parts import ClockFace
from mock_platform.core.auth.tester_access import choose_answer, is_address
from mock_platform.core.errors import NotInProcess, UnknownScenario
from mock_platform.names import OwnName
from mock_platform.scenario.outline import ANY_NAME, UnfiredRule
from mock_platform.world.clock import UPTIME, Happening, Instant, parse_instant
from mock_platform.world.names import DEFAULT, UnknownWorld, check_name, is_name

if TYPE_CHECKING:
    from flask import Flask
    from httpx import AsyncClient

    from mock_platform.client.interface import Authentication
    from mock_platform.client.remote.state import RemoteState
    from mock_platform.client.remote.world_parts import (
        RemoteSnapshots,
        RemoteStreams,
        RemoteTransitions,
    )
    from mock_platform.names import ScenarioName
    from mock_platform.serving.in_process.asgi import AsgiApplication
    from mock_platform.serving.in_process.session import BasedSession
    from mock_platform.verification.costs.document import By


class RemoteClock(ClockFace):
    """The clock of a world on a server elsewhere."""

    def __init__(self, control: Control) -> None:
        self._control = control

    def now(self) -> datetime:
        return parse_instant(self._control.ask("GET", "/clock")["now"])

    @property
    def frozen(self) -> bool:
        frozen: bool = self._control.ask("GET", "/clock")["frozen"]
        return frozen

    def freeze(self, to: Instant | None = None) -> datetime:
        return self._put(action="freeze", **({} if to is None else {"to": format_moment(to)}))

    def travel(self, to: Instant) -> datetime:
        return self._put(action="travel", to=to if to == "now" else format_moment(to))

    def _advance(self, seconds: float) -> datetime:
        return self._put(action="advance", seconds=seconds)

    def _advance_to_next(self) -> list[Happening]:
        answer = self._control.ask("PUT", "/clock", {"action": "advance", "to": "next"})
        return [
            Happening(parse_instant(each["at"]), each["kind"], each.get("table"), each["id"])
            for each in answer["happened"]
        ]

    def resume(self) -> datetime:
        return self._put(action="resume")

    def _put(self, **body: Any) -> datetime:
        return parse_instant(self._control.ask("PUT", "/clock", body)["now"])


class RemoteWorld(WorldFace):
    """One world on a server elsewhere."""

    def __init__(self, addresses: Mapping[str, str], http: requests.Session) -> None:
        """`addresses` is the answer of `PUT /_mock/worlds/NAME`."""
        self._addresses = addresses
        self._http = http
        self._control = Control(self.control_url, http)
        self._clock = RemoteClock(self._control)
        self._journal = RemoteJournal(self._control)
        self._sessions: list[BasedSession] = []

    @property
    def clock(self) -> RemoteClock:
        return self._clock

    @property
    def journal(self) -> RemoteJournal:
        return self._journal

    @property
    def state(self) -> RemoteState:
        from mock_platform.client.remote.state import RemoteState

        return RemoteState(self._control)

    @property
    def credentials(self) -> dict[str, Any]:
        found: dict[str, Any] = self._control.ask("GET", "/credentials")
        return found

    @property
    def streams(self) -> RemoteStreams:
        from mock_platform.client.remote.world_parts import RemoteStreams

        return RemoteStreams(self._control)

    @property
    def snapshots(self) -> RemoteSnapshots:
        from mock_platform.client.remote.world_parts import RemoteSnapshots

        return RemoteSnapshots(self._control, self.name)

    @property
    def transitions(self) -> RemoteTransitions:
        from mock_platform.client.remote.world_parts import RemoteTransitions

        return RemoteTransitions(self._control)

    def _make(
        self, table: str, count: int, seed: int | None, fields: dict[str, Any]
    ) -> dict[str, Any]:
        body: dict[str, Any] = {"table": table, "count": count, "fields": fields}
        if seed is not None:
            body["seed"] = seed
        answer: dict[str, Any] = self._control.ask("PUT", "/make", body)
        return answer

    def _emit(self, given: dict[str, Any]) -> dict[str, Any]:
        answer: dict[str, Any] = self._control.ask("POST", "/events", given)
        return answer

    def authorize(self, asked: str, *, user: str | None = None, deny: bool = False) -> str:
        name = "url" if is_address(asked) else "oauth_token"
        given: dict[str, Any] = {name: asked, "deny": deny}
        if user is not None:
            given["user"] = user
        return choose_answer(asked, self._control.ask("POST", "/oauth/approve", given), deny=deny)

    @property
    def deliveries(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self._control.ask("GET", "/deliveries")["deliveries"]
        return found

    def explain_deliveries(self, url: str) -> list[str]:
        found = self._control.ask("GET", "/deliveries/why_not", query={"url": url})
        reasons: list[str] = found["why_not"]
        return reasons

    def wait_for_deliveries(self, seconds: float = 10.0) -> bool:
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
        raise NotInProcess(
            "This sandbox runs elsewhere (MockPlatform.connect, "
            "--mock-platform-url), so this process has no WSGI application to call. "
            "Use base_url or session()."
        )

    @property
    def asgi(self) -> AsgiApplication:
        raise NotInProcess(
            "This sandbox runs elsewhere (MockPlatform.connect, --mock-platform-url), so this "
            "process has no ASGI application to call. Use base_url or async_client()."
        )

    def intercept(
        self, *, allow_hosts: Collection[str] = (), hosts: Collection[str] = ()
    ) -> AbstractContextManager[Mapping[str, str]]:
        raise NotInProcess(
            "This sandbox runs elsewhere, so its proxy does as well: start it with `mock-platform "
            "serve --intercept`, which prints the variables to set."
        )

    def _session(
        self, signs: Authentication | None, base: str, passthrough: Sequence[str]
    ) -> BasedSession:
        from mock_platform.serving.in_process.session import BasedSession

        session = BasedSession(base, passthrough)
        session.auth = signs
        session.verify = read_authority()
        self._sessions.append(session)
        return session

    def _async_client(
        self, signs: Authentication | None, base: str, passthrough: Sequence[str]
    ) -> AsyncClient:
        from mock_platform.serving.in_process.async_client import make_client

        return make_client(None, base, signs, passthrough, verify=read_authority())

    def _activate(self, name: str, parameters: Mapping[str, Any]) -> None:
        path = f"{self._scenario_path(name)}/activate"
        self._control.ask("POST", path, {"parameters": copy_as_json(parameters)})

    def deactivate(self, name: ScenarioName | OwnName | None = None) -> None:
        path = "/scenarios" if name is None else self._scenario_path(name)
        self._control.ask("POST", f"{path}/deactivate")

    def define(self, document: Mapping[str, Any] | str | Path) -> OwnName:
        from mock_platform.scenario.catalog import Catalog

        listed = self._control.ask("GET", "/operations")["operations"]
        scenario = read_scenario(document, Catalog.read(listed))
        self._control.ask("PUT", f"/scenarios/{scenario.name}", scenario.document)
        return OwnName(scenario.name)

    @property
    def scenarios(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self._control.ask("GET", "/scenarios")["scenarios"]
        return found

    def unfired_expectations(self) -> list[UnfiredRule]:
        return [
            UnfiredRule(
                scenario["name"],
                rule["rule"],
                rule["matched"],
                rule.get("refused", 0),
                rule.get("acts_on") or "",
                rule.get("hidden_by") or "",
            )
            for scenario in self.scenarios
            if scenario["active"]
            for rule in scenario["rules"]
            if rule["expected"] and not rule["fired"]
        ]

    def coverage(self, only: str | None = None) -> dict[str, Any]:
        query = {"only": only}
        document: dict[str, Any] = self._control.ask("GET", "/coverage", query=query)
        return document

    def warnings(self) -> dict[str, Any]:
        document: dict[str, Any] = self._control.ask("GET", "/warnings")
        return document

    def costs(self, by: By = "operation") -> dict[str, Any]:
        document: dict[str, Any] = self._control.ask("GET", "/costs", query={"by": by})
        return document

    def save_case(self, path: Path | str) -> Path:
        return write_private(path, self._control.fetch("/case"))

    def use_fixtures(self, *folders: Path | str) -> None:
        if self.name == DEFAULT:
            raise NotInProcess(
                "The default world of a server elsewhere starts with the fixtures of "
                "that server. Start the server with --fixtures DIR, or use another "
                "world."
            )
        from mock_platform.client.remote.state import RemoteState, apply_fixtures

        paths = check_folders(folders)
        self.reset()
        listed = self._control.ask("GET", "/worlds")["worlds"]
        seed = next(world["seed"] for world in listed if world["name"] == self.name)
        # A reset returns to the origin of a world. So the world is made again, from a changed copy.
        changed = f"{self.name[:54]}-fixtures"
        made = self._control.ask("PUT", f"/worlds/{changed}", {"from": self.name, "seed": seed})
        try:
            apply_fixtures(
                RemoteState(Control(made["control"], self._http)), self.clock.now(), paths
            )
            self._control.ask("DELETE", f"/worlds/{self.name}")
            again = {"from": changed, "seed": seed}
            self._control.ask("PUT", f"/worlds/{self.name}", again)
        finally:
            self._control.ask("DELETE", f"/worlds/{changed}")

    def reset(self) -> None:
        self._control.ask("POST", "/reset")

    def close_sessions(self) -> None:
        """Close the connections of all sessions that `session` returned."""
        while self._sessions:
            self._sessions.pop().close()

    def _scenario_path(self, name: str) -> str:
        # Anything else could be the address of something else.
        if re.fullmatch(ANY_NAME, name) is None:
            raise UnknownScenario(name, [scenario["name"] for scenario in self.scenarios])
        return f"/scenarios/{name}"


class RemotePlatform(RemoteWorld, PlatformFace):
    """A server elsewhere, and the interface of one of its worlds; see `MockPlatform.connect`.

    `stop` closes the connections; the server and its worlds keep running.
    """

    def __init__(self, url: str, *, token: str | None = None, ca: Path | None = None) -> None:
        """Connect to the server at `url`, with its control token and its certificate authority.

        With `/~NAME` at the end of `url` this is that world, else the default one. Without `token`
        and `ca`, those of the environment are used.

        Raises:
            ValueError: `url` is not an address.
            UnknownWorld: It names a world that does not exist.
            Unreachable: No server answers at the address, or its certificate is not trusted.
            Refused: The server refuses, or is not a mock_platform.
        """
        if not url.startswith(("http://", "https://")):
            raise ValueError(
                f"{url!r} is not an address such as http://127.0.0.1:8080, the url of a READY line."
            )
        address, named = split_address(url)
        name = DEFAULT if named is None else named
        http = connect(token, ca)
        try:
            found = _find_world(Control(f"{address}/_mock", http), name)
        except BaseException:
            http.close()
            raise
        super().__init__(found, http)

    @property
    def ca(self) -> Path | None:
        file = read_authority()
        is_own = isinstance(file, str) and self.base_url.startswith("https:")
        return Path(str(file)) if is_own else None

    def _open_world(
        self, name: str, source: str | None, wanted: Mapping[str, Any], *, own_credentials: bool
    ) -> tuple[RemoteWorld, Sequence[str]]:
        strict = wanted["refuse_warnings"]
        moments = {key: wanted[key] for key in ("freeze", "as_of")}
        given = {
            "from": source,
            "seed": wanted["seed"],
            **{key: at and format_moment(at) for key, at in moments.items()},
            "own_credentials": own_credentials or None,
            "warnings": None if strict is None else "error" if strict else "ignore",
            "names": wanted["names"],
            "wire": wanted["wire"],
        }
        body = {key: value for key, value in given.items() if value is not None}
        made = self._control.ask("PUT", f"/worlds/{check_name(name)}", body)
        return RemoteWorld(made, self._http), made.get("warnings", ())

    def drop_world(self, name: str) -> None:
        if not is_name(name):
            raise UnknownWorld(name)
        self._control.ask("DELETE", f"/worlds/{name}")

    @property
    def worlds(self) -> list[str]:
        return [world["name"] for world in self._control.ask("GET", "/worlds")["worlds"]]

    def on_stray(self, listener: Callable[[str, str, str], None]) -> None:
        raise NotInProcess("Only a sandbox in this process reports requests to removed worlds.")

    def raise_errors(self) -> None:
        raise NotInProcess(
            "Errors in a server elsewhere are not raised in this process. The "
            "journal has their tracebacks: platform.journal.find(status=500)."
        )

    def stop(self) -> None:
        self.close_sessions()
        self._http.close()


def _find_world(control: Control, name: str) -> dict[str, Any]:
    """Return a world of a server, as the list of its worlds has it.

    Raises:
        UnknownWorld: It has none of this name.
    """
    for world in control.ask("GET", "/worlds")["worlds"]:
        if world["name"] == name:
            return dict(world)
    raise UnknownWorld(name)
