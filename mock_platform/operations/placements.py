"""Placements: which combinations a line item of each product type may have (document B).

The path is `/12/line_items/placements`, and the document lists it with the accounts. It belongs to
no account and no line item, so it has a module of its own, named after the path's last segment.
"""

from __future__ import annotations

from mock_platform.core.ads import Data, ads
from mock_platform.core.assumptions import expectation, public_fact
from mock_platform.core.call import Call
from mock_platform.core.envelope import remove_internal_keys
from mock_platform.core.fields import Choice
from mock_platform.core.operation import Operation
from mock_platform.core.schema import Schema
from mock_platform.records.accounts import PRODUCT_TYPES, PlacementsRecord
from mock_platform.store.interface import Record
from mock_platform.world.world import World

SHAPE = public_fact(
    "placements.shape",
    "The answer has no cursor; each inner array is one combination of placements that may be set "
    "together.",
    "section 7, placements",
)
ALL = expectation(
    "placements.product-type-optional",
    "Without product_type the placements of all product types are listed.",
)


class PlacementsList(Schema):
    """Parameters of the list of placements."""

    product_type = Choice(PRODUCT_TYPES)


def list_(call: Call, world: World) -> list[Record]:
    """Return the combinations of placements, by product type."""
    if "product_type" not in call.params:
        call.assume(ALL)
    return [
        remove_internal_keys(entry.record) for entry in world.store.page("placements", call.params)
    ]


OPERATIONS: tuple[Operation, ...] = (
    ads(
        "placements.list",
        "GET",
        "/12/line_items/placements",
        list_,
        summary="List the valid combinations of placements",
        spec="Accounts",
        returns=Data(PlacementsRecord, many=True),
        params=PlacementsList,
        assumptions=(SHAPE,),
        may_assume=(ALL,),
    ),
)
