"""Does what committed requests ask for: delivers jobs and events, announces the ends of jobs.

Worlds only leave notices; everything here happens outside their locks, on threads that do not
exist before the first delivery.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from mock_platform.api.ads.catalogs.operations import upsert_products
from mock_platform.api.ads.catalogs.scheduled_feeds import (
    MOST_BYTES,
    TABLE,
    find_next_read,
    read_products,
)
from mock_platform.api.ads.catalogs.scheduled_feeds import TABLE as FEEDS
from mock_platform.api.v2.webhooks.event_log import ADDED, CREATED, OUTGOING, REPLAY_JOB
from mock_platform.api.v2.webhooks.validation import find_next_challenge
from mock_platform.core.call import Challenge
from mock_platform.delivery.agenda import (
    Agenda,
    Appointment,
    DeliveryWorkers,
    DueAct,
    DueStart,
    StateChange,
)
from mock_platform.delivery.envelope import make_body, make_job_status
from mock_platform.delivery.outbound import Outbound, OutboundFault
from mock_platform.delivery.replay_run import ReplayRun
from mock_platform.delivery.sender import Dispatch, Invalid, Receiver, Sender, Stale, find_receiver
from mock_platform.settings import DeliverySettings
from mock_platform.world.attached import PACED, RESTORED, Notice
from mock_platform.world.clock import LATEST, UPTIME, wire_millis
from mock_platform.world.names import UnknownWorld
from mock_platform.world.store.errors import WorldLost
from mock_platform.world.store.interface import Change, Record
from mock_platform.world.store.memory import Base
from mock_platform.world.world import World

_ENDED = {f"{REPLAY_JOB.name}:{state}": state for state in REPLAY_JOB.ends}
_BACK = f"{REPLAY_JOB.name}:{REPLAY_JOB.first}"
_FAR = timedelta(days=1)
_IN_DOUBT = (
    "the event was being sent in the kept state from which the world goes on, so it may arrive "
    "twice"
)
_END_IN_DOUBT = (
    "the end of the job was being announced in the kept state from which the world goes on, so the "
    "announcement may arrive twice"
)


class Deliverer:
    """Delivers for all worlds of a server. Errors of the sandbox itself go to `on_error`."""

    def __init__(
        self, settings: DeliverySettings, on_error: Callable[[BaseException], None]
    ) -> None:
        self._sender = Sender(settings)
        self._outbound = Outbound(timeout=settings.timeout, allow_hosts=settings.allow_hosts)
        """Reads feeds; deliveries have their own."""
        self._workers = DeliveryWorkers(settings.workers, on_error)
        self._agenda = Agenda(on_error)
        self._postponed: dict[Hashable, Dispatch] = {}
        """Events that scenarios hold back until the next one of their webhook is delivered."""
        self._holding = threading.Lock()
        self._quiet: tuple[Base | None, datetime] = (None, LATEST)
        """Fixtures in which nothing is to be watched, and until when a new world need not look."""

    def attach(self, world: World) -> None:
        """Deliver what a world asks for from now on."""
        # From here on everything arrives by these three: notices of committed work, jumps of the
        # clock, and changes of records. What follows looks once at what was there before them.
        world.on_notice(self.take)
        world.clock.on_jump(self._agenda.wake)
        acts = {kind.table for kind in world.transitions.kinds.values() if kind.act}
        world.on_commit(self._watch_changed, {FEEDS, "webhooks", *acts})
        # A test run makes a world for each test, all with the same fixtures.
        base, quiet_until = self._quiet
        # Fixtures without anything due soon are remembered with the moment until which that holds.
        # The next world on the same fixtures skips the search: it takes longer than the rest of a
        # world's start.
        at_start = world.store.kept is None and not world.clock.frozen
        if at_start and world.blueprint.base is base and world.clock.now() < quiet_until:
            return
        rechecks, feeds = self._watch_webhooks(world), self._watch_feeds(world)
        earliest = self._watch_acts(world)
        if at_start and not (rechecks or feeds):
            self._quiet = world.blueprint.base, earliest - _FAR

    def detach(self, world: World) -> None:
        """Forget a dropped world; its running deliveries end without a record."""
        with self._holding:
            self._postponed = {lane: sent for lane, sent in self._postponed.items()
                          if sent.to.world is not world}  # fmt: skip
        self._agenda.wake()  # the world is closed by now, which the thread will see

    def resume(self, world: World) -> None:
        """Continue what was unfinished in a world that returned to a saved state, or was opened.

        Jobs and deliveries of new events go on where they were. An event that was being sent may
        arrive twice; the deliveries of the world say so. A job that is in progress only because a
        fixture says so stays in progress.
        """
        with world.lock:
            # Records say what is unfinished; threads and queues do not survive. Replay jobs whose
            # time counts already are only watched until they end; the others run again from where
            # their records say. Then come the announcements and events that were owed. Of the
            # events of a webhook only the first can have been on its way, because they are sent one
            # after the other; so only that one is in doubt.
            match = {"state": REPLAY_JOB.first}
            for entry in world.store.page("replay_jobs", match):
                started = world.transitions.has_started(REPLAY_JOB.name, entry.key)
                if started is not None:
                    self._take_up(world, entry.key, started=started)
            owed = [(entry.key, entry.record) for entry in world.store.page(OUTGOING)]
        for _, record in owed:
            if "job_id" in record:
                self._submit(world, record["job_id"], record["state"], in_doubt=True)
        waiting = [(key, record["webhook_id"]) for key, record in owed if "job_id" not in record]
        first = {webhook_id: event_id for event_id, webhook_id in reversed(waiting)}
        for event_id, webhook_id in waiting:
            self._pass_on(world, event_id, in_doubt=first[webhook_id] == event_id)
        self._watch_webhooks(world)

    def take(self, world: World, notice: Notice) -> None:
        """Start what a committed request asks for, without waiting for it."""
        if notice.topic == CREATED:
            self._take_up(world, notice.key, started=False)
        elif notice.topic in _ENDED:
            self._submit(world, notice.key, _ENDED[notice.topic])
        elif notice.topic == _BACK:
            self._take_up(world, notice.key, started=True)
        elif notice.topic == ADDED:
            self._pass_on(world, notice.key)
        elif notice.topic == RESTORED:
            self.resume(world)
        elif notice.topic == PACED:
            self._agenda.wake()

    def validate(self, world: World, webhook_id: str) -> str | None:
        """Challenge a webhook now, which makes it valid if it passes; return the error, if any.

        Raises:
            Invalid: The webhook or its app does not exist.
            Stale: The world was reset or dropped meanwhile.
            UnknownWorld: It was dropped before that.
        """
        with world.lock:
            to = find_receiver(world, webhook_id, even_invalid=True)
        if isinstance(to, str):
            raise Invalid(to)
        return self._sender.challenge(to, None)

    def deliver_again(self, world: World, event_id: str) -> None:
        """Deliver an event once more, after those of its webhook that are waiting."""
        self._pass_on(world, event_id)

    def challenge(self, world: World, challenge: Challenge) -> None:
        """Make a challenge that a request waits for, and set its `fault`.

        Raises:
            Stale: The world was reset or dropped meanwhile.
        """
        to = Receiver(world, world.epoch, challenge.webhook_id, challenge.url, challenge.secret, "")
        challenge.fault = self._sender.challenge(to, None)

    def list_held(self, world: World) -> list[Dispatch]:
        """Return the events of a world that scenarios hold back until a next one is delivered."""
        with self._holding:
            waiting = list(self._postponed.values())
        return [each for each in waiting if each.to.world is world and each.to.epoch == world.epoch]

    def wait_until_idle(self, seconds: float = 10.0) -> bool:
        """Wait up to so many real seconds; return whether all that was asked for or due is done.

        That is: events delivered, jobs that are due ended, their ends announced.
        """
        # The workers are waited for twice: the agenda may give them more to do when something is
        # due, and they may have given it something to watch before that.
        end = UPTIME() + seconds
        return (
            self._workers.wait_until_idle(seconds)
            and self._agenda.wait_until_settled(max(0.0, end - UPTIME()))
            and self._workers.wait_until_idle(max(0.0, end - UPTIME()))
        )

    def close(self, seconds: float = 0.5) -> None:
        """Stop all threads, waiting for them at most so many real seconds.

        Interrupted jobs stay in progress; a durable world continues them at the next start.
        """
        # In the order in which work flows: nothing new is sent, then nothing more becomes due, and
        # last the threads that were in the middle of something end.
        self._sender.stop()
        self._outbound.stop()
        self._agenda.stop(seconds)
        self._workers.stop(seconds)

    # -- within ----------------------------------------------------------------------------------

    def _take_up(self, world: World, job_id: str, *, started: bool) -> None:
        epoch = world.epoch
        entry = StateChange(world, epoch, REPLAY_JOB.name, job_id)
        if started:
            self._agenda.watch(entry)
            return

        def run() -> None:
            # The job runs on a worker. Only if it was sent to the end is its transition watched: a
            # job that was interrupted stays in progress, which is what its record says.
            if ReplayRun(self._sender, world, epoch, job_id).run():
                self._agenda.watch(entry)

        self._workers.submit((world, epoch, "job", job_id), run)

    def _watch_webhooks(self, world: World) -> bool:
        """Watch the webhooks that are to be challenged again (`webhooks.validity`), if any."""
        with world.lock:
            found = [
                entry.key
                for entry in world.store.page("webhooks")
                if find_next_challenge(entry.record) is not None
            ]
            self._agenda.watch(*(self._find_challenge(world, key) for key in found))
        return bool(found)

    def _find_challenge(self, world: World, key: str) -> DueStart:
        return DueStart(world, "webhooks", key, find_next_challenge, self._challenge_again)

    def _watch_acts(self, world: World) -> datetime:
        """Watch the records that the world acts for when they are due; return when the first is.

        What is due later than in a day is done when somebody reads it or moves the clock, so that
        a world does not need a thread for its fixtures.
        """
        earliest = LATEST
        with world.lock:
            for kind in world.transitions.kinds.values():
                for key in world.transitions.list_running(kind.name) if kind.act else ():
                    due = world.transitions.find_due_time(kind.name, key)
                    if due is None:
                        continue
                    earliest = min(earliest, due)
                    if due - world.clock.now() < _FAR:
                        self._agenda.watch(DueAct(world, kind.name, key))
        return earliest

    def _watch_feeds(self, world: World) -> bool:
        """Watch the feeds whose addresses may be read, if any."""
        with world.lock:
            found = [
                entry.key
                for entry in world.store.page(FEEDS)
                if self._outbound.may_reach_name(urlsplit(entry.record["feed_url"]).hostname or "")
            ]
            self._agenda.watch(*(self._find_read(world, key) for key in found))
        return bool(found)

    def _find_read(self, world: World, key: str) -> DueStart:
        return DueStart(world, FEEDS, key, find_next_read, self._read_feed)

    def _read_feed(self, feed: DueStart) -> None:
        """Read a feed that is due, and watch for the next time."""

        def run() -> None:
            read_feed(feed.world, feed.key, self._outbound)
            self._agenda.watch(feed)

        self._workers.submit((feed.world, "feed", feed.key), run)

    def _watch_changed(self, world: World, changes: Iterable[Change]) -> None:
        acts = [kind for kind in world.transitions.kinds.values() if kind.act]
        found: list[Appointment] = []
        for change in changes:
            after = change.after
            if after is None:
                continue
            if change.table == FEEDS:
                found.append(self._find_read(world, change.key))
            found += [
                DueAct(world, kind.name, change.key)
                for kind in acts
                if kind.table == change.table and kind.state_of(after) == kind.first
            ]
            if change.table == "webhooks" and find_next_challenge(after) is not None:
                found.append(self._find_challenge(world, change.key))
        self._agenda.watch(*found)

    def _challenge_again(self, webhook: DueStart) -> None:
        """Challenge a webhook that is due, and watch for the next time."""

        def run() -> None:
            try:
                with suppress(Stale):  # after a reset the webhook may be there again
                    self.validate(webhook.world, webhook.key)
            except (Invalid, UnknownWorld, WorldLost):
                return
            self._agenda.watch(webhook)

        self._workers.submit((webhook.world, "webhook", webhook.key), run)

    def _submit(self, world: World, job_id: str, state: str, *, in_doubt: bool = False) -> None:
        """Announce a job's end, after its deliveries that are still running.

        `in_doubt` says that an earlier process may have announced it.
        """
        epoch = world.epoch
        mine, owed = Receiver(world, epoch, "", "", "", ""), f"{REPLAY_JOB.name}:{job_id}"

        def announce() -> None:
            # The lane of the job makes this wait for its deliveries. The record and the receiver
            # are read at the end, as late as possible: the webhook may have got another address
            # meanwhile. If the world was reset since, the job of this id is another one.
            with world.lock:
                job = world.store.get("replay_jobs", job_id)
                to = (
                    None
                    if job is None
                    else find_receiver(world, job["webhook_id"], even_invalid=True)
                )
                if world.closed or world.epoch != epoch:
                    return
                body = {} if job is None else make_job_status(job | {"state": state})
            with suppress(Stale):
                if isinstance(to, Receiver):
                    if in_doubt:
                        self._sender.note(to, job_id, None, _END_IN_DOUBT)
                    with suppress(Invalid):
                        self._sender.deliver(Dispatch(to, body, job_id, None))
                self._sender.settle(mine, owed)

        self._workers.submit((world, epoch, "job", job_id), announce)

    def _pass_on(self, world: World, event_id: str, *, in_doubt: bool = False) -> None:
        """Deliver a new event; events of one webhook are delivered in the order of arrival.

        `in_doubt` says that it was being sent in the state from which the world goes on.
        """
        with world.lock:
            # What is sent is decided now, under the lock, while the event is as it was committed.
            # The sending happens later on the webhook's lane: one lane for each webhook keeps its
            # events in order, and a slow receiver holds up only its own.
            event = world.store.get("events", event_id)
            to = None if event is None else find_receiver(world, event["webhook_id"])
            mine = Receiver(world, world.epoch, "", "", "", "")
        if event is None or to is None or isinstance(to, str):
            self._workers.submit((world, "events"), lambda: self._settle(mine, event_id))
            return
        body = make_body(event, to.owner_id, to.names)
        lane = (world, to.epoch, "events", to.webhook_id)

        def deliver() -> None:
            try:
                if in_doubt:
                    self._sender.note(to, None, event_id, _IN_DOUBT)
                # To reorder, one event is held back: it is neither sent nor settled until the next
                # one of its webhook has been delivered; then it follows. There is at most one in
                # each lane, so two that are held would not simply be in order again.
                delivery_fault = self._sender.find_delivery_fault(
                    to, event, holding=lane in self._postponed
                )
                sent = Dispatch(to, body, None, event_id, delivery_fault)
                if delivery_fault is not None and delivery_fault.reorder:
                    self._postpone(lane, sent)
                    return
                self._deliver(sent)
                late = self._postpone(lane, None)
                if late is not None:
                    self._deliver(late)
            except Stale:
                self._postpone(lane, None)

        self._workers.submit(lane, deliver)

    def _deliver(self, sent: Dispatch) -> None:
        """Deliver a new event, and record that this has ended.

        Raises:
            Stale: The world was reset, dropped or taken over, or the server stops.
        """
        with suppress(Invalid):
            self._sender.deliver(sent)
        assert sent.event_id is not None
        self._sender.settle(sent.to, sent.event_id)

    def _settle(self, to: Receiver, event_id: str) -> None:
        with suppress(Stale):
            self._sender.settle(to, event_id)

    def _postpone(self, lane: Hashable, sent: Dispatch | None) -> Dispatch | None:
        """Hold a delivery (or none) back in its lane; return the one that was held there before."""
        with self._holding:
            before = self._postponed.pop(lane, None)
            if sent is not None:
                kept = self._postponed.items()  # without those of worlds that were reset since
                self._postponed = {at: it for at, it in kept if it.to.epoch == it.to.world.epoch}
                self._postponed[lane] = sent
            return before


# Scheduled feeds are read when they are due, and the products that are in them are stored.

_SUCCESS = 200
_MOST_ERRORS = 20
"""How many refused products a result names."""


def read_feed(world: World, feed_id: str, outbound: Outbound) -> None:
    """Read the file of a feed now, outside the world's lock, and store its products.

    The moments that have passed are done then, whatever came of it. Nothing is stored if the
    world was reset meanwhile, or the feed was changed or deleted.
    """
    with world.lock:
        feed, epoch = world.store.get(TABLE, feed_id), world.epoch
    if feed is None:
        return
    products: Sequence[dict[str, Any]] = ()
    result: dict[str, Any] = {"status": None, "fault": None}
    try:
        answer = outbound.send("GET", feed["feed_url"], most=MOST_BYTES)
        result["status"] = answer.status
        if answer.status == _SUCCESS:
            products = read_products(answer.body, feed["feed_format"])
        else:
            result["fault"] = f"the address answered {answer.status}"
    except (OutboundFault, ValueError) as error:
        result["fault"] = str(error)
    try:
        with world.work():
            if world.epoch == epoch and world.store.get(TABLE, feed_id) == feed:
                _store(world, feed, products, result)
    except UnknownWorld:
        return


def _store(
    world: World, feed: Record, products: Sequence[dict[str, Any]], result: dict[str, Any]
) -> None:
    catalog_id = feed["product_catalog_id"]
    rows = upsert_products(world, catalog_id, products, lambda _: None)
    counts = Counter(row["status"] for row in rows)
    now = wire_millis(world.clock.now())
    errors = [{"id": row["id"], "errors": row["errors"]} for row in rows if row["errors"]]
    result |= {"at": now, "products": dict(counts), "errors": errors[:_MOST_ERRORS]}
    world.store.put(TABLE, feed["id"], feed | {"_read_until": now, "_last_read": result})
