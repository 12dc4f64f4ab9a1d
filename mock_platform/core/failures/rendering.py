"""Rendering of failures: three dialects, each renders every failure in one place.

Under `/2`: problem objects (document A, "Problem object") or the flat error object. Elsewhere: an
`errors` array, with numeric codes on the OAuth addresses, and with named codes and the `request`
echo on the advertising addresses.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import singledispatch
from itertools import islice
from typing import Any

from mock_platform.core.assumptions import public_fact
from mock_platform.core.call import FORM, Call, Reply
from mock_platform.core.errors import MAX_FAULTS
from mock_platform.core.failures.errors import (
    OWN_REALM,
    AdsError,
    AdsFailure,
    BadBody,
    BatchFailure,
    CallerSuspended,
    Failure,
    InternalError,
    InvalidParameters,
    MethodNotAllowed,
    NotShown,
    NotStored,
    NumericFailure,
    PlainFailure,
    ProblemFailure,
    RateLimited,
    RouteNotFound,
    SeeOther,
    TokenFailure,
    TooLarge,
    Unauthorized,
    UnsupportedAuthentication,
    UnsupportedMediaType,
    WarningsRefused,
)
from mock_platform.core.failures.problems import MEDIA_TYPE, Problem, problem
from mock_platform.core.faults import INVALID, MISSING, V2_WORDS, cut
from mock_platform.core.jsonio import MAX_VALUES, BadJson, dumps, loads
from mock_platform.core.operation import Dialect, dialect_of
from mock_platform.core.pairs import Pairs
from mock_platform.settings import DOCUMENTED

JSON = "application/json; charset=utf-8"
_MAX_HINTS = 20
_NOT_AUTHENTICATED = 32
_REALM = '"https://api.x.com"'
RECORDED_STATUSES = public_fact(
    "wire.statuses",
    "On the recorded wire rules that were created answer 201. A missing resource is a 404 with "
    "errors, title, detail and type alone; with --wire recorded-2023 its reading is a 200 with "
    "errors. Problems are application/json, few with a status. A used-up limit is the problem Too "
    "Many Requests, an unknown path an empty 404; the text of code 32 ends with a full stop. The "
    "statuses of rules and of what is missing, the media type of problems, and the form of a "
    "used-up limit can each be chosen by itself.",
    "wire, sections 2 and 3",
)
HEADERS: Mapping[str, tuple[tuple[str, str], ...]] = {"ads": (("x-current-api-version", "12"),)}
"""Headers of every answer of a dialect (public facts, section 3, versions)."""


def render(failure: Failure, call: Call) -> Reply:
    """Return the reply for a failure, in the dialect of the call's path."""
    # The path decides the dialect, not the operation: a request to an unknown path below `/2` gets
    # a problem like all others there. The headers of the dialect come with an operation, so they
    # are added here only where there is none; its own form of refusals, such as a page, needs one.
    reply = _render_in_dialect(failure, call)
    if call.operation is None:  # an operation brings these headers itself
        reply.headers += HEADERS.get(dialect_of(call.path), ())
        return reply
    return reply if call.dress is None else call.dress(call, failure, reply)


def _render_in_dialect(failure: Failure, call: Call) -> Reply:
    if isinstance(failure, SeeOther):
        return Reply(303, b"", [*failure.headers])
    dialect = dialect_of(call.path)
    _note_hints(failure, call)
    form = _form(failure, dialect, call)
    call.assume(*failure.assumptions)
    if isinstance(form, PlainFailure):
        headers = [("Content-Type", "text/html; charset=utf-8"), *failure.headers]
        if call.wire == "recorded" and form.status == 401:
            call.assume(RECORDED_STATUSES)
            headers.append(("WWW-Authenticate", f"OAuth realm={_REALM}"))
        return Reply(form.status, form.text.encode(), headers)
    if isinstance(form, TokenFailure):
        headers = [("Content-Type", JSON), ("Cache-Control", "no-store"), *failure.headers]
        return Reply(form.status, dumps(form.as_json()), headers)
    if isinstance(form, ProblemFailure):
        call.assume(*form.assumptions)
        if call.chosen is not DOCUMENTED:
            return _render_as_chosen(failure, form.problem, call)
        body = dumps(form.problem.as_json(call.base_url))
        return Reply(form.problem.status, body, [("Content-Type", MEDIA_TYPE), *failure.headers])
    if form is not failure:
        call.assume(*form.assumptions)
    status, payload = _payload(form, dialect, call)
    if isinstance(failure, RouteNotFound) and isinstance(form, NumericFailure):
        payload["hint"] = failure.hint  # clients compare the message, which stays as it is
    reason = form.reason if isinstance(form, NumericFailure) else None
    own = failure.headers
    if call.wire == "recorded" and isinstance(failure, Unauthorized) and dialect == "oauth":
        assert isinstance(form, NumericFailure)
        call.assume(RECORDED_STATUSES)
        own = _name_realm(own, form.code)
        if form.code == _NOT_AUTHENTICATED:
            payload["errors"][0]["message"] += "."
    return Reply(status, dumps(payload), [("Content-Type", JSON), *own], reason=reason)


def _render_as_chosen(failure: Failure, shown: Problem, call: Call) -> Reply:
    chosen, is_recorded = call.chosen, call.wire == "recorded"
    call.assume(RECORDED_STATUSES)
    if is_recorded and isinstance(failure, RouteNotFound):
        return Reply(404)
    own = _name_realm(failure.headers) if is_recorded else failure.headers
    if chosen.missing == "200" and shown.repeated and call.method == "GET":
        body = dumps({"errors": [shown.as_item(call.base_url)]})
        return Reply(200, body, [("Content-Type", JSON), *own])
    base = call.base_url
    body = dumps(shown.as_recorded(base) if is_recorded else shown.as_json(base))
    kind = JSON if chosen.problems == "json" else MEDIA_TYPE
    return Reply(shown.status, body, [("Content-Type", kind), *own])


def _name_realm(headers: Iterable[tuple[str, str]], code: int | None = None) -> Pairs:
    """Return headers in which the realm is the platform's, with the code of a refused signature."""
    realm = f"{_REALM}, api_error_code={code}" if code == _NOT_AUTHENTICATED else _REALM
    return [(name, value.replace(OWN_REALM, realm, 1)) for name, value in headers]


def _note_hints(failure: Failure, call: Call) -> None:
    """Record in the journal what the interface's own words do not contain."""
    hints = list(islice(_hints(failure), _MAX_HINTS + 1))
    if not hints or call.diagnosis is not None:
        return
    shown = [f"{where}: {hint}" if where else hint for where, hint in hints[:_MAX_HINTS]]
    if len(hints) > _MAX_HINTS:
        shown.append("and more")
    call.diagnosis = {"mistake": "parameters", "explanation": "; ".join(shown)}


def _hints(failure: Failure) -> Iterator[tuple[str, str]]:
    """Return the place of a fault, and a hint."""
    if isinstance(failure, WarningsRefused) and failure.beside is not None:
        yield from _hints(failure.beside)
    elif isinstance(failure, InvalidParameters):
        yield from ((name, fault.hint) for name, fault in failure.faults if fault.hint)
    elif isinstance(failure, AdsFailure):
        yield from ((error.parameter or "", error.hint) for error in failure.errors if error.hint)
    elif isinstance(failure, BatchFailure):
        for errors in failure.operation_errors:
            yield from ((error.place, error.hint or error.message) for error in errors)


def _payload(form: Failure, dialect: Dialect, call: Call) -> tuple[int, dict[str, Any]]:
    if isinstance(form, NumericFailure):
        error: dict[str, Any] = {"code": form.code, "message": form.message}
        if dialect == "v2" and not form.in_array:
            return form.status, error
        if form.label is not None:
            error["label"] = form.label
        return form.status, {"errors": [error]}
    if isinstance(form, BatchFailure):
        found = [[error.as_json() for error in item] for item in form.operation_errors]
        return 400, {"operation_errors": found, "request": form.echo}
    assert isinstance(form, AdsFailure)
    errors = [error.as_json() for error in form.errors]
    # Of a request whose sender is unknown nothing is read, so nothing is repeated.
    params = {} if form.status == 401 else call.echo
    return form.status, {"errors": errors, "request": {"params": params}}


def _form(failure: Failure, dialect: Dialect, call: Call) -> Failure:
    """Return the failure in a dialect's own type: problem, numeric, named, or plain text."""
    if isinstance(
        failure,
        ProblemFailure | NumericFailure | PlainFailure | TokenFailure | AdsFailure | BatchFailure,
    ):
        return failure
    if isinstance(failure, Unauthorized) and (
        failure.fault == "revoked" or (failure.fault == "token" and dialect == "oauth")
    ):
        return _invalid_token(dialect, call)
    if dialect != "ads" and isinstance(failure, CallerSuspended):
        return NumericFailure(64)
    if dialect == "v2" and isinstance(failure, RateLimited):
        limited = NumericFailure(88), ProblemFailure(_blank(429, "Too Many Requests"))
        return limited[call.chosen.limit == "problem"]
    if dialect == "v2":
        return ProblemFailure(_as_problem(failure, call))
    return _as_numeric(failure) if dialect == "oauth" else _as_named(failure)


def _invalid_token(dialect: Dialect, call: Call) -> NumericFailure:
    """Return code 89; for a bearer token on the OAuth addresses its text has no full stop."""
    scheme = (call.header("authorization") or "").partition(" ")[0].lower()
    bare = dialect == "oauth" and scheme == "bearer"
    return NumericFailure(89, "Invalid or expired token" if bare else None, in_array=True)


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
    return _blank(405, "Method Not Allowed", f"{call.method} is not allowed here; {failure}")


@_as_problem.register
def _(failure: Unauthorized, call: Call) -> Problem:
    return _blank(401, "Unauthorized")


@_as_problem.register
def _(failure: UnsupportedAuthentication, call: Call) -> Problem:
    return problem("unsupported-authentication", detail=str(failure))


@_as_problem.register
def _(failure: InvalidParameters, call: Call) -> Problem:
    return problem("invalid-request", errors=_list_faults(failure, call))


def _list_faults(failure: InvalidParameters, call: Call) -> list[dict[str, Any]]:
    """Return the faults in the words of `/2`, equal ones once."""
    in_query = {name for name, _ in call.query}
    has_body = bool(call.body) and call.media_type == "application/json" and call.method != "GET"
    shown: dict[str, list[str]] = {}  # many faults may be inside the same large value
    found: dict[tuple[str, str], dict[str, Any]] = {}
    sent = {**failure.sent, **_find_values_as_sent(failure, call)}
    for name, fault in failure.faults:
        said, names = fault.said, [name, *fault.beside]
        if said is None:
            message = str(fault)
        elif has_body and name not in in_query and _find_head(name) not in in_query:
            message = said.of_key
            if call.wire == "recorded":
                place = name.rpartition(".")[0] if said.is_of_object else name
                names = [f"$.{place}" if place else "$"]
        else:
            message = said.of_parameter
        if (name, message) not in found:
            parameters = {
                each: _repeat_value(call.json if each[0] == "$" else sent, each, shown)
                for each in names
                if each
            }
            found[name, message] = {"message": message, "parameters": parameters}
        if said is not None:
            call.assume(V2_WORDS)
    return list(found.values())


def _find_values_as_sent(failure: InvalidParameters, call: Call) -> dict[str, Any]:
    """Return objects and arrays of a JSON body with the names that the client gave to their keys.

    The operation may have read older names of keys as those that replaced them.
    """
    if not any(isinstance(value, dict | list) for value in failure.sent.values()):
        return {}
    try:
        body = loads(call.body, max_values=MAX_VALUES) if call.media_type != FORM else None
    except BadJson:  # the operation takes other bodies
        return {}
    sent = body if isinstance(body, dict) else {}
    return {
        name: sent[name]
        for name, value in failure.sent.items()
        if isinstance(value, dict | list) and isinstance(sent.get(name), dict | list)
    }


@_as_problem.register
def _(failure: WarningsRefused, call: Call) -> Problem:
    errors = [{"message": text, "parameters": {}} for text in failure.messages]
    faults = [] if failure.beside is None else _list_faults(failure.beside, call)
    return problem("invalid-request", errors=errors + faults)


@_as_problem.register
def _(failure: BadBody, call: Call) -> Problem:
    return problem("invalid-request", errors=[{"message": str(failure), "parameters": {}}])


@_as_problem.register
def _(failure: UnsupportedMediaType, call: Call) -> Problem:
    if call.wire == "recorded":
        call.assume(V2_WORDS)
        text = "Requests with bodies must have content-type of application/json."
        return problem("invalid-request", errors=[{"message": text, "parameters": {}}])
    return _blank(415, "Unsupported Media Type", str(failure))


@_as_problem.register
def _(failure: TooLarge, call: Call) -> Problem:
    return _blank(413, "Payload Too Large", str(failure))


@_as_problem.register
def _(failure: NotStored, call: Call) -> Problem:
    return _blank(507, "Insufficient Storage", str(failure))


@_as_problem.register
def _(failure: NotShown, call: Call) -> Problem:
    return _blank(501, "Not Implemented", str(failure))


_PLACE = re.compile(r"[^.\[\]]+")


def _find_head(place: str) -> str:
    """Return the first name of a place such as `add[0].value`."""
    found = _PLACE.match(place)
    return "" if found is None else found[0]


def _repeat_value(sent: Any, name: str, shown: dict[str, list[str]]) -> list[str]:
    """Return the value that was sent as a parameter, or in a body at a place that begins with `$`.

    `shown` keeps those of this answer.
    """
    value: Any = sent
    if name.startswith("$"):
        head = name
        for part in _PLACE.findall(name)[1:]:
            value = _step(value, part)
    else:
        head = name if name in sent else _find_head(name)
        value = sent.get(head, b"")
    if head not in shown:
        if isinstance(value, bytes):  # not sent, or the content of a file
            shown[head] = []
        elif isinstance(value, list) and name.startswith("$"):
            shown[head] = [cut(dumps(each).decode()) for each in value[:MAX_FAULTS]]
        else:
            is_text = isinstance(value, str) and not name.startswith("$")
            shown[head] = [cut(value if is_text else dumps(value).decode())]
    return shown[head]


def _step(value: Any, part: str) -> Any:
    """Return what an object or a list has at a name or number; `b""` for nothing."""
    if isinstance(value, list):
        return value[int(part)] if part.isdigit() and int(part) < len(value) else b""
    return value.get(part, b"") if isinstance(value, dict) else b""


_AUTH_CODES: Mapping[str, int] = {
    "absent": 215,
    "malformed": 215,
    "no-token": 215,
    "timestamp": 135,
}


def _as_numeric(failure: Failure) -> Failure:
    if isinstance(failure, Unauthorized):
        return NumericFailure(_AUTH_CODES.get(failure.fault, 32))
    if isinstance(failure, InvalidParameters):
        # One number has one sentence: what is invalid is said before what is missing.
        if all(text.code == MISSING for _, text in failure.faults):
            return NumericFailure(38, f"{failure.faults[0][0]} parameter is missing.")
        return NumericFailure(38, str(failure), status=400)
    codes: list[tuple[type[Failure], NumericFailure]] = [
        (RouteNotFound, NumericFailure(34)),
        (MethodNotAllowed, NumericFailure(34, status=405)),
        (UnsupportedAuthentication, NumericFailure(220)),
        (RateLimited, NumericFailure(88)),
        (WarningsRefused, NumericFailure(131, str(failure), status=400)),
        (BadBody, NumericFailure(131, str(failure), status=400)),
        (UnsupportedMediaType, NumericFailure(131, str(failure), status=415)),
        (TooLarge, NumericFailure(131, str(failure), status=413)),
        (NotShown, NumericFailure(131, str(failure), status=501)),
        (NotStored, NumericFailure(131, str(failure), status=507)),
    ]
    for kind, form in codes:
        if isinstance(failure, kind):
            return form
    return NumericFailure(131, str(failure) or None)


def _as_named(failure: Failure) -> Failure:
    if isinstance(failure, InvalidParameters):
        return AdsFailure(*(AdsError.from_fault(name, fault) for name, fault in failure.faults))
    if isinstance(failure, WarningsRefused):
        found = [AdsError(INVALID, text) for text in failure.messages]
        faults = [] if failure.beside is None else failure.beside.faults
        return AdsFailure(*found, *(AdsError.from_fault(name, fault) for name, fault in faults))
    if isinstance(failure, RouteNotFound):
        return AdsFailure(AdsError("ROUTE_NOT_FOUND", f"{failure.text} {failure.hint}".strip()))
    words: list[tuple[type[Failure], str, str]] = [
        (MethodNotAllowed, "METHOD_NOT_ALLOWED", f"This method is not allowed here; {failure}"),
        (Unauthorized, "UNAUTHORIZED_ACCESS", "This request is not properly authenticated"),
        (CallerSuspended, "CURRENT_USER_SUSPENDED", str(failure)),
        (UnsupportedAuthentication, "UNAUTHORIZED_CLIENT_APPLICATION", str(failure)),
        (BadBody, "INVALID_PARAMETER", str(failure)),
        (UnsupportedMediaType, "UNSUPPORTED_MEDIA_TYPE", str(failure)),
        (TooLarge, "REQUEST_ENTITY_TOO_LARGE", str(failure)),
        (RateLimited, "TOO_MANY_REQUESTS", "Rate limit exceeded"),
        (NotShown, "NOT_IMPLEMENTED", str(failure)),
        (NotStored, "INSUFFICIENT_STORAGE", str(failure)),
    ]
    for kind, code, message in words:
        if isinstance(failure, kind):
            return AdsFailure(AdsError(code, message.strip()))
    return AdsFailure(AdsError("INTERNAL_ERROR", str(failure) or "Internal error"))


def make_internal_error(fault: Exception, call: Call) -> InternalError:
    """Return the failure for an error in the sandbox, or in what a user added to it."""
    if call.custom is not None and call.operation is None:
        return InternalError(
            f"What was added to the sandbox failed ({type(fault).__name__}: {fault}), a route or a "
            f"hook at {call.custom!r}; the journal has the traceback."
        )
    odd = ""
    if isinstance(fault, KeyError):  # what every record has, unless it was stored as given
        odd = f" or of a record without {fault} that was stored with ?unchecked=true"
    return InternalError(
        f"The sandbox itself failed ({type(fault).__name__}: {fault}). This is a fault of "
        f"mock_platform{odd}, not of your request; the journal has the traceback."
    )
