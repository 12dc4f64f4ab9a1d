"""Answers requests that no operation answers, if a rule of a scenario is for their path."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mock_platform.core.auth.authenticate import Auth, Authenticator
from mock_platform.core.call import UNESTABLISHED, Call, Reply
from mock_platform.core.errors import BadParameters, CannotPerform, UnknownScenario
from mock_platform.core.failures.errors import Failure
from mock_platform.core.pipeline import work
from mock_platform.scenario.active import ActiveRule
from mock_platform.scenario.custom import find_route
from mock_platform.scenario.director import HEADER, find_engine, make_refusal
from mock_platform.scenario.engine import Engine
from mock_platform.settings import Settings
from mock_platform.world.store.interface import Change
from mock_platform.world.world import World

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
        except (UnknownScenario, BadParameters, CannotPerform) as fault:
            return make_refusal(fault), ()
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
        except Failure as fault:
            call.caller, call.diagnosis = UNESTABLISHED, None
            if call.header("authorization") is not None:
                call.warn(f"the credentials were not accepted: {fault}")


def _list_requested_rules(call: Call, engine: Engine) -> list[ActiveRule]:
    """Return the rules for the path of a call that it asks for itself."""
    name = call.header(HEADER)
    if name is None:
        return []
    rules = engine.find_rules_for_request(name.strip())
    return [armed for armed in rules if find_route(armed.rule.routes, call)]
