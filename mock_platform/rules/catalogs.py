"""What catalogs, products and product sets share (document B, "Product catalogs")."""

from __future__ import annotations

from mock_platform.core.ads import not_found
from mock_platform.core.assumptions import public_fact
from mock_platform.core.call import Call
from mock_platform.core.operation import Echo
from mock_platform.store.interface import Record
from mock_platform.world.world import World

BASE = "/12/product_catalogs"

ECHO_ID = public_fact(
    "catalogs.echo-id",
    "The path parameter of the record itself is echoed as id, that of its parent by its own name.",
    "section 3, path params in echo",
)
OWN_CATALOG = Echo(names={"product_catalog_id": "id"})
"""The echo of an operation on a catalog itself."""


def find_catalog(call: Call, world: World) -> Record:
    """Return the catalog in the path, if it is the user's.

    Raises:
        AdsFailure: 404 NOT_FOUND.
    """
    key = call.path_params["product_catalog_id"]
    catalog = world.store.get("product_catalogs", key)
    user = call.caller.user
    if catalog is None or user is None or catalog["_user_id"] != user["id"]:
        raise not_found("NOT_FOUND", "product catalog", "product_catalog_id", key)
    return catalog


def remove_product(world: World, product: Record) -> None:
    """Delete a product permanently; the next member of its group is listed in its place."""
    world.store.remove("products", product["product_key"])
    _promote(world, product)


def leave_group(world: World, product: Record) -> None:
    """Remove a product from its group, which stays listed through another member."""
    world.store.put("products", product["product_key"], product | {"item_group_id": None})
    _promote(world, product)


def _promote(world: World, product: Record) -> None:
    group = product.get("item_group_id")
    if group is None or not product["_listed"]:
        return
    match = {"_catalog_id": product["_catalog_id"], "item_group_id": group}
    following = world.store.page("products", match, limit=1)
    if following:
        successor = following[0].record
        world.store.put("products", successor["product_key"], successor | {"_listed": True})
