"""The journal as an HTTP archive (HAR 1.2), which the developer tools of browsers can open.

Credentials are redacted as in the journal. Data for which the format has no field is in `_mock` of
each entry: operation, rule, assumptions and the other reasons for the answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mock_platform.verification.har.writer import (
    MAX_BODY_BYTES,
    RecordedExchange,
    make_entry,
    make_log,
)
from mock_platform.world.journal import JournalEntry

__all__ = ["MAX_BODY_BYTES", "archive"]

_FRAME = frozenset({"request", "response", "url", "method", "status", "at", "milliseconds"})


def archive(entries: Sequence[JournalEntry], dropped: int) -> dict[str, Any]:
    """Return entries of a journal as an archive, in the same order."""
    comment = "All moments are on the world's clock."
    if dropped:
        comment += f" The journal dropped {dropped} older entries for space."
    return make_log((_make(entry) for entry in entries), comment)


def _make(entry: JournalEntry) -> dict[str, Any]:
    reasons = {key: value for key, value in entry.summary().items() if key not in _FRAME}
    exchange = RecordedExchange(
        started=entry.at,
        milliseconds=entry.milliseconds,
        method=entry.method,
        url=entry.url,
        request_headers=entry.request_headers,
        request_body=entry.request_body,
        status=entry.status,
        reason=entry.reason,
        response_headers=entry.response_headers,
        response_body=entry.response_body,
        own={"_mock": reasons},
    )
    return make_entry(exchange, MAX_BODY_BYTES)
