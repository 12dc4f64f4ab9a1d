"""Product sets: by hand, by filter, and how they are processed (document B)."""

from __future__ import annotations

from typing import Any

import pytest
from werkzeug.test import TestResponse

from tests.api.ads.support import echo, without
from tests.support import Sandbox, data_of, faults, refusal

CATALOG = "1547080787865939968"
SETS = f"/12/product_catalogs/{CATALOG}/product_sets"
PRODUCTS = f"/12/product_catalogs/{CATALOG}/products"
MANUAL, FILTERED, FAILED = (f"154708100000000000{n}" for n in (1, 2, 3))
ESPRESSO, KILO = "1547080787865940007", "1547080787865940014"


def send(box: Sandbox, method: str, path: str, body: Any) -> TestResponse:
    """One request with a JSON body."""
    return box.call(method, path, json=body)


def by(*filters: dict[str, Any]) -> dict[str, Any]:
    """The body of a FILTERED set."""
    return {"name": "F", "type": "FILTERED", "filters": list(filters)}


def filtered(box: Sandbox, *filters: dict[str, Any]) -> Any:
    """A new FILTERED set."""
    return data_of(send(box, "POST", SETS, by(*filters)))


def load(box: Sandbox, key: str) -> Any:
    """A set as it is read."""
    return box.read(f"{SETS}/{key}")["data"]


def where(attribute: str, operator: str, value: Any) -> dict[str, Any]:
    """One filter."""
    return {"attribute": attribute, "operator": operator, "value": value}


@pytest.mark.spec("B, Product set", "id, name, description")
@pytest.mark.spec("operations", "product_sets.create")
@pytest.mark.spec("B, States and transitions", "Product set (FILTERED), create")
@pytest.mark.spec("B, What public facts and settled questions add", "JSON endpoints")
def test_a_manual_set_holds_the_given_products(box: Sandbox) -> None:
    """product_keys become merchant ids; the whole body is echoed; the status is DONE."""
    sent = {"name": "Mine", "type": "MANUAL", "product_keys": [KILO, ESPRESSO]}
    response = send(box, "POST", SETS, sent)

    assert echo(response) == {"product_catalog_id": CATALOG, **sent}
    assert without(data_of(response), "id") == {
        "name": "Mine", "description": None, "type": "MANUAL", "filters": [],
        "product_ids": ["HR-101", "HR-100"], "processing_status": "DONE",
    }  # fmt: skip


@pytest.mark.spec("operations", "product_sets.get")
@pytest.mark.spec("B, What public facts and settled questions add", "A catalog's own")
def test_a_set_is_read_with_its_own_id_echoed(box: Sandbox) -> None:
    """The set's key is echoed as id, the catalog under its own name.

    A product that is gone is in no set.
    """
    body = box.read(f"{SETS}/{MANUAL}")
    keys = [p["product_key"] for p in _products(box) if p["id"] == "HR-200"]
    send(box, "DELETE", PRODUCTS, {"product_keys": keys})

    assert body["request"]["params"] == {"product_catalog_id": CATALOG, "id": MANUAL}
    assert body["data"]["product_ids"] == ["HR-130", "HR-200"]
    assert load(box, MANUAL)["product_ids"] == ["HR-130"]


def _products(box: Sandbox) -> Any:
    return box.read(PRODUCTS)["data"]


@pytest.mark.spec("B, Product set", "Filter attributes")
@pytest.mark.spec("operations", "product_sets.create")
@pytest.mark.spec("B, States and transitions", "Product set (FILTERED), create")
@pytest.mark.spec("B, Product set", "Operators: GREATER_THAN", case="NOT_CONTAINS")
@pytest.mark.parametrize(("filters", "ids"), [
    ([where("price", "LESS_THAN", "14.51 USD")], ["HR-100", "HR-400"]),
    ([where("price", "LESS_THAN", "14.50 USD")], ["HR-400"]),
    ([where("price", "GREATER_THAN", "64.00 USD")], ["HR-220"]),
    ([where("price", "GREATER_THAN", "1.00 EUR")], ["HR-210"]),
    ([where("price", "EQUAL_TO", "15 USD")], ["HR-110"]),
    ([where("sale_price", "EQUAL_TO", "44.00 USD")], ["HR-101"]),
    ([where("inventory", "LESS_THAN", 10)], ["HR-210"]),
    ([where("inventory", "EQUAL_TO", "9")], ["HR-210"]),
    ([where("inventory", "GREATER_THAN", 120)], ["HR-130"]),
    ([where("product_type", "EQUAL_TO", "Coffee > Espresso")], ["HR-100", "HR-101"]),
    ([where("product_type", "EQUAL_TO", "coffee > espresso")], []),
    ([where("product_type", "EQUAL_TO", "Coffee")], []),
    ([where("custom_label_4", "EQUAL_TO", "")], []),
    ([where("product_type", "MATCH", "espresso")], ["HR-100", "HR-101"]),
    ([where("product_type", "MATCH", "espress")], []),
    ([where("product_type", "MATCH", "Coffee > Decaf")], ["HR-120"]),
    ([where("product_type", "CONTAINS", "grind")], ["HR-210"]),
    ([where("google_product_category", "NOT_CONTAINS", "food"),
      where("product_type", "NOT_CONTAINS", "merch")], ["HR-200", "HR-210"]),
    ([where("custom_label_0", "MATCH", "HOLIDAY")], ["HR-130"]),
    ([where("custom_label_4", "CONTAINS", "clear")], ["HR-400"]),
    ([where("product_type", "MATCH", "coffee"), where("price", "LESS_THAN", "15.00 USD")],
     ["HR-100"]),
])  # fmt: skip
def test_filters_really_select(box: Sandbox, filters: list[dict[str, Any]], ids: list[str]) -> None:
    """Each operator selects by its attribute, all filters together."""
    data = filtered(box, *filters)

    assert (data["processing_status"], data["product_ids"]) == ("DONE", ids)


def test_a_filtered_set_follows_its_products(box: Sandbox) -> None:
    """Products that change move in and out of a set."""
    product = next(p for p in _products(box) if p["id"] == "HR-400")
    sent = {k: v for k, v in product.items() if v is not None}
    before = load(box, FILTERED)["product_ids"]
    send(box, "PUT", PRODUCTS, {"products": [sent | {"price": "21.00 USD"}]})
    after = load(box, FILTERED)["product_ids"]

    assert (set(before) - set(after), set(after) - set(before)) == ({"HR-400"}, set())


@pytest.mark.spec("B, Product set", "id, name, description")
@pytest.mark.spec("B, States and transitions", "Product set (FILTERED), create")
def test_processing_takes_time_when_it_is_asked_to(box: Sandbox) -> None:
    """Under `time` a FILTERED set is PROCESSING and empty until the clock has moved."""
    box.world.clock.freeze()
    box.world.transitions.set_pace("product_set", progression="time", seconds=30)
    seen = [filtered(box, where("price", "LESS_THAN", "14.51 USD"))]
    for seconds in (29, 1):
        box.world.clock.advance(seconds)
        seen.append(load(box, seen[0]["id"]))
    states = ["PROCESSING", "PROCESSING", "DONE"]
    assert [each["processing_status"] for each in seen] == states
    assert [each["product_ids"] for each in seen[1:]] == [[], ["HR-100", "HR-400"]]


@pytest.mark.spec("B, Product set", "id, name, description")
@pytest.mark.spec("B, States and transitions", "Product set (FILTERED), create")
def test_processing_can_fail(box: Sandbox) -> None:
    """A set that failed says so and holds nothing."""
    box.world.transitions.set_pace("product_set", progression="manual")
    key = filtered(box, where("price", "LESS_THAN", "20.00 USD"))["id"]
    with box.world.work():
        box.world.transitions.move("product_set", key, "FAILED")

    for found in (load(box, key), load(box, FAILED)):
        assert (found["processing_status"], found["product_ids"]) == ("FAILED", [])


@pytest.mark.spec("operations", "product_sets.update")
@pytest.mark.spec("B, States and transitions", "Product set (FILTERED), PUT")
@pytest.mark.spec("B, Errors", "Updating a FILTERED")
@pytest.mark.spec("B, Not shown", "Parameters of the")
def test_only_manual_sets_are_updated(box: Sandbox) -> None:
    """name, description and product_keys change a MANUAL set; FILTERED is unsupported."""
    body = {"name": "Renamed", "description": "Why", "product_keys": [ESPRESSO]}
    changed = send(box, "PUT", f"{SETS}/{MANUAL}", body).get_json()
    kept = send(box, "PUT", f"{SETS}/{MANUAL}", {"description": None}).get_json()
    refused = send(box, "PUT", f"{SETS}/{FILTERED}", {"name": "x"})
    emptied = send(box, "PUT", f"{SETS}/{MANUAL}", {"product_keys": []})

    assert (emptied.status_code, faults(emptied)[0]) == (400, ("INVALID_PARAMETER", "product_keys"))
    assert (changed["data"]["name"], changed["data"]["product_ids"]) == ("Renamed", ["HR-100"])
    assert changed["request"]["params"] == {"product_catalog_id": CATALOG, "id": MANUAL, **body}
    assert (kept["data"]["name"], kept["data"]["description"]) == ("Renamed", None)
    assert (refused.status_code, faults(refused)[0][0]) == (400, "INVALID_PARAMETER")


PRICE = where("price", "LESS_THAN", "1 USD")
BY_HAND = {"name": "x", "type": "MANUAL", "product_keys": [ESPRESSO]}
INVALID, MISSING = "INVALID_PARAMETER", "MISSING_PARAMETER"


@pytest.mark.spec("B, Product set", "Filter attributes", case="color")
@pytest.mark.spec("B, Product set", "Operators: GREATER_THAN", case="IS")
@pytest.mark.spec("operations", "product_sets.create")
@pytest.mark.parametrize(("body", "expected"), [
    ({"type": "MANUAL", "product_keys": [ESPRESSO]}, [(MISSING, "name")]),
    ({"name": "x", "product_keys": [ESPRESSO]}, [(MISSING, "type")]),
    (BY_HAND | {"type": "DYNAMIC"}, [(INVALID, "type")]),
    ({"name": "x", "type": "MANUAL"}, [(MISSING, "product_keys")]),
    (BY_HAND | {"product_keys": []}, [(INVALID, "product_keys")]),
    (BY_HAND | {"product_keys": [ESPRESSO, "5"]}, [("NOT_FOUND", "product_keys")]),
    ({"name": "x", "type": "FILTERED"}, [(MISSING, "filters")]),
    (by(PRICE) | {"product_keys": [ESPRESSO]}, [("EXCLUSIVE_PARAMETERS", "product_keys")]),
    (BY_HAND | {"filters": [PRICE]}, [("EXCLUSIVE_PARAMETERS", "filters")]),
    (by(), [(INVALID, "filters")]),
    (by(where("color", "MATCH", "x")), [(INVALID, "filters[0].attribute")]),
    (by(where("price", "IS", "1 USD")), [(INVALID, "filters[0].operator")]),
    (by({"attribute": "price"}), [(MISSING, "filters[0].operator"), (MISSING, "filters[0].value")]),
    (by(PRICE, where("price", "MATCH", "1 USD")), [(INVALID, "filters[1]")]),
    (by(where("product_type", "LESS_THAN", "x")), [(INVALID, "filters[0]")]),
    (by(where("price", "EQUAL_TO", "cheap")), [(INVALID, "filters[0]")]),
    (by(where("inventory", "EQUAL_TO", "few")), [(INVALID, "filters[0]")]),
    (by(where("inventory", "LESS_THAN", "NaN")), [(INVALID, "filters[0]")]),
    (by(where("inventory", "LESS_THAN", "1e9")), [(INVALID, "filters[0]")]),
    (by(where("price", "EQUAL_TO", 5)), [(INVALID, "filters[0].value")]),
])  # fmt: skip
def test_a_body_that_may_not_be_is_refused(box: Sandbox, body: Any, expected: Any) -> None:
    """Each requirement of the table is demanded by its parameter's name."""
    status = 404 if "NOT_FOUND" in expected[0] else 400

    assert refusal(send(box, "POST", SETS, body)) == (status, expected)


def test_unknown_keys_of_a_filter_are_ignored(box: Sandbox) -> None:
    """A filter may carry more than its three keys; only those are kept and echoed."""
    item = where("price", "LESS_THAN", "14.51 USD")
    response = send(box, "POST", SETS, by(item | {"id": "1", "label": "cheap"}))

    assert [item] == data_of(response)["filters"] == echo(response)["filters"]


def test_a_stored_set_keeps_the_rules_of_its_filters(box: Sandbox) -> None:
    """A filter that could not be sent cannot be put into the state either."""
    record = box.record("product_sets", FILTERED) | {"filters": [where("inventory", "MATCH", "x")]}
    response = box.client.put(f"/_mock/state/product_sets/{FILTERED}", json=record)

    assert (response.status_code, response.get_json()["faults"][0]["field"]) == (422, "filters[0]")


def test_a_set_is_deleted_for_good(box: Sandbox) -> None:
    """The public delete answers with the set; then it is gone."""
    assert data_of(box.call("DELETE", f"{SETS}/{MANUAL}"))["name"] == "Gift picks"
    assert box.call("GET", f"{SETS}/{MANUAL}").status_code == 404
