"""Delivers one body to one webhook: signed, tried again, each attempt on record."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

from mock_platform.core.jsonio import dumps, loads
from mock_platform.delivery.outbound import Answer, Outbound, OutboundFault
from mock_platform.delivery.signing import (
    SIGNATURE_HEADERS,
    challenge_fault,
    challenge_url,
    signature,
)
from mock_platform.settings import DeliverySettings
from mock_platform.store.interface import Record
from mock_platform.version import __version__
from mock_platform.world.clock import UPTIME, wire_millis
from mock_platform.world.ids import unguessable
from mock_platform.world.mishaps import Mishap
from mock_platform.world.world import World

Outcome = Literal["taken", "refused", "silent"]
"""How an event fared: taken, answered otherwise, or (at last) not answered in time."""

_ANY_NESTING = 10_000
_LOOK = 0.05
"""Seconds after which a wait looks whether what it waits for is wanted yet."""
_USER_AGENT = f"mock-platform/{__version__}"


class Stale(Exception):
    """The world was reset or dropped, or the server stops: what is left to do is not wanted."""


class Invalid(Exception):
    """The webhook is not valid, or gone: nothing is delivered to it. The text says so."""


@dataclass(frozen=True, slots=True)
class Receiver:
    """Where to deliver, as it stood when the work began, and the world's epoch of that moment."""

    world: World
    epoch: int
    webhook_id: str
    url: str
    secret: str
    owner_id: str

    @contextmanager
    def held(self) -> Iterator[World]:
        """The world with its lock held, if it is still the same.

        Raises:
            Stale: It was reset or dropped.
        """
        with self.world.lock:
            if self.world.closed or self.world.epoch != self.epoch:
                raise Stale
            yield self.world


@dataclass(frozen=True, slots=True)
class Dispatch:
    """One event on its way to a webhook."""

    to: Receiver
    body: Mapping[str, Any]
    job_id: str | None
    event_id: str | None
    mishap: Mishap | None = None
    """What a scenario has befall it."""


def receiver(world: World, webhook_id: str, *, even_invalid: bool = False) -> Receiver | str:
    """The receiver behind a webhook, or why nothing can be delivered. Under the world's lock.

    `even_invalid` is for challenges, and for what is only to be recorded.
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
    return Receiver(world, world.epoch, webhook_id, webhook["url"], app["consumer_secret"], owner)


class Sender:
    """Makes attempts over one `Outbound`, and writes each into the world's deliveries."""

    def __init__(self, settings: DeliverySettings) -> None:
        self._settings = settings
        self._outbound = Outbound(timeout=settings.timeout, allow_hosts=settings.allow_hosts)
        self._numbers = itertools.count(1)
        self._stopping = threading.Event()

    def stop(self) -> None:
        """Break off what is under way; everything that follows is stale."""
        self._stopping.set()
        self._outbound.stop()

    def challenge(self, to: Receiver, job_id: str | None) -> str | None:
        """Have the webhook's address prove that it knows the secret; what went wrong, if so.

        The webhook is valid if it passes, and no longer valid if it answered wrongly; an answer
        that may be better the next time changes nothing (`replay.crc`).

        Raises:
            Stale: The answer is not wanted any more.
        """
        token = unguessable(32)
        attempt = _Attempt(to, job_id, None, 1, challenge_url(to.url, token), None)
        answer = self._try(attempt, "GET", {"Accept": "application/json"}, b"")
        if isinstance(answer, Answer):
            error = challenge_fault(to.secret, token, answer.status, answer.body)
        else:
            error = str(answer)
        if error is None:
            self._mark(to, valid=True)
        elif _is_wrong(answer):
            self._mark(to, valid=False)
            error = f"{error}; webhook {to.webhook_id} is not valid from now on"
        self._record(attempt, answer, error)
        return error

    def mishap(self, to: Receiver, event: Record, *, holding: bool) -> Mishap | None:
        """What a scenario has befall an event; to be asked once for each.

        Raises:
            Stale: It is not wanted any more.
        """
        shown = {name: event[name] for name in ("id", "event_type", "webhook_id")}
        with to.held() as world:
            asked = (each.on_delivery(shown, holding=holding) for each in world.companions)
            return next((mishap for mishap in asked if mishap is not None), None)

    def deliver(self, sent: Dispatch) -> Outcome:
        """Post a body until it is taken or the attempts are used up.

        Raises:
            Stale: It is not wanted any more.
            Invalid: The webhook is not valid (any more); what was not sent is on record.
        """
        to, mishap = sent.to, sent.mishap
        data = dumps(sent.body)
        shown = loads(data, max_nesting=_ANY_NESTING)  # shares nothing with the records
        signed = dict.fromkeys(SIGNATURE_HEADERS, signature(to.secret, data))
        headers = {"Content-Type": "application/json", **signed}
        if mishap is not None:
            self._pause(to, mishap.delay)
            if mishap.drop:
                lost = _Attempt(to, sent.job_id, sent.event_id, 1, to.url, shown)
                self._begin(lost)
                self._record(lost, None, f"lost by scenario rule {mishap.rule}; nothing was sent")
                return "refused"
        outcome: Outcome = "refused"
        for number in range(1, self._settings.attempts + 1):
            if number > 1:
                self._pause(to, self._settings.backoff * 2 ** (number - 2))
            attempt = _Attempt(to, sent.job_id, sent.event_id, number, to.url, shown)
            self._require_valid(attempt)
            answer = _staged(mishap, number)
            if answer is None:
                answer = self._try(attempt, "POST", headers, data)
                error = _fault(answer)
            else:
                assert mishap is not None
                self._begin(attempt)
                by = f"by scenario rule {mishap.rule}; nothing was sent"
                error = f"{_fault(answer)}, {by}"
            self._record(attempt, answer, error)
            if error is None:
                if mishap is not None and mishap.duplicate:
                    again = _Attempt(to, sent.job_id, sent.event_id, number + 1, to.url, shown)
                    answer = self._try(again, "POST", headers, data)
                    self._record(again, answer, _fault(answer))
                return "taken"
            outcome = "refused"
            if isinstance(answer, OutboundFault):
                if answer.kind == "address":  # it would be refused again
                    break
                outcome = "silent" if answer.kind == "timeout" else "refused"
        return outcome

    def _try(
        self, attempt: _Attempt, method: str, headers: Mapping[str, str], data: bytes
    ) -> Answer | OutboundFault:
        self._begin(attempt)
        started = UPTIME()
        try:
            return self._outbound.send(
                method, attempt.url, {"User-Agent": _USER_AGENT, **headers}, data
            )
        except OutboundFault as fault:
            if fault.kind == "stopped":
                raise Stale from fault
            return fault
        finally:
            attempt.milliseconds = (UPTIME() - started) * 1000

    def _require_valid(self, attempt: _Attempt) -> None:
        with attempt.to.held() as world:
            found = receiver(world, attempt.to.webhook_id)
        if isinstance(found, str):
            self._begin(attempt)
            self._record(attempt, None, f"{found}; nothing was sent")
            raise Invalid(found)

    def _mark(self, to: Receiver, *, valid: bool) -> None:
        """Store what a challenge found out."""
        with to.world.work():
            if to.world.closed or to.world.epoch != to.epoch:
                raise Stale
            webhook = to.world.store.get("webhooks", to.webhook_id)
            if webhook is not None and webhook["valid"] != valid:
                to.world.store.put("webhooks", to.webhook_id, webhook | {"valid": valid})

    def _begin(self, attempt: _Attempt) -> None:
        with attempt.to.held() as world:
            attempt.at = wire_millis(world.clock.now())

    def _record(
        self, attempt: _Attempt, answer: Answer | OutboundFault | None, error: str | None
    ) -> None:
        entry = {
            "id": f"d{next(self._numbers)}",
            "job_id": attempt.job_id,
            "webhook_id": attempt.to.webhook_id,
            "event_id": attempt.event_id,
            "attempt": attempt.number,
            "at": attempt.at,
            "url": attempt.url,
            "status": answer.status if isinstance(answer, Answer) else None,
            "error": error,
            "milliseconds": round(attempt.milliseconds, 3),
            "body": attempt.body,
        }
        with attempt.to.held() as world:
            world.deliveries.append(entry)

    def _pause(self, to: Receiver, seconds: float) -> None:
        """Wait, as long as the world stays the same."""
        end = UPTIME() + seconds
        while (left := end - UPTIME()) > 0:
            if self._stopping.wait(min(left, _LOOK)):
                raise Stale
            with to.held():
                pass


def _fault(answer: Answer | OutboundFault) -> str | None:
    """What is wrong with an answer, `None` if it takes the delivery."""
    if isinstance(answer, OutboundFault):
        return str(answer)
    return None if answer.status == 200 else f"answered with status {answer.status}, not 200"


def _is_wrong(answer: Answer | OutboundFault) -> bool:
    """Whether the answer to a challenge, which it failed, makes a webhook invalid at once.

    Other statuses, time-outs and closed connections may be over soon.
    """
    if isinstance(answer, OutboundFault):
        return answer.kind == "tls"
    return 200 <= answer.status < 400


def _staged(mishap: Mishap | None, number: int) -> Answer | OutboundFault | None:
    """How an attempt fails because a scenario has it fail; `None` if it does not."""
    if mishap is None or mishap.fail is None:
        return None
    if mishap.failures is not None and number > mishap.failures:
        return None
    if mishap.fail == "refused":
        return OutboundFault("connection", "the connection was refused")
    if mishap.fail == "timeout":
        return OutboundFault("timeout", "no answer came in time")
    return Answer(mishap.fail, b"")


@dataclass(slots=True)
class _Attempt:
    to: Receiver
    job_id: str | None
    event_id: str | None
    number: int
    url: str
    body: Any
    at: str = ""
    milliseconds: float = 0.0
