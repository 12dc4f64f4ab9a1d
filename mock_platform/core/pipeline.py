"""What every request runs through, bound once for each operation.

The order of the stages is observable where several would refuse: authentication, account scope,
gates, body and parameters, rate limits, handler. A stage that an operation does not need is absent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from mock_platform.core.assumptions import Assumption, settled
from mock_platform.core.auth.authenticate import Authenticator
from mock_platform.core.call import UNESTABLISHED, Call, Reply
from mock_platform.core.decode import decoder
from mock_platform.core.envelope import Configurable
from mock_platform.core.failures.errors import Failure, InvalidParameters, NotShown, NumericFailure
from mock_platform.core.failures.rendering import HEADERS, render
from mock_platform.core.limits import counter
from mock_platform.core.operation import Operation
from mock_platform.settings import Settings
from mock_platform.store.interface import Change
from mock_platform.world.world import World

HTTP_ON_LOOPBACK = settled(
    "oauth.http-on-loopback",
    "Plain http is accepted for the OAuth steps, which the spec wants over https; "
    "--require-https refuses it, --tls serves https.",
    "A, Authentication, rule 1",
)


Stage = Callable[[Call, World], None]
Answer = Callable[[Call, World], Reply]


class Interceptor(Protocol):
    """Where scenarios act: within the transaction, seeing the call, able to answer it.

    `proceed` does what would be done without it.
    """

    def before_auth(self, call: Call, world: World, proceed: Answer) -> Reply:
        """Right after routing; `proceed` is everything that follows."""

    def around(self, call: Call, world: World, proceed: Answer) -> Reply:
        """When nothing refused the call; `proceed` runs the handler."""


@dataclass(frozen=True, slots=True)
class Compiled:
    """An operation with its stages bound."""

    operation: Operation
    run: Callable[[Call, World, Mapping[str, str]], tuple[Reply, Sequence[Change]]]


def compile_operation(
    operation: Operation, settings: Settings, interceptor: Interceptor | None = None
) -> Compiled:
    """Bind the stages that an operation needs."""
    before = _before(operation, settings)
    answer = _answer(operation, settings)
    decode = _decode(operation, settings)
    count = counter(operation, settings)
    headers = HEADERS.get(operation.dialect, ())

    def work(call: Call, world: World) -> Reply:
        for stage in before:
            stage(call, world)
        decode(call, world)
        if count is not None:
            count(call, world)
        if interceptor is None:
            return answer(call, world)
        return interceptor.around(call, world, answer)

    def run(
        call: Call, world: World, path_params: Mapping[str, str]
    ) -> tuple[Reply, Sequence[Change]]:
        call.operation = operation
        call.path_params = path_params
        call.echo = operation.echo.of_path(path_params)
        call.extra_headers += headers
        with world.work() as changes:
            try:
                if interceptor is None:
                    reply = work(call, world)
                else:
                    reply = interceptor.before_auth(call, world, work)
            except Failure as failure:
                if not failure.keeps_changes:
                    raise
                reply = render(failure, call)
        return reply, tuple(changes)

    return Compiled(operation, run)


def _before(operation: Operation, settings: Settings) -> list[Stage]:
    """What runs before the parameters are read, in the order in which it refuses."""
    stages: list[Stage] = []
    if operation.oauth_step:
        stages.append(_https(settings))
    gap = next((a for a in (*operation.assumptions, *operation.auth.assumptions) if a.gap), None)
    if settings.strict and gap is not None:
        stages.append(_refuse(gap))
    auth = operation.auth
    if operation.dialect == "ads" and (settings.strict or settings.ads_auth == "oauth1"):
        auth = replace(auth, schemes=tuple(s for s in auth.schemes if s != "bearer"))
    if auth.schemes:
        authenticator = Authenticator(settings)

        def authenticate(call: Call, world: World) -> None:
            call.caller = UNESTABLISHED
            call.caller = authenticator.caller(call, world, auth)

        stages.append(authenticate)
    return [*stages, *operation.gates]


def _decode(operation: Operation, settings: Settings) -> Stage:
    """Reads the parameters, and refuses them by their schema and the operation's rules at once."""
    decode, rules = decoder(operation, settings), operation.rules

    def read(call: Call, world: World) -> None:
        call.params = decode(call)

    if rules is None:
        return read

    def read_by_rules(call: Call, world: World) -> None:
        try:
            call.params = decode(call)
        except InvalidParameters as fault:
            found = rules(fault.valid, call, world, settings)
            sent = {**call.path_params, **fault.sent}
            raise InvalidParameters([*fault.faults, *found], sent) from fault
        faults = list(rules(call.params, call, world, settings))
        if faults:
            raise InvalidParameters(faults, {**call.path_params, **call.params})

    return read_by_rules


def _answer(operation: Operation, settings: Settings) -> Callable[[Call, World], Reply]:
    """The handler with its envelope; under `--strict`, without what rests on a gap."""
    assumed, declared = operation.assumptions, operation.returns
    configure = operation.configure
    handler = operation.handler if configure is None else configure(settings)
    returns = declared.configured(settings) if isinstance(declared, Configurable) else declared

    def answer(call: Call, world: World) -> Reply:
        result = handler(call, world)
        call.assume(*assumed)
        return returns.reply(call, result)

    def answer_strictly(call: Call, world: World) -> Reply:
        reply = answer(call, world)
        for assumption in call.assumptions.values():
            if assumption.gap:
                raise NotShown(assumption)
        return reply

    return answer_strictly if settings.strict else answer


def _https(settings: Settings) -> Stage:
    def check(call: Call, world: World) -> None:
        if call.secure:
            return
        if settings.require_https or not settings.is_local(call.host):
            raise NumericFailure(92)
        call.assume(HTTP_ON_LOOPBACK)

    return check


def _refuse(gap: Assumption) -> Stage:
    def refuse(call: Call, world: World) -> None:
        raise NotShown(gap)

    return refuse
