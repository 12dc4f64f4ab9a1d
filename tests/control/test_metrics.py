from __future__ import annotations

import pytest
from prometheus_client.parser import text_string_to_metric_families

from mock_platform.control.metrics import BUCKET_SECONDS, Metrics
from mock_platform.platform import Platform
from mock_platform.world.clock import machine_now
from mock_platform.world.journal import JournalEntry
from tests.control.support import call
from tests.support import sandbox

Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]


def samples(text: str) -> Samples:
    """Prometheus' text by name and labels."""
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def value(found: Samples, name: str, **labels: str) -> float | None:
    """One sample."""
    return found.get((f"mock_platform_{name}", frozenset(labels.items())))


def entry(milliseconds: float, *, operation: str | None = "a.b", status: int = 200) -> JournalEntry:
    """A journal entry of a request that took so long."""
    made = ("r1", machine_now(), "default", "GET", "http://localhost/", status, milliseconds)
    return JournalEntry(*made, operation=operation)


def test_requests_are_counted() -> None:
    """Requests are counted by operation and status, over all worlds, and outlive a reset."""
    box = sandbox()
    call(box, "PUT", "/worlds/w1")
    for path in ("/2/openapi.json", "/~w1/2/openapi.json", "/2/openapi.jso"):
        box.call("GET", path, keys=None)
    call(box, "POST", "/reset")

    answer = call(box, "GET", "/metrics")
    found = samples(answer.text)

    assert answer.content_type.startswith("text/plain; version=")
    assert 2 == value(found, "requests_total", operation="openapi.get", status="200")
    assert 1 == value(found, "requests_total", operation="", status="404")
    assert 2 == value(found, "request_seconds_count", operation="openapi.get")
    assert (2, 1) == (value(found, "worlds"), value(found, "journal_entries"))
    assert 0 == value(found, "faults_total")


def test_platforms_share_nothing() -> None:
    """Two platforms of one process count for themselves."""
    one, other = sandbox(), sandbox()
    one.call("GET", "/2/openapi.json", keys=None)

    assert "openapi.get" in call(one, "GET", "/metrics").text
    assert "openapi.get" not in call(other, "GET", "/metrics").text


@pytest.mark.parametrize(
    ("milliseconds", "bound"), [(0.1, "0.0001"), (0.1001, "0.00025"), (5000, "5.0"), (5001, "+Inf")]
)
def test_buckets(milliseconds: float, bound: str) -> None:
    """A latency counts in the first bucket that holds it, bounds included, and all after it."""
    metrics = Metrics(Platform())

    metrics.observe(entry(milliseconds))
    found = samples(metrics.exposition()[0].decode())

    bounds = [*(str(b) for b in BUCKET_SECONDS), "+Inf"]
    counts = [value(found, "request_seconds_bucket", operation="a.b", le=b) for b in bounds]
    assert [float(i >= bounds.index(bound)) for i in range(len(bounds))] == counts
    assert milliseconds / 1000 == value(found, "request_seconds_sum", operation="a.b")


def test_faults_are_counted() -> None:
    """A request on which the sandbox itself failed is counted as a fault."""
    metrics = Metrics(Platform())
    failed = entry(1, status=500)
    failed.traceback = "Traceback"

    metrics.observe(failed)

    assert 1 == value(samples(metrics.exposition()[0].decode()), "faults_total")
