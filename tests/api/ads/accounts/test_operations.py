"""Accounts: list, read, update, and what the sandbox creates and deletes (document B)."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

import pytest
from werkzeug.test import TestResponse

from mock_platform.api.ads.accounts.records import INDUSTRY_TYPES
from mock_platform.world.ids import Ids
from tests.support import ACCOUNT, BEARER, NORTHBIKE, OTHER_ACCOUNT, Sandbox, faults, refusal

WHOLESALE, EUROPE, DELETED = "18ce55fw2ag", "18ce5b7qk2c", "18ce53a0z8r"
MINE = [ACCOUNT, WHOLESALE, EUROPE]
"""The well-known user's accounts, in the order in which they are listed."""
FIELDS = {
    "id", "name", "business_name", "business_id", "timezone", "timezone_switch_at",
    "approval_status", "industry_type", "created_at", "updated_at", "deleted",
}  # fmt: skip
NOW = datetime(2026, 11, 20, 10, tzinfo=UTC)
NOT_FOUND = [("ACCOUNT_NOT_FOUND", "account_id")]


@pytest.fixture(autouse=True)
def _clock_stands(box: Sandbox) -> None:
    box.world.clock.freeze(NOW)


def listed(box: Sandbox, **params: Any) -> list[str]:
    """Ids of the accounts on one page."""
    response = box.call("GET", "/12/accounts", query_string=params)
    assert response.status_code == 200, response.get_json()
    return [account["id"] for account in response.get_json()["data"]]


def read(box: Sandbox, account: str, **params: Any) -> TestResponse:
    """One account."""
    return box.call("GET", f"/12/accounts/{account}", query_string=params)


def update(box: Sandbox, account: str, **params: Any) -> TestResponse:
    """One update."""
    return box.call("PUT", f"/12/accounts/{account}", query_string=params)


def create(box: Sandbox, **more: Any) -> Any:
    """A new sandbox account."""
    response = box.call("POST", "/sandbox/12/accounts", **more)
    assert response.status_code == 200, response.get_json()
    return response.get_json()["data"]


def delete(box: Sandbox, account: str) -> TestResponse:
    """One deletion."""
    return box.call("DELETE", f"/sandbox/12/accounts/{account}")


class TestList:
    """GET /12/accounts."""

    def test_only_the_users_own(self, box: Sandbox) -> None:
        """A user sees the accounts associated with it, and no other ones."""
        other = box.call("GET", "/12/accounts", keys=NORTHBIKE).get_json()["data"]

        assert listed(box) == MINE
        assert [account["id"] for account in other] == [OTHER_ACCOUNT]

    @pytest.mark.spec("B, Account", "id, name, business_name")
    def test_shape(self, box: Sandbox) -> None:
        """Every documented field is served, nothing of the mock's own, and nothing is echoed."""
        body = box.call("GET", "/12/accounts").get_json()

        assert {"request": {"params": {}}, "next_cursor": None} == {
            key: value for key, value in body.items() if key != "data"
        }
        assert all(set(account) == FIELDS for account in body["data"])

    def test_bearer_acts_for_the_apps_owner(self, box: Sandbox) -> None:
        """With a bearer token the accounts of the app's owner are listed."""
        body = box.call("GET", "/12/accounts", keys=BEARER).get_json()

        assert [account["id"] for account in body["data"]] == MINE

    @pytest.mark.spec("B, Accounts", "GET /12/accounts: account_ids")
    @pytest.mark.spec("B, What public facts and settled questions add", "Comma lists are")
    def test_by_ids(self, box: Sandbox) -> None:
        """account_ids leaves those named, in the list's own order; foreign and unknown: none."""
        wanted = f"{EUROPE},nope,{OTHER_ACCOUNT},{ACCOUNT},{DELETED}"

        response = box.call("GET", "/12/accounts", query_string={"account_ids": wanted})

        assert [account["id"] for account in response.get_json()["data"]] == [ACCOUNT, EUROPE]
        assert response.get_json()["request"]["params"] == {"account_ids": wanted.split(",")}

    @pytest.mark.spec("B, Accounts", "GET /12/accounts: account_ids")
    def test_ids_at_most_200(self, box: Sandbox) -> None:
        """200 ids are accepted, 201 are refused, and so is an empty one."""
        ids = [f"a{number}" for number in range(200)]

        assert listed(box, account_ids=",".join(ids)) == []
        for refused in (",".join([*ids, "one-more"]), "", "a,,b"):
            response = box.call("GET", "/12/accounts", query_string={"account_ids": refused})
            assert faults(response)[0] == ("INVALID_PARAMETER", "account_ids")

    @pytest.mark.spec("B, Accounts", "GET /12/accounts: account_ids")
    @pytest.mark.parametrize(
        ("q", "expected"),
        [
            ("Harbor", MINE),
            ("hARBOR r", [ACCOUNT, EUROPE]),
            ("harbor roasters", [ACCOUNT, EUROPE]),
            ("harbor roasters ", [EUROPE]),
            ("roasters", []),
            ("north", []),
            ("Harbor P", []),
        ],
    )
    def test_name_prefix(self, box: Sandbox, q: str, expected: list[str]) -> None:
        """Q is a prefix of the name in any case, among the user's accounts only."""
        assert listed(box, q=q) == expected

    def test_filters_together(self, box: Sandbox) -> None:
        """Ids and prefix both have to fit, and the total counts what fits."""
        query = {
            "q": "harbor r",
            "account_ids": f"{EUROPE},{WHOLESALE}",
            "with_total_count": "true",
        }

        body = box.call("GET", "/12/accounts", query_string=query).get_json()

        assert [account["id"] for account in body["data"]] == [EUROPE]
        assert body["total_count"] == 1

    @pytest.mark.spec("B, Accounts", "GET /12/accounts: account_ids")
    @pytest.mark.spec("B, Common conventions", "with_deleted (boolean")
    def test_with_deleted(self, box: Sandbox) -> None:
        """with_deleted adds the deleted ones, and a prefix finds them too."""
        assert listed(box, with_deleted="true") == [*MINE, DELETED]
        assert listed(box, with_deleted="True", q="harbor p") == [DELETED]
        assert listed(box, with_deleted="false") == MINE

    @pytest.mark.spec("B, Accounts", "GET /12/accounts: account_ids")
    @pytest.mark.spec("B, What public facts and settled questions add", "sort_by is echoed")
    @pytest.mark.parametrize(
        ("attribute", "ascending"),
        [
            ("created_at", [DELETED, ACCOUNT, WHOLESALE, EUROPE]),
            ("updated_at", [DELETED, EUROPE, WHOLESALE, ACCOUNT]),
            ("deleted", [ACCOUNT, WHOLESALE, EUROPE, DELETED]),
            ("name", [DELETED, ACCOUNT, EUROPE, WHOLESALE]),
        ],
    )
    def test_sort(self, box: Sandbox, attribute: str, ascending: list[str]) -> None:
        """Each sortable attribute sorts both ways, and sort_by is echoed as a list."""
        for direction, expected in (("asc", ascending), ("desc", ascending[::-1])):
            query = {"sort_by": f"{attribute}-{direction}", "with_deleted": "true"}
            body = box.call("GET", "/12/accounts", query_string=query).get_json()
            assert [account["id"] for account in body["data"]] == expected
            assert body["request"]["params"]["sort_by"] == [f"{attribute}-{direction}"]

    def test_everything_wrong_at_once(self, box: Sandbox) -> None:
        """Each bad parameter is named in one answer."""
        query = {"count": "0", "with_deleted": "maybe", "sort_by": "id-asc", "q": ""}

        response = box.call("GET", "/12/accounts", query_string=query)

        assert sorted(faults(response)) == [("INVALID_PARAMETER", name) for name in sorted(query)]


class TestGet:
    """GET /12/accounts/:account_id."""

    @pytest.mark.spec("B, Accounts", "GET /12/accounts/:account_id: with_deleted")
    def test_one(self, box: Sandbox) -> None:
        """The account is an object under data, with its path parameter echoed."""
        body = read(box, ACCOUNT).get_json()

        assert body["request"] == {"params": {"account_id": ACCOUNT}}
        assert set(body["data"]) == FIELDS
        assert body["data"]["name"] == "Harbor Roasters"

    @pytest.mark.parametrize("account", [OTHER_ACCOUNT, "nope", DELETED])
    def test_not_for_this_user(self, box: Sandbox, account: str) -> None:
        """Foreign, unknown and deleted accounts answer alike."""
        assert (403, NOT_FOUND) == refusal(read(box, account))

    @pytest.mark.spec("B, Accounts", "GET /12/accounts/:account_id: with_deleted")
    def test_with_deleted(self, box: Sandbox) -> None:
        """with_deleted shows a deleted account of the user; foreign ones stay out of reach."""
        shown = read(box, DELETED, with_deleted="true").get_json()

        assert (shown["data"]["id"], shown["data"]["deleted"]) == (DELETED, True)
        assert shown["request"]["params"] == {"account_id": DELETED, "with_deleted": True}
        assert read(box, DELETED, with_deleted="false").status_code == 403
        assert read(box, OTHER_ACCOUNT, with_deleted="true").status_code == 403

    def test_scope_before_parameters(self, box: Sandbox) -> None:
        """Whose account it is counts before what is wrong with the parameters."""
        assert read(box, OTHER_ACCOUNT, with_deleted="maybe").status_code == 403
        assert faults(read(box, DELETED, with_deleted="maybe")) == [
            ("INVALID_PARAMETER", "with_deleted")
        ]


class TestCreate:
    """POST {sandbox}/12/accounts."""

    @pytest.mark.spec("B, Account", "approval_status")
    @pytest.mark.spec("B, Accounts", "POST {ads_sandbox_base_url}/12/accounts: none")
    def test_defaults(self, box: Sandbox) -> None:
        """A new account has the public defaults, the world's time, and a short id."""
        account = create(box)

        assert re.fullmatch(r"[1-9a-z][0-9a-z]{5}", account.pop("id"))
        assert account == {
            "name": "Sandbox account",
            "business_name": None,
            "business_id": None,
            "timezone": "America/Los_Angeles",
            "timezone_switch_at": None,
            "approval_status": "ACCEPTED",
            "industry_type": None,
            "created_at": "2026-11-20T10:00:00Z",
            "updated_at": "2026-11-20T10:00:00Z",
            "deleted": False,
        }

    @pytest.mark.spec("B, Accounts", "POST {ads_sandbox_base_url}/12/accounts: none")
    def test_belongs_to_the_caller(self, box: Sandbox) -> None:
        """Who created it lists and reads it on both addresses; other users do not."""
        account = create(box)["id"]

        assert listed(box) == [*MINE, account]
        assert read(box, account).status_code == 200
        assert box.call("GET", f"/sandbox/12/accounts/{account}").status_code == 200
        assert box.call("GET", f"/12/accounts/{account}", keys=NORTHBIKE).status_code == 403

    def test_has_no_features(self, box: Sandbox) -> None:
        """A new account begins without features, ready for the sandbox to add some."""
        account = create(box)["id"]

        assert box.call("GET", f"/12/accounts/{account}/features").get_json()["data"] == []

    def test_never_replaces_another(self, box: Sandbox) -> None:
        """An id that exists already is drawn again."""
        taken = Ids(box.world.seed, box.world.name, box.world.ids.drawn).base36(6)
        box.put("accounts", taken, box.record("accounts", ACCOUNT) | {"id": taken})

        assert create(box)["id"] != taken
        assert read(box, taken).get_json()["data"]["name"] == "Harbor Roasters"

    @pytest.mark.spec("B, Accounts", "POST {ads_sandbox_base_url}/12/accounts: none")
    def test_sandbox_only(self, box: Sandbox) -> None:
        """The plain address has no such method, says where it is, and creates nothing."""
        response = box.call("POST", "/12/accounts")

        assert (405, [("METHOD_NOT_ALLOWED", None)]) == refusal(response)
        assert "sandbox address only" in response.get_json()["errors"][0]["message"]
        assert listed(box) == MINE


class TestUpdate:
    """PUT /12/accounts/:account_id."""

    @pytest.mark.spec("B, Accounts", "PUT /12/accounts/:account_id")
    @pytest.mark.spec("B, Common conventions", "Creation and update")
    def test_name(self, box: Sandbox) -> None:
        """A new name is answered, kept, found by its prefix; the rest stays, updated_at moves."""
        before = read(box, ACCOUNT).get_json()["data"]

        body = update(box, ACCOUNT, name="Ōsaka Kaffee").get_json()

        changed = before | {"name": "Ōsaka Kaffee", "updated_at": "2026-11-20T10:00:00Z"}
        assert body["data"] == changed
        assert body["request"]["params"] == {"account_id": ACCOUNT, "name": "Ōsaka Kaffee"}
        assert read(box, ACCOUNT).get_json()["data"] == changed
        assert listed(box, q="ōs") == [ACCOUNT]

    @pytest.mark.spec("B, Account", "industry_type (AGENCY")
    @pytest.mark.spec("B, Accounts", "PUT /12/accounts/:account_id")
    @pytest.mark.parametrize("industry", INDUSTRY_TYPES)
    def test_industry_type(self, box: Sandbox, industry: str) -> None:
        """Each of the fourteen industry types is accepted."""
        body = update(box, WHOLESALE, industry_type=industry).get_json()

        assert body["data"]["industry_type"] == industry
        assert len(INDUSTRY_TYPES) == 14

    @pytest.mark.spec("B, Account", "industry_type (AGENCY")
    @pytest.mark.parametrize("industry", ["retail", "BANKING", " RETAIL"])
    def test_other_industry_type(self, box: Sandbox, industry: str) -> None:
        """Any other one is refused with the allowed values, and nothing changes."""
        response = update(box, ACCOUNT, industry_type=industry, name="New")

        assert (400, [("INVALID_PARAMETER", "industry_type")]) == refusal(response)
        assert "AGENCY, BUSINESS_TO_BUSINESS" in response.get_json()["errors"][0]["message"]
        assert read(box, ACCOUNT).get_json()["data"]["name"] == "Harbor Roasters"

    @pytest.mark.spec("B, Accounts", "PUT /12/accounts/:account_id")
    def test_empty_values(self, box: Sandbox) -> None:
        """An empty industry type unsets it; an account cannot go without a name."""
        assert update(box, ACCOUNT, industry_type="").get_json()["data"]["industry_type"] is None
        assert faults(update(box, ACCOUNT, name="")) == [("INVALID_PARAMETER", "name")]

    def test_nothing(self, box: Sandbox) -> None:
        """Without parameters the record is answered unchanged."""
        before = box.record("accounts", ACCOUNT)

        assert update(box, ACCOUNT).status_code == 200
        assert box.record("accounts", ACCOUNT) == before

    def test_in_a_form(self, box: Sandbox) -> None:
        """Parameters may be sent in a form as well as in the query."""
        form = {"name": "By form", "industry_type": "TRAVEL"}

        body = box.call("PUT", f"/12/accounts/{ACCOUNT}", form=form).get_json()

        assert (body["data"]["name"], body["data"]["industry_type"]) == ("By form", "TRAVEL")

    @pytest.mark.spec("B, Not shown", "Transitions: not")
    @pytest.mark.parametrize("name", ["approval_status", "timezone", "deleted", "id", "_users"])
    def test_read_only(self, box: Sandbox, name: str) -> None:
        """What the update does not take is ignored."""
        before = box.record("accounts", ACCOUNT)

        assert update(box, ACCOUNT, **{name: "x"}).status_code == 200
        assert box.record("accounts", ACCOUNT) == before

    @pytest.mark.parametrize("account", [OTHER_ACCOUNT, "nope", DELETED])
    def test_not_for_this_user(self, box: Sandbox, account: str) -> None:
        """Foreign, unknown and deleted accounts cannot be changed."""
        assert (403, NOT_FOUND) == refusal(update(box, account, name="Mine now"))


class TestDelete:
    """DELETE {sandbox}/12/accounts/:account_id."""

    @pytest.mark.spec("B, Accounts", "DELETE {ads_sandbox_base_url}/12/accounts/:account_id: none")
    @pytest.mark.spec("B, States and transitions", "Account media, media")
    def test_stays_as_deleted(self, box: Sandbox) -> None:
        """The answer is the account, deleted; it leaves the list and stays with with_deleted."""
        before = read(box, ACCOUNT).get_json()["data"]

        body = delete(box, ACCOUNT).get_json()

        gone = before | {"deleted": True, "updated_at": "2026-11-20T10:00:00Z"}
        assert body == {"request": {"params": {"account_id": ACCOUNT}}, "data": gone}
        assert listed(box) == [WHOLESALE, EUROPE]
        assert read(box, ACCOUNT, with_deleted="true").get_json()["data"] == gone

    def test_out_of_reach(self, box: Sandbox) -> None:
        """Addresses below a deleted account answer as for an unknown one, on both addresses."""
        delete(box, ACCOUNT)

        for path in ("", "/account_apps", "/features", "/curated_categories", "/account_media"):
            for address in ("/12", "/sandbox/12"):
                assert faults(box.call("GET", f"{address}/accounts/{ACCOUNT}{path}")) == NOT_FOUND

    def test_twice(self, box: Sandbox) -> None:
        """A second deletion finds no account, and neither does an update."""
        account = create(box)["id"]

        assert delete(box, account).status_code == 200
        assert faults(delete(box, account)) == NOT_FOUND
        assert faults(update(box, account, name="Again")) == NOT_FOUND

    @pytest.mark.spec("B, Accounts", "DELETE {ads_sandbox_base_url}/12/accounts/:account_id: none")
    def test_sandbox_only(self, box: Sandbox) -> None:
        """The plain address has no such method, and the account stays."""
        assert box.call("DELETE", f"/12/accounts/{ACCOUNT}").status_code == 405
        assert read(box, ACCOUNT).status_code == 200
