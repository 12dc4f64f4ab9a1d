"""Runs one replay job: the challenge, then every event of its window, in order.

Before each event the world records which ones are done and which one is sent now. So whoever has
the world next goes on there, and knows which event may arrive twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from mock_platform.api.v2.webhooks.event_log import REPLAY_JOB, RUNNING, parse_minute
from mock_platform.delivery.envelope import make_body
from mock_platform.delivery.sender import Dispatch, Invalid, Receiver, Sender, Stale, find_receiver
from mock_platform.world.clock import wire_millis
from mock_platform.world.names import UnknownWorld
from mock_platform.world.store.errors import WorldLost
from mock_platform.world.store.interface import Entry, Order, Position, Record
from mock_platform.world.world import World

_EVENTS_PER_PAGE = 50
_MAX_SILENT_EVENTS = 3
"""Events in a row that may time out before the job ends (`replay.attempts`)."""
_BY_TIME = Order("created_at")


class ReplayRun:
    """Runs a job once. The job's state changes by its transition, which `run` starts."""

    def __init__(self, sender: Sender, world: World, epoch: int, job_id: str) -> None:
        self._sender = sender
        self._world = world
        self._epoch = epoch
        self._job_id = job_id
        self._delivered = 0
        self._failed = 0
        self._silent = 0
        """Events in a row that timed out."""
        self._after: Position | None = None
        """The position of the last event that is done, or postponed."""
        self._postponed: str | None = None
        """The event that is postponed until the next one was delivered."""

    def run(self) -> bool:
        """Deliver, and record how the job is to end; return whether time alone may end it now.

        If the world was reset or dropped meanwhile, or the job was moved by hand, the run ends
        without a record.
        """
        try:
            return self._finish(self._work())
        except (Stale, UnknownWorld, WorldLost):
            return False
        except Exception:
            with suppress(Stale, UnknownWorld, WorldLost):
                self._finish("the sandbox itself failed; see its log and errors")
            raise

    def _work(self) -> str | None:
        """Deliver everything; return why the job is incomplete, `None` if it is complete."""
        with self._world.lock:
            job = self._require_job()
            # A job that has a record of its progress goes on there; the challenge was passed then
            # and is not made again. Only the event that was being sent is in doubt.
            to = find_receiver(self._world, job["webhook_id"])
            before = self._world.store.get(RUNNING, self._job_id)
        if before is not None:
            self._take_up(before)
        if isinstance(to, str):
            return to
        if before is None:
            fault = self._sender.challenge(to, self._job_id)
            if fault is not None:
                return fault
        else:
            text = (
                f"the job goes on where it was left, after {self._delivered + self._failed} "
                f"of its events; event {before['sending']} was being sent, so it may arrive twice"
            )
            self._sender.note(to, self._job_id, before["sending"], text)
        try:
            return self._deliver_all(job, to, before)
        except Invalid as error:  # the webhook became invalid meanwhile
            self._failed += 1
            return str(error)

    def _take_up(self, before: Record) -> None:
        """Continue with what an earlier run recorded."""
        self._delivered, self._failed = before["delivered"], before["failed"]
        self._silent, self._postponed = before["silent"], before["held"]
        if before["after"] is not None:
            key, seq = before["after"]
            self._after = tuple(key), seq

    def _deliver_all(self, job: Record, to: Receiver, before: Record | None) -> str | None:
        """Deliver the job's events one after the other; return why it is incomplete, if it is."""
        # The record is written before each event is sent, not after. A crash in between then leaves
        # an event that may arrive twice, and never one that was counted and not sent.
        for sent in self._order_dispatches(job, to, before):
            self._record_progress(to, sent)
            outcome = self._sender.deliver(sent)
            if outcome == "accepted":
                self._delivered += 1
            else:
                self._failed += 1
            self._silent = self._silent + 1 if outcome == "silent" else 0
            if self._silent == _MAX_SILENT_EVENTS:
                return f"{_MAX_SILENT_EVENTS} events in a row were not answered in time; given up"
        if self._failed:
            return f"{self._failed} of {self._failed + self._delivered} events were not accepted"
        return None

    def _record_progress(self, to: Receiver, sent: Dispatch) -> None:
        """Record what is done, and what is sent next."""
        progress = {
            "delivered": self._delivered,
            "failed": self._failed,
            "silent": self._silent,
            "after": None if self._after is None else [list(self._after[0]), self._after[1]],
            "held": self._postponed,
            "sending": sent.event_id,
        }

        def change(world: World) -> None:
            self._require_job()
            world.store.put(RUNNING, self._job_id, progress)

        self._sender.commit(to, change)

    def _order_dispatches(
        self, job: Record, to: Receiver, before: Record | None
    ) -> Iterator[Dispatch]:
        """Yield what to deliver, in order; an event that is postponed follows the next one."""
        # An event that a scenario holds back follows the next one that was delivered. After a
        # restart it may be the very one that was being sent; then it goes first.
        postponed = None if self._postponed is None else self._find_postponed(to, self._postponed)
        if postponed is not None and before is not None and before["sending"] == self._postponed:
            yield postponed
            postponed = self._postponed = None
        for entry in self._read_events(job, to):
            event = entry.record
            delivery_fault = self._sender.find_delivery_fault(
                to, event, holding=postponed is not None
            )
            body = make_body(event, to.owner_id, to.names)
            sent = Dispatch(to, body, self._job_id, event["id"], delivery_fault)
            if delivery_fault is not None and delivery_fault.reorder:
                postponed, self._postponed, self._after = sent, event["id"], entry.position
                continue
            yield sent
            self._after = entry.position
            if postponed is not None:
                yield postponed
                postponed = self._postponed = None
        if postponed is not None:
            yield postponed

    def _find_postponed(self, to: Receiver, event_id: str) -> Dispatch | None:
        """Return the delivery that an earlier run postponed, if its event is still there."""
        with to.lock_world() as world:
            event = world.store.get("events", event_id)
        if event is None:
            return None
        return Dispatch(to, make_body(event, to.owner_id, to.names), self._job_id, event_id)

    def _read_events(self, job: Record, to: Receiver) -> Iterator[Entry]:
        """Yield the webhook's events of the window that were attempted before, the oldest first."""
        match = {"webhook_id": to.webhook_id, "_attempted": True}
        start, end = (
            _BY_TIME.key({"created_at": wire_millis(parse_minute(job[name]))})
            for name in ("from_date", "to_date")
        )
        # Positions and not a list: the events of the window may be very many, and a position stays
        # right while others are added or removed.
        after: Position = (start, -1) if self._after is None else self._after
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
                yield entry
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
        started = self._world.transitions.has_started(REPLAY_JOB.name, self._job_id)
        if job is None or started is not False:  # it has ended, or its deliveries were made before
            raise Stale
        return job

    def _finish(self, reason: str | None) -> bool:
        mine = Receiver(self._world, self._epoch, "", "", "", "")
        return self._sender.commit(mine, lambda _: self._end(reason))

    def _end(self, reason: str | None) -> bool:
        job = self._require_job()
        counts = {"_delivered": self._delivered, "_failed": self._failed, "_reason": reason}
        self._world.store.put("replay_jobs", self._job_id, job | counts)
        self._world.store.remove(RUNNING, self._job_id)
        end = "COMPLETE" if reason is None else "INCOMPLETE"
        if reason is not None:
            text = f"replay job {self._job_id} ends as incomplete: {reason}"
            self._world.journal.note("replay_jobs", self._job_id, text)
        self._world.transitions.start(REPLAY_JOB.name, self._job_id, end)
        return self._world.transitions.has_started(REPLAY_JOB.name, self._job_id) is True
