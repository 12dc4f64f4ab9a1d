"""Line item curated categories: which curated categories a line item runs within (document B)."""

from __future__ import annotations

from typing import Any

from mock_platform.api.ads.campaigns.line_item_parts import find_line_item
from mock_platform.api.ads.campaigns.records import LineItemCuratedCategoryRecord
from mock_platform.api.ads.conventions import fail, not_found
from mock_platform.api.ads.resource import Resource, apply_changes
from mock_platform.core.assumptions import settled
from mock_platform.core.call import Call
from mock_platform.core.fields import Text
from mock_platform.core.schema import Schema
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

COUNTRIES = settled(
    "curated-categories.countries",
    "A category can be linked only if it is available in a country that the line item targets; a "
    "line item without location targeting aims everywhere.",
    "B, Curated category",
)
UPDATE = settled(
    "line-item-curated-categories.update",
    "Both parameters of the update are optional; with neither nothing changes.",
)


class LinkCreate(Schema):
    """Parameters of the creation of a link."""

    line_item_id = Text(required=True, min_length=1)
    curated_category_id = Text(required=True, min_length=1)


class LinkUpdate(Schema):
    """Parameters of the update of a link."""

    line_item_id = Text(min_length=1)
    curated_category_id = Text(min_length=1)


LINKS = Resource(
    name="line_item_curated_categories",
    table="line_item_curated_categories",
    path="/12/accounts/:account_id/line_item_curated_categories",
    id_parameter="line_item_curated_category_id",
    schema=LineItemCuratedCategoryRecord,
    noun="line item curated category",
    spec="Line item curated categories",
)


def create(call: Call, world: World) -> Record:
    """Link a line item to a curated category."""
    _check_link(call, world, call.params)
    return LINKS.add(call, world, call.params)


def update(call: Call, world: World) -> Record:
    """Change the line item or the category of a link."""
    record = LINKS.get_by_id(call, world)
    after = record | call.params
    if after == record:
        return record
    _check_link(call, world, after)
    after = apply_changes(world, record, call.params)
    world.store.put(LINKS.table, record["id"], after)
    return after


def _check_link(call: Call, world: World, link: dict[str, Any]) -> None:
    """Require that both records exist, and that the category is available where it is needed.

    Raises:
        AdsFailure: LINE_ITEM_NOT_FOUND, NOT_FOUND, or INVALID_PARAMETER if the line item targets
            none of the category's countries.
    """
    line_item_id, category_id = link["line_item_id"], link["curated_category_id"]
    find_line_item(call, world, line_item_id)
    category = world.store.get("curated_categories", category_id)
    if category is None:
        raise not_found("NOT_FOUND", "curated category", "curated_category_id", category_id)
    targeted = _find_targeted_countries(world, line_item_id)
    available = category["country_codes"]
    if targeted and not targeted & set(available):
        call.assume(COUNTRIES)
        raise fail(
            "INVALID_PARAMETER",
            f"Curated category {category_id} is available in {', '.join(available)} only; the line "
            f"item targets {', '.join(sorted(targeted))}",
            "curated_category_id",
        )


def _find_targeted_countries(world: World, line_item_id: str) -> set[str]:
    criteria = world.store.page(
        "targeting_criteria",
        {"line_item_id": line_item_id, "targeting_type": "LOCATION", "deleted": False},
    )
    return {
        entry.record["_country_code"]
        for entry in criteria
        if entry.record["operator_type"] == "EQ" and entry.record["_country_code"]
    }


OPERATIONS = (
    LINKS.list(),
    LINKS.get(),
    LINKS.create(
        create,
        LinkCreate,
        "Link a line item to a curated category",
        may_assume=(COUNTRIES,),
        errors=("NOT_FOUND", "LINE_ITEM_NOT_FOUND"),
        statuses=(404,),
    ),
    LINKS.update(
        update,
        LinkUpdate,
        "Change the line item or the category of a link",
        assumptions=(UPDATE,),
        may_assume=(COUNTRIES,),
        errors=("LINE_ITEM_NOT_FOUND",),
    ),
    LINKS.delete(),
)
