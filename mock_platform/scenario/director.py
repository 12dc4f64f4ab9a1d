"""Connects scenarios with requests: rules of a world, and what a request asks for itself.

It also answers requests that no operation answers, if a rule of a scenario is for their path, and
has the scenarios that all worlds of a server share.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from mock_platform.core.auth.authenticate import Auth, Authenticator
from mock_platform.core.call import UNESTABLISHED, Call, Reply
from mock_platform.core.documents.forms import describe_allowed
from mock_platform.core.errors import BadParameters, CannotPerform, UnknownScenario
from mock_platform.core.failures.codes import ADS_STATUS, NUMERIC_CODES
from mock_platform.core.failures.errors import Failure
from mock_platform.core.failures.problems import PROBLEM_TYPES
from mock_platform.core.installed import folder
from mock_platform.core.jsonio import dumps
from mock_platform.core.operation import Operation
from mock_platform.core.pipeline import Answer, Stage, work
from mock_platform.core.reasons import PREFER
from mock_platform.core.tables.table import Tables
from mock_platform.scenario.active import ActiveRule, ActiveScenario
from mock_platform.scenario.catalog import Catalog, find_route
from mock_platform.scenario.document import Scenario
from mock_platform.scenario.engine import Engine
from mock_platform.scenario.library import Library, StartUp
from mock_platform.settings import Settings
from mock_platform.world.names import UnknownWorld
from mock_platform.world.store.errors import StoreUnwritable, WorldLost
from mock_platform.world.store.interface import Change
from mock_platform.world.world import World

# `Prefer: code=404`, `Prefer: problem=usage-capped`: a failure for one request alone.

_PART = re.compile(r'\s*(code|problem)\s*=\s*"?([^",;\s]*)"?\s*', re.ASCII | re.IGNORECASE)
_STATUSES = range(400, 600)
_NAMED = {
    400: "INVALID_PARAMETER", 401: "UNAUTHORIZED_ACCESS", 403: "ACTION_NOT_ALLOWED",
    404: "NOT_FOUND", 429: "TOO_MANY_REQUESTS", 500: "INTERNAL_ERROR", 503: "SERVICE_UNAVAILABLE",
}  # fmt: skip


class BadPreference(ValueError):
    """A failure was asked for that does not exist."""


def parse_preference(header: str, operation: Operation) -> list[ActiveRule]:
    """Return the rule that a `Prefer` header asks for; empty if it asks for something else.

    The first one that asks for a failure counts.

    Raises:
        BadPreference: It asks for a failure that does not exist.
    """
    for part in re.split("[,;]", header[:1000]):
        found = _PART.fullmatch(part)
        if found is None:
            continue
        effect = (
            _make_problem(found[2])
            if found[1].lower() == "problem"
            else _make_error(found[2], operation)
        )
        document = {"name": PREFER, "rules": [{"on": operation.id, "then": effect}]}
        scenario = Scenario(PREFER, "", "", {}, document, Catalog.collect([operation]))
        return ActiveScenario(scenario, {}).rules
    return []


UNKNOWN_PREFERENCE = "unknown-preference"
_PREFERENCES = "code=404, code=OVER_CAPACITY or problem=usage-capped"
_REGISTERED = frozenset({"depth-noroot", "handling", "respond-async", "return", "safe", "wait"})
"""Preferences that any client may send (RFC 7240 and others), and of which none is a failure."""


def find_ignored_preferences(header: str) -> list[str]:
    """Return the preferences that ask for no failure and have no other meaning.

    Example:
        >>> find_ignored_preferences("return=minimal, status=404, code=404, problem=conflict")
        ['status=404', 'problem=conflict']
    """
    parts = [part.strip() for part in re.split("[,;]", header[:1000])]
    asking = next((part for part in parts if _PART.fullmatch(part)), None)
    if asking is not None:
        parts.remove(asking)
    names = [(part.partition("=")[0].strip().lower(), part) for part in parts if part]
    return [part for name, part in names if name not in _REGISTERED]


def _make_problem(slug: str) -> dict[str, Any]:
    names = {kind.name: kind.slug for kind in PROBLEM_TYPES.values()} | {
        s: s for s in PROBLEM_TYPES
    }
    if slug not in names:
        raise BadPreference(
            f"Prefer: there is no problem {slug!r}.{describe_allowed([*PROBLEM_TYPES], slug)}"
        )
    return {"problem": names[slug]}


def _make_error(code: str, operation: Operation) -> dict[str, Any]:
    if not code.isdecimal() or not code.isascii():
        if code not in ADS_STATUS:
            raise BadPreference(
                f"Prefer: there is no code {code!r}.{describe_allowed([*ADS_STATUS], code)}"
            )
        return {"error": code}
    number = int(code[:9])
    if number in _STATUSES:
        return _find_failure(number, operation)
    if number not in NUMERIC_CODES:
        raise BadPreference(
            f"Prefer: {code} is neither a status from 400 to 599 nor a numeric code."
            f"{describe_allowed([*NUMERIC_CODES], code)}"
        )
    return {"error": number}


def _find_failure(status: int, operation: Operation) -> dict[str, Any]:
    """Return the failure that an operation documents for a status, else the usual one."""
    if status == 429:  # with the headers and the text of a limit that is used up
        return {"rate_limit": {"limit": 0, "window": 900}}
    if operation.dialect == "v2":
        for slug in operation.errors:
            if slug in PROBLEM_TYPES and PROBLEM_TYPES[slug].status == status:
                return {"problem": slug}
        return {"problem": "about:blank", "status": status}
    if operation.dialect == "oauth":
        codes = [entry for entry in NUMERIC_CODES.values() if entry.status == status]
        codes.sort(
            key=lambda entry: (str(entry.code) not in operation.errors, not entry.documented)
        )
        number = codes[0].code if codes else 131
        return {"error": {"code": number, "status": status}}
    documented = (code for code in operation.errors if ADS_STATUS.get(code) == status)
    listed = (code for code, of in ADS_STATUS.items() if of == status)
    code = next(documented, None) or _NAMED.get(status) or next(listed, None)
    code = code or ("INTERNAL_ERROR" if status >= 500 else "INVALID_PARAMETER")
    return {"error": {"code": code, "status": status}}


HEADER = "x-mock-scenario"


def bind_stages(operation: Operation) -> tuple[Stage, Stage]:
    """Return the two stages in which the rules of scenarios act on the calls of an operation.

    The first, before authentication, also reads what a request asks for by itself; the second comes
    when nothing refused the call.
    """
    id_ = operation.id

    def before_auth(call: Call, world: World, proceed: Answer) -> Reply:
        engine = find_engine(world)
        rules = engine.rules.early.get(id_, ())
        own: list[ActiveRule] = []
        sent = call.first_headers
        if HEADER in sent or "prefer" in sent:
            try:
                asked = _find_requested_rules(call, operation, engine)
            except (UnknownScenario, BadParameters, CannotPerform, BadPreference) as error:
                return make_refusal(error)
            # What a request asks for by itself is read once, here, before authentication. Rules for
            # later wait in the call until `before_handler` asks for them, as if they were the first
            # rules of the world.
            call.switch = [active_rule for active_rule in asked if not active_rule.rule.before_auth]
            own = [active_rule for active_rule in asked if active_rule.rule.before_auth]
        if not (rules or own):
            return proceed(call, world)
        return engine.rules.act(rules, call, proceed, own)

    def before_handler(call: Call, world: World, proceed: Answer) -> Reply:
        engine = find_engine(world)
        rules = engine.rules.late.get(id_, ())
        if not (rules or call.switch):
            return proceed(call, world)
        call.rules_asked = True
        reply = engine.rules.act(rules, call, proceed, call.switch or ())
        if call.switch and call.rule is None:
            call.without_effect = _explain_miss(call)
        return reply

    return before_auth, before_handler


def find_engine(world: World) -> Engine:
    """Return the engine of a world; the platform adds one to each."""
    return world.find_attachment(Engine)


def _find_requested_rules(call: Call, operation: Operation, engine: Engine) -> list[ActiveRule]:
    """Return the rules that a request asks for, for itself alone."""
    found: list[ActiveRule] = []
    name = call.header(HEADER)
    if name is not None:
        rules = engine.find_rules_for_request(name.strip())
        found += [active_rule for active_rule in rules if operation.id in active_rule.rule.on]
        if not found:
            others = ", ".join(
                dict.fromkeys(on for active_rule in rules for on in active_rule.rule.on)
            )
            text = f"The scenario {name!r} has no rule for {operation.id}, only: {others}"
            call.without_effect = text
            call.warn(text)
    preference = call.header("prefer")
    if preference is not None:
        found += parse_preference(preference, operation)
        for part in find_ignored_preferences(preference):
            text = f"Prefer: {part!r} was ignored; one failure is asked for as {_PREFERENCES}"
            call.warn(text, UNKNOWN_PREFERENCE)
    return found


def _explain_miss(call: Call) -> str:
    """Return why the scenario that a request named for itself did not act."""
    name = (call.header(HEADER) or "").strip()
    own = [miss["difference"] for miss in call.near_misses if miss["scenario"] == name]
    return f"The scenario {name!r} did not act: {own[0] if own else 'another rule came first'}"


def make_refusal(fault: Exception) -> Reply:
    """Return the answer to a request that asks for a scenario which it cannot have."""
    body: dict[str, Any] = {
        "type": "about:blank",
        "title": "Bad scenario switch",
        "status": 400,
        "detail": str(fault),
    }
    return Reply(400, dumps(body), [("Content-Type", "application/problem+json")])


_ANYBODY = Auth(("bearer", "oauth1", "oauth2", "basic"))


class CustomAnswers:
    """The answers of rules on paths that no operation serves, on one server."""

    def __init__(self, settings: Settings) -> None:
        self._authenticator = Authenticator(settings)

    def answer(
        self, call: Call, world: World, make_failure: Callable[[], Failure]
    ) -> tuple[Reply, Sequence[Change]]:
        """Return the answer to a call and what it changed.

        Rules that act on everything act first, then those for the path.

        Raises:
            Failure: No rule is for its path, or none of them acted; `make_failure` made it.
        """
        engine = find_engine(world)
        if not engine.rules.custom and call.header(HEADER) is None:
            raise make_failure()
        try:
            own = _list_requested_rules(call, engine)
        except (UnknownScenario, BadParameters, CannotPerform) as error:
            return make_refusal(error), ()
        rules = engine.rules.custom.find(call)
        nearest = own[0] if own else rules.first
        found = None if nearest is None else find_route(nearest.rule.routes, call)
        if found is None:
            raise make_failure()
        call.custom, call.path_params = str(found[0]), found[1]
        call.echo = dict(found[1])
        if call.header("prefer") is not None:
            call.warn("Prefer has no effect here, because no operation serves the path")

        def refuse(call: Call, world: World) -> Reply:
            raise make_failure()

        def act(call: Call, world: World) -> Reply:
            return engine.rules.act(rules.all, call, refuse, own)

        def enter(call: Call, world: World) -> Reply:
            self._find_caller(call, world)
            return engine.rules.act(engine.rules.everywhere, call, act)

        return work(call, world, enter)

    def _find_caller(self, call: Call, world: World) -> None:
        """Find out who calls, for conditions and the journal; no caller is refused."""
        try:
            call.caller = self._authenticator.caller(call, world, _ANYBODY)
        except Failure as error:
            call.caller, call.diagnosis = UNESTABLISHED, None
            if call.header("authorization") is not None:
                call.warn(f"the credentials were not accepted: {error}")


def _list_requested_rules(call: Call, engine: Engine) -> list[ActiveRule]:
    """Return the rules for the path of a call that it asks for itself."""
    name = call.header(HEADER)
    if name is None:
        return []
    rules = engine.find_rules_for_request(name.strip())
    return [active_rule for active_rule in rules if find_route(active_rule.rule.routes, call)]


@lru_cache(4)
def _collect_once(operations: Sequence[Operation]) -> Catalog:
    """Return the catalog of these operations, made once for all servers of a process."""
    return Catalog.collect(operations)


class ServerScenarios:
    """The scenarios that all worlds of a server share."""

    def __init__(
        self,
        texts: Iterable[str],
        operations: Sequence[Operation],
        tables: Tables,
        worlds: Iterable[World],
    ) -> None:
        """`texts` are the scenarios of the start: names, files and folders.

        Raises:
            BadScenario: Files have violations; it holds all complaints.
        """
        self.library = Library(folder("scenarios"), _collect_once(operations))
        """The scenarios that every world knows."""
        self.start_up = StartUp(texts, self.library)
        """The scenarios of the start, and their files."""
        self.fired_rules: set[tuple[str, int]] = set()
        """The rules that acted so far, in any world: the name of a scenario and a number."""
        self.connections = True
        """Whether the server can break connections when a scenario asks for it."""
        self._tables = tables
        self._worlds = worlds

    def add_engine(self, world: World) -> None:
        """Add the engine to a world that decides there which rule acts."""
        engine = Engine(
            world,
            self.library,
            self._tables,
            self.start_up.active,
            connections=lambda: self.connections,
            on_fired=lambda name, rule: self.fired_rules.add((name, rule)),
        )
        world.attach_companion(engine)

    def check(self, file: Path, scenario: Scenario) -> None:
        """Check that a file may hold a scenario from now on.

        Raises:
            BadScenario: Its scenario has a name that is not allowed.
            BadParameters: It needs parameters, but a scenario of the start must not.
            CannotPerform: It is a scenario of the start and breaks connections, which the server
                cannot do.
        """
        self.start_up.check_name(file, scenario)
        if scenario.name in self.start_up.active:
            scenario.bind({})
            if scenario.needs_connection and not self.connections:
                raise CannotPerform(scenario.name)

    def reload(self, file: Path) -> list[str]:
        """Load a new scenario file, or a changed one; the last version stays if it has violations.

        Where the scenario is active it starts again with the same parameters. Returns, for each
        world, why it cannot; there the last version stays active.

        Raises:
            BadScenario: The file has violations, or its scenario has a name that is not allowed.
            BadParameters: It needs parameters, but a scenario of the start must not.
            CannotPerform: It is a scenario of the start and breaks connections, which the server
                cannot do.
        """
        scenario = self.start_up.read(file)
        self.check(file, scenario)
        known = self.library.find(scenario.name)
        self.start_up.put(file, scenario)
        if known is not None and dumps(known.document) == dumps(scenario.document):
            return []  # nothing starts again because a file was only touched
        kept = []
        for world in self._worlds:
            try:
                find_engine(world).refresh(scenario)
            except (BadParameters, CannotPerform, StoreUnwritable) as error:
                kept.append(f"World {world.name!r} goes on with the last version. {error}")
            except (UnknownWorld, WorldLost):  # dropped or taken over meanwhile
                continue
        return kept

    def disable_connections(self) -> None:
        """Declare that the server cannot break connections.

        Raises:
            CannotPerform: A start-up scenario needs it.
        """
        self.connections = False
        for name in self.start_up.active:
            scenario = self.library.find(name)
            if scenario is not None and scenario.needs_connection:
                raise CannotPerform(name)
        for world in self._worlds:
            find_engine(world).deactivate_unperformable()
