"""What can be covered: the outcomes and parameters that each operation documents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from marshmallow import Schema

from mock_platform.core.ads import Batch, account_scope, may_write
from mock_platform.core.call import Call
from mock_platform.core.description.openapi import HERE
from mock_platform.core.description.possible_failures import possible_failures
from mock_platform.core.failures.codes import ADS_STATUS, NUMERIC_CODES
from mock_platform.core.failures.errors import Failure, InternalError, InvalidParameters
from mock_platform.core.failures.problems import ABOUT_BLANK, PROBLEM_TYPES
from mock_platform.core.failures.rendering import render
from mock_platform.core.faults import MISSING
from mock_platform.core.operation import Operation
from mock_platform.coverage.outcomes import BATCH, Outcome, find_codes
from mock_platform.settings import Settings


def list_documented(operation: Operation, settings: Settings) -> tuple[Outcome, ...]:
    """Return an operation's outcomes: success, declared failures, and refusals of its stages.

    Errors of the sandbox itself are not among them.
    """
    found = [Outcome(operation.returns.status, "")]
    found += sorted({*_list_stage_outcomes(operation, settings), *_list_declared(operation)})
    known = {outcome.status for outcome in found}
    blank = ABOUT_BLANK if ABOUT_BLANK in operation.errors else ""
    found += [Outcome(status, blank) for status in operation.statuses if status not in known]
    return tuple(dict.fromkeys(found))


def list_parameters(operation: Operation) -> tuple[tuple[str, bool], ...]:
    """Return each parameter outside the path: its name on the wire, and whether it is required."""
    return () if operation.params is None else _list_fields(operation.params)


@lru_cache(512)
def _list_fields(params: type[Schema]) -> tuple[tuple[str, bool], ...]:
    """Return the fields of a schema, which are asked for several times for each operation."""
    fields = params().load_fields.items()
    return tuple((field.data_key or name, field.required) for name, field in fields)


def find_match(outcome: Outcome, among: Sequence[Outcome]) -> Outcome | None:
    """Return the documented outcome that an observed one matches; a code counts with any status."""
    if outcome in among:
        return outcome
    if outcome.code and outcome.code != ABOUT_BLANK:
        same = [known for known in among if known.code == outcome.code]
        if len(same) == 1:
            return same[0]
    unnamed = Outcome(outcome.status, "")
    return unnamed if unnamed in among else None


def make_call(operation: Operation) -> Call:
    """Return a call of an operation, to render what it can be refused with."""
    call = Call(operation.method, HERE + operation.path, operation.path, HERE, [])
    call.operation, call.dress = operation.id, operation.dress
    return call


def _list_stage_outcomes(operation: Operation, settings: Settings) -> Iterator[Outcome]:
    """Yield the refusals of the stages before the handler, in the operation's dialect."""
    call = make_call(operation)
    for failure in possible_failures(operation, settings):
        if not isinstance(failure, InternalError) and _can_fail_with(failure, operation):
            reply = render(failure, call)
            yield from (
                Outcome(reply.status, code) for code in find_codes(reply.status, reply.body)
            )
    if account_scope in operation.gates:
        yield Outcome(ADS_STATUS["ACCOUNT_NOT_FOUND"], "ACCOUNT_NOT_FOUND")
    if may_write in operation.gates:
        yield Outcome(ADS_STATUS["READONLY_CLIENT_APPLICATION"], "READONLY_CLIENT_APPLICATION")
    if isinstance(operation.returns, Batch):
        yield Outcome(400, BATCH)


def _can_fail_with(failure: Failure, operation: Operation) -> bool:
    """Return whether an operation can fail so: not for parameters that it does not have."""
    if not isinstance(failure, InvalidParameters):
        return True
    known = list_parameters(operation)
    missing = any(text.code == MISSING for _, text in failure.faults)
    if not missing or operation.rules is not None or operation.method not in {"GET", "DELETE"}:
        return bool(known)
    return any(required for _, required in known)


def _list_declared(operation: Operation) -> Iterator[Outcome]:
    for code in operation.errors:
        if code != ABOUT_BLANK:  # its status is what the operation declares beside it
            yield Outcome(_find_status(code, operation), code)


def _find_status(code: str, operation: Operation) -> int:
    if code in PROBLEM_TYPES:
        return PROBLEM_TYPES[code].status
    if code.isdecimal() and int(code) in NUMERIC_CODES:
        return NUMERIC_CODES[int(code)].status
    if code in ADS_STATUS:
        return ADS_STATUS[code]
    return operation.statuses[0] if operation.statuses else 400
