"""The failures that the stages before a handler can raise: for the description and the coverage."""

from __future__ import annotations

from collections.abc import Iterator

from mock_platform.core.assumptions import Assumption
from mock_platform.core.auth.oauth2 import refuse_missing
from mock_platform.core.call import FORM, MULTIPART
from mock_platform.core.failures.errors import (
    BadBody,
    Failure,
    InternalError,
    InvalidParameters,
    NotShown,
    NumericFailure,
    RateLimited,
    TooLarge,
    Unauthorized,
    UnsupportedAuthentication,
    UnsupportedMediaType,
)
from mock_platform.core.faults import INVALID, MISSING, Fault
from mock_platform.core.limits import counter
from mock_platform.core.operation import Location, Operation
from mock_platform.core.unread import IGNORED_PARAMETERS
from mock_platform.settings import Settings

WRITES = frozenset({"POST", "PUT", "PATCH"})
"""The methods whose requests may have a body."""


def possible_failures(operation: Operation, settings: Settings) -> Iterator[Failure]:
    """Return one failure of each kind that the stages before an operation's handler can raise."""
    yield InternalError("a fault of the sandbox itself")
    if operation.oauth_step:
        yield NumericFailure(92)
    if settings.strict:
        yield NotShown(_any_assumption(operation))
    if operation.auth.refuses:
        worded = operation.auth.on_failure
        for refusal in _refusals(operation):
            yield refusal if worded is None else worded(refusal)
    if operation.params is not None:
        for code in (MISSING, INVALID):
            yield InvalidParameters([("parameter", Fault("", code))], {})
    if operation.location is Location.JSON:
        yield BadBody("")
        yield UnsupportedMediaType("", "application/json")
    elif operation.location is Location.UPLOAD:
        yield BadBody("")
        yield UnsupportedMediaType("", MULTIPART)
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


def _any_assumption(operation: Operation) -> Assumption:
    return next(iter(operation.all_assumptions), IGNORED_PARAMETERS)
