"""Figures of ads in any window of time: impressions, engagements, charges, and their segments.

They are made up, yet behave like counts: they follow from the world's seed, the ad and the hour, so
the same question has the same answer; the figures of an entity are the sums of those of its ads;
nothing happens before its creation, after now, or while it cannot serve; and no budget is
overspent.
`pinned_figures` are values that a test sets in their place.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate, pairwise
from operator import add
from typing import Any

from mock_platform.api.ads.analytics.ledger import (
    ACCOUNT,
    CREATIVES,
    LINE_ITEM,
    PARENTS,
    TABLE_OF,
    find_ads,
)
from mock_platform.api.ads.analytics.serving import Ad
from mock_platform.api.ads.analytics.versions import read_seconds, to_seconds
from mock_platform.core.assumptions import expectation
from mock_platform.world.ids import Ids
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

STATS_MADE_UP = expectation(
    "stats.made-up",
    "Figures are made up: a pure function of the world's seed, the ad, the metric and the hour. "
    "There are none before the creation of an entity, after now, or while its line items cannot "
    "serve; children add up to their parents; no daily or total budget is overspent. Hours are as "
    "busy as those of the keyword insights.",
    gap=True,
)
STATS_PINNED = expectation(
    "stats.pinned",
    "A record of pinned_figures sets metrics of one entity for a window, spread evenly over it; "
    "the figures of what contains the entity follow.",
    gap=True,
)
CHARGE = "billed_charge_local_micro"
BILLED = "billed_engagements"
_ALIASES = {"link_clicks": "url_clicks"}

Series = dict[str, list[int]]
"""Metrics, each with a number for each bucket; a metric that is not in it is zero."""


def measure(
    world: World,
    entity: str,
    key: str,
    edges: Sequence[int],
    names: Iterable[str],
    placement: str | None = None,
    *,
    now: int | None = None,
) -> Series:
    """Return metrics of an entity for each bucket between two edges, as far as they happened.

    Edges are seconds since 1970, growing. Without `placement` the figures of all of them add up.
    Nothing happens after `now`, by default the world's present time.
    """
    if now is None:
        now = to_seconds(world.clock.now())
    wanted = {_ALIASES.get(name, name) for name in names}
    # Pinned figures begin and end at moments of their own. Where there are some, the window is cut
    # at these moments too, so that each finer bucket is either inside a pin or outside of it; at
    # the end the finer buckets are added up to those that were asked for.
    pins = _find_pins(world, entity, key, placement)
    if not pins:
        found = _measure_ads(world, entity, key, edges, wanted, placement, now)
    else:
        first, last = edges[0], edges[-1]
        moments = {moment for pin in pins for moment in (pin.start, pin.end)}
        finer = sorted({*edges, *(moment for moment in moments if first < moment < last)})
        question = _Question(world, finer, wanted, placement, now)
        found = _merge(question.measure((entity, key), pins), finer, edges)
    return {
        name: found[source]
        for name in names
        if (source := _ALIASES.get(name, name)) in found and any(found[source])
    }


def find_activity(
    world: World, entity: str, account_id: str, start: int, end: int
) -> dict[str, dict[str, tuple[int, int]]]:
    """Return when ads of each entity of an account were first and last shown in a window.

    The result is by the entity's id and by placement; moments are seconds since 1970.
    """
    now = to_seconds(world.clock.now())
    found: dict[str, dict[str, tuple[int, int]]] = {}
    for ad in find_ads(world, ACCOUNT, account_id, now):
        if entity in CREATIVES and ad.entity != entity:
            continue
        shown = ad.find_shown(start, min(end, now))
        if shown is not None:
            key = ad.id if entity in CREATIVES else ad.parents[PARENTS.index(entity)]
            by_placement = found.setdefault(key, {})
            first, last = by_placement.get(ad.placement, shown)
            by_placement[ad.placement] = (min(first, shown[0]), max(last, shown[1]))
    return found


def _measure_ads(
    world: World,
    entity: str,
    key: str,
    edges: Sequence[int],
    names: set[str],
    placement: str | None,
    now: int,
) -> Series:
    sums: Series = {}
    for ad in find_ads(world, entity, key, now):
        if placement is not None and ad.placement != placement:
            continue
        for name, counts in _count(ad, edges, names, now).items():
            # Counts since the creation are added up, and the figures of a bucket are the difference
            # of its two edges: so parts add up to their whole, however the window is divided.
            before = sums.get(name)
            sums[name] = counts if before is None else list(map(add, before, counts))
    return {
        name: [b - a for a, b in pairwise(counts)]
        for name, counts in sums.items()
        if counts[-1] != counts[0]
    }


def _count(ad: Ad, edges: Sequence[int], names: set[str], now: int) -> Series:
    """Return what an ad had counted at each edge since its creation."""
    found = {}
    shown = ad.count_until(edges, now)
    if shown[-1] == shown[0]:
        return {}
    if BILLED in names or CHARGE in names:
        found[BILLED], found[CHARGE] = ad.bill_until(edges, now)
    counted = ad.mix.count_all(names, shown)
    return {name: counts for name, counts in (counted | found).items() if name in names}


# -- pinned figures ----------------------------------------------------------------------------

_Node = tuple[str, str]
"""The name of an entity, and its id."""


class _Pin:
    """Pinned figures with the entities that contain them, from the inside to the outside."""

    def __init__(self, record: Record, nodes: Sequence[_Node]) -> None:
        self.node = nodes[0]
        self.nodes = nodes
        self.start, self.end = read_seconds(record["start_time"]), read_seconds(record["end_time"])
        self.metrics: Mapping[str, int] = record["metrics"]

    def spread(self, name: str, start: int, end: int) -> int:
        """Return the part of a metric between two moments."""
        # Spread evenly, as a difference of two totals, so that the parts of all buckets together
        # are exactly the value.
        length = self.end - self.start
        value = self.metrics[name]
        return value * (end - self.start) // length - value * (start - self.start) // length


def _find_pins(world: World, entity: str, key: str, placement: str | None) -> list[_Pin]:
    """Return the pinned figures of an entity and of what it contains."""
    if not world.store.count("pinned_figures"):
        return []
    found = []
    for entry in world.store.page("pinned_figures"):
        record = entry.record
        if placement in {None, record["placement"]}:
            nodes = list_containing(world, record["entity"], record["entity_id"])
            if (entity, key) in nodes:
                found.append(_Pin(record, nodes))
    return found


def list_containing(world: World, entity: str, key: str) -> list[_Node]:
    """Return an entity and what contains it, from the inside to the outside, by name and id."""
    found = [(entity, key)]
    record = world.store.get(TABLE_OF[entity], key)
    if record is not None and entity in CREATIVES:
        found += list_containing(world, LINE_ITEM, record["line_item_id"])
    elif record is not None and entity != ACCOUNT:
        outer = PARENTS[PARENTS.index(entity) + 1]
        field = "_account_id" if outer == ACCOUNT else f"{outer.lower()}_id"
        found += list_containing(world, outer, record[field])
    return found


class _Question:
    """The same edges, metrics and placement, asked of several entities."""

    def __init__(
        self, world: World, edges: Sequence[int], names: set[str], placement: str | None, now: int
    ) -> None:
        self._world = world
        self._edges = edges
        self._names = names
        self._placement = placement
        self._now = now

    def measure(self, node: _Node, pins: Sequence[_Pin]) -> Series:
        """Return the figures of an entity, with the pinned ones of it and of what it contains."""
        found = self._measure_ads(node)
        # What contains a pinned entity has the same figures as before, minus what the entity would
        # have had, plus what is pinned. Of several pins inside each other only the outermost are
        # exchanged here; the inner ones are exchanged within them.
        inside = [pin for pin in pins if node in pin.nodes[1:]]
        for inner in dict.fromkeys(pin.node for pin in inside):
            between = {each.node for each in inside} - {inner}
            own = next(pin for pin in inside if pin.node == inner)
            if between.isdisjoint(own.nodes[1 : own.nodes.index(node)]):
                self._replace(found, self._measure_ads(inner), self.measure(inner, pins))
        for pin in pins:
            if pin.node == node:
                self._pin(found, pin)
        return found

    def _measure_ads(self, node: _Node) -> Series:
        return _measure_ads(
            self._world, *node, self._edges, self._names, self._placement, self._now
        )

    def _replace(self, found: Series, old: Series, new: Series) -> None:
        zeros = [0] * (len(self._edges) - 1)
        for name in {*old, *new}:
            parts = zip(
                found.get(name, zeros), old.get(name, zeros), new.get(name, zeros), strict=True
            )
            found[name] = [whole - before + after for whole, before, after in parts]

    def _pin(self, found: Series, pin: _Pin) -> None:
        zeros = [0] * (len(self._edges) - 1)
        for name in self._names.intersection(pin.metrics):
            values = list(found.get(name, zeros))
            for number, (start, end) in enumerate(pairwise(self._edges)):
                if pin.start <= start and end <= pin.end:
                    values[number] = pin.spread(name, start, end)
            found[name] = values


def _merge(finer: Series, from_edges: Sequence[int], to_edges: Sequence[int]) -> Series:
    """Return figures of finer buckets as those of the buckets that contain them."""
    places = [from_edges.index(edge) for edge in to_edges]
    return {name: [sum(values[a:b]) for a, b in pairwise(places)] for name, values in finer.items()}


# Segments: the figures of an entity split by who saw its ads, and where.

STATS_JOBS_SEGMENTS = expectation(
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
    # Each segment takes its share of what the ones before it have left, on running totals. So the
    # parts of each bucket are never below zero, and together are the whole without any correction
    # at the end.
    rest, left = [*accumulate(counts, initial=0)], sum(shares)
    for share in shares:
        part = [total * share // left for total in rest]
        found.append([b - a for a, b in pairwise(part)])
        rest = [total - taken for total, taken in zip(rest, part, strict=True)]
        left -= share
    return found
