"""Why a request was answered as it was, in words."""

from __future__ import annotations

from mock_platform.core.jsonio import BadJson, loads
from mock_platform.world import redact
from mock_platform.world.journal import JournalEntry

_SHOWN_CHANGES = 3


def explain_entry(found: JournalEntry) -> str:
    """Returns the most important reason for an answer, in one line."""
    diagnosis, rule = found.diagnosis or {}, found.rule
    changed = ", ".join(
        f"{change.table}/{redact.key(change.table, change.key)}"
        for change in found.changes[:_SHOWN_CHANGES]
    )
    if len(found.changes) > _SHOWN_CHANGES:
        changed += f" and {len(found.changes) - _SHOWN_CHANGES} more"
    reasons = (
        "the sandbox itself failed" if found.traceback is not None else "",
        f"rule of scenario {rule.get('scenario')}" if rule is not None else "",
        str(diagnosis.get("explanation") or ""),
        read_message(found.response_body) if found.status >= 400 else "",
        "; ".join(found.warnings),
        f"changed {changed}" if changed else "",
    )
    return next(filter(None, reasons), "")


def read_message(body: bytes) -> str:
    """Returns the message in the body of a failure, in any dialect."""
    try:
        value = loads(body)
    except BadJson:
        return body[:200].decode("utf-8", "replace")
    if not isinstance(value, dict):
        return ""
    errors = value.get("errors")
    first = errors[0] if isinstance(errors, list) and errors else value
    if not isinstance(first, dict):
        return ""
    return str(first.get("detail") or first.get("message") or first.get("title") or "")
