"""Accounts: list, read, update, and what the sandbox creates and deletes (document B)."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

import pytest
from werkzeug.test import TestResponse

from mock_platform.api.ads.accounts.records import INDUSTRY_TYPES
from mock_platform.world.ids import Ids
from tests.api.ads.support import echo, ids
from tests.refusals import Refusal, refusals
from tests.support import (
    ACCOUNT,
    BEARER,
    NORTHBIKE,
    OTHER_ACCOUNT,
    Sandbox,
    data_of,
    faults,
    refusal,
)

WHOLESALE, EUROPE, DELETED = "18ce55fw2ag", "18ce5b7qk2c", "18ce53a0z8r"
MINE = [ACCOUNT, WHOLESALE, EUROPE]
"""The well-known user's accounts, in the order in which they are listed."""
FIELDS = {
    "id", "name", "business_name", "business_id", "timezone", "timezone_switch_at",
    "approval_status", "industry_type", "created_at", "updated_at", "deleted",
}  # fmt: skip
NOW = datetime(2026, 11, 20, 10, tzinfo=UTC)
NOT_FOUND = [("ACCOUNT_NOT_FOUND", "account_id")]
SETTINGS = {"freeze": NOW}


def listed(box: Sandbox, **params: Any) -> list[str]:
    """Ids of the accounts on one page."""
    return ids(box.ask("GET", "/12/accounts", **params))


def read(box: Sandbox, account: str, **params: Any) -> TestResponse:
    """One account."""
    return box.ask("GET", f"/12/accounts/{account}", **params)


def update(box: Sandbox, account: str, **params: Any) -> TestResponse:
    """One update."""
    return box.ask("PUT", f"/12/accounts/{account}", **params)


def create(box: Sandbox) -> Any:
    """A new sandbox account."""
    return data_of(box.call("POST", "/sandbox/12/accounts"))


def delete(box: Sandbox, account: str) -> TestResponse:
    """One deletion."""
    return box.call("DELETE", f"/sandbox/12/accounts/{account}")


class TestList:
    """GET /12/accounts."""

    @pytest.mark.spec("B, Account", "id, name, business_name")
    def test_the_users_own(self, box: Sandbox) -> None:
        """A user sees the accounts associated with it, with every documented field alone.

        With a bearer token they are those of the app's owner.
        """
        body = box.read("/12/accounts")
        other = box.call("GET", "/12/accounts", keys=NORTHBIKE)

        assert listed(box) == MINE
        assert ids(other) == [OTHER_ACCOUNT]
        assert (body["request"], body["next_cursor"]) == ({"params": {}}, None)
        assert all(set(account) == FIELDS for account in body["data"])
        assert box.read("/12/accounts", keys=BEARER) == body

    @pytest.mark.spec("B, Accounts", "GET /12/accounts: account_ids")
    @pytest.mark.spec("B, What public facts and settled questions add", "Comma lists are")
    def test_by_ids(self, box: Sandbox) -> None:
        """account_ids leaves those named, in the list's own order; foreign and unknown: none."""
        wanted = f"{EUROPE},nope,{OTHER_ACCOUNT},{ACCOUNT},{DELETED}"
        response = box.ask("GET", "/12/accounts", account_ids=wanted)

        assert ids(response) == [ACCOUNT, EUROPE]
        assert echo(response) == {"account_ids": wanted.split(",")}
        for odd in ("", "a,,b"):
            refused = box.ask("GET", "/12/accounts", account_ids=odd)
            assert faults(refused)[0] == ("INVALID_PARAMETER", "account_ids")

    @pytest.mark.spec("B, Accounts", "GET /12/accounts: account_ids")
    @pytest.mark.spec("B, Common conventions", "with_deleted (boolean")
    @pytest.mark.parametrize(("query", "expected"), [
        ({"q": "Harbor"}, MINE),
        ({"q": "hARBOR r"}, [ACCOUNT, EUROPE]),
        ({"q": "harbor roasters"}, [ACCOUNT, EUROPE]),
        ({"q": "harbor roasters "}, [EUROPE]),
        ({"q": "roasters"}, []),
        ({"q": "north"}, []),
        ({"q": "Harbor P"}, []),
        ({"q": "harbor r", "account_ids": f"{EUROPE},{WHOLESALE}"}, [EUROPE]),
        ({"with_deleted": "true"}, [*MINE, DELETED]),
        ({"with_deleted": "True", "q": "harbor p"}, [DELETED]),
        ({"with_deleted": "false"}, MINE),
    ])  # fmt: skip
    def test_filters(self, box: Sandbox, query: dict[str, Any], expected: list[str]) -> None:
        """Q is a prefix of the name in any case, among the user's accounts only.

        Ids and prefix both have to fit, deleted accounts are there on demand, and all are counted.
        """
        body = box.read("/12/accounts", **query, with_total_count="true")

        assert [account["id"] for account in body["data"]] == expected
        assert body["total_count"] == len(expected)

    def test_everything_wrong_at_once(self, box: Sandbox) -> None:
        """Each bad parameter is named in one answer."""
        query = {"count": "0", "with_deleted": "maybe", "sort_by": "id-asc", "q": ""}
        found = faults(box.ask("GET", "/12/accounts", **query))

        assert sorted(found) == [("INVALID_PARAMETER", name) for name in sorted(query)]


class TestGet:
    """GET /12/accounts/:account_id."""

    @pytest.mark.spec("B, Accounts", "GET /12/accounts/:account_id: with_deleted")
    def test_one(self, box: Sandbox) -> None:
        """The account is an object under data, with its path parameter echoed."""
        response = read(box, ACCOUNT)

        assert echo(response) == {"account_id": ACCOUNT}
        assert set(data_of(response)) == FIELDS
        assert data_of(response)["name"] == "Harbor Roasters"

    @pytest.mark.parametrize("account", [OTHER_ACCOUNT, "nope", DELETED])
    def test_not_for_this_user(self, box: Sandbox, account: str) -> None:
        """Foreign, unknown and deleted accounts answer alike, and cannot be changed."""
        assert (403, NOT_FOUND) == refusal(read(box, account))
        assert (403, NOT_FOUND) == refusal(update(box, account, name="Mine now"))

    @pytest.mark.spec("B, Accounts", "GET /12/accounts/:account_id: with_deleted")
    def test_with_deleted(self, box: Sandbox) -> None:
        """with_deleted shows a deleted account of the user; foreign ones stay out of reach.

        Whose account it is counts before what is wrong with the parameters.
        """
        shown = read(box, DELETED, with_deleted="true")

        assert (data_of(shown)["id"], data_of(shown)["deleted"]) == (DELETED, True)
        assert echo(shown) == {"account_id": DELETED, "with_deleted": True}
        for account, value in ((DELETED, "false"), (OTHER_ACCOUNT, "true"), (OTHER_ACCOUNT, "x")):
            assert read(box, account, with_deleted=value).status_code == 403
        wrong = read(box, DELETED, with_deleted="maybe")
        assert faults(wrong) == [("INVALID_PARAMETER", "with_deleted")]


class TestCreate:
    """POST {sandbox}/12/accounts."""

    @pytest.mark.spec("B, Account", "approval_status")
    @pytest.mark.spec("B, Accounts", "POST {ads_sandbox_base_url}/12/accounts: none")
    def test_defaults(self, box: Sandbox) -> None:
        """A new account has the public defaults, the world's time, and a short id."""
        account = create(box)
        stamps = dict.fromkeys(("created_at", "updated_at"), "2026-11-20T10:00:00Z")
        unset = ("business_name", "business_id", "timezone_switch_at", "industry_type")

        assert re.fullmatch(r"[1-9a-z][0-9a-z]{5}", account.pop("id"))
        assert account == stamps | dict.fromkeys(unset) | {
            "name": "Sandbox account", "timezone": "America/Los_Angeles",
            "approval_status": "ACCEPTED", "deleted": False,
        }  # fmt: skip

    @pytest.mark.spec("B, Accounts", "POST {ads_sandbox_base_url}/12/accounts: none")
    def test_belongs_to_the_caller(self, box: Sandbox) -> None:
        """Who created it lists and reads it on both addresses, without features; others do not."""
        account = create(box)["id"]

        assert listed(box) == [*MINE, account]
        assert box.read(f"/12/accounts/{account}") == box.read(f"/sandbox/12/accounts/{account}")
        assert box.call("GET", f"/12/accounts/{account}", keys=NORTHBIKE).status_code == 403
        assert box.read(f"/12/accounts/{account}/features")["data"] == []

    def test_never_replaces_another(self, box: Sandbox) -> None:
        """An id that exists already is drawn again."""
        taken = Ids(box.world.seed, box.world.name, box.world.ids.drawn).base36(6)
        box.put("accounts", taken, box.record("accounts", ACCOUNT) | {"id": taken})

        assert create(box)["id"] != taken
        assert data_of(read(box, taken))["name"] == "Harbor Roasters"

    @pytest.mark.spec("B, Accounts", "POST {ads_sandbox_base_url}/12/accounts: none")
    @pytest.mark.spec("B, Accounts", "DELETE {ads_sandbox_base_url}/12/accounts/:account_id: none")
    @pytest.mark.parametrize(("method", "path"), [("POST", ""), ("DELETE", f"/{ACCOUNT}")])
    def test_sandbox_only(self, box: Sandbox, method: str, path: str) -> None:
        """The plain address has no such method, says where it is, and changes nothing."""
        response = box.call(method, f"/12/accounts{path}")

        assert (405, [("METHOD_NOT_ALLOWED", None)]) == refusal(response)
        assert "sandbox address only" in response.get_json()["errors"][0]["message"]
        assert listed(box) == MINE


class TestUpdate:
    """PUT /12/accounts/:account_id."""

    @pytest.mark.spec("B, Accounts", "PUT /12/accounts/:account_id")
    @pytest.mark.spec("B, Common conventions", "Creation and update")
    def test_name(self, box: Sandbox) -> None:
        """A new name is answered, kept, found by its prefix; the rest stays, updated_at moves."""
        before = data_of(read(box, ACCOUNT))
        response = update(box, ACCOUNT, name="Ōsaka Kaffee")
        changed = before | {"name": "Ōsaka Kaffee", "updated_at": "2026-11-20T10:00:00Z"}

        assert data_of(response) == data_of(read(box, ACCOUNT)) == changed
        assert echo(response) == {"account_id": ACCOUNT, "name": "Ōsaka Kaffee"}
        assert listed(box, q="ōs") == [ACCOUNT]

    @pytest.mark.spec("B, Account", "industry_type (AGENCY")
    @pytest.mark.spec("B, Accounts", "PUT /12/accounts/:account_id")
    def test_industry_type(self, box: Sandbox) -> None:
        """Each of the fourteen industry types is accepted, and an empty one unsets it."""
        for industry in INDUSTRY_TYPES:
            shown = data_of(update(box, WHOLESALE, industry_type=industry))
            assert shown["industry_type"] == industry
        assert len(INDUSTRY_TYPES) == 14
        assert data_of(update(box, WHOLESALE, industry_type=""))["industry_type"] is None

    @refusals([
        *(Refusal(f"PUT /12/accounts/{ACCOUNT}", f"{industry!r} is no industry", 400,
                  [("INVALID_PARAMETER", "industry_type")],
                  query={"industry_type": industry, "name": "New"},
                  messages=["AGENCY, BUSINESS_TO_BUSINESS"],
                  spec={"B, Account": ["industry_type (AGENCY"]})
          for industry in ("retail", "BANKING", " RETAIL")),
        Refusal(f"PUT /12/accounts/{ACCOUNT}", "an account cannot go without a name", 400,
                [("INVALID_PARAMETER", "name")], query={"name": ""},
                spec={"B, Accounts": ["PUT /12/accounts/:account_id"]}),
    ])  # fmt: skip
    def test_refused(self, box: Sandbox, row: Refusal) -> None:
        """Industries that are no industries, and no name."""
        row.check(box)

    @pytest.mark.spec("B, Not shown", "Transitions: not")
    def test_read_only(self, box: Sandbox) -> None:
        """What the update does not take is ignored, and without parameters nothing changes."""
        before = box.record("accounts", ACCOUNT)
        names = ("approval_status", "timezone", "deleted", "id", "_users")

        for sent in ({}, *({name: "x"} for name in names)):
            assert update(box, ACCOUNT, **sent).status_code == 200
            assert box.record("accounts", ACCOUNT) == before

    def test_in_a_form(self, box: Sandbox) -> None:
        """Parameters may be sent in a form as well as in the query."""
        form = {"name": "By form", "industry_type": "TRAVEL"}
        shown = data_of(box.call("PUT", f"/12/accounts/{ACCOUNT}", form=form))

        assert form.items() <= shown.items()


class TestDelete:
    """DELETE {sandbox}/12/accounts/:account_id."""

    @pytest.mark.spec("B, Accounts", "DELETE {ads_sandbox_base_url}/12/accounts/:account_id: none")
    @pytest.mark.spec("B, States and transitions", "Account media, media")
    def test_stays_as_deleted(self, box: Sandbox) -> None:
        """The answer is the account, deleted; it leaves the list and stays with with_deleted.

        Addresses below it answer as for an unknown one, and so do a second delete and an update.
        """
        before = data_of(read(box, ACCOUNT))
        body = delete(box, ACCOUNT).get_json()
        gone = before | {"deleted": True, "updated_at": "2026-11-20T10:00:00Z"}

        assert body == {"request": {"params": {"account_id": ACCOUNT}}, "data": gone}
        assert listed(box) == [WHOLESALE, EUROPE]
        assert data_of(read(box, ACCOUNT, with_deleted="true")) == gone
        for path in ("", "/account_apps", "/features", "/curated_categories", "/account_media"):
            for address in ("/12", "/sandbox/12"):
                assert faults(box.call("GET", f"{address}/accounts/{ACCOUNT}{path}")) == NOT_FOUND
        assert faults(delete(box, ACCOUNT)) == NOT_FOUND
        assert faults(update(box, ACCOUNT, name="Again")) == NOT_FOUND
