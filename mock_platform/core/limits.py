"""Rate limits: the windows in which a call is counted, the documented headers, and the refusal."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from mock_platform.core.assumptions import expectation, public_fact
from mock_platform.core.call import Call
from mock_platform.core.failures.errors import RateLimited
from mock_platform.core.operation import Limit, Operation
from mock_platform.core.pairs import Pairs, share_pair
from mock_platform.settings import Settings, WireForm
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
HeaderNames = tuple[str, str, str]
"""The names of a window's headers: its limit, what remains, and when it ends."""


def counter(operation: Operation, settings: Settings, wire: WireForm = "spec") -> Counter | None:
    """Return the counter for the calls of one operation in one form of the wire.

    It is `None` if no limit is in force.
    """
    limits = _list_limits(operation, settings, wire)
    if not limits:
        return None

    rows = [(limit, limit.category or operation.id, _name_headers(limit)) for limit in limits]
    is_recorded = wire != "spec"

    def count(call: Call, world: World) -> None:
        if call.wire != wire:
            return
        if is_recorded:
            call.assumptions[RECORDED_LIMITS.id] = RECORDED_LIMITS
        headers, exceeded = _count_all(rows, call, world)
        if exceeded is not None and exceeded.refusal is None:
            raise RateLimited(headers)
        call.extra_headers += headers
        if exceeded is not None and exceeded.refusal is not None:
            raise exceeded.refusal()

    return count


def _count_all(
    rows: Iterable[tuple[Limit, str, HeaderNames]], call: Call, world: World
) -> tuple[Pairs, Limit | None]:
    """Count a call in its windows; return the headers, and the first limit that it exceeds."""
    # All windows count, also after one is exceeded, so that the order of limits does not matter.
    # The headers have room for one window of each kind: they show the one with the fewest calls
    # left, which is the one that the client will meet first.
    tightest: dict[HeaderNames, WindowState] = {}
    exceeded: Limit | None = None
    for limit, category, names in rows:
        if limit.when is not None and not limit.when(call):
            continue
        if limit.assumptions:
            call.assume(*limit.assumptions)
        key = (category, limit.name, _whose(limit, call))
        state = world.windows.count(key, limit.count, limit.seconds)
        if state.exceeded and exceeded is None:
            exceeded, call.is_of_time = limit, state.again
        if limit.seconds == 1 and not state.exceeded:
            continue
        if names not in tightest or state.remaining < tightest[names].remaining:
            tightest[names] = state
    headers: Pairs = []
    for names, state in tightest.items():
        headers += rate_headers(state, names)
    return headers, exceeded


def _list_limits(operation: Operation, settings: Settings, wire: WireForm) -> list[Limit]:
    limits = [limit for limit in operation.limits if _is_in_force(limit, settings, wire)]
    if operation.dialect == "oauth" and settings.oauth_limit is not None:
        limits.append(
            Limit(operation.id, settings.oauth_limit, 900, "app", assumptions=(OAUTH_LIMIT,))
        )
    if operation.set_limits is not None:
        limits += operation.set_limits(settings)
    return limits


def _spell_names(prefix: str) -> HeaderNames:
    return f"{prefix}-limit", f"{prefix}-remaining", f"{prefix}-reset"


_USUAL, _OF_ACCOUNT = _spell_names("x-rate-limit"), _spell_names("x-account-rate-limit")
_OF_DAY = {per: _spell_names(f"x-{per}-limit-24hour") for per in ("user", "app")}


def _name_headers(limit: Limit) -> HeaderNames:
    if limit.per == "account":
        return _OF_ACCOUNT
    return _OF_DAY[limit.per] if limit.seconds == _DAY else _USUAL


def rate_headers(state: WindowState, names: HeaderNames = _USUAL) -> Pairs:
    """Return the documented headers of a window."""
    return [
        share_pair(names[0], str(state.limit)),
        (names[1], str(state.remaining)),
        share_pair(names[2], str(state.reset)),
    ]


def _is_in_force(limit: Limit, settings: Settings, wire: WireForm) -> bool:
    if settings.limits == "off":
        return False
    return limit.source == "spec" or settings.limits == "public" or wire != "spec"


def list_windows(operation: Operation, call: Call, world: World, seconds: int) -> list[WindowState]:
    """Return the declared windows of that length of a caller, without counting the call.

    Where a limit is not in force, nothing is counted, and its window is full.
    """
    return [
        world.windows.look(
            (limit.category or operation.id, limit.name, _whose(limit, call)),
            limit.count,
            limit.seconds,
        )
        for limit in operation.limits
        if limit.seconds == seconds and (limit.when is None or limit.when(call))
    ]


def _whose(limit: Limit, call: Call) -> str:
    caller = call.caller
    if limit.per == "account" and call.account is not None:
        return str(call.account["id"])
    if limit.per == "user" and caller.user is not None:
        return str(caller.user["id"])
    return "" if caller.app is None else str(caller.app["id"])
