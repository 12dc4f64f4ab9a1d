"""Accounts and their features against a plain model, under any order of operations."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, rule
from werkzeug.test import TestResponse

from mock_platform.api.ads.accounts.records import INDUSTRY_TYPES
from mock_platform.api.ads.accounts.settings import SANDBOX_KEYS
from tests.property.machine import Family, run
from tests.support import HARBOR, NORTHBIKE, Keys, data_of

USERS = {"2244994945": HARBOR, "3805104374": NORTHBIKE}
NAMES = st.sampled_from(["Harbor", "harbor two", "HARBOR", "Straße", "STRASSE", "ß", " x", "é"])
WHO = st.sampled_from(sorted(USERS))
WHICH = st.integers(0, 30)
KEYS = st.lists(st.sampled_from(SANDBOX_KEYS[:5]), min_size=1, max_size=3)
SORTS = st.sampled_from(
    [None, *(f"{a}-{d}" for a in ("created_at", "name", "deleted") for d in ("asc", "desc"))]
)


@dataclass
class Account:
    """What is expected of one account."""

    id: str
    owners: list[str]
    fields: dict[str, Any]
    features: set[str] = field(default_factory=set)

    @property
    def deleted(self) -> bool:
        """Whether it was deleted."""
        return bool(self.fields["deleted"])


class Accounts(Family):
    """Two users create, change, delete, read and list accounts."""

    @initialize()
    def begin(self) -> None:
        """The model begins as the fixtures do."""
        self.start()
        self.accounts = [
            Account(
                entry.key,
                entry.record["_users"],
                {name: value for name, value in entry.record.items() if name[0] != "_"},
                set(entry.record["_features"]),
            )
            for entry in self.world.store.page("accounts")
        ]

    # -- changes ---------------------------------------------------------------------------------

    @rule(who=WHO)
    def create(self, who: str) -> None:
        """A created account is the caller's, with the defaults and the world's time."""
        found = data_of(self.ask(who, "POST", "/sandbox/12/accounts"))
        expected = {
            "id": found["id"],
            "name": "Sandbox account",
            "business_name": None,
            "business_id": None,
            "timezone": "America/Los_Angeles",
            "timezone_switch_at": None,
            "approval_status": "ACCEPTED",
            "industry_type": None,
            "created_at": self.now,
            "updated_at": self.now,
            "deleted": False,
        }

        assert found == expected
        assert found["id"] not in [account.id for account in self.accounts]
        self.accounts.append(Account(found["id"], [who], expected))

    @rule(who=WHO, which=WHICH, name=NAMES, industry=st.sampled_from([None, *INDUSTRY_TYPES[:3]]))
    def update(self, who: str, which: int, name: str, industry: str | None) -> None:
        """An update changes what was sent and updated_at; others' accounts it cannot change."""
        account = self.pick(which)
        sent = {"name": name} | ({} if industry is None else {"industry_type": industry})
        response = self.ask(who, "PUT", f"/12/accounts/{account.id}", **sent)
        if self.refused(who, account, response):
            return
        account.fields |= sent | {"updated_at": self.now}
        assert data_of(response) == account.fields

    @rule(who=WHO, which=WHICH)
    def delete(self, who: str, which: int) -> None:
        """A deleted account is answered once as deleted."""
        account = self.pick(which)
        response = self.ask(who, "DELETE", f"/sandbox/12/accounts/{account.id}")
        if self.refused(who, account, response):
            return
        account.fields |= {"deleted": True, "updated_at": self.now}
        assert data_of(response) == account.fields

    @rule(who=WHO, which=WHICH, keys=KEYS, adding=st.booleans())
    def change_features(self, who: str, which: int, keys: list[str], adding: bool) -> None:
        """Features are added and removed as from a set."""
        account = self.pick(which)
        response = self.ask(
            who,
            "POST" if adding else "DELETE",
            f"/sandbox/12/accounts/{account.id}/features",
            feature_keys=",".join(keys),
        )
        if self.refused(who, account, response):
            return
        account.features = account.features | {*keys} if adding else account.features - {*keys}
        assert data_of(response) == sorted(account.features)

    # -- reads -----------------------------------------------------------------------------------

    @rule(who=WHO, which=WHICH, with_deleted=st.booleans())
    def read(self, who: str, which: int, with_deleted: bool) -> None:
        """An account reads as the model has it; a deleted one only where it is asked for."""
        account = self.pick(which)
        path = f"/12/accounts/{account.id}"
        response = self.ask(who, "GET", path, with_deleted=str(with_deleted))
        if not self.refused(who, account, response, with_deleted=with_deleted):
            assert data_of(response) == account.fields

    @rule(who=WHO, which=WHICH, keys=st.none() | KEYS)
    def read_features(self, who: str, which: int, keys: list[str] | None) -> None:
        """Features read as the model has them, less those that are not asked for."""
        account = self.pick(which)
        query = {} if keys is None else {"feature_keys": ",".join(keys)}
        response = self.ask(who, "GET", f"/12/accounts/{account.id}/features", **query)
        if self.refused(who, account, response):
            return
        wanted = account.features if keys is None else account.features & {*keys}
        assert data_of(response) == sorted(wanted)

    @rule(
        who=WHO,
        with_deleted=st.booleans(),
        q=st.none() | st.sampled_from(["h", "HARBOR ", "ss", "É", "Sandbox", "zzz"]),
        picked=st.none() | st.lists(WHICH, min_size=1, max_size=3),
        sort=SORTS,
        count=st.integers(1, 5),
    )
    def list_(
        self,
        who: str,
        with_deleted: bool,
        q: str | None,
        picked: list[int] | None,
        sort: str | None,
        count: int,
    ) -> None:
        """All pages together hold what the model holds, in its order; so says the total."""
        ids = None if picked is None else [self.pick(which).id for which in picked]
        query = {"count": str(count), "with_deleted": str(with_deleted).lower()}
        query |= {} if q is None else {"q": q}
        query |= {} if ids is None else {"account_ids": ",".join(ids)}
        query |= {} if sort is None else {"sort_by": sort}
        expected = self.expected(who, with_deleted, q, ids, sort)
        total = self.ask(who, "GET", "/12/accounts", with_total_count="true", **query).get_json()

        assert total["total_count"] == len(expected)
        assert total["data"] == [account.fields for account in expected][:count]
        assert [account.id for account in expected] == self.walk(who, query)

    @rule(who=WHO, count=st.integers(1, 3), which=st.lists(WHICH, max_size=4))
    def list_while_others_write(self, who: str, count: int, which: list[int]) -> None:
        """What is there from first page to last is listed once, whatever changes in between."""
        before, known = {account.id for account in self.expected(who)}, len(self.accounts)
        turns = iter(which)

        def write() -> None:
            turn = next(turns, None)
            if turn is not None:
                self.create(who) if turn % 2 else self.delete(who, turn)

        found = self.walk(who, {"count": str(count)}, write)
        after = {account.id for account in self.expected(who)}
        created = {account.id for account in self.accounts[known:]}

        assert len(found) == len(set(found))
        assert before & after <= set(found) <= before | created

    # -- always ----------------------------------------------------------------------------------

    @invariant()
    def nothing_is_lost(self) -> None:
        """No account ever leaves the world, and every one lists its users' own."""
        if hasattr(self, "world"):
            stored = self.world.store.page("accounts")
            assert [entry.key for entry in stored] == [account.id for account in self.accounts]
            self.tick()

    # -- within ----------------------------------------------------------------------------------

    def ask(self, who: str, method: str, path: str, **query: str) -> TestResponse:
        """One request of a user."""
        keys: Keys = USERS[who]
        return self.box.call(method, path, keys=keys, query_string=query)

    def pick(self, which: int) -> Account:
        """Any account, whoever's."""
        return self.accounts[which % len(self.accounts)]

    def refused(
        self, who: str, account: Account, response: TestResponse, *, with_deleted: bool = False
    ) -> bool:
        """Whether the account is out of this user's reach, in which case it has to be refused."""
        if who in account.owners and (with_deleted or not account.deleted):
            return False
        assert response.status_code == 403
        assert response.get_json()["errors"][0]["code"] == "ACCOUNT_NOT_FOUND"
        return True

    def expected(
        self,
        who: str,
        with_deleted: bool = False,
        q: str | None = None,
        ids: list[str] | None = None,
        sort: str | None = None,
    ) -> list[Account]:
        """What a list holds by the model."""
        found = [
            account
            for account in self.accounts
            if who in account.owners
            and (with_deleted or not account.deleted)
            and (q is None or account.fields["name"].casefold().startswith(q.casefold()))
            and (ids is None or account.id in ids)
        ]
        if sort is None:
            return found
        name, _, direction = sort.partition("-")
        placed = sorted(enumerate(found), key=lambda entry: (entry[1].fields[name], entry[0]))
        accounts = [account for _, account in placed]
        return accounts if direction == "asc" else accounts[::-1]

    def walk(self, who: str, query: dict[str, str], between: Any = None) -> list[str]:
        """Ids on all pages, one after the other."""
        found: list[str] = []
        more: dict[str, str] = {}
        while True:
            body = self.ask(who, "GET", "/12/accounts", **query, **more).get_json()
            assert len(body["data"]) <= int(query["count"])
            found += [account["id"] for account in body["data"]]
            if body["next_cursor"] is None:
                return found
            assert len(body["data"]) == int(query["count"])
            more = {"cursor": body["next_cursor"]}
            if between is not None:
                between()


def test_accounts_agree_with_a_plain_model() -> None:
    """Random work of two users leaves accounts, features and lists as the model says."""
    run(Accounts, sequences=40, steps=30)
