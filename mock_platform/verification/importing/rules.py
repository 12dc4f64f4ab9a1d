"""Rules that answer as recorded: exactly the recorded requests, or all of an operation."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from msgspec import Struct, field

from mock_platform.core.documents.source import MAX_DEPTH, MAX_VALUES
from mock_platform.core.jsonio import BadJson, canonical, loads
from mock_platform.verification.importing.recorded import RecordedCall

_MAX_CONDITIONS = 30
_MAX_NAMES = 2 * _MAX_CONDITIONS
"""Names that were not sent, of which those that are too long are left out."""
_MAX_TEXT = 1_000_000
_KEPT = re.compile(r"content-type|location|retry-after|www-authenticate|x-.*rate-limit.*", re.ASCII)
_NAME = re.compile(r"[^a-z0-9]+", re.ASCII)
_BEFORE_AUTH = frozenset({401, 403, 429, 503})

Rule = dict[str, Any]


class CannotAnswer(ValueError):
    """A recorded answer that no rule can send."""


def identify_request(recorded: RecordedCall, names: Sequence[str]) -> bytes:
    """Return what requests have in common that the same rules are for.

    `names` are the parameters that were ever sent to their target, sorted.
    """
    return _digest([find_target(recorded), make_conditions(recorded, names)])


def identify_answer(recorded: RecordedCall) -> bytes:
    """Return what equal answers have in common."""
    response = recorded.exchange.response
    body = recorded.answer
    return _digest([response.status, body if body is not None else response.body.decode("latin-1")])


class RequestGroup(Struct):
    """Equal requests of a recording: their positions, and what identifies the answer of each."""

    positions: list[int] = field(default_factory=list)
    answers: list[bytes] = field(default_factory=list)

    def add(self, position: int, answer: bytes) -> None:
        """Add a request that is equal to the others."""
        self.positions.append(position)
        self.answers.append(answer)

    def choose(self, wrong: Mapping[int, bool]) -> dict[int, bool]:
        """Return the entries of its own requests, by their places in the group."""
        return {
            place: wrong[position]
            for place, position in enumerate(self.positions)
            if position in wrong
        }


def make_exact_rules(
    group: RequestGroup,
    wrong: Mapping[int, bool],
    names: Sequence[str],
    load: Callable[[int], RecordedCall],
) -> Iterator[Rule]:
    """Yield rules for those of some equal requests whose answers are wrong.

    `wrong` has the places of such requests in the group, and whether their rules act before
    authentication. `names` are the parameters that were ever sent to their target, sorted; `load`
    returns the request at a position.
    """
    # Equal requests with one answer need one rule for all calls. If the answers differ, the number
    # of the call decides, and neighbours with equal answers share a rule, so that a poll of a
    # hundred calls becomes two or three rules.
    answers = group.answers
    is_constant = len({*answers}) == 1
    for run in _join(answers, {min(wrong): wrong[min(wrong)]} if is_constant else wrong):
        recorded = load(group.positions[run.start])
        rule: Rule = {"on": find_target(recorded)}
        if conditions := make_conditions(recorded, names):
            rule["when"] = conditions
        if not is_constant:
            rule["call"] = _number_calls(run, len(answers))
        if wrong[run.start]:
            rule["stage"] = "before_auth"
        try:
            rule["then"] = {"respond": make_answer(recorded)}
        except CannotAnswer:
            continue  # reported as not answered
        yield rule


def _join(answers: Sequence[bytes], wrong: Mapping[int, bool]) -> Iterator[range]:
    """Yield the wrong positions: as one range where the same rule does for several in a row."""
    positions = sorted(wrong)
    first = 0
    for at, position in enumerate(positions):
        after = positions[at + 1] if at + 1 < len(positions) else None
        if (
            after == position + 1
            and answers[after] == answers[position]
            and wrong[after] == wrong[position]
        ):
            continue
        yield range(positions[first], position + 1)
        first = at + 1


def _number_calls(run: range, count: int) -> int | dict[str, int]:
    """Return the calls of a rule, counted from one; the last one is for all later calls too."""
    if run.stop == count:
        return {"from": run.start + 1}
    return run.stop if len(run) == 1 else {"from": run.start + 1, "to": run.stop}


def make_failure(recorded: RecordedCall) -> tuple[str, Rule]:
    """Return the name of a scenario, and a rule that refuses all requests of an operation so."""
    status = recorded.exchange.response.status
    code = _find_code(recorded.answer)
    words = f"{recorded.operation or recorded.path} {status} {code}".lower()
    rule: Rule = {"on": find_target(recorded)}
    if status in _BEFORE_AUTH:
        rule["stage"] = "before_auth"
    rule["then"] = {"respond": make_answer(recorded)}
    return _NAME.sub("-", words).strip("-")[:80], rule


def find_target(recorded: RecordedCall) -> str:
    """Return what a rule is about: an operation, or a path that no operation serves."""
    if recorded.operation is not None:
        return recorded.operation
    return f"{recorded.exchange.request.method} {recorded.path}"


def make_conditions(recorded: RecordedCall, names: Sequence[str]) -> dict[str, Any]:
    """Return the conditions that only a request like the recorded one fulfils.

    `names` are the parameters that were ever sent to its target, sorted.
    """
    query = dict(recorded.query)
    found: dict[str, Any] = {
        "path": {name: _escape(value) for name, value in recorded.path_params.items()},
        "query": {name: _escape(value) for name, value in query.items() if name},
        "form": {name: _escape(value) for name, value in recorded.form if name},
        "json": dict(_list_values(recorded.json)),
    }
    # A target may have thousands of names; no more of them are read than can be conditions.
    unsent = (name for name in names if name and name not in query)
    found["query"] |= {name: {"exists": False} for name in islice(unsent, _MAX_NAMES)}
    kept = {}
    for part, values in found.items():
        usable = {
            name: value
            for name, value in values.items()
            if len(name) <= 200 and not (isinstance(value, str) and "[redacted" in value)
        }
        if usable:
            kept[part] = dict(list(usable.items())[:_MAX_CONDITIONS])
    return kept


def make_answer(recorded: RecordedCall) -> dict[str, Any]:
    """Return the recorded answer as the effect `respond` takes it.

    Raises:
        CannotAnswer: It is not text, not whole, too long, or no answer at all.
    """
    response = recorded.exchange.response
    if response.status < 200 or response.status > 599:
        raise CannotAnswer("no response came")
    if recorded.has_secrets:
        raise CannotAnswer("the secrets in it were removed from the recording")
    if not response.is_whole:
        raise CannotAnswer("; ".join(recorded.exchange.notes) or "its body is not whole")
    headers = {
        name: value
        for name, value in response.headers
        if _KEPT.fullmatch(name.lower()) and re.fullmatch(r"[\x20-\x7e]*", value)
    }
    answer: dict[str, Any] = {"status": response.status}
    if headers:
        answer["headers"] = {name: _escape(value) for name, value in headers.items()}
    if response.body:
        body = recorded.answer
        if body is not None:
            _require_small(response.body)
            answer["json"] = _escape(body)
        else:
            try:
                answer["text"] = _escape(response.body.decode())
            except UnicodeDecodeError as fault:
                raise CannotAnswer("its body is neither JSON nor text") from fault
            if len(answer["text"]) > _MAX_TEXT:
                raise CannotAnswer(f"its body is longer than {_MAX_TEXT:,} characters")
    return answer


def _require_small(body: bytes) -> None:
    if len(body) > _MAX_TEXT // 3:
        raise CannotAnswer(f"its body is longer than {_MAX_TEXT // 3:,} bytes")
    if body.count(b",") + body.count(b":") > MAX_VALUES // 2:
        raise CannotAnswer("its body has more values than a scenario may have")
    try:
        loads(body, max_nesting=MAX_DEPTH - 8)
    except BadJson as fault:
        raise CannotAnswer(f"its body is {fault}") from fault


def _digest(value: Any) -> bytes:
    return hashlib.blake2b(canonical(value), digest_size=16).digest()


def _list_values(value: Any, before: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the places of plain values in a JSON body, as conditions name them."""
    items: Iterable[tuple[Any, Any]] = ()
    if isinstance(value, dict):
        items = value.items()
    elif isinstance(value, list):
        items = enumerate(value)
    for name, inner in items:
        if "." in str(name):
            continue
        if isinstance(inner, dict | list):
            yield from _list_values(inner, f"{before}{name}.")
        elif inner is not None:
            yield f"{before}{name}", _escape(inner)


def _escape(value: Any) -> Any:
    """Return a value in which a dollar sign at the beginning of a text names no parameter."""
    if isinstance(value, str):
        return f"${value}" if value.startswith("$") else value
    if isinstance(value, list):
        return [_escape(item) for item in value]
    if isinstance(value, dict):
        return {name: _escape(item) for name, item in value.items()}
    return value


def _find_code(body: Any) -> str:
    if not isinstance(body, dict):
        return ""
    errors = body.get("errors")
    if isinstance(errors, list) and errors and isinstance(errors[0], dict):
        return str(errors[0].get("code") or errors[0].get("title") or "")
    return str(body.get("title") or "")
