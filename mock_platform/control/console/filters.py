"""Filters of the list of requests: what a person typed, and which entries it leaves."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import urlencode

from msgspec import Struct

from mock_platform.control.journal import read_query
from mock_platform.control.refusals import ControlRefusal, as_refusal, refuse_values
from mock_platform.core.fields import Text
from mock_platform.core.jsonio import BadJson, loads
from mock_platform.core.schema import Schema
from mock_platform.platform import Platform
from mock_platform.world import redact
from mock_platform.world.journal import JournalEntry, Query

# Why a request was answered as it was, in words.

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


NAMES = ("text", "operation", "status", "method", "path", "rule")
_CLASS = re.compile(r"([1-5])xx", re.IGNORECASE)


class QueryOfFilter(Schema):
    """What a person typed; it is checked later, to be explained beside the field."""

    text = Text()
    operation = Text()
    status = Text()
    method = Text()
    path = Text()
    rule = Text()


class EntryFilter(Struct, frozen=True):
    """Which entries are shown."""

    query: Query
    status_class: int | None = None
    """The first digit of the status."""
    text: str = ""
    """In lower case; part of the address, the bodies, the warnings or the reason."""

    def matches(self, entry: JournalEntry) -> bool:
        """Whether an entry is shown."""
        if self.status_class is not None and entry.status // 100 != self.status_class:
            return False
        return self.query.matches(entry) and (not self.text or self._has_text(entry))

    def newest(self, entries: Iterable[JournalEntry], limit: int) -> list[JournalEntry]:
        """Returns the first `limit` matching ones."""
        return list(_take(filter(self.matches, entries), limit))

    def _has_text(self, entry: JournalEntry) -> bool:
        wanted = self.text.encode()
        return (
            self.text in entry.url.lower()
            or wanted in entry.request_body.lower()
            or wanted in entry.response_body.lower()
            or self.text in (entry.operation or "")
            or self.text == entry.id
            or any(self.text in warning.lower() for warning in entry.warnings)
            or self.text in explain_entry(entry).lower()
        )


def read_filter(platform: Platform, sent: Mapping[str, str]) -> EntryFilter:
    """Returns the filter that was typed.

    Raises:
        ControlRefusal: 422 with every value that no entry can have, and what it may be.
    """
    values = {name: sent[name].strip() for name in NAMES if sent.get(name, "").strip()}
    faults: list[tuple[str, str]] = []
    status, status_class = values.pop("status", ""), None
    if found := _CLASS.fullmatch(status):
        status_class = int(found[1])
    elif status and not re.fullmatch(r"[1-5]\d\d", status, re.ASCII):
        text = f"status: expected a status such as 404, or a class such as 4xx, got {status!r}"
        faults.append(("status", text))
        status = ""
    text = values.pop("text", "").lower()
    query = Query()
    try:
        exact = {"status": int(status)} if status and status_class is None else {}
        query = read_query(platform, values | exact)
    except Exception as fault:
        refusal = as_refusal(fault)
        if refusal is None:
            raise
        faults += [(each["field"], each["message"]) for each in refusal.extra["faults"]]
    if faults:
        raise _refuse(faults)
    return EntryFilter(query, status_class, text)


def encode_filter(sent: Mapping[str, str], **more: str) -> str:
    """Returns a filter as a query, without empty values."""
    pairs = [(name, sent[name]) for name in NAMES if sent.get(name)]
    return urlencode([*pairs, *more.items()])


def _refuse(faults: Iterable[tuple[str, str]]) -> ControlRefusal:
    return refuse_values(422, faults, "The filter cannot be used")


def _take(entries: Iterator[JournalEntry], limit: int) -> Iterator[JournalEntry]:
    return (entry for _, entry in zip(range(limit), entries, strict=False))
