"""Advertiser business categories, which line items for PREROLL_VIEWS name (document B)."""

from __future__ import annotations

from mock_platform.core.ads import Many, ads
from mock_platform.core.assumptions import expectation
from mock_platform.core.call import Call
from mock_platform.core.operation import Operation
from mock_platform.core.paging import NEXT_CURSOR, PageOf
from mock_platform.records.accounts import BusinessCategoryRecord
from mock_platform.world.world import World

FIELDS = expectation(
    "business-categories.fields",
    "A business category has the three fields that its section lists, and no timestamps.",
    "B, Advertiser business category",
)


def list_(call: Call, world: World) -> PageOf:
    """Return all business categories, in a single page."""
    return PageOf([entry.record for entry in world.store.page("advertiser_business_categories")])


OPERATIONS: tuple[Operation, ...] = (
    ads(
        "advertiser_business_categories.list",
        "GET",
        "/12/advertiser_business_categories",
        list_,
        summary="List all advertiser business categories",
        spec="Accounts",
        returns=Many(BusinessCategoryRecord),
        assumptions=(NEXT_CURSOR, FIELDS),
    ),
)
