"""Connects scenarios with the pipeline: which rules see a request, and which it asks for itself."""

from __future__ import annotations

from typing import Any

from mock_platform.core.call import Call, Reply
from mock_platform.core.jsonio import dumps
from mock_platform.core.operation import Operation
from mock_platform.core.pipeline import Answer, Stage
from mock_platform.scenario.active import ActiveRule
from mock_platform.scenario.engine import Engine
from mock_platform.scenario.errors import BadParameters, CannotPerform, UnknownScenario
from mock_platform.scenario.prefer import BadPreference, parse_preference
from mock_platform.world.world import World

HEADER = "x-mock-scenario"


def bind_stages(operation: Operation) -> tuple[Stage, Stage]:
    """The two stages in which the rules of scenarios act on the calls of an operation.

    The first, before authentication, also reads what a request asks for by itself; the second comes
    when nothing refused the call.
    """
    id_ = operation.id

    def before_auth(call: Call, world: World, proceed: Answer) -> Reply:
        engine = find_engine(world)
        rules = engine.rules.early.get(id_, ())
        own: list[ActiveRule] = []
        if call.header(HEADER) is not None or call.header("prefer") is not None:
            try:
                asked = _find_requested_rules(call, operation, engine)
            except (UnknownScenario, BadParameters, CannotPerform, BadPreference) as fault:
                return make_refusal(fault)
            call.switch = [armed for armed in asked if not armed.rule.before_auth]
            own = [armed for armed in asked if armed.rule.before_auth]
        if not (rules or own):
            return proceed(call, world)
        return engine.rules.act(rules, call, proceed, own)

    def before_handler(call: Call, world: World, proceed: Answer) -> Reply:
        engine = find_engine(world)
        rules = engine.rules.late.get(id_, ())
        if not (rules or call.switch):
            return proceed(call, world)
        call.rules_asked = True
        return engine.rules.act(rules, call, proceed, call.switch or ())

    return before_auth, before_handler


def find_engine(world: World) -> Engine:
    """Return the engine of a world; the platform adds one to each."""
    return world.companion(Engine)


def _find_requested_rules(call: Call, operation: Operation, engine: Engine) -> list[ActiveRule]:
    """Return the rules that a request asks for, for itself alone."""
    found: list[ActiveRule] = []
    name = call.header(HEADER)
    if name is not None:
        rules = engine.find_rules_for_request(name.strip())
        found += [armed for armed in rules if operation.id in armed.rule.on]
        if not found:
            others = ", ".join(dict.fromkeys(on for armed in rules for on in armed.rule.on))
            call.warn(f"the scenario {name!r} has no rule for {operation.id}, only: {others}")
    preference = call.header("prefer")
    if preference is not None:
        found += parse_preference(preference, operation)
    return found


def make_refusal(fault: Exception) -> Reply:
    """Return the answer to a request that asks for a scenario which it cannot have."""
    body: dict[str, Any] = {
        "type": "about:blank",
        "title": "Bad scenario switch",
        "status": 400,
        "detail": str(fault),
    }
    return Reply(400, dumps(body), [("Content-Type", "application/problem+json")])
