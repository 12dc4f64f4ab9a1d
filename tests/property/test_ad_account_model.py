"""An ad account against a plain model: funding, campaigns, line items, what they show, and time.

After any sequence the lists are those of the model, what can serve serves, and no campaign spends
more than its total. The same is checked on a store that is kept, with restarts and kills.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck
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

from mock_platform.api.ads.campaigns.spend import measure_spend
from mock_platform.settings import Settings
from mock_platform.world.clock import wire_seconds
from mock_platform.world.world import World
from tests.generated import examples
from tests.support import BEARER, Sandbox, sandbox
from tests.test_kept_worlds import Server
from tests.world.backends import crash

START = datetime(2026, 11, 20, 10, tzinfo=UTC)
POST = "1712850617439551489"
INVALID = "INVALID_PARAMETER"
DAILY, TOTAL = "daily_budget_amount_local_micro", "total_budget_amount_local_micro"
Record = dict[str, Any]
AMOUNTS = st.sampled_from([None, None, 1_000_000, 30_000_000, 900_000_000])
HOURS = st.sampled_from([None, None, -24, 6, 24, 30])
STATUSES = st.sampled_from(["ACTIVE", "ACTIVE", "PAUSED", "DRAFT"])
WHICH = st.integers(0, 20)


def find_gone(noun: str, record: Record) -> set[tuple[str, str]]:
    """The error of a record that is deleted already, if it is."""
    one = noun.removesuffix("s")
    return {(f"{one.upper()}_NOT_FOUND", f"{one}_id")} if record["deleted"] else set()


class InMemory:
    """A sandbox whose world starts again with each sequence."""

    def __init__(self) -> None:
        self.box: Sandbox = sandbox(limits="off", auth="off")

    @property
    def world(self) -> World:
        """Its default world."""
        return self.box.world

    def ask(self, method: str, path: str, **more: Any) -> TestResponse:
        """One request of the well-known user."""
        return self.box.call(method, path, keys=BEARER, **more)


class Kept:
    """A server that keeps its worlds in a file, and is stopped or killed now and then."""

    def __init__(self, folder: Path) -> None:
        store = f"tinydb:{folder / 'state.json'}"
        self._settings = Settings(store=store, freeze=START, limits="off")
        self._server = Server(self._settings)

    @property
    def world(self) -> World:
        """Its default world."""
        return self._server.platform.worlds.default

    def ask(self, method: str, path: str, **more: Any) -> TestResponse:
        """One request of the well-known user."""
        headers = {"Authorization": f"Bearer {BEARER}"}
        return self._server.client.open(path, method=method, headers=headers, **more)

    def restart(self, *, kill: bool) -> None:
        """Open the files again."""
        if kill:
            self._server.platform.close()
            crash(self._server.opened.archive)
        else:
            self.close()
        self._server = Server(self._settings)

    def close(self) -> None:
        """Stop it for good."""
        self._server.opened.close()


class AdAccount(RuleBasedStateMachine):
    """An account that begins empty; its clock is frozen between the steps."""

    host: InMemory | Kept

    @initialize()
    def begin(self) -> None:
        """A new account, with one instrument and one campaign."""
        self.host.world.reset()
        self.host.world.clock.freeze(START)
        answer = self.host.ask("POST", "/sandbox/12/accounts")
        account = answer.get_json()["data"]["id"]
        self.base = f"/12/accounts/{account}"
        self.batch = f"/12/batch/accounts/{account}"
        self.funding: dict[str, Record] = {}
        self.campaigns: dict[str, Record] = {}
        self.items: dict[str, Record] = {}
        self.posts: dict[str, Record] = {}
        self.criteria: dict[str, Record] = {}
        self.fund(None)
        self.plan(0, "ACTIVE", None, None, batch=False)

    # -- what the steps share --------------------------------------------------------------------

    @property
    def now(self) -> datetime:
        """The time of the world."""
        return self.host.world.clock.now()

    def at(self, hours: int | None) -> str | None:
        """A moment relative to the start of the sequence."""
        return None if hours is None else wire_seconds(START + timedelta(hours=hours))

    def write(
        self, method: str, noun: str, key: str, sent: Record, *, batch: bool = False
    ) -> tuple[Record | None, set[tuple[str, str]]]:
        """One write, alone or in a batch: its record, or the code and parameter of each error.

        It takes three hours.
        """
        values = {name: value for name, value in sent.items() if value is not None}
        id_name = f"{noun.removesuffix('s')}_id"
        if batch:
            kind = {"POST": "Create", "PUT": "Update", "DELETE": "Delete"}[method]
            params = values | ({id_name: key} if key else {})
            body = [{"operation_type": kind, "params": params}]
            answer = self.host.ask("POST", f"{self.batch}/{noun}", json=body).get_json()
            errors = [error for item in answer.get("operation_errors", ()) for error in item]
        else:
            prefix = "/sandbox" if noun == "funding_instruments" else ""
            path = f"{prefix}{self.base}/{noun}{key and f'/{key}'}"
            answer = self.host.ask(method, path, query_string=values).get_json()
            errors = answer.get("errors", [])
        self.host.world.clock.advance(3 * 3600)
        if errors:
            return None, {(error["code"], error["parameter"]) for error in errors}
        found = answer["data"]
        return (found[0] if isinstance(found, list) else found), set()

    def drop(
        self, noun: str, records: dict[str, Record], which: int, *, batch: bool = False
    ) -> None:
        """Delete a record, which happens once."""
        key = list(records)[which % len(records)]
        _, errors = self.write("DELETE", noun, key, {}, batch=batch)
        assert errors == find_gone(noun, records[key])
        records[key]["deleted"] = True

    def find_all(self, noun: str, **query: str) -> dict[str, Record]:
        """The records of a list, by their ids."""
        path = f"{self.base}/{noun}"
        answer = self.host.ask("GET", path, query_string={"count": "1000", **query}).get_json()
        return {record["id"]: record for record in answer["data"]}

    def is_alive(self, item: Record) -> bool:
        """Whether neither a line item nor its campaign is deleted."""
        return not item["deleted"] and not self.campaigns[item["campaign_id"]]["deleted"]

    # -- the steps -------------------------------------------------------------------------------

    @rule(end=HOURS)
    def fund(self, end: int | None) -> None:
        """A new instrument; the end has to be after the start."""
        start = -48
        sent = {
            "currency": "USD",
            "type": "CREDIT_CARD",
            "start_time": self.at(start),
            "end_time": self.at(end),
        }
        made, errors = self.write("POST", "funding_instruments", "", sent)
        assert made is not None, errors
        self.funding[made["id"]] = {"end": self.at(end), "deleted": False}

    @rule(which=WHICH)
    def take_funding_away(self, which: int) -> None:
        """An instrument is deleted once; the first one stays, so that something serves."""
        if which % len(self.funding):
            self.drop("funding_instruments", self.funding, which)

    @rule(which=WHICH, status=STATUSES, daily=AMOUNTS, total=AMOUNTS, batch=st.booleans())
    def plan(
        self, which: int, status: str, daily: int | None, total: int | None, *, batch: bool
    ) -> None:
        """A new campaign: with an instrument that is not deleted, and budgets that fit."""
        funding = list(self.funding)[which % len(self.funding)]
        sent = {
            "name": "Plan", "funding_instrument_id": funding, "entity_status": status, DAILY: daily,
            TOTAL: total,
        }  # fmt: skip
        expected = set()
        if self.funding[funding]["deleted"]:
            expected = {("INVALID_FUNDING_INSTRUMENT", "funding_instrument_id")}
        elif daily and total and daily > total:
            expected = {(INVALID, DAILY)}
        made, errors = self.write("POST", "campaigns", "", sent, batch=batch)
        assert errors == expected
        if made is not None:
            self.campaigns[made["id"]] = sent | {"deleted": False}

    @rule(which=WHICH, status=STATUSES, daily=AMOUNTS, total=AMOUNTS, batch=st.booleans())
    def change_campaign(
        self, which: int, status: str, daily: int | None, total: int | None, *, batch: bool
    ) -> None:
        """Budgets stay above what was spent; a draft may stay one, and nothing becomes one."""
        key = list(self.campaigns)[which % len(self.campaigns)]
        campaign = self.campaigns[key]
        sent = {"entity_status": status, DAILY: daily, TOTAL: total}
        after = campaign | {name: value for name, value in sent.items() if value is not None}
        expected = set()
        if campaign["deleted"]:
            expected = find_gone("campaigns", campaign)
        elif status == "DRAFT" and campaign["entity_status"] != "DRAFT":
            expected = {(INVALID, "entity_status")}
        elif (daily or total) and after[DAILY] and after[TOTAL] and after[DAILY] > after[TOTAL]:
            expected = {(INVALID, DAILY)}
        elif total and total != campaign[TOTAL] and total < self.measure(key):
            expected = {("SPEND_EXCEEDS_BUDGET", TOTAL)}
        _, errors = self.write("PUT", "campaigns", key, sent, batch=batch)
        assert errors == expected
        if not expected:
            self.campaigns[key] = after

    @rule(which=WHICH, batch=st.booleans())
    def drop_campaign(self, which: int, *, batch: bool) -> None:
        """A campaign is deleted once; every second one is spared."""
        if which % 2:
            self.drop("campaigns", self.campaigns, which, batch=batch)

    @rule(
        which=WHICH, objective=st.sampled_from(["ENGAGEMENTS", "ENGAGEMENTS", "VIDEO_VIEWS"]),
        status=STATUSES, times=st.tuples(HOURS, HOURS), total=AMOUNTS, batch=st.booleans(),
    )  # fmt: skip
    def add_item(
        self,
        which: int,
        objective: str,
        status: str,
        times: tuple[int | None, int | None],
        total: int | None,
        *,
        batch: bool,
    ) -> None:
        """A new line item: like its siblings, within the campaign's total and in order."""
        key = list(self.campaigns)[which % len(self.campaigns)]
        campaign = self.campaigns[key]
        start, end = (self.at(hours) for hours in times)
        sent = {
            "campaign_id": key, "objective": objective, "product_type": "PROMOTED_POSTS",
            "placements": "ALL_ON_PLATFORM", "entity_status": status, "start_time": start,
            "end_time": end, TOTAL: total,
        }  # fmt: skip
        siblings = {
            item["objective"]
            for item in self.items.values()
            if item["campaign_id"] == key and not item["deleted"]
        }
        expected = find_gone("campaigns", campaign)
        if not expected:
            if siblings and objective not in siblings:
                expected.add((INVALID, "objective"))
            if start and end and end <= start:
                expected.add(("INVALID_TIME_WINDOW", "end_time"))
            if total and campaign[TOTAL] and total > campaign[TOTAL]:
                expected.add((INVALID, TOTAL))
        made, errors = self.write("POST", "line_items", "", sent, batch=batch)
        assert errors == expected
        if made is not None:
            self.items[made["id"]] = sent | {"deleted": False}

    @precondition(lambda self: self.items)
    @rule(which=WHICH, status=st.sampled_from(["ACTIVE", "PAUSED"]), end=HOURS, batch=st.booleans())
    def change_item(self, which: int, status: str, end: int | None, *, batch: bool) -> None:
        """A line item is changed even below a deleted campaign."""
        key = list(self.items)[which % len(self.items)]
        item = self.items[key]
        sent = {"entity_status": status, "end_time": self.at(end)}
        expected = find_gone("line_items", item)
        if (
            not expected
            and end is not None
            and item["start_time"]
            and str(self.at(end)) <= item["start_time"]
        ):
            expected = {("INVALID_TIME_WINDOW", "end_time")}
        _, errors = self.write("PUT", "line_items", key, sent, batch=batch)
        assert errors == expected
        if not expected:
            item |= {name: value for name, value in sent.items() if value is not None}

    @precondition(lambda self: self.items)
    @rule(which=WHICH, batch=st.booleans())
    def drop_item(self, which: int, *, batch: bool) -> None:
        """A line item is deleted once; every second one is spared."""
        if which % 2:
            self.drop("line_items", self.items, which, batch=batch)

    @precondition(lambda self: self.items)
    @rule(which=WHICH)
    def promote(self, which: int) -> None:
        """A line item shows the post; once more changes nothing."""
        key = list(self.items)[which % len(self.items)]
        sent = {"line_item_id": key, "post_ids": POST}
        made, errors = self.write("POST", "promoted_posts", "", sent)
        assert errors == find_gone("line_items", self.items[key])
        if made is not None:
            self.posts.setdefault(made["id"], {"line_item_id": key, "deleted": False})

    @precondition(lambda self: self.posts)
    @rule()
    def wait_for_all(self) -> None:
        """So long that what has an amount has spent it."""
        self.wait(200)

    @precondition(lambda self: self.posts)
    @rule(which=WHICH)
    def take_back(self, which: int) -> None:
        """What a line item shows is deleted once."""
        self.drop("promoted_posts", self.posts, which)

    @precondition(lambda self: self.items)
    @rule(which=WHICH, word=st.sampled_from(["espresso", "filter"]), batch=st.booleans())
    def aim(self, which: int, word: str, *, batch: bool) -> None:
        """A line item targets a keyword."""
        key = list(self.items)[which % len(self.items)]
        sent = {
            "line_item_id": key, "targeting_type": "BROAD_KEYWORD", "targeting_value": word,
            "operator_type": "EQ",
        }  # fmt: skip
        made, errors = self.write("POST", "targeting_criteria", "", sent, batch=batch)
        assert errors == find_gone("line_items", self.items[key])
        if made is not None:
            self.criteria.setdefault(made["id"], {"line_item_id": key})

    @rule(total=AMOUNTS, hours=st.sampled_from([None, 6, 24]))
    def advertise(self, total: int | None, hours: int | None) -> None:
        """All that one ad needs, at once, from now on."""
        later = self.now + timedelta(hours=hours or 0)
        end = None if hours is None else wire_seconds(later)
        plan = {"name": "Ad", "funding_instrument_id": next(iter(self.funding)), TOTAL: total}
        campaign, _ = self.write("POST", "campaigns", "", plan)
        assert campaign is not None
        self.campaigns[campaign["id"]] = {
            "entity_status": "ACTIVE", DAILY: None, "deleted": False, **plan,
        }  # fmt: skip
        bought = {
            "campaign_id": campaign["id"], "objective": "ENGAGEMENTS",
            "product_type": "PROMOTED_POSTS", "placements": "ALL_ON_PLATFORM", "end_time": end,
        }  # fmt: skip
        item, _ = self.write("POST", "line_items", "", bought)
        assert item is not None
        self.items[item["id"]] = bought | {"start_time": None, "deleted": False}
        self.promote(list(self.items).index(item["id"]))

    @rule(days=st.sampled_from([1, 10, 60]))
    def wait(self, days: int) -> None:
        """Days pass: line items begin and end, ads are shown and cost."""
        self.host.world.clock.advance(days * 24 * 3600)

    # -- what holds after each step --------------------------------------------------------------

    @invariant()
    def campaigns_agree(self) -> None:
        """Each campaign serves, or says why not, as the model does."""
        living = {key for key, each in self.campaigns.items() if not each["deleted"]}
        drafts = {key for key in living if self.campaigns[key]["entity_status"] == "DRAFT"}
        every = self.find_all("campaigns", with_deleted="true", with_draft="true")
        assert every.keys() == self.campaigns.keys()
        assert self.find_all("campaigns").keys() == living - drafts
        for key, shown in every.items():
            reasons, total = self.find_reasons(key), self.campaigns[key][TOTAL]
            if reasons or total is None:
                assert shown["reasons_not_servable"] == reasons
            elif self.measure(key) * 100 > total * 99:
                assert shown["reasons_not_servable"] == ["BUDGET_EXHAUSTED"]
            else:  # what is left may be less than one more click costs
                assert shown["reasons_not_servable"] in ([], ["BUDGET_EXHAUSTED"])
            assert shown["servable"] is not bool(shown["reasons_not_servable"])
            for name in ("entity_status", DAILY, TOTAL, "deleted"):
                assert shown[name] == self.campaigns[key][name]

    def measure(self, key: str) -> int:
        """What a campaign has spent."""
        stored = self.host.world.store.get("campaigns", key)
        assert stored is not None
        return measure_spend(self.host.world, stored)

    def find_reasons(self, key: str) -> list[str]:
        """Why a campaign does not serve, its spending aside."""
        campaign, now = self.campaigns[key], wire_seconds(self.now)
        if campaign["deleted"]:
            return ["DELETED"]
        items = {
            each: item
            for each, item in self.items.items()
            if item["campaign_id"] == key and not item["deleted"]
        }
        showing = {post["line_item_id"] for post in self.posts.values() if not post["deleted"]}
        funding = self.funding[campaign["funding_instrument_id"]]
        found = []
        if items and all(item["end_time"] and item["end_time"] <= now for item in items.values()):
            found.append("EXPIRED")
        if items and all((item["start_time"] or "") > now for item in items.values()):
            found.append("STARTS_IN_FUTURE")
        if campaign["entity_status"] != "ACTIVE":
            found.append("PAUSED_BY_ADVERTISER")
        if not showing & items.keys():
            found.append("INCOMPLETE")
        if funding["deleted"] or (funding["end"] and funding["end"] <= now):
            found.append("FUNDING_PROBLEM")
        return found

    @invariant()
    def children_agree(self) -> None:
        """What is below a deleted record is listed on request only, and is not deleted itself."""
        every = self.find_all("line_items", with_deleted="true", with_draft="true")
        assert {key: item["deleted"] for key, item in every.items()} == {
            key: item["deleted"] for key, item in self.items.items()
        }
        alive = {key for key, item in self.items.items() if self.is_alive(item)}
        assert self.find_all("line_items", with_draft="true").keys() == alive
        shown = {
            key
            for key, post in self.posts.items()
            if not post["deleted"] and post["line_item_id"] in alive
        }
        assert self.find_all("promoted_posts").keys() == shown
        if self.items:
            ids = ",".join(self.items)
            aimed = {key for key, each in self.criteria.items() if each["line_item_id"] in alive}
            assert self.find_all("targeting_criteria", line_item_ids=ids).keys() == aimed

    @invariant()
    def budgets_hold(self) -> None:
        """No campaign has spent more than its total."""
        for key, campaign in self.campaigns.items():
            if campaign[TOTAL] is not None:
                assert self.measure(key) <= campaign[TOTAL]


class KeptAdAccount(AdAccount):
    """The same on a store that is kept."""

    @rule(kill=st.booleans())
    def restart(self, *, kill: bool) -> None:
        """After a restart, clean or not, all is as before."""
        assert isinstance(self.host, Kept)
        before = self.now
        self.host.restart(kill=kill)
        assert self.now == before


def run(machine: type[AdAccount], host: InMemory | Kept, *, sequences: int, steps: int) -> None:
    """Random sequences of steps, the same ones each time."""
    run_state_machine_as_test(
        type(machine.__name__, (machine,), {"host": host}),
        settings=examples(
            sequences, stateful_step_count=steps, suppress_health_check=list(HealthCheck)
        ),
    )


def test_an_ad_account_agrees_with_a_plain_model() -> None:
    """Whatever happens in whatever order, the account is consistent."""
    run(AdAccount, InMemory(), sequences=30, steps=40)


def test_an_ad_account_that_is_kept_agrees_with_a_plain_model(tmp_path: Path) -> None:
    """The same with restarts and kills."""
    host = Kept(tmp_path)
    try:
        run(KeptAdAccount, host, sequences=8, steps=25)
    finally:
        host.close()
