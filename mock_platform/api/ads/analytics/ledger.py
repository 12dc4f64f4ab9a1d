"""What the ads of an account have cost so far, and when the budgets over them are used up."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from datetime import tzinfo
from itertools import pairwise

from msgspec import Struct, field

from mock_platform.api.ads.analytics.serving import Ad, Chain, Phase, make_ads
from mock_platform.api.ads.analytics.versions import (
    DAY_SECONDS,
    Version,
    find_version,
    list_days,
    list_versions,
    read_seconds,
    read_timezone,
)
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

# Budgets: the ads of a budget are shown until it is used up, for the day or for good. A ledger
# has the ads that share budgets. It goes through their days in order, because what is left of a
# total budget depends on every day before. Days of an account begin at its local midnight.


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
        # Between two of these moments nothing changes: each ad is either shown at one price or not
        # shown at all, and each budget has one amount. So a day is cut at them, and each piece is
        # calculated by a formula, not second by second.
        self._budgets = [budget for budget in budgets if budget.limits]
        self._changes = sorted(
            {phase.start for ad in ads for phase in ad.phases}
            | {version.since for budget in self._budgets for version in budget.versions}
        )
        # Days before the first ad was shown cost nothing, so the iterator begins with the day of
        # that moment; `None` means that no ad is ever shown. `0` makes the first call of `advance`
        # take a day.
        begin = min((phase.start for ad in ads for phase in ad.phases if phase.level), default=None)
        self._days: Iterator[tuple[int, int]] = list_days(begin or 0, timezone)
        self._until = 0 if begin is not None else None

    def advance(self, now: int) -> None:
        """Let the ads be shown until the end of the day that contains a moment."""
        # Always whole days, also the one that has not ended: what an ad did until noon follows from
        # its plan for the day. So asking at noon and asking at midnight go through the same steps,
        # and the numbers of the morning never change in the afternoon.
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
        # First each ad plans to be shown during the whole piece. Then each budget, from the inside
        # to the outside, ends the plans of its ads at the second at which it is used up; plans only
        # become shorter, so an outer budget sees what the inner ones left. Only then is anything
        # charged: an ad that a campaign's budget ends must not have been charged to its line item
        # in full.
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

    # Looks for the last second until which the ads can be paid together, by halving the piece. What
    # they cost grows with time, so this finds it in some seventeen steps, where a walk over the
    # seconds of a day would take 86,400. `low` is always affordable and `high` is not.
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


CREATIVES = {
    "PROMOTED_POST": "promoted_posts",
    "PROMOTED_ACCOUNT": "promoted_accounts",
    "MEDIA_CREATIVE": "media_creatives",
}
"""The tables of what a line item shows, by the name of the entity."""
LINE_ITEM, CAMPAIGN, FUNDING_INSTRUMENT, ACCOUNT = (
    "LINE_ITEM",
    "CAMPAIGN",
    "FUNDING_INSTRUMENT",
    "ACCOUNT",
)
PARENTS = (LINE_ITEM, CAMPAIGN, FUNDING_INSTRUMENT, ACCOUNT)
"""What an ad belongs to, from the inside to the outside."""
TABLE_OF = CREATIVES | {
    LINE_ITEM: "line_items",
    CAMPAIGN: "campaigns",
    FUNDING_INSTRUMENT: "funding_instruments",
    ACCOUNT: "accounts",
}
_READ = (*TABLE_OF.values(), "account_history")
_DAILY, _TOTAL = "daily_budget_amount_local_micro", "total_budget_amount_local_micro"
LIMIT_OF = {
    "CREDIT_CARD": "credit_limit_local_micro",
    "CREDIT_LINE": "credit_limit_local_micro",
    "AGENCY_CREDIT_LINE": "credit_limit_local_micro",
    "INSERTION_ORDER": "funded_amount_local_micro",
}
"""What a funding instrument may spend in all."""


class AdBook:
    """The ledgers of one world. Use it through `find_ads`."""

    def __init__(self) -> None:
        self._read_at: tuple[int, ...] = ()
        self._ledgers: dict[tuple[str, str], AdLedger] = {}

    def find_ledgers(self, world: World, line_items: Iterable[Record]) -> list[AdLedger]:
        """Return the ledgers that have the ads of these line items."""
        # A ledger is derived from records alone, so it stays right until one of the tables it was
        # made from changes. Then all are dropped: a change of a campaign may move ads from one
        # ledger to another.
        versions = tuple(world.store.version(table) for table in _READ)
        if versions != self._read_at:
            self._read_at, self._ledgers = versions, {}
        found: dict[tuple[str, str], AdLedger] = {}
        for line_item in line_items:
            root = _find_root(world, line_item)
            if root is None or root in found:
                continue
            if root not in self._ledgers:
                self._ledgers[root] = _open_ledger(world, *root)
            found[root] = self._ledgers[root]
        return list(found.values())


def find_ads(world: World, entity: str, key: str, now: int) -> list[Ad]:
    """Return the ads of an entity as they were shown until a moment, in seconds since 1970."""
    ledgers = world.cache(AdBook).find_ledgers(world, _list_line_items(world, entity, key))
    for ledger in ledgers:
        ledger.advance(now)
    every = (ad for ledger in ledgers for ad in ledger.ads)
    if entity in CREATIVES:
        return [ad for ad in every if ad.entity == entity and ad.id == key]
    place = PARENTS.index(entity)
    return [ad for ad in every if ad.parents[place] == key]


def _list_line_items(world: World, entity: str, key: str) -> Iterator[Record]:
    """Yield the line items of an entity, those that are deleted too."""
    store = world.store
    if entity == FUNDING_INSTRUMENT:
        for entry in store.page("campaigns", {"funding_instrument_id": key}):
            yield from _list_line_items(world, CAMPAIGN, entry.key)
    elif entity == CAMPAIGN:
        yield from (e.record for e in store.page("line_items", {"campaign_id": key}))
    elif entity == ACCOUNT:
        yield from (e.record for e in store.page("line_items", {"_account_id": key}))
    else:
        creative = store.get(CREATIVES[entity], key) if entity in CREATIVES else None
        found = store.get("line_items", key if creative is None else creative["line_item_id"])
        if found is not None:
            yield found


def _find_root(world: World, line_item: Record) -> tuple[str, str] | None:
    """Return the outermost entity whose budget limits a line item, or itself."""
    campaign = world.store.get("campaigns", line_item["campaign_id"])
    if campaign is None:
        return None
    funding = world.store.get("funding_instruments", campaign["funding_instrument_id"])
    if funding is None:
        return None
    # Ads have to be calculated together if one budget can end another's ad. The ledger is therefore
    # that of the outermost entity that limits anything: a funding instrument with a limit binds all
    # its campaigns together, and without one each campaign is on its own.
    if _make_funding_budget(funding).limits:
        return FUNDING_INSTRUMENT, funding["id"]
    if Budget(list_versions(world, CAMPAIGN, campaign), _DAILY, _TOTAL).limits:
        return CAMPAIGN, campaign["id"]
    return LINE_ITEM, line_item["id"]


def _make_funding_budget(funding: Record) -> Budget:
    created = Version(read_seconds(funding["created_at"]), funding)
    return Budget([created], "", LIMIT_OF.get(funding["type"], ""))


def _open_ledger(world: World, entity: str, key: str) -> AdLedger:
    ads: list[Ad] = []
    inner: list[Budget] = []
    campaigns: dict[str, Budget] = {}
    funding: Record = {}
    for line_item in _list_line_items(world, entity, key):
        campaign = world.store.get("campaigns", line_item["campaign_id"])
        assert campaign is not None
        if campaign["id"] not in campaigns:
            versions = list_versions(world, CAMPAIGN, campaign)
            campaigns[campaign["id"]] = Budget(versions, _DAILY, _TOTAL)
            found = world.store.get("funding_instruments", campaign["funding_instrument_id"])
            assert found is not None
            funding = found
        outer = campaigns[campaign["id"]]
        own = Budget(list_versions(world, LINE_ITEM, line_item), _DAILY, _TOTAL)
        own.ads.extend(_make_ads_of(world, line_item, own, outer, funding))
        inner.append(own)
        outer.ads.extend(own.ads)
        ads.extend(own.ads)
    outermost = [_make_funding_budget(funding)] if funding else []
    for budget in outermost:
        budget.ads.extend(ads)
    account = world.store.get("accounts", funding.get("_account_id", "")) or {"timezone": "UTC"}
    return AdLedger(ads, [*inner, *campaigns.values(), *outermost], read_timezone(account))


def _make_ads_of(
    world: World, line_item: Record, own: Budget, outer: Budget, funding: Record
) -> Iterator[Ad]:
    account = world.store.get("accounts", line_item["_account_id"])
    windows = (_find_funding_window(funding), _find_account_window(account))
    parents = (line_item["id"], line_item["campaign_id"], funding["id"], line_item["_account_id"])
    for entity, table in CREATIVES.items():
        for entry in world.store.page(table, {"line_item_id": line_item["id"]}):
            versions = list_versions(world, entity, entry.record)
            chain = Chain(versions, list(own.versions), list(outer.versions), windows)
            yield from make_ads(world.ids, entity, entry.key, parents, chain)


_NEVER = (0, 0)


def _find_funding_window(funding: Record) -> tuple[int, int | None]:
    if funding["entity_status"] != "ACTIVE" or funding.get("able_to_fund") is False:
        return _NEVER
    starts = [funding["created_at"], funding.get("start_time")]
    ends = [funding.get("end_time"), funding["updated_at"] if funding["deleted"] else None]
    return (
        max(read_seconds(start) for start in starts if start),
        min((read_seconds(end) for end in ends if end), default=None),
    )


def _find_account_window(account: Record | None) -> tuple[int, int | None]:
    if account is None or account["approval_status"] != "ACCEPTED":
        return _NEVER
    end = read_seconds(account["updated_at"]) if account["deleted"] else None
    return read_seconds(account["created_at"]), end
