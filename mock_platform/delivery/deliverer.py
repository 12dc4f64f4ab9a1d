"""Takes up what committed requests ask for: jobs to deliver, events to pass on, ends to announce.

Worlds only leave notices; everything here happens outside their locks, on threads that do not
exist before the first delivery.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from contextlib import suppress

from mock_platform.delivery.agenda import Agenda, Entry
from mock_platform.delivery.envelope import activity, job_status
from mock_platform.delivery.events import ADDED
from mock_platform.delivery.replay_run import ReplayRun
from mock_platform.delivery.sender import Dispatch, Invalid, Sender, Stale, receiver
from mock_platform.delivery.workers import Workers
from mock_platform.rules.replay_jobs import CREATED, REPLAY_JOB
from mock_platform.settings import DeliverySettings
from mock_platform.world.clock import UPTIME
from mock_platform.world.world import PACED, RESTORED, Notice, World

_ENDED = {f"{REPLAY_JOB.name}:{state}": state for state in REPLAY_JOB.ends}
_BACK = f"{REPLAY_JOB.name}:{REPLAY_JOB.first}"


class Deliverer:
    """Delivers for all worlds of a server. Faults of the sandbox itself go to `on_error`."""

    def __init__(
        self, settings: DeliverySettings, on_error: Callable[[BaseException], None]
    ) -> None:
        self._sender = Sender(settings)
        self._workers = Workers(settings.workers, on_error)
        self._agenda = Agenda(on_error)
        self._held: dict[Hashable, Dispatch] = {}
        """Events that scenarios hold back until the next one of their webhook is delivered."""
        self._holding = threading.Lock()

    def attach(self, world: World) -> None:
        """Take up what a world asks for from now on."""
        world.on_notice(self.take)
        world.clock.on_jump(self._agenda.wake)

    def detach(self, world: World) -> None:
        """Forget a dropped world; what is under way for it ends without a word."""
        with self._holding:
            self._held = {lane: sent for lane, sent in self._held.items()
                          if sent.to.world is not world}  # fmt: skip
        self._agenda.wake()  # the world is closed by now, which everybody sees who looks

    def resume(self, world: World) -> None:
        """Go on with the unfinished jobs of a world that returned to a saved state.

        A job whose deliveries were broken off begins them anew: receivers get some events twice.
        One that is in progress by a fixture's word alone stays so.
        """
        with world.lock:
            match = {"state": REPLAY_JOB.first}
            for entry in world.store.page("replay_jobs", match):
                armed = world.transitions.armed(REPLAY_JOB.name, entry.key)
                if armed is not None:
                    self._take_up(world, entry.key, armed=armed)

    def take(self, world: World, notice: Notice) -> None:
        """Do what a committed request asks for; returns at once."""
        if notice.topic == CREATED:
            self._take_up(world, notice.key, armed=False)
        elif notice.topic in _ENDED:
            self._submit(world, notice.key, _ENDED[notice.topic])
        elif notice.topic == _BACK:
            self._take_up(world, notice.key, armed=True)
        elif notice.topic == ADDED:
            self._pass_on(world, notice.key)
        elif notice.topic == RESTORED:
            self.resume(world)
        elif notice.topic == PACED:
            self._agenda.wake()

    def validate(self, world: World, webhook_id: str) -> str | None:
        """Challenge a webhook now, which makes it valid if it passes; what went wrong, if so.

        Raises:
            LookupError: There is no such webhook, or its app is gone.
            Stale: The world was reset or dropped meanwhile.
        """
        with world.lock:
            to = receiver(world, webhook_id, even_invalid=True)
        if isinstance(to, str):
            raise LookupError(to)  # noqa: TRY004 - the text says why there is no receiver
        return self._sender.challenge(to, None)

    def wait_until_idle(self, seconds: float = 10.0) -> bool:
        """Whether all that was asked for or due is done, within so many real seconds.

        That is: deliveries made, jobs whose moment has come ended, their ends announced.
        """
        end = UPTIME() + seconds
        return (
            self._workers.wait_until_idle(seconds)
            and self._agenda.wait_until_looked(max(0.0, end - UPTIME()))
            and self._workers.wait_until_idle(max(0.0, end - UPTIME()))
        )

    def close(self, seconds: float = 0.5) -> None:
        """Stop all threads, waiting for them at most so many real seconds.

        Jobs that are broken off stay in progress; a durable world goes on with them next time.
        """
        self._sender.stop()
        self._agenda.stop(seconds)
        self._workers.stop(seconds)

    # -- within ----------------------------------------------------------------------------------

    def _take_up(self, world: World, job_id: str, *, armed: bool) -> None:
        epoch = world.epoch
        entry = Entry(world, epoch, REPLAY_JOB.name, job_id)
        if armed:
            self._agenda.watch(entry)
            return

        def run() -> None:
            if ReplayRun(self._sender, world, epoch, job_id).run():
                self._agenda.watch(entry)

        self._workers.submit((world, epoch, "job", job_id), run)

    def _submit(self, world: World, job_id: str, state: str) -> None:
        """Announce a job's end, after what it still has under way."""
        epoch = world.epoch

        def announce() -> None:
            with world.lock:
                job = world.store.get("replay_jobs", job_id)
                to = None if job is None else receiver(world, job["webhook_id"], even_invalid=True)
                if world.closed or world.epoch != epoch or to is None or isinstance(to, str):
                    return
                assert job is not None
                body = job_status(job | {"state": state})
            try:
                self._sender.deliver(Dispatch(to, body, job_id, None))
            except (Stale, Invalid):
                return

        self._workers.submit((world, epoch, "job", job_id), announce)

    def _pass_on(self, world: World, event_id: str) -> None:
        """Deliver a new event; those of one webhook go out in the order of their coming."""
        with world.lock:
            event = world.store.get("events", event_id)
            to = None if event is None else receiver(world, event["webhook_id"])
        if event is None or to is None or isinstance(to, str):
            return
        body = activity(event, to.owner_id)
        lane = (world, to.epoch, "events", to.webhook_id)

        def deliver() -> None:
            try:
                mishap = self._sender.mishap(to, event, holding=lane in self._held)
                sent = Dispatch(to, body, None, event_id, mishap)
                if mishap is not None and mishap.reorder:
                    self._hold(lane, sent)
                    return
                with suppress(Invalid):
                    self._sender.deliver(sent)
                late = self._hold(lane, None)
                if late is not None:
                    with suppress(Invalid):
                        self._sender.deliver(late)
            except Stale:
                self._hold(lane, None)

        self._workers.submit(lane, deliver)

    def _hold(self, lane: Hashable, sent: Dispatch | None) -> Dispatch | None:
        """Hold a delivery back in its lane, instead of the one that was held there."""
        with self._holding:
            before = self._held.pop(lane, None)
            if sent is not None:
                kept = self._held.items()  # without those of worlds that were reset since
                self._held = {at: it for at, it in kept if it.to.epoch == it.to.world.epoch}
                self._held[lane] = sent
            return before
