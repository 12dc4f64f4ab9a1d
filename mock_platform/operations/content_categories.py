"""Content categories: groups of IAB categories under which publishers are offered."""

from __future__ import annotations

from mock_platform.core.ads import Many, ads
from mock_platform.core.assumptions import public_fact
from mock_platform.core.call import Call
from mock_platform.core.fields import Integer, ListOf, Text
from mock_platform.core.operation import Operation, Origin
from mock_platform.core.paging import PageOf
from mock_platform.core.schema import Schema
from mock_platform.records.table import Reference, Table
from mock_platform.world.world import World

ALL = public_fact(
    "content-categories.all",
    "All content categories are one page: next_cursor is null, and total_count is there unasked.",
    "adjacent operations, section 9",
    gap=True,
)


class ContentCategoryRecord(Schema):
    """A content category, with how much was published under it in the last thirty days."""

    id = Text(required=True)
    name = Text(required=True)
    iab_categories = ListOf(Text(), required=True, least=1)
    publishers_in_last_thirty_days = Integer(low=0, load_default=0)
    videos_monetized_in_last_thirty_days = Integer(low=0, load_default=0)


def list_(call: Call, world: World) -> PageOf:
    """Return all content categories."""
    found = [entry.record for entry in world.store.page("content_categories")]
    return PageOf(found, total_count=len(found))


TABLES = (
    Table(
        "content_categories",
        ContentCategoryRecord,
        references=(Reference("iab_categories", "iab_categories"),),
    ),
)
OPERATIONS: tuple[Operation, ...] = (
    ads(
        "content_categories.list",
        "GET",
        "/12/content_categories",
        list_,
        summary="List all content categories",
        spec="not shown",
        returns=Many(ContentCategoryRecord),
        origin=Origin.ADJACENT,
        assumptions=(ALL,),
    ),
)
