"""Segments: the figures of an entity split by who saw its ads, and where."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Any

from mock_platform.core.assumptions import expectation
from mock_platform.rules.ad_figures import Series
from mock_platform.world.ids import Ids

SEGMENTS = expectation(
    "stats-jobs.segments",
    "With segmentation_type each entity has one entry in id_data for each of a few segments, with "
    "segment_name and segment_value; their figures add up to those without it. country and "
    "platform choose the segments of which the figures are and change no number.",
    gap=True,
)
_SEGMENTS: dict[str, tuple[tuple[str, str], ...]] = {
    "AGE": (
        ("18-24", "AGE_18_TO_24"),
        ("25-34", "AGE_25_TO_34"),
        ("35-49", "AGE_35_TO_49"),
        ("50+", "AGE_OVER_50"),
    ),
    "GENDER": (("Male", "1"), ("Female", "2"), ("Unknown", "0")),
    "METROS": (
        ("New York NY", "b6b8d75a320f81d9"),
        ("Los Angeles CA", "3b77caf94bfc81fe"),
        ("Seattle-Tacoma WA", "300bcc6e23a88361"),
        ("Other", "other"),
    ),
    "PLATFORMS": (
        ("iOS", "0"),
        ("Android", "1"),
        ("Desktop and laptop computers", "4"),
    ),
    "CONVERSION_TAGS": (("All tags", "all"),),
}
SEGMENTATION_TYPES = tuple(_SEGMENTS)
NEEDS_COUNTRY = "METROS"


def split(ids: Ids, key: str, kind: str, figures: Series) -> list[tuple[dict[str, Any], Series]]:
    """Return each segment with its part of the figures of an entity."""
    segments = _SEGMENTS[kind]
    noise = ids.noise(f"segments/{kind}/{key}")
    shares = [64 + noise[n] for n in range(len(segments))]
    parts = {name: _split_counts(counts, shares) for name, counts in figures.items()}
    return [
        (
            {"segment_name": name, "segment_value": value},
            {metric: counts[n] for metric, counts in parts.items() if any(counts[n])},
        )
        for n, (name, value) in enumerate(segments)
    ]


def _split_counts(counts: Sequence[int], shares: Sequence[int]) -> list[list[int]]:
    """Return the counts of each part, which never are below zero.

    What is rounded away in one bucket is in a later one, so that parts of small counts are not 0.
    """
    found = []
    rest, left = [*accumulate(counts, initial=0)], sum(shares)
    for share in shares:
        part = [total * share // left for total in rest]
        found.append([b - a for a, b in pairwise(part)])
        rest = [total - taken for total, taken in zip(rest, part, strict=True)]
        left -= share
    return found
