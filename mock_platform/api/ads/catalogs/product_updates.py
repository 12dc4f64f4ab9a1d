"""Creating and updating products: by a request, or by a feed that is read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mock_platform.api.ads.catalogs.records import FIELDS, find_product_faults, leave_group
from mock_platform.core.assumptions import Assumption, settled
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

GENERATED = ("product_key", "item_group_key")
"""Fields of a product that the service sets; on input they are ignored."""

GROUPS = settled(
    "products.item-groups",
    "item_group_id is required for a product that names several variants by itself, and for one "
    "that leaves a group in which others stay; lists without item_group_key show the first "
    "submitted member of a group.",
)
REPEATED = settled(
    "products.repeated-id",
    "All instances of an id repeated within a request are left out and reported as ERROR.",
)

Assume = Callable[[Assumption], None]
"""Records an assumption that a result depends on."""


def upsert_products(
    world: World, catalog_id: str, sent: Sequence[Any], assume: Assume
) -> list[dict[str, Any]]:
    """Create or update products of a catalog; return a result for each one, in the order sent."""
    ids = [product.get("id") for product in sent if isinstance(product, dict)]
    counts = Counter(key for key in ids if isinstance(key, str))
    repeated = {key for key, count in counts.items() if count > 1}
    return [_upsert_one(world, catalog_id, product, repeated, assume) for product in sent]


def _upsert_one(
    world: World, catalog_id: str, sent: Any, repeated: set[str], assume: Assume
) -> dict[str, Any]:
    if not isinstance(sent, dict):
        return _make_result(None, None, "ERROR", errors=["a product must be an object"])
    key = sent["id"] if isinstance(sent.get("id"), str) else None
    known = None if key is None else _find_by_merchant_id(world, catalog_id, key)
    if key in repeated:
        assume(REPEATED)
        text = f"id {key!r} is repeated within this request; all its instances are ignored"
        return _make_result(known, key, "ERROR", errors=[text])
    errors = find_product_faults(sent)
    leaves = known is not None and known.get("item_group_id") and not sent.get("item_group_id")
    if known is not None and leaves and len(_find_members(world, known)) > 1:
        assume(GROUPS)
        errors.append("item_group_id is required: this product has variants in its group")
    if errors:
        return _make_result(known, key, "ERROR", errors=errors)
    unknown = sorted(sent.keys() - set(FIELDS) - set(GENERATED))
    warnings = [f"{name!r} is no field of a product and was ignored" for name in unknown]
    status, record = _write(world, catalog_id, known, sent)
    return _make_result(record, record["id"], status, warnings=warnings)


def _write(
    world: World, catalog_id: str, known: Record | None, sent: Mapping[str, Any]
) -> tuple[str, Record]:
    content = {name: sent.get(name) for name in FIELDS}
    if known is not None and all(known.get(name) == value for name, value in content.items()):
        return "NO_CHANGE", known
    group = content["item_group_id"]
    if known is not None and known.get("item_group_id") == group:
        record = known | content
    else:
        if known is not None:
            leave_group(world, known)
        record = {
            **content,
            "product_key": world.ids.snowflake() if known is None else known["product_key"],
            **_join_group(world, catalog_id, group, known),
            "_catalog_id": catalog_id,
        }
    world.store.put("products", record["product_key"], record)
    return ("CREATE_SUCCESS" if known is None else "UPDATE_SUCCESS"), record


def _join_group(
    world: World, catalog_id: str, group: str | None, known: Record | None
) -> dict[str, Any]:
    if group is None:
        return {"item_group_key": None, "_listed": True}
    match = {"_catalog_id": catalog_id, "item_group_id": group}
    own = None if known is None else known["product_key"]
    others = [e.record for e in world.store.page("products", match, limit=2) if e.key != own]
    if others:
        return {"item_group_key": others[0]["item_group_key"], "_listed": False}
    return {"item_group_key": world.ids.snowflake(), "_listed": True}


def _find_members(world: World, product: Record) -> Sequence[Record]:
    match = {"_catalog_id": product["_catalog_id"], "item_group_id": product["item_group_id"]}
    return [entry.record for entry in world.store.page("products", match, limit=2)]


def _find_by_merchant_id(world: World, catalog_id: str, merchant_id: str) -> Record | None:
    match = {"_catalog_id": catalog_id, "id": merchant_id}
    found = world.store.page("products", match, limit=1)
    return found[0].record if found else None


def _make_result(
    record: Record | None,
    merchant_id: str | None,
    status: str,
    *,
    errors: Sequence[str] = (),
    warnings: Sequence[str] = (),
) -> dict[str, Any]:
    return {
        "warnings": list(warnings),
        "errors": list(errors),
        "product_key": None if record is None else record["product_key"],
        "id": merchant_id,
        "status": status,
    }
