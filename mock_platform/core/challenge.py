"""A challenge that an operation wants made before it decides.

An address is asked to prove that it knows the app's secret. That takes real time, so it happens
outside the world's lock, between the checks of a request and its handler.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from mock_platform.world.world import World


class Challenge(Struct):
    """The challenge of one webhook's address; `fault` says why it failed, once it was made."""

    webhook_id: str
    url: str
    secret: str
    fault: str | None = None


Challenger = Callable[[World, Challenge], None]
"""Makes a challenge and sets its `fault`."""
