"""Product catalogs and their products: early access, one catalog per user (document B).

Products are created and updated by a request, or by a feed that is read. Product sets, which also
belong to catalogs, are in `product_sets`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from marshmallow import fields

from mock_platform.api.ads.catalogs.records import (
    BASE,
    ECHO_ID,
    FIELDS,
    OWN_CATALOG,
    ProductCatalogRecord,
    ProductRecord,
    find_catalog,
    find_product_faults,
    leave_group,
    remove_product,
)
from mock_platform.api.ads.conventions import Data, Many, One, ads, early_access, fail
from mock_platform.api.ads.lists import NEXT_CURSOR, PageOf, paginate
from mock_platform.core.assumptions import Assumption, expectation, public_fact, settled
from mock_platform.core.call import Call
from mock_platform.core.fields import Anything, Integer, ListOf, Long, Text
from mock_platform.core.operation import Echo, Example, Location
from mock_platform.core.schema import Schema
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

SPEC = "Product catalogs (early access only)"
MAX_PRODUCTS = 25
GENERATED = ("product_key", "item_group_key")
"""Fields of a product that the service sets; on input they are ignored."""
OTHER_USER = expectation(
    "catalogs.user-id", "user_id may name the authenticated user only; another one is refused."
)
ONE_CATALOG_EACH = settled("catalogs.one-per-user", "A second catalog of a user answers 400.")
ITEM_GROUPS = settled(
    "products.item-groups",
    "item_group_id is required for a product that names several variants by itself, and for one "
    "that leaves a group in which others stay; lists without item_group_key show the first "
    "submitted member of a group.",
)
REPEATED_ID = settled(
    "products.repeated-id",
    "All instances of an id repeated within a request are left out and reported as ERROR.",
)
RESULT_MESSAGES = expectation(
    "products.messages",
    "Entries of warnings and errors are sentences; the spec shows the arrays only. A field that is "
    "not a product's is a warning.",
)
UPDATE_REPLACES = expectation(
    "products.update-replaces",
    "An update replaces the product: an optional field that is not sent is null afterwards, "
    "because all required ones are needed every time.",
)
NOT_FETCHED = expectation(
    "products.not-fetched",
    "Pages and images are never fetched: that a title matches its landing page, and that an image "
    "has 500x500 pixels and at most 5 MB, is not checked. Nor is the check digit of a gtin.",
)
DELETE_REPORT = public_fact(
    "products.delete-report",
    "A deleted key is reported under product_key, one that failed under failed_product_key with a "
    "message. The echo holds product_keys only.",
    "section 7, products",
)


class CatalogList(Schema):
    """Parameters of the list of catalogs."""

    user_id = Long(low=1)


class CatalogCreate(Schema):
    """Parameters of the creation of a catalog."""

    name = Text(required=True, min_length=1)
    user_id = Long(low=1)


class CatalogUpdate(Schema):
    """Parameters of the update of a catalog."""

    name = Text(required=True, min_length=1)


class ProductList(Schema):
    """Parameters of the product list."""

    item_group_key = Text(min_length=1)
    count = Integer(low=1, high=100, load_default=100)
    cursor = Text(min_length=1)


class ProductUpsert(Schema):
    """Up to 25 products; each one has a result of its own."""

    products = ListOf(
        Anything(
            keys=FIELDS,
            read_only=GENERATED,
            allow_none=True,  # reported as ERROR of its item, as everything that is not a product
            metadata={"description": "a product; unknown id creates, known id updates"},
        ),
        required=True,
        least=1,
        most=MAX_PRODUCTS,
    )


class ProductResult(Schema):
    """The result for one product of the upsert."""

    warnings = fields.List(fields.String(), required=True)
    errors = fields.List(fields.String(), required=True)
    product_key = Text(required=True, allow_none=True)
    id = Text(required=True, allow_none=True)
    status = Text(required=True)


class UpsertResult(Schema):
    """The result for each product, in the order sent."""

    products_response = fields.List(fields.Nested(ProductResult), required=True)


class ProductDelete(Schema):
    """Keys of the products to delete permanently."""

    product_keys = ListOf(Text(min_length=1), required=True, least=1)


class DeletedProduct(Schema):
    """The result for one key of the delete."""

    product_key = Text(required=True, allow_none=True)
    failed_product_key = Text(required=True, allow_none=True)
    message = Text(required=True, allow_none=True)


class DeleteResult(Schema):
    """The result for each key, in the order sent."""

    delete_products = fields.List(fields.Nested(DeletedProduct), required=True)


# -- catalogs -----------------------------------------------------------------------------------


def _require_own_user(call: Call) -> str:
    user = call.caller.user
    assert user is not None
    wanted = call.params.get("user_id")
    if wanted is not None and str(wanted) != user["id"]:
        call.assume(OTHER_USER)
        text = f"user_id {wanted} is not the authenticated user"
        raise fail("ACTION_NOT_ALLOWED", text, "user_id")
    return str(user["id"])


def list_(call: Call, world: World) -> PageOf:
    """Return the catalogs of the user: at most one."""
    found = world.store.page("product_catalogs", {"_user_id": _require_own_user(call)})
    return PageOf([entry.record for entry in found])


def create(call: Call, world: World) -> Record:
    """Create the one catalog of the user."""
    user_id = _require_own_user(call)
    if world.store.count("product_catalogs", {"_user_id": user_id}):
        call.assume(ONE_CATALOG_EACH)
        raise fail("INVALID_PARAMETER", "This user has a catalog already; there is one per user")
    record = {"id": world.ids.snowflake(), "name": call.params["name"], "_user_id": user_id}
    world.store.put("product_catalogs", record["id"], record)
    return record


def update(call: Call, world: World) -> Record:
    """Change the name of a catalog."""
    record = find_catalog(call, world) | {"name": call.params["name"]}
    world.store.put("product_catalogs", record["id"], record)
    return record


def delete(call: Call, world: World) -> Record:
    """Delete a catalog with its products, sets and feeds, permanently."""
    record = find_catalog(call, world)
    for feed in world.store.page("scheduled_feeds", {"product_catalog_id": record["id"]}):
        world.store.remove("scheduled_feeds", feed.key)
    for table, key in (("products", "product_key"), ("product_sets", "id")):
        for entry in world.store.page(table, {"_catalog_id": record["id"]}):
            world.store.remove(table, entry.record[key])
    world.store.remove("product_catalogs", record["id"])
    return record


# -- products -----------------------------------------------------------------------------------


def list_products(call: Call, world: World) -> PageOf:
    """Return products of a catalog: one of each group, or all of the requested group."""
    catalog = find_catalog(call, world)
    match: dict[str, Any] = {"_catalog_id": catalog["id"]}
    group = call.params.get("item_group_key")
    match |= {"_listed": True} if group is None else {"item_group_key": group}
    return paginate(call, world, "products", match)


def upsert(call: Call, world: World) -> dict[str, Any]:
    """Create or update products; return a result for each one."""
    catalog = find_catalog(call, world)
    return {
        "products_response": upsert_products(
            world, catalog["id"], call.params["products"], call.assume
        )
    }


def delete_products(call: Call, world: World) -> dict[str, Any]:
    """Delete products permanently; return a result for each key."""
    catalog = find_catalog(call, world)
    report = []
    for key in call.params["product_keys"]:
        product = world.store.get("products", key)
        if product is None or product["_catalog_id"] != catalog["id"]:
            text = f"This catalog has no product with the key {key}"
            report.append({"product_key": None, "failed_product_key": key, "message": text})
            continue
        remove_product(world, product)
        report.append({"product_key": key, "failed_product_key": None, "message": None})
    return {"delete_products": report}


# -- creating and updating products -------------------------------------------------------------


Assume = Callable[[Assumption], None]
"""Records an assumption that a result depends on."""


def upsert_products(
    world: World, catalog_id: str, sent: Sequence[Any], assume: Assume
) -> list[dict[str, Any]]:
    """Create or update products, of a request or of a feed; return a result for each, in order."""
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
        assume(REPEATED_ID)
        text = f"id {key!r} is repeated within this request; all its instances are ignored"
        return _make_result(known, key, "ERROR", errors=[text])
    errors = find_product_faults(sent)
    leaves = known is not None and known.get("item_group_id") and not sent.get("item_group_id")
    if known is not None and leaves and len(_find_members(world, known)) > 1:
        assume(ITEM_GROUPS)
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
    return world.store.first("products", match)


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


_declare = partial(ads, spec=SPEC, gates=(early_access,))
_declare_within = partial(
    ads, spec=SPEC, gates=(early_access,), errors=("NOT_FOUND",), statuses=(404,)
)
"""Operations within a catalog that may be missing."""
_ONE = f"{BASE}/:product_catalog_id"

OPERATIONS = (
    _declare(
        "product_catalogs.list",
        "GET",
        BASE,
        list_,
        summary="List the user's catalog",
        returns=Many(ProductCatalogRecord),
        params=CatalogList,
        assumptions=(NEXT_CURSOR,),
        may_assume=(OTHER_USER,),
    ),
    _declare(
        "product_catalogs.create",
        "POST",
        BASE,
        create,
        summary="Create the user's catalog",
        returns=One(ProductCatalogRecord),
        params=CatalogCreate,
        may_assume=(OTHER_USER, ONE_CATALOG_EACH),
        example=Example(
            query={"name": "Second shop"},
            is_refused=True,
            before=("DELETE", "/12/product_catalogs/1547080787865939968"),
        ),
    ),
    _declare_within(
        "product_catalogs.update",
        "PUT",
        _ONE,
        update,
        summary="Rename a catalog",
        returns=One(ProductCatalogRecord),
        params=CatalogUpdate,
        echo=OWN_CATALOG,
        assumptions=(ECHO_ID,),
    ),
    _declare_within(
        "product_catalogs.delete",
        "DELETE",
        _ONE,
        delete,
        summary="Delete a catalog and all that is in it",
        echo=OWN_CATALOG,
        returns=One(ProductCatalogRecord),
        assumptions=(ECHO_ID,),
    ),
    _declare_within(
        "product_catalogs.products.list",
        "GET",
        f"{_ONE}/products",
        list_products,
        summary="List products",
        returns=Many(ProductRecord),
        params=ProductList,
        assumptions=(NEXT_CURSOR, ITEM_GROUPS),
    ),
    _declare_within(
        "product_catalogs.products.upsert",
        "PUT",
        f"{_ONE}/products",
        upsert,
        summary="Create and update products",
        returns=Data(UpsertResult),
        params=ProductUpsert,
        location=Location.JSON,
        assumptions=(RESULT_MESSAGES, NOT_FETCHED, UPDATE_REPLACES),
        may_assume=(ITEM_GROUPS, REPEATED_ID),
        example=Example(
            json={
                "products": [
                    {
                        "id": merchant_id,
                        "title": title,
                        "description": "Ground for the filter",
                        "availability": "in stock",
                        "condition": "new",
                        "price": "18.00 USD",
                        "link": f"https://shop.example.com/{merchant_id}",
                        "image_link": f"https://shop.example.com/{merchant_id}.jpg",
                        "brand": "Harbor Roasters",
                    }
                    for merchant_id, title in (("HR-900", "Dock blend"), ("HR-901", "Pier blend"))
                ]
            }
        ),
    ),
    _declare_within(
        "product_catalogs.products.delete",
        "DELETE",
        f"{_ONE}/products",
        delete_products,
        summary="Delete products permanently",
        returns=Data(DeleteResult),
        params=ProductDelete,
        location=Location.JSON,
        echo=Echo(hidden=("product_catalog_id",)),
        assumptions=(DELETE_REPORT,),
        example=Example(json={"product_keys": ["1547080787865940084"]}),
    ),
)
