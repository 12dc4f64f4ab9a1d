"""The content categories of the Interactive Advertising Bureau, which line items name."""

from __future__ import annotations

from mock_platform.core.assumptions import public_fact
from mock_platform.core.fields import Text
from mock_platform.core.operation import Origin
from mock_platform.core.resource import Resource
from mock_platform.core.schema import Schema
from mock_platform.records.table import Reference, Table

ALL = public_fact(
    "iab-categories.all",
    "IAB categories are listed with their parent, null at the top. The sandbox has all of the "
    "first tier and some of the second.",
    "adjacent operations, section 9",
    gap=True,
)


class IabCategoryRecord(Schema):
    """A category and its parent."""

    id = Text(
        required=True,
        pattern=r"IAB[0-9]{1,2}(?:-[0-9]{1,2})?",
        pattern_text="an IAB code such as IAB8 or IAB8-5",
    )
    parent_id = Text(load_default=None, allow_none=True)
    name = Text(required=True)


IAB_CATEGORIES = Resource(
    name="iab_categories",
    table="iab_categories",
    path="/12/iab_categories",
    id_parameter="iab_category_id",
    schema=IabCategoryRecord,
    noun="IAB category",
    spec="not shown",
    owner=None,
    soft=False,
)
TABLES = (
    Table(
        "iab_categories", IabCategoryRecord, references=(Reference("parent_id", "iab_categories"),)
    ),
)
OPERATIONS = (
    IAB_CATEGORIES.list(
        summary="List IAB categories",
        sort=(),
        with_deleted=False,
        origin=Origin.ADJACENT,
        assumptions=(ALL,),
    ),
)
