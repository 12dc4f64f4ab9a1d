"""Summaries of warnings: codes, operations, counts, first examples; counts by world are bounded."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime

import pytest

from mock_platform.core.warning_counts import (
    WarningRecorder,
    count_requests,
    describe_warnings,
    merge_warnings,
    strip_origin,
)
from mock_platform.core.world_counts import EARLIER, MAX_WORLDS, WorldCounts
from mock_platform.world.journal import JournalEntry

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def entry(
    *warnings: tuple[str, str],
    number: int = 1,
    world: str = "default",
    operation: str | None = "line_items.update",
    url: str = "http://127.0.0.1:1/~w/12/line?nmae=1",
) -> JournalEntry:
    """An entry of the journal with coded warnings."""
    return JournalEntry(
        f"r{number}", NOON, world, "PUT", url, 200, 1.0, operation, coded_warnings=warnings
    )


def test_warnings_are_counted_by_code_and_operation() -> None:
    """A code counts once for a request; the example is the first warning of the first request."""
    recorder = WarningRecorder()
    recorder.observe(entry(("a", "first"), ("a", "second"), number=1))
    recorder.observe(entry(("a", "third"), ("b", "other"), number=2))
    recorder.observe(entry(("a", "elsewhere"), number=3, operation=None))

    document = recorder.document()

    assert 3 == document["requests"]
    assert [("a", "line_items.update", 2), ("a", None, 1), ("b", "line_items.update", 1)] == [
        (row["code"], row["operation"], row["requests"]) for row in document["warnings"]
    ]
    assert {
        "id": "r1", "world": "default", "method": "PUT",
        "url": "http://127.0.0.1:1/~w/12/line?nmae=1", "text": "first",
    } == document["warnings"][0]["example"]  # fmt: skip


def test_worlds_are_counted_apart_and_together() -> None:
    """One world, or all of them; what is forgotten is forgotten of one world or of all."""
    recorder = WarningRecorder()
    recorder.observe(entry(("a", "x"), world="w1"))
    recorder.observe(entry(("a", "x"), world="w2"))

    assert [2, 1, 0] == [recorder.document(world)["requests"] for world in (None, "w1", "w3")]
    recorder.clear("w1")
    assert (["w2"], 1) == (recorder.worlds(), recorder.document()["requests"])
    recorder.clear()
    assert {"requests": 0, "warnings": []} == recorder.document()


def test_examples_are_short_and_have_no_credentials() -> None:
    """Addresses of any length are cut; what the journal redacts is redacted here."""
    recorder = WarningRecorder()
    url = "http://127.0.0.1:1/12/line?access_token=very-secret&a=" + "x" * 1000
    recorder.observe(entry(("a", "x"), url=url))

    (row,) = recorder.document()["warnings"]

    assert len(row["example"]["url"]) == 301
    assert "access_token=[redacted]" in row["example"]["url"]
    assert "very-secret" not in row["example"]["url"]


def test_documents_are_merged_and_described() -> None:
    """Counts of two servers are added; people read a line for each."""
    recorders = [WarningRecorder(), WarningRecorder()]
    recorders[0].observe(entry(("b", "one")))
    for recorder in recorders:
        recorder.observe(entry(("a", "two"), operation=None))

    merged = merge_warnings(recorder.document() for recorder in recorders)

    assert "3 requests with warnings" == count_requests(merged)
    assert "1 request with warnings" == count_requests({"requests": 1, "warnings": []})
    assert [
        "2 x a, no operation: PUT /12/line?nmae=1: two",
        "1 x b, line_items.update: PUT /12/line?nmae=1: one",
    ] == list(describe_warnings(merged))


@pytest.mark.parametrize(("url", "shown"), [
    ("http://127.0.0.1:1/~w/12/accounts?a=1", "/12/accounts?a=1"),
    ("http://127.0.0.1:1/12/accounts", "/12/accounts"),
    ("http://127.0.0.1:1/~w", "/"),
])  # fmt: skip
def test_addresses_are_shown_without_server_and_world(url: str, shown: str) -> None:
    """Only what the client chose is shown."""
    assert shown == strip_origin(url)


@pytest.mark.parametrize(("more", "first"), [(0, ["w0", "w1"]), (1, ["w1", "w2"])])
def test_the_number_of_worlds_is_bounded(more: int, first: list[str]) -> None:
    """Beyond it the oldest world is counted with the earlier ones; no request is lost."""
    counts: WorldCounts[Counter[str]] = WorldCounts(Counter, Counter.update)
    for number in range(MAX_WORLDS + more):
        with counts.lock:
            counts.find(f"w{number}")["requests"] += 1

    worlds = counts.list_worlds()
    assert first == worlds[:2]
    assert (EARLIER in worlds) == (more > 0)
    assert counts.merge()["requests"] == MAX_WORLDS + more
    assert set(counts.read_each(Counter.total).values()) == {1}
