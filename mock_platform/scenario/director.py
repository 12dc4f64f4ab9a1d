"""Connects scenarios with the pipeline: which rules see a request, and which it asks for itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mock_platform.core.call import Call, Reply
from mock_platform.core.jsonio import dumps
from mock_platform.scenario.active import ActiveRule
from mock_platform.scenario.document import BadParameters
from mock_platform.scenario.engine import CannotPerform, Engine
from mock_platform.scenario.library import UnknownScenario
from mock_platform.scenario.prefer import BadPreference, parse_preference
from mock_platform.world.world import World

Proceed = Callable[[Call, World], Reply]
HEADER = "x-mock-scenario"


class Director:
    """The pipeline's interceptor: hands each call to the engine of its world."""

    def before_auth(self, call: Call, world: World, proceed: Proceed) -> Reply:
        """Let rules of the stage `before_auth` act, and read which rules the request asks for."""
        engine = find_engine(world)
        assert call.operation is not None
        rules = engine.early.get(call.operation.id)
        if call.header(HEADER) is not None or call.header("prefer") is not None:
            try:
                asked = _find_requested_rules(call, engine)
            except (UnknownScenario, BadParameters, CannotPerform, BadPreference) as fault:
                return _make_refusal(fault)
            call.switch = [armed for armed in asked if not armed.rule.before_auth]
            own = [armed for armed in asked if armed.rule.before_auth]
            rules = [*own, *(rules or ())]
        if not rules:
            return proceed(call, world)
        return engine.act(rules, call, proceed)

    def around(self, call: Call, world: World, proceed: Proceed) -> Reply:
        """Let the rules of all other stages act."""
        engine = find_engine(world)
        assert call.operation is not None
        rules = engine.late.get(call.operation.id)
        if call.switch:
            rules = [*call.switch, *(rules or ())]
        if not rules:
            return proceed(call, world)
        call.rules_asked = True
        return engine.act(rules, call, proceed)


def find_engine(world: World) -> Engine:
    """Return the engine of a world; the platform adds one to each."""
    return world.companion(Engine)


def _find_requested_rules(call: Call, engine: Engine) -> list[ActiveRule]:
    """Return the rules that a request asks for, for itself alone."""
    assert call.operation is not None
    found: list[ActiveRule] = []
    name = call.header(HEADER)
    if name is not None:
        rules = engine.find_rules_for_request(name.strip())
        found += [armed for armed in rules if call.operation.id in armed.rule.on]
        if not found:
            others = ", ".join(dict.fromkeys(on for armed in rules for on in armed.rule.on))
            call.warn(f"the scenario {name!r} has no rule for {call.operation.id}, only: {others}")
    preference = call.header("prefer")
    if preference is not None:
        found += parse_preference(preference, call.operation)
    return found


def _make_refusal(fault: Exception) -> Reply:
    body: dict[str, Any] = {
        "type": "about:blank",
        "title": "Bad scenario switch",
        "status": 400,
        "detail": str(fault),
    }
    return Reply(400, dumps(body), [("Content-Type", "application/problem+json")])
