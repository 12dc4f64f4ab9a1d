"""Product sets of a catalog: chosen by hand or by filters (document B, "Product set").

The path begins with /product_catalogs; the first segment of their own is product_sets.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from functools import partial
from typing import Any, ClassVar

from marshmallow import EXCLUDE, ValidationError, validates_schema

from mock_platform.api.ads.catalogs.records import (
    BASE,
    ECHO_ID,
    EQUAL_TO,
    ORDER_ATTRIBUTES,
    SET_TYPES,
    ProductSetRecord,
    SetFilter,
    find_catalog,
    find_filter_fault,
    parse_price,
)
from mock_platform.api.ads.conventions import One, ads, early_access, fail, not_found
from mock_platform.core.assumptions import public_fact, settled
from mock_platform.core.call import Call
from mock_platform.core.description.schemas import either, form
from mock_platform.core.faults import INVALID, Fault, exclusive, missing
from mock_platform.core.fields import Choice, ListOf, Nested, Text
from mock_platform.core.operation import Echo, Example, Location, Origin
from mock_platform.core.schema import Schema
from mock_platform.world.store.interface import Record
from mock_platform.world.transitions import Pace, TransitionKind
from mock_platform.world.world import World

SPEC = "Product catalogs: product sets"

FILTERS_JOINED = settled(
    "product-sets.filters",
    "Filters are joined by AND; order operators compare price, sale_price (same currency only) and "
    "inventory, text operators the other attributes without case: MATCH whole words, CONTAINS and "
    "NOT_CONTAINS substrings. EQUAL_TO compares the whole value of any attribute, texts with case. "
    "Neither filters nor product_keys may be empty.",
)
DONE_AT_ONCE = public_fact(
    "product-sets.done-at-once",
    "A FILTERED set is DONE at once, as in the public sample; the transition product_set makes it "
    "PROCESSING first. Until it is DONE it holds no products.",
    "section 7, product sets",
)
UPDATE_KEYS = public_fact(
    "product-sets.update-product-keys",
    "The update takes product_keys as well; its parameters after description are not shown.",
    "section 7, product sets",
    gap=True,
)
DELETE_SERVED = public_fact(
    "product-sets.delete",
    "DELETE of a product set: permanent, answers with the set; the spec does not show it.",
    "section 7, product sets",
    gap=True,
)
FILTERED_UPDATE = settled(
    "product-sets.filtered-update", "Updating a FILTERED set answers 400 INVALID_PARAMETER."
)
FILTERS_OR_KEYS = settled(
    "product-sets.either-filters-or-keys",
    "filters do not go with MANUAL, nor product_keys with FILTERED.",
)

PRODUCT_SET = TransitionKind(
    "product_set",
    "product_sets",
    "processing_status",
    "PROCESSING",
    ("DONE", "FAILED"),
    Pace("immediate"),
)
KINDS = (PRODUCT_SET,)


class CreateSet(Schema):
    """The body of the creation."""

    json_conditions: ClassVar[dict[str, Any]] = either(
        form("type", "MANUAL", needed=("product_keys",), foreign=("filters",)),
        form("type", "FILTERED", needed=("filters",), foreign=("product_keys",)),
    )
    name = Text(required=True, min_length=1)
    type = Choice(SET_TYPES, required=True)
    description = Text(allow_none=True)
    # Keys that a filter does not have are ignored, as all unknown keys of a body are.
    filters = ListOf(Nested(SetFilter, unknown=EXCLUDE), least=1)
    product_keys = ListOf(Text(min_length=1), least=1)

    @validates_schema(skip_on_field_errors=False, pass_original=True)
    def check_content(self, data: Mapping[str, Any], sent: Mapping[str, Any], **_: Any) -> None:
        """Require product_keys for a MANUAL set, valid filters for a FILTERED one."""
        faults: dict[str, list[Any]] = {}
        wanted, other = ("filters", "product_keys")
        if data.get("type") == "MANUAL":
            wanted, other = other, wanted
        if data.get("type") in SET_TYPES:
            if sent.get(wanted) is None:
                faults[wanted] = [missing(wanted, f"for a {data['type']} product set")]
            if sent.get(other) is not None:
                faults[other] = [exclusive(wanted, other)]
        for index, item in enumerate(data.get("filters") or ()):
            unfit = find_filter_fault(item)
            if unfit:
                faults.setdefault(f"filters[{index}]", []).append(Fault(unfit, INVALID))
        if faults:
            raise ValidationError(faults)


class UpdateSet(Schema):
    """The body of the update."""

    name = Text(min_length=1)
    description = Text(allow_none=True)
    product_keys = ListOf(Text(min_length=1), least=1)


# -- selecting ----------------------------------------------------------------------------------

_WORD = re.compile(r"\w+")
_COMPARE: Mapping[str, Callable[[Any, Any], bool]] = {
    "GREATER_THAN": lambda have, want: have > want,
    "EQUAL_TO": lambda have, want: have == want,
    "LESS_THAN": lambda have, want: have < want,
}


def selects(item: Mapping[str, Any], product: Record) -> bool:
    """Return whether a product passes one filter; without the attribute it passes NOT_CONTAINS."""
    attribute, operator, value = item["attribute"], item["operator"], item["value"]
    have = product.get(attribute)
    if attribute == "inventory":
        return have is not None and _COMPARE[operator](Decimal(have), Decimal(str(value)))
    if attribute in ORDER_ATTRIBUTES:
        if have is None:
            return False
        (amount, currency), (wanted, wanted_currency) = parse_price(have), parse_price(value)
        return currency == wanted_currency and _COMPARE[operator](amount, wanted)
    if operator == EQUAL_TO:
        return bool(have == value)
    text, sought = (have or "").casefold(), str(value).casefold()
    if operator == "MATCH":
        words = _WORD.findall(sought)
        return bool(words) and _contains_words(_WORD.findall(text), words)
    return (sought in text) is (operator == "CONTAINS")


def _contains_words(words: Sequence[str], sought: Sequence[str]) -> bool:
    """Return whether the sought words occur one after the other."""
    width = len(sought)
    return any(list(words[i : i + width]) == list(sought) for i in range(len(words) - width + 1))


def _show_set(world: World, record: Record) -> Record:
    """Return the set with the products that it contains now."""
    match = {"_catalog_id": record["_catalog_id"]}
    products = [entry.record for entry in world.store.page("products", match)]
    if record["type"] == "MANUAL":
        there = {product["id"] for product in products}
        return record | {"product_ids": [i for i in record["product_ids"] if i in there]}
    if record["processing_status"] != "DONE":
        return record | {"product_ids": []}
    chosen = [p["id"] for p in products if all(selects(item, p) for item in record["filters"])]
    return record | {"product_ids": chosen}


# -- handlers -----------------------------------------------------------------------------------


def _find(call: Call, world: World) -> Record:
    catalog = find_catalog(call, world)
    key = call.path_params["product_set_id"]
    world.transitions.evaluate("product_set", key, poll=True)
    record = world.store.get("product_sets", key)
    if record is None or record["_catalog_id"] != catalog["id"]:
        raise not_found("NOT_FOUND", "product set", "product_set_id", key)
    return record


def _find_merchant_ids(call: Call, world: World, catalog_id: str) -> list[str]:
    """Return the merchant ids of the product keys that were sent.

    Raises:
        AdsFailure: 404 NOT_FOUND; a key is not one of the catalog.
    """
    found = []
    for key in call.params["product_keys"]:
        product = world.store.get("products", key)
        if product is None or product["_catalog_id"] != catalog_id:
            raise not_found("NOT_FOUND", "product of this catalog", "product_keys", key)
        found.append(product["id"])
    return list(dict.fromkeys(found))


def get(call: Call, world: World) -> Record:
    """Return one product set with its products."""
    return _show_set(world, _find(call, world))


def create(call: Call, world: World) -> Record:
    """Create a set; a FILTERED one is processed."""
    catalog = find_catalog(call, world)
    filtered = call.params["type"] == "FILTERED"
    key = world.ids.snowflake()
    record = {
        "id": key,
        "name": call.params["name"],
        "description": call.params.get("description"),
        "type": call.params["type"],
        "filters": call.params.get("filters", []),
        "product_ids": [] if filtered else _find_merchant_ids(call, world, catalog["id"]),
        "processing_status": "PROCESSING" if filtered else "DONE",
        "_catalog_id": catalog["id"],
    }
    world.store.put("product_sets", key, record)
    if filtered:
        call.assume(DONE_AT_ONCE, FILTERS_JOINED)
        world.transitions.begin("product_set", key)
    return _show_set(world, world.store.get("product_sets", key) or record)


def update(call: Call, world: World) -> Record:
    """Change a MANUAL set; a FILTERED one is refused."""
    record = _find(call, world)
    if record["type"] == "FILTERED":
        call.assume(FILTERED_UPDATE)
        raise fail("INVALID_PARAMETER", "Updating FILTERED product sets is unsupported")
    changes: dict[str, Any] = {
        name: call.params[name] for name in ("name", "description") if name in call.params
    }
    if "product_keys" in call.params:
        call.assume(UPDATE_KEYS)
        changes["product_ids"] = _find_merchant_ids(call, world, record["_catalog_id"])
    after = record | changes
    world.store.put("product_sets", record["id"], after)
    return _show_set(world, after)


def delete(call: Call, world: World) -> Record:
    """Delete a set permanently; return it once more."""
    record = _show_set(world, _find(call, world))
    world.store.remove("product_sets", record["id"])
    return record


_SETS = f"{BASE}/:product_catalog_id/product_sets"
_OWN = Echo(names={"product_set_id": "id"})
_declare = partial(
    ads,
    spec=SPEC,
    gates=(early_access,),
    returns=One(ProductSetRecord),
    errors=("NOT_FOUND",),
    statuses=(404,),
)

OPERATIONS = (
    _declare(
        "product_sets.get",
        "GET",
        f"{_SETS}/:product_set_id",
        get,
        summary="Read one product set",
        echo=_OWN,
        assumptions=(ECHO_ID, FILTERS_JOINED),
    ),
    _declare(
        "product_sets.create",
        "POST",
        _SETS,
        create,
        summary="Create a product set",
        params=CreateSet,
        location=Location.JSON,
        echo=Echo(),
        may_assume=(FILTERS_JOINED, DONE_AT_ONCE, FILTERS_OR_KEYS),
        example=Example(
            json={
                "type": "MANUAL",
                "name": "Gifts",
                "product_keys": ["1547080787865940084"],
            }
        ),
    ),
    _declare(
        "product_sets.update",
        "PUT",
        f"{_SETS}/:product_set_id",
        update,
        summary="Change a MANUAL product set",
        params=UpdateSet,
        location=Location.JSON,
        echo=_OWN,
        assumptions=(ECHO_ID,),
        may_assume=(UPDATE_KEYS, FILTERED_UPDATE),
        example=Example(json={"name": "Gifts"}),
    ),
    _declare(
        "product_sets.delete",
        "DELETE",
        f"{_SETS}/:product_set_id",
        delete,
        summary="Delete a product set permanently",
        origin=Origin.PUBLIC_FACT,
        echo=_OWN,
        assumptions=(DELETE_SERVED, ECHO_ID),
    ),
)
