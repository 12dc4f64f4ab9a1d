"""Failures, raised by name wherever they are found and rendered here, once, in two dialects.

`/2` answers with problem objects (document A, "Problem object") or the flat error object. All else
answers with an `errors` array: numeric codes on the OAuth addresses, named ones with the `request`
echo on the advertising addresses.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import singledispatch
from typing import Any, Literal, Self

from mock_platform.core import fields as wire
from mock_platform.core.assumptions import Assumption, public_fact, settled
from mock_platform.core.call import Call, Pairs, Reply
from mock_platform.core.jsonio import dumps
from mock_platform.core.problems import (
    MEDIA_TYPE,
    STATUS_BY_TYPE,
    TITLES,
    Problem,
    problem,
)

Dialect = Literal["v2", "oauth", "ads"]
JSON = "application/json; charset=utf-8"

ADS_ERRORS = public_fact(
    "ads.error-envelope",
    "Advertising failures are an errors array with code and message beside the request echo; the "
    "spec shows neither the format nor the statuses.",
    "section 1",
)
OAUTH_CODES = public_fact(
    "oauth.error-codes",
    "Numeric codes other than 89, 93 and 99, their messages and their statuses.",
    "section 4",
)
ORDER = settled(
    "errors.order",
    "Which refusal wins where several apply: path, method, authentication, account, gates, body, "
    "parameters, records, state.",
)
NOT_SHOWN = settled(
    "strict.not-implemented",
    "With --strict the sandbox answers 501 to whatever the spec does not show.",
)


@dataclass(frozen=True, slots=True)
class NumericCode:
    """A numeric error of the OAuth and 1.1 interface."""

    code: int
    status: int
    message: str
    label: str | None = None
    documented: bool = False


_CODES = (
    NumericCode(32, 401, "Could not authenticate you."),
    NumericCode(34, 404, "Sorry, that page does not exist."),
    NumericCode(38, 403, "A parameter is missing."),
    NumericCode(50, 404, "User not found."),
    NumericCode(63, 403, "User has been suspended."),
    NumericCode(64, 403, "Your account is suspended and is not permitted to access this feature."),
    NumericCode(68, 410, "The REST API v1 is no longer active."),
    NumericCode(87, 403, "Client is not permitted to perform this action."),
    NumericCode(88, 429, "Rate limit exceeded"),
    NumericCode(89, 401, "Invalid or expired token.", documented=True),
    NumericCode(92, 403, "SSL is required"),
    NumericCode(
        93,
        403,
        "This application is not allowed to access or delete your direct messages.",
        documented=True,
    ),
    NumericCode(
        99, 403, "Unable to verify your credentials", "authenticity_token_error", documented=True
    ),
    NumericCode(130, 503, "Over capacity"),
    NumericCode(131, 500, "Internal error"),
    NumericCode(135, 401, "Timestamp out of bounds."),
    NumericCode(215, 400, "Bad Authentication data."),
    NumericCode(220, 403, "Your credentials do not allow access to this resource"),
    NumericCode(
        226, 403, "This request looks like it might be automated. We can't complete this action."
    ),
    NumericCode(231, 403, "User must verify login"),
    NumericCode(251, 410, "This endpoint has been retired and should not be used."),
    NumericCode(261, 403, "Application cannot perform write actions."),
    NumericCode(326, 403, "To protect our users, this account is temporarily locked."),
    NumericCode(355, 409, "Subscription already exists."),
    NumericCode(407, 403, "The given URL is invalid."),
    NumericCode(415, 403, "Callback URL not approved for this client application."),
    NumericCode(416, 401, "Invalid / suspended application"),
    NumericCode(417, 401, "Desktop applications only support the oauth_callback value 'oob'"),
)
NUMERIC_CODES: Mapping[int, NumericCode] = {entry.code: entry for entry in _CODES}
"""All numeric codes of the spec and of the public table."""

ADS_STATUS: Mapping[str, int] = {
    code: status
    for status, codes in {
        400: "DUPLICATE_POST EXCLUSIVE_PARAMETERS FEATURE_NOT_AVAILABLE ILLEGAL_CHARACTERS "
        "INCLUSIVE_PARAMETERS INVALID_DENOMINATION INVALID_FUNDING_INSTRUMENT INVALID_IMAGE "
        "INVALID_MEDIA INVALID_MEDIA_ID INVALID_PARAMETER INVALID_PLACEMENT_TYPE "
        "INVALID_TAILORED_AUDIENCE_TYPE INVALID_TARGETING_TYPE INVALID_TIME_WINDOW "
        "INVALID_TV_SHOW_LOCATIONS INVALID_POST INVALID_USER INVALID_USER_ID MISSING_PARAMETER "
        "REQUEST_TOO_COMPLEX SPEND_EXCEEDS_BUDGET TOO_MANY_CAMPAIGNS TOO_MANY_LINE_ITEMS "
        "TV_SHOW_OUTSIDE_MARKET POST_CANNOT_BE_BLANK UNKNOWN_CARD_TYPE UNKNOWN_CRITERIA_TYPE",
        401: "UNAUTHORIZED_ACCESS",
        403: "ACCOUNT_LOCKED_OUT ACCOUNT_NOT_FOUND ACTION_NOT_ALLOWED CURRENT_USER_SUSPENDED "
        "FUNDING_INSTRUMENT_ACCESS_NOT_ALLOWED FUNDING_INSTRUMENT_EXCEEDS_AVAILABLE_CREDIT_LIMIT "
        "GENERIC_POST_ERROR MALWARE_STATUS READONLY_CLIENT_APPLICATION POST_IS_SPAM "
        "UNAUTHORIZED_CLIENT_APPLICATION USER_NOT_FOUND",
        404: "ACCOUNT_MEDIA_NOT_FOUND APP_EVENT_PROVIDER_CONFIGURATION_NOT_FOUND "
        "APP_EVENT_TAG_NOT_FOUND BEHAVIOR_OR_BEHAVIOR_EXPANDED_NOT_FOUND CAMPAIGN_NOT_FOUND "
        "CARD_NOT_FOUND FUNDING_INSTRUMENT_NOT_FOUND INVALID_APP_ID INVALID_APP_STORE "
        "INVALID_IAB_CATEGORY INVALID_ID_ILLEGAL_CHARACTERS LINE_ITEM_APP_NOT_FOUND "
        "LINE_ITEM_NOT_FOUND MACT_APP_NOT_FOUND MEDIA_CREATIVE_NOT_FOUND MEDIA_NOT_FOUND "
        "NO_PROVIDER_AVAILABLE_FOR_THIS_CLIENT_APPLICATION NOT_FOUND PROMOTABLE_USER_NOT_FOUND "
        "PROMOTED_ACCOUNT_NOT_FOUND PROMOTED_POST_NOT_FOUND ROUTE_NOT_FOUND "
        "TAILORED_AUDIENCE_CHANGE_FILE_NOT_FOUND TAILORED_AUDIENCE_NOT_FOUND "
        "TAILORED_AUDIENCE_OR_TAILORED_AUDIENCE_EXPANDED_NOT_FOUND TARGETING_CRITERION_NOT_FOUND "
        "POST_NOT_FOUND WEB_EVENT_TAG_NOT_FOUND",
        405: "METHOD_NOT_ALLOWED",
        408: "CANCELLED_REQUEST",
        413: "REQUEST_ENTITY_TOO_LARGE",
        415: "UNSUPPORTED_MEDIA_TYPE",
        423: "LOCK_ACQUISITION_TIMEOUT",
        429: "TOO_MANY_REQUESTS POST_RATE_LIMIT_EXCEEDED",
        500: "INTERNAL_ERROR",
        501: "NOT_IMPLEMENTED",
        503: "SERVICE_UNAVAILABLE OVER_CAPACITY",
    }.items()
    for code in codes.split()
}
"""Status of each named advertising code: the public table, and 413, 415, 501 of our own."""


class Failure(Exception):
    """Anything that ends a request with an error; `assumptions` are what its rendering rests on."""

    assumptions: tuple[Assumption, ...] = ()
    headers: Sequence[tuple[str, str]] = ()
    keeps_changes = False
    """Whether what the handler changed before it stays; by default a failure undoes everything."""

    def keeping(self) -> Self:
        """The same failure, with what was changed before it kept."""
        self.keeps_changes = True
        return self


# -- failures of a named dialect ---------------------------------------------------------------


class ProblemFailure(Failure):
    """A problem object; raised with what `problem` builds."""

    def __init__(self, value: Problem, *assumptions: Assumption) -> None:
        super().__init__(value.detail or value.title)
        self.problem = value
        self.assumptions = (STATUS_BY_TYPE, TITLES, *assumptions)


class NumericFailure(Failure):
    """An error with a numeric code of the table, or one with a message and status of its own.

    Under `/2` it is the flat error object unless `in_array`.
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
        self.in_array = in_array
        self.assumptions = () if entry.documented else (OAUTH_CODES,)
        super().__init__(f"code {code}: {self.message}")


class PlainFailure(Failure):
    """An error that the platform sends as plain text."""

    def __init__(self, status: int, text: str, *assumptions: Assumption) -> None:
        super().__init__(text)
        self.status = status
        self.text = text
        self.assumptions = assumptions


@dataclass(frozen=True, slots=True)
class AdsError:
    """One element of the advertising interface's `errors`."""

    code: str
    message: str
    parameter: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """The element as it is served."""
        shown: dict[str, Any] = {"code": self.code, "message": self.message}
        if self.parameter is not None:
            shown["parameter"] = self.parameter
        return shown | dict(self.extra)


class AdsFailure(Failure):
    """One or more named errors; the status is the table's for the first, unless given."""

    assumptions = (ADS_ERRORS,)

    def __init__(self, *errors: AdsError, status: int | None = None) -> None:
        super().__init__("; ".join(f"{error.code}: {error.message}" for error in errors))
        self.errors = errors
        self.status = status or ADS_STATUS.get(errors[0].code, 400)


class BatchFailure(Failure):
    """A batch refused because of items: `operation_errors`, one array of errors for each item."""

    assumptions = (ADS_ERRORS,)

    def __init__(self, operation_errors: Sequence[Sequence[AdsError]]) -> None:
        super().__init__("some items of the batch are not acceptable")
        self.operation_errors = operation_errors


# -- failures that each dialect words in its own way -------------------------------------------


class RouteNotFound(Failure):
    """No operation has this path; `hint` names the nearest."""

    def __init__(self, hint: str = "") -> None:
        super().__init__(hint)
        self.hint = hint


class MethodNotAllowed(Failure):
    """The path exists, the method does not."""

    def __init__(self, allowed: Sequence[str], note: str = "") -> None:
        super().__init__(f"allowed: {', '.join(allowed)}. {note}")
        self.note = note
        self.headers = [("Allow", ", ".join(allowed))]


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
    """The caller is not established; `why` goes to the journal, not to the client."""

    def __init__(self, fault: AuthFault, why: str) -> None:
        super().__init__(why)
        self.fault = fault
        self.headers = [("WWW-Authenticate", 'OAuth realm="mock_platform"')]


class UnsupportedAuthentication(Failure):
    """The caller is known, but by a scheme that this operation does not take."""

    def __init__(self, used: str, supported: Sequence[str]) -> None:
        self.used = used
        self.supported = supported
        super().__init__(
            f"Authenticating with {used} is forbidden for this endpoint. Supported authentication "
            f"types are [{', '.join(supported)}]."
        )


class InvalidParameters(Failure):
    """Everything that is wrong with a request's parameters, at once."""

    def __init__(
        self,
        faults: Iterable[tuple[str, str]],
        sent: Mapping[str, Any],
        valid: Mapping[str, Any] | None = None,
    ) -> None:
        self.faults = [
            (name, wire.Fault(str(t), getattr(t, "code", wire.INVALID))) for name, t in faults
        ]
        self.sent = sent
        self.valid = valid or {}
        """Those parameters that their schema takes."""
        super().__init__("; ".join(str(text) for _, text in self.faults))


class BadBody(Failure):
    """The body cannot be read as what it should be."""


class UnsupportedMediaType(Failure):
    """The body has the wrong Content-Type."""

    def __init__(self, got: str, wanted: str) -> None:
        shown = got or "none"
        super().__init__(f"This request needs Content-Type {wanted}; got {shown}.")


class TooLarge(Failure):
    """The body is larger than it may be."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"The body may have at most {limit:,} bytes.")
        self.limit = limit


class RateLimited(Failure):
    """A rate window is used up."""

    def __init__(self, headers: Pairs) -> None:
        super().__init__("Rate limit exceeded")
        self.headers = headers


class NotShown(Failure):
    """`--strict`: the spec does not show what was asked for; `what` names it, if it is a part."""

    def __init__(self, assumption: Assumption, what: str = "this") -> None:
        super().__init__(
            f"The spec does not show {what}, and --strict refuses it. Without --strict the answer "
            f"rests on the assumption {assumption.id}: {assumption.text}"
        )
        self.assumption = assumption
        self.assumptions = (assumption, NOT_SHOWN)


class InternalError(Failure):
    """A fault of the sandbox itself; the journal has the traceback."""


# -- rendering ---------------------------------------------------------------------------------


def dialect_of(path: str) -> Dialect:
    """The dialect in which a path's failures are worded, operations or not."""
    first = path.lstrip("/").partition("/")[0]
    if first == "2":
        return "v2"
    return "ads" if first.isdecimal() else "oauth"


def render(failure: Failure, call: Call) -> Reply:
    """The reply for a failure, in the dialect of the call's path, as its operation dresses it."""
    reply = _rendered(failure, call)
    if call.operation is None or call.operation.dress is None:
        return reply
    return call.operation.dress(call, failure, reply)


def _rendered(failure: Failure, call: Call) -> Reply:
    dialect = dialect_of(call.path)
    form = _form(failure, dialect, call)
    call.assume(*failure.assumptions)
    if isinstance(form, PlainFailure):
        return Reply(
            form.status,
            form.text.encode(),
            [("Content-Type", "text/html; charset=utf-8"), *failure.headers],
        )
    if isinstance(form, ProblemFailure):
        body = dumps(form.problem.as_json(call.base_url))
        call.assume(*form.assumptions)
        return Reply(form.problem.status, body, [("Content-Type", MEDIA_TYPE), *failure.headers])
    if form is not failure:
        call.assume(*form.assumptions)
    status, payload = _payload(form, dialect, call)
    return Reply(status, dumps(payload), [("Content-Type", JSON), *failure.headers])


def _payload(form: Failure, dialect: Dialect, call: Call) -> tuple[int, dict[str, Any]]:
    if isinstance(form, NumericFailure):
        error: dict[str, Any] = {"code": form.code, "message": form.message}
        if dialect == "v2" and not form.in_array:
            return form.status, error
        if form.label is not None:
            error["label"] = form.label
        return form.status, {"errors": [error]}
    echo = {"request": {"params": call.echo}}
    if isinstance(form, BatchFailure):
        errors = [[error.as_json() for error in item] for item in form.operation_errors]
        return 400, {"operation_errors": errors} | echo
    assert isinstance(form, AdsFailure)
    return form.status, {"errors": [error.as_json() for error in form.errors]} | echo


def _form(failure: Failure, dialect: Dialect, call: Call) -> Failure:
    """The failure in a dialect's own kind: problem, numeric, named, or plain text."""
    if isinstance(
        failure, ProblemFailure | NumericFailure | PlainFailure | AdsFailure | BatchFailure
    ):
        return failure
    if isinstance(failure, Unauthorized) and failure.fault == "revoked":
        return NumericFailure(89, in_array=True)
    if dialect == "v2" and isinstance(failure, RateLimited):
        return NumericFailure(88)
    if dialect == "v2":
        return ProblemFailure(_as_problem(failure, call))
    return _as_numeric(failure) if dialect == "oauth" else _as_named(failure)


def _blank(status: int, title: str, detail: str | None = None) -> Problem:
    return problem("about:blank", title=title, status=status, detail=detail or title)


@singledispatch
def _as_problem(failure: Failure, call: Call) -> Problem:
    return _blank(500, "Internal Server Error", str(failure))


@_as_problem.register
def _(failure: RouteNotFound, call: Call) -> Problem:
    return _blank(404, "Not Found", f"No operation answers {call.path}. {failure.hint}".strip())


@_as_problem.register
def _(failure: MethodNotAllowed, call: Call) -> Problem:
    return _blank(405, "Method Not Allowed", f"{call.method} is not allowed here. {failure}")


@_as_problem.register
def _(failure: Unauthorized, call: Call) -> Problem:
    return _blank(401, "Unauthorized")


@_as_problem.register
def _(failure: UnsupportedAuthentication, call: Call) -> Problem:
    return problem("unsupported-authentication", detail=str(failure))


@_as_problem.register
def _(failure: InvalidParameters, call: Call) -> Problem:
    errors = [
        {"message": str(text), "parameters": {name: _sent(failure.sent, name)}}
        for name, text in failure.faults
    ]
    detail = "One or more parameters to your request was invalid."
    return problem("invalid-request", detail=detail, errors=errors)


@_as_problem.register
def _(failure: BadBody, call: Call) -> Problem:
    return problem(
        "invalid-request",
        detail=str(failure),
        errors=[{"message": str(failure), "parameters": {}}],
    )


@_as_problem.register
def _(failure: UnsupportedMediaType, call: Call) -> Problem:
    return _blank(415, "Unsupported Media Type", str(failure))


@_as_problem.register
def _(failure: TooLarge, call: Call) -> Problem:
    return _blank(413, "Payload Too Large", str(failure))


@_as_problem.register
def _(failure: NotShown, call: Call) -> Problem:
    return _blank(501, "Not Implemented", str(failure))


def _sent(sent: Mapping[str, Any], name: str) -> list[str]:
    head = name.partition(".")[0].partition("[")[0]
    if head not in sent:
        return []
    value = sent[head]
    return [value if isinstance(value, str) else dumps(value).decode()]


_AUTH_CODES: Mapping[str, int] = {
    "absent": 215,
    "malformed": 215,
    "no-token": 215,
    "timestamp": 135,
    "token": 89,
}


def _as_numeric(failure: Failure) -> Failure:
    if isinstance(failure, Unauthorized):
        return NumericFailure(_AUTH_CODES.get(failure.fault, 32))
    if isinstance(failure, InvalidParameters):
        missing = [name for name, text in failure.faults if text.code == wire.MISSING]
        if missing:
            return NumericFailure(38, f"{missing[0]} parameter is missing.")
        return NumericFailure(38, str(failure), status=400)
    codes: list[tuple[type[Failure], NumericFailure]] = [
        (RouteNotFound, NumericFailure(34)),
        (MethodNotAllowed, NumericFailure(34, status=405)),
        (UnsupportedAuthentication, NumericFailure(220)),
        (RateLimited, NumericFailure(88)),
        (BadBody, NumericFailure(131, str(failure), status=400)),
        (UnsupportedMediaType, NumericFailure(131, str(failure), status=415)),
        (TooLarge, NumericFailure(131, str(failure), status=413)),
        (NotShown, NumericFailure(131, str(failure), status=501)),
    ]
    for kind, form in codes:
        if isinstance(failure, kind):
            return form
    return NumericFailure(131, str(failure) or None)


def _as_named(failure: Failure) -> Failure:
    if isinstance(failure, InvalidParameters):
        return AdsFailure(
            *(
                AdsError(text.code, str(text), name or None, _value_of(failure.sent, name, text))
                for name, text in failure.faults
            )
        )
    words: list[tuple[type[Failure], str, str]] = [
        (RouteNotFound, "ROUTE_NOT_FOUND", f"The requested route does not exist. {failure}"),
        (MethodNotAllowed, "METHOD_NOT_ALLOWED", f"This method is not allowed here; {failure}"),
        (Unauthorized, "UNAUTHORIZED_ACCESS", "This request is not properly authenticated"),
        (UnsupportedAuthentication, "UNAUTHORIZED_CLIENT_APPLICATION", str(failure)),
        (BadBody, "INVALID_PARAMETER", str(failure)),
        (UnsupportedMediaType, "UNSUPPORTED_MEDIA_TYPE", str(failure)),
        (TooLarge, "REQUEST_ENTITY_TOO_LARGE", str(failure)),
        (RateLimited, "TOO_MANY_REQUESTS", "Rate limit exceeded"),
        (NotShown, "NOT_IMPLEMENTED", str(failure)),
    ]
    for kind, code, message in words:
        if isinstance(failure, kind):
            return AdsFailure(AdsError(code, message.strip()))
    return AdsFailure(AdsError("INTERNAL_ERROR", str(failure) or "Internal error"))


def _value_of(sent: Mapping[str, Any], name: str, text: wire.Fault) -> dict[str, Any]:
    """`value` stands beside an invalid parameter that was sent, as in the public sample."""
    if text.code == wire.INVALID and name in sent and isinstance(sent[name], str):
        return {"value": sent[name]}
    return {}
