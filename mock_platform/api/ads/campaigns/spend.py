"""What campaigns and funding instruments have spent, and whether that used up their budgets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct

from mock_platform.api.ads.analytics.ledger import CAMPAIGN, LIMIT_OF, AdBook, AdLedger, find_ads
from mock_platform.api.ads.analytics.versions import to_seconds
from mock_platform.core.assumptions import expectation
from mock_platform.world.store.interface import Record
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
_CHUNK = 20


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
    if instrument is not None and _find_amount(instrument) is not None:
        # All campaigns of the instrument are in one ledger.
        line_item = world.cache(_Sharers).find(world, instrument["id"])
    else:
        line_item = _find_sharer(world, [campaign])
    return _find_spend(world, campaign["id"], line_item).uses_up(total)


def find_funding_spend(world: World, instrument: Record) -> int:
    """Return what a funding instrument with an amount has paid until now, in micro units."""
    line_item = world.cache(_Sharers).find(world, instrument["id"])
    return _find_spend(world, instrument["id"], line_item).charge


def is_funding_used_up(world: World, instrument: Record) -> bool:
    """Return whether all is spent that a funding instrument may pay."""
    amount = _find_amount(instrument)
    if amount is None:
        return False
    line_item = world.cache(_Sharers).find(world, instrument["id"])
    return _find_spend(world, instrument["id"], line_item).uses_up(amount)


def _find_amount(instrument: Record) -> int | None:
    name = LIMIT_OF.get(instrument["type"])
    return instrument.get(name) if name else None


def _find_spend(world: World, key: str, line_item: Record | None) -> _Spend:
    """Return what an entity has spent; nothing if no line item leads to its ledger."""
    return _Spend() if line_item is None else world.cache(_Spends).find(world, line_item, key)


class _Sharers:
    """A line item for each funding instrument, looked for once as long as no record changes."""

    def __init__(self) -> None:
        self._versions: tuple[int, ...] = ()
        self._found: dict[str, Record | None] = {}

    def find(self, world: World, instrument_id: str) -> Record | None:
        """Return a line item that the instrument pays for; `None` if none or too many share it."""
        versions = (world.store.version("campaigns"), world.store.version("line_items"))
        if versions != self._versions:
            self._versions, self._found = versions, {}
        if instrument_id not in self._found:
            campaigns = _iterate_campaigns(world, instrument_id)
            self._found[instrument_id] = _find_sharer(world, campaigns)
        return self._found[instrument_id]


def _iterate_campaigns(world: World, instrument_id: str) -> Iterator[Record]:
    """Yield the campaigns of an instrument, which may have thousands; mostly, a few are enough."""
    match, after = {"funding_instrument_id": instrument_id}, None
    while True:
        found = world.store.page("campaigns", match, after=after, limit=_CHUNK)
        yield from (entry.record for entry in found)
        if len(found) < _CHUNK:
            return
        after = found[-1].position


def _find_sharer(world: World, campaigns: Iterable[Record]) -> Record | None:
    """Return a line item of these campaigns; `None` if they have none or too many together."""
    counted, first = 0, None
    for campaign in campaigns:
        match = {"campaign_id": campaign["id"]}
        counted += world.store.count("line_items", match)
        if counted > MOST_LINE_ITEMS:
            return None
        if first is None and counted:
            first = world.store.page("line_items", match, limit=1)[0].record
    return first
