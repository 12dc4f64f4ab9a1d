"""Product catalogs and products: every rule of document B's product table."""

from __future__ import annotations

from typing import Any

import pytest
from werkzeug.test import TestResponse

from tests.api.ads.support import echo
from tests.refusals import Refusal, refusals
from tests.support import NORTHBIKE, Sandbox, data_of

CATALOG = "1547080787865939968"
BASE = "/12/product_catalogs"
PRODUCTS = f"{BASE}/{CATALOG}/products"
TEE = "1547080787865950001"
"""The key of a group of variants."""
SOUND: dict[str, Any] = {
    "id": "NEW-1", "title": "New roast", "description": "A new roast.", "availability": "in stock",
    "condition": "new", "price": "12.50 USD", "link": "https://shop.example/new",
    "image_link": "https://shop.example/new.jpg", "brand": "Harbor",
}  # fmt: skip


def send(box: Sandbox, method: str, path: str, body: Any, **more: Any) -> TestResponse:
    """One request with a JSON body."""
    return box.call(method, path, json=body, **more)


def upsert(box: Sandbox, *products: Any) -> list[dict[str, Any]]:
    """What became of each product."""
    response = send(box, "PUT", PRODUCTS, {"products": list(products)})
    found: list[dict[str, Any]] = data_of(response)["products_response"]
    assert echo(response) == {"product_catalog_id": CATALOG}
    return found


def listed(box: Sandbox, **query: Any) -> list[dict[str, Any]]:
    """Products of the catalog."""
    found: list[dict[str, Any]] = box.read(PRODUCTS, **query)["data"]
    return found


# -- catalogs -----------------------------------------------------------------------------------


@pytest.mark.spec("B, Product catalogs (early access only)", "GET /product_catalogs: user_id")
@pytest.mark.spec("B, Product catalogs (early access only)", "one catalog per")
def test_a_user_has_one_catalog(box: Sandbox) -> None:
    """The catalog is listed as id and name; user_id may be sent, and is echoed as a number."""
    body, own = box.read(BASE), box.read(BASE, user_id="2244994945")

    assert body["data"] == own["data"] == [{"id": CATALOG, "name": "Harbor Roasters shop"}]
    assert body["next_cursor"] is None
    assert {"user_id": 2244994945} == own["request"]["params"]


@pytest.mark.spec("operations", "product_catalogs.create", "product_catalogs.update")
@pytest.mark.spec("operations", "product_catalogs.delete")
@pytest.mark.spec("B, States and transitions", "Product catalog")
@pytest.mark.spec("B, What public facts and settled questions add", "A catalog's own")
def test_a_catalog_is_created_renamed_and_deleted_for_good(box: Sandbox) -> None:
    """A delete takes products and sets along; afterwards a new catalog can be made."""
    gone, again = (box.call("DELETE", f"{BASE}/{CATALOG}") for _ in range(2))
    tables = ("products", "product_sets")
    left = [box.world.store.count(table, {"_catalog_id": CATALOG}) for table in tables]
    made = box.ask("POST", BASE, name="Fresh", user_id="2244994945")
    key = data_of(made)["id"]
    renamed = box.ask("PUT", f"{BASE}/{key}", name="Fresher")
    shop = {"id": CATALOG, "name": "Harbor Roasters shop"}
    assert gone.get_json() == {"request": {"params": {"id": CATALOG}}, "data": shop}
    assert (again.status_code, left) == (404, [0, 0])
    assert echo(made) == {"name": "Fresh", "user_id": 2244994945}
    assert echo(renamed) == data_of(renamed) == {"id": key, "name": "Fresher"}


early = {("apps", "20993"): {"_early_access": True}}
REFUSED = [
    Refusal(f"POST {BASE}", "a second catalog", 400, [("INVALID_PARAMETER", "")],
            query={"name": "Another"},
            spec={"B, Product catalogs (early access only)": ["one catalog per"]}),
    *(Refusal(f"{method} {path}", f"{method} without a name", 400, [("MISSING_PARAMETER", "name")],
              spec={"operations": ["product_catalogs.create", "product_catalogs.update"]})
      for method, path in (("POST", BASE), ("PUT", f"{BASE}/{CATALOG}"))),
    Refusal(f"POST {BASE}", "a user that is no number", 400, [("INVALID_PARAMETER", "user_id")],
            query={"name": "x", "user_id": "me"}),
    Refusal(f"GET {BASE}", "catalogs of another user", 403, [("ACTION_NOT_ALLOWED", "user_id")],
            query={"user_id": "3805104374"},
            spec={"B, Product catalogs (early access only)": ["GET /product_catalogs: user_id"]}),
    Refusal(f"GET {PRODUCTS}", "a foreign catalog", 404, [("NOT_FOUND", "product_catalog_id")],
            keys=NORTHBIKE, given=early),
    Refusal(f"PUT {BASE}/1/products", "products without a catalog", 404,
            [("NOT_FOUND", "product_catalog_id")], json={"products": [SOUND]},
            spec={"B, Product catalogs (early access only)": ["must exist before"]}),
    *(Refusal(f"PUT {PRODUCTS}", f"no products in {body}", 400, [(code, name)], json=body,
              spec={"operations": ["product_catalogs.products.upsert"]})
      for body, code, name in (({}, "MISSING_PARAMETER", "products"),
                               ({"products": {}}, "INVALID_PARAMETER", "products"),
                               ({"products": None}, "INVALID_PARAMETER", "products"),
                               ([], "INVALID_PARAMETER", ""))),
    Refusal(f"DELETE {PRODUCTS}", "a delete without keys", 400,
            [("MISSING_PARAMETER", "product_keys")], json={},
            spec={"operations": ["product_catalogs.products.delete"]}),
]  # fmt: skip


@refusals(REFUSED)
def test_what_is_refused(box: Sandbox, row: Refusal) -> None:
    """Catalogs and products of others, what is missing, and bodies without products."""
    row.check(box)


# -- upsert -------------------------------------------------------------------------------------


@pytest.mark.spec("B, Product", "product_key: listed")
@pytest.mark.spec("B, Product catalogs (early access only)", "data.products_response")
@pytest.mark.spec("B, Product catalogs (early access only)", "unknown id creates")
@pytest.mark.spec("B, States and transitions", "Product upsert")
def test_unknown_ids_create_and_known_ids_update(box: Sandbox) -> None:
    """CREATE_SUCCESS, NO_CHANGE and UPDATE_SUCCESS follow from what is stored; the key stays."""
    changes: list[dict[str, str]] = [{}, {"product_key": "ignored"}, {"title": "Better roast"}]
    results = [upsert(box, SOUND | change)[0] for change in changes]
    fine = {"warnings": [], "errors": [], "product_key": results[0]["product_key"], "id": "NEW-1"}

    assert results == [
        fine | {"status": status} for status in ("CREATE_SUCCESS", "NO_CHANGE", "UPDATE_SUCCESS")
    ]
    (stored,) = [p for p in listed(box) if p["id"] == "NEW-1"]
    assert (stored["title"], stored["sale_price"]) == ("Better roast", None)


@pytest.mark.spec("operations", "product_catalogs.products.upsert")
@pytest.mark.spec("B, Limits", "Product upsert")
@pytest.mark.parametrize(("count", "status"), [(25, 200), (26, 400), (0, 400)])
def test_a_request_holds_at_most_25_products(box: Sandbox, count: int, status: int) -> None:
    """Twenty-five pass, one more is refused as a whole."""
    products = [SOUND | {"id": f"P{number}"} for number in range(count)]

    assert send(box, "PUT", PRODUCTS, {"products": products}).status_code == status


@pytest.mark.spec("B, Product", "id: required, merchant")
def test_a_repeated_id_drops_all_its_instances(box: Sandbox) -> None:
    """None of the instances is stored; the others of the request are.

    Odd items are reported one by one.
    """
    twins = upsert(box, SOUND, SOUND | {"id": "NEW-2"}, SOUND | {"title": "Twin"})
    kept = [p["id"] for p in listed(box)]
    odd = upsert(box, 5, SOUND, {"id": ["x"]}, None)

    assert [r["status"] for r in twins] == ["ERROR", "CREATE_SUCCESS", "ERROR"]
    assert "repeated" in twins[0]["errors"][0]
    assert {"NEW-1", "NEW-2"} & {*kept} == {"NEW-2"}
    assert [r["status"] for r in odd] == ["ERROR", "CREATE_SUCCESS", "ERROR", "ERROR"]


@pytest.mark.spec("B, Product catalogs (early access only)", "data.products_response")
@pytest.mark.spec("B, Errors", "Product upsert")
def test_an_unknown_field_is_a_warning(box: Sandbox) -> None:
    """What is no field of a product is named and ignored."""
    (result,) = upsert(box, SOUND | {"colour": "red"})

    assert (result["status"], result["warnings"]) == (
        "CREATE_SUCCESS",
        ["'colour' is no field of a product and was ignored"],
    )


GOOD = [
    {"title": "x" * 150},
    {"description": "x" * 5000},
    *({"availability": a} for a in ("in stock", "available for order", "preorder",
                                    "out of stock", "discontinued")),
    *({"condition": c} for c in ("new", "used", "refurbished")),
    *({"price": p} for p in ("5 USD", "0.99 EUR", "1000000 JPY")),
    *({"image_link": f"https://x.example/a.{e}"} for e in ("jpg", "jpeg", "GIF", "webp", "png")),
    {"image_link": "https://x.example/image?id=5"},
    {"brand": None, "gtin": "036000291452"},
    {"brand": None, "gtin": "978-3-16-148410-0"},
    {"brand": None, "mpn": "A-1"},
    {"mobile_link": "https://m.example/"},
    {"additional_image_link": ",".join(["https://x.example/a.png"] * 10)},
    {"google_product_category": "6068"},
    {"product_type": "A > B > C"},
    {"product_type": ""},
    {"inventory": 1},
    {"inventory": 0, "availability": "out of stock"},
    {"sale_price": "12.49 USD"},
    {"sale_price_effective_date": "2026-11-20T00:00:00-08:00/2026-12-01T00:00:00+01:00"},
    *({"gender": g} for g in ("female", "male", "unisex")),
    *({"age_group": a} for a in ("adult", "all ages", "teen", "kids", "toddler", "infant",
                                 "newborn")),
    {"color": "navy", "size": "M", "gender": "male", "age_group": "adult"},
    *({"color": color} for color in ("red", "beige", "red/blue", "fade")),
    *({"brand": None, "gtin": gtin} for gtin in ("96385074", "4006381333931", "316148410X")),
    *({f"custom_label_{n}": "x"} for n in range(5)),
    {"item_group_id": "G", "size": "S, M"},
]  # fmt: skip


@pytest.mark.spec("B, Product", "title: required", "description: required")
@pytest.mark.spec("B, Product", "availability: required", case="available for order")
@pytest.mark.spec("B, Product", "condition: required", case="refurbished")
@pytest.mark.spec("B, Product", "price: required", case="0.99 EUR")
@pytest.mark.spec("B, Product", "image_link: required", case="webp")
@pytest.mark.spec("B, Product", "brand, gtin, mpn: optional", case=("036000291452", "A-1"))
@pytest.mark.spec("B, Product", "brand, gtin, mpn: gtin", case="978-3-16-148410-0")
@pytest.mark.spec("B, Product", "mobile_link: optional", case="https://m.example/")
@pytest.mark.spec("B, Product", "additional_image_link", case="additional_image_link")
@pytest.mark.spec("B, Product", "google_product_category", case="google_product_category")
@pytest.mark.spec("B, Product", "product_type: optional", case="A > B > C")
@pytest.mark.spec("B, Product", "inventory: optional", case="inventory")
@pytest.mark.spec("B, Product", "sale_price: optional", case="12.49 USD")
@pytest.mark.spec("B, Product", "sale_price_effective_date", case="sale_price_effective_date")
@pytest.mark.spec("B, Product", "item_group_id: optional", case="item_group_id")
@pytest.mark.spec("B, Product", "gender: female", case="unisex")
@pytest.mark.spec("B, Product", "color, size: color", case=("navy", "facade"))
@pytest.mark.spec("B, Product", "age_group: adult", case="newborn")
@pytest.mark.spec("B, Product", "custom_label_0", case="custom_label_")
@pytest.mark.spec("B, Limits", "Field lengths: product", side="inside")
@pytest.mark.spec("B, Limits", "Additional product", case="additional_image_link", side="inside")
@pytest.mark.parametrize("change", GOOD)
def test_what_the_table_allows_is_stored(box: Sandbox, change: dict[str, Any]) -> None:
    """Each field within its rule is accepted and served as it was sent."""
    (result,) = upsert(box, SOUND | change)

    assert (result["status"], result["errors"]) == ("CREATE_SUCCESS", [])
    stored = box.record("products", result["product_key"])
    assert {name: stored[name] for name in change} == change


BAD = [
    ("id is required", {"id": None}),
    ("id is not empty", {"id": ""}),
    ("title is at most 150", {"title": "x" * 151}),
    ("description is at most 5000", {"description": "x" * 5001}),
    ("description is plain text", {"description": "<b>bold</b>"}),
    ("availability is one of five", {"availability": "In stock"}),
    ("condition is one of three", {"condition": "old"}),
    ("price has one space", {"price": "12.50  USD"}),
    ("price has a space", {"price": "12.50USD"}),
    ("price has a dot", {"price": "12,50 USD"}),
    ("price has a currency of ISO 4217", {"price": "12.50 XYZ"}),
    ("price has its currency in capitals", {"price": "12.50 usd"}),
    ("price is a number", {"price": "free USD"}),
    ("price is not negative", {"price": "-1 USD"}),
    ("link is https", {"link": "http://shop.example/"}),
    ("link is an address", {"link": "https://"}),
    ("link has a sound host", {"link": "https://["}),
    ("link has no blanks", {"link": "https://shop.example/two words"}),
    ("image is JPG, GIF, WEBP or PNG", {"image_link": "https://x.example/a.bmp"}),
    ("image is an address", {"image_link": "a.jpg"}),
    ("image has a sound host", {"image_link": "https://[::1"}),
    ("brand is required without gtin and mpn", {"brand": None}),
    ("gtin is UPC, EAN, JAN or ISBN", {"gtin": "12345"}),
    ("gtin has digits", {"gtin": "ABCDEFGHIJKL"}),
    *((f"gtin has no {count} digits", {"gtin": "1" * count}) for count in (7, 9, 11, 14)),
    ("mobile_link is https", {"mobile_link": "http://m.example/"}),
    ("mobile_link has a sound host", {"mobile_link": "https://[::1"}),
    ("ten additional images",
     {"additional_image_link": ",".join(["https://x.example/a.png"] * 11)}),
    ("additional images are images", {"additional_image_link": "https://x.example/a.tiff"}),
    ("additional images have sound hosts",
     {"additional_image_link": "https://x.example/a.png, https://[/b.png"}),
    ("levels are separated by ' > '", {"product_type": "A>B"}),
    ("levels are not empty", {"product_type": "A >  > B"}),
    ("inventory is at least 1 in stock", {"inventory": 0}),
    ("inventory is an int", {"inventory": "many"}),
    ("inventory is no text", {"inventory": "5"}),
    ("inventory is whole", {"inventory": 5.5}),
    ("sale price is lower than price", {"sale_price": "12.50 USD"}),
    ("sale price is in the same currency", {"sale_price": "1.00 EUR"}),
    ("sale price has the same format", {"sale_price": "1.00"}),
    ("the period is a pair", {"sale_price_effective_date": "2026-11-20T00:00:00-08:00"}),
    ("the period has offsets",
     {"sale_price_effective_date": "2026-11-20T00:00:00/2026-12-01T00:00:00"}),
    ("the period ends later",
     {"sale_price_effective_date": "2026-12-01T00:00:00Z/2026-12-01T00:00:00Z"}),
    ("the period is of dates", {"sale_price_effective_date": "nowZ/laterZ"}),
    ("gender is one of three", {"gender": "men"}),
    ("age group is one of seven", {"age_group": "senior"}),
    ("color is not a hex code", {"color": "#ff0000"}),
    ("color is not hex digits", {"color": "ff0000"}),
    ("color is not hex letters", {"color": "FFFFFF"}),
    ("variants need a group", {"size": "S, M"}),
    *((f"{name} is required", {name: None}) for name in
      ("title", "description", "availability", "condition", "price", "link", "image_link")),
]  # fmt: skip


@pytest.mark.spec("B, Product", "id: required", case=("id is required", "id is not empty"))
@pytest.mark.spec("B, Product", "title: required", case=("title is at most 150", "title"))
@pytest.mark.spec("B, Product", "description: required", case="description is at most 5000")
@pytest.mark.spec("B, Product", "description: required", case="description is plain text")
@pytest.mark.spec("B, Product", "description: required", case="description")
@pytest.mark.spec("B, Product", "availability: required", case="availability is one of five")
@pytest.mark.spec("B, Product", "availability: required", case="availability")
@pytest.mark.spec("B, Product", "condition: required", case=("condition is one of", "condition"))
@pytest.mark.spec("B, Product", "price: required", case=("price has one", "price has a space"))
@pytest.mark.spec("B, Product", "price: required", case=("price has a dot", "price has a currency"))
@pytest.mark.spec("B, Product", "price: required", case="price is a number")
@pytest.mark.spec("B, Product", "link: required", case=("link is https", "link is an", "link"))
@pytest.mark.spec("B, Product", "image_link: required", case="image is JPG, GIF, WEBP or PNG")
@pytest.mark.spec("B, Product", "image_link: required", case=("image is an address", "image_link"))
@pytest.mark.spec("B, Product", "brand, gtin, mpn: optional", case="brand is required without gtin")
@pytest.mark.spec("B, Product", "brand, gtin, mpn: gtin", case=("gtin is UPC,", "gtin has"))
@pytest.mark.spec("B, Product", "mobile_link: optional", case="mobile_link is https")
@pytest.mark.spec("B, Product", "additional_image_link", case="ten additional images")
@pytest.mark.spec("B, Product", "additional_image_link", case="additional images are images")
@pytest.mark.spec("B, Product", "product_type: optional", case="levels are separated by ' > '")
@pytest.mark.spec("B, Product", "product_type: optional", case="levels are not empty")
@pytest.mark.spec("B, Product", "inventory: optional", case=("inventory is at", "inventory is an"))
@pytest.mark.spec("B, Product", "sale_price: optional", case="sale price is lower than price")
@pytest.mark.spec("B, Product", "sale_price: optional", case="sale price has the same format")
@pytest.mark.spec("B, Product", "sale_price_effective_date", case="the period is a pair")
@pytest.mark.spec("B, Product", "sale_price_effective_date", case="the period has offsets")
@pytest.mark.spec("B, Product", "sale_price_effective_date", case="the period is of dates")
@pytest.mark.spec("B, Product", "item_group_id: optional", case="variants need a group")
@pytest.mark.spec("B, Product", "gender: female", case="gender is one of three")
@pytest.mark.spec("B, Product", "color, size: color", case=("color is not a", "color is not hex"))
@pytest.mark.spec("B, Product", "age_group: adult", case="age group is one of seven")
@pytest.mark.spec("B, States and transitions", "Product upsert")
@pytest.mark.spec("B, Errors", "Product upsert")
@pytest.mark.spec("B, Limits", "Field lengths: product", case="title is at most", side="outside")
@pytest.mark.spec("B, Limits", "Field lengths: product", case="description is at", side="outside")
@pytest.mark.spec("B, Limits", "Additional product", case="ten additional images", side="outside")
@pytest.mark.parametrize(("rule", "change"), BAD)
def test_what_the_table_forbids_is_an_error_of_the_item(
    box: Sandbox, rule: str, change: dict[str, Any]
) -> None:
    """Each rule makes its item an ERROR with a reason; the correct one next to it is stored."""
    broken = {k: v for k, v in (SOUND | change).items() if v is not None}
    results = upsert(box, broken, SOUND | {"id": "FINE"})

    assert [r["status"] for r in results] == ["ERROR", "CREATE_SUCCESS"], rule
    assert len(results[0]["errors"]) == 1
    assert results[0]["product_key"] is None
    assert [p["id"] for p in listed(box) if p["id"] in {"NEW-1", "FINE"}] == ["FINE"]


@pytest.mark.spec("B, Product catalogs (early access only)", "all required fields")
def test_all_required_fields_are_needed_every_time(box: Sandbox) -> None:
    """An update without a required field fails and leaves the product as it is."""
    before = box.record("products", "1547080787865940007")
    (result,) = upsert(box, {"id": "HR-100", "title": "Only a title"})

    assert result["status"] == "ERROR"
    assert result["product_key"] == "1547080787865940007"
    assert len(result["errors"]) == 7
    assert box.record("products", "1547080787865940007") == before


def test_everything_wrong_with_a_product_is_told_at_once(box: Sandbox) -> None:
    """Rules of several fields are checked together with those of single ones, by what is sound."""
    (result,) = upsert(box, SOUND | {
        "brand": "", "title": "x" * 151, "price": "12.50USD", "sale_price": "99.00 USD",
        "inventory": 0, "size": "S, M",
    })  # fmt: skip

    assert [
        "A maximum of 150 characters may be provided for title",
        "Expected a number with a dot as decimal point, one space and an ISO 4217 code such as "
        '20.00 USD, got "12.50USD" for price',
        "A minimum of 1 characters must be provided for brand",
        "inventory must be at least 1 when availability is in stock",
        '"item_group_id" is a required parameter when the product has variants',
    ] == result["errors"]


def test_an_update_replaces_the_product(box: Sandbox) -> None:
    """An optional field that is not sent again is null after the update."""
    upsert(box, SOUND | {"custom_label_0": "sale", "sale_price": "9.00 USD"})
    (result,) = upsert(box, SOUND | {"sale_price": "8.00 USD"})
    stored = box.record("products", result["product_key"])

    assert result["status"] == "UPDATE_SUCCESS"
    assert ("8.00 USD", None) == (stored["sale_price"], stored["custom_label_0"])


# -- groups -------------------------------------------------------------------------------------


@pytest.mark.spec("B, Product", "item_group_key", "a fetch returns")
@pytest.mark.spec("operations", "product_catalogs.products.list")
def test_a_fetch_shows_the_first_member_of_a_group(box: Sandbox) -> None:
    """Variants of a group are hidden behind the first submitted; its key shows them all.

    When the first member is deleted or leaves, the next one is shown.
    """
    (shown,) = [p for p in listed(box) if p["item_group_id"] == "TEE"]
    members = listed(box, item_group_key=shown["item_group_key"])
    send(box, "DELETE", PRODUCTS, {"product_keys": [shown["product_key"]]})

    assert shown["id"] == "HR-300"
    assert [p["id"] for p in members] == ["HR-300", "HR-301", "HR-302"]
    assert [p["id"] for p in listed(box) if p["item_group_id"] == "TEE"] == ["HR-301"]


@pytest.mark.spec("B, Product", "item_group_key", "Products sharing")
def test_new_variants_join_their_group(box: Sandbox) -> None:
    """A product with the same item_group_id gets the group's key and stays behind the first."""
    upsert(box, SOUND | {"item_group_id": "TEE", "size": "XL"})
    upsert(box, SOUND | {"id": "NEW-2", "item_group_id": "CAP"})

    assert {"NEW-1", "NEW-2"} & {p["id"] for p in listed(box)} == {"NEW-2"}
    assert len(listed(box, item_group_key=TEE)) == 4


@pytest.mark.spec("B, Product", "Products sharing")
def test_a_product_may_move_between_groups(box: Sandbox) -> None:
    """Moving leaves the old group with another first member and joins the new one."""
    tee = box.record("products", listed(box, item_group_key=TEE)[0]["product_key"])
    sent = {k: v for k, v in tee.items() if v is not None and not k.startswith("_")}
    (result,) = upsert(box, sent | {"item_group_id": "HOODIE"})

    assert result["status"] == "UPDATE_SUCCESS"
    assert {p["id"] for p in listed(box) if p["item_group_id"]} == {"HR-300", "HR-301"}


@pytest.mark.spec("B, Product", "item_group_id: optional")
def test_a_grouped_product_needs_its_group(box: Sandbox) -> None:
    """A product with variants cannot be sent without item_group_id."""
    tee = listed(box, item_group_key=TEE)[1]
    sent = {k: v for k, v in tee.items() if v is not None and k != "item_group_id"}
    (result,) = upsert(box, sent)

    assert (result["status"], len(result["errors"])) == ("ERROR", 1)


# -- list and delete ----------------------------------------------------------------------------


@pytest.mark.spec("operations", "product_catalogs.products.delete")
@pytest.mark.spec("B, States and transitions", "Product catalog")
@pytest.mark.spec("B, What public facts and settled questions add", "JSON endpoints")
def test_deletes_are_permanent_and_reported_per_key(box: Sandbox) -> None:
    """A key is gone the second time; the report is parallel to what was sent."""
    key = "1547080787865940007"
    response = send(box, "DELETE", PRODUCTS, {"product_keys": [key, "5", key]})
    first, *others = data_of(response)["delete_products"]

    assert {"product_keys": [key, "5", key]} == echo(response)
    assert first == {"product_key": key, "failed_product_key": None, "message": None}
    assert [(None, "5"), (None, key)] == [
        (each["product_key"], each["failed_product_key"]) for each in others
    ]
    assert all(each["message"] for each in others)
