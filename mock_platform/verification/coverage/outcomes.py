"""The outcomes of operations: which can be covered, and how often clients exercised each.

They are counted request by request, for a few dictionary look-ups each. The counts belong to the
server: a reset of a world, a full journal and the end of a world leave them, so that a whole test
run adds up.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar

import orjson
from marshmallow import Schema
from msgspec import Struct, field

from mock_platform.api.ads.conventions import Batch, account_scope, may_write
from mock_platform.core.call import Call
from mock_platform.core.description.openapi import HERE
from mock_platform.core.failures.codes import ADS_STATUS, NUMERIC_CODES
from mock_platform.core.failures.errors import Failure, InternalError, InvalidParameters
from mock_platform.core.failures.problems import ABOUT_BLANK, PROBLEM_TYPES
from mock_platform.core.failures.rendering import render
from mock_platform.core.faults import MISSING
from mock_platform.core.operation import Operation
from mock_platform.core.pipeline import possible_failures
from mock_platform.settings import Settings
from mock_platform.world.journal import JournalEntry

# The outcome of an answer: its status, and the code by which its body names a failure.

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


# The counts of what clients exercise.

_Key = TypeVar("_Key")

MAX_WORLDS = 1000
"""Worlds with counts of their own; beyond that, the oldest world is added to `EARLIER`."""
EARLIER = "(earlier worlds)"
MAX_OUTCOMES = 256
"""Different outcomes kept for an operation of a world; more share one, without a code."""


class Tally(Struct, gc=False):
    """The counts of one operation.

    A test run keeps some for each of its tests. They refer to nothing that refers to them, and the
    garbage collector need not look at plain dicts of numbers either.
    """

    requests: int = 0
    outcomes: dict[tuple[int, str], int] = field(default_factory=dict)
    accepted: dict[str, int] = field(default_factory=dict)
    """How often each parameter was sent in a request that succeeded."""
    refused: dict[str, int] = field(default_factory=dict)
    """How often each parameter was sent in a request that failed."""

    def add(self, other: Tally) -> None:
        """Add the counts of another tally."""
        self.requests += other.requests
        _add_counts(self.outcomes, other.outcomes)
        _add_counts(self.accepted, other.accepted)
        _add_counts(self.refused, other.refused)


Tallies = dict[str, Tally]
"""By operation; requests that no operation answers are counted under ""."""


class Recorder:
    """The counts of one server. Safe for concurrent use; to be one of a platform's observers."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._worlds: dict[str, Tallies] = {}

    def observe(self, entry: JournalEntry) -> None:
        """Count the request of a journal entry, unless a user's own route answered it."""
        if entry.custom is not None:
            return
        status = entry.status
        found = ("",) if status < 400 else find_codes(status, entry.response_body)
        name = entry.operation or ""
        with self._lock:
            tallies = self._worlds.get(entry.world)
            if tallies is None:
                tallies = self._new_world(entry.world)
            tally = tallies.get(name)
            if tally is None:
                tally = tallies[name] = Tally()
            tally.requests += 1
            outcomes = tally.outcomes
            for code in found:
                key = (status, code)
                if key not in outcomes and len(outcomes) >= MAX_OUTCOMES:
                    key = (status, "")
                outcomes[key] = outcomes.get(key, 0) + 1
            if entry.sent:
                counts = tally.accepted if status < 400 else tally.refused
                for parameter in entry.sent:
                    counts[parameter] = counts.get(parameter, 0) + 1

    def worlds(self) -> dict[str, int]:
        """Return the worlds that had requests, with the number of these."""
        with self._lock:
            return {
                name: sum(tally.requests for tally in tallies.values())
                for name, tallies in self._worlds.items()
            }

    def tallies(self, world: str | None = None) -> Tallies:
        """Return a copy of the counts of a world, or of all worlds together."""
        merged: Tallies = {}
        with self._lock:
            for name, tallies in self._worlds.items():
                if world is None or name == world:
                    _add(merged, tallies)
        return merged

    def clear(self, world: str | None = None) -> None:
        """Forget the counts of a world, or of all worlds."""
        with self._lock:
            if world is None:
                self._worlds.clear()
            else:
                self._worlds.pop(world, None)

    def _new_world(self, name: str) -> Tallies:
        if len(self._worlds) >= MAX_WORLDS:
            oldest = next(known for known in self._worlds if known != EARLIER)
            _add(self._worlds.setdefault(EARLIER, {}), self._worlds.pop(oldest))
        made: Tallies = {}
        self._worlds[name] = made
        return made


def list_outcomes(tally: Tally) -> dict[Outcome, int]:
    """Return the outcomes of a tally with their counts."""
    return {Outcome(*key): count for key, count in tally.outcomes.items()}


def _add(merged: Tallies, more: Tallies) -> None:
    for name, tally in more.items():
        merged.setdefault(name, Tally()).add(tally)


def _add_counts(counts: dict[_Key, int], more: dict[_Key, int]) -> None:
    for key, count in more.items():
        counts[key] = counts.get(key, 0) + count
