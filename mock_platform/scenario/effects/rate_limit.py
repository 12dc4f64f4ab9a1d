"""`rate_limit: {limit, window}` — a rate window with the documented headers; beyond it, 429.

The window is a duration: whole seconds, or with a unit such as `15m`. It begins with the first call
and ends on the world's clock; a scenario that is activated again begins with new windows. Without
`limit`, all calls of the first window are used up already: 429 until it is over, then calls pass.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from mock_platform.core.call import Call, Reply
from mock_platform.core.documents.forms import DurationForm, WholeForm, make_keyed, make_object
from mock_platform.core.failures.errors import RateLimited
from mock_platform.core.limits import rate_headers
from mock_platform.scenario.effects.effect import EffectKind, Staging
from mock_platform.world.clock import read_seconds


class RateLimitEffect(Struct, frozen=True):
    """Counts the rule's calls, for each caller, in fixed windows on the world's clock."""

    limit: int | None
    """So many calls of a window pass; `None` for none in the first one, and all after it."""
    window: int

    def admit(self, staging: Staging, proceed: Callable[[], Reply]) -> Reply:
        """Count the call; let it pass within the limit, else refuse it with 429."""
        call, caller = staging.call, staging.call.caller
        who = caller.user or caller.app
        name, index = staging.rule
        key = ("scenario", name, str(index), "" if who is None else str(who["id"]))
        windows = staging.world.windows
        if self.limit is None and windows.is_over(key) and not staging.alone:
            call.rule = None
            call.without_effect = (
                f"Rule {index} of scenario {name} let the call pass: the first window is over"
            )
            return proceed()
        state = windows.count(key, self.limit or 0, self.window)
        headers = dict(rate_headers(state))
        own = dict(call.extra_headers)  # of the operation's own limit, if it has one
        if self.limit is None:
            headers["x-rate-limit-limit"] = own.get("x-rate-limit-limit", "1")
        call.extra_headers = [pair for pair in call.extra_headers if pair[0] not in headers]
        call.extra_headers += headers.items()
        if state.exceeded:
            call.is_of_time = state.again
            raise self.foresee(call)
        return proceed()

    def foresee(self, call: Call) -> RateLimited:
        """Return the refusal of a call beyond the limit."""
        return RateLimited([])


def _make(value: Mapping[str, Any]) -> RateLimitEffect:
    given = value["rate_limit"]
    return RateLimitEffect(given.get("limit"), int(read_seconds(given["window"])))


KIND = EffectKind(
    "rate_limit",
    _make,
    form=make_keyed(
        "rate_limit",
        make_object(
            {
                "limit": (
                    WholeForm(0, 1_000_000),
                    "So many calls are allowed.",
                    "none until the first window is over, then all",
                ),
                "window": (
                    DurationForm(1, 10_000_000, whole=True),
                    "How long a window is, in whole seconds.",
                ),
            },
            required=("window",),
        ),
        "So many calls per caller in a window on the world's clock; beside an answer of the rule, "
        "that answer until the window is used up.",
    ),
)
