"""Delivers one body to one webhook: signed, with retries, each attempt recorded."""

from __future__ import annotations

import itertools
import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Literal, TypeVar

from msgspec import Struct

from mock_platform.api.v2.webhooks.event_log import OUTGOING
from mock_platform.api.v2.webhooks.validation import apply_challenge
from mock_platform.core.jsonio import dumps, loads
from mock_platform.delivery.envelope import (
    SIGNATURE_HEADERS,
    find_challenge_fault,
    make_challenge_url,
    make_signature,
)
from mock_platform.delivery.outbound import Outbound, OutboundFault, ReceiverAnswer
from mock_platform.settings import DeliverySettings, NamesMode
from mock_platform.version import __version__
from mock_platform.world.attached import DeliveryFault
from mock_platform.world.clock import UPTIME, wire_millis
from mock_platform.world.ids import unguessable
from mock_platform.world.names import UnknownWorld
from mock_platform.world.store.errors import StoreUnwritable, WorldLost
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

_LOG = logging.getLogger(__name__)
T = TypeVar("T")
DeliveryOutcome = Literal["accepted", "refused", "silent"]
"""The result of a delivery: accepted, answered otherwise, or the last attempt timed out."""

_MAX_NESTING_LEVELS = 10_000
_LOOK_SECONDS = 0.05
"""Real seconds after which a pause checks again whether the delivery is still wanted."""
_UNWRITABLE_SECONDS = 1.0
"""Real seconds after which a change that could not be recorded is tried again."""
_USER_AGENT = f"mock-platform/{__version__}"


class Stale(Exception):
    """The world was reset or dropped, or the server stops: the rest of the work is not wanted."""


class Invalid(Exception):
    """The webhook is not valid or does not exist: nothing is delivered. The text says which."""


class Receiver(Struct, frozen=True):
    """Where to deliver, as it was when the work began, and the world's epoch of that moment."""

    world: World
    epoch: int
    webhook_id: str
    url: str
    secret: str
    owner_id: str
    names: NamesMode | None = None
    """The names of the world, or of the webhook if the world has none set."""

    @contextmanager
    def lock_world(self) -> Iterator[World]:
        """Hold the world's lock and return the world, if it is still the same.

        Raises:
            Stale: It was reset or dropped.
        """
        with self.world.lock:
            if self.world.closed or self.world.epoch != self.epoch:
                raise Stale
            yield self.world


class Dispatch(Struct, frozen=True):
    """One event on its way to a webhook."""

    to: Receiver
    body: Mapping[str, Any]
    job_id: str | None
    event_id: str | None
    delivery_fault: DeliveryFault | None = None
    """The fault that a scenario injects."""


def find_receiver(world: World, webhook_id: str, *, even_invalid: bool = False) -> Receiver | str:
    """Return a webhook's receiver, or why nothing can be delivered. Needs the world's lock.

    `even_invalid` is for challenges, and for bodies that are only recorded.
    """
    webhook = world.store.get("webhooks", webhook_id)
    if webhook is None:
        return f"there is no webhook {webhook_id}"
    if not webhook.get("valid") and not even_invalid:
        return (
            f"webhook {webhook_id} is not valid, so nothing is delivered to it; "
            f"POST /_mock/webhooks/{webhook_id}/validate challenges it again"
        )
    app: Record | None = world.store.get("apps", webhook["_app_id"])
    if app is None:
        return f"webhook {webhook_id} belongs to no app"
    owner = app.get("_owner_user_id") or ""
    url, secret = webhook["url"], app["consumer_secret"]
    return Receiver(
        world, world.epoch, webhook_id, url, secret, owner, find_names(world, webhook_id)
    )


def find_names(world: World, webhook_id: str) -> NamesMode | None:
    """Return the names of deliveries: those of the world, else of who registered the webhook."""
    webhook: Record = world.store.get("webhooks", webhook_id) or {}
    return world.names or webhook.get("_names")


class Sender:
    """Makes attempts with one `Outbound`, and records each in the world's deliveries."""

    def __init__(self, settings: DeliverySettings) -> None:
        self._settings = settings
        self._outbound = Outbound(timeout=settings.timeout, allow_hosts=settings.allow_hosts)
        self._numbers = itertools.count(1)
        self._stopping = threading.Event()

    def stop(self) -> None:
        """Interrupt running attempts; everything after that raises `Stale`."""
        self._stopping.set()
        self._outbound.stop()

    def challenge(self, to: Receiver, job_id: str | None) -> str | None:
        """Let the webhook's address prove that it knows the secret; return the error, if any.

        The webhook becomes valid if it passes, and invalid if the answer is wrong; a failure that
        may be temporary changes nothing (`replay.crc`).

        Raises:
            Stale: The result is not wanted any more.
        """
        # Not one of the world's ids: a receiver that could predict the token could prepare its
        # answer, and a challenge that is made later would change which ids the world draws.
        token = unguessable(32)
        attempt = _Attempt(to, job_id, None, 1, make_challenge_url(to.url, token), None)
        answer = self._try(attempt, "GET", {"Accept": "application/json"}, b"")
        if isinstance(answer, ReceiverAnswer):
            error = find_challenge_fault(to.secret, token, answer.status, answer.body)
        else:
            error = str(answer)
        verdict = None if error is not None else True
        if error is not None and _is_wrong(answer):
            verdict = False
        # The verdict has three values. Passed and wrong are stored; a failure that may be temporary
        # leaves the webhook as it is, for the next challenge to decide.
        if self._mark(to, verdict) is False and error is not None:
            error = f"{error}; webhook {to.webhook_id} is not valid from now on"
        self._record(attempt, answer, error)
        return error

    def find_delivery_fault(
        self, to: Receiver, event: Record, *, holding: bool
    ) -> DeliveryFault | None:
        """Return the fault that a scenario injects for an event; call it once for each event.

        Raises:
            Stale: The delivery is not wanted any more.
        """
        shown = {name: event[name] for name in ("id", "event_type", "webhook_id")}
        with to.lock_world() as world:
            asked = (each.on_delivery(shown, holding=holding) for each in world.companions)
            return next((fault for fault in asked if fault is not None), None)

    def deliver(self, sent: Dispatch) -> DeliveryOutcome:
        """Post a body until it is accepted or the attempts are used up.

        Raises:
            Stale: The delivery is not wanted any more.
            Invalid: The webhook is not valid (any more); this attempt is recorded as not sent.
        """
        to, delivery_fault = sent.to, sent.delivery_fault
        # The bytes are made once and signed once: each attempt sends exactly these, so that a
        # receiver can recognise a repetition. What the journal of deliveries shows is read back
        # from the bytes, because the records behind the body may change while attempts are waiting.
        data = dumps(sent.body)
        shown = loads(data, max_nesting=_MAX_NESTING_LEVELS)  # shares nothing with the records
        signed = dict.fromkeys(SIGNATURE_HEADERS, make_signature(to.secret, data))
        headers = {"Content-Type": "application/json", **signed}
        if delivery_fault is not None:
            self._pause(to, delivery_fault.delay)
            if delivery_fault.drop:
                lost = _Attempt(to, sent.job_id, sent.event_id, 1, to.url, shown)
                self._begin(lost)
                self._record(
                    lost, None, f"lost by scenario rule {delivery_fault.rule}; nothing was sent"
                )
                return "refused"
        outcome: DeliveryOutcome = "refused"
        for number in range(1, self._settings.attempts + 1):
            if number > 1:
                self._pause(to, self._settings.backoff * 2 ** (number - 2))
            attempt = _Attempt(to, sent.job_id, sent.event_id, number, to.url, shown)
            # Before each attempt, not only the first: a challenge may have failed while this
            # delivery waited.
            self._require_valid(attempt)
            answer = _make_scenario_failure(delivery_fault, number)
            if answer is None:
                answer = self._try(attempt, "POST", headers, data)
                error = _explain_failure(answer)
            else:
                assert delivery_fault is not None
                self._begin(attempt)
                by = f"by scenario rule {delivery_fault.rule}; nothing was sent"
                error = f"{_explain_failure(answer)}, {by}"
            self._record(attempt, answer, error)
            if error is None:
                if delivery_fault is not None and delivery_fault.duplicate:
                    again = _Attempt(to, sent.job_id, sent.event_id, number + 1, to.url, shown)
                    answer = self._try(again, "POST", headers, data)
                    self._record(again, answer, _explain_failure(answer))
                return "accepted"
            outcome = "refused"
            if isinstance(answer, OutboundFault):
                if answer.kind == "address":  # every attempt would be refused
                    break
                outcome = "silent" if answer.kind == "timeout" else "refused"
        return outcome

    def _try(
        self, attempt: _Attempt, method: str, headers: Mapping[str, str], data: bytes
    ) -> ReceiverAnswer | OutboundFault:
        self._begin(attempt)
        started = UPTIME()
        try:
            return self._outbound.send(
                method, attempt.url, {"User-Agent": _USER_AGENT, **headers}, data
            )
        except OutboundFault as error:
            if error.kind == "stopped":
                raise Stale from error
            return error
        finally:
            attempt.milliseconds = (UPTIME() - started) * 1000

    def _require_valid(self, attempt: _Attempt) -> None:
        with attempt.to.lock_world() as world:
            found = find_receiver(world, attempt.to.webhook_id)
        if isinstance(found, str):
            self._begin(attempt)
            self._record(attempt, None, f"{found}; nothing was sent")
            raise Invalid(found)

    def _mark(self, to: Receiver, passed: bool | None) -> bool | None:  # noqa: FBT001
        """Store what a challenge found out; `None` if it may be better next time.

        Returns whether the webhook is valid now, or `None` if it is unknown or was invalid before.
        """
        with to.world.work():
            if to.world.closed or to.world.epoch != to.epoch:
                raise Stale
            webhook = to.world.store.get("webhooks", to.webhook_id)
            if webhook is None:
                return None
            changed = apply_challenge(webhook, to.world.clock.now(), passed=passed)
            if changed != webhook:
                to.world.store.put("webhooks", to.webhook_id, changed)
            return changed["valid"] if changed["valid"] or webhook["valid"] else None

    def _begin(self, attempt: _Attempt) -> None:
        with attempt.to.lock_world() as world:
            attempt.at = wire_millis(world.clock.now())

    def _record(
        self, attempt: _Attempt, answer: ReceiverAnswer | OutboundFault | None, error: str | None
    ) -> None:
        entry = {
            "id": f"d{next(self._numbers)}",
            "kind": "webhook",
            "job_id": attempt.job_id,
            "webhook_id": attempt.to.webhook_id,
            "stream_id": None,
            "event_id": attempt.event_id,
            "attempt": attempt.number,
            "at": attempt.at,
            "url": attempt.url,
            "status": answer.status if isinstance(answer, ReceiverAnswer) else None,
            "error": error,
            "milliseconds": round(attempt.milliseconds, 3),
            "body": attempt.body,
        }
        with attempt.to.lock_world() as world:
            world.deliveries.append(entry)

    def note(self, to: Receiver, job_id: str | None, event_id: str | None, text: str) -> None:
        """Record something about a delivery without an attempt.

        Raises:
            Stale: The world was reset or dropped.
        """
        noted = _Attempt(to, job_id, event_id, 0, to.url, None)
        self._begin(noted)
        self._record(noted, None, f"{text}; nothing was sent")

    def commit(self, to: Receiver, change: Callable[[World], T]) -> T:
        """Change the world, and wait until this can be recorded; returns what `change` does.

        Raises:
            Stale: The world was reset, dropped or taken over, or the server stops.
        """
        while True:
            # The delivery has happened; only its record is missing. It cannot be undone, so it
            # waits until the store takes the record, as long as the world stays the same.
            try:
                with to.world.work(), to.lock_world() as world:
                    return change(world)
            except StoreUnwritable as error:
                _LOG.warning("A delivery waits: %s", error)
                self._pause(to, _UNWRITABLE_SECONDS)
            except (UnknownWorld, WorldLost) as error:
                raise Stale from error

    def settle(self, to: Receiver, owed: str) -> None:
        """Record that the delivery of something that was owed has ended, if the world remembers it.

        Raises:
            Stale: The same as `commit`.
        """
        with to.lock_world() as world:
            remembered = world.store.get(OUTGOING, owed) is not None
        if remembered:
            self.commit(to, lambda world: world.store.remove(OUTGOING, owed))

    def _pause(self, to: Receiver, seconds: float) -> None:
        """Wait so many real seconds, as long as the world stays the same."""
        # In short pieces, because a reset or a stop ends the delivery and nothing wakes this thread
        # for it.
        end = UPTIME() + seconds
        while (left := end - UPTIME()) > 0:
            if self._stopping.wait(min(left, _LOOK_SECONDS)):
                raise Stale
            with to.lock_world():
                pass


def _explain_failure(answer: ReceiverAnswer | OutboundFault) -> str | None:
    """Return why an answer does not accept the delivery; `None` if it does."""
    if isinstance(answer, OutboundFault):
        return str(answer)
    return None if answer.status == 200 else f"answered with status {answer.status}, not 200"


def _is_wrong(answer: ReceiverAnswer | OutboundFault) -> bool:
    """Return whether a failed answer to a challenge makes the webhook invalid at once.

    Other statuses, time-outs and closed connections may be temporary.
    """
    if isinstance(answer, OutboundFault):
        return answer.kind == "tls"
    return 200 <= answer.status < 400


def _make_scenario_failure(
    delivery_fault: DeliveryFault | None, number: int
) -> ReceiverAnswer | OutboundFault | None:
    """Return the failure that a scenario injects for an attempt; `None` if it injects none."""
    if delivery_fault is None or delivery_fault.fail is None:
        return None
    if delivery_fault.failures is not None and number > delivery_fault.failures:
        return None
    if delivery_fault.fail == "refused":
        return OutboundFault("connection", "the connection was refused")
    if delivery_fault.fail == "timeout":
        return OutboundFault("timeout", "no answer came in time")
    return ReceiverAnswer(delivery_fault.fail, b"")


class _Attempt(Struct):
    """One attempt at a delivery, as it is recorded; `milliseconds` is real time."""

    to: Receiver
    job_id: str | None
    event_id: str | None
    number: int
    url: str
    body: Any
    at: str = ""
    milliseconds: float = 0.0
