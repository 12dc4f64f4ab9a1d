"""Archives for the tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from mock_platform.verification.har.exchange import HarExchange
from mock_platform.verification.har.reader import read_har


def make_entry(**changes: Any) -> dict[str, Any]:
    """An entry; `url`, `text`, `content` and so on replace parts of it."""
    content = {"size": -1, "mimeType": "application/json", "text": changes.get("text", '{"a":1}')}
    url = changes.get("url", "https://api.example.com/12/accounts?count=1")
    posted = {"postData": changes["posted"]} if "posted" in changes else {}
    return {
        "startedDateTime": "2026-03-01T12:00:00.000Z", "time": 2.5,
        "request": {"method": changes.get("method", "GET"), "url": url,
                    "headers": changes.get("request_headers", []), **posted},
        "response": {"status": changes.get("status", 200), "statusText": "OK",
                     "headers": changes.get("headers", []),
                     "content": changes.get("content", content)},
        "timings": {"send": 0, "wait": 2.5, "receive": 0},
    }  # fmt: skip


def write_har(folder: Path, *entries: Any) -> Path:
    """A file with these entries."""
    return write_text(folder, json.dumps({"log": {"version": "1.2", "entries": list(entries)}}))


def write_text(folder: Path, text: str | bytes) -> Path:
    """A file with this text."""
    file = folder / "traffic.har"
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return file


def read_one(folder: Path, **changes: Any) -> HarExchange:
    """The exchange that an entry becomes."""
    (found,) = read_har(write_har(folder, make_entry(**changes)))
    return found
