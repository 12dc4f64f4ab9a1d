"""Categories of accounts and publishers: of the IAB, of content, of businesses, curated ones."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from msgspec.structs import replace

from mock_platform.api.ads.accounts.inventory import declare_whole_list
from mock_platform.api.ads.accounts.records import BusinessCategoryRecord, CuratedCategoryRecord
from mock_platform.api.ads.conventions import Many, ads
from mock_platform.api.ads.lists import (
    NEXT_CURSOR,
    TOTAL_COUNT_LIMIT,
    PageOf,
    list_parameters,
    paginate,
)
from mock_platform.api.ads.resource import Resource
from mock_platform.core.assumptions import expectation, public_fact, settled
from mock_platform.core.call import Call
from mock_platform.core.failures.errors import AdsError, AdsFailure
from mock_platform.core.faults import INVALID, MISSING
from mock_platform.core.fields import CommaList, CountryCode, Integer, ListOf, Text
from mock_platform.core.operation import Echo, Operation, Origin
from mock_platform.core.schema import Schema
from mock_platform.core.tables.table import Reference, Table
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

IAB_CATEGORIES_ALL = public_fact(
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
    path="/12/iab_categories",
    id_parameter="iab_category_id",
    schema=IabCategoryRecord,
    noun="IAB category",
    spec="not shown",
    owner=None,
    soft=False,
)


# Content categories: groups of IAB categories under which publishers are offered.

CONTENT_CATEGORIES_ALL = public_fact(
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


# Advertiser business categories, which line items for PREROLL_VIEWS name (document B).

ADVERTISER_BUSINESS_CATEGORIES_FIELDS = expectation(
    "business-categories.fields",
    "A business category has the three fields that its section lists, and no timestamps.",
    "B, Advertiser business category",
)


# The business categories that line items name: by IAB codes, or by ids.

LINE_ITEMS_CATEGORIES = settled(
    "line-items.categories",
    "categories takes IAB codes or business category ids; for PREROLL_VIEWS they must name one or "
    "two business categories; unknown ones answer 404 INVALID_IAB_CATEGORY.",
)
_IAB = re.compile(r"IAB\d{1,2}(?:-\d{1,2})?", re.ASCII)


def require_known_categories(call: Call, world: World, categories: Sequence[str]) -> None:
    """Require that each value names a category.

    Raises:
        AdsFailure: INVALID_IAB_CATEGORY (404), one for each unknown value.
    """
    call.assume(LINE_ITEMS_CATEGORIES)
    _, unknown = _find_businesses(world, categories)
    if unknown:
        raise AdsFailure(
            *(
                AdsError(
                    "INVALID_IAB_CATEGORY",
                    f"{category!r} is no known IAB category or business category"
                    + ("" if _IAB.fullmatch(category) else "; IAB codes look like IAB8 or IAB8-18"),
                    "categories",
                )
                for category in unknown
            )
        )


def check_preroll_categories(world: World, categories: Sequence[str]) -> list[AdsError]:
    """Return what is wrong with the categories of a line item with objective PREROLL_VIEWS.

    They must name one or two business categories ("Advertiser business category").
    """
    named, _ = _find_businesses(world, categories)
    if 1 <= len(named) <= 2:
        return []
    text = (
        "one or two business categories must be set for the objective PREROLL_VIEWS; "
        f"categories names {len(named)}"
    )
    return [AdsError(INVALID if categories else MISSING, text, "categories")]


def _find_businesses(world: World, categories: Sequence[str]) -> tuple[set[str], list[str]]:
    """Return the ids of the business categories that codes or ids name, and unknown names.

    The code of an IAB category is known even if no business category has it.
    """
    named, unknown = set(), []
    entries = world.store.page("advertiser_business_categories")
    for category in categories:
        hits = {
            entry.key
            for entry in entries
            if entry.key == category or category in entry.record["iab_categories"]
        }
        named |= hits
        if not hits and world.store.get("iab_categories", category) is None:
            unknown.append(category)
    return named, unknown


# Curated categories: sets of publishers, each available in some countries (document B).

CURATED_CATEGORIES_TOTAL_COUNT = public_fact(
    "curated-categories.total-count",
    "The list always has total_count, of all that the filter leaves.",
    "section 3, total_count",
)
CURATED_CATEGORIES_COUNTRY_CODES = settled(
    "curated-categories.country-codes",
    "country_codes is optional; a category is listed if it is available in one of the countries.",
)
ECHO_ID = public_fact(
    "curated-categories.echo-id",
    "A read of one category echoes its key as id, as catalogs do.",
    "section 3, echo quirks",
)
CURATED_CATEGORIES_FIELDS = expectation(
    "curated-categories.fields",
    "A curated category has the fields that its section lists, so none is ever deleted; all "
    "accounts share them, whatever their country.",
    "B, Curated category",
)

CURATED_CATEGORIES = Resource(
    name="curated_categories",
    path="/12/accounts/:account_id/curated_categories",
    schema=CuratedCategoryRecord,
    noun="curated category",
    spec="Accounts",
    owner=None,
    soft=False,
)


def list_curated_categories(call: Call, world: World) -> PageOf:
    """Return one page of the categories that are available in one of the countries."""
    wanted = frozenset(call.params.get("country_codes", ()))

    def is_available(category: Record) -> bool:
        return not wanted.isdisjoint(category["country_codes"])

    table = CURATED_CATEGORIES.table
    if not wanted:
        page = paginate(call, world, table, {})
        return replace(page, total_count=world.store.count(table))
    page = paginate(call, world, table, {}, where=is_available)
    return replace(page, total_count=len(world.store.page(table, where=is_available)))


@cache
def _list_codes() -> list[str]:
    return [f"IAB{whole}-{part}" for whole in range(1, 27) for part in range(1, 100)]


TABLES = (
    Table(
        "iab_categories",
        IabCategoryRecord,
        references=(Reference("parent_id", "iab_categories"),),
        draw=lambda draft: {"id": draft.find_unused(_list_codes()), "name": draft.title()},
    ),
    Table(
        "content_categories",
        ContentCategoryRecord,
        references=(Reference("iab_categories", "iab_categories"),),
    ),
)
OPERATIONS: tuple[Operation, ...] = (
    IAB_CATEGORIES.list(
        summary="List IAB categories",
        sort=(),
        with_deleted=False,
        origin=Origin.ADJACENT,
        assumptions=(IAB_CATEGORIES_ALL,),
    ),
    declare_whole_list(
        "content_categories",
        ContentCategoryRecord,
        "List all content categories",
        "not shown",
        total=True,
        origin=Origin.ADJACENT,
        assumptions=(CONTENT_CATEGORIES_ALL,),
    ),
    declare_whole_list(
        "advertiser_business_categories",
        BusinessCategoryRecord,
        "List all advertiser business categories",
        "Accounts",
        assumptions=(NEXT_CURSOR, ADVERTISER_BUSINESS_CATEGORIES_FIELDS),
    ),
    ads(
        "curated_categories.list",
        "GET",
        CURATED_CATEGORIES.path,
        list_curated_categories,
        summary="List curated categories",
        spec=CURATED_CATEGORIES.spec,
        returns=Many(CuratedCategoryRecord),
        params=list_parameters(
            "CuratedCategoriesList",
            {"country_codes": CommaList(CountryCode())},
            sort=("created_at", "updated_at", "name"),
        ),
        limits=(TOTAL_COUNT_LIMIT,),
        assumptions=(
            NEXT_CURSOR,
            CURATED_CATEGORIES_TOTAL_COUNT,
            CURATED_CATEGORIES_COUNTRY_CODES,
            CURATED_CATEGORIES_FIELDS,
        ),
    ),
    CURATED_CATEGORIES.get(
        with_deleted=False,
        echo=Echo(names={CURATED_CATEGORIES.id_parameter: "id"}),
        assumptions=(CURATED_CATEGORIES_FIELDS, ECHO_ID),
    ),
)
