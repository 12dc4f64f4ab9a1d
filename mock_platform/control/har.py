"""The journal as an HTTP archive (HAR 1.2), which the developer tools of browsers can open.

Credentials are redacted as in the journal. Data for which the format has no field is in `_mock` of
each entry: operation, rule, assumptions and the other reasons for the answer.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any
from urllib.parse import parse_qsl

from mock_platform.core.failures.statuses import phrase
from mock_platform.version import __version__
from mock_platform.world import redact
from mock_platform.world.clock import wire_millis
from mock_platform.world.journal import JournalEntry

MAX_BODY_BYTES = 256 * 1024
"""Maximum number of body bytes in an entry, as in the journal."""
_HTTP = "HTTP/1.1"
_FRAME = frozenset({"request", "response", "url", "method", "status", "at", "milliseconds"})

JsonObject = dict[str, Any]
Pairs = Sequence[tuple[str, str]]


def archive(entries: Sequence[JournalEntry], dropped: int) -> JsonObject:
    """Returns entries of a journal as an archive, in the same order."""
    comment = "All moments are on the world's clock."
    if dropped:
        comment += f" The journal dropped {dropped} older entries for space."
    return {
        "log": {
            "version": "1.2",
            "creator": {"name": "mock_platform", "version": __version__},
            "entries": [_entry(entry) for entry in entries],
            "comment": comment,
        }
    }


def _entry(entry: JournalEntry) -> JsonObject:
    took = round(entry.milliseconds, 3)
    return {
        "startedDateTime": wire_millis(entry.at),
        "time": took,
        "request": _request(entry),
        "response": _response(entry),
        "cache": {},
        "timings": {"blocked": -1, "dns": -1, "connect": -1, "send": 0, "wait": took, "receive": 0},
        "_mock": {key: value for key, value in entry.summary().items() if key not in _FRAME},
    }


def _request(entry: JournalEntry) -> JsonObject:
    url = redact.address(entry.url)
    shown: JsonObject = {
        "method": entry.method,
        "url": url,
        "httpVersion": _HTTP,
        "cookies": _cookies(entry.request_headers, "cookie"),
        "headers": _headers(entry.request_headers),
        "queryString": _pairs(entry.url.partition("?")[2]),
        "headersSize": -1,
        "bodySize": len(entry.request_body),
    }
    if entry.request_body:
        kind = _first_value(entry.request_headers, "content-type")
        body = redact.body(entry.request_body, kind, MAX_BODY_BYTES)
        # The format excludes `params` where `text` is present; `text` is what was really sent.
        shown["postData"] = {"mimeType": kind, "text": body["text"], **_comment(body)}
    return shown


def _response(entry: JournalEntry) -> JsonObject:
    status = entry.status
    return {
        "status": status,
        "statusText": entry.reason or phrase(status),
        "httpVersion": _HTTP,
        "cookies": _cookies(entry.response_headers, "set-cookie"),
        "headers": _headers(entry.response_headers),
        "content": _content(
            entry.response_body, _first_value(entry.response_headers, "content-type")
        ),
        "redirectURL": redact.address(_first_value(entry.response_headers, "location")),
        "headersSize": -1,
        "bodySize": len(entry.response_body),
    }


def _content(data: bytes, kind: str) -> JsonObject:
    body = redact.body(data, kind, MAX_BODY_BYTES)
    content: JsonObject = {"size": len(data), "mimeType": kind or "x-unknown"}
    if not data:
        return content
    if not body.get("lossy") or body.get("truncated"):
        return content | {"text": body["text"]} | _comment(body)
    # Latin-1 keeps every byte, so credentials are found in binary data as well.
    clean = redact.content(data.decode("latin-1"), kind).encode("latin-1", "replace")
    return content | {"text": base64.b64encode(clean).decode(), "encoding": "base64"}


def _comment(body: JsonObject) -> JsonObject:
    told = []
    if body.get("truncated"):
        told.append(f"cut after {MAX_BODY_BYTES:,} of {body['size']:,} bytes")
    if body.get("lossy"):
        told.append("bytes that are not UTF-8 were replaced")
    return {"comment": "; ".join(told)} if told else {}


def _headers(pairs: Pairs) -> list[JsonObject]:
    return [{"name": name, "value": value} for name, value in redact.headers(pairs)]


def _pairs(query: str) -> list[JsonObject]:
    found = parse_qsl(query, keep_blank_values=True, errors="replace")
    return [{"name": name, "value": redact.pair(name, value)} for name, value in found]


def _cookies(pairs: Pairs, header: str) -> list[JsonObject]:
    """Returns the names of cookies, without values: with those a reader could act as the user."""
    texts = [value for name, value in pairs if name.lower() == header]
    if header == "cookie":
        texts = [part for text in texts for part in text.split(";")]
    names = [text.partition("=")[0].strip() for text in texts]
    return [{"name": name, "value": redact.MASK} for name in names if name]


def _first_value(pairs: Pairs, name: str) -> str:
    return next((value for key, value in pairs if key.lower() == name), "")
