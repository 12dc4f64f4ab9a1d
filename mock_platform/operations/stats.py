"""Synchronous analytics: figures of up to twenty entities over up to seven days.

Neither document shows analytics, but every advertising client asks for figures.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any

from mock_platform.core.ads import ads
from mock_platform.core.ads_typed import Typed
from mock_platform.core.call import Call
from mock_platform.core.faults import Fault
from mock_platform.core.operation import Echo, Limit, Operation, Origin
from mock_platform.records.figures import PINNED_FIGURES
from mock_platform.rules.ad_figures import FIGURES, PINNED
from mock_platform.rules.ad_metrics import CONVERSIONS
from mock_platform.rules.ad_stats import (
    PARAMETERS,
    SHAPE,
    EntityStats,
    StatsQuery,
    answer,
    check_window,
    make_echo,
    read_time,
)
from mock_platform.rules.ad_versions import PAST
from mock_platform.settings import Settings
from mock_platform.world.world import World

LONGEST = timedelta(days=7, hours=1)
"""An hour more than seven days, because a day may have 25 hours."""
_ECHOED = (
    "start_time", "end_time", "entity", "entity_ids", "granularity", "placement", "metric_groups",
)  # fmt: skip
_SEGMENTS = dict.fromkeys(("segmentation_type", "country", "platform"))


def check(
    params: Mapping[str, Any], call: Call, world: World, settings: Settings
) -> Iterator[tuple[str, Fault]]:
    """Yield the faults of the window."""
    yield from check_window(params, call, world, LONGEST, "7.days+1.hours")


def get(call: Call, world: World) -> dict[str, Any]:
    """Return the figures of some entities."""
    times = {name: read_time(call.params[f"{name}_time"], call, world) for name in ("start", "end")}
    call.echo = make_echo(call, *_ECHOED) | _SEGMENTS
    return answer(world, call.path_params["account_id"], call.params | times)


TABLES = (PINNED_FIGURES,)
OPERATIONS: tuple[Operation, ...] = (
    ads(
        "stats.get",
        "GET",
        "/12/stats/accounts/:account_id",
        get,
        summary="Read figures of entities",
        spec="next to it: analytics",
        returns=Typed(EntityStats, "stats", counts=("time_series_length",)),
        params=StatsQuery,
        rules=check,
        origin=Origin.ADJACENT,
        public_limits=False,
        limits=(Limit("stats", 250, 900, source="public", category="ads-stats"),),
        echo=Echo(hidden=("account_id",)),
        assumptions=(PARAMETERS, SHAPE, FIGURES, PINNED, PAST, CONVERSIONS),
        errors=("INVALID_TIME_WINDOW",),
    ),
)
