"""Line items with their curated categories, and audience permissions, against plain models.

Accounts and creatives have models of their own, as have products and uploads.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule
from werkzeug.test import TestResponse

from tests.property.machine import BASE, INVALID, MISSING, Family, Record, run
from tests.support import ACCOUNT, HARBOR, NORTHBIKE, OTHER_ACCOUNT, data_of, faults

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
    """A line item with changes in the types in which it is stored.

    AUTO keeps no amount; only a daily budget of its own is delivered evenly. What is paid follows
    from TARGET in the objectives that have it, unless it was sent.
    """
    typed: Record = {
        name: (None if text == "" else int(text) if name in NUMBERS else text)
        for name, text in sent.items()
    }
    after = before | typed
    after["standard_delivery"] = None if after[DAILY] is None else True
    if "pay_by" not in sent and after["objective"] in {"REACH", "WEBSITE_CLICKS"}:
        if after["bid_strategy"] == "TARGET" and "bid_strategy" in sent:
            after["pay_by"] = "LINK_CLICK"
        elif before["bid_strategy"] == "TARGET" != after["bid_strategy"]:
            after["pay_by"] = "IMPRESSION"
    return after | {BID: None} if after["bid_strategy"] == "AUTO" else after


def paid_from(line_item: Record) -> Record:
    """What reads of a line item serve and writes do not."""
    return {"funding_instrument_id": line_item["funding_instrument_id"]}


def told(before: Record, campaign: Record, sent: Mapping[str, str]) -> set[tuple[str, str]]:
    """What document B's update table forbids, written in another way than the product.

    Only rules in which a parameter of the request takes part.
    """
    after, objective = become(before, sent), before["objective"]
    found: set[tuple[str, str]] = set()
    bids, budgets = sent.keys() & {"bid_strategy", BID}, sent.keys() & {DAILY, TOTAL}
    by_target = objective in {"REACH", "WEBSITE_CLICKS"}
    followed = become(before, {n: value for n, value in sent.items() if n != "pay_by"})["pay_by"]
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
            and objective != "APP_INSTALLS"
            and (after["pay_by"] != followed or before["bid_strategy"] == after["bid_strategy"]),
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
        (
            bool(sent.get(DAILY)) and campaign["budget_optimization"] != "LINE_ITEM",
            INVALID,
            DAILY,
        ),
        (
            bool(sent.get(TOTAL))
            and after[TOTAL] != before[TOTAL]
            and (after[TOTAL] or 0) > (campaign[TOTAL] or Decimal("inf")),
            INVALID,
            TOTAL,
        ),
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
            for item in data_of(self.call("GET", f"{BASE}/line_items", query_string=query))
        }
        self.links: dict[str, Record] = {
            link["id"]: link
            for link in data_of(self.call("GET", self.links_path, query_string=query))
        }
        self.changes: dict[str, list[str]] = {key: [] for key in self.items}
        self.plans: dict[str, Record] = {
            entry.key: entry.record for entry in self.world.store.page("campaigns")
        }

    links_path = f"{BASE}/line_item_curated_categories"

    def pick(self, which: int) -> Record:
        """Any line item, deleted ones too."""
        return list(self.items.values())[which % len(self.items)]

    @rule(which=st.integers(0, 20), sent=CHANGES)
    def change(self, which: int, sent: dict[str, str]) -> None:
        """A change is accepted whole or refused whole, with everything that speaks against it."""
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
        self.items[before["id"]] = after | ({"updated_at": self.now} if sent else {})
        assert self.items[before["id"]] == data_of(response) | paid_from(before)
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
        assert self.items[before["id"]] == data_of(response) | paid_from(before)
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
            assert old == data_of(response)
        elif self.items[item]["deleted"]:
            assert [("LINE_ITEM_NOT_FOUND", "line_item_id")] == faults(response)
        elif category == "nope":
            assert [("NOT_FOUND", "curated_category_id")] == faults(response)
        elif item in AIMED and not AIMED[item] & CATEGORIES[category]:
            assert [(INVALID, "curated_category_id")] == faults(response)
        else:
            found = data_of(response)
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
        assert self.links[link["id"]] == data_of(response)

    @rule(campaign=st.sampled_from(["8wku2", "8x3fz"]), q=st.sampled_from(["AL", "beta", "h"]))
    def find(self, campaign: str, q: str) -> None:
        """Campaign and prefix both restrict the list."""
        query = {"campaign_ids": campaign, "q": q}
        found = data_of(self.call("GET", f"{BASE}/line_items", query_string=query))
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
        """The history of a line item shows each change of this sequence, in order."""
        item = self.pick(which)
        query = {
            "entity_type": "LINE_ITEM",
            "entity_id": item["id"],
            "start_time": "2026-11-20T10:00:00Z",
            "end_time": "2026-11-20T11:00:00Z",
        }
        found = data_of(self.call("GET", f"{BASE}/account_history", query_string=query))

        assert self.changes[item["id"]] == [entry["change_type"] for entry in found]
        if found:
            unrecorded = {"id", *paid_from(item)}
            last = {name: value for name, value in item.items() if name not in unrecorded}
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
            assert records == data_of(self.call("GET", path, query_string=query))
            living = [record for record in records if not record["deleted"]]
            counted = self.call(
                "GET", path, query_string={"with_total_count": "true", "count": "2"}
            ).get_json()
            assert (living[:2], len(living)) == (counted["data"], counted["total_count"])


@pytest.mark.spec("B, Line items", "bid_strategy: TARGET")
def test_line_items_agree_with_a_plain_model() -> None:
    """Random changes, deletes and links leave line items and their history as the model says."""
    run(LineItems, sequences=25, steps=30)


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
            (BUSINESS[by] != BUSINESS[to] and by not in self.sharing, 400, "FEATURE_NOT_AVAILABLE"),
            (bool(self.standing(audience, to)), 400, INVALID),
        )
        for broken, status, code in refused:
            if broken:
                assert (status, code) == (response.status_code, faults(response)[0][0])
                return
        found = data_of(response)
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
        assert record | {"tailored_audience_id": audience} == data_of(response) | {
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
        """The owner sees all grants, a granted account its own, others nothing; so in both."""
        keys = NORTHBIKE if account == OTHER_ACCOUNT else HARBOR
        response = self.ask("GET", account, f"{audience}/permissions")
        path = f"/12/accounts/{account}/custom_audiences/{audience}/permissions"
        newer = self.box.call("GET", path, keys=keys)
        if not self.sees(audience, account):
            assert [404, 404] == [response.status_code, newer.status_code]
            return
        mine = None if account == OWNERS[audience] else account
        expected = [record["id"] for record in self.standing(audience, mine)]
        assert expected == [record["id"] for record in data_of(response)]
        assert expected == [record["id"] for record in data_of(newer)]
        assert all(record["custom_audience_id"] == audience for record in data_of(newer))

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


@pytest.mark.spec("B, Tailored audience permissions (version 5)", "Creating or revoking")
def test_permissions_agree_with_a_plain_model() -> None:
    """Random grants and revocations leave audiences visible to whom the model says."""
    run(Permissions, sequences=25, steps=35)
