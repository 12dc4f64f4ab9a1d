"""The journal keeps what happened, within its bounds."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from mock_platform.world.journal import Journal, JournalEntry, Query
from mock_platform.world.store import Change

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)


def entry(number: int, **more: Any) -> JournalEntry:
    """An entry one minute after the one before."""
    values: dict[str, Any] = {
        "id": f"r{number}",
        "at": NOON + timedelta(minutes=number),
        "world": "default",
        "method": "GET",
        "url": f"http://h/2/thing/{number}",
        "status": 200,
        "milliseconds": 0.1234,
    }
    return JournalEntry(**(values | more))


def test_the_oldest_entries_go_first() -> None:
    """Beyond the bound the oldest entries are dropped and counted."""
    journal = Journal(max_entries=3)
    for number in range(5):
        journal.add(entry(number))

    assert [e.id for e in journal] == ["r2", "r3", "r4"]
    assert (journal.dropped, journal.get("r1")) == (2, None)


def test_bytes_are_bounded_too() -> None:
    """Large bodies push old entries out."""
    journal = Journal(max_bytes=10_000)
    for number in range(5):
        journal.add(entry(number, request_body=b"x" * 3000))

    assert len(journal) == 2


@pytest.mark.parametrize(
    ("query", "found"),
    [
        (Query(), ["r0", "r1", "r2"]),
        (Query(status=404), ["r1"]),
        (Query(method="post"), ["r2"]),
        (Query(operation="cards.list"), ["r2"]),
        (Query(path="/thing/1"), ["r1"]),
        (Query(since=NOON + timedelta(minutes=1)), ["r1", "r2"]),
        (Query(rule="flaky"), ["r0"]),
        (Query(rule="flaky/1"), ["r0"]),
        (Query(rule="flaky/0"), []),
        (Query(status=404, method="POST"), []),
    ],
)
def test_entries_are_found_by_what_they_are(query: Query, found: list[str]) -> None:
    """Each condition restricts; several restrict together."""
    journal = Journal()
    journal.add(entry(0, rule={"scenario": "flaky", "rule": 1}))
    journal.add(entry(1, status=404))
    journal.add(entry(2, method="POST", operation="cards.list"))

    assert [e.id for e in journal.find(query)] == found
    assert journal.count(query) == len(found)


def test_a_limit_keeps_the_newest() -> None:
    """With a limit the newest entries are given, still oldest first."""
    journal = Journal()
    for number in range(4):
        journal.add(entry(number))

    assert [e.id for e in journal.find(limit=2)] == ["r2", "r3"]
    assert journal.find(limit=0) == []


def test_an_entry_tells_what_changed_without_secrets() -> None:
    """JSON of an entry names changed fields and redacts credentials everywhere."""
    shown = entry(
        0,
        url="http://h/oauth?oauth_token=abc",
        changes=[
            Change("tokens", "t", {"id": "t", "state": "active"}, {"id": "t", "state": "gone"}),
            Change("cards", "9", None, {"id": "9"}),
        ],
        request_headers=[("Authorization", "Bearer AAAA")],
        response_headers=[("Content-Type", "application/json")],
        response_body=b'{"access_token":"abc"}',
        traceback="Traceback",
    ).as_json()

    assert shown["url"] == "http://h/oauth?oauth_token=[redacted]"
    assert shown["changes"] == [
        {"table": "tokens", "id": "t…", "change": "changed", "fields": ["state"]},
        {"table": "cards", "id": "9", "change": "created", "fields": ["id"]},
    ]
    assert shown["request"]["headers"] == [["Authorization", "Bearer [redacted]"]]
    assert shown["response"]["body"]["text"] == '{"access_token":"[redacted]"}'
    assert (shown["traceback"], shown["milliseconds"]) == ("Traceback", 0.123)
