"""Rate limits: which windows a call counts in, the documented headers, and the refusal."""

from __future__ import annotations

from collections.abc import Callable

from mock_platform.core.call import Call, Pairs
from mock_platform.core.errors import RateLimited
from mock_platform.core.operation import Limit, Operation
from mock_platform.settings import Settings
from mock_platform.world.world import World

Counter = Callable[[Call, World], None]


def counter(operation: Operation, settings: Settings) -> Counter | None:
    """What counts the calls of one operation; `None` if no limit is in force."""
    limits = [limit for limit in operation.limits if _in_force(limit, settings)]
    if operation.dialect == "oauth" and settings.oauth_limit is not None:
        limits.append(Limit(operation.id, settings.oauth_limit, 900, per="app"))
    if not limits:
        return None

    def count(call: Call, world: World) -> None:
        headers: Pairs = []
        exceeded = False
        for limit in limits:
            if limit.when is not None and not limit.when(call):
                continue
            call.assume(*limit.assumptions)
            key = (limit.category or operation.id, limit.name, _whose(limit, call))
            state = world.windows.count(key, limit.count, limit.seconds)
            prefix = "x-account-rate-limit" if limit.per == "account" else "x-rate-limit"
            headers += [
                (f"{prefix}-limit", str(state.limit)),
                (f"{prefix}-remaining", str(state.remaining)),
                (f"{prefix}-reset", str(state.reset)),
            ]
            exceeded = exceeded or state.exceeded
        if exceeded:
            raise RateLimited(headers)
        call.extra_headers += headers

    return count


def _in_force(limit: Limit, settings: Settings) -> bool:
    if settings.limits == "off":
        return False
    return limit.source == "spec" or settings.limits == "public"


def _whose(limit: Limit, call: Call) -> str:
    caller = call.caller
    if limit.per == "account" and call.account is not None:
        return str(call.account["id"])
    if limit.per == "user" and caller.user is not None:
        return str(caller.user["id"])
    return "" if caller.app is None else str(caller.app["id"])
