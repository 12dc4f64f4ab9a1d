"""Publishers: whose videos advertisements may be shown before."""

from __future__ import annotations

from mock_platform.core.ads import Many, ads
from mock_platform.core.assumptions import public_fact
from mock_platform.core.call import Call
from mock_platform.core.fields import Flag, ListOf, Text
from mock_platform.core.operation import Operation, Origin
from mock_platform.core.paging import PageOf
from mock_platform.core.schema import Schema
from mock_platform.records.table import Reference, Table
from mock_platform.world.world import World

ALL = public_fact(
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


def list_(call: Call, world: World) -> PageOf:
    """Return all publishers, in a single page."""
    return PageOf([entry.record for entry in world.store.page("publishers")])


TABLES = (
    Table(
        "publishers",
        PublisherRecord,
        key="user_id",
        references=(Reference("content_category_ids", "content_categories"),),
    ),
)
OPERATIONS: tuple[Operation, ...] = (
    ads(
        "publishers.list",
        "GET",
        "/12/publishers",
        list_,
        summary="List all publishers",
        spec="not shown",
        returns=Many(PublisherRecord),
        origin=Origin.ADJACENT,
        assumptions=(ALL,),
    ),
)
