from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from mock_platform.delivery.events import add_event
from mock_platform.delivery.sender import Sender
from mock_platform.serving.restoring import open_platform
from mock_platform.settings import DeliverySettings, Settings
from mock_platform.world.clock import UPTIME
from mock_platform.world.world import World
from tests.support_receiver import Receiver, hang
from tests.support_replay import NOW, QUICK, WEBHOOK, Desk
from tests.waits import PATIENCE

OWN_THREADS = ("mock-platform-delivery", "mock-platform-agenda")


class TestProgressions:
    """How a job leaves IN_PROGRESS: at once, by time, by being looked at, by hand."""

    @pytest.mark.spec("A, States and transitions", "Replay job states")
    def test_immediate_ends_with_the_last_attempt(self, desk: Desk, receiver: Receiver) -> None:
        """The job is complete as soon as its deliveries are made."""
        job_id = desk.create()
        receiver.wait_for_end()

        assert "COMPLETE" == desk.job(job_id)["state"]

    @pytest.mark.spec("A, States and transitions", "Replay job states")
    def test_time_waits_for_the_worlds_clock(self, desk: Desk, receiver: Receiver) -> None:
        """Two seconds after the last attempt the job ends, and not a moment before."""
        desk.pace("time")
        job_id = desk.create()
        desk.wait()
        assert 15 == len(receiver.event_ids)
        desk.world.clock.advance(1.999)
        desk.wait()
        assert ("IN_PROGRESS", []) == (desk.job(job_id)["state"], receiver.statuses)

        desk.world.clock.advance(0.001)
        desk.wait()
        assert ("COMPLETE", 1) == (desk.job(job_id)["state"], len(receiver.statuses))

    def test_time_passes_by_itself(self, receiver: Receiver) -> None:
        """With a running clock the end is announced even if no request reads the job."""
        with Desk(receiver.url, freeze=None) as desk:
            desk.pace("time", seconds=0.05)
            job_id = desk.create()

            assert job_id == receiver.wait_for_end()["job_id"]

    def test_polls_count_requests_for_another_job(self, desk: Desk, receiver: Receiver) -> None:
        """Under `polls` the third refused create is the last; the next one finds the job ended."""
        desk.pace("polls", polls=3)
        job_id = desk.create()
        desk.wait()

        assert [409, 409] == [desk.post().status_code for _ in range(2)]
        assert "IN_PROGRESS" == desk.job(job_id)["state"]
        assert 200 == desk.post().status_code
        assert "COMPLETE" == desk.job(job_id)["state"]
        receiver.wait_until(lambda found: bool(found.statuses))

    @pytest.mark.spec("A, States and transitions", "Replay job states")
    def test_manual_waits_to_be_moved(self, desk: Desk, receiver: Receiver) -> None:
        """Time moves nothing; a hand does, to any end, and that end is announced."""
        desk.pace("manual")
        job_id = desk.create()
        desk.wait()
        desk.world.clock.advance(3600)
        desk.wait()
        assert "IN_PROGRESS" == desk.job(job_id)["state"]

        with desk.world.work():
            desk.world.transitions.move("replay_job", job_id, "INCOMPLETE")
        desk.wait()
        assert "INCOMPLETE" == desk.job(job_id)["state"]
        assert ["Incomplete"] == [status["job_state"] for status in receiver.statuses]

    def test_a_job_moved_back_ends_again(self, desk: Desk, receiver: Receiver) -> None:
        """Put back in progress by hand, a job delivers nothing again but ends in its time."""
        job_id = desk.create()
        desk.wait()
        desk.pace("time")
        with desk.world.work():
            desk.world.transitions.move("replay_job", job_id, "IN_PROGRESS")
        desk.wait()
        assert 409 == desk.post().status_code

        desk.world.clock.advance(2)
        desk.wait()
        assert "COMPLETE" == desk.job(job_id)["state"]
        assert (15, 2) == (len(receiver.event_ids), len(receiver.statuses))

    def test_a_changed_pace_moves_what_waits(self, desk: Desk, receiver: Receiver) -> None:
        """A job that waits by hand ends when its kind becomes immediate."""
        desk.pace("manual")
        job_id = desk.create()
        desk.wait()
        desk.pace("immediate")
        desk.wait()

        assert "COMPLETE" == desk.job(job_id)["state"]
        assert 1 == len(receiver.statuses)


@pytest.fixture
def slow(receiver: Receiver) -> Iterator[Desk]:
    """A sandbox whose first delivery waits until `receiver.stopping` is set."""
    receiver.plan.append(hang)
    with Desk(receiver.url, delivery=DeliverySettings(timeout=10 * PATIENCE, attempts=1)) as desk:
        desk.pace("immediate")
        yield desk
        assert [] == desk.platform.errors


class TestWhileAJobRuns:
    """What happens to a job under way when its world does not wait for it."""

    def begin(self, desk: Desk, receiver: Receiver) -> str:
        """A job that is in the middle of its first delivery."""
        job_id = desk.create()
        receiver.wait_until(lambda found: len(found.received) == 1)
        return job_id

    def test_the_worlds_lock_is_free(self, slow: Desk, receiver: Receiver) -> None:
        """While a receiver is waited for, others can work in the world."""
        self.begin(slow, receiver)

        assert slow.world.lock.acquire(timeout=PATIENCE)
        slow.world.lock.release()
        assert 409 == slow.post().status_code

    def test_looks_do_not_count_before_its_last_attempt(
        self, slow: Desk, receiver: Receiver
    ) -> None:
        """Under `polls` a job cannot end while it delivers, however often it is looked at."""
        slow.pace("polls", polls=1)
        self.begin(slow, receiver)
        assert [409, 409] == [slow.post().status_code for _ in range(2)]

        receiver.stopping.set()
        slow.wait()
        assert 200 == slow.post().status_code
        slow.wait()

    def test_a_reset_ends_it_without_a_word(self, slow: Desk, receiver: Receiver) -> None:
        """After a reset nothing more is delivered, recorded or announced."""
        self.begin(slow, receiver)
        slow.world.reset()
        receiver.stopping.set()
        slow.wait()

        assert 1 == len(receiver.received)
        assert [] == slow.deliveries()
        assert 0 == slow.world.store.count("replay_jobs")

    def test_a_new_job_with_the_same_id_is_not_mistaken_for_it(
        self, slow: Desk, receiver: Receiver
    ) -> None:
        """Ids repeat after a reset; the old job's work does not count for the new one."""
        first = self.begin(slow, receiver)
        slow.world.reset()
        slow.lead_to(receiver.url)
        slow.pace("manual")
        second = slow.create()
        receiver.wait_until(lambda found: len(found.received) == 16)
        receiver.stopping.set()
        slow.wait()

        assert first == second
        assert 15 == slow.job(second)["_delivered"]
        assert ["challenge", *slow.event_ids()] == [what for what, *_ in slow.deliveries()]

    def test_a_dropped_world_ends_it_without_a_word(self, slow: Desk, receiver: Receiver) -> None:
        """A world that is gone delivers nothing more."""
        world = slow.platform.worlds.create("brief", source="default")
        slow.post(prefix="/~brief")
        receiver.wait_until(lambda found: len(found.received) == 1)
        slow.platform.worlds.drop("brief")
        receiver.stopping.set()
        slow.wait()

        assert 1 == len(receiver.received)
        assert ["challenge"] == [
            "challenge" if entry["body"] is None else "event" for entry in world.deliveries
        ]

    def test_moved_by_hand_it_stops_and_announces_that_end(
        self, slow: Desk, receiver: Receiver
    ) -> None:
        """A job that is moved to its end while it delivers makes no further delivery."""
        job_id = self.begin(slow, receiver)
        with slow.world.work():
            slow.world.transitions.move("replay_job", job_id, "COMPLETE")
        receiver.stopping.set()
        slow.wait()

        assert 1 == len(receiver.event_ids)
        assert ["Complete"] == [status["job_state"] for status in receiver.statuses]

    def test_taken_out_of_its_table_it_stops(self, slow: Desk, receiver: Receiver) -> None:
        """A job whose record is removed makes no further delivery."""
        job_id = self.begin(slow, receiver)
        with slow.world.work():
            slow.world.store.remove("replay_jobs", job_id)
        receiver.stopping.set()
        slow.wait()

        assert (1, []) == (len(receiver.received), receiver.statuses)

    def test_a_saved_state_goes_on_with_it(self, slow: Desk, receiver: Receiver) -> None:
        """A world that returns to a moment in the middle of a job starts its deliveries again."""
        job_id = self.begin(slow, receiver)
        saved = slow.world.save()
        slow.world.reset()
        slow.world.load(saved)
        receiver.stopping.set()
        slow.wait()

        assert "COMPLETE" == slow.job(job_id)["state"]
        assert slow.event_ids() == receiver.event_ids[1:]

    def test_closing_breaks_it_off_at_once(self, slow: Desk, receiver: Receiver) -> None:
        """A close does not wait for the receiver, and leaves the job in progress."""
        job_id = self.begin(slow, receiver)
        started = UPTIME()
        slow.platform.close()

        assert UPTIME() - started < PATIENCE
        assert "IN_PROGRESS" == slow.job(job_id)["state"]
        assert ["challenge"] == [what for what, *_ in slow.deliveries()]
        slow.platform.close()

    def test_closing_ends_the_wait_between_attempts(self, receiver: Receiver) -> None:
        """A job that waits to try again does not hold a close up."""
        receiver.plan.append(500)
        with Desk(receiver.url, delivery=DeliverySettings(backoff=10 * PATIENCE)) as desk:
            desk.create()
            receiver.wait_until(lambda found: len(found.received) == 1)
            started = UPTIME()
            desk.platform.close()

            assert UPTIME() - started < PATIENCE


class TestMany:
    """More than one world, job or thread."""

    def test_no_thread_exists_before_the_first_delivery(self) -> None:
        """A platform that delivers nothing has no threads of its own, whatever it answers."""
        before = set(threading.enumerate())
        with Desk() as desk:
            desk.post(webhook_id="404")
            desk.world.clock.advance(5)

            assert set(threading.enumerate()) <= before

    def test_no_thread_is_left_after_a_close(self, receiver: Receiver) -> None:
        """Workers and agenda end with the platform."""
        before = set(threading.enumerate())
        desk = Desk(receiver.url)
        desk.create()
        desk.wait()
        desk.platform.close()

        left = set(threading.enumerate()) - before
        assert [] == [thread.name for thread in left if thread.name.startswith(OWN_THREADS)]

    @pytest.mark.spec("A, Other v2 endpoints", "The job re-delivers")
    def test_worlds_deliver_their_own(self, desk: Desk, receiver: Receiver) -> None:
        """Twenty worlds with a job each: every one delivers its event to its receiver, no other."""
        desk.remove_events()
        worlds: list[World] = []
        for number in range(20):
            name = f"w{number}"
            worlds.append(desk.platform.worlds.create(name, source="default"))
            with worlds[-1].work():
                event = {
                    "id": name, "webhook_id": WEBHOOK, "event_type": "post.create",
                    "payload": {}, "created_at": "2026-11-20T10:00:00.000Z", "_attempted": True,
                }  # fmt: skip
                worlds[-1].store.put("events", name, event)
        for number in range(20):
            assert 200 == desk.post(prefix=f"/~w{number}").status_code
        desk.wait()

        assert sorted(f"w{number}" for number in range(20)) == sorted(receiver.event_ids)
        for number, world in enumerate(worlds):
            assert [None, f"w{number}", None] == [e["event_id"] for e in world.deliveries]
        assert [] == desk.deliveries()

    def test_a_fault_of_the_sandbox_is_told_and_ends_the_job(
        self, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """What should not happen reaches the embedder, and the job does not hang."""

        def fail(*_args: Any, **_kwargs: Any) -> None:
            raise LookupError("broken")

        monkeypatch.setattr(Sender, "challenge", fail)
        with Desk(receiver.url) as desk:
            desk.pace("immediate")
            job_id = desk.create()
            desk.wait()

            assert "INCOMPLETE" == desk.job(job_id)["state"]
            assert ["broken"] == [str(fault) for fault in desk.platform.errors]


class TestRestart:
    """Jobs of a durable world, over the end of the process."""

    def open(self, folder: Path, receiver: Receiver) -> Desk:
        """A desk on the durable store in this folder."""
        settings = Settings(freeze=NOW, store=f"tinydb:{folder / 'state.json'}", delivery=QUICK)
        self.opened = open_platform(settings)
        return Desk(receiver.url, platform=self.opened.platform)

    def test_a_job_that_was_broken_off_is_delivered_next_time(
        self, tmp_path: Path, receiver: Receiver
    ) -> None:
        """It goes on where it was; the event that was being sent comes twice, and it says so."""
        receiver.plan.extend([200, hang])
        desk = self.open(tmp_path, receiver)
        job_id = desk.create()
        receiver.wait_until(lambda found: len(found.received) == 2)
        events = desk.event_ids()
        self.opened.close()

        desk = self.open(tmp_path, receiver)
        receiver.wait_until(lambda found: len(found.received) == 16)
        desk.wait()
        desk.world.clock.advance(2)
        desk.wait()

        assert [*events[:2], *events[1:]] == receiver.event_ids
        assert ("COMPLETE", 15, 0, None) == desk.fate(job_id)
        assert 1 == len(receiver.challenges)
        what, attempt, _, said = desk.deliveries()[0]
        assert (events[1], 0) == (what, attempt)
        assert f"after 1 of its events; event {events[1]} was being sent" in str(said)
        self.opened.close()

    def test_new_events_that_were_not_delivered_come_next_time(
        self, tmp_path: Path, receiver: Receiver
    ) -> None:
        """Those that waited come once, in order; the one that was being sent may come twice."""
        receiver.plan.extend([200, hang])
        desk = self.open(tmp_path, receiver)
        given = {"webhook_id": WEBHOOK, "event_type": "post.create", "payload": {}}
        added = [add_event(desk.world, given).record["id"] for _ in range(4)]
        receiver.wait_until(lambda found: len(found.received) == 2)
        self.opened.close()

        desk = self.open(tmp_path, receiver)
        receiver.wait_until(lambda found: len(found.received) == 5)
        desk.wait()

        assert [*added[:2], *added[1:]] == receiver.event_ids
        assert [(added[1], 0), *((key, 1) for key in added[1:])] == [
            (what, attempt) for what, attempt, *_ in desk.deliveries()
        ]
        assert not desk.world.store.page("_outgoing")
        self.opened.close()

    def test_an_end_that_was_not_announced_is_announced_next_time(
        self, tmp_path: Path, receiver: Receiver
    ) -> None:
        """It was recorded with the end; the announcement may come twice, and it says so."""
        receiver.plan.extend([*[200] * 15, hang])
        desk = self.open(tmp_path, receiver)
        job_id = desk.create()
        desk.wait()
        desk.world.clock.advance(2)
        receiver.wait_until(lambda found: len(found.statuses) == 1)
        self.opened.close()

        desk = self.open(tmp_path, receiver)
        receiver.wait_until(lambda found: len(found.statuses) == 2)
        desk.wait()

        assert "COMPLETE" == desk.job(job_id)["state"]
        assert receiver.statuses[0] == receiver.statuses[1]
        assert 15 == len(receiver.event_ids)
        (_, attempt, _, said), (_, again, _, fault) = desk.deliveries()
        assert (0, 1, None) == (attempt, again, fault)
        assert "the announcement may arrive twice" in str(said)
        assert not desk.world.store.page("_outgoing")
        self.opened.close()

    def test_a_job_that_waited_for_its_moment_ends_next_time(
        self, tmp_path: Path, receiver: Receiver
    ) -> None:
        """Nothing is delivered twice; the end comes when the clock says so."""
        desk = self.open(tmp_path, receiver)
        job_id = desk.create()
        desk.wait()
        self.opened.close()

        desk = self.open(tmp_path, receiver)
        assert "IN_PROGRESS" == desk.job(job_id)["state"]
        desk.world.clock.travel(NOW + timedelta(seconds=2))
        desk.wait()

        assert "COMPLETE" == desk.job(job_id)["state"]
        assert (15, 1) == (len(receiver.event_ids), len(receiver.statuses))
        self.opened.close()

    def test_a_job_in_progress_by_a_fixtures_word_stays_so(
        self, desk: Desk, receiver: Receiver
    ) -> None:
        """A record that was put in progress delivers nothing and blocks other jobs."""
        record = {
            "id": "77", "webhook_id": WEBHOOK, "from_date": "202611201000", "state": "IN_PROGRESS",
            "to_date": "202611201100", "created_at": "2026-11-20T11:00:00.000Z", "_app_id": "11827",
            "_delivered": 0, "_failed": 0, "_reason": None,
        }  # fmt: skip
        with desk.world.work():
            desk.world.store.put("replay_jobs", "77", record)
        desk.world.load(desk.world.save())
        desk.wait()

        assert 409 == desk.post().status_code
        assert [] == receiver.received
