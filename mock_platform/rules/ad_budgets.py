"""Budgets: the ads of a budget are shown until it is used up, for the day or for good.

A ledger has the ads that share budgets. It goes through their days in order, because what is left
of a total budget depends on every day before. Days of an account begin at its local midnight.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from datetime import tzinfo
from itertools import pairwise

from msgspec import Struct, field

from mock_platform.rules.account_days import list_days
from mock_platform.rules.ad_serving import Ad, Phase
from mock_platform.rules.ad_versions import Version, find_version
from mock_platform.rules.daily_rhythm import DAY_SECONDS


class Budget(Struct, eq=False):
    """What a line item, campaign or funding instrument may spend, in micro units."""

    versions: Sequence[Version]
    daily: str
    """The field with the amount of a day; empty if there is none."""
    total: str
    ads: list[Ad] = field(default_factory=list)
    spent_today: int = 0
    spent: int = 0

    @property
    def limits(self) -> bool:
        """Whether it has ever limited anything."""
        return any(self._list_amounts(version.record) for version in self.versions)

    def find_rest(self, at: int) -> int | None:
        """Return how much may still be spent at a moment; `None`: any amount."""
        record = find_version(self.versions, at)
        amounts = {} if record is None else self._list_amounts(record)
        spent = {self.daily: self.spent_today, self.total: self.spent}
        rests = [amount - spent[name] for name, amount in amounts.items()]
        return max(0, min(rests)) if rests else None

    def _list_amounts(self, record: dict[str, int | None]) -> dict[str, int]:
        names = [name for name in (self.daily, self.total) if name]
        found = {name: record.get(name) for name in names}
        return {name: amount for name, amount in found.items() if amount is not None}


class _Plan(Struct):
    """What an ad would do from now to `end`."""

    level: int
    phase: Phase
    end: int
    charge: int
    """What it costs until then."""


class AdLedger:
    """Ads that share budgets, and how they were shown so far.

    `budgets` come from the inside to the outside: line items, campaign, funding instrument.
    """

    def __init__(self, ads: Sequence[Ad], budgets: Sequence[Budget], timezone: tzinfo) -> None:
        self.ads = ads
        self._budgets = [budget for budget in budgets if budget.limits]
        self._changes = sorted(
            {phase.start for ad in ads for phase in ad.phases}
            | {version.since for budget in self._budgets for version in budget.versions}
        )
        begin = min((phase.start for ad in ads for phase in ad.phases if phase.level), default=None)
        self._days: Iterator[tuple[int, int]] = list_days(begin or 0, timezone)
        self._until = 0 if begin is not None else None

    def advance(self, now: int) -> None:
        """Let the ads be shown until the end of the day that contains a moment."""
        while self._until is not None and self._until <= now:
            start, end = next(self._days)
            for budget in self._budgets:
                budget.spent_today = 0
            low, high = bisect_right(self._changes, start), bisect_left(self._changes, end)
            edges = [start, *self._changes[low:high], end]
            for first, last in pairwise(edges):
                self._run(first, last)
            self._until = end

    def _run(self, start: int, end: int) -> None:
        plans: dict[Ad, _Plan] = {}
        day = start // DAY_SECONDS
        for ad in self.ads:
            phase = ad.find_phase(start)
            if phase is not None and phase.level:
                level = ad.find_level(phase, day)
                charge = ad.measure_charge(start, end, level, phase)
                plans[ad] = _Plan(level, phase, end, charge)
        if not plans:
            return
        for budget in self._budgets:
            _limit(budget, plans, start)
        for budget in self._budgets:
            amount = sum(plans[ad].charge for ad in budget.ads if ad in plans)
            budget.spent_today += amount
            budget.spent += amount
        for ad, plan in plans.items():
            if plan.end > start:
                ad.show(start, plan.end, plan.level, plan.phase)


def _limit(budget: Budget, plans: dict[Ad, _Plan], start: int) -> None:
    """End the plans of a budget's ads at the second at which it is used up."""
    rest = budget.find_rest(start)
    if rest is None:
        return
    own = [(ad, plans[ad]) for ad in budget.ads if ad in plans]

    def spend_until(at: int) -> int:
        return sum(
            ad.measure_charge(start, min(at, plan.end), plan.level, plan.phase) for ad, plan in own
        )

    low, high = start, max((plan.end for _, plan in own), default=start)
    if rest * 1000 < min((plan.phase.price for _, plan in own), default=0) or not rest:
        high = start  # no unit can be paid any more, and nothing is shown for nothing
    elif sum(plan.charge for _, plan in own) <= rest:
        return
    while high - low > 1:
        middle = (low + high) // 2
        if spend_until(middle) <= rest:
            low = middle
        else:
            high = middle
    for ad, plan in own:
        if plan.end > low:
            plan.end = low
            plan.charge = ad.measure_charge(start, low, plan.level, plan.phase)
