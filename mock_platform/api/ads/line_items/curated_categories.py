"""Line item curated categories: which curated categories a line item runs within (document B)."""

from __future__ import annotations

from typing import Any

from mock_platform.api.ads.campaigns.records import LineItemCuratedCategoryRecord
from mock_platform.api.ads.conventions import One, ads, fail, not_found
from mock_platform.api.ads.resource import (
    TIMESTAMPS,
    Resource,
    apply_changes,
    draw_unused_id,
    make_timestamps,
)
from mock_platform.api.ads.user_rights import may_use_campaigns
from mock_platform.core.assumptions import settled
from mock_platform.core.call import Call
from mock_platform.core.example import Example
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
    gates=(may_use_campaigns,),
)


def create(call: Call, world: World) -> Record:
    """Link a line item to a curated category."""
    _check_link(call, world, call.params)
    record = {
        "id": draw_unused_id(world, LINKS.table),
        **call.params,
        **make_timestamps(world),
        "_account_id": call.path_params["account_id"],
    }
    world.store.put(LINKS.table, record["id"], record)
    return record


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
    line_item = world.store.get("line_items", line_item_id)
    mine = line_item is not None and line_item["_account_id"] == call.path_params["account_id"]
    if line_item is None or not mine or line_item["deleted"]:
        raise not_found("LINE_ITEM_NOT_FOUND", "line item", "line_item_id", line_item_id)
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


_MISSING = ("NOT_FOUND", "LINE_ITEM_NOT_FOUND")

OPERATIONS = (
    LINKS.list(sort=TIMESTAMPS),
    LINKS.get(),
    ads(
        "line_item_curated_categories.create",
        "POST",
        LINKS.path,
        create,
        summary="Link a line item to a curated category",
        spec=LINKS.spec,
        returns=One(LineItemCuratedCategoryRecord),
        params=LinkCreate,
        may_assume=(COUNTRIES,),
        errors=_MISSING,
        statuses=(404,),
        example=Example(
            query={
                "line_item_id": "iuc5v",
                "curated_category_id": "b0xt8tz3fx8g",
            }
        ),
        gates=(may_use_campaigns,),
    ),
    ads(
        "line_item_curated_categories.update",
        "PUT",
        f"{LINKS.path}/:line_item_curated_category_id",
        update,
        summary="Change the line item or the category of a link",
        spec=LINKS.spec,
        returns=One(LineItemCuratedCategoryRecord),
        params=LinkUpdate,
        assumptions=(UPDATE,),
        may_assume=(COUNTRIES,),
        errors=_MISSING,
        statuses=(404,),
        gates=(may_use_campaigns,),
    ),
    LINKS.delete(),
)
