"""Metrics for Prometheus: requests by operation and status, their duration, contents of worlds.

A request only adds to plain numbers; the Prometheus objects are made when it asks. So the library
costs no time until then, and two servers in one process share no registry.
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from mock_platform.core.installed import require_extra
from mock_platform.platform import Platform
from mock_platform.version import __version__
from mock_platform.world.clock import UPTIME
from mock_platform.world.journal import JournalEntry

if TYPE_CHECKING:
    from prometheus_client import Metric

BUCKET_SECONDS = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 1.0, 5.0)
"""Upper bounds of the latency histogram, in seconds."""


METRICS = "metrics"
"""The question with which processes ask one another for their counts."""
ProcessCounts = dict[str, Any]
"""What a process counted, as JSON."""


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
        seconds = entry.handler_milliseconds / 1000
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
        """Return the current counts in Prometheus' text form, and its media type.

        Those of several processes are added; beside the sums are some figures of each process.

        Raises:
            MissingExtra: The package was installed without the extra `metrics`.
            NoAnswer: Another process does not answer.
        """
        require_extra("GET /_mock/metrics", "metrics", "prometheus_client")
        # The library takes some 40 ms to import: only servers that are asked for metrics pay for
        # it.
        from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest

        peers = self._platform.peers
        counts = {peers.label: self.as_json(), **peers.ask_all(METRICS)}
        registry = CollectorRegistry()
        registry.register(_Collector(counts))
        return generate_latest(registry), CONTENT_TYPE_LATEST

    def as_json(self) -> ProcessCounts:
        """Return the counts of this process and the contents of its worlds."""
        platform = self._platform
        worlds = [world for world in platform.worlds if platform.peers.lives_here(world.name)]
        with self._lock:
            series = {
                name: {
                    "statuses": {str(status): count for status, count in each.statuses.items()},
                    "buckets": list(each.buckets),
                    "seconds": each.seconds,
                }
                for name, each in self._series.items()
            }
            faults = self._faults
        return {
            "series": series,
            "faults": faults,
            "worlds": len(worlds),
            "journal_entries": sum(len(world.journal) for world in worlds),
            "uptime": UPTIME() - platform.started,
        }


class _Collector:
    """The metrics of all processes; the library's registry calls `collect`."""

    def __init__(self, counts: Mapping[str, ProcessCounts]) -> None:
        self._counts = counts

    def collect(self) -> Iterator[Metric]:
        """Return the metrics: sums, and figures of each process if there are several."""
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
        for name, series in sorted(self._merge_series().items()):
            for status, count in sorted(series.statuses.items()):
                requests.add_metric([name, str(status)], count)
            latency.add_metric([name], _accumulate(series), series.seconds)
        yield requests
        yield latency
        yield CounterMetricFamily(
            "mock_platform_faults", "Errors in the sandbox itself.", value=self._sum("faults")
        )
        yield GaugeMetricFamily(
            "mock_platform_worlds", "Worlds there are.", value=self._sum("worlds")
        )
        yield GaugeMetricFamily(
            "mock_platform_journal_entries",
            "Entries in the journals of all worlds.",
            value=self._sum("journal_entries"),
        )
        yield GaugeMetricFamily(
            "mock_platform_uptime_seconds",
            "Seconds since the start of the server.",
            value=max(each["uptime"] for each in self._counts.values()),
        )
        yield InfoMetricFamily("mock_platform", "The program.", value={"version": __version__})
        if len(self._counts) > 1:
            yield from self._collect_processes()

    def _collect_processes(self) -> Iterator[Metric]:
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

        labels = ["process"]
        requests = CounterMetricFamily(
            "mock_platform_process_requests", "Requests answered in a process.", labels=labels
        )
        worlds = GaugeMetricFamily(
            "mock_platform_process_worlds", "Worlds that live in a process.", labels=labels
        )
        uptime = GaugeMetricFamily(
            "mock_platform_process_uptime_seconds", "Seconds since its start.", labels=labels
        )
        for label, counts in sorted(self._counts.items()):
            series = counts["series"].values()
            total = sum(count for each in series for count in each["statuses"].values())
            requests.add_metric([label], total)
            worlds.add_metric([label], counts["worlds"])
            uptime.add_metric([label], counts["uptime"])
        yield from (requests, worlds, uptime)

    def _merge_series(self) -> dict[str, _Series]:
        merged: dict[str, _Series] = {}
        for counts in self._counts.values():
            for name, each in counts["series"].items():
                series = merged.setdefault(name, _Series())
                for status, count in each["statuses"].items():
                    series.statuses[int(status)] += count
                pairs = zip(series.buckets, each["buckets"], strict=True)
                series.buckets = [first + second for first, second in pairs]
                series.seconds += each["seconds"]
        return merged

    def _sum(self, name: str) -> int:
        return sum(counts[name] for counts in self._counts.values())


def _accumulate(series: _Series) -> list[tuple[str, float]]:
    total, found = 0, []
    for bound, count in zip([*BUCKET_SECONDS, float("inf")], series.buckets, strict=True):
        total += count
        found.append(("+Inf" if bound == float("inf") else str(bound), float(total)))
    return found
