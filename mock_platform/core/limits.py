"""Rate limits: the windows in which a call is counted, the documented headers, and the refusal."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from mock_platform.core.assumptions import expectation, public_fact
from mock_platform.core.call import Call
from mock_platform.core.failures.errors import RateLimited
from mock_platform.core.operation import Limit, Operation
from mock_platform.core.pairs import Pairs
from mock_platform.settings import Settings, WireMode
from mock_platform.world.windows import WindowState
from mock_platform.world.world import World

OAUTH_LIMIT = expectation(
    "oauth.rate-limit",
    "The OAuth endpoints are rate limited, but the numbers are not shown: --oauth-limit sets one "
    "for each endpoint, app and 15 minutes, with the headers of the v2 interface; off by default.",
    "A, Limits",
)
RECORDED_LIMITS = public_fact(
    "wire.limits",
    "On the recorded wire the limits of the public interface are in force unless --limits is off, "
    "and a request counts once its caller is known, refused or not. Windows of a day have headers "
    "of their own, x-user-limit-24hour-… and x-app-limit-24hour-…; that of one second is shown "
    "only by the request that exceeds it.",
    "wire, sections 2 and 4",
)
_DAY = 86_400

Counter = Callable[[Call, World], None]


def counter(operation: Operation, settings: Settings, wire: WireMode = "spec") -> Counter | None:
    """Return the counter for the calls of one operation in one form of the wire.

    It is `None` if no limit is in force.
    """
    limits = _list_limits(operation, settings, wire)
    if not limits:
        return None

    def count(call: Call, world: World) -> None:
        if call.wire != wire:
            return
        # All windows count, also after one is exceeded, so that the order of limits does not
        # matter. The headers have room for one window of each kind: they show the one with the
        # fewest calls left, which is the one that the client will meet first.
        tightest: dict[str, WindowState] = {}
        exceeded: Limit | None = None
        if wire != "spec":
            call.assume(RECORDED_LIMITS)
        for limit in limits:
            if limit.when is not None and not limit.when(call):
                continue
            call.assume(*limit.assumptions)
            key = _make_key(operation, limit, call)
            state = world.windows.count(key, limit.count, limit.seconds)
            if state.exceeded and exceeded is None:
                exceeded, call.is_of_time = limit, state.again
            if limit.seconds == 1 and not state.exceeded:
                continue
            prefix = _name_headers(limit)
            if prefix not in tightest or state.remaining < tightest[prefix].remaining:
                tightest[prefix] = state
        headers = rate_headers(tightest)
        if exceeded is not None and exceeded.refusal is None:
            raise RateLimited(headers)
        call.extra_headers += headers
        if exceeded is not None and exceeded.refusal is not None:
            raise exceeded.refusal()

    return count


def _list_limits(operation: Operation, settings: Settings, wire: WireMode) -> list[Limit]:
    limits = [limit for limit in operation.limits if _is_in_force(limit, settings, wire)]
    if operation.dialect == "oauth" and settings.oauth_limit is not None:
        limits.append(
            Limit(operation.id, settings.oauth_limit, 900, "app", assumptions=(OAUTH_LIMIT,))
        )
    if operation.set_limits is not None:
        limits += operation.set_limits(settings)
    return limits


def _name_headers(limit: Limit) -> str:
    """Return how the names of a window's headers begin."""
    if limit.per == "account":
        return "x-account-rate-limit"
    return f"x-{limit.per}-limit-24hour" if limit.seconds == _DAY else "x-rate-limit"


def rate_headers(states: Mapping[str, WindowState]) -> Pairs:
    """Return the documented headers, for the window with the fewest calls left."""
    return [
        (f"{prefix}-{name}", str(value))
        for prefix, state in states.items()
        for name, value in (
            ("limit", state.limit),
            ("remaining", state.remaining),
            ("reset", state.reset),
        )
    ]


def _is_in_force(limit: Limit, settings: Settings, wire: WireMode) -> bool:
    if settings.limits == "off":
        return False
    return limit.source == "spec" or settings.limits == "public" or wire != "spec"


def list_windows(operation: Operation, call: Call, world: World, seconds: int) -> list[WindowState]:
    """Return the declared windows of that length of a caller, without counting the call.

    Where a limit is not in force, nothing is counted, and its window is full.
    """
    return [
        world.windows.look(_make_key(operation, limit, call), limit.count, limit.seconds)
        for limit in operation.limits
        if limit.seconds == seconds and (limit.when is None or limit.when(call))
    ]


def _make_key(operation: Operation, limit: Limit, call: Call) -> tuple[str, str, str]:
    return (limit.category or operation.id, limit.name, _whose(limit, call))


def _whose(limit: Limit, call: Call) -> str:
    caller = call.caller
    if limit.per == "account" and call.account is not None:
        return str(call.account["id"])
    if limit.per == "user" and caller.user is not None:
        return str(caller.user["id"])
    return "" if caller.app is None else str(caller.app["id"])
