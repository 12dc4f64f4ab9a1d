"""What there is to meet: the outcomes and parameters that each operation documents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mock_platform.core.ads import Batch, account_scope, may_write
from mock_platform.core.call import Call
from mock_platform.core.description.openapi import HERE, possible_failures
from mock_platform.core.failures.codes import ADS_STATUS, NUMERIC_CODES
from mock_platform.core.failures.errors import Failure, InternalError, InvalidParameters
from mock_platform.core.failures.problems import ABOUT_BLANK, PROBLEM_TYPES
from mock_platform.core.failures.rendering import render
from mock_platform.core.fields import MISSING
from mock_platform.core.operation import Operation
from mock_platform.coverage.outcomes import BATCH, Outcome, codes
from mock_platform.settings import Settings


def documented(operation: Operation, settings: Settings) -> tuple[Outcome, ...]:
    """The outcomes of an operation: its success, what it declares, what its stages refuse with.

    Faults of the sandbox itself are none of them.
    """
    found = [Outcome(operation.returns.status, "")]
    found += sorted({*_common(operation, settings), *_declared(operation)})
    known = {outcome.status for outcome in found}
    blank = ABOUT_BLANK if ABOUT_BLANK in operation.errors else ""
    found += [Outcome(status, blank) for status in operation.statuses if status not in known]
    return tuple(dict.fromkeys(found))


def parameters(operation: Operation) -> tuple[tuple[str, bool], ...]:
    """Name on the wire of each parameter outside the path, and whether it is required."""
    if operation.params is None:
        return ()
    return tuple(
        (field.data_key or name, field.required)
        for name, field in operation.params().load_fields.items()
    )


def matching(outcome: Outcome, among: Sequence[Outcome]) -> Outcome | None:
    """Which documented outcome an observed one is; a code counts whatever status came with it."""
    if outcome in among:
        return outcome
    if outcome.code and outcome.code != ABOUT_BLANK:
        same = [known for known in among if known.code == outcome.code]
        if len(same) == 1:
            return same[0]
    unnamed = Outcome(outcome.status, "")
    return unnamed if unnamed in among else None


def _common(operation: Operation, settings: Settings) -> Iterator[Outcome]:
    """What the stages before the handler can refuse with, in the operation's own words."""
    call = Call(operation.method, HERE + operation.path, operation.path, HERE, [])
    call.operation = operation
    for failure in possible_failures(operation, settings):
        if not isinstance(failure, InternalError) and _can_be(failure, operation):
            reply = render(failure, call)
            yield from (Outcome(reply.status, code) for code in codes(reply.status, reply.body))
    if account_scope in operation.gates:
        yield Outcome(ADS_STATUS["ACCOUNT_NOT_FOUND"], "ACCOUNT_NOT_FOUND")
    if may_write in operation.gates:
        yield Outcome(ADS_STATUS["READONLY_CLIENT_APPLICATION"], "READONLY_CLIENT_APPLICATION")
    if isinstance(operation.returns, Batch):
        yield Outcome(400, BATCH)


def _can_be(failure: Failure, operation: Operation) -> bool:
    """Whether an operation's parameters can be refused so: without any, or none required, not."""
    if not isinstance(failure, InvalidParameters):
        return True
    known = parameters(operation)
    missing = any(text.code == MISSING for _, text in failure.faults)
    if not missing or operation.rules is not None or operation.method not in {"GET", "DELETE"}:
        return bool(known)
    return any(required for _, required in known)


def _declared(operation: Operation) -> Iterator[Outcome]:
    for code in operation.errors:
        if code != ABOUT_BLANK:  # its status is what the operation declares beside it
            yield Outcome(_status_of(code, operation), code)


def _status_of(code: str, operation: Operation) -> int:
    if code in PROBLEM_TYPES:
        return PROBLEM_TYPES[code].status
    if code.isdecimal() and int(code) in NUMERIC_CODES:
        return NUMERIC_CODES[int(code)].status
    if code in ADS_STATUS:
        return ADS_STATUS[code]
    return operation.statuses[0] if operation.statuses else 400
