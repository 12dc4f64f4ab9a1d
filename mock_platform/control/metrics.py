"""Metrics for Prometheus: requests by operation and status, their duration, contents of worlds.

A request only adds to plain numbers; the Prometheus objects are made when it asks. So the library
costs no time until then, and two servers in one process share no registry.
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from mock_platform.core.extras import require_extra
from mock_platform.platform import Platform
from mock_platform.version import __version__
from mock_platform.world.clock import UPTIME
from mock_platform.world.journal import JournalEntry

if TYPE_CHECKING:
    from prometheus_client import Metric

BUCKET_SECONDS = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 1.0, 5.0)
"""Upper bounds of the latency histogram, in seconds."""


class _Series:
    """The counts of one operation."""

    __slots__ = ("buckets", "seconds", "statuses")

    def __init__(self) -> None:
        self.statuses: Counter[int] = Counter()
        self.buckets = [0] * (len(BUCKET_SECONDS) + 1)
        self.seconds = 0.0


class Metrics:
    """The counts of one platform since its start. Worlds share them; a reset keeps them."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform
        self._lock = threading.Lock()
        self._series: dict[str, _Series] = {}
        self._faults = 0
        platform.observers.append(self.observe)

    def observe(self, entry: JournalEntry) -> None:
        """Add one request to the counts."""
        seconds = entry.milliseconds / 1000
        name = entry.operation or ""
        with self._lock:
            series = self._series.get(name)
            if series is None:
                series = self._series[name] = _Series()
            series.statuses[entry.status] += 1
            series.buckets[bisect_left(BUCKET_SECONDS, seconds)] += 1
            series.seconds += seconds
            if entry.traceback is not None:
                self._faults += 1

    def exposition(self) -> tuple[bytes, str]:
        """Returns the current counts in Prometheus' text form, and its media type.

        Raises:
            MissingExtra: The package was installed without the extra `metrics`.
        """
        require_extra("GET /_mock/metrics", "metrics", "prometheus_client")
        # The library takes some 40 ms to import: only servers that are asked for metrics pay for
        # it.
        from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest

        registry = CollectorRegistry()
        registry.register(self)
        return generate_latest(registry), CONTENT_TYPE_LATEST

    def collect(self) -> Iterator[Metric]:
        """Returns the metrics; the library's registry calls this."""
        from prometheus_client.core import (
            CounterMetricFamily,
            GaugeMetricFamily,
            HistogramMetricFamily,
            InfoMetricFamily,
        )

        requests = CounterMetricFamily(
            "mock_platform_requests",
            "Requests answered; operation is empty if no operation answered.",
            labels=["operation", "status"],
        )
        latency = HistogramMetricFamily(
            "mock_platform_request_seconds",
            "Time to answer, without the server's own work on the connection.",
            labels=["operation"],
        )
        with self._lock:
            for name, series in sorted(self._series.items()):
                for status, count in sorted(series.statuses.items()):
                    requests.add_metric([name, str(status)], count)
                latency.add_metric([name], _accumulate(series), series.seconds)
            faults = self._faults
        yield requests
        yield latency
        yield CounterMetricFamily(
            "mock_platform_faults", "Errors in the sandbox itself.", value=faults
        )
        worlds = list(self._platform.worlds)
        yield GaugeMetricFamily("mock_platform_worlds", "Worlds there are.", value=len(worlds))
        yield GaugeMetricFamily(
            "mock_platform_journal_entries",
            "Entries in the journals of all worlds.",
            value=sum(len(world.journal) for world in worlds),
        )
        yield GaugeMetricFamily(
            "mock_platform_uptime_seconds",
            "Seconds since the start of the server.",
            value=UPTIME() - self._platform.started,
        )
        yield InfoMetricFamily("mock_platform", "The program.", value={"version": __version__})


def _accumulate(series: _Series) -> list[tuple[str, float]]:
    total, found = 0, []
    for bound, count in zip([*BUCKET_SECONDS, float("inf")], series.buckets, strict=True):
        total += count
        found.append(("+Inf" if bound == float("inf") else str(bound), float(total)))
    return found
