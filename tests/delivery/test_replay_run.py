from __future__ import annotations

import pytest

from mock_platform.delivery import sender
from mock_platform.delivery.deliverer import Deliverer
from mock_platform.delivery.replay_run import ReplayRun
from mock_platform.delivery.sender import DeliveryOutcome, Sender
from tests.support import HARBOR
from tests.support_receiver import Receiver, sign
from tests.support_replay import QUICK, WEBHOOK, Desk

COMPLETE = "Job completed successfully"


class TestWhatArrives:
    """A receiver that does everything right."""

    @pytest.mark.spec("A, Other v2 endpoints", "The job re-delivers")
    @pytest.mark.spec("A, Events", "A webhook receives")
    @pytest.mark.spec("A, Limits", "Replay window: events", side="inside")
    def test_the_window_arrives_in_order(self, desk: Desk, receiver: Receiver) -> None:
        """The webhook's fifteen shipped events of the last 24 hours arrive oldest first."""
        job_id = desk.create()
        desk.wait()

        assert 15 == len(receiver.event_ids)
        assert desk.event_ids() == receiver.event_ids
        assert ("COMPLETE", 15, 0, None) == desk.fate(job_id)

    def test_each_delivery_is_signed(self, desk: Desk, receiver: Receiver) -> None:
        """The signature header is the HMAC of the raw body with the consumer secret."""
        desk.create()
        desk.wait()

        for post in receiver.received:
            assert sign(HARBOR.secret, post.body) == post.headers["x-platform-webhooks-signature"]
            assert sign(HARBOR.secret, post.body) == post.headers["x-twitter-webhooks-signature"]
            assert "application/json" == post.headers["content-type"]
            assert post.headers["user-agent"].startswith("mock-platform/")

    def test_the_challenge_comes_first_and_the_end_last(
        self, desk: Desk, receiver: Receiver
    ) -> None:
        """One challenge, the events, the announcement: each attempt is on record, in order."""
        job_id = desk.create()
        desk.wait()
        entries = list(desk.world.deliveries)

        assert 1 == len(receiver.challenges)
        assert ["challenge", *desk.event_ids(), "end"] == [what for what, *_ in desk.deliveries()]
        assert {(job_id, WEBHOOK, 1, 200, None)} == {
            (e["job_id"], e["webhook_id"], e["attempt"], e["status"], e["error"]) for e in entries
        }
        assert f"{receiver.url}?crc_token={receiver.challenges[0]}" == entries[0]["url"]
        assert {receiver.url} == {entry["url"] for entry in entries[1:]}
        assert {"2026-11-20T12:00:30.000Z"} == {entry["at"] for entry in entries}
        assert [post.json for post in receiver.received] == [e["body"] for e in entries[1:]]
        assert len(entries) == len({entry["id"] for entry in entries})

    def test_the_end_is_announced_once(self, desk: Desk, receiver: Receiver) -> None:
        """The last POST says what became of the job, in the public words."""
        job_id = desk.create()
        desk.wait()

        assert {
            "replay_job_status": {"webhook_id": WEBHOOK, "job_state": "Complete",
                                  "job_state_description": COMPLETE, "job_id": job_id},
        } == receiver.received[-1].json  # fmt: skip
        assert 1 == len(receiver.statuses)

    @pytest.mark.spec("A, Replay job create request", "from_date: yes", "The description")
    @pytest.mark.spec("A, Events", "A webhook receives")
    def test_from_date_is_inside_and_to_date_outside(self, desk: Desk, receiver: Receiver) -> None:
        """The window is half open, by the millisecond."""
        desk.remove_events()
        desk.put_event("before", "2026-11-20T09:59:59.999Z")
        desk.put_event("first", "2026-11-20T10:00:00.000Z")
        desk.put_event("last", "2026-11-20T10:59:59.999Z")
        desk.put_event("behind", "2026-11-20T11:00:00.000Z")
        desk.create(from_date="202611201000", to_date="202611201100")
        desk.wait()

        assert ["first", "last"] == receiver.event_ids

    def test_an_empty_window_is_complete(self, desk: Desk, receiver: Receiver) -> None:
        """Equal dates deliver nothing, and the job completes."""
        job_id = desk.create(from_date="202611201000", to_date="202611201000")
        desk.wait()

        assert ("COMPLETE", 0, 0, None) == desk.fate(job_id)
        assert [] == receiver.event_ids
        assert 1 == len(receiver.statuses)

    @pytest.mark.spec("A, Other v2 endpoints", "The job re-delivers")
    @pytest.mark.spec("A, Events", "A webhook receives")
    def test_only_attempted_events_of_the_webhook_arrive(
        self, desk: Desk, receiver: Receiver
    ) -> None:
        """Events never attempted, and those of other webhooks, stay out."""
        desk.remove_events()
        desk.put_event("mine", "2026-11-20T10:00:00.000Z")
        desk.put_event("never", "2026-11-20T10:00:00.000Z", _attempted=False)
        desk.put_event("other", "2026-11-20T10:00:00.000Z", webhook_id="1146654567674912770")
        desk.create()
        desk.wait()

        assert ["mine"] == receiver.event_ids

    def test_events_of_one_moment_keep_their_order(self, desk: Desk, receiver: Receiver) -> None:
        """More events of one moment than a page holds arrive once each, as they were added."""
        desk.remove_events()
        for number in range(120):
            desk.put_event(str(number), "2026-11-20T10:00:00.000Z")
        desk.put_event("early", "2026-11-20T09:00:00.000Z")
        desk.create()
        desk.wait()

        assert ["early", *map(str, range(120))] == receiver.event_ids

    def test_what_is_on_record_shares_nothing_with_the_events(self, desk: Desk) -> None:
        """Whoever changes a delivery's entry changes no record."""
        desk.put_event("own", "2026-11-20T10:00:00.000Z", payload={"a": [1]})
        desk.create()
        desk.wait()
        (entry,) = (e for e in desk.world.deliveries if e["event_id"] == "own")
        entry["body"]["data"]["payload"]["a"].append(2)

        assert {"a": [1]} == desk.record("events", "own")["payload"]


class Scripted(Sender):
    """A sender whose outcomes are written down beforehand."""

    def __init__(self, *outcomes: DeliveryOutcome) -> None:
        super().__init__(QUICK)
        self.outcomes = list(outcomes)
        self.asked: list[str | None] = []

    def challenge(self, to: sender.Receiver, job_id: str | None) -> str | None:
        """Everybody passes."""
        return None

    def deliver(self, sent: sender.Dispatch) -> DeliveryOutcome:
        """The next outcome; success when none is left."""
        self.asked.append(sent.event_id)
        return self.outcomes.pop(0) if self.outcomes else "accepted"


class TestPatience:
    """How long a receiver that does not answer is waited for."""

    @pytest.fixture(autouse=True)
    def alone(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """The deliverer of the platform leaves the jobs to the test."""
        monkeypatch.setattr(Deliverer, "take", lambda *_: None)

    def run(self, *outcomes: DeliveryOutcome) -> tuple[Scripted, tuple[str, int, int, str | None]]:
        """Work a job of fifteen events through; the sender, and the job's fate."""
        script = Scripted(*outcomes)
        with Desk() as desk:
            desk.pace("immediate")
            job_id = desk.create()
            ReplayRun(script, desk.world, desk.world.epoch, job_id).run()
            return script, desk.fate(job_id)

    def test_three_silent_events_in_a_row_end_the_job(self) -> None:
        """A receiver that never answers costs three events' time, not the whole window's."""
        script, fate = self.run("accepted", "silent", "silent", "silent", "accepted")

        assert 4 == len(script.asked)
        assert ("INCOMPLETE", 1, 3, "3 events in a row were not answered in time; given up") == fate

    @pytest.mark.parametrize("between", ["accepted", "refused"])
    def test_an_answer_in_between_begins_the_count_anew(self, between: DeliveryOutcome) -> None:
        """Two silent events, any answer, and two more silent ones are no reason to stop."""
        script, fate = self.run("silent", "silent", between, "silent", "silent")

        assert 15 == len(script.asked)
        assert 4 + (between == "refused") == fate[2]

    def test_refusals_never_end_the_job_early(self) -> None:
        """A receiver that answers, however wrongly, is offered every event."""
        refused: list[DeliveryOutcome] = ["refused"] * 15
        script, fate = self.run(*refused)

        assert 15 == len(script.asked)
        assert ("INCOMPLETE", 0, 15, "15 of 15 events were not accepted") == fate

    def test_a_job_is_worked_through_once(self) -> None:
        """A second run of the same job finds its deliveries made and does nothing."""
        script = Scripted()
        with Desk() as desk:
            job_id = desk.create()
            first = ReplayRun(script, desk.world, desk.world.epoch, job_id).run()
            second = ReplayRun(script, desk.world, desk.world.epoch, job_id).run()

        assert (True, False) == (first, second)
        assert 15 == len(script.asked)
