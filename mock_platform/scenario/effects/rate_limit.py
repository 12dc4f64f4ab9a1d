"""`rate_limit: {limit, window}` — a rate window with the documented headers; beyond it, 429."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from mock_platform.core.call import Reply
from mock_platform.core.failures.errors import RateLimited
from mock_platform.core.limits import rate_headers
from mock_platform.scenario.effects.effect import EffectKind, Staging
from mock_platform.scenario.forms import FieldsForm, WholeForm


@dataclass(frozen=True, slots=True)
class RateLimitEffect:
    """Counts the rule's calls, for each caller, in fixed windows on the world's clock."""

    limit: int
    window: int

    def admit(self, staging: Staging, proceed: Callable[[], Reply]) -> Reply:
        """Count the call; let it pass within the limit, else refuse it with 429."""
        call, caller = staging.call, staging.call.caller
        who = caller.user or caller.app
        name, index = staging.rule
        key = ("scenario", name, str(index), "" if who is None else str(who["id"]))
        state = staging.world.windows.count(key, self.limit, self.window)
        headers = rate_headers({"x-rate-limit": state})
        names = {header for header, _ in headers}  # the operation's own limit, if it has one
        call.extra_headers = [pair for pair in call.extra_headers if pair[0] not in names]
        call.extra_headers += headers
        if state.exceeded:
            raise RateLimited([])
        return proceed()


def _make(value: Mapping[str, Any]) -> RateLimitEffect:
    return RateLimitEffect(**value["rate_limit"])


KIND = EffectKind(
    "rate_limit",
    _make,
    form=FieldsForm(
        {
            "rate_limit": FieldsForm(
                {"limit": WholeForm(0, 1_000_000), "window": WholeForm(1, 10_000_000)},
                required=("limit", "window"),
            )
        },
        required=("rate_limit",),
        description="So many calls per caller in a window of so many seconds; beside an answer of "
        "the rule, that answer until the window is used up.",
    ),
)
