"""Failures, raised by name wherever they are found; `rendering` makes their texts.

Those of the first group belong to one dialect each. Those of the second group are rendered by each
dialect in its own way.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, Literal, Self

from msgspec import Struct, field

from mock_platform.core.assumptions import Assumption, expectation, public_fact, settled
from mock_platform.core.errors import MAX_FAULTS
from mock_platform.core.failures.codes import (
    ADS_STATUS,
    NUMERIC_CODES,
    NumericCode,
    describe_unsupported_authentication,
)
from mock_platform.core.failures.problems import PROBLEM_TITLES, STATUS_BY_TYPE, Problem
from mock_platform.core.faults import EXCLUSIVE, INCLUSIVE, INVALID, MISSING, Fault
from mock_platform.core.pairs import Pairs

ADS_ERRORS = public_fact(
    "ads.error-envelope",
    "Advertising failures are an errors array with code and message beside the request echo; the "
    "spec shows neither the format nor the statuses. An error about parameters names one, or the "
    "empty one where none is to blame. A value that cannot be read is repeated under value, with "
    "details on why; the echo leaves it out.",
    "section 1",
)
OAUTH_CODES = public_fact(
    "oauth.error-codes",
    "Numeric codes other than 89, 93 and 99, their messages and their statuses.",
    "section 4",
)
INVALID_TOKEN_REASON = public_fact(
    "oauth.invalid-token-reason",
    "A 401 with code 89 has the reason phrase Authorization Required. "
    "HTTP/2, where a proxy speaks it, has none.",
    "section 4, invalidate_token",
)
ABSENT_CALLERS = expectation(
    "auth.absent-callers",
    "Calls for a suspended user answer 403 with code 64, or CURRENT_USER_SUSPENDED on the "
    "advertising interface; tokens of a deactivated user are no longer valid (401).",
)
ORDER_OF_ERRORS = settled(
    "errors.order",
    "Which refusal wins where several apply: path, method, authentication, account, gates, body, "
    "parameters, records, state.",
)
NOT_SHOWN = settled(
    "strict.not-implemented",
    "With --strict the sandbox answers 501 to whatever the spec does not show.",
)


class Failure(Exception):
    """Ends a request with an error; `assumptions` are those of its rendering."""

    assumptions: tuple[Assumption, ...] = ()
    headers: Sequence[tuple[str, str]] = ()
    keeps_changes = False
    """Whether the changes of the handler are kept; by default a failure undoes them all."""

    def keeping(self) -> Self:
        """Return the same failure, but it keeps the changes that were made before it."""
        self.keeps_changes = True
        return self


# -- failures of a named dialect ---------------------------------------------------------------


class ProblemFailure(Failure):
    """A problem object; raised with the result of `problem`."""

    def __init__(self, value: Problem, *assumptions: Assumption) -> None:
        super().__init__(value.detail)
        self.problem = value
        self.assumptions = (STATUS_BY_TYPE, PROBLEM_TITLES, *assumptions)


class NumericFailure(Failure):
    """An error with a numeric code of the table, or one with its own message and status.

    Under `/2` it is rendered as the flat error object unless `in_array`, or the table says so.
    """

    def __init__(
        self,
        code: int,
        message: str | None = None,
        *,
        status: int | None = None,
        in_array: bool = False,
    ) -> None:
        entry = NUMERIC_CODES.get(code) or NumericCode(code, status or 400, message or "Error")
        self.code = code
        self.status = status or entry.status
        self.message = message or entry.message
        self.label = entry.label
        self.in_array = in_array or entry.in_array
        self.reason = entry.reason if self.status == entry.status else None
        self.assumptions = () if entry.documented else (OAUTH_CODES,)
        if self.reason is not None:
            self.assumptions += (INVALID_TOKEN_REASON,)
        super().__init__(f"code {code}: {self.message}")


class PlainFailure(Failure):
    """An error that the platform sends as plain text."""

    def __init__(self, status: int, text: str, *assumptions: Assumption) -> None:
        super().__init__(text)
        self.status = status
        self.text = text
        self.assumptions = assumptions


class TokenFailure(Failure):
    """An error of the OAuth 2.0 token endpoints, as RFC 6749, 5.2 says: a word and a text."""

    def __init__(
        self, error: str, description: str, *assumptions: Assumption, status: int = 400
    ) -> None:
        super().__init__(f"{error}: {description}")
        self.error = error
        self.description = description
        self.status = status
        self.assumptions = assumptions

    def as_json(self) -> dict[str, str]:
        """Return the error as it is served."""
        return {"error": self.error, "error_description": self.description}


_ABOUT_PARAMETERS = frozenset({INVALID, MISSING, EXCLUSIVE, INCLUSIVE})
"""Codes whose errors have a `parameter` even if no parameter is the cause."""


class AdsError(Struct, frozen=True):
    """One element of `errors` on the advertising interface."""

    code: str
    message: str
    parameter: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    """`details` and `value` describe a value that could not be read."""
    place: str = ""
    """The place in the body, for the journal."""
    hint: str = ""
    """An addition to the interface's own words, for the journal."""

    @classmethod
    def from_fault(cls, parameter: str, fault: Fault) -> Self:
        """Return the error for a parameter's fault; an empty name means no parameter."""
        extra = {} if fault.details is None else {"details": fault.details, "value": fault.value}
        return cls(fault.code, str(fault), parameter, extra, hint=fault.hint)

    def as_json(self) -> dict[str, Any]:
        """Return the element as it is served."""
        shown: dict[str, Any] = {"code": self.code, "message": self.message}
        if self.parameter is not None:
            shown["parameter"] = self.parameter
        elif self.code in _ABOUT_PARAMETERS:
            shown["parameter"] = ""
        return shown | dict(self.extra)


class AdsFailure(Failure):
    """One or more named errors; by default, the status is that of the first one in the table."""

    assumptions = (ADS_ERRORS,)

    def __init__(self, *errors: AdsError, status: int | None = None) -> None:
        super().__init__("; ".join(f"{error.code}: {error.message}" for error in errors))
        self.errors = errors
        self.status = status or ADS_STATUS.get(errors[0].code, 400)


class BatchFailure(Failure):
    """A batch refused because of its items: `operation_errors`, one array of errors for each item.

    `echo` contains the operations as they were understood, parallel to it.
    """

    assumptions = (ADS_ERRORS,)

    def __init__(
        self,
        operation_errors: Sequence[Sequence[AdsError]],
        echo: Sequence[Mapping[str, Any]],
    ) -> None:
        super().__init__("some items of the batch are not acceptable")
        self.operation_errors = operation_errors
        self.echo = echo


# -- failures that each dialect renders in its own way -----------------------------------------


class RouteNotFound(Failure):
    """No operation has this path, as `text` says; `hint` has the reason and nearest operations."""

    def __init__(self, hint: str = "", text: str = "The requested route does not exist.") -> None:
        super().__init__(hint)
        self.hint = hint
        self.text = text


class SeeOther(Failure):
    """A browser is sent to a page that people can read; the same in each dialect."""

    def __init__(self, address: str) -> None:
        super().__init__(address)
        self.headers = [("Location", address), ("Vary", "Accept")]


class MethodNotAllowed(Failure):
    """The path exists, but not with this method."""

    def __init__(self, allowed: Sequence[str], note: str = "") -> None:
        super().__init__(f"allowed: {', '.join(allowed)}. {note}".rstrip())
        self.note = note
        self.headers = [("Allow", ", ".join(allowed))]


OWN_REALM = '"mock_platform"'
"""What a refusal names as the realm, unless it answers as the service does."""
AuthFault = Literal[
    "absent",
    "malformed",
    "signature",
    "timestamp",
    "nonce",
    "consumer",
    "no-token",
    "token",
    "revoked",
]


class Unauthorized(Failure):
    """The caller is not authenticated; `why` goes to the journal, not to the client."""

    def __init__(self, fault: AuthFault, why: str) -> None:
        super().__init__(why)
        self.fault = fault
        self.headers = [("WWW-Authenticate", f"OAuth realm={OWN_REALM}")]


class CallerSuspended(Failure):
    """The account of the user for whom the call is made is suspended."""

    assumptions = (ABSENT_CALLERS,)


class UnsupportedAuthentication(Failure):
    """The caller is known, but this operation does not accept the scheme."""

    def __init__(self, used: str, supported: Sequence[str]) -> None:
        self.used = used
        self.supported = supported
        super().__init__(describe_unsupported_authentication(used, supported))


class InvalidParameters(Failure):
    """All faults of a request's parameters."""

    def __init__(
        self,
        faults: Iterable[tuple[str, str]],
        sent: Mapping[str, Any],
        valid: Mapping[str, Any] | None = None,
    ) -> None:
        found = list(islice(faults, MAX_FAULTS + 1))
        if len(found) > MAX_FAULTS:
            found[-1] = ("", f"There are more than {MAX_FAULTS} faults; the others are left out")
        self.faults = [
            (name, text if isinstance(text, Fault) else Fault(text)) for name, text in found
        ]
        self.sent = sent
        self.valid = valid or {}
        """Return those parameters that the schema accepts."""
        super().__init__("; ".join(str(text) for _, text in self.faults))


class BadBody(Failure):
    """The body is not readable in its declared format."""


class UnsupportedMediaType(Failure):
    """The body has the wrong Content-Type."""

    def __init__(self, got: str, wanted: str) -> None:
        shown = got or "none"
        super().__init__(f"This request needs Content-Type {wanted}; got {shown}.")


class TooLarge(Failure):
    """The body is larger than allowed."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"The body may have at most {limit:,} bytes.")
        self.limit = limit


class RateLimited(Failure):
    """The calls of a rate window are used up."""

    def __init__(self, headers: Pairs) -> None:
        super().__init__("Rate limit exceeded")
        self.headers = headers


class NotShown(Failure):
    """`--strict`: the spec does not show this request, or the part of it named by `what`."""

    def __init__(self, assumption: Assumption, what: str = "this") -> None:
        super().__init__(
            f"The spec does not show {what}, and --strict refuses it. Without --strict the answer "
            f"rests on the assumption {assumption.id}: {assumption.text}"
        )
        self.assumption = assumption
        self.assumptions = (assumption, NOT_SHOWN)


class WarningsRefused(Failure):
    """`--warnings error`: parts of the request would be ignored, as `messages` say.

    `beside` are the faults of its parameters, if it has any: one answer reports everything.
    """

    def __init__(
        self,
        assumption: Assumption,
        warnings: Iterable[tuple[str, str]],
        beside: InvalidParameters | None = None,
    ) -> None:
        self.messages = [
            f"Warning {code}, and warnings are errors here: {text}" for code, text in warnings
        ]
        self.beside = beside
        faults = [] if beside is None else [str(beside)]
        super().__init__("; ".join([*self.messages, *faults]))
        self.assumptions = (assumption,)


class NotStored(Failure):
    """The store has no space for the changes of the request; the text says what to do."""


class InternalError(Failure):
    """An error in the sandbox itself; the journal has the traceback."""
