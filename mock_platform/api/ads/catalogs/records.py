"""Product catalogs, products and product sets (document B, "Product catalog" to "Product set").

The rules of the product table are here because both fixtures and uploads must follow them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Unpack
from urllib.parse import SplitResult, urlsplit

from marshmallow import EXCLUDE, ValidationError

from mock_platform.api.ads.conventions import not_found
from mock_platform.core.assumptions import public_fact
from mock_platform.core.call import Call
from mock_platform.core.codes import list_currencies
from mock_platform.core.faults import expected, flatten, invalid, missing
from mock_platform.core.fields import Choice, Flag, Integer, ListOf, Nested, Text, TextOptions
from mock_platform.core.operation import Echo
from mock_platform.core.schema import Schema
from mock_platform.core.tables.table import Reference, Table
from mock_platform.world.clock import parse_instant
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

if TYPE_CHECKING:
    from mock_platform.core.tables.drawing import Draft

AVAILABILITIES = ("in stock", "available for order", "preorder", "out of stock", "discontinued")
CONDITIONS = ("new", "used", "refurbished")
GENDERS = ("female", "male", "unisex")
AGE_GROUPS = ("adult", "all ages", "teen", "kids", "toddler", "infant", "newborn")
VARIANTS = ("size", "color", "age_group", "gender")
IDENTIFIERS = ("brand", "gtin", "mpn")
LABELS = tuple(f"custom_label_{number}" for number in range(5))
SET_TYPES = ("MANUAL", "FILTERED")
STATUSES = ("DONE", "PROCESSING", "FAILED")
EQUAL_TO = "EQUAL_TO"
ORDER_OPERATORS = ("GREATER_THAN", EQUAL_TO, "LESS_THAN")
TEXT_OPERATORS = ("MATCH", "NOT_CONTAINS", "CONTAINS")
ORDER_ATTRIBUTES = ("price", "sale_price", "inventory")
TEXT_ATTRIBUTES = ("product_type", "google_product_category", *LABELS)
MAX_ADDITIONAL_IMAGES = 10
IMAGE_ENDINGS = (".jpg", ".jpeg", ".gif", ".webp", ".png")

_PRICE = re.compile(r"([0-9]+(?:\.[0-9]+)?) ([A-Z]{3})", re.ASCII)
_GTIN = re.compile(r"[0-9]{8}|[0-9]{12,13}|[0-9]{9}[0-9Xx]", re.ASCII)
"""EAN and JAN have 8 or 13 digits, UPC 12, ISBN 13 or 10 of which the last may be an X."""
_HEX_COLOR = re.compile(r"#[0-9a-f]{3,8}|0x[0-9a-f]+|[0-9a-f]{6}", re.IGNORECASE)
"""No name of a color has six letters up to F and no others."""
_BLANK = re.compile(r"[\s\x00-\x1f\x7f]")
_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?", re.ASCII)
_TAG = re.compile(r"</?[A-Za-z][^>]*>")
_OFFSET = re.compile(r"(?:Z|[+-][0-9]{2}:?[0-9]{2})$", re.ASCII)


def parse_price(text: str) -> tuple[Decimal, str]:
    """Return amount and currency of a price: number, one space, ISO 4217 code.

    Raises:
        ValueError: It has another form, or the currency does not exist.
    """
    found = _PRICE.fullmatch(text)
    if found is None:
        raise ValueError(
            "a number with a dot as decimal point, one space and an ISO 4217 code such as 20.00 USD"
        )
    if found[2] not in list_currencies():
        raise ValueError(f"an ISO 4217 code, which {found[2]} is not")
    return Decimal(found[1]), found[2]


class RuledText(Text):
    """A text with one more rule, a function: what it expected instead, or `None` if it accepts."""

    def __init__(self, rule: Callable[[str], str | None], **options: Unpack[TextOptions]) -> None:
        self.rule = rule
        super().__init__(**options)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        text = super()._deserialize(value, attr, data, **kwargs)
        wanted = self.rule(text)
        if wanted is not None:
            raise invalid(wanted, value, "invalid format")
        return text


def _expect_price(text: str) -> str | None:
    try:
        parse_price(text)
    except ValueError as fault:
        return str(fault)
    return None


def _split_address(text: str) -> SplitResult | None:
    """Return the parts of an absolute address; `None` for anything else."""
    try:
        parts = urlsplit(text)
    except ValueError:  # a broken IPv6 host, for one
        return None
    return parts if parts.hostname and not _BLANK.search(text) else None


def _expect_https(text: str) -> str | None:
    parts = _split_address(text)
    return None if parts and parts.scheme == "https" else "an https address"


def _expect_image(text: str) -> str | None:
    parts = _split_address(text)
    if parts is None or parts.scheme not in {"http", "https"}:
        return "the address of an image"
    name = parts.path.rpartition("/")[2].lower()
    if "." in name and not name.endswith(IMAGE_ENDINGS):
        return "a JPG, GIF, WEBP or PNG image"
    return None


def _expect_images(text: str) -> str | None:
    addresses = [part.strip() for part in text.split(",")]
    if len(addresses) > MAX_ADDITIONAL_IMAGES:
        return f"at most {MAX_ADDITIONAL_IMAGES} comma-separated addresses"
    return next((fault for address in addresses if (fault := _expect_image(address))), None)


def _expect_plain_text(text: str) -> str | None:
    return "plain text without markup" if _TAG.search(text) else None


def _expect_levels(text: str) -> str | None:
    levels = text.split(" > ") if text else []
    sound = all(level.strip() and ">" not in level for level in levels)
    return None if sound else "levels separated by ' > '"


def _expect_color(text: str) -> str | None:
    return "the name of a color, not a hex code" if _HEX_COLOR.fullmatch(text) else None


def _expect_gtin(text: str) -> str | None:
    digits = text.replace("-", "").replace(" ", "")
    return None if _GTIN.fullmatch(digits) else "a UPC, EAN, JAN or ISBN"


def _expect_period(text: str) -> str | None:
    wanted = "two ISO 8601 date-times with offsets separated by a slash"
    start, slash, end = text.partition("/")
    if not slash or not _OFFSET.search(start) or not _OFFSET.search(end):
        return wanted
    try:
        ordered = parse_instant(start) < parse_instant(end)
    except ValueError:
        return wanted
    return None if ordered else "a period that ends after it starts"


class ProductFields(Schema):
    """A product as a merchant sends it (document B, "Product")."""

    id = Text(required=True, min_length=1)
    title = Text(required=True, min_length=1, max_length=150)
    description = RuledText(_expect_plain_text, required=True, min_length=1, max_length=5000)
    availability = Choice(AVAILABILITIES, required=True)
    condition = Choice(CONDITIONS, required=True)
    price = RuledText(_expect_price, required=True)
    link = RuledText(_expect_https, required=True)
    image_link = RuledText(_expect_image, required=True)
    brand = Text(load_default=None, allow_none=True, min_length=1)
    gtin = RuledText(_expect_gtin, load_default=None, allow_none=True)
    mpn = Text(load_default=None, allow_none=True, min_length=1)
    mobile_link = RuledText(_expect_https, load_default=None, allow_none=True)
    additional_image_link = RuledText(_expect_images, load_default=None, allow_none=True)
    google_product_category = Text(load_default=None, allow_none=True)
    product_type = RuledText(_expect_levels, load_default=None, allow_none=True)
    inventory = Integer(load_default=None, allow_none=True, low=0, typed=True)
    sale_price = RuledText(_expect_price, load_default=None, allow_none=True)
    sale_price_effective_date = RuledText(_expect_period, load_default=None, allow_none=True)
    item_group_id = Text(load_default=None, allow_none=True, min_length=1)
    gender = Choice(GENDERS, load_default=None, allow_none=True)
    color = RuledText(_expect_color, load_default=None, allow_none=True)
    size = Text(load_default=None, allow_none=True)
    age_group = Choice(AGE_GROUPS, load_default=None, allow_none=True)
    custom_label_0 = Text(load_default=None, allow_none=True)
    custom_label_1 = Text(load_default=None, allow_none=True)
    custom_label_2 = Text(load_default=None, allow_none=True)
    custom_label_3 = Text(load_default=None, allow_none=True)
    custom_label_4 = Text(load_default=None, allow_none=True)


class ProductRecord(ProductFields):
    """A stored product; `_listed` marks those that a fetch without a group shows."""

    product_key = Text(required=True)
    item_group_key = Text(load_default=None, allow_none=True)
    _catalog_id = Text(required=True)
    _listed = Flag(load_default=True)


FIELDS = tuple(ProductFields().fields)
"""Names of a product's fields as a merchant sends them."""


def check_product(product: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield faults between several fields of a product: (field, what is wrong)."""
    if not any(product.get(name) for name in IDENTIFIERS):
        yield "brand", missing("brand", "when gtin and mpn are unavailable")
    inventory = product.get("inventory")
    if product.get("availability") == "in stock" and inventory is not None and inventory < 1:
        yield "inventory", "inventory must be at least 1 when availability is in stock"
    sale, price = product.get("sale_price"), product.get("price")
    if sale and price:
        (reduced, sale_currency), (full, currency) = parse_price(sale), parse_price(price)
        if sale_currency != currency:
            yield "sale_price", f"sale_price must be in the currency of price, {currency}"
        elif reduced >= full:
            yield "sale_price", f"sale_price must be lower than price, {price}"
    if product.get("item_group_id") is None and _has_several_variants(product):
        yield "item_group_id", missing("item_group_id", "when the product has variants")


def _has_several_variants(product: Mapping[str, Any]) -> bool:
    """Return whether one product names several variants, such as the sizes `S, M, L`."""
    return any("," in (product.get(name) or "") for name in VARIANTS)


_SENT = ProductFields(unknown=EXCLUDE)


def find_product_faults(product: Mapping[str, Any]) -> list[str]:
    """Return the texts of all faults of a product as a client sent it.

    Rules between several fields are checked with the fields that are valid by themselves.
    """
    faults: list[tuple[str, str]] = []
    sound: Mapping[str, Any] = product
    try:
        _SENT.load(product)
    except ValidationError as fault:
        faults = [(name, str(text)) for name, text in flatten(fault.messages)]
        sound = fault.valid_data if isinstance(fault.valid_data, dict) else {}
    refused = {name for name, _ in faults}
    if not refused.isdisjoint(IDENTIFIERS):
        refused.update(IDENTIFIERS)  # one was sent, if badly: that it is missing would mislead
    faults += [(name, text) for name, text in check_product(sound) if name not in refused]
    return [text for _, text in faults]


class ProductCatalogRecord(Schema):
    """A catalog: one per user, holding all its products."""

    id = Text(required=True)
    name = Text(required=True, min_length=1)
    _user_id = Text(required=True)


class FilterValue(Text):
    """A text, or a number for inventory."""

    @staticmethod
    def json_schema() -> dict[str, Any]:
        """Return the JSON Schema of both types."""
        return {"type": ["string", "number"]}

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        numeric = isinstance(value, int | float) and not isinstance(value, bool)
        if numeric and isinstance(data, Mapping) and data.get("attribute") == "inventory":
            return value
        return super()._deserialize(value, attr, data, **kwargs)


class SetFilter(Schema):
    """One filter of a product set; `value` is a text, or a number for inventory."""

    attribute = Choice((*ORDER_ATTRIBUTES, *TEXT_ATTRIBUTES), required=True)
    operator = Choice((*ORDER_OPERATORS, *TEXT_OPERATORS), required=True)
    value = FilterValue(required=True)


def find_filter_fault(item: Mapping[str, Any]) -> str | None:
    """Return what is wrong with a filter whose parts are valid by themselves; `None` if nothing."""
    if item.keys() < {"attribute", "operator", "value"}:
        return None  # a part is missing or refused already
    attribute, operator, value = item["attribute"], item["operator"], item["value"]
    ordered = attribute in ORDER_ATTRIBUTES
    if operator != EQUAL_TO and ordered != (operator in ORDER_OPERATORS):
        return f"operator {operator} does not go with attribute {attribute}"
    if attribute == "inventory":
        fits = not isinstance(value, str) or _NUMBER.fullmatch(value)
        return None if fits else expected("a number", value).replace("{name}", "value")
    if ordered:
        try:
            parse_price(value)
        except ValueError as fault:
            return expected(str(fault), value).replace("{name}", "value")
    return None


def _check_set(record: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for index, item in enumerate(record["filters"]):
        unfit = find_filter_fault(item)
        if unfit:
            yield f"filters[{index}]", unfit


class ProductSetRecord(Schema):
    """A product set; `product_ids` are merchant ids."""

    id = Text(required=True)
    name = Text(required=True, min_length=1)
    description = Text(load_default=None, allow_none=True)
    type = Choice(SET_TYPES, required=True)
    filters = ListOf(Nested(SetFilter), load_default=list)
    product_ids = ListOf(Text(), load_default=list)
    processing_status = Choice(STATUSES, load_default="DONE")
    _catalog_id = Text(required=True)


def _draw_product(draft: Draft) -> Record:
    brand, key = draft.company(), draft.id()
    title = f"{brand.partition(' ')[0]} {draft.title().lower()}"
    price = f"{draft.draw_between(4, 240)}.{draft.pick(('00', '50', '90', '95', '99'))} USD"
    return {
        "product_key": key,
        "id": f"SKU-{key[-9:]}",
        "title": title,
        "description": f"{title}, by {brand}.",
        "availability": draft.pick(AVAILABILITIES[:1] * 4 + AVAILABILITIES[1:4]),
        "condition": CONDITIONS[0],
        "price": price,
        "link": f"https://shop.example/p/{key}",
        "image_link": f"https://shop.example/img/{key}.jpg",
        "brand": brand,
    }


PRODUCT_CATALOGS = Table(
    "product_catalogs",
    ProductCatalogRecord,
    references=(Reference("_user_id", "users"),),
    once=("_user_id",),
)
PRODUCTS = Table(
    "products",
    ProductRecord,
    key="product_key",
    references=(Reference("_catalog_id", "product_catalogs"),),
    check=check_product,
    draw=_draw_product,
)
PRODUCT_SETS = Table(
    "product_sets",
    ProductSetRecord,
    references=(Reference("_catalog_id", "product_catalogs"),),
    check=_check_set,
)
TABLES = (PRODUCT_CATALOGS, PRODUCTS, PRODUCT_SETS)


# What catalogs, products and product sets share (document B, "Product catalogs").

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
