"""How long figures of ads take: twenty entities over seven days by hour, after eleven weeks.

Run it with `python benchmarks/figures.py`. Milliseconds of one request below the edge, medians; the
first request after a change goes through all days of the ads again.
"""

from __future__ import annotations

import statistics
from datetime import UTC, datetime

from advertising import ACCOUNT, Caller

from mock_platform.platform import Platform, load_base
from mock_platform.settings import Settings
from mock_platform.world.clock import UPTIME
from mock_platform.world.store.memory import Base

NOW = datetime(2026, 11, 20, 10, tzinfo=UTC)
ENTITIES = 20
BUDGET_MILLISECONDS = 10
FIELDS = (
    "start_time=2026-11-13T08:00:00Z&end_time=2026-11-20T08:00:00Z&placement=ALL_ON_PLATFORM"
    "&metric_groups=ENGAGEMENT,BILLING"
)


def make_platform() -> Platform:
    """A platform with twenty line items that have served for eleven weeks."""
    base = load_base(Settings(freeze=NOW))
    tables = {name: {k: row.record for k, row in rows.items()} for name, rows in base.rows.items()}
    line_item = tables["line_items"]["itttx"]
    post = tables["promoted_posts"]["1efwlo"]
    for number in range(ENTITIES):
        key = f"z{number:x}"
        tables["line_items"][key] = line_item | {"id": key}
        tables["promoted_posts"][f"p{key}"] = post | {"id": f"p{key}", "line_item_id": key}
    return Platform(Settings(limits="off", freeze=NOW), base=Base(tables))


def main() -> None:
    """Print the table."""
    caller = Caller(make_platform())
    ids = ",".join(f"z{number:x}" for number in range(ENTITIES))
    target = f"/12/stats/accounts/{ACCOUNT}?entity=LINE_ITEM&entity_ids={ids}&{FIELDS}"
    world = caller.platform.worlds.default
    record = world.store.get("line_items", "z0")
    assert record is not None
    caller.send("GET", f"{target}&granularity=HOUR")
    first = []
    for _ in range(9):
        with world.work():
            world.store.put("line_items", "z0", record)
        start = UPTIME()
        caller.send("GET", f"{target}&granularity=HOUR")
        first.append(UPTIME() - start)
    print(f"{'20 entities, 7 days':30}{'milliseconds':>14}")
    print(f"{'by hour, after a change':30}{statistics.median(first) * 1000:14.2f}")
    for granularity in ("HOUR", "DAY", "TOTAL"):
        taken = caller.time("GET", f"{target}&granularity={granularity}")
        print(f"{'by ' + granularity.lower():30}{taken:14.2f}")
    print(f"{'budget, by hour':30}{BUDGET_MILLISECONDS:14}")


if __name__ == "__main__":
    main()
