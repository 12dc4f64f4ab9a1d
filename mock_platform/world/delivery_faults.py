"""Faults of deliveries and of lines on command: scenarios decide, sender and stream apply them."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Down = Literal["refused", "timeout"]
"""How a receiver that is down fails: it refuses connections, or does not answer in time."""


class DeliveryFault(Struct, frozen=True):
    """What happens to the delivery of one event, in all its attempts, or to a line of a stream."""

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
    split: bool = False
    """The line of a stream is sent in two pieces, cut inside a character."""
    insert: str | None = None
    """A text that is sent as a line of its own before the line of a stream."""
    fail: int | Down | None = None
    """The status of the simulated answer, or how the receiver seems to be down."""
    failures: int | None = None
    """How many attempts fail this way; `None` for all."""
