"""The pipeline of a request, built once for each operation.

The order of the stages is visible to clients if several of them would refuse: authentication,
account scope, gates, body and parameters, rate limits, handler. A stage that an operation does not
need is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from mock_platform.core.assumptions import Assumption, settled
from mock_platform.core.auth.authenticate import Authenticator
from mock_platform.core.call import UNESTABLISHED, Call, Reply
from mock_platform.core.decode import Decoder, decoder
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


Answer = Callable[[Call, World], Reply]
Stage = Callable[[Call, World, Answer], Reply]
"""Answers a call, or lets the next stages answer it."""
Check = Callable[[Call, World], None]
"""Refuses a call by raising a failure, or passes it; records in it what it found out."""


@dataclass(frozen=True, slots=True)
class Compiled:
    """An operation with its stages."""

    operation: Operation
    run: Callable[[Call, World, Mapping[str, str]], tuple[Reply, Sequence[Change]]]


def compile_operation(
    operation: Operation, settings: Settings, before_auth: Stage, before_handler: Stage
) -> Compiled:
    """Returns the pipeline with the stages that an operation needs.

    `before_auth` runs right after routing, `before_handler` when no stage has refused the call: at
    these places scenarios act. All run in one transaction.
    """
    checks = _checks(operation, settings)
    handle = _answer(operation, settings)
    echo_of_path, dress = operation.echo.echo_path, operation.dress
    headers = HEADERS.get(operation.dialect, ())

    def check(call: Call, world: World) -> Reply:
        for each in checks:
            each(call, world)
        return before_handler(call, world, handle)

    def run(
        call: Call, world: World, path_params: Mapping[str, str]
    ) -> tuple[Reply, Sequence[Change]]:
        call.operation, call.dress = operation.id, dress
        call.path_params = path_params
        call.echo = echo_of_path(path_params)
        call.extra_headers += headers
        with world.work() as changes:
            try:
                reply = before_auth(call, world, check)
            except Failure as failure:
                if not failure.keeps_changes:
                    raise
                reply = render(failure, call)
        return reply, tuple(changes)

    return Compiled(operation, run)


def _checks(operation: Operation, settings: Settings) -> list[Check]:
    """The checks of a call, in the order in which they refuse."""
    checks: list[Check] = []
    if operation.oauth_step:
        checks.append(_https(settings))
    gap = next((a for a in (*operation.assumptions, *operation.auth.assumptions) if a.gap), None)
    if settings.strict and gap is not None:
        checks.append(_refuse(gap))
    auth = operation.auth
    if operation.dialect == "ads" and (settings.strict or settings.ads_auth == "oauth1"):
        auth = replace(auth, schemes=tuple(s for s in auth.schemes if s != "bearer"))
    if auth.schemes:
        authenticator = Authenticator(settings)

        def authenticate(call: Call, world: World) -> None:
            call.caller = UNESTABLISHED
            call.caller = authenticator.caller(call, world, auth)

        checks.append(authenticate)
    checks += [*operation.gates, _decode(operation, settings)]
    count = counter(operation, settings)
    return checks if count is None else [*checks, count]


def _decode(operation: Operation, settings: Settings) -> Check:
    """Returns the stage that reads the parameters and refuses them by schema and rules together."""
    rules = operation.rules

    @cache
    def decode() -> Decoder:  # built by the first call: all schemas together take a while
        return decoder(operation, settings)

    def read(call: Call, world: World) -> None:
        call.params = decode()(call)

    if rules is None:
        return read

    def read_by_rules(call: Call, world: World) -> None:
        try:
            call.params = decode()(call)
        except InvalidParameters as fault:
            found = rules(fault.valid, call, world, settings)
            sent = {**call.path_params, **fault.sent}
            raise InvalidParameters([*fault.faults, *found], sent) from fault
        faults = list(rules(call.params, call, world, settings))
        if faults:
            raise InvalidParameters(faults, {**call.path_params, **call.params})

    return read_by_rules


def _answer(operation: Operation, settings: Settings) -> Answer:
    """Returns the handler with its envelope; with `--strict`, it refuses gaps."""
    assumed = {assumption.id: assumption for assumption in operation.assumptions}
    declared = operation.returns
    configure = operation.configure
    handler = operation.handler if configure is None else configure(settings)
    returns = declared.configure(settings) if isinstance(declared, Configurable) else declared

    def answer(call: Call, world: World) -> Reply:
        result = handler(call, world)
        call.assumptions.update(assumed)
        return returns.reply(call, result)

    def answer_strictly(call: Call, world: World) -> Reply:
        reply = answer(call, world)
        for assumption in call.assumptions.values():
            if assumption.gap:
                raise NotShown(assumption)
        return reply

    return answer_strictly if settings.strict else answer


def _https(settings: Settings) -> Check:
    def check(call: Call, world: World) -> None:
        if call.secure:
            return
        if settings.require_https or not settings.is_local(call.host):
            raise NumericFailure(92)
        call.assume(HTTP_ON_LOOPBACK)

    return check


def _refuse(gap: Assumption) -> Check:
    def refuse(call: Call, world: World) -> None:
        raise NotShown(gap)

    return refuse
