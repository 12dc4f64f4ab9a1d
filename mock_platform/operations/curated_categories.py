"""Curated categories: sets of publishers, each available in some countries (document B)."""

from __future__ import annotations

from msgspec.structs import replace

from mock_platform.core.ads import Many, ads
from mock_platform.core.assumptions import expectation, public_fact, settled
from mock_platform.core.call import Call
from mock_platform.core.fields import CommaList, CountryCode
from mock_platform.core.operation import Echo, Operation
from mock_platform.core.paging import (
    NEXT_CURSOR,
    TOTAL_COUNT_LIMIT,
    PageOf,
    list_parameters,
    paginate,
)
from mock_platform.core.resource import Resource
from mock_platform.records.accounts import CuratedCategoryRecord
from mock_platform.store.interface import Record
from mock_platform.world.world import World

TOTAL = public_fact(
    "curated-categories.total-count",
    "The list always has total_count, of all that the filter leaves.",
    "section 3, total_count",
)
COUNTRIES = settled(
    "curated-categories.country-codes",
    "country_codes is optional; a category is listed if it is available in one of the countries.",
)
ECHO_ID = public_fact(
    "curated-categories.echo-id",
    "A read of one category echoes its key as id, as catalogs do.",
    "section 3, echo quirks",
)
FIELDS = expectation(
    "curated-categories.fields",
    "A curated category has the fields that its section lists, so none is ever deleted; all "
    "accounts share them, whatever their country.",
    "B, Curated category",
)

CURATED_CATEGORIES = Resource(
    name="curated_categories",
    table="curated_categories",
    path="/12/accounts/:account_id/curated_categories",
    id_parameter="curated_category_id",
    schema=CuratedCategoryRecord,
    noun="curated category",
    spec="Accounts",
    owner=None,
    soft=False,
)


def list_(call: Call, world: World) -> PageOf:
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


OPERATIONS: tuple[Operation, ...] = (
    ads(
        "curated_categories.list",
        "GET",
        CURATED_CATEGORIES.path,
        list_,
        summary="List curated categories",
        spec=CURATED_CATEGORIES.spec,
        returns=Many(CuratedCategoryRecord),
        params=list_parameters(
            "CuratedCategoriesList",
            {"country_codes": CommaList(CountryCode())},
            sort=("created_at", "updated_at", "name"),
        ),
        limits=(TOTAL_COUNT_LIMIT,),
        assumptions=(NEXT_CURSOR, TOTAL, COUNTRIES, FIELDS),
    ),
    CURATED_CATEGORIES.get(
        with_deleted=False,
        echo=Echo(names={CURATED_CATEGORIES.id_parameter: "id"}),
        assumptions=(FIELDS, ECHO_ID),
    ),
)
