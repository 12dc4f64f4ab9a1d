"""Why a request was refused, or what a scenario did to it, in one sentence for people.

It is `why` of the entry in the journal, the header `X-Mock-Why`, and in the log of requests.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping
from typing import Any

from mock_platform.core.call import Call, FaultKind, Reply
from mock_platform.core.failures.codes import phrase
from mock_platform.core.jsonio import BadJson, loads
from mock_platform.world import redact
from mock_platform.world.clock import Clock, machine_now, wire_seconds

_MAX_CHARACTERS = 400
_MAX_MESSAGES = 3
_MAX_MESSAGE = 240
_MAX_NEAREST = 3
PREFER = "prefer"
"""The name of the scenario of a request with `Prefer`, in the journal."""
_FAULTS: Mapping[FaultKind, str] = {
    "reset": "the connection was broken",
    "empty": "the connection was closed without an answer",
    "truncate": "half of the answer was sent",
    "garbage": "what was sent is no HTTP",
    "timeout": "nothing was sent",
}
_PLAIN = str.maketrans({"…": "...", "\u2019": "'", "“": '"', "”": '"', "\u2013": "-"})
_PARAGRAPH = re.compile(r"<p[^<>]*>([^<]+)")
_FIRST_WORD = re.compile(r"[a-z]+ ", re.ASCII)
_OF_TIME = re.compile(
    r"\b(?:clock|expired|now|request time|in the (?:future|past))\b", re.IGNORECASE
)
"""Words of a refusal that depends on what time it is."""
_NEAR = 60
"""So many seconds a world's clock may be away from the machine's without that being said."""
_UNPRINTABLE = re.compile(r"[\x00-\x20\x7f]+")


def explain(call: Call, reply: Reply, clock: Clock | None = None) -> str | None:
    """Return the reason for a refusal, or for what a scenario did; ASCII, one line, no secrets.

    `clock` is that of the world, if there is one: a client that goes by the machine's may be
    refused for it.
    """
    is_of_time = call.is_of_time
    if call.rule is not None:
        text = _explain_rule(call.rule, call, reply)
    elif reply.status >= 400:
        text = _explain_refusal(call, reply)
        is_of_time = is_of_time or _OF_TIME.search(text) is not None
    else:
        text = call.without_effect or ""
    return _write(text, _compare_clocks(clock) if is_of_time and clock else "") if text else None


def _compare_clocks(clock: Clock) -> str:
    """Return what a client of the machine's clock has to know; empty if both show the same."""
    now, machine = clock.now(), machine_now()
    if abs((now - machine).total_seconds()) <= _NEAR:
        return ""
    return (
        f"The world's clock is at {wire_seconds(now)}, the machine's at {wire_seconds(machine)}; "
        "for a client that goes by the machine's: mock-platform clock travel now"
    )


def read_message(body: bytes) -> str:
    """Return the messages in the body of a failure, in any dialect; empty if it has none."""
    try:
        value = loads(body)
    except BadJson:
        text = body.decode("utf-8", "replace")
        page = _PARAGRAPH.search(text)
        return text if "<" not in text else html.unescape(page[1]) if page else ""
    if not isinstance(value, dict):
        return ""
    errors = value.get("errors") or value.get("operation_errors")
    if not isinstance(errors, list):
        return _read_error(value)
    found = list(dict.fromkeys(filter(None, map(_read_error, _flatten(errors)))))
    more = f" (and {len(found) - _MAX_MESSAGES} more)" if len(found) > _MAX_MESSAGES else ""
    return "; ".join(found[:_MAX_MESSAGES]) + more


def _explain_rule(rule: Mapping[str, Any], call: Call, reply: Reply) -> str:
    named = rule["scenario"]
    text = (
        "Prefer asked for this failure"
        if named == PREFER
        else f"Rule {rule['rule']} of scenario {named} acted"
    )
    sending, done = reply.sending, []
    if sending is not None:
        if sending.delay:
            done.append(f"the answer waited {sending.delay:.3g} s")
        if sending.slow_body and reply.body:
            done.append(f"its body took {sending.slow_body:.3g} s")
        if sending.fault is not None:
            kept = "the changes were kept" if sending.is_committed else "nothing was changed"
            done.append(f"{_FAULTS[sending.fault]}, and {kept}")
    if reply.status >= 400 and (sending is None or sending.fault is None):
        done.append(_explain_refusal(call, reply))
    return f"{text}: {'; '.join(done)}" if done else text


def _explain_refusal(call: Call, reply: Reply) -> str:
    diagnosis = call.diagnosis or {}
    explanation = str(diagnosis.get("explanation") or "")
    if diagnosis.get("mistake") == "parameters":  # what the interface's own words do not contain
        said = read_message(reply.body)
        return f"{said} ({explanation})" if said else explanation
    if not explanation:
        return read_message(reply.body) or f"{reply.status} {phrase(reply.status)}"
    explanation = _capitalize(explanation)
    nearest = [f"{each['method']} {each['path']}" for each in diagnosis.get("nearest", ())]
    if nearest:
        return f"{explanation.rstrip('.')}. Nearest: {', '.join(nearest[:_MAX_NEAREST])}"
    return explanation


def _capitalize(text: str) -> str:
    return text[0].upper() + text[1:] if _FIRST_WORD.match(text) else text


def _flatten(errors: list[Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the errors of an answer; those of a batch are in a list for each item."""
    for each in errors:
        if isinstance(each, list):
            yield from _flatten(each)
        elif isinstance(each, dict):
            yield each


def _read_error(error: Mapping[str, Any]) -> str:
    text = error.get("detail") or error.get("message") or error.get("title")
    text = str(text or error.get("error_description") or error.get("error") or "")
    names = error.get("parameter") or error.get("parameters") or ()
    names = [names] if isinstance(names, str) else list(names)
    unnamed = [name for name in names if name not in text]
    if len(text) > _MAX_MESSAGE:  # what is wrong at the beginning, what was sent at the end
        text = f"{text[: _MAX_MESSAGE // 2]}...{text[-_MAX_MESSAGE // 2 :]}"
    return f"{', '.join(unnamed)}: {text}" if unnamed and text else text


def _write(text: str, addition: str = "") -> str:
    """Return a text as a sentence that a header can have; of both, the first is cut."""
    plain = redact.text(text).strip()
    if not plain.isascii():
        plain = plain.translate(_PLAIN).encode("ascii", "backslashreplace").decode()
    if "  " in plain or not plain.isprintable():
        plain = _UNPRINTABLE.sub(" ", plain).strip()
    most = _MAX_CHARACTERS - len(addition)
    if len(plain) > most:
        plain = plain[: most - 3] + "..."
    sentence = plain if plain.endswith((".", "!", "?")) else f"{plain}."
    return f"{sentence} {addition}." if addition else sentence
