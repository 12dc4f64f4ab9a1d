"""Faults of a webhook delivery on command: a world's scenarios decide, the sender applies them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Down = Literal["refused", "timeout"]
"""How a receiver that is down fails: it refuses connections, or does not answer in time."""


@dataclass(frozen=True, slots=True)
class DeliveryFault:
    """What is to happen to the delivery of one event, with all its attempts."""

    rule: str
    """The rule behind it, as SCENARIO/INDEX."""
    drop: bool = False
    """It is lost: nothing is sent, and nothing is tried again."""
    duplicate: bool = False
    """It is posted once more after it was accepted."""
    reorder: bool = False
    """It is delivered after the next one."""
    delay: float = 0.0
    """Real seconds before the first attempt."""
    fail: int | Down | None = None
    """The status that the receiver seems to answer with, or how it seems to be down."""
    failures: int | None = None
    """How many attempts fail so; `None` for all."""
