"""Figures of ads that a test sets itself, in place of those that the sandbox makes up."""

from __future__ import annotations

from collections.abc import Iterator

from mock_platform.api.ads.analytics.days import HOUR_SECONDS
from mock_platform.api.ads.analytics.metrics import ENTITIES, NUMBERS
from mock_platform.api.ads.analytics.serving import ON_PLATFORM, PLACEMENTS
from mock_platform.api.ads.analytics.versions import read_seconds
from mock_platform.core.fields import Choice, Instant, Json, Text
from mock_platform.core.schema import Schema
from mock_platform.core.tables.table import Table
from mock_platform.world.store.interface import Record


class PinnedFiguresRecord(Schema):
    """Metrics of one entity in all the hours from `start_time` up to `end_time` together."""

    id = Text(required=True)
    entity = Choice(ENTITIES, required=True)
    entity_id = Text(required=True)
    start_time = Instant(required=True)
    end_time = Instant(required=True)
    placement = Choice(PLACEMENTS, load_default=ON_PLATFORM)
    metrics = Json(required=True)


def _check(record: Record) -> Iterator[tuple[str, str]]:
    moments = {name: read_seconds(record[name]) for name in ("start_time", "end_time")}
    for name, seconds in moments.items():
        if seconds % HOUR_SECONDS:
            yield name, f"must be a whole hour, got {record[name]}"
    if moments["end_time"] <= moments["start_time"]:
        yield "end_time", f"must be later than start_time ({record['start_time']})"
    for name, value in record["metrics"].items():
        if name not in NUMBERS:
            yield f"metrics.{name}", f"is not a metric; there are: {', '.join(NUMBERS)}"
        elif type(value) is not int or value < 0:
            yield f"metrics.{name}", f"must be a whole number from 0 up, got {value!r}"


PINNED_FIGURES = Table("pinned_figures", PinnedFiguresRecord, check=_check)
