from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from mock_platform.delivery.events import add_event
from mock_platform.delivery.sender import Sender
from mock_platform.serving.http.tls import TlsMaterial
from tests.support_receiver import Misbehaviour, Receiver, close, drip, hang, reset, unused_port
from tests.support_replay import QUICK, WEBHOOK, Desk

EVENT = {"webhook_id": WEBHOOK, "event_type": "post.create", "payload": {"id": "7"}}
NOT_VALID = (
    f"webhook {WEBHOOK} is not valid, so nothing is delivered to it; POST "
    f"/_mock/webhooks/{WEBHOOK}/validate challenges it again"
)
INCOMPLETE = "Job failed to deliver all events, please retry your replay job"


class TestReceiversThatFail:
    """Receivers that answer otherwise, late or not at all."""

    @pytest.fixture(autouse=True)
    def _two_events(self, desk: Desk) -> None:
        desk.remove_events()
        desk.put_event("one", "2026-11-20T10:00:00.000Z")
        desk.put_event("two", "2026-11-20T11:00:00.000Z")

    @pytest.mark.parametrize(("misbehaviour", "status", "error"), [
        (500, 500, "answered with status 500, not 200"),
        (404, 404, "answered with status 404, not 200"),
        (204, 204, "answered with status 204, not 200"),
        (close, None, "closed the connection without an answer"),
        (reset, None, "closed the connection without an answer"),
    ], ids=["500", "404", "204", "close", "reset"])  # fmt: skip
    def test_an_event_is_tried_again(
        self,
        desk: Desk,
        receiver: Receiver,
        misbehaviour: int | Misbehaviour,
        status: int | None,
        error: str,
    ) -> None:
        """Two failed attempts and a third one, with the same bytes, make a complete job."""
        receiver.plan.extend([misbehaviour, misbehaviour])
        job_id = desk.create()
        desk.wait()
        tries = desk.deliveries()[1:4]

        assert [("one", 1, status), ("one", 2, status), ("one", 3, 200)] == [t[:3] for t in tries]
        assert all(error in (text or "") for *_, text in tries[:2])
        assert ["one", "one", "one", "two"] == receiver.event_ids
        assert 1 == len({each.body for each in receiver.received[:3]})
        assert ("COMPLETE", 2, 0, None) == desk.fate(job_id)

    def test_an_event_that_is_never_taken_leaves_the_job_incomplete(
        self, desk: Desk, receiver: Receiver
    ) -> None:
        """After three attempts the next event has its turn; the end says incomplete."""
        receiver.plan.extend([500, 500, 500])
        job_id = desk.create()
        desk.wait()

        assert ["one", "one", "one", "two"] == receiver.event_ids
        assert ("INCOMPLETE", 1, 1, "1 of 2 events were not accepted") == desk.fate(job_id)
        assert {
            "webhook_id": WEBHOOK,
            "job_state": "Incomplete",
            "job_state_description": INCOMPLETE,
            "job_id": job_id,
        } == receiver.statuses[0]

    @pytest.mark.parametrize(("attempts", "taken"), [(1, 0), (2, 1)])
    def test_the_number_of_attempts_is_a_setting(
        self, receiver: Receiver, attempts: int, taken: int
    ) -> None:
        """With one attempt a single failure loses the event; with two it does not."""
        with Desk(receiver.url, delivery=replace(QUICK, attempts=attempts)) as desk:
            desk.pace("immediate")
            desk.remove_events()
            desk.put_event("one", "2026-11-20T10:00:00.000Z")
            receiver.plan.append(500)
            job_id = desk.create()
            desk.wait()

            assert taken == desk.job(job_id)["_delivered"]

    def test_the_announcement_is_tried_again_as_well(self, desk: Desk, receiver: Receiver) -> None:
        """The end of a job is delivered like an event."""
        receiver.plan.extend([200, 200, 500])
        desk.create()
        desk.wait()

        assert [("end", 1, 500), ("end", 2, 200)] == [t[:3] for t in desk.deliveries()[-2:]]
        assert 2 == len(receiver.statuses)

    def test_an_answer_that_does_not_come_in_time_is_none(self, receiver: Receiver) -> None:
        """An answer that drips is a failed attempt after the timeout."""
        receiver.plan.append(drip(b"HTTP/1.1 200 OK\r\nX: "))
        with Desk(receiver.url, delivery=replace(QUICK, timeout=3.0)) as desk:
            desk.pace("immediate")
            job_id = desk.create(from_date=desk.ago(minutes=31))
            desk.wait()

            (_, _, status, error), second = desk.deliveries()[1:3]
            assert status is None
            assert (error or "").endswith("sent no complete answer within 3 seconds")
            assert (2, 200) == second[1:3]
            assert ("COMPLETE", 1, 0, None) == desk.fate(job_id)

    def test_waits_double_between_attempts(
        self, desk: Desk, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The pauses between attempts are the backoff and its double."""
        waits: list[float] = []
        monkeypatch.setattr(Sender, "_pause", lambda _self, _to, seconds: waits.append(seconds))
        receiver.plan.extend([500, 500, 500])
        desk.create()
        desk.wait()

        assert [QUICK.backoff, 2 * QUICK.backoff] == waits


class TestChallenge:
    """The check that an address knows the app's secret, before anything is delivered."""

    @pytest.mark.parametrize(("answer", "reason"), [
        ((200, b'{"response_token": "sha256=no"}'), "response_token is wrong"),
        ((200, b"{}"), 'lacks "response_token"'),
        ((299, b"hello"), "not valid JSON"),
        ((302, b"{}"), "answered with status 302"),
        ((399, b"{}"), "answered with status 399"),
    ])  # fmt: skip
    def test_a_wrong_answer_makes_the_webhook_invalid_at_once(
        self, desk: Desk, receiver: Receiver, answer: tuple[int, bytes], reason: str
    ) -> None:
        """It gets nothing from then on, the announcement of the job's end included."""
        receiver.challenge = lambda _token: answer
        job_id = desk.create()
        desk.wait()
        state, delivered, failed, why = desk.fate(job_id)
        challenge, end = desk.deliveries()

        assert ("INCOMPLETE", 0, 0) == (state, delivered, failed)
        assert reason in (why or "")
        assert (why or "").endswith(f"; webhook {WEBHOOK} is not valid from now on")
        assert desk.record("webhooks", WEBHOOK)["valid"] is False
        assert [] == receiver.received
        assert ("challenge", 1, answer[0], why) == challenge
        assert ("end", 1, None, f"{NOT_VALID}; nothing was sent") == end
        assert not add_event(desk.world, EVENT).delivering

    def test_a_failed_tls_connection_makes_the_webhook_invalid(
        self, desk: Desk, tmp_path: Path
    ) -> None:
        """An untrusted certificate is a wrong answer."""
        with Receiver(tls=TlsMaterial.generate(directory=tmp_path).server_context()) as stranger:
            desk.lead_to(stranger.url)
            job_id = desk.create()
            desk.wait()

            assert "is not trusted" in (desk.job(job_id)["_reason"] or "")
            assert desk.record("webhooks", WEBHOOK)["valid"] is False
            assert [] == stranger.received

    @pytest.mark.parametrize(
        "answer", [(400, b"{}"), (500, b"{}")], ids=["a client's error", "a server's error"]
    )
    def test_a_failed_challenge_ends_the_job(
        self, desk: Desk, receiver: Receiver, answer: tuple[int, bytes]
    ) -> None:
        """No event is delivered; the job is incomplete, says why, and its end is announced."""
        receiver.challenge = lambda _token: answer
        job_id = desk.create()
        desk.wait()
        state, delivered, failed, why = desk.fate(job_id)

        assert ("INCOMPLETE", 0, 0) == (state, delivered, failed)
        assert f"answered with status {answer[0]}" in (why or "")
        assert desk.record("webhooks", WEBHOOK)["valid"] is True
        assert [] == receiver.event_ids
        assert ["challenge", "end"] == [what for what, *_ in desk.deliveries()]
        assert (answer[0], why) == desk.deliveries()[0][2:]
        assert "Incomplete" == receiver.statuses[0]["job_state"]

    def test_each_job_has_a_token_of_its_own(self, desk: Desk, receiver: Receiver) -> None:
        """The right answer of the last time is not accepted again."""
        desk.create()
        desk.wait()
        desk.create()
        desk.wait()

        assert 2 == len(set(receiver.challenges))
        assert all(len(token) >= 32 for token in receiver.challenges)

    def test_where_nobody_listens_the_job_ends(self, desk: Desk) -> None:
        """An unreachable receiver makes an incomplete job."""
        port = unused_port()
        desk.lead_to(f"http://127.0.0.1:{port}/hook")
        job_id = desk.create()
        desk.wait()

        assert f"nothing listens at 127.0.0.1:{port}" == desk.job(job_id)["_reason"]
        assert "INCOMPLETE" == desk.job(job_id)["state"]

    def test_another_machine_is_not_called(self, desk: Desk) -> None:
        """An address that is not this machine's is refused once, with what would allow it."""
        desk.lead_to("http://10.0.0.1/hook")
        job_id = desk.create()
        desk.wait()

        assert [("challenge", 1), ("end", 1)] == [t[:2] for t in desk.deliveries()]
        assert "--delivery-allow-host" in desk.job(job_id)["_reason"]

    def test_an_invalid_webhook_gets_nothing(self, desk: Desk, receiver: Receiver) -> None:
        """A webhook that is not valid ends the job without a single request, which is on record."""
        desk.lead_to(receiver.url, valid=False)
        job_id = desk.create()
        desk.wait()

        assert ("INCOMPLETE", 0, 0, NOT_VALID) == desk.fate(job_id)
        assert ([], []) == (receiver.challenges, receiver.received)
        assert [("end", 1, None, f"{NOT_VALID}; nothing was sent")] == desk.deliveries()
        (entry,) = desk.world.journal
        assert [
            f"webhook {WEBHOOK} is not valid, so the job will deliver nothing; POST "
            f"/_mock/webhooks/{WEBHOOK}/validate challenges it again",
            f"replay job {job_id} ends as incomplete: {NOT_VALID}",
        ] == entry.warnings

    def test_a_job_under_way_stops(self, desk: Desk, receiver: Receiver) -> None:
        """Where its webhook becomes invalid meanwhile; what was not sent is on record."""
        receiver.plan.append(hang)
        job_id = desk.create()
        receiver.wait_until(lambda found: len(found.received) == 1)
        (first,) = receiver.event_ids
        desk.lead_to(receiver.url, valid=False)
        receiver.stopping.set()
        desk.wait()

        assert ("INCOMPLETE", 0, 1, NOT_VALID) == desk.fate(job_id)
        assert [first] == receiver.event_ids
        assert [
            (first, 2, None, f"{NOT_VALID}; nothing was sent"),
            ("end", 1, None, f"{NOT_VALID}; nothing was sent"),
        ] == desk.deliveries()[2:]

    def test_events_that_wait_are_not_sent(self, desk: Desk, receiver: Receiver) -> None:
        """Those that had happened before the webhook became invalid are on record, each."""
        receiver.plan.append(hang)
        first = add_event(desk.world, EVENT).record["id"]
        receiver.wait_until(lambda found: len(found.received) == 1)
        second = add_event(desk.world, EVENT).record["id"]
        desk.lead_to(receiver.url, valid=False)
        receiver.stopping.set()
        desk.wait()

        assert [first] == receiver.event_ids
        assert [
            (first, 2, None, f"{NOT_VALID}; nothing was sent"),
            (second, 1, None, f"{NOT_VALID}; nothing was sent"),
        ] == desk.deliveries()[1:]

    def test_a_webhook_that_passes_again_is_valid(self, desk: Desk, receiver: Receiver) -> None:
        """A challenge by hand makes it valid, and deliveries go on."""
        desk.lead_to(receiver.url, valid=False)

        assert desk.platform.deliverer.validate(desk.world, WEBHOOK) is None
        added = add_event(desk.world, EVENT)
        desk.wait()
        assert desk.record("webhooks", WEBHOOK)["valid"] is True
        assert [added.record["id"]] == receiver.event_ids
