"""The journal keeps what happened, within its bounds."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest

from mock_platform.world.journal import Journal, JournalEntry, JournalMemory, Query
from mock_platform.world.store.interface import Change
from tests.loops import at_once
from tests.support import sandbox

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)


def entry(number: int, **more: Any) -> JournalEntry:
    """An entry one minute after the one before."""
    values: dict[str, Any] = {
        "id": f"r{number}", "at": NOON + timedelta(minutes=number), "world": "default",
        "method": "GET", "url": f"http://h/2/thing/{number}", "status": 200,
        "handler_milliseconds": 0.1234,
    }  # fmt: skip
    return JournalEntry(**(values | more))


def test_the_oldest_entries_go_first() -> None:
    """Beyond the bound the oldest entries are dropped and counted."""
    journal = Journal(max_entries=3)
    for number in range(5):
        journal.add(entry(number))

    assert [e.id for e in journal] == ["r2", "r3", "r4"]
    assert (journal.dropped, journal.get("r1")) == (2, None)


def test_what_was_made_of_a_large_body_counts() -> None:
    """Its records and its explanation take space beside the bytes that came, often more."""
    record = {"id": "7", "names": [{"name": f"{number:0100}"} for number in range(1_000)]}
    body = bytes(20_000)
    plain = entry(0, request_body=body)
    changing = entry(1, request_body=body, kept_changes=[Change("lists", "7", None, record)])
    explained = entry(2, request_body=body, diagnosis={"candidates": ["a" * 50_000] * 1})

    assert changing.size > plain.size + 200_000
    assert explained.size > plain.size + 50_000


@pytest.mark.parametrize("first", ["entry", "note"])
def test_a_request_is_told_what_became_of_what_it_changed(first: str) -> None:
    """A note joins the newest entry that changed the record, or the one that is written later."""
    journal = Journal()
    change = Change("replay_jobs", "7", None, {"id": "7"})
    journal.add(entry(0, kept_changes=[Change("replay_jobs", "8", None, {"id": "8"})]))
    if first == "note":
        journal.note("replay_jobs", "7", "it failed")
    journal.add(entry(1, kept_changes=[change], kept_warnings=["known before"]))
    if first == "entry":
        journal.note("replay_jobs", "7", "it failed")
    journal.add(entry(2, kept_changes=[change]))

    assert [[], ["known before", "it failed"], []] == [list(e.warnings) for e in journal]


def test_notes_that_nobody_takes_are_bounded_and_forgotten() -> None:
    """Records that no request made keep no memory for ever."""
    journal = Journal()
    for number in range(300):
        journal.note("replay_jobs", str(number), "it failed")
    journal.add(entry(0, kept_changes=[Change("replay_jobs", "0", None, {})]))
    journal.add(entry(1, kept_changes=[Change("replay_jobs", "299", None, {})]))
    journal.note("replay_jobs", "400", "it failed")
    journal.clear()
    journal.add(entry(2, kept_changes=[Change("replay_jobs", "400", None, {})]))

    assert [[]] == [list(e.warnings) for e in journal]
    assert len(journal._notes) < 101


def test_bytes_are_bounded_too() -> None:
    """Large bodies push old entries out."""
    journal = Journal(max_bytes=10_000)
    for number in range(5):
        journal.add(entry(number, request_body=b"x" * 3000))

    assert len(journal) == 2


def test_an_entry_counts_whatever_it_keeps() -> None:
    """Headers, warnings, diagnosis, changes and traceback take memory as bodies do."""
    plain = entry(0).size
    long = "x" * 5000

    for more in (
        {"request_headers": [("Cookie", long)]},
        {"response_headers": [("X-Name", str(number)) for number in range(40)]},
        {"request_body": long.encode()},
        {"response_body": long.encode()},
        {"kept_warnings": [long]},
        {"diagnosis": {"base_string": long}},
        {"traceback": long},
        {"kept_changes": [Change("users", str(number), None, {}) for number in range(5)]},
    ):
        assert entry(0, **more).size >= plain + 5000


def test_what_an_entry_keeps_is_read_as_lists() -> None:
    """Whatever sequence holds warnings, changes and near misses, a user compares with a list."""
    plain = entry(0)
    change = Change("cards", "9", None, {"id": "9"})
    full = entry(0, kept_warnings=("a",), kept_changes=(change,), kept_near_misses=({"rule": 1},))

    assert ([], [], []) == (plain.warnings, plain.changes, plain.near_misses)
    assert (["a"], [change], [{"rule": 1}]) == (full.warnings, full.changes, full.near_misses)


class TestCommonMemory:
    """Several journals share one bound."""

    SIZE = entry(0).size

    def journals(self, room: int) -> tuple[JournalMemory, Journal, Journal]:
        """Two journals with room for so many entries together."""
        memory = JournalMemory(room * self.SIZE)
        return memory, Journal(memory=memory), Journal(memory=memory)

    def test_up_to_the_bound_nothing_is_dropped(self, caplog: pytest.LogCaptureFixture) -> None:
        """The bound itself is allowed."""
        memory, first, second = self.journals(5)
        for number in range(4):
            first.add(entry(number))
        second.add(entry(0))

        assert (len(first), len(second), memory.bytes) == (4, 1, memory.max_bytes)
        assert "" == caplog.text

    def test_beyond_the_bound_the_largest_gives_up_its_oldest(
        self, caplog: pytest.LogCaptureFixture
    ) -> None:
        """Whoever keeps little keeps it; what was dropped is counted, and logged once."""
        memory, first, second = self.journals(6)
        for number in range(5):
            first.add(entry(number, world="busy"))
        for number in range(3):
            second.add(entry(number))

        assert ["r2", "r3", "r4"] == [each.id for each in first]
        assert ["r0", "r1", "r2"] == [each.id for each in second]
        assert (first.dropped, second.dropped) == (2, 0)
        assert memory.bytes == 6 * self.SIZE
        (said,) = caplog.messages
        assert f"keep more than {memory.max_bytes} bytes together (--journal-total-by" in said
        assert "the journal of world 'busy' drops its oldest entries" in said

    def test_one_entry_larger_than_all_room(self) -> None:
        """It is not kept, and the count is right again."""
        memory, first, _ = self.journals(2)
        first.add(entry(0, request_body=b"x" * 10_000))

        assert (len(first), first.dropped, memory.bytes) == (0, 1, 0)

    def test_room_comes_back(self) -> None:
        """Emptying a journal or dropping its world makes room for the others."""
        memory, first, second = self.journals(4)
        for number in range(4):
            first.add(entry(number))
        first.clear()
        assert memory.bytes == 0

        for number in range(3):
            first.add(entry(number))
        first.close()
        first.close()
        first.add(entry(9))  # a late request of the dropped world
        first.clear()
        for number in range(4):
            second.add(entry(number))
        assert (len(second), second.dropped, memory.bytes) == (4, 0, memory.max_bytes)

    def test_its_own_bounds_count_as_well(self) -> None:
        """What a journal drops by itself is room for others."""
        memory = JournalMemory(100 * self.SIZE)
        journal = Journal(max_entries=2, memory=memory)
        for number in range(5):
            journal.add(entry(number))

        assert memory.bytes == 2 * self.SIZE

    def test_many_threads(self) -> None:
        """However adding, emptying and dropping meet, the bound holds and the count is right."""
        memory = JournalMemory(50 * self.SIZE)
        journals = [Journal(memory=memory) for _ in range(4)]

        def work(journal: Journal) -> None:
            for number in range(300):
                journal.add(entry(number))
                if number % 97 == 96:
                    journal.clear()

        at_once(partial(work, journal) for journal in journals * 2)

        assert memory.bytes == sum(each.size for journal in journals for each in journal)
        assert memory.bytes <= memory.max_bytes


def test_worlds_share_the_bound_of_their_server() -> None:
    """The setting bounds the journals of all worlds; one that is dropped makes room."""
    box = sandbox(journal_total_bytes=40_000)
    worlds = box.platform.worlds
    quiet = worlds.create("quiet")
    box.call("GET", "/~quiet/12/accounts", keys=None)
    for _ in range(100):
        box.call("GET", "/12/accounts", keys=None)

    assert len(quiet.journal) == 1
    assert worlds.default.journal.dropped > 0
    memory = worlds.blueprint.journal_memory
    assert 20_000 < memory.bytes <= 40_000
    kept = memory.bytes
    worlds.drop("quiet")
    assert memory.bytes < kept


@pytest.mark.parametrize(("query", "found"), [
    (Query(), ["r0", "r1", "r2"]),
    (Query(status=range(400, 500)), ["r1"]),
    (Query(method="post"), ["r2"]),
    (Query(operation="cards.list"), ["r2"]),
    (Query(path="/thing/1"), ["r1"]),
    (Query(since=NOON + timedelta(minutes=1)), ["r1", "r2"]),
    (Query(rule="flaky"), ["r0"]),
    (Query(rule="flaky/1"), ["r0"]),
    (Query(rule="flaky/0"), []),
    (Query(status=range(404, 405), method="POST"), []),
])  # fmt: skip
def test_entries_are_found_by_what_they_are(query: Query, found: list[str]) -> None:
    """Each condition restricts; several restrict together."""
    journal = Journal()
    journal.add(entry(0, rule={"scenario": "flaky", "rule": 1}))
    journal.add(entry(1, status=404))
    journal.add(entry(2, method="POST", operation="cards.list"))

    assert [e.id for e in journal.find(query)] == found
    assert journal.count(query) == len(found)


def test_a_limit_keeps_the_newest() -> None:
    """With a limit the newest entries are returned, still oldest first."""
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
        kept_changes=[
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
