"""When an ad is shown, how often, and what that costs: an ad is a creative of a line item.

An ad has phases, between which something about it changes: a status, a budget, a bid, a start, an
end. Within each day of a phase it is shown in one stretch, which ends early if a budget is used up.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from msgspec import Struct, field

from mock_platform.api.ads.analytics.mix import Mix, choose_unit, find_price, make_mix
from mock_platform.api.ads.analytics.versions import (
    BY_HOUR,
    DAY_SECONDS,
    HOUR_SECONDS,
    Version,
    find_version,
    read_seconds,
)
from mock_platform.world.ids import Ids
from mock_platform.world.store.interface import Record

ON_PLATFORM, NETWORK = "ALL_ON_PLATFORM", "PUBLISHER_NETWORK"
SEPARATE_PLACEMENTS = ("SPOTLIGHT", "TREND")
PLACEMENTS = (ON_PLATFORM, *SEPARATE_PLACEMENTS, NETWORK)

_SCALE = 40
"""Levels are numbers of impressions for a second of the rhythm, times two to this power."""
_MOST_IMPRESSIONS = 3_000_000
"""Of one ad on one day."""
_USUAL_SPEND = 50_000_000
"""What a line item without any budget spends on a day, in micro units of the currency."""
_USUAL_DAYS = 30
"""Over how many days a total budget is spent, if the line item has no end."""
_NETWORK_SHARE = 0.25
_PART_OF_DAY_NOISE = 64


class Chain(NamedTuple):
    """The versions of a creative and of what it belongs to, and the windows in which all serve."""

    creative: list[Version]
    line_item: list[Version]
    campaign: list[Version]
    windows: tuple[tuple[int, int | None], ...]
    """Start and end of funding instrument and account; the end may be open."""


class Phase(NamedTuple):
    """An ad from `start` to the next phase; it is shown if its level is not 0."""

    start: int
    level: int = 0
    price: int = 0
    """Of a thousand units, in micro units of the currency."""
    unit: str = ""


class Stretch(NamedTuple):
    """Seconds of one day in which an ad is shown, and its counts before them."""

    start: int
    end: int
    level: int
    impressions: int
    unit: str
    units: int
    """The metric that is paid for, at the start."""
    billed: int
    charge: int
    """In micro units of the currency."""
    price: int


class Ad(Struct, eq=False):
    """One creative of one line item at one kind of place."""

    entity: str
    id: str
    parents: tuple[str, ...]
    """The ids of line item, campaign, funding instrument and account."""
    placement: str
    phases: list[Phase]
    phase_starts: list[int]
    mix: Mix
    rhythm: tuple[int, ...]
    """Seconds of the rhythm before each hour of a day, and in all of it."""
    ids: Ids
    stretches: list[Stretch] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    """The starts of the stretches."""
    impressions: int = 0
    billed: int = 0
    charge: int = 0
    _noise: tuple[int, bytes] = (-1, b"")

    def find_phase(self, at: int) -> Phase | None:
        """Return the phase at a moment; `None` before the first one."""
        number = bisect_right(self.phase_starts, at)
        return self.phases[number - 1] if number else None

    def find_level(self, phase: Phase, day: int) -> int:
        """Return the level on a day: no two days are alike."""
        # One hash has 64 bytes, one for each of 64 days; so a year of days costs six hashes. A byte
        # makes a factor from 0.75 to 1.25, in whole numbers: the level must be the same on each
        # machine.
        block, place = divmod(day, _PART_OF_DAY_NOISE)
        if self._noise[0] != block:
            self._noise = (block, self.ids.noise(f"ad/{self.id}/{self.placement}/{block}"))
        return phase.level * (192 + self._noise[1][place] // 2) >> 8

    def measure_rhythm(self, at: int) -> int:
        """Return how far the rhythm is at a moment; it goes faster in busy hours."""
        # The integral of a step function: busy hours count more seconds than they have. Whole days
        # and whole hours come from sums that were made once, and only the last hour is
        # interpolated. So the impressions between any two moments are one subtraction, whatever is
        # between them.
        day, second = divmod(at, DAY_SECONDS)
        hour, rest = divmod(second, HOUR_SECONDS)
        rhythm = self.rhythm
        begun = rhythm[hour]
        return day * rhythm[24] + begun + (rhythm[hour + 1] - begun) * rest // HOUR_SECONDS

    def count_impressions(self, start: int, end: int, level: int) -> int:
        """Return how often it is shown at a level."""
        return (level * (self.measure_rhythm(end) - self.measure_rhythm(start))) >> _SCALE

    def measure_charge(self, start: int, end: int, level: int, phase: Phase) -> int:
        """Return what it costs to show it on from `start`."""
        # Charges are differences of totals, never sums of parts: rounding each part would make a
        # day cost another amount if it was asked for hour by hour.
        units = self.mix.count(phase.unit, self.impressions)
        shown = self.impressions + self.count_impressions(start, end, level)
        return (self.mix.count(phase.unit, shown) - units) * phase.price // 1000

    def show(self, start: int, end: int, level: int, phase: Phase) -> None:
        """Add a stretch, with what was counted before it."""
        units = self.mix.count(phase.unit, self.impressions)
        self.stretches.append(
            Stretch(
                start, end, level, self.impressions, phase.unit, units, self.billed, self.charge,
                phase.price,
            )
        )  # fmt: skip
        self.starts.append(start)
        self.impressions += self.count_impressions(start, end, level)
        billed = self.mix.count(phase.unit, self.impressions) - units
        self.billed += billed
        self.charge += billed * phase.price // 1000

    def find_shown(self, start: int, end: int) -> tuple[int, int] | None:
        """Return when it was first and last shown in a window; `None` if it was not."""
        # Stretches are in the order of time and do not overlap, so the ones of a window are found
        # by halving.
        first = max(bisect_right(self.starts, start) - 1, 0)
        last = bisect_left(self.starts, end)
        parts = []
        for stretch in self.stretches[first:last]:
            begun, over = max(stretch.start, start), min(stretch.end, end)
            before = self.count_impressions(stretch.start, begun, stretch.level)
            if begun < over and self.count_impressions(stretch.start, over, stretch.level) > before:
                parts.append((begun, over))  # not the days on which no budget was left
        return (parts[0][0], parts[-1][1]) if parts else None

    def count_until(self, edges: Sequence[int], now: int) -> list[int]:
        """Return how often it had been shown at each edge; nothing is shown after now."""
        # Edges ascend, so one walk over the stretches serves all of them. Before an edge all
        # stretches but the last are complete, and their count is in the last one; only that one is
        # calculated.
        found: list[int] = []
        number = bisect_right(self.starts, edges[0]) - 1
        for edge in edges:
            at = min(edge, now)
            while number + 1 < len(self.starts) and self.starts[number + 1] <= at:
                number += 1
            if number < 0:
                found.append(0)
                continue
            stretch = self.stretches[number]
            shown = self.count_impressions(stretch.start, min(at, stretch.end), stretch.level)
            found.append(stretch.impressions + shown)
        return found

    def bill_until(self, edges: Sequence[int], now: int) -> tuple[list[int], list[int]]:
        """Return the billed units and the charge at each edge."""
        billed, charged = [], []
        for edge, shown in zip(edges, self.count_until(edges, now), strict=True):
            number = bisect_right(self.starts, min(edge, now)) - 1
            if number < 0:
                billed.append(0)
                charged.append(0)
                continue
            stretch = self.stretches[number]
            units = self.mix.count(stretch.unit, shown) - stretch.units
            billed.append(stretch.billed + units)
            charged.append(stretch.charge + units * stretch.price // 1000)
        return billed, charged


def make_ads(ids: Ids, entity: str, key: str, parents: tuple[str, ...], chain: Chain) -> list[Ad]:
    """Return the ads of a creative: one for each kind of place at which its line item is."""
    newest = chain.line_item[-1].record
    return [
        _make_ad(ids, (entity, key), parents, chain, placement, share)
        for placement, share in _split_placements(newest["placements"])
    ]


def _make_ad(
    ids: Ids,
    named: tuple[str, str],
    parents: tuple[str, ...],
    chain: Chain,
    placement: str,
    share: float,
) -> Ad:
    noise = ids.noise(f"ad/{named[1]}/{placement}")
    mix = make_mix(chain.line_item[-1].record["objective"], noise)
    rhythm = [0]
    for hour, volume in enumerate(BY_HOUR):
        seconds = volume * HOUR_SECONDS * (192 + noise[24 + hour] // 2) >> 8
        rhythm.append(rhythm[-1] + seconds)
    # A creative alone uses most of its line item's budget, several together all of it.
    spend_share = share * (0.45 + 0.5 * noise[23] / 255)
    phases = [
        _make_phase(start, chain, mix, spend_share, rhythm[24], noise[22])
        for start in _list_changes(chain)
    ]
    starts = [phase.start for phase in phases]
    return Ad(*named, parents, placement, phases, starts, mix, tuple(rhythm), ids)


def _make_phase(start: int, chain: Chain, mix: Mix, share: float, rhythm: int, noise: int) -> Phase:
    # An ad serves if its creative, line item and campaign do, each as it was at that moment, and
    # funding instrument and account are within their windows. A phase in which one of them does not
    # is kept with level 0: it ends the phase before it.
    records = [find_version(versions, start) for versions in chain[:3]]
    if not all(_serves(record, start) for record in records) or not all(
        since <= start and (end is None or start < end) for since, end in chain.windows
    ):
        return Phase(start)
    _, line_item, campaign = records
    assert line_item is not None
    assert campaign is not None
    unit = choose_unit(line_item, mix)
    price = find_price(line_item, mix, unit, noise)
    units = _choose_spend(line_item, campaign) * share * 1000 / price
    impressions = min(int(units / mix.find_rate(unit)) + 1, _MOST_IMPRESSIONS)
    return Phase(start, (impressions << _SCALE) // rhythm, price, unit)


def _serves(record: Record | None, at: int) -> bool:
    if record is None or record["deleted"] or record["entity_status"] != "ACTIVE":
        return False
    if record.get("approval_status", "ACCEPTED") != "ACCEPTED" or record.get("servable") is False:
        return False
    start, end = record.get("start_time"), record.get("end_time")
    return (start is None or read_seconds(start) <= at) and (end is None or at < read_seconds(end))


def _list_changes(chain: Chain) -> list[int]:
    """Return when something about an ad may change, from its creation on."""
    found: set[int] = {moment for window in chain.windows for moment in window if moment}
    for versions in chain[:3]:
        for version in versions:
            found.add(version.since)
            moments = (version.record.get(name) for name in ("start_time", "end_time"))
            found.update(read_seconds(moment) for moment in moments if moment)
    first = max(versions[0].since for versions in chain[:3])
    return [first, *sorted(moment for moment in found if moment > first)]


def _choose_spend(line_item: Record, campaign: Record) -> int:
    """Return what a line item aims to spend on a day, in micro units of the currency."""
    for record in (line_item, campaign):
        daily: int | None = record["daily_budget_amount_local_micro"]
        if daily is not None:
            return daily
    for record in (line_item, campaign):
        total: int | None = record["total_budget_amount_local_micro"]
        if total is not None:
            return total // _count_days(line_item)
    return _USUAL_SPEND


def _count_days(line_item: Record) -> int:
    start, end = line_item.get("start_time"), line_item.get("end_time")
    if start is None or end is None:
        return _USUAL_DAYS
    return max(1, (read_seconds(end) - read_seconds(start)) // DAY_SECONDS)


def _split_placements(names: Iterable[str]) -> list[tuple[str, float]]:
    """Return the kinds of places of a line item, and how much of it is shown at each."""
    network = [name for name in names if name == NETWORK or name.startswith("TAP_")]
    separate = [name for name in names if name in SEPARATE_PLACEMENTS]
    on_platform = [name for name in names if name not in network and name not in separate]
    parts = [(name, 1.0) for name in dict.fromkeys(separate)]
    if network:
        parts.append((NETWORK, _NETWORK_SHARE if on_platform or separate else 1.0))
    if on_platform or not parts:
        parts.insert(0, (ON_PLATFORM, 1 - _NETWORK_SHARE if network else 1.0))
    return [(name, share / (len(separate) or 1)) for name, share in parts]
