"""What campaigns and funding instruments have spent, and whether that used up their budgets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct

from mock_platform.core.assumptions import expectation
from mock_platform.rules.ad_book import CAMPAIGN, LIMIT_OF, AdBook, find_ads
from mock_platform.rules.ad_budgets import AdLedger
from mock_platform.rules.ad_versions import to_seconds
from mock_platform.store.interface import Record
from mock_platform.world.world import World

USED_UP = expectation(
    "campaigns.budget-used-up",
    "A total budget, a credit limit or a funded amount is used up (BUDGET_EXHAUSTED) when less "
    "than a hundredth of it is left, or less than the next engagement, view or click costs. It is "
    "looked at for campaigns that would serve otherwise, and only up to 50 line items that share "
    "the amount. A daily budget stops ads for the rest of the day, but is no reason.",
)
MOST_LINE_ITEMS = 50
"""Line items that share an amount; with more, finding out what they spent takes too long."""
_TOTAL = "total_budget_amount_local_micro"
_LEFT = 100


class _Spend(Struct):
    """What was spent, in micro units, and what one more unit costs at least."""

    charge: int = 0
    unit_price: int = 0

    def uses_up(self, amount: int) -> bool:
        """Return whether nothing more can be spent of an amount."""
        rest = amount - self.charge
        return self.charge > 0 and (rest * _LEFT < amount or rest < self.unit_price)


class _Spends:
    """What was spent until one moment, added up once for each ledger."""

    def __init__(self) -> None:
        self._at = -1
        self._spends: dict[AdLedger, dict[str, _Spend]] = {}

    def find(self, world: World, line_item: Record, key: str) -> _Spend:
        """Return what the campaign or funding instrument above a line item has spent.

        It has an amount, so one ledger has all of its line items.
        """
        now = to_seconds(world.clock.now())
        if now != self._at:
            self._at, self._spends = now, {}
        ledgers = world.cache(AdBook).find_ledgers(world, [line_item])
        found = [self._add_up(ledger, now).get(key) for ledger in ledgers]
        return next((spend for spend in found if spend is not None), _Spend())

    def _add_up(self, ledger: AdLedger, now: int) -> dict[str, _Spend]:
        spends = self._spends.get(ledger)
        if spends is None:
            ledger.advance(now)
            spends = self._spends[ledger] = {}
            for ad in ledger.ads:
                _, campaign, instrument, _ = ad.parents
                charge = ad.bill_until([now], now)[1][0]
                price = ad.stretches[-1].price // 1000 if ad.stretches else 0
                for key in (campaign, instrument):
                    spend = spends.setdefault(key, _Spend())
                    spend.charge += charge
                    spend.unit_price = min(spend.unit_price, price) or price
        return spends


def measure_spend(world: World, campaign: Record) -> int:
    """Return what a campaign has spent until now, in micro units of its currency."""
    now = to_seconds(world.clock.now())
    ads = find_ads(world, CAMPAIGN, campaign["id"], now)
    return sum(ad.bill_until([now], now)[1][0] for ad in ads)


def is_campaign_budget_used_up(world: World, campaign: Record) -> bool:
    """Return whether a campaign has spent its total budget."""
    total: int | None = campaign[_TOTAL]
    if total is None:
        return False
    instrument = world.store.get("funding_instruments", campaign["funding_instrument_id"])
    sharing: Iterable[Record] = [campaign]
    if instrument is not None and _find_amount(instrument) is not None:
        sharing = _iterate_campaigns(world, instrument)  # they are all in one ledger
    spend = _find_spend(world, campaign["id"], sharing)
    return spend is not None and spend.uses_up(total)


def find_funding_spend(world: World, instrument: Record) -> int:
    """Return what a funding instrument with an amount has paid until now, in micro units."""
    spend = _find_spend(world, instrument["id"], _iterate_campaigns(world, instrument))
    return 0 if spend is None else spend.charge


def is_funding_used_up(world: World, instrument: Record) -> bool:
    """Return whether all is spent that a funding instrument may pay."""
    amount = _find_amount(instrument)
    if amount is None:
        return False
    spend = _find_spend(world, instrument["id"], _iterate_campaigns(world, instrument))
    return spend is not None and spend.uses_up(amount)


def _find_amount(instrument: Record) -> int | None:
    name = LIMIT_OF.get(instrument["type"])
    return instrument.get(name) if name else None


def _iterate_campaigns(world: World, instrument: Record) -> Iterator[Record]:
    match = {"funding_instrument_id": instrument["id"]}
    return (entry.record for entry in world.store.page("campaigns", match))


def _find_spend(world: World, key: str, campaigns: Iterable[Record]) -> _Spend | None:
    """Return what these campaigns have spent together; `None` if nothing, or there are too many."""
    counted, first = 0, None
    for campaign in campaigns:
        match = {"campaign_id": campaign["id"]}
        counted += world.store.count("line_items", match)
        if counted > MOST_LINE_ITEMS:
            return None
        if first is None and counted:
            first = world.store.page("line_items", match, limit=1)[0].record
    return None if first is None else world.cache(_Spends).find(world, first, key)
