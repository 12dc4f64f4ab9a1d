"""Products with their sets, and the users of audiences and lists, against plain models."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from hashlib import sha256
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule

from tests.property.machine import BASE, INVALID, Family, Record, run
from tests.support import ACCOUNT, data_of, faults

# -- products and sets ---------------------------------------------------------------------------

CATALOG = "/12/product_catalogs/1547080787865939968"
SOUND: Record = {
    "title": "Beans",
    "description": "Beans.",
    "availability": "in stock",
    "condition": "new",
    "link": "https://shop.example.com/beans",
    "image_link": "https://shop.example.com/beans.png",
    "brand": "Harbor",
}
PRODUCTS = st.fixed_dictionaries(
    {
        "id": st.sampled_from(["P1", "P2", "P3", "P4", "HR-300", "HR-301", "HR-100"]),
        "price": st.sampled_from(["5.00 USD", "10.00 USD", "30.00 USD", "8.00 EUR", "free"]),
        "item_group_id": st.sampled_from([None, None, "TEE", "CAP"]),
        "custom_label_0": st.sampled_from([None, "holiday gift", "Holiday", "sale"]),
    }
)
FILTERS: list[tuple[Record, Any]] = [
    (
        {"attribute": "price", "operator": "LESS_THAN", "value": "10.00 USD"},
        lambda p: p["price"].endswith("USD") and Decimal(p["price"].split()[0]) < 10,
    ),
    (
        {"attribute": "price", "operator": "EQUAL_TO", "value": "8 EUR"},
        lambda p: p["price"].endswith("EUR") and Decimal(p["price"].split()[0]) == 8,
    ),
    (
        {"attribute": "custom_label_0", "operator": "MATCH", "value": "HOLIDAY"},
        lambda p: "holiday" in (p["custom_label_0"] or "").lower().split(),
    ),
    (
        {"attribute": "custom_label_0", "operator": "NOT_CONTAINS", "value": "al"},
        lambda p: "al" not in (p["custom_label_0"] or ""),
    ),
]


class Products(Family):
    """Products are sent, sent again, moved between groups and deleted, while sets look on."""

    @initialize()
    def begin(self) -> None:
        """The model begins with what is stored, in order of submission."""
        self.start()
        self.products: dict[str, Record] = {
            entry.key: {k: v for k, v in entry.record.items() if k[0] != "_"}
            for entry in self.world.store.page("products")
        }
        self.first: dict[str, str] = {"TEE": self.key("HR-300") or ""}
        self.sets: dict[str, Record] = {}

    def key(self, merchant_id: str) -> str | None:
        """The product key of a merchant's id."""
        for key, product in self.products.items():
            if product["id"] == merchant_id:
                return key
        return None

    def members(self, group: str) -> list[str]:
        """Keys of a group, in order of submission."""
        return [k for k, product in self.products.items() if product["item_group_id"] == group]

    def settle(self, group: str | None) -> None:
        """Whoever a group showed is gone: the next one in order of submission is shown."""
        if group is not None and self.first.get(group) not in self.members(group):
            self.first.pop(group, None)
            if self.members(group):
                self.first[group] = self.members(group)[0]

    @rule(sent=st.lists(PRODUCTS, min_size=1, max_size=4))
    def upsert(self, sent: list[Record]) -> None:
        """Each product is judged by itself; repeated ids are left out altogether."""
        body = {"products": [{k: v for k, v in (SOUND | p).items() if v is not None} for p in sent]}
        results = data_of(self.call("PUT", f"{CATALOG}/products", json=body))["products_response"]
        ids = [product["id"] for product in sent]
        for product, result in zip(sent, results, strict=True):
            self.judge(product, result, repeated=ids.count(product["id"]) > 1)

    def judge(self, sent: Record, result: Record, *, repeated: bool) -> None:
        """One product of an upsert."""
        key, group = self.key(sent["id"]), sent["item_group_id"]
        before = None if key is None else self.products[key]
        old_group = None if before is None else before["item_group_id"]
        leaves = old_group is not None and group is None and len(self.members(old_group)) > 1
        if repeated or sent["price"] == "free" or leaves:
            assert ("ERROR", key) == (result["status"], result["product_key"])
            assert result["errors"]
            return
        content = (before or {}) | SOUND | sent
        for name in (before or {}).keys() - SOUND.keys() - sent.keys():
            if name not in {"product_key", "item_group_key"}:
                content[name] = None  # what is not sent again is gone
        if before == content:
            assert "NO_CHANGE" == result["status"]
            return
        assert ("UPDATE_SUCCESS" if before else "CREATE_SUCCESS") == result["status"]
        key = result["product_key"]
        assert (key in self.products) is (before is not None)
        self.products[key] = content | {"product_key": key}
        if old_group != group:
            self.settle(old_group)
        if group is not None:
            self.first.setdefault(group, key)

    @rule(which=st.lists(st.integers(0, 30), min_size=1, max_size=3))
    def delete(self, which: list[int]) -> None:
        """Products go for good; a key that is not there is reported."""
        keys = [[*self.products, "5"][n % (len(self.products) + 1)] for n in which]
        report = data_of(self.call("DELETE", f"{CATALOG}/products", json={"product_keys": keys}))
        for key, entry in zip(keys, report["delete_products"], strict=True):
            gone = self.products.pop(key, None)
            expected = (key, None) if gone is not None else (None, key)
            assert expected == (entry["product_key"], entry["failed_product_key"])
            assert (entry["message"] is None) is (gone is not None)
            if gone is not None:
                self.settle(gone["item_group_id"])

    @rule(filters=st.lists(st.integers(0, len(FILTERS) - 1), min_size=1, max_size=2, unique=True))
    def create_filtered(self, filters: list[int]) -> None:
        """A FILTERED set holds what its filters select, from now on."""
        body = {"name": "F", "type": "FILTERED", "filters": [FILTERS[n][0] for n in filters]}
        made = data_of(self.call("POST", f"{CATALOG}/product_sets", json=body))
        self.sets[made["id"]] = {"filters": filters}

    @rule(which=st.lists(st.integers(0, 30), max_size=3))
    def create_manual(self, which: list[int]) -> None:
        """A MANUAL set holds the products that were named, as long as they exist."""
        keys = [key for n in which if (key := self.pick(n)) is not None]
        body = {"name": "M", "type": "MANUAL", "product_keys": keys}
        response = self.call("POST", f"{CATALOG}/product_sets", json=body)
        if not keys:
            assert (400, INVALID) == (response.status_code, faults(response)[0][0])
            return
        made = data_of(response)
        ids = [self.products[key]["id"] for key in dict.fromkeys(keys)]
        self.sets[made["id"]] = {"ids": ids}

    @precondition(lambda self: self.sets)
    @rule(which=st.integers(0, 30), n=st.integers(0, 30))
    def change_set(self, which: int, n: int) -> None:
        """A MANUAL set gets other products; a FILTERED one cannot be updated."""
        set_id, held = list(self.sets.items())[which % len(self.sets)]
        key = self.pick(n)
        body = {"product_keys": [] if key is None else [key]}
        response = self.call("PUT", f"{CATALOG}/product_sets/{set_id}", json=body)
        if "filters" in held or key is None:
            assert (400, INVALID) == (response.status_code, faults(response)[0][0])
        else:
            held["ids"] = [self.products[key]["id"]]
            assert held["ids"] == data_of(response)["product_ids"]

    def pick(self, which: int) -> str | None:
        """Any product's key, if there are products."""
        return list(self.products)[which % len(self.products)] if self.products else None

    @invariant()
    def all_agree(self) -> None:
        """The list, each group and each set are as the model has them."""
        shown = [
            key
            for key, product in self.products.items()
            if product["item_group_id"] is None or self.first[product["item_group_id"]] == key
        ]
        listed = data_of(self.call("GET", f"{CATALOG}/products"))
        assert shown == [product["product_key"] for product in listed]
        for product in listed:
            model = self.products[product["product_key"]]
            sent = {k: v for k, v in model.items() if k != "item_group_key"}
            assert sent.items() <= product.items()
            assert (product["item_group_key"] is None) is (product["item_group_id"] is None)
            if product["item_group_key"] is not None:
                query = {"item_group_key": product["item_group_key"]}
                group = data_of(self.call("GET", f"{CATALOG}/products", query_string=query))
                assert self.members(product["item_group_id"]) == [p["product_key"] for p in group]
        for set_id, held in self.sets.items():
            found = data_of(self.call("GET", f"{CATALOG}/product_sets/{set_id}"))
            assert self.held(held) == found["product_ids"]

    def held(self, held: Record) -> list[str]:
        """Merchant ids that a set holds now."""
        everything = self.products.values()
        if "ids" in held:
            there = {product["id"] for product in everything}
            return [key for key in held["ids"] if key in there]
        tests = [FILTERS[n][1] for n in held["filters"]]
        return [product["id"] for product in everything if all(test(product) for test in tests)]


@pytest.mark.spec("B, Product", "id: required, merchant")
@pytest.mark.spec("B, Product set", "Operators: GREATER_THAN")
def test_products_agree_with_a_plain_model() -> None:
    """Random upserts and deletes leave lists, groups and sets as the model says."""
    run(Products, sequences=25, steps=25)


# -- audience users ------------------------------------------------------------------------------

IDENTIFIERS = st.fixed_dictionaries(
    {},
    optional={
        "email": st.sampled_from(["a", "b", "c"]),
        "handle": st.sampled_from(["a", "b"]),
        "partner_user_id": st.sampled_from(["P", "p"]),
    },
).filter(bool)
OPERATIONS = st.lists(
    st.tuples(st.sampled_from(["Update", "Delete"]), st.lists(IDENTIFIERS, min_size=1, max_size=2)),
    min_size=1,
    max_size=3,
)
Person = frozenset[tuple[str, str]]


LISTS = (
    ("custom_audiences", "2b4kp", "audience_size"),
    ("do_not_reach_lists", "4y1bc", "_size"),
)


class Users(Family):
    """Batches put users into an audience and into a do-not-reach list, and take them out."""

    @initialize()
    def begin(self) -> None:
        """The model begins with the sizes that the records show."""
        self.start()
        self.people: dict[str, set[Person]] = {key: self.stored(key) for _, key, _ in LISTS}
        self.find_unknown_keys = {
            key: self.box.record(table, key)[size] - len(self.people[key])
            for table, key, size in LISTS
        }

    def stored(self, key: str) -> set[Person]:
        """Whom the sandbox knows of a list."""
        entries = self.world.store.page("audience_users", {"_audience_id": key})
        return {person(entry.record["identifiers"]) for entry in entries}

    @rule(audience=st.booleans(), operations=OPERATIONS, faulty=st.integers(0, 5))
    def upload(self, audience: bool, operations: list[Any], faulty: int) -> None:
        """A batch is accepted whole, in order, or, with one fault in it, not at all."""
        kinds = ("email", "handle", "partner_user_id") if audience else ("email",)
        body = []
        for kind, users in operations:
            sent = [hashed(user, kinds) for user in users]
            body.append({"operation_type": kind, "params": {"users": [u for u in sent if u]}})
        body = [operation for operation in body if operation["params"]["users"]]
        if not body:
            return
        if not faulty:
            body.insert(len(body) // 2, {"operation_type": "Update", "params": {}})
        key = "2b4kp" if audience else "4y1bc"
        path = (
            f"{BASE}/custom_audiences/{key}/users"
            if audience
            else f"/12/batch/accounts/{ACCOUNT}/do_not_reach_lists/{key}/users"
        )
        response = self.call("POST", path, json=body)
        if not faulty:
            assert 400 == response.status_code
            failed = [bool(errors) for errors in response.get_json()["operation_errors"]]
            assert [n == (len(body) - 1) // 2 for n in range(len(body))] == failed
            return
        sizes = [len(operation["params"]["users"]) for operation in body]
        found = data_of(response)
        counts = [found["success_count"]] if audience else [c["success_count"] for c in found]
        assert ([sum(sizes)] if audience else sizes) == counts
        for operation in body:
            self.apply(key, operation)

    def apply(self, key: str, operation: Record) -> None:
        """What one operation does to the people of a list."""
        for user in operation["params"]["users"]:
            who = person(user)
            if operation["operation_type"] == "Update":
                self.people[key].add(who)
            else:
                self.people[key] = {other for other in self.people[key] if not other & who}

    @invariant()
    def sizes_agree(self) -> None:
        """Sizes follow the people, and fewer than 100 are too small to target."""
        for table, key, size in LISTS:
            record = self.box.record(table, key)
            assert len(self.people[key]) + self.find_unknown_keys[key] == record[size]
            assert ["TOO_SMALL"] == record["reasons_not_targetable"]
            assert self.people[key] == self.stored(key)


def hashed(user: Mapping[str, str], kinds: tuple[str, ...]) -> dict[str, list[str]]:
    """A user with those identifiers that a list takes, hashed where they have to be."""
    return {
        kind: [value if kind == "partner_user_id" else sha256(value.encode()).hexdigest()]
        for kind, value in user.items()
        if kind in kinds
    }


def person(identifiers: Mapping[str, list[str]]) -> Person:
    """Who a user is: all identifiers, hashes without case."""
    return frozenset(
        (kind, value if kind == "partner_user_id" else value.lower())
        for kind, values in identifiers.items()
        for value in values
    )


@pytest.mark.spec("B, Custom audiences", "Batches succeed")
def test_audience_users_agree_with_a_plain_model() -> None:
    """Random batches leave in audiences and lists who the model says."""
    run(Users, sequences=25, steps=20)
