"""Line items, audience permissions, products and sets, audience users against plain models.

Accounts and creatives have models of their own beside this one.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from hashlib import sha256
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from werkzeug.test import TestResponse

from mock_platform.world.clock import wire_seconds
from tests.support import (
    ACCOUNT,
    BEARER,
    HARBOR,
    NORTHBIKE,
    OTHER_ACCOUNT,
    Sandbox,
    faults,
    sandbox,
)

BASE = f"/12/accounts/{ACCOUNT}"
START = datetime(2026, 11, 20, 10, tzinfo=UTC)
INVALID, MISSING = "INVALID_PARAMETER", "MISSING_PARAMETER"
Record = dict[str, Any]


class Family(RuleBasedStateMachine):
    """A sandbox whose world begins anew with each sequence; its clock stands between calls."""

    box: Sandbox

    def start(self) -> None:
        """The world as it is shipped, at a moment of its own."""
        self.world = self.box.platform.worlds.default
        self.world.reset()
        self.world.clock.freeze(START)

    @property
    def now(self) -> str:
        """The world's time as it is served."""
        return wire_seconds(self.world.clock.now())

    def tick(self) -> None:
        """Time passes between what happens and what happens next."""
        self.world.clock.advance(1)

    def call(self, method: str, path: str, **more: Any) -> TestResponse:
        """One request of the well-known user."""
        headers = {"Authorization": f"Bearer {BEARER}"}
        return self.box.call(method, path, keys=None, headers=headers, **more)


def data(response: TestResponse) -> Any:
    """The data of a success."""
    assert response.status_code == 200, response.text
    return response.get_json()["data"]


def run(machine: type[Family], *, examples: int, steps: int) -> None:
    """Random sequences of operations, the same ones each time."""
    run_state_machine_as_test(
        type(machine.__name__, (machine,), {"box": sandbox(limits="off")}),
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            derandomize=True,
            database=None,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )


# -- line items ----------------------------------------------------------------------------------

CAPPED = {"REACH", "ENGAGEMENTS", "VIDEO_VIEWS", "PREROLL_VIEWS"}
BID, DAILY, TOTAL = (
    "bid_amount_local_micro",
    "daily_budget_amount_local_micro",
    "total_budget_amount_local_micro",
)
AMOUNTS = st.sampled_from(["", "1", "5500000", "100000000", "150000000", "12000000000"])
CHANGES = st.fixed_dictionaries(
    {},
    optional={
        "name": st.sampled_from(["Alpha", "Alpine", "Beta"]),
        "entity_status": st.sampled_from(["ACTIVE", "PAUSED"]),
        "bid_strategy": st.sampled_from(["AUTO", "MAX", "TARGET"]),
        "pay_by": st.sampled_from(["IMPRESSION", "APP_CLICK", "LINK_CLICK"]),
        "frequency_cap": st.sampled_from(["", "1", "9"]),
        "duration_in_days": st.sampled_from(["", "1", "2", "7", "30", "31"]),
        "end_time": st.sampled_from(["", "2026-06-01T00:00:00Z", "2028-01-01T00:00:00Z"]),
        BID: AMOUNTS,
        DAILY: AMOUNTS,
        TOTAL: AMOUNTS,
    },
)
NUMBERS = {"frequency_cap", "duration_in_days", BID, DAILY, TOTAL}
CATEGORIES = {
    "8tujl1p3yn0g": {"US", "CA"},
    "8tujtb9xo5ts": {"GB", "DE", "ES"},
    "aq1v0m52z7uo": {"DE", "FR", "NL"},
}
AIMED = {"itttx": {"US"}, "iu0p9": {"US"}, "iuc5v": {"US", "GB"}}
"""The countries that line items of the fixtures target; the others aim everywhere."""


def become(before: Record, sent: Mapping[str, str]) -> Record:
    """A line item with changes in the types in which it is stored; AUTO keeps no amount."""
    typed: Record = {
        name: (None if text == "" else int(text) if name in NUMBERS else text)
        for name, text in sent.items()
    }
    after = before | typed
    return after | {BID: None} if after["bid_strategy"] == "AUTO" else after


def told(before: Record, optimization: str, sent: Mapping[str, str]) -> set[tuple[str, str]]:
    """What document B's update table says against a change, told in another way than the product.

    Only rules in which a parameter of the request takes part.
    """
    after, objective = become(before, sent), before["objective"]
    found: set[tuple[str, str]] = set()
    bids, budgets = sent.keys() & {"bid_strategy", BID}, sent.keys() & {DAILY, TOTAL}
    by_target = objective in {"REACH", "WEBSITE_CLICKS"}
    checks = [
        (bids and after["bid_strategy"] != "AUTO" and after[BID] is None, MISSING, BID),
        (
            bids and after["bid_strategy"] == "MAX" and objective in {"REACH", "FOLLOWERS"},
            INVALID,
            "bid_strategy",
        ),
        (bids and after["bid_strategy"] == "TARGET" and not by_target, INVALID, "bid_strategy"),
        (
            "pay_by" in sent
            and after["pay_by"] != before["pay_by"]
            and objective != "APP_INSTALLS",
            INVALID,
            "pay_by",
        ),
        (
            sent.keys() & {"pay_by", "bid_strategy"}
            and (after["pay_by"], after["bid_strategy"]) == ("IMPRESSION", "TARGET"),
            INVALID,
            "pay_by" if "pay_by" in sent else "bid_strategy",
        ),
        (bool(sent.get("frequency_cap")) and objective not in CAPPED, INVALID, "frequency_cap"),
        (
            "duration_in_days" in sent and after["duration_in_days"] not in {None, 1, 7, 30},
            INVALID,
            "duration_in_days",
        ),
        (bool(sent.get(DAILY)) and optimization != "LINE_ITEM", INVALID, DAILY),
        (
            budgets and (after[DAILY] or 0) > (after[TOTAL] or Decimal("inf")),
            INVALID,
            DAILY if DAILY in sent else TOTAL,
        ),
        (
            "end_time" in sent and (after["end_time"] or "9999") <= after["start_time"],
            "INVALID_TIME_WINDOW",
            "end_time",
        ),
    ]
    for broken, code, name in checks:
        if broken:
            found.add((code, name))
    return found


class LineItems(Family):
    """Line items are changed and deleted, and linked to curated categories."""

    @initialize()
    def begin(self) -> None:
        """The model begins with what the lists show."""
        self.start()
        query = {"with_deleted": "true"}
        self.items: dict[str, Record] = {
            item["id"]: item
            for item in data(self.call("GET", f"{BASE}/line_items", query_string=query))
        }
        self.links: dict[str, Record] = {
            link["id"]: link for link in data(self.call("GET", self.links_path, query_string=query))
        }
        self.changes: dict[str, list[str]] = {key: [] for key in self.items}
        self.plans: dict[str, str] = {
            entry.key: entry.record["budget_optimization"]
            for entry in self.world.store.page("campaigns")
        }

    links_path = f"{BASE}/line_item_curated_categories"

    def pick(self, which: int) -> Record:
        """Any line item, deleted ones too."""
        return list(self.items.values())[which % len(self.items)]

    @rule(which=st.integers(0, 20), sent=CHANGES)
    def change(self, which: int, sent: dict[str, str]) -> None:
        """A change is taken whole or refused whole, with everything that speaks against it."""
        before = self.pick(which)
        self.tick()
        response = self.call("PUT", f"{BASE}/line_items/{before['id']}", query_string=sent)
        if before["deleted"]:
            assert [("LINE_ITEM_NOT_FOUND", "line_item_id")] == faults(response)
            return
        expected = told(before, self.plans[before["campaign_id"]], sent)
        if expected:
            assert (400, expected) == (response.status_code, set(faults(response)))
            return
        after = become(before, sent)
        self.items[before["id"]] = after | {"updated_at": self.now}
        assert self.items[before["id"]] == data(response)
        if before != after:
            self.changes[before["id"]].append("UPDATE")

    @rule(which=st.integers(0, 20))
    def delete(self, which: int) -> None:
        """A delete happens once; half the line items are spared, so that others have some."""
        before = self.pick(which)
        if which % 2:
            return
        self.tick()
        response = self.call("DELETE", f"{BASE}/line_items/{before['id']}")
        if before["deleted"]:
            assert (404, "LINE_ITEM_NOT_FOUND") == (response.status_code, faults(response)[0][0])
            return
        self.items[before["id"]] = before | {"deleted": True, "updated_at": self.now}
        assert self.items[before["id"]] == data(response)
        self.changes[before["id"]].append("DELETE")

    @rule(
        which=st.integers(0, 20),
        category=st.sampled_from([*CATEGORIES, "nope"]),
        link=st.none() | st.integers(0, 20),
    )
    def link(self, which: int, category: str, link: int | None) -> None:
        """A line item is linked to a category, or an old link is pointed there."""
        item = self.pick(which)["id"]
        ends = {"line_item_id": item, "curated_category_id": category}
        old = None if link is None else list(self.links.values())[link % len(self.links)]
        self.tick()
        if old is None:
            response = self.call("POST", self.links_path, query_string=ends)
        else:
            response = self.call("PUT", f"{self.links_path}/{old['id']}", query_string=ends)
        if old is not None and old["deleted"]:
            assert [("NOT_FOUND", "line_item_curated_category_id")] == faults(response)
        elif old is not None and ends.items() <= old.items():
            assert old == data(response)
        elif self.items[item]["deleted"]:
            assert [("LINE_ITEM_NOT_FOUND", "line_item_id")] == faults(response)
        elif category == "nope":
            assert [("NOT_FOUND", "curated_category_id")] == faults(response)
        elif item in AIMED and not AIMED[item] & CATEGORIES[category]:
            assert [(INVALID, "curated_category_id")] == faults(response)
        else:
            found = data(response)
            created = self.now if old is None else old["created_at"]
            moments = {"created_at": created, "updated_at": self.now, "deleted": False}
            expected = {"id": found["id"] if old is None else old["id"]} | ends | moments
            assert expected == found
            assert (found["id"] in self.links) is (old is not None)
            self.links[found["id"]] = found

    @rule(which=st.integers(0, 20))
    def unlink(self, which: int) -> None:
        """A link is deleted once."""
        link = list(self.links.values())[which % len(self.links)]
        self.tick()
        response = self.call("DELETE", f"{self.links_path}/{link['id']}")
        if link["deleted"]:
            assert 404 == response.status_code
            return
        self.links[link["id"]] = link | {"deleted": True, "updated_at": self.now}
        assert self.links[link["id"]] == data(response)

    @rule(campaign=st.sampled_from(["8wku2", "8x3fz"]), q=st.sampled_from(["AL", "beta", "h"]))
    def find(self, campaign: str, q: str) -> None:
        """Campaign and prefix both restrict the list."""
        query = {"campaign_ids": campaign, "q": q}
        found = data(self.call("GET", f"{BASE}/line_items", query_string=query))
        expected = [
            item
            for item in self.items.values()
            if not item["deleted"]
            and item["campaign_id"] == campaign
            and (item["name"] or "").lower().startswith(q.lower())
        ]
        assert expected == found

    @rule(which=st.integers(0, 20))
    def look_back(self, which: int) -> None:
        """The history of a line item tells each change of this sequence, in order."""
        item = self.pick(which)
        query = {
            "entity_type": "LINE_ITEM",
            "entity_id": item["id"],
            "start_time": "2026-11-20T10:00:00Z",
            "end_time": "2026-11-20T11:00:00Z",
        }
        found = data(self.call("GET", f"{BASE}/account_history", query_string=query))

        assert self.changes[item["id"]] == [entry["change_type"] for entry in found]
        if found:
            last = {name: value for name, value in item.items() if name != "id"}
            assert (
                last | {"updated_at": found[-1]["entity_data"]["updated_at"]}
                == (found[-1]["entity_data"])
            )

    @invariant()
    def lists_agree(self) -> None:
        """Both lists are the model, with and without what is deleted."""
        for path, model in ((f"{BASE}/line_items", self.items), (self.links_path, self.links)):
            records = list(model.values())
            query = {"with_deleted": "true"}
            assert records == data(self.call("GET", path, query_string=query))
            living = [record for record in records if not record["deleted"]]
            counted = self.call(
                "GET", path, query_string={"with_total_count": "true", "count": "2"}
            ).get_json()
            assert (living[:2], len(living)) == (counted["data"], counted["total_count"])


def test_line_items_agree_with_a_plain_model() -> None:
    """Random changes, deletes and links leave line items and their history as the model says."""
    run(LineItems, examples=25, steps=30)


# -- audience permissions ------------------------------------------------------------------------

WHOLESALE, EUROPE = "18ce55fw2ag", "18ce5b7qk2c"
BUSINESS = {ACCOUNT: "2k9", WHOLESALE: "2k9", EUROPE: "2k9", OTHER_ACCOUNT: "7tq"}
OWNERS = {"2906h": ACCOUNT, "2b4kp": ACCOUNT, "3k2pf": WHOLESALE, "4q7sd": OTHER_ACCOUNT}
TARGETING = {("2906h", WHOLESALE)}
"""Accounts whose line items target an audience already, whatever becomes of permissions."""
ACCOUNTS = st.sampled_from(sorted(BUSINESS))
AUDIENCES = st.sampled_from(sorted(OWNERS))


class Permissions(Family):
    """Accounts of two users grant one another the use of audiences and take it back."""

    @initialize()
    def begin(self) -> None:
        """The model begins with what is stored of these audiences."""
        self.start()
        self.granted: dict[str, Record] = {
            entry.key: dict(entry.record)
            for entry in self.world.store.page("audience_permissions")
            if entry.record["_audience_id"] in OWNERS
        }
        self.sharing = {OTHER_ACCOUNT}
        criterion = self.box.record("targeting_criteria", "8puq7")
        with self.world.work():
            changes = {"id": "8puzz", "targeting_value": "2906h"}
            self.world.store.put("targeting_criteria", "8puzz", criterion | changes)

    def ask(self, method: str, account: str, rest: str, **query: str) -> TestResponse:
        """One request about an audience as the user of an account, in version 5."""
        keys = NORTHBIKE if account == OTHER_ACCOUNT else HARBOR
        path = f"/5/accounts/{account}/tailored_audiences/{rest}"
        return self.box.call(method, path, keys=keys, query_string=query)

    def standing(self, audience: str, account: str | None = None) -> list[Record]:
        """What is granted on an audience now, to one account or to all."""
        return [
            record
            for record in self.granted.values()
            if record["_audience_id"] == audience
            and not record["deleted"]
            and account in {None, record["granted_account_id"]}
        ]

    def sees(self, audience: str, account: str) -> bool:
        """Whether an audience is visible to an account."""
        return (
            account == OWNERS[audience]
            or (audience, account) in TARGETING
            or bool(self.standing(audience, account))
        )

    @rule(audience=AUDIENCES, by=ACCOUNTS, to=ACCOUNTS, level=st.sampled_from(["ONLY", "WRITE"]))
    def grant(self, audience: str, by: str, to: str, level: str) -> None:
        """Only owners grant, to others, once, within the business or with the feature."""
        self.tick()
        sent = {"granted_account_id": to, "permission_level": f"READ_{level}"}
        response = self.ask("POST", by, f"{audience}/permissions", **sent)
        refused = (
            (not self.sees(audience, by), 404, "TAILORED_AUDIENCE_NOT_FOUND"),
            (by != OWNERS[audience], 403, "ACTION_NOT_ALLOWED"),
            (by == to, 400, INVALID),
            (
                BUSINESS[by] != BUSINESS[to] and by not in self.sharing,
                400,
                "FEATURE_NOT_AVAILABLE",
            ),
            (bool(self.standing(audience, to)), 400, INVALID),
        )
        for broken, status, code in refused:
            if broken:
                assert (status, code) == (response.status_code, faults(response)[0][0])
                return
        found = data(response)
        moments = {"created_at": self.now, "updated_at": self.now, "deleted": False}
        assert {"id": found["id"], "tailored_audience_id": audience} | sent | moments == found
        assert found["id"] not in self.granted
        self.granted[found["id"]] = {"_audience_id": audience, "id": found["id"]} | sent | moments

    @precondition(lambda self: self.granted)
    @rule(which=st.integers(0, 30), by=ACCOUNTS)
    def revoke(self, which: int, by: str) -> None:
        """Only the owner revokes, and once."""
        record = list(self.granted.values())[which % len(self.granted)]
        audience = record["_audience_id"]
        self.tick()
        response = self.ask("DELETE", by, f"{audience}/permissions/{record['id']}")
        if record["deleted"] or not self.sees(audience, by):
            assert 404 == response.status_code
            return
        if by != OWNERS[audience]:
            assert (403, "ACTION_NOT_ALLOWED") == (response.status_code, faults(response)[0][0])
            return
        record |= {"deleted": True, "updated_at": self.now}
        assert record | {"tailored_audience_id": audience} == data(response) | {
            "_audience_id": audience
        }

    @rule(account=ACCOUNTS)
    def share_or_not(self, account: str) -> None:
        """The feature that opens other businesses comes and goes."""
        self.sharing ^= {account}
        features = set(self.box.record("accounts", account)["_features"])
        features ^= {"SHARE_AUDIENCE_OUTSIDE_BUSINESS"}
        self.box.change("accounts", account, _features=sorted(features))

    @rule(audience=AUDIENCES, account=ACCOUNTS)
    def look(self, audience: str, account: str) -> None:
        """The owner sees what stands, a granted account its own, others nothing; so in both."""
        keys = NORTHBIKE if account == OTHER_ACCOUNT else HARBOR
        response = self.ask("GET", account, f"{audience}/permissions")
        path = f"/12/accounts/{account}/custom_audiences/{audience}/permissions"
        newer = self.box.call("GET", path, keys=keys)
        if not self.sees(audience, account):
            assert [404, 404] == [response.status_code, newer.status_code]
            return
        mine = None if account == OWNERS[audience] else account
        expected = [record["id"] for record in self.standing(audience, mine)]
        assert expected == [record["id"] for record in data(response)]
        assert expected == [record["id"] for record in data(newer)]
        assert all(record["custom_audience_id"] == audience for record in data(newer))

    @rule(audience=AUDIENCES, account=ACCOUNTS)
    def upload(self, audience: str, account: str) -> None:
        """Owners and accounts that may write upload users; others do not."""
        user = {"partner_user_id": ["p-1"]}
        response = self.box.call(
            "POST",
            f"/12/accounts/{account}/custom_audiences/{audience}/users",
            keys=NORTHBIKE if account == OTHER_ACCOUNT else HARBOR,
            json=[{"operation_type": "Update", "params": {"users": [user]}}],
        )
        levels = {r["permission_level"] for r in self.standing(audience, account)}
        if not self.sees(audience, account):
            assert 404 == response.status_code
        elif account == OWNERS[audience] or "READ_WRITE" in levels:
            assert 200 == response.status_code
        else:
            assert 403 == response.status_code


def test_permissions_agree_with_a_plain_model() -> None:
    """Random grants and revocations leave audiences visible to whom the model says."""
    run(Permissions, examples=25, steps=35)


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
        results = data(self.call("PUT", f"{CATALOG}/products", json=body))["products_response"]
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
        report = data(self.call("DELETE", f"{CATALOG}/products", json={"product_keys": keys}))
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
        made = data(self.call("POST", f"{CATALOG}/product_sets", json=body))
        self.sets[made["id"]] = {"filters": filters}

    @rule(which=st.lists(st.integers(0, 30), max_size=3))
    def create_manual(self, which: list[int]) -> None:
        """A MANUAL set holds the products that were named, as long as they exist."""
        keys = [key for n in which if (key := self.pick(n)) is not None]
        body = {"name": "M", "type": "MANUAL", "product_keys": keys}
        made = data(self.call("POST", f"{CATALOG}/product_sets", json=body))
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
        if "filters" in held:
            assert (400, INVALID) == (response.status_code, faults(response)[0][0])
        else:
            held["ids"] = [] if key is None else [self.products[key]["id"]]
            assert held["ids"] == data(response)["product_ids"]

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
        listed = data(self.call("GET", f"{CATALOG}/products"))
        assert shown == [product["product_key"] for product in listed]
        for product in listed:
            model = self.products[product["product_key"]]
            sent = {k: v for k, v in model.items() if k != "item_group_key"}
            assert sent.items() <= product.items()
            assert (product["item_group_key"] is None) is (product["item_group_id"] is None)
            if product["item_group_key"] is not None:
                query = {"item_group_key": product["item_group_key"]}
                group = data(self.call("GET", f"{CATALOG}/products", query_string=query))
                assert self.members(product["item_group_id"]) == [p["product_key"] for p in group]
        for set_id, held in self.sets.items():
            found = data(self.call("GET", f"{CATALOG}/product_sets/{set_id}"))
            assert self.held(held) == found["product_ids"]

    def held(self, held: Record) -> list[str]:
        """Merchant ids that a set holds now."""
        everything = self.products.values()
        if "ids" in held:
            there = {product["id"] for product in everything}
            return [key for key in held["ids"] if key in there]
        tests = [FILTERS[n][1] for n in held["filters"]]
        return [product["id"] for product in everything if all(test(product) for test in tests)]


def test_products_agree_with_a_plain_model() -> None:
    """Random upserts and deletes leave lists, groups and sets as the model says."""
    run(Products, examples=25, steps=25)


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
    ("do_not_reach_lists", "4y1bc", "list_size"),
)


class Users(Family):
    """Batches put users into an audience and into a do-not-reach list, and take them out."""

    @initialize()
    def begin(self) -> None:
        """The model begins with the sizes that the records tell."""
        self.start()
        self.people: dict[str, set[Person]] = {key: self.stored(key) for _, key, _ in LISTS}
        self.strangers = {
            key: self.box.record(table, key)[size] - len(self.people[key])
            for table, key, size in LISTS
        }

    def stored(self, key: str) -> set[Person]:
        """Whom the sandbox knows of a list."""
        entries = self.world.store.page("audience_users", {"_audience_id": key})
        return {person(entry.record["identifiers"]) for entry in entries}

    @rule(audience=st.booleans(), operations=OPERATIONS, faulty=st.integers(0, 5))
    def upload(self, audience: bool, operations: list[Any], faulty: int) -> None:
        """A batch is taken whole, in order, or, with one fault in it, not at all."""
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
        found = data(response)
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
            assert len(self.people[key]) + self.strangers[key] == record[size]
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


def test_audience_users_agree_with_a_plain_model() -> None:
    """Random batches leave in audiences and lists who the model says."""
    run(Users, examples=25, steps=20)
