"""Runs one replay job: the challenge, then every event of its window, in order."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from mock_platform.delivery.envelope import make_body
from mock_platform.delivery.sender import Dispatch, Invalid, Receiver, Sender, Stale, find_receiver
from mock_platform.rules.replay_jobs import REPLAY_JOB, parse_minute
from mock_platform.store.interface import Order, Position, Record
from mock_platform.world.clock import wire_millis
from mock_platform.world.names import UnknownWorld
from mock_platform.world.world import World

_EVENTS_PER_PAGE = 50
_MAX_SILENT_EVENTS = 3
"""Events in a row that may time out before the job ends (`replay.attempts`)."""
_BY_TIME = Order("created_at")


class ReplayRun:
    """Runs a job once. The job's state changes by its transition, which `run` arms."""

    def __init__(self, sender: Sender, world: World, epoch: int, job_id: str) -> None:
        self._sender = sender
        self._world = world
        self._epoch = epoch
        self._job_id = job_id
        self._delivered = 0
        self._failed = 0

    def run(self) -> bool:
        """Deliver, and record how the job is to end; return whether time alone may end it now.

        If the world was reset or dropped meanwhile, or the job was moved by hand, the run ends
        without a record.
        """
        try:
            return self._finish(self._work())
        except (Stale, UnknownWorld):
            return False
        except Exception:
            with suppress(Stale, UnknownWorld):
                self._finish("the sandbox itself failed; see its log and errors")
            raise

    def _work(self) -> str | None:
        """Deliver everything; return why the job is incomplete, `None` if it is complete."""
        with self._world.lock:
            job = self._require_job()
            to = find_receiver(self._world, job["webhook_id"])
        if isinstance(to, str):
            return to
        fault = self._sender.challenge(to, self._job_id)
        if fault is not None:
            return fault
        try:
            return self._deliver_all(job, to)
        except Invalid as fault:  # the webhook became invalid meanwhile
            self._failed += 1
            return str(fault)

    def _deliver_all(self, job: Record, to: Receiver) -> str | None:
        """Deliver the job's events one after the other; return why it is incomplete, if it is."""
        silent = 0
        for sent in self._order_dispatches(job, to):
            outcome = self._sender.deliver(sent)
            if outcome == "accepted":
                self._delivered += 1
            else:
                self._failed += 1
            silent = silent + 1 if outcome == "silent" else 0
            if silent == _MAX_SILENT_EVENTS:
                return f"{_MAX_SILENT_EVENTS} events in a row were not answered in time; given up"
        if self._failed:
            return f"{self._failed} of {self._failed + self._delivered} events were not accepted"
        return None

    def _order_dispatches(self, job: Record, to: Receiver) -> Iterator[Dispatch]:
        """Yield what to deliver, in order; an event that is held back follows the next one."""
        held: Dispatch | None = None
        for event in self._read_events(job, to):
            delivery_fault = self._sender.find_delivery_fault(to, event, holding=held is not None)
            body = make_body(event, to.owner_id, to.world.names)
            sent = Dispatch(to, body, self._job_id, event["id"], delivery_fault)
            if delivery_fault is not None and delivery_fault.reorder:
                held = sent
                continue
            yield sent
            if held is not None:
                yield held
                held = None
        if held is not None:
            yield held

    def _read_events(self, job: Record, to: Receiver) -> Iterator[Record]:
        """Yield the webhook's events of the window that were attempted before, the oldest first."""
        match = {"webhook_id": to.webhook_id, "_attempted": True}
        start, end = (
            _BY_TIME.key({"created_at": wire_millis(parse_minute(job[name]))})
            for name in ("from_date", "to_date")
        )
        after: Position = (start, -1)
        while True:
            with self._world.lock:
                self._require_job()
                page = self._world.store.page(
                    "events", match, order=_BY_TIME, after=after, limit=_EVENTS_PER_PAGE
                )
            for entry in page:
                if entry.position[0] >= end:
                    return
                with self._world.lock:
                    self._require_job()
                yield entry.record
            if len(page) < _EVENTS_PER_PAGE:
                return
            after = page[-1].position

    def _require_job(self) -> Record:
        """Return the job, if it still has to be run.

        Raises:
            Stale: The job or its world is gone, or the job has ended.
        """
        if self._world.closed or self._world.epoch != self._epoch:
            raise Stale
        job = self._world.store.get("replay_jobs", self._job_id)
        armed = self._world.transitions.is_armed(REPLAY_JOB.name, self._job_id)
        if job is None or armed is not False:  # it has ended, or its deliveries were made before
            raise Stale
        return job

    def _finish(self, reason: str | None) -> bool:
        with self._world.work():
            job = self._require_job()
            counts = {"_delivered": self._delivered, "_failed": self._failed, "_reason": reason}
            self._world.store.put("replay_jobs", self._job_id, job | counts)
            end = "COMPLETE" if reason is None else "INCOMPLETE"
            if reason is not None:
                text = f"replay job {self._job_id} ends as incomplete: {reason}"
                self._world.journal.note("replay_jobs", self._job_id, text)
            self._world.transitions.arm(REPLAY_JOB.name, self._job_id, end)
            return self._world.transitions.is_armed(REPLAY_JOB.name, self._job_id) is True
