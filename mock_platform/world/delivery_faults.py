"""Faults of a webhook delivery on command: a world's scenarios decide, the sender applies them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Down = Literal["refused", "timeout"]
"""How a receiver that is down fails: it refuses connections, or does not answer in time."""


@dataclass(frozen=True, slots=True)
class DeliveryFault:
    """What happens to the delivery of one event, in all its attempts."""

    rule: str
    """The rule that caused it, as SCENARIO/INDEX."""
    drop: bool = False
    """The event is lost: it is not sent, and there is no further attempt."""
    duplicate: bool = False
    """The event is sent a second time after it was accepted."""
    reorder: bool = False
    """The event is delivered after the next one."""
    delay: float = 0.0
    """Real seconds before the first attempt."""
    fail: int | Down | None = None
    """The status of the simulated answer, or how the receiver seems to be down."""
    failures: int | None = None
    """How many attempts fail this way; `None` for all."""
