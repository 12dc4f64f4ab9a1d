"""Where advertisements may be shown, and for how much: publishers, placements, bounds of bids."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mock_platform.api.ads.accounts.records import PRODUCT_TYPES, PlacementsRecord
from mock_platform.api.ads.conventions import Data, Many, Typed, ads
from mock_platform.api.ads.lists import PageOf
from mock_platform.core.assumptions import expectation, public_fact
from mock_platform.core.call import Call
from mock_platform.core.codes import list_currencies
from mock_platform.core.fields import Choice, Flag, Integer, ListOf, Text
from mock_platform.core.operation import Operation, Origin, locate_declaration
from mock_platform.core.schema import Schema
from mock_platform.core.tables.table import Reference, Table
from mock_platform.world.store.interface import Record, remove_internal_keys
from mock_platform.world.world import World

if TYPE_CHECKING:
    from mock_platform.core.tables.drawing import Draft


def declare_whole_list(
    table: str,
    record: type[Schema],
    summary: str,
    spec: str,
    *,
    total: bool = False,
    **particulars: Any,
) -> Operation:
    """Return the operation that lists all records of a table on one page, for every account."""

    def list_all(call: Call, world: World) -> PageOf:
        found = [entry.record for entry in world.store.page(table)]
        return PageOf(found, total_count=len(found) if total else None)

    return ads(
        f"{table}.list",
        "GET",
        f"/12/{table}",
        list_all,
        summary=summary,
        spec=spec,
        returns=Many(record),
        declared_at=locate_declaration(),
        **particulars,
    )


PUBLISHERS_ALL = public_fact(
    "publishers.all",
    "All publishers are one page, as content categories are; the curated categories name them by "
    "user id.",
    "adjacent operations, section 9",
    gap=True,
)


def _make_countries() -> ListOf:
    return ListOf(
        Text(pattern=r"[A-Z]{2}", pattern_text="an ISO 3166-1 alpha-2 code such as US"),
        load_default=list,
    )


class PublisherRecord(Schema):
    """A publisher, with the countries in which their videos earn and may be promoted."""

    user_id = Text(required=True, pattern=r"[0-9]{1,19}", pattern_text="1 to 19 digits")
    username = Text(required=True)
    content_category_ids = ListOf(Text(), load_default=list)
    monetizable_country_codes = _make_countries()
    promotion_eligible_country_codes = _make_countries()
    monetization_restricted = Flag(load_default=False)


# Placements: which combinations a line item of each product type may have (document B). The
# path is `/12/line_items/placements`, and the document lists it with the accounts. It belongs
# to no account and no line item, so it has a module of its own, named after the path's last
# segment.

PLACEMENTS_SHAPE = public_fact(
    "placements.shape",
    "The answer has no cursor; each inner array is one combination of placements that may be set "
    "together.",
    "section 7, placements",
)
PLACEMENTS_ALL = expectation(
    "placements.product-type-optional",
    "Without product_type the placements of all product types are listed.",
)


class PlacementsList(Schema):
    """Parameters of the list of placements."""

    product_type = Choice(PRODUCT_TYPES)


def list_placements(call: Call, world: World) -> list[Record]:
    """Return the combinations of placements, by product type."""
    if "product_type" not in call.params:
        call.assume(PLACEMENTS_ALL)
    return [
        remove_internal_keys(entry.record) for entry in world.store.page("placements", call.params)
    ]


# Bidding rules: the bounds of bids in each currency.

BIDDING_RULES_ALL = public_fact(
    "bidding-rules.all",
    "Bidding rules are listed with data_type and total_count and without next_cursor. Without "
    "currency all are listed; a currency without a rule has none.",
    "adjacent operations, section 9",
    gap=True,
)


class BiddingRuleRecord(Schema):
    """The smallest and the largest bid in a currency, and the unit of all bids."""

    currency = Text(required=True, pattern=r"[A-Z]{3}", pattern_text="an ISO 4217 code such as USD")
    minimum_cpe_bid_local_micro = Integer(low=0, required=True)
    maximum_cpe_bid_local_micro = Integer(low=0, required=True)
    minimum_denomination = Integer(low=1, required=True)


class BiddingRulesList(Schema):
    """Parameters of the list of bidding rules."""

    currency = Text(pattern=r"[A-Z]{3}", pattern_text="an ISO 4217 code such as USD")


def list_bidding_rules(call: Call, world: World) -> dict[str, Any]:
    """Return all rules, or that of one currency, with their number."""
    entries = world.store.page("bidding_rules", call.params)
    rules = [entry.record for entry in entries]
    return {"data": rules, "total_count": len(rules)}


def _draw_rule(draft: Draft) -> Record:
    return {**draft.model(), "currency": draft.find_unused(sorted(list_currencies()))}


TABLES = (
    Table(
        "publishers",
        PublisherRecord,
        key="user_id",
        references=(Reference("content_category_ids", "content_categories"),),
    ),
    Table("bidding_rules", BiddingRuleRecord, key="currency", draw=_draw_rule),
)
OPERATIONS: tuple[Operation, ...] = (
    declare_whole_list(
        "publishers",
        PublisherRecord,
        "List all publishers",
        "not shown",
        origin=Origin.ADJACENT,
        assumptions=(PUBLISHERS_ALL,),
    ),
    ads(
        "placements.list",
        "GET",
        "/12/line_items/placements",
        list_placements,
        summary="List the valid combinations of placements",
        spec="Accounts",
        returns=Data(PlacementsRecord, many=True),
        params=PlacementsList,
        assumptions=(PLACEMENTS_SHAPE,),
        may_assume=(PLACEMENTS_ALL,),
    ),
    ads(
        "bidding_rules.list",
        "GET",
        "/12/bidding_rules",
        list_bidding_rules,
        summary="List bidding rules",
        spec="not shown",
        returns=Typed(BiddingRuleRecord, "bidding_rule", members=("data", "total_count")),
        params=BiddingRulesList,
        origin=Origin.ADJACENT,
        assumptions=(BIDDING_RULES_ALL,),
    ),
)
