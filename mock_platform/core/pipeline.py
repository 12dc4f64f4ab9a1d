"""The pipeline of a request, built once for each operation.

The order of the stages is visible to clients if several of them would refuse: authentication,
account scope, gates, body and parameters, rate limits, handler. A stage that an operation does not
need is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache, cached_property
from itertools import chain

from msgspec.structs import replace

from mock_platform.core.assumptions import Assumption, settled
from mock_platform.core.auth.authenticate import Authenticator
from mock_platform.core.auth.oauth2 import refuse_missing
from mock_platform.core.call import FORM, MULTIPART, UNESTABLISHED, Call, Challenger, Reply
from mock_platform.core.decode import Decoder, decoder
from mock_platform.core.envelope import Configurable
from mock_platform.core.failures.errors import (
    BadBody,
    Failure,
    InternalError,
    InvalidParameters,
    NotShown,
    NumericFailure,
    RateLimited,
    RouteNotFound,
    TooLarge,
    Unauthorized,
    UnsupportedAuthentication,
    UnsupportedMediaType,
    WarningsRefused,
)
from mock_platform.core.failures.rendering import HEADERS, render
from mock_platform.core.faults import INVALID, MISSING, Fault
from mock_platform.core.limits import counter
from mock_platform.core.operation import Location, Operation, Rules
from mock_platform.core.pairs import MAX_PAIRS
from mock_platform.core.unread import IGNORED_PARAMETERS
from mock_platform.settings import Settings, WireForm
from mock_platform.world.store.interface import Change
from mock_platform.world.world import World

RELEASE_CLOCK = settled(
    "releases.clock",
    "An endpoint that the release history dates answers 404 before that date on the world's clock, "
    "or as of a date before it (--as-of); --releases all serves it at any time.",
    "Events and streams",
)
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


Run = Callable[[Call, World, Mapping[str, str]], tuple[Reply, Sequence[Change]]]
"""Answers a call in a world, with the parameters of its path; returns the changes as well."""


class Compiled:
    """An operation with its stages.

    The stages are made for the first call: a server has hundreds of operations, and most programs
    and tests call a few.
    """

    def __init__(self, operation: Operation, max_body: int, make: Callable[[], Run]) -> None:
        """`make` returns the function with all stages."""
        self.operation = operation
        self.max_body = max_body
        """Maximum number of bytes of a body; a larger one is refused unread."""
        self._make = make

    @cached_property
    def run(self) -> Run:
        """The function with all stages."""
        return self._make()


def compile_operation(
    operation: Operation,
    settings: Settings,
    before_auth: Stage,
    before_handler: Stage,
    challenger: Challenger,
) -> Compiled:
    """Return the pipeline with the stages that an operation needs.

    `before_auth` comes right after routing, `before_handler` when nothing refused the call: the
    places of scenarios. All run within one transaction; an operation that wants a challenge has
    two, and `challenger` makes it between them.
    """
    limit = operation.max_body or settings.max_body
    return Compiled(
        operation,
        limit,
        lambda: _make_run(operation, settings, before_auth, before_handler, challenger, limit),
    )


def _make_run(
    operation: Operation,
    settings: Settings,
    before_auth: Stage,
    before_handler: Stage,
    challenger: Challenger,
    limit: int,
) -> Run:
    # What follows are closures, not methods: all that depends only on the operation and the
    # settings is looked up here, once, and each call finds it in a local variable. They are nested
    # like the stages. `run` opens the transaction, `enter` lets the rules of `before_auth` have the
    # call, `check` runs the checks, `act` lets the rules of `before_handler` have it, and `handle`
    # answers. A rule answers in place of all stages below it simply by not calling the next one.
    checks = _checks(operation, settings)
    handle = _answer(operation, settings)
    echo_of_path, dress = operation.echo.echo_path, operation.dress
    headers = HEADERS.get(operation.dialect, ())
    unsuspicious = min(limit, MAX_PAIRS)

    def act(call: Call, world: World) -> Reply:
        return before_handler(call, world, handle)

    def check(call: Call, world: World) -> Reply:
        for each in checks:
            each(call, world)
        return act(call, world)

    def enter(call: Call, world: World) -> Reply:
        return before_auth(call, world, check)

    # Some operations wait for an address of the client to answer a challenge. The world's lock must
    # not be held meanwhile: the client's own server may call the sandbox before it answers. So
    # there are two transactions. The first one (`ask`) finds out whether the call is allowed, and
    # what is to be challenged; then `challenger` goes out without any lock; the second one (`act`)
    # answers with what came back. The checks are not repeated in the second, or else the call would
    # count twice against its rate limit and its nonce would be refused.
    wanted = operation.challenge

    def ask(call: Call, world: World) -> Reply:
        for each in checks:
            each(call, world)
        assert wanted is not None
        call.challenge = wanted(call, world, settings)
        return Reply(_ASKED)

    def work_twice(call: Call, world: World) -> tuple[Reply, Sequence[Change]]:
        first, changes = work(call, world, lambda call, world: before_auth(call, world, ask))
        if call.challenge is None:  # refused, or answered by a rule
            return first, changes
        challenger(world, call.challenge)
        reply, more = work(call, world, act)
        _carry_over(call, first, reply)
        return reply, (*changes, *more)

    def run(
        call: Call, world: World, path_params: Mapping[str, str]
    ) -> tuple[Reply, Sequence[Change]]:
        # This comes before the transaction, because also a refusal needs it: the journal names the
        # operation, and the answer has the form and the headers of its interface. A body is looked
        # at only if it is longer than the smaller of two limits, since a shorter one can break
        # neither.
        call.operation, call.dress = operation.id, dress
        call.path_params = path_params
        call.echo = echo_of_path(path_params)
        call.extra_headers += headers
        if len(call.body) > unsuspicious:
            _check_size(call, limit)
        return work(call, world, enter) if wanted is None else work_twice(call, world)

    return run


def _check_size(call: Call, limit: int) -> None:
    """Refuse a body that is too large before anything reads it, even to authenticate its sender."""
    if len(call.body) > limit:
        raise TooLarge(limit)
    if call.has_too_many_pairs:
        raise BadBody(f"The body is a form with more than {MAX_PAIRS:,} parameters.")


_ASKED = 202
"""Status of the reply of the first transaction, which no client sees."""


def work(call: Call, world: World, answer: Answer) -> tuple[Reply, Sequence[Change]]:
    """Answer within one transaction; a failure undoes it, unless it keeps its changes."""
    # A failure normally leaves the block as an exception, so that the transaction undoes what the
    # call did so far; the caller renders it. Some failures count all the same, such as a refusal
    # that uses up a code: these are rendered within the block, which then ends like a success and
    # commits.
    if call.as_of is not None:
        answer = _answer_as_of(answer)
    with world.work() as changes:
        came, jumps = call.came
        call.turn, came = world.take_turn(came, jumps)
        call.came = came, jumps
        try:
            reply = answer(call, world)
        except Failure as failure:
            if not failure.keeps_changes:
                raise
            reply = render(failure, call)
    return reply, tuple(changes)


def _answer_as_of(answer: Answer) -> Answer:
    """Let the world have the call's date of the contract while it is answered, under the lock."""

    def answer_then(call: Call, world: World) -> Reply:
        before, world.as_of = world.as_of, call.as_of
        try:
            return answer(call, world)
        finally:
            world.as_of = before

    return answer_then


def _carry_over(call: Call, first: Reply, reply: Reply) -> None:
    """Take over what rules of the stage `before_auth` did to the first reply of two.

    They may delay or break the answer; what they wrote into it would be lost, so the journal says
    so.
    """
    reply.sending = reply.sending or first.sending
    reply.headers += first.headers
    if first.body or first.status != _ASKED:
        call.warn("a rule of stage before_auth cannot change the answer of this operation")


def _checks(operation: Operation, settings: Settings) -> list[Check]:
    """Return the checks of a call, in the order in which they refuse."""
    # The order of this list is what a client can observe when several things are wrong at once: an
    # endpoint that does not exist yet is not found by anyone; then how it was called (https), then
    # who calls, then what the account may do (gates), then the parameters, and only then the rate
    # limit. So a call that is refused for its parameters does not use up the limit.
    checks: list[Check] = []
    if operation.since is not None:
        checks.append(_require_release(operation.since))
    if operation.oauth_step:
        checks.append(_https(settings))
    gap = next((a for a in (*operation.assumptions, *operation.auth.assumptions) if a.gap), None)
    if settings.strict and gap is not None:
        checks.append(_refuse(gap))
    auth = operation.auth
    if operation.dialect == "ads" and (settings.strict or settings.ads_auth == "oauth1"):
        auth = replace(auth, schemes=tuple(s for s in auth.schemes if s != "bearer"))
    if auth.schemes:
        # `UNESTABLISHED` is set first, so that whoever reads the caller of a call that failed here
        # (the journal, a rule) finds out that it was checked and found wrong, not that it was never
        # checked.
        authenticator = Authenticator(settings)

        def authenticate(call: Call, world: World) -> None:
            call.caller = UNESTABLISHED
            call.caller = authenticator.caller(call, world, auth)

        checks.append(authenticate)
    # As it was recorded, a refused request counts as well. Only limits of the advertising interface
    # depend on its parameters and its account.
    documented, recorded = (counter(operation, settings, wire) for wire in _WIRES)
    if recorded is not None and operation.dialect != "ads":
        checks.append(recorded)
        recorded = None
    if operation.tier_gate is not None and settings.tiers == "on":
        checks.append(operation.tier_gate)
    checks += [*operation.gates, _decode(operation, settings), _refuse_warnings]
    return [*checks, *(count for count in (documented, recorded) if count is not None)]


_WIRES: tuple[WireForm, ...] = ("spec", "recorded")


def _decode(operation: Operation, settings: Settings) -> Check:
    """Return the stage that reads the parameters and refuses them by schema and rules together."""
    # A client gets all faults of its parameters in one answer, those of single fields and those
    # between fields. So when the schema has found faults, the rules still run, with the fields that
    # are valid, and what they find is added. They run only once in either case.
    rules = _join_rules(operation)

    @cache
    def decode() -> Decoder:  # built by the first call: all schemas together take a while
        return decoder(operation, settings)

    def read(call: Call, world: World) -> None:
        call.params = decode()(call)

    def read_by_rules(call: Call, world: World) -> None:
        assert rules is not None
        try:
            call.params = decode()(call)
        except InvalidParameters as fault:
            found = rules(fault.valid, call, world, settings)
            sent = {**call.path_params, **fault.sent}
            raise InvalidParameters([*fault.faults, *found], sent) from fault
        faults = list(rules(call.params, call, world, settings))
        if faults:
            raise InvalidParameters(faults, {**call.path_params, **call.params})

    read_all = read if rules is None else read_by_rules

    def read_or_explain(call: Call, world: World) -> None:
        try:
            read_all(call, world)
        except InvalidParameters as fault:
            # What was ignored is often the cause: parameters in a body that nothing reads.
            _refuse_warnings(call, world, fault)
            raise

    return read_or_explain


def _join_rules(operation: Operation) -> Rules | None:
    """Return the operation's rules together with those that come with its parameters."""
    of_schema: Rules | None = getattr(operation.params, "find_faults", None)
    own = operation.rules
    if own is None or of_schema is None:
        return own or of_schema
    return lambda *given: chain(own(*given), of_schema(*given))


def _refuse_warnings(call: Call, world: World, beside: InvalidParameters | None = None) -> None:
    """Refuse a call of which something was ignored, where warnings are errors."""
    if call.coded_warnings and world.refuses_warnings:
        raise WarningsRefused(IGNORED_PARAMETERS, call.coded_warnings, beside)


def _answer(operation: Operation, settings: Settings) -> Answer:
    """Return the handler with its envelope; with `--strict`, it refuses gaps."""
    assumed = {assumption.id: assumption for assumption in operation.assumptions}
    declared = operation.returns
    configure = operation.configure
    handler = operation.handler if configure is None else configure(settings)
    returns = declared.configure(settings) if isinstance(declared, Configurable) else declared

    def answer(call: Call, world: World) -> Reply:
        result = handler(call, world)
        _refuse_warnings(call, world)
        call.assumptions.update(assumed)
        return returns.reply(call, result)

    # A gap can also be found while the handler runs, where a value decides which sentence of the
    # specification would be needed. So with --strict the assumptions are looked at again
    # afterwards; the failure undoes what the handler has done.
    def answer_strictly(call: Call, world: World) -> Reply:
        reply = answer(call, world)
        for assumption in call.assumptions.values():
            if assumption.gap:
                raise NotShown(assumption)
        return reply

    return answer_strictly if settings.strict else answer


def _require_release(since: datetime) -> Check:
    """Refuses calls from before the endpoint existed, by the date of the contract."""

    def check(call: Call, world: World) -> None:
        if world.contract_now() < since and not world.has_all_releases:
            call.assume(RELEASE_CLOCK)
            added = f"The release history adds this endpoint on {since:%Y-%m-%d}"
            raise RouteNotFound(f"{added}, and {world.explain_too_early()}.")

    return check


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


# What the stages before a handler can raise: for the description and the coverage.

WRITES = frozenset({"POST", "PUT", "PATCH"})
"""The methods whose requests may have a body."""


_BODIES = {
    Location.JSON: "application/json",
    Location.TEXT: "text/plain",
    Location.UPLOAD: MULTIPART,
}


def possible_failures(operation: Operation, settings: Settings) -> Iterator[Failure]:
    """Return one failure of each kind that the stages before an operation's handler can raise."""
    yield InternalError("a fault of the sandbox itself")
    if operation.oauth_step:
        yield NumericFailure(92)
    if settings.strict:
        yield NotShown(next(iter(operation.all_assumptions), IGNORED_PARAMETERS))
    if operation.auth.refuses:
        worded = operation.auth.on_failure
        for refusal in _refusals(operation):
            yield refusal if worded is None else worded(refusal)
    if operation.params is not None:
        for code in (MISSING, INVALID):
            yield InvalidParameters([("parameter", Fault("", code))], {})
    if operation.location in _BODIES:
        if operation.location is not Location.TEXT:
            yield BadBody("")
        yield UnsupportedMediaType("", _BODIES[operation.location])
    elif operation.location is Location.OAUTH and operation.method in WRITES:
        yield UnsupportedMediaType("", FORM)
    if operation.method in WRITES:
        yield TooLarge(operation.max_body or settings.max_body)
    if counter(operation, settings) is not None:
        yield RateLimited([])


def _refusals(operation: Operation) -> Iterator[Failure]:
    """Return one refusal of each kind that authentication can raise."""
    yield UnsupportedAuthentication("another scheme", operation.auth.names)
    for fault in ("absent", "malformed", "signature", "timestamp", "token", "revoked"):
        yield Unauthorized(fault, "")
    if operation.auth.scopes:
        yield refuse_missing(operation.auth.scopes, {"scopes": []})
