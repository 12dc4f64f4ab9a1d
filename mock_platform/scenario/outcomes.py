"""Outcomes of operations: those documented, that of an answer, and the effect that forces one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import orjson
from marshmallow import Schema

from mock_platform.api.ads.conventions import Batch, account_scope, may_write
from mock_platform.core.call import Call
from mock_platform.core.description.views import HERE
from mock_platform.core.failures.codes import ADS_STATUS, NUMERIC_CODES, phrase
from mock_platform.core.failures.errors import Failure, InternalError, InvalidParameters
from mock_platform.core.failures.problems import ABOUT_BLANK, PROBLEM_TYPES
from mock_platform.core.failures.rendering import render
from mock_platform.core.faults import MISSING
from mock_platform.core.operation import Operation
from mock_platform.core.pipeline import possible_failures
from mock_platform.settings import Settings

BATCH = "operation_errors"
"""Replaces the codes of a batch's items, which would be as many as its items."""
_CODE = b'"code":'
_USUAL = b'{"errors":[{"code":'
_QUOTE = ord('"')
_MAX_PARSED_BYTES = 64 * 1024
_MAX_PLAIN_TEXT_BYTES = 80


class Outcome(NamedTuple):
    """A status and a code: a problem type's slug, a numeric or named code, a plain text, or "".

    The code of a success is "".
    """

    status: int
    code: str


def find_codes(status: int, body: bytes) -> Iterable[str]:
    """Return the codes that the body of an answer names, each once; `("",)` without any."""
    if status < 400 or not body:
        return ("",)
    code = _read_single_code(body)
    if code is not None:
        return (code,)
    if not body.startswith(b"{") or len(body) > _MAX_PARSED_BYTES:
        return (_read_plain_text(body),)
    try:
        # Our own answers are read here on every failure: their depth need not be measured.
        value = orjson.loads(body)
    except orjson.JSONDecodeError:
        return ("",)
    return _read_named_codes(value) or ("",)


def _read_single_code(body: bytes) -> str | None:
    """Return the code of the usual errors array with one element, without parsing the body.

    Parsing would cost more than all other counting together.
    """
    if not body.startswith(_USUAL) or body.count(_CODE) != 1:
        return None
    begin = len(_USUAL)
    named = body[begin] == _QUOTE
    end = body.find(b'"', begin + 1) if named else body.find(b",", begin)
    code = body[begin + named : end]
    return code.decode() if end > 0 and code.replace(b"_", b"").isalnum() else None


def _read_named_codes(value: dict[str, Any]) -> Iterable[str]:
    kind = value.get("type")
    if isinstance(kind, str):
        return (kind.rpartition("/problems/")[2],)
    if BATCH in value:
        return (BATCH,)
    errors = value.get("errors")
    if not isinstance(errors, list):
        return (str(value["code"]),) if "code" in value else ()
    found = [str(error["code"]) for error in errors if isinstance(error, dict) and "code" in error]
    return found if len(found) < 2 else dict.fromkeys(found)


def _read_plain_text(body: bytes) -> str:
    """Return a short plain text as its own code; pages and long texts have none."""
    if len(body) > _MAX_PLAIN_TEXT_BYTES or body.lstrip().startswith(b"<"):
        return BATCH if body.startswith(b'{"operation_errors"') else ""
    return body.decode("utf-8", "replace")


@lru_cache(1024)  # those of all operations take a fifth of a second
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
    if unnamed in among:
        return unnamed
    # As it is recorded, a success may have another status, and a used-up limit no code.
    if outcome.status < 400:
        return next((known for known in among if known.status < 400), None)
    used_up = outcome == Outcome(429, ABOUT_BLANK)
    return next((known for known in among if used_up and known.status == 429), None)


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


def choose_effect(outcome: Outcome, text: str = "") -> dict[str, Any]:
    """Return the effect that answers so; `text` is the message of the answer, where it has one."""
    status, code = outcome
    text = text or ("" if code else phrase(status))
    if code in PROBLEM_TYPES or code == ABOUT_BLANK:
        usual = code != ABOUT_BLANK and PROBLEM_TYPES[code].status == status
        detail = {"detail": text} if text else {}
        return {"problem": code, **({} if usual else {"status": status}), **detail}
    message = {"message": text} if text else {}
    if code == BATCH:
        return {"items": {"0": {"code": "INVALID_PARAMETER", **message}}}
    if code.isdecimal():
        return {"error": {"code": int(code), "status": status, **message}}
    if code in ADS_STATUS or (code and code.isupper()):
        return {"error": {"code": code, "status": status, **message}}
    body = {"json": {"error": code}} if code.replace("_", "").isalpha() else {"text": text or code}
    return {"respond": {"status": status, **body}}
