"""People of an account and what clients look up: users, rights, categories, bids, settings."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.ads.support import BASE, alter, echo, get, ids, load, put
from tests.refusals import Refusal, refusals
from tests.support import (
    ACCOUNT,
    BEARER,
    NORTHBIKE,
    OTHER_ACCOUNT,
    Sandbox,
    data_of,
    faults,
    sandbox,
)

OWNER, INES = "2244994945", "2790441185"
INVALID = "INVALID_PARAMETER"
LOOKUPS = [
    f"{BASE}/authenticated_user_access", f"{BASE}/promotable_users",
    f"{BASE}/promotable_users/mv2k", "/12/iab_categories", "/12/content_categories",
    "/12/publishers", "/12/bidding_rules",
    f"{BASE}/targeting_suggestions?suggestion_type=KEYWORD&targeting_values=coffee",
    f"{BASE}/user_settings/{OWNER}", f"{BASE}/tax_settings",
]  # fmt: skip


@pytest.mark.parametrize("path", LOOKUPS)
def test_nothing_of_it_is_specified(box: Sandbox, path: str) -> None:
    """Each answer names its assumption."""
    assert ".all" in box.call("GET", path).headers["X-Mock-Assumptions"]


@pytest.mark.parametrize("path", [path for path in LOOKUPS if "accounts" not in path])
def test_global_reads_are_limited(path: str) -> None:
    """Five in 15 minutes for each endpoint; the sixth is refused."""
    box = sandbox(limits="public")
    statuses = [box.call("GET", path).status_code for _ in range(6)]

    assert [200] * 5 + [429] == statuses


def refuse(path: str, holds: str, name: str, code: str = INVALID, status: int = 400,
           **more: Any) -> Refusal:  # fmt: skip
    """A read, or a write if it is said, that one parameter refuses."""
    return Refusal(path if " " in path else f"GET {path}", holds, status, [(code, name)], **more)


CURATED, PLACEMENTS = f"{BASE}/curated_categories", "/12/line_items/placements"
SUGGESTIONS = f"{BASE}/targeting_suggestions"
KEYWORDS = {"suggestion_type": "KEYWORD", "targeting_values": "a"}
REFUSED = [
    refuse(f"{BASE}/promotable_users/mvq3", "a promotable user of another account",
           "promotable_user_id", "PROMOTABLE_USER_NOT_FOUND", 404),
    refuse("/12/bidding_rules", "a currency in small letters", "currency",
           query={"currency": "usd"}),
    *(refuse("/12/iab_categories", f"{count} IAB categories", "count", query={"count": count})
      for count in ("0", "1001")),
    *(refuse(CURATED, f"categories of the country {codes}", "country_codes",
             query={"country_codes": codes}, messages=["alpha-2"])
      for codes in ("XX", "us", "USA", "UK", "US,,DE", "840")),
    refuse(f"{CURATED}/000000000000", "an unknown curated category", "curated_category_id",
           "NOT_FOUND", 404, spec={"operations": ["curated_categories.get"]}),
    *(refuse(PLACEMENTS, f"placements of {kind or 'nothing'}", "product_type",
             query={"product_type": kind},
             spec={"B, Accounts": ["GET /12/line_items/placements"]})
      for kind in ("media", "MEDIA,PROMOTED_POSTS", "VIDEO", "")),
    *(refuse(SUGGESTIONS, f"suggestions without {name}", name, "MISSING_PARAMETER",
             query={each: KEYWORDS[each] for each in KEYWORDS if each != name})
      for name in KEYWORDS),
    refuse(SUGGESTIONS, "suggestions of another type", "suggestion_type",
           query=KEYWORDS | {"suggestion_type": "A"}),
    *(refuse(SUGGESTIONS, f"{count} suggestions", "count", query=KEYWORDS | {"count": count})
      for count in ("0", "51")),
    *(refuse(f"{method} {BASE}/user_settings/3805104374", f"{method} settings of a stranger",
             "user_id", "USER_NOT_FOUND", 403) for method in ("GET", "PUT")),
    refuse(f"PUT {BASE}/user_settings/{OWNER}", "an email address without at", "notification_email",
           query={"notification_email": "desk"}),
    *(refuse(f"PUT {BASE}/tax_settings", f"another {name}", name, query={name: "OTHER"},
             messages=["Expected a value in "])
      for name in ("bill_to", "business_relationship", "invoice_jurisdiction", "tax_category")),
]  # fmt: skip


@refusals(REFUSED)
def test_what_is_refused(box: Sandbox, row: Refusal) -> None:
    """Each names what is wrong: records of others, values beyond the lists, what is missing."""
    row.check(box)


# -- the calling user --------------------------------------------------------------------------


def test_permissions_of_the_caller(box: Sandbox) -> None:
    """A user without an entry may do everything; an entry of the account says what one may do."""
    response = get(box, "authenticated_user_access")
    box.change("accounts", ACCOUNT, _user_access=[{"user_id": OWNER, "permissions": ["ANALYST"]}])

    assert {"account_id": ACCOUNT} == echo(response)
    every = {"user_id": OWNER, "permissions": ["ACCOUNT_ADMIN", "POST_COMPOSER"]}
    assert every == data_of(response)
    assert ["ANALYST"] == load(box, "authenticated_user_access")["permissions"]


@pytest.mark.parametrize(("permission", "reads", "writes"), [
    ("ACCOUNT_ADMIN", 200, 200), ("AD_MANAGER", 200, 200), ("CREATIVE_MANAGER", 200, 403),
    ("CAMPAIGN_ANALYST", 200, 403), ("ANALYST", 403, 403), ("PARTNER_AUDIENCE_MANAGER", 403, 403),
])  # fmt: skip
def test_rights_in_campaigns(box: Sandbox, permission: str, reads: int, writes: int) -> None:
    """Who may see line items, and their history, and who may change them; the rest is open."""
    entry = {"user_id": OWNER, "permissions": [permission]}
    box.change("accounts", ACCOUNT, _user_access=[entry])
    window = {"start_time": "2026-09-01T00:00:00Z", "end_time": "2026-10-01T00:00:00Z"}
    answers = [
        get(box, "line_item_curated_categories"),
        get(box, "account_history", entity_type="LINE_ITEM", entity_id="itttx", **window),
        put(box, "line_items/itttx", name="New"),
    ]

    assert [reads, reads, writes] == [answer.status_code for answer in answers]
    for answer in answers:
        assert answer.status_code == 200 or {"ACTION_NOT_ALLOWED"} == {c for c, _ in faults(answer)}
    assert load(box, "media_library")


STRANGER = (
    "user 3805104374 has permissions but is no user of the account; add the id to the field "
    "_users, or remove this entry"
)


@pytest.mark.parametrize(("user", "permissions", "why"), [
    ("3805104374", ["ANALYST"], STRANGER),
    (OWNER, ["ANALYST", "POST_COMPOSER"], ""),
    (OWNER, ["POST_COMPOSER"], ""),
    (OWNER, [], ""),
    (OWNER, ["OWNER"], ""),
])  # fmt: skip
def test_entries_that_cannot_be(box: Sandbox, user: str, permissions: list[str], why: str) -> None:
    """Users of others, POST_COMPOSER alone or beside an analyst, no permission, unknown ones."""
    path, entry = f"/_mock/state/accounts/{ACCOUNT}", {"user_id": user, "permissions": permissions}
    refused = box.client.patch(path, json={"_user_access": [entry]})

    assert 422 == refused.status_code
    assert why in refused.text
    sound = [{"user_id": OWNER, "permissions": ["AD_MANAGER", "POST_COMPOSER"]}]
    assert 200 == box.client.patch(path, json={"_user_access": sound}).status_code


# -- promotable users --------------------------------------------------------------------------


def test_promotable_users(box: Sandbox) -> None:
    """One FULL user of the account and one for reposts only; found by id."""
    listed, one = load(box, "promotable_users"), get(box, "promotable_users/mv2k")

    assert [("mv2k", "FULL"), ("mx71", "REPOSTS_ONLY")] == [
        (user["id"], user["promotable_user_type"]) for user in listed
    ]
    assert ["mx71"] == ids(get(box, "promotable_users", promotable_user_ids="mx71,mvq3"))
    assert listed[0] == data_of(one)
    assert {"promotable_user_id": "mv2k", "account_id": ACCOUNT} == echo(one)


# -- categories, publishers, bids --------------------------------------------------------------


def test_iab_categories(box: Sandbox) -> None:
    """Pages of 1 to 1000 rows with a total; parents are null at the top."""
    whole = box.read("/12/iab_categories", with_total_count="true", count="1000")
    rows = {row["id"]: row for row in whole["data"]}

    assert len(rows) == whole["total_count"]
    assert {"id": "IAB8", "parent_id": None, "name": "Food & Drink"} == rows["IAB8"]
    assert "IAB8" == rows["IAB8-6"]["parent_id"]
    assert 1 == len(box.read("/12/iab_categories", count="1")["data"])


def test_content_categories_and_publishers(box: Sandbox) -> None:
    """One page each: categories with a total, publishers that belong to them."""
    categories, publishers = box.read("/12/content_categories"), box.read("/12/publishers")
    known = {row["id"] for row in categories["data"]}
    videos = {"publishers_in_last_thirty_days", "videos_monetized_in_last_thirty_days"}

    assert (5, None) == (categories["total_count"], categories["next_cursor"])
    assert {"id", "name", "iab_categories"} | videos == set(categories["data"][0])
    assert all(known >= set(row["content_category_ids"]) for row in publishers["data"])
    assert publishers["next_cursor"] is None


def test_bidding_rules(box: Sandbox) -> None:
    """One rule for each currency, with data_type and total_count, in the public order of keys."""
    every, one = box.read("/12/bidding_rules"), box.read("/12/bidding_rules", currency="USD")

    assert ["data_type", "data", "total_count", "request"] == list(one)
    assert ("bidding_rule", 1) == (one["data_type"], one["total_count"])
    assert every["total_count"] == len(every["data"]) > 1
    assert [{
        "currency": "USD", "minimum_cpe_bid_local_micro": 10000,
        "maximum_cpe_bid_local_micro": 1000000000, "minimum_denomination": 10000,
    }] == one["data"]  # fmt: skip
    assert [] == box.read("/12/bidding_rules", currency="XAU")["data"]


# -- suggestions -------------------------------------------------------------------------------


def suggest(box: Sandbox, kind: str, values: str, **query: Any) -> list[str]:
    """The suggested values."""
    body = box.read(SUGGESTIONS, suggestion_type=kind, targeting_values=values, **query)
    assert "next_cursor" not in body
    assert {kind} >= {row["suggestion_type"] for row in body["data"]}
    return [row["suggestion_value"] for row in body["data"]]


def test_suggested_keywords(box: Sandbox) -> None:
    """30 without count, else 1 to 50; the same ones each time; none that was sent."""
    found = suggest(box, "KEYWORD", "coffee,Espresso")

    assert 30 == len(set(found))
    assert found == suggest(box, "KEYWORD", "coffee,Espresso")
    assert not {"coffee", "espresso"} & set(found)
    assert all("coffee" in value or "espresso" in value for value in found)
    for count in (1, 7, 50):
        some = suggest(box, "KEYWORD", "coffee,Espresso", count=str(count))
        assert (count, found[:count]) == (len(some), some[:30])


def test_suggested_users(box: Sandbox) -> None:
    """Users that exist and were not sent, those with most followers first."""
    assert ["3805104374", "2790441185"] == suggest(box, "USER_ID", "2244994945")[:2]


# -- settings ----------------------------------------------------------------------------------


def test_user_settings(box: Sandbox) -> None:
    """What is sent changes, an empty value unsets; without settings all is null."""
    path, phone = f"user_settings/{INES}", {"contact_phone": "+12065550199"}
    before, changed = load(box, path), put(box, path, **phone)
    put(box, path, notification_email="")

    assert {"notification_email", "contact_phone", "contact_phone_extension"} == set(before)
    assert before | phone == data_of(changed)
    assert before | phone | {"notification_email": None} == load(box, path)
    assert {"account_id": ACCOUNT, "user_id": INES} | phone == echo(changed)
    other = f"/12/accounts/{OTHER_ACCOUNT}/user_settings/3805104374"
    assert {None} == set(box.read(other, keys=NORTHBIKE)["data"].values())


def test_tax_settings(box: Sandbox) -> None:
    """What is sent changes, an empty value unsets; without settings all fifteen are null."""
    before = load(box, "tax_settings")
    changed = alter(box, "tax_settings", bill_to="AGENCY", address_street2="", tax_id="")
    other = f"/12/accounts/{OTHER_ACCOUNT}/tax_settings"
    empty = box.read(other, keys=NORTHBIKE)["data"]

    assert before | {"bill_to": "AGENCY", "address_street2": None, "tax_id": None} == changed
    assert changed == load(box, "tax_settings")
    assert changed == box.read(f"{BASE}/tax_settings", keys=BEARER)["data"]
    assert (15, {None}) == (len(empty), set(empty.values()))


PLACEMENTS = "/12/line_items/placements"


@pytest.mark.spec("B, Accounts", "GET /12/line_items/placements")
def test_placements(box: Sandbox) -> None:
    """Every product type is listed, with combinations as arrays of arrays, or the one asked for.

    They belong to no account.
    """
    body = box.read(PLACEMENTS)
    kinds = ["MEDIA", "PROMOTED_ACCOUNT", "PROMOTED_POSTS"]
    both = ["ALL_ON_PLATFORM", "PUBLISHER_NETWORK"]

    assert set(body) == {"request", "data"}
    assert [entry["product_type"] for entry in body["data"]] == kinds
    assert body["data"][0]["placements"] == [both[:1], both[1:], both]
    for number, kind in enumerate(kinds):
        request = {"params": {"product_type": kind}}
        one = {"request": request, "data": [body["data"][number]]}
        assert box.read(PLACEMENTS, product_type=kind) == one
    assert box.read(PLACEMENTS, keys=NORTHBIKE) == body


def test_fixture_line_items_fit(box: Sandbox) -> None:
    """Every shipped line item has a combination that is listed for its product type."""
    listed = {entry["product_type"]: entry["placements"] for entry in box.read(PLACEMENTS)["data"]}

    for entry in box.world.store.page("line_items"):
        listed_sets = map(set, listed[entry.record["product_type"]])
        assert set(entry.record["placements"]) in listed_sets, entry.key
