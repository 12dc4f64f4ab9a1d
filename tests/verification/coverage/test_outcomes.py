from __future__ import annotations

from datetime import UTC, datetime

from mock_platform.verification.coverage.outcomes import (
    MAX_OUTCOMES,
    Recorder,
    list_outcomes,
)
from mock_platform.world.journal import JournalEntry
from tests.loops import at_once

AT = datetime(2026, 3, 1, tzinfo=UTC)


def journal_entry(
    status: int = 200,
    body: bytes = b"{}",
    operation: str | None = "line_items.list",
    world: str = "default",
    sent: tuple[str, ...] = (),
) -> JournalEntry:
    """The journal entry of a request."""
    return JournalEntry(
        id="r1", at=AT, world=world, method="GET", url="http://localhost/", status=status,
        handler_milliseconds=1.0, operation=operation, response_body=body, sent=sent,
    )  # fmt: skip


def test_counts() -> None:
    """Outcomes are counted by operation; parameters by whether the request succeeded."""
    recorder = Recorder()
    recorder.observe(journal_entry(sent=("count", "cursor")))
    recorder.observe(journal_entry(sent=("count",)))
    recorder.observe(
        journal_entry(400, b'{"errors":[{"code":"INVALID_PARAMETER"}]}', sent=("sort_by",))
    )
    recorder.observe(journal_entry(404, b'{"errors":[{"code":34}]}', operation=None))

    tallies = recorder.tallies()

    assert {"line_items.list", ""} == set(tallies)
    tally = tallies["line_items.list"]
    assert 3 == tally.requests
    assert {(200, ""): 2, (400, "INVALID_PARAMETER"): 1} == list_outcomes(tally)
    assert {"count": 2, "cursor": 1} == tally.accepted
    assert {"sort_by": 1} == tally.refused


def test_worlds_apart_and_together() -> None:
    """Each world has counts of its own, which also add up."""
    recorder = Recorder()
    recorder.observe(journal_entry(world="a"))
    recorder.observe(journal_entry(world="b"))
    recorder.observe(journal_entry(world="b"))

    assert {"a": 1, "b": 2} == recorder.worlds()
    assert 2 == recorder.tallies("b")["line_items.list"].requests
    assert 3 == recorder.tallies()["line_items.list"].requests
    assert {} == recorder.tallies("c")


def test_clear() -> None:
    """One world is forgotten, or everything; forgetting what never was is harmless."""
    recorder = Recorder()
    recorder.observe(journal_entry(world="a"))
    recorder.observe(journal_entry(world="b"))

    recorder.clear("a")
    recorder.clear("nowhere")
    assert {"b": 1} == recorder.worlds()
    recorder.clear()
    assert {} == recorder.worlds()


def test_outcomes_are_bounded() -> None:
    """Made-up codes without end do not grow the counts without end."""
    recorder = Recorder()
    for number in range(MAX_OUTCOMES + 50):
        recorder.observe(journal_entry(400, b'{"errors":[{"code":"C%d"}]}' % number))

    outcomes = list_outcomes(recorder.tallies()["line_items.list"])

    assert MAX_OUTCOMES + 1 == len(outcomes)
    assert {50} == {count for outcome, count in outcomes.items() if outcome == (400, "")}


def test_concurrent_counts() -> None:
    """No request is lost where many threads count at once."""
    recorder = Recorder()

    def count() -> None:
        for _ in range(500):
            recorder.observe(journal_entry(sent=("count",)))

    at_once([count] * 8)

    tally = recorder.tallies()["line_items.list"]
    assert (4000, 4000) == (tally.requests, tally.accepted["count"])
